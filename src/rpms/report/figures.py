"""The figures, as SVG and PNG: the same bytes for the same numbers, in colours that everyone
can tell apart.
"""

import io
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rpms.foreign.settings_files import settings_files_unread
from rpms.logic.facts import grouped
from rpms.paper.condition import CONDITIONS
from rpms.report.comparison import Cells, Comparison
from rpms.report.learning_curve import LearningRound, rounds
from rpms.report.outcomes import ENFORCED, Results, condition_label, type_label
from rpms.report.statistical_tests import (
    Interval,
    additive_expectation,
    paired_bootstrap,
    ratio_bootstrap,
    success_rate,
)
from rpms.report.taught import TaughtPoint

with settings_files_unread():
    import matplotlib as mpl
    from matplotlib.figure import Figure

COLOURS = ("#999999", "#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#D55E00")
"""Okabe and Ito's, which the colour-blind can tell apart."""
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
"""Hatches, by which bars differ in a grey print."""
MARKERS = ("o", "s", "^", "D", "v", "P")
_COLOUR_NUMBERS = {"baseline": 0, "rules-only": 2, "memory-only": 1, "full": 3}
"""Each condition of the 2x2 has one colour in every figure, told or acting."""
FEWEST = 6
"""Games that a task type must have to be drawn: with fewer, no difference between conditions
can be significant."""

_STYLE: Any = mpl.rc_params_from_file(
    Path(__file__).with_name("figures.mplstyle"), use_default_template=False
)
_ON_DARK = {
    b"#222222": b"#e4e7eb",
    b"#444444": b"#a6afba",
    b"#dddddd": b"#2d333b",
    b"#ffffff": b"#1b1f25",
}
"""Ink, edges, grid and paper in the dark theme: the colours of the page's style sheet. Those of
the data stay."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn figure."""

    name: str
    caption: str
    svg: bytes
    png: bytes

    @property
    def dark(self) -> bytes:
        return re.sub(rb"#[0-9a-f]{6}\b", lambda found: _ON_DARK.get(found[0], found[0]), self.svg)


@contextmanager
def _own_parameters() -> Iterator[None]:
    """Draw with the library's defaults and this package's style, whatever the user's settings are,
    so that the same numbers give the same bytes everywhere.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def _save(name: str, caption: str, figure: Figure) -> Picture:
    svg = io.BytesIO()
    png = io.BytesIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Title": caption})
    figure.set_layout_engine("none")  # it is laid out now
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return Picture(name, caption, svg.getvalue(), png.getvalue())


def _bar_style(name: str, number: int = 0) -> dict[str, Any]:
    """Style of a condition's bar: one colour for each of the four, hatched differently where
    knowledge acts.
    """
    base, acting, _ = name.partition(ENFORCED)
    colour = _COLOUR_NUMBERS.get(base, 4 + number % (len(COLOURS) - 4))
    hatch = (colour + 4) % len(HATCHES) if acting else colour
    return {
        "color": COLOURS[colour],
        "hatch": HATCHES[hatch],
        "edgecolor": "#222222",
        "linewidth": 0.7,
    }


def _bar_styles(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """The style of each condition's bars; those past the four are told apart by their order."""
    styles: dict[str, dict[str, Any]] = {}
    others = 0
    for results in comparison:
        is_other = results.name.partition(ENFORCED)[0] not in _COLOUR_NUMBERS
        styles[results.name] = _bar_style(results.name, others if is_other else 0)
        others += is_other
    return styles


def _way(results: Results) -> str:
    """Way in which knowledge reached the player: acting with the preset's name, told, or by
    plans.
    """
    if preset := results.name.partition(ENFORCED)[2]:
        return f"acting ({preset})"
    return "planner, no LLM" if results.model == "planner" else "told"


_LONGEST = 40
_UNDRAWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _drawn(text: str) -> str:
    """A name that can be drawn: one line, no half characters, no longer than fits."""
    text = _UNDRAWABLE.sub("�", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _broken(title: str) -> str:
    """A condition's title on two lines."""
    return _drawn(title).replace(" ", "\n", 1).replace("-", "-\n", 1)


def _measured(results: Results, *, scored: bool = False) -> Interval:
    """Success in per cent, or the average score."""
    if scored:
        return paired_bootstrap([row.floored for row in results])
    return success_rate(results.won, len(results)).times(100)


class _AblationPanel(NamedTuple):
    """A 2x2 that is drawn in a panel of its own."""

    comparison: Comparison
    cells: Cells


def ablation_figure(comparisons: Sequence[Comparison]) -> Picture:
    """Each 2x2 as bars in a panel of its own (the paper has two), with the additive expectation
    dotted.
    """
    panels: list[_AblationPanel] = []
    for comparison in comparisons:
        panels += [_AblationPanel(comparison, cells) for cells in comparison.ablations]
    with _own_parameters():
        figure = Figure(figsize=(3.6 * len(panels) + 0.3, 3.0))
        by_measure: dict[bool, list[Any]] = {}
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), number)
            _draw_ablation(axes, panel.comparison, panel.cells)
            by_measure.setdefault(panel.comparison.scored, []).append(axes)
        # one scale for panels of the same measure, so that bars can be compared
        for alike in by_measure.values():
            bottoms, tops = zip(*(axes.get_ylim() for axes in alike), strict=True)
            for axes in alike:
                axes.set_ylim(min(bottoms), max(tops))
        caption = (
            "2×2 ablation of rules and memory; dotted: what both would reach if their gains"
            " added up"
        )
        return _save("ablation", caption, figure)


