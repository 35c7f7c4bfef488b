"""Ranks verified schemas by the deeds with which memory reached the sub-goals of goals like this one.

A schema belongs to no goal: by evidence alone, every prompt would show `go` and `take`. The retrieved snippets say
which ones matter, since each ends with the deed that reached its sub-goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rpms.core.goal import EXPLORING
from rpms.core.memory import SuccessSnippet, VerifiedSchema
from rpms.core.verdict import Candidate, Fate, Verdict

_NOW, _SOON, _SOMETIME = 3, 2, 1
_WHY = {
    _NOW: "reached the present sub-goal in {}",
    _SOON: "reached a sub-goal in {}, which suits the state",
    _SOMETIME: "reached a sub-goal in {}, of a goal like this one",
}


def deed_of(snippet: SuccessSnippet) -> str:
    """The kind of action that reached a snippet's sub-goal, as its precondition or outcome names it."""
    return str(snippet.precondition.get("action_type") or next(iter(snippet.outcome), ""))


def for_the_moment(
    schemas: Iterable[Candidate], others: Sequence[Candidate], sub_goal: str, most: int
) -> Iterator[Candidate]:
    """Put the schemas that matter now first; among equals, the better confirmed. At most so many are looked at."""
    matters: dict[str, tuple[int, str]] = {}
    for other in others:
        entry = other.entry
        if isinstance(entry, SuccessSnippet) and other.verdict.fate is not Fate.BELOW:
            shown, now = other.verdict.fate.shown, entry.sub_goal_type == sub_goal
            level = _NOW if shown and now else _SOON if shown else _SOMETIME
            deed = deed_of(entry)
            if level > matters.get(deed, (0, ""))[0]:
                matters[deed] = (level, entry.id)
    ranked = [_ranked(candidate, matters) for candidate in islice(schemas, most)]
    yield from sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))


def in_turn(candidates: Iterable[Candidate], sub_goal: str, window: int = 50) -> Iterator[Candidate]:
    """Puts snippets of the present sub-goal first, or without one, those from earlier in their episodes."""
    stream = iter(candidates)
    passed: list[Candidate] = []
    for candidate in stream:
        if candidate.verdict.fate is not Fate.KEPT or not isinstance(candidate.entry, SuccessSnippet):
            yield candidate
            continue
        passed.append(candidate)
        if len(passed) >= window:
            break
    yield from sorted(passed, key=lambda candidate: _turn(candidate, sub_goal))
    yield from stream


def _turn(candidate: Candidate, sub_goal: str) -> float:
    entry = candidate.entry
    assert isinstance(entry, SuccessSnippet)
    if sub_goal != EXPLORING:
        return float(entry.sub_goal_type != sub_goal)
    return min((origin.step for origin in entry.origins), default=0)


def _ranked(candidate: Candidate, matters: dict[str, tuple[int, str]]) -> Candidate:
    entry, verdict = candidate.entry, candidate.verdict
    assert isinstance(entry, VerifiedSchema)
    level, snippet = matters.get(entry.action_type, (0, ""))
    if level and verdict.fate is Fate.KEPT:
        verdict = Verdict(Fate.KEPT, _WHY[level].format(snippet or "a snippet"))
    rank = level + candidate.rank / (1.0 + candidate.rank)
    return Candidate(entry, candidate.score, rank, verdict, candidate.adapted)
