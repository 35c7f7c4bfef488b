"""The documentation as a site: it builds without a warning, and every link in it leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

_TOP = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    find_spec("mkdocs") is None or find_spec("material") is None,
    reason="needs the dependency group docs: MkDocs Material",
)


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.anchors |= {each for each in (told.get("id"), told.get("name")) if each}
        link = told.get("href") if tag in ("a", "link") else told.get("src")
        if link:
            self.links.append(link)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    quiet = {**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(words, check=False, cwd=_TOP, capture_output=True, text=True, env=quiet)
    assert built.returncode == 0, built.stderr[-3000:]
    return out


def test_every_page_of_the_repository_is_on_it(site: Path):
    for page in (_TOP / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").is_file()
    front = (site / "index.html").read_text(encoding="utf-8")
    assert "Rules, memory and a deterministic belief for LLM agents" in front
    assert (site / "examples" / "rpms_in_one_file.py").is_file()


def test_every_link_leads_to_a_file_and_an_anchor(site: Path):
    pages = {file: _Page(file) for file in site.rglob("*.html")}
    checked = 0
    for file, page in pages.items():
        if file.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            assert target.is_file(), f"{file.name}: {link}"
            if parts.fragment and target in pages and not parts.fragment.startswith("__"):
                assert unquote(parts.fragment) in pages[target].anchors, f"{file.name}: {link}"
            checked += 1
    assert checked > 500


def test_it_asks_nothing_of_other_servers(site: Path):
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert "fonts.googleapis" not in text
        assert 'src="http' not in text
