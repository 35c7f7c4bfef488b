"""The prompt of Eq. 7, as named blocks with token counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, Protocol

_PIECE = re.compile(r"[A-Za-z]{1,8}|\d|[^\sA-Za-z\d]{1,3}")


@lru_cache(maxsize=8_192)
def estimate_tokens(text: str) -> int:
    """Estimate tokens, alike on every machine: word pieces of up to eight letters, single
    digits, signs by threes.
    """
    return len(_PIECE.findall(text))


def brief(text: str, most: int = 120) -> str:
    """A text that is a model's own, short enough to be repeated to it: its ramblings are not."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
    CARRIED = "carried"
    """Text that a method other than RPMS carries over from earlier attempts."""
    NOTICE = "notice"
    MENU = "menu"
    HISTORY = "history"
    OBSERVATION = "observation"


SHARED = frozenset({Part.INSTRUCTION, Part.EXAMPLE, Part.HISTORY, Part.OBSERVATION})
"""Blocks of the baseline prompt; every other block is injected knowledge."""


def _parts(names: str) -> tuple[Part, ...]:
    return tuple(Part[name] for name in names.upper().split())


class Layout(Enum):
    """The order of the blocks. What stands before the example is the system's to say."""

    PAPER = _parts(
        "instruction belief goal universal domain environment situation memory carried example"
        " history observation notice menu"
    )
    """Appendix D: all knowledge is appended to the system prompt, in the order of its listing."""
    CACHED = _parts(
        "instruction example carried universal environment domain history observation situation"
        " goal belief memory notice menu"
    )
    """Fixed text, then growing text, then text that changes at each step: a server can reuse
    the prefix."""

    @property
    def system(self) -> frozenset[Part]:
        """Blocks of the system message."""
        return frozenset(self.value[: self.value.index(Part.EXAMPLE)])


class Form(StrEnum):
    """The form of a prompt after the system message."""

    CHAT = "chat"
    """A conversation: one message for each thing the world said, one for each thing the model
    did."""
    SINGLE = "single"
    """One message of the user's, with the turns so far as a transcript in it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One part of a prompt: a heading and the items under it, so that a budget can drop items
    one by one.
    """

    part: Part
    heading: str
    items: tuple[str, ...]
    tokens: int
    spoken: tuple[int, ...] = ()
    """In a history, the position in each item at which the world's words end and the model's begin;
    0 if the model said nothing."""

    @property
    def text(self) -> str:
        return "\n".join((self.heading, *self.items)) if self.heading else "\n".join(self.items)

    def keeping(self, places: Iterable[int]) -> Block:
        """The block with some of its items, by their indices."""
        kept = tuple(places)
        spoken = [self.spoken[place] for place in kept] if self.spoken else ()
        return make_block(self.part, self.heading, [self.items[place] for place in kept], spoken)

    def opening_alone(self) -> Block:
        """The history with only its opening observation, without the first action, whose result
        is missing.
        """
        if not any(self.spoken[:1]):
            return self
        heard = self.items[0][: self.spoken[0] - 1]
        items = (heard, *self.items[1:])
        return make_block(self.part, self.heading, items, (0, *self.spoken[1:]))


class CutItem(NamedTuple):
    """An item that a budget removed from a block."""

    part: Part
    text: str


