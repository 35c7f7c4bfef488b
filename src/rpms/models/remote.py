"""Models behind HTTP: what all have in common, and endpoints with OpenAI's chat protocol."""

import importlib
import logging
import mmap
import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from rpms.foreign.call_text import NotACall, Tool, from_fields
from rpms.foreign.limits import LONGEST_WORD
from rpms.foreign.shown import one_line
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.base import Answer, CannotHold, Decoding, Request, Usage, cut_at_stop
from rpms.models.constraint import (
    NOT_HELD,
    THOUGHT,
    ConstraintForm,
    Fields,
    Shape,
    is_held_to,
    shapes_of,
)
from rpms.models.parsing import parse_answer
from rpms.models.patience import (
    NOT_OF_PROTOCOL,
    Endpoint,
    NobodyThere,
    Patience,
    Refused,
    TryAgain,
    retry,
)
from rpms.models.secrets import check_allowed, shown_url, url_secrets, without_secrets
from rpms.models.wire import JSON, count, dig, make_client
from rpms.paper.prompt import Message

_LOG = logging.getLogger("rpms")
_SAID = mmap.mmap(-1, 4096)
"""Notes that were printed, as marks that forked processes share: each of these finds out by itself
what a server can do, and would print it again."""


def _first_to_say(name: str) -> bool:
    """True for the first process that has something to say of a model."""
    place = zlib.crc32(name.encode()) % len(_SAID)
    first = _SAID[place] == 0
    _SAID[place] = 1
    return first


@dataclass
class _Question:
    """A question as it is sent until there is an answer."""

    arguments: Mapping[str, Any]
    extra: Mapping[str, Any]
    adapted: dict[str, str | None] = field(default_factory=dict)
    """Parameters that were refused of this question alone."""
    requests: int = 0


class Sdk(NamedTuple):
    """A provider's official SDK."""

    package: str
    client: str
    path: str
    """The path that questions are sent to."""


class _Adapted(NamedTuple):
    """Arguments as a model takes them."""

    arguments: dict[str, Any]
    notes: tuple[str, ...]
    """Notes on arguments that were left out or renamed."""


