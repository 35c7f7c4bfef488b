"""Where things are found: what experience counted, with the manual's order of likely places as the prior.

The model is a rate of finds a step of looking, for each kind of thing and kind of place. Of `found` finds in `steps`
steps spent there (going there is one, opening it another), the posterior mean under a Beta prior of mean m and strength
S is (found + S·m) / (steps + S). What was looked for in vain counts as much as what was found.

The prior mean is the manual's: its r-th likeliest place is worth RATE · DECAY^r. Where the manual says nothing, it is
what experience found in places of that kind, whatever was looked for: with things of the same category, and before that
with all things. The engine searches by rank; a posterior mean is turned back into the rank that it is worth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rpms.core.facts import kind_of
from rpms.core.lift import Lifted, Role, lift, renamed
from rpms.core.memory import Entry, SuccessSnippet
from rpms.core.rules import ActiveRules

RATE, DECAY = 0.6, 0.83
"""What a step of looking in the likeliest kind of place finds, and how much less the next one does: measured on
ALFWorld's training games, where its manual's order comes from."""
STRENGTH_OF_RULES = 30.0
"""Steps of looking that the manual's word is worth: it was mined from thousands of games."""
STRENGTH_OF_KIN = 4.0
"""Steps of looking that experience with other things is worth."""
NOWHERE = 0.1
"""The rate of a place of which nothing at all is known."""
SELDOM = 0.1
"""What share of the usual a way to use a place needs to count as one."""
READ = 2_000
"""Snippets that are read for one kind: enough for any posterior, so that a memory of a million costs no more."""


@dataclass(slots=True)
class Tally:
    """Looks at one kind of place."""

    found: int = 0
    steps: int = 0
    looks: int = 0
    """Places looked at."""

    def add(self, other: Tally, times: int = 1) -> None:
        self.found += times * other.found
        self.steps += times * other.steps
        self.looks += times * other.looks

    def posterior(self, mean: float, strength: float) -> float:
        """Finds a step, given a prior."""
        return (self.found + strength * mean) / (self.steps + strength)


Tallies = Mapping[str, Tally]
"""By kind of place."""
_NONE = Tally()


