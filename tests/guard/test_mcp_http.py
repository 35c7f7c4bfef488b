"""`rpms guard mcp` over HTTP: who a client is, what it may not enter, and what outlives a restart."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed: pip install 'rpms[mcp]'")
mcp = pytest.importorskip("mcp")
httpx2 = pytest.importorskip("httpx2")
from fastmcp.server.auth.providers.jwt import RSAKeyPair  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

from rpms.guard.log import read_guard_log  # noqa: E402
from rpms.guard.tool_manuals import read_tool_manual  # noqa: E402
from tests.cli.command import rpms as rpms  # noqa: E402, PLC0414  a fixture
from tests.guard.python_process import start_python  # noqa: E402

HERE = Path(__file__).parent
SHOP = HERE / "sdk_shop.yaml"
SERVER = f"{sys.executable} {HERE / 'sdk_server.py'}"
MIA, NOAH = "m" * 20, "n" * 20


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(*command: str, port: int = 0, errors=None, **env: str):
    """The address of `python COMMAND`, a server on loopback, which is started with a free port."""
    port = port or free_port()
    given = [each.replace("PORT", str(port)) for each in command]
    process = start_python(given, env={**os.environ, **env}, stderr=errors)
    try:
        for _ in range(900):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def guarding(*options: str, server: str = SERVER, errors=None, **env: str):
    command = ["-m", "rpms", "guard", "mcp", "--manual", str(SHOP)]
    more = ["--listen", "127.0.0.1:PORT", "--server", server, *options]
    return serving(*command, *more, errors=errors, **env)


def shop(port: int = 0):
    """The shop as a server of its own, which is one for all clients."""
    return serving(str(HERE / "sdk_server.py"), "PORT", port=port)


@pytest.fixture
def tokens(tmp_path) -> str:
    file = tmp_path / "tokens"
    file.write_text(f"# who may come\nmia {MIA}\nnoah {NOAH}\n")
    return str(file)


@asynccontextmanager
async def connected(address: str, token: str = "", mode: str = "auto", **headers: str):
    async def decide(_context, params):
        content = {"sure": True} if "Really" in params.message else {"value": True}
        return mcp.types.ElicitResult(action="accept", content=content)

    if token:
        headers["authorization"] = f"Bearer {token}"
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(address, http_client=http)
        async with mcp.Client(
            transport, mode=mode, elicitation_callback=decide, cache=None
        ) as client:

            async def call(tool: str, **given: object) -> str:
                result = await client.call_tool(tool, given)
                return " ".join(part.text for part in result.content)

            yield call


def run(scenario) -> None:
    asyncio.run(asyncio.wait_for(scenario, 240))


def test_clients_are_known_by_their_tokens_alone_and_outlive_a_restart(tmp_path, tokens):
    log, store = str(tmp_path / "log.jsonl"), str(tmp_path / "shared.db")
    options = ["--tokens", tokens, "--log", log, "--store", store]

    async def apart(address: str, mode: str) -> None:
        async with connected(address, MIA, mode) as mia, connected(address, NOAH, mode) as noah:
            assert "look up the order first" in await mia("cancel_order", order_id="W1")
            await mia("get_order", order_id="W1")
            assert await mia("cancel_order", order_id="W1") == "cancelled"
            assert "look up the order first" in await noah("cancel_order", order_id="W1")
        # what a client says about itself does not count
        async with connected(address, NOAH, mode, **{"x-guard-session": "mia"}) as noah:
            assert "look up the order first" in await noah("cancel_order", order_id="W1")

    async def apart_again(address: str) -> None:
        said = {"x-guard-session": "mia", "mcp-session-id": "mia"}
        async with connected(address, NOAH, "auto", **said) as noah:
            assert "look up the order first" in await noah("cancel_order", order_id="W1")

    async def approved(address: str) -> None:
        async with connected(address, MIA) as mia, connected(address, NOAH) as noah:
            # approved by a person, and sure
            assert await mia("refund", order_id="W3") == "refunded W3"
            assert "W3 was refunded" in await noah("refund", order_id="W3")  # which all share
            await mia("get_order", order_id="W3")

    async def later(address: str) -> None:
        async with connected(address, MIA) as mia, connected(address, NOAH) as noah:
            assert await mia("cancel_order", order_id="W3") == "cancelled"
            assert "look up" in await noah("cancel_order", order_id="W3")
            assert "W3 was refunded" in await mia("refund", order_id="W3")

    with shop() as server:
        with guarding(*options, server=server) as address:
            run(apart(address, "legacy"))
            run(apart_again(address))
            run(foreign_session(address))
            run(approved(address))
        with guarding(*options, server=server) as address:
            run(later(address))
    assert {line.session for line in read_guard_log(Path(log))} == {"mia", "noah"}


async def foreign_session(address: str) -> None:
    """Another client's session, or one that is made up, is not entered by knowing its name."""
    accept = {"accept": "application/json, text/event-stream"}
    who = {"clientInfo": {"name": "a", "version": "1"}, "capabilities": {}}
    params = {"protocolVersion": "2025-11-25", **who}
    start = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    cancel = {"name": "cancel_order", "arguments": {"order_id": "W1"}}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": cancel}
    async with httpx2.AsyncClient(timeout=60) as http:
        mia = {**accept, "authorization": f"Bearer {MIA}"}
        noah = {**accept, "authorization": f"Bearer {NOAH}"}
        begun = await http.post(address, json=start, headers=mia)
        session = begun.headers["mcp-session-id"]
        for name in (session, "made-up"):
            answer = await http.post(address, json=call, headers={**noah, "mcp-session-id": name})
            assert "cancelled" not in answer.text
            assert answer.status_code >= 400 or "look up the order first" in answer.text


