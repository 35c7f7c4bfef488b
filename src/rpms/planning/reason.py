"""Plans over the manual: the actions possible now, each with its purpose.

The manual is a planning domain. `progress` says what a goal asks for, `search` finds the actions
that lead there and their cost. A known fact costs nothing, an unknown one costs looking or is
assumed at a price; only a false fact that no action changes makes a plan impossible. No simulator
is asked.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf
from typing import NamedTuple, Self

from rpms.logic.achievers import (
    Achiever,
    Achievers,
    Fact,
    Judged,
    KnownNames,
    Need,
    achievers_of,
    command_of,
    fact_of,
)
from rpms.logic.actions import Instance, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Truth
from rpms.logic.rules import ANYTHING, ActiveRules, Purpose, kept_with_rules
from rpms.paper.progress import Want
from rpms.planning.search import GOAL, UNSEEN, Edge, Link, Option, Priced
from rpms.planning.whereabouts import Order, Whereabouts, likely_places


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
        return replace(self, options=tuple(options))


class Remedy(NamedTuple):
    """Help for an action that cannot be done."""

    command: str = ""
    """The first command: `open drawer 3`; empty if nothing helps."""
    fact: Atom | None = None
    """Its purpose, or if nothing helps, the fact that rules the action out for good."""
    after: tuple[str, ...] = ()
    """The following commands, as far as they can be predicted before the first step."""


def _left_of(judged: Iterable[Judged]) -> tuple[Fact, ...]:
    """The facts that judged needs leave to be achieved."""
    return tuple([one.left for one in judged if one.left is not None])


class Impasse(Priced):
    """A situation in which no plan reaches the goal, and why: the need at the end of the chain,
    and what it lacks.
    """

    def explain(self, purpose: Purpose) -> str:
        """The first need that cannot be met, behind what it is for: `a ← action: reason`;
        nothing if all can be.
        """
        for imagined in (False, True):
            for binding in self.bindings(purpose, self._situation.goal, imagined=imagined):
                _, wanted = self.left(purpose, binding)
                reason = self._why_not(wanted)
                if reason:
                    return reason
        return ""

    def _why_not(self, wanted: Sequence[Want]) -> str:
        """Why the first want that cannot be had cannot; nothing if all can be."""
        judged = [self._judge(want.need, want.binding) for want in wanted]
        self._regress_all([Edge(GOAL, _left_of(judged), 0.0)])
        self._price()
        for want, one in zip(wanted, judged, strict=True):
            if one.possible is False:
                return self._unmakeable(want.need.literals[0].bound(want.binding))
            if one.left is not None and one.left not in self._costs:
                return next(self._reasons(one.left, set()), self._unmakeable(one.left))
        return ""

    def _reasons(self, fact: Fact, asked: set[Fact]) -> Iterator[str]:
        """Reasons why a fact cannot be had, each fact asked once: first what has no names, then
        what is false.
        """
        if fact in asked:
            return
        asked.add(fact)
        if fact.alternatives:
            for one in fact.alternatives:
                yield from self._reasons(one, asked)
            return
        achievers = self._ways_to(fact)
        if not achievers:
            yield self._unmakeable(fact)
        for find in (self._nameless, self._unmet):
            for way in achievers:
                for reason in find(way, fact):
                    yield f"{self._say(fact)} ← {way.schema.name}: {reason}"
        for way in achievers:
            yield from self._deeper_reasons(way, fact, asked)

    def _deeper_reasons(self, way: Achiever, fact: Fact, asked: set[Fact]) -> Iterator[str]:
        """Reasons why what a way to a fact needs cannot be had, behind that way."""
        for needed in self._lacking_of(way, fact):
            for reason in self._reasons(needed, asked):
                yield f"{self._say(fact)} ← {way.schema.name} ← {reason}"

    def _ways_to(self, fact: Fact) -> Sequence[Achiever]:
        """Actions that make a fact so, and if nobody knows it, those that show it."""
        achievers: list[Achiever] = []
        if fact.makeable:
            achievers += self._index.makers(fact.predicate, fact.negated)
        if self._truth(fact) is None:
            achievers += self._index.revealers.get(fact.predicate, ())
        return achievers

    def _lacking_of(self, way: Achiever, fact: Fact) -> Iterator[Fact]:
        """Needs of a way that could be met in principle and have no price."""
        bound = self._bound(way, fact)
        for need in way.needs:
            for filled in self._choices_for(need, bound):
                needed = self._judge(need, filled).left
                if needed is not None and needed not in self._costs:
                    yield needed

    def _choices_for(self, need: Need, bound: Mapping[str, str]) -> list[Mapping[str, str]]:
        """Names for all that a need is about: each known one where one is open; none where more
        are.
        """
        free = need.names - bound.keys()
        if not free:
            return [bound]
        if len(free) > 1:
            return []
        (variable,) = free
        return [{**bound, variable: name} for name in self._names.get(variable, ())]

    def _nameless(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Variables of a way that nothing is named for, and names that are known in other roles
        alone.
        """
        bound = self._bound(way, fact)
        for variable, name in bound.items():
            if variable in way.parameters and not self._suits(variable, name):
                yield f"{name!r} is known, but not as a <{variable}>"
        for variable in way.parameters:
            if variable not in bound and not self._names.get(variable):
                yield f"nothing is known that could be its <{variable}>"

    def _unmet(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Needs of a way that no name fulfils: false, and no action changes that."""
        bound = self._bound(way, fact)
        for need in way.needs:
            if not need.literals:
                yield f"a rule forbids `{way.schema.name}` in every state"
                continue
            filled = self._choices_for(need, bound)
            if filled and all(self._judge(need, one).possible is False for one in filled):
                yield self._why_unmet(need, bound, filled)

    def _why_unmet(
        self, need: Need, bound: Mapping[str, str], filled: Sequence[Mapping[str, str]]
    ) -> str:
        """Why a need is not met with any of the names that it can be filled with."""
        lacking = need.literals[0]
        if len(filled) == 1:
            return self._unmakeable(lacking.bound(filled[0]))
        (variable,) = need.names - bound.keys()
        return f"{lacking.bound(bound).atom} is false of every <{variable}>"

    def _bound(self, way: Achiever, fact: Fact) -> dict[str, str]:
        pairs = zip(way.fact.args, fact.args, strict=True)
        return {parameter: name for parameter, name in pairs if parameter not in (ANYTHING, name)}

    def _unmakeable(self, fact: Fact) -> str:
        for way in self._index.makers(fact.predicate, fact.negated):
            for reason in self._nameless(way, fact):
                return f"{self._say(fact)} ← {way.schema.name}: {reason}"
        if self._truth(fact) is None:
            return f"{self._say(fact)}: it is unknown, and no action shows or changes it"
        return f"{self._say(fact)}: it is not so, and no action changes that"

    def _say(self, fact: Fact) -> str:
        named = fact.alternatives[0] if fact.alternatives else fact
        return self._index.rules.say(named.atom, Truth.of(not fact.negated))


class _Graph(Priced):
    """The actions that matter in one situation, from the goal down to what can be done now."""

    def plan(self, purposes: Sequence[tuple[Purpose, float]]) -> Plan:
        """Plan for one of several purposes, each with its price: with known things, or else with
        things that nobody has seen.
        """
        cut = False
        for imagined in (False, True):
            reached = self._reaches(self._furthest_edges(purposes, imagined=imagined))
            cut = cut or reached.cut
            if reached.found:
                return Plan(self._options(), self._costs[GOAL], imagined, cut=cut)
            if reached.given_up:
                break
        return Plan(cut=cut)

    def _furthest_edges(
        self, purposes: Sequence[tuple[Purpose, float]], *, imagined: bool
    ) -> list[Edge]:
        """What is left to do for each purpose and choice of things, where most stages are
        behind; without what cannot be had.
        """
        edges: list[Edge] = []
        furthest = 0
        for purpose, price in purposes:
            for binding in self.bindings(purpose, self._situation.goal, imagined=imagined):
                stages, wanted = self.left(purpose, binding)
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
        wanted = [self._judge(need, binding) for need in in_order]
        possible = all(one.possible is not False for one in wanted)
        if not possible and not explained:
            return Remedy()
        reached = self._reaches([Edge(GOAL, _left_of(wanted), 0.0)])
        if reached.found and possible:
            options = self._options()
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
        instance = self._index.rules.instance(first.command)
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
            judged = self._judge(need, binding)
            if judged.possible is False:
                # A ban in every state is for want of no fact.
                lacking = self._fixed(need) or next(iter(need.literals), None)
                return lacking.bound(binding).atom if lacking is not None else None
            fact = judged.left
            if fact is None or fact in above or fact in self._costs:
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
            for way in self._index.makers(fact.predicate, fact.negated):
                if not all(map(self._suits, way.fact.args, fact.args)):
                    continue
                bound = dict(zip(way.fact.args, fact.args, strict=True))
                deeper = self._obstacle(way.needs, bound, above)
                if deeper is not None:
                    return deeper
        return None

    def _fixed(self, need: Need) -> Fact | None:
        """Of facts of which one would do, one that no action changes."""
        makers = self._index.makers
        return next(
            (fact for fact in need.literals if not makers(fact.predicate, fact.negated)), None
        )

    def first_things(self) -> tuple[Option, ...]:
        """Actions that restore the facts without which nothing else can be done; empty if they
        hold.
        """
        broken = [
            need
            for clause, need in self._index.always
            if clause.truth(self._situation) is Truth.FALSE
        ]
        edge = self._edge_to([(need, {}) for need in broken], 0.0) if broken else None
        if edge is None or not self._reaches([edge]).found:
            return ()
        return self._options()

    def is_nowhere(self, thing: str) -> bool:
        """True if a thing is known to be in none of the places where looking would show it."""
        return bool(self._index.revealers) and not self._glimpses(thing)

    def may_show_more(self) -> bool:
        """True if a look may show something that nobody has seen yet."""
        return any(UNSEEN in fact.args for fact in self._glimpses(UNSEEN))

    def explore(self, sought: Sequence[str]) -> Plan:
        """Find out whatever is unknown of what is sought: for when no way to the goal is known."""
        edges: list[Edge] = []
        for thing in sought:
            edges += [Edge(GOAL, (fact,), 0.0) for fact in self._glimpses(thing)]
        return Plan(self._options() if self._reaches(edges).found else ())

    def _edge_to(
        self, wanted: Iterable[tuple[Need, Mapping[str, str]]], cost: float
    ) -> Edge | None:
        """One way to reach the goal: what is left to be done, in order."""
        needs: dict[Fact, None] = {}
        for need, one in wanted:
            judged = self._judge(need, one)
            if judged.possible is False:
                return None
            cost += judged.price
            if judged.left is not None:
                needs[judged.left] = None
        return Edge(GOAL, tuple(needs), cost)


class Reasoner:
    """The manual, ready to plan with."""

    def __init__(self, rules: ActiveRules, achievers: Achievers | None = None) -> None:
        """`achievers`: the index of the rules, where there is one already."""
        self.rules = rules
        self.achievers = achievers or Achievers(rules)

    def plan(
        self,
        situation: Situation,
        order: Order | None = None,
        *,
        seek: bool = True,
        most: float = inf,
        purpose: Purpose | None = None,
        best: bool = False,
    ) -> Plan:
        """Plan for a situation, if one costs no more than `most`; if none, and `seek`, one that
        finds out anything.

        Another `purpose` than that of the rules shares with it what was derived in earlier plans.
        Best: of the options the first alone, which takes less time.
        """
        order = order if order is not None else likely_places(self.rules)
        purposes = self._purposes(purpose)
        plan = Plan()
        if purposes:
            plan = self._graph(situation, order, most, best=best).plan(purposes)
        if self.rules.lore.always:
            first = self._graph(situation, order).first_things()
            if first:
                return plan.offering(first)
        if plan.options or plan.cost == 0 or not seek:
            return plan
        return self.explore(situation, order)

    def _purposes(self, purpose: Purpose | None) -> Sequence[tuple[Purpose, float]]:
        """The purposes to plan for, each with its price: the one asked for, else all readings of
        the goal, else the one that the rules have.
        """
        if purpose is not None:
            return ((purpose, 0.0),)
        if self.rules.purposes:
            return self.rules.purposes
        if self.rules.purpose is not None:
            return ((self.rules.purpose, 0.0),)
        return ()

    def explore(self, situation: Situation, order: Order) -> Plan:
        """Plan to find out whatever is unknown, and say whether that may lead to the goal."""
        plan = self.search(situation, order)
        if not plan.options or not self._graph(situation, order).may_show_more():
            return plan
        return replace(plan, searching=self.may_be_found(situation, order))

    def may_be_found(self, situation: Situation, order: Order) -> bool:
        """True if a plan reaches the goal once every role has one more thing.

        Nobody has seen that thing, so the plan begins with looking for it.
        """
        kept = self.achievers.kept
        if "supposing" not in kept:
            kept["supposing"] = Reasoner(self.rules, _Supposing(self.rules))
        supposing: Reasoner = kept["supposing"]
        plan = supposing.plan(situation, order, seek=False, best=True)
        return plan.cost < inf

    def nowhere(self, situation: Situation, order: Order | None = None) -> tuple[str, ...]:
        """The goal's words that no known thing is called by, where every place was looked at.

        No line of the manual is to blame for that, and no doubt brings such a thing about.
        """
        unseen = self._unseen_words(situation)
        if not unseen:
            return ()
        if order is None:
            order = likely_places(self.rules)
        graph = self._graph(situation, order)
        return tuple(word for word in unseen if graph.is_nowhere(f"{word} ?"))

    def _unseen_words(self, situation: Situation) -> list[str]:
        """The goal's words that no known thing is called by; none for a goal in stages."""
        purpose = self.rules.purpose
        if purpose is None or purpose.staged:
            return []
        named = dict.fromkeys(situation.goal.named(field) for field in purpose.over.values())
        return [word for word in named if word and not situation.belief.called(word)]

    def search(self, situation: Situation, order: Order, sought: Sequence[str] = (UNSEEN,)) -> Plan:
        """Plan to find things nobody has seen yet, or whatever is unknown."""
        return self._graph(situation, order).explore(sought)

    def _graph(
        self, situation: Situation, order: Order, most: float = inf, *, best: bool = False
    ) -> _Graph:
        """The actions that matter in a situation: one graph for all plans made in it, unless
        lines are doubted.
        """
        if self.rules.lore.doubts:
            return _Graph(self.achievers, situation, order, most)
        key = "best graph" if best else "graph"
        kept: _Graph | None = self.achievers.kept.get(key)
        if kept is None or not kept.serves(situation, order):
            kept = self.achievers.kept[key] = _Graph(self.achievers, situation, order, best=best)
        return kept

    def impasse(self, situation: Situation) -> str:
        """The need that keeps every plan from the goal, and why; for people, when no plan is
        found.
        """
        purpose, goal = self.rules.purpose, situation.goal
        if purpose is None:
            return f"the manual has no goal of type {goal.type!r}"
        reason = Impasse(self.achievers, situation, likely_places(self.rules)).explain(purpose)
        return reason or "all that the goal wants holds, or could be had"

    def commands(self, situation: Situation) -> Iterator[str]:
        """Every action over the names that are known, whether it can be done or not."""
        names = {**self.achievers.lasting_names, **situation.belief.names}
        for schema in self.rules.environment:
            parameters = schema.variables
            for chosen in product(*(names_for(name, names) for name in parameters)):
                yield command_of(schema, dict(zip(parameters, chosen, strict=True)))

    def actions_with(self, situation: Situation, things: Container[str]) -> Iterator[Instance]:
        """Every action that names one of some things, in the order of `commands`."""
        names = {**self.achievers.lasting_names, **situation.belief.names}
        for schema in self.rules.environment:
            parameters = schema.variables
            every = [names_for(name, names) for name in parameters]
            for chosen in _choices_with(every, things):
                yield Instance(schema, dict(zip(parameters, chosen, strict=True)))

    @cached_property
    def glances(self) -> tuple[Option, ...]:
        """Actions possible anywhere that reveal something: for when things are not as believed."""
        schemas = [
            schema for schema in self.rules.environment if schema.observes and not schema.variables
        ]
        looks = [Link(schema.syntax[0], Fact("known", ()), reveals=True) for schema in schemas]
        return tuple(Option(look.command, 0.0, (look,)) for look in looks)

    def remedy(self, instance: Instance, situation: Situation, *, explained: bool = True) -> Remedy:
        """The first step towards being able to do an action, or, if `explained`, what stands
        against it for good.
        """
        order = likely_places(self.rules)
        graph = (
            _Graph(self.achievers, situation, order)
            if explained
            else self._graph(situation, order, best=True)
        )
        schema, parameters = instance.schema, tuple(instance.binding)
        needed = [
            fact_of(clause.literals[0])
            for clause in schema.preconditions
            if len(clause.literals) == 1
        ]
        gives = next(
            (fact for fact in map(fact_of, schema.effects[:1]) if fact not in needed), None
        )
        needs = [
            self.achievers.need_of(clause, gives, parameters) for clause in schema.preconditions
        ]
        return graph.remedy(needs, instance.binding, explained=explained)


def _choices_with(
    names: Sequence[Sequence[str]], things: Container[str]
) -> Iterator[tuple[str, ...]]:
    """One of each list, in their order, with at least one of some things among them."""
    if not names:
        return
    first, rest = names[0], names[1:]
    for name in first:
        others = product(*rest) if name in things else _choices_with(rest, things)
        for chosen in others:
            yield (name, *chosen)


class _Supposing(Achievers):
    """The manual's index, as if there were one more thing for every role: `some place ?`."""

    @cached_property
    def _supposed(self) -> Mapping[str, str]:
        """The thing supposed for each role, where the manual itself lists no names."""
        roles = {name for schema in self.rules.all_actions for name in schema.variables}
        return {role: f"some {role} ?" for role in sorted(roles - self.lasting_names.keys())}

    def known_names(self, known: Mapping[str, Sequence[str]]) -> KnownNames:
        named = {role: (*known.get(role, ()), name) for role, name in self._supposed.items()}
        found = super().known_names({**known, **named})
        found.every = found.every.difference(self._supposed.values())  # what is unseen may be all
        return found


@kept_with_rules
def reasoner_of(rules: ActiveRules) -> Reasoner:
    """The reasoner over some rules, made once for all steps that ask for it."""
    return Reasoner(rules, achievers_of(rules))


def plan_for(
    rules: ActiveRules, situation: Situation, experience: Whereabouts | None = None
) -> Plan:
    """Plan from rules and experience."""
    goal = situation.goal
    return reasoner_of(rules).plan(
        situation, likely_places(rules, experience, (goal.object, goal.destination))
    )
