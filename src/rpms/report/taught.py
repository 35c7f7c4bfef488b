"""Models that were taught on more and more games: what rules and memory are worth to each.

Several trainings on about as many games are one point. They play the same tasks, so tasks are what
is counted: a task's value is the share of trainings that won it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, Self

from rpms.logic.counting import counted, times
from rpms.paper.condition import ABLATION
from rpms.play.sources import MANUALS
from rpms.report.comparison import MEMORY_FIRST, Cells, Comparison, paired
from rpms.report.condition_tables import p_value, percent, points, range_of
from rpms.report.notes import reservations
from rpms.report.outcomes import Results, condition_label
from rpms.report.statistical_tests import (
    Interval,
    holm,
    interaction,
    mcnemar,
    paired_bootstrap,
    ratio_bootstrap,
    success_rate,
)
from rpms.report.table import Table, TableLine, groups, line
from rpms.store.episodes import EpisodeRow

_LOST = 0.05
"""Share of games by which trainings of one point may differ: a teacher teaches no game that it
lost, so that 160 games may be 159 with another seed."""


class Teaching(NamedTuple):
    """One way of teaching; several trainings may share it."""

    base: str
    """The model that was taught."""
    games: int
    """Games that it was taught on."""
    rounds: int = 0
    """Number of rounds in which the student's own mistakes were corrected."""
    prompts: tuple[str, ...] = ()
    """The conditions whose prompts it was taught on, if they are not all four."""
    manual: str = ""
    """The manual that it is told, if that is none of the package's."""
    thoughts: tuple[str, ...] = ()
    """The ways in which its thoughts say the sub-goal, if they do not say it in words."""

    @property
    def model(self) -> str:
        """The model's name without the folders it lies in."""
        return self.base.rpartition("/")[2]

    @property
    def name(self) -> str:
        words = [counted(self.games, "game")]
        if self.rounds:
            words.append("corrected" if self.rounds == 1 else f"corrected {times(self.rounds)}")
        if self.prompts:
            words.append(f"{' and '.join(self.prompts)} prompts alone")
        if self.manual:
            words.append(f"told {self.manual}")
        if self.thoughts:
            words.append(f"thoughts in {' and '.join(self.thoughts)} form")
        return ", ".join(words)

    def is_nearly(self, larger: "Teaching") -> bool:
        """True if it differs from another way of teaching by a few games less alone."""
        alike = self._replace(games=larger.games) == larger
        return alike and (1 - _LOST) * larger.games <= self.games <= larger.games

    @property
    def usual(self) -> bool:
        """True if it is a point of the curve, and no control."""
        return not self.prompts and not self.manual


@dataclass(frozen=True)
class TaughtPoint:
    """A 2x2 for each of several models that were taught alike."""

    teaching: Teaching
    trainings: tuple[Cells, ...]

    def of(self, condition: str) -> list[Results]:
        """One condition, by each training."""
        return [cells.named(condition) for cells in self.trainings]

    def shares(self, condition: str) -> list[float]:
        """For each task that all trainings were to play in all conditions, the share of trainings
        that won it.
        """
        return self._mean_by_task(condition, attrgetter("won"))

    def _mean_by_task(self, condition: str, measure: Callable[[EpisodeRow], float]) -> list[float]:
        """For each task, the mean of something about its episode over the trainings."""
        trained = self.of(condition)
        found: list[float] = []
        for task in self._shared_tasks:
            total = sum(measure(results.rows[task]) for results in trained)
            found.append(total / len(trained))
        return found

    @cached_property
    def _shared_tasks(self) -> list[str]:
        """The tasks that all trainings were to play in all conditions."""
        return [rows[0].task for rows in paired(*chain.from_iterable(self.trainings))]

    @property
    def tasks(self) -> int:
        return len(self._shared_tasks)

    def success(self, condition: str) -> Interval:
        """The share of tasks won, with an interval over tasks.

        Where each task was won by every training or by none, tasks are plain successes, and
        Wilson's interval is theirs: a bootstrap of 60 tasks won of 60 has no width at all.
        """
        shares = self.shares(condition)
        if all(share in (0.0, 1.0) for share in shares):
            return success_rate(round(sum(shares)), len(shares))
        return paired_bootstrap(shares)

    def steps(self, condition: str) -> Interval:
        """Steps a game, the mean of the trainings, with an interval over tasks."""
        return paired_bootstrap(self._mean_by_task(condition, attrgetter("steps")))

    def infeasible(self, condition: str) -> Interval:
        """The share of infeasible actions among all steps, with an interval over tasks."""
        trained = self.of(condition)
        failed: list[int] = []
        steps: list[int] = []
        for task in self._shared_tasks:
            failed.append(sum(results.rows[task].infeasible for results in trained))
            steps.append(sum(results.rows[task].steps for results in trained))
        return ratio_bootstrap(failed, steps)

    @property
    def tests(self) -> dict[str, float]:
        """Exact sign tests over tasks of each condition against the baseline, after Holm."""
        before = self.shares("baseline")
        found: dict[str, float] = {}
        for condition in MEMORY_FIRST[1:]:
            gained = lost = 0
            for share, with_it in zip(before, self.shares(condition), strict=True):
                gained += with_it > share
                lost += with_it < share
            found[condition] = mcnemar(gained, lost).exact
        return holm(found)

    @property
    def interaction(self) -> Interval:
        """D - (B + C - A), over tasks."""
        return interaction(*map(self.shares, ABLATION.values()))