LIMITED = """
import runpy, sys
from rpms.guard import mcp_backends
mcp_backends.MOST_CONNECTIONS = 1
sys.argv = ["rpms", *sys.argv[1:]]
runpy.run_module("rpms", run_name="__main__")
"""


def test_however_many_clients_come_few_servers_run(tokens):
    async def scenario(address: str) -> None:
        async with connected(address, MIA) as mia, connected(address, NOAH) as noah:
            await mia("get_order", order_id="W1")
            assert await mia("cancel_order", order_id="W1") == "cancelled"
            assert await mia("made") == "W1"
            assert await noah("made") == ""
            assert await mia("made") == ""  # hers was ended for his, and began anew
            assert await mia("cancel_order", order_id="W1") == "cancelled"  # she looked it up

    options = ["guard", "mcp", "--manual", str(SHOP), "--listen", "127.0.0.1:PORT"]
    command = ["-c", LIMITED, *options, "--server", SERVER, "--tokens", tokens]
    with serving(*command) as address:
        run(scenario(address))


def test_a_server_that_is_down_does_not_end_the_gateway_and_is_named(tmp_path):
    port = free_port()

    async def health(address: str) -> tuple[int, dict]:
        async with httpx2.AsyncClient(timeout=60) as http:
            answer = await http.get(address.replace("/mcp", "/health"))
        assert answer.text.count("\n") == 0
        return answer.status_code, answer.json()

    async def until(address: str, status: int) -> None:
        for _ in range(600):  # an answer is believed for a few seconds
            if (await health(address))[0] == status:
                return
            await asyncio.sleep(0.1)
        pytest.fail(f"the gateway never answered {status}")

    async def down(address: str) -> None:
        expected = {"ok": False, "manual": True, "servers": [False]}
        assert await health(address) == (503, expected)
        async with connected(address) as call:
            refused = await call("refund", order_id="W1")
            assert "Not done. G-SERVER: the server behind the guard cannot be reached" in refused
        async with mcp.Client(address) as client:
            assert (await client.list_tools()).tools == []
            with pytest.raises(mcp.MCPError, match="behind the guard cannot be reached"):
                await client.read_resource("shop://news")

    async def up(address: str) -> None:
        await until(address, 200)
        assert await health(address) == (200, {"ok": True, "manual": True, "servers": [True]})
        async with connected(address) as call:
            await call("get_order", order_id="W1")
            assert await call("cancel_order", order_id="W1") == "cancelled"

    async def down_again(address: str) -> None:
        async with connected(address) as call:
            assert "connection" in await call("refund", order_id="W1")
        await until(address, 503)

    async def up_again(address: str) -> None:
        async with connected(address) as call:  # it was not made before, so it is made now
            assert await call("refund", order_id="W1") == "refunded W1"

    errors = (tmp_path / "errors").open("w+")
    server = f"http://127.0.0.1:{port}/mcp"
    with errors, guarding(server=server, errors=errors) as address:
        run(down(address))
        said = (tmp_path / "errors").read_text()
        assert "the server behind the guard cannot be reached" in said
        assert "does not have" not in said
        with shop(port):
            run(up(address))
        run(down_again(address))
        with shop(port):
            run(up_again(address))


ECHO = """
import sys
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_headers
server = FastMCP("echo")
@server.tool
def headers() -> str:
    return str(get_http_headers(include_all=True))
server.run("http", port=int(sys.argv[1]), show_banner=False)
"""


