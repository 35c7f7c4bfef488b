from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest

from rpms.logic.errors import InputError
from rpms.report.comparison import Comparison
from rpms.report.contrasts import contrasts, interaction_of
from rpms.report.learning_curve import rounds
from rpms.report.notes import omissions
from rpms.report.outcomes import Results
from rpms.report.table import Table, TableCell, groups, line, render, without_notes
from rpms.report.tables import _MAKERS, all_tables, main_table, make_table, methods_table
from rpms.store.protocol import TABLES
from tests.report.made import paper, results, row, switches

HOSTILE = "a_b|c & 50% #1 {x} \\y $z <b>~^* `[q](r)` \x1b[31mred\nline"


def rows_of(name, comparison, **how):
    table = make_table(name, comparison, **how)
    return [[cell.text for cell in entry.cells] for entry in table.lines]


def test_the_papers_per_type_table_comes_out_of_its_counts():
    rows = {row[0]: row[1:] for row in rows_of("types", paper())}
    assert rows["Baseline"] == ["55.6", "33.3", "29.0", "42.9", "30.4", "29.4", "35.8"]
    assert rows["Memory-only"] == ["11.1", "70.8", "38.7", "52.4", "26.1", "41.2", "41.0"]
    assert rows["Rules-only"] == ["33.3", "75.0", "41.9", "61.9", "52.2", "35.3", "50.7"]
    assert rows["Full RPMS"] == ["66.7", "79.2", "54.8", "47.6", "65.2", "41.2", "59.7"]


def test_the_published_per_type_table_says_the_same():
    measured, published = make_table("types", paper(), with_published=True).groups
    by_name = {entry.cells[0].text: entry for entry in measured}
    for entry in published:
        assert entry.published
        assert [cell.text for cell in entry.cells] == [
            c.text for c in by_name[entry.cells[0].text].cells
        ]


def test_the_papers_ablation_table_comes_out_of_its_counts():
    rows = rows_of("ablation", paper())
    assert [row[:5] for row in rows] == [
        ["(A) Baseline", "OFF", "OFF", "48/134", "35.8%"],
        ["(B) Rules-only", "ON", "OFF", "68/134", "50.7%"],
        ["(C) Memory-only", "OFF", "ON", "55/134", "41.0%"],
        ["(D) Full RPMS", "ON", "ON", "80/134", "59.7%"],
    ]
    (note,) = make_table("ablation", paper()).notes
    assert note.startswith("Interaction, D − (B + C − A): +3.7 pp, 95% interval [")


def test_the_parts_of_memory_stand_beside_the_four_cells_and_are_tested():
    cells = paper().conditions
    memory = cells["memory-only"]
    alone = replace(memory, name="belief alone (ours)", memory_entries=0)
    observed = replace(
        memory,
        name="memory as observed (ours)",
        memory_entries=233,
        switches={**memory.switches, "memory_words": "observed"},
    )
    six = Comparison({**cells, alone.name: alone, observed.name: observed})
    table = make_table("ablation", six)
    assert [len(group) for group in table.groups] == [4, 2]
    assert [row[:3] for row in rows_of("ablation", six)][4:] == [
        ["belief alone (ours)", "OFF", "none"],
        ["memory as observed (ours)", "OFF", "ON"],
    ]
    tested = [contrast.name for contrast in contrasts(six)]
    assert "memory-only vs. belief alone (ours)" in tested
    assert "memory as observed (ours) vs. belief alone (ours)" in tested


def test_the_papers_main_table_comes_out_of_its_counts():
    rows = [[cell.text for cell in entry.cells] for entry in main_table([paper()]).lines]
    assert [(row[1], row[2], row[4]) for row in rows] == [
        ("Baseline", "35.8", "—"),
        ("Full RPMS", "59.7", "+23.9"),
    ]


def test_arbitration_modes_are_found_by_their_switches():
    wins = {"none": 64, "soft": 71, "hard": 74, "hard+soft": 80}
    conditions = {
        mode: results(
            mode, [n < won for n in range(134)], switches=switches("full", arbitration=mode)
        )
        for mode, won in reversed(wins.items())
    }
    rows = rows_of("arbitration", Comparison(conditions))
    assert [row[:3] for row in rows] == [
        ["None", "64/134", "47.8"],
        ["Soft-only", "71/134", "53.0"],
        ["Hard-only", "74/134", "55.2"],
        ["Hard+Soft", "80/134", "59.7"],
    ]


