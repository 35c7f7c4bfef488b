"""Plans and their cost, in three passes, each a named algorithm, over the edges that `Ways` finds
with the price of each (`Edge.cost`).

1. Regression from the goal finds the actions that matter: for a fact that does not hold, those that
   make it so; for one that nobody knows, those that reveal it.
2. The additive heuristic h_add of Bonet and Geffner prices every fact found on the way: nothing
   where it holds, else the cheapest action with that effect, its own cost and the sum of what its
   preconditions cost. It is computed by Knuth's generalisation of Dijkstra's algorithm.
   Where lines may be doubted, ways are found by lower bounds (`lower_bounds`), and priced then.
3. A second Dijkstra from the goal downwards gives each action that can be done now its regret: how
   many steps longer than the cheapest plan is the cheapest plan that begins with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from rpms.planning.edges import GOAL, Edge, Link, Option
from rpms.planning.effort import EXPANDED, FEW, FOR_OTHERS, NARROWED
from rpms.planning.lower_bounds import LowerBounds, OpenFact
from rpms.planning.wanted_facts import Fact
from rpms.planning.ways import Ways

MARGIN = 4.0
"""Steps beyond the cheapest plan up to which all plans are found where lines may be doubted."""
FOR_MORE = 16.0
"""Steps that a plan may cost to do more than what holds already, where that would do."""


class LeftOut(Enum):
    """What a search left out."""

    NOTHING = "nothing that could be part of the best plans"
    TOO_DEAR = "all plans: they cost more than they may"
    TOO_MUCH = "all that would have been more work than allowed"


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


def _left_out(lower: float, most: float, *, narrowed: bool) -> LeftOut:
    """What was left out where nothing more is to be found, and a plan costs `lower` at least.

    `narrowed`: only a few choices of things were followed to the end.
    """
    if narrowed:
        return LeftOut.TOO_MUCH
    return LeftOut.TOO_DEAR if most < lower < inf else LeftOut.NOTHING


class Search:
    """What it costs to get to facts, from the goal down, and the plans that cost least."""

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._edges: dict[Fact, Sequence[Edge]] = {}
        """The edges to each fact that some edge needs, and to the goal: what is priced."""
        self._unpriced: list[Fact] = []
        """Facts whose edges were found since prices were last computed."""
        self._links: dict[Edge, Link] = {}
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all prices, since other ways are left out than before; as much work may be done
        again.
        """
        self.allow_as_much_again()
        self._bounds = LowerBounds(self._ways.ways_found, self._ways.least_price)
        """What facts cost at least, where lines may be doubted."""
        self._edges = {}
        self._costs: dict[Fact, float] = {}
        self._totals: dict[Edge, float] = {}
        """The cost of an edge with all that it needs, once that is known."""

    def allow_as_much_again(self) -> None:
        """Count the work that is still to be done without what was done in this step before."""
        self._begun = self._ways.effort.spent

    @property
    def cost_of_goal(self) -> float:
        return self._costs[GOAL]

    def can_be_had(self, fact: Fact) -> bool:
        """True if some plan leads to a fact, of those that lead to the goal."""
        return fact in self._costs

    def reaches(self, edges: list[Edge], most: float = inf) -> Reached:
        """Price all that leads to the goal by some edges, and say if one of them can be had; where
        lines may be doubted, at no more than `most`.
        """
        self._edges[GOAL] = edges
        if self._ways.index.rules.lore.doubts:
            return self._reaches_with_doubts(edges, most)
        self._regress_all(edges)
        self._price()
        return Reached(self._costs.get(GOAL, inf) < inf)

    def _reaches_with_doubts(self, edges: list[Edge], most: float) -> Reached:
        """Price what leads to the goal where doubts are many, by lower bounds on what facts cost
        (`lower_bounds`), and say how that ended: with the cheapest plans, without a plan that
        costs as little as it may, or, once all work is done that may be, with the best so far.

        What holds already begins no plan: where that would do, the cheapest that does more is
        looked for too.
        """
        left = [edge for edge in edges if edge.needs]
        had = min([edge.cost for edge in edges if not edge.needs], default=inf)
        left_out = self._search(left, min(most, had + FOR_MORE))
        if left_out is LeftOut.TOO_DEAR and had > most:
            return Reached(False, given_up=True)
        return Reached(self._is_priced(edges), cut=left_out is LeftOut.TOO_MUCH)

    def _search(self, edges: list[Edge], most: float) -> LeftOut:
        """Find the ways to the goal of the cheapest plans by some edges, and say what was left
        out.

        Of many edges that are alike each has to be shown dearer than the next: after some work
        the few that may be the cheapest are followed to the end.
        """
        bounds = self._bounds
        bounds.aim_at(edges)
        bound_on_work = EXPANDED
        narrowed = False
        lower = bounds.of_goal()
        while open_facts := self._open_facts(lower, most):
            if self._spent > bound_on_work:
                if not self._may_go_on(bound_on_work, edges):
                    return LeftOut.TOO_MUCH
                bound_on_work = self._ways.effort.allowed
            if self._spent > NARROWED and bounds.narrow(FEW):
                narrowed = True
            else:
                for fact in open_facts:
                    bounds.open(fact)
            lower = bounds.of_goal()
        return _left_out(lower, most, narrowed=narrowed)

    @property
    def _spent(self) -> int:
        """The work that was done since this search began."""
        return self._ways.effort.spent - self._begun

    def _may_go_on(self, done: int, edges: list[Edge]) -> bool:
        """True if more work than was done is allowed, and there is no plan so far."""
        return done < self._ways.effort.allowed and not self._is_priced(edges)

    def _open_facts(self, lower: float, most: float) -> list[OpenFact]:
        """Facts of which more ways are to be found: those of the cheapest plan, and once these
        are all found, those of plans that are little dearer, if that takes little work.

        None where nothing leads to the goal, or where every plan costs too much: `lower` at least.
        """
        if lower == inf or lower > most:
            return []
        of_cheapest = self._bounds.open_facts(0.0)
        if of_cheapest or self._spent > FOR_OTHERS:
            return of_cheapest
        return self._bounds.open_facts(MARGIN)

    def _is_priced(self, edges: list[Edge]) -> bool:
        """True if the goal can be had by what was found so far, which is priced."""
        self._edges = {**self._bounds.found(), GOAL: edges}
        self._price(whole=False)
        return GOAL in self._costs

    # First pass: regression.

    def _regress_all(self, edges: Iterable[Edge]) -> None:
        """Find all that some edges need and that was not found before."""
        known = self._edges
        edges_to = self._ways.edges_to
        left = [need for edge in edges for need in edge.needs]
        while left:
            fact = left.pop()
            if fact not in known:
                self._unpriced.append(fact)
                known[fact] = found = edges_to(fact)
                for edge in found:
                    left += edge.needs

    # Second pass: what everything costs.

    def _price(self, *, whole: bool = True) -> None:
        """Price all facts.

        Whole: nothing was left out in regression, and what has a price, or none, keeps to that.
        """
        waiting: defaultdict[Fact, list[_Waiting]] = defaultdict(list)
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
        self, facts: Iterable[Fact], waiting: defaultdict[Fact, list[_Waiting]]
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
                    waiting[need].append(waits)
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

    def options(self) -> tuple[Option, ...]:
        """Actions that begin a plan, the best first, or the best alone."""
        begun = self._begin_plans()
        found = sorted(begun.items(), key=lambda item: item[1].regret)
        if self._ways.best:
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
        best = self._ways.best
        while heap:
            at = heappop(heap)
            if best and at.regret > beginnings.least:
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
            waits = id(edge.schema) in self._ways.index.processes
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
