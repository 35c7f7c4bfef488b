"""The three-tier rule manual of Section 3.2: rules as text, actions as the schemas of
`rpms.logic.actions`.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, wraps
from itertools import combinations
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from rpms.logic.actions import (
    ActionSchema,
    DoubtfulActions,
    Giving,
    Hopes,
    Instance,
    WayToWrite,
    by_effect,
    by_revelation,
    fixed_words,
    ways_to_write,
)
from rpms.logic.facts import Atom, Clause, Kinds, Literal, Truth, kind_of
from rpms.logic.quantities import Decided, Quantity, decided_by

ANYTHING = "_"
"""Stands in what an action reveals for whatever there is."""
_LONGEST_COMMAND = 300
"""No world has a longer command; what a model writes beyond it is not worth matching."""
_INSTANCES_KEPT = 50_000
"""Number of commands whose reading an episode's rules remember."""
_GOALS_KEPT = 256
"""Goals whose rules a manual keeps prepared, at some 150 kB each: more than are played at once."""
Given = ParamSpec("Given")
Derived = TypeVar("Derived")


class Tier(StrEnum):
    """The tiers, from general to particular."""

    UNIVERSAL = "universal"
    DOMAIN = "domain"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A fact that a manual may name, and how to say it."""

    name: str
    args: tuple[str, ...] = ()
    yes: str = ""
    """Sentence for a true fact, with the arguments in angle brackets: `<place> is open`."""
    no: str = ""
    exclusive: str = ""
    """At most one such fact holds at a time (one place, one hand). `always`, or the name of a
    two-place predicate that says when two of them hold together: being `at` a drawer is being at
    all that share its location."""
    lasting: bool = False
    """True if it follows from the kinds of its arguments and the goal alone: a microwave heats
    eggs wherever it is."""

    @property
    def companion(self) -> str:
        """The two-place predicate that says when two such facts hold together; mostly empty."""
        return "" if self.exclusive == "always" else self.exclusive

    def say(self, atom: Atom, value: Truth) -> str:
        """One fact in words, such as `drawer 3 is closed`."""
        text = self.no if value is Truth.FALSE and self.no else self.yes
        if not text:
            text = f"{'not ' if value is Truth.FALSE else ''}{atom}"
        for name, arg in zip(self.args, atom.args, strict=False):
            text = text.replace(f"<{name}>", arg)
        return f"unknown whether {text}" if value is Truth.UNKNOWN else text


@dataclass(frozen=True, slots=True)
class Prohibition:
    """An action that a rule forbids while a condition holds."""

    action: str
    when: tuple[Clause, ...]

    def __str__(self) -> str:
        if not self.when:
            return f"{self.action} always"
        return f"{self.action} when {' and '.join(map(str, self.when))}"


@dataclass(frozen=True, slots=True)
class Locality:
    """Places at which objects of a category are usually found, likeliest first."""

    category: str
    objects: tuple[str, ...]
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence with an id. What else it carries lets it be checked, not only read."""

    id: str
    tier: Tier
    group: str
    text: str
    goals: frozenset[str] = frozenset()
    """The goal types it is for; none means all."""
    when: tuple[Clause, ...] = ()
    """A rule with a condition is shown only while the condition is known to hold."""
    forbids: tuple[Prohibition, ...] = ()
    locality: Locality | None = None

    def concerns(self, goal_type: str, *named: str) -> bool:
        """True if it belongs to R_D(type). A rule on where things are found does only if the goal
        names one of its objects.
        """
        if self.goals and goal_type not in self.goals:
            return False
        if self.locality is None or not any(named):
            return True
        return not set(named).isdisjoint(self.locality.objects)


class RuleBan(NamedTuple):
    """A prohibition, with the rule that it is of."""

    rule: Rule
    ban: Prohibition


@dataclass(frozen=True)
class Stage:
    """A stage of a procedure, and the facts that end it."""

    name: str
    until: tuple[Clause, ...]

    @property
    def wants(self) -> list[Literal]:
        """Every literal of these facts."""
        found: list[Literal] = []
        for clause in self.until:
            found += clause.literals
        return found

    @cached_property
    def spoken_of(self) -> frozenset[str]:
        """The variables and names in these facts."""
        return frozenset[str]().union(*[clause.names for clause in self.until])


