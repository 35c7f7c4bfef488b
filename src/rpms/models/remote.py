"""Every endpoint that speaks OpenAI's chat protocol, and Anthropic's with prompt caching, through the official SDKs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, ClassVar

from rpms.core.errors import ModelError
from rpms.core.prompt import Form, Message, Part, Prompt
from rpms.foreign.call_text import NotACall, Tool, from_fields
from rpms.foreign.shown import one_line
from rpms.models.base import Answer, CannotHold, Decoding, Request, Usage
from rpms.models.constraint import NOT_HELD, THOUGHT, ConstraintForm, Fields, held, shapes_of
from rpms.models.parsing import parse_answer
from rpms.models.patience import NOT_OF_PROTOCOL, TryAgain
from rpms.models.served import ServedModel, body_of, count

_LOG = logging.getLogger("rpms")

CARRIERS = ("structured_outputs", "guided_regex", "grammar", "response_format")
"""The parameters that can carry what an action is held to."""
ADAPTABLE: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    **dict.fromkeys(("temperature", "top_p", "seed", "stop", "tool_choice", "tools", *CARRIERS)),
}
"""Parameters left out, or renamed, where a model refuses them. Stop sequences are also applied to the answer."""

_PROBED = shapes_of(("tick 4071", "tick 4072"))
_PROBE = (
    Message("system", "You answer with two lines and nothing else."),
    Message("user", "Write these two lines:\nThought: all is well\nAction: look"),
)
"""A question whose plain answer is none of the choices that are sent with it."""


class RemoteModel(ServedModel):
    """A model behind an OpenAI-compatible endpoint.

    Choices and templates are sent in the first of the provider's forms that the server heeds, found out once by a small
    question (`_heeded`). The notes name the form if it was not the first; if none is heeded, answers are free and the
    notes and one line on stderr say so.
    """

    sdk = ("openai", "OpenAI", "OpenAIError")
    adaptable = ADAPTABLE
    own = in_body = CARRIERS
    most_stops = 4
    """OpenAI's limit on stop sequences in one request."""
    calls_tools = True

    def __init__(self, *endpoint: str, forms: tuple[ConstraintForm, ...] = (), **options: Any) -> None:
        """`forms`: the ways in which this kind of server may take choices; none for one that cannot."""
        super().__init__(*endpoint, **options)
        self._forms, self.constrains = forms, bool(forms)
        self._finding = threading.Lock()
        self._found = False
        self._heeds: ConstraintForm | None = None

    def answer(self, request: Request) -> Answer:
        if request.tools:
            return self._say(request.prompt.messages(), request.decoding, tool_fields(request.tools))
        shapes = shapes_of(request.choices, request.templates)
        forms = [form for form in self._forms if form.takes(shapes)]
        if not forms and request.templates:
            raise CannotHold(f"{self.name} cannot hold its answers to action templates, only to a menu")
        messages, decoding = request.prompt.messages(), request.decoding
        if not shapes or not forms:
            return self._say(messages, decoding, {})
        form = self._heeded(decoding)
        if form not in forms:
            answer = self._say(messages, decoding, {})
            return replace(answer, notes=(*answer.notes, f"{NOT_HELD}: this server takes none of the forms"))
        answer = self._say(messages, decoding, form.fields(shapes, decoding.max_tokens))
        notes = answer.notes
        if form is not forms[0]:
            notes += (f"{'choices' if request.choices else 'templates'} sent as {form.name}",)
        # One that begins as asked and cannot be read, such as for a quoted stop sign, was held as far as it goes.
        unread = answer.text.startswith(THOUGHT) and parse_answer(answer.text).action is None
        if not (held(answer.text, shapes) or answer.finish != "stop" or unread):
            notes += (f"{NOT_HELD}: this server did not heed {form.name} here",)
        return replace(answer, notes=notes)

    def _heeded(self, decoding: Decoding) -> ConstraintForm | None:
        """The first form that the server heeds: each is sent with choices that rule out the wanted action, once."""

        def heeds(form: ConstraintForm) -> bool:
            return held(self._say(_PROBE, decoding, form.fields(_PROBED, decoding.max_tokens)).text, _PROBED)

        with self._finding:
            if not self._found:
                self._heeds = next(filter(heeds, self._forms), None)
                self._found = True
                if self._heeds is None:
                    note = "note: %s does not hold its actions to a menu or grammar; its server may be too old"
                    _LOG.warning(note, self.name)
            return self._heeds

    def _say(self, messages: Sequence[Message], decoding: Decoding, fields: Fields) -> Answer:
        seed = {} if decoding.seed is None else {"seed": decoding.seed}
        return self._ask([{"role": m.role, "content": m.content} for m in messages], decoding, {**fields, **seed})

    def _send(self, arguments: dict[str, Any]) -> Answer:
        """One request. What a server sends may be anything, so each field is looked at before it is used."""
        body = body_of(self._client.chat.completions.with_raw_response.create(**arguments))
        choices = body.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, dict) else None
        if isinstance(first, dict) and isinstance(message, dict):
            finish = first.get("finish_reason")
            usage, notes = _usage(body.get("usage"))
            text = _text(message.get("content"))
            if "tools" in arguments:
                text, more = called(text, message.get("tool_calls"))
                notes += more
            finish = finish if isinstance(finish, str) and finish != "tool_calls" else "stop"
            return Answer(text, usage, finish, notes)
        if body.get("error"):
            raise self._endpoint.understand_body(body["error"])
        if isinstance(choices, list):
            raise TryAgain("the answer has no choices", lasting=ModelError)
        raise TryAgain(NOT_OF_PROTOCOL)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # some servers send parts
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return ""


