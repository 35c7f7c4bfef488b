"""Facts and their negations as bits, so that attempts are compared with a few integer operations.

Of a list of facts, the bit at a fact's place stands for the fact, and the same bit shifted by the
length of the list for its negation. Both together are literals.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_, or_
from typing import NamedTuple, Protocol

from rpms.induction.evidence.attempts import Attempt
from rpms.induction.evidence.witnesses import independent
from rpms.logic.facts import Atom, Literal
from rpms.store.evidence import Witness


class Signed(NamedTuple):
    """Literals that hold, and literals that fail; what is in neither mask was unknown."""

    holds: int
    fails: int

    @property
    def known(self) -> int:
        return self.holds | self.fails


class Row(NamedTuple):
    """An attempt, with the literals that held and those that failed before it."""

    attempt: Attempt
    holds: int
    fails: int

    @property
    def known(self) -> int:
        return self.holds | self.fails


def mask_of(places: Iterable[int]) -> int:
    """The mask with the bits at some places set."""
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def union(masks: Iterable[int]) -> int:
    """Bits that any of some masks has."""
    return reduce(or_, masks, 0)


def common_bits(masks: Iterable[int]) -> int:
    """Bits that all masks have."""
    return reduce(and_, masks)


def often_lacking(rows: Iterable[Row], wanted: int, least: int) -> list[int]:
    """Sets of wanted literals that are not known to have held in a row, each found in enough
    independent rows.
    """
    witnesses: dict[int, list[Row]] = {}
    for row in rows:
        lacking = wanted & ~row.holds
        if lacking:
            witnesses.setdefault(lacking, []).append(row)
    found: list[int] = []
    for lacking, alike in witnesses.items():
        if count_independent(alike) >= least:
            found.append(lacking)
    return found


def bits_of(values: Iterable[bool]) -> int:
    """Answers as bits, in their order."""
    found = 0
    for place, value in enumerate(values):
        found |= value << place
    return found


def signed(true: int, false: int, size: int) -> Signed:
    """Literals over `size` facts, of which some are true and some false."""
    return Signed(true | false << size, false | true << size)


def row_of(attempt: Attempt, size: int) -> Row:
    """An attempt with the literals before it."""
    return Row(attempt, *signed(attempt.true, attempt.false, size))


def literals_after(attempt: Attempt, size: int) -> Signed:
    """The literals after an attempt."""
    return signed(attempt.true_after, attempt.false_after, size)


def literal_of(facts: Sequence[Atom], bit: int) -> Literal:
    """The literal that a bit stands for."""
    return Literal(facts[bit % len(facts)], bit >= len(facts))


class OfAttempt(Protocol):
    """Anything that tells more of an attempt."""

    @property
    def attempt(self) -> Attempt: ...


def count_independent(rows: Iterable[OfAttempt]) -> int:
    """Number of independent witnesses among rows."""
    return independent(row.attempt for row in rows)


def steps_of(rows: Iterable[OfAttempt]) -> list[Witness]:
    """The steps at which rows were recorded."""
    return [row.attempt.witness for row in rows]


def slots_in(atom: Atom) -> frozenset[int]:
    """The slots that a fact is about."""
    found = set()
    for arg in atom.args:
        if arg.isdigit():
            found.add(int(arg))
    return frozenset(found)


def has_names(atom: Atom) -> bool:
    """True if a fact is about anything by its name."""
    return any(not arg.isdigit() for arg in atom.args)


def is_about_names_alone(atom: Atom) -> bool:
    """True if a fact is about things by their names, and about no slot."""
    return has_names(atom) and not slots_in(atom)


def kind_in(slot: int, kind: str) -> Literal:
    """The literal that the thing in a slot is of a kind."""
    return Literal(Atom("kind", (str(slot), kind)))


GOAL_OBJECT = "goal_object"
"""The predicate of what goals are about."""


def topic_fact(topic: str) -> Atom:
    """The fact that a goal's object is a word which names no thing: `find-animal`."""
    return Atom(GOAL_OBJECT, (topic,))


def is_topic(atom: Atom) -> bool:
    """True for a fact about a goal's topic, and about nothing in a slot."""
    return atom.predicate == GOAL_OBJECT and has_names(atom)
