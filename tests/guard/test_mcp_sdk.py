"""The proxy between the official SDK's clients and servers: every protocol version, both modes,
nothing smuggled.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.guard import Guard
from rpms.guard.mcp_session import McpSession

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'rpms[mcp]'")
methods = pytest.importorskip("mcp_types.methods")
versions = pytest.importorskip("mcp_types.version")

HERE = Path(__file__).parent
SHOP = HERE / "sdk_shop.yaml"
SERVER = [sys.executable, str(HERE / "sdk_server.py")]
PROXY = ["-m", "rpms", "guard", "mcp", "--manual", str(SHOP)]
MODES = ["legacy", "auto", versions.LATEST_MODERN_VERSION]


def guarded(*options: str) -> object:
    return mcp.StdioServerParameters(
        command=sys.executable, args=[*PROXY, *options, "--", *SERVER], env=dict(os.environ)
    )


def run(scenario) -> None:
    asyncio.run(asyncio.wait_for(scenario, 120))


def said(result) -> str:
    return " ".join(part.text for part in result.content)


@pytest.mark.parametrize("mode", MODES)
def test_refusals_records_and_input_in_every_mode_of_the_client(mode):
    asked = []

    async def decide(_context, params):
        asked.append(params.message)
        return mcp.types.ElicitResult(
            action="accept", content={"sure": True} if "Really" in params.message else {}
        )

    async def scenario() -> None:
        async with mcp.Client(guarded(), mode=mode, elicitation_callback=decide) as client:
            refused = await client.call_tool("cancel_order", {"order_id": "W1"})
            assert refused.is_error
            assert "look up the order first, with get_order: W1" in said(refused)
            await client.call_tool(
                "get_order", {"order_id": "W1"}
            )  # a text which is JSON, in `structuredContent`
            assert said(await client.call_tool("cancel_order", {"order_id": "W1"})) == "cancelled"
            # a tool that asks for input first has not run yet: its retry is no second refund
            assert said(await client.call_tool("refund", {"order_id": "W2"})) == "refunded W2"
            again = await client.call_tool("refund", {"order_id": "W2"})
            assert "W2 was refunded" in said(again)
            assert asked == ["Really?"]
            # a person decides about W3 first, then the server asks what it asks
            assert said(await client.call_tool("refund", {"order_id": "W3"})) == "refunded W3"
            assert [each.splitlines()[0][:12] for each in asked[1:]] == ["P-REFUND-001", "Really?"]
            assert "refund(order_id=W3)" in asked[1]

    run(scenario())


def test_an_approval_ends_with_the_call_that_was_given_up():
    asked = []

    async def decide(_context, params):
        asked.append(params.message)
        if "Really" in params.message and len(asked) == 2:
            raise RuntimeError("the client gives up")
        return mcp.types.ElicitResult(
            action="accept", content={"sure": True} if "Really" in params.message else {}
        )

    async def scenario() -> None:
        async with mcp.Client(guarded(), mode="auto", elicitation_callback=decide) as client:
            with contextlib.suppress(Exception):
                await client.call_tool("refund", {"order_id": "W3"})
            assert said(await client.call_tool("refund", {"order_id": "W3"})) == "refunded W3"

    run(scenario())
    assert ["approves refunds" in each for each in asked] == [True, False, True, False]


@pytest.mark.parametrize(
    ("mode", "how"), [("legacy", "decline"), ("auto", "decline"), ("auto", "nobody to ask")]
)
def test_what_no_person_approves_is_refused(mode, how):
    async def decline(_context, _params):
        return mcp.types.ElicitResult(action="decline")

    async def scenario() -> None:
        callback = decline if how == "decline" else None
        async with mcp.Client(guarded(), mode=mode, elicitation_callback=callback) as client:
            refused = await client.call_tool("refund", {"order_id": "W3"})
            assert refused.is_error
            assert ("a person said no" if how == "decline" else "ask a person") in said(refused)

    run(scenario())


class Raw:
    """A client that writes bytes, to the proxy before the SDK's server."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *PROXY, "--", *SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, data: bytes) -> None:
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, id_: int, **params: object) -> dict:
        self.send(
            json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()
        )
        return self.answer(id_)

    def answer(self, id_: int) -> dict:
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == id_:
                return message

    def start(self) -> None:
        who = {"clientInfo": {"name": "a", "version": "1"}, "capabilities": {}}
        self.ask("initialize", 0, protocolVersion=versions.LATEST_HANDSHAKE_VERSION, **who)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')


@pytest.mark.parametrize("version", versions.KNOWN_PROTOCOL_VERSIONS)
def test_a_refusal_is_a_result_of_every_version(version):
    to_client, to_server = [], []
    session = McpSession(Guard(SHOP), to_client.append, to_server.append, pytest.fail, patience=60)
    modern = version in versions.MODERN_PROTOCOL_VERSIONS
    envelope = {"_meta": {"io.modelcontextprotocol/protocolVersion": version}} if modern else {}
    params = {"name": "cancel_order", "arguments": {"order_id": "W1"}, **envelope}
    session.from_client(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    )
    assert not to_server
    refused = json.loads(to_client.pop())["result"]
    methods.validate_server_result("tools/call", version, refused)
    assert refused.get("resultType") == ("complete" if modern else None)


