"""docs/guard.md does what it says: its manual is sound, its loop runs as it stands, and prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rpms.guard import read_tool_manual

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


@pytest.mark.parametrize("title", re.findall(r'title="(examples/[^"]+)"', PAGE))
def test_what_is_quoted_from_a_file_stands_in_it(title):
    (quoted,) = re.findall(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)
    assert quoted.strip() in (ROOT / title).read_text(encoding="utf-8")


def test_the_keys_that_the_page_explains_make_a_manual():
    reference = PAGE[PAGE.index("## The manual, key by key") :]
    parts = re.findall(r"```yaml\n(.*?)```", reference, re.DOTALL)
    more = """
  in_order: {args: [order, item], of: order, path: items.*.id, is: <item>}
  returned: {args: [order], initially: false}
  was_read: {args: [path], initially: false}
  seen: {args: [path], initially: false}
  same_method: {args: [order, method], of: order, path: paid_with, is: <method>}
  agrees: {args: [text], path: <text>, is: "yes"}
"""
    settings, records, facts, tools, policies = parts
    tools = tools.replace("args: [order_id, items, method]", "args: [order_id, items, method, user_id]")
    manual = read_tool_manual(("page", settings + records + facts + more.lstrip("\n") + tools + policies))
    assert len(manual.policies) == 2
    assert len(manual.facts) > 12
