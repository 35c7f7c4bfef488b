"""One MCP session behind a guard: messages in, messages out. Nothing is passed on but what was read here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_MESSAGE
from rpms.foreign.shown import excerpt
from rpms.guard import mcp_messages as mcp
from rpms.guard.calls import Ask, Call, Modify, Refuse, Ruling
from rpms.guard.comparisons import loosened
from rpms.guard.guard import Guard

_MOST_KEPT = 1_000
"""Calls that are remembered after the client gave up on them."""
_MINE = "rpms_guard"


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call that was passed on."""

    id: Any
    call: Call
    notice: str
    """A line for the model to read with the result."""
    until: float
    modern: bool
    answered: bool = False
    """The client was answered already, or waits no more."""


class _Asked(NamedTuple):
    """A call that a person is asked about."""

    message: dict[str, Any]
    until: float


class McpSession:
    """Judges the calls of one client and learns from what its server answers."""

    def __init__(
        self,
        guard: Guard,
        to_client: Callable[[bytes], None],
        to_server: Callable[[bytes], None],
        complain: Callable[[str], None],
        patience: float,
    ) -> None:
        """`complain` prints a line for the operator. `patience`: seconds that a call, or a person, may take."""
        self._guard = guard
        self._to_client: Callable[[Any], None] = lambda message: to_client(mcp.written(message))
        self._to_server: Callable[[Any], None] = lambda message: to_server(mcp.written(message))
        self._complain = complain
        self._patience = patience
        self._waiting: dict[str, _Waiting] = {}
        self._tasks: dict[str, _Waiting] = {}
        self._asked: dict[str, _Asked] = {}
        self._approved: set[str] = set()
        """Calls that a person approved, until they have returned: a server may ask for input of its own first."""
        self._requests: dict[str, tuple[str, str]] = {}
        """Other requests whose answers are read: the method, and the task it is about."""
        self._tools: list[dict[str, Any]] = []
        self._elicits = False

    # --- from the client ---

    def from_client(self, line: bytes) -> None:
        """Judge what a client sent; each message is passed on as it was read, or answered here."""
        if not line.strip():
            return
        try:
            message = loads(line, once=True)
        except NotJson as error:
            self._complain(f"a message that is not JSON was not passed on: {error}")
            self._to_client(mcp.error(mcp.answered_by(line), mcp.PARSE_ERROR, f"the guard cannot read this: {error}"))
            return
        for each in message if isinstance(message, list) else [message]:  # of a batch, each on its own
            if not isinstance(each, dict):
                self._to_client(mcp.error(None, mcp.INVALID, "a message is an object"))
            elif odd := mcp.misspelled(each):
                problem = f"{excerpt(odd)} may be read as {odd.casefold()}, so that it was not passed on"
                self._to_client(mcp.error(mcp.answered_by(line), mcp.INVALID, problem))
            else:
                self._request(each)

    def too_long(self, start: bytes, end: bytes) -> bool:
        """Refuse a message that was thrown away as it came, by its first and last bytes; False if none knows its id."""
        id_ = mcp.id_within(start, end)
        problem = f"a message has more than {LARGEST_MESSAGE:,} bytes"
        self._complain(f"{problem} and was not passed on")
        self._to_client(mcp.error(id_, mcp.INVALID, f"{problem}; send less at once"))
        return id_ is not None

    def _request(self, message: dict[str, Any]) -> None:
        method, params, key = message.get("method"), mcp.params_of(message), _key(message.get("id"))
        if method == mcp.CALL:
            self._call(message)
            return
        if method is None and key in self._asked:
            self._judge(self._asked.pop(key).message, approved=mcp.accepts(message.get("result")))
            return
        if "method" in message and (not isinstance(method, str) or loosened(method) == mcp.CALL):
            self._to_client(mcp.error(mcp.id_of(message), mcp.INVALID, f"{excerpt(method)!r} is no method"))
            return
        if method == "initialize":
            self._elicits = mcp.can_elicit(params)
        if method == mcp.LIST or (isinstance(method, str) and method.startswith("tasks/")):
            self._requests[key] = (method, str(params.get("taskId", "")))
        if method == mcp.CANCELLED:  # only an answer would show whether the call was made
            cancelled = _key(params.get("requestId"))
            if cancelled in self._waiting:
                self._set_aside(cancelled)
            self._asked.pop(cancelled, None)
        self._to_server(message)

    def _call(self, message: dict[str, Any]) -> None:
        id_, params = message.get("id"), mcp.params_of(message)
        if mcp.id_of(message) is None:
            self._complain("a tool call without an id was not passed on")
            if id_ is not None:
                self._to_client(mcp.error(None, mcp.INVALID, "the id of a call is a text or a whole number"))
            return
        if _key(id_) in self._waiting:  # also one that the client gave up, whose answer may still come
            self._to_client(mcp.error(id_, mcp.INVALID, "another call with this id is under way"))
            return
        approved = None
        if mcp.is_modern(message) and (asked := self._asked.pop(str(params.get("requestState")), None)):
            message, approved = self._resumed(message, asked)
        self._judge(message, approved=approved)

    def _judge(self, message: dict[str, Any], *, approved: bool | None) -> None:
        id_, modern = message["id"], mcp.is_modern(message)
        self._guard.refresh()
        call, can_ask = mcp.call_of(message), self._elicits or mcp.can_elicit(mcp.params_of(message))
        if approved is None and self._approved and isinstance(call.arguments, dict) and call.key in self._approved:
            approved = True
        ruling = self._guard.check(call, can_modify=True, can_ask=can_ask, approved=approved)
        if isinstance(ruling, Ask):
            self._ask(message, call, ruling)
            return
        if isinstance(ruling, Refuse):
            self._to_client(mcp.answer(id_, mcp.tool_error(f"Not done. {ruling.text}", modern=modern)))
            return
        if isinstance(ruling, Modify):
            call = ruling.call
            message = {**message, "params": {**message["params"], "arguments": dict(call.arguments)}}
        if approved:
            self._approved.add(call.key)
        until = time.monotonic() + self._patience
        self._waiting[_key(id_)] = _Waiting(id_, call, ruling.notice, until, modern)
        self._to_server(message)

    def _set_aside(self, key: str) -> None:
        """Note that the client waits no more."""
        self._waiting[key] = waited = replace(self._waiting[key], answered=True)
        self._guard.abandon(waited.call)
        done = [each for each, kept in self._waiting.items() if kept.answered]
        for each in done[: max(0, len(done) - _MOST_KEPT)]:
            del self._waiting[each]

    # --- a person decides ---

    def _ask(self, message: dict[str, Any], call: Call, ruling: Ruling) -> None:
        """Have the client ask its user: by a request of its own, or since 2026-07-28 in the answer to the call."""
        token, until = f"{_MINE}-{uuid4().hex}", time.monotonic() + self._patience
        asking = mcp.question(call, ruling)
        if mcp.is_modern(message):
            wanted = {_MINE: {"method": mcp.ELICIT, "params": asking}}
            result = {"resultType": "input_required", "inputRequests": wanted, "requestState": token}
            self._asked[token] = _Asked(message, until)
            self._to_client(mcp.answer(message["id"], result))
        else:
            self._asked[_key(token)] = _Asked(message, until)
            self._to_client({"jsonrpc": "2.0", "id": token, "method": mcp.ELICIT, "params": asking})

    def _resumed(self, message: dict[str, Any], asked: _Asked) -> tuple[dict[str, Any], bool]:
        """The call without what was added for the guard, and the decision, which holds for that very call."""
        params = {name: value for name, value in message["params"].items() if name != "requestState"}
        replies, before = mcp.object_of(params.pop("inputResponses", None)), mcp.params_of(asked.message)
        same = all(params.get(name) == before.get(name) for name in ("name", "arguments"))
        return {**message, "params": params}, same and mcp.accepts(replies.get(_MINE))

    # --- time ---

    def time_left(self) -> float:
        """Seconds until somebody has waited long enough."""
        waiting = [each.until for each in self._waiting.values() if not each.answered]
        first = min((*waiting, *(each.until for each in self._asked.values())), default=time.monotonic() + 3_600)
        return max(0.0, first - time.monotonic())

    def give_up(self) -> None:
        """Answer the calls that took too long, and tell the server that nobody waits for them."""
        now = time.monotonic()
        for key, each in list(self._waiting.items()):
            if each.until <= now and not each.answered:
                self._set_aside(key)
                text = f"{each.call.tool} did not return within {self._patience:g} seconds"
                self._complain(text)
                told = {"requestId": each.id, "reason": "it took too long"}
                self._to_server({"jsonrpc": "2.0", "method": mcp.CANCELLED, "params": told})
                self._fail(each, f"{text}; it may or may not be done.")
        for key, asked in list(self._asked.items()):
            if asked.until <= now:
                del self._asked[key]
                if not mcp.is_modern(asked.message):
                    self._judge(asked.message, approved=False)

    # --- from the server ---

    def from_server(self, line: bytes) -> None:
        """Learn from what a server sent, and pass it on as it was read."""
        if not line.strip():
            return
        try:
            message, readable = mcp.read_answer(line)
            for each in message if isinstance(message, list) else [message]:
                if isinstance(each, dict):
                    self._response(each, readable=readable)
        except NotJson as error:
            said = excerpt(line.decode("utf-8", "replace"))
            self._complain(f"the server wrote a line that is no message, which was not passed on: {error}: {said}")
            self._lost(mcp.answered_by(line), f"cannot be read: {error}")

    def answer_too_long(self, start: bytes, end: bytes) -> None:
        """Answer for the server, whose message was thrown away as it came."""
        self._complain(f"an answer of more than {LARGEST_MESSAGE:,} bytes was not passed on")
        id_ = mcp.id_within(start, end)
        if id_ is None and len(self._waiting) == 1:
            id_ = next(iter(self._waiting.values())).id
        self._lost(id_, f"has more than {LARGEST_MESSAGE:,} bytes")

    def _lost(self, id_: Any, problem: str) -> None:
        """Tell the client that the answer to a call cannot be passed on."""
        each = self._waiting.get(_key(id_))
        if each is not None and not each.answered:
            self._set_aside(_key(id_))
            self._fail(each, f"the answer of {each.call.tool} {problem}; it may or may not be done.")

    def _response(self, message: dict[str, Any], *, readable: bool) -> None:
        waited = None
        if "method" not in message and "id" in message:
            key = _key(message["id"])
            waited = self._waiting.pop(key, None)
            if waited is not None:
                self._learn(waited, message, readable=readable)
            elif key in self._requests:
                self._read(*self._requests.pop(key), message)
        if waited is not None and waited.answered:
            return
        self._to_client(mcp.with_notice(message, waited.notice) if waited is not None else message)

    def _learn(self, waited: _Waiting, response: dict[str, Any], *, readable: bool) -> None:
        outcome = mcp.outcome_of(response) if readable else None
        if outcome is None or not outcome.asks:
            self._approved.discard(waited.call.key)
        if outcome is None:
            self._guard.observe(waited.call, b"\xff")  # which tells nothing, but that it returned
        elif outcome.asks:
            self._guard.withdraw(waited.call)
        elif outcome.task:
            self._tasks[outcome.task] = waited
        else:
            self._guard.observe(waited.call, outcome.result, failed=outcome.failed)

    def _read(self, method: str, task: str, response: dict[str, Any]) -> None:
        if method == mcp.LIST:  # say where the manual and the server's tools do not agree, once the list is whole
            result = mcp.object_of(response.get("result"))
            self._tools += mcp.tools_in(result)
            if result and not result.get("nextCursor"):
                for difference in mcp.differences(self._guard.manual, self._tools):
                    self._complain(difference)
                self._tools.clear()
            return
        outcome = mcp.task_outcome(method, response) if task in self._tasks else None
        if outcome is not None and not outcome.asks and not outcome.task:
            self._guard.observe(self._tasks.pop(task).call, outcome.result, failed=outcome.failed)

    def _fail(self, waited: _Waiting, text: str) -> None:
        self._to_client(mcp.answer(waited.id, mcp.tool_error(text, modern=waited.modern)))


def _key(id_: Any) -> str:
    """An id of a message; 1 and "1" are two."""
    return repr(id_)[:200]
