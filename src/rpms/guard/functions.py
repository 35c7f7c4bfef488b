"""Functions behind the guard: a call is checked before it is made, and its result learned from."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NoReturn, Protocol, TypeVar
from uuid import uuid4

from pydantic_core import PydanticSerializationError, to_jsonable_python

from rpms.guard.calls import Allow, Ask, Call, Modify, Ruling
from rpms.guard.comparisons import MISSING

F = TypeVar("F", bound=Callable[..., Any])


class Checker(Protocol):
    """The part of a guard that functions need."""

    def check(
        self,
        call: Call,
        /,
        *,
        can_modify: bool,
        can_ask: bool = False,
        approved: bool | None = None,
    ) -> Ruling:
        """Judge a call."""

    def observe(self, call: Call, result: object, /, *, failed: bool | None = None) -> None:
        """Learn from a result."""

    def abandon(self, call: Call, /) -> None:
        """Note that nobody waits for a call any more."""


CheckerOf = Callable[[], Checker]
"""Gives the guard of the conversation that a call belongs to."""


class CallRefused(Exception):
    """A call that was not made. Its text is for the model."""

    def __init__(self, ruling: Ruling) -> None:
        self.ruling = ruling
        super().__init__(f"Not done. {ruling.text}")


def raise_refused(ruling: Ruling) -> NoReturn:
    """Raise CallRefused."""
    raise CallRefused(ruling)


def guarded(
    guard: Checker | CheckerOf,
    function: F,
    *,
    name: str = "",
    refused: Callable[[Ruling], Any] = raise_refused,
    approves: Callable[[Call, Ruling], Any] | None = None,
) -> F:
    """The function, sync or async, behind a guard; `guard_of` finds the guard of the conversation
    it is called in.

    `name` is that of the tool, if it is not the function's. `refused` is called in place of the
    function where the call is refused: it raises, or returns what the model is shown. `approves`
    asks a person, and says whether the call is made; it may be async if the function is.
    """
    tool = _Tool(guard, function, name or function.__name__)
    checked = _checked_async if inspect.iscoroutinefunction(function) else _checked
    return checked(tool, function, refused, approves)  # type: ignore[return-value]


_Refused = Callable[[Ruling], Any]
_Approves = Callable[[Call, Ruling], Any]


def _checked(
    tool: _Tool, function: Callable[..., Any], refused: _Refused, approves: _Approves | None
) -> Callable[..., Any]:
    """A function that is called only if the guard lets it, and whose result the guard hears."""

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        asked = tool.ask(args, kwargs, can_ask=approves is not None)
        if isinstance(asked.ruling, Ask) and approves is not None:
            asked.decide(approves(asked.call, asked.ruling))
        if not asked.ruling.goes_on:
            return refused(asked.ruling)
        try:
            result = function(*asked.bound.args, **asked.bound.kwargs)
        except BaseException as error:
            asked.fail(error)
            raise
        return asked.observe(result)

    return checked


def _checked_async(
    tool: _Tool, function: Callable[..., Any], refused: _Refused, approves: _Approves | None
) -> Callable[..., Any]:
    """The same for a function that is awaited; approval may be awaited too."""

    @wraps(function)
    async def checked(*args: Any, **kwargs: Any) -> Any:
        asked = tool.ask(args, kwargs, can_ask=approves is not None)
        if isinstance(asked.ruling, Ask) and approves is not None:
            decision = approves(asked.call, asked.ruling)
            asked.decide(await decision if inspect.isawaitable(decision) else decision)
        if not asked.ruling.goes_on:
            return refused(asked.ruling)
        try:
            result = await function(*asked.bound.args, **asked.bound.kwargs)
        except BaseException as error:
            asked.fail(error)
            raise
        return asked.observe(result)

    return checked


class _Tool:
    """A function as the guard sees it."""

    def __init__(self, guard: Checker | CheckerOf, function: Callable[..., Any], name: str) -> None:
        self._guard = guard
        self._signature = inspect.signature(function)
        self._name = name

    def ask(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, can_ask: bool) -> _Asked:
        """Check a call."""
        guard = self._guard() if callable(self._guard) else self._guard
        bound = self._signature.bind(*args, **kwargs)
        call = Call(self._name, self._plain_arguments(bound), uuid4().hex)
        asked = _Asked(guard, call, bound)
        asked.rule(guard.check(call, can_modify=True, can_ask=can_ask))
        return asked

    def _plain_arguments(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """Arguments as JSON; what is none, such as a framework's context, is left out."""
        found: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                found |= {each: plain_value(inner) for each, inner in value.items()}
            else:
                found[name] = plain_value(value)
        return {name: value for name, value in found.items() if value is not MISSING}


@dataclass
class _Asked:
    """A call of a function, and its ruling."""

    guard: Checker
    call: Call
    bound: inspect.BoundArguments
    ruling: Ruling = field(default_factory=Allow)

    def rule(self, ruling: Ruling) -> None:
        """Take a ruling; one that changes the call changes what the function is called with."""
        self.ruling = ruling
        if isinstance(ruling, Modify):
            self.call = ruling.call
            for name in self.bound.signature.parameters:
                if name in ruling.call.arguments:
                    self.bound.arguments[name] = ruling.call.arguments[name]

    def decide(self, approved: Any) -> None:
        """Take a person's decision."""
        self.rule(self.guard.check(self.call, can_modify=True, approved=approved is True))

    def fail(self, error: BaseException) -> None:
        """Learn from an error: the call failed, or was broken off and may have been done."""
        broken_off = isinstance(error, TimeoutError | ConnectionError)
        if broken_off or not isinstance(error, Exception):
            self.guard.abandon(self.call)
        else:
            self.guard.observe(self.call, str(error), failed=True)

    def observe(self, result: Any) -> Any:
        """Learn from a result, and add to it what the model should know, if it is a text."""
        self.guard.observe(self.call, plain_value(result))
        if self.ruling.notice and isinstance(result, str):
            return f"{result}\n{self.ruling.notice}"
        return result


def plain_value(value: Any) -> Any:
    """A Python value as JSON: data classes and models as objects; MISSING for what is no data."""
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, RecursionError):
        return MISSING
