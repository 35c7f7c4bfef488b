"""Public MCP servers behind the proxy, driven by the SDK's client: git and sqlite from PyPI, files
from npm.

Servers are found on the PATH: `pip install mcp-server-git`, `pipx install mcp-server-sqlite`,
`npm install -g @modelcontextprotocol/server-filesystem`.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import runpy
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'rpms[mcp]'")
EXAMPLES = Path(__file__).parents[2] / "examples" / "guard"


def server(name: str) -> list[str]:
    if name == "mcp-server-git" and importlib.util.find_spec("mcp_server_git") is not None:
        return [sys.executable, "-m", "mcp_server_git"]
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return [found]


def play(manual: Path, command: list[str], scenario, **options) -> None:
    """Run a scenario with a function that calls a tool and returns whether it failed, and the
    text.
    """
    arguments = ["-m", "rpms", "guard", "mcp", "--manual", str(manual), "--", *command]
    proxy = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

    async def session() -> None:
        async with mcp.Client(proxy, **options) as client:

            async def call(tool: str, **given: object) -> tuple[bool, str]:
                result = await client.call_tool(tool, given)
                return bool(result.is_error), " ".join(part.text for part in result.content)

            await scenario(call)

    asyncio.run(asyncio.wait_for(session(), 120))


def test_a_file_server_where_new_files_are_fine_and_existing_ones_are_read_first(tmp_path):
    project, outside = (tmp_path / "project").resolve(), tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "old.txt").write_text("old")
    (project / ".env").write_text("KEY=1")
    (project / "away").symlink_to(outside)
    manual = tmp_path / "files.yaml"
    manual.write_text((EXAMPLES / "files.yaml").read_text().replace("/srv/project", str(project)))

    async def approve(_context, _params):
        return mcp.types.ElicitResult(action="accept", content={})

    async def scenario(call) -> None:
        old, new = str(project / "old.txt"), str(project / "new.txt")
        refused, text = await call("write_file", path=old, content="gone")
        assert refused
        assert "read_text_file first" in text
        refused, text = await call("write_file", path=new, content="new")
        assert refused
        assert "read_text_file first" in text
        failed, text = await call("get_file_info", path=new)
        assert failed
        assert "ENOENT" in text
        assert not (await call("write_file", path=f"{project}//new.txt", content="new"))[0]
        assert (project / "new.txt").read_text() == "new"
        assert not (await call("read_text_file", path=old))[0]
        assert not (await call("write_file", path=old, content="changed"))[0]
        for path in (str(outside / "x"), f"{project}/../outside/x", str(project / "away" / "x")):
            refused, text = await call("write_file", path=path, content="out")
            assert refused
            assert "P-PROJECT-001" in text
        for path in (str(project / ".env"), str(project / ".ENV")):
            assert "P-SECRET-001" in (await call("read_text_file", path=path))[1]
        moved = await call("move_file", source=new, destination=str(project / "moved.txt"))
        assert not moved[0], moved
        assert (project / "moved.txt").exists()
        assert not list(outside.iterdir())

    play(
        manual,
        [*server("mcp-server-filesystem"), str(project)],
        scenario,
        elicitation_callback=approve,
    )


SQL = """
guard: sql
facts:
  whole: {args: [query], path: <query>, matches: '(?:delete from|update) [^;]*', as: words}
  limited: {args: [query], path: <query>, contains: " where ", as: words}
  one: {args: [query], path: <query>, contains: ";"}
tools:
  read_query: [query]
  write_query: [query]
policies:
  P-ONE-001: {text: One statement at a time., tools: [read_query, write_query], when: one(query)}
  P-WHERE-001:
    text: Nothing is changed without a WHERE.
    tools: write_query
    when: whole(query)
    requires: limited(query)
"""


def test_a_sqlite_server_that_changes_nothing_without_a_where(tmp_path):
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as db:
        db.execute("create table bills (id text)")
        db.execute("insert into bills values ('B1'), ('B2')")
    manual = tmp_path / "sql.yaml"
    manual.write_text(SQL)

    async def scenario(call) -> None:
        assert "B1" in (await call("read_query", query="select * from bills"))[1]
        for query in (
            "DELETE  FROM bills",
            "delete\nfrom bills",
            "select 1; delete from bills where 1",
        ):
            refused, text = await call("write_query", query=query)
            assert refused, query
            assert "P-" in text
        assert not (await call("write_query", query="delete from bills where id = 'B1'"))[0]

    play(manual, [*server("mcp-server-sqlite"), "--db-path", str(file)], scenario)
    with sqlite3.connect(file) as db:
        assert db.execute("select id from bills").fetchall() == [("B2",)]


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


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

    async def scenario(call) -> None:
        async def of(tool: str, repo: Path | str = inside, **arguments: object) -> tuple[bool, str]:
            return await call(tool, repo_path=str(repo), **arguments)

        # no write outside a folder, whichever way it is written
        for where in (outside, f"{inside}/../../outside"):
            failed, text = await of("git_add", where, files=["b.txt"])
            assert failed
            assert "P-FOLDER-001" in text
        assert "b.txt" not in git(outside, "diff", "--cached", "--name-only")

        # what was staged before is not known until it was looked at
        for tool, more in (("git_reset", {}), ("git_add", {"files": ["a.txt"]})):
            failed, text = await of(tool, **more)
            assert failed
            assert "git_diff_staged" in text
        assert not (await of("git_diff_staged"))[0]

        # a transaction is committed or rolled back before another, whichever way its folder is
        # written
        assert await of("git_add", files=["a.txt"]) == (False, "Files staged successfully")
        failed, text = await of("git_add", files=["b.txt"])
        assert failed
        assert "P-ONE-001" in text
        for where in (f"{inside}/", f"{inside}/.", f"{inside.parent}/./inside", f"{inside}/.git"):
            assert (await of("git_add", where, files=["b.txt"]))[0]
            assert (await of("git_reset", where))[0]
        assert git(inside, "diff", "--cached", "--name-only") == "a.txt\n"
        failed, text = await of("git_create_branch", branch_name="other")
        assert failed

        # never throw away what was not read
        failed, text = await of("git_reset")
        assert failed
        assert "P-READ-001" in text
        assert "git_diff_staged first" in text
        assert "a.txt" in git(inside, "diff", "--cached", "--name-only")
        failed, text = await of("git_diff_staged")
        assert not failed
        assert "+two" in text
        assert not (await of("git_reset"))[0]
        assert git(inside, "diff", "--cached", "--name-only") == ""

        # what the manual does not declare is not called
        failed, text = await of("git_show", revision="HEAD")
        assert failed
        assert "G-OTHER" in text

        # the whole way, allowed
        assert not (await of("git_add", files=["b.txt"]))[0]
        assert not (await of("git_commit", message="second"))[0]

    play(repositories / "git.yaml", server("mcp-server-git"), scenario)
    assert "second" in git(inside, "log", "--oneline")


def test_the_example_lets_a_client_look_and_refuses_it_a_write(capsys):
    server("mcp-server-git")
    runpy.run_path(str(EXAMPLES / "mcp_client.py"), run_name="__main__")
    looked, refused = capsys.readouterr().out.split("git_add: ")
    assert "No commits yet" in looked
    assert refused.startswith("Not done. P-FOLDER-001: Nothing is written outside the workspace")
