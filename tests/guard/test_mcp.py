"""The guard as middleware of FastMCP: what it lets through, whom it asks, and what it learns."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

fastmcp = pytest.importorskip("fastmcp", reason="FastMCP is not installed: pip install 'rpms[mcp]'")
import mcp_types  # noqa: E402
from fastmcp.client.elicitation import ElicitResult  # noqa: E402
from fastmcp.exceptions import ToolError  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

from rpms.guard import Guard, read_tool_manual  # noqa: E402
from rpms.guard.log import read_guard_log  # noqa: E402
from rpms.guard.mcp import McpGuard  # noqa: E402

MODES = ["legacy", "auto"]
MANUAL = """
guard: shop
records:
  order: {from: get_order, key: result.id, ask: look up the order}
facts:
  pending: {args: [order], of: order, path: status, is: pending, yes: <order> is pending, no: <order> is not pending}
  refunded: {args: [order], initially: false, yes: <order> was refunded, no: <order> was not refunded}
  forced: {args: [force], path: <force>, is: true, yes: it is forced, no: it is not forced}
  small: {args: [limit], path: <limit>, at_most: 10}
  public: {args: [uri], path: <uri>, starts: "shop://public/"}
tools:
  get_order: [order_id]
  cancel_order: [order_id]
  refund: {args: [order_id], needs: [not refunded(order_id)], effects: [refunded(order_id)]}
  delete: [order_id, force]
  send: [to, body]
  search: [limit]
  peek: [limit]
  mcp_resource: [uri]
policies:
  P-CANCEL-001: {text: Only pending orders are cancelled., tools: cancel_order, requires: pending(order_id)}
  P-FORCE-001: {text: Nothing is forced., tools: delete, when: forced(force)}
  P-SEND-001: {text: A person approves what is sent., tools: send, asks: true}
  P-LIMIT-001: {text: At most ten., tools: search, requires: small(limit), sets: {limit: 10}}
  P-PEEK-001: {text: Better at most ten., tools: peek, requires: small(limit), warns: true}
  P-READ-001: {text: Only public things are read., tools: mcp_resource, requires: public(uri)}
