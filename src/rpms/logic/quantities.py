"""Quantities of a manual: numbers that are measured and that devices drive, such as a temperature.

The manual says which devices drive a number, which way, and under which conditions, and by which
facts it asks about it. What an episode's readings answer is found in `rpms.logic.inquiry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import NamedTuple

from rpms.logic.facts import Atom, Clause


@dataclass(frozen=True)
class Scale:
    """Size of a number's units, and the time that things take."""

    wait: int = 1
    """Ticks that one wait takes, with the look after it."""
    precision: float = 1.0
    """Units by which two readings may be wrong together: instruments round."""
    drift: float = 0.0
    """Most units a tick that it may change where no device is at work."""
    fast: float = inf
    """Units in one wait that may lead through a whole state."""

    @property
    def moment(self) -> int:
        """Ticks within which little changes."""
        return self.wait // 4

    @property
    def longest(self) -> int:
        """Ticks after which a number is measured although its course is known."""
        return 4 * self.wait

    @property
    def apart(self) -> int:
        """Ticks between readings whose difference tells a rate."""
        return max(1, 2 * self.wait // 3)

    @property
    def least(self) -> float:
        """Units that are not worth waiting for."""
        return 4 * self.precision

    @property
    def close(self) -> float:
        """Units between two readings between which no other is needed."""
        return 6 * self.precision


@dataclass(frozen=True)
class Drive:
    """Devices that drive a number one way."""

    fact: Atom
    """Says of a device that it is the one to use for a thing: `heats(heater, object)`."""
    device: str
    """The variable in it that stands for the device."""
    rising: bool
    devices: tuple[str, ...]
    """Kinds of devices, in order of choice."""
    at: Clause
    """Holds while a device is at the thing."""
    on: tuple[Clause, ...] = ()
    """Not false while it works."""
    fit: tuple[Clause, ...] = ()
    """Not false of a device that can be used."""
    done: tuple[Clause, ...] = ()
    """Hold once it has done its part."""
    gently: tuple[Clause, ...] = ()
    """While they hold, one wait is to change the number by no more than it has changed so far."""
    when: tuple[Clause, ...] = ()
    """The drive counts while they hold."""

    def lines(self) -> list[str]:
        """The drive in words."""
        way = "up" if self.rising else "down"
        lines = [f"{self.fact}: the one to use, to drive it {way}: {', '.join(self.devices)}"]
        conditions = {
            "at the thing while": (self.at,),
            "works unless known otherwise": self.on,
            "can be used unless known otherwise": self.fit,
            "done when": self.done,
            "gently while": self.gently,
            "only when": self.when,
        }
        for words, clauses in conditions.items():
            if clauses:
                lines.append(f"  {words}: {_listed(clauses)}")
        return lines


def _listed(clauses: Sequence[Clause]) -> str:
    return " and ".join(map(str, clauses))


class TurningPoint(NamedTuple):
    """The number at which a thing passes from one state into another, such as a melting point."""

    below: tuple[str, ...]
    """States in which it is below that."""
    above: tuple[str, ...]


class NumberQuestion(StrEnum):
    """Questions that may be asked of a quantity, as the manual's keys name them."""

    DRIVES = "drives"
    """Is a device the one to use?"""
    CURRENT = "current"
    """Is the number known, or foreseen, well enough to let time pass?"""
    SEEN = "seen"
    """Is the state of the thing known well enough for that?"""
    CAREFUL = "careful"
    """Might a wait lead too far?"""
    SIDE = "side"
    """Is it known on which side of the goal's bound the number is?"""
    TURNS = "turns"
    """Is it known on which side of the bound the thing changes its state?"""
    AT_LEAST = "at_least"
    """Has the number come up to the bound?"""
    AT_MOST = "at_most"
    """Has it come down to the bound?"""


_IN_WORDS = {
    NumberQuestion.CURRENT: "it is known, or foreseen, well enough to let time pass",
    NumberQuestion.SEEN: "the state of the thing is known well enough to let time pass",
    NumberQuestion.CAREFUL: "a wait might lead too far",
    NumberQuestion.SIDE: "it is known on which side of the goal's bound it is",
    NumberQuestion.TURNS: "it is known on which side of the bound the thing changes its state",
    NumberQuestion.AT_LEAST: "it has come up to the bound",
    NumberQuestion.AT_MOST: "it has come down to the bound",
}


@dataclass(frozen=True)
class Quantity:
    """A number that things of some sort have."""

    name: str
    thing: str
    """The variable that stands for what has it."""
    drives: tuple[Drive, ...] = ()
    scale: Scale = Scale()
    turn: TurningPoint | None = None
    watched: tuple[Clause, ...] = ()
    """While they hold, no state on the way may be passed unseen."""
    facts: Mapping[str, NumberQuestion] = field(default_factory=dict)
    """Predicates of the facts that it decides; of others than drives, the thing is the only
    argument."""

    def lines(self) -> list[str]:
        """The quantity in words, for a person who reads the manual."""
        lines = [f"  {self.name} of {self.thing}:"]
        for predicate, question in self.facts.items():
            if question is not NumberQuestion.DRIVES:
                lines.append(f"    {predicate}: {_IN_WORDS[question]}")
        if self.watched:
            lines.append(f"    no state is passed unseen while {_listed(self.watched)}")
        for drive in self.drives:
            lines += [f"    {line}" for line in drive.lines()]
        return lines

    def place_of_thing(self, predicate: str) -> int:
        """Position of the thing among the arguments of a fact."""
        for drive in self.drives:
            if drive.fact.predicate == predicate:
                return drive.fact.args.index(self.thing)
        return 0


Decided = Mapping[str, Quantity]
"""The predicates that quantities decide, each with the quantity."""
NOTHING_DECIDED: Decided = {}


def decided_by(quantities: Sequence[Quantity]) -> Decided:
    """The predicates that some quantities decide."""
    found: dict[str, Quantity] = {}
    for quantity in quantities:
        found |= dict.fromkeys(quantity.facts, quantity)
    return found
