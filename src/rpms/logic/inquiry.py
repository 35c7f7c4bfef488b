"""Answers about a thing's number, such as its temperature, from what an episode measured.

A manual's quantity says which devices drive the number, and which facts ask about it
(`rpms.logic.quantities`); readings tell how fast, and how far (`rpms.logic.trends`). From both
follow which device to use, whether the number is known well enough to let time pass, whether a
wait might lead too far, and on which side of the goal's bound it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple, Protocol

from rpms.logic.facts import Atom, Clause, Facts, Truth, kind_of
from rpms.logic.quantities import (
    Decided,
    Drive,
    NumberQuestion,
    Quantity,
    Scale,
    TurningPoint,
)
from rpms.logic.trends import Measurement, Trend, last_stay, trend_of

READINGS_FIRST = 2
"""Readings with a device before the first wait: two give the rate."""
MOST_READINGS = 8
"""Readings after which a number beside the bound is known by a reading just taken."""


class Gauge(NamedTuple):
    """All that was measured and seen of a thing."""

    readings: Sequence[Measurement] = ()
    now: int = 0
    """Ticks so far."""
    seen: int | None = None
    """Time at which its state was last seen."""
    states: Sequence[str] = ()
    """The states that it was seen in, one after the other."""

    @property
    def state(self) -> str:
        """The state that it was last seen in; empty if nothing told."""
        return self.states[-1] if self.states else ""


class Measured(Protocol):
    """A belief that keeps measurements."""

    def gauge(self, quantity: str, thing: str, /) -> Gauge:
        """All that was measured of a thing."""
        ...

    def called(self, word: str, /) -> Sequence[str]:
        """Names of known things of a kind."""
        ...


_NO_DEVICE: Mapping[str, str] = {}


class _AtWork(NamedTuple):
    """A device at a thing, and the drive that it belongs to."""

    drive: Drive
    kind: str


class Inquiry:
    """Answers questions about one thing's number, in one moment."""

    def __init__(
        self, quantity: Quantity, thing: str, belief: Measured, facts: Facts, bound: float | None
    ) -> None:
        """`bound`: the number that the goal names, if it names one."""
        self._quantity = quantity
        self._scale = quantity.scale
        self._thing = thing
        self._belief = belief
        self._facts = facts
        self._bound = bound
        self._gauge = belief.gauge(quantity.name, thing)
        self._drives = [drive for drive in quantity.drives if self._all_hold(drive.when)]

    def answer(self, question: NumberQuestion, fact: Atom) -> bool | None:
        """Answer a question that the manual asks by a fact."""
        said: bool | None
        match question:
            case NumberQuestion.DRIVES:
                said = self._is_to_use(fact)
            case NumberQuestion.CURRENT:
                said = self._is_current()
            case NumberQuestion.SEEN:
                said = self._is_seen()
            case NumberQuestion.CAREFUL:
                said = self._is_careful()
            case NumberQuestion.SIDE:
                said = self._is_on_a_side()
            case NumberQuestion.TURNS:
                said = self._has_told_turn()
            case NumberQuestion.AT_LEAST | NumberQuestion.AT_MOST:
                said = self._has_come(rising=question is NumberQuestion.AT_LEAST)
        return said

    # Conditions

    def _all_hold(self, clauses: Sequence[Clause], binding: Mapping[str, str] = _NO_DEVICE) -> bool:
        """True if all conditions hold for the thing, and for a device where one is bound."""
        bound = {self._quantity.thing: self._thing, **binding}
        return all(clause.truth(self._facts, bound) is Truth.TRUE for clause in clauses)

    def _none_fails(self, clauses: Sequence[Clause], drive: Drive, kind: str) -> bool:
        """True if no condition is known not to hold for a device."""
        bound = self._binding(drive, kind)
        return all(clause.truth(self._facts, bound) is not Truth.FALSE for clause in clauses)

    def _binding(self, drive: Drive, kind: str) -> dict[str, str]:
        return {self._quantity.thing: self._thing, drive.device: self._device_called(kind)}

    def _device_called(self, kind: str) -> str:
        """Name of the device of a kind; of one never seen, if none was."""
        names = self._belief.called(kind)
        return names[0] if names else f"{kind} ?"

    # Devices

    def _is_to_use(self, fact: Atom) -> bool:
        """True if a device is the one to use: among those that can be used and can still do more,
        one that is at the thing, or else the first.
        """
        for drive in self._drives:
            if drive.fact.predicate == fact.predicate:
                device = fact.args[drive.fact.args.index(drive.device)]
                best = self._best(drive)
                return device == self._device_called(best) or kind_of(device) == best
        return False

    def _best(self, drive: Drive) -> str:
        """The kind of device to use for a drive; the last one if none can do more."""
        usable = [kind for kind in drive.devices if self._none_fails(drive.fit, drive, kind)]
        usable = usable or [drive.devices[-1]]
        unspent = [kind for kind in usable if not self._is_spent(drive, kind)]
        unspent = unspent or usable[-1:]
        at_work = self._at_work
        if at_work is not None and at_work.kind in unspent:
            return at_work.kind
        return unspent[0]

    def _is_spent(self, drive: Drive, kind: str) -> bool:
        """True if a device has done what it can, as measured, or will fall short of the bound."""
        trend = self._trend_with(kind)
        if trend is None:
            return False
        bound = self._bound
        if bound is not None and trend.falls_short(bound, rising=drive.rising):
            return True
        return trend.is_at_rest(trend.last.time, self._scale.least)

    @cached_property
    def _at_work(self) -> _AtWork | None:
        """The device that is at the thing."""
        for drive in self._drives:
            for kind in drive.devices:
                if self._all_hold((drive.at,), self._binding(drive, kind)):
                    return _AtWork(drive, kind)
        return None

    def _is_driven(self) -> bool:
        """True if a device is at work on the thing that can do more."""
        at_work = self._at_work
        if at_work is None:
            return False
        drive = at_work.drive
        if drive.done and self._all_hold(drive.done, self._binding(drive, at_work.kind)):
            return False
        return self._none_fails(drive.on, drive, at_work.kind) and self._best(drive) == at_work.kind

    @property
    def device(self) -> str:
        """Kind of the device that is at the thing; empty if none is."""
        return self._at_work.kind if self._at_work is not None else ""

    # Readings

    def _stay_now(self) -> list[Measurement]:
        """The readings with the device that is at the thing now."""
        return last_stay(self._gauge.readings, self.device)

    @cached_property
    def _trend_now(self) -> Trend | None:
        """The way that the number takes with this device."""
        return trend_of(self._stay_now(), self._scale.apart)

    def _trend_with(self, kind: str) -> Trend | None:
        return trend_of(last_stay(self._gauge.readings, kind), self._scale.apart)

    def _is_current(self) -> bool:
        """True if the number is known well enough to let time pass.

        At first it is measured after each wait. Once readings tell where it will end, it is
        measured again when it should be there.
        """
        if not self._is_driven():
            return self._bound is None or bool(self._gauge.readings)
        stay = self._stay_now()
        if len(stay) < READINGS_FIRST:
            return False
        age = self._gauge.now - stay[-1].time
        return age <= self._scale.moment or self._is_foreseen(age)

    def _is_foreseen(self, age: int) -> bool:
        """True if the course of the number is known and goes on, and nothing on the way matters: it
        has neither come to rest nor passed the bound.
        """
        trend = self._trend_now
        if trend is None or self._must_be_watched() or age > self._scale.longest:
            return False
        now = self._gauge.now
        if self._bound is not None and self._lies_between(trend, now, self._bound):
            return False
        is_known = trend.end is not None or self._bound is not None
        return is_known and not trend.is_at_rest(now, self._scale.least)

    def _lies_between(self, trend: Trend, time: int, number: float) -> bool:
        """True if the course leads past a number from the last reading to a time."""
        now = trend.last.value
        then = trend.value_at(time)
        return min(now, then) <= number <= max(now, then)

    def _must_be_watched(self) -> bool:
        """True if a state on the way must not be passed unseen."""
        if self._quantity.turn is not None and self._bound is not None:
            return True
        watched = self._quantity.watched
        return bool(watched) and self._all_hold(watched)

    def _is_seen(self) -> bool:
        """True if the thing need not be looked at: its state was just seen, or does not matter."""
        if self._awaits_state():
            return False
        if not self._is_driven() or not self._must_be_watched():
            return True
        seen = self._gauge.seen
        return seen is not None and self._gauge.now - seen <= self._scale.moment

    def _awaits_state(self) -> bool:
        """True if the last reading is past the bound, and nobody knows the state it was taken in:
        if that is the state from before, the reading gives the answer.
        """
        turn = self._quantity.turn
        readings = self._gauge.readings
        if turn is None or self._bound is None or not readings or readings[-1].state:
            return False
        if self._gauge.state in turn.below:
            return readings[-1].value > self._bound
        return readings[-1].value < self._bound

    def _is_careful(self) -> bool:
        """True if a wait might lead too far: through a whole state, or past a bound that was
        passed before without an answer.
        """
        trend = self._trend_now
        if trend is None or not self._must_be_watched():
            return False
        wait = self._scale.wait
        is_fast = abs(trend.rate) * wait > self._scale.fast
        if self._bound is None:
            return is_fast or self._is_too_much(trend)
        passes = self._lies_between(trend, self._gauge.now + wait, self._bound)
        has_changed = len(set(self._gauge.states)) > 1
        return passes and (is_fast or has_changed)

    def _is_too_much(self, trend: Trend) -> bool:
        """True if a wait changes the number by more than has been seen to do no harm."""
        at_work = self._at_work
        if at_work is None or not at_work.drive.gently:
            return False
        if not self._all_hold(at_work.drive.gently):
            return False
        return abs(trend.rate) * self._scale.wait > abs(trend.last.value - trend.first)

    # The bound

    def _has_come(self, *, rising: bool) -> bool | None:
        """True if the last reading is at the bound or past it; None before one was taken."""
        if self._bound is None or not self._gauge.readings:
            return None
        last = self._gauge.readings[-1].value
        return last >= self._bound if rising else last <= self._bound

    def _has_told_turn(self) -> bool:
        """True if readings tell on which side of the bound the thing changes its state."""
        turn = self._quantity.turn
        if turn is None or self._bound is None:
            return False
        return bool(side_of_turn(self._gauge.readings, turn, self._bound, self._scale))

    def _is_on_a_side(self) -> bool:
        """True if the number is known, and also the side of the bound on which it will be after the
        next command.

        A number that its surroundings drive may pass the bound meanwhile. So a reading near the
        bound is repeated, as long as the number may have passed it since. After many readings one
        that was just taken is enough: a number that stays beside the bound would be measured for
        ever.
        """
        readings = self._gauge.readings
        bound = self._bound
        if bound is None or not readings:
            return bool(readings)
        if len(readings) >= MOST_READINGS:
            return self._gauge.now - readings[-1].time <= 1
        scale = self._scale
        stay = last_stay(readings, readings[-1].device)
        passed = self._gauge.now + 1 - stay[-1].time
        apart = stay[-1].time - stay[0].time
        drift = scale.precision / apart if apart else scale.drift
        expected = expected_next(self._gauge, scale)
        return abs(expected - bound) > scale.precision + drift * passed


