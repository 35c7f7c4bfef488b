"""Mending: recorded surprises become edits of the manual that are checked by replay."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.core.belief import Situation
from rpms.core.episode import Episode
from rpms.core.facts import parse_clause, parse_literal
from rpms.learn.mend import RecordedStep, apply, find_surprises, propose, write_edit
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
        found.append(RecordedStep(f"step {step.number}", step.command, step.infeasible, won, *sides))
    return found


WRONG = {
    "heat, needs: remove lamp(object)": with_needs("heat", lambda needs: (*needs, parse_clause("lamp(object)"))),
    "heat, does: remove cleaned(object)": with_action(
        "heat", lambda one: replace(one, effects=(*one.effects, parse_literal("cleaned(object)")))
    ),
    "take, does: add holding(object)": with_action("take", lambda one: replace(one, effects=one.effects[1:])),
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


def test_edits_change_the_file_where_it_holds_the_line_and_nothing_else():
    proposals, _ = propose(manual := WRONG["heat, needs: remove lamp(object)"], moments(played(manual, HEAT)))
    (edit,) = [one.edit for one in proposals if one.edit is not None and one.edit.remove]
    tree = {"environment": {"heat": {"preconditions": ["at(place)", "lamp(object)"]}}}
    assert write_edit(tree, edit)
    assert tree == {"environment": {"heat": {"preconditions": ["at(place)"]}}}
    assert not write_edit({"environment": {}}, edit)


def test_a_folder_without_a_run_is_refused_in_words(rpms: Rpms, tmp_path):
    (tmp_path / "manual.yaml").write_text("world: alfworld\n", encoding="utf-8")
    assert "there is no run here" in rpms("rules", "mend", tmp_path / "manual.yaml", tmp_path / "none").line
