"""A run on a person's screen."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.episode import Ending, Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.display import Display, Lines, RunTally, progress
from rpms.play.run import run
from rpms.play.success_rate import wilson
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price
from tests.play.corridor import world

DESIGN = design_run(
    world, "[red]model[/]", lend(PolicyModel("[red]model[/]", follow_plan)), memory=EpisodicMemory()
)


def row(ending: Ending = Ending.WON, prompt: int = 0) -> EpisodeRow:
    return EpisodeRow("t", "walk", ending, 1.0, 3, 0, 0, 0, 0, Usage(prompt, 0, prompt // 10))


def test_wilson_is_what_the_textbooks_say():
    low, high = wilson(7, 10)
    assert (round(low, 4), round(high, 4)) == (0.3968, 0.8922)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 1000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_holds_the_rate_and_stays_within_bounds(counts):
    won, total = counts
    low, high = wilson(won, total)
    assert 0.0 <= low <= won / total + 1e-9
    assert won / total - 1e-9 <= high <= 1.0
    assert low < high


def test_a_tally_knows_success_tokens_cost_and_time_left():
    now = [0.0]
    tally = RunTally(Price(10.0, 20.0), lambda: now[0])
    tally.begin(replace(DESIGN, tasks=DESIGN.tasks[:10]), [row(), row(Ending.OUT_OF_STEPS)], [])
    assert tally.left is None
    now[0] = 60.0
    tally.add([row(prompt=100_000)], [Usage(100_000, 0, 10_000, 1)])
    tally.add([row(Ending.WORLD_ERROR, 100_000)], [Usage(100_000, 0, 10_000, 0)])
    assert tally.left == 180.0
    assert (
        tally.text()
        == "won 2 = 50.0% [15.0%, 85.0%], 1 broke down, 200.0k + 20.0k tokens, $1.20, 3 min 00 s left"
    )


def test_where_there_is_no_terminal_there_are_plain_lines_now_and_then():
    now, lines = [0.0], []
    listener = Lines(lines.append, every=10.0, clock=lambda: now[0])
    listener.begin(DESIGN, [row()], [])
    for second in range(1, 12):
        now[0] = 2.5 * second
        listener.finished(row(), [], Path())
    listener.end()
    assert lines[0] == "corridor short, [red]model[/]: 12 episodes, 1 of them done before"
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "5/12 episodes",
        "9/12 episodes",
        "12/12 episodes",
    ]


def test_the_last_plain_line_is_written_once():
    now, lines = [0.0], []
    listener = Lines(lines.append, every=10.0, clock=lambda: now[0])
    listener.begin(replace(DESIGN, tasks=DESIGN.tasks[:1]), [], [])
    now[0] = 20.0
    listener.finished(row(), [], Path())
    listener.end()
    assert [line.partition(":")[0] for line in lines[1:]] == ["1/1 episodes"]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("width", [80, 200])
def test_names_are_shown_as_they_are(tmp_path, terminal, width):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=width, color_system=None)
    listener = progress(console)
    assert isinstance(listener, Display if terminal else Lines)
    run(DESIGN, tmp_path, 2, listener)
    listener.note("a note [/on] something")
    assert "12/12" in screen.getvalue()
    assert "[red]model[/]" in screen.getvalue()
    assert "won 12 = 100.0% [75.8%, 100.0%]" in screen.getvalue()
    assert "a note [/on] something" in screen.getvalue()
