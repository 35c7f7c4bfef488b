"""Mending: recorded surprises become edits of the manual that are checked by replay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.induction.manuals.manual_edits import apply, write_edit
from rpms.induction.manuals.mend import RecordedStep, find_surprises, propose
from rpms.logic.belief import Situation
from rpms.logic.facts import parse_clause, parse_literal
from rpms.models.policy import FunctionModel
from rpms.paper.enforcement import PAPER, STRICT
from rpms.paper.episode import Episode
from rpms.planning.advice import plan_of
from rpms.play.sources import knowledge_of
from rpms.store.evidence import Witness
from rpms.store.yaml_files import yaml_text
from rpms.worlds.alfworld import world
from tests.cli.command import Rpms, rpms
from tests.play.test_surprise import HEAT, played, with_action, with_goal, with_needs

__all__ = ["rpms"]


def moments(episode: Episode) -> list[RecordedStep]:
    found = []
    for step in episode.steps:
        before = step.decision.belief
        after = world.update(before, step.command, step.result)
        won = episode.won and step is episode.steps[-1]
        goal = step.decision.goal
        sides = (Situation(before, goal), Situation(after, goal))
        witness = Witness("played", step.number)
        found.append(
            RecordedStep("heat", witness, step.command, step.infeasible, won, *sides, episode.won)
        )
    return found


WRONG = {
    "heat, needs: remove lamp(object)": with_needs(
        "heat", lambda needs: (*needs, parse_clause("lamp(object)"))
    ),
    "heat, does: remove cleaned(object)": with_action(
        "heat", lambda one: replace(one, effects=(*one.effects, parse_literal("cleaned(object)")))
    ),
    "take, does: add holding(object)": with_action(
        "take", lambda one: replace(one, effects=one.effects[1:])
    ),
    f"{HEAT}, wants: add heated(x)": with_goal(HEAT, "heated(x)"),
}


@pytest.mark.parametrize("edit", WRONG)
def test_a_wrong_line_is_mended_from_what_it_surprised(edit):
    recorded = moments(played(WRONG[edit], HEAT))
    proposals, mended = propose(WRONG[edit], recorded)
    assert edit in [str(one.edit) for one in proposals]
    assert all(one.where for one in proposals)
    before = sum(len(find_surprises(WRONG[edit], one).surprises) for one in recorded)
    assert sum(len(find_surprises(mended, one).surprises) for one in recorded) < before


def test_an_edit_that_contradicts_what_was_foretold_rightly_does_not_pass():
    manual = with_needs("heat", lambda needs: (*needs, parse_clause("lamp(object)")))
    recorded = moments(played(manual, HEAT))
    proposals, _ = propose(manual, recorded)
    for one in proposals:
        if one.edit is not None:
            changed = apply(manual, one.edit)
            assert not any(
                find_surprises(changed, each).surprises
                for each in recorded
                if not find_surprises(manual, each).surprises
            )


def test_a_refusal_that_an_unknown_need_may_explain_adds_no_need():
    manual, clean = knowledge_of(world).manual, "clean apple 1 with sinkbasin 1"
    apple = ["go to diningtable 1", "take apple 1 from diningtable 1"]
    answers = iter(
        [*apple, "go to microwave 1", "heat apple 1 with microwave 1", "go to fridge 1", clean]
    )
    model = FunctionModel(
        lambda asked: f"Action: {next(answers, plan_of(asked.decision).options[0].command)}"
    )
    recorded = moments(
        played(manual, HEAT, model, enforcement=replace(STRICT, guard=PAPER.guard, menu=0))
    )
    assert [one.refused for one in recorded if one.command == clean] == [True]
    recorded += moments(played(manual, "pick_clean_then_place_in_recep"))
    assert not [one.edit for one in propose(manual, recorded)[0] if one.edit is not None]


def test_edits_change_the_file_where_it_holds_the_line_and_nothing_else():
    proposals, _ = propose(
        manual := WRONG["heat, needs: remove lamp(object)"], moments(played(manual, HEAT))
    )
    (edit,) = [one.edit for one in proposals if one.edit is not None and one.edit.remove]
    text = MANUAL.replace("NEEDS", "[at(place),   lamp(object)]  # both?")
    assert write_edit(text, edit) == MANUAL.replace("NEEDS", "[at(place)]  # both?")
    block = MANUAL.replace(
        "NEEDS", "\n      - at(place)  # first\n      - lamp(object)\n      - holding(object)"
    )
    assert write_edit(block, edit) == MANUAL.replace(
        "NEEDS", "\n      - at(place)  # first\n      - holding(object)"
    )
    more = edit._replace(remove="", add=parse_clause("in(object, place)"))
    assert write_edit(MANUAL.replace("    preconditions: NEEDS\n", ""), more) == MANUAL.replace(
        "    preconditions: NEEDS\n    syntax: heat <object>   with <place>",
        '    syntax: heat <object>   with <place>\n    preconditions: ["in(object, place)"]',
    )
    assert write_edit("environment: {heat: {syntax: heat}}\n", more) == (
        'environment: {heat: {syntax: heat, preconditions: ["in(object, place)"]}}\n'
    )
    assert write_edit(MANUAL.replace("heat:", "heats:"), edit) is None


MANUAL = """\
environment:   # by hand
  go: {syntax: go to <place>,
       effects: [ at(place) ]}

  heat:
    preconditions: NEEDS
    syntax: heat <object>   with <place>
  # the end
