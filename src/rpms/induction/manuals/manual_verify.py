"""A manual held against episodes: what it would have blocked, what it recognised, what it
foretold.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rpms.induction.evidence.linked_attempts import unseen_name
from rpms.induction.evidence.recorded_episodes import ReplayedStep, replayed
from rpms.induction.evidence.templates import verb_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, Instance
from rpms.logic.belief import Situation, has_asked
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.planning.set_off import processes_of
from rpms.planning.unfinished_goals import bindings_met
from rpms.store.evidence import Trace, Witness
from rpms.worlds.base import World


@dataclass
class Verdicts:
    """Agreement of an action's schema with what happened."""

    allowed: int = 0
    blocked: int = 0  # Of what the world allowed, what the guard would have blocked: wanted none
    refused: int = 0
    recognised: int = 0  # Of what the world refused, what the guard would have blocked
    predicted: int = 0
    seen: int = 0  # Of the effects of successes that are known afterwards, those that came about

    def add(self, other: "Verdicts") -> None:
        self.allowed += other.allowed
        self.blocked += other.blocked
        self.refused += other.refused
        self.recognised += other.recognised
        self.predicted += other.predicted
        self.seen += other.seen


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something that the world allowed and the manual forbids."""

    action: str
    clause: Clause  # The precondition that was false, over the action's parameters
    names: tuple[str, ...]
    """Those of its parameters."""
    command: str
    witness: Witness


class _Case(NamedTuple):
    """An independent witness: what an effect was foretold of in an episode, however often."""

    episode: str
    effect: Literal


@dataclass
class _Record:
    """The outcomes of one case: how often the effect came about, and the steps without it."""

    came: int = 0
    missed: list[Witness] = field(default_factory=list)

    @property
    def is_missed(self) -> bool:
        """True unless it mostly came about."""
        return len(self.missed) >= self.came


@dataclass
class Foretold:
    """One effect of an action or a process, in the cases in which it was foretold."""

    cases: dict[_Case, _Record] = field(default_factory=dict)

    @property
    def missed(self) -> list[Witness]:
        """The first step of each case in which it did not come about."""
        return [record.missed[0] for record in self.cases.values() if record.is_missed]

    @property
    def seen(self) -> int:
        """Cases in which it came about."""
        return len(self.cases) - len(self.missed)

    def count(self, effect: Literal, value: Truth, witness: Witness) -> None:
        """Count if it came about; the same of the same things in an episode is one case."""
        if value is Truth.UNKNOWN:
            return
        record = self.cases.setdefault(_Case(witness.episode, effect), _Record())
        if value is Truth.TRUE:
            record.came += 1
        else:
            record.missed.append(witness)

    def fails(self, claimed: float = 1.0) -> bool:
        """True if it came about clearly less often than claimed: beyond the exceptions that are
        tolerated.
        """
        missed = len(self.missed)
        if missed < LIMITS.several:
            return False
        share = 1 - missed / len(self.cases)
        least = 1 - LIMITS.exceptions if claimed == 1 else LIMITS.often * claimed
        return share < least


class SchemaEffect(NamedTuple):
    """An effect over the parameters of an action or a process."""

    schema: str
    effect: Literal


@dataclass
class Verification:
    """A manual's record on some episodes."""

    actions: dict[str, Verdicts] = field(default_factory=dict)
    blocked: list[Blocked] = field(default_factory=list)
    effects: dict[SchemaEffect, Foretold] = field(default_factory=dict)
    goals: dict[str, list[Witness]] = field(default_factory=dict)
    """By goal type, steps after which all that the manual wants held and the game went on: then
    it is no goal."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Commands that the world took and that are no action of the manual, by their first word."""
    episodes: int = 0
    steps: int = 0

    @property
    def total(self) -> Verdicts:
        """All actions together."""
        total = Verdicts()
        for verdicts in self.actions.values():
            total.add(verdicts)
        return total

    def judge(self, instance: Instance, step: ReplayedStep) -> None:
        """Count what an action's schema says of one step."""
        name = instance.schema.name
        verdicts = self.actions.setdefault(name, Verdicts())
        broken = _broken_needs(instance, step.before)
        if step.refused:
            verdicts.refused += 1
            verdicts.recognised += bool(broken)
            return
        verdicts.allowed += 1
        verdicts.blocked += bool(broken)
        names = tuple(instance.binding.values())
        command = step.spoken.command
        for clause in broken:
            blocked = Blocked(name, clause, names=names, command=command, witness=step.witness)
            self.blocked.append(blocked)
        for effect, bound in zip(instance.schema.effects, instance.effects, strict=True):
            value = bound.truth(step.after)
            verdicts.predicted += value is not Truth.UNKNOWN
            verdicts.seen += value is Truth.TRUE
            self.count(_ForetoldEffect(SchemaEffect(name, effect), bound, value), step.witness)

    def count(self, foretold: "_ForetoldEffect", witness: Witness) -> None:
        """Count if an effect of an action or a process came about."""
        record = self.effects.setdefault(foretold.effect, Foretold())
        record.count(foretold.bound, foretold.value, witness)


