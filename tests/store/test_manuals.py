"""A broken manual is reported with its file and line."""

from __future__ import annotations

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign.limits import LARGEST_MANUAL
from rpms.logic.errors import FileError
from rpms.logic.rules import Tier
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import find_mistakes, read_manual
from tests.paper.kitchen import MANUAL, manual

UNIVERSAL = files("rpms.worlds").joinpath("universal.yaml").read_text(encoding="utf-8")


def broken(old: str, new: str) -> str:
    assert MANUAL.count(old) >= 1
    return MANUAL.replace(old, new, 1)


def line_of(text: str, needle: str) -> int:
    return text[: text.index(needle)].count("\n") + 1


@pytest.mark.parametrize(
    ("text", "needle", "problem"),
    [
        (broken("domain:", "domains:"), "domains:", "unknown tier"),
        (broken("D-LOC-003", "D-LOC-001"), "category: electronics", "duplicate key"),
        (
            broken("hand_empty, open(place)", "hand_empty, opened(place)"),
            "opened(place)",
            "unknown predicate 'opened'",
        ),
        (
            broken("effects: [open(place)]", "effects: [open(plaice)]"),
            "plaice",
            "no parameter of this action",
        ),
        (
            broken("effects: [open(place)]", "effects: ['open(place, place)']"),
            "open(place, place)",
            "takes 1 argument",
        ),
        (
            broken("effects: [open(place)]", "effects: [open(place), not open(place)]"),
            "not open(place), not",
            "contradict",
        ),
        (
            broken("move <object> to <place>", "take <thing> from <place>"),
            "take <thing>",
            "is a command of take already",
        ),
        (broken("effects: [open(place)]", "effects: 3"), "effects: 3", "list"),
        (
            broken("effects: [open(place)]", "effect: [open(place)]"),
            "effect: [",
            "not a known field",
        ),
        (broken("    syntax: open <place>\n", ""), "  open:\n", "syntax"),
        (broken("{action: put,", "{action: throw,"), "throw", "no action is called 'throw'"),
        (broken("S-002", "Rule two"), "Rule two", "no rule id"),
        (broken("world: kitchen", "world: [kitchen]"), "world:", "must be a text"),
        (broken("world: kitchen", "world: {kitchen"), "predicates:", "not valid YAML"),
        ("- a\n- b\n", "- a", "mapping"),
        ("", "", "mapping"),
        ("universal: 3", "universal", "mapping"),
        ("universal:\n  search:\n    U-A-1: ''\n", "U-A-1", "text"),
        ("environment:\n  go:\n    syntax: go\n    preconditions: ['at(']\n", "at(", "cannot read"),
        ("x: &a [*a]", "x", "within what it means"),
        (broken("exclusive: always", "exclusive: sometimes"), "sometimes", "neither `always` nor"),
        (
            broken("syntax: open <place>", "syntax: open <place> of <place>"),
            "of <place>",
            "stands twice",
        ),
        (broken("syntax: open <place>", "syntax: open <place>\n    id: '!!'"), "'!!'", "is no id"),
    ],
)
def test_a_mistake_is_reported_at_its_line(text, needle, problem):
    with pytest.raises(FileError) as caught:
        read_manual(ManualText("broken.yaml", text))
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("broken.yaml:")
    if needle and "contradict" not in problem and "duplicate" not in problem:
        assert abs(caught.value.line - line_of(text, needle)) <= 1


LAMPS = """
predicates:
  lit: {args: [lamp]}
  dark: {args: [lamp]}
  holding: {args: [thing], exclusive: always}
environment:
  swap:
    syntax: swap <first> for <second>
    preconditions: [%s]
"""


