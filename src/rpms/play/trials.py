"""Several attempts at the tasks of a plan, each a run of its own in the folder of the first.

episodes/       the first attempt, trial 0, as in every run
trial-1/ …      a run folder for each later trial: only the tasks that no earlier one has won
best-of-N/      a run folder with the best attempt at each task, the earliest where several are

So the first trial and the best of all are two runs for every table and page. The number of trials decides nothing of
any one of them: the same run goes on with more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rpms.core.errors import InputError
from rpms.core.usage import Price, Usage
from rpms.foreign.files import is_there, read_bytes
from rpms.foreign.limits import LARGEST_EPISODE
from rpms.play.limits import Meter
from rpms.play.methods import CARRIED, Earlier, read_carried
from rpms.play.plan import RunPlan
from rpms.play.run import Listener, MakeEngine, run
from rpms.play.seat import Threads
from rpms.store.episodes import EpisodeRow
from rpms.store.protocol import Protocol
from rpms.store.runs import EPISODES, PROTOCOL, RunFolder, RunSummary, Timing, open_run


@dataclass(frozen=True)
class Trials:
    """Results of all attempts."""

    folders: tuple[Path, ...]
    """By trial; fewer than were allowed where every task was won before."""
    summaries: tuple[RunSummary, ...]
    best_folder: Path
    """The first trial's, for a method that has no other."""
    best: RunSummary

    @property
    def usage(self) -> Usage:
        """Tokens of all attempts together."""
        return sum((summary.usage for summary in self.summaries), start=Usage())


def trial_folder(out: Path, number: int) -> Path:
    """Folder of a trial, from 0."""
    return out / f"trial-{number}" if number else out


def best_folder(out: Path, trials: int) -> Path:
    """Folder of the best of so many trials."""
    return out / f"best-of-{trials}"


def run_trials(
    plan: RunPlan,
    out: Path,
    workers: int | None = None,
    listener: Callable[[int], Listener] | None = None,
    *,
    retry_errors: bool = False,
    engine: MakeEngine = Threads,
    price: Price | None = None,
    meter: Meter | None = None,
) -> Trials:
    """Play what is missing of all trials of a plan's method: one, for most. Raises and continues as `run` does."""
    folders: list[Path] = []
    summaries: list[RunSummary] = []
    trial = plan
    for number in range(plan.method.trials):
        if number:
            trial = next_trial(plan, folders)
            if not trial.tasks:
                break
        folder = trial_folder(out, number)
        listening = listener(number) if listener is not None else None
        _refuse_stale(folder, trial)
        summaries.append(
            run(trial, folder, workers, listening, retry_errors=retry_errors, engine=engine, price=price, meter=meter)
        )
        folders.append(folder)
    if not plan.method.question:
        return Trials(tuple(folders), tuple(summaries), out, summaries[0])
    chosen = best_folder(out, plan.method.trials)
    return Trials(tuple(folders), tuple(summaries), chosen, _write_best(plan, folders, chosen))


def _refuse_stale(folder: Path, trial: RunPlan) -> None:
    """Refuse a later trial whose attempts followed from others than those that are there now."""
    begun = is_there(folder / PROTOCOL) and any((folder / EPISODES).glob("*.json.gz"))
    if trial.trial and begun and RunFolder(folder).protocol.differences(trial.protocol()):
        raise InputError(
            f"{folder}: its attempts followed from others, which were played again since; remove it to play them too"
        )


def next_trial(plan: RunPlan, folders: Sequence[Path]) -> RunPlan:
    """The plan of the trial after those in some folders: the tasks that none of them has won."""
    runs = [RunFolder(folder) for folder in folders]
    rows: dict[str, list[EpisodeRow]] = {task.id: [] for task in plan.tasks}
    for each in runs:
        for row in each.rows():
            rows[row.task].append(row)
    todo = tuple(task for task in plan.tasks if not any(row.won for row in rows[task.id]))
    earlier = {task.id: _earlier(runs[-1], task.id, first=len(runs) == 1) for task in todo}
    return replace(plan, tasks=todo, trial=len(folders), earlier=earlier, earlier_hash=_hash(earlier))


def _earlier(run_before: RunFolder, task: str, *, first: bool) -> Earlier:
    record = run_before.episode(task)
    where = str(run_before.folder / CARRIED / run_before.file(task).name)
    carried = () if first else read_carried(run_before.beside(task, CARRIED), where)
    return Earlier.of(record, str(record.row.ending), carried)


def _hash(earlier: Mapping[str, Earlier]) -> str:
    """The same hash, the same attempts before."""
    told = [
        [task, [[turn.observation, turn.thought, turn.action] for turn in each.turns], each.last, *each.carried]
        for task, each in earlier.items()
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _write_best(plan: RunPlan, folders: Sequence[Path], out: Path) -> RunSummary:
    """Write the best attempt at each task into a run folder of its own, and give it in numbers."""
    first = plan.protocol()
    agent = {**plan.method.settings(), "best_of": plan.method.trials}
    runs = [RunFolder(folder) for folder in folders]
    timings = [each.timings() for each in runs]
    attempts: dict[str, list[tuple[EpisodeRow, int]]] = {task: [] for task in first.tasks}
    for number, each in enumerate(runs):
        for row in each.rows():
            attempts[row.task].append((row, number))
    with open_run(out, Protocol(first.tasks, {**first.settings, "agent": agent})) as best:
        for task, tried in attempts.items():
            row, number = max(tried, key=lambda each: (each[0].won, each[0].score, -each[1]))
            data = read_bytes(runs[number].file(task), LARGEST_EPISODE)
            if not is_there(best.run.file(task)) or read_bytes(best.run.file(task), LARGEST_EPISODE) != data:
                timing = timings[number].get(task, Timing(task, 0.0))
                best.write(row, data, timing)
        if (price := runs[0].price()) is not None:
            best.write_price(price)
        return best.run.summary()
