"""Plans over the manual: what could be done now, and what each of these things is for.

The manual is a planning domain: actions with what they need, do and reveal, and for each goal the facts that must hold.
`prices` finds what leads to the goal and what it costs; here is what a goal asks for, and how far along it is.

Facts have three values. What is known to hold costs nothing. What is unknown costs looking, likeliest places first, or
is taken for granted at a price where looking is of no use. Only what is known to be false and what no action changes
makes a plan impossible. No simulator is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations, product
from math import inf
from typing import NamedTuple

from rpms.core.belief import Situation
from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.goal import EXPLORING, Goal, Progress
from rpms.core.planning.achievers import Achiever, Achievers, Fact, Need, command_of, fact_of
from rpms.core.planning.ground import Edge, Order
from rpms.core.planning.prices import GOAL, Link, Option, Priced
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.rules import ANYTHING, ActiveRules, Instance, Purpose, Stage

UNSEEN = "anything ?"
"""Whatever may be found. A name that ends in a question mark is of something that nobody has seen yet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, best first, and how far along this is."""

    options: tuple[Option, ...] = ()
    progress: Progress = field(default_factory=lambda: Progress(EXPLORING, "", 0, 1))
    cost: float = inf
    stage: int | None = None
    """How many stages are behind, where the goal has a procedure."""
    opened: bool = False
    """Whether no plan is left that trusts the manual, so that the choice is open to more."""

    def respelled(self, spell: Callable[[str], str], failed: Container[str]) -> Plan:
        """The same plan with commands as a game wants them written, and what just failed after all else."""
        options = [replace(option, command=spell(option.command)) for option in self.options]
        return replace(self, options=tuple(sorted(options, key=lambda option: option.command in failed)))

    def after(self, others: Iterable[Option]) -> Plan:
        """The same plan where other options come first."""
        first = {option.command: option for option in others}
        rest = [option for option in self.options if option.command not in first]
        return replace(self, options=(*first.values(), *rest))


class Remedy(NamedTuple):
    """What helps with an action that cannot be done."""

    command: str = ""
    """What to do first: `open drawer 3`; nothing where nothing helps."""
    fact: Atom | None = None
    """What it is for, or where nothing helps, the fact that stands against the action for good."""
    after: tuple[str, ...] = ()
    """What the plan goes on with, as far as it can be told before the first step was taken."""


def likely_places(rules: ActiveRules, experience: Whereabouts | None = None, kinds: Iterable[str] = ()) -> Order:
    """The order in which places are searched: the manual's, and for some kinds what experience makes of it."""
    order: dict[str, Mapping[str, float]] = {
        kind: {place: rank for rank, place in enumerate(places)} for kind, places in rules.lore.localities.items()
    }
    localities = [rule.locality for rule in rules.domain if rule.locality is not None]
    for locality in sorted(localities, key=lambda each: len(each.objects)):  # what is said of few things is surest
        for kind in locality.objects:
            places = dict(order.get(kind, {}))
            for place in locality.places:
                places.setdefault(place, len(places))
            order[kind] = places
    if experience is not None:
        known = {kind: experience.order(kind, order.get(kind, {})) for kind in kinds if kind}
        order |= {kind: ranks for kind, ranks in known.items() if ranks}
    return order


