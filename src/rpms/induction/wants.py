"""Wants of goals, learned from wins and refuted by every state in which the game went on.

A goal names things by its fields. `x` and `y` stand for things of the goal's object, `p` for one of
its destination. A state is the set of facts that hold of such things, so that states of all
episodes compare. A goal is a set of facts that nearly all wins share and that never held together
while the game went on.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, permutations, product
from typing import NamedTuple

from rpms.induction.action_model import Induced, induced
from rpms.induction.attempts import Vocabulary
from rpms.induction.templates import Names, words_in
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import Stage
from rpms.store.evidence import Label, Spoken, Witness

FIELDS: Mapping[str, tuple[str, ...]] = {"object": ("x", "y"), "destination": ("p", "q")}
"""The fields of a goal that name things, and the variables that stand for these."""
_SWAP = {"x": "y", "y": "x"}
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
        return next(
            (
                named
                for named, state in zip(self.named, self.states, strict=True)
                if state >= wanted
            ),
            None,
        )


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

    def refuting(self, wanted: State) -> list[Witness]:
        """The steps after which all that is wanted held and the episode went on."""
        return [
            witness for state, seen in self.went_on.items() if state >= wanted for witness in seen
        ]


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
        now = list(self._true(belief, every, changing, names))
        same = things == self._things_before and self._since.keys() == set(now)
        self._things_before = things
        if same and not step.won:
            return
        self._since = {atom: self._since.get(atom, self._steps) for atom in now}
        self._first = {**dict.fromkeys(now, self._steps), **self._first}
        every_way = [_Named(named, _lifted(now, named)) for named in _bindings(things)]
        lifted = [each for each in every_way if each.state]
        if step.won:
            states = tuple(each.state for each in lifted)
            ways = tuple(each.names for each in lifted)
            self._book.wins.append(Win(states, self._since, self._first, ways, witness))
        elif not step.lost:  # a lost episode may have met the goal
            for each in lifted:
                self._went_on(each, witness)

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
                    self._handled = [thing, *(each for each in self._handled if each != thing)]
            called.sort(
                key=lambda thing: (
                    self._handled.index(thing) if thing in self._handled else len(self._handled)
                )
            )
            things[name] = called[: LIMITS.goal_things]
        return things

    def _true(
        self, belief: Belief, things: Sequence[str], changing: Container[str], names: Names
    ) -> Iterator[Atom]:
        """Facts about some things that hold now, and negations, as far as actions bring them
        about.
        """
        answers = self._book.vocabulary.answers(belief)
        for predicate in self._book.vocabulary.predicates.values():
            holds = predicate.name
            fails = NOT + predicate.name
            if not predicate.args or (holds not in changing and fails not in changing):
                continue
            suited = [_in_role(things, role, names) for role in predicate.args]
            for args in product(*suited):
                if len(set(args)) < len(args):
                    continue
                value = answers[predicate.name, args]
                name = holds if value else fails
                if value is not None and name in changing:
                    yield Atom(name, args)


def literal_in(atom: Atom) -> Literal:
    """The literal that an atom of a state stands for."""
    return Literal(
        Atom(atom.predicate.removeprefix(NOT), atom.args), atom.predicate.startswith(NOT)
    )


def atom_of(literal: Literal) -> Atom:
    """The atom that stands for a literal in a state."""
    return Atom(NOT * literal.negated + literal.atom.predicate, literal.atom.args)


def _in_role(things: Sequence[str], role: str, names: Names) -> list[str]:
    """The things that were seen in a role; all of them, if nobody knows the role."""
    if role not in names.order:
        return list(things)
    return [thing for thing in things if role in names.roles[thing]]


def _lifted(facts: Iterable[Atom], named: Mapping[str, str]) -> State:
    """The facts that are about some things alone, with variables in place of these."""
    variables = {thing: variable for variable, thing in named.items()}
    found = (
        (predicate, tuple([variables.get(arg, "") for arg in args])) for predicate, args in facts
    )
    return frozenset(Atom(predicate, args) for predicate, args in found if "" not in args)


def _bindings(things: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Ways to put things in place of variables: one or two of the object, one of the
    destination.
    """
    choices = []
    for name, variables in FIELDS.items():
        known = things[name]
        ways: list[dict[str, str]] = [{variables[0]: thing} for thing in known]
        if name == "object":
            ways += [dict(zip(variables, pair, strict=True)) for pair in permutations(known, 2)]
        choices.append(ways or [{}])
    for chosen in product(*choices):
        yield {name: thing for one in chosen for name, thing in one.items()}


