"""One episode: steps in a game until it ends.

A seat plays one after the other; threads are several seats.
"""

import gc
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from rpms.logic.errors import FileError, ModelError, ModelUnavailable, WorldError
from rpms.models.base import Model
from rpms.paper.compose import compose
from rpms.paper.decide import Mind
from rpms.paper.episode import Ending, Episode, Step, Usage
from rpms.paper.verdict import Mask
from rpms.play.design import RunDesign
from rpms.play.meter import LimitReached, Meter
from rpms.play.methods import CARRIED, NOTHING, Earlier, Reflection, reflect
from rpms.play.step import Player
from rpms.play.understanding import Reads
from rpms.store.episodes import EpisodeRow, episode_text, packed, row_of
from rpms.store.price import Price
from rpms.store.runs import TextBeside, Timing
from rpms.worlds.base import REQUEST, Game, Outcome, Setting, Task

WITHOUT_ACTION = "Nothing happens. Your answer had no action; write one after `Action:`."
"""Observation for a model whose answer names no action, where notes are added to the world's
texts."""


@dataclass
class Play:
    """An episode in the making.

    `step` until `ending` is set; a caller with its own loop may stop at any time.
    """

    player: Player
    game: Game
    task: Task
    budget: int
    stuck_after: int = 0
    """End after so many failures of the same command in a row; 0 for never, which is the
    paper's protocol."""
    episode_id: str = ""
    seed: int = 0
    """Seed that draws hidden memories, together with the task."""
    brought: Reflection = NOTHING
    """Texts carried from earlier attempts; the cost of asking for them is counted with the
    first step."""
    ending: Ending | None = None
    error: str = ""

    def __post_init__(self) -> None:
        player = self.player
        mind = player.mind
        share_hidden = mind.experience.retrieval.mask
        if share_hidden:
            mind = replace(mind, mask=Mask(share_hidden, self.seed, self.task.id))
        self._outcome = Outcome("")
        try:
            self._outcome = self.game.reset()
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
        self.games_own = ""
        """The goal that the game states and decides by, where somebody asked for something in
        other words."""
        opening = self._outcome.observation
        request = self.task.source.get(REQUEST, "")
        if request:
            self.games_own = player.world.goal(opening).text
            opening = player.world.stating(opening, request)
            self._outcome = replace(self._outcome, observation=opening)
        name = self.episode_id or self.task.id
        read = replace(player, mind=mind).understand(opening, name, request)
        self.goal = read.goal
        carried = (*self.brought.carried, *player.method.opening(self.goal, self.task.id))
        self.player = replace(player, mind=replace(mind, carried=carried))
        self._course = player.begin(read)

    def _stop(self, ending: Ending, error: str = "") -> None:
        self.ending = ending
        self.error = error

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._course.steps

    @property
    def shown_text(self) -> str:
        """Text for the player now: the observation, and why the last command failed where the
        guard advises.
        """
        return self._course.with_advice(self._outcome.observation)

    def step(self) -> None:
        """Decide, ask, act.

        ModelUnavailable passes through: the run is to stop, this episode to be done again.
        """
        try:
            self._choose_and_act()
        except ModelUnavailable:
            raise
        except ModelError as error:
            self._stop(Ending.MODEL_ERROR, str(error))
        except WorldError as error:
            self._stop(Ending.WORLD_ERROR, str(error))
        if self.ending is None:
            self._end_if_over()

    def _choose_and_act(self) -> None:
        """Take the player's command to the world, unless the player gives up."""
        move = self.player.choose(
            self._course, self._outcome.observation, self.episode_id or self.task.id
        )
        reason = self.player.gives_up(move) if self.steps else ""
        if reason:
            self._stop(Ending.STUCK, reason)
            return
        drift = self.player.world.contradictions(move.decision.belief, self.game)
        self._outcome = self.game.step(move.command) if move.command else self._unsaid()
        self._course = self.player.after(self._course, move, self._outcome, drift, self.brought)

    def _end_if_over(self) -> None:
        if self._outcome.won:
            self._stop(Ending.WON)
        elif self._outcome.done:
            self._stop(Ending.LOST)
        elif len(self.steps) >= self.budget:
            self._stop(Ending.OUT_OF_STEPS)
        elif self._is_stuck():
            self._stop(Ending.STUCK)

    def _is_stuck(self) -> bool:
        """True if the last few steps were one refused command, as many as the run allows."""
        if not self.stuck_after or len(self.steps) < self.stuck_after:
            return False
        last = self.steps[-self.stuck_after :]
        commands = {step.command for step in last}
        return len(commands) == 1 and all(step.infeasible for step in last)

    def _unsaid(self) -> Outcome:
        """The answer to a turn without an action: the world's own answer to unknown commands, or a
        note.
        """
        noted = self.player.mind.style.notes
        text = WITHOUT_ACTION if noted else self.player.world.not_understood
        return Outcome(text, self._outcome.score)

    def episode(self) -> Episode:
        score = 0.0
        steps: tuple[Step, ...] = ()
        if self.steps:
            score = self.steps[-1].score
            steps = self.player.end(self._course, self._outcome)
        return Episode(
            task=self.task.id,
            type=self.task.type,
            goal=self.goal.text,
            ending=self.ending or Ending.OUT_OF_STEPS,
            score=score,
            steps=steps,
            error=self.error,
            usage=sum((step.usage for step in self.steps), Usage()),
        )


