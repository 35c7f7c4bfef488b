"""The order in which places are searched for a thing: the manual's, corrected by counts in memory
of where it was.

The model is a rate of finds per step of looking, for each kind of thing and kind of place. Of
`found` finds in `steps` steps spent there (going there is one, opening it another), the posterior
mean under a Beta prior of mean m and strength S is (found + S·m) / (steps + S). Searches without a
find count too.

The prior mean has two sources. The manual's r-th likeliest place is worth RATE · DECAY^r.
Experience with all other things, refined by those of the same category, gives the worth of a kind
of place in general. Where both speak, their rates are pooled, manual^α · experience^(1-α), with the
trust α in the manual under which the memory's counts are likeliest. The engine searches by rank, so
a posterior mean is turned back into the rank it is worth.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple, Self

from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.paper.memory import Entry, SuccessSnippet
from rpms.planning.lift import Lifted, Role, lift, renamed

Order = Mapping[str, Mapping[str, float]]
"""Likely places of a kind: kind → kind of place → its rank, 0 first."""
UNLISTED = 3
"""Rank added to a place that is not in that order."""
RATE = 0.6
"""Finds per step in the likeliest kind of place: measured on ALFWorld's training games, where its
manual's order comes from."""
DECAY = 0.83
"""Factor of that rate from one place to the next, measured there too."""
STRENGTH_OF_RULES = 10.0
"""Steps of looking for a thing that the manual's word on it is worth."""
STRENGTH_OF_KIN = 4.0
"""Steps of looking for a thing that experience with other things is worth."""
TRUST = (1.0, 0.8, 0.6, 0.4, 0.2)
"""Possible trust in the manual, most first; never zero."""
DOUBT = 5.0
"""Evidence, in nats, that it takes to give the manual up altogether: a find or two do not."""
NOWHERE = 0.1
"""The rate of a place of which nothing at all is known."""
SELDOM = 0.1
"""Share of the most frequent way that another way to use a place needs to count."""
READ = 2_000
"""Snippets that are read for one kind: enough for any posterior, so that a memory of a million
costs no more."""


class _KindRanks(NamedTuple):
    """The order in which places are searched for a kind of thing."""

    known: Mapping[str, float]
    unlisted: float
    """The rank of all other places."""


class PlaceRanks:
    """Ranks a thing and a place, named in either order, in the search for what a goal needs:
    higher if less likely.
    """

    def __init__(self, goal: Goal, order: Order) -> None:
        self.goal = goal
        self.order = order
        self._of_kind: dict[str, _KindRanks] = {}
        self._of_kinds: dict[tuple[str, ...], float] = {}

    def __call__(self, names: Sequence[str]) -> float:
        kinds = tuple([kind_of(name) for name in names])
        rank = self._of_kinds.get(kinds)
        if rank is None:
            rank = self._of_kinds[kinds] = self._rank(kinds)
        return rank

    def _rank(self, kinds: tuple[str, ...]) -> float:
        """The rank of the others as places of the first kind that has an order; if none has, of
        all as places of the goal's object.
        """
        for at, thing in enumerate(kinds):
            if self._ranks(thing).known:
                return self._least(self._ranks(thing), (*kinds[:at], *kinds[at + 1 :]))
        return self._least(self._ranks(self.goal.object), kinds)

    @staticmethod
    def _least(ranks: _KindRanks, places: Iterable[str]) -> float:
        return min((ranks.known.get(place, ranks.unlisted) for place in places), default=0)

    def _ranks(self, thing: str) -> _KindRanks:
        """The places for a kind of thing, by the goal's own words or else by the manual's order."""
        if thing not in self._of_kind:
            said = self.goal.places().get(thing)
            known: Mapping[str, float] = self.order.get(thing, {})
            if said is not None:
                known = {place: rank for rank, place in enumerate(said)}
            unlisted = max(len(known), *known.values(), 0) + UNLISTED
            self._of_kind[thing] = _KindRanks(known, unlisted)
        return self._of_kind[thing]


