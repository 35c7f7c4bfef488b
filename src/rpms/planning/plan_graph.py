"""Plans for one situation: for the goal, for what an action lacks, or to find out anything."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import NamedTuple, Self

from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Truth
from rpms.logic.rules import ANYTHING, Purpose
from rpms.paper.progress import Demands, Want
from rpms.planning.achievers import Achievers
from rpms.planning.commands_refused import Barred
from rpms.planning.edges import GOAL, UNSEEN, Edge, Link, Option
from rpms.planning.effort import Effort
from rpms.planning.search import Search
from rpms.planning.wanted_facts import Fact, Judged, Need
from rpms.planning.ways import NOTHING_BARRED, Ways
from rpms.planning.whereabouts import Order


@dataclass(frozen=True, slots=True)
class Plan:
    """Options, best first."""

    options: tuple[Option, ...] = ()
    cost: float = inf
    imagined: bool = False
    """True if it needs other things than the known ones, of which none will do."""
    opened: bool = False
    """True if no plan is left that trusts the manual, so that the choice is open to more."""
    searching: bool = False
    """True if nothing known leads to the goal, and something that nobody has seen yet might."""
    cut: bool = False
    """True if there were too many doubts to weigh them all: there may be a cheaper plan."""
    nowhere: tuple[str, ...] = ()
    """Kinds of things that the goal needs and that are in none of the places, all of which were
    searched, where no look is left that may show anything new: nothing is left to do for it but
    to doubt further how such a thing is made."""
    tried_all: bool = False
    """True if there is no plan, and in the step before there was none either."""

    @property
    def stranded(self) -> bool:
        """True if neither the manual nor anything left to look at leads to the goal."""
        return self.opened or (self.cost == inf and not self.searching)

    def respelled(self, spell: Callable[[str], str], failed: Container[str]) -> Self:
        """The same plan with commands as a game wants them written, and what just failed after
        all else.
        """
        options = [option.spelled(spell) for option in self.options]
        return self.offering(sorted(options, key=lambda option: option.command in failed))

    def offering(self, options: Iterable[Option]) -> Self:
        """The same plan with other options."""
        offered = tuple(options)
        return self if offered == self.options else replace(self, options=offered)

    def keeping(self, options: Sequence[Option]) -> Self:
        """The same plan with some of its options; the first of these is the best one now."""
        if not options or not options[0].regret:
            return self.offering(options)
        more = options[0].regret
        kept: list[Option] = []
        for option in options:
            regret = option.regret - more
            kept.append(Option(option.command, regret, option.chain, option.evidence))
        return replace(self, options=tuple(kept), cost=self.cost + more)


class Remedy(NamedTuple):
    """Help for an action that cannot be done."""

    command: str = ""
    """The first command: `open drawer 3`; empty if nothing helps."""
    fact: Atom | None = None
    """Its purpose, or if nothing helps, the fact that rules the action out for good."""
    after: tuple[str, ...] = ()
    """The following commands, as far as they can be predicted before the first step."""


def left_of(judged: Iterable[Judged]) -> tuple[Fact, ...]:
    """The facts that judged needs leave to be achieved."""
    return tuple([one.left for one in judged if one.left is not None])


class Graph:
    """The actions that matter in one situation, from the goal down to what can be done now.

    Three objects do the work: `Demands` says what a purpose wants, `Ways` finds the actions that
    bring a fact about, and `Search` what they cost together.
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
        self._ways = Ways(achievers, situation, order, effort=effort, best=best, barred=barred)
        self._demands = Demands(situation, self._ways.holds)
        self._search = Search(self._ways)
        self._planned_for: Sequence[tuple[Purpose, float]] | None = None
        """The purposes that were planned for last."""
        self._ends: dict[bool, list[Edge]] = {}
        """What is left to do for them, with known things and with others too: a plan at another
        price asks again."""

    def serves(self, situation: Situation, order: Order, effort: Effort | None) -> bool:
        """True if what was found holds in a situation too, and more counts as the same effort."""
        return self._ways.serves(situation, order, effort)

    def bar(self, barred: Barred) -> None:
        """Leave out other commands than before."""
        if self._ways.bar(barred):
            self._search.begin_anew()

    def plan(self, purposes: Sequence[tuple[Purpose, float]], most: float = inf) -> Plan:
        """Plan for one of several purposes, each with its price, if that costs no more than
        `most`: with known things, or else with things that nobody has seen.
        """
        if self._planned_for is not purposes:
            self._planned_for = purposes
            self._ends = {}
        cut = False
        for imagined in (False, True):
            reached = self._search.reaches(self._ends_of(purposes, imagined=imagined), most)
            cut = cut or reached.cut
            if reached.found:
                return Plan(self._search.options(), self._search.cost_of_goal, imagined, cut=cut)
            if reached.given_up:
                break
        return Plan(cut=cut)

    def _ends_of(self, purposes: Sequence[tuple[Purpose, float]], *, imagined: bool) -> list[Edge]:
        """What is left to do for the purposes that are planned for, found once."""
        if imagined not in self._ends:
            self._ends[imagined] = self._furthest_edges(purposes, imagined=imagined)
        return self._ends[imagined]

    def _furthest_edges(
        self, purposes: Sequence[tuple[Purpose, float]], *, imagined: bool
    ) -> list[Edge]:
        """What is left to do for each purpose and choice of things, where most stages are
        behind; without what cannot be had.
        """
        edges: list[Edge] = []
        furthest = 0
        for purpose, price in purposes:
            for binding in self._demands.bindings(purpose, imagined=imagined):
                self._ways.effort.spent += 1
                stages, wanted = self._demands.remaining(purpose, binding)
                edge = self._edge_to(wanted, price)
                if edge is None or stages < furthest:
                    continue
                if stages > furthest:
                    furthest = stages
                    edges = []
                edges.append(edge)
        return edges

    def remedy(
        self, needs: Sequence[Need], binding: Mapping[str, str], *, explained: bool
    ) -> Remedy:
        """The first step towards making all the needs hold. Searching elsewhere is no remedy."""
        in_order = sorted(needs, key=lambda need: need.moving)
        wanted = [self._ways.judge(need, binding) for need in in_order]
        possible = all(one.possible is not False for one in wanted)
        if not possible and not explained:
            return Remedy()
        reached = self._search.reaches([Edge(GOAL, left_of(wanted), 0.0)])
        if reached.found and possible:
            options = self._search.options()
            if options:
                return self._remedy_of(options[0].chain, binding)
        if not explained:
            return Remedy()
        # The prices just found explain what stands against it.
        return Remedy("", self._obstacle(needs, binding, frozenset()))

    def _remedy_of(self, chain: Sequence[Link], binding: Mapping[str, str]) -> Remedy:
        """A plan as a remedy; without a command where it begins with a look at other things."""
        first = chain[0]
        served = chain[-1].fact.atom
        if not first.reveals:
            return Remedy(first.command, served, tuple(link.command for link in chain[1:]))
        instance = self._ways.index.rules.instance(first.command)
        names = set(instance.binding.values()) if instance is not None else None
        elsewhere = names is not None and names.isdisjoint(binding.values())
        return Remedy("" if elsewhere else first.command, served)

    def _obstacle(
        self, needs: Iterable[Need], binding: Mapping[str, str], above: frozenset[Fact]
    ) -> Atom | None:
        """The missing fact that blocks an action for good; a missing place comes before things
        to do there.
        """
        for need in needs:
            if not need.names.issubset(binding):
                continue
            judged = self._ways.judge(need, binding)
            if judged.possible is False:
                # A ban in every state is for want of no fact.
                lacking = self._fixed(need) or next(iter(need.literals), None)
                return lacking.bound(binding).atom if lacking is not None else None
            fact = judged.left
            if fact is None or fact in above or self._search.can_be_had(fact):
                continue
            found = self._obstacle_to(need, binding, fact, above)
            if found is not None:
                return found
        return None

    def _obstacle_to(
        self, need: Need, binding: Mapping[str, str], fact: Fact, above: frozenset[Fact]
    ) -> Atom | None:
        """The missing fact that blocks a need which has no price: one of its own that no action
        changes, one further down, or the fact itself where the action is asked about.
        """
        fixed = self._fixed(need)
        if fixed is not None:
            return fixed.bound(binding).atom
        either = fact.alternatives or (fact,)
        deeper = self._obstacle_before(either, above | {fact})
        if deeper is not None or above:
            return deeper
        return either[0].atom

    def _obstacle_before(self, facts: Iterable[Fact], above: frozenset[Fact]) -> Atom | None:
        """The fact that blocks every way to some facts: in principle, with the names that these
        have, whether the way can be gone or not.
        """
        for fact in facts:
            for way in self._ways.index.makers(fact.predicate, fact.negated):
                if not all(map(self._ways.suits, way.fact.args, fact.args)):
                    continue
                bound = dict(zip(way.fact.args, fact.args, strict=True))
                deeper = self._obstacle(way.needs, bound, above)
                if deeper is not None:
                    return deeper
        return None

    def _fixed(self, need: Need) -> Fact | None:
        """Of facts of which one would do, one that no action changes."""
        makers = self._ways.index.makers
        return next(
            (fact for fact in need.literals if not makers(fact.predicate, fact.negated)), None
        )

    def first_things(self, most: float = inf) -> tuple[Option, ...]:
        """Actions that restore the facts without which nothing else can be done, if that costs no
        more than `most`; empty if they hold.
        """
        always = self._ways.index.rules.lore.always
        situation = self._ways.situation
        broken = [Want(clause, {}) for clause in always if clause.truth(situation) is Truth.FALSE]
        edge = self._edge_to(broken, 0.0) if broken else None
        if edge is None or not self._search.reaches([edge], most).found:
            return ()
        return self._search.options()

    def is_nowhere(self, thing: str) -> bool:
        """True if a thing is known to be in none of the places where looking would show it."""
        return bool(self._ways.index.sights) and not self._ways.looks.at(thing)

    def tells_of_more(self) -> bool:
        """True if there are looks that show things which nobody has seen yet, here or elsewhere,
        done or not.
        """
        together = self._ways.index.together
        for predicate, sights in self._ways.index.sights.items():
            if predicate not in together and any(ANYTHING in sight.args for sight in sights):
                return True
        return False

    def may_show_more(self) -> bool:
        """True if a look may show something that nobody has seen yet."""
        return any(UNSEEN in fact.args for fact in self._looks)

    @cached_property
    def _looks(self) -> Sequence[Fact]:
        """All that looking may tell of things that nobody has seen."""
        return self._ways.looks.at(UNSEEN)

    def explore(self, sought: Sequence[str], most: float = inf) -> Plan:
        """Find out whatever is unknown of what is sought, if that costs no more than `most`: for
        when no way to the goal is known.
        """
        self._search.allow_as_much_again()
        edges: list[Edge] = []
        for thing in sought:
            looks = self._looks if thing == UNSEEN else self._ways.looks.at(thing)
            edges += [Edge(GOAL, (fact,), 0.0) for fact in looks]
        reached = self._search.reaches(edges, most)
        return Plan(self._search.options() if reached.found else (), cut=reached.cut)

    def _edge_to(self, wanted: Iterable[Want], cost: float) -> Edge | None:
        """One way to reach the goal: what is left to be done, in order."""
        needs: dict[Fact, None] = {}
        for want in wanted:
            judged = self._ways.judge_wanted(*want)
            if judged.possible is False:
                return None
            cost += judged.price
            if judged.left is not None:
                needs[judged.left] = None
        return Edge(GOAL, tuple(needs), cost)
