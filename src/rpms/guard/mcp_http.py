"""A guard before one or several MCP servers over Streamable HTTP, with the official SDK.

Each session has a belief of its own; the servers behind are started or connected to once, and
shared by all sessions. Where a person has to approve a call, its client asks (`_ruling`).
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from hmac import compare_digest
from typing import Any
from uuid import uuid4

from rpms.foreign.limits import LARGEST_MESSAGE
from rpms.foreign.shown import excerpt
from rpms.guard import mcp_messages as mcp
from rpms.guard.calls import Ask, Call, Modify, Ruling
from rpms.guard.conversations import Conversations
from rpms.guard.guard import Guard
from rpms.logic.errors import InputError

try:
    import mcp_types as types
    import uvicorn
    from mcp import Client, MCPError, StdioServerParameters
    from mcp.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.responses import PlainTextResponse
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[mcp]'") from None

SESSION = "x-guard-session"
"""The header by which a client names its conversation: it is then the same one after a restart
of either side."""
_MOST_PAGES = 1_000
"""Pages of a list that are read: a server may go on for ever."""
_MODERN = "2026"
"""Versions from here on ask for input in the answer to a call; earlier ones by a request of the
server's."""


class Gateway:
    """Judges the calls of all sessions, and passes them to the server that has the tool."""

    def __init__(
        self,
        guard: Guard,
        servers: Sequence[str | Sequence[str]],
        complain: Callable[[str], None],
        *,
        patience: float = 300.0,
        known: Mapping[str, Guard] | None = None,
    ) -> None:
        """`servers` are addresses, or commands to start; `known` are the guards of earlier
        sessions.
        """
        self._guard, self._servers, self._complain, self._patience = (
            guard,
            servers,
            complain,
            patience,
        )
        self._conversations = Conversations(guard, known)
        self._clients: list[Client] = []
        self._tools: dict[str, tuple[Client, types.Tool]] = {}
        self._asked = mcp.Newest[str]()
        """The calls that a person is asked about, by what the client sends back; and states of
        approved ones."""
        self.server: Server[Any] = Server(
            "rpms-guard",
            get_tool_input_schema=lambda name: (
                self._tools[name][1].input_schema if name in self._tools else None
            ),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=lambda *_: self._all("resources"),
            on_list_resource_templates=lambda *_: self._all("resource_templates"),
            on_read_resource=lambda _, params: self._first("read_resource", params.uri),
            on_list_prompts=lambda *_: self._all("prompts"),
            on_get_prompt=lambda _, params: self._first(
                "get_prompt", params.name, params.arguments
            ),
        )

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Start or connect to the servers, and keep them until the end."""
        async with AsyncExitStack() as stack:
            for each in self._servers:
                declined: Any = _declined
                client = Client(_place(each), elicitation_callback=declined, cache=None)
                try:
                    self._clients.append(await stack.enter_async_context(client))
                except (OSError, MCPError, ExceptionGroup) as error:
                    name = each if isinstance(each, str) else each[0]
                    raise InputError(
                        f"no connection to the server {excerpt(name)!r}: {_cause(error)}"
                    ) from None
                for tool in (await _listed(self._clients[-1], "tools")).tools:
                    if tool.name in self._tools:
                        raise InputError(
                            f"two servers have a tool {excerpt(tool.name)!r}: serve them apart"
                        )
                    self._tools[tool.name] = (self._clients[-1], tool)
            listed = [
                {"name": name, "inputSchema": tool.input_schema}
                for name, (_, tool) in self._tools.items()
            ]
            for difference in mcp.differences(self._guard.manual, listed):
                self._complain(difference)
            yield

    async def _list_tools(self, _context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool for _, tool in self._tools.values()])

    async def _all(self, what: str) -> Any:
        """The lists of all servers that have one, as one."""
        found: list[Any] = []
        for client in self._clients:
            with suppress(MCPError):
                found.append(await _listed(client, what))
        if not found:
            raise MCPError(types.METHOD_NOT_FOUND, "no server offers this")
        return found[0].model_copy(
            update={what: [each for page in found for each in getattr(page, what)]}
        )

    async def _first(self, method: str, *arguments: Any) -> Any:
        """The answer of the first server that has one."""
        problem = MCPError(types.METHOD_NOT_FOUND, "no server offers this")
        for client in self._clients:
            try:
                return await getattr(client, method)(*arguments)
            except MCPError as error:
                problem = error
        raise problem

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> Any:
        guard = self._guard_of(context)
        guard.refresh()
        call = Call(params.name, params.arguments or {}, uuid4().hex[:8])
        before = f"{guard.session} {call.key}"
        client = self._tools.get(params.name, (None, None))[0]
        if client is None:
            return _failed(f"no server has a tool {excerpt(call.tool)!r}")
        answers = params.request_state is not None or params.input_responses is not None
        approved = (
            True
            if self._asked.pop(before, None) == (params.request_state or "") and answers
            else None
        )
        if params.request_state is not None and params.request_state in self._asked:
            same = self._asked.pop(params.request_state) == call.key
            replies = mcp.object_of(params.model_dump(mode="json").get("input_responses"))
            approved = same and mcp.accepts(replies.get(mcp.MINE))
            params = params.model_copy(update={"request_state": None, "input_responses": None})
        ruling = await self._ruling(guard, call, context, approved)
        if isinstance(ruling, types.InputRequiredResult):
            return ruling
        if not ruling.goes_on:
            return _failed(f"Not done. {ruling.text}")
        made = ruling.call if isinstance(ruling, Modify) else call
        result = await self._made(guard, made, client, params, ruling.notice, context)
        if approved and isinstance(result, types.InputRequiredResult):
            self._asked[before] = (
                result.request_state or ""
            )  # the server asks too: the same call comes with the answer
        return result

    async def _ruling(self, guard: Guard, call: Call, context: Any, approved: bool | None) -> Any:
        """The ruling, after a person was asked where the client can ask one."""
        capabilities = (
            context.session.client_params.capabilities if context.session.client_params else None
        )
        can_ask = capabilities is not None and capabilities.elicitation is not None
        ruling: Ruling = await asyncio.to_thread(
            guard.check, call, can_modify=True, can_ask=can_ask, approved=approved
        )
        if not isinstance(ruling, Ask):
            return ruling
        asking = mcp.question(call, ruling)
        if context.protocol_version >= _MODERN:
            token = f"{mcp.MINE}-{uuid4().hex}"
            self._asked[token] = call.key
            request = types.ElicitRequest(
                params=types.ElicitRequestFormParams.model_validate(asking)
            )
            return types.InputRequiredResult(
                input_requests={mcp.MINE: request}, request_state=token
            )
        said = await context.session.elicit_form(
            asking["message"], asking["requestedSchema"], context.request_id
        )
        return await asyncio.to_thread(
            guard.check, call, can_modify=True, approved=said.action == "accept"
        )

    async def _made(
        self,
        guard: Guard,
        call: Call,
        client: Client,
        params: types.CallToolRequestParams,
        notice: str,
        context: Any,
    ) -> Any:
        """The result of a call that is let through, learned from."""
        options: dict[str, Any] = {
            "read_timeout_seconds": self._patience,
            "allow_input_required": True,
        }
        options |= {
            "input_responses": params.input_responses,
            "request_state": params.request_state,
        }
        try:
            result = await client.session.call_tool(call.tool, dict(call.arguments), **options)
            while (
                isinstance(result, types.InputRequiredResult) and context.protocol_version < _MODERN
            ):
                options |= {
                    "request_state": result.request_state,
                    "input_responses": await _ask_all(context, result),
                }
                result = await client.session.call_tool(call.tool, dict(call.arguments), **options)
        except MCPError as error:
            late = error.code == types.REQUEST_TIMEOUT
            (guard.abandon(call) if late else guard.observe(call, error.message, failed=True))
            raise
        except BaseException:  # the client went away, or the server did
            guard.abandon(call)
            raise
        outcome = mcp.result_outcome(
            json.loads(result.model_dump_json(by_alias=True, exclude_none=True))
        )
        if outcome.asks or outcome.task:
            guard.withdraw(call)
            return result
        await asyncio.to_thread(guard.observe, call, outcome.result, failed=outcome.failed)
        added = {"content": [*result.content, types.TextContent(text=notice)]} if notice else {}
        return result.model_copy(update=added)

    def _guard_of(self, context: Any) -> Guard:
        """The guard of a session: as the client names it, by the transport's id, or of whoever
        has this token.
        """
        headers = context.request.headers if context.request is not None else {}
        token = headers.get("authorization", "")
        owner = hashlib.sha256(token.encode()).hexdigest()[:16] if token else "anyone"
        named = headers.get(SESSION, "")[:100]
        return self._conversations.guard_of(
            f"{owner}/{named}" if named else headers.get("mcp-session-id") or owner
        )


def serve(gateway: Gateway, host: str, port: int, token: str = "") -> None:
    """Serve until interrupted. Beyond this machine, every request must carry the token."""
    local = host in ("127.0.0.1", "localhost", "::1")
    if not local and not token:
        raise InputError(
            f"--listen {host} is open to other machines: set RPMS_GUARD_TOKEN, which clients must"
            " send"
        )
    security = None if local else TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app: Any = gateway.server.streamable_http_app(
        host=host, max_request_body_size=LARGEST_MESSAGE, transport_security=security
    )
    refusal = PlainTextResponse("this guard wants a token\n", 401, {"www-authenticate": "Bearer"})

    async def checked(scope: Any, receive: Any, send: Any) -> None:
        given = next(
            (value for name, value in scope.get("headers", ()) if name == b"authorization"), b""
        )
        right = (
            not token
            or scope["type"] == "lifespan"
            or compare_digest(given, f"Bearer {token}".encode())
        )
        await (app if right else refusal)(scope, receive, send)

    config = uvicorn.Config(checked, host=host, port=port, log_level="warning")

    async def serving() -> None:
        async with gateway.connected():
            try:
                await uvicorn.Server(config).serve()
            except SystemExit:
                raise InputError(f"nothing can be served at {host}:{port}: is it in use?") from None
            except KeyboardInterrupt:
                pass

    try:
        asyncio.run(serving())
    except BaseExceptionGroup as several:  # of the task groups in which servers are connected
        raise InputError(_cause(several)) from None


def _cause(error: BaseException) -> str:
    """The first error of a group, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return excerpt(error) or type(error).__name__


