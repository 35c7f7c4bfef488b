"""The guard as middleware of a FastMCP server, called here by a client in the same process."""

import asyncio
from pathlib import Path

from fastmcp import Client, FastMCP
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard.mcp import McpGuard

server = FastMCP("shop")
server.tool(get_order)
server.tool(cancel_order)
guard = McpGuard(Path(__file__).parent / "shop.yaml", session="mia")
server.add_middleware(guard)


async def main() -> None:
    """Try to cancel what was delivered."""
    guard.guard_of("mia").hear("yes")
    async with Client(server) as client:
        for tool, arguments in (
            ("cancel_order", CANCEL),
            ("get_order", LOOK),
            ("cancel_order", CANCEL),
        ):
            result = await client.call_tool_mcp(tool, arguments)
            print(f"{tool}: {result.content[0].text}")


asyncio.run(main())
