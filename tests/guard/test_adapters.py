"""What adapters have in common: one guard a conversation, each event once; and what only
LangChain does.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from types import SimpleNamespace

import pytest

from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.conversations import Conversations, Returned, said
from rpms.guard.log import ResultLine, read_guard_log

TEXT = """
facts:
  paid: {args: [bill], initially: false, yes: <bill> was paid, no: <bill> was not paid}
  agrees: {args: [text], path: <text>, is: "yes"}
  confirmed: {initially: false}
  big: {args: [bill], path: <bill>, is: BIG}
tools:
  keep: [bill]
  pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill), not confirmed]}
  look: [bill]
  user_says: {args: [text], effects: [confirmed if agrees(text)]}
policies:
  P-YES-1: {text: Pay only after a yes., tools: pay, requires: confirmed}
  P-LOOK-1: {text: Look only at paid bills., tools: look, requires: paid(bill), warns: true}
  P-BIG-1: {text: A person approves big bills., tools: pay, when: big(bill), asks: true}
  P-OLD-1: {text: Only new bills are kept., tools: keep, when: big(bill), sets: {bill: B0}}
"""
MANUAL = read_tool_manual(("once.yaml", TEXT))
PAY = Call("pay", {"bill": "B1"}, "c1")


def test_conversations_do_not_know_of_each_other(tmp_path):
    both = Conversations(Guard(MANUAL, log=tmp_path / "log.jsonl"))
    yes = said("yes", "m1")
    assert both.check("a", [yes], PAY).goes_on
    assert both.check("b", [yes], PAY).goes_on
    done = [yes, Returned(PAY, "paid"), said("yes", "m2")]
    again = Call("pay", {"bill": "B1"}, "c2")
    assert both.check("a", done, again).rule == "E-PAY"
    assert both.check("a", done, again).rule == "E-PAY"
    assert both.check("b", [yes, said("yes", "m3")], Call("pay", {"bill": "B2"}, "c3")).goes_on
    results = [
        line for line in read_guard_log(tmp_path / "log.jsonl") if isinstance(line, ResultLine)
    ]
    assert [line.tool for line in results if line.session == "a"] == [
        "user_says",
        "pay",
        "user_says",
    ]  # each once


@pytest.fixture
def langchain():
    return pytest.importorskip("langchain_core.messages", reason="langchain is not installed")


def adapter():
    return importlib.import_module("rpms.guard.langchain")  # needs the extra


def asking(langchain, *calls, said="yes"):
    """A request for the last of some calls of one turn, as LangChain makes it."""
    turn = langchain.AIMessage(
        "", tool_calls=[{"name": c.tool, "args": dict(c.arguments), "id": c.id} for c in calls]
    )
    call = turn.tool_calls[-1]
    messages = [langchain.HumanMessage(said, id="h1"), turn]
    return SimpleNamespace(
        tool_call=call, state={"messages": messages}, runtime=SimpleNamespace(config={})
    )


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
    assert (
        run(Call("pay", {"bill": "B9"}, "c2")).content == "done"
    )  # it failed, and so was not paid


def test_of_two_calls_in_one_turn_the_second_waits(langchain):
    middleware = adapter().GuardMiddleware(Guard(MANUAL))
    first, second = Call("pay", {"bill": "B1"}, "c1"), Call("pay", {"bill": "B1"}, "c2")

    def slow(_request):
        refused = middleware.wrap_tool_call(
            asking(langchain, first, second), None
        )  # while the first is under way
        assert "under way" in refused.content
        return langchain.ToolMessage("done", tool_call_id="c1")

    assert middleware.wrap_tool_call(asking(langchain, first), slow).content == "done"


def test_langchain_learns_nothing_of_a_tool_that_stops_for_a_person_until_it_returns(
    langchain, tmp_path
):
    middleware = adapter().GuardMiddleware(Guard(MANUAL, log=tmp_path / "log.jsonl"))
    answers = iter([importlib.import_module("langgraph.errors").GraphInterrupt(), None])

    def tool(request):
        if stop := next(answers):
            raise stop
        return langchain.ToolMessage("paid", tool_call_id=request.tool_call["id"])

    with pytest.raises(Exception, match=r"^\(\)$"):
        middleware.wrap_tool_call(asking(langchain, PAY), tool)
    assert middleware.wrap_tool_call(asking(langchain, PAY), tool).content == "paid"
    results = [
        line for line in read_guard_log(tmp_path / "log.jsonl") if isinstance(line, ResultLine)
    ]
    assert [(line.tool, line.failed) for line in results] == [("user_says", False), ("pay", False)]


def test_langchain_does_not_take_its_own_failure_for_the_tools(langchain, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("a message that cannot be read")

    monkeypatch.setattr(adapter(), "_returned", fail)
    middleware = adapter().GuardMiddleware(Guard(MANUAL, log=tmp_path / "log.jsonl"))
    with pytest.raises(RuntimeError, match="cannot be read"):
        middleware.wrap_tool_call(
            asking(langchain, PAY), lambda _: langchain.ToolMessage("paid", tool_call_id="c1")
        )
    results = [
        line for line in read_guard_log(tmp_path / "log.jsonl") if isinstance(line, ResultLine)
    ]
    assert [line.tool for line in results] == ["user_says"]


class Script:
    """Runs some calls of guarded tools as an agent of the OpenAI Agents SDK, whose model is a
    list.
    """

    def __init__(self) -> None:
        self.agents = pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed")
        self.responses = importlib.import_module("openai.types.responses")
        self.guarded = importlib.import_module("rpms.guard.openai_agents").guarded

    def run(self, guard, tool, *calls, approved=None):
        """What each call was answered with, and in `asked` the tools that a person was asked
        about.
        """
        agents, responses = self.agents, self.responses
        text = responses.ResponseOutputText(text="done", type="output_text", annotations=[])
        said = responses.ResponseOutputMessage(
            id="m", role="assistant", status="completed", type="message", content=[text]
        )
        asked = [
            responses.ResponseFunctionToolCall(
                type="function_call", call_id=c.id, name=c.tool, arguments=args
            )
            for c in calls
            for args in [json.dumps(dict(c.arguments))]
        ]
        script = [*asked, said]

        class Listed(agents.Model):
            async def get_response(self, *_args, **_options):
                return agents.ModelResponse(
                    output=[script.pop(0)], usage=agents.Usage(), response_id=None
                )

            def stream_response(self, *_args, **_options):
                raise NotImplementedError

        agent = agents.Agent(name="payer", model=Listed(), tools=self.guarded(guard, tool))
        config = agents.RunConfig(tracing_disabled=True)
        done = asyncio.run(agents.Runner.run(agent, "yes", run_config=config))
        self.asked = [item.name for item in done.interruptions]
        if done.interruptions:
            state = done.to_state()
            for item in done.interruptions:
                (state.approve if approved else state.reject)(item)
            done = asyncio.run(agents.Runner.run(agent, state, run_config=config))
        return [
            item["output"]
            for item in done.to_input_list()
            if item.get("type") == "function_call_output"
        ]


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
    answers = script.run(
        guard, script.agents.function_tool(pay, **options), PAY, Call("pay", {"bill": "B1"}, "c2")
    )
    assert answers[0] == (
        "Sorry." if own_words else "An error occurred while running the tool. Please try again."
    )
    assert answers[1] == "paid"  # the first was not, and so the guard lets it through
    assert [
        (line.failed, line.result)
        for line in read_guard_log(tmp_path / "log.jsonl")
        if line.type == "result"
    ][1:] == [
        (True, "no line to the bank"),
        (False, "paid"),
    ]


def test_openai_knows_a_tool_by_the_text_of_what_is_no_json(tmp_path):
    script = Script()

    def pay(bill: str) -> object:
        """Pay a bill."""
        return SimpleNamespace(paid=bill)

    guard = Guard(MANUAL, log=tmp_path / "log.jsonl")
    answers = script.run(
        guard, script.agents.function_tool(pay), PAY, Call("pay", {"bill": "B1"}, "c2")
    )
    assert answers[0] == "namespace(paid='B1')"
    assert "E-PAY" in answers[1]
    assert "did not return" not in answers[1]
    assert [
        line.result for line in read_guard_log(tmp_path / "log.jsonl") if line.type == "result"
    ][1:] == answers[:1]


def test_openai_knows_what_an_object_of_its_own_says_and_hears_of_one_that_says_nothing(tmp_path):
    class Mute:
        def __str__(self) -> str:
            raise ValueError

    shown = importlib.import_module("rpms.guard.openai_agents")._shown
    assert shown(Script().agents.ToolOutputText(text="Error: declined")) == "Error: declined"
    assert shown(b"{}") == b"{}"
    guard = Guard(MANUAL, log=tmp_path / "log.jsonl")
    guard.check(PAY)
    guard.observe(PAY, shown(Mute()))
    assert [
        line.failed for line in read_guard_log(tmp_path / "log.jsonl") if line.type == "result"
    ] == [None]


def test_openai_knows_that_nobody_knows_what_a_tool_did_that_took_too_long():
    script = Script()

    async def pay(bill: str) -> str:
        """Pay a bill."""
        await asyncio.sleep(60)
        return f"paid {bill}"

    tool = script.agents.function_tool(pay, timeout=0.01)
    first, second = script.run(Guard(MANUAL), tool, PAY, Call("pay", {"bill": "B1"}, "c2"))
    assert "timed out" in first
    assert "did not return" in second


def test_openai_shows_the_model_warnings_and_makes_changed_calls():
    script = Script()
    kept = []

    def look(bill: str) -> str:
        """Look at a bill."""
        return f"a bill {bill}"

    def keep(bill: str) -> str:
        """Keep a bill."""
        kept.append(bill)
        return "kept"

    guard = Guard(MANUAL)
    warned = script.run(
        guard, script.agents.function_tool(look), Call("look", {"bill": "B1"}, "c1")
    )
    assert warned[0].startswith("a bill B1\n[warning] P-LOOK-1")
    changed = script.run(
        guard, script.agents.function_tool(keep), Call("keep", {"bill": "BIG"}, "c2")
    )
    assert kept == ["B0"]
    assert changed[0].startswith("kept\n[changed] P-OLD-1")


@pytest.mark.parametrize("approved", [True, False])
def test_openai_asks_a_person_by_its_own_approvals(approved):
    script = Script()
    paid = []

    def pay(bill: str) -> str:
        """Pay a bill."""
        paid.append(bill)
        return "paid"

    calls = [Call("pay", {"bill": "BIG"}, "c1")]
    answers = script.run(Guard(MANUAL), script.agents.function_tool(pay), *calls, approved=approved)
    assert script.asked == ["pay"]
    assert paid == (["BIG"] if approved else [])
    assert (answers[0] == "paid") is approved


@pytest.mark.parametrize("approved", [True, False])
def test_langgraph_asks_a_person_by_an_interrupt_and_the_guard_can_be_told(langchain, approved):
    agents = pytest.importorskip("langchain.agents")
    fake = importlib.import_module("langchain_core.language_models.fake_chat_models")
    memory = importlib.import_module("langgraph.checkpoint.memory").InMemorySaver()
    types = importlib.import_module("langgraph.types")
    paid = []

    def pay(bill: str) -> str:
        """Pay a bill."""
        paid.append(bill)
        return "paid"

    class Model(fake.GenericFakeChatModel):
        def bind_tools(self, *_args, **_options):
            return self

    asked = {"name": "pay", "args": {"bill": "BIG"}, "id": "c1"}
    model = Model(
        messages=iter([langchain.AIMessage("", tool_calls=[asked]), langchain.AIMessage("done")])
    )
    middleware = adapter().GuardMiddleware(Guard(MANUAL))
    agent = agents.create_agent(model, [pay], middleware=[middleware], checkpointer=memory)
    config = {"configurable": {"thread_id": "t1"}}
    middleware.guard_of("t1").tell(
        "confirmed"
    )  # nobody says yes in this conversation, but the host knows
    stopped = agent.invoke({"messages": [langchain.HumanMessage("pay it")]}, config)
    question = stopped["__interrupt__"][0].value
    assert (question["rule"], question["args"]) == ("P-BIG-1", {"bill": "BIG"})
    assert not paid
    done = agent.invoke(
        types.Command(resume={"decisions": [{"type": "approve" if approved else "reject"}]}), config
    )
    assert paid == (["BIG"] if approved else [])
    told = next(each for each in done["messages"] if isinstance(each, langchain.ToolMessage))
    assert told.content == "paid" if approved else "a person said no" in told.content


@pytest.mark.filterwarnings("ignore")  # what the framework warns of is not ours
def test_inspect_shows_warnings_escalates_to_a_person_and_takes_what_a_solver_tells(
    tmp_path, monkeypatch
):
    inspect = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    points = importlib.import_module("inspect_ai._util.entrypoints")
    monkeypatch.setattr(
        points, "_inspect_ai_eps_loaded_all", True
    )  # other packages' take half a minute
    approval = importlib.import_module("inspect_ai.approval")
    model = importlib.import_module("inspect_ai.model")
    solvers = importlib.import_module("inspect_ai.solver")
    tools = importlib.import_module("inspect_ai.tool")
    ours = importlib.import_module("rpms.guard.inspect")
    manual = tmp_path / "m.yaml"
    manual.write_text(TEXT)
    paid, read, escalated = [], [], []

    def named(name, done):
        async def execute(bill: str) -> str:
            """Do it.

            Args:
                bill: Which one.
            """
            done.append(bill)
            return f"done {bill}"

        return tools.tool(name=name)(lambda: execute)()

    @solvers.solver
    def knowing():
        async def solve(state, _generate):
            ours.tell("confirmed")
            return state

        return solve

    @approval.approver(name="person")
    def person():
        async def decide(message, call, view, history):
            escalated.append(call.arguments["bill"])
            return approval.Approval(decision="approve")

        return decide

    asked = [("look", "B1"), ("pay", "BIG")]
    answers = [
        model.ModelOutput.for_tool_call("mockllm/model", name, {"bill": bill})
        for name, bill in asked
    ]
    answers.append(model.ModelOutput.from_content("mockllm/model", "done"))

    def answer(messages, *_):
        read.append([each.text for each in messages if each.role == "tool"])
        said = answers.pop(0)
        said.usage = model.ModelUsage()
        return said

    rules = [
        approval.ApprovalPolicy(ours.guard(str(manual)), "*"),
        approval.ApprovalPolicy(person(), "*"),
    ]
    task = inspect.Task(
        [importlib.import_module("inspect_ai.dataset").Sample("pay")],
        solver=[
            knowing(),
            solvers.use_tools(named("look", []), named("pay", paid)),
            solvers.generate(),
        ],
        approval=rules,
    )
    script = model.get_model("mockllm/model", custom_outputs=answer)
    (done,) = inspect.eval(task, model=script, display="none", log_dir=str(tmp_path))
    assert done.status == "success", done.error
    assert read[1][0].startswith("done B1\n[warning] P-LOOK-1")
    assert (paid, escalated) == (["BIG"], ["BIG"])
