"""Models and agents in one ranking, for each set of tasks that they played under the same terms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rpms.foreign.shown import excerpt
from rpms.play.methods import REACT
from rpms.report import pages
from rpms.report.conduct import SUCCESS, cells, p_value, percent, rate_range
from rpms.report.contrasts import omissions
from rpms.report.gather import read_results, runs_in
from rpms.report.outcomes import Comparison, Results, condition_label
from rpms.report.statistics import holm, mcnemar_of
from rpms.report.table import DASH, Table, TableCell, groups, line

_TERMS = ("world", "engine", "edition", "options", "split", "step_budget", "tasks_hash")
"""Fields that runs of one ranking share. Model, agent, condition, memory and decoding are ranked."""


def leaderboards(inputs: Sequence[Path]) -> tuple[Table, ...]:
    """A ranking for each set of tasks, the one with the most runs first. Of several epochs the first counts."""
    boards: dict[str, dict[str, Results]] = {}
    for run in runs_in(inputs):
        if run.folder.protocol.settings.get("epoch", 1) == 1:
            results = read_results(run.name, run.folder)
            terms = json.dumps([results.protocol.get(name) for name in _TERMS], sort_keys=True, default=str)
            boards.setdefault(terms, {})[str(run.folder.folder)] = results
    ordered = sorted(boards.values(), key=len, reverse=True)
    return tuple(_board(found, number) for number, found in enumerate(ordered, start=1))


def write_leaderboard(inputs: Sequence[Path], out: Path) -> pages.Report:
    """Write the rankings as a page of its own into a folder, which is new or holds an older report."""
    return pages.write_single(out, "leaderboard.html", {"title": "Leaderboard", "tables": leaderboards(inputs)})


def _board(found: Mapping[str, Results], number: int) -> Table:
    ranked = sorted(found.values(), key=lambda results: (-results.rate, -results.score, results.model, results.name))
    first, *others = ranked
    tests = {
        str(place): mcnemar_of([row.won for row in first], [other.rows[task].won for task in first.rows]).exact
        for place, other in enumerate(others, start=1)
    }
    p_values = [DASH, *map(p_value, holm(tests).values())]
    measured: dict[str, Sequence[str | TableCell]] = {
        "Succ. (%)": cells(SUCCESS, ranked),
        "95% interval": [rate_range(results.won, len(results)) for results in ranked],
        **_where_known(ranked),
        "p": p_values,
    }
    lines = [
        line(
            results.model or DASH,
            excerpt(agent.get("name", "")) if isinstance(agent := results.protocol.get("agent"), Mapping) else REACT,
            condition_label(results.name),
            str(1 + sum(other.rate > results.rate for other in ranked)),
            *(values[place] for values in measured.values()),
        )
        for place, results in enumerate(ranked)
    ]
    terms = first.protocol
    return Table(
        "leaderboard" if number == 1 else f"leaderboard-{number}",
        f"{terms.get('world', '')} {terms.get('split', '')}, {len(first)} tasks, at most {terms.get('step_budget')} "
        "steps. p: exact McNemar test against the first, paired by task, Holm-corrected.",
        ("Model", "Agent", "Condition", "Rank", *measured),
        groups(lines),
        omissions(Comparison(found)),
        words=3,
    )


def _where_known(ranked: Sequence[Results]) -> dict[str, list[str]]:
    """Columns of what not every world, model or run has; one that nobody has is left out."""
    scored = Comparison({str(place): results for place, results in enumerate(ranked)}).scored
    found = {
        "Score": [f"{results.floored:.1f}" if scored else DASH for results in ranked],
        "Steps": [f"{each.total('steps') / len(each.played):.1f}" if each.played else DASH for each in ranked],
        "Infeasible (%)": [
            percent(each.total("infeasible") / taken) if (taken := each.total("steps")) else DASH for each in ranked
        ],
        "Cost ($)": [DASH if results.cost is None else f"{results.cost:.2f}" for results in ranked],
        "Flip rate (%)": [
            DASH if results.agreement is None else percent(results.agreement.flip_rate) for results in ranked
        ],
    }
    return {name: values for name, values in found.items() if any(value != DASH for value in values)}
