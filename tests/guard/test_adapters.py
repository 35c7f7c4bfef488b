"""What adapters have in common: one guard a conversation, each event once; and what only LangChain does."""

from __future__ import annotations

import asyncio
import importlib
import json
from types import SimpleNamespace

import pytest

from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.conversations import Conversations, Returned, Said
from rpms.guard.log import ResultLine, read_guard_log

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


class Script:
    """Runs some calls of guarded tools as an agent of the OpenAI Agents SDK, whose model is a list."""

    def __init__(self) -> None:
        self.agents = pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")
        self.responses = importlib.import_module("openai.types.responses")
        self.guarded = importlib.import_module("rpms.guard.openai_agents").guarded

    def run(self, guard, tool, *calls):
        """What each call was answered with."""
        agents, responses = self.agents, self.responses
        text = responses.ResponseOutputText(text="done", type="output_text", annotations=[])
        said = responses.ResponseOutputMessage(
            id="m", role="assistant", status="completed", type="message", content=[text]
        )
        asked = [
            responses.ResponseFunctionToolCall(type="function_call", call_id=c.id, name=c.tool, arguments=args)
            for c in calls
            for args in [json.dumps(dict(c.arguments))]
        ]
        script = [*asked, said]

        class Listed(agents.Model):
            async def get_response(self, *_args, **_options):
                return agents.ModelResponse(output=[script.pop(0)], usage=agents.Usage(), response_id=None)

            def stream_response(self, *_args, **_options):
                raise NotImplementedError

        agent = agents.Agent(name="payer", model=Listed(), tools=self.guarded(guard, tool))
        config = agents.RunConfig(tracing_disabled=True)
        done = asyncio.run(agents.Runner.run(agent, "yes", run_config=config))
        return [item["output"] for item in done.to_input_list() if item.get("type") == "function_call_output"]


@pytest.mark.parametrize("own_words", [False, True])
def test_openai_knows_a_tool_that_raised(tmp_path, own_words):
    script = Script()
    paid = []

    def pay(bill: str) -> str:
        """Pay a bill."""
        paid.append(bill)
        if len(paid) == 1:
            raise ConnectionError("no line to the bank")
        return "paid"

    options = {"failure_error_function": lambda _context, _error: "Sorry."} if own_words else {}
    guard = Guard(MANUAL, log=tmp_path / "log.jsonl")
    answers = script.run(guard, script.agents.function_tool(pay, **options), PAY, Call("pay", {"bill": "B1"}, "c2"))
    assert answers[0] == ("Sorry." if own_words else "An error occurred while running the tool. Please try again.")
    assert answers[1] == "paid"  # the first was not, and so the guard lets it through
    assert [(line.failed, line.result) for line in read_guard_log(tmp_path / "log.jsonl") if line.type == "result"][
        1:
    ] == [
        (True, "no line to the bank"),
        (False, "paid"),
    ]


def test_openai_knows_that_nobody_knows_what_a_tool_did_that_took_too_long():
    script = Script()

    async def pay(bill: str) -> str:
        """Pay a bill."""
        await asyncio.sleep(60)
        return f"paid {bill}"

    tool = script.agents.function_tool(pay, timeout=0.01)
    first, second = script.run(Guard(MANUAL), tool, PAY, Call("pay", {"bill": "B1"}, "c2"))
    assert "timed out" in first
    assert "under way" in second