class Shortened(NamedTuple):
    """A block that lost items to the model's context window, and how many."""

    part: Part
    items: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat request."""

    role: str
    content: str


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


class PromptSection(NamedTuple):
    """A part of a prompt as a person sees it."""

    title: str
    text: str


class Speak(Protocol):
    """A prompt's form, in place of the usual ones."""

    def __call__(self, blocks: Sequence[Block], /) -> Sequence[Message]:
        """The messages of a prompt, from its blocks in order."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One past step of the history H: the world's text, and the model's thought and action."""

    observation: str
    action: str
    thought: str = ""
    state: str = ""
    """The state it was decided in, for finding loops; not shown."""
    failed: bool = False
    """True if the world refused the action."""
    said: str = ""
    """The labelled lines before the action, if they are more than a thought."""
    gained: bool = False
    """True if the score rose with the action; not shown."""
    wrote: str = ""
    """The action as the model wrote it, where a repair made another command of it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its blocks in the order of a layout, without empty ones."""

    blocks: tuple[Block, ...]
    cut: tuple[CutItem, ...] = ()
    """The items that the budget removed, so that a page can show them."""
    no_room: tuple[Shortened, ...] = ()
    """Blocks that did not fit the model's context window whole, history first."""
    layout: Layout = Layout.CACHED
    form: Form = Form.SINGLE
    speak: Speak | None = field(default=None, compare=False)
    """Makes the messages of the blocks, in place of the form."""

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def crowded(self) -> bool:
        """True if knowledge was left out for want of room: it does not fit whole, even without
        history.
        """
        return any(each.part not in SHARED for each in self.no_room)

    @property
    def forgets(self) -> bool:
        """True if the oldest turns were left out for want of room."""
        return any(each.part is Part.HISTORY for each in self.no_room)

    @property
    def text(self) -> str:
        """The whole prompt as one text, as it is sent. Two prompts that begin with the same blocks
        begin with the same text.
        """
        if self.speak is not None:
            return "\n\n".join(message.content for message in self.messages())
        return _join(self.blocks)

    def shows(self, part: Part) -> bool:
        """True if it has a block of that name."""
        return any(block.part is part for block in self.blocks)

    def messages(self) -> tuple[Message, ...]:
        """The prompt as a chat request, in its form.

        The system's words are those before the example.
        """
        if self.speak is not None:
            return tuple(self.speak(self.blocks))
        of_system = self.layout.system
        system = list(takewhile(lambda block: block.part in of_system, self.blocks))
        rest = self.blocks[len(system) :]
        messages: list[Message] = []
        if system:
            messages.append(Message("system", _join(system)))
        if self.form is Form.CHAT:
            messages.extend(_conversation(rest))
        else:
            messages.append(Message("user", _join(rest)))
        return tuple(messages)

    def own_messages(self) -> tuple[Message, ...]:
        """The messages that a part of the user's own made, if they are not what the blocks say."""
        if self.speak is None:
            return ()
        spoken = self.messages()
        usual = replace(self, speak=None).messages()
        return () if spoken == usual else spoken

    def sections(self) -> Iterator[PromptSection]:
        """The prompt as a person sees it: its blocks, or the messages that a part of the user's own
        made of them.
        """
        messages = self.own_messages()
        for number, message in enumerate(messages, start=1):
            tokens = estimate_tokens(message.content)
            title = f"message {number} of {len(messages)}, {message.role}, {tokens} tokens"
            yield PromptSection(title, message.content)
        if not messages:
            for block in self.blocks:
                yield PromptSection(f"{block.part}, {block.tokens} tokens", block.text)

    def injected(self) -> tuple[Block, ...]:
        """The knowledge blocks: what sets this prompt apart from the baseline's."""
        return tuple(block for block in self.blocks if block.part not in SHARED)

    def noticing(self, text: str, heading: str) -> Prompt:
        """The prompt with one more item in its notice, for asking again."""
        parts = {block.part: block for block in self.blocks}
        before = parts.get(Part.NOTICE)
        items = (*before.items, text) if before else (text,)
        parts[Part.NOTICE] = make_block(Part.NOTICE, heading, items)
        return replace(self, blocks=in_order(parts, self.layout))

    def without(self, parts: Iterable[Part]) -> Prompt:
        """The prompt with some parts left out."""
        dropped = frozenset(parts)
        kept = [block for block in self.blocks if block.part not in dropped]
        return replace(self, blocks=tuple(kept))


def _join(blocks: Sequence[Block]) -> str:
    """One text; the observation follows on the history without a gap, so that the two read as
    one transcript.
    """
    text = ""
    before: Part | None = None
    for block in blocks:
        if before is Part.HISTORY and block.part is Part.OBSERVATION:
            text += "\n"
        elif before is not None:
            text += "\n\n"
        text += block.text
        before = block.part
    return text


def _conversation(blocks: Sequence[Block]) -> Iterator[Message]:
    """Blocks as messages, the user's and the model's in turn; the user has the first word and
    the last.
    """
    waiting = ""
    for block in blocks:
        if block.part is not Part.HISTORY or not block.spoken:
            waiting = _paragraphs(waiting, block.text)
            continue
        for item, begin in zip(block.items, block.spoken, strict=True):
            if not begin:
                waiting = _paragraphs(waiting, item)
                continue
            yield Message("user", _paragraphs(waiting, item[: begin - 1]))
            yield Message("assistant", item[begin:])
            waiting = ""
    yield Message("user", waiting)


def _paragraphs(before: str, text: str) -> str:
    """Two texts with an empty line between them; the second alone where nothing is before it."""
    return f"{before}\n\n{text}" if before else text


def make_block(part: Part, heading: str, items: Sequence[str], spoken: Sequence[int] = ()) -> Block:
    """Make a block with its token count."""
    tokens = estimate_tokens(heading) + sum(map(estimate_tokens, items))
    return Block(part, heading, tuple(items), tokens, tuple(spoken))


def in_order(parts: Mapping[Part, Block], layout: Layout) -> tuple[Block, ...]:
    """The blocks in the order of a layout.

    Where there is a menu, the goal that it serves stands beside it.
    """
    order = [part for part in layout.value if part in parts]
    if Part.MENU in parts and Part.GOAL in parts:
        behind_goal = Part.NOTICE if Part.NOTICE in parts else Part.MENU
        order.remove(Part.GOAL)
        order.insert(order.index(behind_goal), Part.GOAL)
    return tuple(parts[part] for part in order)