class Reasoner(Achievers):
    """The manual, ready to plan with."""

    def plan(self, situation: Situation, order: Order | None = None, *, seek: bool = True) -> Plan:
        """What to do in a situation; where no plan reaches the goal, and `seek`, what finds out about anything."""
        order = order if order is not None else likely_places(self.rules)
        purpose = self.rules.purpose
        wanted = self.rules.purposes or (((purpose, 0.0),) if purpose is not None else ())
        plan = _Graph(self, situation, order).plan(wanted) if wanted else Plan()
        first = _Graph(self, situation, order).first_things() if self.rules.lore.always else ()
        if first:
            return replace(plan, options=first)
        return plan if plan.options or plan.cost == 0 or not seek else _Graph(self, situation, order).explore()

    def search(self, situation: Situation, order: Order, sought: Sequence[str]) -> Plan:
        """What to do to find things of which nobody has seen one."""
        return _Graph(self, situation, order).explore(sought)

    def commands(self, situation: Situation) -> Iterator[str]:
        """Every action over the names that are known, whether it can be done or not."""
        names = {**self.lasting_names, **situation.belief.names}
        for schema in self.rules.environment:
            parameters = schema.variables
            for chosen in product(*(names.get(name, ()) for name in parameters)):
                yield command_of(schema, dict(zip(parameters, chosen, strict=True)))

    @cached_property
    def glances(self) -> tuple[Option, ...]:
        """What can be done anywhere and shows what there is: for when things are not as they were thought to be."""
        schemas = [schema for schema in self.rules.environment if schema.observes and not schema.variables]
        return tuple(
            Option(schema.syntax[0], 0.0, (Link(schema.syntax[0], Fact("known", ()), reveals=True),))
            for schema in schemas
        )

    def remedy(self, instance: Instance, situation: Situation) -> Remedy:
        """The first step towards being able to do an action, or what stands against it for good."""
        schema = instance.schema
        needed = [fact_of(clause.literals[0]) for clause in schema.preconditions if len(clause.literals) == 1]
        gives = next((fact for fact in map(fact_of, schema.effects[:1]) if fact not in needed), None)
        needs = [self._need(clause, gives, tuple(instance.binding)) for clause in schema.preconditions]
        graph = _Graph(self, situation, likely_places(self.rules))
        return graph.remedy(needs, instance.binding)


