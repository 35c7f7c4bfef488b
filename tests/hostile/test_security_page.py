"""Every promise of docs/security.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")
PROMISED = PAGE.partition("Not promised:")[0]
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def test_every_promise_names_a_test():
    promises = re.findall(r"^- (.*?)(?=^\S|\Z)", PROMISED, re.MULTILINE | re.DOTALL)
    assert len(promises) > 15
    assert [promise for promise in promises if not NAMED.search(promise)] == []


def test_every_named_test_exists():
    missing = [
        f"{file}::{test}"
        for file, test in NAMED.findall(PROMISED)
        if not re.search(
            rf"^def {test}\(", (TESTS / file).read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert missing == []
