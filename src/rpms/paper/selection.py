"""Selects the best candidates of each kind, as many as `Retrieval` allows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rpms.logic.goal import Progress
from rpms.paper.memory import Kind, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import Part, Prompt
from rpms.paper.recall import Ranked, Ranking, Retrieval
from rpms.paper.verdict import Candidate, Fate, Mask, Verdict
from rpms.paper.wording import memory_line

_MISSED_LISTED = 2
"""Entries below θ that a decision lists for each kind."""
_NOW, _SOON, _SOMETIME = 3, 2, 1
_WHY = {
    _NOW: "reached the present sub-goal in {}",
    _SOON: "reached a sub-goal in {}, which suits the state",
    _SOMETIME: "reached a sub-goal in {}, of a goal like this one",
}


@dataclass(frozen=True)
class Selection:
    """Memories that a prompt shows (M_arb, at most top-k of each kind), and the other
    candidates considered.
    """

    candidates: tuple[Candidate, ...]
    """Every memory that was considered, by kind and rank, each with its verdict."""
    unlisted: int
    """Number of rejected candidates that are not listed."""
    gave_up: tuple[Kind, ...]
    """The kinds of which `Retrieval.examined` candidates were judged without finding enough;
    more may be sound."""

    @property
    def memories(self) -> tuple[Candidate, ...]:
        """M_arb: the candidates that a prompt shows."""
        return tuple(candidate for candidate in self.candidates if candidate.verdict.fate.shown)


def select(
    judged: Mapping[Kind, Iterator[Candidate]],
    recalled: Mapping[Kind, Ranking | Ranked],
    retrieval: Retrieval,
    mask: Mask,
    progress: Progress,
) -> Selection:
    """The first k sound candidates of each kind, with those rejected or hidden before them."""
    listed: list[Candidate] = []
    gave_up: list[Kind] = []
    unlisted = 0
    for kind in judged:
        wanted, rejected, examined = retrieval.top.get(kind, kind.top), 0, 0
        candidates = judged[kind]
        if kind is Kind.SCHEMA and wanted:
            candidates = for_the_moment(candidates, listed, progress.sub_goal, retrieval.examined)
        for candidate in islice(candidates, retrieval.examined) if wanted else ():
            examined += 1
            if candidate.verdict.fate.shown:
                listed.append(drawn := mask.over(candidate))
                wanted -= drawn.verdict.fate.shown
                if not wanted:
                    break
            elif rejected < retrieval.listed:
                listed.append(mask.over(candidate) if candidate.verdict.fate.due else candidate)
                rejected += 1
            else:
                unlisted += 1
        if wanted and examined == retrieval.examined:
            gave_up.append(kind)
        listed.extend(recalled[kind].missed(_MISSED_LISTED))
    return Selection(_make_room(listed, retrieval.warnings), unlisted, tuple(gave_up))


def _make_room(candidates: Sequence[Candidate], most: int) -> tuple[Candidate, ...]:
    """Of critical failures and lessons together, keep only so many: those highest in rank."""
    failures = (Kind.CRITICAL_FAILURE, Kind.FAILURE)
    warnings = [
        each for each in candidates if each.verdict.fate.shown and each.entry.kind in failures
    ]
    rest = sorted(warnings, key=lambda candidate: -candidate.rank)[most:]
    no_room = Verdict(Fate.CROWDED, f"{most} critical failures and lessons rank higher")
    return tuple(each.judged(no_room) if each in rest else each for each in candidates)


def note_crowded_out(candidates: tuple[Candidate, ...], prompt: Prompt) -> tuple[Candidate, ...]:
    """Give the memories that the budget cut their verdict."""
    cut = Counter(item for part, item in prompt.cut if part is Part.MEMORY)
    noted = list(candidates)
    for place, candidate in enumerate(candidates) if cut else ():
        line = memory_line(candidate) if candidate.verdict.fate.shown else ""
        if cut[line]:
            cut[line] -= 1
            noted[place] = candidate.judged(
                Verdict(Fate.CROWDED, "no room within the memory budget")
            )
    return tuple(noted)


def for_the_moment(
    schemas: Iterable[Candidate], others: Sequence[Candidate], sub_goal: str, most: int
) -> Iterator[Candidate]:
    """Put the schemas that matter now first; among equals, the better confirmed. At most so many
    are looked at.

    A schema belongs to no goal: by evidence alone, every prompt would show `go` and `take`. The
    retrieved snippets say which ones matter, since each ends with the deed that reached its
    sub-goal.
    """
    matters: dict[str, tuple[int, str]] = {}
    for other in others:
        entry = other.entry
        if isinstance(entry, SuccessSnippet) and other.verdict.fate is not Fate.BELOW:
            shown, now = other.verdict.fate.shown, entry.sub_goal_type == sub_goal
            level = _NOW if shown and now else _SOON if shown else _SOMETIME
            deed = str(entry.precondition.get("action_type") or next(iter(entry.outcome), ""))
            if level > matters.get(deed, (0, ""))[0]:
                matters[deed] = (level, entry.id)
    ranked: list[Candidate] = []
    for candidate in islice(schemas, most):
        entry, verdict = candidate.entry, candidate.verdict
        assert isinstance(entry, VerifiedSchema)
        level, snippet = matters.get(entry.action_type, (0, ""))
        if level and verdict.fate is Fate.KEPT:
            verdict = Verdict(Fate.KEPT, _WHY[level].format(snippet or "a snippet"))
        rank = level + candidate.rank / (1.0 + candidate.rank)
        ranked.append(Candidate(entry, candidate.score, rank, verdict, candidate.adapted))
    yield from sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))
