"""Every endpoint that speaks OpenAI's chat protocol, through the official SDK."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rpms.core.errors import ModelError
from rpms.models.answers import parse_answer
from rpms.models.base import Answer, CannotHold, Usage
from rpms.models.caller import Caller
from rpms.models.constraint import NOT_HELD, THOUGHT, held, shapes_of
from rpms.models.failures import Endpoint, error_for, understand_body
from rpms.models.guard import shown_url, url_secrets
from rpms.models.patience import Clock, Patience, TryAgain

if TYPE_CHECKING:
    from rpms.models.base import Request
    from rpms.models.constraint import Fields, Form

_LOG = logging.getLogger("rpms")

CARRIERS = ("structured_outputs", "guided_regex", "grammar", "response_format")
"""The parameters that can carry what an action is held to."""
ADAPTABLE: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    **dict.fromkeys(("temperature", "top_p", "seed", "stop", *CARRIERS)),
}
"""What is left out, or renamed, where a model refuses it. Stop sequences are also applied to the answer itself."""

MOST_STOPS = 4
"""OpenAI's limit on stop sequences in one request."""


class RemoteModel:
    """A model behind an OpenAI-compatible endpoint.

    Where a request has choices or templates, they are sent in the first of the provider's forms that takes them. Some
    servers overlook a parameter that they do not know instead of refusing it, so the answer is looked at: where its
    action is none of those allowed, the next form is tried, and kept from then on. Each answer's notes name the form if
    it was not the first. Where none is left, the answer stands as it is, its notes say that it was not held, and so
    does, once, a line on stderr.
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
        forms: tuple[Form, ...] = (),
    ) -> None:
        """`name`: as the user wrote it; `model`: as the endpoint knows it. The key is held by the SDK alone.

        `forms`: the ways in which this kind of server may take choices; none for one that cannot.
        """
        import openai  # noqa: PLC0415  half a second that only a remote model should cost

        self._name = name
        self._model = model
        patience = patience or Patience()
        # The SDK's own retries are off: two layers would multiply, and only one would be recorded.
        self._client = openai.OpenAI(api_key=key or "none", base_url=base_url, max_retries=0, timeout=patience.timeout)
        endpoint = Endpoint(
            shown_url(base_url), model, key_variable, (*((key,) if key else ()), *url_secrets(base_url))
        )
        self._caller = Caller(endpoint, (openai.OpenAIError,), ADAPTABLE, patience, clock)
        self._forms = forms
        self._overlooked: set[Form] = set()
        self._told = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def constrains(self) -> bool:
        return bool(self._forms)

    def __repr__(self) -> str:
        return f"RemoteModel({self._name!r}, {self._caller.endpoint.url!r})"

    def answer(self, request: Request) -> Answer:
        shapes = shapes_of(request.choices, request.templates)
        forms = [form for form in self._forms if form.takes(shapes)]
        if not forms and request.templates:
            raise CannotHold(f"{self._name} cannot hold its answers to action templates, only to a menu")
        if not shapes or not forms:
            return self._ask(request, {})
        spent = Usage()
        for place, form in enumerate(forms):
            if form in self._overlooked:
                continue
            answer = self._ask(request, form.fields(shapes, request.decoding.max_tokens))
            spent = spent + answer.usage
            # One that begins as asked and cannot be read, such as for a quoted stop sign, tells nothing of the form.
            unread = answer.text.startswith(THOUGHT) and parse_answer(answer.text).action is None
            if held(answer.text, shapes) or answer.finish != "stop" or unread:
                how = (f"{'choices' if request.choices else 'templates'} sent as {form.name}",) if place else ()
                return replace(answer, usage=spent, notes=answer.notes + how)
            self._overlooked.add(form)  # a set's own lock is enough: what one thread learns, another may learn too
        if not spent.requests:
            answer = self._ask(request, {})
            spent = answer.usage
        if self._told.acquire(blocking=False):  # never released: once is enough
            to = "the menu" if request.choices else "the action templates"
            _LOG.warning(
                "note: %s was asked to hold its actions to %s and did not; its server may be too old", self._name, to
            )
        return replace(answer, usage=spent, notes=(*answer.notes, f"{NOT_HELD}: this server takes none of the forms"))

    def _ask(self, request: Request, fields: Fields) -> Answer:
        decoding = request.decoding
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.prompt.messages()],
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
        """One request. The SDK does not check what a server sends, so each field is looked at before it is used."""
        # In the body as they are: the SDK has no arguments for other servers' parameters.
        carried = {name: arguments.pop(name) for name in CARRIERS if name in arguments}
        if carried:
            arguments["extra_body"] = {**carried, **arguments.get("extra_body", {})}
        completion: Any = self._client.chat.completions.create(**arguments)
        choices = getattr(completion, "choices", None)
        if isinstance(choices, list) and choices:
            message = getattr(choices[0], "message", None)
            if message is not None:
                finish = getattr(choices[0], "finish_reason", None)
                usage, notes = _usage(getattr(completion, "usage", None))
                return _text(message), finish if isinstance(finish, str) else "stop", usage, notes
        body = getattr(completion, "error", None)
        if body:
            raise error_for(understand_body(body, self._caller.endpoint), self._caller.endpoint)
        if isinstance(choices, list):
            raise TryAgain("the answer has no choices", lasting=ModelError)
        raise TryAgain("the answer is not of the protocol's form (check the base URL)")


def _text(message: Any) -> str:
    content = getattr(message, "content", None)
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # some servers send parts
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return ""


def _usage(usage: Any) -> tuple[Usage, tuple[str, ...]]:
    if usage is None:
        return Usage(), ("the server reports no token counts",)
    details = getattr(usage, "prompt_tokens_details", None)
    prompt = count(getattr(usage, "prompt_tokens", 0))
    # A field that the installed SDK does not know yet arrives as a plain dictionary.
    kept = details.get("cached_tokens") if isinstance(details, dict) else getattr(details, "cached_tokens", 0)
    cached = min(count(kept), prompt)
    return Usage(prompt, cached, count(getattr(usage, "completion_tokens", 0))), ()


def count(value: Any) -> int:
    """A token count as a server sent it, which may be anything."""
    return value if isinstance(value, int) and value > 0 else 0
