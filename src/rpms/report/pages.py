"""A report on runs: a folder of static pages that opens from disk, with no server or network."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Self

from rpms.logic.errors import FileError, InputError
from rpms.report.comparison import Comparison
from rpms.report.figures import Picture, ablation_figure, all_figures, taught_figure
from rpms.report.gather import gather
from rpms.report.notes import omissions
from rpms.report.page_data import BUCKET, EntryBook, episode_data, meta, script, task_chunks
from rpms.report.page_files import KIND, Report, copy_static, render, write_text
from rpms.report.table import Table, comma_separated, latex, markdown
from rpms.report.tables import (
    add_published,
    all_tables,
    main_table,
    methods_table,
    notes_on_empty_tables,
)
from rpms.report.taught import taught_points, taught_table
from rpms.store.own_folders import replaced_folder
from rpms.store.protocol import flat

PAGES = 2_000
"""Episodes of a comparison that get pages of their own: each takes some 10 ms and 35 kB, and
nobody reads more."""


def write_report(
    inputs: Sequence[Path],
    out: Path,
    *,
    title: str = "",
    with_published: bool = False,
    pages: int = PAGES,
) -> Report:
    """Write a report into a folder, new or of an older one.

    Tables count every episode; `pages` of them get a page.
    """
    if not (found := gather(inputs)):
        raise InputError("nothing to report on; name a run folder or a study")
    with replaced_folder(out, KIND) as beside:
        if len(found) == 1:
            _write_comparison(beside, found[0], title or found[0].title, with_published, pages)
        else:
            _write_groups(beside, found, title, with_published, pages)
    notes: list[str] = []
    for each in found:
        notes += [*omissions(each), *unshown(each, pages)]
    return Report(out, tuple(notes))


def _write_groups(
    folder: Path, comparisons: Sequence[Comparison], title: str, with_published: bool, pages: int
) -> None:
    """Several comparisons: a page that leads to each, with what they have in common."""
    about = comparisons[0].about
    shared = all(each.about == about for each in comparisons)
    links: list[dict[str, Any]] = []
    for number, each in enumerate(comparisons, start=1):
        name = each.title or f"Comparison {number}"
        (folder / str(number)).mkdir()
        _write_comparison(folder / str(number), each, name, with_published, pages, "../index.html")
        link = {
            "title": name,
            "href": f"{number}/index.html",
            "about": "" if shared else each.about,
            "comparison": each,
        }
        links.append(link)
    tables, pictures = _over_groups(comparisons, with_published=with_published)
    copy_static(folder)
    _write_extras(folder, tables, pictures)
    render(
        folder / "index.html",
        "groups.html",
        title=title or comparisons[0].study or "Comparisons",
        groups=links,
        tables=tables,
        pictures=pictures,
        about=about if shared else "",
    )


class _Exhibits(NamedTuple):
    tables: list[Table]
    pictures: list[Picture]


def _over_groups(comparisons: Sequence[Comparison], *, with_published: bool) -> _Exhibits:
    """The tables and figures over several comparisons."""
    main = main_table(comparisons)
    tables = [add_published(main, comparisons) if with_published else main]
    panels = [comparison for comparison in comparisons if comparison.ablations]
    pictures = [ablation_figure(panels)] if len(panels) > 1 else []
    taught = taught_points(comparisons)
    if taught:
        tables.append(taught_table(comparisons))
        pictures.append(taught_figure(taught))
    return _Exhibits(tables, pictures)


def _write_extras(folder: Path, tables: Sequence[Table], pictures: Sequence[Picture]) -> None:
    """Tables and figures as files of their own, for papers and spreadsheets."""
    (folder / "tables").mkdir()
    if pictures:  # a folder without files would be nobody's, and never replaced
        (folder / "figures").mkdir()
    for table in tables:
        for ending, form in (("md", markdown), ("tex", latex), ("csv", comma_separated)):
            write_text(folder / "tables" / f"{table.name}.{ending}", form(table))
    for picture in pictures:
        for ending, drawn in (
            ("svg", picture.svg),
            ("dark.svg", picture.dark),
            ("png", picture.png),
        ):
            (folder / "figures" / f"{picture.name}.{ending}").write_bytes(drawn)


_NOTHING = "—"


def _said(value: object) -> str:
    return (value if isinstance(value, str) else json.dumps(value)) or _NOTHING


class _Settings(NamedTuple):
    """Settings of a comparison's conditions, as texts."""

    shared: Mapping[str, str]
    own: Mapping[str, Sequence[str]]
    """The value of each condition, by the settings in which they differ."""

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        each = [flat(results.protocol) for results in comparison]
        shared: dict[str, str] = {}
        own: dict[str, Sequence[str]] = {}
        for name in dict.fromkeys(chain(*each)):
            values = [_said(settings.get(name, "")) for settings in each]
            if len(set(values)) == 1:
                shared[name] = values[0]
            else:
                own[name] = values
        return cls(shared, own)

    @property
    def title(self) -> str:
        """Title of a page: the world, split and model that all conditions share."""
        parts: list[str] = []
        for name in ("world", "split", "model"):
            part = self.shared.get(name, _NOTHING)
            if part != _NOTHING:
                parts.append(part)
        return " · ".join(parts)


