"""A manual held against episodes: what it would have blocked, what it recognised, what it
foretold.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rpms.foreign.shown import whole_letters
from rpms.induction.thresholds import LIMITS
from rpms.induction.unnamed_effects import unseen_name
from rpms.logic.actions import ActionSchema, Instance
from rpms.logic.belief import Belief, Situation, has_asked
from rpms.logic.errors import InputError
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.episode import Ending, Happening
from rpms.planning.doubtful_rules import bindings_met
from rpms.planning.surprise import processes_of
from rpms.store.episodes import EpisodeRecord
from rpms.store.evidence import TRACES, Spoken, Trace, Witness, read_traces
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

_ENDS = (Ending.WON, Ending.LOST)


def recorded(world: World, runs: Sequence[Path]) -> Iterator[Trace]:
    """The episodes of recorded runs, or of an exploration's file; those of another world are an
    InputError.
    """
    for place in runs:
        if place.name.endswith(TRACES):
            settings, traces = read_traces(place)
            _check_world(place, settings.get("world", ""), world)
            yield from traces
            continue
        run = RunFolder(place)
        _check_world(place, str(run.protocol.settings.get("world", "")), world)
        for record in run.episodes():
            if record.steps:
                yield Trace(
                    whole_letters(f"{place.name}/{record.task}"),
                    record.task,
                    record.row.type,
                    whole_letters(record.steps[0].observation),
                    spoken(record.steps, record.row.ending),
                )


_COMPARED = 5
"""Episodes of each run whose beliefs are compared with those of a replay."""


def read_differently(world: World, runs: Sequence[Path]) -> str:
    """The first recorded step that a world reads otherwise than it was read when it was played, in
    words; empty if it reads all that is compared alike.

    Goals in people's words are read by a model, and such episodes are passed over.
    """
    for place in runs:
        if place.name.endswith(TRACES):
            continue
        run = RunFolder(place)
        if "reader" in run.protocol.settings:
            continue
        for record in islice(run.episodes(), _COMPARED):
            number = _first_difference(world, record)
            if number:
                return f"{place}: {world.name} reads step {number} of {record.task} differently"
    return ""


def _first_difference(world: World, record: EpisodeRecord) -> int:
    """The first step whose belief a replay reads otherwise; 0 if there is none."""
    belief: Belief | None = None
    command: str | None = None
    for step in record.steps:
        if belief is None:
            belief = world.start(world.goal(step.observation))
        belief = world.update(belief, command, step.observation)
        if tuple(belief.lines()) != step.belief.lines:
            return step.number
        command = step.command
    return 0


def _check_world(place: Path, found: str, world: World) -> None:
    if found != world.name:
        raise InputError(
            f"{place}: was played in {found or 'no world'}, not in {world.name}; nothing was"
            " learned"
        )


def replayed(world: World, trace: Trace) -> Iterator[tuple[Spoken, Situation, Situation]]:
    """The steps of a trace, each with what was believed before and after it."""
    goal = world.goal(trace.opening)
    after = Situation(world.update(world.start(goal), None, trace.opening), goal)
    for step in trace.steps:
        before = after
        after = Situation(world.update(after.belief, step.command, step.answer), goal)
        yield step, before, after


def spoken(steps: Sequence[Happening], ending: Ending) -> tuple[Spoken, ...]:
    """Steps as a trace has them; the last one tells how the episode ended."""
    return tuple(
        Spoken(command, result, step.score, *(step is steps[-1] and ending is end for end in _ENDS))
        for step in steps
        for command, result in [map(whole_letters, (step.command, step.result))]
    )


@dataclass
class Verdicts:
    """Agreement of an action's schema with what happened."""

    allowed: int = 0
    blocked: int = 0  # Of what the world allowed, what the guard would have blocked: wanted none
    refused: int = 0
    recognised: int = 0  # Of what the world refused, what the guard would have blocked
    predicted: int = 0
    seen: int = 0  # Of the effects of successes that are known afterwards, those that came about


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something that the world allowed and the manual forbids."""

    action: str
    clause: Clause  # The precondition that was false, over the action's parameters
    kinds: tuple[str, ...]
    command: str
    witness: Witness


@dataclass
class Foretold:
    """One effect of an action or a process: the times that it came about, and the steps at
    which it did not.
    """

    seen: int = 0
    missed: list[Witness] = field(default_factory=list)

    def fails(self, claimed: float = 1.0) -> bool:
        """True if it came about clearly less often than claimed: beyond the exceptions that are
        tolerated.
        """
        if len(self.missed) < LIMITS.several:
            return False
        share = self.seen / max(1, self.seen + len(self.missed))
        least = 1 - LIMITS.exceptions if claimed == 1 else LIMITS.often * claimed
        return share < least


@dataclass
class Verification:
    """A manual's record on some episodes."""

    actions: dict[str, Verdicts] = field(default_factory=dict)
    blocked: list[Blocked] = field(default_factory=list)
    effects: dict[tuple[str, Literal], Foretold] = field(default_factory=dict)
    """By schema, a process's or an action's, and effect over its parameters."""
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
        return Verdicts(
            **{
                name: sum(vars(each)[name] for each in self.actions.values())
                for name in vars(Verdicts())
            }
        )

    def judge(
        self,
        instance: Instance,
        command: str,
        before: Situation,
        after: Situation,
        witness: Witness,
        *,
        refused: bool,
    ) -> None:
        """Count what an action's schema says of one step."""
        name = instance.schema.name
        verdicts = self.actions.setdefault(name, Verdicts())
        pairs = zip(instance.schema.preconditions, instance.preconditions, strict=True)
        broken = [clause for clause, bound in pairs if bound.truth(before) is Truth.FALSE]
        if refused:
            verdicts.refused += 1
            verdicts.recognised += bool(broken)
            return
        verdicts.allowed += 1
        verdicts.blocked += bool(broken)
        for effect, bound in zip(instance.schema.effects, instance.effects, strict=True):
            value = bound.truth(after)
            verdicts.predicted += value is not Truth.UNKNOWN
            verdicts.seen += value is Truth.TRUE
            self.count(name, effect, value, witness)
        self.blocked += [
            Blocked(name, each, tuple(instance.binding.values()), command, witness)
            for each in broken
        ]

    def count(self, name: str, effect: Literal, value: Truth, witness: Witness) -> None:
        """Count if an effect of an action or a process came about."""
        told = self.effects.setdefault((name, effect), Foretold())
        if value is Truth.FALSE:
            told.missed.append(witness)
        told.seen += value is Truth.TRUE


