"""The manual prepared for planning: ways to make a fact so and to find out about it, and what
is kept between steps.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any, NamedTuple, Self

from rpms.logic.actions import ActionSchema, Giving, Revelation, by_effect, role_of
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import ANYTHING, ActiveRules, Stage, kept_with_rules

_EITHER = "<either>"
"""Predicate of several facts of which one would do. No manual can write a name with brackets, so
that it never meets a predicate of a user's own."""


class Fact(NamedTuple):
    """A fact to bring about, as planning handles it."""

    predicate: str
    args: tuple[str, ...]
    negated: bool = False
    makeable: bool = True
    """True if actions may bring it about; otherwise it can only be found to be so."""

    @classmethod
    def either(cls, facts: Sequence["Fact"]) -> "Fact":
        """One of several facts, whichever is had first."""
        if len(facts) == 1:
            return facts[0]
        return cls(_EITHER, tuple(facts))  # type: ignore[arg-type]

    @property
    def alternatives(self) -> tuple["Fact", ...]:
        """Facts of which one is enough; nothing for a single fact."""
        if self.predicate != _EITHER:
            return ()
        return tuple([Fact(*each) for each in self.args])

    @property
    def atom(self) -> Atom:
        return Atom(self.predicate, self.args)

    def bound(self, binding: Mapping[str, str]) -> Self:
        """The fact with names in place of parameters."""
        return type(self)(
            self.predicate,
            tuple(map(binding.get, self.args, self.args)),
            self.negated,
            self.makeable,
        )


class Need(NamedTuple):
    """A precondition over the parameters of a schema, ready to be bound."""

    literals: tuple[Fact, ...]
    names: frozenset[str]
    """The parameters it is about."""
    moving: bool
    """True if it is about where the agent is: to be seen to last, since all else may lead
    elsewhere."""
    given: bool = False
    """True if it is only the condition of a revelation."""
    wanted: bool = False
    """True if it is the goal's own, and so never taken for granted."""


class Level(NamedTuple):
    """One parameter that a fact leaves open, in the order in which they are filled."""

    parameter: str
    needs: tuple[Need, ...]
    """The needs that can be judged once it has a name."""
    later: tuple[Need, ...]
    """All that could not be judged before it."""
    sought: Fact | None
    """The first need that says where something is: names are tried by what is known of it."""
    filters: tuple[Need, ...]
    """Needs of one fact about the parameter, by which names are ruled out before they are tried."""
    listed: tuple[Fact, ...]
    """Permanent facts among these about another name and the parameter: a table lists its names."""


