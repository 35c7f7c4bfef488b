"""A report: a folder of static pages that opens from disk, with no server and no network."""

import json
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from rpms.core.errors import FileError, InputError
from rpms.foreign.file_reader import is_there
from rpms.report.contrasts import omissions
from rpms.report.figures import Picture, ablation_figure, all_figures
from rpms.report.gather import gather
from rpms.report.outcomes import Comparison, condition_label
from rpms.report.page_data import BUCKET, EntryBook, episode_data, meta, script, task_chunks
from rpms.report.statistics import success_rate
from rpms.report.table import Table, comma_separated, latex, markdown
from rpms.report.tables import add_published, all_tables, left_out, main_table, methods_table
from rpms.store.files import replaced_folder
from rpms.store.protocol import flat

_VERSION = version("rpms")
MARK = "report.json"
"""The file that says that a folder is a report, and may be replaced by a newer one."""
_STATIC = ("style.css", "common.js", "tasks.js", "episode.js", "step.js", "memory.js")
_PROTOCOL_LONGEST = 200
PAGES = 2_000
"""Episodes of a comparison that get pages of their own: each takes some 10 ms and 35 kB, and nobody reads more."""


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written."""

    folder: Path
    episodes: int
    notes: tuple[str, ...]
    """Warnings about the numbers: partial runs, crashes, damaged files."""

    @property
    def page(self) -> Path:
        return self.folder / "index.html"


def write_report(
    inputs: Sequence[Path],
    out: Path,
    *,
    title: str = "",
    with_published: bool = False,
    pages: int = PAGES,
) -> Report:
    """Write the pages of runs and studies into a folder, new or of an older report; no mixed protocols.

    Tables count every episode; the first tasks have pages of their own, for `pages` episodes in all.
    """
    found = gather(inputs)
    if not found:
        raise InputError("nothing to report on; name a run folder or a study")
    with _replacing(out) as beside:
        if len(found) == 1:
            count = _write_comparison(beside, found[0], title or found[0].title, with_published, pages)
        else:
            count = _write_groups(beside, found, title, with_published, pages)
    notes = [(*omissions(each), *unshown(each, pages)) for each in found]
    return Report(out, count, tuple(note for each in notes for note in each))


def write_single(out: Path, template: str, values: Mapping[str, Any], episodes: int = 0) -> Report:
    """Write a report of one page into a folder, which is new or holds an older report."""
    with _replacing(out) as folder:
        _copy_static(folder)
        _render(folder / "index.html", template, **values)
    return Report(out, episodes, ())


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A folder to write a report into, which then takes the place of an older one."""
    with replaced_folder(out, MARK, "a report") as beside:
        yield beside
        _write(beside / MARK, json.dumps({"report": 1, "rpms": _VERSION}) + "\n")


def open_report(folder: Path) -> None:
    """Show a report in the user's browser."""
    page = folder / "index.html"
    if not is_there(page):
        raise InputError(f"{folder}: there is no report here; `rpms report` writes one")
    if not webbrowser.open(page.resolve().as_uri()):
        raise InputError(f"no browser could be opened; open {page.resolve()} yourself")


