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
            board = boards.setdefault(_terms_of(results), {})
            board[str(run.folder)] = results
    largest_first = sorted(boards.values(), key=len, reverse=True)
    return tuple([_board(found, number) for number, found in enumerate(largest_first, start=1)])


def _terms_of(results: Results) -> str:
    """The terms that runs of one ranking share, as a text that is the same for equal ones."""
    shared = [results.protocol.get(name) for name in _TERMS]
    return json.dumps(shared, sort_keys=True, default=str)


def _board(found: Mapping[str, Results], number: int) -> Table:
    """One ranking, of the results in some folders."""
    ranked = sorted(found.values(), key=_order)
    comparison = Comparison(found)
    columns = _columns(ranked, scored=comparison.scored)
    first = ranked[0]
    terms = first.protocol
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


def _order(results: Results) -> tuple[float, float, str, str]:
    """The key that sorts results: the highest success rate first, then the highest score."""
    return -results.rate, -results.score, results.model, results.name


def _columns(ranked: Sequence[Results], *, scored: bool) -> Columns:
    """The columns of a ranking. `scored`: the world gives scores."""
    first, *others = ranked
    p_values = _against(first, others)

    def rank(results: Results) -> str:
        """One more than the number of better results: equal ones share a rank."""
        better = sum(other.rate > results.rate for other in ranked)
        return str(better + 1)

    def score(results: Results) -> float | None:
        return results.floored if scored else None

    def flip_rate(results: Results) -> float | None:
        return None if results.agreement is None else results.agreement.flip_rate

    def p_against_first(results: Results) -> str | None:
        return None if results is first else p_value(p_values[results.folder])

    not_always_known = {
        "Score": Column(score),
        "Steps": Column(lambda results: mean_steps(results.played)),
        "Infeasible (%)": Column(partial(a_step, "infeasible")),
        "Cost ($)": Column(lambda results: results.cost, "{:.2f}".format),
        "Flip rate (%)": Column(flip_rate, percent),
    }
    return {
        "Model": lambda results: results.model,
        "Agent": _agent,
        "Condition": method,
        "Rank": rank,
        "Succ. (%)": SUCCESS,
        "95% interval": interval,
        **where_known(ranked, not_always_known),
        "p": p_against_first,
    }


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
