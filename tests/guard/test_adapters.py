"""What adapters have in common: one guard a conversation, each event once; and what only LangChain does."""

from __future__ import annotations

import asyncio
import importlib
from types import SimpleNamespace

import pytest

from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.conversations import Conversations, Returned, Said
from rpms.store.guard_log import ResultLine, read_guard_log

MANUAL = read_tool_manual(
    (
        "once.yaml",
        """
facts:
  paid: {args: [bill], initially: false, yes: <bill> was paid, no: <bill> was not paid}
  agrees: {args: [text], path: <text>, is: "yes"}
  confirmed: {initially: false}
tools:
  pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill), not confirmed]}
  look: [bill]
  user_says: {args: [text], effects: [confirmed if agrees(text)]}
policies:
  P-YES-1: {text: Pay only after a yes., tools: pay, requires: confirmed}
  P-LOOK-1: {text: Look only at paid bills., tools: look, requires: paid(bill), warns: true}
""",
    )
)
PAY = Call("pay", {"bill": "B1"}, "c1")


def test_conversations_do_not_know_of_each_other(tmp_path):
    both = Conversations(Guard(MANUAL, log=tmp_path / "log.jsonl"))
    yes = Said("yes", "m1")
    assert both.check("a", [yes], PAY).goes_on
    assert both.check("b", [yes], PAY).goes_on
    done = [yes, Returned(PAY, "paid"), Said("yes", "m2")]
    again = Call("pay", {"bill": "B1"}, "c2")
    assert both.check("a", done, again).rule == "E-PAY"
    assert both.check("a", done, again).rule == "E-PAY"
    assert both.check("b", [yes, Said("yes", "m3")], Call("pay", {"bill": "B2"}, "c3")).goes_on
    results = [line for line in read_guard_log(tmp_path / "log.jsonl") if isinstance(line, ResultLine)]
    assert [line.tool for line in results if line.session == "a"] == ["user_says", "pay", "user_says"]  # each once


@pytest.fixture
def langchain():
    return pytest.importorskip("langchain_core.messages", reason="langchain is not installed")


def adapter():
    return importlib.import_module("rpms.guard.langchain")  # needs the extra


def asking(langchain, *calls, said="yes"):
    """A request for the last of some calls of one turn, as LangChain makes it."""
    turn = langchain.AIMessage("", tool_calls=[{"name": c.tool, "args": dict(c.arguments), "id": c.id} for c in calls])
    call = turn.tool_calls[-1]
    messages = [langchain.HumanMessage(said, id="h1"), turn]
    return SimpleNamespace(tool_call=call, state={"messages": messages}, runtime=SimpleNamespace(config={}))


def test_langchain_adds_warnings_and_knows_errors(langchain):
    middleware = adapter().GuardMiddleware(Guard(MANUAL))

    async def tool(request):
        status = "error" if request.tool_call["args"]["bill"] == "B9" else "success"
        return langchain.ToolMessage("done", tool_call_id=request.tool_call["id"], status=status)

    def run(*calls, said="yes"):
        return asyncio.run(middleware.awrap_tool_call(asking(langchain, *calls, said=said), tool))

    assert "[warning] P-LOOK-1" in run(Call("look", {"bill": "B1"}, "c0")).content
    failing = Call("pay", {"bill": "B9"}, "c1")
    assert run(failing).content == "done"
    assert run(Call("pay", {"bill": "B9"}, "c2")).content == "done"  # it failed, and so was not paid


def test_of_two_calls_in_one_turn_the_second_waits(langchain):
    middleware = adapter().GuardMiddleware(Guard(MANUAL))
    first, second = Call("pay", {"bill": "B1"}, "c1"), Call("pay", {"bill": "B1"}, "c2")

    def slow(_request):
        refused = middleware.wrap_tool_call(asking(langchain, first, second), None)  # while the first is under way
        assert "under way" in refused.content
        return langchain.ToolMessage("done", tool_call_id="c1")

    assert middleware.wrap_tool_call(asking(langchain, first), slow).content == "done"
