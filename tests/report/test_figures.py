from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from rpms.report.comparison import Comparison
from rpms.report.figures import ablation_figure, all_figures, learning_figure, type_figure
from rpms.report.learning_curve import LearningRound
from rpms.report.outcomes import Results
from tests.report.made import paper, results, row, switches


def scored() -> Comparison:
    means = {"baseline": 44.9, "rules-only": 51.3, "memory-only": 46.0, "full": 54.0}
    conditions = {}
    for name, mean in means.items():
        rows = {
            f"t{n}": row(f"t{n}", "boil", "out of steps", score=mean + n - 10) for n in range(21)
        }
        conditions[name] = Results(name, rows, switches=switches(name))
    return Comparison(conditions, "ScienceWorld")


def test_the_same_numbers_give_the_same_bytes():
    one, two = all_figures(paper()), all_figures(paper())
    assert [picture.name for picture in one] == ["ablation", "steps", "types"]
    assert one == two


def test_the_ablation_has_a_panel_for_each_world_and_its_additive_expectation():
    picture = ablation_figure([paper(), scored()])
    assert ET.fromstring(picture.svg).tag.endswith("svg")
    assert picture.png.startswith(b"\x89PNG")
    assert b"<dc:date>" not in picture.svg


def test_panels_of_the_same_measure_share_a_scale(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "rpms.report.figures._save", lambda _name, _caption, figure: drawn.append(figure)
    )
    won = {"baseline": 0, "rules-only": 1, "memory-only": 0, "full": 2}
    low = Comparison(
        {
            name: replace(
                results(name, [place < count for place in range(60)]), switches=switches(name)
            )
            for name, count in won.items()
        }
    )
    ablation_figure([paper(), low, scored()])
    (figure,) = drawn
    success, other, score = (axes.get_ylim() for axes in figure.axes)
    assert success == other != score


def test_panels_say_told_or_acting_and_end_at_100(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "rpms.report.figures._save", lambda _name, _caption, figure: drawn.append(figure)
    )
    told = paper()
    acting = Comparison(
        {f"{each.name} + strict": replace(each, name=f"{each.name} + strict") for each in told}
    )
    ablation_figure([told, acting])
    (figure,) = drawn
    assert ["acting (strict)" in axes.get_title().lower() for axes in figure.axes] == [False, True]
    assert "told" in figure.axes[0].get_title().lower()
    assert [axes.get_ylim()[1] for axes in figure.axes] == [100, 100]
    colours = [[patch.get_facecolor() for patch in axes.patches] for axes in figure.axes]
    assert colours[0] == colours[1]


def test_types_with_fewer_than_six_games_are_not_drawn():
    few = Comparison({"baseline": results("baseline", [True] * 5)})
    assert "types" not in [picture.name for picture in all_figures(few)]


def test_a_figure_has_the_colours_of_a_dark_page():
    for picture in (ablation_figure([paper()]), type_figure(paper())):
        assert ET.fromstring(picture.dark) is not None
        for ink in (b"#222222", b"#ffffff", b"#dddddd"):
            assert ink in picture.svg
            assert ink not in picture.dark
        assert b"#e69f00" in picture.dark, "what is measured keeps its colour"


def test_a_learning_curve_may_have_gaps():
    both = {"Mem-only": results("m", [True, False]), "Rules+Mem": results("r", [True, True])}
    points = [
        LearningRound("R0", 0, both),
        LearningRound("R1", 233, {"Rules+Mem": both["Rules+Mem"]}),
        LearningRound("R2", 331, both),
    ]
    assert learning_figure(points).svg


@pytest.mark.parametrize("count", [1, 9])
def test_any_number_of_conditions_can_be_drawn(count):
    conditions = {f"c{n}": results(f"c{n}", [True, False, n > 3]) for n in range(count)}
    assert all_figures(Comparison(conditions))


def test_conditions_that_played_nothing_can_be_drawn():
    empty = Results("none", {"a": row("a", "x"), "b": row("b", "y")})
    assert all_figures(Comparison({"none": empty}))


def test_hostile_names_are_drawn_as_text():
    kinds = ("$x^$ <script>", "b & c_{d}\n\ud800" + "y" * 99)
    rows = {
        f"{kind}{n}": row(f"{kind}{n}", kind, "won", 1.0, 3) for kind in kinds for n in range(6)
    }
    picture = type_figure(Comparison({"$\\frac{": Results("$\\frac{", rows)}))
    assert ET.fromstring(picture.svg) is not None
    assert b"<script" not in picture.svg
