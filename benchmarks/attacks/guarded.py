"""Attempts to get past a guard: paths that lead elsewhere, values that tools read otherwise, other
clients' sessions, manuals that are being saved.

Each tries one call that must not be made, in many writings, and fails where it is let through.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pydantic

from rpms.guard import Call, Guard, read_tool_manual
from rpms.logic.errors import InputError

# --- paths ---

_PATHS = """
facts:
  in_project: {{args: [path], path: <path>, {how}: {project}}}
  in_private: {{args: [path], path: <path>, {how}: {private}}}
tools: {{write: [path], read: [path]}}
policies:
  P-WRITE-1: {{text: Only in the project., tools: write, requires: in_project(path)}}
  P-READ-1: {{text: Nothing private., tools: read, when: in_private(path)}}
"""
_PIECES = (
    *("project", "private", "deep", "a", "b", "s.txt", "..", ".", "", "~", "...", ".. "),
    *("current", "out", "Project", "PRIVATE", "project\\..", "..\\private", "x\\..\\..\\project"),
)


def guard_paths(dice: Random, folder: Path, _samples: object) -> None:
    """Paths of random pieces, opened on a disk with links: what is let through leads where the
    rule says.
    """
    by_links = dice.random() < 0.5
    for name in ("project/deep/a", "private/b"):
        (folder / name).mkdir(parents=True)
    (folder / "private" / "s.txt").write_text("secret")
    (folder / "project" / "current").symlink_to(folder / "project" / "deep" / "a")
    if by_links:  # by its text alone, nobody knows where a link leads
        (folder / "project" / "out").symlink_to(folder / "private")
        (folder / "deep").symlink_to(folder / "private" / "b")
    top = f"{folder}/" if dice.random() < 0.5 else ""
    words = {"how": "under" if by_links else "inside"}
    text = _PATHS.format(**words, project=f"{top}project", private=f"{top}private")
    guard = Guard(read_tool_manual(("paths", text)))
    os.chdir(folder)
    refused = 0
    for _ in range(20):
        path = "/".join(dice.choice(_PIECES) for _ in range(dice.randint(1, 7)))
        if dice.random() < 0.5:
            path = f"{folder}/{path}"
        real = Path(os.path.realpath(path))
        if guard.check(Call("write", {"path": path})).goes_on:
            if not real.is_relative_to(folder.resolve() / "project"):
                raise AssertionError(f"written outside: {path.replace(str(folder), '')}")
        else:
            refused += 1
        if guard.check(Call("read", {"path": path})).goes_on and real.is_relative_to(
            folder.resolve() / "private"
        ):
            raise AssertionError(f"read from private: {path.replace(str(folder), '')}")


# --- values ---

_VALUES = """
facts:
  forced: {args: [force], path: <force>, is: true}
  large: {args: [amount], path: <amount>, above: 100}
  is_hundred: {args: [amount], path: <amount>, is: 100}
tools: {delete: [force], pay: [amount], charge: [amount]}
policies:
  P-FORCE-1: {text: Not forced., tools: delete, when: forced(force)}
  P-LARGE-1: {text: Not large., tools: pay, when: large(amount)}
  P-HUNDRED-1: {text: Not a hundred., tools: charge, when: is_hundred(amount)}
