"""A seat plays episodes one after the other: a model, a mind, and one game at a time; threads are several seats."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from rpms.core.condition import Knowledge, compose
from rpms.core.episode import Ending, Episode
from rpms.core.errors import FileError, WorldError
from rpms.core.usage import Price, Usage
from rpms.models.base import Model
from rpms.play.episode import Play
from rpms.play.limits import Meter
from rpms.play.methods import CARRIED, NOTHING, Earlier, Reflection, carried_text, reflect
from rpms.play.plan import RunPlan
from rpms.play.reading import Reads
from rpms.store.episodes import EpisodeRow, episode_text, packed, row_of
from rpms.store.runs import Timing
from rpms.worlds.base import Game, Task

LOSSES = 4
"""Losses of an episode with its node or process after which it counts as a world error."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished episode as it goes to disk: small, and free of everything it was played with."""

    row: EpisodeRow
    data: bytes
    """Its file."""
    timing: Timing
    beside: tuple[tuple[str, str], ...]
    usages: tuple[Usage, ...]
    """Cost of each step, for a listener that adds up prices."""


def finish(plan: RunPlan, episode: Episode, seconds: float, carried: tuple[str, ...] = ()) -> Finished:
    """Make of an episode what goes to disk; `carried`: what it brought along from earlier attempts."""
    episode = replace(episode, trial=plan.trial)
    usages = tuple(step.usage for step in episode.steps)
    timing = Timing(
        episode.task,
        seconds,
        tuple(usage.seconds for usage in usages),
        tuple(usage.requests for usage in usages),
    )
    beside = tuple((folder, make(episode)) for folder, make in plan.keep.items())
    if plan.trial:
        beside = (*beside, (CARRIED, carried_text(carried)))
    return Finished(row_of(episode), packed(episode_text(episode)), timing, beside, usages)


def lost_episode(plan: RunPlan, task: Task, why: str) -> Finished:
    """The end of an episode that was lost with its process or node too often: the world broke down."""
    text = f"lost {LOSSES + 1} times with the process that played it ({why})"
    return finish(plan, Episode(task.id, task.type, "", Ending.WORLD_ERROR, 0.0, (), text), 0.0)


def never() -> bool:
    """An episode that nobody asks to stop."""
    return False


class Seat:
    """Plays episodes of one plan. Each worker has its own."""

    def __init__(
        self, plan: RunPlan, model: Model, knowledge: Knowledge | None = None, reads: Reads | None = None
    ) -> None:
        """`knowledge`: of the world, where it was read before. `reads`: a reader that is open already."""
        self._plan = plan
        self._model = model
        knowledge = knowledge or plan.knowledge()
        knowledge = replace(knowledge, manual=replace(knowledge.manual))
        self._mind = compose(plan.condition, knowledge, plan.memory)
        self._reads = plan.reads(model) if reads is None else reads

    def play(self, task: Task, stop: Callable[[], bool] = never) -> Finished | None:
        """Play one episode; None if asked to stop. A world's error ends it; ModelUnavailable passes through."""
        start, plan = time.perf_counter(), self._plan
        earlier = plan.earlier.get(task.id)
        brought = self.reflect(task, earlier) if earlier else NOTHING
        episode = self._episode(task, brought, stop)
        if episode is None:
            return None
        return finish(plan, episode, time.perf_counter() - start, brought.carried)

    def _name(self, task: Task) -> str:
        """Name of an episode for the model."""
        return f"{task.id} trial {self._plan.trial}" if self._plan.trial else task.id

    def reflect(self, task: Task, earlier: Earlier) -> Reflection:
        """Ask the model what to carry from the last attempt at a task to the next."""
        plan = self._plan
        return reflect(plan.method, earlier, self._model, plan.decoding, self._name(task), plan.sources.context)

    def begin(self, task: Task, game: Game, brought: Reflection = NOTHING) -> Play:
        """An episode in a game that is open."""
        plan = self._plan
        return Play(
            plan.world,
            game,
            task,
            self._mind,
            self._model,
            plan.decoding,
            plan.step_budget,
            plan.stuck_after,
            self._name(task),
            plan.seed,
            method=plan.method,
            reads=self._reads,
            brought=brought,
            repair=plan.condition.repair,
            calls=plan.condition.calls,
        )

    def _episode(self, task: Task, brought: Reflection, stop: Callable[[], bool]) -> Episode | None:
        plan = self._plan
        try:
            game = plan.world.open(task, plan.setting)
        except (WorldError, FileError) as error:
            return Episode(task.id, task.type, "", Ending.WORLD_ERROR, 0.0, (), str(error))
        with closing(game):
            play = self.begin(task, game, brought)
            while play.ending is None:
                if stop():
                    return None
                try:
                    play.step()
                except WorldError as error:
                    return replace(play.episode(), ending=Ending.WORLD_ERROR, error=str(error))
            return play.episode()


