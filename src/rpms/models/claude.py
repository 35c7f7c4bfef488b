"""Anthropic's models, with marks where the provider should cache a prompt."""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, NamedTuple

from rpms.models.base import Answer, Request, Usage
from rpms.models.patience import NOT_OF_PROTOCOL, TryAgain
from rpms.models.remote import Sdk, ServedModel
from rpms.models.wire import count, dig
from rpms.paper.prompt import Form, Part, Prompt

UNCHANGING = frozenset(
    {Part.INSTRUCTION, Part.EXAMPLE, Part.CARRIED, Part.UNIVERSAL, Part.DOMAIN, Part.ENVIRONMENT}
)
"""Blocks that are the same at each step of an episode, and mostly between episodes of one task
type."""

Pieces = list[dict[str, Any]]
"""Content blocks, as the provider takes them."""
_MARK = {"type": "ephemeral"}
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class CachedPieces(NamedTuple):
    """A prompt as content blocks, marked where the provider should cache."""

    system: Pieces
    messages: list[dict[str, Any]]


class ClaudeModel(ServedModel):
    """A model of Anthropic's."""

    sdk = Sdk("anthropic", "Anthropic", "/v1/messages")
    adaptable: ClassVar = dict.fromkeys(("temperature", "top_p", "stop_sequences"))
    stop = "stop_sequences"

    def answer(self, request: Request) -> Answer:
        system, messages = cached_pieces(request.prompt)
        extra = {"system": system} if system else {}
        unsent: tuple[str, ...] = ()
        if request.decoding.seed is not None:
            unsent = ("seed not sent: this provider has none",)
        return self._ask(messages, request.decoding, extra, unsent)

    def _read(self, body: Any, _sent: Mapping[str, Any]) -> Answer:
        """The answer in a response of the Messages API: its texts one after the other, and what it
        used.
        """
        content = dig(body, "content")
        if not isinstance(content, list):
            raise TryAgain(NOT_OF_PROTOCOL)
        text = ""
        for block in content:
            said = dig(block, "text")
            if dig(block, "type") == "text" and isinstance(said, str):
                text += said
        used = dig(body, "usage")
        read = count(used, "cache_read_input_tokens")
        written = count(used, "cache_creation_input_tokens")
        prompt = count(used, "input_tokens") + read + written
        usage = Usage(prompt, read, count(used, "output_tokens"), written_tokens=written)
        reason = dig(body, "stop_reason")
        finish = _FINISH.get(reason, reason) if isinstance(reason, str) else "stop"
        return Answer(text, usage, finish)


def cached_pieces(prompt: Prompt) -> CachedPieces:
    """The system's text as content blocks, and the messages, marked where the provider should
    cache.

    Joined, the blocks are the texts of `Prompt.messages()`. A mark stands after the fixed part and,
    in the `cached` layout, after the latest turn; each turn is a block, since a provider caches at
    the ends of blocks only.
    """
    spoken = prompt.messages()
    system = spoken[0].content if spoken[0].role == "system" else ""
    said = [message for message in spoken if message.role != "system"]
    messages: list[dict[str, Any]] = []
    for message in said:
        messages.append({"role": message.role, "content": _pieces(message.content)})
    fixed = _end_of_fixed(prompt)
    if fixed is not None:
        return CachedPieces(_pieces(system, {fixed}, {fixed}), messages)
    opening = said[0].content
    cuts = _cuts(prompt, opening)
    messages[0]["content"] = _pieces(opening, cuts.ends, {cuts.fixed, *cuts.ends[-1:]})
    if len(messages) > 1:
        messages[-2]["content"][-1]["cache_control"] = _MARK  # the model's latest turn
    marks = () if cuts.ends else {len(system)}
    return CachedPieces(_pieces(system, marks=marks), messages)


def _end_of_fixed(prompt: Prompt) -> int | None:
    """End of the instruction in a layout whose system text changes after it at each step, as the
    paper's does; None in a layout whose system text never changes.
    """
    system = [block for block in prompt.blocks if block.part in prompt.layout.system]
    if all(block.part in UNCHANGING for block in system):
        return None
    return len(system[0].text) if system[0].part is Part.INSTRUCTION else 0


class _Cuts(NamedTuple):
    """Places at which the first message may be cut into blocks."""

    ends: list[int]
    fixed: int
    """End of what never changes in an episode."""


def _cuts(prompt: Prompt, opening: str) -> _Cuts:
    """Ends of the blocks that begin the first message and stay, and of each turn after them.

    In a chat, turns are messages of their own. The observation after the turns becomes a turn,
    with its action, one step later.
    """
    ends: list[int] = []
    at = 0
    for block in prompt.blocks:
        if block.part in prompt.layout.system:
            continue
        if block.part is Part.HISTORY and prompt.form is not Form.CHAT:
            fixed = at
            for turn in block.items:
                at = opening.find(turn, at) + len(turn)
                ends.append(at)
            return _Cuts(ends, fixed)
        if block.part not in UNCHANGING:
            break
        at = opening.find(block.text, at) + len(block.text)
        ends.append(at)
    return _Cuts(ends, at)


def _pieces(text: str, ends: Collection[int] = (), marks: Collection[int] = ()) -> Pieces:
    """A text as content blocks: cut at some places, with a mark after some of them."""
    pieces: Pieces = []
    start = 0
    for end in sorted({*ends, len(text)}):
        if end > start:
            mark = {"cache_control": _MARK} if end in marks else {}
            pieces.append({"type": "text", "text": text[start:end], **mark})
            start = end
    return pieces
