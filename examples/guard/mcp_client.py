"""A public git server behind the guard, called by a real MCP client. The calls are a script, so
that no key is needed.

It needs `pip install 'rpms[mcp]' mcp-server-git`.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

MANUAL = Path(__file__).parent / "git.yaml"


async def main(repository: str) -> None:
    """Look at a repository, and stage a file in it, which is outside of where the manual lets
    anyone write.
    """
    command = [
        "-m",
        "rpms",
        "guard",
        "mcp",
        "--manual",
        str(MANUAL),
        "--",
        sys.executable,
        "-m",
        "mcp_server_git",
    ]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for tool, more in (("git_status", {}), ("git_add", {"files": ["."]})):
            answer = await session.call_tool(tool, {"repo_path": repository, **more})
            print(f"{tool}: {answer.content[0].text}")


with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["git", "init", "-q", folder], check=True)  # noqa: S603, S607  a folder of our own
    asyncio.run(main(folder))
