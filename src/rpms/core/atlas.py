"""Past the paper: what snippets tell together of a world with places: the ways between them, how each is searched."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

from rpms.core.belief import Situation
from rpms.core.facts import Atom, Truth
from rpms.core.lift import read, renamed
from rpms.core.memory import Entry, SuccessSnippet
from rpms.core.rules import ActiveRules
from rpms.core.whereabouts import READ, SELDOM


class Where(NamedTuple):
    """How a world tells where one is."""

    predicate: str
    """That of the facts of which one holds at a time, and now of the present place: `inside`."""
    field: str
    """What the state signature calls it: `room`."""
    here: str

    @classmethod
    def of(cls, situation: Situation, syntax: ActiveRules) -> Where | None:
        """Read from what is known now; nothing where no command moves, or the place is unknown or not in a state."""
        belief, here = situation.belief, situation.belief.location
        if here is None:
            return None
        fields = [name for name, values in belief.signature().fields if values == (here,)]
        effects = [each.atom for schema in syntax.environment for each in schema.effects if not each.negated]
        single = dict.fromkeys(atom.predicate for atom in effects if len(atom.args) == 1 and _is_single(atom, syntax))
        told = [name for name in single if belief.truth(Atom(name, (here,))) is Truth.TRUE]
        return cls(told[0], fields[0], here) if told and fields else None

    def led_to(self, command: str, syntax: ActiveRules) -> str:
        """The place that a command leads to; nothing for one that does not move."""
        instance = syntax.instance(command)
        effects = instance.effects if instance is not None else ()
        return next((each.atom.args[0] for each in effects if each.atom.predicate == self.predicate), "")


def _is_single(atom: Atom, syntax: ActiveRules) -> bool:
    known = syntax.predicates.get(atom.predicate)
    return known is not None and known.exclusive == "always"


class Stride(NamedTuple):
    """One step of a snippet, and where it was done."""

    number: int
    """Its place in the snippet, from 1; 0 for a step that other snippets add."""
    command: str
    names: tuple[str, ...]
    at: str
    to: str = ""
    """Where it led, or helped to lead: of `open door to hallway` before `go to hallway` too."""


def strides_of(snippet: SuccessSnippet, where: Where, syntax: ActiveRules) -> tuple[Stride, ...]:
    """A snippet step by step, followed from the place it began in."""
    at = next(iter(snippet.state_signature.get(where.field) or ()), "")
    strides: list[Stride] = []
    for number, command in enumerate(snippet.actions, 1):
        to = where.led_to(command, syntax)
        strides.append(Stride(number, command, read(command, syntax).names, at, to))
        at = to or at
    for place in range(len(strides) - 1, 0, -1):
        one, after = strides[place - 1], strides[place]
        if after.to and not one.to and one.names == (after.to,):
            strides[place - 1] = one._replace(to=after.to)
    return tuple(strides)


@dataclass(eq=False)
class Atlas:
    """Places, what was done to get from one to the next, and what was done there to see more."""

    syntax: ActiveRules = field(default_factory=ActiveRules)
    _doors: dict[str, dict[str, None]] = field(default_factory=dict)
    """Place → the places that were gone to from there."""
    _ways: dict[str, Counter[str]] = field(default_factory=dict)
    """Place → what was done to get there, `{}` for the place."""
    _arrived: Counter[str] = field(default_factory=Counter)
    """What names nothing → how often it was done first at a new place."""
    _single: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    """Place and what was done next → the actions on one thing there that came just before."""
    _kinds: dict[str, Counter[str]] = field(default_factory=dict)
    """Kind of action on one thing → what was done next, how often."""
    _reached: dict[str, list[SuccessSnippet]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry], where: Where, syntax: ActiveRules) -> Atlas:
        """Read snippets, of each sub-goal as many as are of use."""
        atlas = cls(syntax)
        for entry in entries:
            if isinstance(entry, SuccessSnippet):
                known = atlas._reached.setdefault(entry.sub_goal_type, [])
                if len(known) < READ:
                    known.append(entry)
                    atlas._add(strides_of(entry, where, syntax))
        return atlas

    def reached(self, sub_goal: str) -> Sequence[SuccessSnippet]:
        """What reached a sub-goal, for whatever goal."""
        return self._reached.get(sub_goal, ())

    def _add(self, strides: Sequence[Stride]) -> None:
        for stride, after in zip_longest(strides, strides[1:]):
            after_it = after.command if after is not None and not after.names else ""
            if stride.to:
                self._doors.setdefault(stride.at, {})[stride.to] = None
                self._doors.setdefault(stride.to, {})
                self._ways.setdefault(stride.to, Counter())[renamed(stride.command, {stride.to: "{}"})] += 1
                self._arrived.update([after_it] if after_it else [])
            elif len(stride.names) == 1:
                self._single.setdefault((stride.at, after_it), {})[stride.command] = None
                self._kinds.setdefault(self._kind(stride.command), Counter())[after_it] += 1

    def _kind(self, command: str) -> str:
        instance = self.syntax.instance(command)
        return instance.schema.name if instance is not None else command.partition(" ")[0]

    def __contains__(self, place: str) -> bool:
        return place in self._doors

    @cached_property
    def look(self) -> str:
        """What was most often done first at a new place; nothing where that was nothing in particular."""
        return next((command for command, _ in self._arrived.most_common(1)), "")

    def lids(self, place: str) -> tuple[str, ...]:
        """What was done at a place just before another look, to see more of it."""
        return tuple(self._single.get((place, self.look), ())) if self.look else ()

    def reveals(self, stride: Stride) -> bool:
        """Whether an action on one thing is of the kind that is done to see more."""
        after = self._kinds.get(self._kind(stride.command), Counter())
        return len(stride.names) == 1 and bool(self.look) and after[self.look] > OFTEN * after.total()

    def nearest(self, start: str, barred: Container[str] = ()) -> Iterator[tuple[str, ...]]:
        """The places on the ways from one place to each that is known, the shortest first; the first is to stay.

        `barred` are places that cannot be gone to next. Where nobody went the other way round, a way is taken to lead
        back too. From a place that nobody ever left, any may be next, likeliest those that many ways lead to.
        """
        waiting = deque[tuple[str, ...]]([()])
        seen = {start}
        while waiting:
            way = waiting.popleft()
            yield way
            for other in self._next(way[-1] if way else start):
                if other not in seen and (way or other not in barred):
                    seen.add(other)
                    waiting.append((*way, other))

    def _next(self, place: str) -> Iterable[str]:
        back = [other for other, doors in self._doors.items() if place in doors]
        known = dict.fromkeys((*self._doors.get(place, ()), *back))
        return known or sorted(self._doors, key=lambda other: -len(self._doors[other]))

    def way(self, start: str, end: str, barred: Container[str] = ()) -> tuple[str, ...] | None:
        """The places on the shortest way, the last included; None where no way is known."""
        return () if start == end else next((way for way in self.nearest(start, barred) if way[-1:] == (end,)), None)

    def commands(self, place: str) -> tuple[str, ...]:
        """What leads to a place from the one before it: as to most places, or where that was never so, as to it."""
        own = self._ways.get(place, Counter())
        ways = self._usual if own.keys() <= self._usual.keys() else own
        return tuple(way.replace("{}", place) for way in ways)

    @cached_property
    def _usual(self) -> dict[str, int]:
        every: Counter[str] = sum(self._ways.values(), Counter())
        most = max(every.values(), default=0)
        return {way: count for way, count in every.items() if count >= SELDOM * most}


OFTEN = 0.25
"""What share of an action's uses must come just before another look for it to count as a way to see more."""
