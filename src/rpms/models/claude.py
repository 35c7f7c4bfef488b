"""Anthropic's models through its SDK (extra `anthropic`), with prompt caching."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from rpms.core.prompt import Form, Part, Prompt
from rpms.models.base import Answer, Request, Usage
from rpms.models.patience import NOT_OF_PROTOCOL, TryAgain
from rpms.models.served import Reply, ServedModel, body_of, count

UNCHANGING = frozenset({Part.INSTRUCTION, Part.EXAMPLE, Part.CARRIED, Part.UNIVERSAL, Part.DOMAIN, Part.ENVIRONMENT})
"""Blocks that are the same at each step of an episode, and mostly between episodes of one task type."""

Pieces = list[dict[str, Any]]
"""Content blocks, as the provider takes them."""
_MARK = {"type": "ephemeral"}
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


class ClaudeModel(ServedModel):
    """A model of Anthropic's."""

    sdk = ("anthropic", "Anthropic", "AnthropicError")
    adaptable: ClassVar = dict.fromkeys(("temperature", "top_p", "stop_sequences"))

    def answer(self, request: Request) -> Answer:
        decoding = request.decoding
        system, messages = cached_pieces(request.prompt)
        arguments: dict[str, Any] = {
            "model": self._model,
            "max_tokens": decoding.max_tokens,
            "messages": messages,
            "temperature": decoding.temperature,
        }
        if system:
            arguments["system"] = system
        if decoding.top_p != 1.0:
            arguments["top_p"] = decoding.top_p
        if decoding.stop:
            arguments["stop_sequences"] = list(decoding.stop)
        if decoding.extra:
            arguments["extra_body"] = dict(decoding.extra)
        # Its seed has no counterpart there.
        unsent = () if decoding.seed is None else ("seed not sent: this provider has none",)
        return self._ask(arguments, decoding.stop, unsent)

    def _send(self, arguments: dict[str, Any]) -> Reply:
        # In the body as they are: SDKs after 2.0 have no arguments for what newer models do not take.
        sampling = {name: arguments.pop(name) for name in ("temperature", "top_p") if name in arguments}
        extra = {**sampling, **arguments.pop("extra_body", {})}
        message = body_of(self._client.messages.with_raw_response.create(**arguments, extra_body=extra))
        content = message.get("content")
        if not isinstance(content, list):
            raise TryAgain(NOT_OF_PROTOCOL)
        texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
        reason, used = message.get("stop_reason"), message.get("usage")
        counts = used if isinstance(used, dict) else {}
        read = count(counts.get("cache_read_input_tokens"))
        written = count(counts.get("cache_creation_input_tokens"))
        usage = Usage(
            prompt_tokens=count(counts.get("input_tokens")) + read + written,
            cached_tokens=read,
            completion_tokens=count(counts.get("output_tokens")),
            written_tokens=written,
        )
        finish = _FINISH.get(reason, reason) if isinstance(reason, str) else "stop"
        return Reply("".join(text for text in texts if isinstance(text, str)), finish, usage)


def cached_pieces(prompt: Prompt) -> tuple[Pieces, list[dict[str, Any]]]:
    """The system's text as content blocks, and the messages, marked where the provider should cache.

    Joined, the blocks are the texts of `Prompt.messages()`. A mark stands after the fixed part and, in the `cached`
    layout, after the latest turn; each turn is a block, since a provider caches at the ends of blocks only.
    """
    spoken = prompt.messages()
    system = spoken[0].content if spoken[0].role == "system" else ""
    said = [message for message in spoken if message.role != "system"]
    told = [block for block in prompt.blocks if block.part in prompt.layout.system]
    if any(block.part not in UNCHANGING for block in told):  # the paper's layout: what follows changes at each step
        end = len(told[0].text) if told[0].part is Part.INSTRUCTION else 0
        return _pieces(system, {end}, {end}), [_message(message.role, _pieces(message.content)) for message in said]
    opening = said[0].content
    ends, marks = _cuts(prompt, opening)
    messages = [_message(said[0].role, _pieces(opening, set(ends), marks))]
    messages += [_message(message.role, _pieces(message.content)) for message in said[1:]]
    if len(messages) > 1:
        messages[-2]["content"][-1]["cache_control"] = _MARK  # the model's latest turn
    return _pieces(system, set(), set() if marks else {len(system)}), messages


def _message(role: str, content: Pieces) -> dict[str, Any]:
    return {"role": role, "content": content}


def _pieces(text: str, ends: AbstractSet[int] = frozenset(), marks: AbstractSet[int] = frozenset()) -> Pieces:
    """A text as content blocks: cut at some places, with a mark after some of them."""
    pieces: Pieces = []
    start = 0
    for end in sorted({*ends, len(text)}):
        if end > start:
            pieces.append({"type": "text", "text": text[start:end]})
            if end in marks:
                pieces[-1]["cache_control"] = _MARK
            start = end
    return pieces


def _cuts(prompt: Prompt, content: str) -> tuple[list[int], set[int]]:
    """Cuts of the first message into blocks, and the cuts that are marked."""
    ends: list[int] = []
    marks: set[int] = set()
    at = 0
    unchanged = True
    for block in prompt.blocks:
        if block.part in prompt.layout.system:
            continue
        if unchanged and block.part is Part.HISTORY:
            if prompt.form is Form.CHAT:
                break  # its turns are messages of their own
            for item in block.items:
                at = content.find(item, at) + len(item)
                ends.append(at)
            unchanged = False  # the observation after it becomes a turn, with its action, one step later
            continue
        begin = content.find(block.text, at)
        if begin < 0:
            break
        at = begin + len(block.text)
        unchanged = unchanged and block.part in UNCHANGING
        if unchanged:
            ends.append(at)
            marks = {at}
    turns = [end for end in ends if end > max(marks, default=0)]
    return ends, marks | set(turns[-1:])