def test_the_learning_curve_is_found_by_sizes_of_memory():
    def run(name, kind, won, entries):
        return results(
            name, [n < won for n in range(134)], switches=switches(kind), memory_entries=entries
        )

    comparison = Comparison(
        {
            "b": run("b", "baseline", 48, 0),
            "r": run("r", "rules-only", 68, 0),
            "m2": run("m2", "memory-only", 56, 331),
            "m1": run("m1", "memory-only", 52, 223),
            "f1": run("f1", "full", 71, 223),
            "f2": run("f2", "full", 73, 331),
        }
    )
    assert rows_of("learning", comparison) == [
        ["R0 (no mem)", "0", "35.8", "50.7"],
        ["R1", "223", "38.8", "53.0"],
        ["R2", "331", "41.8", "54.5"],
    ]
    assert rounds(paper()) == ()


def test_scores_are_averaged_over_all_episodes_the_missing_ones_included():
    rows = {
        "a": row("a", "boil", "won", 100.0, 5),
        "b": row("b", "boil"),
        "c": row("c", "boil", "lost", -100),
    }
    comparison = Comparison({"full": Results("full", rows)})
    assert comparison.scored
    assert rows_of("scores", comparison) == [["(D) Full RPMS", "—", "—", "33.3", "0.0"]]


def test_other_switches_are_not_mixed_into_the_ablation():
    comparison = paper()
    conditions = dict(comparison.conditions)
    conditions["full"] = replace(
        conditions["full"], switches={**switches("full"), "enforcement": {"guard": "block"}}
    )
    assert not Comparison(conditions).ablations
    assert comparison.ablations


def test_failures_are_counted_by_their_ending():
    rows = {
        name: row(name, "t", ending)
        for name, ending in zip(
            "abcde", ("won", "out of steps", "lost", "model error", ""), strict=True
        )
    }
    comparison = Comparison({"full": Results("full", rows)})
    assert rows_of("failures", comparison) == [
        ["Timeout (out of steps)", "1"],
        ["Env-done (wrong)", "1"],
        ["Model error", "1"],
        ["Missing", "1"],
        ["Total failed", "4"],
    ]


def test_a_missing_or_crashed_episode_stays_in_the_denominator_and_is_named():
    rows = {
        "a": row("a", "t", "won", 1.0),
        "b": row("b", "t", "world error", error="the simulator died"),
        "c": row("c", "t"),
    }
    one = Results("one", rows, damaged={"c-123.json": "is not a whole episode file"})
    two = results("two", [True])
    comparison = Comparison(
        {"one": one, "two": Results("two", {n: row(n, "t", "won", 1.0) for n in "abc"})}
    )
    assert rows_of("main", comparison)[0][2] == "33.3"
    notes = omissions(comparison)
    assert notes == (
        "one: 1 of 3 episodes missing, counted as lost: c",
        "one: 1 of 3 episodes crashed, counted as lost: b (world error)",
        "one: 1 damaged file skipped: c-123.json",
    )
    (contrast,) = contrasts(comparison)
    assert (contrast.pairs, contrast.test.gained, contrast.test.lost) == (3, 2, 0)
    assert "2, and 6 is the least" in contrast.warning
    assert set(notes) <= set(make_table("main", comparison).notes)
    assert two.rate == 1


def test_like_notes_of_several_conditions_are_one():
    def lacking(name: str, missing: str) -> Results:
        return Results(
            name,
            {task: row(task, "t") if task in missing else row(task, "t", "won") for task in "abc"},
        )

    alike = Comparison({name: lacking(name, "c") for name in ("one", "two", "three")})
    assert omissions(alike) == ("one, two, three: 1 of 3 episodes missing, counted as lost: c",)
    unlike = Comparison(
        {"one": lacking("one", "c"), "two": lacking("two", "ab"), "three": lacking("three", "")}
    )
    assert omissions(unlike) == (
        "missing, counted as lost: one 1 of 3 episodes; two 2 of 3 episodes",
    )


def test_a_note_stands_below_the_first_table_alone():
    told: set[str] = set()
    first, second = (replace(make_table("main", paper()), notes=("a", note)) for note in ("b", "c"))
    assert without_notes(first, told).notes == ("a", "b")
    assert without_notes(second, told).notes == ("c",)


def test_a_run_that_is_going_is_paired_over_what_both_have_played():
    one = results("one", [True] * 8)
    rows = {
        task: each if number < 3 else row(task, each.type)
        for number, (task, each) in enumerate(one.rows.items())
    }
    two = Results("two", rows, going=True)
    (contrast,) = contrasts(Comparison({"one": one, "two": two}))
    assert (contrast.pairs, contrast.test.discordant, contrast.provisional) == (3, 0, True)
    assert any(
        "Provisional" in note
        for note in make_table("significance", Comparison({"one": one, "two": two})).notes
    )
    assert any("partial, 3 of 8" in note for note in omissions(Comparison({"two": two})))


