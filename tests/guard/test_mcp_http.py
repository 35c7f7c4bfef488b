"""The guard over Streamable HTTP, between the SDK's clients and servers: sessions, restarts,
shared facts, tokens.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from rpms.guard import Guard
from rpms.guard.log import read_guard_log

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'rpms[mcp]'")
httpx2 = pytest.importorskip("httpx2")
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

HERE = Path(__file__).parent
SHOP = HERE / "sdk_shop.yaml"
SERVER = f"{sys.executable} {HERE / 'sdk_server.py'}"


@contextmanager
def serving(*command: str, **env: str):
    """The address of a server on loopback, which is started with a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = [each.replace("PORT", str(port)) for each in command]
    process = subprocess.Popen(given, env={**os.environ, **env}, stderr=subprocess.PIPE)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def guarding(*options: str, **env: str):
    listen = ["--listen", "127.0.0.1:PORT", "--server", SERVER]
    return serving(
        sys.executable,
        "-m",
        "rpms",
        "guard",
        "mcp",
        "--manual",
        str(SHOP),
        *listen,
        *options,
        **env,
    )


@asynccontextmanager
async def connected(address: str, mode: str = "auto", asked: list | None = None, **headers: str):
    async def decide(_context, params):
        if asked is not None:
            asked.append(params.message)
            if "Really" in params.message and "give up" in asked:
                asked.remove("give up")
                raise RuntimeError("gone")
        return mcp.types.ElicitResult(
            action="accept", content={"sure": True} if "Really" in params.message else {}
        )

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
    asyncio.run(asyncio.wait_for(scenario, 120))


def test_sessions_are_apart_and_outlive_a_restart(tmp_path):
    log, store = str(tmp_path / "log.jsonl"), str(tmp_path / "shared.db")

    async def first(address: str) -> None:
        async with connected(address, "legacy") as one, connected(address, "legacy") as two:
            assert "look up the order first" in await one("cancel_order", order_id="W1")
            await one("get_order", order_id="W1")
            assert await one("cancel_order", order_id="W1") == "cancelled"
            assert "look up the order first" in await two("cancel_order", order_id="W1")
            assert (
                await one("refund", order_id="W3") == "refunded W3"
            )  # approved by a person, and sure
            assert "W3 was refunded" in await two("refund", order_id="W3")  # which all share
        async with (
            connected(address, **{"x-guard-session": "mia"}) as named,
            connected(address) as other,
        ):
            await named("get_order", order_id="W3")
            assert await named("refund", order_id="W2") == "refunded W2"
            assert "look up" in await other("cancel_order", order_id="W3")

    async def second(address: str) -> None:
        async with (
            connected(address, **{"x-guard-session": "mia"}) as named,
            connected(address) as other,
        ):
            assert await named("cancel_order", order_id="W3") == "cancelled"
            assert "look up" in await other("cancel_order", order_id="W3")
            assert "W2 was refunded" in await other("refund", order_id="W2")

    with guarding("--log", log, "--store", store) as address:
        run(first(address))
    with guarding("--log", log, "--store", store) as address:
        run(second(address))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_person_approves_once_what_the_server_asks_about_too(mode):
    asked = []

    async def scenario(address: str) -> None:
        async with connected(address, mode, asked) as call:
            assert await call("refund", order_id="W3") == "refunded W3"

    with guarding() as address:
        run(scenario(address))
    assert ["approves refunds" in each for each in asked] == [True, False]


def test_an_approval_ends_with_the_call_that_was_given_up():
    asked = ["give up"]

    async def scenario(address: str) -> None:
        async with connected(address, "auto", asked) as call:
            with contextlib.suppress(Exception):
                assert await call("refund", order_id="W3") != "refunded W3"
            assert await call("refund", order_id="W3") == "refunded W3"

    with guarding() as address:
        run(scenario(address))
    assert ["approves refunds" in each for each in asked] == [True, False, True, False]


@pytest.mark.parametrize("after", [None, "2"])
def test_what_a_server_lists_in_pages_is_one_list_and_ends(after):
    types, gateway = mcp.types, importlib.import_module("rpms.guard.mcp_http").Gateway
    pages = {None: ("a", "1"), "1": ("b", "2"), "2": ("c", after)}

    async def listed(_context, params):
        name, cursor = pages[params.cursor if params else None]
        prompt = types.Prompt(name=name)
        return types.ListPromptsResult(prompts=[prompt], next_cursor=cursor)

    async def scenario() -> None:
        guard = gateway(Guard(str(SHOP)), [], pytest.fail)
        async with mcp.Client(mcp.server.Server("pages", on_list_prompts=listed)) as behind:
            guard._clients.append(behind)
            async with mcp.Client(guard.server) as client:
                found = await client.list_prompts()
        assert [each.name for each in found.prompts] == ["a", "b", "c"]
        assert found.next_cursor is None

    run(scenario())


def test_a_gateway_before_a_server_over_http_wants_its_token_and_turns_strangers_away(tmp_path):
    log = tmp_path / "log.jsonl"
    with serving(sys.executable, str(HERE / "sdk_server.py"), "PORT") as behind:
        options = ["--server", behind, "--listen", "127.0.0.1:PORT", "--log", str(log)]
        command = [sys.executable, "-m", "rpms", "guard", "mcp", "--manual", str(SHOP), *options]
        with serving(*command, RPMS_GUARD_TOKEN="secret") as address:
            run(pass_on(address))
        with serving(*command, "--observe-only", RPMS_GUARD_TOKEN="secret") as address:
            run(scenario_in_shadow(address))
    lines = [line for line in read_guard_log(log) if line.type == "check"]
    assert [(line.ruling, line.shadow) for line in lines] == [("refuse", False), ("refuse", True)]


async def pass_on(address: str) -> None:
    async with httpx2.AsyncClient() as http:
        assert (await http.post(address, json={})).status_code == 401
        headers = {"authorization": "Bearer secret", "host": "evil.example"}
        assert (await http.post(address, json={}, headers=headers)).status_code >= 400
    async with connected(address, authorization="Bearer secret") as call:
        assert "look up the order first" in await call("cancel_order", order_id="W1")


async def scenario_in_shadow(address: str) -> None:
    async with connected(address, authorization="Bearer secret") as call:
        assert await call("cancel_order", order_id="W1") == "cancelled"


def test_a_server_that_cannot_be_reached_is_one_line():
    command = [
        sys.executable,
        "-m",
        "rpms",
        "guard",
        "mcp",
        "--manual",
        str(SHOP),
        "--listen",
        "127.0.0.1:0",
    ]
    done = subprocess.run(
        [*command, "--server", SERVER, "--server", "nowhere"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"no connection to the server 'nowhere'" in done.stderr


def test_other_machines_need_a_token(rpms):
    options = ["--listen", "0.0.0.0:8000", "--server", "http://127.0.0.1:1/mcp"]
    done = rpms("guard", "mcp", "--manual", SHOP, *options)
    assert done.code == 2
    assert "RPMS_GUARD_TOKEN" in done.line
