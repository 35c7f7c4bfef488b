"""Tools as OpenAI's protocol has them: offered in a request, called in a response.

A call becomes an action in the one way in which calls are written, so that whatever reads answers, keeps them and
checks them need not know how they came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rpms.foreign.calls import NotACall, from_fields
from rpms.foreign.shown import one_line
from rpms.models.parsing import parse_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rpms.foreign.calls import Tool

NO_CALL = "answered without a tool call"


def tool_fields(tools: Sequence[Tool]) -> dict[str, Any]:
    """Tools as a request offers them. A call is required: in a world of tools there is nothing else to do."""
    offered = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]
    return {"tools": offered, "tool_choice": "required"}


def called(text: str, calls: object) -> tuple[str, tuple[str, ...]]:
    """An answer as text, given its words and its tool calls, which may be anything; and what there is to note.

    The first call counts. One that cannot be read is passed on as it is, for the world to refuse.
    """
    first = calls[0] if isinstance(calls, list) and calls else None
    function = first.get("function") if isinstance(first, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return text, (NO_CALL,)
    notes: tuple[str, ...] = (
        ("several tool calls: the first counts",) if isinstance(calls, list) and len(calls) > 1 else ()
    )
    try:
        action = str(from_fields(function["name"], function.get("arguments")))
    except NotACall as problem:
        action = one_line(f"{function['name']}({function.get('arguments')})")
        notes += (str(problem),)
    answer = f"Thought: {one_line(text)}\nAction: {action}"
    # Words that would be read as another answer are left out.
    return (answer if text and parse_answer(answer).action == action else f"Action: {action}"), notes