"""
_VALUES_GUARD = Guard(read_tool_manual(("values", _VALUES)))
_SPELLINGS: tuple[Any, ...] = (
    *(True, False, None, 0, 1, 2, -1, 1.0, 0.0, 100, 101, 1e2, 101.5, [], [True], {}, {"a": 1}),
    *("true", "yes", "on", "t", "y", "1", "no", "off", "f", "n", "0", "false", "", "x"),
    *(
        "100",
        "101",
        "1e2",
        "1e3",
        "100.0",
        "0x65",
        "1_01",
        "1_000",
        "+101",
        "101.",
        "１０１",
        "١٠١",
    ),
)
_READERS = {
    "force": pydantic.TypeAdapter(bool),
    "amount": pydantic.TypeAdapter(float),
}


def guard_values(dice: Random, _folder: Path, _samples: object) -> None:
    """Values in many writings: what is let through is not read as what the rule forbids."""
    for _ in range(20):
        value = dice.choice(_SPELLINGS)
        if isinstance(value, str) and value:
            value = dice.choice((value, value.upper(), value.title(), f" {value}", f"{value}\n"))
        if _VALUES_GUARD.check(Call("delete", {"force": value}, "a")).goes_on and (
            value is None or _read("force", value) is True or (value and value != "false")
        ):
            raise AssertionError(f"forced: {value!r}")
        amount = _read("amount", value)
        if amount is None:
            continue
        if _VALUES_GUARD.check(Call("pay", {"amount": value}, "b")).goes_on and amount > 100:
            raise AssertionError(f"paid: {value!r}")
        if _VALUES_GUARD.check(Call("charge", {"amount": value}, "c")).goes_on and amount == 100:
            raise AssertionError(f"charged: {value!r}")


def _read(name: str, value: Any) -> Any:
    """The value as a tool's pydantic would read it; None if it would not."""
    try:
        return _READERS[name].validate_python(value)
    except pydantic.ValidationError:
        return None


# --- sessions ---

_SHOP = """
records: {order: {from: get_order, key: result.id}}
facts: {seen: {args: [order], of: order, path: id, is: <order>}}
tools: {get_order: [order_id], refund: [order_id], send: [to, body]}
policies:
  P-SEEN-1: {text: Looked up first., tools: refund, requires: seen(order_id)}
  P-SEND-1: {text: A person approves., tools: send, asks: true}
"""


class _Gateway:
    """A shop behind the guard over HTTP, in a thread of this process; started once."""

    def __init__(self) -> None:
        import fastmcp  # noqa: PLC0415
        import httpx2  # noqa: PLC0415

        from rpms.guard.mcp import McpGuard  # noqa: PLC0415
        from rpms.guard.mcp_proxy import Listen, hash_token  # noqa: PLC0415

        self.refunds: list[tuple[str, str]] = []
        names = {hash_token(f"token-of-{name}"): name for name in ("mia", "noah", "zoe")}
        server = fastmcp.FastMCP("shop", auth=Listen("127.0.0.1", 0, names).auth())

        @server.tool
        def get_order(order_id: str) -> dict[str, str]:
            return {"id": order_id}

        @server.tool
        def refund(order_id: str) -> str:
            return f"refunded {order_id}"

        @server.tool
        def send(to: str = "everybody", body: str = "") -> str:
            return f"sent to {to}: {body}"

        server.add_middleware(McpGuard(Guard(read_tool_manual(("shop", _SHOP)))))
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        app = server.http_app(path="/mcp", json_response=True)
        ready: Future[None] = Future()

        async def live() -> None:
            async with app.lifespan(app):
                ready.set_result(None)
                await asyncio.Event().wait()

        asyncio.run_coroutine_threadsafe(live(), self._loop)
        ready.result(60)
        transport = httpx2.ASGITransport(app=app)
        self._http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    def post(self, message: dict[str, Any], headers: dict[str, str]) -> Any:
        """A message's answer, with its headers."""

        async def post() -> Any:
            return await self._http.post("/mcp", json=message, headers=headers, timeout=30)

        return asyncio.run_coroutine_threadsafe(post(), self._loop).result(60)


_GATEWAY: list[_Gateway] = []
_MODERN = "2026-07-28"