def _draw_ablation(axes: Any, comparison: Comparison, cells: Cells) -> None:
    """Draw the four conditions as bars, with a line where the last would be if rules and memory
    simply added up.
    """
    measured: list[Interval] = []
    for number, (condition, results) in enumerate(zip(CONDITIONS, cells, strict=True)):
        acting = ENFORCED if ENFORCED in results.name else ""
        interval = _measured(results, scored=comparison.scored)
        _bar(axes, number, interval, _bar_style(f"{condition}{acting}"))
        measured.append(interval)
    baseline, rules, memory, _ = measured
    expected = additive_expectation(baseline.estimate, rules.estimate, memory.estimate)
    label = f"additive expectation, {expected:.1f}"
    axes.plot(
        [-0.5, 3.5],
        [expected] * 2,
        color="#222222",
        linestyle=(0, (1, 1.6)),
        linewidth=1.3,
        label=label,
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize=8)
    axes.set_xticks(range(4), [_broken(results.title.partition(ENFORCED)[0]) for results in cells])
    way = _way(cells.baseline)
    title = f"{comparison.title}: {way}" if comparison.title else way.capitalize()
    lines = textwrap.wrap(_UNDRAWABLE.sub("�", title), _LONGEST, max_lines=4, placeholder=" …")
    axes.set_title("\n".join(lines), pad=14)
    bottom = min(0, *(interval.low for interval in measured))
    if comparison.scored:
        top = max(expected, *(interval.high for interval in measured))
        axes.set_ylabel("Average score (negatives as 0)")
        axes.set_ylim(bottom, max(top * 1.1, 10))
    else:
        axes.set_ylabel("Success (%)")
        axes.set_ylim(bottom, 100)


def drawn_types(comparison: Comparison) -> tuple[str, ...]:
    """Task types with enough games to be drawn."""
    counts = Counter(comparison.tasks.values())
    return tuple(kind for kind in comparison.types if counts[kind] >= FEWEST)


def type_figure(comparison: Comparison) -> Picture:
    """Success by task type, for types with enough games, with Wilson intervals."""
    types = drawn_types(comparison)
    styles = _bar_styles(comparison)
    bar_width = 0.8 / max(1, len(comparison))
    figure_width = 0.55 + 0.32 * len(types) * max(3, len(comparison))
    with _own_parameters():
        figure = Figure(figsize=(min(16.0, max(4.5, figure_width)), 3.2))
        axes = figure.add_subplot()
        for number, results in enumerate(comparison):
            shift = (number - (len(comparison) - 1) / 2) * bar_width
            series = _rates_by_type(results, types)
            at = [column + shift for column in series.at]
            axes.bar(
                at,
                series.estimates,
                bar_width * 0.92,
                label=_drawn(results.title),
                **styles[results.name],
            )
            _whisker(axes, series._replace(at=at))
        counts = Counter(comparison.tasks.values())
        labels = [f"{_drawn(type_label(kind))}\n({counts[kind]})" for kind in types]
        slanted: dict[str, Any] = {}
        if max(map(len, labels), default=0) > 14:
            slanted = {"rotation": 40, "ha": "right"}
        axes.set_xticks(range(len(types)), labels, **slanted)
        _frame_success(figure, axes, len(comparison))
        return _save("types", "Success by task type; whiskers: 95 % Wilson intervals", figure)


def _frame_success(figure: Figure, axes: Any, entries: int) -> None:
    """Label and limit an axis of success in per cent, with so many entries in the legend."""
    axes.set_ylabel("Success (%)")
    axes.set_ylim(0, 100)
    figure.legend(loc="outside upper center", ncols=min(4, entries), frameon=False)


