"""Pages as files: a report's folder, and its pages from templates. Nothing is drawn here."""

import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rpms.foreign.file_reader import is_there
from rpms.logic.counting import counted
from rpms.logic.errors import InputError
from rpms.report.outcomes import condition_label
from rpms.report.statistical_tests import success_rate
from rpms.store.own_folders import replaced_folder

_VERSION = version("rpms")
KIND = "a report"
"""The mark of a report's list, by which a newer one may replace it."""
_STATIC = ("style.css", "common.js", "tasks.js", "episode.js", "step.js", "memory.js")


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written."""

    folder: Path
    notes: tuple[str, ...]
    """Warnings about the numbers: partial runs, crashes, damaged files."""

    @property
    def page(self) -> Path:
        return self.folder / "index.html"


def write_single(out: Path, template: str, values: Mapping[str, Any]) -> Report:
    """Write a report of one page into a folder, which is new or holds an older report."""
    with replaced_folder(out, KIND) as folder:
        copy_static(folder)
        render(folder / "index.html", template, **values)
    return Report(out, ())


def open_report(folder: Path) -> None:
    """Show a report in the user's browser."""
    page = folder / "index.html"
    if not is_there(page):
        raise InputError(f"{folder}: there is no report here; `rpms report` writes one")
    if not webbrowser.open(page.resolve().as_uri()):
        raise InputError(f"no browser could be opened; open {page.resolve()} yourself")


def write_text(file: Path, text: str) -> None:
    """Write a file; half characters, which some models write, become question marks where JSON
    does not escape them.
    """
    file.write_bytes(text.encode("utf-8", "replace"))


@cache
def _environment() -> Environment:
    """The templates, with the few functions that they call."""
    made = Environment(
        loader=PackageLoader("rpms.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        root="",
        home="",
        version=_VERSION,
        label=condition_label,
        success_rate=success_rate,
        counted=counted,
    )
    return made


def render(page: Path, template: str, **values: Any) -> None:
    """Write a page from its template."""
    write_text(page, _environment().get_template(template).render(**values))


def copy_static(folder: Path) -> None:
    """Copy the style and the scripts that every page uses into a report's folder."""
    (folder / "static").mkdir()
    for name in _STATIC:
        (folder / "static" / name).write_bytes(
            files("rpms.report").joinpath("static", name).read_bytes()
        )