def guard_sessions(dice: Random, _folder: Path, _samples: object) -> None:
    """Clients that say they are others: only whoever looked an order up refunds it."""
    if not _GATEWAY:
        _GATEWAY.append(_Gateway())
    gateway = _GATEWAY[0]
    owner, thief = dice.sample(["mia", "noah", "zoe"], 2)
    order = f"W{dice.getrandbits(64)}"
    session = _session_of(gateway, owner) if dice.random() < 0.5 else ""
    _call(gateway, owner, "get_order", order, session, dice)
    names = [session, owner, "", f"{dice.getrandbits(128):032x}"]
    stolen = _call(gateway, thief, "refund", order, dice.choice(names), dice, owner)
    if "refunded" in stolen.text:
        raise AssertionError("refunded what another client looked up")
    anyone = _call(gateway, "", "refund", order, session, dice, owner)
    if anyone.status_code != 401:
        raise AssertionError("no token was needed")
    own = _call(gateway, owner, "refund", order, session, dice)
    if "refunded" not in own.text:
        raise AssertionError(f"the owner was refused: {own.text[:200]}")


def _headers(client: str, session: str, *, modern: bool) -> dict[str, str]:
    found = {"accept": "application/json, text/event-stream"}
    if client:
        found["authorization"] = f"Bearer token-of-{client}"
    if session:
        found["mcp-session-id"] = session
    if modern:
        found["mcp-protocol-version"] = _MODERN
    return found


def _session_of(gateway: _Gateway, client: str) -> str:
    who = {"clientInfo": {"name": client, "version": "1"}, "capabilities": {}}
    params = {"protocolVersion": "2025-11-25", **who}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = gateway.post(start, _headers(client, "", modern=False))
    return str(answer.headers.get("mcp-session-id", ""))


def _call(
    gateway: _Gateway,
    client: str,
    tool: str,
    order: str,
    session: str,
    dice: Random,
    claimed: str = "",
) -> Any:
    """Call a tool; a client may claim to be another in every way that a request has."""
    modern = not session or bool(claimed and dice.random() < 0.5)
    params: dict[str, Any] = {"name": tool, "arguments": {"order_id": order}}
    headers = _headers(client, session, modern=modern)
    if modern:
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
        params["_meta"] = _meta(claimed or client)
    if claimed:
        for name in ("x-guard-session", "x-forwarded-user", "x-client-id", "cookie", "forwarded"):
            if dice.random() < 0.5:
                headers[name] = dice.choice((claimed, f"sub={claimed}", session or claimed))
    message = {"jsonrpc": "2.0", "id": dice.getrandbits(30), "method": "tools/call"}
    return gateway.post({**message, "params": params}, headers)


