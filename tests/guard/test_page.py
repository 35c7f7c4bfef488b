"""docs/guard.md and docs/guard_manual.md do what they say: manuals are sound, the code runs as it
stands and prints what the page shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rpms.guard import Call, Guard, Modify, read_tool_manual
from rpms.guard.tool_manuals import find_tool_doubts

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


def test_the_keys_that_the_page_explains_make_a_manual_that_works():
    reference = (ROOT / "docs" / "guard_manual.md").read_text(encoding="utf-8")
    source = ("page", "".join(re.findall(r"```yaml\n(.*?)```", reference, re.DOTALL)))
    manual = read_tool_manual(source)
    assert len(manual.policies) == 2
    assert len(manual.facts) > 12
    assert not find_tool_doubts(source)

    order = {"id": "W1", "status": "pending", "items": [{"id": "a1"}]}
    for more in ({}, {"method": "card"}):
        guard = Guard(manual, python={"covers": lambda look, card, price: None})
        guard.observe(Call("get_order", {"order_id": "W1"}), order)
        ruling = guard.check(
            Call("return_items", {"order_id": "W1", "items": ["a1"], **more}), can_modify=True
        )
        assert isinstance(ruling, Modify)
        assert ruling.call.arguments["method"] == "original"
