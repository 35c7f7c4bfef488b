"""Rows of `benchmarks/amlgym.py`, kept in a file, and the tables made of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from scipy.stats import wilcoxon

DEVELOPED = (
    "barman",
    "blocksworld",
    "childsnack",
    "depots",
    "elevators",
    "ferry",
    "floortile",
    "goldminer",
    "grippers",
    "matchingbw",
)
HELD_OUT = (
    "miconic",
    "nomystery",
    "npuzzle",
    "parking",
    "rovers",
    "satellite",
    "sokoban",
    "spanner",
    "tpp",
    "transport",
    "visitall",
)
PASSIVE = ("ours, from traces", "SAM", "OffLAM", "NOLAM")
ACTIVE = ("ours, by experiment", "OLAM", "InformationGainAgent", "RandomAgent")


class Job(NamedTuple):
    """A learner and a domain."""

    algorithm: str
    domain: str


@dataclass(frozen=True)
class Row:
    """Results of one learner on one domain; None where nothing was measured."""

    algorithm: str
    domain: str
    seconds: float = 0.0
    """Of processor time, to learn."""
    steps: int | None = None
    """Actions tried, by a learner that tries."""
    stopped: bool = False
    """True if learning came to the time limit; what was learned until then is judged."""
    failed: str = ""
    precision: float | None = None
    recall: float | None = None
    applicable_precision: float | None = None
    applicable_recall: float | None = None
    effects_precision: float | None = None
    effects_recall: float | None = None
    solved: float | None = None
    false_plans: float | None = None
    timed_out: float | None = None
    """Problems for which the planner ran out of time, which count as not solved."""

    @property
    def job(self) -> Job:
        return Job(self.algorithm, self.domain)

    def value(self, field: str) -> float | None:
        """A measure: 0 where a learner failed before it, None where it was not asked for."""
        found: float | None = getattr(self, field)
        return 0.0 if found is None and self.failed else found


class Column(NamedTuple):
    """One column of the table."""

    title: str
    field: str


COLUMNS = (
    Column("precision", "precision"),
    Column("recall", "recall"),
    Column("applicability precision", "applicable_precision"),
    Column("recall", "applicable_recall"),
    Column("effects precision", "effects_precision"),
    Column("recall", "effects_recall"),
    Column("solved", "solved"),
    Column("false plans", "false_plans"),
)


def read_rows(file: Path) -> dict[Job, Row]:
    """Rows by learner and domain; of two for one, the later. A line cut short is not one."""
    found: dict[Job, Row] = {}
    if not file.exists():
        return found
    for line in file.read_text("utf-8").splitlines():
        try:
            row = Row(**json.loads(line))
        except ValueError:
            continue
        found[row.job] = row
    return found


def append_row(file: Path, row: Row) -> None:
    """Keep a row."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(asdict(row)) + "\n")


def tables(rows: Iterable[Row]) -> Iterator[str]:
    """Four tables: both tracks, over the domains developed on and over the others."""
    listed = list(rows)
    for track, algorithms in (("passive", PASSIVE), ("active", ACTIVE)):
        for which, domains in (("the first ten", DEVELOPED), ("the others", HELD_OUT)):
            some = []
            for row in listed:
                if row.algorithm in algorithms and row.domain in domains:
                    some.append(row)
            if some:
                count = len({row.domain for row in some})
                yield f"\n## {track}, {which}: {count} domains\n"
                yield from table(some, algorithms)


def table(rows: Sequence[Row], algorithms: Sequence[str]) -> Iterator[str]:
    """Means over domains, and a paired test of the first learner beside each of the others."""
    titles = [column.title for column in COLUMNS]
    yield "| " + " | ".join(("learner", *titles, "steps", "seconds", "stopped", "failed")) + " |"
    yield "| --- |" + " ---: |" * (len(COLUMNS) + 4)
    for algorithm in algorithms:
        own = [row for row in rows if row.algorithm == algorithm]
        if own:
            yield f"| {algorithm} | " + " | ".join(cells(own)) + " |"
    yield ""
    first, *others = algorithms
    for other in others:
        yield from comparison(rows, first, other)
    for row in rows:
        if row.failed:
            yield f"- {row.algorithm} failed on {row.domain}: {row.failed}"


def cells(rows: Sequence[Row]) -> Iterator[str]:
    """One learner's line of the table."""
    for column in COLUMNS:
        yield average([row.value(column.field) for row in rows])
    steps = [row.steps for row in rows if row.steps is not None]
    yield f"{mean(steps):.0f}" if steps else ""
    yield f"{mean(row.seconds for row in rows):.1f}"
    yield ", ".join(row.domain for row in rows if row.stopped)
    yield ", ".join(row.domain for row in rows if row.failed)


def average(values: Sequence[float | None]) -> str:
    """A mean, and of how many domains where something was not measured for all."""
    measured = [value for value in values if value is not None]
    if not measured:
        return ""
    number = f" ({len(measured)})" if len(measured) < len(values) else ""
    return f"{mean(measured):.3f}{number}"


def comparison(rows: Sequence[Row], ours: str, other: str) -> Iterator[str]:
    """Wilcoxon's signed-rank test over the domains for which both were measured."""
    mine = {row.domain: row for row in rows if row.algorithm == ours}
    theirs = {row.domain: row for row in rows if row.algorithm == other}
    told = []
    for column in COLUMNS:
        differences = paired_differences(mine, theirs, column.field)
        if differences:
            higher = sum(difference > 0 for difference in differences)
            lower = len(differences) - higher
            chance = wilcoxon(differences).pvalue
            told.append(f"{column.field} {higher}:{lower} (p = {chance:.3f})")
    if told:
        yield f"- {ours} beside {other}, domains higher:lower: {', '.join(told)}"


def paired_differences(
    mine: Mapping[str, Row], theirs: Mapping[str, Row], field: str
) -> list[float]:
    """By how much a measure is higher in one than in the other, where they differ."""
    found = []
    for domain in sorted(mine.keys() & theirs.keys()):
        one = mine[domain].value(field)
        two = theirs[domain].value(field)
        if one is not None and two is not None and abs(one - two) > 1e-9:
            found.append(one - two)
    return found
