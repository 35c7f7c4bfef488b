"""A mind for a condition, composed of neutral elements: nothing in a step asks which condition it
is.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.arbitration import Arbitration, arbitrate
from rpms.paper.beyond import PAPER_ALONE
from rpms.paper.condition import BeliefShown, Condition, MemoryWords
from rpms.paper.consistency import Compat, CompatibilityFilter, accept_everything
from rpms.paper.decide import HARD_SOFT, Arbitrate, Consistent, Mind, Update
from rpms.paper.enforcement import PAPER
from rpms.paper.memory import Entry, as_observed
from rpms.paper.prompt import Speak
from rpms.paper.recall import EpisodicMemory, Retriever
from rpms.paper.verdict import Candidate, Verdict
from rpms.paper.wording import Wording

_RANKED = 100
"""Entries of a kind that a list-wise judge is given."""


class OwnJudge(Protocol):
    """φ, for each entry that suits the state."""

    def __call__(self, entry: Entry, rules: ActiveRules, situation: Situation, /) -> Verdict | None:
        """Dropped or kept with a warning; None keeps the entry as it is."""
        ...


class ListJudge(Protocol):
    """φ over all entries of a kind at once, marked by `list_wise`."""

    def __call__(
        self, entries: Sequence[Entry], rules: ActiveRules, situation: Situation, /
    ) -> Iterable[tuple[int, Verdict]]:
        """Positions with verdicts, best first; entries that are not named follow, as they were."""
        ...


def list_wise(judge: ListJudge) -> ListJudge:
    """Mark an arbitration that judges the entries of a kind together, and may rank them anew."""
    judge.list_wise = True  # type: ignore[attr-defined]
    return judge


@dataclass(frozen=True)
class Seams:
    """Parts of the user's own, by the paper's names: functions, or objects that are called like
    one. None stands for the paper's part.
    """

    retriever: Retriever | None = None
    consistency: Compat | None = None
    """COMPAT: says why an entry does not suit the situation; nothing if it does."""
    arbitration: OwnJudge | ListJudge | None = None
    prompt: Speak | None = None
    """Takes the prompt's blocks in order and gives the messages that the model is sent."""


def judged_by(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, judge: Any
) -> Iterator[Candidate]:
    """M_arb by a judge of one's own: it is asked of each candidate that nothing rejected before,
    or of all of them at once.
    """
    if getattr(judge, "list_wise", False):
        yield from _ranked_by(candidates, rules, situation, judge)
        return
    for candidate in candidates:
        verdict = judge(candidate.entry, rules, situation) if candidate.verdict.fate.shown else None
        yield candidate if verdict is None else candidate.judged(verdict)


def _ranked_by(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, judge: ListJudge
) -> Iterator[Candidate]:
    """M_arb by a judge of all candidates of a kind, in the order that it gives.

    Their ranks are dealt out anew in that order, so that whatever sorts by rank keeps it.
    """
    left: list[Candidate] = []
    for candidate in islice(candidates, _RANKED):
        if candidate.verdict.fate.shown:
            left.append(candidate)
        else:
            yield candidate
    if not left:
        return
    in_order: dict[int, Candidate] = {}
    for place, verdict in judge([each.entry for each in left], rules, situation):
        in_order.setdefault(place, left[place].judged(verdict))
    for place, candidate in enumerate(left):
        in_order.setdefault(place, candidate)
    ranks = sorted((each.rank for each in left), reverse=True)
    for rank, candidate in zip(ranks, in_order.values(), strict=True):
        yield replace(candidate, rank=rank)


def compose(condition: Condition, whole: Mind, memory: EpisodicMemory) -> Mind:
    """Put a neutral element in place of everything that a condition leaves out of what a world
    knows.

    Goal and belief are shown whenever rules or memory are on. Progress is part of the goal, and
    told by the same measure in all conditions.
    """
    update = whole.update if condition.outcomes else without_outcomes(whole.update)
    style = replace(
        whole.style,
        wording=_worded(whole.style.wording, condition),
        layout=condition.layout,
        form=condition.form,
        notes=condition.notes,
    )
    manual = whole.manual.of_tiers(condition.tiers) if condition.rules else RuleManual()
    mind = replace(
        whole,
        condition=condition,
        update=update,
        style=style,
        manual=manual,
        schemas=whole.manual,
        tells=manual if manual.actions else whole.manual.bare(),
        experience=replace(whole.experience, memory=remembered(condition, memory)),
        consistent=_state_filter(condition, whole),
        arbitrate=_arbitration(condition, whole),
    )
    return mind if condition.enforcement == PAPER else extended(mind)


def extended(mind: Mind) -> Mind:
    """The mind with what goes past the paper: the parts that its condition switches on, and plans
    for players that ask for one.
    """
    if mind.beyond is not PAPER_ALONE:
        return mind
    if mind.extend is None:
        raise InputError(
            "this mind knows the paper alone; give it `extend=rpms.planning.extension.extend`"
        )
    return mind.extend(mind)


def without_outcomes(update: Update) -> Update:
    """f_UPD as in Section 3.1: what became of objects is not tracked."""

    def updated(belief: Belief, action: str | None, observation: str) -> Belief:
        return update(belief, action, observation).without_outcomes()

    return updated


def remembered(condition: Condition, memory: EpisodicMemory) -> EpisodicMemory:
    """The memory as a condition tells it: as it is stored, or only what was observed. If memory is
    off, it is empty.
    """
    if not condition.memory:
        return EpisodicMemory()
    if condition.memory_words is MemoryWords.MANUAL:
        return memory
    return EpisodicMemory(map(as_observed, memory.entries), memory.world)


def _worded(wording: Wording, condition: Condition) -> Wording:
    """A world's wording, silent about goal and belief where nothing is known."""
    spoken = wording.terse() if condition.belief is BeliefShown.PAPER else wording
    return spoken if condition.informed else spoken.silent()


def _state_filter(condition: Condition, whole: Mind) -> Consistent:
    """M_filt: the world's or the user's own, or one that accepts everything."""
    if condition.state_filter:
        return whole.consistent
    return CompatibilityFilter(accept_everything, own=True)


def _arbitration(condition: Condition, whole: Mind) -> Arbitrate:
    """M_arb: it needs rules, and is off without them."""
    if not condition.rules:
        return partial(arbitrate, mode=Arbitration.NONE)
    if whole.arbitrate is not HARD_SOFT:
        return whole.arbitrate
    return partial(arbitrate, mode=condition.arbitration)
