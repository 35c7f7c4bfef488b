"""Run folders and studies, gathered into comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import is_there, read_bytes
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError
from rpms.paper.condition import ABLATION
from rpms.paper.enforcement import PAPER, STRICT
from rpms.play.controls import CONTROLS, FOLDER
from rpms.play.epochs import Agreement, agreement, epoch_folders
from rpms.report.comparison import Comparison, is_cell
from rpms.report.outcomes import ENFORCED, Results, called, part_name
from rpms.store.episodes import EpisodeRow, MissingRow
from rpms.store.files import LOCK, is_held
from rpms.store.price import Price
from rpms.store.protocol import INDEX, read_study_index
from rpms.store.runs import PROTOCOL, RunFolder

VARIES = ("condition", "memory", "retrieval", "agent", "reader", "parts")
"""Fields in which conditions of one comparison may differ; the rest of their protocols must be
the same."""
_OF_MODELS = ("model", "taught", "context", "decoding")
"""Further fields in which the models of one report may differ."""
UNKNOWN_TYPE = "unknown"
"""The type of a task that nobody has played: a protocol names tasks, episodes tell their types."""


def gather(inputs: Sequence[Path], varies: Sequence[str] = VARIES) -> tuple[Comparison, ...]:
    """Read run folders and studies. Mixed protocols are refused.

    Run folders make one comparison for each model, a study those that its `StudyIndex` names.
    """
    of_studies: list[Comparison] = []
    by_model: dict[str, list[RunFolder]] = {}
    for path in inputs:
        if _is_study(path):
            of_studies += _study(path / INDEX, varies)
            continue
        run = RunFolder(path)
        model = "" if "model" in varies else str(run.protocol.settings.get("model", ""))
        by_model.setdefault(model, []).append(run)
    several = len(by_model) > 1
    if several:
        one_a_model = {model: runs[0] for model, runs in by_model.items()}
        _refuse_mixed(one_a_model, [*varies, *_OF_MODELS])
    found: list[Comparison] = []
    for model, runs in by_model.items():
        named = dict(zip(_names(runs), runs, strict=True))
        title = model if several else ""
        found.append(compare(named, varies, title=title, model=title))
    return (*found, *of_studies)


def _is_study(path: Path) -> bool:
    """True for a study, False for a run; neither is an InputError."""
    if not is_there(path / INDEX) and not is_there(path / PROTOCOL):
        raise InputError(
            f"{path}: is neither a run nor a study; there is no {PROTOCOL} and no {INDEX} in it"
        )
    return is_there(path / INDEX)


class NamedRun(NamedTuple):
    """A run, and a name for its condition."""

    condition: str
    run: RunFolder


def runs_in(inputs: Sequence[Path]) -> tuple[NamedRun, ...]:
    """Every run of run folders and studies, each once, whatever their protocols."""
    found: dict[Path, NamedRun] = {}
    for path in inputs:
        for condition, run in _named_runs(path):
            for epoch in epoch_folders(run.folder):
                found.setdefault(epoch.resolve(), NamedRun(condition, RunFolder(epoch)))
    return tuple(found.values())


def _named_runs(path: Path) -> Iterator[NamedRun]:
    """A run, or the runs of a study."""
    if not _is_study(path):
        yield _named_run(RunFolder(path), "")
        return
    for group in read_study_index(path / INDEX).comparisons:
        for name, where in group.runs.items():
            yield _named_run(RunFolder(path / where), name)


def _named_run(run: RunFolder, given: str) -> NamedRun:
    """A run under the name that is given for it, or that of its condition, or its folder's."""
    return NamedRun(given or _condition_name(run) or run.folder.resolve().name, run)


def compare(
    runs: Mapping[str, RunFolder], varies: Sequence[str] = VARIES, **about: Any
) -> Comparison:
    """Read runs as the conditions of one comparison, in the order given. `about`: further fields of
    the comparison.
    """
    _refuse_mixed(runs, varies)
    results = {name: read_results(name, run) for name, run in runs.items()}
    types: dict[str, str] = {}
    for each in results.values():
        types |= {row.task: row.type for row in each if row.type != UNKNOWN_TYPE}
    # types that a condition's episodes do not tell, from another condition's
    for each in results.values():
        unplayed = {task: MissingRow(task, types.get(task, UNKNOWN_TYPE)) for task in each.missing}
        results[each.name] = replace(each, rows={**each.rows, **unplayed})
    return Comparison(results, **about)


def read_results(name: str, run: RunFolder) -> Results:
    """One condition: every task of its protocol, played or not.

    Damaged files are named and skipped.
    """
    recorded: Mapping[str, Any] = run.protocol.settings
    rows, damaged = _read_rows(run)
    won = {task: row.won for task, row in rows.items() if not row.missing}
    terms = {**recorded, "tasks": len(run.protocol.tasks), "tasks_hash": run.protocol.tasks_hash}
    unfinished = len(damaged) + len(won) < len(rows)
    switches = _mapping_at(recorded, "condition")
    memory = _mapping_at(recorded, "memory")
    return Results(
        name,
        rows,
        protocol=terms,
        damaged=damaged,
        going=unfinished and is_going(run.folder),
        switches=switches,
        memory_entries=memory.get("entries"),
        model=str(recorded.get("model", "")),
        seconds=_seconds(run),
        price=_price(run),
        folder=str(run.folder),
        controls=_controls(run),
        agreement=_agreement(run, won),
    )


