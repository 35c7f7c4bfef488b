"""The prompt of Eq. 7, as named blocks with token counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, StrEnum

from rpms.core.tokens import TokenCounter, estimate_tokens


class Part(StrEnum):
    """The names of the blocks; one for each term of Eq. 7, with the rule manual's tiers apart."""

    INSTRUCTION = "instruction"
    EXAMPLE = "example"
    UNIVERSAL = "rules.universal"
    DOMAIN = "rules.domain"
    ENVIRONMENT = "rules.environment"
    SITUATION = "rules.situation"
    GOAL = "goal"
    BELIEF = "belief"
    MEMORY = "memory"
    NOTICE = "notice"
    MENU = "menu"
    HISTORY = "history"
    OBSERVATION = "observation"


SHARED = frozenset({Part.INSTRUCTION, Part.EXAMPLE, Part.HISTORY, Part.OBSERVATION})
"""What the baseline prompt consists of; every other block is injected knowledge."""


class Layout(Enum):
    """The order of the blocks."""

    PAPER = (
        Part.INSTRUCTION,
        Part.EXAMPLE,
        Part.UNIVERSAL,
        Part.DOMAIN,
        Part.ENVIRONMENT,
        Part.SITUATION,
        Part.GOAL,
        Part.BELIEF,
        Part.MEMORY,
        Part.HISTORY,
        Part.OBSERVATION,
        Part.NOTICE,
        Part.MENU,
    )
    """Eq. 7: knowledge before history."""
    CACHED = (
        Part.INSTRUCTION,
        Part.EXAMPLE,
        Part.UNIVERSAL,
        Part.ENVIRONMENT,
        Part.DOMAIN,
        Part.HISTORY,
        Part.OBSERVATION,
        Part.SITUATION,
        Part.GOAL,
        Part.BELIEF,
        Part.MEMORY,
        Part.NOTICE,
        Part.MENU,
    )
    """What never changes, then what only grows, then what changes at each step: a server can reuse the prefix."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a prompt: a heading and the items under it, so that a budget can drop items one by one."""

    part: Part
    heading: str
    items: tuple[str, ...]
    tokens: int

    @property
    def text(self) -> str:
        return "\n".join((self.heading, *self.items)) if self.heading else "\n".join(self.items)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat request."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One past step of the history H: what the world said, and what the model thought and did about it."""

    observation: str
    action: str
    thought: str = ""
    state: str = ""
    """The state it was decided in, for finding loops; not shown."""
    failed: bool = False
    """Whether the world refused the action."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits, in tokens. Cut first are memories, then domain rules, then the oldest history; nothing else."""

    prompt: int = 8_192
    """The whole prompt: fits the smallest context windows in use with room for an answer."""
    memory: int = 280
    """The memory block alone, which keeps the injected blocks within the paper's 800 to 1200 tokens."""
    turns: int = 0
    """Past turns after the opening one, of which the last are kept; 0 for all of them."""
    injected: int = 0
    """All injected blocks together, menu and notice included; 0 for no limit of their own."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is asked, as blocks in the order of a layout. Empty blocks are left out."""

    blocks: tuple[Block, ...]
    cut: tuple[tuple[Part, str], ...] = ()
    """The items that the budget removed, so that a page can show them."""

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def text(self) -> str:
        """The whole prompt as one text; two prompts that share blocks at the start share a prefix here."""
        return _join(self.blocks)

    def messages(self) -> tuple[Message, ...]:
        """The prompt as a chat request: the instruction speaks as the system, all else as the user."""
        system = [block for block in self.blocks if block.part is Part.INSTRUCTION]
        user = [block for block in self.blocks if block.part is not Part.INSTRUCTION]
        messages = [Message("system", _join(system))] if system else []
        return (*messages, Message("user", _join(user)))

    def injected(self) -> tuple[Block, ...]:
        """The knowledge blocks: what sets this prompt apart from the baseline's."""
        return tuple(block for block in self.blocks if block.part not in SHARED)

    def noticing(self, text: str, heading: str, layout: Layout, count: TokenCounter = estimate_tokens) -> Prompt:
        """The same prompt with one more item in its notice, for asking again."""
        parts = {block.part: block for block in self.blocks}
        known = parts.get(Part.NOTICE)
        items = (*known.items, text) if known else (text,)
        parts[Part.NOTICE] = make_block(Part.NOTICE, heading, items, count)
        return replace(self, blocks=_in_order(parts, layout))

    def without(self, parts: Iterable[Part]) -> Prompt:
        """The same prompt with some parts left out."""
        dropped = frozenset(parts)
        return replace(self, blocks=tuple(block for block in self.blocks if block.part not in dropped))


def _join(blocks: Sequence[Block]) -> str:
    """One text; the observation follows on the history without a gap, so that the two read as one transcript."""
    text = ""
    for place, block in enumerate(blocks):
        follows_on = block.part is Part.OBSERVATION and place > 0 and blocks[place - 1].part is Part.HISTORY
        text += ("\n" if follows_on else "\n\n" if place else "") + block.text
    return text