"""


def test_a_folder_without_a_run_is_refused_in_words(rpms: Rpms, tmp_path):
    (tmp_path / "manual.yaml").write_text("world: alfworld\n", encoding="utf-8")
    assert (
        "there is no run here"
        in rpms("rules", "mend", tmp_path / "manual.yaml", tmp_path / "none").line
    )


PLACE = "pick_and_place_simple"
HEATING = {
    "syntax": "heat <object> with <place>",
    "effects": ["heated(object)", "not cooled(object)"],
}
HEATS = ["holding(object)", "heats(place, object)"]
PLANTED = {
    "a need removed": (
        PLACE,
        {
            "environment": {
                "put": {
                    "syntax": "put <object> in/on <place>",
                    "preconditions": [
                        "holding(object)",
                        "not closed(place)",
                        "fits(object, place)",
                    ],
                    "effects": ["not holding(object)", "hand_empty", "in(object, place)"],
                }
            }
        },
        "put needs nothing else: contradicted",
        "put, needs: add at(place)",
    ),
    "a need negated": (
        HEAT,
        {"environment": {"heat": {**HEATING, "preconditions": [*HEATS, "not at(place)"]}}},
        "heat needs not at(place): contradicted",
        "heat, needs: remove not at(place), add at(place)",
    ),
    "a need added": (
        HEAT,
        {
            "environment": {
                "heat": {**HEATING, "preconditions": [*HEATS, "at(place)", "lamp(object)"]}
            }
        },
        "heat needs lamp(object): contradicted",
        "heat, needs: remove lamp(object)",
    ),
    "an effect removed": (
        PLACE,
        {
            "environment": {
                "go": {
                    "syntax": "go to <place>",
                    "preconditions": ["exists(place)", "not at(place)"],
                    "observes": ["closed(place)", "in(_, place) if not closed(place)"],
                }
            }
        },
        "go does nothing else: contradicted",
        "go, does: add at(place)",
    ),
    "an observation removed": (
        PLACE,
        {
            "environment": {
                "go": {
                    "syntax": "go to <place>",
                    "preconditions": ["exists(place)", "not at(place)"],
                    "effects": ["at(place)"],
                    "observes": ["closed(place)", "same_place(place, _) if not closed(place)"],
                }
            }
        },
        "go shows nothing else: contradicted",
        "go, shows: add in(_, place) if not closed(place)",
    ),
    "a goal's fact removed": (
        HEAT,
        {"goals": {HEAT: {"over": {"x": "object", "p": "destination"}, "holds": ["in(x, p)"]}}},
        f"{HEAT} wants nothing else: contradicted",
        f"{HEAT}, wants: add heated(x)",
    ),
    "a ban added": (
        HEAT,
        {
            "domain": {
                "wrong": {
                    "D-WRONG": {
                        "text": "Never.",
                        "forbids": [{"action": "heat", "when": ["movable(object)"]}],
                    }
                }
            }
        },
        "D-WRONG forbids heat when movable(object): contradicted",
        "D-WRONG, forbids: remove heat when movable(object)",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_run_with_a_planted_fault_mends_its_manual_which_then_wins_without_doubt(
    rpms: Rpms, tmp_path, fault
):
    type_, tree, line, edit = PLANTED[fault]
    manual, run = tmp_path / "mine.yaml", tmp_path / "run"
    kept = tmp_path / "kept.yaml"
    kept.write_text(yaml_text({"world": "alfworld", **tree}), encoding="utf-8")
    manual.symlink_to(kept)
    play = (
        "run",
        "alfworld",
        "--manual",
        manual,
        "--preset",
        "strict",
        "--model",
        "planner",
        "--task",
        type_,
    )
    play = (*play, "--condition", "rules-only", "--limit", "1", "--processes", "1")
    assert rpms(*play, "--out", run).code == 0
    printed = rpms("rules", "mend", manual, run, "--write").out
    assert line in printed
    assert f"edit: {edit}\n" in printed
    assert "edits written to" in printed
    assert manual.is_symlink()
    assert "1 won" in rpms(*play, "--enforce", "doubt=off", "--out", tmp_path / "mended").out
