"""Worth of each entry of a memory, from runs that hid entries by chance (`--mask`)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.core.verdict import Fate
from rpms.foreign.files import is_there
from rpms.learn.effects import NOTHING_KNOWN, Effect, Exposure, Trial, benjamini_hochberg, effects
from rpms.store.episodes import EpisodeRecord
from rpms.store.runs import RunFolder

ALPHA = 0.05  # The level at which an effect is credible, after the correction
CORRECTION = "Benjamini-Hochberg"
_DUE = frozenset(str(fate) for fate in Fate if fate.due)


class AuditedOutcome(StrEnum):
    """Outcomes that showing an entry can change."""

    SUCCESS = "success"
    STEPS = "steps"  # From its turn to the end; to the step budget where the episode was not won
    INFEASIBLE = "infeasible"  # Actions from its turn on that the world could not do

    @property
    def better(self) -> int:
        """The sign of a change for the better."""
        return 1 if self is AuditedOutcome.SUCCESS else -1


class Worth(StrEnum):
    """Verdicts on an entry."""

    HARMFUL = "harmful"
    HELPFUL = "helpful"
    UNKNOWN = "not enough evidence"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """An effect on one outcome, with its p-value after the correction for all that were tested."""

    effect: Effect
    adjusted: float

    @property
    def credible(self) -> bool:
        return self.adjusted <= ALPHA and not math.isnan(self.effect.estimate)

    def sign(self, outcome: AuditedOutcome) -> int:
        """1 where it is credibly for the better, -1 for the worse, 0 where that cannot be told."""
        return outcome.better * _sign(self.effect.estimate) if self.credible else 0


@dataclass(frozen=True, slots=True)
class Account:
    """All that is known of what showing one entry, or one entry of a kind, does."""

    name: str
    kind: str
    findings: Mapping[AuditedOutcome, AuditFinding]
    at: Mapping[str, AuditFinding]
    """Of the steps, those spent at each sub-goal: what costs a step or two shows where steps do not vary much else."""
    won_with: int
    """Episodes that were won with it shown: the cheap counter, which is blind to what would have been won anyway."""
    lost_with: int

    @property
    def shown(self) -> int:
        return self.findings[AuditedOutcome.SUCCESS].effect.shown

    @property
    def hidden(self) -> int:
        return self.findings[AuditedOutcome.SUCCESS].effect.hidden

    @property
    def worth(self) -> Worth:
        """Success decides, else steps and infeasible actions if they agree; steps at sub-goals as the total does."""
        signs = {outcome: finding.sign(outcome) for outcome, finding in self.findings.items()}
        whole = AuditedOutcome.STEPS.better * _sign(self.findings[AuditedOutcome.STEPS].effect.estimate)
        parts = _agreed({finding.sign(AuditedOutcome.STEPS) for finding in self.at.values()})
        verdict = signs[AuditedOutcome.SUCCESS] or _agreed({*signs.values(), parts if parts == whole else 0})
        return {1: Worth.HELPFUL, -1: Worth.HARMFUL, 0: Worth.UNKNOWN}[verdict]

    @property
    def reason(self) -> str:
        """The credible effects in words; nothing where there is none."""
        found = [(str(outcome), outcome, finding) for outcome, finding in self.findings.items()]
        found += [(_steps_at(stage), AuditedOutcome.STEPS, finding) for stage, finding in self.at.items()]
        words = [
            f"{what} {numbers(outcome, finding.effect)}, p {finding.adjusted:.2g} corrected"
            for what, outcome, finding in found
            if finding.credible
        ]
        return f"shown in {self.shown} and hidden in {self.hidden} episodes: {'; '.join(words)}" if words else ""

    def record(self) -> dict[str, Any]:
        """As JSON; null for what is not known."""
        counts = {name: getattr(self, name) for name in ("shown", "hidden", "won_with", "lost_with")}
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": str(self.worth),
            **counts,
            "effects": {str(outcome): _numbers(finding) for outcome, finding in self.findings.items()},
            "steps_at": {stage: _numbers(finding) for stage, finding in self.at.items()},
        }


def numbers(outcome: AuditedOutcome, effect: Effect) -> str:
    """An effect with its interval, if there is one: `+3.1 (+1.2 to +5.0)`; of success, in points of a hundred."""
    scale, form = (100, "+.0f") if outcome is AuditedOutcome.SUCCESS else (1, "+.1f")
    ends = f"{scale * effect.low:{form}} to {scale * effect.high:{form}}" if math.isfinite(effect.low) else "–"
    return f"{scale * effect.estimate:{form}} ({ends})"


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _agreed(signs: set[int]) -> int:
    told = signs - {0}
    return told.pop() if len(told) == 1 else 0


def _numbers(finding: AuditFinding) -> dict[str, float | None]:
    found = {name: getattr(finding.effect, name) for name in ("estimate", "low", "high", "p")}
    found |= {"p_corrected": finding.adjusted, "detectable": finding.effect.detectable}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


@dataclass(frozen=True)
class Audit:
    """Audit of the entries that were recalled in some runs."""

    entries: tuple[Account, ...]  # The harmful first, then by how far they are from having no effect
    kinds: tuple[Account, ...]
    episodes: int
    world: str
    masks: tuple[float, ...]
    left_out: tuple[Path, ...] = field(default=())  # Runs that hid nothing

    def of(self, worth: Worth) -> tuple[Account, ...]:
        return tuple(account for account in self.entries if account.worth is worth)

    @property
    def harmful(self) -> dict[str, str]:
        """The entries that are credibly harmful, by id, each with the reason."""
        return {account.name: f"audit: {account.reason}" for account in self.of(Worth.HARMFUL)}

    @property
    def summary(self) -> str:
        """In one line; that little is known is the usual answer."""
        counts = {worth: len(self.of(worth)) for worth in Worth}
        return (
            f"{len(self.entries)} entries were recalled in {self.episodes} episodes: {counts[Worth.HARMFUL]} harmful, "
            f"{counts[Worth.HELPFUL]} helpful, {counts[Worth.UNKNOWN]} with not enough evidence to tell"
        )

    def record(self) -> dict[str, Any]:
        """As JSON."""
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


@dataclass(frozen=True, slots=True)
class _Played:
    """An episode of a masked run."""

    record: EpisodeRecord
    mask: float
    budget: int
    exposures: tuple[Exposure, ...]

    def outcome(self, which: AuditedOutcome) -> Callable[[int], float]:
        row = self.record.row
        match which:
            case AuditedOutcome.SUCCESS:
                return lambda _since: float(row.won)
            case AuditedOutcome.STEPS:
                length = row.steps if row.won else max(row.steps, self.budget)
                return lambda since: float(length - since + 1)
        infeasible = [step.infeasible for step in self.record.steps]
        return lambda since: float(sum(infeasible[since - 1 :]))

    def at(self, stage: str) -> Callable[[int], float]:
        """The steps spent at a sub-goal; those to the step budget are spent where the episode ended."""
        stages = self.stages
        if stages and not self.record.row.won:
            stages += stages[-1:] * (self.budget - len(stages))
        return lambda since: float(stages[since - 1 :].count(stage))

    @property
    def stages(self) -> list[str]:
        """The sub-goal of each step."""
        return [step.progress.sub_goal for step in self.record.steps]

    def trial(self, outcome: Callable[[int], float]) -> Trial:
        """The episode as evidence, with what was known of it beforehand."""
        goal = self.record.goal_signature
        about = (self.record.row.type, goal.split(":")[1] if ":" in goal else goal, goal, self.record.task)
        return Trial(1 - self.mask, self.exposures, outcome, about)


def exposures_of(record: EpisodeRecord) -> tuple[tuple[Exposure, ...], dict[str, str]]:
    """The entries whose turn came in an episode, each with the first step at which it did, and their kinds."""
    found: dict[str, Exposure] = {}
    kinds: dict[str, str] = {}
    for step in record.steps:
        for candidate in step.candidates:
            if candidate.fate in _DUE and candidate.entry not in found:
                shown = candidate.fate != Fate.HIDDEN
                found[candidate.entry] = Exposure(candidate.entry, step.number, shown)
                kinds[candidate.entry] = candidate.kind
    return tuple(found.values()), kinds


def audit(folders: Sequence[Path]) -> Audit:
    """Estimate what each entry does, from runs of one world; runs that hid nothing are an InputError, or left out."""
    played: dict[tuple[str, str], _Played] = {}
    kinds: dict[str, str] = {}
    left_out: list[Path] = []
    worlds: set[str] = set()
    masks: set[float] = set()
    for folder in folders:
        run = RunFolder(folder)
        mask = _mask_of(run)
        if not mask:
            left_out.append(folder)
            continue
        worlds.add(str(run.protocol.settings.get("world", "")))
        masks.add(mask)
        budget = run.protocol.settings.get("step_budget")
        for task in run.protocol.tasks:
            if is_there(run.file(task)) and (run.protocol.hash, task) not in played:
                record = run.episode(task)
                exposures, of_kind = exposures_of(record)
                kinds |= of_kind
                length = budget if isinstance(budget, int) else 0
                played[run.protocol.hash, task] = _Played(record, mask, length, exposures)
    if not played:
        raise InputError(_unmasked(left_out))
    if len(worlds) > 1:
        raise InputError(f"these runs are of {' and '.join(sorted(worlds))}; audit the runs of one world together")
    return _audited(list(played.values()), kinds, worlds.pop(), tuple(sorted(masks)), tuple(left_out))


def _mask_of(run: RunFolder) -> float:
    retrieval = run.protocol.settings.get("retrieval")
    mask = retrieval.get("mask") if isinstance(retrieval, Mapping) else None
    return float(mask) if isinstance(mask, int | float) and 0 < mask < 1 else 0.0


def _unmasked(left_out: Sequence[Path]) -> str:
    if not left_out:
        return "nothing to audit: no episode was finished"
    if not RunFolder(left_out[0]).protocol.settings.get("retrieval"):
        return f"{left_out[0]}: was played without memory; choose another condition (memory-only, full) and --mask 0.2"
    return (
        f"{left_out[0]}: hid no memories, and without that nobody can tell what they did from what would have happened "
        "anyway; play it again with `rpms run … --mask 0.2` (0.5 finds effects in the fewest episodes)"
    )


def _audited(
    played: Sequence[_Played],
    kinds: Mapping[str, str],
    world: str,
    masks: tuple[float, ...],
    left_out: tuple[Path, ...],
) -> Audit:
    by_entry: dict[str, Mapping[str, Effect]] = {}
    by_kind: dict[str, Mapping[str, Effect]] = {}
    for outcome in AuditedOutcome:
        by_entry[outcome], by_kind[outcome] = effects([each.trial(each.outcome(outcome)) for each in played], kinds)
    stages = sorted({stage for each in played for stage in each.stages})
    for stage in stages:
        by_entry[_steps_at(stage)], _ = effects([each.trial(each.at(stage)) for each in played], kinds)
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    of_kind: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for each in played:
        shown = {exposure.entry for exposure in each.exposures if exposure.shown}
        for entry in shown:
            counts[entry][each.record.row.won] += 1
        for kind in {kinds[entry] for entry in shown}:
            of_kind[kind][each.record.row.won] += 1
    entries = _accounts(by_entry, stages, kinds, counts)
    return Audit(
        tuple(sorted(entries, key=_most_telling)),
        _accounts(by_kind, (), {kind: kind for kind in by_kind[AuditedOutcome.SUCCESS]}, of_kind),
        len(played),
        world,
        masks,
        left_out,
    )


def _accounts(
    found: Mapping[str, Mapping[str, Effect]],
    stages: Sequence[str],
    kinds: Mapping[str, str],
    counts: Mapping[str, Counter[bool]],
) -> tuple[Account, ...]:
    """Accounts with the correction over all of them and all that was measured; what could not be found is no test."""
    tested = {
        (name, measure): effect.p
        for measure, effects_ in found.items()
        for name, effect in effects_.items()
        if effect.testable
    }
    adjusted = dict(zip(tested, benjamini_hochberg(list(tested.values())), strict=True))

    def finding(name: str, measure: str) -> AuditFinding:
        return AuditFinding(found[measure].get(name, NOTHING_KNOWN), adjusted.get((name, measure), 1.0))

    return tuple(
        Account(
            name,
            kind,
            {outcome: finding(name, outcome) for outcome in AuditedOutcome},
            {stage: finding(name, _steps_at(stage)) for stage in stages if (name, _steps_at(stage)) in tested},
            counts[name][True] if name in counts else 0,
            counts[name][False] if name in counts else 0,
        )
        for name, kind in kinds.items()
    )


def _steps_at(stage: str) -> str:
    return f"steps at {stage}"


def _most_telling(account: Account) -> tuple[int, float, str]:
    order = (Worth.HARMFUL, Worth.HELPFUL, Worth.UNKNOWN)
    least = min(finding.effect.p for finding in (*account.findings.values(), *account.at.values()))
    return order.index(account.worth), least, account.name
