"""A public MCP server behind the proxy, driven by a real MCP client, with a manual that forbids and requires."""

from __future__ import annotations

import asyncio
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = shutil.which("mcp-server-git", path=str(Path(sys.executable).parent)) or shutil.which("mcp-server-git")
if SERVER is None:
    pytest.skip("mcp-server-git is not installed: pip install mcp-server-git", allow_module_level=True)
mcp = pytest.importorskip("mcp", reason="the MCP client is not installed: pip install 'rpms[mcp]'")
from mcp.client.stdio import stdio_client  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples" / "guard"


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repositories(tmp_path):
    """Two repositories, of which only one is in the workspace; and the manual for it."""
    for name in ("workspace/inside", "outside"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "config", "user.name", "a")
        git(folder, "config", "user.email", "a@b")
        (folder / "a.txt").write_text("one\n")
        git(folder, "add", "a.txt")
        git(folder, "commit", "-qm", "first")
        (folder / "a.txt").write_text("two\n")
        (folder / "b.txt").write_text("new\n")
    manual = tmp_path / "git.yaml"
    inside = str(tmp_path / "workspace" / "inside")
    manual.write_text((EXAMPLES / "git.yaml").read_text().replace("/srv/repositories/a", inside))
    return tmp_path


def test_a_git_server_behind_the_guard(repositories):
    inside, outside = repositories / "workspace" / "inside", repositories / "outside"
    command = ["-m", "rpms", "guard", "mcp", "--manual", str(repositories / "git.yaml"), "--", SERVER]

    async def scenario() -> None:
        server = mcp.StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
        async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            names = {tool.name for tool in (await session.list_tools()).tools}
            assert {"git_add", "git_reset", "git_diff_staged"} <= names

            async def call(tool: str, repo: Path | str = inside, **arguments: object) -> tuple[bool, str]:
                result = await session.call_tool(tool, {"repo_path": str(repo), **arguments})
                return bool(result.is_error), result.content[0].text

            # no write outside a folder, whichever way it is written
            for where in (outside, f"{inside}/../../outside"):
                failed, text = await call("git_add", where, files=["b.txt"])
                assert failed
                assert "P-FOLDER-001" in text
            assert "b.txt" not in git(outside, "diff", "--cached", "--name-only")

            # what was staged before is not known until it was looked at
            for tool, more in (("git_reset", {}), ("git_add", {"files": ["a.txt"]})):
                failed, text = await call(tool, **more)
                assert failed
                assert "git_diff_staged" in text
            assert not (await call("git_diff_staged"))[0]

            # a transaction is committed or rolled back before another, whichever way its folder is written
            assert await call("git_add", files=["a.txt"]) == (False, "Files staged successfully")
            failed, text = await call("git_add", files=["b.txt"])
            assert failed
            assert "P-ONE-001" in text
            for where in (f"{inside}/", f"{inside}/.", f"{inside.parent}/./inside", f"{inside}/.git"):
                assert (await call("git_add", where, files=["b.txt"]))[0]
                assert (await call("git_reset", where))[0]
            assert git(inside, "diff", "--cached", "--name-only") == "a.txt\n"
            failed, text = await call("git_create_branch", branch_name="other")
            assert failed

            # never throw away what was not read
            failed, text = await call("git_reset")
            assert failed
            assert "P-READ-001" in text
            assert "git_diff_staged first" in text
            assert "a.txt" in git(inside, "diff", "--cached", "--name-only")
            failed, text = await call("git_diff_staged")
            assert not failed
            assert "+two" in text
            assert not (await call("git_reset"))[0]
            assert git(inside, "diff", "--cached", "--name-only") == ""

            # what the manual does not declare is not called
            failed, text = await call("git_show", revision="HEAD")
            assert failed
            assert "G-OTHER" in text

            # the whole way, allowed
            assert not (await call("git_add", files=["b.txt"]))[0]
            assert not (await call("git_commit", message="second"))[0]
        assert "second" in git(inside, "log", "--oneline")

    asyncio.run(asyncio.wait_for(scenario(), 120))


def test_the_example_lets_a_client_look_and_refuses_it_a_write(capsys):
    runpy.run_path(str(EXAMPLES / "mcp_client.py"), run_name="__main__")
    looked, refused = capsys.readouterr().out.split("git_add: ")
    assert "No commits yet" in looked
    assert refused.startswith("Not done. P-FOLDER-001: Nothing is written outside the workspace")
