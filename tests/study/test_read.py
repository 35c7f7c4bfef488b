"""Study files: every mistake at its line, and all that are shipped are sound."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rpms.logic.errors import FileError
from rpms.logic.rules import Tier
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import CONDITIONS, FULL, BeliefShown
from rpms.paper.enforcement import PAPER, STRICT, GuardMode, Repair
from rpms.paper.prompt import Form, Layout
from rpms.play.settings import Settings
from rpms.study.study_files import read_study
from rpms.worlds.registry import find_world, world_names

ROOT = Path(__file__).parents[2]
STUDIES = sorted([*ROOT.glob("studies/*.yaml"), *ROOT.glob("examples/*/study.yaml")])

HEAD = "title: A study\nworld: alfworld\nlearn: {rounds: 2}\n"


def study(tmp_path, text: str, head: str = HEAD):
    file = tmp_path / "study.yaml"
    file.write_text(head + text, encoding="utf-8")
    return read_study(file)


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_the_shipped_studies_are_sound(file):
    found = read_study(file)
    assert found.world in {*world_names(), "scienceworld"}
    assert found.about
    assert found.tables


def test_there_is_a_study_for_each_table_and_figure():
    tables = {table for file in STUDIES for table in read_study(file).tables}
    assert tables >= {
        *(
            "main",
            "types",
            "ablation",
            "arbitration",
            "scores",
            "efficiency",
            "failures",
            "learning",
            "significance",
        )
    }


def shipped(name: str):
    return read_study(next(file for file in STUDIES if file.stem == name))


def test_the_papers_pairs_of_appendix_g_are_of_soft_only_arbitration():
    cases = {case.name: case.condition for case in shipped("significance").cases}
    assert {"baseline", "memory-only", "rules-only", "soft-only"} <= cases.keys()
    assert cases["soft-only"].arbitration is Arbitration.SOFT
    assert cases["memory-only"].state_filter


def test_the_learning_curve_is_the_papers():
    found = shipped("learning_curve")
    assert {found.learning.condition(number) for number in (1, 2, 3)} == {
        found.learning.condition(1)
    }
    assert not found.learning.condition(1).memory, "every round is Rules-only"
    rounds = [(case.condition.rules, case.round) for case in found.cases if case.condition.memory]
    assert rounds == [(rules, number) for rules in (False, True) for number in (1, 2, 3)]
    assert {case.condition.arbitration for case in found.cases if case.name.startswith("full")} == {
        Arbitration.SOFT
    }


@pytest.mark.parametrize("name", ["state_filter", "state_filter_scienceworld"])
def test_the_state_filter_is_switched_off_with_rules_and_without(name):
    switched = {(case.condition.rules, case.condition.state_filter) for case in shipped(name).cases}
    assert switched == {(rules, filtered) for rules in (False, True) for filtered in (False, True)}


def test_scienceworld_is_played_by_both_protocols():
    easy, plain = (shipped(f"ablation_scienceworld{end}") for end in ("", "_plain"))
    assert (easy.choice.settings.simplifications, plain.choice.settings.simplifications) == (
        "easy",
        "",
    )
    assert [case.condition for case in easy.cases] == [case.condition for case in plain.cases]
    assert "scores" in easy.tables


def test_the_quickstart_says_what_it_is():
    study = shipped("quickstart")
    assert "is not an LLM" in study.about_of("planner")
    assert "LLM" not in study.about_of("ollama/qwen2.5:7b")
    assert "not comparable with the paper's" in study.about


def test_a_bare_name_is_one_of_the_four(tmp_path):
    found = study(tmp_path, "conditions: {baseline: , memory-only: , rules-only: , full: }")
    shown = {case.name: (case.condition.rules, case.condition.memory) for case in found.cases}
    assert shown == {
        name: (condition.rules, condition.memory) for name, condition in CONDITIONS.items()
    }


def test_without_a_word_on_it_a_condition_is_the_papers(tmp_path):
    for case in study(tmp_path, "conditions: {baseline: , full: }").cases:
        condition = case.condition
        assert (condition.layout, condition.form) == (Layout.PAPER, Form.CHAT)
        assert (condition.belief, condition.repair) == (BeliefShown.PAPER, Repair.FORM)
        assert condition.enforcement == PAPER
        assert case.settings.sources(find_world("alfworld")).manual.name == "paper"


def test_a_setting_of_the_study_holds_for_all_unless_they_have_their_own(tmp_path):
    found = study(
        tmp_path,
        "theta: 0.7\nmanual: complete\nmax_tokens: 64\nconditions:\n  full:\n  far: {condition: full, theta: 0.9}\n",
    )
    assert [case.settings.theta for case in found.cases] == [0.7, 0.9]
    assert {case.settings.manual for case in found.cases} == {"complete"}
    assert found.learning.settings.given == {"theta": 0.7, "manual": "complete", "max_tokens": 64}


def test_settings_of_the_command_line_go_before_the_files(tmp_path):
    found = study(
        tmp_path, "theta: 0.7\nlimit: 9\nconditions: {full: , far: {condition: full, theta: 0.9}}"
    )
    given = found.under(Settings.read({"theta": 0.6, "limit": 4, "tiers": "universal"}))
    assert [case.settings.theta for case in given.cases] == [0.6, 0.6]
    assert given.choice.settings.limit == given.learning.choice.settings.limit == 4
    assert given.learning.settings.tiers == (Tier.UNIVERSAL,)
    assert given.title == "A study (theta 0.6, tiers universal, limit 4)"
    assert found.under(Settings(memory=Path("m.jsonl"))).learning is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tiers": "universal,environment"}, "tiers universal,environment"),
        ({"layout": "cached"}, "layout cached"),
        ({"k": "success=2"}, "k success=2"),
        ({"enforce": "menu=5"}, "enforce menu=5"),
        ({"prompts": "far/mine.yaml"}, "prompts mine"),
        ({"simplifications": "none"}, "simplifications none"),
    ],
)
def test_the_title_says_every_setting_that_was_given(tmp_path, given, told):
    found = study(tmp_path, "about: Numbers.\nconditions: {full: }").under(Settings.read(given))
    assert found.title == f"A study ({told})"
    assert found.about == f"Run with {told}, and so not the study as it is written. Numbers."


def test_a_worlds_option_may_be_a_bare_number(tmp_path):
    found = study(tmp_path, "options: {per_task: 3, tasks: boil}\nconditions: {baseline: }")
    assert found.choice.options == {"per_task": "3", "tasks": "boil"}


def test_switches_that_make_no_difference_make_none(tmp_path):
    found = study(
        tmp_path,
        "conditions:\n"
        "  a: {condition: rules-only, arbitration: soft, state_filter: false}\n"
        "  b: {condition: memory-only, arbitration: none}\n"
        "  c: {condition: full, arbitration: soft}\n",
    )
    a, b, c = (case.condition for case in found.cases)
    plain = study(tmp_path, "conditions: {rules-only: , memory-only: }")
    assert [a, b] == [case.condition for case in plain.cases]
    assert c.arbitration is Arbitration.SOFT


def test_enforcement_by_preset_and_part(tmp_path):
    found = study(
        tmp_path,
        "conditions:\n"
        "  a: {condition: full, preset: strict}\n"
        "  b: {condition: full, enforce: {guard: block}}\n"
        "  c: {condition: full, enforce: {guard: advise, menu: 5, loops: true}}\n"
        "  d: {condition: full, preset: strict, enforce: {menu: 3}}\n",
    )
    a, b, c, d = (case.condition.enforcement for case in found.cases)
    assert a == STRICT
    assert b.guard is GuardMode.BLOCK
    assert (c.guard, c.menu, c.loops) == (GuardMode.ADVISE, 5, True)
    assert (d.menu, d.guard) == (3, STRICT.guard)
    assert FULL.enforcement not in (a, b, c, d)


@pytest.mark.parametrize("yes", ["on", "true", "On", "True"])
@pytest.mark.parametrize("no", ["off", "false"])
def test_a_switch_may_be_on_or_true(tmp_path, yes, no):
    (case,) = study(
        tmp_path, f"conditions: {{full: {{enforce: {{replace: {yes}, ranked: {no}}}}}}}"
    ).cases
    assert case.condition.enforcement == replace(PAPER, replace=True, ranked=False)


def test_a_later_round_has_rules(tmp_path):
    with pytest.raises(
        FileError,
        match=r"3: learn\.later: 'baseline' cannot be a later round: choose full or rules-only",
    ):
        study(tmp_path, "conditions: {full: }", HEAD.replace("rounds: 2", "later: baseline"))


def test_a_reader_with_a_tag_is_a_model_of_a_server_and_no_code(tmp_path):
    found = study(tmp_path, "reader: ollama/qwen3:8b\nconditions: {full: }\n")
    assert {case.settings.reader for case in found.cases} == {"ollama/qwen3:8b"}


def test_paths_are_relative_to_the_file(tmp_path):
    found = study(
        tmp_path,
        "memory: m.jsonl\nconditions: {full: , other: {condition: full, memory: sub/o.jsonl}}",
        "title: A\nworld: alfworld\n",
    )
    assert [case.memory_file(find_world("alfworld")) for case in found.cases] == [
        tmp_path / "m.jsonl",
        tmp_path / "sub" / "o.jsonl",
    ]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("conditions: {}", 4, "conditions"),
        ("conditions:\n  fulll:\n", 5, "'fulll' is no condition"),
        (
            "conditions:\n  full:\n  x: {condition: full, arbitration: firm}\n",
            6,
            "'firm' is none of its values",
        ),
        (
            "conditions:\n  full: {condition: full, layout: zigzag}\n",
            5,
            "choose one of paper, cached",
        ),
        ("conditions:\n  full: {rond: 1}\n", 5, "rond: is not a known field"),
        ("conditions:\n  full: {round: 3}\n", 5, "learns 2 rounds"),
        ("conditions:\n  full: {state_filter: maybe}\n", 5, "write on or off"),
        (
            "conditions:\n  full: {preset: iron}\n",
            5,
            "'iron' is none of its values; choose one of paper, strict",
        ),
        (
            "conditions:\n  full: {tempature: 1}\n",
            5,
            "tempature: is not a known field; did you mean temperature?",
        ),
        (
            "conditions:\n  full: {split: train}\n",
            5,
            "all conditions of a study play the same tasks",
        ),
        ("thetas: 0.5\nconditions: {full: }", 4, "did you mean theta?"),
        ("theta: high\nconditions: {full: }", 4, "theta: 'high': write a number from 0 to 1"),
        ("conditions:\n  full: {k: {succes: 3}}\n", 5, "did you mean success?"),
        ("conditions:\n  full: {weights: {kind: 1}}\n", 5, "'kind' is no name here"),
        (
            "conditions:\n  full: {enforce: {menu: many}}\n",
            5,
            "'many' is no value of menu: choose a whole number",
        ),
        (
            "conditions:\n  full:\n    enforce:\n      guard: block\n      menu: -1\n",
            8,
            "'-1' is no value of menu",
        ),
        ("conditions:\n  full: {enforce: {menu: 1000000}}\n", 5, "a whole number from 0 to 100"),
        ("conditions:\n  full: {enforce: {menu: true}}\n", 5, "'true' is no value of menu"),
        ("conditions:\n  full: {enforce: {menu: 2.5}}\n", 5, "'2.5' is no value of menu"),
        ("conditions:\n  full: {enforce: {reasks: -1}}\n", 5, "'-1' is no value of reasks"),
        ("conditions:\n  full: {enforce: {reasks: 11}}\n", 5, "'11' is no value of reasks"),
        ("conditions:\n  full: {enforce: {recent: -3}}\n", 5, "'-3' is no value of recent"),
        (
            "conditions:\n  full: {enforce: {replace: maybe}}\n",
            5,
            "'maybe' is no value of replace: choose on or off",
        ),
        ("conditions:\n  full: {enforce: {guard: firm}}\n", 5, "choose off, advise or block"),
        (
            "conditions:\n  full: {enforce: {guards: block}}\n",
            5,
            "there is no part 'guards'; did you mean guard?",
        ),
        ("conditions: {full: }\n", 3, "learn.preset: 'iron'"),
        ("colour: red\nconditions: {full: }", 4, "colour: is not a known field"),
        ("limit: 0\nconditions: {full: }", 4, "limit"),
        ("part: 3/2\nconditions: {full: }", 4, "write it like 1/2"),
        ("memory: m.jsonl\nconditions: {full: }", 4, "cannot both be given"),
        (
            "conditions: {full: }\ntables:\n- main\n- nope\n",
            7,
            "there is no table 'nope'; choose one of main, ablation, scores,",
        ),
        ("tables: [ablations]\nconditions: {full: }", 4, "did you mean ablation?"),
        ("conditions: {full: , full: }", None, "not valid YAML"),
        ("conditions: [full", None, "not valid YAML: expected ',' or ']', but got '<stream end>'"),
        (
            "conditions: [full\nsplit: seen",
            None,
            "not valid YAML: expected ',' or ']', but got ':'",
        ),
    ],
)
def test_mistakes_are_reported_at_their_line(tmp_path, text, line, problem):
    head = (
        HEAD.replace("rounds: 2", "rounds: 2, preset: iron")
        if "iron" in problem and line == 3
        else HEAD
    )
    with pytest.raises(FileError) as caught:
        study(tmp_path, text, head)
    assert problem in str(caught.value)
    assert line is None or caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("whole", "problem"),
    [
        ("", "a study is a mapping"),
        ("- a\n", "a study is a mapping"),
        ("title: A\nworld: alfworld\n", "conditions: is missing"),
        (
            "title: A\nworld: alfworld\nconditions: {full: }",
            "give the study a `memory` file or a `learn` block",
        ),
        ("a: &a [*a]\n", ""),
        ("x: " + "[" * 5000, "nested too deeply"),
    ],
)
def test_files_that_are_no_studies_are_one_line(tmp_path, whole, problem):
    with pytest.raises(FileError) as caught:
        study(tmp_path, whole, "")
    assert problem in str(caught.value)
