"""`rpms docs`: search the documentation, offline."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

import rpms
from rpms.cli.screen import say
from rpms.foreign.shown import one_line
from rpms.logic.errors import InputError

_PACKAGE = Path(rpms.__file__).parent
_IN_PACKAGE = _PACKAGE / "manual"
_IN_CLONE = _PACKAGE.parents[1]
_HEADING = re.compile(r"^#+ ")
_TASK = re.compile(r"^\| (?!I want)(.+?) \| (.*\]\((?:docs|examples)/.*) \|$", re.MULTILINE)
"""A line of README's table of contents: a task, and the pages for it."""
_PAGE = re.compile(r"\]\(((?:docs|examples)/[^)]*\.md[^)]*)\)")
"""A link to a page."""
_SHOWN = 8
"""Sections that a search prints."""
_QUOTED = 2
"""Lines quoted of each section."""
_NAMED = 2.0
"""Rank of a heading that is exactly one of the words."""


def search_docs(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words, or beginnings of words, that a section has.")
    ] = None,
) -> None:
    """List the sections of the documentation that have all the words; without words, the pages
    by task.
    """
    folder = _documentation()
    if not words:
        _list_pages(folder)
        return
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in words]
    found = [section for section in _all_sections(folder) if section.has_all(patterns)]
    if not found:
        raise InputError(
            f"no section of the docs has {' and '.join(words)}: try fewer words; `rpms docs` lists"
            " the pages"
        )
    found.sort(key=lambda section: -section.rank(patterns))
    for section in found[:_SHOWN]:
        say(f"{section.page}: {section.heading}")
        for line in section.best_lines(patterns):
            say(f"    {one_line(line.strip(), 180)}")
    if len(found) > _SHOWN:
        say(f"… and {len(found) - _SHOWN} more sections: add a word")


def _documentation() -> Path:
    """The folder with README.md, docs/ and the READMEs of examples/."""
    for folder in (_IN_PACKAGE, _IN_CLONE):
        if (folder / "docs").is_dir():
            return folder
    raise InputError(
        "the documentation is not installed here; a clone of the project has it in docs/"
    )


def _list_pages(folder: Path) -> None:
    """Say what README's table of contents has: tasks, each with its pages."""
    for task, links in _TASK.findall((folder / "README.md").read_text(encoding="utf-8")):
        pages = _PAGE.findall(links)
        if pages:
            say(f"{task:60} {', '.join(pages)}")


class _Section(NamedTuple):
    """A heading, with its page and the lines below it."""

    page: str
    heading: str
    lines: list[str]

    def has_all(self, words: Sequence[re.Pattern[str]]) -> bool:
        return all(any(map(word.search, (self.heading, *self.lines))) for word in words)

    def rank(self, words: Sequence[re.Pattern[str]]) -> float:
        """Rank of a section: a heading that is one of the words counts most, then words in the
        heading, then lines with all words, then the share of lines with any.
        """
        rank = float(_count(words, self.heading))
        if any(word.fullmatch(self.heading) for word in words):
            rank += _NAMED
        with_all = sum(_count(words, line) == len(words) for line in self.lines)
        rank += with_all / (with_all + 1)
        text = "\n".join(self.lines)
        hits = sum(len(word.findall(text)) for word in words)
        return rank + hits / (len(self.lines) + hits + 1)

    def best_lines(self, words: Sequence[re.Pattern[str]]) -> list[str]:
        """The lines to quote, in their order: those with most of the words."""
        ranked = sorted(self.lines, key=lambda line: -_count(words, line))
        best = ranked[:_QUOTED]
        return [line for line in self.lines if line in best and _count(words, line)]


def _count(words: Sequence[re.Pattern[str]], text: str) -> int:
    """Words that a text has."""
    return sum(bool(word.search(text)) for word in words)


def _all_sections(folder: Path) -> list[_Section]:
    """The sections of all pages, in their order."""
    pages = sorted((folder / "docs").glob("*.md"))
    examples = sorted((folder / "examples").glob("*/README.md"))
    found: list[_Section] = []
    for file in (folder / "README.md", *pages, *examples):
        found += _sections(str(file.relative_to(folder)), file.read_text(encoding="utf-8"))
    return found


def _sections(page: str, text: str) -> Iterator[_Section]:
    """The sections of a page, in their order."""
    section = _Section(page, "", [])
    in_code = False
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        if not in_code and _HEADING.match(line):
            yield section
            section = _Section(page, _HEADING.sub("", line), [])
        else:
            section.lines.append(line)
    yield section
