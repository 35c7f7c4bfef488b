"""A run: the episodes of a plan, played and kept in a folder; it resumes with what is missing.

Its folder may hold further runs:

epochs/2 …      the same tasks played again, which shows how much single runs of a model differ
controls/NAME   a random choice from the same menus, and always the best entry; they ask no model
trial-1/ …      later attempts at the tasks that no earlier attempt has won
best-of-N/      the best attempt at each task, and the earliest of those that are equally good
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from math import comb
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar, Unpack

from rpms.foreign.file_reader import is_there, read_bytes
from rpms.foreign.json_text import NotJson, loads, reader_of
from rpms.foreign.limits import LARGEST_EPISODE
from rpms.logic.errors import FileError, InputError, ModelUnavailable
from rpms.models.catalogue import NO_LLM, Backend, backend_of
from rpms.paper.episode import Usage
from rpms.play.meter import LimitReached, Meter, usages_of
from rpms.play.methods import CARRIED, METHODS, REACT, Earlier
from rpms.play.plan import NamedModel, RunPlan
from rpms.play.runners import InProcesses
from rpms.play.seats import Finished, Threads
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price
from rpms.store.runs import EPOCHS, PROTOCOL, OpenRun, RunFolder, RunSummary, Timing, open_run
from rpms.worlds.base import Task


class Runner(Protocol):
    """Player of a plan's tasks."""

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish, one or several.

        ModelUnavailable where no model can answer.
        """

    def stop(self) -> Sequence[Finished]:
        """Stop within moments and let go of everything; the episodes that were finished but not
        given back yet.
        """


MakeRunner = Callable[[RunPlan, Sequence[Task], int | None], Runner]
"""Makes a runner from a plan, its tasks that are left, and a number of workers; None for as many
as suit the runner."""


class Listener:
    """Is told what happens; one that does nothing.

    All calls come from the thread that runs the run.
    """

    def begin(self, plan: RunPlan, finished: Sequence[EpisodeRow], usages: Sequence[Usage]) -> None:
        """The run begins, or goes on from episodes that are finished already and have taken so
        much.
        """

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:
        """An episode has ended and is on disk."""

    def note(self, text: str) -> None:
        """Something a person should know."""

    def end(self) -> None:
        """The run is over, done or not."""


class RunOptions(TypedDict, total=False):
    """Arguments that whatever plays several runs hands on to `run`."""

    retry_errors: bool
    runner: MakeRunner
    price: Price | None
    meter: Meter | None


_NEW_OBJECTS = 1_000_000
"""New objects within one episode after which garbage is looked for all the same: an episode that
doubts much keeps a quarter of that."""


@contextmanager
def collecting_between_episodes() -> Iterator[None]:
    """Leave garbage for the end of each episode (`Seat.play`): hardly anything is in cycles, and
    looking for them takes as long as twenty steps.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; the text says how far it came and how to go on."""


def run(
    plan: RunPlan,
    out: Path,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    retry_errors: bool = False,
    runner: MakeRunner = Threads,
    price: Price | None = None,
    meter: Meter | None = None,
) -> RunSummary:
    """Play what a folder still lacks of a plan, and summarise the run.

    Episodes with a model or world error are finished ones, played again with `retry_errors`. The
    price is kept for reports. Raises InputError for an unusable folder, ModelUnavailable,
    LimitReached, or Interrupted on Ctrl-C; finished episodes are on disk then, and the same call
    continues.
    """
    check_workers(workers)
    if meter is not None:
        runner = _counting(runner, meter, price)
    listener = listener or Listener()
    with open_run(out, plan.protocol()) as folder:
        rows = _sound_rows(folder, plan, retry_errors=retry_errors)
        if price is not None:
            folder.write_price(price)
        _tell_what_is_there(folder, plan, rows, listener)
        todo = [task for task in plan.tasks if task.id not in rows]

        def write(done: Finished) -> None:
            folder.write(done.row, done.data, done.timing, done.beside)

        def keep(ended: Sequence[Finished]) -> None:
            for done, _ in zip(ended, disk.map(write, ended), strict=True):
                rows[done.row.task] = done.row
                listener.finished(done.row, done.usages, folder.run.file(done.row.task))

        try:
            with _saying_how_to_go_on(plan, rows), ThreadPoolExecutor(_WRITERS) as disk:
                if todo:
                    with collecting_between_episodes():
                        _play(runner(plan, todo, workers), rows, keep)
        finally:
            listener.end()
        return folder.run.summary()


def _tell_what_is_there(
    folder: OpenRun, plan: RunPlan, rows: Mapping[str, EpisodeRow], listener: Listener
) -> None:
    """Tell a listener which episodes are damaged or lost, and which were played before."""
    for note in (*map(str, folder.damaged), *_texts_lost(folder, plan, rows)):
        listener.note(note)
    before = [rows[task.id] for task in plan.tasks if task.id in rows]
    listener.begin(plan, before, usages_of(folder.run, before))


def _counting(runner: MakeRunner, meter: Meter, price: Price | None) -> MakeRunner:
    """Threads of this process, whose answers a meter can count."""
    if runner is not Threads and not isinstance(runner, InProcesses):
        raise InputError(
            "limits are kept where the answers are counted, and a cluster's are not: play"
            " without Ray"
        )
    return partial(Threads, meter=meter, price=price)


def _sound_rows(folder: OpenRun, plan: RunPlan, *, retry_errors: bool) -> dict[str, EpisodeRow]:
    """Finished episodes that need not be played again: all texts kept beside them are there."""
    rows = {}
    for task, row in folder.finished.items():
        wanted_again = retry_errors and row.failed
        if not wanted_again and not any(folder.run.faults_beside(task, plan.beside)):
            rows[task] = row
    return rows


def _texts_lost(folder: OpenRun, plan: RunPlan, rows: Mapping[str, EpisodeRow]) -> Iterator[str]:
    """Texts kept beside finished episodes that are there and cannot be used."""
    for task in folder.finished.keys() - rows.keys():
        for damage in folder.run.faults_beside(task, plan.beside):
            if is_there(Path(damage.file)):
                yield f"{damage}; its episode is played again"


_WRITERS = 16
"""Episodes that are written at once: a disk takes long to say that one is safe, and no longer
for several."""
_NO_PROGRESS = (
    "no episode ended within the limit: raise it, or keep answers with --record, so that none is"
    " asked twice"
)


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers that is none."""
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers can do nothing; give 1 or more")


