"""Two manuals compared by what they say, whatever their schemas and parameters are called."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.core.facts import Atom, Clause, Literal, Truth
from rpms.core.rules import RuleManual
from rpms.learn.rules.compare import Entry, Relation, compare
from rpms.learn.rules.entail import follows
from rpms.store.manuals import ManualText, read_manual
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
    return [f"{line.sign} {line.text}" for each in found.parts if each.name == part for line in each.lines]


def test_other_names_are_no_difference() -> None:
    renamed = BASE.replace("  rinse:", "  wash_up:").replace("action: rinse", "action: wash_up")
    renamed = renamed.replace("rinse <object> in <place>", "rinse <what> in <where>")
    renamed = renamed.replace("[at(place), holding(object)]", "[holding(what), at(where)]").replace(
        "[wet(object)]", "[wet(what)]"
    )
    renamed = renamed.replace("when: [shut(place)]", "when: [shut(where)]").replace("{x: object", "{y: object")
    renamed = renamed.replace("[wet(x), at(p)]", "[at(p), wet(y)]")
    assert {each.relation for each in compare(manual(), manual(renamed))} == {Relation.EQUAL}


@pytest.mark.parametrize(
    ("new", "relation", "line"),
    [
        ("[at(place), holding(object), not shut(place)]", Relation.STRICTER, "+ not shut(place)"),
        ("[at(place)]", Relation.LOOSER, "- holding(object)"),
        ("[at(place), holding(object) or wet(object)]", Relation.LOOSER, "- holding(object)"),
        ("[at(place), wet(object)]", Relation.DIFFERENT, "+ wet(object)"),
        ("[at(place), holding(object) or shut(place), not shut(place)]", Relation.STRICTER, "= holding(object)"),
    ],
)
def test_an_action_is_stricter_or_looser_by_what_follows_from_its_needs(
    new: str, relation: Relation, line: str
) -> None:
    found = entry(compare(manual(), changed("[at(place), holding(object)]", new)), "action")
    assert found.relation is relation
    assert line in signs(found, "needs")


def test_what_plans_see_to_is_no_need() -> None:
    moved = changed(
        "preconditions: [at(place), holding(object)]", "preconditions: [at(place)]\n    plan: [holding(object)]"
    )
    found = entry(compare(manual(), moved), "action")
    assert [(part.name, part.relation) for part in found.parts][:2] == [
        ("needs", Relation.LOOSER),
        ("plan", Relation.EQUAL),
    ]


@pytest.mark.parametrize(
    ("old", "new", "sort", "relation"),
    [
        ("effects: [wet(object)]", "effects: [not wet(object)]", "action", Relation.DIFFERENT),
        ("when: [shut(place)]", "when: [shut(place), wet(object)]", "prohibition", Relation.LOOSER),
        ("when: [shut(place)]", "when: []", "prohibition", Relation.STRICTER),
        ("when: [shut(place)]", "when: [wet(object)]", "prohibition", Relation.DIFFERENT),
        ("holds: [wet(x), at(p)]", "holds: [wet(x), at(p), holding(x)]", "goal", Relation.STRICTER),
        ("syntax: rinse <object> in", "syntax: soak <object> in", "goal", Relation.EQUAL),
    ],
)
def test_prohibitions_and_goals(old: str, new: str, sort: str, relation: Relation) -> None:
    assert entry(compare(manual(), changed(old, new)), sort).relation is relation


def test_a_command_of_one_manual_alone() -> None:
    found = compare(manual(), changed("syntax: rinse <object> in", "syntax: soak <object> in"))
    assert [(each.name, each.relation) for each in found if each.sort == "action"] == [
        ("rinse <object> in <place>", Relation.ONLY_FIRST),
        ("soak <object> in <place>", Relation.ONLY_SECOND),
    ]


TABLE = """
  rinses: {args: [place]}
kinds:
  rinses: {yes: [sink], no: [desk, bed]}
goals:
"""


class Author:
    """What a world's author knows of kinds."""

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(atom.args == ("sink ?",))


def test_kinds_are_compared_by_what_they_block() -> None:
    lasting = BASE.replace("goals:\n", "  washes: {args: [place], lasting: true}\ngoals:\n")
    lasting = lasting.replace("[at(place), holding(object)]", "[at(place), holding(object), washes(place)]")
    learned = BASE.replace("goals:\n", TABLE.lstrip("\n"))
    learned = learned.replace("[at(place), holding(object)]", "[at(place), holding(object), rinses(place)]")
    same = entry(compare(manual(lasting), manual(learned), Author()), "action")
    assert same.relation is Relation.EQUAL
    assert "= both block 2 of 3 kinds" in signs(same, "kinds")
    more = entry(compare(manual(learned), manual(learned.replace("[desk, bed]", "[desk]"))), "action")
    assert more.relation is Relation.LOOSER
    assert "- only A blocks 1 of 3 kinds, such as bed" in signs(more, "kinds")


ATOMS = [Atom(name) for name in "abcd"]
CLAUSES = st.lists(st.builds(Literal, st.sampled_from(ATOMS), st.booleans()), min_size=1, max_size=3).map(
    lambda literals: Clause(tuple(literals))
)


class Case:
    def __init__(self, values: tuple[bool, ...]) -> None:
        self.values = dict(zip(ATOMS, values, strict=True))

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.values[atom])


CASES = [Case(values) for values in product((False, True), repeat=len(ATOMS))]


@given(st.lists(CLAUSES, max_size=5), CLAUSES)
def test_what_follows_holds_in_every_case(given_: list[Clause], clause: Clause) -> None:
    where = [case for case in CASES if all(each.truth(case) is Truth.TRUE for each in given_)]
    assert follows(given_, clause) is all(clause.truth(case) is Truth.TRUE for case in where)


def test_the_command_ends_as_diff_does(rpms: Rpms, tmp_path: Path) -> None:  # noqa: F811
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    one.write_text(BASE)
    other.write_text(BASE.replace("[at(place), holding(object)]", "[at(place)]"))
    assert rpms("rules", "diff", one, one).code == 0
    found = rpms("rules", "diff", one, other)
    assert found.code == 1
    assert "looser: rinse <object> in <place>" in found.out
    assert "- holding(object)" in found.out
    told = json.loads(rpms("rules", "diff", one, other, "--json").out)
    assert [each["relation"] for each in told] == ["looser", "equal", "equal"]
    other.write_text("environment: {rinse: {syntax: x, preconditions: [at(y)]}}")
    assert "unknown predicate 'at'" in rpms("rules", "diff", one, other).line
    assert "no such manual" in rpms("rules", "diff", one, tmp_path / "none.yaml").line


def test_a_world_is_equal_to_itself(rpms: Rpms) -> None:  # noqa: F811
    assert rpms("rules", "diff", "alfworld", "alfworld").code == 0