def expected_next(gauge: Gauge, scale: Scale) -> float:
    """The number after the next command, by the rate that the last readings tell."""
    last = gauge.readings[-1]
    trend = trend_of(last_stay(gauge.readings, last.device), scale.apart)
    return last.value if trend is None else trend.value_at(gauge.now + 1)


def side_of_turn(
    readings: Sequence[Measurement], turn: TurningPoint, bound: float, scale: Scale
) -> str:
    """`above` or `below` a bound, once readings tell where a thing changes its state; empty
    before.

    It turns between its highest reading below and its lowest above.
    """
    highest_below = -inf
    lowest_above = inf
    for reading in readings:
        if reading.state in turn.below:
            highest_below = max(highest_below, reading.value)
        elif reading.state in turn.above:
            lowest_above = min(lowest_above, reading.value)
    if highest_below > bound:
        return "above"
    if lowest_above < bound:
        return "below"
    if lowest_above - highest_below <= scale.close:
        return "above" if highest_below + lowest_above >= 2 * bound else "below"
    return ""


def answer(
    decided: Decided, fact: Atom, belief: Measured, facts: Facts, bound: float | None
) -> bool | None:
    """Truth of a fact that a quantity decides; None if nothing tells."""
    quantity = decided[fact.predicate]
    question = quantity.facts[fact.predicate]
    thing = fact.args[quantity.place_of_thing(fact.predicate)]
    return Inquiry(quantity, thing, belief, facts, bound).answer(question, fact)