def _play(
    runner: Runner, rows: Mapping[str, EpisodeRow], keep: Callable[[Sequence[Finished]], None]
) -> None:
    """Keep episodes as they finish; of a run that is stopped, also those under way and those
    being written.
    """
    ended: Sequence[Finished] = ()
    try:
        for ended in runner.results():
            keep(ended)
    except (ModelUnavailable, LimitReached, KeyboardInterrupt):
        keep([late for late in (*ended, *runner.stop()) if late.row.task not in rows])
        raise
    except BaseException:
        runner.stop()
        raise
    runner.stop()


@contextmanager
def _saying_how_to_go_on(plan: RunPlan, rows: Mapping[str, EpisodeRow]) -> Iterator[None]:
    """Says how far a run came, whatever stops it; `rows` are its episodes, to which it adds."""
    before = len(rows)
    try:
        yield
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{error}; {_how_to_go_on(rows, plan)}") from error
    except LimitReached as limit:
        none = "" if len(rows) > before else f"; {_NO_PROGRESS}"
        raise LimitReached(f"{limit}; {_how_to_go_on(rows, plan)}{none}") from None
    except InputError as error:  # the disk is full, or a node of a cluster lacks something
        if not rows:
            raise
        raise InputError(f"{error}; {_how_to_go_on(rows, plan)}") from error
    except KeyboardInterrupt:
        raise Interrupted(f"stopped; {_how_to_go_on(rows, plan)}") from None


def _how_to_go_on(rows: Mapping[str, EpisodeRow], plan: RunPlan) -> str:
    return (
        f"{len(rows)} of {len(plan.tasks)} episodes are done, and the same command goes on from"
        " there"
    )


_Result = TypeVar("_Result")


