"""The ways to one fact: the actions that make it so or show it, each choice of names an edge.

What was found in an earlier step is kept as long as the answers that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from operator import attrgetter

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import is_unseen, kind_of
from rpms.logic.rules import ANYTHING
from rpms.planning.achievers import Achievers
from rpms.planning.barred_commands import BarredCommands, commands_barred_otherwise
from rpms.planning.commands_refused import Barred
from rpms.planning.edges import Edge
from rpms.planning.effort import Effort
from rpms.planning.filling import Filled, Filling
from rpms.planning.kept_answers import Expanded, Fill, Found, Grounded, asked_about
from rpms.planning.looks import Looks
from rpms.planning.lower_bounds import WaysFound
from rpms.planning.wanted_facts import Achiever, Fact, Offer
from rpms.planning.whereabouts import Order

SEEN = "<seen>"
"""Predicate of what has to be found before anything is done to it. Brackets keep it and the goal
apart from predicates of a manual, which cannot have any."""
CHOICES = 4
"""Choices of names with which one doubt is considered for a fact. It asks whether an action works
against a line, and any things that the fact leaves open will tell: those that need least."""
SEARCH = 2.0
"""Steps that a look costs beyond the way there, since it may find nothing."""
FURTHER_DOWN = 2.0
"""Steps that one place further down in the order of likely places counts."""
NOTHING_BARRED: Barred = {}
"""No command is to be left out."""
_GROUNDS_KEPT = 20_000
"""Ways to facts that are kept with their edges where lines may be doubted."""
_left_to_do = attrgetter("left", "price")
"""The number of needs that some names leave to be seen to, and the price of what is granted."""
_NO_WAYS = Offer()
_NOTHING = Found(edges=(), read={}, left_out=-inf, asked=frozenset())


def _is_direct(edge: Edge) -> bool:
    """True if an action with known things makes the fact so."""
    if edge.schema is None or edge.reveals:
        return False
    return not is_unseen(edge.binding.values())


class Ways(Filling):
    """The edges to facts in one situation."""

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
        self.effort = effort if effort is not None else Effort()
        self.best = best
        self._doubting = achievers.shares
        super().__init__(achievers, situation, order)
        self.order = order
        self._found: dict[Fact, Found] = {}
        """The edges found in this situation, with the cost from which on others were left out."""
        self._beyond = inf
        """Cost of the cheapest way that cost more than might be spent."""
        self._left_out = BarredCommands(self, barred)
        """The commands that no edge is to give."""
        self.looks = Looks(self, self._left_to_see)
        """What looking may tell."""
        kept = self._edges_of_earlier_steps()
        self._expanded: dict[Fact, Found] = {} if self._doubting else kept
        """The edges found in any step that rest on facts and names alone."""

    def _edges_of_earlier_steps(self) -> dict[Fact, Found]:
        """Edges kept for the same goal and order of places; for others all is forgotten."""
        known = self.known_names
        if known.expanded.ranks is not self._rank:
            known.expanded = Expanded(self._rank, {}, {})
            known.fills = {}
            self._fills_standing.clear()
        return known.expanded.best if self.best else known.expanded.every

    def serves(self, situation: Situation, order: Order, effort: Effort | None) -> bool:
        """True if what was found holds in a situation too: it is the same one, and what more is
        found counts as part of the same effort, if it is counted.
        """
        mine = self.situation
        return (
            (effort is None or effort is self.effort)
            and mine.belief is situation.belief
            and mine.goal is situation.goal
            and mine.past == situation.past
            and (self.order is order or self.order == order)
        )

    def bar(self, barred: Barred) -> bool:
        """Leave out other commands than before, and find the ways to facts anew that these give;
        False if they are the same.
        """
        before = self._left_out.barred
        if before == barred:
            return False
        changed = commands_barred_otherwise(before, barred)
        for fact, found in list(self._found.items()):
            if any(edge.command in changed for edge in found.edges):
                del self._found[fact]
        self._left_out = BarredCommands(self, barred)
        return True

    def edges_to(self, fact: Fact, spend: float = inf) -> Sequence[Edge]:
        """The edges to a fact that does not hold, by ways that cost less than may be spent."""
        had = self._found_before(fact)
        if had.left_out >= spend:
            return had.edges
        return self._find_edges(fact, had, spend)

    def ways_found(self, fact: Fact, spend: float) -> WaysFound:
        """The same with the least that any other way costs."""
        edges = self.edges_to(fact, spend)
        return WaysFound(edges, self._found[fact].left_out)

    def least_price(self, fact: Fact) -> float:
        """The least that a way to a fact that does not hold can cost."""
        if fact.predicate == SEEN or fact.alternatives:
            return 0.0
        least = inf
        revealers = self.index.revealers.get(fact.predicate)
        if revealers is not None:
            least = self._price_of_look(fact) + revealers.least_from(0.0)
        if fact.makeable:
            makers = self.index.makers(fact.predicate, fact.negated)
            least = min(least, makers.least_from(0.0))
        return least

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
            found += [Edge(fact, (one,), 0.0) for one in self.looks.at(fact.args[0])]
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
        if self.truth(fact) is None and not self._is_makeable(fact, revealable=True):
            edges += self._by_looking(fact, since, spend)
        if not fact.makeable:
            return edges
        edges += self._by_making(fact, since, spend)
        companion = self.index.companions.get(fact.predicate)
        if companion is None or fact.negated:
            return edges
        is_direct = any(map(_is_direct, had.edges)) or any(map(_is_direct, edges))
        if not is_direct:
            edges += self._by_companion(companion, fact, since, spend)
        return edges

    def _by_looking(self, fact: Fact, since: float, spend: float) -> list[Edge]:
        """Ways to see whether a fact holds, dearer the less likely its place is."""
        edges: list[Edge] = []
        price = self._price_of_look(fact)
        revealers = self.index.revealers.get(fact.predicate, _NO_WAYS)
        for way in self._affordable(revealers, since, spend):
            edges += self._ground(way, fact, price)
        return edges

    def _price_of_look(self, fact: Fact) -> float:
        """Steps that a look for a fact costs beyond the action."""
        return SEARCH + FURTHER_DOWN * self._rank(fact.args)

    def _left_to_see(self, fact: Fact) -> float:
        """The least number of needs that an action which shows a fact leaves to be seen to."""
        return min([len(edge.needs) for edge in self.edges_to(fact)], default=inf)

    def _by_making(self, fact: Fact, since: float, spend: float) -> list[Edge]:
        """Ways to make a fact so."""
        edges: list[Edge] = []
        makers = self.index.makers(fact.predicate, fact.negated)
        for way in self._affordable(makers, since, spend):
            if not way.circular:
                edges += self._ground(way, fact)
        return edges

    def _affordable(self, offer: Offer, since: float, spend: float) -> Sequence[Achiever]:
        """Ways that cost less than may be spent and no less than `since`: cheaper ones were
        found before. The cost of the cheapest that is too dear is noted.
        """
        self._beyond = min(self._beyond, offer.least_from(spend))
        return offer.between(since, spend)

    def _by_companion(
        self, companion: str, fact: Fact, since: float, spend: float
    ) -> Iterator[Edge]:
        """Being at one thing is being at all that is in the same place: ways there by another
        name.
        """
        together = self.index.together[companion]
        for way in self._affordable(self.index.makers(fact.predicate), since, spend):
            for one in self._beside(companion, fact, way):
                judged = self.judge(together, {"one": one, "other": fact.args[0]})
                if judged.possible is False:
                    continue
                if judged.left is not None:
                    # To find out is to be there.
                    yield Edge(fact, (judged.left,), judged.price)
                    continue
                for edge in self._ground(way, fact._replace(args=(one,)), judged.price):
                    yield replace(edge, fact=fact)

    def _beside(self, companion: str, fact: Fact, way: Achiever) -> Sequence[str]:
        """Names that a way leads to in the same place as a fact's thing; all that it leads to
        where none is known to be there.
        """
        (role,) = way.fact.args
        names = self.called(role)
        beside = [name for name in names if self._value(companion, (name, *fact.args))]
        return beside or names

    def _ground(self, way: Achiever, fact: Fact, price: float = 0.0) -> list[Edge]:
        """A way to a fact, once for each choice of names, without what is barred; a doubt only
        for a few choices.

        Its cost: the action's steps, the look, what is granted.
        """
        filled = self._filled(way, fact.args)
        if not self._doubting:
            edges = [self._edge(way, fact, price, one) for one in filled]
            edges = self._without_left_out(edges, way.schema)
        elif way.schema.doubt:
            edges = self._first_edges(way, fact, price, filled)
        else:
            edges = self._without_left_out(self._edges_kept(way, fact, price, filled), way.schema)
        self.effort.spent += 1 + len(edges)
        return edges

    def _first_edges(
        self, way: Achiever, fact: Fact, price: float, filled: Sequence[Filled]
    ) -> list[Edge]:
        """The first edges of a doubt that are not left out: those with which least is left to do.

        Only as many are made as are asked for, here and in the next steps.
        """
        if not filled:
            return []
        kept = self._grounded(way, fact, price, filled)
        schema = way.schema
        may_leave_out = bool(schema.once) or self._left_out.may_have(schema)
        edges: list[Edge] = []
        for place, one in enumerate(kept.ordered):
            if place == len(kept.edges):
                kept.edges.append(self._edge(way, fact, price, one))
            edge = kept.edges[place]
            if may_leave_out and self._is_left_out(edge, schema):
                continue
            edges.append(edge)
            if len(edges) == CHOICES:
                break
        return edges

    def _without_left_out(self, edges: list[Edge], schema: ActionSchema) -> list[Edge]:
        """The edges of an action that are not left out."""
        if schema.once or self._left_out.may_have(schema):
            return [edge for edge in edges if not self._is_left_out(edge, schema)]
        return edges

    def _is_left_out(self, edge: Edge, schema: ActionSchema) -> bool:
        """True if an action is not to be done again with the names of an edge."""
        if schema.once and self._is_spent(schema, edge.binding):
            return True
        if not self._left_out.may_have(schema):
            return False
        self._read[None] = True  # rests on more than facts and names
        return self._left_out.has(edge, schema)

    def _edge(self, way: Achiever, fact: Fact, price: float, filled: Filled) -> Edge:
        """A way to a fact with some names."""
        cost = price + way.schema.steps + filled.price
        binding = filled.binding
        edge = Edge(fact, filled.needs, cost, way.schema, way.reveals, binding)
        if "?" in "".join(binding.values()):  # few are: one look at all names is the fastest
            self._add_finding(edge)
        return edge

    def _edges_kept(
        self, way: Achiever, fact: Fact, price: float, filled: Sequence[Filled]
    ) -> list[Edge]:
        """The edges of a stated way, as made before from the same choices of names."""
        if not filled:
            return []
        kept = self._grounded(way, fact, price, filled)
        if not kept.edges:
            kept.edges.extend([self._edge(way, fact, price, one) for one in filled])
        return kept.edges

    def _grounded(
        self, way: Achiever, fact: Fact, price: float, filled: Sequence[Filled]
    ) -> Grounded:
        """A way to a fact with the edges that were made so far from the same choices of names."""
        grounds = self.index.groundwork.grounds
        key = (id(way), fact, price)
        kept = grounds.get(key)
        if kept is not None and kept.way is way and kept.filled is filled:
            return kept
        if len(grounds) >= _GROUNDS_KEPT:
            grounds.clear()
        ordered = filled
        if way.schema.doubt and len(filled) > CHOICES:
            ordered = sorted(filled, key=_left_to_do)
        kept = grounds[key] = Grounded(way, filled, ordered, [])
        return kept

    def _filled(self, way: Achiever, args: tuple[str, ...]) -> Sequence[Filled]:
        """Every choice of names for a way to a fact over some names, as found before where that
        still stands.

        Doubts repeat the actions that they are made of, at other prices, and are made anew when
        trust changes; and a look into a room shows all that may be there: their choices are kept,
        by shape. Of other ways the edges are kept.
        """
        shown = way.fact.args
        if ANYTHING in shown:
            args = tuple(
                [
                    ANYTHING if role == ANYTHING else name
                    for role, name in zip(shown, args, strict=True)
                ]
            )
        elif not self._doubting:
            return self._fill_for(way, args)
        fill = self._fill_kept(way, args)
        if not self._doubting:
            self._read.update(fill.read)
        return fill.filled

    def _fill_kept(self, way: Achiever, args: tuple[str, ...]) -> Fill:
        """The names that fill a way's parameters for a fact over some names, with the answers that
        say so.

        What was found in this step stands, and what was found in an earlier one as long as these
        answers are the same.
        """
        key = (way.shape, self.best, args)
        if key in self._fills_standing:
            return self._fills_standing[key]
        fills = self.known_names.fills
        kept = fills.get(key)
        if kept is None or not self._stands(kept.read.items()):
            filled, read = self._noting_answers(lambda: self._fill_for(way, args))
            kept = fills[key] = Fill(filled, read, asked_about(read, args))
        self._fills_standing[key] = kept
        return kept

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
            elif binding.setdefault(parameter, name) != name or not self.suits(parameter, name):
                return ()
        return self._fill(way, binding)

    def _add_finding(self, edge: Edge) -> None:
        """Add to an edge the need to find each unseen thing (`lamp ?`) that it names and none
        of its needs is about.
        """
        for name in edge.binding.values():
            if not name.endswith("?") or name not in edge.named:
                continue
            if not any(name in need.args for need in edge.needs):
                edge.needs = (Fact(SEEN, (name,)), *edge.needs)