class _Graph(Priced):
    """The actions that matter in one situation, from the goal down to what can be done now, and how far along it is."""

    def plan(self, purposes: Sequence[tuple[Purpose, float]]) -> Plan:
        """What to do for one of some purposes, each at its price."""
        for imagined in (False, True):
            ways = [
                (*way, purpose)
                for purpose, price in purposes
                for binding in self._bindings(purpose, self._facts.goal, imagined=imagined)
                if (way := self._goal_edge(purpose, binding, price)) is not None
            ]
            furthest = max((stages for stages, _, _ in ways), default=0)
            if self._reaches([edge for stages, edge, _ in ways if stages == furthest]):
                best = min((edge for edge in self._edges[GOAL] if not edge.waiting), key=lambda edge: edge.total)
                purpose = next(purpose for _, edge, purpose in ways if edge is best)
                stage = furthest if purpose.staged else None
                return Plan(self._options(), self._progress(purpose, best), self._costs[GOAL], stage)
        return Plan()

    def remedy(self, needs: Sequence[Need], binding: Mapping[str, str]) -> Remedy:
        """What to do first so that all of some needs hold in the end. To search elsewhere is no remedy."""
        wanted = [self._judge(need, binding) for need in sorted(needs, key=lambda need: need.moving)]
        reached = self._reaches([Edge(GOAL, tuple(fact for _, _, fact in wanted if fact is not None), 0.0)])
        options = self._options() if reached and all(value is not False for value, _, _ in wanted) else ()
        if options:
            chain = options[0].chain
            instance = self._manual.rules.instance(chain[0].command)
            elsewhere = instance is not None and set(instance.binding.values()).isdisjoint(binding.values())
            command = "" if chain[0].reveals and elsewhere else chain[0].command
            after = () if chain[0].reveals else tuple(link.command for link in chain[1:])
            return Remedy(command, chain[-1].fact.atom, after)
        return Remedy("", self._obstacle(needs, binding, frozenset()))

    def _obstacle(self, needs: Iterable[Need], binding: Mapping[str, str], above: frozenset[Fact]) -> Atom | None:
        """Of what is needed and cannot be had, the fact that stands in the way for good.

        All that is to be done at a place that is not there fails since it is not there.
        """
        for need in needs:
            if not need.names.issubset(binding):
                continue
            value, _, fact = self._judge(need, binding)
            if value is False:
                return (self._fixed(need) or need.literals[0]).bound(binding).atom
            if fact is None or fact in above or fact in self._costs:
                continue
            if (fixed := self._fixed(need)) is not None:
                return fixed.bound(binding).atom
            either = [Fact(*one) for one in fact.args] if fact.predicate == "or" else [fact]
            for way, bound in ((way, bound) for one in either for way, bound in self._ways_in_principle(one)):
                deeper = self._obstacle(way.needs, bound, above | {fact})
                if deeper is not None:
                    return deeper
            if not above:
                return either[0].atom
        return None

    def _ways_in_principle(self, fact: Fact) -> Iterator[tuple[Achiever, dict[str, str]]]:
        """The ways to make a fact so, with the names that it has, whether they can be gone or not."""
        for way in self._manual.makers.get((fact.predicate, fact.negated), ()):
            if all(map(self._suits, way.fact.args, fact.args)):
                yield way, dict(zip(way.fact.args, fact.args, strict=True))

    def _fixed(self, need: Need) -> Fact | None:
        """Of facts of which one would do, one that no action changes."""
        makers = self._manual.makers
        return next((fact for fact in need.literals if (fact.predicate, fact.negated) not in makers), None)

    def first_things(self) -> tuple[Option, ...]:
        """What restores the facts without which nothing else can be done; nothing where they hold."""
        broken = [clause for clause in self._lore.always if clause.truth(self._facts) is Truth.FALSE]
        edge = self._edge_to((need, {}) for need in _wanted(Stage("", tuple(broken)))) if broken else None
        return self._options() if edge is not None and self._reaches([edge]) else ()

    def explore(self, sought: Sequence[str] = (UNSEEN,)) -> Plan:
        """Find out whatever is unknown of what is sought: for when no way to the goal is known."""
        edges = []
        for ways in self._manual.revealers.values():
            for way in ways:
                free = [name for name in way.fact.args if name != ANYTHING]
                for chosen in product(*(self._names.get(name, ()) for name in free)):
                    binding = dict(zip(free, chosen, strict=True))
                    for thing in sought:
                        args = tuple(binding.get(arg, thing) for arg in way.fact.args)
                        fact = way.fact._replace(args=args, makeable=False)
                        if self._truth(fact) is None and (thing in args or thing == UNSEEN):
                            edges.append(Edge(GOAL, (fact,), 0.0))
        return Plan(self._options() if self._reaches(edges) else ())

    # The goal.

    def _bindings(self, purpose: Purpose, goal: Goal, *, imagined: bool) -> Iterator[dict[str, str]]:
        """Every way to put things in place of a purpose's variables; variables of one field are different things."""
        choices = []
        for field_ in dict.fromkeys(purpose.over.values()):
            variables = [name for name, source in purpose.over.items() if source == field_]
            named = goal.named(field_) or (field_ if purpose.staged else "")
            known = list(self._facts.belief.called(named)) if named else []
            lacking = max(len(variables) - len(known), int(imagined)) if named else 0
            known += [f"{named} {'?' * number}" for number in range(1, lacking + 1)]
            ways = combinations if purpose.interchangeable else permutations
            choices.append([dict(zip(variables, chosen, strict=True)) for chosen in ways(known, len(variables))])
        for chosen in product(*choices):
            yield {name: thing for binding in chosen for name, thing in binding.items()}

    def _goal_edge(self, purpose: Purpose, binding: Mapping[str, str], price: float) -> tuple[int, Edge] | None:
        """One way to reach the goal: how many of its stages are behind, and what is left to be done, in order."""
        steps, reached = purpose.steps, 0
        if purpose.staged:
            reached = self._reached(purpose, binding)
            steps = steps[reached : reached + 1]
        edge = self._edge_to(need for step in steps for need in self._wants(purpose, step, binding))
        if edge is None:
            return None
        edge.binding = binding
        edge.cost += price
        return reached, edge

    def _edge_to(self, wanted: Iterable[tuple[Need, Mapping[str, str]]]) -> Edge | None:
        needs: list[Fact] = []
        cost = 0.0
        for need, binding in wanted:
            value, price, fact = self._judge(need, binding)
            if value is False:
                return None
            cost += price
            needs += [fact] if fact is not None else []
        return Edge(GOAL, tuple(dict.fromkeys(needs)), cost)

    def _wants(
        self, purpose: Purpose, step: Stage, binding: Mapping[str, str]
    ) -> Iterator[tuple[Need, Mapping[str, str]]]:
        """What ends a step, of everything that it speaks of."""
        every: list[Mapping[str, str]] = [binding]
        named = frozenset(arg for clause in step.until for literal in clause.literals for arg in literal.atom.args)
        for variable, source in purpose.each.items():
            if variable in named:
                word = self._facts.goal.named(source) or source
                things = self._facts.belief.called(word) or (f"{word} ?",)
                every = [{**one, variable: thing} for one in every for thing in things]
        return ((need, one) for one in every for need in _wanted(step))

    # How far along.

    def _progress(self, purpose: Purpose, best: Edge) -> Progress:
        if purpose.staged:
            return self._stage(purpose, best)
        things = [thing for name, thing in best.binding.items() if self._is_sought(purpose, name)]
        left = self._left(best)
        stones = dict.fromkeys(
            stone
            for step in purpose.steps
            for clause in step.until
            for stone in self._milestones(fact_of(clause.literals[0].bind(best.binding)), things)
        )
        todo: list[_Milestone] = []
        for stone in stones:  # of one thing, nothing counts before all that comes before it: a cold mug is not home yet
            waits = any(earlier.thing == stone.thing for earlier in todo)
            if waits or stone.fact in left or (stone.found and "?" in stone.thing):
                todo.append(stone)
        if not todo:
            return Progress("done", "", len(stones), len(stones))
        first = self._first(best) if best.needs else None
        chain = {stone.fact for stone in self._milestones(first, things)} if first is not None else set()
        current = next((stone for stone in todo if stone.fact in chain), todo[0])
        target = kind_of(current.thing) if current.found else current.thing
        return Progress(current.name, target, len(stones) - len(todo), len(stones))

    def _reached(self, purpose: Purpose, binding: Mapping[str, str]) -> int:
        """How many stages of a procedure are behind: one is passed when its facts hold, or those of a later one."""
        holds = [
            all(self._judge(need, one)[0] is True for need, one in self._wants(purpose, step, binding))
            for step in purpose.steps
        ]
        return max((place for place, there in enumerate(holds) if there), default=-1) + 1

    def _stage(self, purpose: Purpose, best: Edge) -> Progress:
        """The present stage, and the first thing that is lacking."""
        done, total = self._reached(purpose, best.binding), len(purpose.steps)
        if done == total:
            return Progress("done", "", done, total)
        step = purpose.steps[done]
        wants = self._wants(purpose, step, best.binding)
        lacking = next((pair for pair in wants if self._judge(*pair)[0] is not True), None)
        arg = next(iter(lacking[0].literals[0].args), "") if lacking is not None else ""
        thing = lacking[1].get(arg, arg) if lacking is not None else ""
        return Progress(step.name, kind_of(thing) if thing.endswith("?") else thing, done, total)

    def _is_sought(self, purpose: Purpose, variable: str) -> bool:
        """Whether a variable is for a thing that has to be had, rather than for a place."""
        return any(
            variable in literal.atom.args[:1]
            for step in purpose.steps
            for clause in step.until
            for literal in clause.literals
        )

    def _left(self, edge: Edge) -> set[Fact]:
        """All that the cheapest plan has still to bring about, the relaxed plan's facts."""
        left: set[Fact] = set()
        queue = list(edge.needs)
        while queue:
            fact = queue.pop()
            if fact not in left:
                left.add(fact)
                best = min((one for one in self._edges[fact] if not one.waiting), key=lambda one: one.total)
                queue.extend(best.needs)
        return {fact._replace(makeable=True) for fact in left}

    def _milestones(
        self, fact: Fact, things: Sequence[str], above: frozenset[Fact] = frozenset()
    ) -> Iterator[_Milestone]:
        """The facts about a thing on the way to a fact, in their order: found, then in hand, then heated."""
        fact = fact._replace(makeable=True)
        thing = next((arg for arg in fact.args if arg in things), None)
        ways = self._manual.makers.get((fact.predicate, fact.negated), ())
        if thing is None or not ways or fact.predicate in self._manual.positional or fact in above:
            return
        way, above = ways[0], above | {fact}
        binding = dict(zip(way.fact.args, fact.args, strict=True))
        role = next((name for name, bound in binding.items() if bound == thing), "object")
        before = [
            literal.bound(binding)
            for need in way.needs
            if (literal := need.literals[0]).makeable and self._can_make(literal)
        ]
        stones = [stone for one in before for stone in self._milestones(one, things, above) if stone.thing == thing]
        yield from stones or [_Milestone(Fact("found", (thing,)), f"find_{role}", thing, found=True)]
        yield _Milestone(fact, f"{way.schema.name}_{role}", thing)


class _Milestone(NamedTuple):
    fact: Fact
    name: str
    thing: str
    found: bool = False


def _wanted(step: Stage) -> list[Need]:
    """What ends a stage, as needs that are never taken for granted."""
    return [Need(tuple(map(fact_of, clause.literals)), frozenset(), moving=False, wanted=True) for clause in step.until]