@dataclass(frozen=True)
class GoalModel:
    """Wants of a type of goals."""

    type: str
    over: Mapping[str, str]  # Variable → field of the goal
    holds: tuple[Induced, ...]
    """In the order in which they came about in the wins; where the agent is comes last."""
    wins: int
    episodes: int
    refuted: tuple[Witness, ...] = ()
    """Steps after which all of it held and the game went on: then it is no goal, unless stages
    tell the difference."""
    stages: tuple[
        Atom, ...
    ] = ()  # Facts that came about on the way in every win, in an order that all wins share
    staged: bool = False
    """True if the stages are a procedure: all that is wanted held without a win where one of them
    was left out, and never where none was. Else what is wanted suffices: how to get there follows
    from the actions."""

    @property
    def stands(self) -> bool:
        """True if it can be written into a manual."""
        return bool(self.holds) and (not self.refuted or self.staged)

    @property
    def state(self) -> State:
        return frozenset(map(atom_of, (fact.clause.literals[0] for fact in self.holds)))

    def steps(self) -> list[Stage]:
        """The procedure: one stage for each fact on the way, and at last all that is wanted."""
        last = max(place for place, atom in enumerate(self.stages) if atom not in self.state)
        way = [
            Stage(atom.predicate, (Clause((literal_in(atom),)),))
            for atom in self.stages[: last + 1]
        ]
        return [*way, Stage("finish", tuple(fact.clause for fact in self.holds))]

    @property
    def fields(self) -> dict[str, str]:
        """Variable → field of the goal, for all that the procedure speaks of."""
        used = {
            arg
            for step in self.steps()
            for clause in step.until
            for arg in clause.literals[0].atom.args
        }
        return fields_of(used)


def fields_of(used: Container[str]) -> dict[str, str]:
    """Variable → field of the goal, for those that are used."""
    return {name: field for field, names in FIELDS.items() for name in names if name in used}


@dataclass(frozen=True, slots=True)
class Makeable:
    """The predicates that actions make true."""

    facts: frozenset[str]
    positional: frozenset[str]  # Of these, those that say where the agent is


def goal_model(book: GoalBook, made: Makeable) -> GoalModel | None:
    """The facts that nearly all wins share and no state in which the game went on has; None
    without a win.
    """
    positive = replace(
        made, facts=frozenset(name for name in made.facts if not name.startswith(NOT))
    )
    found: list[GoalModel] = []
    # a second object where one does not tell, and negations where nothing else does
    for objects, some in ((1, positive), (2, positive), (1, made)):
        variables = {*FIELDS["object"][:objects], FIELDS["destination"][0]}
        shared = _shared(book, variables, some)
        if shared is None:
            continue
        model = _described(book, shared, some)
        found.append(model)
        if model.stands and not model.staged:
            return model
    # if all such sets are refuted, the first with the evidence against it
    standing = [model for model in found if model.stands]
    return next(iter([*standing, *found]), None)


def _shared(book: GoalBook, variables: set[str], made: Makeable) -> State | None:
    """The set of facts in most wins, refuted ones last; of equal ones the largest, which is the
    safest to pursue.
    """
    ways: list[set[State]] = []
    common: Counter[State] = Counter()
    for win in book.wins:
        states = dict.fromkeys(_about(state, variables, made) for state in win.states)
        states.pop(frozenset(), None)
        common.update(states.keys())
        ways.append({*states})
    closed = _intersections(common, pair="y" in variables)
    covered = {state: _wins_with(state, ways) for state in closed}
    ranked = sorted(
        closed,
        key=lambda state: (covered[state], len(state), sorted(map(str, state))),
        reverse=True,
    )
    least = (1 - LIMITS.goal_exceptions) * len(book.wins)
    for state in ranked:
        if covered[state] >= least and not book.refuting(state):
            return state
    return ranked[0] if ranked else None


def _intersections(common: Counter[State], *, pair: bool) -> list[State]:
    """Facts that some of the most common states share, in all combinations of these.

    Of a pair of things, the facts that hold of both, as far as the second is spoken of at all.
    """
    closed: dict[State, None] = {}
    for state, _ in common.most_common(LIMITS.goal_states):
        for other in [*closed, state]:
            both = other & state
            if pair:
                both = frozenset(atom for atom in both if atom.bind(_SWAP) in both)
                if not any("y" in atom.args for atom in both):
                    continue
            if both:
                closed[both] = None
    return [*closed]


def _wins_with(state: State, ways: Iterable[Iterable[State]]) -> int:
    """Wins in which all of a state's facts held at the end, by some naming of the things."""
    return sum(any(other >= state for other in states) for states in ways)


def _described(book: GoalBook, wanted: State, made: Makeable) -> GoalModel:
    """A goal that wants some facts, with the evidence for each.

    Facts come in the order in which they came about. Where the agent is comes last, since all else
    may lead elsewhere. Of those that came about at once, the one that says most comes first: who
    drops a thing just anywhere drops it too.
    """
    wins = [win for win in book.wins if win.naming(wanted) is not None]

    def rank(atom: Atom) -> tuple[bool, int, int, str]:
        since = sum(win.since.get(atom.bind(win.naming(wanted) or {}), 0) for win in wins)
        return atom.predicate in made.positional, since, -len(atom.args), str(atom)

    model = GoalModel(
        book.type,
        fields_of({arg for atom in wanted for arg in atom.args}),
        tuple(_fact(book, atom, wanted, wins) for atom in sorted(wanted, key=rank)),
        len(wins),
        book.episodes,
        tuple(book.refuting(wanted)),
        _stages(wins, wanted, made),
    )
    return replace(model, staged=bool(model.refuted) and _stages_tell(book, model))


