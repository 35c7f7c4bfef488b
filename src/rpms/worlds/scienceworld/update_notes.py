"""What an answer adds to a belief: doors, things, their states of matter, and what can be read off
them.
"""

import re
from collections.abc import Mapping

from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.observations import (
    Thing,
    state_of,
    substance_of,
)
from rpms.worlds.scienceworld.spots import (
    Named,
    filled,
    find_spot,
)
from rpms.worlds.scienceworld.tree import Forest, Phrase, Seen, walk

_STATES_KEPT = 50
_OTHER = {"liquid": "solid", "solid": "liquid", "gas": "liquid"}
"""State shown by name → the state that a substance without one was in before."""
_SLID = re.compile(r"approximately (\d{1,3})% down the plane")
_AT_AN_END = {"at the top of the plane": "0", "at the bottom of the plane": "100"}


def with_notes_on(belief: ScienceBelief, things: Forest) -> ScienceBelief:
    """Note the states of matter, and how far blocks have slid, that a listing shows."""
    notes = _Notes(belief)
    for seen in walk(things):
        notes.add(seen)
    return belief.but(
        readings=notes.readings,
        measurements=notes.measurements,
        state_history=notes.history,
        since=notes.since,
    )


class _Notes:
    """The notes of a belief, copied once for all the things that a listing adds to them."""

    def __init__(self, belief: ScienceBelief) -> None:
        self._belief = belief
        self._wanted = substance_of(belief.goal.state)
        self.history = dict(belief.state_history)
        self.measurements = dict(belief.measurements)
        self.since = dict(belief.since)
        self.readings = dict(belief.readings)

    def add(self, seen: Seen) -> None:
        """Note one thing: when it was seen, the state it is in, and what can be read off it."""
        substance = substance_of(seen.name)
        states = self._states(substance, state_of(seen.thing))
        self.since[substance] = self._belief.clock
        self.since.pop(f"misnamed {substance}", None)
        if states:
            self.history[substance] = states[-_STATES_KEPT:]
        if substance in self.measurements:
            self._date_measurements(substance, states)
        self.readings |= _readings_of(seen)

    def _states(self, substance: str, shown: str | None) -> tuple[str, ...]:
        """The states that a substance was in, as far as is known, its present one last.

        `shown`: the state that its name tells now; None if it tells none.
        """
        before = self.history.get(substance, ())
        if shown is None:
            return _followed_by(before, self._state_by_nature(substance))
        was_seen_in_no_state = not before and substance in self.since
        if was_seen_in_no_state:
            by_nature = _OTHER[shown]
            self.readings[_nature_of(substance)] = by_nature
            before = (by_nature,)
        return _followed_by(before, shown)

    def _state_by_nature(self, substance: str) -> str | None:
        """The state of the goal's substance where its name tells none; None if that is unknown."""
        if substance != self._wanted:
            return None
        return self.readings.get(_nature_of(substance))

    def _date_measurements(self, substance: str, states: tuple[str, ...]) -> None:
        """Note the state in which readings were taken. It is the substance's, if that was the same
        before and after; else the substance was passing from one to another.
        """
        known = self._belief.state_history.get(substance, states)
        unchanged = states[-1:] == known[-1:]
        state = states[-1] if states and unchanged else "passing"
        dated = []
        for reading in self.measurements[substance]:
            dated.append(reading if reading.state else reading._replace(state=state))
        self.measurements[substance] = tuple(dated)


def _nature_of(substance: str) -> str:
    """The key of the reading that tells a substance's state where its name tells none."""
    return f"nature of {substance}"


def _followed_by(states: tuple[str, ...], state: str | None) -> tuple[str, ...]:
    """The states with one more, unless it is unknown or still the same."""
    if state is None or state in states[-1:]:
        return states
    return (*states, state)


def with_nature(belief: ScienceBelief, name: str, state: str) -> ScienceBelief:
    """Note the state of the goal's substance if its name does not tell it: a thing that is moved by
    hand is solid, and a liquid cannot be.
    """
    substance = substance_of(name)
    if name != substance or substance != substance_of(belief.goal.state):
        return belief
    if state_of(Thing(name)) is not None:
        return belief
    history = dict(belief.state_history)
    history.setdefault(substance, (state,))
    readings = {**belief.readings, _nature_of(substance): state}
    return belief.but(readings=readings, state_history=history)


def _readings_of(seen: Seen) -> Mapping[str, str]:
    """Read how far a block has slid on the plane that holds it, and the ticks of a watch."""
    readings = {}
    for flag in seen.thing.flags:
        slid = _share_slid(flag)
        if seen.holders and slid:
            readings[seen.holder] = slid
        elif flag.endswith(" ticks"):
            readings[seen.name] = flag.removesuffix(" ticks")
    return readings


def _share_slid(flag: str) -> str:
    """Per cent of a plane that a block has slid, from the words for it; empty for other words."""
    slid = _SLID.fullmatch(flag)
    return slid[1] if slid else _AT_AN_END.get(flag, "")


def with_doors(belief: ScienceBelief, room: str, doors: Mapping[str, bool | None]) -> ScienceBelief:
    """Note doors of a room as open or closed, from both sides."""
    exits = dict(belief.exits)
    exits[room] = {**exits.get(room, {}), **doors}
    for other, is_open in doors.items():
        exits[other] = {**exits.get(other, {}), room: is_open}
    return belief.but(exits=exits)


def with_new_thing(belief: ScienceBelief, thing: Thing, command: Named) -> ScienceBelief:
    """Note a thing that was not known to be where the command says, as `substance in metal pot`
    does.
    """
    if not command.one.places:
        return belief
    holder, *further = command.one.places
    spot = find_spot(belief, Phrase(holder, (), tuple(further)))
    return belief if spot is None else filled(belief, spot, (thing,))
