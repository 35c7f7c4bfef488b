"""MCP messages as the proxy sees them: what is a call of a tool, what is its answer, and what to answer instead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from rpms.foreign.json_text import NotJson, each_once, loads_once
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, ToolManual
from rpms.guard.rulings import Ruling

CALL: Final = "tools/call"
LIST: Final = "tools/list"
CANCELLED: Final = "notifications/cancelled"
UNREADABLE: Final = object()
"""Stands for a result that is too deep, or has numbers too long, to be read for facts."""
_LONG: Final = 300
"""Digits of a number that is not read as one."""
_INVALID: Final = -32600
_PARSE_ERROR: Final = -32700


def read_answer(line: bytes) -> Any:
    """What a server sent; of what is too deep or too long to be read for facts, only which call it answers.

    NotJson is raised for what is no message to any reader, or not the same one to all.
    """
    try:
        return loads_once(line)
    except NotJson as error:
        why = error
    try:
        known = json.loads(line, object_pairs_hook=each_once, parse_int=_number)
    except (ValueError, RecursionError):
        raise why from None
    if not isinstance(known, dict) or "method" in known or "id" not in known:
        return None
    return {"id": known["id"], "result": UNREADABLE}


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONG else digits


def answered_by(line: bytes) -> Any:
    """The id that a line seems to answer which cannot be read as one message; None if it answers nothing."""
    try:
        known = json.loads(line, parse_int=_number)
    except (ValueError, RecursionError):
        return None
    return known.get("id") if isinstance(known, dict) and "method" not in known else None


def written(message: Any) -> bytes:
    """A message as a line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def is_call(message: Any) -> bool:
    """Whether a message asks for a tool to be run."""
    return isinstance(message, dict) and message.get("method") == CALL


def call_of(message: dict[str, Any]) -> dict[str, Any]:
    """The call that a message asks for, in the form that a guard takes."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    arguments = params.get("arguments")
    return {
        "tool": params.get("name", ""),
        "arguments": {} if arguments is None else arguments,
        "id": json.dumps(message.get("id")),
    }


def refusal(id_: Any, ruling: Ruling) -> bytes:
    """The answer to a call that is not made: a tool's error, which the model gets to read."""
    return tool_error(id_, f"Not done. {ruling.text}")


def tool_error(id_: Any, text: str) -> bytes:
    """An answer that says that a tool failed."""
    content = [{"type": "text", "text": text}]
    return written({"jsonrpc": "2.0", "id": id_, "result": {"content": content, "isError": True}})


def parse_error(problem: str) -> bytes:
    """The answer to what is no message."""
    error = {"code": _PARSE_ERROR, "message": f"the guard cannot read this: {problem}"}
    return written({"jsonrpc": "2.0", "id": None, "error": error})


def invalid(id_: Any, problem: str) -> bytes:
    """The answer to a message that has no place here."""
    return written({"jsonrpc": "2.0", "id": id_, "error": {"code": _INVALID, "message": problem}})


def cancellation(id_: Any, why: str) -> bytes:
    """Tell a server that nobody waits for an answer any more."""
    return written({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": id_, "reason": why}})


def outcome_of(answer: dict[str, Any]) -> tuple[Any, bool | None]:
    """What a tool returned, and whether it failed; None where only the manual can tell."""
    if "error" in answer:
        error = answer["error"]
        return (error.get("message", "") if isinstance(error, dict) else ""), True
    result = answer.get("result")
    if not isinstance(result, dict):
        return result, None
    failed = True if result.get("isError") is True else None
    if isinstance(result.get("structuredContent"), dict):
        return result["structuredContent"], failed
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts), failed


def with_arguments(message: dict[str, Any], arguments: Mapping[str, Any]) -> bytes:
    """The message of a call with other arguments."""
    return written({**message, "params": {**message["params"], "arguments": dict(arguments)}})


def with_notice(answer: dict[str, Any], notice: str) -> bytes | None:
    """An answer with a line for the model after what the tool returned; None where it has no place for one."""
    result = answer.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(content, list):
        return None
    return written({**answer, "result": {**result, "content": [*content, {"type": "text", "text": notice}]}})


def differences(manual: ToolManual, answer: dict[str, Any]) -> list[str]:
    """Where a manual speaks of arguments that a server's tools do not have."""
    found = []
    for tool in _listed(answer):
        declared, schema = manual.tools.get(tool["name"]), tool.get("inputSchema")
        known = schema.get("properties") if isinstance(schema, dict) else None
        if declared is None or not isinstance(known, dict):
            continue
        strange = sorted(declared.arguments - set(known))
        if strange:
            choice = ", ".join(excerpt(name, 60) for name in known) or "none"
            found.append(f"the tool {declared.name} has no argument {', '.join(strange)}; it has {choice}")
    return found


def tool_names(answer: dict[str, Any]) -> set[str]:
    """The names of the tools in an answer to a list."""
    return {tool["name"] for tool in _listed(answer)}


def _listed(answer: dict[str, Any]) -> list[dict[str, Any]]:
    result = answer.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    found = tools if isinstance(tools, list) else []
    return [tool for tool in found if isinstance(tool, dict) and isinstance(tool.get("name"), str)]


def as_call(message: dict[str, Any]) -> Call:
    """The call of a message whose arguments are an object."""
    read = call_of(message)
    return Call(read["tool"], read["arguments"], read["id"])