@dataclass(eq=False)
class Whereabouts:
    """What a memory knows of where things are. Reads of it only what is asked for, once."""

    entries: Iterable[Entry] = ()
    syntax: ActiveRules = field(default_factory=ActiveRules)
    """By which actions are read."""
    category: Callable[[str], str] = str
    _snippets: dict[str, list[SuccessSnippet]] | None = None
    _tallies: dict[str, Tallies] = field(default_factory=dict)
    _ways: dict[str, dict[str, int]] = field(default_factory=dict)
    _worked: dict[str, int] = field(default_factory=dict)
    _orders: dict[tuple[ActiveRules, str], Mapping[str, float]] = field(default_factory=dict)

    def of(self, kind: str) -> Tallies:
        """The looks for things of a kind."""
        if kind not in self._tallies:
            counts: dict[str, Tally] = {}
            self._tallies[kind] = counts
            for snippet in islice(self._about(kind), READ):
                lifted = lift(snippet, self.syntax)
                if kind_of(lifted.sought) == kind:
                    for place, look in looks(lifted):
                        known = counts.setdefault(kind_of(place), Tally())
                        known.add(look, times=max(snippet.success_count, 1))
                for deed in lifted.deeds:
                    what = renamed(deed.command, {name: kind_of(name) for name in deed.names})
                    self._worked[what] = self._worked.get(what, 0) + 1
                for name, way in ways(lifted):
                    known_ways = self._ways.setdefault(kind_of(name), {})
                    known_ways[way] = known_ways.get(way, 0) + 1
        return self._tallies[kind]

    def ways(self, kind: str) -> tuple[str, ...]:
        """What is done at places of a kind before they are of use, `{}` for the place: `go to {}`, `open {}`."""
        self._all()
        counts = self._ways.get(kind, {})
        most = max(counts.values(), default=0)
        return tuple(way for way, count in counts.items() if count >= SELDOM * most)

    def worked(self, action: str) -> int:
        """How often an action worked, by its words with kinds in place of names; as often as it was read, at least."""
        self._all()
        return self._worked.get(action, 0)

    def told(self, kind: str, place: str) -> str:
        """What experience says of a thing in a place, by their kinds; nothing where it never looked."""
        tally = self.of(kind).get(place)
        return f"{kind} was found at {place} {tally.found} of {tally.looks} times" if tally is not None else ""

    def order(self, kind: str, known: Mapping[str, float], rules: ActiveRules) -> Mapping[str, float]:
        """Ranks of kinds of places for a kind of thing, best first; `known` are the manual's, where it has any."""
        key = (rules, kind)
        if key not in self._orders:
            own, kin, every = self.of(kind), self._kin(kind), self._all()
            places = dict.fromkeys((*known, *(own if known else every)))
            rates = {place: self._rate(place, known, own, kin, every) for place in places}
            self._orders[key] = {
                place: known[place] if place in known and place not in own else max(0.0, rank_of(rate))
                for place, rate in rates.items()
            }
        return self._orders[key]

    def best(self, kind: str) -> str:
        """What experience says of the place where things of a kind were found most often for each step."""
        found = {place: tally for place, tally in self.of(kind).items() if tally.found}
        return self.told(kind, max(found, key=lambda place: found[place].posterior(NOWHERE, 1.0))) if found else ""

    def akin(self, one: str, other: str) -> bool:
        """Whether experience with one kind says something of another: things of one category are kept alike."""
        return one == other or self.category(one) == self.category(other)

    def _rate(self, place: str, known: Mapping[str, float], own: Tallies, kin: Tallies, every: Tallies) -> float:
        if known:
            rank = known.get(place, len(known) + 1.0)
            return own.get(place, _NONE).posterior(RATE * DECAY**rank, STRENGTH_OF_RULES)
        mean = every.get(place, _NONE).posterior(NOWHERE, STRENGTH_OF_KIN)
        mean = kin.get(place, _NONE).posterior(mean, STRENGTH_OF_KIN)
        return own.get(place, _NONE).posterior(mean, STRENGTH_OF_KIN)

    def _about(self, kind: str) -> Sequence[SuccessSnippet]:
        """The snippets of goals that name a kind."""
        if self._snippets is None:
            self._snippets = {}
            for entry in self.entries:
                if isinstance(entry, SuccessSnippet):
                    goal = entry.goal_signature
                    for name in {goal.object, goal.destination} - {""}:
                        self._snippets.setdefault(name, []).append(entry)
        return self._snippets.get(kind, ())

    def _kin(self, kind: str) -> Tallies:
        self._about(kind)
        kinds = [each for each in self._snippets or () if each != kind and self.category(each) == self.category(kind)]
        return _sum(map(self.of, kinds))

    def _all(self) -> Tallies:
        self._about("")
        return _sum(map(self.of, self._snippets or ()))


def _sum(parts: Iterable[Tallies]) -> dict[str, Tally]:
    total: dict[str, Tally] = {}
    for part in parts:
        for place, one in part.items():
            total.setdefault(place, Tally()).add(one)
    return total


def rank_of(rate: float) -> float:
    """The rank in the manual's order that a rate is worth."""
    return math.log(rate / RATE) / math.log(DECAY)


def looks(lifted: Lifted) -> Iterator[tuple[str, Tally]]:
    """The places that a snippet looked at for what it found, each once, with the steps spent there."""
    steps: dict[str, int] = {}
    for deed in lifted.deeds:
        if lifted.sought in deed.names:
            break
        for name in deed.names:
            steps[name] = steps.get(name, 0) + 1
    steps.setdefault(lifted.source, 1)
    for place, spent in steps.items():
        yield place, Tally(int(place == lifted.source), spent, 1)


def ways(lifted: Lifted) -> Iterator[tuple[str, str]]:
    """What was done to places alone before something was done there, or in vain: a name, and the action without it."""
    used = {name for deed in lifted.deeds if len(deed.names) > 1 for name in deed.names} | {lifted.source}
    for deed in lifted.deeds:
        if len(deed.names) > 1 or lifted.sought in deed.names:
            used -= set(deed.names) | {lifted.source}
        for name in deed.names if len(deed.names) == 1 else ():
            if name in used or lifted.roles[name] is Role.VAIN:
                yield name, renamed(deed.command, {name: "{}"})
