"""`rpms docs`: search the documentation, offline."""

import re
from collections.abc import Iterator
from pathlib import Path

import rpms
from rpms.cli.screen import say
from rpms.foreign.shown import one_line
from rpms.logic.errors import InputError

_PACKAGE = Path(rpms.__file__).parent
_FOLDER = next(
    (each for each in (_PACKAGE / "manual", _PACKAGE.parents[1]) if (each / "docs").is_dir()), None
)
"""README.md and docs/: in an installed package, or in a clone."""
_HEADING = re.compile(r"^#+ ")
_TASK = re.compile(r"^\| (?!I want)(.+?) \| (.*\]\(docs/.*) \|$", re.MULTILINE)
"""A line of README's table of contents: a task, and the pages for it."""
_SHOWN, _QUOTED = 8, 2
"""Sections that a search prints, and lines quoted of each."""


def search_docs(words: list[str] | None = None) -> None:
    """List the sections of the documentation that have all the words; without words, the pages
    by task.
    """
    if _FOLDER is None:
        raise InputError(
            "the documentation is not installed here; a clone of the project has it in docs/"
        )
    if not words:
        for task, pages in _TASK.findall((_FOLDER / "README.md").read_text(encoding="utf-8")):
            say(f"{task:60} {', '.join(re.findall(r'docs/[a-z0-9_#.-]+', pages))}")
        return
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}", re.IGNORECASE) for word in words]
    found = []
    for page, heading, lines in _sections(_FOLDER):
        if all(any(map(one.search, (heading, *lines))) for one in patterns):
            hits = sum(len(one.findall(line)) for one in patterns for line in lines)
            # words in the heading count most, then the share of lines that have a word
            rank = sum(bool(one.search(heading)) for one in patterns) + hits / (
                len(lines) + hits + 1
            )
            found.append((rank, page, heading, lines))
    if not found:
        raise InputError(
            f"no section of the docs has {' and '.join(words)}: try fewer words; `rpms docs` lists"
            " the pages"
        )
    for _, page, heading, lines in sorted(found, key=lambda each: -each[0])[:_SHOWN]:
        say(f"{page}: {heading}")
        best = sorted(lines, key=lambda line: -sum(bool(one.search(line)) for one in patterns))[
            :_QUOTED
        ]
        for line in (
            line for line in lines if line in best and any(one.search(line) for one in patterns)
        ):
            say(f"    {one_line(line.strip(), 180)}")
    if len(found) > _SHOWN:
        say(f"… and {len(found) - _SHOWN} more sections: add a word")


def _sections(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Each heading, with its page and the lines below it."""
    for file in (folder / "README.md", *sorted((folder / "docs").glob("*.md"))):
        heading, lines, code = "", list[str](), False
        for line in file.read_text(encoding="utf-8").splitlines():
            code ^= line.startswith("```")
            if not code and _HEADING.match(line):
                yield str(file.relative_to(folder)), heading, lines
                heading, lines = _HEADING.sub("", line), []
            else:
                lines.append(line)
        yield str(file.relative_to(folder)), heading, lines
