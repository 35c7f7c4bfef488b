"""The guard as LangChain middleware: `create_agent(…,
middleware=[GuardMiddleware("shop.yaml")])`.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rpms.guard.calls import Ask, Call, Modify, Refuse
from rpms.guard.conversations import Conversations, Returned, said
from rpms.guard.guard import Guard
from rpms.logic.errors import InputError

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command, interrupt
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[langchain]'") from None

Answer = ToolMessage | Command[Any]
REFUSED = "refused by the guard"
"""Mark of an answer that is the guard's and not a tool's."""
MADE = "rpms_guard_made_with"
"""Under which an answer keeps the arguments of a call that was modified, for whoever reads the
conversation anew."""


class GuardMiddleware(AgentMiddleware[Any, Any]):
    """Checks every tool call; one that is refused is answered with the reason, and the tool is
    not run.
    """

    def __init__(self, guard: Guard | Path | str, **options: Any) -> None:
        """`guard` is a Guard, or a manual with the options of one: `python`, `log`."""
        super().__init__()
        self.tools = []
        self._conversations = Conversations(
            guard if isinstance(guard, Guard) else Guard(guard, **options)
        )

    def guard_of(self, thread: str) -> Guard:
        """The guard of a thread, to tell it what the host knows:
        `middleware.guard_of(thread_id).tell("confirmed")`.
        """
        return self._conversations.guard_of(thread)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        with self._checked(request) as (made, answers):
            if made is not None:
                answers.append(handler(made))
        return answers[0]

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        with self._checked(request) as (made, answers):
            if made is not None:
                answers.append(await handler(made))
        return answers[0]

    @contextmanager
    def _checked(
        self, request: ToolCallRequest
    ) -> Iterator[tuple[ToolCallRequest | None, list[Answer]]]:
        """The request to make, and where its answer belongs, which is learned from; without
        one, the guard's answer.
        """
        asked = request.tool_call
        call = Call(asked["name"], asked["args"], asked.get("id") or "")
        messages: Sequence[AnyMessage] = (
            request.state["messages"] if isinstance(request.state, dict) else request.state
        )
        thread = (request.runtime.config or {}).get("configurable", {}).get("thread_id")
        session = str(thread or (messages[0].id if messages else "") or "")
        ruling = self._conversations.check(session, events(messages), call)
        if isinstance(
            ruling, Ask
        ):  # the graph stops here, and comes back to this line with what a person decided
            question = {
                "question": ruling.text,
                "rule": ruling.rule,
                "tool": call.tool,
                "args": dict(call.arguments),
            }
            ruling = self._conversations.check(
                session, (), call, approved=_approves(interrupt(question))
            )
        if isinstance(ruling, Modify):
            call = ruling.call
            request = request.override(tool_call={**asked, "args": dict(call.arguments)})
        answers: list[Answer] = []
        if isinstance(ruling, Refuse):
            fields = {
                "tool_call_id": call.id,
                "name": call.tool,
                "status": "error",
                "artifact": REFUSED,
            }
            yield None, [ToolMessage(f"Not done. {ruling.text}", **fields)]
            return
        try:
            yield request, answers
        # the tool itself asks a person: it has not returned, and is called again with the answer
        except GraphBubbleUp:
            self.guard_of(session).withdraw(call)
            raise
        except Exception as error:
            self._conversations.learn(session, Returned(call, str(error), failed=True))
            raise
        if isinstance(
            answer := answers[0], ToolMessage
        ):  # with what the model should know about it
            self._conversations.learn(session, _returned(call, answer))
            told: dict[str, Any] = {}
            if ruling.notice and isinstance(answer.content, str):
                told["content"] = f"{answer.content}\n{ruling.notice}"
            if isinstance(ruling, Modify):
                told["additional_kwargs"] = {**answer.additional_kwargs, MADE: dict(call.arguments)}
            answers[0] = answer.model_copy(update=told)


def _approves(decision: Any) -> bool:
    """True for True and "approve", alone or as the `type` of what LangChain's own approvals
    resume with.
    """
    if isinstance(decision, dict):
        several = decision.get("decisions")
        decision = several[0] if isinstance(several, list) and len(several) == 1 else decision
        decision = decision.get("type") if isinstance(decision, dict) else decision
    return decision is True or decision == "approve"


def _returned(call: Call, answer: ToolMessage) -> Returned:
    return Returned(call, answer.text, True if answer.status == "error" else None)


def events(messages: Sequence[AnyMessage]) -> Iterator[Returned]:
    """Events of a conversation: texts of the user and results of calls."""
    asked: dict[str, Call] = {}
    for place, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            yield said(message.text, message.id or str(place))
        elif isinstance(message, AIMessage):
            asked |= {
                id_: Call(each["name"], each["args"], id_)
                for each in message.tool_calls
                if (id_ := each["id"])
            }
        elif (
            isinstance(message, ToolMessage)
            and message.tool_call_id in asked
            and message.artifact != REFUSED
        ):
            call, made = asked[message.tool_call_id], message.additional_kwargs.get(MADE)
            yield _returned(
                replace(call, arguments=made) if isinstance(made, dict) else call, message
            )