def _rates_by_type(results: Results, types: Sequence[str]) -> "_Series":
    """Success in per cent in the column of each type that a condition played."""
    columns: list[float] = []
    rates: list[Interval] = []
    for column, kind in enumerate(types):
        of_type = results.of_type(kind)
        if of_type.rows:
            columns.append(column)
            rates.append(_measured(of_type))
    return _Series.of(columns, rates)


def learning_figure(points: Sequence[LearningRound]) -> Picture:
    """Success against the size of memory, one line a series."""
    with _own_parameters():
        figure = Figure(figsize=(4.2, 3.0))
        axes = figure.add_subplot()
        names: dict[str, None] = {}
        for point in points:
            names |= dict.fromkeys(point.results)
        for place, name in enumerate(names):
            _line(
                axes,
                _rates_by_round(name, points),
                COLOURS[(6, 7, 3, 4)[place % 4]],
                linestyle=("-", "--", "-.", ":")[place % 4],
                marker=MARKERS[place % len(MARKERS)],
                label=_drawn(name),
            )
        labels = [f"{point.name.partition(' ')[0]}\n{point.entries}" for point in points]
        axes.set_xticks(range(len(points)), labels)
        axes.set_xlabel("Round, and entries in memory")
        _frame_success(figure, axes, len(names))
        return _save("learning", "Learning curve; bands: 95 % Wilson intervals", figure)


def _rates_by_round(name: str, points: Sequence[LearningRound]) -> "_Series":
    """Success in per cent after each round of which a condition has results."""
    numbers: list[float] = []
    rates: list[Interval] = []
    for number, point in enumerate(points):
        if name in point.results:
            numbers.append(number)
            rates.append(_measured(point.results[name]))
    return _Series.of(numbers, rates)


def _is_of_the_curve(point: TaughtPoint) -> bool:
    """True for a model that was taught in the usual way, and corrected once at most."""
    return point.teaching.usual and point.teaching.rounds <= 1


def taught_figure(every: Sequence[TaughtPoint]) -> Picture:
    """Success, steps and infeasible actions against the number of games that a model was taught
    on: a row of panels for each model, a line for each condition, dashed where the model's mistakes
    were corrected once.
    """
    points = list(filter(_is_of_the_curve, every)) or every
    games = sorted({point.teaching.games for point in points})
    by_base = grouped((point.teaching.base, point) for point in points)
    with _own_parameters():
        size = (3.4 * len(_TAUGHT_PANELS), 2.8 * len(by_base))
        figure = Figure(figsize=size)
        panels = figure.subplots(len(by_base), len(_TAUGHT_PANELS), sharex=True, squeeze=False)
        for row, of_base in zip(panels, by_base.values(), strict=True):
            for axes, panel in zip(row, _TAUGHT_PANELS, strict=True):
                _taught_panel(axes, of_base, panel)
                _mark_games(axes, games)
            if len(by_base) > 1:
                row[0].set_title(_drawn(of_base[0].teaching.model))
        for axes in panels[-1]:
            axes.set_xlabel("Games taught")
        lines, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside upper center", ncols=4, frameon=False)
        caption = (
            "Success, steps and infeasible actions by games taught; mean of all trainings, bands"
            " and whiskers: 95 % intervals over games; dashed or hollow: corrected once"
        )
        return _save("taught", caption, figure)


_BESIDE = 0.06
"""Distance of whiskers at one number of games, as a power of two."""


class _TaughtPanel(NamedTuple):
    """One value of each condition, which a panel about taught models shows."""

    label: str
    measure: Callable[[TaughtPoint, str], Interval]
    top: float | None
    """The end of its axis, where there is one for all."""


def _success_in_per_cent(point: TaughtPoint, condition: str) -> Interval:
    return point.success(condition).times(100)


def _infeasible_in_per_cent(point: TaughtPoint, condition: str) -> Interval:
    return point.infeasible(condition).times(100)


_TAUGHT_PANELS = (
    _TaughtPanel("Success (%)", _success_in_per_cent, 103),  # so that a marker at 100 is seen whole
    _TaughtPanel("Steps a game", TaughtPoint.steps, None),
    _TaughtPanel("Infeasible actions (%)", _infeasible_in_per_cent, None),
)


