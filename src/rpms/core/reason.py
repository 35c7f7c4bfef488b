"""Plans over the manual: what could be done now, and what each of these things is for.

The manual is a planning domain: actions with what they need, do and reveal, and for each goal the facts that must hold.
Plans are made in three passes, each an algorithm with a name.

1. Regression from the goal finds the actions that matter: for a fact that does not hold, those that make it so; for one
   that nobody knows, those that reveal it.
2. The additive heuristic h_add of Bonet and Geffner prices every fact found on the way: nothing where it holds, else
   the cheapest action with that effect, its own cost and the sum of what its preconditions cost. It is computed by
   Knuth's generalisation of Dijkstra's algorithm.
3. A second Dijkstra from the goal downwards gives each action that can be done now its regret: how many steps longer
   than the cheapest plan is the cheapest plan that begins with it.

Facts have three values. What is known to hold costs nothing. What is unknown costs looking, likeliest places first, or
is taken for granted at a price where looking is of no use. Only what is known to be false and what no action changes
makes a plan impossible. No simulator is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations, count, permutations, product
from math import inf
from typing import NamedTuple

from rpms.core.belief import Situation
from rpms.core.facts import Atom, Clause, Literal, Truth, kind_of
from rpms.core.goal import Goal, Progress
from rpms.core.rules import ANYTHING, PARAMETER, ActionSchema, ActiveRules, Instance, Purpose, Step

GRANTED = 0.5
"""Steps that it costs to take an unknown fact for granted."""
SEARCH = 2.0
"""Steps that a look costs beyond the way there: it may well be in vain."""
UNLIKELY = 2.0
"""Steps that one place further down in the order of likely places counts."""
UNLISTED = 3
"""How many places further down a place counts that is not in that order."""


UNSEEN = "anything ?"
"""Whatever may be found. A name that ends in a question mark is of something that nobody has seen yet."""

PLACES = 12
"""How many places are considered at a time for something unseen: more than anybody chooses from."""


class Fact(NamedTuple):
    """A fact to bring about, as planning handles it."""

    predicate: str
    args: tuple[str, ...]
    negated: bool = False
    makeable: bool = True
    """Whether actions may bring it about; otherwise it can only be found to be so."""

    @property
    def atom(self) -> Atom:
        return Atom(self.predicate, self.args)

    def bound(self, binding: Mapping[str, str]) -> Fact:
        """The same fact with names in place of parameters."""
        return self._replace(args=tuple([binding.get(arg, arg) for arg in self.args]))


GOAL = Fact("goal", ())


class Need(NamedTuple):
    """A precondition over the parameters of a schema, ready to be bound."""

    literals: tuple[Fact, ...]
    names: frozenset[str]
    """The parameters it is about."""
    moving: bool
    """Whether it is about where the agent is: to be seen to last, since all else may lead elsewhere."""
    given: bool = False
    """Whether it is only the condition of a revelation."""
    wanted: bool = False
    """Whether it is the goal's own, and so never taken for granted."""


@dataclass(frozen=True, slots=True)
class Way:
    """A schema as a way to a fact: to make it so, or to reveal it."""

    schema: ActionSchema
    parameters: tuple[str, ...]
    fact: Fact
    needs: tuple[Need, ...]
    reveals: bool = False
    circular: bool = False
    """Whether it needs the very fact it gives: one goes to a room that is near, and then it is near."""


@dataclass(slots=True, eq=False)
class Edge:
    """A way with names in place of its parameters: one step of some plan."""

    fact: Fact
    """What it is for."""
    needs: tuple[Fact, ...]
    """What does not hold yet, in the order in which it is to be seen to."""
    cost: float
    schema: ActionSchema | None = None
    """What is done; nothing where a fact only follows from another."""
    reveals: bool = False
    binding: Mapping[str, str] = field(default_factory=dict)
    waiting: int = 0
    total: float = 0.0
    """Its cost with all that it needs, once that is known."""

    @property
    def command(self) -> str:
        return _command(self.schema, self.binding) if self.schema is not None else ""

    @property
    def named(self) -> tuple[str, ...]:
        """What its command names: mixing is done to a vessel, not to what comes of it."""
        schema = self.schema
        return tuple(self.binding[name] for name in schema.variables if name not in schema.others) if schema else ()


