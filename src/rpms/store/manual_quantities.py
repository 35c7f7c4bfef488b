"""The `quantities` of a manual: numbers that are measured and driven, read with their mistakes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from rpms.logic.errors import FileError
from rpms.logic.facts import Atom, Clause, Literal, parse_literal
from rpms.logic.quantities import Drive, NumberQuestion, Quantity, Scale, TurningPoint
from rpms.store import manual_forms as forms
from rpms.store.yaml_files import Place

AS_VARIABLE_OF_QUANTITY = "variable of this quantity"
"""The role of the arguments of its facts, in messages."""
_LONGEST_WAIT = 1_000
"""Ticks. No world lets more pass at one command."""


class _ConditionRead(NamedTuple):
    """A condition of a quantity, and its place in the file."""

    place: Place
    clause: Clause


@dataclass
class QuantityReader:
    """Reads the quantities of one manual."""

    clause: Callable[[Place, str, frozenset[str], str], Clause]
    """Reads a condition over some variables, which have a role in messages."""
    literal: Callable[[Place, str, frozenset[str], str], Literal]
    """Reads a fact, likewise."""
    quantities: list[Quantity] = field(default_factory=list)
    decided: dict[str, str] = field(default_factory=dict)
    """The predicates that quantities decide, each with the quantity's name."""
    conditions: list[_ConditionRead] = field(default_factory=list)

    def add(self, place: Place, value: object) -> None:
        """Read one quantity."""
        read = place.read(forms.QuantityForm, value)
        facts = self._facts_about_thing(place, read)
        drives: list[Drive] = []
        for number, form in enumerate(read.drives):
            at = place.at("drives", number)
            drive = self._drive(at, form, read.of)
            self._add_drive_fact(at.at("fact"), drive.fact.predicate, facts, place.name)
            drives.append(drive)
        if not facts:
            raise place.error(
                f"{place.name}: write what it tells, such as `drives`, or `current: gauged(x)`"
            )
        scale = _scale(place, read)
        watched = self._conditions(place.at("watched"), read.watched, frozenset((read.of,)))
        self.quantities.append(
            Quantity(place.name, read.of, tuple(drives), scale, _turn(read), watched, facts)
        )

    def _facts_about_thing(
        self, place: Place, read: forms.QuantityForm
    ) -> dict[str, NumberQuestion]:
        """The predicates by which an entry asks about the thing alone, each with its question."""
        facts: dict[str, NumberQuestion] = {}
        for question, text in _questions_asked(read).items():
            at = place.at(question.value)
            atom = self._fact(at, text, (read.of,))
            self._claim(at, place.name, atom.predicate)
            facts[atom.predicate] = question
        return facts

    def _add_drive_fact(
        self, place: Place, predicate: str, facts: dict[str, NumberQuestion], quantity: str
    ) -> None:
        """Enter the predicate of a drive; several drives may share one."""
        if predicate not in facts:
            self._claim(place, quantity, predicate)
            facts[predicate] = NumberQuestion.DRIVES
        elif facts[predicate] is not NumberQuestion.DRIVES:
            raise place.error(f"{predicate} says something else already")

    def circular(self) -> Iterator[FileError]:
        """The conditions about a fact that a quantity decides: it would ask for itself."""
        for place, clause in self.conditions:
            for literal in clause.literals:
                name = self.decided.get(literal.atom.predicate)
                if name is not None:
                    yield place.error(
                        f"{literal.atom.predicate} is told by the quantity {name}, so no quantity"
                        " can depend on it"
                    )

    def _drive(self, place: Place, read: forms.DriveForm, thing: str) -> Drive:
        """Read one way in which devices drive the number."""
        if read.direction not in ("up", "down"):
            raise place.at("direction").error("direction: should be `up` or `down`")
        at = place.at("fact")
        named = at.parsed(parse_literal, read.fact).atom.args
        if len(named) != 2 or thing not in named or named[0] == named[1]:
            raise at.error(f"write a fact about a device and {thing}: `heats(device, {thing})`")
        fact = self._fact(at, read.fact, named)
        device = named[1] if named[0] == thing else named[0]
        both = frozenset(named)
        alone = frozenset((thing,))
        (is_at,) = self._conditions(place.at("at"), (read.at,), both)
        return Drive(
            fact,
            device,
            read.direction == "up",
            read.devices,
            is_at,
            on=self._conditions(place.at("on"), read.on, both),
            fit=self._conditions(place.at("fit"), read.fit, both),
            done=self._conditions(place.at("done"), read.done, both),
            gently=self._conditions(place.at("gently"), read.gently, alone),
            when=self._conditions(place.at("when"), read.when, alone),
        )

    def _fact(self, place: Place, text: str, names: Iterable[str]) -> Atom:
        """Read a fact that the quantity tells: over all these variables, and not negated."""
        literal = self.literal(place, text, frozenset(names), AS_VARIABLE_OF_QUANTITY)
        if literal.negated or len(literal.parameters) != len(literal.atom.args):
            raise place.error(f"write a fact over variables, as {literal.atom.predicate}(object)")
        if len(literal.atom.args) != len(tuple(names)):
            raise place.error(f"{literal.atom.predicate} has to be about {', '.join(names)}")
        return literal.atom

    def _claim(self, place: Place, quantity: str, predicate: str) -> None:
        """Report a fact that is told twice."""
        if predicate in self.decided:
            raise place.error(f"{predicate} is told by the quantity {self.decided[predicate]}")
        self.decided[predicate] = quantity

    def _conditions(
        self, place: Place, texts: Iterable[str], names: frozenset[str]
    ) -> tuple[Clause, ...]:
        clauses: list[Clause] = []
        for text in texts:
            clause = self.clause(place, text, names, AS_VARIABLE_OF_QUANTITY)
            self.conditions.append(_ConditionRead(place, clause))
            clauses.append(clause)
        return tuple(clauses)


def _scale(place: Place, read: forms.QuantityForm) -> Scale:
    """The sizes of a quantity, checked."""
    if not 1 <= read.wait <= _LONGEST_WAIT:
        raise place.at("wait").error(f"wait: should be 1 to {_LONGEST_WAIT:,} ticks")
    if read.precision <= 0:
        raise place.at("precision").error("precision: should be above 0")
    return Scale(read.wait, read.precision, read.drift, read.fast or inf)


def _questions_asked(read: forms.QuantityForm) -> dict[NumberQuestion, str]:
    """The questions about the thing alone that an entry asks, each with its fact."""
    texts = {
        NumberQuestion.CURRENT: read.current,
        NumberQuestion.SEEN: read.seen,
        NumberQuestion.CAREFUL: read.careful,
        NumberQuestion.SIDE: read.side,
        NumberQuestion.AT_LEAST: read.at_least,
        NumberQuestion.AT_MOST: read.at_most,
        NumberQuestion.TURNS: read.turns.fact if read.turns is not None else "",
    }
    return {question: text for question, text in texts.items() if text}


def _turn(read: forms.QuantityForm) -> TurningPoint | None:
    return TurningPoint(read.turns.below, read.turns.above) if read.turns is not None else None
