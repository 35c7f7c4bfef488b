"""Finer filters than the paper's: each memory is followed from the present state, action by
action.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import (
    Arbitration,
    Simulated,
    object_to,
    objection_to_action,
    settled,
    verdict_on,
)
from rpms.paper.memory import CriticalFailure, Entry, SuccessSnippet
from rpms.paper.verdict import KEPT, Candidate, Fate, Verdict, reordered

_WINDOW = 12
"""Candidates that are ordered by how well they match."""


def judge_here(
    entry: Entry, rules: ActiveRules, situation: Situation, mode: Arbitration
) -> Verdict:
    """φ in another scope: what cannot be done from the present state conflicts too."""
    if mode is Arbitration.NONE or isinstance(entry, CriticalFailure):
        return KEPT
    objection = object_to(entry, rules, situation)
    return KEPT if objection is None else verdict_on(objection, mode)


def arbitrate_by_action(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, mode: Arbitration
) -> Iterator[Candidate]:
    """M_arb with a finer knife: of a snippet, only the actions that conflict are cut, and what
    survives is kept.
    """
    for candidate in candidates:
        if candidate.verdict.fate is not Fate.KEPT:
            yield candidate
            continue
        verdict = judge_here(candidate.entry, rules, situation, mode)
        judged = candidate.judged(verdict)
        if verdict.fate is Fate.DROPPED and isinstance(candidate.entry, SuccessSnippet):
            judged = _cut(judged, candidate.entry, rules, situation, mode)
        yield judged


def _cut(
    dropped: Candidate,
    snippet: SuccessSnippet,
    rules: ActiveRules,
    situation: Situation,
    mode: Arbitration,
) -> Candidate:
    """A snippet with the actions that can still be done; dropped as it was if none can."""
    halves = _cut_plan(snippet.actions, rules, situation)
    if all(rules.instance(action) is None for action in halves.kept):
        return dropped
    shorter = replace(snippet, actions=tuple(halves.kept))
    doubt = judge_here(shorter, rules, situation, mode)
    reason = f"cut: {'; '.join(halves.cut)}"
    if doubt.fate is Fate.WARNED:
        reason += f"; {doubt.reason}"
    verdict = Verdict(Fate.CUT, reason, dropped.verdict.rule, dropped.verdict.fact)
    return replace(dropped, entry=shorter, verdict=verdict)


class _Halves(NamedTuple):
    """The actions of a plan that can be done one after the other, and the others."""

    kept: list[str]
    cut: list[str]


def _cut_plan(actions: Iterable[str], rules: ActiveRules, situation: Situation) -> _Halves:
    facts = Simulated(situation, rules)
    halves = _Halves([], [])
    for action in actions:
        objection = objection_to_action(action, rules, facts)
        instance = rules.instance(action)
        if instance is not None and objection is not None and objection.conflict:
            halves.cut.append(action)
            continue
        halves.kept.append(action)
        if instance is not None:
            facts.apply(instance)
    return halves


def executable_from_here(
    candidates: Iterable[Candidate], situation: Situation, rules: ActiveRules
) -> Iterator[Candidate]:
    """A finer M_filt: a snippet suits a state unless an action, followed from here, needs what is
    known to be false.

    The best match comes first, by rank times degree. Lessons and schemas, whose actions need not
    work here, suit all.
    """

    def best_first(passed: list[Candidate]) -> list[Candidate]:
        ranked = []
        for each in passed:
            degree = degree_of_match(each.entry, rules, situation)
            ranked.append(replace(each, rank=each.rank * degree))
        return sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))

    followed = (_followed_through(each, situation, rules) for each in candidates)
    return reordered(followed, _WINDOW, best_first)


def _followed_through(candidate: Candidate, situation: Situation, rules: ActiveRules) -> Candidate:
    for need in _needs_on_the_way(candidate.entry, rules, situation):
        if need.clause.truth(need.facts) is Truth.FALSE:
            fact = settled(need.clause, rules, need.facts)
            reason = f"`{need.action}` could not be done from here: {fact}"
            line = need.instance.schema.id
            return candidate.judged(Verdict(Fate.FILTERED, reason, line, fact))
    return candidate


def degree_of_match(entry: Entry, rules: ActiveRules, situation: Situation) -> float:
    """The share of an entry's preconditions that are known to hold, from 0.5 for none to 1 for
    all.
    """
    needs = _needs_on_the_way(entry, rules, situation)
    known = [need.clause.truth(need.facts) is Truth.TRUE for need in needs]
    return 0.5 + 0.5 * sum(known) / len(known) if known else 1.0


class _NeedOnTheWay(NamedTuple):
    """A precondition of one of a snippet's actions, with the facts at that point."""

    action: str
    instance: Instance
    clause: Clause
    facts: Simulated
    """After all actions before it; they change with the next one."""


def _needs_on_the_way(
    entry: Entry, rules: ActiveRules, situation: Situation
) -> Iterator[_NeedOnTheWay]:
    """Every precondition of a snippet's actions, each action's effects taken over."""
    if not isinstance(entry, SuccessSnippet):
        return
    facts = Simulated(situation, rules)
    for action in entry.actions:
        instance = rules.instance(action)
        if instance is None:
            continue
        for clause in instance.preconditions:
            yield _NeedOnTheWay(action, instance, clause, facts)
        facts.apply(instance)
