"""The shop's tools as an MCP server over stdio, to stand behind `rpms guard mcp`."""

from fastmcp import FastMCP
from shop_tools import cancel_order, get_order

server = FastMCP("shop")
server.tool(get_order)
server.tool(cancel_order)

if __name__ == "__main__":
    server.run(show_banner=False, log_level="ERROR")