def _meta(client: str, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a client of the newest protocol says of itself with each request."""
    meta = "io.modelcontextprotocol/"
    return {
        f"{meta}protocolVersion": _MODERN,
        f"{meta}clientInfo": {"name": client, "version": "1"},
        f"{meta}clientCapabilities": capabilities or {},
    }


# --- approvals ---


def guard_approvals(dice: Random, _folder: Path, _samples: object) -> None:
    """An approval used by another client, for another call, or again: one call is made by it."""
    if not _GATEWAY:
        _GATEWAY.append(_Gateway())
    gateway = _GATEWAY[0]
    owner, thief = dice.sample(["mia", "noah", "zoe"], 2)
    body = f"letter {dice.getrandbits(64)}"
    asked = _send(gateway, owner, {"to": "mia", "body": body})
    state = asked.json()["result"].get("requestState", "")
    if "sent to" in asked.text or not state:
        raise AssertionError("nobody was asked")
    others: list[dict[str, Any]] = [
        {"to": "noah", "body": body},
        {"body": f"{body}, to=mia"},
        {"to": f"mia, body={body}"},
        {"to": "mia", "body": [body]},
        {"to": "mia", "body": f"{body} "},
    ]
    if dice.random() < 0.5:
        stolen = _send(gateway, thief, {"to": "mia", "body": body}, state)
    else:
        stolen = _send(gateway, owner, dice.choice(others), state)
    if "sent to" in stolen.text:
        raise AssertionError("an approval was used for another call")
    asked = _send(gateway, owner, {"to": "mia", "body": body})
    state = asked.json()["result"]["requestState"]
    made = [_send(gateway, owner, {"to": "mia", "body": body}, state) for _ in range(3)]
    if sum("sent to" in each.text for each in made) != 1:
        raise AssertionError(f"made {sum('sent to' in each.text for each in made)} times")


def _send(gateway: _Gateway, client: str, arguments: dict[str, Any], state: str = "") -> Any:
    """Send a letter, perhaps with a person's yes."""
    params: dict[str, Any] = {"name": "send", "arguments": arguments}
    params["_meta"] = _meta(client, {"elicitation": {"form": {}}})
    if state:
        params["requestState"] = state
        yes = {"method": "elicitation/create", "action": "accept", "content": {"value": True}}
        params["inputResponses"] = {"rpms_guard": yes}
    headers = _headers(client, "", modern=True)
    headers |= {"mcp-method": "tools/call", "mcp-name": "send"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return gateway.post(message, headers)


# --- manuals that are being saved ---

_SAVED = """
guard: saved
{more}
facts:
  paid: {{args: [bill], initially: false}}
tools:
  pay: {{args: [bill], effects: [paid(bill)]}}
  look: [bill]
policies:
  P-LOOK-1: {{text: Anyone may look., tools: look, requires: given(bill)}}
  P-PAY-1: {{text: Nobody pays., tools: pay, when: given(bill)}}
...
"""


def guard_reloads(dice: Random, folder: Path, _samples: object) -> None:
    """A manual that is saved in pieces, replaced, truncated, deleted or left half: what both the
    old and the new one refuse never passes.
    """
    file = folder / "m.yaml"
    first = _SAVED.format(more="# first")
    lines = first.splitlines(keepends=True)
    file.write_text("".join(lines[: dice.randrange(len(lines))]))
    with suppress(InputError):
        Guard(file)
        raise AssertionError("a guard started with half a manual")
    file.write_text(first)
    guard = Guard(file)
    new = _SAVED.format(more="# " + "second " * dice.randint(1, 400)).encode()
    done = threading.Event()
    writer = threading.Thread(target=_save, args=(dice, file, new, done))
    writer.start()
    tries = 0
    try:
        while not done.is_set() or tries < 3:
            guard.refresh()
            if guard.check(Call("pay", {"bill": "B1"}, str(tries))).goes_on:
                raise AssertionError("a call passed while the manual was saved")
            tries += 1
            time.sleep(0.001)
    finally:
        writer.join()


def _save(dice: Random, file: Path, new: bytes, done: threading.Event) -> None:
    try:
        how = dice.choice(("pieces", "replace", "delete", "half", "lines", "over", "touch"))
        cut = dice.randrange(len(new))
        if how == "replace":
            other = file.with_name("other")
            other.write_bytes(new)
            other.replace(file)
        elif how == "delete":
            file.unlink()
        elif how == "half":  # and long ago, so that it looks settled
            file.write_bytes(new[:cut])
            os.utime(file, (1_000_000_000, 1_000_000_000))
        elif how == "lines":  # half, and no line is cut
            lines = new.splitlines(keepends=True)
            file.write_bytes(b"".join(lines[: dice.randrange(len(lines))]))
            os.utime(file, (1_000_000_000, 1_000_000_000))
        elif how == "over":  # the new over the old, whose end stays for a moment
            with file.open("r+b") as stream:
                stream.write(new[:cut])
                stream.flush()
                time.sleep(dice.random() / 50)
                stream.write(new[cut:])
                stream.truncate()
        elif how == "touch":
            os.utime(file)
        else:
            with file.open("wb") as stream:
                for start in range(0, len(new), 1 + cut):
                    stream.write(new[start : start + 1 + cut])
                    stream.flush()
                    time.sleep(dice.random() / 50)
    finally:
        done.set()
