"""The Python of docs/running.md runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "running.md"


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, str(DOCS), "exec"), {"__name__": "example"})
    told = capsys.readouterr().out
    assert "of 4 {'won': 4}" in told
    assert "Your task is to: " in told
