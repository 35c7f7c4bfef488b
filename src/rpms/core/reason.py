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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import count, permutations, product
from math import inf
from typing import NamedTuple

from rpms.core.belief import Situation
from rpms.core.facts import Atom, Clause, Literal, Truth, kind_of
from rpms.core.goal import Goal, Progress
from rpms.core.rules import ANYTHING, PARAMETER, ActionSchema, ActiveRules, Purpose, Step

GRANTED = 0.5
"""Steps that it costs to take an unknown fact for granted."""
SEARCH = 2.0
"""Steps that a look costs beyond the way there: it may well be in vain."""
UNLIKELY = 2.0
"""Steps that one place further down in the order of likely places counts."""


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
    command: str = ""
    schema: ActionSchema | None = None
    reveals: bool = False
    binding: Mapping[str, str] = field(default_factory=dict)
    waiting: int = 0
    total: float = 0.0
    """Its cost with all that it needs, once that is known."""


class Link(NamedTuple):
    """One action of a plan, with the fact it serves."""

    command: str
    fact: Fact
    reveals: bool


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
    progress: Progress = Progress("explore", "", 0, 1)
    cost: float = inf


Order = Mapping[str, Mapping[str, int]]
"""Where a kind is likely to be found: kind → kind of place → its rank, 0 first."""


