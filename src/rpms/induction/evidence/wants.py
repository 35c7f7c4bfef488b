"""The record of goals: the states in which episodes were won, and those in which they went on.

A goal names things by its fields. `x` and `y` stand for things of the goal's object, `p` for one of
its destination. A state is the set of facts that hold of such things, so that states of all
episodes compare.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations, product
from typing import NamedTuple

from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import Predicate
from rpms.store.evidence import Spoken, Witness

FIELDS: Mapping[str, tuple[str, str]] = {"object": ("x", "y"), "destination": ("p", "q")}
"""The fields of a goal that name things, and the variables that stand for these."""
SWAP = {"x": "y", "y": "x"}
"""The two objects of a pair in each other's place."""
NOT = "not "
"""Prefix of a predicate that stands for a negation in states: that a door is not closed."""

State = frozenset[Atom]  # Facts that hold of some things, which are called by their variables


@dataclass(frozen=True, slots=True)
class Win:
    """The last state of a won episode, once for each way to put things in place of the
    variables.
    """

    states: tuple[State, ...]
    since: Mapping[Atom, int]
    """The step at which each fact last came to hold, by the things' own names."""
    first: Mapping[Atom, int]  # The step at which each fact first held
    named: tuple[Mapping[str, str], ...]
    """The things in place of the variables, for each of the states."""
    witness: Witness

    def naming(self, wanted: State) -> Mapping[str, str] | None:
        """The things of which all that is wanted holds; None if it holds of none."""
        for named, state in zip(self.named, self.states, strict=True):
            if state >= wanted:
                return named
        return None


@dataclass
class GoalBook:
    """All that was seen of goals of one type."""

    type: str
    vocabulary: Vocabulary
    wins: list[Win] = field(default_factory=list)
    went_on: dict[State, list[Witness]] = field(default_factory=dict)
    """States in which the episode went on."""
    until_then: dict[State, set[State]] = field(default_factory=dict)
    """For each of these, the facts that had held of its things by then: once for each way that
    led there."""
    fields: Counter[str] = field(default_factory=Counter)
    """The number of episodes whose goal has each field."""
    episodes: int = 0

    @property
    def hardly_won(self) -> bool:
        """True if hardly any episode was won."""
        return len(self.wins) * LIMITS.episodes_for_a_win <= self.episodes

    def refuting(self, wanted: State, without: Atom | None = None) -> list[Witness]:
        """The steps after which all that is wanted held and the episode went on; the fact `without`
        did not hold there.
        """
        found: list[Witness] = []
        for state, seen in self.went_on.items():
            if state >= wanted and without not in state:
                found += seen
        return found


class _Named(NamedTuple):
    """A state, over variables in place of some names."""

    names: Mapping[str, str]
    state: State


