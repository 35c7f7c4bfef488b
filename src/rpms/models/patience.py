"""Patience with an endpoint that does not answer, and what its failures mean, whichever SDK raised them."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from rpms.core.errors import ContextOverflow, ModelError, ModelUnavailable
from rpms.foreign.limits import LONGEST_RETRY
from rpms.models.secrets import excerpt
from rpms.models.wire import BadResponse, NotAllowed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on waiting for one answer. The defaults ride out a restart of a server or a minute's rate limit."""

    tries: int = 8
    """Requests for one answer at most, the first one included."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it, and shortened at random by up to a half."""
    longest_wait: float = 60.0
    """Seconds between two tries at most, unless the server itself asks for more."""
    total: float = 600.0
    """Seconds for one answer at most: no wait is begun that would end later."""
    timeout: float = 120.0
    """Seconds that one request may be silent."""
    whole: float = 300.0
    """Seconds that one response may take in all: a byte now and then would never be silent for long."""

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures: exponential, with jitter so that episodes do not return together."""
        full = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return full * random.uniform(0.5, 1.0)  # noqa: S311  spreading load needs no cryptography

    def left(self, failures: int, seconds: float) -> float:
        """Seconds of waiting until it gives up, at most; what requests take comes on top."""
        waits = (min(self.first_wait * 2.0 ** (n - 1), self.longest_wait) for n in range(failures, self.tries))
        return max(0.0, min(sum(waits), seconds))


class TryAgain(Exception):
    """One try failed in a way that may pass: a rate limit, a time-out, a dropped connection, a server's own error."""

    def __init__(self, what: str, after: float | None = None, lasting: type[ModelError] = ModelUnavailable) -> None:
        super().__init__(what)
        self.after = after
        """Seconds the server asked to wait."""
        self.lasting = lasting
        """Exception if it does not pass: mostly that no request can succeed."""


class NobodyThere(TryAgain):
    """Nobody listens at the address. A server that has answered before may be restarting."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, as a value, so that a test need not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


def persevere(
    attempt: Callable[[], T],
    patience: Patience,
    where: str,
    clock: Clock | None = None,
    before_wait: Callable[[str, float, float], None] | None = None,
) -> T:
    """Call until it does not raise TryAgain, within limits. `before_wait` is told the trouble, the wait, the rest."""
    clock = clock or Clock()
    deadline = clock.now() + patience.total
    failures = 0
    while True:
        try:
            return attempt()
        except TryAgain as trouble:
            failures += 1
            what, after, lasting = str(trouble), trouble.after, trouble.lasting
        wait = max(patience.wait(failures), after or 0.0)
        if failures >= patience.tries:
            ending = f"gave up after {failures} {'try' if failures == 1 else 'tries'}"
        elif clock.now() + wait > deadline:
            asked = f"the server asks to wait {after:.0f} s, and " if after and after >= wait else ""
            ending = f"{asked}{patience.total:.0f} s is the limit for one answer"
        else:
            if before_wait is not None:
                before_wait(what, wait, max(wait, patience.left(failures, deadline - clock.now())))
            clock.sleep(wait)
            continue
        raise lasting(f"{where}: {what} ({ending})")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds named by a Retry-After header, a number or an HTTP date; None where it is neither or means nothing."""
    text = (value or "nan").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            seconds = (moment - (now or datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError, OverflowError):  # no date, or a time zone that leads out of the calendar
            return None
    return max(seconds, 0.0) if seconds <= LONGEST_RETRY else None  # not a number is no smaller than anything


_OVERFLOW = re.compile(
    r"context_length_exceeded"
    r"|maximum context length"
    r"|prompt is too long"
    r"|exceeds? the (?:available |maximum |model'?s? )?(?:context|input length)"
    r"|exceed(?:s|ed)? context window"
    r"|exceed_context_size"
    r"|input (?:is|length) (?:too long|and `?max_tokens`? exceed)"
    r"|context (?:size|window|length) (?:has been )?exceeded"
    r"|too many tokens in (?:the )?prompt"
    r"|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
"""OpenAI, vLLM, llama.cpp, Ollama, DeepInfra, Together, Groq and Anthropic, in this order of appearance or nearly."""

_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|deprecated|unrecognized|unknown|not permitted|not allowed|unexpected"
    r"|cannot both be specified",
    re.IGNORECASE,
)

_GIVE_UP_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "account_deactivated"})
"""Sent with status 429, which would otherwise be worth a wait."""

_WORTH_A_WAIT = frozenset({408, 409, 425, 429})
_ELSEWHERE = range(300, 400)
NOT_OF_PROTOCOL = "the answer is not of the protocol's form (check the base URL)"