def test_a_task_is_under_way_until_it_is_done():
    to_client, to_server = [], []
    session = McpSession(Guard(SHOP), to_client.append, to_server.append, pytest.fail, patience=60)

    def ask(id_: int, method: str, **params: object) -> None:
        session.from_client(
            json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()
        )

    def answer(id_: int, **result: object) -> None:
        session.from_server(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode())

    refund = {"name": "refund", "arguments": {"order_id": "W1"}}
    ask(1, "tools/call", **refund, task={})
    answer(1, task={"taskId": "t1", "status": "working"})
    ask(2, "tools/call", **refund)
    assert "under way" in to_client.pop().decode()
    ask(3, "tasks/get", taskId="t1")
    answer(3, taskId="t1", status="cancelled")
    ask(4, "tools/call", **refund, task={})  # it was not done: once more
    answer(4, task={"taskId": "t2", "status": "working"})
    ask(5, "tasks/result", taskId="t2")
    answer(5, content=[{"type": "text", "text": "refunded"}])
    ask(6, "tools/call", **refund)
    assert "W1 was refunded" in to_client.pop().decode()
    assert [json.loads(each)["id"] for each in to_server] == [1, 3, 4, 5]


def test_no_way_to_break_a_line_carries_a_call_past_the_guard():
    """The SDK's server reads lines as Python does, which end in more ways than one."""
    call = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"cancel_order","arguments":{"order_id":"W2"}}}'
    with Raw() as client:
        client.start()
        for sign in ("\r", "\r\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\0"):
            for around in (
                f'{{"jsonrpc":"2.0","method":"notifications/x","params":{{"a":{sign}{call}{sign}}}}}',
                f'{{"jsonrpc":"2.0","method":"notifications/x"}}{sign}{call}',
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "method": "notifications/x",
                        "params": {"a": f"{sign}{call}{sign}"},
                    }
                ),
                f'{{"jsonrpc":"2.0","method":"notifications/x","params":{{"a":"{sign}"}}}}{sign}{call}{sign}',
            ):
                client.send(around.encode())
        made = client.ask("tools/call", 8, name="made", arguments={})
        assert made["result"]["structuredContent"] == {"result": []}
        # nor does an answer: what a tool returned reaches the client on one line
        odd = "W\r\u2028\u0085\n{}"
        answer = client.ask("tools/call", 9, name="get_order", arguments={"order_id": odd})
        assert answer["result"]["isError"] is True


def test_a_cancelled_call_is_neither_under_way_for_good_nor_made_twice():
    with Raw() as client:
        client.start()
        slow = {"jsonrpc": "2.0", "id": 3, "method": "tools/call"}
        client.send(
            json.dumps(
                {
                    **slow,
                    "params": {"name": "slow", "arguments": {"order_id": "W1", "seconds": 0.5}},
                }
            ).encode()
        )
        client.send(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}'
        )
        again = client.ask("tools/call", 4, name="slow", arguments={"order_id": "W1", "seconds": 0})
        assert "an earlier call did not return" in again["result"]["content"][0]["text"]
        reused = client.ask(
            "tools/call", 3, name="slow", arguments={"order_id": "W1", "seconds": 0}
        )
        assert "under way" in json.dumps(reused)


@pytest.mark.parametrize(
    "change",
    [
        {"Method": "tools/call"},
        {"method": "ping", "METHOD": "tools/call"},
        {"method": "ping", "paramſ": {"name": "cancel_order"}},
        {"params": {"name": "get_order", "Name": "cancel_order", "arguments": {"order_id": "W2"}}},
        {
            "params": {
                "name": "get_order",
                "arguments": {"order_id": "W1"},
                "Arguments": {"order_id": "W2"},
            }
        },
        {"params": {"name": "get_order", "arguments": {"order_id": "W1", "Order_ID": "W2"}}},
        {"params": ["cancel_order", {"order_id": "W2"}]},
        {"params": {"name": ["cancel_order"], "arguments": {"order_id": "W2"}}},
        {"params": {"name": "cancel_order\u200b", "arguments": {"order_id": "W2"}}},
    ],
)
def test_names_that_other_readers_take_for_the_protocols_are_not_passed_on(change):
    """Servers in Go, among others, read the names of fields without regard to case, and take
    the last.
    """
    to_client, to_server = [], []
    session = McpSession(
        Guard(SHOP), to_client.append, to_server.append, lambda _: None, patience=60
    )
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "params": {"name": "cancel_order", "arguments": {"order_id": "W2"}},
    }
    message = {**call, **change}
    session.from_client(
        json.dumps(message if "Method" in message else {"method": "tools/call", **message}).encode()
    )
    assert to_server == []
    assert json.loads(to_client.pop())["id"] == 7


@given(
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: json.dumps({"method": text}).encode())
)
def test_whatever_is_passed_on_is_one_line_to_every_reader(line):
    to_server = []
    session = McpSession(Guard(SHOP), [].append, to_server.append, lambda _: None, patience=60)
    session.from_client(line)
    session.from_client(
        b'{"method":"notifications/x","params":{"a":"' + line.hex().encode() + b'","b":\r[1]\r}}'
    )
    for each in to_server:
        assert each.isascii()
        assert len(each.decode().splitlines()) == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":007,"x":}',
        b'{"id":NaN,"method":"x"}',
        b'{"id":1e999,"result":{}}',
        b'{"id":"a\tb","x":}',
        b'{"id":{}}',
    ],
)
def test_an_id_that_no_message_can_have_is_answered_without_one(line):
    to_client = []
    session = McpSession(Guard(SHOP), to_client.append, [].append, lambda _: None, patience=60)
    session.from_client(line)
    session.from_server(line)
    assert all(json.loads(each).get("id") is None for each in to_client if b"error" in each)
