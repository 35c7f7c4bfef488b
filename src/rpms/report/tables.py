"""The tables of the paper, made from a comparison."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from rpms.logic.errors import InputError, nearest
from rpms.models.catalogue import Backend, backend_of
from rpms.report.comparison import ARBITRATION_LABELS, Cells, Comparison
from rpms.report.condition_tables import (
    SUCCESS,
    Column,
    Columns,
    action_table,
    by_condition,
    efficiency_table,
    epochs_table,
    failure_table,
    interval,
    lines_of,
    method,
    percent,
    points,
    range_of,
    significance_table,
    verdict_table,
    won,
)
from rpms.report.contrasts import interaction_of
from rpms.report.learning_curve import MEMORY_SERIES, RULES_SERIES, rounds
from rpms.report.notes import omissions, reservations
from rpms.report.outcomes import ENFORCED, Results, condition_label, type_label
from rpms.report.statistical_tests import additive_expectation
from rpms.report.table import Table, TableLine, groups, line
from rpms.report.taught import taught_points, taught_table
from rpms.store.protocol import TABLES

PUBLISHED: dict[str, Any] = YAML(typ="safe", pure=True).load(
    Path(__file__).with_name("published.yaml")
)
"""Numbers that others printed. They may stand beside measured ones, each row marked as published;
nothing here is ever averaged with, tested against or plotted as a measurement."""
CELL_LETTERS = {"baseline": "A", "rules-only": "B", "memory-only": "C", "full": "D"}


def main_table(comparisons: Sequence[Comparison]) -> Table:
    """Baseline and full system, one group a model: the paper's Table 1."""
    parts = []
    columns: dict[str, Any] = {}
    for comparison in comparisons:
        rows: list[Results] = []
        for cells in comparison.ablations:
            rows += [cells.baseline, cells.full]
        rows = rows or list(comparison)
        columns = {
            "Model": lambda each: each.model,
            "Method": method,
            "Succ. (%)": SUCCESS,
            "95% interval": interval,
            "Δ": lambda each, base=rows[0]: None if each is base else points(each.rate - base.rate),
            **_controls(comparisons),
        }
        parts.append(lines_of(rows, columns))
    total = len(comparisons[0].tasks) if comparisons else 0
    once = ", each attempted once" if all(comparison.once for comparison in comparisons) else ""
    caption = f"Success on {total} tasks{once}. Δ: absolute improvement over the first condition."
    notes = tuple(chain.from_iterable(map(omissions, comparisons)))
    return Table("main", caption, tuple(columns), groups(*parts), notes, words=2)


def overview_table(comparisons: Sequence[Comparison]) -> Table:
    """Games won in the four conditions: a column for each model, told and acting, and for random
    choice from the menus that acting gives.
    """
    columns: dict[str, tuple[str, ...]] = {}
    for comparison in comparisons:
        for cells in comparison.ablations:
            ordered = (cells.baseline, cells.memory, cells.rules, cells.full)
            columns[_player(cells.baseline)] = tuple(str(cell.won) for cell in ordered)
            if any(_RANDOM in cell.controls for cell in ordered):
                suffix = _suffix(cells.baseline, but="strict")
                heading = f"random choice from its menus{suffix}"
                columns[heading] = tuple(map(_won_at_random, ordered))
    total = len(comparisons[0].tasks) if comparisons else 0
    names = ("baseline", "memory-only", "rules-only", "full")
    rows: list[TableLine] = []
    for index, name in enumerate(names):
        cells_of_row = [values[index] for values in columns.values()]
        rows.append(line(condition_label(name), *cells_of_row))
    named = [_without_folders(comparison) for comparison in comparisons]
    notes = dict.fromkeys(chain.from_iterable(map(reservations, named)))
    return Table(
        "overview",
        f"Games won of {total}.",
        ("Condition", *columns),
        groups(rows),
        notes=tuple(notes),
    )


_RANDOM = "menu-random"


def _won_at_random(results: Results) -> str:
    """Games won by random choice from a condition's menus."""
    if _RANDOM not in results.controls:
        return "no menu"
    return str(results.controls[_RANDOM].won)


def _without_folders(comparison: Comparison) -> Comparison:
    """A comparison whose notes name no folders: pages that keep its table are read elsewhere."""
    named = {name: replace(results, folder="") for name, results in comparison.conditions.items()}
    return replace(comparison, conditions=named)


