"""One MCP session over stdio behind a guard: messages in, messages out, and a person asked where
one has to approve.

Nothing is passed on but what was read here.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_MESSAGE
from rpms.foreign.shown import excerpt
from rpms.guard import mcp_messages as mcp
from rpms.guard.calls import Ask, Call, Modify, Refuse, Ruling
from rpms.guard.comparisons import MISSING, loosened
from rpms.guard.guard import Guard

Line = bytes | tuple[bytes, bytes]
"""A line; of one that is too long, its first and last bytes."""


@dataclass(slots=True)
class _Open:
    """A call that was passed on, or that a person is asked about."""

    message: dict[str, Any]
    until: float
    call: Call
    notice: str = ""
    """A line for the model to read with the result."""
    approved: str = ""
    """Key of the call as a person approved it."""
    given_up: int = 0
    """Its characters, if the client was answered already, or waits no more."""


@dataclass
class McpSession:
    """Judges the calls of one client and learns from what its server answers."""

    guard: Guard
    write_client: Callable[[bytes], None]
    write_server: Callable[[bytes], None]
    complain: Callable[[str], None]
    """Prints a line for the operator."""
    patience: float
    """Seconds that a call, or a person, may take."""
    _waiting: dict[str, _Open] = field(default_factory=dict)
    _tasks: mcp.Newest[Call] = field(default_factory=mcp.Newest)
    _asked: dict[str, _Open] = field(default_factory=dict)
    _approved: mcp.Newest[str] = field(default_factory=mcp.Newest)
    """States of approved calls about which the server asks too: the same call comes with the
    answer."""
    _requests: mcp.Newest[tuple[str, str]] = field(default_factory=mcp.Newest)
    """Other requests whose answers are read: the method, and the task it is about."""
    _tools: list[dict[str, Any]] = field(default_factory=list)
    _elicits: bool = False

    def _to_client(self, message: Any) -> None:
        self.write_client(mcp.written(message))

    # --- from the client ---

    def from_client(self, line: Line) -> bool:
        """Judge what a client sent; each message is passed on as it was read, or answered here.

        False if it was thrown away as it came and nobody knows its id.
        """
        if isinstance(line, tuple):
            id_, problem = (
                mcp.id_within(*line),
                f"a message has more than {LARGEST_MESSAGE:,} bytes",
            )
            self.complain(f"{problem} and was not passed on")
            self._to_client(mcp.error(id_, mcp.INVALID, f"{problem}; send less at once"))
            return id_ is not None
        try:
            message = loads(line, once=True) if line.strip() else []
        except NotJson as error:
            self.complain(f"a message that is not JSON was not passed on: {error}")
            self._to_client(
                mcp.error(
                    mcp.answered_by(line), mcp.PARSE_ERROR, f"the guard cannot read this: {error}"
                )
            )
            return True
        for each in (
            message if isinstance(message, list) else [message]
        ):  # of a batch, each on its own
            if not isinstance(each, dict):
                self._to_client(mcp.error(None, mcp.INVALID, "a message is an object"))
            elif odd := mcp.misspelled(each):
                problem = (
                    f"{excerpt(odd)} may be read as {odd.casefold()}, so that it was not passed on"
                )
                self._to_client(mcp.error(mcp.answered_by(line), mcp.INVALID, problem))
            else:
                self._request(each)
        return True

    def _request(self, message: dict[str, Any]) -> None:
        method, params, key = message.get("method"), mcp.params_of(message), _key(message.get("id"))
        if method == mcp.CALL:
            self._call(message)
        elif method is None and key in self._asked:
            self._judge(self._asked.pop(key).message, approved=mcp.accepts(message.get("result")))
        elif "method" in message and (not isinstance(method, str) or loosened(method) == mcp.CALL):
            self._to_client(
                mcp.error(mcp.id_of(message), mcp.INVALID, f"{excerpt(method)!r} is no method")
            )
        else:
            if method == "initialize":
                self._elicits = mcp.can_elicit(params)
            elif method == mcp.LIST or (method or "").startswith("tasks/"):
                self._requests[key] = (str(method), str(params.get("taskId", "")))
            elif method == mcp.CANCELLED:  # only an answer would show whether the call was made
                cancelled = _key(params.get("requestId"))
                self._set_aside(cancelled)
                asked = self._asked.items()
                self._asked = {
                    token: each for token, each in asked if _key(each.message["id"]) != cancelled
                }
            self.write_server(mcp.written(message))

    def _call(self, message: dict[str, Any]) -> None:
        id_, params = message.get("id"), mcp.params_of(message)
        if mcp.id_of(message) is None:
            self.complain("a tool call without an id was not passed on")
            if id_ is not None:
                self._to_client(
                    mcp.error(None, mcp.INVALID, "the id of a call is a text or a whole number")
                )
            return
        if (
            _key(id_) in self._waiting
        ):  # also one that the client gave up, whose answer may still come
            self._to_client(mcp.error(id_, mcp.INVALID, "another call with this id is under way"))
            return
        approved = None
        if mcp.is_modern(message) and (
            asked := self._asked.pop(str(params.get("requestState")), None)
        ):
            # the call without what was added for the guard, and the decision, which holds for that
            # very call
            params = {name: value for name, value in params.items() if name != "requestState"}
            replies, before = (
                mcp.object_of(params.pop("inputResponses", None)),
                mcp.params_of(asked.message),
            )
            same = all(params.get(name) == before.get(name) for name in ("name", "arguments"))
            message, approved = (
                {**message, "params": params},
                same and mcp.accepts(replies.get(mcp.MINE)),
            )
        self._judge(message, approved=approved)

    def _judge(self, message: dict[str, Any], *, approved: bool | None) -> None:
        self.guard.refresh()
        params = mcp.params_of(message)
        arguments = {} if params.get("arguments") is None else params["arguments"]
        call = Call(params.get("name", ""), arguments, json.dumps(message["id"]))
        state = (
            self._approved.pop(call.key, None)
            if self._approved and isinstance(arguments, dict)
            else None
        )
        if approved is None and not params.keys().isdisjoint(("requestState", "inputResponses")):
            approved = state == (params.get("requestState") or "") or None
        can_ask = self._elicits or mcp.can_elicit(params)
        ruling = self.guard.check(call, can_modify=True, can_ask=can_ask, approved=approved)
        until = time.monotonic() + self.patience
        if isinstance(ruling, Ask):
            self._ask(_Open(message, until, call), ruling)
            return
        if isinstance(ruling, Refuse):
            self._to_client(mcp.tool_error(message, f"Not done. {ruling.text}"))
            return
        key = call.key if approved else ""
        if isinstance(ruling, Modify):
            call = ruling.call
            message = {**message, "params": {**params, "arguments": dict(call.arguments)}}
        self._waiting[_key(message["id"])] = _Open(message, until, call, ruling.notice, key)
        self.write_server(mcp.written(message))

    def _ask(self, asked: _Open, ruling: Ruling) -> None:
        """Have the client ask its user: by a request of its own, or since 2026-07-28 in the
        answer to the call.
        """
        token, asking = f"{mcp.MINE}-{uuid4().hex}", mcp.question(asked.call, ruling)
        if mcp.is_modern(asked.message):
            wanted = {mcp.MINE: {"method": mcp.ELICIT, "params": asking}}
            result = {
                "resultType": "input_required",
                "inputRequests": wanted,
                "requestState": token,
            }
            self._asked[token] = asked
            self._to_client({"jsonrpc": "2.0", "id": asked.message["id"], "result": result})
        else:
            self._asked[_key(token)] = asked
            self._to_client({"jsonrpc": "2.0", "id": token, "method": mcp.ELICIT, "params": asking})

    def _set_aside(self, key: str) -> _Open | None:
        """A call that was passed on, for which the client waits no more from now on; its
        message is not kept.
        """
        waited = self._waiting.get(key)
        if waited is None or waited.given_up:
            return None
        self.guard.abandon(waited.call)
        self._waiting[key] = replace(
            waited, message={"id": waited.message["id"]}, given_up=len(waited.call.text)
        )
        sizes = {each: kept.given_up for each, kept in self._waiting.items() if kept.given_up}
        while len(sizes) > mcp.MOST_KEPT or sum(sizes.values()) > LARGEST_MESSAGE:
            oldest = next(iter(sizes))
            del self._waiting[oldest], sizes[oldest]
        return waited

    # --- time ---

    def time_left(self) -> float:
        """Seconds until somebody has waited long enough."""
        waiting = [each.until for each in self._waiting.values() if not each.given_up]
        first = min(
            (*waiting, *(each.until for each in self._asked.values())),
            default=time.monotonic() + 3_600,
        )
        return max(0.0, first - time.monotonic())

    def give_up(self) -> None:
        """Answer the calls that took too long, and tell the server that nobody waits for them."""
        now = time.monotonic()
        for key, each in list(self._waiting.items()):
            if each.until <= now and self._set_aside(key):
                text = f"{each.call.tool} did not return within {self.patience:g} seconds"
                self.complain(text)
                told = {"requestId": each.message["id"], "reason": "it took too long"}
                self.write_server(
                    mcp.written({"jsonrpc": "2.0", "method": mcp.CANCELLED, "params": told})
                )
                self._to_client(mcp.tool_error(each.message, f"{text}; it may or may not be done."))
        for key, asked in list(self._asked.items()):
            if asked.until <= now:
                del self._asked[key]
                if not mcp.is_modern(asked.message):
                    self._judge(asked.message, approved=False)

    # --- from the server ---

    def from_server(self, line: Line) -> None:
        """Learn from what a server sent, and pass it on as it was read; answer for what was
        thrown away as it came.
        """
        if isinstance(line, tuple):
            self.complain(f"an answer of more than {LARGEST_MESSAGE:,} bytes was not passed on")
            id_ = mcp.id_within(*line)
            if id_ is None and len(self._waiting) == 1:
                id_ = next(iter(self._waiting.values())).message["id"]
            self._lost(id_, f"has more than {LARGEST_MESSAGE:,} bytes")
            return
        if not line.strip():
            return
        try:
            message, readable = mcp.read_answer(line)
            for each in message if isinstance(message, list) else [message]:
                if isinstance(each, dict):
                    self._response(each, readable=readable)
        except NotJson as error:
            said = excerpt(line.decode("utf-8", "replace"))
            self.complain(
                f"the server wrote a line that is no message, which was not passed on: {error}:"
                f" {said}"
            )
            self._lost(mcp.answered_by(line), f"cannot be read: {error}")

    def _lost(self, id_: Any, problem: str) -> None:
        """Tell the client that the answer to a call cannot be passed on."""
        if each := self._set_aside(_key(id_)):
            text = f"the answer of {each.call.tool} {problem}; it may or may not be done."
            self._to_client(mcp.tool_error(each.message, text))

    def _response(self, message: dict[str, Any], *, readable: bool) -> None:
        key = _key(message["id"]) if "method" not in message and "id" in message else ""
        waited = self._waiting.pop(key, None)
        if waited is not None:
            self._learn(waited, message, readable=readable)
            if waited.given_up:
                return
            result = mcp.object_of(message.get("result"))
            if waited.notice and isinstance(result.get("content"), list):
                content = [*result["content"], {"type": "text", "text": waited.notice}]
                message = {**message, "result": {**result, "content": content}}
        elif key in self._requests:
            self._read(*self._requests.pop(key), message)
        self._to_client(message)

    def _learn(self, waited: _Open, response: dict[str, Any], *, readable: bool) -> None:
        call, outcome = waited.call, mcp.outcome_of(response)
        if outcome.asks:
            self.guard.withdraw(call)
            if waited.approved and not waited.given_up:
                self._approved[waited.approved] = (
                    mcp.object_of(response["result"]).get("requestState") or ""
                )
        elif outcome.task:
            self._tasks[outcome.task] = call
        else:
            self.guard.observe(call, outcome.result if readable else MISSING, failed=outcome.failed)

    def _read(self, method: str, task: str, response: dict[str, Any]) -> None:
        if (
            method == mcp.LIST
        ):  # say where the manual and the server's tools do not agree, once the list is whole
            result = mcp.object_of(response.get("result"))
            listed = result.get("tools")
            tools = map(mcp.object_of, listed if isinstance(listed, list) else ())
            self._tools += [tool for tool in tools if isinstance(tool.get("name"), str)]
            if result and not result.get("nextCursor"):
                for difference in mcp.differences(self.guard.manual, self._tools):
                    self.complain(difference)
                self._tools.clear()
            return
        outcome = mcp.task_outcome(method, response) if task in self._tasks else None
        if outcome is not None and not outcome.asks and not outcome.task:
            self.guard.observe(self._tasks.pop(task), outcome.result, failed=outcome.failed)


def _key(id_: Any) -> str:
    """An id of a message; 1 and "1" are two."""
    return repr(id_)[:200]