class ServedModel:
    """A model that a server answers for, through the official SDK; any number of threads may
    ask it.
    """

    sdk: ClassVar[Sdk]
    adaptable: ClassVar[Mapping[str, str | None]]
    """Parameters left out, or renamed, from a model's first refusal of them on; the answers'
    notes say so."""
    own: ClassVar[Sequence[str]] = ()
    """Adaptable parameters that belong to one question: their refusals are not remembered."""
    stop: ClassVar[str] = "stop"
    """Name of the stop sequences."""
    most_stops: ClassVar[int | None] = None

    def __init__(
        self,
        name: str,
        model: str,
        base_url: str,
        *,
        key: str | None = None,
        key_variable: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        """`name`: as the user wrote it; `model`: as the endpoint knows it.

        The key is held by the SDK alone.
        """
        package, client, self._path = self.sdk
        try:
            # here: half a second that only a remote model should cost
            sdk = importlib.import_module(package)
        except ImportError:
            raise ModelUnavailable(
                f"{name} needs the package {package}: pip install 'rpms[{package}]'"
            ) from None
        self.name = name
        self._model = model
        self._patience = patience or Patience()
        secrets = (*((key,) if key else ()), *url_secrets(base_url))
        self._endpoint = Endpoint(shown_url(base_url), model, key_variable, secrets)
        # httpx, or its successor
        library = importlib.import_module(sdk.DefaultHttpxClient.__base__.__module__)
        limits = {"silence": self._patience.timeout, "whole": self._patience.whole}
        # The SDK's own retries are off: two layers would multiply, and only one would be recorded.
        try:
            self._client: Any = getattr(sdk, client)(
                api_key=key or "none",
                base_url=base_url,
                max_retries=0,
                timeout=self._patience.timeout,
                http_client=make_client(library, base_url, self._endpoint, **limits),
            )
        except (library.InvalidURL, ValueError):  # it reads addresses by rules of its own
            raise InputError(
                f"{name}: the base URL cannot be used: it names no host that can be asked"
            ) from None
        self._response = library.Response
        self._lock = threading.Lock()
        self._adapted: dict[str, str | None] = {}
        self._answers = 0
        self._at_last_wait: int | None = None
        """Number of answers at the last wait."""
        self._quiet_until = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self._endpoint.url!r})"

    def close(self) -> None:
        self._client.close()

    def _read(self, body: Any, sent: Mapping[str, Any]) -> Answer:
        """The answer that a response holds; TryAgain for one that cannot be read."""
        raise NotImplementedError

    def _ask(
        self,
        messages: Sequence[Any],
        decoding: Decoding,
        fields: Mapping[str, Any],
        notes: tuple[str, ...] = (),
    ) -> Answer:
        """Send until answered; the answer is cut at its stop and has no secrets in it, since
        answers go to disk.
        """
        check_allowed(self._endpoint.url)
        arguments = {"model": self._model, "messages": messages, **fields}
        arguments |= {"max_tokens": decoding.max_tokens, "temperature": decoding.temperature}
        if decoding.top_p != 1.0:
            arguments["top_p"] = decoding.top_p
        if stops := decoding.stop[: self.most_stops]:
            arguments[self.stop] = stops
        started = time.monotonic()
        question = _Question(arguments, dict(decoding.extra))
        reply = retry(
            lambda: self._attempt(question), self._patience, str(self._endpoint), self._tell
        )
        spent = replace(reply.usage, requests=question.requests, seconds=time.monotonic() - started)
        adapted = self._adapt(arguments, question.adapted).notes
        cleaned = self._clean(reply, decoding.stop)
        return replace(cleaned, usage=spent, notes=(*adapted, *reply.notes, *notes, *cleaned.notes))

    def _attempt(self, question: _Question) -> Answer:
        """Ask until there is an answer or a failure, with fewer parameters after each refusal."""
        while True:
            question.requests += 1
            sent = self._adapt(question.arguments, question.adapted).arguments
            reply = self._try({**sent, **question.extra})
            if isinstance(reply, Answer):
                with self._lock:
                    self._answers += 1
                return reply
            names = [name for name in self.adaptable if name in sent]
            parameter = reply.parameter(names) if isinstance(reply, Refused) else ""
            if not parameter:
                raise self._failure(reply)
            with self._lock:
                adapted = question.adapted if parameter in self.own else self._adapted
                adapted[parameter] = self.adaptable[parameter]

    def _failure(self, reply: Exception) -> Exception:
        """A failure as it is told; before the first answer, what no other prompt would mend ends
        the run.
        """
        if not self._answers:
            if isinstance(reply, NobodyThere):  # nothing is restarting
                reply = ModelUnavailable(
                    f"{reply}; start the server, or give its address with --base-url"
                )
            elif isinstance(reply, Refused):  # it concerns no single prompt
                reply = ModelUnavailable(str(reply))
        if isinstance(reply, TryAgain):
            return reply
        return type(reply)(f"{self._endpoint}: {reply}")

    def _clean(self, reply: Answer, stops: Sequence[str]) -> Answer:
        """An answer cut at its stop, without secrets; a note says if one was removed."""
        shortened = cut_at_stop(reply.text, stops)
        text = without_secrets(shortened, self._endpoint.secrets)
        finish = without_secrets(reply.finish, self._endpoint.secrets)
        removed = (text, finish) != (shortened, reply.finish)
        finish = "stop" if shortened != reply.text else one_line(finish, LONGEST_WORD)
        notes = ("a key was removed from the answer",) if removed else ()
        return Answer(text, reply.usage, finish, notes)

    def _try(self, sent: dict[str, Any]) -> Answer | Exception:
        """Send once.

        A failure is returned, so that no SDK exception, which may hold a key, is chained.
        """
        try:
            response = self._client.post(self._path, cast_to=self._response, body=sent)
            return self._read(response.extensions[JSON], sent)
        except Exception as error:
            for found in (error, error.__cause__):  # as raised, or as an SDK passes it on
                if isinstance(found, (TryAgain, ModelError)):
                    return found
            raise

    def _tell(self, what: str, wait: float, left: float) -> None:
        """Say that this endpoint is waited for: once, and again if it has not answered since."""
        now = self._patience.now()
        with self._lock:
            worth_saying = self._at_last_wait in (None, self._answers) and now >= self._quiet_until
            self._at_last_wait = self._answers
            if worth_saying:
                self._quiet_until = now + wait
        if worth_saying:
            words = (self._endpoint, what, max(wait, 1.0), max(left, 1.0))
            _LOG.warning("%s: %s, trying again in %.0f s, giving up in %.0f s", *words)

    def _adapt(self, arguments: Mapping[str, Any], here: Mapping[str, str | None]) -> _Adapted:
        """Adapt arguments to this model: what it refused before is left out, or renamed."""
        with self._lock:
            adapted = {**self._adapted, **here}
        sent: dict[str, Any] = {}
        notes: list[str] = []
        for name, value in arguments.items():
            new = adapted.get(name, name)
            if new is not None:
                sent[new] = value
            if name in adapted:
                what = f"sent as {new}" if new else "not sent: refused by this model"
                notes.append(f"{name} {what}")
        return _Adapted(sent, tuple(sorted(notes)))


