"""Plans and their cost, in three passes, each a named algorithm; `Ways._ground` sets a step's
price (`Edge.cost`).

1. Regression from the goal finds the actions that matter: for a fact that does not hold, those that
   make it so; for one that nobody knows, those that reveal it.
2. The additive heuristic h_add of Bonet and Geffner prices every fact found on the way: nothing
   where it holds, else the cheapest action with that effect, its own cost and the sum of what its
   preconditions cost. It is computed by Knuth's generalisation of Dijkstra's algorithm.
3. A second Dijkstra from the goal downwards gives each action that can be done now its regret: how
   many steps longer than the cheapest plan is the cheapest plan that begins with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from rpms.logic.achievers import Achievers
from rpms.logic.belief import Situation
from rpms.logic.wanted_facts import Fact
from rpms.planning.edges import GOAL, Edge, Link, Option
from rpms.planning.effort import EXPANDED, Effort
from rpms.planning.filling import Barred
from rpms.planning.ways import NOTHING_BARRED, Ways
from rpms.planning.whereabouts import Order

MARGIN = 8.0
"""Steps beyond the cheapest plan up to which all plans are found where lines may be doubted."""


class LeftOut(IntEnum):
    """What regression left out, the more pressing last."""

    NOTHING = 0
    """Or only ways that are dearer than another to the same fact."""
    TOO_DEAR = 1
    """Edges beyond the limit."""
    TO_BE_PRICED = 2
    """Dearer ways to new facts, until it is known what cheap ones cost."""
    TOO_MANY = 3
    """All that would be more edges than allowed."""


class Reached(NamedTuple):
    """How the search for a plan ended."""

    found: bool
    """True if the goal can be had."""
    cut: bool = False
    """True if not all that may lead to the goal was looked at: there was too much of it."""
    given_up: bool = False
    """True if no plan costs as little as it may."""


class _Begun(NamedTuple):
    """The end of a plan: from one action, or one fact, to the goal."""

    regret: float
    """Steps that the cheapest plan with this end takes beyond the cheapest plan."""
    chain: tuple[Edge, ...]


class _Before(NamedTuple):
    """A fact to achieve before the end of a plan: by regret, then as found."""

    regret: float
    number: int
    fact: Fact
    chain: tuple[Edge, ...]
    """The actions after it, to the goal."""

    def chain_from(self, edge: Edge) -> tuple[Edge, ...]:
        """The actions from an edge to the fact on: the edge is one unless it has no action."""
        return (edge, *self.chain) if edge.schema is not None else self.chain


class _Beginnings:
    """The commands that can be given now, each with the best plan found that it begins."""

    def __init__(self) -> None:
        self.found: dict[str, _Begun] = {}
        self.least = inf
        """The least regret of these plans."""

    def add(self, edge: Edge, regret: float, at: _Before) -> None:
        """Begin a plan with an edge that needs nothing more, if it is an action that can be
        done.
        """
        if not edge.can_be_done:
            return
        known = self.found.get(edge.command)
        if known is None or regret < known.regret:
            self.found[edge.command] = _Begun(regret, at.chain_from(edge))
            self.least = min(self.least, regret)


@dataclass(slots=True, eq=False)
class _Waiting:
    """An edge that has no price until all its needs have theirs."""

    edge: Edge
    total: float
    """The edge's own cost and that of the needs that have a price."""
    missing: int
    """The number of needs that have none yet."""


