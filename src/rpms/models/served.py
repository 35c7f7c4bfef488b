"""A model behind an HTTP endpoint: patience with its failures, and parameters that a model does not take."""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from rpms.core.errors import ModelUnavailable
from rpms.foreign.limits import LONGEST_WORD, MOST_TOKENS
from rpms.foreign.shown import one_line
from rpms.models.base import Answer, Decoding, cut_at_stop
from rpms.models.patience import NOT_OF_PROTOCOL, Clock, Endpoint, NobodyThere, Patience, Refused, TryAgain, persevere
from rpms.models.secrets import check_allowed, shown_url, url_secrets, without_secrets
from rpms.models.wire import JSON, BadResponse, NotAllowed, make_client

_LOG = logging.getLogger("rpms")


class ServedModel:
    """A model that a server answers for; any number of threads may ask it.

    Parameters that a model refuses (`max_tokens`, a temperature) are found out from its first refusal: the request is
    sent again without them, later ones leave them out, and the answers' notes say so. Refusals of a question's own
    parameters are not kept.
    """

    sdk: ClassVar[tuple[str, str, str]]
    """The SDK's package, its client, and the base of its exceptions."""
    adaptable: ClassVar[Mapping[str, str | None]]
    """Parameters left out, or renamed, where a model refuses them."""
    own: ClassVar[Sequence[str]] = ()
    """Those of them that are a question's own."""
    in_body: ClassVar[Sequence[str]]
    """Those that the SDK has no arguments for: they are sent in the body as they are."""
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
        clock: Clock | None = None,
    ) -> None:
        """`name`: as the user wrote it; `model`: as the endpoint knows it. The key is held by the SDK alone."""
        package, client, errors = self.sdk
        try:
            sdk = importlib.import_module(package)  # here: half a second that only a remote model should cost
        except ImportError:
            raise ModelUnavailable(f"{name} needs the package {package}: pip install 'rpms[{package}]'") from None
        self.name = name
        self._model = model
        self._patience = patience or Patience()
        silence = self._patience.timeout
        # The SDK's own retries are off: two layers would multiply, and only one would be recorded.
        self._client: Any = getattr(sdk, client)(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=silence,
            http_client=make_client(sdk, base_url, silence=silence, whole=self._patience.whole),
        )
        secrets = (*((key,) if key else ()), *url_secrets(base_url))
        self._endpoint = Endpoint(shown_url(base_url), model, key_variable, secrets)
        self._errors: tuple[type[Exception], ...] = (getattr(sdk, errors), BadResponse, NotAllowed)
        self._clock = clock or Clock()
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

    def _send(self, arguments: dict[str, Any]) -> Answer:
        """One request; TryAgain for a response that cannot be read."""
        raise NotImplementedError

    def _ask(
        self, messages: Sequence[Any], decoding: Decoding, fields: Mapping[str, Any], notes: tuple[str, ...] = ()
    ) -> Answer:
        """Send until answered; the answer is cut at its stop and has no secrets in it, since answers go to disk."""
        check_allowed(self._endpoint.url)
        chosen = {
            "top_p": decoding.top_p if decoding.top_p != 1.0 else None,
            self.stop: list(decoding.stop[: self.most_stops]) or None,
            "extra_body": dict(decoding.extra) or None,
        }
        arguments = {"model": self._model, "messages": messages, **fields}
        arguments |= {"max_tokens": decoding.max_tokens, "temperature": decoding.temperature}
        arguments |= {name: value for name, value in chosen.items() if value is not None}
        started = time.monotonic()
        requests = 0
        here: dict[str, str | None] = {}

        def attempt() -> Answer:
            nonlocal requests
            failure: Exception
            for _ in range(len(self.adaptable) + 1):
                requests += 1
                reply = self._try(self._adapt(arguments, here)[0])
                if isinstance(reply, Answer):
                    with self._lock:
                        self._answers += 1
                    return reply
                failure = reply
                if not isinstance(failure, Refused) or not failure.parameter:
                    break
                with self._lock:
                    known = here if failure.parameter in self.own else self._adapted
                    known[failure.parameter] = self.adaptable[failure.parameter]
            if not self._answers:  # before any answer: it concerns no single prompt, and nothing is restarting
                if isinstance(failure, Refused):
                    raise ModelUnavailable(str(failure))
                if isinstance(failure, NobodyThere):
                    advice = "start the server, or give its address with --base-url"
                    raise ModelUnavailable(f"{self._endpoint}: {failure}; {advice}")
            raise failure

        reply = persevere(attempt, self._patience, str(self._endpoint), self._clock, self._tell)
        shortened = cut_at_stop(reply.text, decoding.stop)
        cleaned, ending = (without_secrets(text, self._endpoint.secrets) for text in (shortened, reply.finish))
        removed = () if (cleaned, ending) == (shortened, reply.finish) else ("a key was removed from the answer",)
        ending = "stop" if shortened != reply.text else one_line(ending, LONGEST_WORD)
        spent = replace(reply.usage, requests=requests, seconds=time.monotonic() - started)
        return Answer(cleaned, spent, ending, (*self._adapt(arguments, here)[1], *reply.notes, *notes, *removed))

    def _try(self, arguments: dict[str, Any]) -> Answer | Exception:
        """Send once. A failure is returned, so that no SDK exception, which may hold a key, is chained."""
        parameters = [name for name in self.adaptable if name in arguments]
        body = {name: arguments.pop(name) for name in self.in_body if name in arguments}
        if body:
            arguments["extra_body"] = {**body, **arguments.get("extra_body", {})}
        try:
            return self._send(arguments)
        except self._errors as error:
            failure = self._endpoint.understand(error, parameters)
            if failure is None:
                raise
            return failure

    def _tell(self, what: str, wait: float, left: float) -> None:
        """Say that this endpoint is waited for: once, and again if it has not answered since."""
        now = self._clock.now()
        with self._lock:
            worth_saying = self._at_last_wait in (None, self._answers) and now >= self._quiet_until
            self._at_last_wait = self._answers
            if worth_saying:
                self._quiet_until = now + wait
        if worth_saying:
            told = (self._endpoint, what, max(wait, 1.0), max(left, 1.0))
            _LOG.warning("%s: %s, trying again in %.0f s, giving up in %.0f s", *told)

    def _adapt(
        self, arguments: Mapping[str, Any], here: Mapping[str, str | None]
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Arguments as this model takes them, and notes on what was left out or renamed."""
        with self._lock:
            adapted = {name: new for name, new in {**self._adapted, **here}.items() if name in arguments}
        renamed = ((adapted.get(name, name), value) for name, value in arguments.items())
        told = {name: f"sent as {new}" if new else "not sent: refused by this model" for name, new in adapted.items()}
        notes = tuple(f"{name} {what}" for name, what in sorted(told.items()))
        return {name: value for name, value in renamed if name is not None}, notes


def body_of(raw: Any) -> dict[str, Any]:
    """The JSON object of a response as an SDK hands it over unread; TryAgain where there is none."""
    body = raw.http_response.extensions[JSON]
    if not isinstance(body, dict):
        raise TryAgain(NOT_OF_PROTOCOL)
    return body


def count(value: object) -> int:
    """A token count as a server sent it, which may be anything."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 < value <= MOST_TOKENS else 0  # type: ignore[operator, return-value]  # a whole number