def verify(manual: RuleManual, world: World, traces: Iterable[Trace]) -> Verification:
    """Hold a manual against episodes: preconditions, effects, processes and goals."""
    found = Verification()
    for trace in traces:
        found.episodes += 1
        goal = world.goal(trace.opening)
        rules = manual.active(goal.type, goal.object, goal.destination)
        for number, (step, before, after) in enumerate(replayed(world, trace), 1):
            found.steps += 1
            if has_asked(before.belief) or has_asked(after.belief):
                continue
            witness = Witness(trace.episode, number)
            refused = world.infeasible(step.answer)
            instance = rules.instance(step.command)
            if instance is not None:
                found.judge(instance, step.command, before, after, witness, refused=refused)
            else:
                found.unknown[step.command.partition(" ")[0]] += not refused
            if refused:
                continue
            for foretold in _foretold_by_processes(rules, step.command, before, after):
                found.count(foretold.process, foretold.effect, foretold.value, witness)
            if not (step.won or step.lost) and _all_wanted_holds(rules, after):
                found.goals.setdefault(goal.type, []).append(witness)
    return found


class _ForetoldEffect(NamedTuple):
    """An effect that a process has on a command's way, and if it came about."""

    process: str
    effect: Literal  # Over the process's parameters
    value: Truth


def _foretold_by_processes(
    rules: ActiveRules, command: str, before: Situation, after: Situation
) -> Iterator[_ForetoldEffect]:
    """Effects that processes foretell of a command.

    Of a thing that no need tells, an effect may come about of any: it holds if one of them has it.
    """
    came: dict[tuple[str, Literal, Literal], list[Truth]] = {}
    entered = {unseen_name(before.belief, after.belief): after.belief.location or ""}
    for process, names in processes_of(rules, command, before):
        given = _names_given(process, names)
        for effect in process.effects:
            key = (process.name, effect, effect.bind(given))
            value = effect.bind(names).bind(entered).truth(after)
            came.setdefault(key, []).append(value)
    for (name, effect, _), values in came.items():
        yield _ForetoldEffect(name, effect, _best_value(values))


def _names_given(process: ActionSchema, names: Mapping[str, str]) -> dict[str, str]:
    """A process's names, without those that neither its command nor a need tells."""
    asked: set[str] = set()
    for clause in process.preconditions:
        for literal in clause.literals:
            asked.update(literal.atom.args)
    free = set(process.others) - asked
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
    return any(True for _ in bindings_met(purpose, after))


def table(found: Verification) -> Iterator[tuple[str, ...]]:
    """The rows of a table: one for each action, one for all."""
    yield "action", "allowed", "blocked", "refused", "recognised", "effects", "seen"
    for name, each in (*sorted(found.actions.items()), ("all", found.total)):
        counts = (each.allowed, each.blocked, each.refused)
        shown = (
            _share(each.recognised, each.refused),
            f"{each.predicted:,}",
            _share(each.seen, each.predicted),
        )
        yield name, *(f"{count:,}" for count in counts), *shown


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