class _Agenda:
    """Facts to look for ways to: the cheapest first, of equals the latest, each once."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._number = count()
        self._reached: set[Fact] = set()
        self._heap: list[tuple[float, int, Fact]] = []

    def add_needs(self, edges: Iterable[Edge], spent: float) -> LeftOut:
        """Add the needs of some edges, to which others have cost so much, and say if some edge
        costs too much.
        """
        left_out = LeftOut.NOTHING
        for edge in edges:
            cost = spent + edge.cost
            if cost <= self._limit:
                for need in edge.needs:
                    if need not in self._reached:
                        heappush(self._heap, (cost, -next(self._number), need))
            elif cost < inf:
                left_out = LeftOut.TOO_DEAR
        return left_out

    def is_done(self) -> bool:
        """True if no fact is left."""
        heap = self._heap
        while heap and heap[0][2] in self._reached:
            heappop(heap)
        return not heap

    def take(self) -> tuple[float, Fact]:
        """The next fact, with the cost to which it is needed; one must be left."""
        spent, _, fact = heappop(self._heap)
        self._reached.add(fact)
        return spent, fact


def _differing(one: Barred, other: Barred) -> set[str]:
    """The commands that are barred in one way and in another way not, or not alike."""
    keys = [key for key in one.keys() | other.keys() if one.get(key, key) != other.get(key, key)]
    return {key if isinstance(key, str) else key[0] for key in keys}


class Priced(Ways):
    """The actions that matter in one situation, from the goal down, each with what it costs to
    get there.
    """

    def __init__(
        self,
        achievers: Achievers,
        situation: Situation,
        order: Order,
        *,
        effort: Effort | None = None,
        best: bool = False,
        barred: Barred = NOTHING_BARRED,
    ) -> None:
        super().__init__(achievers, situation, order, effort=effort, best=best, barred=barred)
        self._most = inf
        """The most that a plan may cost."""
        self._begun = self._effort.spent
        """Effort of the step's searches before this one."""
        self._edges: dict[Fact, Sequence[Edge]] = {}
        """The edges to each fact that some edge needs, and to the goal: what is priced."""
        self._unpriced: list[Fact] = []
        """Facts whose edges were found since prices were last computed."""
        self._priced_at = -1
        """Effort spent when all was last priced."""
        self._costs: dict[Fact, float] = {}
        self._totals: dict[Edge, float] = {}
        """The cost of an edge with all that it needs, once that is known."""
        self._links: dict[Edge, Link] = {}

    def serves(self, situation: Situation, order: Order, effort: Effort | None) -> bool:
        """True if what was found holds in a situation too: it is the same one, and what more is
        found counts as part of the same effort, if it is counted.
        """
        mine = self._situation
        return (
            (effort is None or effort is self._effort)
            and mine.belief is situation.belief
            and mine.goal is situation.goal
            and mine.past == situation.past
            and (self._order is order or self._order == order)
        )

    def bar(self, barred: Barred) -> None:
        """Leave out other commands than before: facts that these give are expanded anew, all is
        priced anew, and as much work may be done again.
        """
        if self._barred == barred:
            return
        changed = _differing(self._barred, barred)
        for fact, found in list(self._found.items()):
            if any(edge.command in changed for edge in found.edges):
                del self._found[fact]
        self._barred = barred
        self._barred_begin = {}
        self._begun = self._effort.spent
        self._edges = {}
        self._costs = {}
        self._totals = {}

    def _reaches(self, edges: list[Edge]) -> Reached:
        """Price all that leads to the goal by some edges, and say if one of them can be had."""
        self._edges[GOAL] = edges
        if self._index.rules.lore.doubts:
            return self._reaches_with_doubts(edges)
        self._regress_all(edges)
        self._price()
        return Reached(self._costs.get(GOAL, inf) < inf)

    def _reaches_with_doubts(self, edges: list[Edge]) -> Reached:
        """Price what leads to the goal where doubts are many, within two budgets: the cost of what
        is looked at, which grows, and the work.

        It ends, in this order: where nothing that is left out can better the plan; where all work
        is done that may be, which is more while there is no plan; where every plan costs more than
        it may.
        """
        self._priced_at = -1
        limit = 2 * MARGIN
        allowed = EXPANDED
        while True:
            left_out = self._regress_and_price(edges, limit, allowed)
            is_last = allowed >= self._effort.allowed
            ended = self._ended(left_out, edges, limit, is_last=is_last)
            if ended is not None:
                return ended
            if left_out is LeftOut.TOO_MANY:
                allowed = self._effort.allowed
            else:
                limit = self._next_limit(limit)

    def _regress_and_price(self, edges: Sequence[Edge], limit: float, allowed: int) -> LeftOut:
        """Find all that some edges need, up to a cost, and price it, until no way waits for
        prices; say what was left out.
        """
        while True:
            left_out = self._regress(edges, limit, self._begun + allowed)
            if self._effort.spent > self._priced_at:
                self._price(whole=False)
                self._priced_at = self._effort.spent
            if left_out is not LeftOut.TO_BE_PRICED:
                return left_out

    def _ended(
        self, left_out: LeftOut, edges: Sequence[Edge], limit: float, *, is_last: bool
    ) -> Reached | None:
        """How the search ended, where some was left out beyond a limit; None if it goes on.
        `is_last`: no more work may be done.
        """
        cost = self._costs.get(GOAL, inf)
        is_found = cost < inf
        if left_out is LeftOut.NOTHING or self._is_best(cost, edges, limit):
            return Reached(is_found)
        if left_out is LeftOut.TOO_MANY:
            return Reached(is_found, cut=True) if is_found or is_last else None
        if self._is_too_dear(cost, edges, limit):
            return Reached(False, given_up=True)
        return None

    def _next_limit(self, limit: float) -> float:
        """The next limit to what is looked at: half as much again, but no more than can better
        the best plan so far, and not past what a plan may cost at one go.
        """
        cost = self._costs.get(GOAL, inf)
        may_cost = self._most if limit < self._most else inf
        return min(1.5 * limit, cost + MARGIN, may_cost)

    def _is_best(self, cost: float, edges: Sequence[Edge], limit: float) -> bool:
        """True if nothing that costs more than a limit can be part of a better plan."""
        if cost + MARGIN <= limit:
            return True
        return all(cost <= self._least(edge, limit - MARGIN) for edge in edges)

    def _is_too_dear(self, cost: float, edges: Sequence[Edge], limit: float) -> bool:
        """True if every plan costs more than it may."""
        if cost <= self._most:
            return False
        return all(self._most <= self._least(edge, limit) for edge in edges)

    def _least(self, edge: Edge, limit: float) -> float:
        """The least that an edge can cost where costs up to a limit are known."""
        return edge.cost + sum(
            min(self._costs.get(need, inf), max(limit - edge.cost, 0.0)) for need in edge.needs
        )

    # First pass: regression.

    def _regress(self, edges: Iterable[Edge], limit: float, allowed: int) -> LeftOut:
        """Find all that some edges need, up to a cost, the cheapest first, until more edges are
        found than allowed; say what was left out.
        """
        agenda = _Agenda(limit)
        left_out = agenda.add_needs(edges, 0.0)
        while not agenda.is_done():
            if self._effort.spent > allowed:
                return LeftOut.TOO_MANY
            spent, fact = agenda.take()
            left_out = max(left_out, self._expand(fact, limit - spent))
            left_out = max(left_out, agenda.add_needs(self._edges[fact], spent))
        return left_out

    def _expand(self, fact: Fact, most: float) -> LeftOut:
        """Find the edges to a fact that cost less than may be spent and less than is known to
        do, and say what was left out.

        A fact that some action makes so at once needs no doubt: what is cheap is found first, and
        dearer ways once that has a price.
        """
        useful = self._costs.get(fact, inf)
        spend = min(most, useful if fact in self._edges else MARGIN)
        edges = self._edges_to(fact, spend)
        if not edges and spend < most:
            edges = self._edges_to(fact, most)  # nothing cheap will have a price
        self._edges[fact] = edges
        cheapest_left_out = self._found[fact].left_out
        if cheapest_left_out >= useful:
            return LeftOut.NOTHING
        return LeftOut.TO_BE_PRICED if cheapest_left_out < most else LeftOut.TOO_DEAR

    def _regress_all(self, edges: Iterable[Edge]) -> None:
        """Find all that some edges need and that was not found before."""
        known = self._edges
        left = [need for edge in edges for need in edge.needs]
        while left:
            fact = left.pop()
            if fact not in known:
                self._unpriced.append(fact)
                known[fact] = found = self._edges_to(fact, inf)
                for edge in found:
                    left += edge.needs

    # Second pass: what everything costs.

    def _price(self, *, whole: bool = True) -> None:
        """Price all facts.

        Whole: nothing was left out in regression, and what has a price, or none, keeps to that.
        """
        waiting: dict[Fact, list[_Waiting]] = {}
        heap = self._add_up(self._to_price(whole=whole), waiting)
        number = count(len(heap))
        heapify(heap)
        while heap:
            cost, _, fact = heappop(heap)
            if fact in self._costs:
                continue
            self._costs[fact] = cost
            for one in waiting.get(fact, ()):
                one.total += cost
                one.missing -= 1
                if not one.missing:
                    self._totals[one.edge] = one.total
                    heappush(heap, (one.total, next(number), one.edge.fact))

    def _add_up(
        self, facts: Iterable[Fact], waiting: dict[Fact, list[_Waiting]]
    ) -> list[tuple[float, int, Fact]]:
        """Facts that have a price at once, by edges that need nothing more, with this price and
        in the order found; all other edges are set waiting for what they need.
        """
        costs = self._costs
        priced: list[tuple[float, int, Fact]] = []
        for fact in facts:
            for edge in self._edges[fact]:
                total = edge.cost
                missing: list[Fact] = []
                for need in edge.needs:
                    if need in costs:
                        total += costs[need]
                    else:
                        missing.append(need)
                if not missing:
                    self._totals[edge] = total
                    priced.append((total, len(priced), fact))
                    continue
                waits = _Waiting(edge, total, len(missing))
                for need in missing:
                    waiting.setdefault(need, []).append(waits)
        return priced

    def _to_price(self, *, whole: bool) -> list[Fact]:
        """Facts that have no price yet, the goal among them; all, where earlier prices may be
        too high.
        """
        if not whole:
            self._costs.clear()
            self._totals.clear()
        self._costs.pop(GOAL, None)
        goal = [GOAL] if GOAL in self._edges else []
        facts = [*goal, *self._unpriced] if whole else list(self._edges)
        self._unpriced = []
        return facts

    # Third pass: what can be done now.

    def _options(self) -> tuple[Option, ...]:
        """Actions that begin a plan, the best first, or the best alone."""
        begun = self._begin_plans()
        found = sorted(begun.items(), key=lambda item: item[1].regret)
        if self._best:
            found = found[:1]
        options: list[Option] = []
        for command, begins in found:
            options.append(Option(command, begins.regret, tuple(map(self._link, begins.chain))))
        return tuple(options)

    def _begin_plans(self) -> dict[str, _Begun]:
        """The commands that can be given now, each with the best plan that it begins: Dijkstra's
        algorithm from the goal downwards, by regret.
        """
        number = count()
        heap = [_Before(0.0, next(number), GOAL, ())]
        reached: set[Fact] = set()
        beginnings = _Beginnings()
        while heap:
            at = heappop(heap)
            if self._best and at.regret > beginnings.least:
                break
            if at.fact in reached:
                continue
            reached.add(at.fact)
            for edge, regret in self._priced_edges(at):
                if not edge.needs:
                    beginnings.add(edge, regret, at)
                    continue
                first = self._first(edge)
                if first not in reached:
                    heappush(heap, _Before(regret, next(number), first, at.chain_from(edge)))
        return beginnings.found

    def _priced_edges(self, at: _Before) -> Iterator[tuple[Edge, float]]:
        """The edges to a fact that have a price, each with the regret of the best plan by it."""
        cost = self._costs[at.fact]
        for edge in self._edges[at.fact]:
            total = self._totals.get(edge)
            if total is not None:
                yield edge, at.regret + total - cost

    def _link(self, edge: Edge) -> Link:
        if edge not in self._links:
            doubt = edge.schema.doubt if edge.schema is not None else ""
            waits = id(edge.schema) in self._index.processes
            self._links[edge] = Link(edge.command, edge.fact, edge.reveals, waits, doubt)
        return self._links[edge]

    def _first(self, edge: Edge) -> Fact:
        """The need to achieve first: in order, but of similar facts the nearest."""
        first = edge.needs[0]
        if edge.fact is not GOAL:
            return first
        like = [
            need
            for need in edge.needs
            if (need.predicate, need.negated) == (first.predicate, first.negated)
        ]
        return min(like, key=lambda need: self._costs[need])