def epoch_folders(run: Path) -> tuple[Path, ...]:
    """The folders of a run's epochs: the run itself, then later ones up to the first that is
    missing.
    """
    return (run, *_begun(partial(_epoch_folder, run), 2))


def _begun(folder_of: Callable[[int], Path], first: int) -> Iterator[Path]:
    """Numbered folders with a run in them, up to the first number that has none."""
    for number in count(first):
        folder = folder_of(number)
        if not is_there(folder / PROTOCOL):
            return
        yield folder


def _epoch_folder(run: Path, number: int) -> Path:
    return run if number == 1 else run / EPOCHS / str(number)


def epoch_plan(plan: RunPlan, number: int) -> RunPlan:
    """The plan of an epoch: the same tasks, another seed for a model that samples, and a record
    of its own.
    """
    if number == 1:
        return plan
    decoding = plan.decoding
    open_model = plan.open_model
    if decoding.seed is not None:
        decoding = replace(decoding, seed=decoding.seed + number - 1)
    if isinstance(open_model, NamedModel) and open_model.record is not None:
        open_model = replace(open_model, record=open_model.record / f"epoch-{number}")
    return replace(plan, epoch=number, decoding=decoding, open_model=open_model)


def run_epochs(
    plan: RunPlan, out: Path, epochs: int, run_one: Callable[[RunPlan, Path], _Result]
) -> tuple[_Result, ...]:
    """Run every epoch of a plan, one after the other, by a function that runs one in a folder."""
    found: list[_Result] = []
    for number in range(1, epochs + 1):
        found.append(run_one(epoch_plan(plan, number), _epoch_folder(out, number)))
    return tuple(found)


@dataclass(frozen=True)
class Agreement:
    """Agreement of epochs, over the tasks that were played in all of them."""

    wins: tuple[int, ...]
    """Number of epochs in which each such task was won."""
    epochs: int
    rates: tuple[float, ...]
    """Success by epoch, over the same tasks."""
    left_out: int = 0
    """Tasks that an epoch lacks."""

    @property
    def tasks(self) -> int:
        return len(self.wins)

    @property
    def mean(self) -> float:
        return sum(self.rates) / len(self.rates)

    def pass_hat(self, k: int) -> float:
        """pass^k: how likely k attempts at a task, drawn from its epochs without putting back, are
        all won.

        >>> Agreement((3, 1, 0), 3, (0.0, 0.0, 0.0)).pass_hat(2)  # (1 + 0 + 0) / 3
        0.3333333333333333
        """
        if not self.tasks:
            return 0.0
        all_won = sum(comb(won, k) for won in self.wins)
        return all_won / (comb(self.epochs, k) * self.tasks)

    @property
    def flip_rate(self) -> float:
        """Probability that two epochs of a task end differently, one won and one not."""
        pairs = comb(self.epochs, 2) * self.tasks
        if not pairs:
            return 0.0
        return sum(won * (self.epochs - won) for won in self.wins) / pairs

    @property
    def flipped(self) -> int:
        """Tasks that were won in some epochs and not in others."""
        return sum(0 < won < self.epochs for won in self.wins)

    def text(self) -> str:
        rates = ", ".join(f"{rate:.1%}" for rate in self.rates)
        passes = ", ".join(f"pass^{k} {self.pass_hat(k):.1%}" for k in range(1, self.epochs + 1))
        flips = f"flip rate {self.flip_rate:.1%}, {self.flipped} of {self.tasks} tasks flipped"
        return f"{self.epochs} epochs: success {rates}; {passes}; {flips}"


def agreement(epochs: Sequence[Mapping[str, bool]]) -> Agreement | None:
    """Compare epochs, each a table of tasks and whether they were won; None for fewer than two, or
    without a common task.
    """
    if len(epochs) < 2:
        return None
    every: set[str] = set().union(*epochs)
    in_all = every.intersection(*epochs)
    shared = [task for task in epochs[0] if task in in_all]
    if not shared:
        return None
    wins = dict.fromkeys(shared, 0)
    rates: list[float] = []
    for epoch in epochs:
        won = 0
        for task in shared:
            wins[task] += epoch[task]
            won += epoch[task]
        rates.append(won / len(shared))
    left_out = len(every) - len(shared)
    return Agreement(tuple(wins.values()), len(epochs), tuple(rates), left_out)


