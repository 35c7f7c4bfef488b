"""The documentation holds together: links lead somewhere, every page is in the contents, a
search finds sections.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

from tests.cli.command import Rpms
from tests.cli.command import rpms as rpms  # noqa: PLC0414  a fixture

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*/*.md")]


def _anchors(page: Path) -> set[str]:
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path):
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


def test_every_name_of_the_paper_to_code_page_is_in_the_code():
    text = (ROOT / "docs" / "paper_to_code.md").read_text(encoding="utf-8")
    names = set(
        re.findall(
            r"`((?:logic|paper|planning|worlds|report|store|play|learning)\.[A-Za-z_.]*[A-Za-z_])(?=[`( ])",
            text,
        )
    )
    assert len(names) > 20
    for name in names:
        pkgutil.resolve_name(f"rpms.{name}")


def test_the_contents_by_task_name_every_page(rpms: Rpms):
    contents = rpms("docs").out
    assert {page.name for page in ROOT.glob("docs/*.md")} <= set(
        re.findall(r"docs/([a-z0-9_]+\.md)", contents)
    )


def test_a_search_lists_the_sections_that_have_all_words(rpms: Rpms):
    found = rpms("docs", "ollama", "context").out.splitlines()
    assert found[0] == "docs/models.md: I have a server"
    assert "OLLAMA_CONTEXT_LENGTH" in found[1]


def test_examples_are_searched_and_listed_in_a_clone_and_in_a_package(rpms: Rpms):
    pages = {str(page.relative_to(ROOT)) for page in ROOT.glob("examples/*/README.md")}
    assert rpms("docs", "telecom", "inspect-evals").out.startswith("examples/tau2_telecom/")
    assert "examples/textworld_express/README.md" in rpms("docs").out
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {page: packed.get(page) for page in pages} == {
        page: f"rpms/manual/{page}" for page in pages
    }


def test_a_search_without_a_hit_says_what_to_do(rpms: Rpms):
    assert rpms("docs", "xyzzy").line.startswith(
        "no section of the docs has xyzzy: try fewer words"
    )


def test_the_page_about_teaching_is_short_and_begins_with_its_commands():
    text = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
    words = [word for word in text.split() if any(letter.isalnum() for letter in word)]
    assert len(words) <= 700
    first = text.partition("```sh\n")[2].partition("```")[0].splitlines()
    starts = ("rpms teach pairs", "rpms teach train", "rpms teach correct")
    assert [line.startswith(start) for line, start in zip(first, starts, strict=True)] == [True] * 3


def test_the_architecture_has_a_page_and_no_more():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1200


def test_the_papers_limitations_have_a_short_page_that_the_readme_links_to():
    text = (ROOT / "docs" / "limitations.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 500
    named = text.count("*The paper:*")
    assert named == 4
    for part in ("*Here:*", "*Measured:*", "*Open:*"):
        assert text.count(part) == named
    assert "(docs/limitations.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