@dataclass(frozen=True)
class Achiever:
    """A schema as a way to a fact: to make it so, or to reveal it."""

    schema: ActionSchema
    parameters: tuple[str, ...]
    fact: Fact
    needs: tuple[Need, ...]
    reveals: bool = False
    circular: bool = False
    """True if it needs the very fact it gives: one goes to a room that is near, and then it is
    near."""
    waived: tuple[Need, ...] = ()
    """Needs that a doubt leaves out: where one holds, there is nothing to doubt."""
    shape: int = 0
    """Number that ways share if they differ in price and name alone: their parameters are filled
    alike."""

    def priced_as(self, schema: ActionSchema) -> Self:
        """The way by an action that differs in its price alone.

        Derived values (`bound`) are kept: `replace` would drop them, and trust changes the prices
        of hundreds of doubts at a time.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self), schema=schema)
        return other

    @cached_property
    def bound(self) -> tuple[Need, ...]:
        """The needs that can be judged by the names of the fact alone."""
        free = [name for name in self.parameters if name not in self.fact.args]
        return tuple(need for need in self.needs if not free or need.names.issubset(self.fact.args))

    def levels(self, revealed: Container[str], tables: Container[str]) -> tuple[Level, ...]:
        """The parameters that the fact leaves open, one level each, in the order of the action.

        `revealed`: predicates that looking tells; `tables`: those that tables list.
        """
        named = set(self.fact.args)
        open_needs = _without(self.needs, self.bound)
        free = [name for name in self.parameters if name not in named]
        found: list[Level] = []
        for name in free:
            named.add(name)
            judged = open_needs
            if name != free[-1]:
                judged = tuple(need for need in open_needs if need.names <= named)
            found.append(_level(name, judged, open_needs, revealed, tables))
            open_needs = _without(open_needs, judged)
        return tuple(found)


def _without(needs: Iterable[Need], others: Container[Need]) -> tuple[Need, ...]:
    return tuple(need for need in needs if need not in others)


def _level(
    name: str,
    judged: tuple[Need, ...],
    open_needs: tuple[Need, ...],
    revealed: Container[str],
    tables: Container[str],
) -> Level:
    """One parameter with the needs that can be judged once it has a name."""
    filters = _needs_of_one_fact(judged, name)
    listed = tuple(need.literals[0] for need in filters if _is_listed(need, name, tables))
    sought = _sought(open_needs, name, revealed)
    return Level(name, judged, open_needs, sought, filters, listed)


def _needs_of_one_fact(needs: Iterable[Need], parameter: str) -> tuple[Need, ...]:
    """Needs of a single fact that is about the parameter."""
    single = [need for need in needs if len(need.literals) == 1]
    return tuple(need for need in single if parameter in need.literals[0].args)


def _is_listed(need: Need, parameter: str, tables: Container[str]) -> bool:
    """True if a table lists the names that the parameter may have, beside another name."""
    fact = need.literals[0]
    if fact.negated or fact.makeable or fact.predicate not in tables:
        return False
    return fact.args[1] == parameter


def _sought(needs: Iterable[Need], parameter: str, revealed: Container[str]) -> Fact | None:
    """The first fact about the parameter that only looking tells."""
    for need in needs:
        fact = need.literals[0]
        if parameter in fact.args and not fact.makeable and fact.predicate in revealed:
            return fact
    return None


@dataclass(frozen=True, eq=False)
class Offer:
    """Ways to a fact, in the order of the manual; of hundreds, few are asked for at a time."""

    ways: tuple[Achiever, ...] = ()

    def __iter__(self) -> Iterator[Achiever]:
        return iter(self.ways)

    def __len__(self) -> int:
        return len(self.ways)

    @cached_property
    def _by_price(self) -> list[tuple[float, int]]:
        """Their prices, the least first, each with the way's place."""
        return sorted([(way.schema.steps, place) for place, way in enumerate(self.ways)])

    def between(self, least: float, most: float) -> list[Achiever]:
        """The ways that cost at least so much, and less than that, in their order."""
        first = bisect_left(self._by_price, (least,))
        last = bisect_left(self._by_price, (most,))
        places = sorted([place for _, place in self._by_price[first:last]])
        return [self.ways[place] for place in places]

    def least_from(self, price: float) -> float:
        """The lowest price that is at least this much; infinite if no way costs that much."""
        place = bisect_left(self._by_price, (price,))
        return self._by_price[place][0] if place < len(self.ways) else inf


class Judged(NamedTuple):
    """A need, judged in a situation."""

    possible: bool | None
    """True if it holds, False if it cannot be had, None if it can be brought about or assumed."""
    price: float
    """Steps that assuming it is worth."""
    left: Fact | None
    """The fact to achieve, if there is one."""


_INDEXES_AT_WORK = 128
"""Indexes that keep what they derived in one step for the next, at some 1 MB each."""
_OF_ONE_STEP = ("answers", "doubting", "doubts", "groundworks", "reaches", "graph", "best graph")
"""Entries that an index keeps for the next step alone."""
_WAYS_KEPT = 4_000
"""Ways that are found by the identity of their action; prices change, and make others of them."""
_used: dict["Achievers", None] = {}  # The latest used last
_using = Lock()


class Passing(NamedTuple):
    """Names with which a need may hold."""

    names: set[str]
    holding: set[str]
    """The names among them with which it holds."""
    read: dict[Any, Any]
    """The answers from which this follows."""
    asked: frozenset[str]
    """The names these answers are about."""


class Found(NamedTuple):
    """Edges that lead to a fact."""

    edges: Sequence[Any]
    read: dict[Any, Any]
    """The answers they rest on."""
    left_out: float
    """The cost of the cheapest way left out."""
    asked: frozenset[str]
    """All names that were asked about."""


class Expanded(NamedTuple):
    """The edges to each fact, for a goal and an order of places."""

    goal: Goal | None
    order: object
    every: dict[Fact, Found]
    best: dict[Fact, Found]
    """Only the edges that a best plan may have."""


