"""Every endpoint that speaks OpenAI's chat protocol, through the official SDK."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rpms.core.errors import ModelError
from rpms.core.prompt import Message
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import MOST_TOKENS
from rpms.models.base import Answer, CannotHold, Usage
from rpms.models.caller import Caller
from rpms.models.constraint import NOT_HELD, THOUGHT, held, shapes_of
from rpms.models.failures import Endpoint, error_for, understand_body
from rpms.models.parsing import parse_answer
from rpms.models.patience import Clock, Patience, TryAgain
from rpms.models.secrets import shown_url, url_secrets
from rpms.models.tool_calls import called, tool_fields
from rpms.models.wire import make_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rpms.models.base import Decoding, Request
    from rpms.models.constraint import ConstraintForm, Fields

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


class RemoteModel:
    """A model behind an OpenAI-compatible endpoint.

    Choices and templates are sent in the first of the provider's forms that the server heeds, found out once by a small
    question (`_heeded`). The notes name the form if it was not the first; if none is heeded, answers are free and the
    notes and one line on stderr say so.
    """

    def __init__(
        self,
        name: str,
        model: str,
        base_url: str,
        *,
        key: str | None = None,
        key_variable: str | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        forms: tuple[ConstraintForm, ...] = (),
    ) -> None:
        """`name`: as the user wrote it; `model`: as the endpoint knows it. The key is held by the SDK alone.

        `forms`: the ways in which this kind of server may take choices; none for one that cannot.
        """
        import openai  # noqa: PLC0415  half a second that only a remote model should cost

        self.name = name
        self._model = model
        patience = patience or Patience()
        # The SDK's own retries are off: two layers would multiply, and only one would be recorded.
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=patience.timeout,
            http_client=make_client(openai, base_url, silence=patience.timeout, whole=patience.whole),
        )
        endpoint = Endpoint(
            shown_url(base_url), model, key_variable, (*((key,) if key else ()), *url_secrets(base_url))
        )
        self._caller = Caller(endpoint, (openai.OpenAIError,), ADAPTABLE, patience, clock, own=CARRIERS)
        self._forms = forms
        self._finding = threading.Lock()
        self._heeds: frozenset[ConstraintForm] | None = None

    @property
    def constrains(self) -> bool:
        return bool(self._forms)

    calls_tools = True

    def __repr__(self) -> str:
        return f"RemoteModel({self.name!r}, {self._caller.endpoint.url!r})"

    def answer(self, request: Request) -> Answer:
        if request.tools:
            return self._ask(request.prompt.messages(), request.decoding, tool_fields(request.tools))
        shapes = shapes_of(request.choices, request.templates)
        forms = [form for form in self._forms if form.takes(shapes)]
        if not forms and request.templates:
            raise CannotHold(f"{self.name} cannot hold its answers to action templates, only to a menu")
        messages, decoding = request.prompt.messages(), request.decoding
        if not shapes or not forms:
            return self._ask(messages, decoding, {})
        heeded = self._heeded(decoding)
        form = next((form for form in forms if form in heeded), None)
        if form is None:
            answer = self._ask(messages, decoding, {})
            return replace(answer, notes=(*answer.notes, f"{NOT_HELD}: this server takes none of the forms"))
        answer = self._ask(messages, decoding, form.fields(shapes, decoding.max_tokens))
        notes = answer.notes
        if form is not forms[0]:
            notes += (f"{'choices' if request.choices else 'templates'} sent as {form.name}",)
        # One that begins as asked and cannot be read, such as for a quoted stop sign, was held as far as it goes.
        unread = answer.text.startswith(THOUGHT) and parse_answer(answer.text).action is None
        if not (held(answer.text, shapes) or answer.finish != "stop" or unread):
            notes += (f"{NOT_HELD}: this server did not heed {form.name} here",)
        return replace(answer, notes=notes)

    def _heeded(self, decoding: Decoding) -> frozenset[ConstraintForm]:
        """The forms that the server heeds, from the first one on; asked of it once.

        Many servers ignore unknown parameters. So each form is sent with a question that wants one action and choices
        that allow only others; the first that is heeded is enough, unless it takes no templates.
        """
        with self._finding:
            if self._heeds is None:
                found: set[ConstraintForm] = set()
                for form in self._forms:
                    answer = self._ask(_PROBE, decoding, form.fields(_PROBED, decoding.max_tokens))
                    if held(answer.text, _PROBED):
                        found.add(form)
                        break
                if not found:
                    _LOG.warning(
                        "note: %s does not hold its actions to a menu or grammar; its server may be too old", self.name
                    )
                self._heeds = frozenset(found)
            return self._heeds

    def _ask(self, messages: Sequence[Message], decoding: Decoding, fields: Fields) -> Answer:
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
        reply = self._caller.ask(self._send, arguments)
        text, finish, usage, notes = reply.value
        return self._caller.finished(reply, text, finish, usage, decoding.stop, notes)

    def close(self) -> None:
        self._client.close()

    def _send(self, arguments: dict[str, Any]) -> tuple[str, str, Usage, tuple[str, ...]]:
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
            return text, finish, usage, notes
        if body.get("error"):
            raise error_for(understand_body(body["error"], self._caller.endpoint), self._caller.endpoint)
        if isinstance(choices, list):
            raise TryAgain("the answer has no choices", lasting=ModelError)
        raise TryAgain(NOT_OF_PROTOCOL)


NOT_OF_PROTOCOL = "the answer is not of the protocol's form (check the base URL)"


def body_of(raw: Any) -> dict[str, Any]:
    """The JSON object of a response as an SDK hands it over unread; TryAgain where there is none."""
    try:
        body = loads(raw.http_response.content)
    except NotJson:
        body = None
    if not isinstance(body, dict):
        raise TryAgain(NOT_OF_PROTOCOL)
    return body


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


def count(value: object) -> int:
    """A token count as a server sent it, which may be anything."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value <= MOST_TOKENS else 0  # type: ignore[operator, return-value]  # a whole number
