"""A shop over MCP, written with the official SDK as its documentation shows: a real server for
tests of the guard.
"""

import json
import sys
import time
from typing import Annotated

from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("shop")
status = {"W1": "pending", "W2": "delivered", "W3": "pending"}
cancelled: list[str] = []


class Sure(BaseModel):
    sure: bool


def ask() -> Elicit[Sure]:
    return Elicit("Really?", Sure)


@server.tool()
def get_order(order_id: str) -> str:
    """Look an order up: a text which is JSON."""
    return json.dumps({"id": order_id, "status": status[order_id]})


@server.tool()
def cancel_order(order_id: str) -> str:
    """Cancel an order, whatever its state."""
    cancelled.append(order_id)
    return "cancelled"


@server.tool()
def made() -> list[str]:
    """Say what was cancelled."""
    return cancelled


@server.tool()
async def refund(order_id: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
    """Give the money back, after a question of the server's own."""
    return f"refunded {order_id}" if sure.sure else "Error: not refunded"


@server.tool()
def slow(order_id: str, seconds: float) -> str:
    """Take some time."""
    time.sleep(seconds)
    return order_id


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