def _broken_needs(instance: Instance, before: Situation) -> list[Clause]:
    """Preconditions, over the action's parameters, that were known not to hold."""
    pairs = zip(instance.schema.preconditions, instance.preconditions, strict=True)
    return [clause for clause, bound in pairs if bound.truth(before) is Truth.FALSE]


def verify(manual: RuleManual, world: World, traces: Iterable[Trace]) -> Verification:
    """Hold a manual against episodes: preconditions, effects, processes and goals."""
    found = Verification()
    for trace in traces:
        found.episodes += 1
        goal = world.goal(trace.opening)
        rules = manual.active(goal.type, goal.object, goal.destination)
        for step in replayed(world, trace):
            found.steps += 1
            if not has_asked(step.before.belief) and not has_asked(step.after.belief):
                _verify_step(found, rules, step)
    return found


def _verify_step(found: Verification, rules: ActiveRules, step: ReplayedStep) -> None:
    """Hold the rules for a goal against one step."""
    command = step.spoken.command
    instance = rules.instance(command)
    if instance is not None:
        found.judge(instance, step)
    else:
        found.unknown[verb_of(command)] += not step.refused
    if step.refused:
        return
    for foretold in _foretold_by_processes(rules, step):
        found.count(foretold, step.witness)
    over = step.spoken.won or step.spoken.lost
    if not over and _all_wanted_holds(rules, step.after):
        found.goals.setdefault(step.after.goal.type, []).append(step.witness)


class _ForetoldEffect(NamedTuple):
    """An effect that a process has on a command's way, and if it came about."""

    effect: SchemaEffect
    bound: Literal  # Of which things
    value: Truth


def _foretold_by_processes(rules: ActiveRules, step: ReplayedStep) -> Iterator[_ForetoldEffect]:
    """Effects that processes foretell of a command.

    Of a thing that no need tells, an effect may come about of any: it holds if one of them has it.
    """
    came: dict[tuple[SchemaEffect, Literal], list[Truth]] = {}
    before = step.before.belief
    after = step.after.belief
    entered = {unseen_name(before, after): after.location or ""}
    for process, names in processes_of(rules, step.spoken.command, step.before):
        given = _names_given(process, names)
        for effect in process.effects:
            key = (SchemaEffect(process.name, effect), effect.bind(given))
            value = effect.bind(names).bind(entered).truth(step.after)
            came.setdefault(key, []).append(value)
    for (foretold, bound), values in came.items():
        yield _ForetoldEffect(foretold, bound, _best_value(values))


def _names_given(process: ActionSchema, names: Mapping[str, str]) -> dict[str, str]:
    """A process's names, without those that neither its command nor a need tells."""
    free = set(process.others)
    for need in process.preconditions:
        free.difference_update(need.names)
    return {name: thing for name, thing in names.items() if name not in free}


def _best_value(values: Collection[Truth]) -> Truth:
    """True if one is; else false if one is."""
    for value in (Truth.TRUE, Truth.FALSE):
        if value in values:
            return value
    return Truth.UNKNOWN


def _all_wanted_holds(rules: ActiveRules, after: Situation) -> bool:
    """True if all that the goal wants holds, where that is a set of facts about single things."""
    purpose = rules.purpose
    if purpose is None or purpose.staged or purpose.each:
        return False
    return next(iter(bindings_met(purpose, after)), None) is not None


def table(found: Verification) -> Iterator[tuple[str, ...]]:
    """The rows of a table: one for each action, one for all."""
    yield "action", "allowed", "blocked", "refused", "recognised", "effects", "seen"
    for name, verdicts in (*sorted(found.actions.items()), ("all", found.total)):
        yield (
            name,
            f"{verdicts.allowed:,}",
            f"{verdicts.blocked:,}",
            f"{verdicts.refused:,}",
            _share(verdicts.recognised, verdicts.refused),
            f"{verdicts.predicted:,}",
            _share(verdicts.seen, verdicts.predicted),
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
