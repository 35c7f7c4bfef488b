"""The guard as middleware of FastMCP: `mcp.add_middleware(McpGuard("shop.yaml"))`.

It stands before any FastMCP server; `rpms.guard.mcp_proxy` is one that passes calls on to others.
"""

from __future__ import annotations

import hashlib
import json
import logging
from asyncio import to_thread
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.settings_files import settings_files_unread
from rpms.guard.calls import (
    FORM,
    PROMPT,
    RESOURCE,
    SERVER,
    Ask,
    Call,
    Modify,
    Refuse,
    Ruling,
    ToolManual,
)
from rpms.guard.comparisons import text_of
from rpms.guard.conversations import Conversations
from rpms.guard.guard import Guard, ManualLike
from rpms.guard.mcp_schemas import differences, mistake_in
from rpms.logic.errors import InputError

try:
    import httpx2
    import mcp_types

    with settings_files_unread():
        from fastmcp.exceptions import FastMCPError, PromptError, ResourceError
        from fastmcp.server.context import Context
        from fastmcp.server.dependencies import bind_request_context, get_access_token
        from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
        from fastmcp.tools.base import InputRequiredToolResult, Tool, ToolResult
        from mcp.shared.exceptions import MCPError
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[mcp]'") from None

_MINE = "rpms_guard"
_MOST_ASKED = 1_000
"""Questions that wait for their answers at once."""
_LONGEST_QUESTION = 50_000
"""Characters of a call that a person is asked to read."""
_YES = {
    "type": "object",
    "properties": {"value": {"type": "boolean", "title": "Make this call"}},
    "required": ["value"],
}
_UNSURE = (mcp_types.INTERNAL_ERROR, mcp_types.REQUEST_TIMEOUT, mcp_types.CONNECTION_CLOSED)
"""Errors after which nobody knows whether a call was done."""
_REMEMBERED = 30.0
"""Seconds for which a tool's schema is remembered."""
_LOUD = logging.getLogger("rpms.guard")


class NotSent(MCPError):
    """A server could not be reached, so that a call was not made."""


def client_here(claim: str = "") -> str:
    """Name of the client that has authenticated, by a claim of its token or its subject; empty
    where none need.
    """
    token = get_access_token()
    if token is None:
        return ""
    if not claim:
        return token.subject or token.client_id
    name = token.claims.get(claim)
    if not isinstance(name, str) or not name:
        raise MCPError(mcp_types.INVALID_REQUEST, f"the token has no claim {claim!r}")
    return name


class _Known(NamedTuple):
    """A tool's schema, and when it must be looked up again."""

    tool: Tool
    until: float


class _Ruled(NamedTuple):
    """A ruling, and the decision of a person who was asked before it."""

    ruling: Ruling
    approved: bool | None = None


