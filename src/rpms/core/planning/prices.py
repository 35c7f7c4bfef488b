"""Plans and their cost, in three passes, each a named algorithm.

1. Regression from the goal finds the actions that matter: for a fact that does not hold, those that make it so; for one
   that nobody knows, those that reveal it.
2. The additive heuristic h_add of Bonet and Geffner prices every fact found on the way: nothing where it holds, else
   the cheapest action with that effect, its own cost and the sum of what its preconditions cost. It is computed by
   Knuth's generalisation of Dijkstra's algorithm.
3. A second Dijkstra from the goal downwards gives each action that can be done now its regret: how many steps longer
   than the cheapest plan is the cheapest plan that begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import NamedTuple

from rpms.core.belief import Situation
from rpms.core.planning.achievers import Achievers, Fact
from rpms.core.planning.ground import Edge, Order, is_unseen
from rpms.core.planning.progress import Purposeful

GOAL = Fact("goal", ())


class Link(NamedTuple):
    """One action of a plan, with the fact it serves."""

    command: str
    fact: Fact
    reveals: bool
    waits: bool = False
    """True if it lets a process go on, so that doing it again is not wasted."""
    doubt: str = ""
    """The line of the manual that it goes against, if it is a doubt."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be done now, with the plan that it begins."""

    command: str
    regret: float
    """Steps that the cheapest plan beginning with it takes beyond the cheapest plan."""
    chain: tuple[Link, ...] = ()
    """From it to the goal; none for what experience did, of which no rule says what it is for."""
    evidence: str = ""
    """The experience that speaks for it or against it."""

    def spelled(self, spell: Callable[[str], str]) -> Option:
        """The same with its command as a game wants it written."""
        return Option(spell(self.command), self.regret, self.chain, self.evidence)


class Priced(Purposeful):
    """The actions that matter in one situation, from the goal down, each with what it costs to get there."""

    def __init__(self, ways: Achievers, situation: Situation, order: Order) -> None:
        super().__init__(ways, situation, order)
        self._edges: dict[Fact, list[Edge]] = {}
        self._costs: dict[Fact, float] = {}

    def _reaches(self, edges: list[Edge]) -> bool:
        """Price all that leads to the goal by some edges; whether one of them can be had."""
        self._edges[GOAL] = edges
        self._regress(fact for edge in edges for fact in edge.needs)
        self._price()
        return self._costs.get(GOAL, inf) < inf

    # First pass: regression.

    def _regress(self, wanted: Iterable[Fact]) -> None:
        queue = [fact for fact in wanted if fact not in self._edges]
        while queue:
            fact = queue.pop()
            if fact in self._edges:
                continue
            self._edges[fact] = edges = list(self._ways(fact))
            queue.extend(need for edge in edges for need in edge.needs if need not in self._edges)

    # Second pass: what everything costs.

    def _price(self) -> None:
        number = count()
        heap: list[tuple[float, int, Fact]] = []
        waiting: dict[Fact, list[Edge]] = {}
        for edges in self._edges.values():
            for edge in edges:
                edge.total, edge.waiting = edge.cost, len(edge.needs)
                for need in edge.needs:
                    waiting.setdefault(need, []).append(edge)
                if not edge.needs:
                    heappush(heap, (edge.cost, next(number), edge.fact))
        costs = self._costs
        costs.clear()
        while heap:
            cost, _, fact = heappop(heap)
            if fact in costs:
                continue
            costs[fact] = cost
            for edge in waiting.get(fact, ()):
                edge.total += cost
                edge.waiting -= 1
                if not edge.waiting:
                    heappush(heap, (edge.total, next(number), edge.fact))

    # Third pass: what can be done now.

    def _options(self) -> tuple[Option, ...]:
        number = count()
        heap: list[tuple[float, int, Fact, tuple[Edge, ...]]] = [(0.0, next(number), GOAL, ())]
        reached: set[Fact] = set()
        options: dict[str, tuple[float, tuple[Edge, ...]]] = {}
        while heap:
            regret, _, fact, above = heappop(heap)
            if fact in reached:
                continue
            reached.add(fact)
            for edge in self._edges[fact]:
                if edge.waiting:
                    continue
                more = regret + edge.total - self._costs[fact]
                ways = (edge, *above) if edge.schema is not None else above
                if edge.needs:
                    first = self._first(edge)
                    if first not in reached:
                        heappush(heap, (more, next(number), first, ways))
                elif edge.schema is None or is_unseen(edge.named):
                    continue  # nothing can be done to what nobody has seen
                elif edge.command not in options or options[edge.command][0] > more:
                    options[edge.command] = (more, ways)
        found = sorted(options.items(), key=lambda item: item[1][0])
        return tuple(Option(command, regret, tuple(map(self._link, ways))) for command, (regret, ways) in found)

    def _link(self, edge: Edge) -> Link:
        doubt = edge.schema.doubt if edge.schema is not None else ""
        waits = any(edge.schema is process for process in self._lore.processes)
        return Link(edge.command, edge.fact, edge.reveals, waits, doubt)

    def _first(self, edge: Edge) -> Fact:
        """The need to achieve first: in order, but of similar facts the nearest."""
        first = edge.needs[0]
        if edge.fact is not GOAL:
            return first
        like = [need for need in edge.needs if (need.predicate, need.negated) == (first.predicate, first.negated)]
        return min(like, key=lambda need: self._costs[need])