@dataclass(frozen=True)
class Purpose:
    """Facts that goals of a type need, over variables bound to things that the goal's fields name.

    Variables of one field are different things. Of a goal's facts all must hold in the end, and
    they are worked on in their order; a procedure's steps are stages: one is passed when its facts
    hold, or those of a later one.
    """

    name: str
    over: Mapping[str, str]
    """Variable → field of the goal: `{x: object, p: destination}`; a value that is no field
    of the goal is taken literally."""
    steps: tuple[Stage, ...]
    goals: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    """The goal's objects it is for; none means all."""
    staged: bool = False
    """True if it is a procedure."""
    each: Mapping[str, str] = field(default_factory=dict)
    """Like `over`, for variables that stand for every such thing, not for one: `{i:
    ingredients}`."""

    @cached_property
    def interchangeable(self) -> bool:
        """True if variables of one field may trade places: two mugs in one cabinet are the same
        two either way.
        """
        if self.staged:
            return False
        wanted: set[Clause] = set()
        for step in self.steps:
            wanted.update(step.until)
        for one, other in combinations(self.over, 2):
            swap = {one: other, other: one}
            is_same_field = self.over[one] == self.over[other]
            if is_same_field and {clause.bind(swap) for clause in wanted} != wanted:
                return False
        return True

    @cached_property
    def sought(self) -> tuple[str, ...]:
        """The variables for things that have to be had, rather than for places."""
        first: set[str] = set()
        for literal in self.wants:
            first.update(literal.atom.args[:1])
        return tuple(name for name in self.over if name in first)

    @property
    def wants(self) -> list[Literal]:
        """Every literal of its facts."""
        found: list[Literal] = []
        for step in self.steps:
            found += step.wants
        return found


@dataclass(frozen=True)
class Lore:
    """Knowledge for plans beyond the actions: processes, permanent facts, things that come
    first.
    """

    processes: tuple[ActionSchema, ...] = ()
    """Changes that come with time, and uses of commands that only plans know: `wait` melts the
    content of a pot on a hot stove."""
    facts: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Permanent facts, by predicate and first name: `adjoins` → `hallway` → rooms next to it.
    Others are false."""
    always: tuple[Clause, ...] = ()
    """Facts that must hold before anything else can be done: `not asked`."""
    localities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Usual places of things, likeliest first."""
    kinds: Mapping[str, Kinds] = field(default_factory=dict)
    """Facts about kinds of things, by predicate; untried ones are unknown."""
    quantities: tuple[Quantity, ...] = ()
    """Numbers that are measured and driven; by these, a belief's readings decide facts."""
    doubts: tuple[DoubtfulActions, ...] = ()
    """Actions against lines of the manual, at a price (`planning.trust`); only plans use them."""
    hopes: Hopes | None = None
    """Doubts that actions may bring about more than the manual states; there are some only where
    there are `doubts`."""

    @cached_property
    def decided(self) -> Decided:
        """The predicates that quantities decide."""
        return decided_by(self.quantities)

    def row(self, predicate: str, name: str) -> Container[str]:
        """All that a permanent fact is true of, beside a name: by itself or by its kind."""
        table = self.facts[predicate]
        return table.get(name) or table.get(kind_of(name)) or ()

    def holds(self, predicate: str, args: tuple[str, ...]) -> bool:
        """True if a permanent fact is listed for two names, or for the kind of the second."""
        row = self.row(predicate, args[0])
        return args[1] in row or kind_of(args[1]) in row


