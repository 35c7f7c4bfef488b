"""What docs/learned_rules.md shows is what its commands print."""

import re
from pathlib import Path

import pytest

from tests.test_tutorial import BLOCK, ROOT, follow


@pytest.mark.timeout(600)
def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path):
    text = (ROOT / "docs" / "learned_rules.md").read_text(encoding="utf-8")
    blocks = [block for language, _, block in BLOCK.findall(text) if language == "console"]
    commands: list[str] = []
    for block in blocks:
        commands += re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    assert len(commands) == 5
    for command, *shown in map(str.splitlines, commands):
        follow(command, shown, tmp_path)
