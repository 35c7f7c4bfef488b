"""Wants of goals, concluded from wins and refuted by states in which the game went on.

A goal is a set of facts that nearly all wins share and that never held together while the game went
on.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rpms.induction.conclusions.action_model import Induced, induced
from rpms.induction.evidence.wants import (
    FIELDS,
    NOT,
    SWAP,
    GoalBook,
    State,
    Win,
    atom_of,
    fields_of,
    literal_in,
)
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Clause
from rpms.logic.rules import Stage
from rpms.store.evidence import Label, Witness

_OBJECTS = frozenset(FIELDS["object"])
"""The variables that stand for a goal's objects."""


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
    stages: tuple[Atom, ...] = ()
    """Facts that came about on the way in every win, in an order that all wins share."""
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
        return frozenset(atom_of(fact.literal) for fact in self.holds)

    def steps(self) -> list[Stage]:
        """The procedure: one stage for each fact on the way, and at last all that is wanted."""
        last = max(place for place, atom in enumerate(self.stages) if atom not in self.state)
        stages = []
        for atom in self.stages[: last + 1]:
            reached = Clause((literal_in(atom),))
            stages.append(Stage(atom.predicate, (reached,)))
        stages.append(Stage("finish", tuple(fact.clause for fact in self.holds)))
        return stages

    @property
    def fields(self) -> dict[str, str]:
        """Variable → field of the goal, for all that the procedure speaks of."""
        facts: list[Atom] = []
        for step in self.steps():
            for clause in step.until:
                facts += [literal.atom for literal in clause.literals]
        return fields_of(facts)


@dataclass(frozen=True, slots=True)
class Makeable:
    """The predicates that actions make true."""

    facts: frozenset[str]
    positional: frozenset[str]  # Of these, those that say where the agent is


def goal_model(book: GoalBook, made: Makeable) -> GoalModel | None:
    """The facts that nearly all wins share and no state in which the game went on has; None
    without a win.
    """
    positive = replace(made, facts=_without_negations(made.facts))
    found: list[GoalModel] = []
    # a second object where one does not tell, and negations where nothing else does
    for objects, some in ((1, positive), (2, positive), (1, made)):
        variables = {*FIELDS["object"][:objects], *FIELDS["destination"][:1]}
        shared = _shared(book, variables, some)
        if shared is None:
            continue
        model = _described(book, shared, some)
        found.append(model)
        if model.stands and not model.staged:
            return model
    for model in found:
        if model.stands:
            return model
    # all such sets are refuted: the first, with the evidence against it
    return found[0] if found else None


def _without_negations(predicates: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in predicates if not name.startswith(NOT))


def _shared(book: GoalBook, variables: set[str], made: Makeable) -> State | None:
    """The set of facts in most wins, refuted ones last; of equal ones the largest, which is the
    safest to pursue.
    """
    won_in = [_end_states(win, variables, made) for win in book.wins]
    counts: Counter[State] = Counter()
    for states in won_in:
        counts.update(states)
    covered: dict[State, int] = {}
    for state in _shared_sets(counts, pair="y" in variables):
        covered[state] = _wins_with(state, won_in)
    ranked = _ranked(covered)
    least = (1 - LIMITS.goal_exceptions) * len(book.wins)
    for state in ranked:
        if covered[state] >= least and not book.refuting(state):
            return state
    return ranked[0] if ranked else None


def _end_states(win: Win, variables: set[str], made: Makeable) -> list[State]:
    """The facts at the end of a win, once for each naming of the things."""
    states = dict.fromkeys(_about(state, variables, made) for state in win.states)
    states.pop(frozenset(), None)
    return list(states)


def _ranked(covered: Mapping[State, int]) -> list[State]:
    """Sets of facts, those that most wins share first, and of these the largest."""
    return sorted(
        covered,
        key=lambda state: (covered[state], len(state), sorted(map(str, state))),
        reverse=True,
    )


