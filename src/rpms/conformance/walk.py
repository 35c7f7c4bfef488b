"""Walks through a world's games, as material for checking the world: what was done, said and
believed.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple, TypeVar

from rpms.logic.actions import PARAMETER
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import Goal
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose, extended
from rpms.paper.condition import FULL
from rpms.paper.decide import Mind, decide
from rpms.paper.enforcement import STRICT, with_part
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Game, Outcome, Setting, Task, World, by_verb

_T = TypeVar("_T")


class Failed(Exception):
    """The property does not hold; the text says where and how."""


class Skipped(Exception):
    """The property cannot be tried; the text says why."""


def require(holds: bool, otherwise: str) -> None:
    """Fail unless something holds."""
    if not holds:
        raise Failed(otherwise)


NONSENSE = (
    "",
    " \n ",
    "xyzzy 17",
    "Nothing happens.",
    "You are in the middle of nowhere | holding=none, open=%7C. Your task is to:",
    "{0} %s \\1 (?P<x>[ ",
    "naïve ☃ \u202e \x00 ½",
    "a " * 400,
)
"""Texts that no world prints, and names that none has."""

REPLAYS = 3
"""Doubtful commands that are tried in the game itself, which costs a game or two each."""

_NAME = re.compile(r"[a-z][a-z ]*\d+|[a-z]{3,}", re.IGNORECASE)
_NAMES_TRIED = 6
_PLANNED = 0.6
"""The share of commands that a guided walk takes from plans, if there are plans."""


@dataclass(frozen=True, slots=True)
class WalkStep:
    """A game and a belief of it, after one observation."""

    action: str | None
    """The command that led here; None at the start."""
    outcome: Outcome
    admissible: tuple[str, ...]
    belief: Belief
    contradictions: tuple[str, ...]
    shown: tuple[Any, ...]
    """The belief as it was seen then."""


@dataclass(frozen=True)
class Walk:
    """One game played for a while."""

    task: Task
    goal: Goal
    moments: tuple[WalkStep, ...]


class MomentOf(NamedTuple):
    """A moment, and the walk that it is of."""

    walk: Walk
    moment: WalkStep


class BeliefForGoal(NamedTuple):
    """A belief, and the goal that it serves."""

    goal: Goal
    belief: Belief


class Broken(Exception):
    """A walk could not go on.

    It is the failure of one property; what needs the walks cannot be tried.
    """

    def __init__(self, part: str, error: Exception) -> None:
        super().__init__(part, error)
        self.part = part
        self.error = error


@dataclass
class Subject:
    """A world under examination, with walks through some of its games.

    The same seed gives the same walks.
    """

    world: World
    setting: Setting
    split: str
    games: int = 6
    steps: int = 30
    seed: int = 0

    @cached_property
    def _rng(self) -> Random:
        return Random(self.seed)  # noqa: S311  dice, not secrets

    def _ask(self, part: str, call: Callable[..., _T], *args: object) -> _T:
        """An answer of the world, in the name of the property that answers for it."""
        try:
            return call(*args)
        except Broken:
            raise
        except Exception as error:
            raise Broken(part, error) from error

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """A few tasks from all over the split."""
        listed = tuple(self.world.tasks(self.split, self.setting))
        count = min(self.games, len(listed))
        return tuple(listed[place * len(listed) // count] for place in range(count))

    @cached_property
    def knowledge(self) -> Mind:
        """All that the world knows; Broken if its manual cannot be read, which is one failure
        for all.
        """
        return self._ask("manual", knowledge_of, self.world)

    @property
    def manual(self) -> RuleManual:
        return self.knowledge.manual

    @cached_property
    def _walked(self) -> tuple[Walk, ...] | Broken:
        walks: list[Walk] = []
        try:
            for place, task in enumerate(self.tasks):
                guided = place % 3 < 2
                walks.append(self._ask("games", self._walk, task, guided))
        except Broken as broken:
            return broken
        return tuple(walks)

    @property
    def walks(self) -> tuple[Walk, ...]:
        """A walk through each task with listed commands, guesses, nonsense, and in two of three
        walks the planner's.
        """
        if isinstance(self._walked, Broken):
            raise self._walked
        return self._walked

    def rules(self, goal: Goal) -> ActiveRules:
        """The manual's rules for a goal."""
        return self.manual.active(goal.type, goal.object)

    def updated(self, prior: Belief, action: str | None, text: str, goal: Goal) -> Belief:
        """The belief after an answer, which decides facts about numbers by the manual."""
        belief = self.world.update(prior, action, text)
        return belief.deciding(self.manual.lore.decided, goal)

    def opened(self, task: Task) -> closing[Game]:
        """A live game of a task, closed at the end of a `with`."""
        return closing(self.world.open(task, self.setting))

    def lead(self, game: Game, walk: Walk, number: int) -> list[Outcome]:
        """Play a game up to a moment of a walk, and return all that it said."""
        said = [game.reset()]
        for moment in walk.moments[1 : number + 1]:
            said.append(game.step(moment.action or ""))
        return said

    def answer(self, walk: Walk, number: int, command: str) -> Outcome:
        """The game's answer to a command at a moment of a walk: lists of commands can be wrong."""
        with self.opened(walk.task) as game:
            self.lead(game, walk, number)
            return game.step(command)

    def _walk(self, task: Task, guided: bool) -> Walk:
        """Walk through a task with random commands; if `guided`, some of them are what a plan would
        do.
        """
        with self.opened(task) as game:
            outcome = game.reset()
            action: str | None = None
            goal = self._ask("goals", self.world.goal, outcome.observation)
            belief = self._ask("belief", self.world.start, goal)
            moments: list[WalkStep] = []
            while True:
                prior = belief
                text = outcome.observation
                belief = self._ask("belief", self.updated, prior, action, text, goal)
                moment = self._moment(game, action, outcome, belief)
                moments.append(moment)
                if outcome.done or len(moments) > self.steps:
                    return Walk(task, goal, tuple(moments))
                planned = ""
                if guided and self._rng.random() < _PLANNED:
                    planned = self._planned(goal, prior, moment)
                action = planned or self._ask("manual", self._choose, goal, moment)
                outcome = game.step(action)

    def _moment(self, game: Game, action: str | None, outcome: Outcome, belief: Belief) -> WalkStep:
        """A moment of a walk, with everything that is asked of the belief then."""
        shown = self._ask("belief", view, belief)
        moment = WalkStep(action, outcome, tuple(game.admissible()), belief, (), shown)
        self._ask("facts", self._ask_facts, moment)
        contradictions = self._ask("drift", self.world.contradictions, belief, game)
        return replace(moment, contradictions=contradictions)

    def _ask_facts(self, moment: WalkStep) -> None:
        for atom in self.atoms(moment):
            truth_of(moment.belief, atom)

    def _planned(self, goal: Goal, prior: Belief, moment: WalkStep) -> str:
        """The planner's choice; nothing if it has none, which its own property judges."""
        try:
            text = moment.outcome.observation
            decision = decide(self.mind, goal, prior, moment.action, text, ())
            return follow_plan(decision).command
        except Exception:  # noqa: BLE001  a stranger's world may raise anything
            return ""

    @cached_property
    def mind(self) -> Mind:
        """The mind under the condition `full`, without experience, and with plans."""
        return extended(compose(FULL, self.knowledge, EpisodicMemory()))

    def strict_episode(self, task: Task, *, doubt: bool) -> Episode:
        """A task played by its plans under `strict`, with doubt in the manual or without."""
        condition = replace(FULL, enforcement=with_part(STRICT, "doubt", doubt))
        mind = compose(condition, self.knowledge, EpisodicMemory())
        planner = PolicyModel("planner", follow_plan)
        player = Player(self.world, mind, planner, Decoding())
        return play_task(player, task, self.setting)

    def _choose(self, goal: Goal, moment: WalkStep) -> str:
        dice = self._rng.random()
        if moment.admissible and dice < 0.6:
            of_one_verb = self._rng.choice(by_verb(moment.admissible))
            return self._rng.choice(of_one_verb)
        if dice < 0.9:
            return self.guess(goal, moment)
        return self._rng.choice(NONSENSE[2:4])

    def guess(self, goal: Goal, moment: WalkStep) -> str:
        """An action of the manual with names that the game has mentioned, possible or not."""
        schemas = self.rules(goal).environment
        names = names_of(moment)
        if schemas:
            command = self._rng.choice(schemas).syntax[0]
        else:
            command = self._rng.choice(NONSENSE[2:4])
        return PARAMETER.sub(lambda _: self._rng.choice(names), command)

    def moments(self) -> Iterator[MomentOf]:
        """Every moment of every walk."""
        for walk in self.walks:
            for moment in walk.moments:
                yield MomentOf(walk, moment)

    def some_moments(self) -> list[MomentOf]:
        """The first, the middle and the last moment of each walk."""
        some: list[MomentOf] = []
        for walk in self.walks:
            for at in sorted({0, len(walk.moments) // 2, -1}):
                some.append(MomentOf(walk, walk.moments[at]))
        return some

    def states(self) -> list[BeliefForGoal]:
        """Every belief with its goal, those after nonsense included."""
        states = [BeliefForGoal(walk.goal, moment.belief) for walk, moment in self.moments()]
        states += self.strange_beliefs
        return states

    @cached_property
    def strange_beliefs(self) -> tuple[BeliefForGoal, ...]:
        """Beliefs after nonsense, and after what the games said, cut and glued together wrongly."""
        said = [moment.outcome.observation for _, moment in self.moments()]
        texts = list(NONSENSE)
        found: list[BeliefForGoal] = []
        for _ in range(4 * len(NONSENSE)):
            one = self._rng.choice(said)
            other = self._rng.choice(said)
            beginning = one[: self._rng.randint(0, len(one))]
            texts.append(beginning + other[self._rng.randint(0, len(other)) :])
        for number, (walk, moment) in enumerate(self.some_moments()):
            for text in texts[number % 3 :: 3]:
                action = self._rng.choice((None, text, moment.action))
                goal = walk.goal
                held = self._ask("belief", self.updated, moment.belief, action, text, goal)
                found.append(BeliefForGoal(goal, held))
        return tuple(found)

    def atoms(self, moment: WalkStep) -> Iterator[Atom]:
        """Facts that the manual names, about names of a moment and names of nothing."""
        names = (*names_of(moment)[:_NAMES_TRIED], *NONSENSE[:3], NONSENSE[6])
        for predicate in self.manual.predicates.values():
            arity = len(predicate.args)
            tried = range(len(names)) if arity else range(1)
            for place in tried:
                following = names[(place + 1) % len(names)]
                three = cycle((names[place], following, names[0]))
                yield Atom(predicate.name, tuple(islice(three, arity)))

    def atoms_of_commands(self, walk: Walk, moment: WalkStep) -> Iterator[Atom]:
        """The facts in the preconditions and effects of commands that are possible now."""
        rules = self.rules(walk.goal)
        for commands in by_verb(moment.admissible):
            instance = rules.instance(commands[0])
            if instance is None:
                continue
            for clause in instance.preconditions:
                for literal in clause.literals:
                    yield literal.atom
            for effect in instance.effects:
                yield effect.atom


def names_of(moment: WalkStep) -> tuple[str, ...]:
    """Names that the belief holds and words that the text shows, so that commands can be made
    of them.
    """
    belief = moment.belief
    found = [*belief.holding, *belief.containers, *belief.last_seen, *belief.last_seen.values()]
    if belief.location:
        found.append(belief.location)
    for names in belief.names.values():
        found += names
    found += map(str.strip, _NAME.findall(moment.outcome.observation))
    return tuple(dict.fromkeys(found)) or ("thing 1",)


def view(belief: Belief, atoms: Sequence[Atom] = ()) -> tuple[Any, ...]:
    """All that a caller can see of a belief, as a value that stays as it is whatever becomes of
    the belief.
    """
    return (
        belief.location,
        tuple(belief.holding),
        dict(belief.containers),
        dict(belief.last_seen),
        {role: tuple(names) for role, names in belief.names.items()},
        str(belief.signature()),
        tuple(belief.lines()),
        tuple(_said(belief, atom) for atom in atoms),
    )


def _said(belief: Belief, atom: Atom) -> str:
    try:
        return str(belief.truth(atom))
    except Exception as error:  # noqa: BLE001  judged where facts are checked
        return type(error).__name__


def truth_of(belief: Belief, atom: Atom) -> Truth:
    """Truth of a fact in a belief; a TypeError for none of the three values."""
    value = belief.truth(atom)
    if not isinstance(value, Truth):
        raise TypeError(f"truth({atom}) is {value!r}, not a Truth")
    return value