@dataclass(slots=True)
class Tally:
    """Looks at one kind of place."""

    found: int = 0
    steps: int = 0
    looks: int = 0
    """Places looked at."""

    def add(self, other: Self, times: int = 1) -> None:
        self.found += times * other.found
        self.steps += times * other.steps
        self.looks += times * other.looks

    def without(self, other: Self) -> Self:
        return type(self)(
            self.found - other.found, self.steps - other.steps, self.looks - other.looks
        )

    def posterior(self, mean: float, strength: float) -> float:
        """Finds a step, given a prior."""
        return (self.found + strength * mean) / (self.steps + strength)


Tallies = Mapping[str, Tally]
"""By kind of place."""
_NONE = Tally()


class _Experience(NamedTuple):
    """What snippets tell."""

    tallies: dict[str, Tally]
    """Looks for the kind of thing, by kind of place."""
    worked: Counter[str]
    """Times that each action worked, with kinds in place of names."""
    ways: dict[str, Counter[str]]
    """Actions before a place is of use, by its kind: `go to {}`."""


class _Search(NamedTuple):
    """What came of looking for a kind of thing in a kind of place, beside what others say of it."""

    tally: Tally
    stated: Mapping[str, float]
    """Places for the kind by the manual, each with its rank."""
    place: str
    general: float
    """Finds per step there, from experience with other things."""