@dataclass(frozen=True, eq=False)
class ActiveRules:
    """R_active = R_U ∪ R_D(type) ∪ R_E: what the manual says for one goal.

    One object for all steps of an episode.
    """

    universal: tuple[Rule, ...] = ()
    domain: tuple[Rule, ...] = ()
    environment: tuple[ActionSchema, ...] = ()
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    purpose: Purpose | None = None
    """The goal as facts: its procedure if the manual has one, else the facts that must hold."""
    lore: Lore = field(default_factory=Lore)
    goals: tuple[Purpose, ...] = ()
    """Purposes of other goals."""
    purposes: tuple[tuple[Purpose, float], ...] = ()
    """Alternatives to the purpose, for when it held without a win; each with a price."""
    _instances: dict[str, Instance | None] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    kept: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)
    """Values derived from these rules, for the steps to come (`kept_with_rules`)."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (*self.universal, *self.domain)

    @cached_property
    def all_actions(self) -> tuple[ActionSchema, ...]:
        """All that plans are made of: the actions and the processes."""
        return (*self.environment, *self.lore.processes)

    @cached_property
    def giving(self) -> Giving:
        """The actions and processes by what they bring about."""
        return by_effect(self.all_actions)

    @cached_property
    def shown(self) -> frozenset[str]:
        """The predicates of facts that some action makes known."""
        return frozenset([each.seen.atom.predicate for each in by_revelation(self.all_actions)])

    @cached_property
    def positional(self) -> frozenset[str]:
        """The predicates that say where the agent is: those of the actions that change nothing
        else.
        """
        found: set[str] = set()
        for action in self.all_actions:
            if all(self._is_moving(effect) for effect in action.effects):
                found.update(effect.atom.predicate for effect in action.effects)
        return frozenset(found)

    def _is_moving(self, effect: Literal) -> bool:
        declared = self.predicates.get(effect.atom.predicate)
        return declared is not None and bool(declared.exclusive) and not effect.negated

    @cached_property
    def companions(self) -> Mapping[str, str]:
        """For each exclusive predicate, the predicate of two that says which of its facts hold
        together, if any.
        """
        found: dict[str, str] = {}
        for name, declared in self.predicates.items():
            if declared.companion:
                found[name] = declared.companion
        return found

    @cached_property
    def lasting_names(self) -> Mapping[str, Sequence[str]]:
        """Names in permanent facts, by the parameter that they can fill."""
        found: dict[str, dict[str, None]] = {}
        for name, table in self.lore.facts.items():
            role = self.predicates[name].args[0]
            found.setdefault(role, {}).update(dict.fromkeys(table))
        return {role: tuple(names) for role, names in found.items()}

    @cached_property
    def prohibitions(self) -> Mapping[str, Sequence[RuleBan]]:
        """Prohibitions, by the action they are about."""
        found: dict[str, list[RuleBan]] = {}
        for rule in self.rules:
            for ban in rule.forbids:
                found.setdefault(ban.action, []).append(RuleBan(rule, ban))
        return found

    @cached_property
    def bans(self) -> Mapping[str, Mapping[Clause, RuleBan]]:
        """Prohibitions as needs, by action: a clause that holds while the rule does not forbid
        it.
        """
        found: dict[str, dict[Clause, RuleBan]] = {}
        for action, prohibitions in self.prohibitions.items():
            for one in prohibitions:
                when = (*one.rule.when, *one.ban.when)
                if all(len(clause.literals) == 1 for clause in when):
                    allowed = Clause(tuple(clause.literals[0].opposite() for clause in when))
                    found.setdefault(action, {})[allowed] = one
        return found

    def key_of(self, schema: ActionSchema) -> str:
        """The name of an action among lines; a process is another thing than the action it is
        done by.
        """
        is_process = id(schema) in self.process_ids
        return f"process {schema.name}" if is_process else schema.name

    @cached_property
    def process_ids(self) -> frozenset[int]:
        """The processes, by identity: one may equal an action."""
        return frozenset(map(id, self.lore.processes))

    def needs_of(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """Needs of an action: its preconditions, and that no rule forbids it."""
        return (*schema.preconditions, *self.bans.get(schema.name, ()))

    def needs_to_plan(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """Needs of an action that come before it in a plan: its preconditions, those for plans
        alone, and that no rule forbids it; without the bans that a doubt leaves out.
        """
        bans = self._bans_to_plan_by.get(schema.name, ())
        if bans and schema.waives:
            bans = tuple([ban for ban in bans if ban not in schema.waives])
        return (*schema.preconditions, *schema.plan, *bans)

    @cached_property
    def _bans_to_plan_by(self) -> Mapping[str, tuple[Clause, ...]]:
        """Conditions without which rules forbid an action, by action.

        A ban on a fact without arguments is judged when it comes up: a plan for a full hand would
        take just anything.
        """
        found: dict[str, tuple[Clause, ...]] = {}
        for action, bans in self.bans.items():
            found[action] = tuple(filter(_is_about_things, bans))
        return found

    @cached_property
    def deeds(self) -> frozenset[str]:
        """Predicates of facts that actions cause and none needs, such as that an object was
        heated.
        """
        caused: set[str] = set()
        needed: set[str] = set()
        for schema in self.environment:
            caused |= {effect.atom.predicate for effect in schema.effects if not effect.negated}
            for clause in schema.preconditions:
                for literal in clause.literals:
                    # an action may need that it was not done yet: no file is signed twice
                    is_undone = literal.negated and literal.opposite() in schema.effects
                    if not is_undone:
                        needed.add(literal.atom.predicate)
        return frozenset(caused - needed)

    def instance(self, command: str) -> Instance | None:
        """Read a command as an instance of an action; None if no schema fits."""
        try:
            return self._instances[command]
        except KeyError:
            found = self._read_command(command)
        if len(self._instances) >= _INSTANCES_KEPT:
            self._instances.clear()
        self._instances[command] = found
        return found

    def _read_command(self, command: str) -> Instance | None:
        if len(command) > _LONGEST_COMMAND:
            return None
        for way in self._ways_to_write:
            match = way.syntax.pattern.fullmatch(command)
            if match is not None:
                return Instance(way.schema, match.groupdict())
        return None

    @cached_property
    def _ways_to_write(self) -> list[WayToWrite]:
        """Every way to write an action, the more specific first: `take <x> from <y>` before
        `take <x>`.
        """
        return sorted(
            ways_to_write(self.environment), key=lambda way: -fixed_words(way.syntax.text)
        )

    def say(self, atom: Atom, value: Truth) -> str:
        """One fact in the manual's words."""
        predicate = self.predicates.get(atom.predicate) or Predicate(atom.predicate)
        return predicate.say(atom, value)


