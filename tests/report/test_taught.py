"""Models taught on more and more games: one table and one figure over all trainings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rpms.paper.condition import ABLATION
from rpms.report.comparison import Comparison
from rpms.report.tables import applicable, named_tables
from rpms.report.taught import taught_points, taught_table
from tests.report.made import results, switches

WON = {"baseline": 4, "rules-only": 12, "memory-only": 14, "full": 16}


def trained(
    games: int,
    *,
    more: int = 0,
    corrections: int = 0,
    name: str = "a",
    manual: str = "paper",
    **taught: object,
) -> Comparison:
    """A 2x2 over twenty tasks by one training; `more`: tasks that each condition wins beside."""
    usual = {"hash": name, "games": games, "corrections": corrections, "overlap": 0}
    protocol = {
        "world": "alfworld",
        "manual": {"name": manual, "hash": ""},
        "taught": {**usual, **taught},
    }
    conditions = {}
    for condition in ABLATION.values():
        wins = [number < WON[condition] + more for number in range(20)]
        conditions[condition] = results(
            condition,
            wins,
            switches=switches(condition),
            protocol=protocol,
            model=f"hf/small+{name}",
        )
    return Comparison(conditions, model=f"hf/small+{name}")


def test_trainings_on_as_many_games_are_one_point():
    every = [trained(40, name="a"), trained(40, more=2, name="b"), trained(10, name="c")]
    few, many = taught_points(every)
    assert (few.teaching.games, many.teaching.games) == (10, 40)
    assert len(many.trainings) == 2
    assert many.shares("full") == [1.0] * 16 + [0.5] * 2 + [0.0] * 2
    assert many.success("full").estimate == pytest.approx(0.85)


def test_a_game_that_the_teacher_lost_makes_no_point_of_its_own():
    every = [trained(160, name="a"), trained(159, name="b"), trained(150, name="c")]
    fewer, most = taught_points(every)
    assert (fewer.teaching.games, most.teaching.games) == (150, 160)
    assert [len(fewer.trainings), len(most.trainings)] == [1, 2]


def test_a_task_that_all_trainings_win_leaves_an_interval_with_a_width():
    (point,) = taught_points([trained(160, more=8, name="a"), trained(160, more=8, name="b")])
    rate = point.success("full")
    assert rate.estimate == rate.high == 1.0
    assert rate.low == pytest.approx(0.839, abs=0.001)  # Wilson, 20 of 20


def test_corrections_make_another_point():
    twice = trained(40, corrections=90, rounds=2, name="c")
    every = taught_points([trained(40), twice, trained(40, corrections=70, name="b")])
    names = [point.teaching.name for point in every]
    assert names == ["40 games", "40 games, corrected", "40 games, corrected 2 times"]


def test_controls_are_points_of_their_own_and_not_of_the_curve():
    base_alone = trained(40, prompts=["baseline"], name="b")
    learned = trained(40, manual="learned.yaml", name="c")
    printed = trained(40, thoughts=["printed"], name="d")
    every = taught_points([trained(40), base_alone, learned, printed])
    assert {point.teaching.name: point.teaching.usual for point in every} == {
        "40 games": True,
        "40 games, baseline prompts alone": False,
        "40 games, told learned.yaml": False,
        "40 games, thoughts in printed form": True,
    }


def test_tasks_are_what_is_tested_however_many_trainings_there_are():
    once = taught_points([trained(40)])[0].tests
    often = taught_points([trained(40, name=name) for name in "abc"])[0].tests
    assert once == often
    assert once["full"] == pytest.approx(3 * 2 * 0.5**12)


def test_the_interaction_is_over_tasks():
    assert taught_points([trained(40)])[0].interaction.estimate == pytest.approx(-0.3)


def test_one_table_has_all_trainings_and_says_what_was_tested():
    every = [trained(40, name="a"), trained(40, more=2, name="b")]
    (table,) = named_tables("taught", every)
    rows = [[cell.text for cell in line.cells] for line in table.lines]
    assert [row[2] for row in rows] == ["Baseline", "Memory-only", "Rules-only", "Full RPMS"]
    assert rows[3][1:5] == ["40 games", "Full RPMS", "16, 18", "85.0"]
    assert any(
        note.startswith("small, 40 games: against Baseline by an exact sign test over games")
        for note in table.notes
    )
    assert applicable("taught", every) == (table,)
    assert taught_table(every) == table


def test_a_model_that_nobody_taught_is_in_none():
    untaught = trained(40)
    bare = {
        name: replace(each, protocol={"world": "alfworld"})
        for name, each in untaught.conditions.items()
    }
    assert applicable("taught", [Comparison(bare)]) == ()


def test_the_figure_is_drawn(tmp_path: Path):
    pytest.importorskip("matplotlib", reason="needs the extra `report`")
    from rpms.report.figures import taught_figure  # noqa: PLC0415  needs the extra

    every = [trained(10), trained(40, name="b"), trained(40, corrections=9, name="c")]
    picture = taught_figure(taught_points(every))
    assert picture.png.startswith(b"\x89PNG")
    assert b"Games taught" in picture.svg or b"<svg" in picture.svg
