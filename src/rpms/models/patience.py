"""Patience with an endpoint that does not answer, and what its failures mean, whichever SDK
raised them.

The SDKs would try again by themselves, each in its own way and without a word; two layers would
multiply each other's tries. So theirs are switched off: here is one limit for one answer, however
many tries it takes, a server's own Retry-After is kept to, and whoever looks on is told how long it
may take.
"""

import json
import random
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar

from rpms.foreign.limits import LONGEST_RETRY
from rpms.logic.counting import counted
from rpms.logic.errors import ContextOverflow, ModelError, ModelUnavailable
from rpms.models.secrets import safe_excerpt

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on waiting for one answer.

    The defaults ride out a restart of a server or a minute's rate limit.
    """

    tries: int = 8
    """Requests for one answer at most, the first one included."""
    first_wait: float = 1.0
    """Seconds before the second try; doubled for each one after it, and shortened at random by
    up to a half."""
    longest_wait: float = 60.0
    """Seconds between two tries at most, unless the server itself asks for more."""
    total: float = 600.0
    """Seconds for one answer at most: no wait is begun that would end later."""
    timeout: float = 120.0
    """Seconds that one request may be silent."""
    whole: float = 300.0
    """Seconds that one response may take in all: a byte now and then would never be silent for
    long."""
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    """Time, as values, so that a test need not wait."""

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures: exponential, with jitter so that episodes do
        not return together.
        """
        full = min(self.first_wait * 2.0 ** (failures - 1), self.longest_wait)
        return full * random.uniform(0.5, 1.0)  # noqa: S311  spreading load needs no cryptography

    def left(self, failures: int, seconds: float) -> float:
        """Seconds of waiting until it gives up, at most; what requests take comes on top."""
        waits = (
            min(self.first_wait * 2.0 ** (n - 1), self.longest_wait)
            for n in range(failures, self.tries)
        )
        return max(0.0, min(sum(waits), seconds))


class TryAgain(Exception):
    """One try failed in a way that may pass: a rate limit, a time-out, a dropped connection, a
    server's own error.
    """

    def __init__(
        self, what: str, after: float | None = None, lasting: type[ModelError] = ModelUnavailable
    ) -> None:
        super().__init__(what)
        self.after = after
        """Seconds the server asked to wait."""
        self.lasting = lasting
        """Exception if it does not pass: mostly that no request can succeed."""


class NobodyThere(TryAgain):
    """Nobody listens at the address. A server that has answered before may be restarting."""


def retry(
    attempt: Callable[[], T],
    patience: Patience,
    where: str,
    before_wait: Callable[[str, float, float], None] | None = None,
) -> T:
    """Call until it does not raise TryAgain, within limits.

    `before_wait` is told the trouble, the wait, the rest.
    """
    deadline = patience.now() + patience.total
    failures = 0
    while True:
        try:
            return attempt()
        except TryAgain as trouble:
            failures += 1
            what = str(trouble)
            after = trouble.after or 0.0
            lasting = trouble.lasting
        wait = max(patience.wait(failures), after)
        ending = ""
        if failures >= patience.tries:
            ending = f"gave up after {counted(failures, 'try', 'tries')}"
        elif patience.now() + wait > deadline:
            ending = _too_long_to_wait(patience, wait, after)
        if ending:
            raise lasting(f"{where}: {what} ({ending})")
        if before_wait is not None:
            left = patience.left(failures, deadline - patience.now())
            before_wait(what, wait, max(wait, left))
        patience.sleep(wait)