def _mapping_at(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of a protocol's settings; empty where another program wrote something else."""
    found = settings.get(name)
    return found if isinstance(found, Mapping) else {}


class _ReadRows(NamedTuple):
    """The tasks of a run, played or not."""

    rows: dict[str, EpisodeRow]
    damaged: dict[str, str]
    """Problems of damaged files, by name."""


def _read_rows(run: RunFolder) -> _ReadRows:
    rows: dict[str, EpisodeRow] = {}
    damaged: dict[str, str] = {}
    for task, found in run.readings():
        rows[task] = found if isinstance(found, EpisodeRow) else MissingRow(task, UNKNOWN_TYPE)
        if isinstance(found, FileError):
            damaged[run.file(task).name] = found.problem
    return _ReadRows(rows, damaged)


def _price(run: RunFolder) -> Price | None:
    """The price of a run's model; one that cannot be read is not known."""
    with suppress(FileError):
        return run.price()
    return None


def _seconds(run: RunFolder) -> dict[str, float]:
    """The seconds that each episode took, if they were measured."""
    found = {}
    for task, timing in run.timings().items():
        if isinstance(timing.seconds, float):
            found[task] = timing.seconds
    return found


def _controls(run: RunFolder) -> dict[str, Results]:
    """The controls that were played from the same menus."""
    found = {}
    for name in CONTROLS:
        control = RunFolder(run.folder / FOLDER / name)
        if control.begun:
            found[name] = read_results(name, control)
    return found


def _agreement(run: RunFolder, first: Mapping[str, bool]) -> Agreement | None:
    """Agreement of a run's epochs. `first`: the tasks played in the first one, won or not."""
    epochs = [first]
    for folder in epoch_folders(run.folder)[1:]:
        epochs.append({row.task: row.won for row in RunFolder(folder).rows()})
    return agreement(epochs)


def is_going(folder: Path) -> bool:
    """True if a run folder's lock says that a process writes to it; it is only looked at."""
    try:
        return is_held(loads(read_bytes(folder / LOCK, 4096)))
    except (FileError, NotJson):
        return False


def _refuse_mixed(runs: Mapping[str, RunFolder], varies: Sequence[str]) -> None:
    """Raise InputError where two protocols differ in what conditions of one comparison must
    share.
    """
    (first, reference), *others = runs.items()
    for name, run in others:
        differences: list[str] = []
        for found in reference.protocol.differences(run.protocol):
            field, _, _ = found.partition(":")[0].partition(".")
            if field not in varies:
                differences.append(found)
        if differences:
            raise InputError(
                f"{called(first, str(reference.folder))} and {called(name, str(run.folder))} were"
                f" not run under one protocol and cannot be compared: {'; '.join(differences)}"
            )


def _study(file: Path, varies: Sequence[str]) -> list[Comparison]:
    study = read_study_index(file)
    found = []
    for group in study.comparisons:
        runs = {name: RunFolder(file.parent / where) for name, where in group.runs.items()}
        if runs:
            named = group.model_dump(include={"title", "about", "tables"})
            named["model"] = group.model if len(study.comparisons) > 1 else ""
            found.append(compare(runs, [*varies, *study.varies], **named, study=study.title))
    if not found:
        raise FileError(file, None, "is not the index of a study: it names no runs")
    return found


def _names(runs: Sequence[RunFolder]) -> list[str]:
    """Names of run folders: their conditions if these differ, else their folders."""
    conditions = [_condition_name(run) for run in runs]
    names: list[str] = []
    for condition, run in zip(conditions, runs, strict=True):
        is_sure = condition and conditions.count(condition) == 1
        names.append(condition if is_sure else run.folder.resolve().name)
    if len(set(names)) < len(names):
        names = [str(run.folder) for run in runs]
    if len(set(names)) < len(names):
        raise InputError("the same run folder was given twice")
    return names


def _condition_name(run: RunFolder) -> str:
    """The name of a run's condition, with its own parts and a method that is not RPMS's own."""
    condition = _switched_name(run) + _parts_name(run)
    agent = run.protocol.settings.get("agent")
    if not isinstance(agent, Mapping):
        return condition
    name = excerpt(agent.get("name", ""))
    if agent.get("best_of"):
        name += f", best of {agent['best_of']}"
    elif agent.get("trial"):
        name += f", trial {agent['trial']}"
    return name if condition == "baseline" else f"{name} ({condition})"


def _parts_name(run: RunFolder) -> str:
    """Parts of the user's own that a run was played with, as a condition's name ends with them."""
    parts = run.protocol.settings.get("parts")
    if not isinstance(parts, Mapping) or not parts:
        return ""
    named = [f"{excerpt(seam)} {part_name(identity)}" for seam, identity in parts.items()]
    return f"{ENFORCED}{', '.join(named)}"


def _switched_name(run: RunFolder) -> str:
    """The name of a run's condition if it is one of the four, with the parts that are enforced
    beyond the paper.
    """
    switches = run.protocol.settings.get("condition")
    if not isinstance(switches, Mapping):
        return str(switches or "")
    enforced = switches.get("enforcement")
    beyond = _enforced_name(enforced) if isinstance(enforced, Mapping) else ""
    for name in ABLATION.values():
        if is_cell(switches, name):
            return name + beyond
    return ""


def _enforced_name(enforced: Mapping[str, Any]) -> str:
    """The parts of an enforcement that the paper has not, or the preset that has just these."""
    parts: list[str] = []
    strict = True
    for part, value in enforced.items():
        if value != getattr(PAPER, part, None):
            parts.append(part if value is True else f"{part}={value}")
        strict = strict and value == getattr(STRICT, part, None)
    if not parts:
        return ""
    return f"{ENFORCED}strict" if strict else f"{ENFORCED}{', '.join(parts)}"