@dataclass(eq=False)
class Whereabouts:
    """A memory's knowledge of where things are, read on demand and once."""

    entries: Iterable[Entry] = ()
    syntax: ActiveRules = field(default_factory=ActiveRules)
    """By which actions are read."""
    category: Callable[[str], str] = str
    manual: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The manual's ranks of places for all kinds it speaks of, by which trust in it is found;
    none without rules."""
    _experience: dict[str, _Experience] = field(default_factory=dict)
    """What was read so far, by kind of thing."""
    _approaches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _generally: dict[str, Mapping[str, float]] = field(default_factory=dict)
    _orders: dict[tuple[str, tuple[tuple[str, float], ...]], Mapping[str, float]] = field(
        default_factory=dict
    )

    def of(self, kind: str) -> Tallies:
        """The looks for things of a kind."""
        return self._read(kind).tallies

    def _read(self, kind: str) -> _Experience:
        """What the snippets about a kind tell."""
        if kind not in self._experience:
            snippets = self._about.get(kind, ())[:READ]
            self._experience[kind] = read_all(snippets, self.syntax, kind)
        return self._experience[kind]

    @cached_property
    def _all(self) -> _Experience:
        """What all snippets tell, of all kinds; looks by kind of place alone."""
        for kind in self._about:
            self._read(kind)
        tallies = _sum(map(self.of, self._about))
        worked: Counter[str] = Counter()
        ways: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for experience in tuple(self._experience.values()):
            worked.update(experience.worked)
            for place, counts in experience.ways.items():
                ways[place].update(counts)
        return _Experience(tallies, worked, dict(ways))

    def approach(self, kind: str = "") -> tuple[str, ...]:
        """Usual actions at places of a kind, or of any, before they are of use: `go to {}`,
        `open {}` for the place.
        """
        if kind not in self._approaches:
            self._approaches[kind] = self._usual_ways(kind)
        return self._approaches[kind]

    def _usual_ways(self, kind: str) -> tuple[str, ...]:
        ways = self._all.ways
        if kind:
            return usual(ways.get(kind, {}))
        total: Counter[str] = Counter()
        for counts in ways.values():
            total.update(counts)
        return usual(dict(total.most_common()))

    def worked(self, action: str) -> int:
        """Number of times an action worked, with kinds in place of names; at least the number
        of times it was read.
        """
        return self._all.worked[action]

    def told(self, kind: str, place: str) -> str:
        """Experience with a thing in a place, by their kinds, in words; empty if it was never
        looked for there.
        """
        tally = self.of(kind).get(place)
        return (
            f"{kind} was found at {place} {tally.found} of {tally.looks} times"
            if tally is not None
            else ""
        )

    def order(self, kind: str, known: Mapping[str, float]) -> Mapping[str, float]:
        """Ranks of kinds of places for a kind of thing, 0 the best; `known` are the manual's,
        where it has any.
        """
        key = (kind, tuple(known.items()))
        if key not in self._orders:
            self._orders[key] = self._ranks(kind, known) if self._all.tallies else known
        return self._orders[key]

    def _ranks(self, kind: str, known: Mapping[str, float]) -> dict[str, float]:
        """The rank of each place, by how often such things were found there."""
        ranks: dict[str, float] = {}
        for place in dict.fromkeys((*known, *self._all.tallies)):
            rate = self._rate(kind, place, known)
            ranks[place] = max(0.0, math.log(rate / RATE) / math.log(DECAY))
        return ranks

    def _rate(self, kind: str, place: str, known: Mapping[str, float]) -> float:
        own = self.of(kind).get(place, _NONE)
        general = self._general(kind).get(place, NOWHERE)
        if not known:
            return own.posterior(general, STRENGTH_OF_KIN)
        return own.posterior(pooled(known, place, general, self.trust), STRENGTH_OF_RULES)

    def _general(self, kind: str) -> Mapping[str, float]:
        """Finds per step in each kind of place, from experience with other things."""
        if kind not in self._generally:
            self._generally[kind] = self._find_general(kind)
        return self._generally[kind]

    def _find_general(self, kind: str) -> dict[str, float]:
        own = self.of(kind)
        kin = [other for other in self._about if other != kind and self.akin(other, kind)]
        of_kin = _sum(map(self.of, kin))
        rates: dict[str, float] = {}
        for place, tally in self._all.tallies.items():
            others = tally.without(own.get(place, _NONE))
            mean = others.posterior(NOWHERE, STRENGTH_OF_KIN)
            rates[place] = of_kin.get(place, _NONE).posterior(mean, STRENGTH_OF_KIN)
        return rates

    @cached_property
    def trust(self) -> float:
        """α: maximum-likelihood trust in the manual, given the tallies of kinds it places;
        `DOUBT` favours more.
        """
        searches = list(self._searches_the_manual_places())

        def posterior(trust: float) -> float:
            total = 0.0
            for search in searches:
                rate = pooled(search.stated, search.place, search.general, trust)
                found = search.tally.found
                missed = search.tally.steps - found
                total += found * math.log(rate) + missed * math.log(1 - rate)
            return total + DOUBT * trust

        return max(TRUST, key=posterior)

    def _searches_the_manual_places(self) -> Iterator[_Search]:
        """What came of searches for kinds that the manual places."""
        for kind in self._about:
            if kind not in self.manual:
                continue
            for place, tally in self.of(kind).items():
                yield _Search(tally, self.manual[kind], place, self._general(kind)[place])

    def best(self, kind: str) -> str:
        """Experience with the best place for a kind, by finds per step, in words."""
        found = {place: tally for place, tally in self.of(kind).items() if tally.found}
        if not found:
            return ""
        best = max(found, key=lambda place: found[place].posterior(NOWHERE, 1.0))
        return self.told(kind, best)

    def akin(self, one: str, other: str) -> bool:
        """True if experience with one kind says something of another: things of one category
        are kept alike.
        """
        return one == other or self.category(one) == self.category(other)

    @cached_property
    def _about(self) -> Mapping[str, Sequence[SuccessSnippet]]:
        """The snippets by the kinds that their goals name."""
        about: dict[str, list[SuccessSnippet]] = {}
        for entry in self.entries:
            if not isinstance(entry, SuccessSnippet):
                continue
            goal = entry.goal_signature
            for kind in {goal.object, goal.destination} - {""}:
                about.setdefault(kind, []).append(entry)
        return about


def read_all(snippets: Iterable[SuccessSnippet], syntax: ActiveRules, kind: str) -> _Experience:
    """What snippets tell: the looks for one kind of thing, the actions that worked, and the ways
    to places.
    """
    tallies: dict[str, Tally] = {}
    worked: Counter[str] = Counter()
    ways: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for snippet in snippets:
        lifted = lift(snippet, syntax)
        if kind_of(lifted.sought) == kind:
            times = max(snippet.success_count, 1)
            for place, look in looks(lifted):
                tallies.setdefault(kind_of(place), Tally()).add(look, times)
        for deed in lifted.deeds:
            kinds = {name: kind_of(name) for name in deed.names}
            worked[renamed(deed.command, kinds)] += 1
        for place, way in approaches(lifted):
            ways[kind_of(place)][way] += 1
    return _Experience(tallies, worked, dict(ways))


def usual(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The most frequent ways, without rare ones."""
    most = max(counts.values(), default=0)
    return tuple(way for way, count in counts.items() if count >= SELDOM * most)