def _too_long_to_wait(patience: Patience, wait: float, asked: float) -> str:
    """The reason not to wait any longer; `asked`: the seconds that the server asks for, or 0."""
    limit = f"{patience.total:.0f} s is the limit for one answer"
    if asked and asked >= wait:
        return f"the server asks to wait {asked:.0f} s, and {limit}"
    return limit


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or an HTTP date; None if it is
    neither, or means nothing.
    """
    text = (value or "nan").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            seconds = (moment - (now or datetime.now(UTC))).total_seconds()
        except (TypeError, ValueError, OverflowError):
            # no date, or a time zone that leads out of the calendar
            return None
    # not a number is no smaller than anything
    return max(seconds, 0.0) if seconds <= LONGEST_RETRY else None


_MAY_OVERFLOW = frozenset({200, 400, 413, 422, 500})
"""States with which servers say that a prompt is too long."""
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
"""OpenAI, vLLM, llama.cpp, Ollama, DeepInfra, Together, Groq and Anthropic, in this order of
appearance or nearly."""

_UNSUPPORTED = re.compile(
    r"unsupported|not supported|does not support|deprecated|unrecognized|unknown|not permitted|not"
    r" allowed|unexpected"
    r"|cannot both be specified",
    re.IGNORECASE,
)

_GIVE_UP_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "account_deactivated"}
)
"""Sent with status 429, which would otherwise be worth a wait."""

NOT_OF_PROTOCOL = "the answer is not of the protocol's form (check the base URL)"


class Refused(ModelError):
    """A request that the server does not take.

    `why`: its code and message; `named`: the parameter it names, if any.
    """

    def __init__(self, what: str, why: str = "", named: object = None) -> None:
        super().__init__(what)
        self.why = why
        self.named = named

    def parameter(self, sent: Collection[str]) -> str:
        """The sent parameter that this model refuses; empty if it refused for another reason."""
        if not _UNSUPPORTED.search(self.why):
            return ""
        if isinstance(self.named, str) and self.named in sent:
            return self.named
        # by its name in the text, with blanks for its underscores or not
        places: dict[str, int] = {}
        for name in sent:
            found = re.search(rf"(?<!\w){name.replace('_', '[_ ]')}(?!\w)", self.why)
            if found is not None:
                places[name] = found.start()
        return min(places, key=lambda name: (places[name], name), default="")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server asked, and what its failures mean."""

    url: str
    model: str = ""
    key_variable: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"

    def unreached(self, error: BaseException) -> TryAgain:
        """No response came; NobodyThere where the connection was refused."""
        cause = safe_excerpt(str(error), self.secrets)
        what = f"no connection ({cause})" if cause else "no connection"
        inner: BaseException | None = error
        while inner is not None and not isinstance(inner, ConnectionRefusedError):
            inner = inner.__context__
        return NobodyThere(what) if inner is not None else TryAgain(what)

    def failed(self, status: int, body: Any, after: str | None = None) -> Exception:
        """The failure that a response without an answer means.

        OpenRouter sends errors with status 200 too.
        """
        error = _read_body(body)
        said = safe_excerpt(error.text, self.secrets)
        tail = f" ({status}): {said}" if said else f" ({status})"
        if status in _MAY_OVERFLOW and _OVERFLOW.search(f"{error.code} {error.text}"):
            return ContextOverflow(f"the prompt is too long: {said}")
        if status == 200:
            what = said or safe_excerpt(error.code, self.secrets) or "unnamed"
            return TryAgain(f"the server reports an error: {what}")
        lasting = self._unavailable(status, error.code, tail)
        if lasting:
            return ModelUnavailable(lasting)
        passing = _passing(status)
        if passing:
            return TryAgain(f"{passing}{tail}", retry_after(after))
        words = f"{error.code} {error.text}"
        return Refused(f"the request was refused{tail}", words, error.parameter)

    def _unavailable(self, status: int, code: str, tail: str) -> str:
        """Advice to a person who must change something before a request can succeed; else empty."""
        if 300 <= status < 400:
            return (
                f"the server sends requests on to another address ({status}), which is not"
                " followed; give the address itself as --base-url"
            )
        if status in {401, 403}:
            advice = "this server wants a key, and none is defined for this provider"
            if self.key_variable is not None:
                advice = (
                    f"set the environment variable {self.key_variable} to a key that is valid there"
                )
            return f"the key was refused ({status}); {advice}"
        if status == 402 or code in _GIVE_UP_CODES:
            return f"the account has no credit left{tail}"
        if status in {404, 405}:
            return f"no model `{self.model}` there, or a wrong base URL{tail}"
        return ""


def _passing(status: int) -> str:
    """The trouble of a server that may be over at the next try; empty for other states."""
    if status == 429:
        return "rate limit"
    if status in {408, 409, 425}:
        return "server busy"
    return "" if 200 <= status < 500 else "server error"


class _ErrorBody(NamedTuple):
    """The body of a response that reports an error."""

    code: str
    text: str
    parameter: object = None


def _read_body(body: Any) -> _ErrorBody:
    """Read an error body, whatever its shape; what it lacks is empty."""
    body = _innermost_error(body)
    if not isinstance(body, dict):
        return _ErrorBody("", str(body or "")[:4000])
    code = body.get("code") or body.get("type") or ""
    text = body.get("message") or body.get("detail") or ""
    if not isinstance(text, str):
        text = json.dumps(text, default=str)
    return _ErrorBody(str(code)[:200], text[:4000], body.get("param"))


def _innermost_error(body: Any) -> Any:
    """The error in an error: proxies wrap what the server behind them sent, at most thrice."""
    for _ in range(3):
        if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
            body = body["error"]
    return body
