"""The ladder goes from the paper's preset to strict, one setting at a time."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from pathlib import Path

from rpms.paper.condition import ABLATION
from rpms.play.settings import Settings
from rpms.study.study_files import find_study, read_study
from rpms.worlds.registry import find_world

STUDY = read_study(find_study(Path("ladder")))
WORLD = find_world("alfworld")


def settings_of(name: str) -> dict[str, object]:
    given = next(case.settings for case in STUDY.cases if case.name == name)
    return described(given)


def described(given: Settings) -> dict[str, object]:
    condition, sources = given.condition_value(), given.sources(WORLD)
    parts = {
        each.name: getattr(condition.enforcement, each.name)
        for each in fields(condition.enforcement)
    }
    rest = {
        each.name: getattr(condition, each.name)
        for each in fields(condition)
        if each.name != "enforcement"
    }
    return {
        **parts,
        **rest,
        "manual": sources.manual.name,
        "schemas": sources.retrieval(WORLD).schemas_by_goal,
    }


def test_each_rung_has_one_setting_more_and_the_ends_are_the_presets():
    rungs = list(dict.fromkeys(case.name.partition(",")[0] for case in STUDY.cases))
    for condition in ABLATION.values():
        found = [settings_of(f"{rung}, {condition}") for rung in rungs]
        for lower, upper in pairwise(found):
            assert sum(lower[name] != upper[name] for name in lower) == 1
        assert found[0] == described(Settings(condition=condition))
        assert found[-1] == described(Settings(condition=condition, preset="strict"))


def test_conditions_can_be_chosen_by_name():
    assert [case.name for case in STUDY.only("10 menu*; 16 strict, full").cases] == [
        *(f"10 menu, {name}" for name in ("baseline", "memory-only", "rules-only", "full")),
        "16 strict, full",
    ]
