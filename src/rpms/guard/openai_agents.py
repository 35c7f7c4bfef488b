"""The guard around tools of the OpenAI Agents SDK: `guarded(guard, get_order, cancel_order)`."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

from rpms.guard.calls import Ask, Call, Modify
from rpms.guard.comparisons import MISSING
from rpms.guard.guard import Guard
from rpms.logic.errors import InputError

try:
    from agents import FunctionTool, RunContextWrapper
    from agents.tool_context import ToolContext
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[openai-agents]'") from None


GuardOf = Guard | Callable[[Any], Guard]
"""One guard for one conversation; or, given the run's own context, the guard of the
conversation it is."""
Invoke = Callable[[ToolContext[Any], str], Awaitable[Any]]


def guarded(
    guard: GuardOf, *tools: FunctionTool, asks: Collection[str] | None = None
) -> list[FunctionTool]:
    """The same tools, each checked before it runs and learned from after.

    `asks` names the tools about which the guard may ask a person, by the SDK's own approvals;
    without it, those of the manual, where `guard` is one guard.
    """
    if asks is None:
        asks = guard.manual.asking if isinstance(guard, Guard) else ()
    heard: WeakKeyDictionary[Guard, list[str]] = WeakKeyDictionary()

    def listening(context: RunContextWrapper[Any]) -> Guard:
        """The guard of a run, after it heard the new user messages; it hears all again if
        earlier ones have changed.
        """
        here = guard if isinstance(guard, Guard) else guard(context.context)
        said = [text for item in context.turn_input if (text := _user_text(item))]
        known = heard.get(here, [])
        for text in said[len(known) :] if said[: len(known)] == known else said:
            here.hear(text)
        heard[here] = said
        return here

    return [
        replace(
            tool,
            on_invoke_tool=_checked(tool.on_invoke_tool, listening),
            needs_approval=_asking(tool, listening) if tool.name in asks else tool.needs_approval,
        )
        for tool in tools
    ]


def _checked(invoke: Invoke, listening: Callable[[RunContextWrapper[Any]], Guard]) -> Invoke:
    """Check a tool from within the SDK's handling of errors: outside, an exception has become a
    plain text.
    """
    inner = getattr(invoke, "_invoke_tool_impl", None)  # set by `function_tool`
    if inner is not None:
        seen: Any = copy(invoke)
        seen._invoke_tool_impl = _checked(inner, listening)  # noqa: SLF001  the SDK has no open door to it
        return seen  # type: ignore[no-any-return]

    @wraps(invoke)
    async def checked(context: ToolContext[Any], arguments: str) -> Any:
        guard = listening(context)
        asked = {"name": context.tool_name, "arguments": arguments, "id": context.tool_call_id}
        approved = context.is_tool_approved(context.tool_name, context.tool_call_id)
        ruling = guard.check(asked, can_modify=True, approved=approved)
        if not ruling.goes_on:
            return f"Not done. {ruling.text}"
        if isinstance(ruling, Modify):
            call, arguments = ruling.call, json.dumps(dict(ruling.call.arguments))
        else:
            call = Call(context.tool_name, json.loads(arguments or "{}"), context.tool_call_id)
        try:
            result = await invoke(context, arguments)
        except asyncio.CancelledError:  # it took too long: nobody knows whether it was done
            guard.abandon(call)
            raise
        except Exception as error:
            guard.observe(call, str(error), failed=True)
            raise
        guard.observe(call, _shown(result))
        return (
            f"{result}\n{ruling.notice}"
            if ruling.notice and isinstance(result, str | dict | list)
            else result
        )

    return checked


def _asking(
    tool: FunctionTool, listening: Callable[[RunContextWrapper[Any]], Guard]
) -> Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]:
    """Have the SDK stop for a person where the guard would ask one, beside where the tool
    itself does.
    """
    before = tool.needs_approval

    async def asking(context: RunContextWrapper[Any], arguments: dict[str, Any], id_: str) -> bool:
        guard = listening(context)
        own = before if isinstance(before, bool) else await before(context, arguments, id_)
        return own or isinstance(guard.preview(Call(tool.name, arguments, id_)), Ask)

    return asking


def _shown(result: Any) -> Any:
    """A tool's result; the text that the SDK shows the model of an object.

    What is in a list is left to the guard.
    """
    if result is None or isinstance(result, str | bytes | int | float | Mapping | list | tuple):
        return result
    if isinstance(text := getattr(result, "text", None), str):
        return text
    try:
        return str(result)
    except Exception:  # noqa: BLE001  a tool's own code; the call has been made and has to be heard of
        return MISSING


def _user_text(item: Any) -> str:
    """The text of an input item, if the user said it."""
    if not isinstance(item, dict) or item.get("role") != "user":
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
