"""The guard as tool guardrails of the OpenAI Agents SDK: `guarded(guard, get_order, cancel_order)`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from rpms.core.errors import InputError
from rpms.guard.guard import Guard
from rpms.guard.rulings import Refuse, Ruling

try:
    from agents import (
        FunctionTool,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
        ToolOutputGuardrail,
        ToolOutputGuardrailData,
    )
    from agents.tool_context import ToolContext
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[openai-agents]'") from None


GuardOf = Guard | Callable[[Any], Guard]
"""One guard for one conversation; or, given the run's own context, the guard of the conversation it is."""
Invoke = Callable[[ToolContext[Any], str], Awaitable[Any]]
_SETTLED = "_rpms_guard_settled"
"""Marks the context of a call that has raised: the text which the SDK makes of that is no result."""


def guarded(guard: GuardOf, *tools: FunctionTool) -> list[FunctionTool]:
    """The same tools, each checked before it runs and learned from after; what they were guarded by before stays."""
    before: ToolInputGuardrail[Any] = ToolInputGuardrail(_Check(guard), name="rpms_guard")
    after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_Learn(guard), name="rpms_guard_learns")
    return [
        replace(
            tool,
            on_invoke_tool=_watched(tool.on_invoke_tool, guard),
            tool_input_guardrails=[*(tool.tool_input_guardrails or ()), before],
            tool_output_guardrails=[after, *(tool.tool_output_guardrails or ())],
        )
        for tool in tools
    ]


def _watched(invoke: Invoke, guard: GuardOf) -> Invoke:
    """The same way to run a tool, seen from within: outside, the SDK has turned an exception into a plain text."""
    inner = getattr(invoke, "_invoke_tool_impl", None)  # what `function_tool` keeps within its handling of errors
    if inner is None:
        return _noting(invoke, guard)
    seen: Any = copy(invoke)
    seen._invoke_tool_impl = _noting(inner, guard)  # noqa: SLF001  the SDK has no open door to it
    return seen  # type: ignore[no-any-return]


def _noting(invoke: Invoke, guard: GuardOf) -> Invoke:
    @wraps(invoke)
    async def noted(context: ToolContext[Any], arguments: str) -> Any:
        try:
            return await invoke(context, arguments)
        except asyncio.CancelledError:  # it took too long: nobody knows whether it was done
            setattr(context, _SETTLED, True)
            raise
        except Exception as error:
            if isinstance(context, ToolContext):
                setattr(context, _SETTLED, True)
                _of(guard, context).observe(_call(context), str(error), failed=True)
            raise

    return noted


def _of(guard: GuardOf, context: ToolContext[Any]) -> Guard:
    return guard if isinstance(guard, Guard) else guard(context.context)


def _call(context: ToolContext[Any]) -> dict[str, Any]:
    return {"name": context.tool_name, "arguments": context.tool_arguments, "id": context.tool_call_id}


class _Check:
    def __init__(self, guard: GuardOf) -> None:
        self._guard = guard
        self._heard: WeakKeyDictionary[Guard, list[str]] = WeakKeyDictionary()

    def __call__(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        guard = _of(self._guard, data.context)
        self._hear(guard, data.context.turn_input)
        ruling = guard.check(_call(data.context))  # an input guardrail cannot change a call: it is refused, with how
        info = {"ruling": ruling.word, **_words(ruling)}
        if isinstance(ruling, Refuse):
            return ToolGuardrailFunctionOutput.reject_content(f"Not done. {ruling.text}", info)
        return ToolGuardrailFunctionOutput.allow(info)

    def _hear(self, guard: Guard, items: Iterable[Any]) -> None:
        """Observe what the user has said since the last call: what is new after what was heard, or all of it."""
        said = [text for item in items if (text := _user_text(item))]
        known = self._heard.get(guard, [])
        for text in said[len(known) :] if said[: len(known)] == known else said:
            guard.hear(text)
        self._heard[guard] = said


class _Learn:
    def __init__(self, guard: GuardOf) -> None:
        self._guard = guard

    def __call__(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        if not getattr(data.context, _SETTLED, False):
            _of(self._guard, data.context).observe(_call(data.context), data.output)
        return ToolGuardrailFunctionOutput.allow()


def _user_text(item: Any) -> str:
    """The text of an input item, if the user said it."""
    if not isinstance(item, dict) or item.get("role") != "user":
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _words(ruling: Ruling) -> dict[str, str]:
    return {"rule": ruling.rule, "fact": ruling.fact, "remedy": ruling.remedy}
