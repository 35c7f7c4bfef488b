"""Every endpoint that speaks OpenAI's chat protocol, through the official SDK."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rpms.core.errors import ModelError
from rpms.core.prompt import Message
from rpms.foreign.calls import NotACall, Tool, from_fields
from rpms.foreign.shown import one_line
from rpms.models.base import Answer, CannotHold, Decoding, Request, Usage
from rpms.models.constraint import NOT_HELD, THOUGHT, ConstraintForm, Fields, held, shapes_of
from rpms.models.parsing import parse_answer
from rpms.models.patience import NOT_OF_PROTOCOL, TryAgain
from rpms.models.served import Reply, ServedModel, body_of, count

_LOG = logging.getLogger("rpms")

CARRIERS = ("structured_outputs", "guided_regex", "grammar", "response_format")
"""The parameters that can carry what an action is held to."""
ADAPTABLE: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    **dict.fromkeys(("temperature", "top_p", "seed", "stop", "tool_choice", "tools", *CARRIERS)),
}
"""Parameters left out, or renamed, where a model refuses them. Stop sequences are also applied to the answer."""

MOST_STOPS = 4
"""OpenAI's limit on stop sequences in one request."""


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
    own = CARRIERS
    calls_tools = True

    def __init__(self, *endpoint: str, forms: tuple[ConstraintForm, ...] = (), **options: Any) -> None:
        """`forms`: the ways in which this kind of server may take choices; none for one that cannot."""
        super().__init__(*endpoint, **options)
        self._forms = forms
        self._finding = threading.Lock()
        self._heeds: frozenset[ConstraintForm] | None = None

    @property
    def constrains(self) -> bool:
        return bool(self._forms)

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
        heeded = self._heeded(decoding)
        form = next((form for form in forms if form in heeded), None)
        if form is None:
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

    def _heeded(self, decoding: Decoding) -> frozenset[ConstraintForm]:
        """The forms that the server heeds: each is sent with choices that rule out the wanted action, once."""
        with self._finding:
            if self._heeds is None:
                found: set[ConstraintForm] = set()
                for form in self._forms:
                    answer = self._say(_PROBE, decoding, form.fields(_PROBED, decoding.max_tokens))
                    if held(answer.text, _PROBED):
                        found.add(form)
                        break
                if not found:
                    _LOG.warning(
                        "note: %s does not hold its actions to a menu or grammar; its server may be too old", self.name
                    )
                self._heeds = frozenset(found)
            return self._heeds

    def _say(self, messages: Sequence[Message], decoding: Decoding, fields: Fields) -> Answer:
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            **fields,
        }
        if decoding.top_p != 1.0:
            arguments["top_p"] = decoding.top_p
        if decoding.seed is not None:
            arguments["seed"] = decoding.seed
        if decoding.stop:
            arguments["stop"] = list(decoding.stop[:MOST_STOPS])
        if decoding.extra:
            arguments["extra_body"] = dict(decoding.extra)
        return self._ask(arguments, decoding.stop)

    def _send(self, arguments: dict[str, Any]) -> Reply:
        """One request. What a server sends may be anything, so each field is looked at before it is used."""
        # In the body as they are: the SDK has no arguments for other servers' parameters.
        carried = {name: arguments.pop(name) for name in CARRIERS if name in arguments}
        if carried:
            arguments["extra_body"] = {**carried, **arguments.get("extra_body", {})}
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
            return Reply(text, finish, usage, notes)
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
