"""Estimates what entries of a memory are worth, from runs that hid some by chance (`--mask`)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rpms.learning.entry_effects import ALPHA, Draw, Effect, Effects, MaskedTrial, effects, sign
from rpms.learning.randomisation_test import benjamini_hochberg
from rpms.logic.errors import InputError
from rpms.paper.verdict import Fate
from rpms.store.episodes import EpisodeRecord
from rpms.store.runs import RunFolder

CORRECTION = "Benjamini-Hochberg"
_DUE = frozenset(str(fate) for fate in Fate if fate.due)


class AuditedOutcome(StrEnum):
    """Outcomes that showing an entry can change."""

    SUCCESS = "success"
    STEPS = "steps"
    """Steps from its turn to the end; to the step budget if the episode was not won."""
    INFEASIBLE = "infeasible"
    """Actions from its turn on that the world could not do."""


class StepsAt(NamedTuple):
    """The steps spent at a sub-goal, as something that showing an entry can change."""

    sub_goal: str

    def __str__(self) -> str:
        return f"steps at {self.sub_goal}"


Measure = AuditedOutcome | StepsAt


class Worth(StrEnum):
    """Verdicts on an entry, in the order in which they are listed."""

    HARMFUL = "harmful"
    HELPFUL = "helpful"
    UNKNOWN = "not enough evidence"


@dataclass(frozen=True, slots=True)
class Account:
    """All that is known of what showing one entry, or one entry of a kind, does."""

    name: str
    kind: str
    findings: Mapping[AuditedOutcome, Effect]
    at: Mapping[str, Effect]
    """Steps spent at each sub-goal: an entry that costs a step or two shows there, where steps vary
    little otherwise."""
    won_with: int
    """Episodes won with it shown: a plain count, blind to what would have been won anyway."""
    lost_with: int

    @property
    def shown(self) -> int:
        return self.findings[AuditedOutcome.SUCCESS].shown

    @property
    def hidden(self) -> int:
        return self.findings[AuditedOutcome.SUCCESS].hidden

    @property
    def worth(self) -> Worth:
        """Success decides; where it tells nothing, what the entry costs."""
        gain = self.findings[AuditedOutcome.SUCCESS].sign or -self._cost
        if gain == 0:
            return Worth.UNKNOWN
        return Worth.HELPFUL if gain > 0 else Worth.HARMFUL

    @property
    def _cost(self) -> int:
        """1 for a credible rise of steps or infeasible actions, -1 for a fall, 0 where neither can
        be told or they disagree. Steps at sub-goals count if they change as the total does.
        """
        steps = self.findings[AuditedOutcome.STEPS]
        refusals = self.findings[AuditedOutcome.INFEASIBLE]
        signs = [steps.sign, refusals.sign]
        at_sub_goals = _agreed(effect.sign for effect in self.at.values())
        if at_sub_goals == sign(steps.estimate):
            signs.append(at_sub_goals)
        return _agreed(signs)

    @property
    def reason(self) -> str:
        """The credible effects in words; empty if there are none."""
        found: dict[Measure, Effect] = dict(self.findings.items())
        for sub_goal, effect in self.at.items():
            found[StepsAt(sub_goal)] = effect
        words: list[str] = []
        for what, effect in found.items():
            if effect.adjusted <= ALPHA and not math.isnan(effect.estimate):
                words.append(f"{what} {numbers(what, effect)}, p {effect.adjusted:.2g} corrected")
        if not words:
            return ""
        return f"shown in {self.shown} and hidden in {self.hidden} episodes: {'; '.join(words)}"

    def record(self) -> dict[str, Any]:
        """The account as JSON; null for what is not known."""
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": str(self.worth),
            "shown": self.shown,
            "hidden": self.hidden,
            "won_with": self.won_with,
            "lost_with": self.lost_with,
            "effects": {
                str(outcome): _numbers(effect) for outcome, effect in self.findings.items()
            },
            "steps_at": {stage: _numbers(effect) for stage, effect in self.at.items()},
        }


def numbers(measure: Measure, effect: Effect) -> str:
    """An effect with its interval, if there is one: `+3.1 (+1.2 to +5.0)`; of success, in
    points of a hundred.
    """
    in_points = measure == AuditedOutcome.SUCCESS

    def signed(value: float) -> str:
        return f"{100 * value:+.0f}" if in_points else f"{value:+.1f}"

    ends = "–"
    if math.isfinite(effect.low):
        ends = f"{signed(effect.low)} to {signed(effect.high)}"
    return f"{signed(effect.estimate)} ({ends})"


def _agreed(signs: Iterable[int]) -> int:
    """The sign that all nonzero ones share; 0 if they differ or there is none."""
    others = set(signs) - {0}
    return others.pop() if len(others) == 1 else 0


def _numbers(effect: Effect) -> dict[str, float | None]:
    """An effect as JSON."""
    return {
        "estimate": _finite(effect.estimate),
        "low": _finite(effect.low),
        "high": _finite(effect.high),
        "p": _finite(effect.p),
        "p_corrected": _finite(effect.adjusted),
        "detectable": _finite(effect.detectable),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Audit:
    """Audit of the entries that were recalled in some runs."""

    entries: tuple[Account, ...]
    """The harmful first, then by how far they are from having no effect."""
    kinds: tuple[Account, ...]
    episodes: int
    world: str
    masks: tuple[float, ...]
    left_out: tuple[Path, ...]
    """Runs that hid nothing."""

    def of(self, worth: Worth) -> tuple[Account, ...]:
        return tuple(account for account in self.entries if account.worth is worth)

    @property
    def harmful(self) -> dict[str, str]:
        """The entries that are credibly harmful, by id, each with the reason."""
        return {account.name: f"audit: {account.reason}" for account in self.of(Worth.HARMFUL)}

    @property
    def summary(self) -> str:
        """The findings in one line; mostly, little is known."""
        counts = {worth: len(self.of(worth)) for worth in Worth}
        return (
            f"{len(self.entries)} entries were recalled in {self.episodes} episodes:"
            f" {counts[Worth.HARMFUL]} harmful, {counts[Worth.HELPFUL]} helpful,"
            f" {counts[Worth.UNKNOWN]} with not enough evidence to tell"
        )

    def record(self) -> dict[str, Any]:
        """The audit as JSON."""
        return {
            "world": self.world,
            "episodes": self.episodes,
            "mask": list(self.masks),
            "correction": CORRECTION,
            "level": ALPHA,
            "runs_left_out": [str(folder) for folder in self.left_out],
            "kinds": [account.record() for account in self.kinds],
            "entries": [account.record() for account in self.entries],
        }


class Exposure(NamedTuple):
    """One entry whose turn came in one episode."""

    entry: str
    kind: str
    since: int
    """The step at which its turn came, from 1."""
    shown: bool


def exposures_of(record: EpisodeRecord) -> tuple[Exposure, ...]:
    """The entries whose turn came in an episode, each with the first step at which it came."""
    found: dict[str, Exposure] = {}
    for step in record.steps:
        for one in step.candidates:
            if one.fate in _DUE and one.entry not in found:
                shown = one.fate != Fate.HIDDEN
                found[one.entry] = Exposure(one.entry, one.kind, step.number, shown)
    return tuple(found.values())


@dataclass(frozen=True)
class _Played:
    """An episode of a masked run."""

    record: EpisodeRecord
    mask: float
    budget: int

    @cached_property
    def exposures(self) -> tuple[Exposure, ...]:
        return exposures_of(self.record)

    @cached_property
    def stages(self) -> list[str]:
        """The sub-goal of each step; those to the step budget are spent where the episode ended."""
        stages = [step.progress.sub_goal for step in self.record.steps]
        if self.record.row.won:
            return stages
        return stages + stages[-1:] * (self.budget - len(stages))

    def measured(self, measure: Measure, since: int) -> float:
        """An outcome, or the steps at a sub-goal, from a step on."""
        if isinstance(measure, StepsAt):
            return float(self.stages[since - 1 :].count(measure.sub_goal))
        row = self.record.row
        match measure:
            case AuditedOutcome.SUCCESS:
                return float(row.won)
            case AuditedOutcome.STEPS:
                end = row.steps if row.won else max(row.steps, self.budget)
                return float(end - since + 1)
            case AuditedOutcome.INFEASIBLE:
                return float(sum(step.infeasible for step in self.record.steps[since - 1 :]))

    def trial(self, measure: Measure) -> MaskedTrial:
        """The episode as evidence, with what was known of it beforehand."""
        goal = self.record.goal_signature
        goal_type, colon, rest = goal.partition(":")
        goal_object = rest.partition(":")[0] if colon else goal_type
        about = (self.record.row.type, goal_object, goal, self.record.task)
        draws: list[Draw] = []
        for exposure in self.exposures:
            after = self.measured(measure, exposure.since)
            draws.append(Draw(exposure.entry, exposure.shown, after))
        return MaskedTrial(1 - self.mask, self.measured(measure, 1), tuple(draws), about)


def audit(folders: Sequence[Path]) -> Audit:
    """Estimate what each entry does, from runs of one world; runs that hid nothing are an
    InputError, or left out.
    """
    masked: list[RunFolder] = []
    left_out: list[Path] = []
    for folder in folders:
        run = RunFolder(folder)
        if _mask_of(run) is None:
            left_out.append(folder)
        else:
            masked.append(run)
    played = _all_played(masked)
    if not played:
        raise InputError(_why_nothing(left_out))
    world = _one_world(masked)
    measured = _measured(played)
    return Audit(
        entries=_entry_accounts(measured),
        kinds=_kind_accounts(measured),
        episodes=len(played),
        world=world,
        masks=tuple(sorted({each.mask for each in played})),
        left_out=tuple(left_out),
    )


def _one_world(runs: Iterable[RunFolder]) -> str:
    """The world that some runs are of; several are an InputError."""
    first, *others = sorted({str(run.protocol.settings.get("world", "")) for run in runs})
    if others:
        raise InputError(
            f"these runs are of {' and '.join((first, *others))}; audit the runs of one world"
            " together"
        )
    return first


def _all_played(runs: Iterable[RunFolder]) -> list[_Played]:
    """The episodes of masked runs; one that several folders of the same run have counts once."""
    found: dict[object, _Played] = {}
    for run in runs:
        budget = run.protocol.settings.get("step_budget")
        most_steps = budget if isinstance(budget, int) else 0
        mask = _mask_of(run) or 0.0
        for record in run.episodes():
            key = (run.protocol.hash, record.task)
            found.setdefault(key, _Played(record, mask, most_steps))
    return list(found.values())


def _mask_of(run: RunFolder) -> float | None:
    """The share of memories that a run hid; None if it hid none."""
    retrieval = run.protocol.settings.get("retrieval")
    mask = retrieval.get("mask") if isinstance(retrieval, Mapping) else None
    if not isinstance(mask, int | float) or not 0 < mask < 1:
        return None
    return float(mask)


def _why_nothing(left_out: Sequence[Path]) -> str:
    """Why there is nothing to audit, and what to do."""
    if not left_out:
        return "nothing to audit: no episode was finished"
    first = left_out[0]
    if RunFolder(first).protocol.settings.get("retrieval"):
        return (
            f"{first}: hid no memories, and without that nobody can tell what they did from what"
            " would have happened anyway; play it again with `rpms run … --mask 0.2` (0.5 finds"
            " effects in the fewest episodes)"
        )
    return (
        f"{first}: was played without memory; choose another condition (memory-only, full) and"
        " --mask 0.2"
    )


class _Shown(NamedTuple):
    """The entries, or kinds, that an episode was shown, and whether it was won."""

    names: set[str]
    won: bool


_ByMeasure = Mapping[Measure, Mapping[str, Effect]]
"""Effects of entries, or of kinds, by name: on each outcome, and on the steps at each sub-goal."""


@dataclass(frozen=True)
class _Measured:
    """Effects of all entries and kinds on everything that is measured, not yet corrected."""

    effects: Mapping[Measure, Effects]
    """Effects by measure; a group is a kind of entries."""
    kinds: Mapping[str, str]
    """The kind of each entry."""
    shown: Sequence[_Shown]
    """The entries that each episode was shown."""


def _measured(played: Sequence[_Played]) -> _Measured:
    """Effects on every outcome, and on the steps at each sub-goal."""
    kinds: dict[str, str] = {}
    stages: set[str] = set()
    shown: list[_Shown] = []
    for each in played:
        stages.update(step.progress.sub_goal for step in each.record.steps)
        seen: set[str] = set()
        for exposure in each.exposures:
            kinds[exposure.entry] = exposure.kind
            if exposure.shown:
                seen.add(exposure.entry)
        shown.append(_Shown(seen, each.record.row.won))
    measures: list[Measure] = [*AuditedOutcome, *map(StepsAt, sorted(stages))]
    found: dict[Measure, Effects] = {}
    for measure in measures:
        found[measure] = effects([each.trial(measure) for each in played], kinds)
    return _Measured(found, kinds, shown)


def _entry_accounts(measured: _Measured) -> tuple[Account, ...]:
    """The account of each entry: the harmful first, then by how little chance explains it."""
    found: dict[Measure, Mapping[str, Effect]] = {}
    for measure, of_measure in measured.effects.items():
        found[measure] = of_measure.by_entry
    order = list(Worth)

    def rank(account: Account) -> tuple[int, float, str]:
        least = min(effect.p for effect in (*account.findings.values(), *account.at.values()))
        return (order.index(account.worth), least, account.name)

    return tuple(sorted(_accounts(found, measured.kinds, measured.shown), key=rank))


def _kind_accounts(measured: _Measured) -> tuple[Account, ...]:
    """The account of each kind of entries; its steps at each sub-goal are not told."""
    found: dict[Measure, Mapping[str, Effect]] = {}
    for outcome in AuditedOutcome:
        found[outcome] = measured.effects[outcome].by_group
    shown: list[_Shown] = []
    for names, won in measured.shown:
        shown.append(_Shown({measured.kinds[name] for name in names}, won))
    kinds = {kind: kind for kind in found[AuditedOutcome.SUCCESS]}
    return tuple(_accounts(found, kinds, shown))


def _accounts(
    found: _ByMeasure, kinds: Mapping[str, str], shown: Iterable[_Shown]
) -> Iterator[Account]:
    """Accounts with the correction over all of them and all that was measured."""
    corrected = _corrected(found)
    won: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for each in shown:
        ended = won if each.won else lost
        ended.update(each.names)
    for name, kind in kinds.items():
        findings: dict[AuditedOutcome, Effect] = {}
        for outcome in AuditedOutcome:
            findings[outcome] = corrected[outcome].get(name, Effect(0, 0))
        at: dict[str, Effect] = {}
        for measure, by_name in corrected.items():
            if not isinstance(measure, StepsAt) or name not in by_name:
                continue
            if by_name[name].testable:
                at[measure.sub_goal] = by_name[name]
        yield Account(name, kind, findings, at, won[name], lost[name])


def _corrected(found: _ByMeasure) -> _ByMeasure:
    """Effects with each p-value corrected for all that were tested; where nothing could be found,
    nothing was tested.
    """
    tested: dict[tuple[Measure, str], float] = {}
    for measure, by_name in found.items():
        for name, effect in by_name.items():
            if effect.testable:
                tested[measure, name] = effect.p
    corrected = {measure: dict(by_name) for measure, by_name in found.items()}
    adjusted = benjamini_hochberg(list(tested.values()))
    for (measure, name), p in zip(tested, adjusted, strict=True):
        corrected[measure][name] = replace(corrected[measure][name], adjusted=p)
    return corrected
