"""Meanings of failed requests, read from the exceptions of either SDK: both name and shape theirs alike."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from rpms.core.errors import ContextOverflow, ModelError, ModelUnavailable
from rpms.models.patience import TryAgain, retry_after
from rpms.models.secrets import excerpt
from rpms.models.wire import BadResponse, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Sequence

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


class Reaction(Enum):
    """Reactions to a failure."""

    WAIT = auto()
    UNAVAILABLE = auto()
    OVERFLOW = auto()
    PARAMETER = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request, understood."""

    reaction: Reaction
    what: str
    """One line for a person, without keys."""
    after: float | None = None
    parameter: str = ""
    """The request's parameter that this model does not take."""
    of_answer: bool = False
    """It is this answer that is bad, not the server: if it stays so, the end of one episode and not of the run."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The server asked, for the texts of errors."""

    url: str
    model: str
    key_variable: str | None
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, {self.model!r})"

    @property
    def shown(self) -> str:
        return f"{self.model} at {self.url}"


def understand(  # noqa: PLR0911  a table, with one row for each kind of exception
    error: Exception, endpoint: Endpoint, parameters: Sequence[str] = ()
) -> Failure | None:
    """Understand an exception of an SDK; None where it is no failure of a request, and must be raised as it is."""
    for found in (error, error.__cause__):  # as raised, or as an SDK passes it on
        if isinstance(found, BadResponse):
            return Failure(Reaction.WAIT, str(found), of_answer=True)
        if isinstance(found, NotAllowed):
            return Failure(Reaction.UNAVAILABLE, str(found))
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _of_status(status, error, endpoint, parameters)
    names = {kind.__name__ for kind in type(error).__mro__}
    if "APITimeoutError" in names:
        return Failure(Reaction.WAIT, "no answer in time")
    if "APIConnectionError" in names:
        cause = excerpt(str(error.__cause__ or error), endpoint.secrets)
        return Failure(Reaction.WAIT, f"no connection ({cause})" if cause else "no connection")
    if "APIResponseValidationError" in names:
        return Failure(Reaction.WAIT, "the answer is not of the protocol's form (check the base URL)")
    if "APIError" in names:
        return understand_body(getattr(error, "body", None), endpoint)
    return None


def understand_body(body: Any, endpoint: Endpoint) -> Failure:
    """Understand an error sent in place of an answer, with status 200 or in a stream (OpenRouter does this)."""
    code, text = _read_body(body)
    if _OVERFLOW.search(f"{code} {text}"):
        return Failure(Reaction.OVERFLOW, excerpt(text, endpoint.secrets))
    return Failure(
        Reaction.WAIT, f"the server reports an error: {excerpt(text or code, endpoint.secrets) or 'unnamed'}"
    )


def _of_status(  # noqa: PLR0911  a table, with one row for each meaning of a status
    status: int, error: Exception, endpoint: Endpoint, parameters: Sequence[str]
) -> Failure:
    code, text = _read_body(getattr(error, "body", None) or str(error))
    said = excerpt(text, endpoint.secrets)
    tail = f": {said}" if said else ""
    if status in _ELSEWHERE:
        return Failure(
            Reaction.UNAVAILABLE,
            f"the server sends requests on to another address ({status}), which is not followed; "
            "give the address itself as --base-url",
        )
    if status in {401, 403}:
        return Failure(Reaction.UNAVAILABLE, f"the key was refused ({status}){_key_advice(endpoint)}")
    if status in {400, 413, 422, 500} and _OVERFLOW.search(f"{code} {text}"):
        return Failure(Reaction.OVERFLOW, said)
    if status == 402 or code in _GIVE_UP_CODES:
        return Failure(Reaction.UNAVAILABLE, f"the account has no credit left ({status}){tail}")
    if status in {404, 405}:
        return Failure(Reaction.UNAVAILABLE, f"no model `{endpoint.model}` there, or a wrong base URL ({status}){tail}")
    if status in _WORTH_A_WAIT or status >= 500 or status < 200:
        header = getattr(getattr(error, "response", None), "headers", {}).get("retry-after")
        name = "rate limit" if status == 429 else "server busy" if 200 <= status < 500 else "server error"
        return Failure(Reaction.WAIT, f"{name} ({status}){tail}", after=retry_after(header))
    parameter = _parameter(error, f"{code} {text}", parameters)
    if parameter:
        return Failure(Reaction.PARAMETER, said, parameter=parameter)
    return Failure(Reaction.REFUSED, f"the request was refused ({status}){tail}")


def _key_advice(endpoint: Endpoint) -> str:
    if endpoint.key_variable is None:
        return "; this server wants a key, and none is defined for this provider"
    return f"; set the environment variable {endpoint.key_variable} to a key that is valid there"


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
    mentioned = [name for name in parameters if _place(name, text) >= 0]
    return min(mentioned, key=lambda name: _place(name, text)) if mentioned else ""


def _place(parameter: str, text: str) -> int:
    """Position at which a text names a parameter, with blanks for its underscores or not; below 0 for none."""
    found = re.search(rf"(?<![\w]){re.escape(parameter).replace('_', '[_ ]')}(?![\w])", text)
    return found.start() if found else -1


def error_for(failure: Failure, endpoint: Endpoint) -> Exception:
    """Translate a failure for a caller: TryAgain, ModelUnavailable, ContextOverflow or ModelError."""
    if failure.reaction is Reaction.WAIT:
        return TryAgain(failure.what, failure.after, ModelError if failure.of_answer else ModelUnavailable)
    if failure.reaction is Reaction.UNAVAILABLE:
        return ModelUnavailable(f"{endpoint.shown}: {failure.what}")
    if failure.reaction is Reaction.OVERFLOW:
        return ContextOverflow(f"{endpoint.shown}: the prompt is too long: {failure.what}")
    return ModelError(f"{endpoint.shown}: {failure.what}")