class Refused(ModelError):
    """A request that the server does not take; `parameter` names what of it this model does not take, if that is it."""

    def __init__(self, what: str, parameter: str = "") -> None:
        super().__init__(what)
        self.parameter = parameter


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server asked, for the texts of errors."""

    url: str
    model: str
    key_variable: str | None
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"

    def understand(  # noqa: PLR0911  a table, with one row for each kind of exception
        self, error: Exception, parameters: Sequence[str] = ()
    ) -> Exception | None:
        """Translate an SDK's exception; None if it is no failed request. `parameters`: those that can be left out."""
        for found in (error, error.__cause__):  # as raised, or as an SDK passes it on
            if isinstance(found, BadResponse):
                return TryAgain(str(found), lasting=ModelError)
            if isinstance(found, NotAllowed):
                return ModelUnavailable(f"{self}: {found}")
        status = getattr(error, "status_code", None)
        if isinstance(status, int):
            return self._of_status(status, error, parameters)
        names = {kind.__name__ for kind in type(error).__mro__}
        if "APITimeoutError" in names:
            return TryAgain("no answer in time")
        if "APIConnectionError" in names:
            cause = excerpt(str(error.__cause__ or error), self.secrets)
            what = f"no connection ({cause})" if cause else "no connection"
            return NobodyThere(what) if _is_refused(error) else TryAgain(what)
        if "APIResponseValidationError" in names:
            return TryAgain(NOT_OF_PROTOCOL)
        return self.understand_body(getattr(error, "body", None)) if "APIError" in names else None

    def understand_body(self, body: Any) -> Exception:
        """Understand an error sent in place of an answer, with status 200 or in a stream (OpenRouter does this)."""
        code, text = _read_body(body)
        if _OVERFLOW.search(f"{code} {text}"):
            return self._overflow(excerpt(text, self.secrets))
        return TryAgain(f"the server reports an error: {excerpt(text or code, self.secrets) or 'unnamed'}")

    def _overflow(self, said: str) -> ContextOverflow:
        return ContextOverflow(f"{self}: the prompt is too long: {said}")

    def _of_status(self, status: int, error: Exception, parameters: Sequence[str]) -> Exception:
        code, text = _read_body(getattr(error, "body", None) or str(error))
        said = excerpt(text, self.secrets)
        tail = f" ({status}){': ' if said else ''}{said}"
        final = ""
        if status in _ELSEWHERE:
            final = f"the server sends requests on to another address ({status}), which is not followed; "
            final += "give the address itself as --base-url"
        elif status in {401, 403}:
            final = f"the key was refused ({status}); "
            final += (
                "this server wants a key, and none is defined for this provider"
                if self.key_variable is None
                else f"set the environment variable {self.key_variable} to a key that is valid there"
            )
        elif status in {400, 413, 422, 500} and _OVERFLOW.search(f"{code} {text}"):
            return self._overflow(said)
        elif status == 402 or code in _GIVE_UP_CODES:
            final = f"the account has no credit left{tail}"
        elif status in {404, 405}:
            final = f"no model `{self.model}` there, or a wrong base URL{tail}"
        elif status in _WORTH_A_WAIT or status >= 500 or status < 200:
            header = getattr(getattr(error, "response", None), "headers", {}).get("retry-after")
            name = "rate limit" if status == 429 else "server busy" if 200 <= status < 500 else "server error"
            return TryAgain(f"{name}{tail}", retry_after(header))
        if final:
            return ModelUnavailable(f"{self}: {final}")
        parameter = _parameter(error, f"{code} {text}", parameters)
        return Refused(f"{self}: {said if parameter else f'the request was refused{tail}'}", parameter)


def _is_refused(error: BaseException | None) -> bool:
    return isinstance(error, ConnectionRefusedError) or (error is not None and _is_refused(error.__context__))


def _read_body(body: Any) -> tuple[str, str]:
    """The code and the message of an error body, whatever its shape."""
    inner = body
    for _ in range(3):
        if isinstance(inner, dict) and isinstance(inner.get("error"), dict | str):
            inner = inner["error"]
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type") or ""
        text = inner.get("message") or inner.get("detail") or ""
        return str(code)[:200], (text if isinstance(text, str) else json.dumps(text, default=str))[:4000]
    return "", str(inner or "")[:4000]


def _parameter(error: Exception, text: str, parameters: Sequence[str]) -> str:
    """The parameter a model does not take, if that is what the error says."""
    if not _UNSUPPORTED.search(text):
        return ""
    named = getattr(error, "param", None)
    if isinstance(named, str) and named in parameters:
        return named
    # by its name in the text, with blanks for its underscores or not
    names = {name: re.search(rf"(?<!\w){name.replace('_', '[_ ]')}(?!\w)", text) for name in parameters}
    return min((found.start(), name) for name, found in names.items() if found)[1] if any(names.values()) else ""