def taught_points(comparisons: Sequence[Comparison]) -> tuple[TaughtPoint, ...]:
    """The points of a curve, by model and by games taught; none where nothing says that a model
    was taught.
    """
    trained: list[tuple[Teaching, Cells]] = []
    for comparison in comparisons:
        for cells in comparison.ablations:
            teaching = _teaching(cells.baseline)
            if teaching is not None:
                trained.append((teaching, cells))
    # one taught on a few games less is counted with the one taught on the most
    counted_as: dict[Teaching, Teaching] = {}
    for teaching in sorted({teaching for teaching, _ in trained}, reverse=True):
        counted_as[teaching] = next(filter(teaching.is_nearly, counted_as.values()), teaching)
    found: dict[Teaching, list[Cells]] = {}
    for teaching, cells in trained:
        found.setdefault(counted_as[teaching], []).append(cells)
    return tuple(TaughtPoint(teaching, tuple(found[teaching])) for teaching in sorted(found))


def _teaching(results: Results) -> Teaching | None:
    """The teaching of a run's model, by its protocol; None if the protocol tells of none."""
    taught = results.protocol.get("taught")
    if not isinstance(taught, Mapping) or not isinstance(taught.get("games"), int):
        return None
    manual = results.protocol.get("manual")
    own_manual = ""
    if isinstance(manual, Mapping) and manual.get("name", "") not in MANUALS:
        own_manual = str(manual.get("name", ""))
    base, _, _ = results.model.partition("+")
    corrected = 1 if taught.get("corrections") else 0
    prompts = taught.get("prompts", ())
    thoughts = taught.get("thoughts", ())
    return Teaching(
        base=base,
        games=taught["games"],
        rounds=int(taught.get("rounds", corrected)),
        prompts=tuple(map(str, prompts)),
        manual=own_manual,
        thoughts=tuple(map(str, thoughts)),
    )


def taught_table(comparisons: Sequence[Comparison]) -> Table:
    """Games won by models that were taught on more and more games, in the four conditions."""
    every = taught_points(comparisons)
    columns = (
        "Model",
        "Taught on",
        "Condition",
        "Won, by training",
        "Mean (%)",
        "95% interval",
        "Infeasible per 100 steps",
        "Steps",
    )
    notes: dict[str, None] = {}
    for point in every:
        notes |= dict.fromkeys(_notes(point))
    for comparison in comparisons:
        notes |= dict.fromkeys(reservations(comparison))
    total = max((point.tasks for point in every), default=0)
    return Table(
        "taught",
        f"Games won of {total} by models that were taught to read what they are told.",
        columns,
        groups(*map(_lines, every)),
        notes=tuple(notes),
        words=3,
    )


def _lines(point: TaughtPoint) -> Iterator[TableLine]:
    for condition in MEMORY_FIRST:
        trained = point.of(condition)
        rate = point.success(condition)
        actions = _Actions.of(trained)
        yield line(
            point.teaching.model,
            point.teaching.name,
            condition_label(condition),
            ", ".join(str(results.won) for results in trained),
            percent(rate.estimate),
            f"[{percent(rate.low)}, {percent(rate.high)}]",
            f"{actions.infeasible_per_100_steps:.1f}",
            f"{actions.steps_an_episode:.1f}",
        )


class _Actions(NamedTuple):
    """Actions of several trainings under one condition."""

    episodes: int
    steps: int
    infeasible: int

    @classmethod
    def of(cls, trained: Iterable[Results]) -> Self:
        episodes = steps = infeasible = 0
        for results in trained:
            episodes += len(results.played)
            steps += results.total("steps")
            infeasible += results.total("infeasible")
        return cls(episodes, steps, infeasible)

    @property
    def infeasible_per_100_steps(self) -> float:
        return 100 * self.infeasible / self.steps if self.steps else 0.0

    @property
    def steps_an_episode(self) -> float:
        return self.steps / self.episodes if self.episodes else 0.0


def _notes(point: TaughtPoint) -> Iterator[str]:
    tested: list[str] = []
    for condition, adjusted in point.tests.items():
        value = p_value(adjusted)
        sign = "" if value.startswith("<") else "= "
        tested.append(f"{condition_label(condition)} p {sign}{value}")
    both = point.interaction
    yield (
        f"{point.teaching.model}, {point.teaching.name}: against Baseline by an exact sign test"
        " over games, Holm-corrected:"
        f" {', '.join(tested)}. Interaction {points(both.estimate)} pp {range_of(both)}."
    )