class Link(NamedTuple):
    """One action of a plan, with the fact it serves."""

    command: str
    fact: Fact
    reveals: bool
    waits: bool = False
    """Whether it lets a process go on, so that to do it again is not to do it in vain."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be done now, with the plan that it begins."""

    command: str
    regret: float
    """How many steps longer than the cheapest the cheapest plan is that begins with it."""
    chain: tuple[Link, ...]
    """From it to the goal."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do, best first, and how far along this is."""

    options: tuple[Option, ...] = ()
    progress: Progress = field(default_factory=lambda: Progress("explore", "", 0, 1))
    cost: float = inf
    stage: int | None = None
    """How many stages are behind, where the goal has a procedure."""

    def respelled(self, spell: Callable[[str], str], failed: Container[str]) -> Plan:
        """The same plan with commands as a game wants them written, and what just failed after all else."""
        options = [replace(option, command=spell(option.command)) for option in self.options]
        return replace(self, options=tuple(sorted(options, key=lambda option: option.command in failed)))


class Remedy(NamedTuple):
    """What helps with an action that cannot be done."""

    command: str = ""
    """What to do first: `open drawer 3`; nothing where nothing helps."""
    fact: Atom | None = None
    """What it is for, or where nothing helps, the fact that stands against the action for good."""


Order = Mapping[str, Mapping[str, int]]
"""Where a kind is likely to be found: kind → kind of place → its rank, 0 first."""


def likely_places(rules: ActiveRules, experience: Iterable[tuple[str, str]] = ()) -> Order:
    """The order in which places are searched: the manual's localities, then what experience found where."""
    order = {kind: {place: rank for rank, place in enumerate(places)} for kind, places in rules.lore.localities.items()}
    localities = [rule.locality for rule in rules.domain if rule.locality is not None]
    for locality in sorted(localities, key=lambda each: len(each.objects)):  # what is said of few things is surest
        for kind in locality.objects:
            known = order.setdefault(kind, {})
            for place in locality.places:
                known.setdefault(place, len(known))
    for kind, place in experience:
        known = order.setdefault(kind, {})
        known.setdefault(place, len(known))
    return order