def test_strangers_are_turned_away_and_tokens_go_nowhere_else(tmp_path, tokens):
    async def scenario(address: str) -> None:
        async with httpx2.AsyncClient(timeout=60) as http:
            assert (await http.post(address, json={})).status_code == 401
            headers = {"authorization": f"Bearer {MIA}x"}
            assert (await http.post(address, json={}, headers=headers)).status_code == 401
            headers = {"authorization": f"Bearer {MIA}", "host": "evil.example"}
            assert (await http.post(address, json={}, headers=headers)).status_code >= 400
            known = {"host": "guard.example"}
            health = address.replace("/mcp", "/health")
            assert (await http.get(health, headers=known)).status_code == 200
        async with connected(address, MIA) as call:
            seen = await call("headers")
            assert "Bearer upstream" in seen
            assert MIA not in seen

    with serving("-c", ECHO, "PORT") as behind:
        options = ["--tokens", tokens, "--host", "guard.example"]
        with guarding(*options, server=behind, RPMS_GUARD_SERVER_TOKEN="upstream") as address:
            run(scenario(address))


CLOSED = """
import sys
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
known = StaticTokenVerifier({"upstream": {"client_id": "guard", "scopes": []}})
server = FastMCP("closed", auth=known)
@server.tool
def look() -> str:
    return "nothing"
server.run("http", port=int(sys.argv[1]), show_banner=False)
"""


def test_a_server_that_asks_for_a_token_can_be_drafted(tmp_path, rpms, monkeypatch):
    out = tmp_path / "draft.yaml"
    with serving("-c", CLOSED, "PORT") as address:
        ran = rpms("guard", "draft", "--out", out, "--server", address)
        assert (ran.code, len(ran.err.splitlines()), out.exists()) == (2, 1, False), ran
        monkeypatch.setenv("RPMS_GUARD_SERVER_TOKEN", "upstream")
        ran = rpms("guard", "draft", "--out", out, "--server", address)
        assert ran.code == 0, ran
    assert "upstream" not in out.read_text()
    assert list(read_tool_manual(("draft.yaml", out.read_text())).tools) == ["look"]


@contextmanager
def key_server(pair: RSAKeyPair):
    """An identity provider's keys."""
    from joserfc.jwk import RSAKey  # noqa: PLC0415

    key = RSAKey.import_key(pair.public_key)
    keys = json.dumps({"keys": [{**key.as_dict(private=False), "kid": "k", "use": "sig"}]})

    class Keys(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(keys.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keys)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/keys"
    finally:
        server.shutdown()
        server.server_close()


def test_tokens_of_an_identity_provider_tell_clients_apart_by_a_claim():
    pytest.importorskip("joserfc")
    pair = RSAKeyPair.generate()

    def token(name: str, audience: str = "guard") -> str:
        return pair.create_token(
            subject="one service",
            issuer="https://id.example",
            audience=audience,
            additional_claims={"conversation": name},
            kid="k",
        )

    async def scenario(address: str) -> None:
        async with httpx2.AsyncClient(timeout=60) as http:
            headers = {"authorization": f"Bearer {token('a', 'another')}"}
            assert (await http.post(address, json={}, headers=headers)).status_code == 401
        async with connected(address, token("a")) as one, connected(address, token("b")) as two:
            await one("get_order", order_id="W1")
            assert "look up" in await two("cancel_order", order_id="W1")
            assert await one("cancel_order", order_id="W1") == "cancelled"

    with key_server(pair) as keys, shop() as server:
        trust = ["--jwks", keys, "--issuer", "https://id.example", "--audience", "guard"]
        with guarding(*trust, "--claim", "conversation", server=server) as address:
            run(scenario(address))


def test_other_machines_need_a_token(rpms):
    options = ["--listen", "0.0.0.0:8000", "--server", "http://127.0.0.1:1/mcp"]
    done = rpms("guard", "mcp", "--manual", SHOP, *options)
    assert done.code == 2
    assert "RPMS_GUARD_TOKEN" in done.line


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--listen", "127.0.0.1:x"], "HOST:PORT"),
        (["--listen", "127.0.0.1:1", "--jwks", "http://x"], "--issuer and --audience"),
        (["--listen", "127.0.0.1:1", "--tokens", "short"], "at least 16 characters"),
        (["--listen", "127.0.0.1:1", "--tokens", "twice"], "there already"),
        (["--server", "nowhere-at-all"], "no such command"),
        (["--server", "ftp://x"], "no address"),
    ],
)
def test_mistakes_are_one_line(rpms, tmp_path, options, problem):
    (tmp_path / "short").write_text("mia secret\n")
    (tmp_path / "twice").write_text(f"mia {MIA}\nnoah {MIA}\n")
    given = [str(tmp_path / each) if each in ("short", "twice") else each for each in options]
    server = [] if "--server" in given else ["--server", "http://127.0.0.1:1/mcp"]
    done = rpms("guard", "mcp", "--manual", SHOP, *given, *server)
    assert done.code == 2
    assert problem in done.line