def _is_about_things(clause: Clause) -> bool:
    """True if each of its facts has arguments."""
    return all(literal.atom.args for literal in clause.literals)


def kept_with_rules(
    derive: Callable[Concatenate[ActiveRules, Given], Derived],
) -> Callable[Concatenate[ActiveRules, Given], Derived]:
    """Decorate a function of rules: its results are kept as long as the rules are."""

    @wraps(derive)
    def find(rules: ActiveRules, /, *given: Given.args, **named: Given.kwargs) -> Derived:
        key = (derive, *given, *named.items())
        found: Derived
        try:
            found = rules.kept[key]
        except KeyError:
            found = rules.kept[key] = derive(rules, *given, **named)
        return found

    return find


@dataclass(frozen=True)
class RuleManual:
    """ℛ: the whole manual. The empty one is the neutral element: no rules."""

    rules: tuple[Rule, ...] = ()
    actions: tuple[ActionSchema, ...] = ()
    predicates: Mapping[str, Predicate] = field(default_factory=dict)
    world: str = ""
    purposes: tuple[Purpose, ...] = ()
    """Purposes of goals, procedures first."""
    lore: Lore = field(default_factory=Lore)
    _active: dict[tuple[str, ...], ActiveRules] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def of_tiers(self, tiers: Iterable[Tier]) -> Self:
        """The manual with only some of its tiers; the names of its facts stay."""
        kept = frozenset(tiers)
        if kept.issuperset(Tier):
            return self
        rules = tuple(rule for rule in self.rules if rule.tier in kept)
        if Tier.ENVIRONMENT in kept:
            return replace(self, rules=rules)
        return replace(self, rules=rules, actions=(), lore=Lore())

    def active(self, goal_type: str, *named: str) -> ActiveRules:
        """Assemble R_active for a goal type; with the things it names, the localities of other
        things are left out.
        """
        key = (goal_type, *named)
        found = self._active.get(key)
        if found is None:
            if len(self._active) >= _GOALS_KEPT:
                self._forget_earliest()
            found = self._active[key] = self._assemble(goal_type, named)
        return found

    def _assemble(self, goal_type: str, named: tuple[str, ...]) -> ActiveRules:
        """The rules that bear on one goal type; tier 1 and the actions bear on all."""
        universal: list[Rule] = []
        domain: list[Rule] = []
        for rule in self.rules:
            if rule.tier is Tier.UNIVERSAL:
                universal.append(rule)
            elif rule.tier is Tier.DOMAIN and rule.concerns(goal_type, *named):
                domain.append(rule)
        return ActiveRules(
            tuple(universal),
            tuple(domain),
            self.actions,
            self.predicates,
            self._purpose_of(goal_type, named[:1]),
            self.lore,
            self.purposes,
        )

    def _purpose_of(self, goal_type: str, goal_object: Iterable[str]) -> Purpose | None:
        """The first purpose of a goal type that is for any object, or for this one."""
        for purpose in self.purposes:
            is_for_object = not purpose.objects or not purpose.objects.isdisjoint(goal_object)
            if goal_type in purpose.goals and is_for_object:
                return purpose
        return None

    def _forget_earliest(self) -> None:
        """Drop the rules of half the goals that are kept, the earliest."""
        for earlier in list(self._active)[: _GOALS_KEPT // 2]:
            self._active.pop(earlier, None)

    def bare(self) -> Self:
        """The manual without rules, procedures and lore. Left are the goals, and the actions with
        their needs and effects; of these, a prompt without rules tells the syntax alone.
        """
        goals = tuple(each for each in self.purposes if not each.staged)
        return replace(self, rules=(), purposes=goals, lore=Lore())
