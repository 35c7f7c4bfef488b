"""Hostile inputs to the learning of rules: learned manuals, their evidence, explorations."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from attacks.mutate import as_json, changed_bytes, changed_tree
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.induction.manuals.manual_compare import compare
from rpms.induction.manuals.manual_review import decide, lines_of
from rpms.play.sources import choose_manual, manual_of
from rpms.store.evidence import TRACES, evidence_file, sealed_line, traces_file
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
STEPS = 120


def learn_a_little(out: Path) -> None:
    """Explore some of the games that come with the package."""
    tasks = tuple(WORLD.tasks("builtin", Setting()))
    learn_rules(RulesPlan(WORLD, tasks, Setting(), "builtin", Exploring(steps=STEPS)), out)


def learn_from(explored: Path, out: Path) -> None:
    """Learn from an exploration that is there."""
    learn_rules(RulesPlan(WORLD, runs=(traces_file(explored),)), out)


@functools.cache
def learned_files() -> dict[str, bytes]:
    """A learned manual with all that is beside it, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "manual.yaml")
        learn_a_little(out)
        ids = [
            row.claim.id for row in lines_of(out) if row.claim.at[0] == "environment" and row.stands
        ]
        decide(out, {id_: bool(number % 3) for number, id_ in enumerate(ids[:6]) if number})
        return {file.name: file.read_bytes() for file in Path(folder).iterdir() if file.is_file()}


def _laid_out(folder: Path, spoilt: Path, dice: Random) -> Path:
    """A learned manual with one of its files spoilt."""
    for name, data in learned_files().items():
        (folder / name).write_bytes(data)
    data = spoilt.read_bytes()
    if spoilt.suffix == ".jsonl" and dice.random() < 0.6:
        lines = data.splitlines()
        place = dice.randrange(len(lines))
        row = changed_tree(json.loads(lines[place]), dice)
        lines[place] = as_json(row)
        if spoilt.name.endswith(TRACES) and isinstance(row, dict) and dice.random() < 0.7:
            lines = _sealed_again([json.loads(line) for line in lines])
        spoilt.write_bytes(b"\n".join((*lines, b"")))
    else:
        spoilt.write_bytes(changed_bytes(data, dice))
    return folder / "manual.yaml"


def _sealed_again(rows: list[Any]) -> list[bytes]:
    """The lines of an exploration with the checksums that they should have."""
    lines, seal = [], ""
    for row in rows:
        line, seal = sealed_line(
            seal, json.dumps({name: value for name, value in row.items() if name != "seal"})
        )
        lines.append(line.encode())
    return lines


def learned_manuals(dice: Random, folder: Path, _samples: object) -> None:
    """A learned manual that somebody spoilt: compared with the hand-written one, reviewed, and
    learned again.
    """
    manual = _laid_out(folder, folder / "manual.yaml", dice)
    compare(manual_of(WORLD), manual_of(WORLD, choose_manual(manual)))
    _reviewed(manual, dice)


def evidence(dice: Random, folder: Path, _samples: object) -> None:
    _reviewed(_laid_out(folder, evidence_file(folder / "manual.yaml"), dice), dice)


def explorations(dice: Random, folder: Path, _samples: object) -> None:
    learn_a_little(_laid_out(folder, traces_file(folder / "manual.yaml"), dice))


def _reviewed(manual: Path, dice: Random) -> None:
    """Decide on a line, and now and then learn again: the manual can be used after each."""
    rows = lines_of(manual)
    if rows:
        decide(manual, {dice.choice(rows).claim.id: dice.random() < 0.5})
    manual_of(WORLD, choose_manual(manual))
    if dice.random() < 0.1:
        learn_a_little(manual)
        manual_of(WORLD, choose_manual(manual))