def likely_places(rules: ActiveRules, experience: Iterable[tuple[str, str]] = ()) -> Order:
    """The order in which places are searched: the manual's localities, then what experience found where."""
    order = {
        kind: {place: rank for rank, place in enumerate(places)} for kind, places in rules.lore.localities.items()
    }
    for rule in rules.domain:
        for kind in rule.locality.objects if rule.locality else ():
            known = order.setdefault(kind, {})
            for place in rule.locality.places if rule.locality else ():
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
            for effect in schema.effects:
                fact = Fact(effect.atom.predicate, effect.atom.args, effect.negated)
                clauses = (*schema.preconditions, *schema.plan)
                circular = fact in [_fact(clause.literals[0]) for clause in clauses if len(clause.literals) == 1]
                needs = tuple(self._need(clause, None if circular else fact, parameters) for clause in clauses)
                key = (fact.predicate, fact.negated)
                found[key] = (*found.get(key, ()), Way(schema, parameters, fact, needs, circular=circular))
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
                needs += [self._need(clause, None, parameters) for clause in (*schema.preconditions, *schema.plan)]
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
        """The predicates that say where the agent is: all that an action changes which moves it."""
        movers = [
            schema
            for schema in self.rules.environment
            if any(self.companion(effect.atom.predicate) for effect in schema.effects if not effect.negated)
        ]
        return frozenset(effect.atom.predicate for schema in movers for effect in schema.effects)

    def companion(self, predicate: str) -> str:
        """The predicate of two that says which facts of an exclusive one hold together."""
        declared = self.rules.predicates.get(predicate)
        return declared.exclusive if declared is not None and declared.exclusive != "always" else ""

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
        graph = _Graph(self, situation, order if order is not None else likely_places(self.rules))
        return graph.first_things() or (graph.plan(self.rules.purpose) if self.rules.purpose else None) or graph.explore()


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
        self._edges: dict[Fact, list[Edge]] = {}
        self._costs: dict[Fact, float] = {}
        self._here: dict[str, list[str]] = {}

    def plan(self, purpose: Purpose) -> Plan | None:
        """What serves a purpose; None if nothing does."""
        for imagined in (False, True):
            ways = [
                found
                for binding in self._bindings(purpose, self._facts.goal, imagined=imagined)
                if (found := self._goal_edge(purpose, binding)) is not None
            ]
            furthest = max((stage for stage, _ in ways), default=0)
            if self._reaches([edge for stage, edge in ways if stage == furthest]):
                return Plan(self._options(), self._progress(purpose), self._costs[GOAL])
        return None

    def first_things(self) -> Plan | None:
        """What restores the facts without which nothing else can be done; None where they hold."""
        for clause in self._lore.always:
            if clause.truth(self._facts) is not Truth.FALSE:
                continue
            edge = self._edge_to([Need(tuple(map(_fact, clause.literals)), frozenset(), moving=False, wanted=True)])
            if edge is not None and self._reaches([edge]):
                return Plan(self._options(), cost=self._costs[GOAL])
        return None

    def explore(self) -> Plan:
        """What shows more of the world, the nearest first: for goals that no plan is known for."""
        sights = [way for ways in self._reasoner.revealers.values() for way in ways if ANYTHING in way.fact.args]
        facts = dict.fromkeys(
            way.fact._replace(args=tuple("anything ?" if arg == ANYTHING else filled[arg] for arg in way.fact.args))
            for way in sights
            for filled in self._namings(tuple(arg for arg in way.fact.args if arg != ANYTHING))
        )
        edges = [Edge(GOAL, (fact._replace(makeable=False),), 0.0) for fact in facts if self._truth(fact) is None]
        return Plan(self._options(), cost=self._costs[GOAL]) if self._reaches(edges) else Plan()

    def _namings(self, parameters: tuple[str, ...]) -> Iterator[dict[str, str]]:
        for chosen in product(*(self._names.get(name, ()) for name in parameters)):
            yield dict(zip(parameters, chosen, strict=True))

    def _reaches(self, edges: list[Edge]) -> bool:
        """Price everything that leads to some edges; whether one of them can be had."""
        self._edges[GOAL] = edges
        self._regress(fact for edge in edges for fact in edge.needs)
        self._price()
        return self._costs.get(GOAL, inf) < inf

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
            choices.append(
                [dict(zip(variables, chosen, strict=True)) for chosen in permutations(known, len(variables))]
            )
        for chosen in product(*choices):
            yield {name: thing for binding in chosen for name, thing in binding.items()}

    def _goal_edge(self, purpose: Purpose, binding: Mapping[str, str]) -> tuple[int, Edge] | None:
        """One way to reach the goal: how many of its stages are past, and what is left to be done, in order."""
        wanted, passed = [self._wanted(purpose, step, binding) for step in purpose.steps], 0
        if purpose.staged:
            passed = self._passed(wanted)
            wanted = wanted[passed : passed + 1]
        edge = self._edge_to(need for step in wanted for need in step)
        if edge is None:
            return None
        edge.binding = binding
        return passed, edge

    def _edge_to(self, wanted: Iterable[Need]) -> Edge | None:
        needs: list[Fact] = []
        cost = 0.0
        for need in wanted:
            value, price, fact = self._clause(need)
            if value is False:
                return None
            cost += price
            needs += [fact] if fact is not None else []
        return Edge(GOAL, tuple(dict.fromkeys(needs)), cost)

    def _wanted(self, purpose: Purpose, step: Step, binding: Mapping[str, str]) -> list[Need]:
        """What a step wants, of everything that it speaks of."""
        every: list[Mapping[str, str]] = [binding]
        named = frozenset(arg for clause in step.until for literal in clause.literals for arg in literal.atom.args)
        for name, source in purpose.each.items():
            if name in named:
                word = self._facts.goal.named(source) or source
                things = self._facts.belief.called(word) or (f"{word} ?",)
                every = [{**one, name: thing} for one in every for thing in things]
        return [need for one in every for need in _bound(step.until, one)]

    def _passed(self, wanted: Sequence[Sequence[Need]]) -> int:
        """How many stages are past: all up to the last whose facts hold."""
        reached = [bool(step) and all(self._clause(need)[0] is True for need in step) for step in wanted]
        return max((place for place, done in enumerate(reached) if done), default=-1) + 1

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
            yield from (Edge(fact, (Fact(*one),), 0.0) for one in fact.args)  # type: ignore[misc]
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
            known = [together for together in others if self._truth(together) is True]
            for together in known or others:
                other = together.args[0]
                value, price, need = self._clause(Need((together,), frozenset(), moving=False))
                if value is False:
                    continue
                if need is not None:  # to find out is to be there
                    yield Edge(fact, (need,), price)
                    continue
                for edge in self._ground(way, fact._replace(args=(other,)), price):
                    edge.fact = fact
                    yield edge

    def _is_done(self, way: Way, binding: Mapping[str, str]) -> bool:
        """Whether an action would change nothing."""
        return all(self._truth(_fact(effect.bind(binding))) is True for effect in way.schema.effects)

    def _places(self, predicate: str) -> Sequence[str]:
        """Where the agent is, in the sense of a predicate that says so."""
        if predicate not in self._here:
            self._here[predicate] = [
                name
                for way in self._reasoner.makers.get((predicate, False), ())
                for name in self._names.get(way.fact.args[0], ())
                if self._is_done(way, {way.fact.args[0]: name})
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
                    return  # the effect is on a thing by its name
            elif binding.setdefault(parameter, name) != name or not self._suits(parameter, name):
                return
        free = [name for name in way.parameters if name not in binding]
        for filled, needs, extra in self._fill(binding, free, way.needs, [], 0.0):
            schema = way.schema
            command = PARAMETER.sub(lambda match, filled=filled: filled[match[1]], schema.syntax[0])  # type: ignore[misc]
            yield Edge(fact, needs, schema.steps + price + extra, command, schema, way.reveals, filled)

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
            if not need.names.issubset(binding):
                later.append(need)
                continue
            value, extra, fact = self._clause(_fill_in(need, binding))
            if value is False:
                return
            price += extra
            if fact is not None:
                found.append((need.moving, fact))
        if free:
            for name in self._names.get(free[0], ()):
                yield from self._fill({**binding, free[0]: name}, free[1:], later, found, price)
        else:
            found.sort(key=_moving)
            yield binding, tuple(dict.fromkeys(fact for _, fact in found)), price

    def _clause(self, need: Need) -> tuple[bool | None, float, Fact | None]:
        """Judge a precondition: whether it can be had at all, what taking it for granted costs, what is left to do."""
        left: list[Fact] = []
        granted = False
        for fact in need.literals:
            value = self._truth(fact)
            if value is True:
                return True, 0.0, None
            makeable = fact.makeable and self._can_make(fact)
            revealable = value is None and fact.predicate in self._reasoner.revealers
            sure = need.wanted or (fact.predicate in self._reasoner.positional and makeable)
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
        if self._reasoner.companion(fact.predicate) and not fact.negated:
            return True
        return any(
            not way.circular
            and all(
                self._suits(parameter, name) if parameter in way.parameters else kind_of(name) == parameter
                for parameter, name in zip(way.fact.args, fact.args, strict=True)
            )
            for way in self._reasoner.makers.get((fact.predicate, fact.negated), ())
        )

    def _truth(self, fact: Fact) -> bool | None:
        key = (fact.predicate, fact.args)
        try:
            value = self._known[key]
        except KeyError:
            table = self._lore.facts.get(fact.predicate)
            if table is not None:
                truth = Truth.of(fact.args[1] in table.get(fact.args[0], ()))
            else:
                truth = self._facts.truth(Atom(*key))
            value = None if truth is Truth.UNKNOWN else truth is Truth.TRUE
            companion = self._reasoner.companion(fact.predicate)
            if companion and value is None and self._known.setdefault(key, None) is None:
                together = (Fact(companion, (place, *fact.args)) for place in self._places(fact.predicate))
                value = True if any(self._truth(each) is True for each in together) else None
            self._known[key] = value
        return value if value is None or not fact.negated else not value

    def _rank(self, args: Sequence[str]) -> int:
        """How unlikely a place is for a thing, by the order in which places are searched."""
        kinds = [kind_of(arg) for arg in args]
        said = self._facts.goal.places()
        for thing in kinds:
            known = {place: rank for rank, place in enumerate(said[thing])} if thing in said else self._order.get(thing)
            if known:
                return min(known.get(place, len(known) + 1) for place in kinds if place is not thing)
        usual = self._order.get(self._facts.goal.object, {})
        return min((usual.get(place, len(usual) + 1) for place in kinds), default=0)

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
        heap: list[tuple[float, int, Fact, tuple[Link, ...]]] = [(0.0, next(number), GOAL, ())]
        reached: set[Fact] = set()
        options: dict[str, Option] = {}
        while heap:
            regret, _, fact, above = heappop(heap)
            if fact in reached:
                continue
            reached.add(fact)
            for edge in self._edges[fact]:
                if edge.waiting:
                    continue
                more = regret + edge.total - self._costs[fact]
                chain = (Link(edge.command, fact, edge.reveals), *above) if edge.command else above
                if edge.needs:
                    heappush(heap, (more, next(number), self._first(edge), chain))
                elif edge.command and (edge.command not in options or options[edge.command].regret > more):
                    options[edge.command] = Option(edge.command, more, chain)
        return tuple(sorted(options.values(), key=lambda option: option.regret))

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
            for need in _bound(step.until, best.binding)
            for stone in self._milestones(need.literals[0], things)
        )
        todo = [stone for stone in stones if stone.fact in left or (stone.found and "?" in stone.thing)]
        if not todo:
            return Progress("done", "", len(stones), len(stones))
        first = self._first(best) if best.needs else None
        chain = {stone.fact for stone in self._milestones(first, things)} if first is not None else set()
        current = next((stone for stone in todo if stone.fact in chain), todo[0])
        target = kind_of(current.thing) if current.found else current.thing
        return Progress(current.name, target, len(stones) - len(todo), len(stones))

    def _stage(self, purpose: Purpose, best: Edge) -> Progress:
        done = self._passed([self._wanted(purpose, step, best.binding) for step in purpose.steps])
        name = purpose.steps[done].name if done < len(purpose.steps) else "done"
        return Progress(name, next(iter(best.binding.values()), ""), done, len(purpose.steps))

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

    def _milestones(self, fact: Fact, things: Sequence[str]) -> Iterator[_Milestone]:
        """The facts about a thing on the way to a fact, in their order: found, then in hand, then heated."""
        fact = fact._replace(makeable=True)
        thing = next((arg for arg in fact.args if arg in things), None)
        ways = self._reasoner.makers.get((fact.predicate, fact.negated), ())
        if thing is None or not ways or fact.predicate in self._reasoner.positional:
            return
        way = ways[0]
        binding = dict(zip(way.fact.args, fact.args, strict=True))
        role = next((name for name, bound in binding.items() if bound == thing), "object")
        before = [
            literal._replace(args=tuple(binding.get(arg, arg) for arg in literal.args))
            for need in way.needs
            if (literal := need.literals[0]).makeable and self._can_make(literal)
        ]
        stones = [stone for literal in before for stone in self._milestones(literal, things) if stone.thing == thing]
        yield from stones or [_Milestone(Fact("found", (thing,)), f"find_{role}", thing, found=True)]
        yield _Milestone(fact, f"{way.schema.name}_{role}", thing)


class _Milestone(NamedTuple):
    fact: Fact
    name: str
    thing: str
    found: bool = False


def _moving(item: tuple[bool, Fact]) -> bool:
    return item[0]


def _fill_in(need: Need, binding: Mapping[str, str]) -> Need:
    literals = tuple(
        Fact(
            literal.predicate, tuple([binding.get(arg, arg) for arg in literal.args]), literal.negated, literal.makeable
        )
        for literal in need.literals
    )
    return need._replace(literals=literals)


def _bound(clauses: Iterable[Clause], binding: Mapping[str, str]) -> list[Need]:
    return [
        Need(tuple(_fact(literal.bind(binding)) for literal in clause.literals), frozenset(), moving=False, wanted=True)
        for clause in clauses
    ]