class Fill(NamedTuple):
    """The names that fill a way's parameters for one fact."""

    filled: Sequence[Any]
    read: dict[Any, Any]
    """The answers from which this follows."""
    asked: frozenset[str]
    """All names that these are about."""
    moment: int
    """The moment at which this was last found to follow."""


class KnownNames:
    """Names that a situation knows, and what follows from them and the manual; the next step
    starts with what stays.
    """

    def __init__(
        self,
        lasting: Mapping[str, Sequence[str]],
        known: Mapping[str, Sequence[str]],
        before: Self | None,
        numbered: Iterable[str] = (),
    ) -> None:
        names: Mapping[str, Sequence[str]] = before.names if before is not None else {}
        same = {role: names[role] for role, every in known.items() if names.get(role) == every}
        self.known = known  # of what is the same, the same object
        self.names: dict[str, Sequence[str]] = {**lasting, **known, **same}
        for parameter in numbered:
            self.names.setdefault(parameter, self.names.get(role_of(parameter), ()))
        was: Mapping[str, frozenset[str]] = before.called if before is not None else {}
        self.called: dict[str, frozenset[str]] = {
            role: was[role] if every is names.get(role) else frozenset(every)
            for role, every in self.names.items()
        }
        self.every = frozenset().union(*self.called.values())
        self.strangers: set[str] = set()
        """Names that were asked about and not known."""
        self.made: dict[tuple[str, tuple[str, ...], bool], bool] = {}
        """True if some action causes the fact."""
        self.judged: dict[tuple[int, tuple[str, ...], bool | None], Judged] = {}
        """Needs of one fact, by its value."""
        self.passed: dict[tuple[object, ...], Passing] = {}
        self.stones: dict[str, dict[object, Any]] = {}
        """Facts and things derived for progress."""
        self.expanded = Expanded(None, None, {}, {})
        self.fills: dict[tuple[int, bool, tuple[str, ...]], Fill] = {}
        """Names for the parameters of ways, by shape, for the best plan alone or for all, and by
        fact; for the goal and order of `expanded`."""
        if before is not None:
            self._take_over(before)

    def _take_over(self, before: Self) -> None:
        """Keep what was derived from names and roles that have not changed."""
        roles = self._changed_roles(before)
        changed = self._changed_names(before, roles)
        self.strangers = before.strangers - self.every
        # copied at once: another episode may write to them meanwhile
        self.made = before.made.copy()
        self.judged = before.judged.copy()
        if changed:
            self._forget(changed)
        else:
            self.stones = {key: each.copy() for key, each in before.stones.items()}
        changed_or_role = changed | roles
        for key, passing in before.passed.copy().items():
            if changed_or_role.isdisjoint(passing.asked):
                self.passed[key] = passing
        expanded = before.expanded
        self.expanded = expanded._replace(
            every=_apart_from(changed_or_role, expanded.every),
            best=_apart_from(changed_or_role, expanded.best),
        )
        for key, fill in before.fills.copy().items():
            if changed_or_role.isdisjoint(fill.asked):
                self.fills[key] = fill

    def _changed_roles(self, before: Self) -> frozenset[str]:
        """Roles whose names have changed; unchanged names are the same object as before."""
        every = before.called.keys() | self.called.keys()
        was = before.called.get
        is_now = self.called.get
        return frozenset([role for role in every if was(role) is not is_now(role)])

    def _changed_names(self, before: Self, roles: Iterable[str]) -> frozenset[str]:
        """Names that have come or gone in these roles, and that something was derived about."""
        nobody = frozenset[str]()
        changed: set[str] = set()
        for role in roles:
            changed |= before.called.get(role, nobody) ^ self.called.get(role, nobody)
        return frozenset(changed & before.every | changed & before.strangers)

    def _forget(self, changed: frozenset[str]) -> None:
        """Drop what was derived about some names."""
        made = self.made.items()
        self.made = {key: each for key, each in made if changed.isdisjoint(key[1])}
        judged = self.judged.items()
        self.judged = {key: each for key, each in judged if changed.isdisjoint(key[1])}


def _apart_from(names: frozenset[str], edges: dict[Fact, Found]) -> dict[Fact, Found]:
    """The edges that rest on no answer about these names."""
    kept: dict[Fact, Found] = {}
    for fact, found in edges.copy().items():
        if names.isdisjoint(found.asked):
            kept[fact] = found
    return kept