def _stages_tell(book: GoalBook, model: GoalModel) -> bool:
    """True if facts on the way separate wins from states that meet the goal without winning."""
    if model.state.issuperset(model.stages):
        return False
    for state, ways in book.until_then.items():
        if state >= model.state and any(way.issuperset(model.stages) for way in ways):
            return False
    return True


def _stages(wins: Sequence[Win], wanted: State, made: Makeable) -> tuple[Atom, ...]:
    """Facts that all wins brought about on the way, in the order that they share; where the
    agent was is left out.
    """
    times = [_times_of(win, wanted, made.facts - made.positional) for win in wins]
    common = [atom for atom in times[0] if all(atom in each for each in times)]
    common.sort(key=lambda atom: (sum(each[atom] for each in times), str(atom)))
    stages: list[Atom] = []
    for atom in common:
        if not stages or all(each[stages[-1]] <= each[atom] for each in times):
            stages.append(atom)
    return tuple(stages)


def _times_of(win: Win, wanted: State, predicates: Container[str]) -> dict[Atom, int]:
    """The step at which each fact about the goal's things first held, over variables."""
    variables = {thing: variable for variable, thing in (win.naming(wanted) or {}).items()}
    times = {}
    for atom, time in win.first.items():
        if atom.predicate in predicates and variables.keys() >= set(atom.args):
            times[atom.bind(variables)] = time
    return times


def _about(state: State, variables: set[str], made: Makeable) -> State:
    """The facts that actions make true of some things.

    That the goal's object is near, since it was put down here, counts only where there is nothing
    else to say.
    """
    facts = frozenset(
        atom for atom in state if variables.issuperset(atom.args) and atom.predicate in made.facts
    )
    positional = {atom for atom in facts if atom.predicate in made.positional}
    if positional == facts:
        return facts
    objects = set(FIELDS["object"])
    return facts - {atom for atom in positional if objects.issuperset(atom.args)}


def _fact(book: GoalBook, atom: Atom, wanted: State, wins: Sequence[Win]) -> Induced:
    """One fact that wins share; necessary if all the others held once and the episode went on."""
    rest = wanted - {atom}
    missed = []
    if rest:
        for state, seen in book.went_on.items():
            if state >= rest and atom not in state:
                missed += seen
    others = [win.witness for win in book.wins if win not in wins]
    label = Label.NECESSARY if missed else Label.POSSIBLE
    return induced(
        Clause((literal_in(atom),)), [win.witness for win in wins], others, missed, label=label
    )


def guesses(book: GoalBook, made: Sequence[Atom]) -> Iterator[State]:
    """Sets of facts that a goal of a type may want, simplest first, over facts that actions
    make: none is refuted.
    """
    for state in _small_states(made):
        refuted = any(other >= state for other in book.went_on)
        if not refuted and says_all(state, book):
            yield state


def says_all(state: State, book: GoalBook) -> bool:
    """True if facts speak of each field that goals of a type have: one of which nothing is wanted
    would not be in the goal.
    """
    about = {arg for atom in state for arg in atom.args}
    fields = [name for name, count in book.fields.items() if count]
    return all(about.intersection(FIELDS[name]) for name in fields)


def _small_states(made: Sequence[Atom]) -> Iterator[State]:
    """Single facts, facts of both of two objects, then sets without negations."""
    for atom in made:
        yield frozenset({atom})
    for atom in made:
        if "x" in atom.args:
            yield frozenset({atom, atom.bind(_SWAP)})
    positive = [atom for atom in made if not atom.predicate.startswith(NOT)]
    for size in range(2, LIMITS.largest_guess + 1):
        for atoms in combinations(positive, size):
            yield frozenset(atoms)


def words_of(goal: Goal) -> frozenset[str]:
    """The words of a goal's type, state and text, without the names of its things."""
    told = f"{goal.type} {goal.state} {goal.text}".lower()
    named = f"{goal.object} {goal.destination}".lower()
    return frozenset(words_in(told)) - {*words_in(named)}


def words_said(atoms: Iterable[Atom], words: Iterable[str]) -> frozenset[str]:
    """Of some words, those that facts say: `cooled` says `cool`, and no negation says any."""
    said: set[str] = set()
    for atom in atoms:
        if not atom.predicate.startswith(NOT):
            said.update(words_in(atom.predicate))
    return frozenset(word for word in words if any(map(partial(_same_stem, word), said)))


def _same_stem(one: str, other: str) -> bool:
    """True if a word is another or a form of it: `cool`, `cooled`. Short ones say too little:
    `in`, `at`.
    """
    short, long = sorted((one, other), key=len)
    return len(short) >= LIMITS.stem and long.startswith(short)