def play(episode: Play, on_step: Callable[[Step], None] = lambda _: None) -> Episode:
    """Play an episode to its end."""
    while episode.ending is None:
        before = len(episode.steps)
        episode.step()
        for step in episode.steps[before:]:
            on_step(step)
    return episode.episode()


def play_task(player: Player, task: Task, setting: Setting, budget: int = 0) -> Episode:
    """Open a task's game, play it to its end and close it; without a budget, the world's."""
    with closing(player.world.open(task, setting)) as game:
        return play(Play(player, game, task, budget or player.world.step_budget))


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished episode as it goes to disk: small, and free of everything it was played with."""

    row: EpisodeRow
    data: bytes
    timing: Timing
    beside: tuple[TextBeside, ...]
    usages: tuple[Usage, ...]
    """Cost of each step, for a listener that adds up prices."""


def finish(
    design: RunDesign, episode: Episode, seconds: float, carried: tuple[str, ...] = ()
) -> Finished:
    """Make the record of an episode that goes to disk. `carried`: texts it brought along from
    earlier attempts.
    """
    episode = replace(episode, trial=design.trial)
    usages = tuple(step.usage for step in episode.steps)
    timing = Timing(
        episode.task,
        seconds,
        tuple(usage.seconds for usage in usages),
        tuple(usage.requests for usage in usages),
    )
    beside = [TextBeside(folder, make(episode)) for folder, make in design.keep.items()]
    if design.trial:
        beside.append(TextBeside(CARRIED, json.dumps(carried) + "\n"))
    data = packed(episode_text(episode))
    return Finished(row_of(episode), data, timing, tuple(beside), usages)


_THIS_EPISODE = 1
"""The generation, for the garbage collector, of what an episode has made."""


class Seat:
    """Plays episodes of one design. Each worker has its own."""

    def __init__(
        self,
        design: RunDesign,
        model: Model,
        knowledge: Mind | None = None,
        reads: Reads | None = None,
    ) -> None:
        """`knowledge`: of the world, if it was read before. `reads`: a reader that is open."""
        self._design = design
        knowledge = knowledge or design.knowledge()
        mind = compose(
            design.condition, replace(knowledge, manual=replace(knowledge.manual)), design.memory
        )
        own = design.condition
        reads = reads or design.reads(model)
        self.player = Player(
            design.world, mind, model, design.decoding, design.method, own.repair, own.calls, reads
        )

    def play(self, task: Task, stop: Callable[[], bool] = lambda: False) -> Finished | None:
        """Play one episode; None if asked to stop.

        A world's error ends it; ModelUnavailable passes through.
        """
        design = self._design
        start = time.perf_counter()
        earlier = design.earlier.get(task.id)
        brought = self.reflect(task, earlier) if earlier else NOTHING
        try:
            game = design.world.open(task, design.setting)
        except (WorldError, FileError) as error:
            episode = Episode(task.id, task.type, "", Ending.WORLD_ERROR, 0.0, (), str(error))
        else:
            with closing(game):
                played = self._play(task, game, brought, stop)
            if played is None:
                return None
            episode = played
        finished = finish(design, episode, time.perf_counter() - start, brought.carried)
        gc.collect(_THIS_EPISODE)
        return finished

    def _play(
        self, task: Task, game: Game, brought: Reflection, stop: Callable[[], bool]
    ) -> Episode | None:
        """Play a game that is open to its end; None if asked to stop."""
        try:
            play = self.begin(task, game, brought)
        except WorldError as error:  # it cannot tell what its task is
            return Episode(task.id, task.type, "", Ending.WORLD_ERROR, 0.0, (), str(error))
        while play.ending is None:
            if stop():
                return None
            play.step()
        return play.episode()

    def _name(self, task: Task) -> str:
        """Name of an episode for the model."""
        return f"{task.id} trial {self._design.trial}" if self._design.trial else task.id

    def reflect(self, task: Task, earlier: Earlier) -> Reflection:
        """Ask the model what to carry from the last attempt at a task to the next."""
        design = self._design
        return reflect(
            design.method,
            earlier,
            self.player.model,
            design.decoding,
            self._name(task),
            design.sources.context,
        )

    def begin(self, task: Task, game: Game, brought: Reflection = NOTHING) -> Play:
        design = self._design
        return Play(
            self.player,
            game,
            task,
            design.step_budget,
            design.stuck_after,
            self._name(task),
            design.seed,
            brought,
        )


GRACE = 1.5
"""Seconds that running episodes are given to reach the end of their step when a run is stopped."""
_AHEAD = 2
"""Finished episodes, for each worker, that may wait to be written."""


class Players:
    """Threads that play tasks, each in a seat of its own, and tell of episodes as they finish."""

    def __init__(
        self,
        design: RunDesign,
        model: Model,
        count: int,
        tell: Callable[[Finished | BaseException], object],
        knowledge: Mind | None = None,
    ) -> None:
        """`tell` is also given what a thread raises, which ends it."""
        self.todo: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._design = design
        self._model = model
        self._tell = tell
        self._knowledge = knowledge or design.knowledge()
        self._reads = design.reads(model)
        self._stop = threading.Event()
        # daemons: one that waits for an answer that never comes must not keep the process alive
        self._threads: list[threading.Thread] = []
        for number in range(1, count + 1):
            thread = threading.Thread(target=self._work, name=f"worker {number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        try:
            seat = Seat(self._design, self._model, self._knowledge, self._reads)
            while (task := self.todo.get()) is not None and not self._stop.is_set():
                try:
                    done = seat.play(task, self._stop.is_set)
                except Exception as error:
                    error.add_note(f"in the episode of {task.id!r}")
                    raise
                if done is not None:
                    self._tell(done)
        except BaseException as error:  # noqa: BLE001  raised again where the results are taken
            self._tell(error)

    def _is_alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def stop(self, wait: Callable[[float], object] = time.sleep) -> None:
        """Let the steps under way end if they take only moments; `wait` sleeps for some seconds."""
        self._stop.set()
        for _ in self._threads:
            self.todo.put(None)
        deadline = time.monotonic() + GRACE
        while self._is_alive() and time.monotonic() < deadline:
            wait(0.02)
        if not self._is_alive():
            self._model.close()
            if self._reads.model not in (None, self._model):
                self._reads.model.close()


class Threads:
    """Plays tasks with a number of workers and gives back episodes in the order in which they
    finish.
    """

    def __init__(
        self,
        design: RunDesign,
        tasks: Sequence[Task],
        workers: int | None,
        meter: Meter | None = None,
        price: Price | None = None,
    ) -> None:
        """With a meter, LimitReached ends the results once a limit is reached, even while an answer
        is waited for.
        """
        workers = workers or 1
        self._count = len(tasks)
        self._meter = meter
        self._done: queue.Queue[Finished | BaseException] = queue.Queue(_AHEAD * workers)
        open_model = design.open_model
        if meter is not None:
            open_model = meter.watching(open_model, price)
        self._players = Players(design, open_model(), min(workers, len(tasks)), self._done.put)
        for task in tasks:
            self._players.todo.put(task)

    def results(self) -> Iterator[Sequence[Finished]]:
        """The episodes as they finish; what a worker raises is raised here."""
        for _ in range(self._count):
            seconds = None if self._meter is None else self._meter.seconds_left
            try:
                done = self._done.get(timeout=seconds)
            except queue.Empty:
                assert self._meter is not None  # its time is up
                done = self._meter.reached() or LimitReached("no time is left")
            if isinstance(done, BaseException):
                raise done
            yield [done]

    def stop(self) -> list[Finished]:
        late: list[Finished] = []

        def drain(patience: float) -> None:
            with suppress(queue.Empty):
                while True:
                    done = self._done.get(timeout=patience)
                    if isinstance(done, Finished):
                        late.append(done)

        self._players.stop(drain)
        drain(0.0)
        return late
