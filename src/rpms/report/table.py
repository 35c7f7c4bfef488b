"""One table value, and its four forms: terminal, Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from rpms.foreign.shown import whole_letters
from rpms.logic.errors import InputError

DASH = "—"


@dataclass(frozen=True, slots=True)
class TableCell:
    """Text of a cell, and a mark for the best of its kind."""

    text: str
    strong: bool = False
    style: str = ""
    """Colour on a terminal."""


@dataclass(frozen=True, slots=True)
class TableLine:
    """One row of a table."""

    cells: tuple[TableCell, ...]
    published: bool = False
    """Printed by others, not measured here. Every form of the table says so in this row."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the paper prints one: columns, groups of lines between rules, notes below."""

    name: str
    caption: str
    columns: tuple[str, ...]
    groups: tuple[tuple[TableLine, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1
    """Number of columns at the left that hold words; numbers in the others are aligned to the
    right."""

    @property
    def lines(self) -> tuple[TableLine, ...]:
        return tuple(chain.from_iterable(self.groups))


def line(*cells: str | TableCell, published: bool = False) -> TableLine:
    """Make a line; plain text becomes a cell."""
    made = [cell if isinstance(cell, TableCell) else TableCell(cell) for cell in cells]
    return TableLine(tuple(made), published)


def groups(*parts: Iterable[TableLine]) -> tuple[tuple[TableLine, ...], ...]:
    """Groups of lines, the empty ones left out."""
    return tuple(filter(None, map(tuple, parts)))


def without_notes(table: Table, printed: set[str]) -> Table:
    """A table without the notes that stand below one before it.

    `printed` holds the notes so far, to which it adds.
    """
    notes = tuple(note for note in table.notes if note not in printed)
    printed.update(notes)
    return replace(table, notes=notes)


def _marked(entry: TableLine) -> tuple[TableCell, ...]:
    """The cells of a line, the first one marked where the line is published."""
    if not entry.published:
        return entry.cells
    first, *rest = entry.cells
    return (replace(first, text=f"{first.text} (published)"), *rest)


def terminal(table: Table, width: int | None = None) -> str:
    """For a terminal, without colours, as a pipe or a file also wants it: too wide rather than
    with a number cut.
    """
    out = io.StringIO()
    least = 0
    for place in range(len(table.columns)):
        least += _least(table, place) + _GAP
    console = Console(file=out, width=max(width or 120, least), highlight=False, no_color=True)
    console.print(rich_table(table))
    for note in table.notes:
        console.print(Text(plain(note), style="dim"))
    return out.getvalue()


_WORD_WIDTH = 16
"""Width up to which a column of words is not folded, however narrow the terminal."""
_GAP = 2
"""Spaces between two columns."""


def _least(table: Table, place: int) -> int:
    """Least width of a column that breaks no number and no word of its heading."""
    longest = 0
    for entry in table.lines:
        longest = max(longest, len(_marked(entry)[place].text))
    if place < table.words:
        return min(longest, _WORD_WIDTH)
    return max(longest, *map(len, plain(table.columns[place]).split()), 1)


def rich_table(table: Table) -> RichTable:
    """The table for rich. Nothing in a cell is read as markup."""
    made = RichTable(
        title=Text(plain(table.caption)),
        title_justify="left",
        box=None,
        pad_edge=False,
        title_style="bold",
    )
    for place, heading in enumerate(table.columns):
        text = Text(plain(heading))
        least = _least(table, place)
        if place < table.words:
            made.add_column(text, justify="left", overflow="fold", min_width=least)
        else:
            # a column of a fixed width is never made narrower, and so no number is cut
            made.add_column(text, justify="right", overflow="fold", min_width=least, width=least)
    for number, group in enumerate(table.groups):
        if number:
            made.add_section()
            made.add_row()
        for entry in group:
            made.add_row(*map(_rich_text, _marked(entry)))
    return made


def _rich_text(cell: TableCell) -> Text:
    style = f"bold {cell.style}" if cell.strong else cell.style
    return Text(plain(cell.text), style=style)


def grid(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | TableCell]],
    caption: str = "",
    words: int = 1,
) -> RichTable:
    """Rows for a terminal, of a table that has no other form; its headings stay whole."""
    made = rich_table(
        Table("", caption, tuple(columns), groups(line(*row) for row in rows), words=words)
    )
    for column, heading in list(zip(made.columns, columns, strict=True))[words:]:
        column.width = max(column.width or 0, len(heading))
    made.padding = (0, 1)
    if words == 1:
        made.padding = (0, 1, 0, 0)  # numbers stand close
    return made