def _player(results: Results) -> str:
    """Who played a column of the overview: a model told or acting, or a program."""
    if backend_of(results.model) is Backend.PLANNER:
        return f"{results.model}, no LLM{_suffix(results)}"
    acting = f", acting{_suffix(results, but='strict')}" if _suffix(results) else ", told"
    return f"{results.model.rpartition('/')[2]}{acting}"


def _suffix(results: Results, but: str = "") -> str:
    """What a condition's name has beyond that of the paper's, in brackets."""
    beyond = results.name.partition(ENFORCED)[2]
    return f" ({beyond})" if beyond and beyond != but else ""


def _controls(comparisons: Iterable[Comparison]) -> dict[str, Column]:
    """A column for each control that any condition has."""
    names: dict[str, None] = {}
    for results in chain.from_iterable(comparisons):
        names |= dict.fromkeys(results.controls)
    return {name: Column(partial(_control, name), percent) for name in names}


def _control(name: str, results: Results) -> float | None:
    return results.controls[name].rate if name in results.controls else None


def type_table(comparison: Comparison) -> Table:
    """Success by task type: the paper's Table 2."""
    counts = Counter(comparison.tasks.values())
    columns: dict[str, Any] = {"Method": method}
    for kind in comparison.types:
        heading = f"{type_label(kind)} ({counts[kind]})"
        columns[heading] = Column(partial(_rate, kind), percent, max)
    columns[f"All ({len(comparison.tasks)})"] = SUCCESS
    caption = "Success by task type, in per cent; the number of tasks in brackets."
    return by_condition("types", caption, comparison, columns)


def _rate(kind: str, results: Results) -> float | None:
    rows = results.of_type(kind)
    return sum(row.won for row in rows) / len(rows) if rows else None


def ablation_table(comparison: Comparison) -> Table:
    """The 2x2 of rules and memory by success: the paper's Table 3."""
    columns: Columns = {
        "Succ.": won,
        "Rate": Column(lambda results: results.rate, lambda rate: f"{percent(rate)}%", max),
        "95% interval": interval,
        **_controls([comparison]),
    }
    return _two_by_two(
        "ablation", f"2×2 ablation on {len(comparison.tasks)} tasks.", comparison, columns
    )


def score_table(comparison: Comparison) -> Table:
    """The 2x2 by average score: the paper's Table 5, for ScienceWorld."""
    columns = {
        "Score (negatives as 0)": Column(lambda results: results.floored, best=max),
        "Score (raw)": Column(lambda results: results.score, best=max),
    }
    names: set[str] = set()
    for results in comparison:
        edition = results.protocol.get("edition")
        if isinstance(edition, Mapping):
            names.add(str(edition.get("simplifications", "none")))
    simplified = "no simplifications"
    if names - {"none"}:
        simplified = f"simplifications: {', '.join(sorted(names))}"
    caption = (
        f"Average score over {len(comparison.tasks)} episodes, {simplified}: with negative scores"
        " counted as 0, as the papers on this world do, and raw, as the simulator gives them."
    )
    return _two_by_two("scores", caption, comparison, columns)


def _two_by_two(name: str, caption: str, comparison: Comparison, measured: Columns) -> Table:
    """A group of lines for each 2x2, as the paper lists them, with its interaction; one for all
    where there is none.
    """
    every = comparison.ablations
    rows = list(chain.from_iterable(every or [comparison]))
    beside = comparison.memory_parts if every else ()
    columns = {
        "Condition": _lettered,
        "Rules": partial(_switch, "rules"),
        "Mem.": _memory,
        **measured,
    }
    lines = lines_of([*rows, *beside], columns)
    size = 4 if every else len(rows)
    parts = groups(*(lines[start : start + size] for start in range(0, len(lines), size)))
    by_score = name == "scores"
    named = len(every) > 1
    notes = [_interaction_note(cells, by_score=by_score, named=named) for cells in every]
    return Table(name, caption, tuple(columns), parts, (*notes, *omissions(comparison)), words=3)


def _lettered(results: Results) -> str:
    letter = CELL_LETTERS.get(results.name.partition(ENFORCED)[0])
    return f"({letter}) {method(results)}" if letter else method(results)


def _switch(name: str, results: Results) -> str | None:
    return {True: "ON", False: "OFF", None: None}[results.switches.get(name)]