def _usage(usage: object) -> tuple[Usage, tuple[str, ...]]:
    if not isinstance(usage, dict):
        return Usage(), ("the server reports no token counts",)
    details = usage.get("prompt_tokens_details")
    prompt = count(usage.get("prompt_tokens"))
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(prompt, min(cached, prompt), count(usage.get("completion_tokens"))), ()


NO_CALL = "answered without a tool call"


def tool_fields(tools: Sequence[Tool]) -> dict[str, Any]:
    """Tools as a request offers them. A call is required: in a world of tools there is nothing else to do."""
    offered = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]
    return {"tools": offered, "tool_choice": "required"}


def called(text: str, calls: object) -> tuple[str, tuple[str, ...]]:
    """An answer as text, given its words and tool calls, and what to note. The first call counts, readable or not."""
    first = calls[0] if isinstance(calls, list) and calls else None
    function = first.get("function") if isinstance(first, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return text, (NO_CALL,)
    notes: tuple[str, ...] = (
        ("several tool calls: the first counts",) if isinstance(calls, list) and len(calls) > 1 else ()
    )
    try:
        action = str(from_fields(function["name"], function.get("arguments")))
    except NotACall as problem:
        action = one_line(f"{function['name']}({function.get('arguments')})")
        notes += (str(problem),)
    answer = f"Thought: {one_line(text)}\nAction: {action}"
    # Words that would be read as another answer are left out.
    return (answer if text and parse_answer(answer).action == action else f"Action: {action}"), notes


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
    in_body = ("temperature", "top_p")
    """SDKs after 2.0 have no arguments for what newer models do not take."""
    stop = "stop_sequences"

    def answer(self, request: Request) -> Answer:
        system, messages = cached_pieces(request.prompt)
        # Its seed has no counterpart there.
        unsent = () if request.decoding.seed is None else ("seed not sent: this provider has none",)
        return self._ask(messages, request.decoding, {"system": system} if system else {}, unsent)

    def _send(self, arguments: dict[str, Any]) -> Answer:
        message = body_of(self._client.messages.with_raw_response.create(**arguments))
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
        return Answer("".join(text for text in texts if isinstance(text, str)), usage, finish)


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
