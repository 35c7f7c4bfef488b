"""The search where lines may be doubted: AO* (Nilsson), by lower bounds on what facts cost.

A fact of which not all ways were found yet costs at least as much as the cheapest of those, and
what needs it at least that and the rest. So the ways are found in which a cheapest plan may lie,
the cheapest first, and no others: of hundreds of doubts few are ever weighed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from rpms.planning.edges import GOAL, Edge
from rpms.planning.wanted_facts import Fact

_AT_ONCE = 1.0
"""Steps by which ways may differ that are found at once."""


class WaysFound(NamedTuple):
    """The ways to a fact that were found so far."""

    edges: Sequence[Edge]
    left_out: float
    """The least that any other way costs; infinite if there is none."""


@dataclass(slots=True, eq=False)
class FactNode:
    """A fact that some way needs."""

    fact: Fact
    rest: float
    """The least that a way costs which was not found yet."""
    lower: float
    """The least that the fact can cost."""
    ways: list[_Way] = field(default_factory=list)
    needed_by: list[_Way] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Way:
    """An edge between nodes."""

    edge: Edge
    to: FactNode
    needs: list[FactNode]
    lower: float = inf
    """The least that it can cost with all that it needs."""

    def weigh(self) -> float:
        """The least that it can cost, by what its needs can cost now."""
        lower = self.edge.cost
        for need in self.needs:
            lower += need.lower
        self.lower = lower
        return lower


class OpenFact(NamedTuple):
    """A fact of which more ways are to be found."""

    node: FactNode
    slack: float
    """Steps by which a way to it may be dearer than the cheapest to be of interest."""


class LowerBounds:
    """The facts that lead to a goal, with the least that each can cost."""

    def __init__(
        self, find: Callable[[Fact, float], WaysFound], least: Callable[[Fact], float]
    ) -> None:
        """`find`: the ways to a fact that cost less than so much; `least`: the least that any
        way to a fact can cost, before they are found.
        """
        self._find = find
        self._least = least
        self._nodes: dict[Fact, FactNode] = {}
        self._goal = FactNode(GOAL, rest=inf, lower=inf)
        self._opened: dict[FactNode, None] = {}
        """Facts of which more ways were found since bounds were last raised."""

    def aim_at(self, edges: Sequence[Edge]) -> None:
        """Ask for the cheapest of some edges to the goal."""
        for way in self._goal.ways:
            for need in way.needs:
                need.needed_by.remove(way)
        self._goal.ways = []
        self._add_ways(self._goal, edges)

    def narrow(self, few: int) -> bool:
        """Keep the few edges to the goal that can cost least, and say if there were more."""
        ways = self._goal.ways
        if len(ways) <= few:
            return False
        in_order = sorted(ways, key=lambda way: way.lower)
        self.aim_at([way.edge for way in in_order[:few]])
        return True

    def of_goal(self) -> float:
        """The least that the goal can cost by what was found so far.

        Only bounds are found again that rest on facts of which more was found: most stay as they
        are.
        """
        self._find_bounds(self._resting_on_opened())
        return self._goal.lower

    def _resting_on_opened(self) -> Sequence[FactNode]:
        """The facts of which more ways were found, and all whose bound may rest on theirs."""
        found = self._opened
        self._opened = {}
        left = list(found)
        while left:
            node = left.pop()
            for way in node.needed_by:
                if way.lower <= way.to.lower and way.to not in found:
                    found[way.to] = None
                    left.append(way.to)
        return list(found)

    def _find_bounds(self, nodes: Sequence[FactNode]) -> None:
        """Find the bounds of some facts anew, and of those that turn out to be cheaper by them:
        Knuth's generalisation of Dijkstra's algorithm, where a fact may also cost the least of
        what was not found yet.
        """
        _forget_bounds(nodes)
        heap: list[tuple[float, int, FactNode]] = []
        for number, node in enumerate(nodes):
            least = min([way.lower for way in node.ways], default=inf)
            heap.append((min(node.rest, least), number, node))
        numbers = count(len(heap))
        heapify(heap)
        while heap:
            lower, _, node = heappop(heap)
            if lower >= node.lower:
                continue
            node.lower = lower
            for way in node.needed_by:
                # as in `weigh`, without a call
                lower = way.edge.cost
                for need in way.needs:
                    lower += need.lower
                way.lower = lower
                if lower < way.to.lower:
                    heappush(heap, (lower, next(numbers), way.to))

    def open_facts(self, slack: float) -> list[OpenFact]:
        """Facts in plans that may cost at most `slack` more than the cheapest, and of which not
        all ways were found that such plans may have; without slack those in one cheapest plan.
        """
        reached: dict[FactNode, float] = {}
        """The most slack with which plans come to each fact."""
        are_open: dict[FactNode, None] = {}
        left = [OpenFact(self._goal, slack)]
        while left:
            at = left.pop()
            if at.slack <= reached.get(at.node, -inf):
                continue
            reached[at.node] = at.slack
            ways = at.node.ways if at.slack else self._best_ways(at.node)
            # without slack one way that costs least is enough
            is_settled = bool(ways) and not at.slack
            if not is_settled and at.node.rest <= at.node.lower + at.slack:
                are_open[at.node] = None
            for way in ways:
                left += self._needs_within(way, at.slack)
        return [OpenFact(node, reached[node]) for node in are_open]

    def _needs_within(self, way: _Way, most: float) -> list[OpenFact]:
        """The needs of a way that costs at most so much more than the cheapest to its fact; none
        of a dearer one.

        What is to be had first may be had in dearer ways too, since plans are told apart by how
        they begin.
        """
        if way.lower == inf or not way.needs:
            return []
        spare = most - (way.lower - way.to.lower)
        if spare < 0:
            return []
        first = self._first(way)
        return [OpenFact(need, spare if need is first else 0.0) for need in way.needs]

    def _best_ways(self, node: FactNode) -> list[_Way]:
        """The first way to a fact that costs as little as it can; none if that was not found
        yet.
        """
        for way in node.ways:
            if way.lower <= node.lower:
                return [way]
        return []

    def _first(self, way: _Way) -> FactNode:
        """The need that is seen to first."""
        first = way.needs[0]
        if way.to is not self._goal:
            return first
        kind = (first.fact.predicate, first.fact.negated)
        like = [need for need in way.needs if (need.fact.predicate, need.fact.negated) == kind]
        return min(like, key=lambda need: need.lower)

    def open(self, fact: OpenFact) -> None:
        """Find the ways to a fact that matter now."""
        node = fact.node
        spend = max(node.lower + fact.slack, node.rest) + _AT_ONCE
        had = len(node.ways)
        found = self._find(node.fact, spend)
        self._add_ways(node, found.edges[had:])
        node.rest = found.left_out

    def _add_ways(self, node: FactNode, edges: Sequence[Edge]) -> None:
        """Add edges to a fact."""
        for edge in edges:
            needs = [self._node(need) for need in edge.needs]
            way = _Way(edge, node, needs)
            way.weigh()
            node.ways.append(way)
            for need in needs:
                need.needed_by.append(way)
        self._opened[node] = None

    def _node(self, fact: Fact) -> FactNode:
        node = self._nodes.get(fact)
        if node is None:
            least = self._least(fact)
            node = self._nodes[fact] = FactNode(fact, rest=least, lower=least)
        return node

    def found(self) -> dict[Fact, list[Edge]]:
        """All edges that were found."""
        edges: dict[Fact, list[Edge]] = {}
        for fact, node in self._nodes.items():
            edges[fact] = [way.edge for way in node.ways]
        return edges


def _forget_bounds(nodes: Sequence[FactNode]) -> None:
    """Take the bounds from some facts, and from the ways that need them."""
    for node in nodes:
        node.lower = inf
    for node in nodes:
        for way in node.needed_by:
            way.lower = inf
