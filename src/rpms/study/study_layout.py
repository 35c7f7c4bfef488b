"""Folders of a study, and the index that says which run is which condition.

study.json       the index: models → conditions → run folders, which reports read
runs/            one run folder for each protocol, named by it; studies may share the folder
learned/         memories that studies learned, with the episodes they were learned from
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rpms.foreign.file_reader import is_there
from rpms.paper.condition import CONDITIONS, Condition
from rpms.play.design import RunDesign
from rpms.play.methods import REACT
from rpms.play.setting_values import name_of
from rpms.store.files import write_whole
from rpms.store.protocol import INDEX, Group, StudyIndex, read_study_index
from rpms.store.runs import refuse_foreign
from rpms.study.cells import Means, Result, design_round
from rpms.study.studies import Learning, Study

_VARIES = ("manual", "prompts", "decoding", "context")
"""Fields in which conditions of a study may differ beside switches and memories: its author
meant them to."""
HASH_DIGITS = 12
"""Hexadecimal digits of a protocol's hash in a folder's name."""


@dataclass(frozen=True)
class StudyLayout:
    """Folders of a study."""

    out: Path
    pool: Path
    """Runs and memories; several studies that share it share their runs."""

    def refuse_foreign(self) -> None:
        """Refuse a folder that holds something, but no study."""
        if os.path.isdir(self.out):  # noqa: PTH112  never raises
            refuse_foreign(self.out, "study", INDEX, others=("runs", "learned"))

    def learned(self, learning: Learning, means: Means, model: str) -> Path:
        """The memory that a model learns.

        Rounds are no part of the name: more of them go on from fewer.
        """
        # the manual and the package version are in the first round's protocol; under others its
        # folder would be refused
        design = design_round(learning, 1, model, means)
        named_by = (
            design.protocol().hash,
            str(learning.condition(2)),
            name_of(learning.settings.harvesting),
        )
        digest = hashlib.sha256(json.dumps(named_by).encode()).hexdigest()
        return self.pool / "learned" / f"{slug(model)}-{digest[:HASH_DIGITS]}" / "memory.jsonl"

    def begun(self, model: str) -> bool:
        """True if a model has played or learned here before."""
        return any(any((self.pool / kind).glob(f"{slug(model)}-*")) for kind in ("runs", "learned"))

    def run_folder(self, design: RunDesign) -> Path:
        """The folder of a protocol: one that is there already, whatever it is called, or a new
        one.
        """
        digest = design.protocol().hash[:HASH_DIGITS]
        runs = self.pool / "runs"
        found = sorted(runs.glob(f"*-{digest}")) if runs.is_dir() else []
        method = "" if design.method.name == REACT else f"-{design.method.name}"
        new = f"{slug(design.model_name)}-{label(design.condition)}{method}-{digest}"
        return found[0] if found else runs / new


def slug(text: str) -> str:
    """A name as a part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_.")[:40] or "model"


def label(condition: Condition) -> str:
    """A condition as a part of a folder's name."""
    for name, usual in CONDITIONS.items():
        if usual.rules == condition.rules and usual.memory == condition.memory:
            return f"{name}_varied" if _is_varied(condition, usual) else name
    raise AssertionError("the 2x2 has every combination of rules and memory")


def _is_varied(condition: Condition, usual: Condition) -> bool:
    return (
        condition.arbitration is not usual.arbitration
        or condition.state_filter is not usual.state_filter
        or condition.enforcement != usual.enforcement
    )


def write_index(study: Study, results: Sequence[Result], layout: StudyLayout) -> None:
    """Write `study.json`: the run of each condition, by model. Entries that it has already are
    kept.
    """
    index_before = read_index(layout)
    groups = _groups_of(study, results, layout, index_before)
    for model, group in index_before.items():
        group.title = group.title.removesuffix(f": {model}")
        groups.setdefault(model, group)
    if len(groups) > 1:
        for model, group in groups.items():
            group.title += f": {model}"
    index = StudyIndex(
        title=study.title, world=study.world, varies=_VARIES, groups=tuple(groups.values())
    )
    text = json.dumps(index.model_dump(exclude_defaults=True), indent=1, ensure_ascii=False)
    write_whole(layout.out / INDEX, f"{text}\n")


def _groups_of(
    study: Study, results: Sequence[Result], layout: StudyLayout, before: Mapping[str, Group]
) -> dict[str, Group]:
    """The runs of some results by model, together with those that the index had before."""
    groups: dict[str, Group] = {}
    for result in results:
        model = result.model
        if model not in groups:
            about = study.about_of(model)
            runs = before[model].runs if model in before else {}
            title = study.title
            new = Group(title=title, model=model, about=about, tables=study.tables, runs=runs)
            groups[model] = new
        where = os.path.relpath(result.folder, layout.out)
        groups[model].runs[result.case.name] = Path(where).as_posix()
    for group in groups.values():
        group.runs = _in_order(group.runs, study)
    return groups


def _in_order(runs: Mapping[str, str], study: Study) -> dict[str, str]:
    """Runs in the order of the study's conditions; others after them."""
    ordered: dict[str, str] = {}
    for case in study.cases:
        for name in case.names:
            if name in runs:
                ordered[name] = runs[name]
    return ordered | dict(runs)


def read_index(layout: StudyLayout) -> dict[str, Group]:
    """Groups of `study.json` by model, without run folders that are gone."""
    file = layout.out / INDEX
    if not is_there(file):
        return {}
    index = read_study_index(file, advice="; move it or choose another --out")
    found: dict[str, Group] = {}
    for group in index.comparisons:
        for name, where in list(group.runs.items()):
            if not os.path.isdir(layout.out / where):  # noqa: PTH112  never raises
                del group.runs[name]
        if group.runs:
            found[group.model] = group
    return found