@pytest.mark.parametrize(
    ("preconditions", "problem"),
    [
        ("lit(first), not lit(first)", "contradicts itself: both lit(first) and not lit(first)"),
        ("lit(first) or dark(first), not lit(first), not dark(first)", "contradicts itself: both"),
        (
            "holding(first), holding(second)",
            "holding(first) and holding(second) exclude each other",
        ),
        ("lit(first), lit(second)", ""),
        ("holding(first), not holding(second)", ""),
        ("lit(first) or dark(first), not lit(first)", ""),
        ("lit(first) or not lit(first)", ""),
    ],
)
def test_preconditions_that_cannot_all_hold_are_a_mistake(preconditions, problem):
    found = find_mistakes(ManualText("lamps.yaml", LAMPS % preconditions))
    assert [problem in str(mistake) for mistake in found] == ([True] if problem else [])
    assert all(mistake.line == 9 for mistake in found)


GOALS = """
predicates:
  holding: {args: [thing], exclusive: always}
  lit: {args: [lamp]}
  in: {args: [thing, place]}
goals:
  light:
    over: {x: object}
    holds: [lit(x)]
procedures:
  tidy:
    goals: [tidy]
    over: {x: object, p: destination}
    steps:
      - {fetch: holding(x)}
      - {put_away: ['in(x, p)']}
environment:
  look:
    syntax: look in <place>
    observes: ['in(_, place)']
  rub: {syntax: rub <lamp>, effects: [lit(lamp)]}
"""


@pytest.mark.parametrize(
    ("old", "new", "needle", "problem"),
    [
        ("[lit(x)]", "[lit(y)]", "lit(y)", "'y' is no variable of its `over` (x)"),
        (
            "over: {x: object}",
            "over: {x: obect}",
            "obect",
            "'obect' is no field of a goal; choose one of object, state",
        ),
        (
            "over: {x: object}",
            "over: {x: object, y: state}",
            "y: state",
            "'y' stands in none of the facts",
        ),
        ("[lit(x)]", "[glowing(x)]", "glowing", "unknown predicate 'glowing'"),
        ("[lit(x)]", "['lit(x, x)']", "lit(x, x)", "lit takes 1 argument"),
        (
            "[lit(x)]",
            "[lit(x), not lit(x)]",
            "not lit",
            "contradicts itself: both lit(x) and not lit(x)",
        ),
        ("[lit(x)]", "[]", "holds", "holds: should not be empty"),
        ("[lit(x)]", "{lit: x}", "holds", "holds: should be a list"),
        (
            "holds: [lit(x)]",
            "holds: [lit(x)]\n    until: [lit(x)]",
            "until",
            "is not a known field",
        ),
        ("    over: {x: object}\n    holds", "    holds", "light:", "over: is missing"),
        (
            "fetch: holding(x)",
            "fetch: holding(z)",
            "holding(z)",
            "'z' is no variable of its `over` (p, x)",
        ),
        ("fetch: holding(x)", "", "- {}", "a step is a name and what ends it"),
        ("['in(x, p)']", "[]", "put_away", "a step is a name and what ends it"),
        ("    goals: [tidy]\n", "", "tidy:", "goals: is missing"),
        ("['in(_, place)']", "['under(_, place)']", "under", "unknown predicate 'under'"),
        (
            "['in(_, place)']",
            "['in(_, plaice)']",
            "plaice",
            "'plaice' is no parameter of this action (place)",
        ),
        (
            "['in(_, place)']",
            "['not in(_, place)']",
            "not in",
            "an action reveals whether a fact holds",
        ),
        (
            "['in(_, place)']",
            "['in(_, place) if lit(lamp)']",
            "if lit",
            "'lamp' is no parameter of this action",
        ),
        ("['in(_, place)']", "['in(']", "['in(']", "cannot read"),
    ],
)
def test_a_mistake_in_what_goals_want_and_actions_reveal_is_reported_at_its_line(
    old, new, needle, problem
):
    assert GOALS.count(old) == 1
    text = GOALS.replace(old, new)
    (mistake,) = find_mistakes(ManualText("broken.yaml", text))
    assert problem in str(mistake)
    assert str(mistake).startswith(f"broken.yaml:{mistake.line}: ")
    assert abs(mistake.line - line_of(text, needle)) <= 1


