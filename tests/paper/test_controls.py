"""A run with menus has its controls in every table and on its page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rpms.models.policy import FunctionModel
from rpms.paper.condition import BASELINE, FULL
from rpms.paper.enforcement import STRICT
from rpms.paper.recall import EpisodicMemory
from rpms.play.controls import CONTROLS, control_designs, play_controls
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.report.gather import gather
from rpms.report.pages import write_report
from rpms.report.tables import applicable, main_table
from rpms.store.memories import read_memory
from rpms.store.protocol import TABLES
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
MEMORY = read_memory(Path(WORLD.embedded_memory()), "alfworld")
LLM = "openai/first-entry"


def design(**changes):
    model = FunctionModel(lambda request: f"Action: {request.decision.menu.commands[0]}", LLM)
    given = {"condition": replace(FULL, enforcement=STRICT), "memory": MEMORY, **changes}
    return design_run(WORLD, LLM, lend(model), split="builtin", limit=3, step_budget=12, **given)


def test_every_table_and_the_page_of_a_menu_run_show_what_others_win_from_such_menus(tmp_path):
    summary = run(design(), tmp_path / "run")
    assert sum(row.menus for row in summary.rows) == summary.steps
    assert 0 < sum(row.led for row in summary.rows) < summary.steps
    controls = play_controls(design(), tmp_path / "run")
    assert tuple(controls) == CONTROLS
    assert controls["menu-best"].won >= summary.won
    (found,) = gather([tmp_path / "run"])
    said = f"menu-random {controls['menu-random'].won} and menu-best {controls['menu-best'].won} of 3 won"
    for name in TABLES:
        for table in applicable(name, [found]):
            (note,) = [note for note in table.notes if said in note]
            assert "of its menus had one entry" in note
            assert "the plan's first step was taken" in note
    table = main_table([found])
    assert table.columns[-2:] == CONTROLS
    assert table.lines[0].cells[-1].text == f"{100 * controls['menu-best'].won / 3:.1f}"
    page = write_report([tmp_path / "run"], tmp_path / "report").page.read_text()
    assert said in page
    assert "menu-random" in page


def test_what_has_no_menu_or_no_llm_has_no_controls():
    assert not control_designs(design(condition=FULL))
    assert not control_designs(design(condition=replace(BASELINE, enforcement=STRICT)))
    other = replace(design(memory=EpisodicMemory()), model_name="planner")
    assert not control_designs(other)
    assert control_designs(replace(other, model_name="replay/qwen2.5-coder-1.5b"))