def _sum(parts: Iterable[Tallies]) -> dict[str, Tally]:
    total: dict[str, Tally] = {}
    for part in parts:
        for place, one in part.items():
            total.setdefault(place, Tally()).add(one)
    return total


def pooled(known: Mapping[str, float], place: str, general: float, trust: float) -> float:
    """The rate of a place by the manual's order and by general experience, pooled by the trust
    in the manual.
    """
    rank = known.get(place, len(known) + float(UNLISTED))
    told = RATE * DECAY**rank
    return float(told**trust * general ** (1.0 - trust))


def looks(lifted: Lifted) -> Iterator[tuple[str, Tally]]:
    """The places that a snippet looked at for what it found, each once, with the steps spent
    there.
    """
    before = takewhile(lambda deed: lifted.sought not in deed.names, lifted.deeds)
    steps = Counter(name for deed in before for name in deed.names)
    steps.setdefault(lifted.source, 1)
    return ((place, Tally(int(place == lifted.source), spent, 1)) for place, spent in steps.items())


def approaches(lifted: Lifted) -> Iterator[tuple[str, str]]:
    """Actions on places alone, before using or searching a place: a name, and the action
    without it.
    """
    to_come = {lifted.source}
    for deed in lifted.deeds:
        if len(deed.names) > 1:
            to_come.update(deed.names)
    for deed in lifted.deeds:
        if len(deed.names) > 1 or lifted.sought in deed.names:
            to_come.difference_update(deed.names, (lifted.source,))
        if len(deed.names) != 1:
            continue
        (name,) = deed.names
        if name in to_come or lifted.roles[name] is Role.VAIN:
            yield name, renamed(deed.command, {name: "{}"})


def likely_places(
    rules: ActiveRules, experience: Whereabouts | None = None, kinds: Iterable[str] = ()
) -> Order:
    """The order in which places are searched: the manual's, and for some kinds what experience
    makes of it.
    """
    order = _stated_places(rules)
    if experience is None:
        return order
    known = {kind: experience.order(kind, order.get(kind, {})) for kind in kinds if kind}
    return {**order, **{kind: ranks for kind, ranks in known.items() if ranks}}


@kept_with_rules
def _stated_places(rules: ActiveRules) -> Order:
    order: dict[str, dict[str, None]] = {
        kind: dict.fromkeys(each) for kind, each in rules.lore.localities.items()
    }
    localities = [rule.locality for rule in rules.domain if rule.locality is not None]
    # Rules about few things are surest.
    for locality in sorted(localities, key=lambda each: len(each.objects)):
        for kind in locality.objects:
            order.setdefault(kind, {}).update(dict.fromkeys(locality.places))
    ranks: dict[str, dict[str, int]] = {}
    for kind, places in order.items():
        ranks[kind] = {place: rank for rank, place in enumerate(places)}
    return ranks