def _memory(results: Results) -> str | None:
    told = _switch("memory", results)
    return "none" if told == "ON" and results.memory_entries == 0 else told


def _interaction_note(cells: Cells, *, by_score: bool, named: bool) -> str:
    found = interaction_of(cells, by_score=by_score)
    scale, unit = (1, "points") if by_score else (100, "pp")
    of = f" of {condition_label(cells.full.name)}" if named else ""
    text = f"Interaction{of}, D − (B + C − A): {points(found.estimate, scale)} {unit}"
    if found.low == found.high:
        return f"{text}, the same in every task."
    sure = "" if found.low > 0 or found.high < 0 else "; the interval holds 0, so it may be none"
    if not by_score and additive_expectation(*(cell.rate for cell in cells[:3])) > 1:
        sure += "; the additive expectation is above 100%, which nothing can reach"
    return f"{text}, 95% interval {range_of(found, scale)} ({found.method}, paired by task){sure}."


def arbitration_table(comparison: Comparison) -> Table:
    """Modes of arbitration with rules and memory on: the paper's Table 4."""
    columns: Columns = {
        "Arb. mode": lambda results: ARBITRATION_LABELS[results.switches["arbitration"]],
        "Succ.": won,
        "Rate (%)": SUCCESS,
        "95% interval": interval,
    }
    modes = comparison.arbitrations.values()
    return by_condition(
        "arbitration", "Modes of arbitration, rules and memory on.", comparison, columns, modes
    )


def learning_table(comparison: Comparison) -> Table:
    """Success by round of learning: the paper's Table 8."""
    columns: dict[str, Any] = {
        "Round": lambda point: point.name,
        "Entries": lambda point: str(point.entries),
    }
    for series in (MEMORY_SERIES, RULES_SERIES):
        columns[f"{series} (%)"] = lambda point, name=series: (
            percent(point.results[name].rate) if name in point.results else None
        )
    caption = "Learning curve: success by size of memory."
    return by_condition("learning", caption, comparison, columns, rounds(comparison))


def methods_table(world: str) -> Table:
    """Other methods as published: the paper's Tables 9 and 10.

    Not comparable with anything measured here.
    """
    science = world == "scienceworld"
    rows = PUBLISHED["methods"]["scienceworld" if science else "alfworld"]
    return Table(
        "methods",
        "Published results for context only: backbones, training, trials and subsets differ.",
        (
            "Method",
            "Backbone",
            "Regime",
            "Split" if science else "Trials",
            "Reference",
            "Score" if science else "SR",
        ),
        groups(line(*row, published=True) for row in rows),
        words=5,
    )


class _Maker(NamedTuple):
    make: Callable[[Comparison], Table]
    applies: Callable[[Comparison], object]
    needs: str = ""
    world: str = "alfworld"
    """The world whose published numbers may stand in it."""


_MAKERS: Mapping[str, _Maker] = {
    "main": _Maker(lambda comparison: main_table([comparison]), lambda _: True),
    "ablation": _Maker(
        ablation_table, attrgetter("ablations"), "it needs the four conditions of the 2x2"
    ),
    "scores": _Maker(
        score_table, attrgetter("scored"), "it needs a world that scores", "scienceworld"
    ),
    "types": _Maker(
        type_table, lambda comparison: len(comparison.types) > 1, "it needs tasks of several types"
    ),
    "arbitration": _Maker(
        arbitration_table,
        attrgetter("arbitrations"),
        "it needs several modes of arbitration with rules and memory on",
    ),
    "learning": _Maker(learning_table, rounds, "it needs runs with memories of several sizes"),
    "significance": _Maker(
        significance_table,
        lambda comparison: len(comparison) > 1,
        "it needs several conditions",
    ),
    "epochs": _Maker(
        epochs_table,
        lambda comparison: any(results.agreement is not None for results in comparison),
        "it needs runs with --epochs 2 or more",
    ),
    "efficiency": _Maker(efficiency_table, lambda _: True),
    "actions": _Maker(action_table, lambda _: True),
    "failures": _Maker(failure_table, lambda _: True),
    "overview": _Maker(
        lambda comparison: overview_table([comparison]),
        attrgetter("ablations"),
        "it needs the four conditions of the 2x2",
    ),
    "taught": _Maker(
        lambda comparison: taught_table([comparison]),
        lambda comparison: taught_points([comparison]),
        "it needs the four conditions of the 2x2, played by a model that was taught",
    ),
    "verdicts": _Maker(
        verdict_table,
        lambda comparison: any(
            results.folder and results.switches.get("memory", True) for results in comparison
        ),
        "it needs a run of a condition with memory",
    ),
}
_ON_DEMAND = ("overview", "taught", "verdicts")
"""Tables that are made only where they are asked for: they repeat what others have, or read every
episode in full."""
_TOGETHER: Mapping[str, Callable[[Sequence[Comparison]], Table]] = {
    "overview": overview_table,
    "taught": taught_table,
}
"""Tables that show all comparisons at once."""
_USUAL = tuple(name for name in _MAKERS if name not in _ON_DEMAND)
"""Tables of a report."""


