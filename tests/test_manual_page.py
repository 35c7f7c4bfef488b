"""docs/manual.md: short, complete, and every block of it is what it says it is."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from rpms.store import manual_forms
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "manual.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)


def test_it_is_short():
    prose = re.sub(r"^```.*?^```$", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert sum(any(map(str.isalpha, word)) for word in prose.split()) < 1_100


def test_it_names_every_key_that_the_reader_knows():
    forms = [form for name, form in vars(manual_forms).items() if name.endswith("Form")]
    keys = {each.name.rstrip("_") for form in forms for each in fields(form)}
    named = set(re.findall(r"`(\w+)[:`]", PAGE)) | set(
        re.findall(r"\b(\w+):", " ".join(block[2] for block in BLOCKS))
    )
    assert keys - named == set()


@pytest.mark.parametrize(("title", "text"), [block[1:] for block in BLOCKS if block[1]])
def test_its_examples_stand_in_the_worlds(title: str, text: str):
    assert text in (ROOT / title).read_text(encoding="utf-8")


def test_its_other_blocks_work(rpms: Rpms):
    for language, title, text in BLOCKS:
        if language == "console":
            command, *shown = text.removeprefix("$ ").splitlines()
            out = rpms(*shlex.split(command)[1:]).out
            assert [line for line in shown if line not in out] == []
        elif not title:
            facts = "predicates: {holding: {args: [x]}, in: {args: [x, y]}, steeped: {args: [x]}}\n"
            (purpose,) = read_manual(ManualText("page.yaml", facts + text)).purposes
            assert [step.name for step in purpose.steps] == ["fetch", "steep"]
