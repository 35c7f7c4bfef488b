"""BUILD of Algorithm 1: a prompt from its blocks, in order and cut to a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rpms.paper.prompt import (
    SHARED,
    Block,
    Form,
    Layout,
    Part,
    Prompt,
    Speak,
    estimate_tokens,
    in_order,
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits, in tokens.

    History gives way first, the oldest turns first; knowledge only if it alone does not fit.
    """

    prompt: int = 0
    """The whole prompt, as `prompt_limit` finds it for a model's context window; 0 for no limit."""
    knowledge: int = 1_600
    """Tokens that history may not take, in any condition, so that all of them show the same turns;
    at most a quarter of the prompt."""
    memory: int = 280
    """The memory block alone: it keeps the injected blocks within the paper's 800 to 1200 tokens.
    Warnings tagged to memories do not count: with and without them, a prompt shows the same
    memories."""
    turns: int = 0
    """Past turns after the opening one, of which the last are kept; 0 for all of them."""
    injected: int = 0
    """All injected blocks together, menu and notice included; 0 for no limit of their own."""


def prompt_limit(window: int, answer: int) -> int:
    """Longest prompt for a context window that also holds the answer; 0, for no limit, if the
    window is 0.
    """
    # a tenth is left free for errors of the token estimate and for what a server puts around each
    # message
    return max(1, (window - answer) * 9 // 10) if window else 0


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
    parts = {block.part: block for block in blocks if block.items}
    cut: list[tuple[Part, str]] = []
    _fit_limits(parts, budget, cut, untagged or {})
    missed = _fit_window(parts, budget, cut) if budget.prompt else ()
    ordered = in_order({part: block for part, block in parts.items() if block.items}, layout)
    cut.sort(key=lambda item: item[0] is Part.HISTORY)  # as an episode's file tells it
    return Prompt(ordered, tuple(cut), missed, layout, form, speak)


def _fit_limits(
    parts: dict[Part, Block],
    budget: Budget,
    cut: list[tuple[Part, str]],
    untagged: Mapping[str, str],
) -> None:
    """Cut memories, turns and injected knowledge to limits of their own, whatever the window."""
    if Part.MEMORY in parts:
        parts[Part.MEMORY] = _fill(parts[Part.MEMORY], budget.memory, cut, untagged)
    if Part.HISTORY in parts and budget.turns:
        history = parts[Part.HISTORY]
        older = range(1, len(history.items) - budget.turns)  # all but the opening and the last
        parts[Part.HISTORY] = _without(history, older, cut)
    if budget.injected:
        for part in (Part.MEMORY, Part.DOMAIN):
            _trim(parts, part, budget.injected - _tokens(parts, injected=True), cut)


def _fit_window(
    parts: dict[Part, Block], budget: Budget, cut: list[tuple[Part, str]]
) -> tuple[tuple[Part, int], ...]:
    """Cut blocks to the model's context window, and count the items that each lost.

    History leaves room for as much knowledge as any condition has, so that all of them show the
    same turns.
    """
    kept_free = min(budget.knowledge, budget.prompt // 4)
    knowledge = max(kept_free, _tokens(parts, injected=True))
    spare = budget.prompt - _tokens(parts, injected=False) - knowledge
    lost = {Part.HISTORY: _trim(parts, Part.HISTORY, spare, cut)}
    for part in (Part.MEMORY, Part.CARRIED, Part.DOMAIN, Part.UNIVERSAL, Part.ENVIRONMENT):
        spare = budget.prompt - sum(block.tokens for block in parts.values())
        lost[part] = _trim(parts, part, spare, cut)
    return tuple((part, fewer) for part, fewer in lost.items() if fewer)


def _tokens(parts: Mapping[Part, Block], *, injected: bool) -> int:
    """Tokens of the injected knowledge, or of all the rest."""
    return sum(block.tokens for part, block in parts.items() if (part not in SHARED) == injected)


def _fill(
    block: Block, limit: int, cut: list[tuple[Part, str]], untagged: Mapping[str, str]
) -> Block:
    """Keep the items that fit a limit, in order: one that is too long does not push out those
    behind it.
    """
    left = limit - estimate_tokens(block.heading)
    dropped: list[int] = []
    for place, item in enumerate(block.items):
        tokens = estimate_tokens(untagged.get(item, item))
        if tokens > left:
            dropped.append(place)
        else:
            left -= tokens
    return _without(block, dropped, cut)


def _trim(parts: dict[Part, Block], part: Part, spare: int, cut: list[tuple[Part, str]]) -> int:
    """Drop items of one block while room is missing, and count them: the last ones, or a
    history's oldest turns.
    """
    block = parts.get(part)
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
    parts[part] = _without(block, dropped, cut)
    if not parts[part].items:
        del parts[part]
    return len(dropped)


def _without(block: Block, dropped: Sequence[int], cut: list[tuple[Part, str]]) -> Block:
    """A block without some items; of a history that is cut, the first action goes too."""
    if not dropped:
        return block
    cut.extend((block.part, block.items[place]) for place in dropped)
    kept = [place for place in range(len(block.items)) if place not in dropped]
    return block.keeping(kept).opening_alone()
