"""From wins to what goals want: the facts that all wins share, and which of them were needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rpms.core.facts import Atom, Clause, Literal
from rpms.core.rules import Stage
from rpms.learn.rules.model import MOST_WITNESSES, Induced
from rpms.learn.rules.wins import FIELDS, GoalBook, State, Win
from rpms.store.evidence import Label, Witness

LARGEST_GUESS = 3
"""Facts of a guess at what a goal wants, as long as none was won."""


@dataclass(frozen=True)
class GoalModel:
    """What goals of a type want."""

    type: str
    over: Mapping[str, str]
    """Variable → field of the goal."""
    holds: tuple[Induced, ...]
    """In the order in which they came about in the wins; where the agent is comes last."""
    wins: int
    episodes: int
    stages: tuple[Atom, ...] = ()
    """What came about in every win on the way there, in an order that all wins share."""
    staged: bool = False
    """Whether these are a procedure: all that is wanted held in the end without a win where one of them was left out,
    and never where none was. Else what is wanted suffices: how to get there follows from the actions."""

    @property
    def state(self) -> State:
        return frozenset(fact.clause.literals[0].atom for fact in self.holds)

    def steps(self) -> list[Stage]:
        """The procedure: one stage for each fact on the way, and at last all that is wanted."""
        last = max(place for place, atom in enumerate(self.stages) if atom not in self.state)
        way = [Stage(atom.predicate, (Clause((Literal(atom),)),)) for atom in self.stages[: last + 1]]
        return [*way, Stage("finish", tuple(fact.clause for fact in self.holds))]

    @property
    def fields(self) -> dict[str, str]:
        """Variable → field of the goal, for all that the procedure speaks of."""
        used = {arg for step in self.steps() for clause in step.until for arg in clause.literals[0].atom.args}
        return {name: field for field, names in FIELDS.items() for name in names if name in used}


@dataclass(frozen=True, slots=True)
class Makeable:
    """What actions make, by predicate."""

    facts: frozenset[str]
    positional: frozenset[str]
    """Of these, where the agent is."""


def goal_model(book: GoalBook, made: Makeable) -> GoalModel | None:
    """What goals of a type want, as far as wins tell; None without a win."""
    if not book.wins:
        return None
    model = _shared(book, 1, made)
    if model is None or _went_on(book, model.state):
        pair = _shared(book, 2, made)
        model = pair if pair is not None and pair.holds else model
    return model if model is None else replace(model, staged=_decides(book, model))


def _decides(book: GoalBook, model: GoalModel) -> bool:
    """Whether what came about on the way tells wins from states with all that is wanted in which episodes went on."""
    ways = [way for state, ways in book.until_then.items() if state >= model.state for way in ways]
    passing = not model.state.issuperset(model.stages)
    return passing and bool(ways) and not any(way.issuperset(model.stages) for way in ways)


def _went_on(book: GoalBook, wanted: State) -> Witness | None:
    """A state in which all that is said to be wanted held, and the episode was not won."""
    return next((witness for state, witness in book.not_won.items() if state >= wanted), None)


def _shared(book: GoalBook, objects: int, made: Makeable) -> GoalModel | None:
    """The most facts that hold in all wins, of so many of the goal's objects and one of its destinations."""
    variables = {*FIELDS["object"][:objects], FIELDS["destination"][0]}
    best: State = frozenset()
    ways = [[state for each in win.states if (state := _about(each, variables, made))] for win in book.wins]
    if not all(ways):
        return None
    for first in dict.fromkeys(ways[0]):
        common = first
        for states in ways[1:]:
            common = max((common & state for state in states), key=lambda state: (len(state), sorted(map(str, state))))
        if objects > 1 and not _symmetric(common):
            common = _symmetric_part(common)
        if (len(common), sorted(map(str, common))) > (len(best), sorted(map(str, best))):
            best = common
    if not best:
        return None
    order = _order(book.wins, best, made.positional)
    holds = tuple(_fact(book, atom, best) for atom in order)
    used = {arg for atom in best for arg in atom.args}
    over = {name: field for field, names in FIELDS.items() for name in names if name in used}
    return GoalModel(book.type, over, holds, len(book.wins), book.episodes, _stages(book.wins, best, made))


