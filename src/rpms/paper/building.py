"""BUILD of Algorithm 1: a prompt from its blocks, in order and cut to a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rpms.paper.prompt import (
    SHARED,
    Block,
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