CONTROLS = ("menu-random", "menu-best")
FOLDER = "controls"
"""The folder of a run that holds its controls, one run each."""


def control_plans(plan: RunPlan) -> Mapping[str, RunPlan]:
    """The controls of a plan, by name; none where there is no menu, or where no LLM chooses
    from it.
    """
    menu = plan.condition.enforcement.menu and plan.condition.informed
    if not menu or plan.trial or backend_of(plan.model_name) in NO_LLM - {Backend.REPLAY}:
        return {}
    plans: dict[str, RunPlan] = {}
    for name in CONTROLS:
        plans[name] = replace(
            plan, keep={}, method=METHODS[REACT], model_name=name, open_model=NamedModel(name)
        )
    return plans


def play_controls(
    plan: RunPlan, folder: Path, workers: int | None = None, runner: MakeRunner = Threads
) -> Mapping[str, RunSummary]:
    """Play what is missing of a run's controls; none where there is nothing to control for."""
    summaries: dict[str, RunSummary] = {}
    for name, control in control_plans(plan).items():
        summaries[name] = run(control, folder / FOLDER / name, workers, runner=runner)
    return summaries


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
    return (out, *_begun(partial(_trial_folder, out), 1))


def run_trials(
    plan: RunPlan,
    out: Path,
    workers: int | None = None,
    listener: Callable[[int], Listener] = lambda _: Listener(),
    **run_options: Unpack[RunOptions],
) -> Trials:
    """Play what is missing of all trials of a plan's method: one, for most.

    Raises and continues as `run` does.
    """
    runs: list[RunFolder] = []
    folders: list[Path] = []
    summaries: list[RunSummary] = []
    for number in range(plan.method.trials):
        trial = _trial_plan(plan, number, runs) if number else plan
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
    if plan.method.question:
        best_folder = out / f"best-of-{plan.method.trials}"
        best = _write_best(plan, runs, best_folder)
    return Trials(tuple(folders), tuple(summaries), best_folder, best)


def _trial_plan(plan: RunPlan, number: int, runs: Sequence[RunFolder]) -> RunPlan:
    """The plan of a later trial: the tasks that none before it has won, with what was tried."""
    won: set[str] = set()
    for row in chain.from_iterable(each.rows() for each in runs):
        if row.won:
            won.add(row.task)
    todo: list[Task] = []
    earlier: dict[str, Earlier] = {}
    for task in plan.tasks:
        if task.id not in won:
            todo.append(task)
            earlier[task.id] = _earlier(runs[-1], task.id, first=number == 1)
    return replace(plan, tasks=tuple(todo), trial=number, earlier=earlier)


def _refuse_if_earlier_changed(folder: RunFolder, trial: RunPlan) -> None:
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


def _best_of(tried: Mapping[int, EpisodeRow]) -> int:
    """The number of the best attempt at a task; of equal ones, of the earliest."""
    return max(tried, key=lambda number: (tried[number].won, tried[number].score, -number))


def _holds(file: Path, data: bytes) -> bool:
    """True if a file is there and holds these bytes."""
    return is_there(file) and read_bytes(file, LARGEST_EPISODE) == data


def _write_best(plan: RunPlan, runs: Sequence[RunFolder], out: Path) -> RunSummary:
    """Write the best attempt at each task into a run folder of its own, and give it in numbers."""
    first = plan.protocol()
    agent = {**plan.method.settings(), "best_of": plan.method.trials}
    timings = [each.timings() for each in runs]
    attempts = [{row.task: row for row in each.rows()} for each in runs]
    with open_run(out, replace(first, settings={**first.settings, "agent": agent})) as best:
        for task in first.tasks:
            tried = {number: rows[task] for number, rows in enumerate(attempts) if task in rows}
            number = _best_of(tried)
            data = read_bytes(runs[number].file(task), LARGEST_EPISODE)
            if not _holds(best.run.file(task), data):
                best.write(tried[number], data, timings[number].get(task, Timing(task, 0.0)))
        price = runs[0].price()
        if price is not None:
            best.write_price(price)
        return best.run.summary()
