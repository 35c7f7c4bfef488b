"""Leaderboards: a ranking of runs for each set of tasks."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rpms.foreign.shown import excerpt
from rpms.play.methods import REACT
from rpms.report.comparison import Comparison
from rpms.report.condition_tables import (
    SUCCESS,
    Column,
    Columns,
    a_step,
    interval,
    lines_of,
    mean_steps,
    method,
    p_value,
    percent,
    where_known,
)
from rpms.report.gather import read_results, runs_in
from rpms.report.notes import omissions
from rpms.report.outcomes import Results
from rpms.report.statistical_tests import holm, mcnemar
from rpms.report.table import Table, groups

_TERMS = ("world", "engine", "edition", "options", "split", "step_budget", "tasks_hash")
"""Fields that runs of one ranking share. Model, agent, condition, memory and decoding are
ranked."""


def leaderboards(inputs: Sequence[Path]) -> tuple[Table, ...]:
    """A ranking for each set of tasks, the one with the most runs first.

    Of several epochs the first counts.
    """
    boards: dict[str, dict[str, Results]] = {}
    for condition, run in runs_in(inputs):
        if run.protocol.settings.get("epoch", 1) == 1:
            results = read_results(condition, run)
            boards.setdefault(_terms_of(results), {})[str(run.folder)] = results
    largest_first = sorted(boards.values(), key=len, reverse=True)
    return tuple([_board(found, number) for number, found in enumerate(largest_first, start=1)])


def _terms_of(results: Results) -> str:
    """The terms that runs of one ranking share, as a text that is the same for equal ones."""
    shared = [results.protocol.get(name) for name in _TERMS]
    return json.dumps(shared, sort_keys=True, default=str)


def _board(found: Mapping[str, Results], number: int) -> Table:
    """One ranking, of the results in some folders."""
    ranked = sorted(
        found.values(),
        key=lambda results: (-results.rate, -results.score, results.model, results.name),
    )
    first = ranked[0]
    p_values = _against(first, ranked[1:])
    comparison = Comparison(found)
    terms = first.protocol
    at_times = {
        "Score": Column(lambda results: results.floored if comparison.scored else None),
        "Steps": Column(lambda results: mean_steps(results.played)),
        "Infeasible (%)": Column(partial(a_step, "infeasible")),
        "Cost ($)": Column(lambda results: results.cost, "{:.2f}".format),
        "Flip rate (%)": Column(
            lambda results: results.agreement and results.agreement.flip_rate, percent
        ),
    }
    columns: Columns = {
        "Model": lambda results: results.model,
        "Agent": _agent,
        "Condition": method,
        "Rank": lambda results: str(1 + sum(other.rate > results.rate for other in ranked)),
        "Succ. (%)": SUCCESS,
        "95% interval": interval,
        **where_known(ranked, at_times),
        "p": lambda results: p_value(p_values[results.folder]) if results is not first else None,
    }
    return Table(
        "leaderboard" if number == 1 else f"leaderboard-{number}",
        f"{terms.get('world', '')} {terms.get('split', '')}, {len(first)} tasks, at most"
        f" {terms.get('step_budget')} steps. p: exact McNemar test against the first, paired by"
        " task, Holm-corrected.",
        tuple(columns),
        groups(lines_of(ranked, columns)),
        omissions(comparison),
        words=3,
    )


def _against(first: Results, others: Iterable[Results]) -> dict[str, float]:
    """P-values of the first against each other, by folder, paired by task and corrected."""
    tests: dict[str, float] = {}
    for other in others:
        gained = lost = 0
        for task, row in first.rows.items():
            gained += other.rows[task].won and not row.won
            lost += row.won and not other.rows[task].won
        tests[other.folder] = mcnemar(gained, lost).exact
    return holm(tests)


def _agent(results: Results) -> str:
    """The method by which a run's model was asked."""
    agent = results.protocol.get("agent")
    return excerpt(agent.get("name", "")) if isinstance(agent, Mapping) else REACT
