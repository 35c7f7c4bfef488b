"""State-consistent filtering, Eq. 5 and 6: is an experience from a state like this one?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rpms.core.belief import Belief, Situation
from rpms.core.facts import Clause, Truth
from rpms.core.goal import Goal
from rpms.core.memory import Entry, SuccessSnippet, VerifiedSchema
from rpms.core.rules import ActiveRules, Simulated
from rpms.core.verdict import Candidate, Fate, Verdict

Compat = Callable[[Belief, Entry], str]
"""COMPAT: says why an entry does not suit the belief; nothing if it does. A world may bring its own."""


def same_occupancy(belief: Belief, entry: Entry) -> str:
    """Eq. 6: what was learned with an empty hand is for an empty hand, and with a full hand for a full one.

    Schemas carry no state and suit every one; so does an entry whose hand was not recorded.
    """
    if isinstance(entry, VerifiedSchema):
        return ""
    then, now = entry.state_signature.occupied, bool(belief.holding)
    if then is None or then == now:
        return ""
    held = ", ".join(belief.holding) or "nothing"
    return f"learned with {'something' if then else 'nothing'} in hand, now holding {held}"


def accept_everything(_belief: Belief, _entry: Entry) -> str:
    """The neutral element: filtering switched off."""
    return ""


def filter_by_state(candidates: Iterable[Candidate], belief: Belief, compat: Compat) -> Iterator[Candidate]:
    """M_filt: mark the candidates that do not suit the belief; lazily, so that only what is needed is judged."""
    for candidate in candidates:
        reason = compat(belief, candidate.entry)
        yield candidate.judged(Verdict(Fate.FILTERED, reason)) if reason else candidate


def by_preconditions(rules: ActiveRules, goal: Goal) -> Compat:
    """A finer COMPAT: an entry suits a state unless an action of it meets a precondition that is known to be false.

    Its actions are followed through their effects from the present belief. Lessons and schemas are about actions that
    did not, or need not, work here, and suit every state.
    """

    def compat(belief: Belief, entry: Entry) -> str:
        for action, clause, value in _followed(entry, rules, Situation(belief, goal)):
            if value is Truth.FALSE:
                return f"`{action}` could not be done from here: {clause} is false"
        return ""

    return compat


def degree_of_match(entry: Entry, rules: ActiveRules, situation: Situation) -> float:
    """The share of an entry's preconditions that are known to hold, from 0.5 for none to 1 for all."""
    values = [value is Truth.TRUE for _, _, value in _followed(entry, rules, situation)]
    return 0.5 + 0.5 * sum(values) / len(values) if values else 1.0


def best_match_first(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, window: int = 12
) -> Iterator[Candidate]:
    """Reorder the first candidates that have passed by rank times degree of match; the rejected go ahead of them."""
    stream = iter(candidates)
    passed: list[Candidate] = []
    for candidate in stream:
        if candidate.verdict.fate is not Fate.KEPT:
            yield candidate
            continue
        degree = degree_of_match(candidate.entry, rules, situation)
        passed.append(Candidate(candidate.entry, candidate.score, candidate.rank * degree, candidate.verdict))
        if len(passed) >= window:
            break
    yield from sorted(passed, key=lambda candidate: (-candidate.rank, candidate.entry.id))
    yield from stream


def _followed(entry: Entry, rules: ActiveRules, situation: Situation) -> Iterator[tuple[str, Clause, Truth]]:
    """Every precondition of a snippet's actions with its value at that point, each action's effects taken over."""
    if not isinstance(entry, SuccessSnippet):
        return
    facts = Simulated(situation, rules)
    for action in entry.actions:
        instance = rules.instance(action)
        if instance is None:
            continue
        for clause in instance.preconditions:
            yield action, clause, clause.truth(facts)
        facts.apply(instance)