def asked_about(read: Iterable[Any], names: Iterable[str] = ()) -> frozenset[str]:
    """All names that answers are about, and roles, beside some that are known."""
    return frozenset(names).union(*[key[1] if type(key) is tuple else (key,) for key in read])


class Answers(NamedTuple):
    """A belief's answers about a goal, filled on demand."""

    belief: Belief
    goal: Goal
    told: dict[tuple[str, tuple[str, ...]], bool | None]
    """The belief's own answers, for all indexes over the same rules."""
    known: dict[tuple[str, tuple[str, ...]], bool | None]
    """The belief's answers, and what one index concludes about the agent's places."""
    possible: dict[tuple[object, ...], Passing]
    here: dict[str, list[str]]
    reached: dict[tuple[object, ...], int]
    """Stages behind, by purpose and things."""
    moment: int


class Groundwork:
    """All that is derived for one index and holds for every other with the same `reach`.

    It keeps the needs alive, since judgements are kept by their identity.
    """

    def __init__(self, asker: Self | None = None) -> None:
        """`asker`: the groundwork that asks the belief for this one too."""
        self._asker = asker
        self.names: KnownNames | None = None
        self.answers: Answers | None = None
        self._needs: dict[Need, Need] = {}
        self._shapes: dict[object, int] = {}
        self.made: dict[object, Achiever] = {}
        """Actions and doubts as ways to their effects."""
        self.made_of: dict[tuple[int, int], Achiever] = {}
        """These ways by the identity of action and effect, which is a faster key; a way keeps its
        action alive."""
        self.levels: dict[int, tuple[Level, ...]] = {}
        """The parameters that a way's fact leaves open, by its shape."""
        self._moments = 0

    def need(self, need: Need) -> Need:
        """The one object for all needs that are equal."""
        return self._needs.setdefault(need, need)

    def shape(self, *parts: object) -> int:
        """A number for all ways with the same parts."""
        return self._shapes.setdefault(parts, len(self._shapes))

    def answers_of(self, situation: Situation) -> Answers:
        """The answers of a belief, asked for in one step."""
        belief, goal, kept = situation.belief, situation.goal, self.answers
        if kept is None or kept.belief is not belief or kept.goal is not goal:
            self._moments += 1
            told = {} if self._asker is None else self._asker.answers_of(situation).told
            kept = self.answers = Answers(belief, goal, told, {}, {}, {}, {}, self._moments)
        return kept

    def forget(self) -> None:
        """Drop what was kept for the next step."""
        self.made_of = {}
        self.names = None
        self.answers = None


