"""`rpms guard mcp` over stdio, between clients and servers of the official SDK."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed: pip install 'rpms[mcp]'")
mcp = pytest.importorskip("mcp")
versions = pytest.importorskip("mcp_types.version")

from rpms.guard import Call, Guard, read_tool_manual  # noqa: E402
from rpms.guard.likely_mistakes import find_unheard  # noqa: E402
from rpms.guard.log import read_guard_log  # noqa: E402
from tests.guard.python_process import start_python  # noqa: E402

HERE = Path(__file__).parent
SHOP = HERE / "sdk_shop.yaml"
SERVER = [sys.executable, str(HERE / "sdk_server.py")]
PROXY = ["-m", "rpms", "guard", "mcp", "--manual", str(SHOP)]


def guarded(*options: str) -> object:
    return mcp.StdioServerParameters(
        command=sys.executable, args=[*PROXY, *options, "--", *SERVER], env=dict(os.environ)
    )


def run(scenario) -> None:
    asyncio.run(asyncio.wait_for(scenario, 240))


def said(result) -> str:
    return " ".join(part.text for part in result.content)


@pytest.mark.parametrize("mode", ["legacy", versions.LATEST_MODERN_VERSION])
def test_refusals_records_and_input_in_every_mode_of_the_client(mode, tmp_path):
    asked = []
    log = tmp_path / "log.jsonl"

    async def decide(_context, params):
        asked.append(params.message)
        if "Really" in params.message and asked.count("Really?") == 2:
            raise RuntimeError("the client gives up")
        content = {"sure": True} if "Really" in params.message else {"value": True}
        return mcp.types.ElicitResult(action="accept", content=content)

    async def scenario() -> None:
        server = guarded("--log", str(log), "--session", "mia")
        async with mcp.Client(server, mode=mode, elicitation_callback=decide) as client:
            refused = await client.call_tool("cancel_order", {"order_id": "W1"})
            assert refused.is_error
            assert "look up the order first, with get_order: W1" in said(refused)
            # a text which is JSON, in `structuredContent`
            await client.call_tool("get_order", {"order_id": "W1"})
            assert said(await client.call_tool("cancel_order", {"order_id": "W1"})) == "cancelled"
            # a tool that asks for input first has not run yet: its retry is no second refund
            assert said(await client.call_tool("refund", {"order_id": "W2"})) == "refunded W2"
            again = await client.call_tool("refund", {"order_id": "W2"})
            assert "W2 was refunded" in said(again)
            assert asked == ["Really?"]
            # a person decides about W3 first, then the server asks what it asks; if that is given
            # up, so is the approval
            with contextlib.suppress(Exception):
                await client.call_tool("refund", {"order_id": "W3"})
            if mode != "legacy":
                assert said(await client.call_tool("refund", {"order_id": "W3"})) == "refunded W3"
            approvals = ["approves refunds" in each for each in asked[1:]]
            assert approvals == ([True, False] if mode == "legacy" else [True, False, True, False])
            assert "order_id: W3" in asked[1]

    run(scenario())
    assert {line.session for line in read_guard_log(log)} == {"mia"}


def test_what_the_log_has_of_a_session_is_known_after_a_restart(tmp_path):
    log = tmp_path / "log.jsonl"
    earlier = Guard(str(SHOP), log=log, session="mia")
    refund = Call("refund", {"order_id": "W2"})
    assert earlier.check(refund).goes_on
    earlier.observe(refund, "refunded W2")
    options = ["--log", str(log), "--session", "mia"]
    with Raw(*options) as client:
        client.start()
        again = client.ask("tools/call", 1, name="refund", arguments={"order_id": "W2"})
        assert "W2 was refunded" in again["result"]["content"][0]["text"]
    assert {line.session for line in read_guard_log(log)} == {"mia"}


EXAMPLES = HERE.parents[1] / "examples" / "guard"


def test_where_nobody_hears_the_user_the_start_says_so_and_a_person_may_approve(tmp_path):
    """The demo's rule wants the user's yes, which no message of MCP carries."""
    whole = (EXAMPLES / "shop.yaml").read_text().replace("is: pending", "is: delivered")
    silent = "".join(line for line in whole.splitlines(keepends=True) if "asks: true" not in line)
    assert silent != whole
    (tmp_path / "silent.yaml").write_text(silent)
    (tmp_path / "shop.yaml").write_text(whole)
    asked = []

    async def decide(_context, params):
        asked.append(params.message)
        return mcp.types.ElicitResult(action="accept", content={"value": True})

    async def cancel(manual: Path) -> str:
        proxy = ["-m", "rpms", "guard", "mcp", "--manual", str(manual), "--", sys.executable]
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=[*proxy, str(EXAMPLES / "shop_server.py")],
            env=dict(os.environ),
        )
        with (tmp_path / f"{manual.stem}.err").open("w") as errors:
            transport = mcp.stdio_client(server, errlog=errors)
            # without a mode, the client would ask for it, and wait only so long for an answer
            mode = versions.LATEST_MODERN_VERSION
            async with mcp.Client(transport, mode=mode, elicitation_callback=decide) as client:
                await client.call_tool("get_order", {"order_id": "W1"})
                given = {"order_id": "W1", "user_id": "mia"}
                return said(await client.call_tool("cancel_order", given))

    async def scenario() -> None:
        assert "P-CONFIRM-001" in await cancel(tmp_path / "silent.yaml")
        assert not asked
        assert "cancelled" in await cancel(tmp_path / "shop.yaml")

    run(scenario())
    assert len(asked) == 1
    assert "order_id: W1" in asked[0]
    told = (tmp_path / "silent.err").read_text()
    assert "P-CONFIRM-001 needs confirmed, which only the user's words tell" in told
    assert "nobody hears" not in (tmp_path / "shop.err").read_text()


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("requires: confirmed", True),
        ("requires: confirmed, asks: true", False),
        ("requires: confirmed, warns: true", False),
        ("requires: confirmed, unknown: ask", True),
        ("requires: named(to), unknown: ask", False),
        ("requires: named(to)", True),
        ("requires: not confirmed", False),
        ("when: confirmed", False),
        ("requires: from_user(to)", True),
        ("requires: from_user(to), unknown: ask", False),
        ("requires: 'from_user(to) or from_tool(to, \"look\")'", False),
        ("requires: seen(to)", False),
        ("requires: 'from_user(to) or confirmed'", True),
    ],
)
def test_rules_that_wait_for_the_users_words_are_found(rule, found):
    text = f"""
    facts: {{confirmed: {{initially: false}}, named: {{args: [to]}}, seen: {{args: [to]}}}}
    tools:
      user_says: {{args: [text], effects: [confirmed, named(text)]}}
      look: {{args: [to], effects: [seen(to)]}}
      send: [to]
    policies: {{P-SEND-1: {{text: Sent., tools: send, {rule}}}}}
    """
    problems = list(find_unheard(read_tool_manual(("m.yaml", text))))
    assert len(problems) == found


class Raw:
    """A client that writes bytes, to the proxy before the SDK's server."""

    def __init__(self, *options: str, server: list[str] | None = None) -> None:
        self.process = start_python(
            [*PROXY, *options, "--", *(server or SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()  # a server that stayed behind would hold them open

    def send(self, data: bytes) -> None:
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, id_: int, **params: object) -> dict:
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        self.send(json.dumps(message).encode())
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


def call_line(id_: object, name: object, **more: object) -> bytes:
    params = {"name": name, "arguments": {"order_id": "W2"}, **more}
    message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def test_nothing_is_smuggled_past_the_guard():
    """One process for many claims, since starting it is what takes time."""
    call = call_line(7, "cancel_order").decode()
    note = '{"jsonrpc":"2.0","method":"notifications/x"'
    with Raw() as client:
        client.start()
        for sign in ("\r", "\r\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\0"):
            client.send(f'{note},"params":{{"a":{sign}{call}{sign}}}}}'.encode())
            client.send(f"{note}}}{sign}{call}".encode())
            hidden = json.dumps({"a": f"{sign}{call}{sign}"})
            client.send(f'{note},"params":{hidden}}}'.encode())
        client.send(f"[{call}]".encode())
        client.send(call.replace('"name"', '"Name"').encode())
        client.send(call.replace("tools/call", "Tools/Call").encode())
        client.send(call.replace("tools/call", "tools/call ").encode())
        client.send(call_line(7, ["cancel_order"]))
        client.send(call_line(7, "cancel_order\u200b"))
        client.send(call_line(7, "get_order", Name="cancel_order"))
        client.send(call_line(7, "get_order", Arguments={"order_id": "W2"}))
        client.send(b'{"id":7,' + call_line(7, "get_order")[1:-1] + b',"method":"tools/call"}')
        client.send(call.replace('"name"', '"name": "get_order", "name"').encode())
        client.send(b"not json")
        client.send(b"[" * 100_000)
        made = client.ask("tools/call", 8, name="made", arguments={})
        assert made["result"]["structuredContent"] == {"result": []}
        big = client.ask("tools/call", 9, name="get_order", arguments={"order_id": "x" * 2_100_000})
        assert "send less at once" in big["result"]["content"][0]["text"]
        prompts = client.ask("prompts/get", 10, name="any")
        assert "error" in prompts


def test_a_text_with_line_ends_reaches_a_server_on_one_line(tmp_path):
    """Some servers see the end of a message at U+2028, where JSON may hold it as it is."""
    wire = tmp_path / "wire"
    piped = f"tee {wire} | {' '.join(SERVER)}"
    forged = call_line(7, "cancel_order").decode()
    with Raw(server=["sh", "-c", piped]) as client:
        client.start()
        for id_, sign in enumerate("\u0085\u2028\u2029", start=1):
            text = f"W1{sign}{forged}{sign}"
            client.ask("tools/call", id_, name="get_order", arguments={"order_id": text})
    sent = wire.read_text()
    assert sent.isascii()
    assert sent.count("\\u2028") == 2
    assert sent.splitlines() == sent.removesuffix("\n").split("\n")


def test_a_cancelled_call_is_neither_under_way_for_good_nor_made_twice():
    with Raw() as client:
        client.start()
        slow = {"name": "slow", "arguments": {"order_id": "W1", "seconds": 30}}
        message = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": slow}
        client.send(json.dumps(message).encode())
        other = client.ask("tools/call", 2, name="made", arguments={})
        assert "result" in other
        client.send(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}'
        )
        client.ask("tools/list", 5)
        again = client.ask("tools/call", 4, name="slow", arguments={"order_id": "W1", "seconds": 0})
        assert "an earlier call did not return" in again["result"]["content"][0]["text"]


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
from mcp.server.mcpserver import MCPServer
server = MCPServer("stubborn")
@server.tool()
def pids() -> str:
    return f"{os.getpid()} {child.pid}"
server.run()
time.sleep(600)
"""


@pytest.mark.parametrize("how", ["close", "terminate"])
def test_no_process_stays_behind(how):
    with Raw(server=[sys.executable, "-c", STUBBORN]) as client:
        client.start()
        told = client.ask("tools/call", 1, name="pids", arguments={})
        started = [int(pid) for pid in told["result"]["content"][0]["text"].split()]
        assert all(map(runs, started))
        if how == "close":
            client.process.stdin.close()
            client.process.wait(60)
        else:
            client.process.send_signal(signal.SIGTERM)
            client.process.wait(60)
        for _ in range(1_200):
            if not any(map(runs, started)):
                return
            time.sleep(0.05)
        pytest.fail(f"still running: {[pid for pid in started if runs(pid)]}")


def runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_server_that_ends_is_started_again_and_what_it_did_is_not_known(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(
        "import os\nfrom mcp.server.mcpserver import MCPServer\nserver = MCPServer('shop')\n"
        "@server.tool()\ndef refund(order_id: str) -> str:\n"
        "    if order_id == 'W1': os._exit(3)\n    return 'refunded'\nserver.run()\n"
    )
    with Raw(server=[sys.executable, str(script)]) as client:
        client.start()
        broken = client.ask("tools/call", 1, name="refund", arguments={"order_id": "W1"})
        assert "error" in broken or broken["result"]["isError"]
        again = client.ask("tools/call", 2, name="refund", arguments={"order_id": "W1"})
        assert "an earlier call did not return" in again["result"]["content"][0]["text"]
        other = client.ask("tools/call", 3, name="refund", arguments={"order_id": "W2"})
        assert other["result"]["content"][0]["text"] == "refunded"


def test_a_command_that_is_not_there_is_one_line(rpms):
    done = rpms("guard", "mcp", "--manual", SHOP, "--", "no-such-server")
    assert done.code == 2
    assert "cannot be started" in done.err
    assert len(done.err.splitlines()) == 1