def make_block(part: Part, heading: str, items: Sequence[str], count: TokenCounter = estimate_tokens) -> Block:
    """Make a block with its token count."""
    return Block(part, heading, tuple(items), count(heading) + sum(map(count, items)))


def transcript(
    history: Sequence[Turn], observation: str, count: TokenCounter = estimate_tokens, *, thoughts: bool = True
) -> tuple[Block, Block]:
    """The history H and the observation o_t as two blocks that read as one transcript.

    The two texts of one step are, to the letter, the start of the next step's, and the opening observation, which
    states the task, is the first item of the history and the last that a budget would cut.
    """
    items: list[str] = []
    for number, turn in enumerate(history):
        thought = f"Thought: {turn.thought}\n" if turn.thought and thoughts else ""
        items.append(f"{_heard(number, turn.observation)}\n{thought}Action: {turn.action}")
    return (
        make_block(Part.HISTORY, "", items, count),
        make_block(Part.OBSERVATION, "", (_heard(len(history), observation),), count),
    )


def _heard(number: int, observation: str) -> str:
    return f"Obs: {observation}" if number else observation


def build(blocks: Iterable[Block], layout: Layout, budget: Budget, count: TokenCounter = estimate_tokens) -> Prompt:
    """BUILD of Algorithm 1: order the blocks, leave out the empty ones, and cut to the budget.

    Of the memories, those that do not fit their own limit are left out one by one, in order. Then, last item first:
    memories, domain rules, and the oldest turns after the opening one. Everything else always stays; a prompt that is
    still too long is the model's to refuse.
    """
    parts = {block.part: block for block in blocks if block.items}
    cut: list[tuple[Part, str]] = []
    if Part.MEMORY in parts:
        parts[Part.MEMORY] = _fill(parts[Part.MEMORY], budget.memory, cut, count)
    if Part.HISTORY in parts and budget.turns:
        parts[Part.HISTORY] = _keep_last(parts[Part.HISTORY], budget.turns, cut, count)
    for part in (Part.MEMORY, Part.DOMAIN) if budget.injected else ():
        spare = budget.injected - sum(block.tokens for block in parts.values() if block.part not in SHARED)
        if spare < 0 and part in parts:
            _trim(parts, part, parts[part].tokens + spare, -1, cut, count)
    for part, at, keep in ((Part.MEMORY, -1, 0), (Part.DOMAIN, -1, 0), (Part.HISTORY, 1, 1)):
        spare = budget.prompt - sum(block.tokens for block in parts.values() if block.items)
        if spare < 0 and part in parts:
            _trim(parts, part, parts[part].tokens + spare, at, cut, count, keep)
    cut.sort(key=lambda item: item[0] is Part.HISTORY)  # as an episode's file tells it
    return Prompt(_in_order({part: block for part, block in parts.items() if block.items}, layout), tuple(cut))


def _in_order(parts: Mapping[Part, Block], layout: Layout) -> tuple[Block, ...]:
    """The blocks in the order of a layout. Where there is a menu, the goal that it serves stands beside it."""
    order = [part for part in layout.value if part in parts]
    if Part.MENU in parts and Part.GOAL in parts:
        order.remove(Part.GOAL)
        order.insert(order.index(Part.NOTICE if Part.NOTICE in parts else Part.MENU), Part.GOAL)
    return tuple(parts[part] for part in order)


def _fill(block: Block, limit: int, cut: list[tuple[Part, str]], count: TokenCounter) -> Block:
    """Keep the items that fit a limit, in order: one that is too long does not push out those behind it."""
    left = limit - count(block.heading)
    kept: list[str] = []
    for item in block.items:
        if count(item) <= left:
            left -= count(item)
            kept.append(item)
        else:
            cut.append((block.part, item))
    return make_block(block.part, block.heading, kept, count)


def _keep_last(block: Block, turns: int, cut: list[tuple[Part, str]], count: TokenCounter) -> Block:
    """Keep the first item and so many of the last; where turns between them go, so does the first one's action."""
    kept = max(len(block.items) - turns, 1)
    cut.extend((block.part, item) for item in block.items[1:kept])
    opening = opening_alone(block.items[0]) if kept > 1 else block.items[0]
    return make_block(block.part, block.heading, (opening, *block.items[kept:]), count)


def opening_alone(item: str) -> str:
    """A history's first item without its action: beside an observation that did not follow it, it would tell a lie."""
    return item.rpartition("\nAction: ")[0]


def _trim(
    parts: dict[Part, Block],
    part: Part,
    limit: int,
    at: int,
    cut: list[tuple[Part, str]],
    count: TokenCounter,
    keep: int = 0,
) -> None:
    """Drop items of one block, each time the one at index `at`, until it fits its limit or only `keep` are left."""
    block = parts.get(part)
    if block is None or block.tokens <= limit:
        return
    items = list(block.items)
    tokens = block.tokens
    while tokens > limit and len(items) > keep:
        item = items.pop(at)
        tokens -= count(item)
        cut.append((part, item))
    parts[part] = make_block(part, block.heading, items, count)