class Achievers:
    """Index of the rules by the facts they bring about. One for all steps of an episode."""

    def __init__(self, rules: ActiveRules, asker: Groundwork | None = None) -> None:
        """`asker`: the groundwork that asks the belief for this index too."""
        self.rules = rules
        self.groundwork = Groundwork(asker)
        self.shares = False
        """True if others, at other prices, share its groundwork."""
        self._makers: dict[tuple[str, bool], Offer] = {}
        self._wanted: dict[int, list[Need]] = {}
        self._needs: dict[tuple[Clause, Fact | None, tuple[str, ...]], Need] = {}
        self._bans: dict[str, tuple[Clause, ...]] = {}
        self.kept: dict[str, Any] = {}
        """Cache from one step to the next."""

    def share(self, groundworks: dict[object, Groundwork], reaches: dict[object, object]) -> None:
        """Go on with what an index with the same reach derived; to be called before any use.

        The reach takes long to put together. Indexes over the same actions, with doubts of the
        same names, have the same: it is kept for the next one.
        """
        doubts = tuple([each.outline for each in self.rules.lore.doubts])
        outline = (self.rules.all_actions, doubts)
        reach = reaches.get(outline)
        if reach is None:
            reach = reaches[outline] = self.reach
        self.groundwork = groundworks.setdefault(reach, self.groundwork)
        self.shares = True

    @property
    def reach(self) -> tuple[object, ...]:
        """All that actions can bring about and show, at whatever price.

        Indexes that agree in this judge every need alike.
        """
        stated: list[object] = []
        for schema in self.rules.all_actions:
            stated += schema.name, schema.effects, schema.preconditions, schema.observes
        doubted: set[object] = set()
        shown: set[str] = set()
        for each in self.rules.lore.doubts:
            for schema in each.schemas:
                needed = self._single_needs(schema)
                for effect in schema.effects:
                    doubted.add((effect, schema.variables, schema.effects, effect in needed))
            shown.update(seen.atom.predicate for _, seen in each.showing)
        return tuple(stated), frozenset(doubted), frozenset(shown)

    def _single_needs(self, schema: ActionSchema) -> list[Literal]:
        """The facts that an action needs whatever else holds."""
        clauses = self._clauses(schema)
        return [clause.literals[0] for clause in clauses if len(clause.literals) == 1]

    @cached_property
    def hoped(self) -> frozenset[tuple[str, bool]]:
        """Facts that only a doubt brings about, by predicate and sign."""
        doubted = set[tuple[str, bool]]().union(*[one.giving for one in self.rules.lore.doubts])
        return frozenset(doubted - self._giving.keys())

    def makers(self, predicate: str, negated: bool = False) -> Offer:
        """The ways to make a fact so, prepared when a plan first asks for them."""
        key = (predicate, negated)
        if key not in self._makers:
            giving = (*self._giving.get(key, ()), *self._hoping(key))
            self._makers[key] = Offer(tuple([self._maker(*each) for each in giving]))
        return self._makers[key]

    @cached_property
    def _giving(self) -> Giving:
        return by_effect(self.rules.all_actions)

    def _hoping(self, key: tuple[str, bool]) -> Sequence[tuple[ActionSchema, Literal]]:
        """The doubts that bring about facts of a predicate and sign, each with its effect."""
        found: list[tuple[ActionSchema, Literal]] = []
        for each in self.rules.lore.doubts:
            found += each.giving.get(key, ())
        return found

    def _maker(self, schema: ActionSchema, effect: Literal) -> Achiever:
        """An action as a way to one of its effects, made once; if only the price has changed, a
        copy with the new price.
        """
        same = self.groundwork.made_of
        known = same.get((id(schema), id(effect)))
        if known is not None and known.schema is schema:
            return known
        if len(same) >= _WAYS_KEPT:
            same.clear()
        way = same[id(schema), id(effect)] = self._priced_maker(schema, effect)
        return way

    def _priced_maker(self, schema: ActionSchema, effect: Literal) -> Achiever:
        """An action as a way to one of its effects; at another price, if it was one before."""
        made = self.groundwork.made
        key = (schema.name, schema.syntax, schema.doubt, effect)
        way = made.get(key)
        if way is None:
            way = made[key] = self._make(schema, effect)
        if way.schema is not schema:
            way = made[key] = way.priced_as(schema)
        return way

    def _make(self, schema: ActionSchema, effect: Literal) -> Achiever:
        fact = fact_of(effect)
        parameters = schema.variables
        circular = effect in self._single_needs(schema)
        gives = None if circular else fact
        unsorted = [self.need_of(clause, gives, parameters) for clause in self._clauses(schema)]
        choosiest = sorted(unsorted, key=lambda need: any(one.makeable for one in need.literals))
        needs = tuple(choosiest)
        waived = tuple(self.need_of(clause, gives, parameters) for clause in schema.waives)
        shape = self.groundwork.shape(parameters, fact, needs, waived)
        return Achiever(
            schema, parameters, fact, needs, circular=circular, waived=waived, shape=shape
        )

    @cached_property
    def revealers(self) -> Mapping[str, Offer]:
        """The ways to find out about a fact, by predicate."""
        showing: list[tuple[ActionSchema, Revelation]] = []
        for schema in self.rules.all_actions:
            showing += [(schema, seen) for seen in schema.observes]
        for each in self.rules.lore.doubts:
            showing += each.showing
        found: dict[str, list[Achiever]] = {}
        for schema, seen in showing:
            found.setdefault(seen.atom.predicate, []).append(self._revealer(schema, seen))
        return {predicate: Offer(tuple(ways)) for predicate, ways in found.items()}

    def _revealer(self, schema: ActionSchema, seen: Revelation) -> Achiever:
        named = [arg for arg in seen.atom.args if arg != ANYTHING]
        parameters = tuple(dict.fromkeys((*schema.variables, *named)))
        needs: list[Need] = []
        for clause in seen.given:
            need = self.need_of(clause, None, parameters)
            needs.append(self.groundwork.need(need._replace(given=True)))
        for clause in self._clauses(schema):
            needs.append(self.need_of(clause, None, parameters))
        fact = Fact(seen.atom.predicate, seen.atom.args)
        shape = self.groundwork.shape(parameters, fact, tuple(needs), ())
        return Achiever(schema, parameters, fact, tuple(needs), reveals=True, shape=shape)

    def levels(self, way: Achiever) -> tuple[Level, ...]:
        """The parameters that a way's fact leaves open."""
        levels = self.groundwork.levels
        if way.shape not in levels:
            levels[way.shape] = way.levels(self.revealers, self.rules.lore.facts)
        return levels[way.shape]

    def wanted(self, step: Stage) -> list[Need]:
        """The facts that end a stage of the goal, as needs that are never taken for granted."""
        if id(step) not in self._wanted:
            self._wanted[id(step)] = self._needs_wanted(step.until)
        return self._wanted[id(step)]

    @cached_property
    def always(self) -> tuple[tuple[Clause, Need], ...]:
        """Facts that must hold before anything else can be done."""
        always = self.rules.lore.always
        return tuple(zip(always, self._needs_wanted(always), strict=True))

    def _needs_wanted(self, clauses: Sequence[Clause]) -> list[Need]:
        """Wanted facts as needs that are never taken for granted."""
        found: list[Need] = []
        for clause in clauses:
            facts = tuple(map(fact_of, clause.literals))
            need = Need(facts, frozenset(), moving=False, wanted=True)
            found.append(self.groundwork.need(need))
        return found

    @cached_property
    def lasting(self) -> frozenset[str]:
        """Predicates whose facts the manual itself lists."""
        return frozenset((*self.rules.lore.facts, *self.rules.lore.kinds))

    @cached_property
    def lasting_names(self) -> Mapping[str, Sequence[str]]:
        """Names in permanent facts, by parameter."""
        found: dict[str, dict[str, None]] = {}
        for name, table in self.rules.lore.facts.items():
            found.setdefault(self.rules.predicates[name].args[0], {}).update(dict.fromkeys(table))
        return {role: tuple(names) for role, names in found.items()}

    @cached_property
    def positional(self) -> frozenset[str]:
        """The predicates that say where the agent is: those of the actions that change nothing
        else.
        """
        found: set[str] = set()
        for action in self.rules.all_actions:
            if all(self._is_moving(effect) for effect in action.effects):
                found.update(effect.atom.predicate for effect in action.effects)
        return frozenset(found)

    def _is_moving(self, effect: Literal) -> bool:
        declared = self.rules.predicates.get(effect.atom.predicate)
        return declared is not None and bool(declared.exclusive) and not effect.negated

    @cached_property
    def companions(self) -> Mapping[str, str]:
        """For each exclusive predicate, the predicate of two that says which of its facts hold
        together, if any.
        """
        found: dict[str, str] = {}
        for name, declared in self.rules.predicates.items():
            if declared.companion:
                found[name] = declared.companion
        return found

    @cached_property
    def together(self) -> Mapping[str, Need]:
        """For each companion, the need that two things, `one` and `other`, are together; only
        found to be so.
        """
        found: dict[str, Need] = {}
        for name in self.companions.values():
            pair = Fact(name, ("one", "other"), makeable=False)
            found[name] = self.groundwork.need(Need((pair,), frozenset(), moving=False))
        return found

    @cached_property
    def processes(self) -> frozenset[int]:
        """The processes, by identity."""
        return frozenset(map(id, self.rules.lore.processes))

    @cached_property
    def numbered(self) -> tuple[str, ...]:
        """Parameters of a role that another parameter has too: `block_2`."""
        found: dict[str, None] = {}
        for schema in self.rules.all_actions:
            found |= dict.fromkeys(name for name in schema.variables if role_of(name) != name)
        return tuple(found)

    def known_names(self, known: Mapping[str, Sequence[str]]) -> KnownNames:
        """The names known now, with every conclusion from the step before that still holds."""
        kept = self.groundwork.names
        if kept is None or kept.known != known:
            kept = KnownNames(self.lasting_names, known, kept, self.numbered)
            self.groundwork.names = kept
            self._note_use()
        return kept

    def _note_use(self) -> None:
        """Take this index for the latest used; past the limit, the one not used for longest
        loses what it kept.
        """
        with _using:
            _used.pop(self, None)
            _used[self] = None
            if len(_used) > _INDEXES_AT_WORK:
                unused = next(iter(_used))
                del _used[unused]
                unused.forget()

    def forget(self) -> None:
        """Drop what was kept for the next step."""
        self.groundwork.forget()
        for of_one_step in _OF_ONE_STEP:
            self.kept.pop(of_one_step, None)

    def answers_of(self, situation: Situation) -> Answers:
        """The cached answers of this belief in this step; progress and plan ask much alike."""
        shared = self.groundwork.answers_of(situation)
        kept: Answers | None = self.kept.get("answers")
        if kept is None or kept.known is not shared.known:
            kept = self.kept["answers"] = shared._replace(reached={})  # other purposes
        return kept

    def _clauses(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """Preconditions for planning: those of the action, and that no rule forbids it."""
        # a ban on a fact without arguments is judged when it comes up: a plan for a full hand would
        # take just anything
        bans = self._bans_to_plan_by(schema.name)
        if bans and schema.waives:
            bans = tuple([ban for ban in bans if ban not in schema.waives])
        return (*schema.preconditions, *schema.plan, *bans)

    def _bans_to_plan_by(self, action: str) -> tuple[Clause, ...]:
        """Conditions without which rules forbid an action; bans on a fact without arguments are
        left out.
        """
        if action not in self._bans:
            found: list[Clause] = []
            for ban in self.rules.bans.get(action, ()):
                if all(each.atom.args for each in ban.literals):
                    found.append(ban)
            self._bans[action] = tuple(found)
        return self._bans[action]

    def need_of(self, clause: Clause, gives: Fact | None, parameters: tuple[str, ...]) -> Need:
        """A precondition, prepared once for all actions that have it and give the same: doubts
        repeat most of them.
        """
        key = (clause, gives, parameters)
        if key not in self._needs:
            self._needs[key] = self._make_need(clause, gives, parameters)
        return self._needs[key]

    def _make_need(self, clause: Clause, gives: Fact | None, parameters: tuple[str, ...]) -> Need:
        literals: list[Fact] = []
        names: set[str] = set()
        for literal in clause.literals:
            fact = fact_of(literal)
            makeable = gives is None or self._is_makeable(fact, gives)
            literals.append(fact._replace(makeable=makeable))
            names.update(arg for arg in fact.args if arg in parameters)
        moving = all(fact.predicate in self.positional for fact in literals)
        return self.groundwork.need(Need(tuple(literals), frozenset(names), moving))

    def _is_makeable(self, needed: Fact, gives: Fact) -> bool:
        """True if some action causes a precondition without needing what it is for: no mug is
        put down to be taken.
        """
        if needed.predicate in self.companions and not needed.negated:
            return True
        key = (needed.predicate, needed.negated)
        for schema, effect in self._giving.get(key) or self._hoping(key):
            binding = {arg: f"{arg}'" for arg in schema.variables}
            binding |= dict(zip(effect.atom.args, needed.args, strict=True))
            if not _needs_fact(schema, binding, gives):
                return True
        return False


@kept_with_rules
def achievers_of(rules: ActiveRules) -> Achievers:
    """The index over some rules, made once for all steps that ask for it."""
    return Achievers(rules)


def _needs_fact(schema: ActionSchema, binding: Mapping[str, str], fact: Fact) -> bool:
    """True if a fact is itself one of the preconditions, or of what plans see to."""
    for clause in (*schema.preconditions, *schema.plan):
        needed = clause.literals[0]
        if len(clause.literals) > 1 or needed.atom.predicate != fact.predicate:
            continue
        if fact_of(needed.bind(binding)) == fact:
            return True
    return False


def command_of(schema: ActionSchema, binding: Mapping[str, str]) -> str:
    """An action as it is written, with names in place of its parameters."""
    return "".join(
        [binding[piece] if place % 2 else piece for place, piece in enumerate(schema.pieces)]
    )


def fact_of(literal: Literal) -> Fact:
    """A condition as planning handles it."""
    return Fact(literal.atom.predicate, literal.atom.args, literal.negated)
