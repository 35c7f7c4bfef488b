"""A run: the episodes of a design, played and kept in a folder; it resumes with what is missing.

Its folder may hold further runs:

epochs/2 …      the same tasks played again, which shows how much single runs of a model differ
controls/NAME   a random choice from the same menus, and always the best entry; they ask no model
trial-1/ …      later attempts at the tasks that no earlier attempt has won
best-of-N/      the best attempt at each task, and the earliest of those that are equally good

`rpms.play.epochs`, `rpms.play.controls` and `rpms.play.trials` play these.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypedDict

from rpms.foreign.file_reader import is_there
from rpms.logic.errors import InputError, ModelUnavailable
from rpms.paper.episode import Usage
from rpms.play.design import RunDesign
from rpms.play.garbage import WITHIN_AN_EPISODE, seldom_collected
from rpms.play.meter import LimitReached, Meter, usages_of
from rpms.play.runners import InProcesses
from rpms.play.seats import Finished, Threads
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import OpenRun, open_run
from rpms.worlds.base import Task


class Runner(Protocol):
    """Player of a design's tasks."""

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish, one or several.

        ModelUnavailable where no model can answer.
        """

    def stop(self) -> Sequence[Finished]:
        """Stop within moments and let go of everything; the episodes that were finished but not
        given back yet.
        """


MakeRunner = Callable[[RunDesign, Sequence[Task], int | None], Runner]
"""Makes a runner from a design, its tasks that are left, and a number of workers; None for as many
as suit the runner."""


class Listener:
    """Is told what happens; one that does nothing.

    All calls come from the thread that runs the run.
    """

    def begin(
        self, design: RunDesign, finished: Sequence[EpisodeRow], usages: Sequence[Usage]
    ) -> None:
        """The run begins; or it goes on, after episodes that are finished and have used so much."""

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


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; the text says how far it came and how to go on."""


def run(
    design: RunDesign,
    out: Path,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    retry_errors: bool = False,
    runner: MakeRunner = Threads,
    price: Price | None = None,
    meter: Meter | None = None,
) -> RunSummary:
    """Play what a folder still lacks of a design, and summarise the run.

    Episodes with a model or world error are finished ones, played again with `retry_errors`. The
    price is kept for reports. Raises InputError for an unusable folder, ModelUnavailable,
    LimitReached, or Interrupted on Ctrl-C; finished episodes are on disk then, and the same call
    continues.
    """
    check_workers(workers)
    if meter is not None:
        runner = _counting(runner, meter, price)
    listener = listener or Listener()
    with open_run(out, design.protocol()) as folder:
        rows = _sound_rows(folder, design, retry_errors=retry_errors)
        if price is not None:
            folder.write_price(price)
        _tell_what_is_there(folder, design, rows, listener)
        todo = [task for task in design.tasks if task.id not in rows]

        def write(done: Finished) -> None:
            folder.write(done.row, done.data, done.timing, done.beside)

        def keep(ended: Sequence[Finished]) -> None:
            for done, _ in zip(ended, disk.map(write, ended), strict=True):
                rows[done.row.task] = done.row
                listener.finished(done.row, done.usages, folder.run.file(done.row.task))

        try:
            with _saying_how_to_go_on(design, rows), ThreadPoolExecutor(_WRITERS) as disk:
                if todo:
                    with seldom_collected(WITHIN_AN_EPISODE):
                        _play(runner(design, todo, workers), rows, keep)
        finally:
            listener.end()
        return folder.run.summary()


def _tell_what_is_there(
    folder: OpenRun, design: RunDesign, rows: Mapping[str, EpisodeRow], listener: Listener
) -> None:
    """Tell a listener which episodes are damaged or lost, and which were played before."""
    for note in (*map(str, folder.damaged), *_texts_lost(folder, design, rows)):
        listener.note(note)
    before = [rows[task.id] for task in design.tasks if task.id in rows]
    listener.begin(design, before, usages_of(folder.run, before))


def _counting(runner: MakeRunner, meter: Meter, price: Price | None) -> MakeRunner:
    """Threads of this process: a meter can count their answers."""
    if runner is not Threads and not isinstance(runner, InProcesses):
        raise InputError(
            "limits are kept where the answers are counted, and a cluster's are not: play"
            " without Ray"
        )
    return partial(Threads, meter=meter, price=price)


def _sound_rows(folder: OpenRun, design: RunDesign, *, retry_errors: bool) -> dict[str, EpisodeRow]:
    """Finished episodes that need not be played again: all texts kept beside them are there."""
    rows = {}
    for task, row in folder.finished.items():
        wanted_again = retry_errors and row.failed
        if not wanted_again and not any(folder.run.faults_beside(task, design.beside)):
            rows[task] = row
    return rows


def _texts_lost(
    folder: OpenRun, design: RunDesign, rows: Mapping[str, EpisodeRow]
) -> Iterator[str]:
    """Texts kept beside finished episodes that are there and cannot be used."""
    for task in folder.finished.keys() - rows.keys():
        for damage in folder.run.faults_beside(task, design.beside):
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
    """Keep episodes as they finish. If the run is stopped, those that are under way or being
    written are kept, too.
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
def _saying_how_to_go_on(design: RunDesign, rows: Mapping[str, EpisodeRow]) -> Iterator[None]:
    """Says how far a run came, whatever stops it; `rows` are its episodes, to which it adds."""
    before = len(rows)
    try:
        yield
    except ModelUnavailable as error:
        raise ModelUnavailable(f"{error}; {_how_to_go_on(rows, design)}") from error
    except LimitReached as limit:
        none = "" if len(rows) > before else f"; {_NO_PROGRESS}"
        raise LimitReached(f"{limit}; {_how_to_go_on(rows, design)}{none}") from None
    except InputError as error:  # the disk is full, or a node of a cluster lacks something
        if not rows:
            raise
        raise InputError(f"{error}; {_how_to_go_on(rows, design)}") from error
    except KeyboardInterrupt:
        raise Interrupted(f"stopped; {_how_to_go_on(rows, design)}") from None


def _how_to_go_on(rows: Mapping[str, EpisodeRow], design: RunDesign) -> str:
    return (
        f"{len(rows)} of {len(design.tasks)} episodes are done, and the same command goes on from"
        " there"
    )
