"""Fits the pages of the repository into one site: README is its front page, docs/ its top folder.

Its contents are README's table of what to read. MkDocs calls the functions `on_…`; on GitHub the
same files are read as they are.
"""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

_TOP = Path(__file__).parent
_LINK = re.compile(r"(?<=\]\()(?!https?:|#|mailto:)([^)#\s]+)")
"""The file that a link leads to, without its anchor."""
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_OUTSIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")


def on_config(config: Any) -> Any:
    """Take the contents from README's table, in its order."""
    readme = (_TOP / "README.md").read_text(encoding="utf-8")
    table = [line for line in readme.splitlines() if line.startswith("| ")]
    pages = [link for line in table for link in _LINK.findall(line) if link.endswith(".md")]
    listed = dict.fromkeys(_on_site(page) for page in pages)
    config.nav = ["index.md", *listed, "CHANGELOG.md", "CONTRIBUTING.md"]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages outside of docs/, and every file that a page links to."""
    waiting = [*_OUTSIDE, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    known = set(waiting)
    while waiting:
        page = waiting.pop()
        if files.get_file_from_path(_on_site(page)) is None:
            source = str(_TOP / page)
            files.append(File.generated(config, _on_site(page), abs_src_path=source))
        if page.endswith(".md"):
            linked = {target for target in _links(page) if (_TOP / target).is_file()}
            waiting += sorted(linked - known)
            known |= linked
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change each link to where its file is on the site. Code is left as it is."""
    here = _in_repository(page.file.src_uri)
    pieces = re.split(f"({_FENCED.pattern})", markdown, flags=_FENCED.flags)
    pieces[::2] = [_LINK.sub(lambda link: _fitted(here, link[1]), text) for text in pieces[::2]]
    return "".join(pieces)


def _links(page: str) -> set[str]:
    """Files of the repository that a page links to."""
    text = _FENCED.sub("", (_TOP / page).read_text(encoding="utf-8"))
    return {_resolved(page, link) for link in _LINK.findall(text)}


def _resolved(page: str, link: str) -> str:
    return os.path.normpath(PurePosixPath(page).parent / link).replace(os.sep, "/")


def _fitted(page: str, link: str) -> str:
    target = _resolved(page, link)
    if not (_TOP / target).is_file():
        return link  # MkDocs says so
    folder = PurePosixPath(_on_site(page)).parent
    return os.path.relpath(_on_site(target), folder).replace(os.sep, "/")


def _on_site(path: str) -> str:
    """A file of the repository on the site."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def _in_repository(path: str) -> str:
    if path == "index.md":
        return "README.md"
    return f"docs/{path}" if (_TOP / "docs" / path).is_file() else path