CARRIERS = ("structured_outputs", "grammar", "response_format")
"""The parameters that can carry what an action is held to."""

_PROBED = shapes_of(("tick 4071", "tick 4072"))
_PROBE = (
    Message("system", "You answer with two lines and nothing else."),
    Message("user", "Write these two lines:\nThought: all is well\nAction: look"),
)
"""A question whose plain answer is none of the choices that are sent with it."""


class RemoteModel(ServedModel):
    """A model behind an OpenAI-compatible endpoint.

    Choices and templates are sent in the first of the provider's forms that the server heeds. The
    notes name the form if it was not the first; if none is heeded, answers are free, and the notes
    and one line on stderr say so.
    """

    sdk = Sdk("openai", "OpenAI", "/chat/completions")
    adaptable: ClassVar = {
        "max_tokens": "max_completion_tokens",
        **dict.fromkeys(
            ("temperature", "top_p", "seed", "stop", "tool_choice", "tools", *CARRIERS)
        ),
    }
    own = CARRIERS
    most_stops = 4
    """OpenAI's limit on stop sequences in one request."""
    calls_tools = True

    def __init__(
        self, *endpoint: str, forms: tuple[ConstraintForm, ...] = (), **options: Any
    ) -> None:
        """`forms`: the ways in which this kind of server may take choices; none for one that
        cannot.
        """
        super().__init__(*endpoint, **options)
        self._forms = forms
        self.constrains = bool(forms)
        self._finding = threading.Lock()
        self._found = False
        self._heeds: ConstraintForm | None = None

    def answer(self, request: Request) -> Answer:
        messages = request.prompt.messages()
        decoding = request.decoding
        if request.tools:
            # A call is required: in a world of tools there is nothing else to do.
            tools = {"tools": [*map(_function, request.tools)], "tool_choice": "required"}
            return self._say(messages, decoding, tools)
        shapes = shapes_of(request.choices, request.templates)
        forms = [form for form in self._forms if form.takes(shapes)]
        if not forms and request.templates:
            raise CannotHold(
                f"{self.name} cannot hold its answers to action templates, only to a menu"
            )
        if not shapes or not forms:
            return self._say(messages, decoding, {})
        return self._held_answer(request, shapes, forms)

    def _held_answer(
        self, request: Request, shapes: tuple[Shape, ...], forms: list[ConstraintForm]
    ) -> Answer:
        """An answer held to shapes by one of the forms, with a note where the server did not
        hold it.
        """
        messages = request.prompt.messages()
        decoding = request.decoding
        form = self._heeded(decoding)
        if form not in forms:
            answer = self._say(messages, decoding, {})
            return replace(
                answer, notes=(*answer.notes, f"{NOT_HELD}: this server takes none of the forms")
            )
        answer = self._say(messages, decoding, form.fields(shapes, decoding.max_tokens))
        notes = answer.notes
        if form is not forms[0]:
            notes += (f"{'choices' if request.choices else 'templates'} sent as {form.name}",)
        if not is_held_to(answer.text, shapes) and not _is_excused(answer):
            notes += (f"{NOT_HELD}: this server did not heed {form.name} here",)
        return replace(answer, notes=notes)

    def _heeded(self, decoding: Decoding) -> ConstraintForm | None:
        """The first form that the server heeds: each is sent with choices that rule out the
        wanted action, once.
        """

        def heeds(form: ConstraintForm) -> bool:
            return is_held_to(
                self._say(_PROBE, decoding, form.fields(_PROBED, decoding.max_tokens)).text, _PROBED
            )

        with self._finding:
            if self._found:
                return self._heeds
            self._heeds = next(filter(heeds, self._forms), None)
            self._found = True
            if self._heeds is None and _first_to_say(f"{self.name} {self._endpoint.url}"):
                note = (
                    "note: %s does not hold its actions to a menu or grammar; its server may be"
                    " too old"
                )
                _LOG.warning(note, self.name)
            return self._heeds

    def _say(self, messages: Sequence[Message], decoding: Decoding, fields: Fields) -> Answer:
        seed = {} if decoding.seed is None else {"seed": decoding.seed}
        return self._ask(
            [{"role": m.role, "content": m.content} for m in messages], decoding, {**fields, **seed}
        )

    def _read(self, body: Any, sent: Mapping[str, Any]) -> Answer:
        message = dig(body, "choices", 0, "message")
        if not isinstance(message, dict):
            raise self._no_message(body)
        text = _text_of(message.get("content"))
        used = dig(body, "usage")
        notes: tuple[str, ...] = ()
        if not isinstance(used, dict):
            notes = ("the server reports no token counts",)
        prompt = count(used, "prompt_tokens")
        cached = min(count(used, "prompt_tokens_details", "cached_tokens"), prompt)
        if "tools" in sent:
            read = called(text, message.get("tool_calls"))
            text = read.text
            notes += read.notes
        reason = dig(body, "choices", 0, "finish_reason")
        finish = reason if isinstance(reason, str) and reason != "tool_calls" else "stop"
        return Answer(text, Usage(prompt, cached, count(used, "completion_tokens")), finish, notes)

    def _no_message(self, body: Any) -> Exception:
        """The failure that a response without a message means."""
        error = dig(body, "error")
        if error:
            return self._endpoint.failed(200, error)
        if isinstance(dig(body, "choices"), list):
            return TryAgain("the answer has no choices", lasting=ModelError)
        return TryAgain(NOT_OF_PROTOCOL)


