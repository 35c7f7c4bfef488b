"""The tables of the paper, made from a comparison."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, starmap
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from rpms.logic.errors import InputError, nearest
from rpms.models.catalogue import Backend, backend_of
from rpms.report.comparison import ARBITRATION_LABELS, MEMORY_FIRST, Cells, Comparison
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
from rpms.report.learning_curve import MEMORY_SERIES, RULES_SERIES, LearningRound, rounds
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
    parts: list[list[TableLine]] = []
    columns: Columns = {}
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
            "Δ": partial(_improvement, rows[0]),
            **_controls(comparisons),
        }
        parts.append(lines_of(rows, columns))
    total = len(comparisons[0].tasks) if comparisons else 0
    attempted_once = all(comparison.once for comparison in comparisons)
    once = ", each attempted once" if attempted_once else ""
    caption = f"Success on {total} tasks{once}. Δ: absolute improvement over the first condition."
    notes = tuple(chain.from_iterable(map(omissions, comparisons)))
    return Table("main", caption, tuple(columns), groups(*parts), notes, words=2)


def _improvement(base: Results, results: Results) -> str | None:
    """The change of the success rate from the first condition; of that one none."""
    return None if results is base else points(results.rate - base.rate)


def overview_table(comparisons: Sequence[Comparison]) -> Table:
    """Games won in the four conditions: a column for each model, told and acting, and for random
    choice from the menus that acting gives.
    """
    columns: dict[str, Sequence[str]] = {"Condition": list(map(condition_label, MEMORY_FIRST))}
    notes: dict[str, None] = {}
    for comparison in comparisons:
        notes |= dict.fromkeys(reservations(_without_folders(comparison)))
        for cells in comparison.ablations:
            ordered = list(map(cells.named, MEMORY_FIRST))
            columns[_player(cells.baseline)] = [str(cell.won) for cell in ordered]
            at_random = list(map(_won_at_random, ordered))
            if any(at_random):
                suffix = _suffix(cells.baseline, but="strict")
                heading = f"random choice from its menus{suffix}"
                columns[heading] = [won or "no menu" for won in at_random]
    total = len(comparisons[0].tasks) if comparisons else 0
    rows = starmap(line, zip(*columns.values(), strict=True))
    caption = f"Games won of {total}."
    return Table("overview", caption, tuple(columns), groups(rows), tuple(notes))


def _won_at_random(results: Results) -> str:
    """Games won by a random choice from a condition's menus; empty if it has none."""
    control = results.controls.get("menu-random")
    return "" if control is None else str(control.won)


def _without_folders(comparison: Comparison) -> Comparison:
    """A comparison whose notes name no folders: pages that keep its table are read elsewhere."""
    named = {name: replace(results, folder="") for name, results in comparison.conditions.items()}
    return replace(comparison, conditions=named)


def _player(results: Results) -> str:
    """Player of a column of the overview: a model told or acting, or a program."""
    if backend_of(results.model) is Backend.PLANNER:
        return f"{results.model}, no LLM{_suffix(results)}"
    acting = f", acting{_suffix(results, but='strict')}" if _suffix(results) else ", told"
    return f"{results.model.rpartition('/')[2]}{acting}"


def _suffix(results: Results, but: str = "") -> str:
    """The part of a condition's name after the paper's, in brackets."""
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
    of_type = results.of_type(kind)
    return of_type.rate if of_type.rows else None


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
    """A group of lines for each 2x2, as the paper lists them, with its interaction. If there is no
    2x2, one group of all conditions.
    """
    columns = {
        "Condition": _lettered,
        "Rules": _rules,
        "Mem.": _memory,
        **measured,
    }
    notes: list[str] = []
    ablations = comparison.ablations
    for cells in ablations:
        of = f" of {cells.full.title}" if len(ablations) > 1 else ""
        notes.append(f"Interaction{of}, {_interaction(cells, by_score=name == 'scores')}")
    rows = list(comparison)
    size = len(rows)
    if ablations:
        rows = [*chain.from_iterable(ablations), *comparison.memory_parts]
        size = len(Cells._fields)
    lines = lines_of(rows, columns)
    parts = [lines[start : start + size] for start in range(0, len(lines), size)]
    notes += omissions(comparison)
    return Table(name, caption, tuple(columns), groups(*parts), tuple(notes), words=3)


def _lettered(results: Results) -> str:
    letter = CELL_LETTERS.get(results.name.partition(ENFORCED)[0])
    return f"({letter}) {method(results)}" if letter else method(results)