def test_comparisons_of_a_study_are_corrected_together():
    found = {contrast.name: contrast for contrast in contrasts(paper())}
    assert len(found) == 5
    assert all(contrast.adjusted >= contrast.test.exact for contrast in found.values())
    assert interaction_of(paper().ablations[0]).estimate == pytest.approx(5 / 134)


def test_published_rows_are_marked_in_every_form_and_no_other_row_is():
    table = make_table("ablation", paper(), with_published=True)
    assert render(table, "markdown").count("(published)") == 4
    assert render(table, "latex").count("(published)") == 4
    assert render(table, "terminal").count("(published)") == 4
    rows = list(csv.DictReader(io.StringIO(render(table, "csv"))))
    assert [row["source"] for row in rows] == ["measured"] * 4 + ["published"] * 4
    assert "Llama 3.1 8B" in table.notes[-1]


def test_published_numbers_of_another_world_are_left_out():
    comparison = paper()
    moved = {
        name: replace(each, protocol={"world": "kitchen"})
        for name, each in comparison.conditions.items()
    }
    for table in all_tables(Comparison(moved), with_published=True):
        assert not any(entry.published for entry in table.lines)


def test_other_methods_are_published_in_every_row():
    for world, count in (("alfworld", 8), ("scienceworld", 7)):
        table = methods_table(world)
        assert len(table.lines) == count
        assert all(entry.published for entry in table.lines)


@pytest.mark.parametrize("name", TABLES)
def test_an_unfit_table_says_what_it_needs(name):
    single = Comparison({"only": results("only", [True, False])})
    try:
        assert make_table(name, single).lines
    except InputError as error:
        assert "it needs" in str(error)  # noqa: PT017  either is right, depending on the table


def test_every_name_that_a_study_may_have_is_a_table():
    assert tuple(_MAKERS) == TABLES


def test_an_unknown_table_or_form_names_those_there_are():
    with pytest.raises(InputError, match="choose one of main, ablation"):
        make_table("pie", paper())
    with pytest.raises(InputError, match="choose one of terminal, markdown, latex, csv"):
        render(make_table("main", paper()), "html")


@pytest.fixture
def hostile() -> Table:
    return Table(
        "odd",
        HOSTILE,
        ("Name", HOSTILE),
        groups([line(HOSTILE, TableCell(HOSTILE, strong=True))]),
        (HOSTILE,),
    )


def test_markdown_keeps_its_cells_whatever_they_say(hostile):
    text = render(hostile, "markdown")
    row = text.splitlines()[4]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert not re.search(r"(?<!\\)<", text)
    assert "\x1b" not in text


def test_latex_keeps_its_cells_whatever_they_say(hostile):
    text = render(hostile, "latex")
    row = next(found for found in text.splitlines() if found.startswith("a"))
    assert len(re.findall(r"(?<!\\)&", row)) == 1
    assert not re.search(r"(?<!\\)[%#_]", row)
    assert row.count(r"\textbackslash{}") == 2
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    opened = re.sub(r"\\[{}]", "", text)
    assert opened.count("{") == opened.count("}")


def test_csv_gives_back_what_was_put_in(hostile):
    rows = list(csv.reader(io.StringIO(render(hostile, "csv"), newline="")))
    assert rows[1] == [HOSTILE, HOSTILE, "measured"]


def test_csv_holds_no_formulas():
    table = Table(
        "odd",
        "",
        ("x",),
        groups([line("=1+1"), line("+23.9"), line("-cmd|x"), line("@a"), line("-3.0")]),
    )
    cells = [row[0] for row in csv.reader(io.StringIO(render(table, "csv")))][1:]
    assert cells == ["'=1+1", "+23.9", "'-cmd|x", "'@a", "-3.0"]


def test_a_terminal_is_not_told_what_to_do(hostile):
    text = render(hostile, "terminal")
    assert "\x1b" not in text
    assert "[q](r)" in re.sub(r"\s+", " ", text)


def test_hyphens_in_a_label_stay_hyphens_in_latex():
    table = Table("t", "c", ("A", "B"), groups([line("full---strict", "—")]))
    assert "full-{}-{}-strict & ---" in render(table, "latex")


def test_csv_has_a_column_for_every_number():
    rows = list(
        csv.DictReader(
            io.StringIO(render(make_table("ablation", paper(), with_published=True), "csv"))
        )
    )
    assert {"won", "n", "Rate (%)", "low", "high"} <= set(rows[0])
    assert int(rows[0]["won"]) / int(rows[0]["n"]) == pytest.approx(
        float(rows[0]["Rate (%)"]) / 100, abs=1e-3
    )
    assert float(rows[0]["low"]) < float(rows[0]["Rate (%)"]) < float(rows[0]["high"])
    (first, *_) = csv.DictReader(io.StringIO(render(make_table("significance", paper()), "csv")))
    assert first["n01"].isdigit()
    assert first["n10"].isdigit()