@dataclass(frozen=True, eq=False)
class Reasoner:
    """The manual, prepared for planning. One for all steps of an episode."""

    rules: ActiveRules

    @cached_property
    def schemas(self) -> tuple[ActionSchema, ...]:
        """All that plans are made of."""
        return (*self.rules.environment, *self.rules.lore.processes)

    @cached_property
    def makers(self) -> Mapping[tuple[str, bool], tuple[Way, ...]]:
        """The ways to make a fact so, by predicate and sign."""
        found: dict[tuple[str, bool], tuple[Way, ...]] = {}
        for schema in self.schemas:
            parameters = schema.variables
            clauses = self._clauses(schema)
            for effect in schema.effects:
                fact = _fact(effect)
                circular = fact in [_fact(clause.literals[0]) for clause in clauses if len(clause.literals) == 1]
                gives = None if circular else fact
                needs = sorted((self._need(clause, gives, parameters) for clause in clauses), key=_choosy)
                key = (fact.predicate, fact.negated)
                found[key] = (*found.get(key, ()), Way(schema, parameters, fact, tuple(needs), circular=circular))
        return found

    @cached_property
    def revealers(self) -> Mapping[str, tuple[Way, ...]]:
        """The ways to find out about a fact, by predicate."""
        found: dict[str, tuple[Way, ...]] = {}
        for schema in self.schemas:
            for seen in schema.observes:
                fact = Fact(seen.atom.predicate, seen.atom.args)
                names = (*schema.variables, *(arg for arg in seen.atom.args if arg != ANYTHING))
                parameters = tuple(dict.fromkeys(names))
                needs = [self._need(clause, None, parameters)._replace(given=True) for clause in seen.given]
                needs += [self._need(clause, None, parameters) for clause in self._clauses(schema)]
                way = Way(schema, parameters, fact, tuple(needs), reveals=True)
                found[fact.predicate] = (*found.get(fact.predicate, ()), way)
        return found

    @cached_property
    def lasting_names(self) -> Mapping[str, Sequence[str]]:
        """The names in the facts that hold for ever, by what their predicate calls them."""
        predicates = self.rules.predicates
        return {predicates[name].args[0]: tuple(table) for name, table in self.rules.lore.facts.items()}

    @cached_property
    def positional(self) -> frozenset[str]:
        """The predicates that say where the agent is: those of the actions that change nothing else."""
        return frozenset(
            effect.atom.predicate
            for schema in self.rules.environment
            if all(not effect.negated and self._is_exclusive(effect.atom.predicate) for effect in schema.effects)
            for effect in schema.effects
        )

    def _is_exclusive(self, predicate: str) -> bool:
        declared = self.rules.predicates.get(predicate)
        return declared is not None and bool(declared.exclusive)

    def companion(self, predicate: str) -> str:
        """The predicate of two that says which facts of an exclusive one hold together."""
        declared = self.rules.predicates.get(predicate)
        return declared.exclusive if declared is not None and declared.exclusive != "always" else ""

    def _clauses(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """What a plan sees to before an action: what it needs, and that no rule forbids it."""
        bans = [
            [literal for clause in (*rule.when, *ban.when) for literal in clause.literals]
            for rule, ban in self.rules.prohibitions.get(schema.name, ())
            if all(len(clause.literals) == 1 for clause in (*rule.when, *ban.when))
        ]
        allowed = [Clause(tuple(Literal(each.atom, not each.negated) for each in ban)) for ban in bans]
        return (*schema.preconditions, *schema.plan, *allowed)

    def _need(self, clause: Clause, gives: Fact | None, parameters: Sequence[str]) -> Need:
        literals = tuple(
            _fact(literal)._replace(makeable=gives is None or self._is_makeable(_fact(literal), gives))
            for literal in clause.literals
        )
        names = frozenset(arg for literal in literals for arg in literal.args if arg in parameters)
        return Need(literals, names, all(literal.predicate in self.positional for literal in literals))

    def _is_makeable(self, needed: Fact, gives: Fact) -> bool:
        """Whether some action makes a precondition so without needing first what the precondition is for.

        To take a mug from a desk it must be there; putting it there would need the mug in hand, which is what taking
        it is for.
        """
        if self.companion(needed.predicate) and not needed.negated:
            return True
        for schema in self.schemas:
            for effect in schema.effects:
                if (effect.atom.predicate, effect.negated) != (needed.predicate, needed.negated):
                    continue
                binding = {arg: f"{arg}'" for arg in schema.variables}
                binding |= dict(zip(effect.atom.args, needed.args, strict=True))
                wanted = [
                    _fact(literal)._replace(args=tuple(binding.get(arg, arg) for arg in literal.atom.args))
                    for clause in schema.preconditions
                    for literal in clause.literals
                    if len(clause.literals) == 1
                ]
                if gives not in wanted:
                    return True
        return False

    def plan(self, situation: Situation, order: Order | None = None) -> Plan:
        """What to do in a situation."""
        order = order if order is not None else likely_places(self.rules)
        purpose = self.rules.purpose
        plan = _Graph(self, situation, order).plan(purpose) if purpose is not None else Plan()
        first = _Graph(self, situation, order).first_things() if self.rules.lore.always else ()
        if first:
            return replace(plan, options=first)
        return plan if plan.options or plan.cost == 0 else _Graph(self, situation, order).explore()

    def commands(self, situation: Situation) -> Iterator[str]:
        """Every action over the names that are known, whether it can be done or not."""
        names = {**self.lasting_names, **situation.belief.names}
        for schema in self.rules.environment:
            parameters = schema.variables
            for chosen in product(*(names.get(name, ()) for name in parameters)):
                yield _command(schema, dict(zip(parameters, chosen, strict=True)))

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
        needed = [_fact(clause.literals[0]) for clause in schema.preconditions if len(clause.literals) == 1]
        gives = next((fact for fact in map(_fact, schema.effects[:1]) if fact not in needed), None)
        needs = [self._need(clause, gives, tuple(instance.binding)) for clause in schema.preconditions]
        graph = _Graph(self, situation, likely_places(self.rules))
        return graph.remedy(needs, instance.binding)


def _command(schema: ActionSchema, binding: Mapping[str, str]) -> str:
    return PARAMETER.sub(lambda match: binding[match[1]], schema.syntax[0])


def _fact(literal: Literal) -> Fact:
    return Fact(literal.atom.predicate, literal.atom.args, literal.negated)


class _Graph:
    """The actions that matter in one situation."""

    def __init__(self, reasoner: Reasoner, situation: Situation, order: Order) -> None:
        self._reasoner = reasoner
        self._facts = situation
        self._order = order
        self._lore = reasoner.rules.lore
        self._names = {**reasoner.lasting_names, **situation.belief.names}
        self._roles: dict[str, set[str]] = {}
        for role, names in self._names.items():
            for name in names:
                self._roles.setdefault(name, set()).add(role)
        self._known: dict[tuple[str, tuple[str, ...]], bool | None] = {}
        self._made: dict[tuple[str, tuple[str, ...], bool], bool] = {}
        self._edges: dict[Fact, list[Edge]] = {}
        self._costs: dict[Fact, float] = {}
        self._here: dict[str, list[str]] = {}

    def plan(self, purpose: Purpose) -> Plan:
        for imagined in (False, True):
            bindings = list(self._bindings(purpose, self._facts.goal, imagined=imagined))
            ways = [way for binding in bindings if (way := self._goal_edge(purpose, binding)) is not None]
            furthest = max((stages for stages, _ in ways), default=0)
            if self._reaches([edge for stages, edge in ways if stages == furthest]):
                stage = furthest if purpose.staged else None
                return Plan(self._options(), self._progress(purpose), self._costs[GOAL], stage)
        return Plan()

    def remedy(self, needs: Sequence[Need], binding: Mapping[str, str]) -> Remedy:
        """What to do first so that all of some needs hold in the end. To search elsewhere is no remedy."""
        wanted = [self._judge(need, binding) for need in sorted(needs, key=lambda need: need.moving)]
        reached = self._reaches([Edge(GOAL, tuple(fact for _, _, fact in wanted if fact is not None), 0.0)])
        options = self._options() if reached and all(value is not False for value, _, _ in wanted) else ()
        if options:
            chain = options[0].chain
            instance = self._reasoner.rules.instance(chain[0].command)
            elsewhere = instance is not None and set(instance.binding.values()).isdisjoint(binding.values())
            return Remedy("" if chain[0].reveals and elsewhere else chain[0].command, chain[-1].fact.atom)
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

    def _ways_in_principle(self, fact: Fact) -> Iterator[tuple[Way, dict[str, str]]]:
        """The ways to make a fact so, with the names that it has, whether they can be gone or not."""
        for way in self._reasoner.makers.get((fact.predicate, fact.negated), ()):
            if all(map(self._suits, way.fact.args, fact.args)):
                yield way, dict(zip(way.fact.args, fact.args, strict=True))

    def _fixed(self, need: Need) -> Fact | None:
        """Of facts of which one would do, one that no action changes."""
        makers = self._reasoner.makers
        return next((fact for fact in need.literals if (fact.predicate, fact.negated) not in makers), None)

    def first_things(self) -> tuple[Option, ...]:
        """What restores the facts without which nothing else can be done; nothing where they hold."""
        broken = [clause for clause in self._lore.always if clause.truth(self._facts) is Truth.FALSE]
        edge = self._edge_to((need, {}) for need in _wanted(Step("", tuple(broken)))) if broken else None
        return self._options() if edge is not None and self._reaches([edge]) else ()

    def _reaches(self, edges: list[Edge]) -> bool:
        """Price all that leads to the goal by some edges; whether one of them can be had."""
        self._edges[GOAL] = edges
        self._regress(fact for edge in edges for fact in edge.needs)
        self._price()
        return self._costs.get(GOAL, inf) < inf

    def explore(self) -> Plan:
        """What to do where nothing is known of how to reach the goal: find out whatever is unknown."""
        edges = []
        for ways in self._reasoner.revealers.values():
            for way in ways:
                free = [name for name in way.fact.args if name != ANYTHING]
                for chosen in product(*(self._names.get(name, ()) for name in free)):
                    binding = dict(zip(free, chosen, strict=True))
                    fact = way.fact._replace(
                        args=tuple(binding.get(arg, UNSEEN) for arg in way.fact.args), makeable=False
                    )
                    if self._truth(fact) is None:
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

    def _goal_edge(self, purpose: Purpose, binding: Mapping[str, str]) -> tuple[int, Edge] | None:
        """One way to reach the goal: how many of its stages are behind, and what is left to be done, in order."""
        steps, reached = purpose.steps, 0
        if purpose.staged:
            reached = self._reached(purpose, binding)
            steps = steps[reached : reached + 1]
        edge = self._edge_to(need for step in steps for need in self._wants(purpose, step, binding))
        if edge is None:
            return None
        edge.binding = binding
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
        self, purpose: Purpose, step: Step, binding: Mapping[str, str]
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

    # First pass: regression.

    def _regress(self, wanted: Iterable[Fact]) -> None:
        queue = [fact for fact in wanted if fact not in self._edges]
        while queue:
            fact = queue.pop()
            if fact in self._edges:
                continue
            self._edges[fact] = edges = list(self._ways(fact))
            queue.extend(need for edge in edges for need in edge.needs if need not in self._edges)

    def _ways(self, fact: Fact) -> Iterator[Edge]:
        """The edges that lead to a fact that does not hold."""
        if fact.predicate == "or":
            yield from (Edge(fact, (Fact(*one),), 0.0) for one in fact.args)
            return
        if self._truth(fact) is None and not (fact.makeable and self._can_make(fact)):
            price = SEARCH + UNLIKELY * self._rank(fact.args)
            for way in self._reasoner.revealers.get(fact.predicate, ()):
                yield from self._ground(way, fact, price)
        if not fact.makeable:
            return
        direct = False
        for way in self._reasoner.makers.get((fact.predicate, fact.negated), ()):
            for edge in self._ground(way, fact) if not way.circular else ():
                direct = True
                yield edge
        companion = self._reasoner.companion(fact.predicate)
        if companion and not fact.negated and not direct:
            yield from self._by_companion(companion, fact)

    def _by_companion(self, companion: str, fact: Fact) -> Iterator[Edge]:
        """Being at one thing is being at all that is in the same place: ways there by another name."""
        for way in self._reasoner.makers.get((fact.predicate, False), ()):
            (name,) = way.fact.args
            others = [Fact(companion, (other, *fact.args), makeable=False) for other in self._names.get(name, ())]
            for together in [each for each in others if self._truth(each) is True] or others:
                value, price, need = self._judge(Need((together,), frozenset(), moving=False), {})
                if value is False:
                    continue
                if need is not None:  # to find out is to be there
                    yield Edge(fact, (need,), price)
                    continue
                for edge in self._ground(way, fact._replace(args=together.args[:1]), price):
                    edge.fact = fact
                    yield edge

    def _places(self, predicate: str) -> Sequence[str]:
        """Where the agent is, in the sense of a predicate that says so: where moving would change nothing.

        The belief alone is asked, since from where the agent is more follows.
        """
        if predicate not in self._here:
            self._here[predicate] = [
                name
                for way in self._reasoner.makers.get((predicate, False), ())
                for name in self._names.get(way.fact.args[0], ())
                if all(
                    effect.bind({way.fact.args[0]: name}).truth(self._facts) is Truth.TRUE
                    for effect in way.schema.effects
                )
            ]
        return self._here[predicate]

    def _ground(self, way: Way, fact: Fact, price: float = 0.0) -> Iterator[Edge]:
        """A way to a fact with all names filled in, each time in another manner."""
        binding: dict[str, str] = {}
        for parameter, name in zip(way.fact.args, fact.args, strict=True):
            if parameter == ANYTHING:
                continue
            if parameter not in way.parameters:
                if kind_of(name) != parameter:
                    return  # what it brings about is about a thing by its name
            elif binding.setdefault(parameter, name) != name or not self._suits(parameter, name):
                return
        free = [name for name in way.parameters if name not in binding]
        for filled, needs, extra in self._fill(binding, free, way.needs, [], 0.0):
            cost = way.schema.steps + price + extra
            yield Edge(fact, needs, cost, way.schema, way.reveals, filled)

    def _suits(self, parameter: str, name: str) -> bool:
        """Whether a name can stand for a parameter: what is known to be there in another role alone cannot.

        Nor can an unknown one for what lasting facts list.
        """
        roles = self._roles.get(name)
        return parameter in roles if roles is not None else parameter not in self._reasoner.lasting_names

    def _fill(
        self,
        binding: dict[str, str],
        free: Sequence[str],
        left: Sequence[Need],
        found: Sequence[tuple[bool, Fact]],
        price: float,
    ) -> Iterator[tuple[dict[str, str], tuple[Fact, ...], float]]:
        """Fill in names one by one; what can be judged already is, so that few are tried in vain."""
        found = list(found)
        later: list[Need] = []
        for need in left:
            if free and not need.names.issubset(binding):
                later.append(need)
                continue
            value, extra, fact = self._judge(need, binding)
            if value is False:
                return
            price += extra
            if fact is not None:
                found.append((need.moving, fact))
        if free:
            for name in self._worth_trying(free[0], binding, later):
                yield from self._fill({**binding, free[0]: name}, free[1:], later, found, price)
        else:
            if len(found) > 1:
                found.sort(key=_moving)
            yield binding, tuple([fact for _, fact in found]), price

    def _worth_trying(self, parameter: str, binding: Mapping[str, str], needs: Sequence[Need]) -> Sequence[str]:
        """The names for a parameter; of places to look in, where the thing was found, or the likeliest left."""
        names = self._names.get(parameter, ())
        for need in needs:
            literal = need.literals[0]
            if parameter not in literal.args or literal.makeable or literal.predicate not in self._reasoner.revealers:
                continue
            found: list[str] = []
            left: list[tuple[int, str]] = []
            for name in names:
                args = tuple([name if arg == parameter else binding.get(arg, arg) for arg in literal.args])
                value = self._value(literal.predicate, args)
                if value is None:
                    left.append((self._rank(args), name))
                elif value is not literal.negated:
                    found.append(name)
            return found or [name for _, name in sorted(left, key=_rank_alone)[:PLACES]]
        return names

    def _judge(self, need: Need, binding: Mapping[str, str]) -> tuple[bool | None, float, Fact | None]:
        """Judge a precondition: whether it can be had at all, what taking it for granted costs, what is left to do."""
        left: list[Fact] = []
        granted = False
        reasoner = self._reasoner
        for literal in need.literals:
            args = tuple([binding.get(arg, arg) for arg in literal.args])
            value = self._value(literal.predicate, args)
            if value is not None and value is not literal.negated:
                return True, 0.0, None
            fact = Fact(literal.predicate, args, literal.negated, literal.makeable)
            makeable = literal.makeable and self._can_make(fact)
            revealable = value is None and literal.predicate in reasoner.revealers
            sure = need.wanted or (
                makeable and (literal.predicate in reasoner.positional or (not literal.negated and _is_unseen(args)))
            )
            if value is None and not sure and (makeable or need.given or not revealable):
                granted = True
            elif makeable or revealable:
                left.append(fact)
        if granted:
            return None, GRANTED, None
        if not left:
            return False, inf, None
        return None, 0.0, left[0] if len(left) == 1 else Fact("or", tuple(left))  # type: ignore[arg-type]

    def _can_make(self, fact: Fact) -> bool:
        """Whether any action gives such a fact, with names in the roles that they have."""
        key = (fact.predicate, fact.args, fact.negated)
        if key not in self._made:
            reasoner = self._reasoner
            ways = reasoner.makers.get((fact.predicate, fact.negated), ())
            self._made[key] = (bool(reasoner.companion(fact.predicate)) and not fact.negated) or any(
                not way.circular
                and all(
                    self._suits(parameter, name) if parameter in way.parameters else kind_of(name) == parameter
                    for parameter, name in zip(way.fact.args, fact.args, strict=True)
                )
                for way in ways
            )
        return self._made[key]

    def _truth(self, fact: Fact) -> bool | None:
        value = self._value(fact.predicate, fact.args)
        return value if value is None or not fact.negated else not value

    def _value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        key = (predicate, args)
        if key not in self._known:
            table = self._lore.facts.get(predicate)
            if table is not None:
                self._known[key] = args[1] in table.get(args[0], ())
            else:
                truth = self._facts.truth(Atom(predicate, args))
                self._known[key] = None if truth is Truth.UNKNOWN else truth is Truth.TRUE
                companion = self._reasoner.companion(predicate) if truth is Truth.UNKNOWN else ""
                if companion and any(self._value(companion, (place, *args)) for place in self._places(predicate)):
                    self._known[key] = True
        return self._known[key]

    def _rank(self, args: Sequence[str]) -> int:
        """How unlikely a place is for a thing, by the order in which places are searched."""
        kinds = [kind_of(arg) for arg in args]
        said = self._facts.goal.places()
        for thing in kinds:
            known = {place: rank for rank, place in enumerate(said[thing])} if thing in said else self._order.get(thing)
            if known:
                return min(known.get(place, len(known) + UNLISTED) for place in kinds if place is not thing)
        usual = self._order.get(self._facts.goal.object, {})
        return min((usual.get(place, len(usual) + UNLISTED) for place in kinds), default=0)

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
                elif edge.schema is None or _is_unseen(edge.named):
                    continue  # nothing can be done to what nobody has seen
                elif edge.command not in options or options[edge.command][0] > more:
                    options[edge.command] = (more, ways)
        found = sorted(options.items(), key=lambda item: item[1][0])
        return tuple(Option(command, regret, tuple(map(self._link, ways))) for command, (regret, ways) in found)

    def _link(self, edge: Edge) -> Link:
        return Link(edge.command, edge.fact, edge.reveals, edge.schema in self._lore.processes)

    def _first(self, edge: Edge) -> Fact:
        """What to see to first: in order, but of like facts the one that is nearest."""
        first = edge.needs[0]
        if edge.fact is not GOAL:
            return first
        like = [need for need in edge.needs if (need.predicate, need.negated) == (first.predicate, first.negated)]
        return min(like, key=lambda need: self._costs[need])

    # How far along.

    def _progress(self, purpose: Purpose) -> Progress:
        best = min((edge for edge in self._edges[GOAL] if not edge.waiting), key=lambda edge: edge.total)
        if purpose.staged:
            return self._stage(purpose, best)
        things = [thing for name, thing in best.binding.items() if self._is_sought(purpose, name)]
        left = self._left(best)
        stones = dict.fromkeys(
            stone
            for step in purpose.steps
            for clause in step.until
            for stone in self._milestones(_fact(clause.literals[0].bind(best.binding)), things)
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
        ways = self._reasoner.makers.get((fact.predicate, fact.negated), ())
        if thing is None or not ways or fact.predicate in self._reasoner.positional or fact in above:
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


def _is_unseen(names: Iterable[str]) -> bool:
    return any(name[-1:] == "?" for name in names)


def _rank_alone(item: tuple[int, str]) -> int:
    return item[0]


def _choosy(need: Need) -> bool:
    """Sorts needs that no action can see to before others: they rule out most names."""
    return any(literal.makeable for literal in need.literals)


def _moving(item: tuple[bool, Fact]) -> bool:
    return item[0]


def _wanted(step: Step) -> list[Need]:
    """What ends a stage, as needs that are never taken for granted."""
    return [Need(tuple(map(_fact, clause.literals)), frozenset(), moving=False, wanted=True) for clause in step.until]
