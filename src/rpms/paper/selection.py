"""Selects what a prompt shows: of the candidates the best few of each kind, as many as `Retrieval`
allows, and of its blocks what fits the budget (BUILD of Algorithm 1).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from rpms.logic.goal import Progress
from rpms.paper.memory import Kind, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import (
    SHARED,
    Block,
    Budget,
    CutItem,
    Form,
    Layout,
    Part,
    Prompt,
    Shortened,
    Speak,
    estimate_tokens,
    in_order,
)
from rpms.paper.recall import Ranked, Ranking, Retrieval
from rpms.paper.verdict import Candidate, Fate, Mask, Verdict

_MISSED_LISTED = 2
"""Entries below θ that a decision lists for each kind."""
_WARNINGS = (Kind.CRITICAL_FAILURE, Kind.FAILURE)
_NOW = 3
_SOON = 2
_SOMETIME = 1
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
    cut_short: tuple[Kind, ...]
    """Kinds whose search ended at `Retrieval.examined` candidates before enough were found; further
    ones may be sound."""

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
    cut_short: list[Kind] = []
    unlisted = 0
    for kind, candidates in judged.items():
        wanted = retrieval.top.get(kind, kind.top)
        if wanted:
            in_order = candidates
            if kind is Kind.SCHEMA:
                sub_goal = progress.sub_goal
                in_order = for_the_moment(candidates, listed, sub_goal, retrieval.examined)
            picked = _pick(in_order, wanted, retrieval, mask)
            listed += picked.listed
            unlisted += picked.unlisted
            if picked.cut_short:
                cut_short.append(kind)
        listed.extend(recalled[kind].missed(_MISSED_LISTED))
    return Selection(_make_room(listed, retrieval.warnings), unlisted, tuple(cut_short))


class _Picked(NamedTuple):
    """The candidates of one kind that were looked at."""

    listed: list[Candidate]
    unlisted: int
    """Rejected ones that are not listed."""
    cut_short: bool
    """True if the limit on judged candidates was reached before enough were found."""


def _pick(
    candidates: Iterable[Candidate], wanted: int, retrieval: Retrieval, mask: Mask
) -> _Picked:
    """Take candidates of one kind until enough are shown or too many were judged."""
    listed: list[Candidate] = []
    examined = 0
    shown = 0
    rejected = 0
    for candidate in islice(candidates, retrieval.examined):
        examined += 1
        fate = candidate.verdict.fate
        if not fate.shown:
            rejected += 1
            if rejected <= retrieval.listed:
                listed.append(mask.over(candidate) if fate.due else candidate)
            continue
        drawn = mask.over(candidate)  # the mask may hide it
        listed.append(drawn)
        if drawn.verdict.fate.shown:
            shown += 1
        if shown == wanted:
            break
    unlisted = max(0, rejected - retrieval.listed)
    cut_short = shown < wanted and examined == retrieval.examined
    return _Picked(listed, unlisted, cut_short)


def _make_room(candidates: Sequence[Candidate], most: int) -> tuple[Candidate, ...]:
    """Keep at most so many critical failures and lessons together: those highest in rank."""
    warnings: list[Candidate] = []
    for candidate in candidates:
        if candidate.verdict.fate.shown and candidate.entry.kind in _WARNINGS:
            warnings.append(candidate)
    warnings.sort(key=lambda candidate: -candidate.rank)
    too_many = warnings[most:]
    no_room = Verdict(Fate.CROWDED, f"{most} critical failures and lessons rank higher")
    kept: list[Candidate] = []
    for candidate in candidates:
        kept.append(candidate.judged(no_room) if candidate in too_many else candidate)
    return tuple(kept)


def note_crowded_out(
    candidates: tuple[Candidate, ...], told: Iterable[str], prompt: Prompt
) -> tuple[Candidate, ...]:
    """Give the memories that the budget cut their verdict; `told` are those to be shown, in
    words.
    """
    cut = Counter(item.text for item in prompt.cut if item.part is Part.MEMORY)
    if not cut:
        return candidates
    no_room = Verdict(Fate.CROWDED, "no room within the memory budget")
    lines = iter(told)
    noted = []
    for candidate in candidates:
        line = next(lines) if candidate.verdict.fate.shown else ""
        if cut[line]:
            cut[line] -= 1
            noted.append(candidate.judged(no_room))
        else:
            noted.append(candidate)
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
    matters = _mattering_deeds(others, sub_goal)
    ranked: list[Candidate] = []
    for candidate in islice(schemas, most):
        entry = candidate.entry
        verdict = candidate.verdict
        assert isinstance(entry, VerifiedSchema)
        level, snippet = matters.get(entry.action_type, _NEVER)
        if level and verdict.fate is Fate.KEPT and not verdict.reason:
            verdict = Verdict(Fate.KEPT, _WHY[level].format(snippet or "a snippet"))
        rank = level + candidate.rank / (1.0 + candidate.rank)
        ranked.append(Candidate(entry, candidate.score, rank, verdict, candidate.adapted))
    yield from sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))


class _Mattering(NamedTuple):
    """Urgency of an action, and the snippet that it comes from."""

    level: int
    snippet: str


_NEVER = _Mattering(0, "")


def _mattering_deeds(others: Iterable[Candidate], sub_goal: str) -> dict[str, _Mattering]:
    """The actions by which snippets reached their sub-goals, each with the soonest of them."""
    matters: dict[str, _Mattering] = {}
    for other in others:
        entry = other.entry
        fate = other.verdict.fate
        if not isinstance(entry, SuccessSnippet) or fate is Fate.BELOW:
            continue
        level = _SOMETIME
        if fate.shown:
            level = _NOW if entry.sub_goal_type == sub_goal else _SOON
        deed = str(entry.precondition.get("action_type") or next(iter(entry.outcome), ""))
        if level > matters.get(deed, _NEVER).level:
            matters[deed] = _Mattering(level, entry.id)
    return matters


# The budget.


def build(
    blocks: Iterable[Block],
    layout: Layout,
    budget: Budget,
    form: Form = Form.SINGLE,
    untagged: Mapping[str, str] | None = None,
    speak: Speak | None = None,
) -> Prompt:
    """BUILD of Algorithm 1: order the blocks, leave out the empty ones, and cut to the budget.

    Memories over their own limit are left out (`untagged` gives items without what does not count).
    If the whole does not fit, the oldest turns after the opening go first, then memories, then
    rules, last item first, and the prompt says so.
    """
    cutting = _Cutting(blocks, budget)
    cutting.fit_limits(untagged or {})
    shortened = cutting.fit_window() if budget.prompt else ()
    kept = {part: block for part, block in cutting.blocks.items() if block.items}
    # as an episode's file tells it
    cut = sorted(cutting.cut, key=lambda item: item.part is Part.HISTORY)
    return Prompt(in_order(kept, layout), tuple(cut), shortened, layout, form, speak)


class _Cutting:
    """Blocks while they are cut to a budget, and what was cut from them."""

    def __init__(self, blocks: Iterable[Block], budget: Budget) -> None:
        self.blocks = {block.part: block for block in blocks if block.items}
        self.cut: list[CutItem] = []
        self._budget = budget

    def fit_limits(self, untagged: Mapping[str, str]) -> None:
        """Cut memories, turns and injected knowledge to limits of their own, whatever the
        window.
        """
        budget = self._budget
        if Part.MEMORY in self.blocks:
            self._fit_memory(untagged)
        if Part.HISTORY in self.blocks and budget.turns:
            turns = len(self.blocks[Part.HISTORY].items)
            self._drop(
                Part.HISTORY, range(1, turns - budget.turns)
            )  # not the opening, not the last
        if budget.injected:
            for part in (Part.MEMORY, Part.DOMAIN):
                self._trim(part, budget.injected - self._tokens(injected=True))

    def fit_window(self) -> tuple[Shortened, ...]:
        """Cut blocks to the model's context window, and count the items that each lost.

        History leaves room for as much knowledge as any condition has, so that all of them show
        the same turns.
        """
        budget = self._budget
        kept_free = min(budget.knowledge, budget.prompt // 4)
        knowledge = max(kept_free, self._tokens(injected=True))
        spare = budget.prompt - self._tokens(injected=False) - knowledge
        shortened = [Shortened(Part.HISTORY, self._trim(Part.HISTORY, spare))]
        for part in (Part.MEMORY, Part.CARRIED, Part.DOMAIN, Part.UNIVERSAL, Part.ENVIRONMENT):
            spare = budget.prompt - sum(block.tokens for block in self.blocks.values())
            shortened.append(Shortened(part, self._trim(part, spare)))
        return tuple([each for each in shortened if each.items])

    def _tokens(self, *, injected: bool) -> int:
        """Tokens of the injected knowledge, or of all the rest."""
        tokens = 0
        for part, block in self.blocks.items():
            if (part not in SHARED) == injected:
                tokens += block.tokens
        return tokens

    def _fit_memory(self, untagged: Mapping[str, str]) -> None:
        """Keep the memories that fit their limit, in order: one that is too long does not push
        out those behind it.
        """
        block = self.blocks[Part.MEMORY]
        left = self._budget.memory - estimate_tokens(block.heading)
        dropped: list[int] = []
        for place, item in enumerate(block.items):
            tokens = estimate_tokens(untagged.get(item, item))
            if tokens > left:
                dropped.append(place)
            else:
                left -= tokens
        self._drop(Part.MEMORY, dropped)

    def _trim(self, part: Part, spare: int) -> int:
        """Drop items of one block while room is missing, and count them: the last ones, or a
        history's oldest turns.
        """
        block = self.blocks.get(part)
        if block is None or spare >= 0:
            return 0
        last = len(block.items) - 1
        droppable = range(1, last + 1) if part is Part.HISTORY else range(last, -1, -1)
        dropped: list[int] = []
        for place in droppable:
            if spare >= 0:
                break
            spare += estimate_tokens(block.items[place])
            dropped.append(place)
        self._drop(part, dropped)
        if not self.blocks[part].items:
            del self.blocks[part]
        return len(dropped)

    def _drop(self, part: Part, dropped: Sequence[int]) -> None:
        """Take some items out of a block; of a history that is cut, the first action goes too."""
        if not dropped:
            return
        block = self.blocks[part]
        self.cut += [CutItem(part, block.items[place]) for place in dropped]
        kept = [place for place in range(len(block.items)) if place not in dropped]
        self.blocks[part] = block.keeping(kept).opening_alone()