def test_what_a_revelation_is_bound_by_need_be_no_parameter():
    text = GOALS.replace(
        "['in(_, place)']", "['in(thing, place) if lit(thing)', 'in(\"key\", place)']"
    )
    assert find_mistakes(ManualText("fine.yaml", text)) == []


def test_a_goal_that_nothing_reaches_is_no_mistake():
    text = GOALS.replace("  rub: {syntax: rub <lamp>, effects: [lit(lamp)]}\n", "")
    assert find_mistakes(ManualText("fine.yaml", text)) == []


@pytest.mark.parametrize("entry", ["light:", "tidy:"])
def test_two_goals_or_procedures_of_one_name_are_a_mistake(entry):
    (within,) = find_mistakes(
        ManualText("a.yaml", GOALS.replace(f"  {entry}", f"  {entry} 3\n  {entry}", 1))
    )
    assert "duplicate key" in str(within)
    start = GOALS.index("goals:" if entry == "light:" else "procedures:")
    section = GOALS[start : GOALS.index("procedures:" if entry == "light:" else "environment:")]
    (across,) = find_mistakes(ManualText("a.yaml", GOALS), ManualText("b.yaml", section))
    kind = "goal light" if entry == "light:" else "procedure tidy"
    assert str(across) == (
        f"b.yaml:2: {kind} is already used at a.yaml:{line_of(GOALS, entry)}; give this one another name"
    )


def test_a_goal_of_ones_own_stands_in_place_of_the_worlds():
    mine = "goals: {light: {over: {x: destination}, holds: [lit(x)]}}"
    manual = read_manual(ManualText("world.yaml", GOALS), ManualText("mine.yaml", mine, own=True))
    (light,) = [purpose for purpose in manual.purposes if purpose.name == "light"]
    assert dict(light.over) == {"x": "destination"}


def test_rules_of_ones_own_join_the_worlds_and_stand_in_place_of_those_with_the_same_id():
    world = (
        "domain: {places: {D-LOC-001: Look., D-LOC-002: {text: t, objects: [mug], places: [desk]}}}"
    )
    mine = "domain: {others: {D-LOC-001: Look twice., D-MINE-001: Wait.}}"
    manual = read_manual(ManualText("world.yaml", world), ManualText("mine.yaml", mine, own=True))
    assert {rule.id: rule.text for rule in manual.rules if rule.id != "D-LOC-002"} == {
        "D-LOC-001": "Look twice.",
        "D-MINE-001": "Wait.",
    }
    assert [rule.locality.places for rule in manual.rules if rule.locality] == [("desk",)]


SHARED = ManualText("shared", "universal: {hands: {U-HAND-001: Put it down first.}}")


def test_a_world_says_a_principle_of_tier_1_in_its_own_words():
    world = ManualText("world", "reworded: {U-HAND-001: Keep it.}")
    (rule,) = read_manual(SHARED, world).rules
    assert (rule.id, rule.tier, rule.text) == ("U-HAND-001", Tier.UNIVERSAL, "Keep it.")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("reworded: {U-HAND-002: Keep it.}", "U-HAND-002 is no rule of tier 1; it has U-HAND-001"),
        ("reworded: {U-HAND-001: 3}", "write the words that U-HAND-001 has in this world"),
    ],
)
def test_other_words_for_no_principle_are_a_mistake(text, problem):
    with pytest.raises(FileError, match=problem):
        read_manual(SHARED, ManualText("world", text))


def test_words_for_a_principle_give_way_with_tier_1():
    world = ManualText("world", "reworded: {U-HAND-001: Keep it.}")
    own = ManualText("own", "universal: {other: {U-OTHER-001: Hurry.}}", own=True)
    (rule,) = read_manual(SHARED, world, own).rules
    assert rule.text == "Hurry."


