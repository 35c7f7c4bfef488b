"""Trials: later attempts at the tasks that were not won, and the best attempt at each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Unpack

from rpms.foreign.file_reader import is_there, read_bytes
from rpms.foreign.json_text import NotJson, loads, reader_of
from rpms.foreign.limits import LARGEST_EPISODE
from rpms.logic.errors import FileError, InputError
from rpms.play.design import RunDesign
from rpms.play.methods import CARRIED, Earlier
from rpms.play.run import Listener, RunOptions, run
from rpms.store.episodes import EpisodeRow
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import RunFolder, Timing, begun_folders, open_run
from rpms.worlds.base import Task


@dataclass(frozen=True)
class Trials:
    """Results of all attempts."""

    folders: tuple[Path, ...]
    """Folders by trial; fewer than were allowed if every task was won before."""
    summaries: tuple[RunSummary, ...]
    best_folder: Path
    """The first trial's, for a method that has no other."""
    best: RunSummary


def _trial_folder(out: Path, number: int) -> Path:
    return out / f"trial-{number}" if number else out


def trial_folders(out: Path) -> tuple[Path, ...]:
    """A run, and its later trials where it has any."""
    return (out, *begun_folders(partial(_trial_folder, out), 1))


def run_trials(
    design: RunDesign,
    out: Path,
    workers: int | None = None,
    listener: Callable[[int], Listener] = lambda _: Listener(),
    **run_options: Unpack[RunOptions],
) -> Trials:
    """Play the missing episodes of all trials of a design's method; most methods have one.

    Raises and continues as `run` does.
    """
    runs: list[RunFolder] = []
    folders: list[Path] = []
    summaries: list[RunSummary] = []
    for number in range(design.method.trials):
        trial = _trial_design(design, number, runs) if number else design
        if not trial.tasks:
            break
        folder = RunFolder(_trial_folder(out, number))
        if number:
            _refuse_if_earlier_changed(folder, trial)
        summaries.append(run(trial, folder.folder, workers, listener(number), **run_options))
        runs.append(folder)
        folders.append(folder.folder)
    best_folder = out
    best = summaries[0]
    if design.method.question:
        best_folder = out / f"best-of-{design.method.trials}"
        best = _write_best(design, runs, best_folder)
    return Trials(tuple(folders), tuple(summaries), best_folder, best)


def _trial_design(design: RunDesign, number: int, runs: Sequence[RunFolder]) -> RunDesign:
    """The design of a later trial: the tasks that were not won so far, with the attempt before."""
    won: set[str] = set()
    for row in chain.from_iterable(each.rows() for each in runs):
        if row.won:
            won.add(row.task)
    todo: list[Task] = []
    earlier: dict[str, Earlier] = {}
    for task in design.tasks:
        if task.id not in won:
            todo.append(task)
            earlier[task.id] = _earlier(runs[-1], task.id, first=number == 1)
    return replace(design, tasks=tuple(todo), trial=number, earlier=earlier)


def _refuse_if_earlier_changed(folder: RunFolder, trial: RunDesign) -> None:
    """Refuse to go on with attempts that followed from others than those that are there now."""
    if not folder.begun or not folder.played:
        return
    if folder.protocol.differences(trial.protocol()):
        why = "its attempts followed from others, which were played again since"
        raise InputError(f"{folder.folder}: {why}; remove it to play them too")


def _earlier(run_before: RunFolder, task: str, *, first: bool) -> Earlier:
    record = run_before.episode(task)
    carried: tuple[str, ...] = ()
    try:
        if not first:
            carried = reader_of(tuple[str, ...])(loads(run_before.beside(task, CARRIED)))
    except NotJson:
        raise FileError(
            run_before.file_beside(task, CARRIED), None, "is not what an episode brought along"
        ) from None
    return Earlier.of(record, str(record.row.ending), carried)


def _attempts_by_task(runs: Sequence[RunFolder]) -> dict[str, dict[int, EpisodeRow]]:
    """The attempts at each task, by the number of the trial."""
    attempts: dict[str, dict[int, EpisodeRow]] = {}
    for number, each in enumerate(runs):
        for row in each.rows():
            attempts.setdefault(row.task, {})[number] = row
    return attempts


def _best_of(tried: Mapping[int, EpisodeRow]) -> int:
    """The number of the best attempt at a task; of equal ones, of the earliest."""
    return max(tried, key=lambda number: (tried[number].won, tried[number].score, -number))


def _holds(file: Path, data: bytes) -> bool:
    """True if a file is there and holds these bytes."""
    return is_there(file) and read_bytes(file, LARGEST_EPISODE) == data


def _write_best(design: RunDesign, runs: Sequence[RunFolder], out: Path) -> RunSummary:
    """Write the best attempt at each task into a run folder of its own, and give it in numbers."""
    first = design.protocol()
    agent = {**design.method.protocol_entry(), "best_of": design.method.trials}
    protocol = replace(first, settings={**first.settings, "agent": agent})
    timings = [each.timings() for each in runs]
    attempts = _attempts_by_task(runs)
    with open_run(out, protocol) as best:
        for task in first.tasks:
            number = _best_of(attempts[task])
            data = read_bytes(runs[number].file(task), LARGEST_EPISODE)
            if not _holds(best.run.file(task), data):
                timing = timings[number].get(task, Timing(task, 0.0))
                best.write(attempts[task][number], data, timing)
        price = runs[0].price()
        if price is not None:
            best.write_price(price)
        return best.run.summary()
