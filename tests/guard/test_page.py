"""docs/guard.md and docs/guard_manual.md do what they say: manuals are sound, the code runs as it
stands and prints what the page shows.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.guard import Call, Guard, Modify, read_tool_manual
from rpms.guard.tool_manuals import find_likely_mistakes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_ten_minutes_end_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (manual,) = blocks('yaml title="shop.yaml"')
    (tmp_path / "shop.yaml").write_text(manual)
    exec(compile(blocks("python")[0], "docs/guard.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == blocks("text")[0]


def test_the_page_is_short():
    assert len(PAGE.split()) <= 1_800


def test_the_commands_of_the_page_end_with_the_refusal_that_it_shows(tmp_path):
    """Over stdio and over HTTP, as they stand, in a clone's folder."""
    pytest.importorskip("fastmcp", reason="FastMCP is not installed: pip install 'rpms[mcp]'")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command in ("rpms", "fastmcp", "curl", "bash"):
        if shutil.which(command, path=path) is None:
            pytest.skip(f"{command} is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    commands = blocks("sh")[0].replace(":8000", f":{port}")
    assert commands.count("fastmcp call") == 2
    shutil.copytree(ROOT / "examples" / "guard", tmp_path / "examples" / "guard")
    with (tmp_path / "out").open("w") as out:
        shell = subprocess.Popen(
            ["bash", "-c", commands],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, "NO_COLOR": "1"},
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        shell.wait(400)
        os.killpg(shell.pid, signal.SIGTERM)  # the gateway, which goes on
    said = " ".join((tmp_path / "out").read_text().split())
    (shown,) = re.findall(r"Both answer `(.*?) …`", PAGE)
    assert said.count(shown) == 2, said
    assert '{"ok":true,"manual":true,"servers":[true]}' in said


@pytest.mark.parametrize("title", re.findall(r'title="(examples/[^"]+)"', PAGE))
def test_what_is_quoted_from_a_file_stands_in_it(title):
    (quoted,) = re.findall(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)
    assert quoted.strip() in (ROOT / title).read_text(encoding="utf-8")


def test_the_keys_that_the_page_explains_make_a_manual_that_works():
    reference = (ROOT / "docs" / "guard_manual.md").read_text(encoding="utf-8")
    source = ("page", "".join(re.findall(r"```yaml\n(.*?)```", reference, re.DOTALL)))
    manual = read_tool_manual(source)
    assert len(manual.policies) == 2
    assert len(manual.facts) > 12
    assert not find_likely_mistakes(source)

    order = {"id": "W1", "status": "pending", "items": [{"id": "a1"}]}
    for more in ({}, {"method": "card"}):
        guard = Guard(manual, python={"covers": lambda look, card, price: None})
        guard.observe(Call("get_order", {"order_id": "W1"}), order)
        ruling = guard.check(
            Call("return_items", {"order_id": "W1", "items": ["a1"], **more}), can_modify=True
        )
        assert isinstance(ruling, Modify)
        assert ruling.call.arguments["method"] == "original"
