"""A run: the episodes of a plan, played and kept in a folder, whatever happens in between."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, TypedDict

from rpms.core.errors import InputError, ModelUnavailable
from rpms.core.usage import Price, Usage
from rpms.foreign.file_reader import is_there
from rpms.play.meter import LimitReached, Meter, usages_of
from rpms.play.plan import RunPlan
from rpms.play.processes import InProcesses
from rpms.play.seats import Finished, Threads
from rpms.store.episodes import EpisodeRow
from rpms.store.runs import RunSummary, open_run
from rpms.worlds.base import Task


class Engine(Protocol):
    """Player of a plan's tasks."""

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish, one or several. ModelUnavailable where no model can answer."""

    def stop(self) -> Sequence[Finished]:
        """Stop within moments and let go of everything; the episodes that were finished but not given back yet."""


MakeEngine = Callable[[RunPlan, Sequence[Task], int | None], Engine]
"""From a plan, what is left of its tasks, and a number of workers; None for as many as suit the engine."""


class Listener:
    """Is told what happens; one that does nothing. All calls come from the thread that runs the run."""

    def begin(self, plan: RunPlan, finished: Sequence[EpisodeRow], usages: Sequence[Usage]) -> None:
        """The run begins, or goes on from episodes that are finished already and have taken so much."""

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:
        """An episode has ended and is on disk."""

    def note(self, text: str) -> None:
        """Something a person should know."""

    def end(self) -> None:
        """The run is over, done or not."""


class How(TypedDict, total=False):
    """Arguments that whatever plays several runs hands on to `run`."""

    retry_errors: bool
    engine: MakeEngine
    price: Price | None
    meter: Meter | None


class Interrupted(KeyboardInterrupt):
    """The user stopped a run; the text says how far it came and how to go on."""


def run(
    plan: RunPlan,
    out: Path,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    retry_errors: bool = False,
    engine: MakeEngine = Threads,
    price: Price | None = None,
    meter: Meter | None = None,
) -> RunSummary:
    """Play what a folder still lacks of a plan, and summarise the run.

    Episodes with a model or world error are finished ones, played again with `retry_errors`. The price is kept for
    reports. Raises InputError for an unusable folder, ModelUnavailable, LimitReached, or Interrupted on Ctrl-C;
    finished episodes are on disk then, and the same call continues.
    """
    check_workers(workers)
    if meter is not None:
        engine = _metered(engine, meter, price)
    listener = listener or Listener()
    with open_run(out, plan.protocol()) as folder:
        for damage in folder.damaged:
            listener.note(str(damage))
        rows = {
            task: row
            for task, row in folder.finished.items()
            if not (retry_errors and row.failed) and not any(folder.run.faults_beside(task, plan.beside))
        }
        for task in folder.finished.keys() - rows.keys():
            for damage in folder.run.faults_beside(task, plan.beside):
                if is_there(Path(damage.file)):
                    listener.note(f"{damage}; its episode is played again")
        if price is not None:
            folder.write_price(price)
        before = [rows[task.id] for task in plan.tasks if task.id in rows]
        listener.begin(plan, before, usages_of(folder.run, before))
        todo = [task for task in plan.tasks if task.id not in rows]

        def keep(ended: Sequence[Finished]) -> None:
            written = disk.map(lambda done: folder.write(done.row, done.data, done.timing, done.beside), ended)
            for done, _ in zip(ended, written, strict=True):
                rows[done.row.task] = done.row
                listener.finished(done.row, done.usages, folder.run.file(done.row.task))

        try:
            with _saying_how_to_go_on(plan, rows), ThreadPoolExecutor(_WRITERS) as disk:
                if todo:
                    _play(engine(plan, todo, workers), rows, keep)
        finally:
            listener.end()
        return folder.run.summary()


_WRITERS = 16
"""Episodes that are written at once: a disk takes long to say that one is safe, and no longer for several."""
_NO_PROGRESS = "no episode ended within the limit: raise it, or keep answers with --record, so that none is asked twice"


def _metered(engine: MakeEngine, meter: Meter, price: Price | None) -> MakeEngine:
    if isinstance(engine, InProcesses):
        engine = Threads
    if engine is not Threads:
        raise InputError("limits are kept where the answers are counted, and a cluster's are not: play without Ray")
    return partial(Threads, meter=meter, price=price)


def check_workers(workers: int | None) -> None:
    """Refuse a number of workers that is none."""
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers can do nothing; give 1 or more")


def _play(engine: Engine, rows: Mapping[str, EpisodeRow], keep: Callable[[Sequence[Finished]], None]) -> None:
    """Keep episodes as they finish; of a run that is stopped, also those under way and those being written."""
    ended: Sequence[Finished] = ()
    try:
        for ended in engine.results():
            keep(ended)
    except (ModelUnavailable, LimitReached, KeyboardInterrupt):
        keep([late for late in (*ended, *engine.stop()) if late.row.task not in rows])
        raise
    except BaseException:
        engine.stop()
        raise
    engine.stop()


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
    return f"{len(rows)} of {len(plan.tasks)} episodes are done, and the same command goes on from there"
