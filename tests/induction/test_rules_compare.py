"""Two manuals compared by what they say, whatever their schemas and parameters are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.induction.manuals.manual_compare import Entry, Relation, compare
from rpms.logic.rules import RuleManual
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from tests.cli.command import Rpms, rpms  # noqa: F401  a fixture

BASE = """
predicates:
  at: {args: [place]}
  holding: {args: [object]}
  shut: {args: [place]}
  wet: {args: [object]}
goals:
  wash: {over: {x: object, p: destination}, holds: [wet(x), at(p)]}
environment:
  rinse:
    syntax: rinse <object> in <place>
    preconditions: [at(place), holding(object)]
    effects: [wet(object)]
domain:
  care:
    D-CARE-001: {text: Keep shut places shut., forbids: [{action: rinse, when: [shut(place)]}]}
"""


def manual(text: str = BASE, **changes: str) -> RuleManual:
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return read_manual(ManualText("manual.yaml", text))


def changed(old: str, new: str) -> RuleManual:
    assert old in BASE
    return manual(BASE.replace(old, new))


def entry(entries: list[Entry], sort: str) -> Entry:
    (found,) = [each for each in entries if each.sort == sort]
    return found


def signs(found: Entry, part: str) -> list[str]:
    return [f"{line.sign} {line.text}" for line in found.lines if line.part == part]


def test_other_names_are_no_difference() -> None:
    renamed = BASE.replace("  rinse:", "  wash_up:").replace("action: rinse", "action: wash_up")
    renamed = renamed.replace("rinse <object> in <place>", "rinse <what> in <where>")
    renamed = renamed.replace("[at(place), holding(object)]", "[holding(what), at(where)]").replace(
        "[wet(object)]", "[wet(what)]"
    )
    renamed = renamed.replace("when: [shut(place)]", "when: [shut(where)]").replace(
        "{x: object", "{y: object"
    )
    renamed = renamed.replace("[wet(x), at(p)]", "[at(p), wet(y)]")
    assert {each.relation for each in compare(manual(), manual(renamed))} == {Relation.EQUAL}


@pytest.mark.parametrize(
    ("new", "relation", "line"),
    [
        ("[at(place), holding(object), not shut(place)]", Relation.STRICTER, "+ not shut(2)"),
        ("[at(place)]", Relation.LOOSER, "- holding(1)"),
        (
            "[at(place), holding(object) or wet(object)]",
            Relation.DIFFERENT,
            "+ holding(1) or wet(1)",
        ),
        ("[at(place), wet(object)]", Relation.DIFFERENT, "= at(2)"),
    ],
)
def test_an_action_is_stricter_or_looser_by_its_needs(
    new: str, relation: Relation, line: str
) -> None:
    found = entry(compare(manual(), changed("[at(place), holding(object)]", new)), "action")
    assert found.relation is relation
    assert line in signs(found, "needs")


def test_what_plans_see_to_is_no_need() -> None:
    moved = changed(
        "preconditions: [at(place), holding(object)]",
        "preconditions: [at(place)]\n    plan: [holding(object)]",
    )
    found = entry(compare(manual(), moved), "action")
    assert (found.relation, signs(found, "plan")) == (Relation.LOOSER, ["+ holding(1)"])


@pytest.mark.parametrize(
    ("old", "new", "sort", "relation"),
    [
        ("effects: [wet(object)]", "effects: [not wet(object)]", "action", Relation.DIFFERENT),
        (", forbids: [{action: rinse, when: [shut(place)]}]", "", "action", Relation.LOOSER),
        ("when: [shut(place)]", "when: [wet(object)]", "action", Relation.DIFFERENT),
        ("holds: [wet(x), at(p)]", "holds: [wet(x), at(p), holding(x)]", "goal", Relation.STRICTER),
        ("syntax: rinse <object> in", "syntax: soak <object> in", "goal", Relation.EQUAL),
    ],
)
def test_prohibitions_and_goals(old: str, new: str, sort: str, relation: Relation) -> None:
    assert entry(compare(manual(), changed(old, new)), sort).relation is relation


def test_a_command_of_one_manual_alone() -> None:
    found = compare(manual(), changed("syntax: rinse <object> in", "syntax: soak <object> in"))
    assert [(each.name, each.relation) for each in found if each.sort == "action"] == [
        ("rinse <1> in <2>", Relation.ONLY_FIRST),
        ("soak <1> in <2>", Relation.ONLY_SECOND),
    ]


TABLE = """
  rinses: {args: [place]}
kinds:
  rinses: {yes: [sink], no: [desk, bed]}
goals:
"""


def test_a_table_is_compared_kind_by_kind() -> None:
    learned = BASE.replace("goals:\n", TABLE.lstrip("\n"))
    learned = learned.replace(
        "[at(place), holding(object)]", "[at(place), holding(object), rinses(place)]"
    )
    found = entry(
        compare(manual(learned), manual(learned.replace("[desk, bed]", "[desk]"))), "action"
    )
    assert found.relation is Relation.LOOSER
    assert [line for line in signs(found, "needs") if "is not" in line] == [
        "- (2) is not (bed)",
        "= (2) is not (desk)",
    ]


def test_the_command_ends_as_diff_does(rpms: Rpms, tmp_path: Path) -> None:  # noqa: F811
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    one.write_text(BASE)
    other.write_text(BASE.replace("[at(place), holding(object)]", "[at(place)]"))
    assert rpms("rules", "diff", one, one).code == 0
    found = rpms("rules", "diff", one, other)
    assert found.code == 1
    assert "looser: rinse <1> in <2>" in found.out
    assert "- needs: holding(1)" in found.out
    told = json.loads(rpms("rules", "diff", one, other, "--json").out)
    assert [each["relation"] for each in told] == ["looser", "equal"]
    other.write_text("environment: {rinse: {syntax: x, preconditions: [at(y)]}}")
    assert "unknown predicate 'at'" in rpms("rules", "diff", one, other).line
    assert "no such manual" in rpms("rules", "diff", one, tmp_path / "none.yaml").line


def test_a_world_is_equal_to_itself(rpms: Rpms) -> None:  # noqa: F811
    assert rpms("rules", "diff", "alfworld", "alfworld").code == 0