def named_tables(
    name: str, comparisons: Sequence[Comparison], *, with_published: bool = False
) -> tuple[Table, ...]:
    """Tables by one name, or `all`: of all comparisons together where it is such a table, else of
    each comparison that has something to put in.
    """
    if name == "all":
        found: list[Table] = []
        for comparison in comparisons:
            found += all_tables(comparison, with_published=with_published)
        return tuple(found)
    made = applicable(name, comparisons, with_published=with_published) if name in _MAKERS else ()
    return made or tuple(make_table(name, each) for each in comparisons)  # which says why not


def check_table_name(name: str) -> None:
    """Refuse a name that no table has, `all` apart."""
    if name not in _MAKERS and name != "all":
        raise InputError(f"unknown table {name!r}; {nearest(name, TABLES)}")


def make_table(name: str, comparison: Comparison, *, with_published: bool = False) -> Table:
    """One table by its name; one that the comparison has nothing for is an InputError."""
    check_table_name(name)
    maker = _MAKERS[name]
    if not maker.applies(comparison):
        raise InputError(f"these runs have nothing for the table {name!r}: {maker.needs}")
    table = maker.make(comparison)
    if comparison.model:
        table = replace(table, caption=f"{table.caption} Model: {comparison.model}.")
    return add_published(table, [comparison], maker.world) if with_published else table


def add_published(
    table: Table, comparisons: Iterable[Comparison], world: str = "alfworld"
) -> Table:
    """A table with the paper's rows, where these are of the same world."""
    conditions = chain.from_iterable(comparisons)
    worlds = {str(results.protocol.get("world", "")) for results in conditions}
    rows = PUBLISHED["tables"].get(table.name, ()) if worlds <= {world, ""} else ()
    if not rows:
        return table
    told = f"Published rows are as the paper prints them: {PUBLISHED['settings'][world]}."
    printed = tuple(_published_line(row, table.columns) for row in rows)
    return replace(table, groups=(*table.groups, printed), notes=(*table.notes, told))


def _published_line(row: Mapping[str, str], columns: Iterable[str]) -> TableLine:
    """A row of the paper; a column's heading may say more there than here."""
    cells = [row.get(each, row.get(each.partition(" (")[0], "")) for each in columns]
    return line(*cells, published=True)


def applicable(
    name: str, comparisons: Sequence[Comparison], *, with_published: bool = False
) -> tuple[Table, ...]:
    """One table by its name, for each comparison that has something to put in, or one of all of
    them together.
    """
    served = [each for each in comparisons if _MAKERS[name].applies(each)]
    if served and name in _TOGETHER:
        return (_TOGETHER[name](comparisons),)
    return tuple(make_table(name, each, with_published=with_published) for each in served)


def left_out(comparison: Comparison) -> tuple[str, ...]:
    """A line for each table that the study is about and has nothing to put in."""
    wanted = dict.fromkeys(name for name in comparison.tables if name in _USUAL)
    lacking = [name for name in wanted if not _MAKERS[name].applies(comparison)]
    return tuple(f"The table {name!r} is left out: {_MAKERS[name].needs}." for name in lacking)


def all_tables(comparison: Comparison, *, with_published: bool = False) -> tuple[Table, ...]:
    """Every table that the comparison has something to put in, those that its study is about
    first.
    """
    names = dict.fromkeys((*(name for name in comparison.tables if name in _USUAL), *_USUAL))
    applying = (name for name in names if _MAKERS[name].applies(comparison))
    return tuple(make_table(name, comparison, with_published=with_published) for name in applying)
