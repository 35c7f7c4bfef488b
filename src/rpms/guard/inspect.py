"""The guard as an Inspect approver, `rpms/guard` in an approval configuration."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from uuid import uuid4

from rpms.guard.calls import Call, Modify
from rpms.guard.conversations import Conversations, Returned, said
from rpms.guard.guard import Guard
from rpms.guard.python_facts import load_python
from rpms.logic.errors import InputError

try:
    from inspect_ai.approval import Approval, ApprovalDecision, Approver, approver
    from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks
    from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall, ToolCallView
    from inspect_ai.util import store
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[inspect]'") from None


_DECISIONS: dict[str, ApprovalDecision] = {
    "allow": "approve",
    "warn": "approve",
    "modify": "modify",
    "ask": "escalate",
    "refuse": "reject",
}
_SESSION = "rpms_guard_session"
_NOTICES = "rpms_guard_notices"
_TOLD = "rpms_guard_told"


def tell(*facts: str) -> None:
    """Tell the guard of the present sample what its solver knows: `tell('reason("health")')`."""
    store().set(_TOLD, [*store().get(_TOLD, []), *facts])


@hooks(
    "rpms_guard_notices",
    "Shows the model the guard's warnings and changes with the results they are about.",
)
class Notices(Hooks):
    """Adds what the guard noted about a call to its result, in what the model is about to read."""

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        notices: dict[str, str] = store().get(_NOTICES, {})
        for place, message in enumerate(data.input):
            if isinstance(message, ChatMessageTool) and message.tool_call_id in notices:
                text = f"{message.text}\n{notices[message.tool_call_id]}"
                data.input[place] = message.model_copy(update={"content": text})


@approver(name="guard")
def guard(manual: str, python: str | None = None, log: str | None = None) -> Approver:
    """Approve, modify, escalate or reject as the manual says; `python` is a file with the
    functions that it names.
    """
    conversations = Conversations(Guard(manual, python=load_python(python), log=log))

    async def approve(
        message: str,  # noqa: ARG001  the names are Inspect's
        call: ToolCall,
        view: ToolCallView,  # noqa: ARG001
        history: list[ChatMessage],
    ) -> Approval:
        session = store().get(_SESSION)
        if session is None:
            session = uuid4().hex[:8]
            store().set(_SESSION, session)
        if told := store().get(_TOLD):
            store().set(_TOLD, [])
            conversations.guard_of(session).tell(*told)
        ruling = conversations.check(
            session, events(history), Call(call.function, call.arguments, call.id)
        )
        facts = {"rule": ruling.rule, "fact": ruling.fact, "remedy": ruling.remedy}
        if ruling.notice:
            store().set(_NOTICES, {**store().get(_NOTICES, {}), call.id: ruling.notice})
        changed = (
            replace(call, arguments=dict(ruling.call.arguments))
            if isinstance(ruling, Modify)
            else None
        )
        why = ruling.notice or ruling.text or "no rule stands against it"
        return Approval(
            decision=_DECISIONS[ruling.word], modified=changed, explanation=why, metadata=facts
        )

    return approve


def events(history: list[ChatMessage]) -> Iterator[Returned]:
    """Events of a conversation: texts of the user and results of calls."""
    asked: dict[str, Call] = {}
    for place, message in enumerate(history):
        if isinstance(message, ChatMessageUser):
            yield said(message.text, message.id or str(place))
        elif isinstance(message, ChatMessageAssistant):
            for each in message.tool_calls or ():
                asked[each.id] = Call(each.function, each.arguments, each.id)
        elif isinstance(message, ChatMessageTool):
            call = _call_made(message, asked)
            if call is not None:
                yield Returned(call, message.text, True if message.error else None)


def _call_made(message: ChatMessageTool, asked: Mapping[str, Call]) -> Call | None:
    """The call that a result is of, where it was asked for; one refused was never made."""
    was_refused = message.error is not None and message.error.type == "approval"
    if message.tool_call_id is None or was_refused:
        return None
    return asked.get(message.tool_call_id)