def _shared_sets(counts: Counter[State], *, pair: bool) -> list[State]:
    """The sets of facts that some of the most common states share: each of these states is
    intersected with every set found before it.

    They are the closed sets of facts, of which none can be made larger without losing a win.
    """
    found: dict[State, None] = {}
    for state, _ in counts.most_common(LIMITS.goal_states):
        for other in [*found, state]:
            shared = _of_both(other & state) if pair else other & state
            if shared:
                found[shared] = None
    return [*found]


def _of_both(state: State) -> State:
    """The facts that hold of both things of a pair; none if the second is not spoken of."""
    of_both = frozenset(atom for atom in state if atom.bind(SWAP) in state)
    if not any("y" in atom.args for atom in of_both):
        return frozenset()
    return of_both


def _wins_with(state: State, won_in: Iterable[Iterable[State]]) -> int:
    """Wins in which all of a state's facts held at the end, by some naming of the things."""
    count = 0
    for states in won_in:
        if any(other >= state for other in states):
            count += 1
    return count


def _described(book: GoalBook, wanted: State, made: Makeable) -> GoalModel:
    """A goal that wants some facts, with the evidence for each.

    Facts come in the order in which they came about. Where the agent is comes last, since all else
    may lead elsewhere. Of those that came about at once, the one that says most comes first: who
    drops a thing just anywhere drops it too.
    """
    wins = [win for win in book.wins if win.naming(wanted) is not None]

    def rank(atom: Atom) -> tuple[bool, int, int, str]:
        since = _since_when(atom, wanted, wins)
        return atom.predicate in made.positional, since, -len(atom.args), str(atom)

    in_order = sorted(wanted, key=rank)
    model = GoalModel(
        book.type,
        over=fields_of(wanted),
        holds=tuple(_fact(book, atom, wanted, wins) for atom in in_order),
        wins=len(wins),
        episodes=book.episodes,
        refuted=tuple(book.refuting(wanted)),
        stages=_stages(wins, wanted, made),
    )
    is_staged = bool(model.refuted) and _stages_tell(book, model)
    return replace(model, staged=is_staged)


def _since_when(atom: Atom, wanted: State, wins: Iterable[Win]) -> int:
    """The steps since which a fact held at the ends of wins, added up."""
    total = 0
    for win in wins:
        naming = win.naming(wanted) or {}
        total += win.since.get(atom.bind(naming), 0)
    return total


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
    in_all_wins = set(times[0]).intersection(*times)

    def rank(atom: Atom) -> tuple[int, str]:
        return sum(each[atom] for each in times), str(atom)

    stages: list[Atom] = []
    for atom in sorted(in_all_wins, key=rank):
        if not stages or _comes_later(atom, stages[-1], times):
            stages.append(atom)
    return tuple(stages)


def _comes_later(atom: Atom, other: Atom, times: Iterable[Mapping[Atom, int]]) -> bool:
    """True if a fact came about as late as another, or later, in every win."""
    return all(each[other] <= each[atom] for each in times)


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
    facts: set[Atom] = set()
    near_objects: set[Atom] = set()
    only_positional = True
    for atom in state:
        if atom.predicate not in made.facts or not variables.issuperset(atom.args):
            continue
        facts.add(atom)
        if atom.predicate not in made.positional:
            only_positional = False
        elif _OBJECTS.issuperset(atom.args):
            near_objects.add(atom)
    return frozenset(facts if only_positional else facts - near_objects)


def _fact(book: GoalBook, atom: Atom, wanted: State, wins: Sequence[Win]) -> Induced:
    """One fact that wins share; necessary if all the others held once and the episode went on."""
    others = wanted - {atom}
    missed = book.refuting(others, without=atom) if others else []
    won_without = [win.witness for win in book.wins if win not in wins]
    return induced(
        Clause((literal_in(atom),)),
        confirmed=[win.witness for win in wins],
        against=won_without,
        decisive=missed,
        label=Label.NECESSARY if missed else Label.POSSIBLE,
    )