class McpGuard(Middleware):
    """Judges calls of tools, and what is read of resources and prompts.

    Each client that authenticates has a belief of its own. Without authentication there is one,
    since nothing that a client says about itself can be believed.
    """

    def __init__(
        self,
        guard: Guard | ManualLike,
        *,
        claim: str = "",
        known: Mapping[str, Guard] | None = None,
        **options: Any,
    ) -> None:
        """`guard` is a Guard, or a manual with the options of one: `python`, `log`, `store`.

        `claim` names the part of a token that tells clients apart, instead of its subject. `known`
        are the guards of earlier conversations, by client.
        """
        self._guard = guard if isinstance(guard, Guard) else Guard(guard, **options)
        self.claim = claim
        self._conversations = Conversations(self._guard, known)
        self._asked: OrderedDict[str, str] = OrderedDict()
        """Calls that a person is asked about, by the state that comes back with the answer."""
        self._approved: OrderedDict[str, str] = OrderedDict()
        """The state of a server that asks too, by the call that was approved before."""
        self.unreachable: Callable[[], str] = _nothing_is_behind
        """Says which server behind this one cannot be reached, if there are any."""
        self._compared: Sequence[str] = ()
        self._tools: dict[str, _Known] = {}

    @property
    def manual(self) -> ToolManual:
        """The manual that calls are judged by."""
        return self._guard.manual

    @property
    def ready(self) -> bool:
        """True if there is a manual to judge by."""
        self._guard.refresh()
        return not self._guard.problem

    def guard_of(self, client: str) -> Guard:
        """The guard of a client, to tell it what the host knows."""
        return self._conversations.guard_of(client)

    def _guard_here(self) -> Guard:
        """The guard of the authenticated client."""
        return self._conversations.guard_of(client_here(self.claim) or self._guard.session)

    # --- tools ---

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        here = context.fastmcp_context
        assert here is not None
        message = context.message
        guard = self._guard_here()
        guard.refresh()
        call = Call(message.name, message.arguments or {}, uuid4().hex)
        ruling, approved = await self._rule(here, message, guard, call)
        if isinstance(ruling, Ask):
            return self._answer_that_asks(_question(call, ruling), _place(guard, call))
        if not ruling.goes_on:
            return _refused(ruling)
        made = ruling.call if isinstance(ruling, Modify) else call
        changed = context.copy(message=message.model_copy(update={"arguments": made.arguments}))
        result = await self._make_and_learn(guard, made, lambda: _made(changed, call_next))
        if isinstance(result, InputRequiredToolResult):
            if approved:
                state = result.input_required.request_state or ""
                _keep(self._approved, _place(guard, call), state)
            return result
        return _noted(result, ruling)

    async def _rule(
        self, here: Context, message: mcp_types.CallToolRequestParams, guard: Guard, call: Call
    ) -> _Ruled:
        """The ruling on a call. Where a person decides, the client is asked to ask; one of the
        newest protocol is asked by the answer to its call, so that the ruling stays Ask.
        """
        approved = self._decision(message, guard, call)
        tool = await self._tool(here, call.tool)
        wrong = mistake_in(guard.manual, call, tool)
        if tool is None and self.unreachable():
            wrong = Refuse(self.unreachable(), SERVER, "", "try again later, or tell the operator")
        ruling = await _checked(guard, call, can_ask=_can_ask(here), approved=approved, wrong=wrong)
        if not isinstance(ruling, Ask):
            return _Ruled(ruling, approved)
        question = _question(call, ruling)
        if len(question) > _LONGEST_QUESTION:
            book = Refuse("no person can read so long a call", FORM)
            return _Ruled(await _checked(guard, call, wrong=book))
        if _is_modern(here):
            return _Ruled(ruling)
        answer = await here.elicit(question, bool)
        approved = answer.action == "accept" and answer.data is True
        return _Ruled(await _checked(guard, call, approved=approved), approved)

    async def _tool(self, here: Context, name: str) -> Tool | None:
        """The tool of a name, which is looked for again after a while."""
        known = self._tools.get(name)
        if known is not None and monotonic() < known.until:
            return known.tool
        tool = await here.fastmcp.get_tool(name)
        if tool is not None:
            self._tools[name] = _Known(tool, monotonic() + _REMEMBERED)
        return tool

    def _decision(
        self, message: mcp_types.CallToolRequestParams, guard: Guard, call: Call
    ) -> bool | None:
        """A person's answer that comes with a call, which holds for that very call and once."""
        state = message.request_state
        if state is None:
            return None
        place = _place(guard, call)
        if self._approved.get(place) == state:
            del self._approved[place]
            return True
        if not state.startswith(_MINE):
            return None
        answers = message.input_responses or {}
        said = answers.get(_MINE)
        if self._asked.pop(state, None) != place or not isinstance(said, mcp_types.ElicitResult):
            return False
        return said.action == "accept" and (said.content or {}).get("value") is True

    def _answer_that_asks(self, question: str, place: str) -> ToolResult:
        """An answer to a call that has the client ask its user, as clients do since 2026-07-28."""
        state = f"{_MINE} {uuid4().hex}"
        _keep(self._asked, state, place)
        form = mcp_types.ElicitRequestFormParams(message=question, requested_schema=_YES)
        asked: mcp_types.InputRequests = {_MINE: mcp_types.ElicitRequest(params=form)}
        return InputRequiredToolResult(
            mcp_types.InputRequiredResult(input_requests=asked, request_state=state)
        )

    async def _make_and_learn(
        self, guard: Guard, call: Call, make: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """The result of a call, learned from."""
        with _learning(guard, call):
            result = await make()
        if isinstance(result, InputRequiredToolResult):
            guard.withdraw(call)  # it comes again, with what the server asks for
        else:
            failed = True if result.is_error else None
            await _observe(guard, call, value_of(result), failed=failed)
        return result

    # --- resources and prompts ---

    async def on_read_resource(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        call = Call(RESOURCE, {"uri": str(context.message.uri)}, uuid4().hex)
        return await self._read(call, ResourceError, lambda: call_next(context))

    async def on_get_prompt(self, context: MiddlewareContext[Any], call_next: Any) -> Any:
        message = context.message
        given = {"name": message.name, "arguments": message.arguments or {}}
        call = Call(PROMPT, given, uuid4().hex)
        return await self._read(call, PromptError, lambda: call_next(context))

    async def _read(
        self, call: Call, refused: type[FastMCPError], read: Callable[[], Awaitable[Any]]
    ) -> Any:
        """Read something that is no tool; where a person should be asked, it is refused."""
        guard = self._guard_here()
        ruling = await _checked(guard, call, can_modify=False)
        if not ruling.goes_on:
            raise refused(f"Not done. {ruling.text}")
        try:
            with _learning(guard, call):
                result = await read()
        except Exception as error:
            if self.unreachable():
                raise refused(f"Not done. {self.unreachable()}") from error
            raise
        await _observe(guard, call, result.model_dump_json(), failed=None)
        return result

    # --- lists ---

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        """Pass the list on, and say where the manual and the tools do not agree."""
        tools = await call_next(context)
        problem = self.unreachable()
        found = [problem] if problem else differences(self._guard.manual, tools)
        if found != self._compared:
            for difference in found:
                _LOUD.warning(difference)
        self._compared = found
        return tools


def _nothing_is_behind() -> str:
    """No problem: the tools are those of the server itself."""
    return ""


async def _made(
    context: MiddlewareContext[mcp_types.CallToolRequestParams],
    call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
) -> ToolResult:
    """The result of a call, which is made without an answer that was meant for the guard."""
    here = context.fastmcp_context
    request = here.request_context if here is not None else None
    if request is None or not (context.message.request_state or "").startswith(_MINE):
        return await call_next(context)
    asked = request._srctx  # noqa: SLF001  FastMCP's door to the request as it came
    given = dict(asked.params or {})
    for for_guard in ("requestState", "inputResponses"):
        given.pop(for_guard, None)
    with bind_request_context(replace(asked, params=given)):
        return await call_next(context)


async def _checked(
    guard: Guard,
    call: Call,
    *,
    can_modify: bool = True,
    can_ask: bool = False,
    approved: bool | None = None,
    wrong: Refuse | None = None,
) -> Ruling:
    """Check a call; what may take long does not keep other clients waiting."""
    check = partial(
        guard.check,
        call,
        can_modify=can_modify,
        can_ask=can_ask,
        approved=approved,
        wrong=wrong,
    )
    return await to_thread(check) if guard.may_wait else check()


async def _observe(guard: Guard, call: Call, result: Any, *, failed: bool | None) -> None:
    if guard.may_wait:
        await to_thread(guard.observe, call, result, failed=failed)
    else:
        guard.observe(call, result, failed=failed)


def _can_ask(here: Context) -> bool:
    """True if the client can show its user a form."""
    said = here.session.client_capabilities
    if said is None or said.elicitation is None:
        return False
    return said.elicitation.form is not None or said.elicitation.url is None


def _is_modern(here: Context) -> bool:
    return (
        here.request_context is not None
        and here.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS
    )


def _keep(those: OrderedDict[str, str], key: str, value: str) -> None:
    """Remember something, in bounded space: clients that never answer must not fill the memory."""
    those[key] = value
    if len(those) > _MOST_ASKED:
        those.popitem(last=False)


def _place(guard: Guard, call: Call) -> str:
    """Tells a client's call from every other, whatever its arguments hold."""
    exact = json.dumps([guard.session, call.tool, call.arguments], sort_keys=True)
    return hashlib.sha256(exact.encode()).hexdigest()


def _question(call: Call, ruling: Ruling) -> str:
    """Text that a person decides by: the rule, and the whole call, each argument on its line."""
    lines = [ruling.text, f"The call: {_plain(call.tool)}"]
    for name, value in sorted(call.arguments.items()):
        lines.append(f"  {_plain(name)}: {_plain(text_of(value))}")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """A text in which nothing hides: signs that are not shown are spelled out."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def _refused(ruling: Ruling) -> ToolResult:
    content = mcp_types.TextContent(type="text", text=f"Not done. {ruling.text}")
    return ToolResult(content=[content], is_error=True)


def _noted(result: ToolResult, ruling: Ruling) -> ToolResult:
    """A result with what the model should know about its call."""
    if not ruling.notice:
        return result
    notice = mcp_types.TextContent(type="text", text=ruling.notice)
    return ToolResult(
        content=[*result.content, notice],
        structured_content=result.structured_content,
        meta=result.meta,
        is_error=result.is_error,
    )


@contextmanager
def _learning(guard: Guard, call: Call) -> Iterator[None]:
    """Learn from a call that ends in an error."""
    try:
        yield
    except Exception as error:
        _learn_failure(guard, call, error)
        raise
    except BaseException:  # the client went away
        guard.abandon(call)
        raise


def _learn_failure(guard: Guard, call: Call, error: BaseException) -> None:
    """Learn from a call that brought no result: it failed, was not made, or nobody knows."""
    first = error
    while first.__cause__ is not None and not isinstance(first, NotSent):
        first = first.__cause__
    said_by_server = isinstance(first, MCPError) and first.error.code not in _UNSURE
    if isinstance(first, NotSent | httpx2.ConnectError | httpx2.ConnectTimeout):
        guard.withdraw(call)
    elif said_by_server or isinstance(first, FastMCPError):
        guard.observe(call, str(first), failed=True)
    else:
        guard.abandon(call)


def value_of(result: ToolResult) -> Any:
    """The value that a tool returned, which may be a text with JSON in it."""
    texts = [each.text for each in result.content if isinstance(each, mcp_types.TextContent)]
    structured = result.structured_content
    if structured is None:
        return "\n".join(texts)
    if structured.keys() == {"result"} and not _is_text_of(texts, structured):
        return structured["result"]  # SDKs wrap what is not an object
    return structured


def _is_text_of(texts: list[str], value: Any) -> bool:
    """True if the text beside a structured result is that very object."""
    if len(texts) != 1 or texts[0].lstrip()[:1] != "{":
        return False
    try:
        return bool(loads(texts[0], once=True) == value)
    except NotJson:
        return False