GRACE = 1.5
"""Seconds that running episodes are given to reach the end of their step when a run is stopped."""
_AHEAD = 2
"""Finished episodes, for each worker, that may wait to be written."""


class Threads:
    """Plays tasks with a number of workers and gives back episodes in the order in which they finish."""

    def __init__(
        self,
        plan: RunPlan,
        tasks: Sequence[Task],
        workers: int | None,
        meter: Meter | None = None,
        price: Price | None = None,
    ) -> None:
        """With a meter, LimitReached ends the results where a limit is reached, even while an answer is waited for."""
        workers = workers or 1
        self._plan = plan
        self._stop = threading.Event()
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            self._tasks.put(task)
        self._count = len(tasks)
        self._done: queue.Queue[Finished | BaseException] = queue.Queue(_AHEAD * workers)
        self._knowledge = plan.knowledge()
        self._meter = meter
        self._model: Model = (plan.open_model if meter is None else meter.watching(plan.open_model, price))()
        self._reads = plan.reads(self._model)
        # daemons: one that waits for an answer that never comes must not keep the process alive
        self._threads = [
            threading.Thread(target=self._work, name=f"worker {number}", daemon=True)
            for number in range(1, min(workers, len(tasks)) + 1)
        ]

    def results(self) -> Iterator[Finished]:
        """The episodes as they finish; what a worker raises is raised here."""
        for thread in self._threads:
            thread.start()
        for _ in range(self._count):
            done = self._next()
            if isinstance(done, BaseException):
                raise done
            yield done

    def _next(self) -> Finished | BaseException:
        if self._meter is None:
            return self._done.get()
        try:
            return self._done.get(timeout=self._meter.seconds_left)
        except queue.Empty:
            reached = self._meter.reached()
            assert reached is not None  # no time is left
            return reached

    def stop(self) -> list[Finished]:
        """Stop within moments; the episodes that were finished but not given back yet."""
        self._stop.set()
        late: list[Finished] = []
        deadline = time.monotonic() + GRACE
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < deadline:
            self._drain(late, 0.02)
        self._drain(late, 0.0)
        if not any(thread.is_alive() for thread in self._threads):
            self._model.close()
            if self._reads.model not in (None, self._model):
                self._reads.model.close()
        return late

    def _drain(self, late: list[Finished], patience: float) -> None:
        try:
            while True:
                done = self._done.get(timeout=patience) if patience else self._done.get_nowait()
                if isinstance(done, Finished):
                    late.append(done)
        except queue.Empty:
            return

    def _work(self) -> None:
        try:
            seat = Seat(self._plan, self._model, self._knowledge, self._reads)
            while not self._stop.is_set():
                try:
                    task = self._tasks.get_nowait()
                except queue.Empty:
                    return
                self._play(seat, task)
        except BaseException as error:  # noqa: BLE001  raised again where the results are taken
            self._done.put(error)

    def _play(self, seat: Seat, task: Task) -> None:
        try:
            done = seat.play(task, self._stop.is_set)
        except Exception as error:
            error.add_note(f"in the episode of {task.id!r}")
            raise
        if done is not None:
            self._done.put(done)