_SWITCHED = {True: "ON", False: "OFF", None: None}


def _rules(results: Results) -> str | None:
    return _SWITCHED[results.switches.get("rules")]


def _memory(results: Results) -> str | None:
    switch = results.switches.get("memory")
    return "none" if switch and results.memory_entries == 0 else _SWITCHED[switch]


def _interaction(cells: Cells, *, by_score: bool) -> str:
    """The interaction of rules and memory in a 2x2, with its interval, in words."""
    found = interaction_of(cells, by_score=by_score)
    scale = 1 if by_score else 100
    unit = "points" if by_score else "pp"
    text = f"D − (B + C − A): {points(found.estimate, scale)} {unit}"
    if found.low == found.high:
        return f"{text}, the same in every task."
    text += f", 95% interval {range_of(found, scale)} ({found.method}, paired by task)"
    if not (found.low > 0 or found.high < 0):
        text += "; the interval holds 0, so it may be none"
    expected = additive_expectation(cells.baseline.rate, cells.rules.rate, cells.memory.rate)
    if not by_score and expected > 1:
        text += "; the additive expectation is above 100%, which nothing can reach"
    return f"{text}."


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
        columns[f"{series} (%)"] = partial(_rate_of, series)
    caption = "Learning curve: success by size of memory."
    return by_condition("learning", caption, comparison, columns, rounds(comparison))


def _rate_of(series: str, point: LearningRound) -> str | None:
    """The success of a series after a round; None if it has no such round."""
    results = point.results.get(series)
    return None if results is None else percent(results.rate)


def methods_table(world: str) -> Table:
    """Other methods as published: the paper's Tables 9 and 10.

    Not comparable with anything measured here.
    """
    if world == "scienceworld":
        rows = PUBLISHED["methods"]["scienceworld"]
        columns = ("Method", "Backbone", "Regime", "Split", "Reference", "Score")
    else:
        rows = PUBLISHED["methods"]["alfworld"]
        columns = ("Method", "Backbone", "Regime", "Trials", "Reference", "SR")
    return Table(
        "methods",
        "Published results for context only: backbones, training, trials and subsets differ.",
        columns,
        groups(line(*row, published=True) for row in rows),
        words=5,
    )


def _has_memory_on_disk(results: Results) -> bool:
    return bool(results.folder and results.switches.get("memory", True))


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
        lambda comparison: any(map(attrgetter("agreement"), comparison)),
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
        "it needs the four conditions of the 2x2, played by a model that was taught, as its folder"
        " says; what was taught to one that is served or replayed is not known",
    ),
    "verdicts": _Maker(
        verdict_table,
        lambda comparison: any(map(_has_memory_on_disk, comparison)),
        "it needs a run of a condition with memory",
    ),
}
_ON_DEMAND = ("overview", "taught", "verdicts")
"""Tables that are made only when they are asked for: they repeat others, or read every episode in
full."""
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
    """The tables of one name, or `all`. A table about all comparisons together is made once, others
    for each comparison that they fit.
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
    note = f"Published rows are as the paper prints them: {PUBLISHED['settings'][world]}."
    printed = tuple(_published_line(row, table.columns) for row in rows)
    return replace(table, groups=(*table.groups, printed), notes=(*table.notes, note))


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
    served = list(filter(_MAKERS[name].applies, comparisons))
    if served and name in _TOGETHER:
        return (_TOGETHER[name](comparisons),)
    return tuple(make_table(name, each, with_published=with_published) for each in served)


def _wanted(comparison: Comparison) -> dict[str, None]:
    """The tables of a report that the study is about."""
    return dict.fromkeys(name for name in comparison.tables if name in _USUAL)


def notes_on_empty_tables(comparison: Comparison) -> tuple[str, ...]:
    """A line for each table that the study is about and has nothing to put in."""
    lines: list[str] = []
    for name in _wanted(comparison):
        maker = _MAKERS[name]
        if not maker.applies(comparison):
            lines.append(f"The table {name!r} is left out: {maker.needs}.")
    return tuple(lines)


def all_tables(comparison: Comparison, *, with_published: bool = False) -> tuple[Table, ...]:
    """Every table that the comparison has something to put in, those that its study is about
    first.
    """
    found: list[Table] = []
    for name in _wanted(comparison) | dict.fromkeys(_USUAL):
        if _MAKERS[name].applies(comparison):
            found.append(make_table(name, comparison, with_published=with_published))
    return tuple(found)
