"""Plans and their cost, in three passes, each a named algorithm; `Priced._ground` sets a step's
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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heapify, heappop, heappush
from itertools import count, product
from math import inf
from typing import NamedTuple

from rpms.logic.achievers import (
    Achiever,
    Achievers,
    Expanded,
    Fact,
    Fill,
    Found,
    asked_about,
    command_of,
)
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import is_unseen, kind_of
from rpms.logic.rules import ANYTHING
from rpms.planning.filling import Filled, Filling, Surroundings
from rpms.planning.whereabouts import Order

GOAL = Fact("<goal>", ())
SEEN = "<seen>"
"""Predicate of what has to be found before anything is done to it. Brackets keep it and the goal
apart from predicates of a manual, which cannot have any."""
MARGIN = 8.0
"""Steps beyond the cheapest plan up to which all plans are found where lines may be doubted."""
EXPANDED = 500
"""Ways to facts that are tried where lines may be doubted, and edges that are found by them; then
the best plan so far is taken. Doubts are many, and the cheapest are found first. A plan that trusts
the manual takes about a tenth."""
FURTHER = 8
"""Times as many that are tried where there is no plan so far."""
CHOICES = 4
"""Choices of names with which one doubt is considered for a fact. It asks whether an action works
against a line, and any things that the fact leaves open will tell: those that need least."""
SEARCH = 2.0
"""Steps that a look costs beyond the way there, since it may find nothing."""
FURTHER_DOWN = 2.0
"""Steps that one place further down in the order of likely places counts."""
UNSEEN = "anything ?"
"""Whatever may be found. A name that ends in a question mark is of something that nobody has
seen yet."""

_NOTHING = Found(edges=(), read={}, left_out=-inf, asked=frozenset())


@dataclass(slots=True, eq=False)
class Edge:
    """A way with names in place of its parameters: one step of some plan."""

    fact: Fact
    needs: tuple[Fact, ...]
    """Facts that do not hold yet, in the order to achieve them."""
    cost: float
    schema: ActionSchema | None = None
    """The action; None if a fact only follows from another."""
    reveals: bool = False
    binding: Mapping[str, str] = field(default_factory=dict)
    _command: str | None = None

    @property
    def command(self) -> str:
        if self._command is None:
            self._command = command_of(self.schema, self.binding) if self.schema is not None else ""
        return self._command

    @property
    def named(self) -> tuple[str, ...]:
        """Things its command names: mixing is done to a vessel, not to the result."""
        schema = self.schema
        if schema is None:
            return ()
        return tuple(self.binding[name] for name in schema.variables if name not in schema.others)


def _left_to_do(filled: Filled) -> tuple[int, float]:
    """The number of needs that some names leave to be seen to, and the price of what is granted."""
    return len(filled.needs), filled.price


def _is_direct(edge: Edge) -> bool:
    """True if an action with known things makes the fact so."""
    if edge.schema is None or edge.reveals:
        return False
    return not is_unseen(edge.binding.values())


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
        written = spell(self.command)
        if written == self.command:
            return self
        return Option(written, self.regret, self.chain, self.evidence)


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


def _can_be_done(edge: Edge) -> bool:
    """True for an action with things that somebody has seen."""
    return edge.schema is not None and not is_unseen(edge.named)


class Priced(Filling):
    """The actions that matter in one situation, from the goal down, each with what it costs to
    get there.
    """

    def __init__(
        self,
        achievers: Achievers,
        situation: Situation,
        order: Order,
        most: float = inf,
        *,
        best: bool = False,
    ) -> None:
        self._most = most
        self._expansions = 0
        """Ways that were tried, and edges that were found by them."""
        self._best = best
        self._doubting = achievers.shares
        super().__init__(achievers, situation, order)
        self._order = order
        self._edges: dict[Fact, Sequence[Edge]] = {}
        """The edges to each fact that some edge needs, and to the goal: what is priced."""
        self._unpriced: list[Fact] = []
        """Facts whose edges were found since prices were last computed."""
        self._found: dict[Fact, Found] = {}
        """The edges found in this situation, with the cost from which on others were left out."""
        self._costs: dict[Fact, float] = {}
        self._totals: dict[Edge, float] = {}
        """The cost of an edge with all that it needs, once that is known."""
        self._beyond = inf
        """Cost of the cheapest way that cost more than might be spent."""
        self._links: dict[Edge, Link] = {}
        self._barred: dict[str, bool] = {}
        """True for beginnings of commands if some barred command has them."""
        kept = self._edges_of_earlier_steps()
        self._expanded: dict[Fact, Found] = {} if self._doubting else kept
        """The edges found in any step that rest on facts and names alone."""

    def _edges_of_earlier_steps(self) -> dict[Fact, Found]:
        """Edges kept for the same goal and order of places; for others all is forgotten."""
        goal = self._situation.goal
        known = self._known_names
        if known.expanded.goal is not goal or known.expanded.order != self._order:
            known.expanded = Expanded(goal, self._order, {}, {})
            known.fills = {}
        return known.expanded.best if self._best else known.expanded.every

    def serves(self, situation: Situation, order: Order) -> bool:
        """True if what was found holds in a situation too: it is the same one."""
        mine = self._situation
        return (
            mine.belief is situation.belief
            and mine.goal is situation.goal
            and mine.past == situation.past
            and (self._order is order or self._order == order)
        )

    def _reaches(self, edges: list[Edge]) -> Reached:
        """Price all that leads to the goal by some edges, and say if one of them can be had."""
        self._edges[GOAL] = edges
        if self._index.rules.lore.doubts:
            return self._reaches_with_doubts(edges)
        self._regress_all(edges)
        self._price()
        return Reached(self._costs.get(GOAL, inf) < inf)

    def _reaches_with_doubts(self, edges: list[Edge]) -> Reached:
        """Price what leads to the goal where doubts are many, within two budgets that grow: the
        cost of what is looked at, and the number of edges.

        It ends, in this order: where nothing that is left out can better the plan; where there
        are too many edges and there is a plan, or no more are allowed; where every plan costs
        more than it may.
        """
        limit = 2 * MARGIN
        allowed = EXPANDED
        priced = -1
        while True:
            left_out = self._regress(edges, limit, allowed)
            if self._expansions > priced:
                self._price(whole=False)
                priced = self._expansions
            if left_out is LeftOut.TO_BE_PRICED:
                continue
            cost = self._costs.get(GOAL, inf)
            if left_out is LeftOut.NOTHING or self._is_best(cost, edges, limit):
                return Reached(cost < inf)
            if left_out is LeftOut.TOO_MANY:
                if cost < inf or allowed >= EXPANDED * FURTHER:
                    return Reached(cost < inf, cut=True)
                allowed *= 2
            elif self._is_too_dear(cost, edges, limit):
                return Reached(False, given_up=True)
            else:
                limit = self._next_limit(limit, cost)

    def _next_limit(self, limit: float, cost: float) -> float:
        """The next limit to what is looked at, where the best plan so far costs so much: half as
        much again, but no more than can matter, and not past what a plan may cost at one go.
        """
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
            if self._expansions > allowed:
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
        self._edges[fact] = self._edges_to(fact, spend)
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

    def _edges_to(self, fact: Fact, spend: float) -> Sequence[Edge]:
        """The edges to a fact that does not hold, by ways that cost less than may be spent."""
        had = self._found_before(fact)
        if had.left_out >= spend:
            return had.edges
        return self._find_edges(fact, had, spend)

    def _found_before(self, fact: Fact) -> Found:
        """The edges to a fact that were found in this situation, or in an earlier step if they
        rest on nothing that changed.
        """
        if fact in self._found:
            return self._found[fact]
        kept = self._expanded.get(fact)
        if kept is None or not self._stands(kept.read.items()):
            return _NOTHING
        self._found[fact] = kept
        return kept

    def _find_edges(self, fact: Fact, had: Found, spend: float) -> Sequence[Edge]:
        """The edges that were found before and the dearer ones that may be spent on now, which
        are kept.

        `_read` collects every answer that is asked for meanwhile, since the edges stand as long
        as these do; `_beyond`, the cost of the cheapest way that is left out.
        """
        self._read = dict(had.read)
        self._beyond = inf
        found = list(had.edges)
        if fact.predicate == SEEN:
            found += [Edge(fact, (one,), 0.0) for one in self._glimpses(fact.args[0])]
        elif fact.alternatives:
            found += [Edge(fact, (one,), 0.0) for one in fact.alternatives]
        else:
            found += self._possible_edges(fact, had, spend)
        self._keep_found(fact, found)
        self._read = {}  # later questions do not concern this fact
        return found

    def _keep_found(self, fact: Fact, found: Sequence[Edge]) -> None:
        """Keep the edges to a fact, for the next step too if they rest on facts and names alone.

        Where lines may be doubted, the names that fill each way are kept instead.
        """
        if self._doubting:
            self._found[fact] = Found(found, read={}, left_out=self._beyond, asked=frozenset())
            return
        asked = asked_about(self._read, fact.args)
        kept = Found(found, read=self._read, left_out=self._beyond, asked=asked)
        self._found[fact] = kept
        if None not in self._read:
            self._expanded[fact] = kept

    def _possible_edges(self, fact: Fact, had: Found, spend: float) -> list[Edge]:
        """The edges to a fact that does not hold, by ways that cost less than may be spent and
        were left out before: to find out whether it holds, to make it so, or to make it so of
        something in the same place.
        """
        since = had.left_out
        edges: list[Edge] = []
        if self._truth(fact) is None and not (fact.makeable and self._can_make(fact)):
            edges += self._by_looking(fact, since, spend)
        if not fact.makeable:
            return edges
        edges += self._by_making(fact, since, spend)
        companion = self._index.companions.get(fact.predicate)
        if companion is None or fact.negated:
            return edges
        is_direct = any(map(_is_direct, had.edges)) or any(map(_is_direct, edges))
        if not is_direct:
            edges += self._by_companion(companion, fact, since, spend)
        return edges

    def _by_looking(self, fact: Fact, since: float, spend: float) -> list[Edge]:
        """Ways to see whether a fact holds, dearer the less likely its place is."""
        edges: list[Edge] = []
        price = SEARCH + FURTHER_DOWN * self._rank(fact.args)
        revealers = self._index.revealers.get(fact.predicate, ())
        for way in self._affordable(revealers, since, spend):
            edges += self._ground(way, fact, price)
        return edges

    def _by_making(self, fact: Fact, since: float, spend: float) -> list[Edge]:
        """Ways to make a fact so."""
        edges: list[Edge] = []
        makers = self._index.makers(fact.predicate, fact.negated)
        for way in self._affordable(makers, since, spend):
            if not way.circular:
                edges += self._ground(way, fact)
        return edges

    def _affordable(
        self, achievers: Iterable[Achiever], since: float, spend: float
    ) -> Iterator[Achiever]:
        """Ways that cost less than may be spent and no less than `since`: cheaper ones were
        found before. The cost of the cheapest that is too dear is noted.
        """
        for way in achievers:
            if since <= way.schema.steps < spend:
                yield way
            elif way.schema.steps >= spend:
                self._beyond = min(self._beyond, way.schema.steps)

    def _by_companion(
        self, companion: str, fact: Fact, since: float, spend: float
    ) -> Iterator[Edge]:
        """Being at one thing is being at all that is in the same place: ways there by another
        name.
        """
        together = self._index.together[companion]
        for way in self._affordable(self._index.makers(fact.predicate), since, spend):
            for one in self._beside(companion, fact, way):
                judged = self._judge(together, {"one": one, "other": fact.args[0]})
                if judged.possible is False:
                    continue
                if judged.left is not None:
                    # To find out is to be there.
                    yield Edge(fact, (judged.left,), judged.price)
                    continue
                for edge in self._ground(way, fact._replace(args=(one,)), judged.price):
                    edge.fact = fact
                    yield edge

    def _beside(self, companion: str, fact: Fact, way: Achiever) -> Sequence[str]:
        """Names that a way leads to in the same place as a fact's thing; all that it leads to
        where none is known to be there.
        """
        (role,) = way.fact.args
        names = self._called(role)
        beside = [name for name in names if self._value(companion, (name, *fact.args))]
        return beside or names

    def _ground(self, way: Achiever, fact: Fact, price: float = 0.0) -> list[Edge]:
        """A way to a fact, once for each choice of names, without what is barred; a doubt only
        for a few choices.

        Its cost: the action's steps, the look, what is granted.
        """
        schema = way.schema
        price += schema.steps
        may_be_barred = self._may_be_barred(schema)
        edges: list[Edge] = []
        for filled in self._to_choose_from(way, fact.args):
            if schema.once and self._is_spent(schema, filled.binding):
                continue
            cost = price + filled.price
            edge = Edge(fact, filled.needs, cost, schema, way.reveals, filled.binding)
            if may_be_barred and self._is_barred(edge, schema):
                continue
            edges.append(self._finding(edge))
            if schema.doubt and len(edges) == CHOICES:
                break
        self._expansions += 1 + len(edges)
        return edges

    def _to_choose_from(self, way: Achiever, args: tuple[str, ...]) -> Sequence[Filled]:
        """The choices of names for a way to a fact over some names; for a doubt, those first
        with which least is left to do.
        """
        filled = self._filled(way, args)
        if way.schema.doubt and len(filled) > CHOICES:
            return sorted(filled, key=_left_to_do)
        return filled

    def _filled(self, way: Achiever, args: tuple[str, ...]) -> Sequence[Filled]:
        """Every choice of names for a way to a fact over some names.

        Doubts repeat the actions that they are made of, at other prices, and are made anew when
        trust changes: their choices are kept by shape.
        """
        if not self._doubting:
            return self._fill_for(way, args)
        key = (way.shape, args)
        fills = self._known_names.fills
        kept = fills.get(key)
        if kept is not None and kept.moment == self._moment:
            return kept.filled
        if kept is not None and self._stands(kept.read.items()):
            fills[key] = kept._replace(moment=self._moment)
            return kept.filled
        outer = self._read
        self._read = {}
        filled = self._fill_for(way, args)
        fills[key] = Fill(filled, self._read, asked_about(self._read, args), self._moment)
        self._read = outer
        return filled

    def _fill_for(self, way: Achiever, args: tuple[str, ...]) -> Sequence[Filled]:
        """Every choice of names for a way to a fact over some names; none if it is no way to it."""
        binding: dict[str, str] = {}
        for parameter, name in zip(way.fact.args, args, strict=True):
            if parameter == ANYTHING:
                continue
            if parameter not in way.parameters:
                # The effect is about a thing that the manual names.
                if kind_of(name) != parameter:
                    return ()
            elif binding.setdefault(parameter, name) != name or not self._suits(parameter, name):
                return ()
        return self._fill(way, binding)

    def _glimpses(self, thing: str) -> Sequence[Fact]:
        """All that nobody knows of a thing and that some action shows.

        Of whatever may be found (`UNSEEN`): looks that may show something new, and facts about no
        thing. Facts about known things are what plans for the goal look at themselves, so they
        come in where there is nothing else.
        """
        about: dict[Fact, None] = {}
        others: dict[Fact, None] = {}
        for way in self._ways_to_see(thing):
            for fact in self._unknown_of(way, thing):
                is_about = thing in fact.args or (thing == UNSEEN and not fact.args)
                kind = about if is_about else others
                kind[fact] = None
        if about or thing != UNSEEN:
            return tuple(about)
        return tuple(others)

    def _ways_to_see(self, thing: str) -> Iterator[Achiever]:
        """Actions that may show something of a thing: being together never says where it is."""
        for predicate, revealers in self._index.revealers.items():
            if thing == UNSEEN or predicate not in self._index.together:
                yield from revealers

    def _unknown_of(self, way: Achiever, thing: str) -> Iterator[Fact]:
        """Facts that a way shows and nobody knows, with a thing for what it leaves open."""
        free = [name for name in way.fact.args if name != ANYTHING]
        for chosen in product(*map(self._called, free)):
            binding = dict(zip(free, chosen, strict=True))
            args = tuple(binding.get(arg, thing) for arg in way.fact.args)
            fact = way.fact._replace(args=args, makeable=False)
            if self._truth(fact) is None:
                yield fact

    def _finding(self, edge: Edge) -> Edge:
        """Add to an edge the need to find each unseen thing (`lamp ?`) that it names and none
        of its needs is about.
        """
        names = edge.binding.values()
        if "?" not in "".join(names):
            return edge  # as most are: one look at all names is the fastest
        for name in names:
            if not name.endswith("?") or name not in edge.named:
                continue
            if not any(name in need.args for need in edge.needs):
                edge.needs = (Fact(SEEN, (name,)), *edge.needs)
        return edge

    def _is_barred(self, edge: Edge, schema: ActionSchema) -> bool:
        """True if a command was refused, or showed nothing, where all was as the needs of an
        edge, by some action, will make it.
        """
        barred = self._index.rules.barred
        if edge.command in barred and self._is_idle_or_as_then(barred[edge.command], edge.needs):
            return True
        if not edge.reveals:
            return False
        shown = (edge.command, edge.fact.predicate, edge.fact.args)
        if shown not in barred:
            return False
        positional = self._index.positional
        moves = any(effect.atom.predicate in positional for effect in schema.effects)
        return self._as_then(barred[shown], edge.needs, moving=moves)

    def _is_idle_or_as_then(self, then: Surroundings | None, needs: Sequence[Fact]) -> bool:
        """True if all will be as when a command was refused, once some needs are met.

        An idle command, which led back to this very state, has no such time (None): it is barred
        unless something is to be done first.
        """
        if then is None:
            return not needs
        return self._as_then(then, needs)

    def _may_be_barred(self, schema: ActionSchema) -> bool:
        """True if some barred command begins as an action's do: most actions have none."""
        barred = self._index.rules.barred
        if not barred:
            return False
        begins = schema.pieces[0]
        if begins not in self._barred:
            commands = [key if isinstance(key, str) else key[0] for key in barred]
            self._barred[begins] = any(command.startswith(begins) for command in commands)
        return self._barred[begins]

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
        least = inf
        heap = [_Before(0.0, next(number), GOAL, ())]
        reached: set[Fact] = set()
        begun: dict[str, _Begun] = {}
        while heap:
            at = heappop(heap)
            if self._best and at.regret > least:
                break
            if at.fact in reached:
                continue
            reached.add(at.fact)
            for edge, regret in self._priced_edges(at):
                if edge.needs:
                    first = self._first(edge)
                    if first not in reached:
                        chain = at.chain_from(edge)
                        heappush(heap, _Before(regret, next(number), first, chain))
                elif _can_be_done(edge):
                    known = begun.get(edge.command)
                    if known is None or regret < known.regret:
                        begun[edge.command] = _Begun(regret, at.chain_from(edge))
                        least = min(least, regret)
        return begun

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