def _mark_games(axes: Any, games: Sequence[int]) -> None:
    """Give a panel an axis of games taught, each twice the one before it."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(games, list(map(str, games)))
    axes.minorticks_off()


def _taught_panel(axes: Any, every: Sequence[TaughtPoint], panel: _TaughtPanel) -> None:
    plain = [point for point in every if not point.teaching.rounds]
    corrected = [point for point in every if point.teaching.rounds]
    for (condition, colour), marker in zip(_COLOUR_NUMBERS.items(), MARKERS, strict=False):
        if plain:
            _taught_line(axes, plain, panel, condition, COLOURS[colour], marker=marker)
        if corrected:
            dashed = {"linestyle": "--", "markerfacecolor": "white"}
            if plain:
                dashed["label"] = "_"  # the legend has the condition already
            dashed["marker"] = marker
            _taught_line(axes, corrected, panel, condition, COLOURS[colour], **dashed)
    axes.set_ylabel(panel.label)
    axes.set_ylim(0, panel.top)


def _taught_line(
    axes: Any,
    points: Sequence[TaughtPoint],
    panel: _TaughtPanel,
    condition: str,
    colour: str,
    **style: Any,
) -> None:
    """Draw one condition's rates over the number of games that students were taught on."""
    games: list[float] = []
    rates: list[Interval] = []
    for point in points:
        games.append(point.teaching.games)
        rates.append(panel.measure(point, condition))
    series = _Series.of(games, rates)
    if len(points) == 1:  # a band of one point has no width: a whisker, beside the others'
        beside = list(_COLOUR_NUMBERS).index(condition) - (len(_COLOUR_NUMBERS) - 1) / 2
        games[0] *= 2 ** (_BESIDE * beside)
        axes.vlines(series.at, series.low, series.high, color=colour, alpha=0.5, linewidth=1.5)
    _line(axes, series, colour, **{"label": condition_label(condition), **style})


def steps_figure(comparison: Comparison) -> Picture:
    """Steps an episode, and infeasible actions per 100 steps, by condition."""
    styles = _bar_styles(comparison)
    with _own_parameters():
        figure = Figure(figsize=(min(14.0, max(5.6, 1.5 * len(comparison) + 1.4)), 2.8))
        steps, infeasible = figure.subplots(1, 2)
        for number, results in enumerate(comparison):
            played = results.played
            if not played:
                continue
            style = styles[results.name]
            lengths = [row.steps for row in played]
            _bar(steps, number, paired_bootstrap(lengths), style)
            if any(lengths):
                ratio = ratio_bootstrap([row.infeasible for row in played], lengths)
                _bar(infeasible, number, ratio.times(100), style)
        labels = [_broken(results.title) for results in comparison]
        for axes, what in ((steps, "Steps an episode"), (infeasible, "Infeasible per 100 steps")):
            axes.set_xticks(range(len(labels)), labels, fontsize=8 if len(labels) < 6 else 6.5)
            axes.set_ylabel(what)
            axes.margins(y=0.15)
            axes.set_ylim(bottom=0)
        return _save(
            "steps", "Steps and infeasible actions; whiskers: 95 % bootstrap intervals", figure
        )


def _bar(axes: Any, at: float, interval: Interval, style: Mapping[str, Any]) -> None:
    """A bar with its interval and its number."""
    axes.bar(at, interval.estimate, 0.68, **style)
    _whisker(axes, _Series.of([at], [interval]))
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    above = {
        "textcoords": "offset points",
        "ha": "center",
        "va": "bottom",
        "fontsize": 8,
        "bbox": box,
        "zorder": 4,
    }
    axes.annotate(f"{interval.estimate:.1f}", (at, interval.high), (0, 3), **above)


class _Series(NamedTuple):
    """Numbers in a figure with their intervals, from left to right."""

    at: Sequence[float]
    estimates: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, at: Sequence[float], intervals: Sequence[Interval]) -> Self:
        rows = [(each.estimate, each.low, each.high) for each in intervals]
        return cls(at, *np.array(rows).reshape(-1, 3).T)


def _line(axes: Any, series: _Series, colour: str, **style: Any) -> None:
    """A line of estimates in a band of their intervals."""
    axes.fill_between(series.at, series.low, series.high, color=colour, alpha=0.13, linewidth=0)
    axes.plot(series.at, series.estimates, color=colour, markersize=5, **style)


def _whisker(axes: Any, series: _Series) -> None:
    below = np.maximum(series.estimates - series.low, 0)
    above = np.maximum(series.high - series.estimates, 0)
    axes.errorbar(
        series.at,
        series.estimates,
        yerr=[below, above],
        fmt="none",
        ecolor="#222222",
        capsize=2.5,
        elinewidth=0.9,
        zorder=3,
    )


def all_figures(comparison: Comparison) -> tuple[Picture, ...]:
    """Every figure that the comparison has something to show in."""
    pictures = []
    if comparison.ablations:
        pictures.append(ablation_figure([comparison]))
    if points := rounds(comparison):
        pictures.append(learning_figure(points))
    pictures.append(steps_figure(comparison))
    if len(drawn_types(comparison)) > 1:
        pictures.append(type_figure(comparison))
    return tuple(pictures)