def _write(file: Path, text: str) -> None:
    """Write a file; half characters, which some models write, become question marks where JSON does not escape them."""
    file.write_bytes(text.encode("utf-8", "replace"))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("rpms.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(root="", home="", version=_VERSION, label=condition_label, success_rate=success_rate)
    return made


def _render(page: Path, template: str, **values: Any) -> None:
    _write(page, _environment().get_template(template).render(**values))


def _write_groups(folder: Path, comparisons: Sequence[Comparison], title: str, with_published: bool, pages: int) -> int:
    """Several comparisons: a page that leads to each, with what they have in common."""
    count = 0
    links = []
    abouts = {each.about for each in comparisons}
    for number, each in enumerate(comparisons, start=1):
        name = each.title or f"Comparison {number}"
        (folder / str(number)).mkdir()
        count += _write_comparison(folder / str(number), each, name, with_published, pages, "../index.html")
        own = each.about if len(abouts) > 1 else ""
        links.append({"title": name, "href": f"{number}/index.html", "about": own, "comparison": each})
    main = main_table(comparisons)
    tables = [add_published(main, comparisons) if with_published else main]
    panels = [comparison for comparison in comparisons if comparison.ablation is not None]
    pictures = [ablation_figure(panels)] if len(panels) > 1 else []
    _copy_static(folder)
    _write_extras(folder, tables, pictures)
    about = abouts.pop() if len(abouts) == 1 else ""
    shown = {"groups": links, "tables": tables, "pictures": pictures, "about": about}
    _render(folder / "index.html", "groups.html", title=title or comparisons[0].study or "Comparisons", **shown)
    return count


def _copy_static(folder: Path) -> None:
    (folder / "static").mkdir()
    for name in _STATIC:
        (folder / "static" / name).write_bytes(files("rpms.report").joinpath("static", name).read_bytes())


def _write_extras(folder: Path, tables: Sequence[Table], pictures: Sequence[Picture]) -> None:
    """Tables and figures as files of their own, for papers and spreadsheets."""
    (folder / "tables").mkdir()
    (folder / "figures").mkdir()
    for table in tables:
        for ending, form in (("md", markdown), ("tex", latex), ("csv", comma_separated)):
            _write(folder / "tables" / f"{table.name}.{ending}", form(table))
    for picture in pictures:
        (folder / "figures" / f"{picture.name}.svg").write_bytes(picture.svg)
        (folder / "figures" / f"{picture.name}.dark.svg").write_bytes(picture.dark)
        (folder / "figures" / f"{picture.name}.png").write_bytes(picture.png)


def _write_comparison(
    folder: Path, comparison: Comparison, title: str, with_published: bool, pages: int, home: str = ""
) -> int:
    """Write the pages of one comparison; number of the episodes among them."""
    shown = pages // len(comparison)  # tasks that have pages in every condition, so that these can be compared
    each = [flat(results.protocol) for results in comparison]
    settings = {name: [_said(rows.get(name, "")) for rows in each] for name in dict.fromkeys(chain(*each))}
    shared = {name: values[0] for name, values in settings.items() if len(set(values)) == 1}
    parts = (shared.get(name, _NOTHING) for name in ("world", "split", "model"))
    title = title or " · ".join(part for part in parts if part != _NOTHING) or "RPMS report"
    book = EntryBook()
    goals, unreadable, count = _write_episodes(folder, comparison, book, shown)
    data = {"memory": book.overview(), "meta": meta(comparison, title, shown)}
    data |= {f"entries-{number}": rows for number, rows in enumerate(book.chunks())}
    data |= {f"tasks-{number}": rows for number, rows in enumerate(task_chunks(comparison, goals))}
    for name, value in data.items():
        _write(folder / "data" / f"{name}.js", script(name, value))
    tables = list(all_tables(comparison, with_published=with_published))
    if with_published:
        tables.append(methods_table(shared.get("world", "")))
    pictures = all_figures(comparison)
    _copy_static(folder)
    _write_extras(folder, tables, pictures)
    damaged = [f"{r.label}: {name} {why}" for r in comparison for name, why in r.damaged.items()]
    overview = {
        "notes": (*omissions(comparison), *left_out(comparison), *unshown(comparison, pages)),
        "comparison": comparison,
        "tables": tables,
        "pictures": pictures,
        "shared": list(shared.items()),
        "own": [(name, values) for name, values in settings.items() if name not in shared],
        "longest": _PROTOCOL_LONGEST,
        "crashed": [f"{r.label}: {row.task} ({row.ending}) {row.error}" for r in comparison for row in r.crashed],
        "missing": [f"{r.label}: {task}" for r in comparison for task in r.missing],
        "damaged": [*damaged, *unreadable],
        "stray": [f"{r.label}: {name}" for r in comparison for name in r.stray],
    }
    _render(folder / "index.html", "index.html", title=title, home=home, **overview)
    for name in ("tasks.html", "episode.html", "memory.html"):
        _render(folder / name, name, title=title, home=home)
    return count


_NOTHING = "—"


def _said(value: object) -> str:
    return (value if isinstance(value, str) else json.dumps(value)) or _NOTHING


def _write_episodes(
    folder: Path, comparison: Comparison, book: EntryBook, shown: int
) -> tuple[dict[str, str], list[str], int]:
    """Write every episode's file, one at a time; the goals, what could not be read, and how many were written."""
    goals, unreadable, count = dict[str, str](), list[str](), 0
    tasks = {task: number for number, task in enumerate(comparison.tasks)}
    (folder / "data").mkdir()
    for place, results in enumerate(comparison):
        for row in (each for each in results.played if tasks[each.task] < shown):
            number = tasks[row.task]
            try:
                record = results.run.episode(row.task)
            except FileError as error:  # its numbers were sound; only the rest of the file is not
                unreadable.append(f"{results.label}: {error.file}: {error.problem}")
                continue
            goals.setdefault(row.task, record.goal)
            file = folder / f"data/{place}/{number // BUCKET}/{number}.js"  # the page knows it by the same two numbers
            file.parent.mkdir(parents=True, exist_ok=True)
            book.add(place, number, record)
            _write(file, script(f"{place}/{number}", episode_data(record)))
            count += 1
    return goals, unreadable, count


def unshown(comparison: Comparison, pages: int) -> tuple[str, ...]:
    """The note that not every episode has a page; empty if each has."""
    shown = pages // len(comparison)
    if len(comparison.tasks) <= shown:
        return ()
    every, where = len(comparison.tasks), next(iter(comparison)).folder
    ways = f"`rpms show {where} TASK` prints any other, `rpms export` all; --pages gives more of them pages"
    return (f"tables count all {every:,} tasks; pages and the memory page show the first {shown:,}: {ways}",)