def _text_of(content: Any) -> str:
    """The text of a message, which some servers send in parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [dig(part, "text") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _function(tool: Tool) -> dict[str, Any]:
    """A tool as OpenAI's protocol tells it."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _is_excused(answer: Answer) -> bool:
    """True if an answer may have been held although it does not show: it was cut, or it begins as
    asked and cannot be read, for example because of a quoted stop sign.
    """
    if answer.finish != "stop":
        return True
    return answer.text.startswith(THOUGHT) and parse_answer(answer.text).action is None


NO_CALL = "answered without a tool call"


class CalledAnswer(NamedTuple):
    """An answer with a tool call, as the text that says the same, and what to note."""

    text: str
    notes: tuple[str, ...]


def called(text: str, calls: object) -> CalledAnswer:
    """Read an answer's words and tool calls. The first call counts, readable or not."""
    name = dig(calls, 0, "function", "name")
    given = dig(calls, 0, "function", "arguments")
    if not isinstance(calls, list) or not isinstance(name, str):
        return CalledAnswer(text, (NO_CALL,))
    notes: tuple[str, ...] = ("several tool calls: the first counts",) if len(calls) > 1 else ()
    try:
        action = str(from_fields(name, given))
    except NotACall as problem:
        action = one_line(f"{name}({given})")
        notes += (str(problem),)
    alone = f"Action: {action}"
    if not text:
        return CalledAnswer(alone, notes)
    answer = f"Thought: {one_line(text)}\n{alone}"
    if parse_answer(answer).action != action:
        answer = alone  # its words would be read as another answer
    return CalledAnswer(answer, notes)