def test_a_procedure_goes_before_a_goal_of_the_same_type():
    text = GOALS.replace("goals: [tidy]", "goals: [tidy, light]")
    manual = read_manual(ManualText("a.yaml", text))
    assert manual.active("light").purpose.staged
    assert manual.active("dance").purpose is None


def test_all_mistakes_are_found_at_once_and_none_follows_from_another():
    text = (
        broken("effects: [open(place)]", "effects: [opn(place)]")
        .replace("exclusive: always", "exclusive: sometimes", 1)
        .replace("{action: put,", "{action: throw,", 1)
        .replace("S-002", "Rule two", 1)
    )
    found = find_mistakes(ManualText("broken.yaml", text), ManualText("worse.yaml", "universal: 3"))
    assert [str(mistake).split(":")[0] for mistake in found] == ["broken.yaml"] * 4 + ["worse.yaml"]
    lines = [mistake.line for mistake in found[:4]]
    assert lines == sorted(lines)
    for problem in (
        "neither `always`",
        "unknown predicate 'opn'",
        "no action is called 'throw'",
        "no rule id",
    ):
        assert sum(problem in str(mistake) for mistake in found) == 1
    with pytest.raises(FileError, match=r"^broken\.yaml"):
        read_manual(ManualText("broken.yaml", text))
    assert find_mistakes(ManualText("good.yaml", MANUAL)) == []


def test_what_names_a_broken_action_or_predicate_is_no_mistake_of_its_own():
    broken_predicate = broken("open: {args: [place]", "open: {args: 3")
    assert len(find_mistakes(ManualText("a.yaml", broken_predicate))) == 1
    broken_action = broken("put:", "put: 3\n  other:")
    assert len(find_mistakes(ManualText("a.yaml", broken_action))) == 1


def test_a_duplicate_id_names_both_places():
    with pytest.raises(
        FileError, match=r"broken.yaml:\d+: D-LOC-001 is already used at broken.yaml:\d+"
    ):
        read_manual(
            ManualText(
                "broken.yaml",
                broken("D-LOC-003", "D-LOC-001")
                .replace("    D-LOC-001:\n", "    D-LOC-002:\n")
                .replace("  situation:\n", "  situation:\n    D-LOC-001: again\n"),
            )
        )


def test_a_duplicate_id_across_files_names_both_places():
    with pytest.raises(FileError, match=r"^b.yaml:\d+: .* is already used at a.yaml:\d+"):
        read_manual(ManualText("a.yaml", UNIVERSAL), ManualText("b.yaml", UNIVERSAL))


@given(st.text(max_size=200))
def test_any_text_is_a_manual_or_a_file_error(text):
    try:
        read_manual(ManualText("any.yaml", text))
    except FileError as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "a: " * 3_000,
        " " * (LARGEST_MANUAL + 1),
        "a: !!python/object:os.system x",
        "\x00",
    ],
)
def test_hostile_texts_are_refused(text):
    with pytest.raises(FileError):
        read_manual(ManualText("hostile.yaml", text))


def test_active_rules_are_universal_domain_for_the_goal_and_environment():
    whole = read_manual(
        ManualText("universal.yaml", UNIVERSAL),
        ManualText("kitchen.yaml", MANUAL.replace("U-STATE-001", "U-X-001")),
    )
    for goal_type, has_cooling in (
        ("pick_cool_then_place_in_recep", True),
        ("look_at_obj_in_light", False),
    ):
        active = whole.active(goal_type)
        assert {rule.id for rule in active.universal} == {
            rule.id for rule in whole.rules if rule.tier is Tier.UNIVERSAL
        }
        assert ("D-COOL-001" in {rule.id for rule in active.domain}) is has_cooling
        assert active.environment == whole.actions


def test_an_action_may_be_written_in_several_ways():
    put = next(action for action in manual().actions if action.name == "put")
    binding = {"object": "mug 1", "place": "shelf 2"}
    assert put.match("put mug 1 in/on shelf 2") == put.match("move mug 1 to shelf 2") == binding
    assert put.match("put mug 1 on shelf 2") is None