def _place(server: str | Sequence[str]) -> str | StdioServerParameters:
    return (
        server
        if isinstance(server, str)
        else StdioServerParameters(command=server[0], args=list(server[1:]))
    )


async def _listed(client: Client, what: str) -> Any:
    """All that a server lists: `tools`, `resources` and so on; its pages as one, while they are
    new and not many.
    """
    page = await getattr(client, f"list_{what}")()
    found, cursor, followed = list(getattr(page, what)), page.next_cursor, set[str]()
    while cursor and cursor not in followed and len(followed) < _MOST_PAGES:
        followed.add(cursor)
        more = await getattr(client, f"list_{what}")(cursor=cursor)
        found += getattr(more, what)
        cursor = more.next_cursor
    return page.model_copy(update={what: found, "next_cursor": None})


def list_tools(server: str | Sequence[str]) -> list[dict[str, Any]]:
    """The tools that a server lists, as JSON."""

    async def listed() -> list[dict[str, Any]]:
        async with Client(_place(server)) as client:
            tools = await _listed(client, "tools")
            return [
                tool.model_dump(by_alias=True, mode="json", exclude_none=True)
                for tool in tools.tools
            ]

    try:
        return asyncio.run(listed())
    except (OSError, MCPError, ExceptionGroup) as error:
        raise InputError(f"the server's tools cannot be listed: {_cause(error)}") from None


async def _declined(_context: Any, _params: Any) -> types.ElicitResult:
    """Answer to a server that asks by a request of its own: nobody knows which session it is
    for.
    """
    return types.ElicitResult(action="decline")


async def _ask_all(context: Any, result: types.InputRequiredResult) -> dict[str, Any]:
    """A server's question, put to a client of an earlier version."""
    said = {}
    for name, request in (result.input_requests or {}).items():
        if not isinstance(request, types.ElicitRequest):
            raise MCPError(
                types.INVALID_REQUEST, "the server asks for what only newer clients can give"
            )
        form = request.params
        if isinstance(form, types.ElicitRequestFormParams):
            said[name] = await context.session.elicit_form(
                form.message, form.requested_schema, context.request_id
            )
    return said


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
