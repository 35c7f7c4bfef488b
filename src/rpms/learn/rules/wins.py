"""What goals want, from wins: facts about the goal's things that held in every win, and never all of them before.

A goal names things by its fields. `x` and `y` stand for things of the goal's object, `p` for one of its destination; a
state of an episode is described by the facts that hold of some such things, so that states of all episodes compare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from rpms.core.belief import Belief
from rpms.core.facts import Atom, Truth
from rpms.core.goal import Goal
from rpms.learn.rules.attempts import Vocabulary
from rpms.learn.rules.templates import Names
from rpms.store.evidence import Witness
from rpms.store.traces import Spoken

FIELDS: Mapping[str, tuple[str, ...]] = {"object": ("x", "y"), "destination": ("p", "q")}
"""The fields of a goal that name things, and the variables that stand for these."""
_THINGS = 3
"""Things of one field that are looked at in a state: those that were handled last."""

State = frozenset[Atom]
"""Facts that hold of some things, which are called by their variables."""


@dataclass(frozen=True, slots=True)
class Win:
    """The last state of an episode that was won, in each way to put things in place of the variables."""

    states: tuple[State, ...]
    since: Mapping[Atom, int]
    """When facts came to hold for the last time, by the things' own names."""
    first: Mapping[Atom, int]
    """When facts held for the first time, whether they still do or not."""
    named: tuple[Mapping[str, str], ...]
    """The things in place of the variables, for each of the states."""
    witness: Witness


@dataclass
class GoalBook:
    """All that was seen of goals of one type."""

    type: str
    vocabulary: Vocabulary
    wins: list[Win] = field(default_factory=list)
    not_won: dict[State, Witness] = field(default_factory=dict)
    """States in which the episode went on."""
    until_then: dict[State, set[State]] = field(default_factory=dict)
    """For each of these, what had held of its things by then: once for each way that led there."""
    fields: Counter[str] = field(default_factory=Counter)
    """Which fields the goals had, and how many things of them there were."""
    episodes: int = 0

    def begin(self, goal: Goal) -> Story:
        """Begin to take over an episode."""
        self.episodes += 1
        return Story(self, goal)


class Story:
    """The states of one episode, as far as its goal is concerned."""

    def __init__(self, book: GoalBook, goal: Goal) -> None:
        self._book = book
        self._goal = goal
        self._handled: list[str] = []
        self._since: dict[Atom, int] = {}
        self._first: dict[Atom, int] = {}
        self._steps = 0
        for name in FIELDS:
            book.fields[name] += bool(goal.named(name))

    def add(
        self, belief: Belief, step: Spoken, witness: Witness, changing: Container[str], names: Names, *, refused: bool
    ) -> None:
        """Take over the state after a step. `changing`: the predicates that actions are known to bring about."""
        self._steps += 1
        if refused:
            return
        things = self._things(belief, step.command)
        now = list(self._true(belief, [name for names in things.values() for name in names], changing, names))
        self._since = {atom: self._since.get(atom, self._steps) for atom in now}
        self._first = {**dict.fromkeys(now, self._steps), **self._first}
        found = [(named, state) for named in _bindings(things) if (state := _lifted(now, named))]
        if step.won:
            states, ways = tuple(state for _, state in found), tuple(named for named, _ in found)
            self._book.wins.append(Win(states, self._since, self._first, ways, witness))
        else:
            for named, state in found:
                self._book.not_won.setdefault(state, witness)
                self._book.until_then.setdefault(state, set()).add(_lifted(self._first, named))

    def _things(self, belief: Belief, command: str) -> dict[str, list[str]]:
        """By field, what the goal may mean, what was handled last first."""
        things: dict[str, list[str]] = {}
        for name in FIELDS:
            word = self._goal.named(name)
            called = list(belief.called(word)) if word else []
            for thing in called:
                if thing in command:
                    self._handled = [thing, *(each for each in self._handled if each != thing)]
            called.sort(key=lambda thing: self._handled.index(thing) if thing in self._handled else len(self._handled))
            things[name] = called[:_THINGS]
        return things

    def _true(self, belief: Belief, things: Sequence[str], changing: Container[str], names: Names) -> Iterator[Atom]:
        """What actions bring about and holds now of some things."""
        for predicate in self._book.vocabulary.predicates.values():
            if not predicate.args or predicate.name not in changing:
                continue
            roles = [role if role in names.order else "" for role in predicate.args]
            suited = [[thing for thing in things if not role or role in names.roles[thing]] for role in roles]
            for args in product(*suited):
                atom = Atom(predicate.name, args)
                if len(set(args)) == len(args) and belief.truth(atom) is Truth.TRUE:
                    yield atom


def _lifted(facts: Iterable[Atom], named: Mapping[str, str]) -> State:
    """The facts that are about some things alone, with variables in place of these."""
    variables = {thing: variable for variable, thing in named.items()}
    return frozenset(fact.bind(variables) for fact in facts if variables.keys() >= set(fact.args))


def _bindings(things: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Ways to put things in place of variables: one or two of each field."""
    choices = []
    for name, variables in FIELDS.items():
        known = things[name]
        ways: list[dict[str, str]] = [{variables[0]: thing} for thing in known]
        if name == "object":
            ways += [dict(zip(variables, pair, strict=True)) for pair in permutations(known, 2)]
        choices.append(ways or [{}])
    for chosen in product(*choices):
        yield {name: thing for one in chosen for name, thing in one.items()}
