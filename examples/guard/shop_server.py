"""The shop's tools as an MCP server over stdio, to stand behind `rpms guard mcp`."""

from fastmcp import FastMCP
from shop_tools import cancel_order, get_order, get_user, return_items

server = FastMCP("shop")
server.tool(get_order)
server.tool(cancel_order)
server.tool(get_user)
server.tool(return_items)

if __name__ == "__main__":
    server.run(show_banner=False, log_level="ERROR")
