"""Adapters: one guard a conversation, each event once; persons asked as the framework does."""

from __future__ import annotations

import importlib

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
...
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


@pytest.mark.parametrize("approved", [True, False])
def test_langgraph_asks_a_person_by_an_interrupt(approved):
    agents = pytest.importorskip("langchain.agents", reason="langchain is not installed")
    messages = importlib.import_module("langchain_core.messages")
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
    answers = [messages.AIMessage("", tool_calls=[asked]), messages.AIMessage("done")]
    guard = Guard(MANUAL)
    checked = guard.wrap(
        pay,
        refused=lambda ruling: f"Not done. {ruling.text}",
        approves=lambda call, ruling: types.interrupt([ruling.rule, call.arguments]) == "approve",
    )
    agent = agents.create_agent(Model(messages=iter(answers)), [checked], checkpointer=memory)
    config = {"configurable": {"thread_id": "t1"}}
    guard.tell("confirmed")  # nobody says yes in this conversation, but the host knows
    stopped = agent.invoke({"messages": [messages.HumanMessage("pay it")]}, config)
    assert stopped["__interrupt__"][0].value == ["P-BIG-1", {"bill": "BIG"}]
    assert not paid
    done = agent.invoke(types.Command(resume="approve" if approved else "reject"), config)
    assert paid == (["BIG"] if approved else [])
    told = next(each for each in done["messages"] if isinstance(each, messages.ToolMessage))
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