def _stages(wins: Sequence[Win], wanted: State, made: Makeable) -> tuple[Atom, ...]:
    """What all wins brought about on the way, in the order that they share; where the agent was counts for nothing."""
    times: list[dict[Atom, int]] = []
    for win in wins:
        named = next((named for named, state in zip(win.named, win.states, strict=True) if state >= wanted), {})
        variables = {thing: variable for variable, thing in named.items()}
        times.append({
            atom.bind(variables): time
            for atom, time in win.first.items()
            if variables.keys() >= set(atom.args) and atom.predicate in made.facts - made.positional
        })  # fmt: skip
    common = [atom for atom in times[0] if all(atom in each for each in times)]
    stages: list[Atom] = []
    for atom in sorted(common, key=lambda atom: (sum(each[atom] for each in times), str(atom))):
        if not stages or all(each[stages[-1]] <= each[atom] for each in times):
            stages.append(atom)
    return tuple(stages)


def _about(state: State, variables: set[str], made: Makeable) -> State:
    """What actions have made of some things.

    That the goal's object is near, since it was put down here, is only worth a word where there is nothing else to say.
    """
    facts = frozenset(atom for atom in state if variables.issuperset(atom.args) and atom.predicate in made.facts)
    near = {atom for atom in facts if atom.predicate in made.positional and set(FIELDS["object"]) >= set(atom.args)}
    return facts - near if any(atom.predicate not in made.positional for atom in facts) else facts


_SWAP = {"x": "y", "y": "x"}


def _symmetric(state: State) -> bool:
    return {atom.bind(_SWAP) for atom in state} == state


def _symmetric_part(state: State) -> State:
    """Of facts about two like things, those that hold of either: which is which is a matter of names."""
    return frozenset(atom for atom in state if atom.bind(_SWAP) in state)


def _order(wins: Sequence[Win], wanted: State, positional: frozenset[str]) -> list[Atom]:
    """Facts in the order in which they came about; where the agent is comes last, since all else may lead elsewhere."""
    ranks: dict[Atom, float] = dict.fromkeys(wanted, 0.0)
    for win in wins:
        named = next((named for named, state in zip(win.named, win.states, strict=True) if state >= wanted), None)
        for atom in wanted if named is not None else ():
            ranks[atom] += win.since.get(atom.bind(named or {}), 0)
    return sorted(wanted, key=lambda atom: (atom.predicate in positional, ranks[atom], str(atom)))


def _fact(book: GoalBook, atom: Atom, wanted: State) -> Induced:
    """One fact that wins share; necessary where all the others held once and the episode went on."""
    rest = wanted - {atom}
    missed = [witness for state, witness in book.not_won.items() if rest and state >= rest and atom not in state]
    wins = [win.witness for win in book.wins]
    return Induced(
        Clause((Literal(atom),)),
        label=Label.NECESSARY if missed else Label.POSSIBLE,
        confirmed=len(wins),
        decisive=len(missed),
        witnesses=tuple((*missed[:2], *wins)[:MOST_WITNESSES]),
    )


def guesses(book: GoalBook, made: Sequence[Atom]) -> Iterator[State]:
    """What a goal of a type may want, simplest first, over facts that actions make: nothing that was seen not to win.

    Every thing that the goal names has to be in it, else the goal would not name it.
    """
    fields = {name for name, count in book.fields.items() if count}
    two = [atom.bind(_SWAP) for atom in made if "x" in atom.args]
    pairs = [frozenset({atom, other}) for atom, other in zip((a for a in made if "x" in a.args), two, strict=True)]
    for size in range(1, LARGEST_GUESS + 1):
        states = [frozenset(some) for some in combinations(made, size)]
        for state in [*states, *(pairs if size == 1 else ())]:
            about = {arg for atom in state for arg in atom.args}
            covers = all(about & set(FIELDS[name]) for name in fields)
            if covers and _went_on(book, state) is None:
                yield state
