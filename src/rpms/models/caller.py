"""One endpoint and how to ask it: patience with its failures, and parameters that a model does not take."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rpms.core.errors import ModelUnavailable
from rpms.foreign.limits import LONGEST_WORD
from rpms.foreign.shown import one_line
from rpms.models.base import Answer, Usage
from rpms.models.failures import Endpoint, Failure, Reaction, error_for, understand
from rpms.models.patience import Clock, Patience, persevere
from rpms.models.secrets import check_allowed, without_secrets
from rpms.models.wire import BadResponse, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

T = TypeVar("T")

_LOG = logging.getLogger("rpms")


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """An endpoint's response with its usage."""

    value: T
    requests: int
    seconds: float
    notes: tuple[str, ...]


class Caller:
    """Asks one endpoint, from any number of threads.

    Parameters that a model refuses (`max_tokens`, a temperature) are found out from its first refusal: the request is
    sent again without them, later ones leave them out, and the answers' notes say so. Refusals of a question's own
    parameters are not kept.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        errors: tuple[type[Exception], ...],
        adaptable: Mapping[str, str | None],
        patience: Patience | None = None,
        clock: Clock | None = None,
        own: Container[str] = (),
    ) -> None:
        """`errors`: the SDK's exceptions. `adaptable`: parameters to leave out, or to rename, where refused.

        `own`: those of them that are a question's own.
        """
        self.endpoint = endpoint
        self.patience = patience or Patience()
        self._errors: tuple[type[Exception], ...] = (*errors, BadResponse, NotAllowed)
        self._adaptable = adaptable
        self._own = own
        self._clock = clock
        self._lock = threading.Lock()
        self._adapted: dict[str, str | None] = {}
        self._answers = 0
        self._at_last_wait: int | None = None
        """Number of answers at the last wait."""
        self._quiet_until = 0.0

    def ask(self, send: Callable[[dict[str, Any]], T], arguments: Mapping[str, Any]) -> Reply[T]:
        """Send until answered. `send` may itself raise TryAgain for an answer it cannot read."""
        check_allowed(self.endpoint.url)
        started = time.monotonic()
        requests = 0
        here: dict[str, str | None] = {}

        def attempt() -> T:
            nonlocal requests
            for _ in range(len(self._adaptable) + 1):
                requests += 1
                adapted = self._adapt(arguments, here)
                value, failure = self._try(send, adapted)
                if failure is None:
                    with self._lock:
                        self._answers += 1
                    return value  # type: ignore[return-value]  # there is one where there is no failure
                if failure.reaction is not Reaction.PARAMETER:
                    break
                self._learn(failure.parameter, here)
            assert failure is not None
            raise self._error(failure)

        value = persevere(attempt, self.patience, self.endpoint.shown, self._clock, self._tell)
        return Reply(value, requests, time.monotonic() - started, self._notes(arguments, here))

    def clean(self, text: str) -> str:
        """A server's text without keys that it echoed: answers go to disk."""
        return without_secrets(text, self.endpoint.secrets)

    def _tell(self, what: str, wait: float, left: float) -> None:
        """Say that this endpoint is waited for: once, and again if it has not answered since."""
        now = (self._clock or Clock()).now()
        with self._lock:
            worth_saying = self._at_last_wait in (None, self._answers) and now >= self._quiet_until
            self._at_last_wait = self._answers
            if worth_saying:
                self._quiet_until = now + wait
        if worth_saying:
            told = (self.endpoint.shown, what, max(wait, 1.0), max(left, 1.0))
            _LOG.warning("%s: %s, trying again in %.0f s, giving up in %.0f s", *told)

    def finished(
        self, reply: Reply[Any], text: str, finish: str, usage: Usage, stop: Sequence[str], notes: tuple[str, ...]
    ) -> Answer:
        """The answer out of what a provider sent: cut at its stop, without secrets, with what getting it took."""
        shortened = cut_at_stop(text, stop)
        cleaned, ending = self.clean(shortened), self.clean(finish)
        removed = () if (cleaned, ending) == (shortened, finish) else ("a key was removed from the answer",)
        ending = "stop" if shortened != text else one_line(ending, LONGEST_WORD)
        spent = replace(usage, requests=reply.requests, seconds=reply.seconds)
        return Answer(cleaned, spent, ending, reply.notes + notes + removed)

    def _try(self, send: Callable[[dict[str, Any]], T], arguments: dict[str, Any]) -> tuple[T | None, Failure | None]:
        """Send once. An understood failure is returned, so that no SDK exception, which may hold a key, is chained."""
        parameters: Sequence[str] = [name for name in self._adaptable if name in arguments]
        try:
            return send(arguments), None
        except self._errors as error:
            failure = understand(error, self.endpoint, parameters)
            if failure is None:
                raise
            return None, failure

    def _error(self, failure: Failure) -> Exception:
        """Exception to raise. A refusal before any answer concerns no single prompt: it stops the run."""
        if failure.reaction in {Reaction.REFUSED, Reaction.PARAMETER} and not self._answers:
            return ModelUnavailable(f"{self.endpoint.shown}: {failure.what}")
        return error_for(failure, self.endpoint)

    def _learn(self, parameter: str, here: dict[str, str | None]) -> None:
        if parameter in self._own:
            here[parameter] = self._adaptable[parameter]
            return
        with self._lock:
            self._adapted[parameter] = self._adaptable[parameter]

    def _adapt(self, arguments: Mapping[str, Any], here: Mapping[str, str | None]) -> dict[str, Any]:
        with self._lock:
            adapted = {**self._adapted, **here}
        result: dict[str, Any] = {}
        for name, value in arguments.items():
            new_name = adapted.get(name, name)
            if new_name is not None:
                result[new_name] = value
        return result

    def _notes(self, arguments: Mapping[str, Any], here: Mapping[str, str | None]) -> tuple[str, ...]:
        with self._lock:
            adapted = {name: new for name, new in {**self._adapted, **here}.items() if name in arguments}
        return tuple(
            f"{name} sent as {new}" if new else f"{name} not sent: refused by this model"
            for name, new in sorted(adapted.items())
        )


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop sequence, for models and servers that do not stop by themselves."""
    ends = [at for at in (text.find(mark) for mark in stop if mark) if at >= 0]
    return text[: min(ends)] if ends else text
