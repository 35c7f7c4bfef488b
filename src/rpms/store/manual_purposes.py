"""The `goals` and `procedures` of a manual, read with their mistakes; and lists of facts that
contradict themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rpms.foreign.shown import excerpt
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import Purpose, Stage
from rpms.store import manual_forms as forms
from rpms.store.manual_reader import read_each
from rpms.store.yaml_files import Place

_AS_VARIABLE = "variable of its `over`"
"""The role of a goal's arguments, in messages."""
_GOAL_FIELDS = ("object", "state", "destination")


@dataclass
class PurposeReader:
    """Reads what goals want, of one manual."""

    clause: Callable[[Place, str, frozenset[str], str], Clause]
    """Reads a condition over some variables, which have a role in messages."""
    claim: Callable[[Place, str], None]
    """Reports a name that something else has already."""
    is_exclusive: Callable[[str], bool]
    """Tells if at most one fact of a predicate holds at a time."""
    purposes: list[Purpose] = field(default_factory=list)

    def add_goal(self, place: Place, value: object) -> None:
        """Read the facts that goals of a type want."""
        name = place.name
        self.claim(place, f"goal {name}")
        read = place.read(forms.GoalForm, value)
        holds = read_each(self._condition, place.at("holds"), read.holds, frozenset(read.over))
        self._check_variables(place, read.over, holds)
        check_agreement(place.at("holds"), holds, self.is_exclusive)
        steps = tuple(Stage("", (clause,)) for clause in holds)
        self.purposes.append(Purpose(name, read.over, steps, frozenset({name})))

    def add_procedure(self, place: Place, value: object) -> None:
        """Read the stages in which goals of some types are reached."""
        self.claim(place, f"procedure {place.name}")
        read = place.read(forms.ProcedureForm, value)
        variables = frozenset((*read.over, *read.each))
        stages: list[Stage] = []
        for number, step in enumerate(read.steps):
            stages.append(self._stage(place.at("steps", number), step, variables))
        purpose = Purpose(
            place.name,
            read.over,
            tuple(stages),
            frozenset(read.goals),
            frozenset(read.objects),
            staged=True,
            each=read.each,
        )
        self.purposes.append(purpose)

    def _stage(
        self, place: Place, step: Mapping[str, str | tuple[str, ...]], variables: frozenset[str]
    ) -> Stage:
        """Read one step of a procedure: its name, and what ends it."""
        if not step or not all(step.values()):
            raise place.error("a step is a name and what ends it: `fetch: holding(x)`")
        title, *more = step
        if more:
            raise place.at(more[0]).error(
                f"{excerpt(more[0])!r} is a second key of the step {title}, which ends when its"
                " facts hold; begin another step with `- `"
            )
        until = step[title]
        texts = [until] if isinstance(until, str) else until
        ends = [self._condition(place.at(title), text, variables) for text in texts]
        return Stage(title, tuple(ends))

    def _condition(self, place: Place, text: str, variables: frozenset[str]) -> Clause:
        return self.clause(place, text, variables, _AS_VARIABLE)

    def _check_variables(
        self, place: Place, over: Mapping[str, str], holds: Sequence[Clause]
    ) -> None:
        """Report a variable of a goal that nothing binds, or that nothing is wanted of."""
        used: set[str] = set()
        for clause in holds:
            for literal in clause.literals:
                used.update(literal.atom.args)
        for name, source in over.items():
            if source not in _GOAL_FIELDS:
                choice = ", ".join(_GOAL_FIELDS)
                raise place.at("over", name).error(
                    f"{source!r} is no field of a goal; choose one of {choice}",
                )
            if name not in used:
                raise place.at("over", name).error(
                    f"{name!r} stands in none of the facts that are to hold"
                )


def check_agreement(
    place: Place, clauses: Sequence[Clause], is_exclusive: Callable[[str], bool]
) -> None:
    """Report a list that cannot hold as a whole: it has a fact and its negation, or two facts
    that exclude each other.

    `is_exclusive`: tells if at most one fact of a predicate holds at a time.
    """
    # what the list wants of each fact on which it leaves no choice
    wanted: dict[Atom, bool] = {}
    # the fact that it wants to be true of each predicate that has only one at a time
    the_one: dict[str, Atom] = {}
    single_ones_first = sorted(enumerate(clauses), key=lambda item: len(item[1].literals))
    for number, clause in single_ones_first:
        first, *others = clause.literals
        atom = first.atom
        if all(_is_denied(literal, wanted) for literal in clause.literals):
            raise place.at(number).error(f"contradicts itself: both {atom} and not {atom}")
        if others:
            continue
        wanted[atom] = not first.negated
        if first.negated or not is_exclusive(atom.predicate):
            continue
        other = the_one.setdefault(atom.predicate, atom)
        if other != atom:
            raise place.at(number).error(
                f"contradicts itself: {other} and {atom} exclude each other"
            )


def _is_denied(literal: Literal, wanted: Mapping[Atom, bool]) -> bool:
    """True if the opposite of a literal is among what is wanted."""
    return wanted.get(literal.atom) is literal.negated