class Story:
    """The states of one episode, as far as its goal is concerned."""

    def __init__(self, book: GoalBook, goal: Goal) -> None:
        self._book = book
        self._goal = goal
        self._handled: list[str] = []
        self._since: dict[Atom, int] = {}
        self._first: dict[Atom, int] = {}
        self._steps = 0
        self._things_before: dict[str, list[str]] = {}
        book.episodes += 1
        for name in FIELDS:
            book.fields[name] += bool(goal.named(name))

    def add(
        self,
        belief: Belief,
        step: Spoken,
        witness: Witness,
        changing: Container[str],
        names: Names,
        *,
        refused: bool,
    ) -> None:
        """Take over the state after a step.

        `changing`: the predicates that actions are known to make true.
        """
        self._steps += 1
        if refused:
            return
        things = self._things(belief, step.command)
        every = list(chain.from_iterable(things.values()))
        now = list(self._changeable_facts(belief, every, changing, names))
        same = things == self._things_before and self._since.keys() == set(now)
        self._things_before = things
        if same and not step.won:
            return
        self._note_since(now)
        self._end_or_go_on(_in_every_way(now, things), step, witness)

    def _end_or_go_on(self, lifted: Sequence[_Named], step: Spoken, witness: Witness) -> None:
        """Record a win, or that the episode went on; a lost one may have met the goal."""
        if step.won:
            win = Win(
                states=tuple(each.state for each in lifted),
                since=self._since,
                first=self._first,
                named=tuple(each.names for each in lifted),
                witness=witness,
            )
            self._book.wins.append(win)
        elif not step.lost:
            for each in lifted:
                self._went_on(each, witness)

    def _note_since(self, now: Iterable[Atom]) -> None:
        """Note since when facts hold that hold now."""
        now_first = dict.fromkeys(now, self._steps)
        self._since = {atom: self._since.get(atom, self._steps) for atom in now}
        self._first = {**now_first, **self._first}

    def _went_on(self, named: _Named, witness: Witness) -> None:
        """Record a state in which the episode went on, and the facts that had held by then."""
        seen = self._book.went_on.setdefault(named.state, [])
        if len(seen) < LIMITS.witnesses:
            seen.append(witness)
        ways = self._book.until_then.setdefault(named.state, set())
        ways.add(_lifted(self._first, named.names))

    def _things(self, belief: Belief, command: str) -> dict[str, list[str]]:
        """By field, the things that the goal may mean, those handled last first."""
        things: dict[str, list[str]] = {}
        for name in FIELDS:
            word = self._goal.named(name)
            called = list(belief.called(word)) if word else []
            for thing in called:
                if thing in command:
                    self._handle(thing)
            called.sort(key=self._how_long_ago)
            things[name] = called[: LIMITS.goal_things]
        return things

    def _handle(self, thing: str) -> None:
        """Note that a thing was handled last."""
        before = [each for each in self._handled if each != thing]
        self._handled = [thing, *before]

    def _how_long_ago(self, thing: str) -> int:
        """The number of things that were handled after a thing was."""
        if thing in self._handled:
            return self._handled.index(thing)
        return len(self._handled)

    def _changeable_facts(
        self, belief: Belief, things: Sequence[str], changing: Container[str], names: Names
    ) -> Iterator[Atom]:
        """Facts about some things that hold now, and negations, as far as actions bring them
        about.
        """
        answers = self._book.vocabulary.answers(belief)
        for predicate in self._book.vocabulary.predicates.values():
            holds = predicate.name
            fails = NOT + predicate.name
            may_change = holds in changing or fails in changing
            if not predicate.args or not may_change:
                continue
            for args in _arguments(predicate, things, names):
                value = answers[predicate.name, args]
                name = holds if value else fails
                if value is not None and name in changing:
                    yield Atom(name, args)


def _arguments(
    predicate: Predicate, things: Sequence[str], names: Names
) -> Iterator[tuple[str, ...]]:
    """Ways to put different things into a predicate, each in a role that it was seen in."""
    suited = [_in_role(things, role, names) for role in predicate.args]
    for args in product(*suited):
        if len(set(args)) == len(args):
            yield args


def literal_in(atom: Atom) -> Literal:
    """The literal that an atom of a state stands for."""
    negated = atom.predicate.startswith(NOT)
    return Literal(Atom(atom.predicate.removeprefix(NOT), atom.args), negated)


def atom_of(literal: Literal) -> Atom:
    """The atom that stands for a literal in a state."""
    if not literal.negated:
        return literal.atom
    return Atom(NOT + literal.atom.predicate, literal.atom.args)


def _in_role(things: Sequence[str], role: str, names: Names) -> list[str]:
    """The things that were seen in a role; all of them, if nobody knows the role."""
    if role not in names.order:
        return list(things)
    return [thing for thing in things if role in names.roles[thing]]


def _lifted(facts: Iterable[Atom], named: Mapping[str, str]) -> State:
    """The facts that are about some things alone, with variables in place of these."""
    variables = {thing: variable for variable, thing in named.items()}
    things = frozenset(variables)
    found = []
    for predicate, args in facts:
        if things.issuperset(args):
            found.append(Atom(predicate, tuple([variables[arg] for arg in args])))
    return frozenset(found)


def _in_every_way(facts: Sequence[Atom], things: Mapping[str, Sequence[str]]) -> list[_Named]:
    """The states that facts make, for each way to put variables in place of things."""
    found: list[_Named] = []
    for named in _bindings(things):
        state = _lifted(facts, named)
        if state:
            found.append(_Named(named, state))
    return found


def _bindings(things: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Ways to put things in place of variables: one or two of the object, one of the
    destination.
    """
    choices = []
    for name, (first, second) in FIELDS.items():
        ways = [{first: thing} for thing in things[name]]
        if name == "object":
            for one, other in permutations(things[name], 2):
                ways.append({first: one, second: other})
        choices.append(ways or [{}])
    for chosen in product(*choices):
        binding: dict[str, str] = {}
        for way in chosen:
            binding |= way
        yield binding


def fields_of(facts: Iterable[Atom]) -> dict[str, str]:
    """Variable → field of the goal, for those that some facts are about."""
    used: set[str] = set()
    for atom in facts:
        used.update(atom.args)
    found: dict[str, str] = {}
    for title, variables in FIELDS.items():
        for variable in variables:
            if variable in used:
                found[variable] = title
    return found
