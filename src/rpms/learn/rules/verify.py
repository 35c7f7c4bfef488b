"""A manual held against episodes: what it would have blocked, what it recognised, what it predicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rpms.core.belief import Belief, Situation
from rpms.core.facts import Atom, Clause, Truth
from rpms.core.rules import RuleManual
from rpms.store.evidence import Witness
from rpms.store.traces import Trace
from rpms.worlds.base import World

_ASKED = Atom("asked", ())


@dataclass
class Verdicts:
    """How well an action's schema agrees with what happened."""

    allowed: int = 0
    blocked: int = 0
    """Of what the world allowed, what the guard would have blocked: wanted none."""
    refused: int = 0
    recognised: int = 0
    """Of what the world refused, what the guard would have blocked."""
    predicted: int = 0
    seen: int = 0
    """Of the effects of successes that are known afterwards, those that came about."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Something that the world allowed and the manual forbids."""

    action: str
    clause: Clause
    """The precondition that was false, over the action's parameters."""
    kinds: tuple[str, ...]
    command: str
    witness: Witness


@dataclass
class Verification:
    """A manual's record on some episodes."""

    actions: dict[str, Verdicts] = field(default_factory=dict)
    blocked: list[Blocked] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    """Commands that the world took and that are no action of the manual, by their first word."""
    episodes: int = 0
    steps: int = 0

    @property
    def total(self) -> Verdicts:
        """All actions together."""
        both = Verdicts()
        for each in self.actions.values():
            for name, count in vars(each).items():
                setattr(both, name, getattr(both, name) + count)
        return both


def verify(manual: RuleManual, world: World, traces: Iterable[Trace]) -> Verification:
    """Hold a manual against episodes."""
    found = Verification()
    for trace in traces:
        found.episodes += 1
        goal = world.goal(trace.opening)
        rules = manual.active(goal.type, goal.object, goal.destination)
        belief: Belief = world.update(world.start(goal), None, trace.opening)
        for number, step in enumerate(trace.steps, 1):
            found.steps += 1
            before, belief = belief, world.update(belief, step.command, step.answer)
            if before.truth(_ASKED) is Truth.TRUE or belief.truth(_ASKED) is Truth.TRUE:
                continue
            refused = world.infeasible(step.answer)
            instance = rules.instance(step.command)
            if instance is None:
                found.unknown[step.command.partition(" ")[0]] += not refused
                continue
            verdicts = found.actions.setdefault(instance.schema.name, Verdicts())
            situation, after = Situation(before, goal), Situation(belief, goal)
            broken = [
                clause
                for clause, bound in zip(instance.schema.preconditions, instance.preconditions, strict=True)
                if bound.truth(situation) is Truth.FALSE
            ]
            if refused:
                verdicts.refused += 1
                verdicts.recognised += bool(broken)
                continue
            verdicts.allowed += 1
            verdicts.blocked += bool(broken)
            known = [value for each in instance.effects if (value := each.truth(after)) is not Truth.UNKNOWN]
            verdicts.predicted += len(known)
            verdicts.seen += known.count(Truth.TRUE)
            witness = Witness(trace.episode, number)
            kinds = tuple(instance.binding.values())
            found.blocked += [Blocked(instance.schema.name, each, kinds, step.command, witness) for each in broken]
    return found


def table(found: Verification) -> Iterator[tuple[str, ...]]:
    """The rows of a table: one for each action, one for all."""
    yield "action", "allowed", "blocked", "refused", "recognised", "effects", "seen"
    for name, each in (*sorted(found.actions.items()), ("all", found.total)):
        counts = (each.allowed, each.blocked, each.refused)
        shown = _share(each.recognised, each.refused), f"{each.predicted:,}", _share(each.seen, each.predicted)
        yield name, *(f"{count:,}" for count in counts), *shown


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
