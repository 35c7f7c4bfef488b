"""A model behind an HTTP endpoint: patience with its failures, and parameters that a model does not take."""

import importlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from rpms.core.errors import ModelError, ModelUnavailable
from rpms.foreign.limits import LONGEST_WORD, MOST_TOKENS
from rpms.foreign.shown import one_line
from rpms.models.base import Answer, Decoding, cut_at_stop
from rpms.models.patience import Endpoint, NobodyThere, Patience, Refused, TryAgain, persevere
from rpms.models.secrets import check_allowed, shown_url, url_secrets, without_secrets
from rpms.models.wire import JSON, make_client

_LOG = logging.getLogger("rpms")


class ServedModel:
    """A model that a server answers for; any number of threads may ask it.

    Parameters that a model refuses (`max_tokens`, a temperature) are found out from its first refusal: the request is
    sent again without them, later ones leave them out, and the answers' notes say so. Refusals of a question's own
    parameters are not kept.
    """

    sdk: ClassVar[tuple[str, str, str]]
    """The SDK's package, its client, and the path that questions are sent to."""
    adaptable: ClassVar[Mapping[str, str | None]]
    """Parameters left out, or renamed, where a model refuses them."""
    own: ClassVar[Sequence[str]] = ()
    """Those of them that are a question's own."""
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
        """`name`: as the user wrote it; `model`: as the endpoint knows it. The key is held by the SDK alone."""
        package, client, self._path = self.sdk
        try:
            sdk = importlib.import_module(package)  # here: half a second that only a remote model should cost
        except ImportError:
            raise ModelUnavailable(f"{name} needs the package {package}: pip install 'rpms[{package}]'") from None
        self.name = name
        self._model = model
        self._patience = patience or Patience()
        secrets = (*((key,) if key else ()), *url_secrets(base_url))
        self._endpoint = Endpoint(shown_url(base_url), model, key_variable, secrets)
        library = importlib.import_module(sdk.DefaultHttpxClient.__base__.__module__)  # httpx, or its successor
        limits = {"silence": self._patience.timeout, "whole": self._patience.whole}
        # The SDK's own retries are off: two layers would multiply, and only one would be recorded.
        self._client: Any = getattr(sdk, client)(
            api_key=key or "none",
            base_url=base_url,
            max_retries=0,
            timeout=self._patience.timeout,
            http_client=make_client(library, base_url, self._endpoint, **limits),
        )
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
        self, messages: Sequence[Any], decoding: Decoding, fields: Mapping[str, Any], notes: tuple[str, ...] = ()
    ) -> Answer:
        """Send until answered; the answer is cut at its stop and has no secrets in it, since answers go to disk."""
        check_allowed(self._endpoint.url)
        arguments = {"model": self._model, "messages": messages, **fields}
        arguments |= {"max_tokens": decoding.max_tokens, "temperature": decoding.temperature}
        if decoding.top_p != 1.0:
            arguments["top_p"] = decoding.top_p
        if stops := decoding.stop[: self.most_stops]:
            arguments[self.stop] = stops
        started = time.monotonic()
        requests = 0
        here: dict[str, str | None] = {}

        def attempt() -> Answer:
            nonlocal requests
            while True:
                requests += 1
                sent, _ = self._adapt(arguments, here)
                reply = self._try({**sent, **dict(decoding.extra)})
                if isinstance(reply, Answer):
                    with self._lock:
                        self._answers += 1
                    return reply
                names = [name for name in self.adaptable if name in sent]
                if not (parameter := reply.parameter(names) if isinstance(reply, Refused) else ""):
                    break
                with self._lock:
                    (here if parameter in self.own else self._adapted)[parameter] = self.adaptable[parameter]
            failure = reply
            if isinstance(reply, NobodyThere) and not self._answers:  # nothing is restarting
                failure = ModelUnavailable(f"{reply}; start the server, or give its address with --base-url")
            elif isinstance(reply, Refused) and not self._answers:  # it concerns no single prompt
                failure = ModelUnavailable(str(reply))
            raise failure if isinstance(failure, TryAgain) else type(failure)(f"{self._endpoint}: {failure}")

        reply = persevere(attempt, self._patience, str(self._endpoint), self._tell)
        shortened = cut_at_stop(reply.text, decoding.stop)
        cleaned, ending = (without_secrets(text, self._endpoint.secrets) for text in (shortened, reply.finish))
        removed = () if (cleaned, ending) == (shortened, reply.finish) else ("a key was removed from the answer",)
        ending = "stop" if shortened != reply.text else one_line(ending, LONGEST_WORD)
        spent = replace(reply.usage, requests=requests, seconds=time.monotonic() - started)
        return Answer(cleaned, spent, ending, (*self._adapt(arguments, here)[1], *reply.notes, *notes, *removed))

    def _try(self, sent: dict[str, Any]) -> Answer | Exception:
        """Send once. A failure is returned, so that no SDK exception, which may hold a key, is chained."""
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


def dig(value: Any, *path: str | int) -> Any:
    """The value at a path in a server's JSON, which may be anything; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def count(value: object, *path: str | int) -> int:
    """The number of tokens at a path in a server's JSON; 0 for what is none."""
    found = dig(value, *path)
    whole = isinstance(found, int) and not isinstance(found, bool)
    return found if whole and 0 < found <= MOST_TOKENS else 0
