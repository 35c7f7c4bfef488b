"""MCP messages: which is a tool call, what its answer tells, and the answers that the guard
gives itself.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from rpms.foreign.json_text import NotJson, each_once, loads
from rpms.foreign.shown import excerpt
from rpms.guard.calls import USER, Call, Ruling, ToolManual

CALL: Final = "tools/call"
LIST: Final = "tools/list"
CANCELLED: Final = "notifications/cancelled"
ELICIT: Final = "elicitation/create"
MINE: Final = "rpms_guard"
MOST_KEPT: Final = 1_000
"""Things of one sort that are remembered of a client, such as calls that it gave up on."""
PARSE_ERROR: Final = -32700
INVALID: Final = -32600
_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""In the `_meta` of every request since 2026-07-28, in place of a handshake."""
_FIELDS: Final = ("jsonrpc", "id", "method", "params", "result", "error")
_PARAMS: Final = ("name", "arguments")
_ID = rb'"id"\s*:\s*(-?\d{1,15}|"[^"\\]{1,200}")'
_FIRST_ID = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,100}"\s*,\s*){0,2}' + _ID)
_LAST_ID = re.compile(
    rb',\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?'
    + _ID
    + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
T = TypeVar("T")


class Newest(dict[str, T]):
    """The last things that were remembered: whoever never answers fills nobody's memory."""

    def __setitem__(self, key: str, value: T) -> None:
        super().__setitem__(key, value)
        if len(self) > MOST_KEPT:
            del self[next(iter(self))]


def read_answer(line: bytes) -> tuple[Any, bool]:
    """Read what a server sent, and say whether facts may be read from it.

    NotJson is raised for what is no message, or not the same message to every reader.
    """
    try:
        return loads(line, once=True), True
    except NotJson as error:
        why = error
    try:  # deeper or longer numbers than the guard reads still reach the client
        return json.loads(line, object_pairs_hook=each_once), False
    except (ValueError, RecursionError):
        raise why from None


def written(message: Any) -> bytes:
    """A message as one line of ASCII, in which no reader finds another line break.

    NotJson for infinite numbers.
    """
    try:
        return _ENCODER.encode(message).encode() + b"\n"
    except (ValueError, RecursionError):
        raise NotJson("it cannot be written as JSON") from None


def id_within(start: bytes, end: bytes) -> int | str | None:
    """The id of a message that is too long to be read, if it stands where SDKs write it: first
    or last.
    """
    found = _LAST_ID.search(end) or _FIRST_ID.match(start)
    try:
        return loads(found[1], once=True) if found else None
    except NotJson:
        return None


def answered_by(line: bytes) -> int | str | None:
    """The id of a line that cannot be read; None if it has none that is a number or a text."""
    try:
        known = json.loads(line)
    except (ValueError, RecursionError):
        return id_within(line[:1_000], line[-1_000:])
    return id_of(known) if isinstance(known, dict) else None


def id_of(message: Mapping[str, Any]) -> int | str | None:
    """The id of a message; None if it has none that is a whole number or a text."""
    id_ = message.get("id")
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def misspelled(message: Mapping[str, Any]) -> str:
    """A name that some readers take for one of the protocol's: many of them disregard case.

    Empty if there is none.
    """
    pairs = (
        (_FIELDS, message),
        (_PARAMS, params_of(message) if message.get("method") == CALL else {}),
    )
    return next(
        (
            name
            for known, held in pairs
            for name in held
            if name not in known and name.casefold() in known
        ),
        "",
    )


def params_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a message; none if they are not an object."""
    return object_of(message.get("params"))


def object_of(value: Any) -> dict[str, Any]:
    """A value that should be an object; an empty one if it is not."""
    return value if isinstance(value, dict) else {}


def is_modern(message: Mapping[str, Any]) -> bool:
    """True if a request follows the protocol of 2026-07-28 or later."""
    return _VERSION in object_of(params_of(message).get("_meta"))


def can_elicit(params: Mapping[str, Any]) -> bool:
    """True if the client says, in a handshake or in this request, that it can ask its user."""
    said = object_of(params.get("_meta")).get(_CAPABILITIES)
    said = said if isinstance(said, dict) else object_of(params.get("capabilities"))
    return isinstance(said.get("elicitation"), dict)


def accepts(reply: Any) -> bool:
    """True if a person said yes."""
    return object_of(reply).get("action") == "accept"


def error(id_: Any, code: int, problem: str) -> dict[str, Any]:
    """A response that says what is wrong with a message."""
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": problem}}


def tool_error(call: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A response to a call that says that its tool failed, which the model gets to read."""
    done = {"resultType": "complete"} if is_modern(call) else {}
    result = {**done, "content": [{"type": "text", "text": text}], "isError": True}
    return {"jsonrpc": "2.0", "id": call["id"], "result": result}


def question(call: Call, ruling: Ruling) -> dict[str, Any]:
    """An elicitation that asks a person for a decision and nothing else."""
    text = f"{ruling.text}\nThe call: {excerpt(call.text)}\nShall it be made?"
    return {
        "mode": "form",
        "message": text,
        "requestedSchema": {"type": "object", "properties": {}},
    }


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Result in an answer to a call."""

    result: Any = None
    failed: bool | None = None
    """None if only the manual can tell."""
    asks: bool = False
    """The tool has not run: it needs input, and the call is to be made again with it."""
    task: str = ""
    """The task that the call goes on in."""


def outcome_of(response: Mapping[str, Any]) -> CallOutcome:
    """Read the answer to a call."""
    if "error" in response:
        return CallOutcome(object_of(response["error"]).get("message", ""), failed=True)
    result = response.get("result")
    return result_outcome(result) if isinstance(result, dict) else CallOutcome(result)


def result_outcome(result: Mapping[str, Any]) -> CallOutcome:
    """Read the result of a call: what the tool returned, or that it has not returned yet."""
    task = result.get("task")
    if isinstance(task, dict) or result.get("resultType") == "task":
        return CallOutcome(
            task=str((task if isinstance(task, dict) else result).get("taskId", "?"))
        )
    if result.get("resultType", "complete") != "complete":
        return CallOutcome(asks=True)
    failed = True if result.get("isError") is True else None
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    structured = result.get("structuredContent")
    if not isinstance(structured, dict):
        return CallOutcome("\n".join(texts), failed)
    if structured.keys() == {"result"} and not _says(texts, structured):
        return CallOutcome(
            structured["result"], failed
        )  # SDKs wrap what is not an object: a text, which may be JSON
    return CallOutcome(structured, failed)


def _says(texts: list[str], value: Any) -> bool:
    """True if the text beside a structured result is that very object."""
    try:
        return (
            len(texts) == 1 and texts[0].lstrip()[:1] == "{" and loads(texts[0], once=True) == value
        )
    except NotJson:
        return False


def task_outcome(method: str, response: Mapping[str, Any]) -> CallOutcome | None:
    """Result of the call in an answer to `tasks/get` or `tasks/result`; None while the task
    goes on.
    """
    result = response.get("result")
    if not isinstance(result, dict):
        return (
            CallOutcome("", failed=True)
            if method == "tasks/result" and "error" in response
            else None
        )
    status = result.get("status")
    if status in ("failed", "cancelled"):
        return CallOutcome(str(result.get("statusMessage", status)), failed=True)
    if method == "tasks/result":
        return result_outcome(result)
    inner = result.get("result")
    return result_outcome(inner) if status == "completed" and isinstance(inner, dict) else None


def differences(manual: ToolManual, tools: list[dict[str, Any]]) -> list[str]:
    """Tools and arguments of a manual that a server does not have, in words for the operator."""
    missing = sorted(set(manual.tools) - {USER} - {tool["name"] for tool in tools})
    found = (
        [f"the manual declares tools that the server does not have: {', '.join(missing)}"]
        if missing
        else []
    )
    for tool in tools:
        declared, known = (
            manual.tools.get(tool["name"]),
            object_of(tool.get("inputSchema")).get("properties"),
        )
        strange = (
            sorted(declared.arguments - set(known)) if declared and isinstance(known, dict) else []
        )
        if strange:
            choice = ", ".join(excerpt(name, 60) for name in known or ()) or "none"
            found.append(
                f"the tool {tool['name']} has no argument {', '.join(strange)}; it has {choice}"
            )
    return found
