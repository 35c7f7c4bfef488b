"""Episodes one after the other, each so that it settles what is open after those before it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from random import Random

from rpms.induction.conclusions.ledger import Diary, Ledger
from rpms.induction.exploring.agenda import Agenda, Exploring
from rpms.induction.exploring.session import Session
from rpms.induction.thresholds import LIMITS
from rpms.logic.errors import FileError, InputError, WorldError
from rpms.logic.facts import grouped
from rpms.store.evidence import Spoken, Trace
from rpms.worlds.base import Setting, Task, World


@dataclass
class Explorer:
    """Plays episodes, each so that it settles what is open after the ones before it."""

    world: World
    setting: Setting
    tasks: Sequence[Task]
    ledger: Ledger
    exploring: Exploring = field(default_factory=Exploring)
    aside: list[Trace] = field(default_factory=list)  # Episodes that nothing was learned from
    episodes: int = 0
    steps: int = 0
    failed: int = 0  # Episodes in which the world failed
    _without_trials: int = 0  # Episodes since there was anything to try
    _explored: Counter[str] = field(default_factory=Counter)
    """Episodes by the kind of their task."""
    _types: dict[str, str] = field(default_factory=dict)
    """By task and by its type, the types of goals that were seen."""
    _seen: dict[str, set[str]] = field(default_factory=dict)
    _by_type: dict[str, list[Task]] = field(default_factory=dict)
    """The tasks of an exploration by the types of their goals; empty where these have changed."""

    def __post_init__(self) -> None:
        self.agenda = Agenda(self.ledger, self.exploring)

    @property
    def until(self) -> int:
        """The number of steps after which the manual is tried in play."""
        return self.exploring.steps - int(self.exploring.steps * self.exploring.played)

    def read(self, known: Sequence[Trace]) -> Sequence[Trace]:
        """Take over episodes that were explored before; those after the exploration's end are
        returned.
        """
        for number, trace in enumerate(known, 1):
            if self.steps >= self.until:
                return known[number - 1 :]
            self.episodes = number
            self.steps += len(trace.steps)
            self.note_type(trace)
            aside = self._kept_aside(number)
            self._ledger_for(apart=aside).read(trace)
            if aside:
                self.aside.append(trace)
            else:
                self._conclude_after(trace)
        return ()

    def _kept_aside(self, number: int) -> bool:
        """True if nothing is learned from an episode, so that it can verify the rest."""
        every = self.exploring.aside
        return every > 0 and number % every == 0

    def explore(self) -> Iterator[Trace]:
        """Play until there were so many steps.

        Every second task is of a type whose goal is not settled, and of these the least known.
        """
        order = self.shuffled()
        while self.steps < self.until and self._without_trials < LIMITS.idle_episodes:
            some = self._least_known(order) if self.episodes % 2 else order
            task = some[self.episodes % len(some)]
            failed_before = self.failed
            trace = self.episode(task)
            self.episodes += 1
            self.steps += max(1, len(trace.steps))
            self.note_type(trace)
            is_idle = not trace.steps and self.failed == failed_before
            if is_idle:
                self._without_trials += 1
            else:
                self._without_trials = 0
            yield trace
            self._conclude_after(trace)

    def _conclude_after(self, trace: Trace) -> None:
        """Draw conclusions from an episode: what ruined it at once, all else where it is time."""
        if trace.steps and trace.steps[-1].lost:
            self.agenda.heed_ruin()
        self.agenda.draw_conclusions()

    def _least_known(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Tasks of the type that was won least of those that are not settled; of all types where
        each is.

        Episodes without a win count too, for less: a type that is never won takes its share. Of
        types that are known as little, the one with the most tasks comes first; of its tasks, those
        of the kind that was explored least.
        """
        by_type = self._grouped(tasks)
        unsettled = [type_ for type_ in by_type if not self.agenda.settled(type_)]
        if not unsettled:
            return tasks

        def rank(type_: str) -> tuple[float, int, str]:
            return self._familiarity(type_), -len(by_type[type_]), type_

        least_known = min(unsettled, key=rank)
        return self._of_rarest_kind(by_type[least_known])

    def _grouped(self, tasks: Iterable[Task]) -> dict[str, list[Task]]:
        """Tasks by the types of their goals, found once until one turns out to have another."""
        if not self._by_type:
            for task in tasks:
                for type_ in self._types_of(task.id, task.type):
                    self._by_type.setdefault(type_, []).append(task)
        return self._by_type

    def _familiarity(self, type_: str) -> float:
        """Wins of a type, and a part of one for each episode."""
        book = self.ledger.goals.get(type_)
        if book is None:
            return 0.0
        return len(book.wins) + book.episodes / LIMITS.episodes_for_a_win

    def _of_rarest_kind(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """The tasks of the kind that was explored least, by the world's own division."""
        by_kind = grouped((task.type, task) for task in tasks)
        rarest = min(by_kind, key=self._explored.__getitem__)
        return by_kind[rarest]

    def type_of(self, task: Task) -> str:
        """Type of a task's goal, as its opening said; the type that the world gives it where it
        was never opened.
        """
        return self._types.get(task.id, task.type)

    def _types_of(self, task: str, kind: str) -> set[str]:
        """Type of a task's goal, by its id; before it is opened, those that its like had."""
        if task in self._types:
            return {self._types[task]}
        return self._seen.get(kind, {kind})

    def note_type(self, trace: Trace) -> str:
        """Note the type of an episode's goal, and return it."""
        found = self.world.goal(trace.opening).type
        self._explored[trace.kind] += 1
        if trace.opening:
            if self._types_of(trace.task, trace.kind) != {found}:
                self._by_type = {}
            self._types[trace.task] = found
            self._seen.setdefault(trace.kind, set()).add(found)
        return found

    def shuffled(self) -> list[Task]:
        """Tasks in a random order."""
        return Random(self.exploring.seed).sample(self.tasks, len(self.tasks))  # noqa: S311  dice, not secrets

    def _count_failure(self, number: int, error: Exception) -> None:
        """Raise InputError where the world has failed in every episode so far, and in several."""
        self.failed += 1
        if self.failed == number >= LIMITS.given_up:
            raise InputError(f"the world failed in each of {number} episodes: {error}") from None

    def episode(self, task: Task, *, mending: bool = False) -> Trace:
        """Play one episode.

        Mending: it is about the goal, and whoever asked for it takes over what was seen.
        """
        number = self.episodes + 1
        name = f"{number}:{task.id}"
        aside = self._kept_aside(number) and not mending
        learns = not aside and not mending
        with ExitStack() as opened:
            try:
                game = opened.enter_context(closing(self.world.open(task, self.setting)))
                opening = game.reset().observation
            except (WorldError, FileError) as error:
                self._count_failure(number, error)
                return Trace(name, task.id, task.type, "")  # teaches nothing
            diary = Diary(self._ledger_for(apart=not learns), name, opening)
            dice = Random(f"{self.exploring.seed}:{number}")  # noqa: S311
            self.agenda.imagine(dice)
            session = Session(self.agenda, diary, game, dice, about_goal=mending)
            try:
                self._play(session, self._steps_of_episode(mending=mending), learns=learns)
            except WorldError as error:
                self._count_failure(number, error)  # the steps until then still count
        trace = Trace(name, task.id, task.type, opening, tuple(diary.steps))
        if aside:
            self.aside.append(trace)
        return trace

    def _steps_of_episode(self, *, mending: bool) -> int:
        """The steps that the next episode may have at most."""
        until = self.exploring.steps if mending else self.until
        per_episode = self.exploring.per_episode or self.world.step_budget
        return min(per_episode, until - self.steps)

    def _ledger_for(self, *, apart: bool) -> Ledger:
        """The ledger of an episode; one of its own where nothing is learned but names."""
        if not apart:
            return self.ledger
        return Ledger(self.world, self.ledger.vocabulary, self.ledger.names, apart=True)

    def _play(self, session: Session, steps: int, *, learns: bool) -> None:
        """Play until the game is over, the steps are used, or there is nothing left to ask."""
        for step in range(steps):
            session.left = steps - step
            command = session.choose()
            if not command:
                break
            outcome = session.game.step(command)
            spoken = Spoken(
                command,
                outcome.observation,
                score=outcome.score,
                won=outcome.won,
                lost=outcome.done and not outcome.won,
            )
            refused = session.diary.add(spoken)
            session.told(command, refused=refused)
            if learns:
                self._learn_at_once(command, session.dice)
            if outcome.done or session.experimenter.idle:
                break

    def _learn_at_once(self, command: str, dice: Random) -> None:
        """Draw the conclusions that the next step needs."""
        if self.ledger.names.signatures:
            self.agenda.draw_conclusions()
            self.agenda.reconsider(command)
        else:
            self.agenda.review(command, dice)
