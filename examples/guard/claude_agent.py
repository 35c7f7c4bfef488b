"""The guard around tools of the Claude Agent SDK, called here as the SDK calls them."""

import asyncio
import json
from pathlib import Path

from claude_agent_sdk import create_sdk_mcp_server, tool
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")


def shown(text: str, *, failed: bool = False) -> dict:
    """A result as the SDK takes it."""
    return {"content": [{"type": "text", "text": text}], "is_error": failed}


def guarded(function, fields):  # noqa: ANN001, ANN201
    """A tool of the SDK, behind the guard."""
    checked = guard.wrap(function, refused=lambda ruling: f"Not done. {ruling.text}")

    @tool(function.__name__, function.__doc__, fields)
    async def run(arguments: dict) -> dict:
        result = checked(**arguments)
        text = result if isinstance(result, str) else json.dumps(result)
        return shown(text, failed=text.startswith("Not done."))

    return run


look = guarded(get_order, {"order_id": str})
cancel = guarded(cancel_order, {"order_id": str, "user_id": str})
server = create_sdk_mcp_server(
    "shop", tools=[look, cancel]
)  # for ClaudeAgentOptions(mcp_servers=…)


async def main() -> None:
    """Try to cancel what was delivered."""
    guard.hear("yes")
    for each, arguments in ((cancel, CANCEL), (look, LOOK), (cancel, CANCEL)):
        result = await each.handler(arguments)
        print(f"{each.name}: {result['content'][0]['text']}")


asyncio.run(main())