def plain(text: str) -> str:
    """A text on one line, without what a terminal would obey or could not write."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+", " ", text)


def markdown(table: Table) -> str:
    """The table as Markdown."""
    numbers = len(table.columns) - table.words
    rows = [" | ".join(map(_md, table.columns))]
    rows.append(" | ".join([":--"] * table.words + ["--:"] * numbers))
    for entry in table.lines:
        cells: list[str] = []
        for cell, marked in zip(entry.cells, _marked(entry), strict=True):
            bold = "**" if cell.strong and cell.text else ""
            cells.append(f"{bold}{_md(marked.text)}{bold}")
        rows.append(" | ".join(cells))
    text = f"**{_md(table.caption)}**\n\n"
    for row in rows:
        text += f"| {row} |\n"
    for note in table.notes:
        text += f"\n*{_md(note)}*\n"
    return text


class Markers(NamedTuple):
    """Comments of a Markdown page between which a table stands."""

    begin: str
    end: str


def markers(name: str) -> Markers:
    """The comments around the table of a name."""
    return Markers(f"<!-- table {name} -->", f"<!-- end of table {name} -->")


def with_table(page: str, name: str, text: str) -> str | None:
    """A Markdown page with a table in its place between the markers; None if it has no place."""
    begin, end = markers(name)
    head, found, rest = page.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        return None
    return f"{head}{begin}\n{text.strip()}\n{end}{tail}"


def _md(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|~#!])", r"\\\1", plain(text))


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\0": "{}",
    "—": "---",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "Δ": r"$\Delta$",
    "χ": r"$\chi$",
    "²": r"$^2$",
    "θ": r"$\theta$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "…": r"\dots{}",
}
_TO_LATEX = str.maketrans(_LATEX)


def latex(table: Table) -> str:
    """For a paper, with booktabs; published rows are in italics as well as marked."""
    columns = "l" * table.words + "r" * (len(table.columns) - table.words)
    headings = [rf"\textbf{{{_tex(heading)}}}" for heading in table.columns]
    rows = [" & ".join(headings) + r" \\"]
    for group in table.groups:
        rows.append(r"\midrule")
        for entry in group:
            cells = [_tex_cell(cell, published=entry.published) for cell in _marked(entry)]
            rows.append(" & ".join(cells) + r" \\")
    body = "\n".join(rows)
    notes = ""
    for note in table.notes:
        notes += f"\\par\\footnotesize {_tex(note)}\n"
    return (
        "\\begin{table}[t]\n\\centering\n"
        f"\\caption{{{_tex(table.caption)}}}\n"
        f"\\label{{tab:{re.sub('[^a-z0-9]+', '-', table.name)}}}\n\\small\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n{notes}\\end{{table}}\n"
    )


def _tex_cell(cell: TableCell, *, published: bool) -> str:
    text = _tex(cell.text)
    if text and cell.strong:
        text = rf"\textbf{{{text}}}"
    return rf"\textit{{{text}}}" if text and published else text


def _tex(text: str) -> str:
    """Text as LaTeX prints it to the letter: two hyphens stay two, instead of becoming a dash."""
    return re.sub("-(?=-)", "-\0", plain(text)).translate(_TO_LATEX)


def comma_separated(table: Table) -> str:
    """For a spreadsheet, as RFC 4180 has it: each number in a column of its own, and one for
    who measured a row.
    """
    columns: list[_PlainColumn] = []
    for place, heading in enumerate(table.columns):
        texts = [entry.cells[place].text for entry in table.lines]
        columns += _plain_columns(heading, texts)
    header = _plain_header(columns)
    has_numbers = len(table.columns) > table.words
    if has_numbers:
        header.append("source")
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    for number, entry in enumerate(table.lines):
        cells = [_unformulated(column.texts[number]) for column in columns]
        if has_numbers:
            cells.append("published" if entry.published else "measured")
        writer.writerow(cells)
    return out.getvalue()


def _plain_header(columns: "Sequence[_PlainColumn]") -> list[str]:
    """Names of columns; those that several have stand behind the heading they come from."""
    names = [column.name for column in columns]
    header: list[str] = []
    for column in columns:
        is_unique = names.count(column.name) == 1
        name = column.name if is_unique else f"{column.heading} {column.name}"
        header.append(_unformulated(name))
    return header


class _PlainColumn(NamedTuple):
    """One of the columns of plain numbers that a table's column is taken apart into."""

    heading: str
    name: str
    texts: Sequence[str]


def _plain_columns(heading: str, texts: Sequence[str]) -> list[_PlainColumn]:
    """A column as the columns of plain numbers that it holds: `3/4` as two, an interval as its
    ends, a percentage without its sign. Any other column stays as it is.
    """
    first, slash, second = heading.partition("/")
    names_by_form: dict[str, Sequence[str]] = {
        r"(\d+)/(\d+)": (first, second) if slash else ("won", "n"),
        r"\[([-+]?[\d.]+), ([-+]?[\d.]+)\]": ("low", "high"),
        r"([-+]?[\d.]+)%": (f"{heading} (%)",),
    }
    for form, names in names_by_form.items():
        matches = [re.fullmatch(form, text) for text in texts]
        if not any(matches) or not _are_numbers(form, texts):
            continue
        columns: list[_PlainColumn] = []
        for group, name in enumerate(names, start=1):
            numbers = [match[group] if match else "" for match in matches]
            columns.append(_PlainColumn(heading, name, numbers))
        return columns
    return [_PlainColumn(heading, heading, texts)]


def _are_numbers(form: str, texts: Iterable[str]) -> bool:
    """True if all texts have a form, or say nothing."""
    return all(text in ("", DASH) or re.fullmatch(form, text) for text in texts)


def _unformulated(text: str) -> str:
    """A word that a spreadsheet would take for a formula is led by an apostrophe."""
    text = whole_letters(text)
    is_number = re.match(r"[-+]?\d[\d.,]*%?\Z", text)
    is_formula = text.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number
    return f"'{text}" if is_formula else text


FORMS: Mapping[str, Callable[[Table], str]] = {
    "terminal": terminal,
    "markdown": markdown,
    "latex": latex,
    "csv": comma_separated,
}


def render(table: Table, form: str = "terminal") -> str:
    """A table in one of its forms, by name."""
    if form not in FORMS:
        raise InputError(f"unknown form of table {form!r}; choose one of {', '.join(FORMS)}")
    return FORMS[form](table)