def _write_comparison(
    folder: Path,
    comparison: Comparison,
    title: str,
    with_published: bool,
    pages: int,
    home: str = "",
) -> None:
    """Write the pages of one comparison: an overview with its tables and figures, and pages of
    tasks, episodes and memory.
    """
    # tasks that have pages in every condition, so that these can be compared
    shown = pages // len(comparison)
    settings = _Settings.of(comparison)
    title = title or settings.title or "RPMS report"
    book = EntryBook()
    goals, unreadable = _write_episodes(folder, comparison, book, shown)
    _write_data(folder, comparison, book, goals, meta(comparison, title, shown))
    tables = list(all_tables(comparison, with_published=with_published))
    if with_published:
        tables.append(methods_table(settings.shared.get("world", "")))
    pictures = all_figures(comparison)
    copy_static(folder)
    _write_extras(folder, tables, pictures)
    overview = {
        "notes": (
            *omissions(comparison),
            *notes_on_empty_tables(comparison),
            *unshown(comparison, pages),
        ),
        "comparison": comparison,
        "tables": tables,
        "pictures": pictures,
        "shared": list(settings.shared.items()),
        "own": list(settings.own.items()),
        "longest": 200,
        **_faults(comparison, unreadable),
    }
    render(folder / "index.html", "index.html", title=title, home=home, **overview)
    for name in ("tasks.html", "episode.html", "memory.html"):
        render(folder / name, name, title=title, home=home)


def _write_data(
    folder: Path,
    comparison: Comparison,
    book: EntryBook,
    goals: Mapping[str, str],
    about: Mapping[str, Any],
) -> None:
    """Write the scripts that pages read their data from, beside those of the episodes."""
    data: dict[str, Any] = {"memory": book.overview(), "meta": about}
    for number, entries in enumerate(book.chunks()):
        data[f"entries-{number}"] = entries
    for number, tasks in enumerate(task_chunks(comparison, goals)):
        data[f"tasks-{number}"] = tasks
    for name, value in data.items():
        write_text(folder / "data" / f"{name}.js", script(name, value))


def _faults(comparison: Comparison, unreadable: Sequence[str]) -> dict[str, list[str]]:
    """Episodes that crashed or are missing, and files that are damaged, in words."""
    crashed: list[str] = []
    missing: list[str] = []
    damaged: list[str] = []
    for each in comparison:
        crashed += [f"{each.label}: {row.task} ({row.ending}) {row.error}" for row in each.crashed]
        missing += [f"{each.label}: {task}" for task in each.missing]
        damaged += [f"{each.label}: {name} {why}" for name, why in each.damaged.items()]
    damaged += unreadable
    return {"crashed": crashed, "missing": missing, "damaged": damaged}


class _WrittenEpisodes(NamedTuple):
    """Episodes that were written as files of a page."""

    goals: dict[str, str]
    """Goals by task."""
    unreadable: list[str]
    """Problems of episodes that could not be read."""


def _write_episodes(
    folder: Path, comparison: Comparison, book: EntryBook, shown: int
) -> _WrittenEpisodes:
    """Write every episode's file, one at a time."""
    goals: dict[str, str] = {}
    unreadable: list[str] = []
    numbers = {task: number for number, task in enumerate(comparison.tasks)}
    (folder / "data").mkdir()
    for place, results in enumerate(comparison):
        for row in results.played:
            number = numbers[row.task]
            if number >= shown:
                continue
            try:
                record = results.run.episode(row.task)
            except FileError as error:  # its numbers were sound; only the rest of the file is not
                unreadable.append(f"{results.label}: {error.file}: {error.problem}")
                continue
            goals.setdefault(row.task, record.goal)
            # the page knows it by the same two numbers
            file = folder / f"data/{place}/{number // BUCKET}/{number}.js"
            file.parent.mkdir(parents=True, exist_ok=True)
            book.add(place, number, record)
            write_text(file, script(f"{place}/{number}", episode_data(record)))
    return _WrittenEpisodes(goals, unreadable)


def unshown(comparison: Comparison, pages: int) -> tuple[str, ...]:
    """The note that not every episode has a page; empty if each has."""
    shown = pages // len(comparison)
    if len(comparison.tasks) <= shown:
        return ()
    every = len(comparison.tasks)
    where = next(iter(comparison)).folder
    ways = (
        f"`rpms show {where} TASK` prints any other, `rpms export` all; --pages gives more of them"
        " pages"
    )
    counts = f"tables count all {every:,} tasks; pages and the memory page show the first {shown:,}"
    return (f"{counts}: {ways}",)