"""


def shop(others: str = "pass", **options):
    """A shop with a guard, and what became of its calls."""
    manual = read_tool_manual(("shop.yaml", f"others: {others}\n{MANUAL}"))
    server = fastmcp.FastMCP("shop")
    made: list[tuple] = []

    @server.tool
    def get_order(order_id: str) -> str:
        made.append(("get_order", order_id))
        return json.dumps({"id": order_id, "status": "pending" if order_id == "W1" else "sent"})

    @server.tool
    def cancel_order(order_id: str) -> str:
        made.append(("cancel_order", order_id))
        return "cancelled"

    @server.tool
    async def refund(order_id: str) -> str:
        made.append(("refund", order_id))
        if order_id == "broken":
            raise ToolError("Error: not refunded")
        if order_id == "slow":
            await asyncio.sleep(30)
        return "refunded"

    @server.tool
    def delete(order_id: str, force: bool = False) -> str:
        made.append(("delete", order_id, force))
        return "deleted"

    @server.tool
    def send(to: str, body: str) -> str:
        made.append(("send", to, body[:5]))
        return "sent"

    @server.tool
    def search(limit: int) -> str:
        made.append(("search", limit))
        return "found"

    @server.tool
    def peek(limit: int) -> str:
        made.append(("peek", limit))
        return "found"

    @server.tool
    def other() -> str:
        made.append(("other",))
        return "done"

    @server.resource("shop://public/news")
    def news() -> str:
        return "news"

    @server.resource("shop://private/keys")
    def keys() -> str:
        return "keys"

    @server.prompt
    def greeting() -> str:
        return "hello"

    server.add_middleware(McpGuard(Guard(manual, **options)))
    return server, made


def play(scenario, others: str = "pass", mode: str = "auto", decide=None, **options):
    """Run a scenario with a function that calls a tool and gives its text; what was made."""
    server, made = shop(others, **options)

    async def session() -> None:
        async with fastmcp.Client(server, mode=mode, elicitation_handler=decide) as client:

            async def call(tool: str, **given: object) -> str:
                result = await client.call_tool_mcp(tool, given)
                return "\n".join(part.text for part in result.content)

            await scenario(call, client)

    asyncio.run(asyncio.wait_for(session(), 60))
    return made


@pytest.mark.parametrize("mode", MODES)
def test_a_refused_call_is_a_tool_error_and_the_server_never_sees_it(mode):
    async def scenario(call, client) -> None:
        refused = await client.call_tool_mcp("cancel_order", {"order_id": "W1"})
        assert refused.is_error
        assert "look up the order first, with get_order: W1" in refused.content[0].text
        await call("get_order", order_id="W1")
        assert await call("cancel_order", order_id="W1") == "cancelled"
        assert "not pending" not in await call("get_order", order_id="W2")
        assert "W2 is not pending" in await call("cancel_order", order_id="W2")

    made = play(scenario, mode=mode)
    assert [name for name, *_ in made] == ["get_order", "cancel_order", "get_order"]


@pytest.mark.parametrize("mode", MODES)
def test_a_person_sees_the_whole_call_before_deciding(mode):
    asked = []

    async def decide(message, _type, _params, _context):
        asked.append(message)
        return {"value": True}

    async def scenario(call, _client) -> None:
        body = "Dear all,\n" + "la la " * 2_000
        assert await call("send", body=body, to="everybody\u202e@example.com") == "sent"

    play(scenario, mode=mode, decide=decide)
    assert "everybody\\u202e@example.com" in asked[0]  # after the body, and with nothing hidden
    assert asked[0].count("la la") == 2_000
    assert "\\u000a" in asked[0]  # a line of the body is no line of the question


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", ["decline", "cancel", "accept with no", "accept with nothing"])
def test_what_no_person_approves_is_refused(mode, answer):
    async def decide(_message, _type, _params, _context):
        content = {"value": False} if answer == "accept with no" else None
        return ElicitResult(action=answer.split()[0], content=content)

    async def scenario(call, _client) -> None:
        text = ""
        try:
            text = await call("send", to="mia", body="hello")
        except MCPError as error:  # an answer that is none
            text = str(error)
        assert text != "sent"

    assert play(scenario, mode=mode, decide=decide) == []


@pytest.mark.parametrize("mode", MODES)
def test_with_nobody_to_ask_a_call_that_needs_approval_is_refused(mode):
    async def scenario(call, _client) -> None:
        assert "ask a person to approve it" in await call("send", to="mia", body="hello")

    assert play(scenario, mode=mode) == []


def test_no_person_is_asked_to_read_a_book():
    async def decide(_message, _type, _params, _context):
        pytest.fail("asked")

    async def scenario(call, _client) -> None:
        assert "no person can read" in await call("send", to="mia", body="x" * 60_000)

    assert play(scenario, decide=decide) == []


def test_an_approval_holds_for_one_call_and_once():
    async def decide(_message, _type, _params, _context):
        return {"value": True}

    async def scenario(_call, client) -> None:
        session = client.session
        yes = {"rpms_guard": mcp_types.ElicitResult(action="accept", content={"value": True})}
        given = {"to": "mia", "body": "hello"}

        async def raw(arguments: dict, state: str | None = None) -> object:
            return await session.call_tool(
                "send",
                arguments,
                request_state=state,
                input_responses=yes if state else None,
                allow_input_required=True,
            )

        asked = await raw(given)
        assert isinstance(asked, mcp_types.InputRequiredResult)
        state = asked.request_state
        alike = {"body": "hello, to=mia"}
        for arguments, known in (
            ({**given, "to": "noah"}, state),
            (alike, state),
            (given, "rpms_guard made up"),
        ):
            try:
                result = await raw(arguments, known)
            except MCPError:
                continue  # the library has found it out
            assert result.is_error
        asked = await raw(given)
        assert not (await raw(given, asked.request_state)).is_error
        again = await raw(given, asked.request_state)
        assert again.is_error

    assert play(scenario, decide=decide) == [("send", "mia", "hello")]


@pytest.mark.parametrize("value", ["yes", "on", "true", 1, "1", "t"])
def test_values_are_of_the_type_that_the_tool_declares(value):
    """What pydantic would take for true does not reach the tool."""

    async def scenario(call, _client) -> None:
        assert "boolean" in await call("delete", order_id="W1", force=value)
        assert "P-FORCE-001" in await call("delete", order_id="W1", force=True)
        assert await call("delete", order_id="W1", force=False) == "deleted"

    assert play(scenario) == [("delete", "W1", False)]


def test_what_is_refused_for_its_form_is_in_the_log_too(tmp_path):
    async def decide(_message, _type, _params, _context):
        pytest.fail("asked")

    async def scenario(call, _client) -> None:
        await call("delete", order_id="W1", force="yes")
        await call("nothing")
        await call("send", to="mia", body="x" * 60_000)

    log = tmp_path / "log.jsonl"
    assert play(scenario, decide=decide, log=log) == []
    said = [(line.tool, line.ruling, line.rule) for line in read_guard_log(log)]
    assert said == [
        ("delete", "refuse", "G-FORM"),
        ("nothing", "refuse", "G-OTHER"),
        ("send", "ask", "P-SEND-001"),
        ("send", "refuse", "G-FORM"),
    ]


def test_where_the_guard_only_observes_forms_are_no_reason_to_refuse(tmp_path):
    async def scenario(call, _client) -> None:
        assert await call("delete", order_id="W1", force="yes") == "deleted"

    log = tmp_path / "log.jsonl"
    assert play(scenario, log=log, observe_only=True) == [("delete", "W1", True)]
    assert [line.rule for line in read_guard_log(log) if line.type == "check"] == ["G-FORM"]


def test_a_tool_is_called_by_the_name_it_is_listed_under():
    async def scenario(call, _client) -> None:
        for name in ("nothing", "0123456789ab_cancel_order", "Cancel_Order"):
            assert "Not done" in await call(name, order_id="W1")

    assert play(scenario) == []


def test_resources_prompts_and_tools_that_are_not_declared_are_refused():
    server, made = shop()
    manual = read_tool_manual(("bare.yaml", "tools: {get_order: [order_id]}"))
    server.middleware[:] = [each for each in server.middleware if not isinstance(each, McpGuard)]
    server.add_middleware(McpGuard(Guard(manual)))

    async def session() -> None:
        async with fastmcp.Client(server) as client:
            assert (await client.call_tool_mcp("other", {})).is_error
            news = "G-OTHER: the manual lets nobody read the resource shop://public/news"
            with pytest.raises(MCPError, match=news):
                await client.read_resource("shop://public/news")
            greeting = "G-OTHER: the manual lets nobody read the prompt greeting"
            with pytest.raises(MCPError, match=greeting):
                await client.get_prompt("greeting")

    asyncio.run(asyncio.wait_for(session(), 60))
    assert made == []


def test_resources_and_prompts_are_judged_too():
    async def scenario(_call, client) -> None:
        assert (await client.read_resource("shop://public/news"))[0].text == "news"
        with pytest.raises(MCPError, match="P-READ-001"):
            await client.read_resource("shop://private/keys")
        with pytest.raises(MCPError, match="G-OTHER"):
            await client.get_prompt("greeting")

    play(scenario, others="refuse")


def test_what_is_not_declared_passes_only_if_the_manual_says_so():
    async def scenario(call, client) -> None:
        assert await call("other") == "done"
        assert (await client.get_prompt("greeting")).messages[0].content.text == "hello"

    assert play(scenario) == [("other",)]

    async def closed(call, _client) -> None:
        assert "G-OTHER" in await call("other")

    assert play(closed, others="refuse") == []


def test_a_call_is_changed_or_warned_of_and_the_model_is_told():
    async def scenario(call, _client) -> None:
        assert (await call("search", limit=99)).startswith("found\n[changed] P-LIMIT-001")
        assert "[warning] P-PEEK-001" in await call("peek", limit=99)

    assert play(scenario) == [("search", 10), ("peek", 99)]


def test_a_failed_call_was_not_done_and_one_that_nobody_waits_for_may_have_been():
    async def scenario(call, client) -> None:
        assert "not refunded" in await call("refund", order_id="broken")
        assert "not refunded" in await call("refund", order_id="broken")
        with pytest.raises(MCPError):
            await client.call_tool("refund", {"order_id": "slow"}, timeout=1)
        for _ in range(1_200):  # the server hears of it in its own time
            told = await call("refund", order_id="slow")
            if "under way" not in told:
                break
            await asyncio.sleep(0.05)
        assert "did not return" in told
        assert await call("refund", order_id="W1") == "refunded"
        assert "W1 was refunded" in await call("refund", order_id="W1")

    made = play(scenario, mode="legacy")
    assert [order for _, order in made] == ["broken", "broken", "slow", "W1"]


def test_of_two_calls_at_once_one_is_made(tmp_path):
    server, made = shop(log=tmp_path / "log.jsonl")

    async def session() -> None:
        async with fastmcp.Client(server) as client:
            first = asyncio.create_task(client.call_tool_mcp("refund", {"order_id": "slow"}))
            for _ in range(1_200):
                await asyncio.sleep(0.05)
                if made:
                    break
            second = await client.call_tool_mcp("refund", {"order_id": "slow"})
            assert "under way" in second.content[0].text
            first.cancel()

    asyncio.run(asyncio.wait_for(session(), 60))
    assert made == [("refund", "slow")]
    lines = [line.ruling for line in read_guard_log(tmp_path / "log.jsonl") if line.type == "check"]
    assert lines == ["allow", "refuse"]


def test_without_a_manual_nothing_passes(tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text("tools: {ping: []}\n...\n")
    server = fastmcp.FastMCP("shop")

    @server.tool
    def ping() -> str:
        return "pong"

    server.add_middleware(McpGuard(Path(file)))

    async def session() -> None:
        async with fastmcp.Client(server) as client:
            assert (await client.call_tool_mcp("ping", {})).content[0].text == "pong"
            file.unlink()
            refused = await client.call_tool_mcp("ping", {})
            assert "G-MANUAL" in refused.content[0].text

    asyncio.run(asyncio.wait_for(session(), 60))


def test_differences_between_manual_and_server_are_said_once(caplog):
    async def scenario(_call, client) -> None:
        await client.list_tools()
        await client.list_tools()

    manual = read_tool_manual(("m.yaml", "tools: {gone: [a], peek: [limit, depth]}"))
    server, _ = shop()
    server.middleware[:] = [each for each in server.middleware if not isinstance(each, McpGuard)]
    server.add_middleware(McpGuard(Guard(manual)))

    async def session() -> None:
        async with fastmcp.Client(server, cache=False) as client:
            await scenario(None, client)

    asyncio.run(session())
    assert caplog.text.count("declares tools that the server does not have: gone") == 1
    assert caplog.text.count("peek has no argument depth; it has limit") == 1
