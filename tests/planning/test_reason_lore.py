"""Plans know more than actions: processes, permanent facts, stages of many things, things that
come first.
"""

from __future__ import annotations

import pytest

from rpms.logic.belief import Done, FactBelief, Situation
from rpms.logic.facts import parse_literal
from rpms.logic.goal import Goal
from rpms.paper import progress
from rpms.paper.progress import GoalStanding
from rpms.planning.achievers import Achievers
from rpms.planning.plan_graph import Plan
from rpms.planning.reason import Reasoner
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import find_mistakes, read_manual

MANUAL = """
predicates:
  in: {args: [room], exclusive: always}
  joins: {args: [room, other]}
  here: {args: [object], exclusive: with}
  with: {args: [room, object]}
  held: {args: [object]}
  hot: {args: [object]}
  looked: {args: [object]}
  within: {args: [object, vessel]}
  lit: {args: [stove]}
  asked: {}
facts:
  joins: {hall: [kitchen, cellar], kitchen: [hall], cellar: [hall]}
localities: {salt: [cellar]}
always: [not asked]
processes:
  heat: {command: wait, needs: ["within(object, vessel)", lit(stove), looked(object)], effects: [hot(object)], steps: 4}
  watch: {command: look at <object>, effects: [looked(object)]}
  answer: {command: "yes", effects: [not asked]}
  boil_over: {command: boil <vessel>, effects: ['hot("milk")'], steps: 9}
procedures:
  cook:
    goals: [cook]
    over: {v: pot}
    each: {i: object}
    steps:
      - gather: "within(i, v)"
      - heat: ["within(i, v)", hot(i)]
environment:
  go: {syntax: go to <room>, preconditions: [not in(room)], effects: [in(room), here(room)]}
  look: {syntax: look, observes: ["with(room, _) if in(room)"]}
  take: {syntax: take <object>, preconditions: [here(object)], effects: [held(object)]}
  put: {syntax: put <object> in <vessel>, preconditions: [held(object)], effects: ["within(object, vessel)"]}
  light: {syntax: light <stove>, effects: [lit(stove)]}
  watch: {syntax: look at <object>}
  answer: {syntax: "yes"}
  boil: {syntax: boil <vessel>}
"""
SOUP = Goal("cook", "soup")


def kitchen(
    *true: str, false: tuple[str, ...] = (), foods: tuple[str, ...] = ("leek", "milk")
) -> FactBelief:
    facts = {"in(kitchen)": True, "asked": False, "lit(stove)": False}
    facts |= {f"{name}({food})": False for food in foods for name in ("held", "hot", "looked")}
    facts |= {f"within({food}, pot)": False for food in foods}
    facts |= {f"with(kitchen, {food})": True for food in foods} | {
        f"here({food})": True for food in foods
    }
    facts |= dict.fromkeys(true, True) | dict.fromkeys(false, False)
    known = {parse_literal(text).atom: value for text, value in facts.items()}
    return _Called(
        known, {"object": foods, "vessel": ("pot",), "stove": ("stove",)}, at="in", hand="held"
    )


class _Called(FactBelief):
    def called(self, word: str) -> tuple[str, ...]:
        return {"soup": tuple(self.things["object"]), "pot": ("pot",)}.get(word, ())


def plan(belief: FactBelief, goal: Goal = SOUP, text: str = MANUAL) -> Plan:
    rules = read_manual(ManualText("test.yaml", text)).active(goal.type, goal.object)
    return Reasoner(rules).plan(Situation(belief, goal))


def standing(belief: FactBelief, goal: Goal = SOUP, text: str = MANUAL) -> GoalStanding:
    rules = read_manual(ManualText("test.yaml", text)).active(goal.type, goal.object)
    return progress.standing(rules, Situation(belief, goal))


def commands(found: Plan) -> list[str]:
    return [option.command for option in found.options]


def test_a_stage_of_many_things_wants_all_of_them():
    first = standing(kitchen())
    assert (first.stage, first.progress.text) == (0, "gather - leek")
    half = standing(kitchen("within(leek, pot)"))
    assert (half.stage, half.progress.text) == (0, "gather - milk")
    assert commands(plan(kitchen("within(leek, pot)"))) == ["take milk"]
    assert standing(kitchen("within(leek, pot)", "within(milk, pot)")).stage == 1


GATHERED = ("within(leek, pot)", "within(milk, pot)")


def test_time_is_let_pass_where_that_helps_and_looking_comes_by_turns():
    assert commands(plan(kitchen(*GATHERED, "lit(stove)")))[0] == "look at leek"
    assert commands(plan(kitchen(*GATHERED, "lit(stove)", "looked(leek)")))[0] == "wait"
    assert commands(plan(kitchen(*GATHERED, "looked(leek)")))[0] == "light stove"


def test_an_effect_on_a_thing_by_its_name_is_on_no_other():
    heats = [
        option.command for option in plan(kitchen(*GATHERED, "hot(leek)", "looked(milk)")).options
    ]
    assert set(heats) == {"light stove", "boil pot"}
    assert "boil pot" not in commands(plan(kitchen(*GATHERED, "hot(milk)", "looked(leek)")))


def test_a_question_is_answered_before_anything_else():
    asked = plan(kitchen("asked"))
    assert commands(asked) == ["yes"]
    assert standing(kitchen("asked")).progress.text == "gather - leek", (
        "and what was going on is not forgotten"
    )


def test_what_never_changes_is_known_of_rooms_that_nobody_has_seen():
    rules = read_manual(ManualText("test.yaml", MANUAL)).active("cook", "soup")
    assert set(Achievers(rules).lasting_names["room"]) == {"hall", "kitchen", "cellar"}
    assert "go to cellar" in set(Reasoner(rules).commands(Situation(kitchen(), SOUP)))


def test_two_tables_about_one_role_name_the_things_of_both():
    text = MANUAL.replace("facts:\n", "facts:\n  damp: {attic: [often]}\n").replace(
        "  asked: {}\n", "  asked: {}\n  damp: {args: [room, manner]}\n"
    )
    rules = read_manual(ManualText("test.yaml", text)).active("cook", "soup")
    assert set(Achievers(rules).lasting_names["room"]) == {"hall", "kitchen", "cellar", "attic"}


def test_a_process_may_be_what_moves_the_agent():
    go = (
        "go: {syntax: go to <room>, preconditions: [not in(room)], effects: [in(room), here(room)]}"
    )
    walk = "walk: {command: go <way>, needs: [not in(room)], effects: [in(room), here(room)]}"
    text = MANUAL.replace(go, "go: {syntax: go <way>}").replace(
        "processes:\n", f"processes:\n  {walk}\n"
    )
    rules = read_manual(ManualText("test.yaml", text)).active("cook", "soup")
    assert Achievers(rules).positional == {"in", "here"}


def test_what_is_missing_is_looked_for_where_it_usually_is():
    unseen = kitchen(foods=("salt ?",), false=("with(kitchen, salt ?)", "here(salt ?)"))
    known = {
        atom: value for atom, value in unseen.known.items() if atom.predicate != "with" or not value
    }
    belief = _Called(known, unseen.things, at="in", hand="held")
    assert commands(plan(belief))[0] == "go to cellar"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("joins: {hall:", "within_reach: {hall:", "no predicate of two arguments"),
        ("{hall: [kitchen, cellar]", "{hall: kitchen", "must be a list of texts"),
        ("localities: {salt: [cellar]}", "localities: {salt: cellar}", "must be a list of texts"),
        ("always: [not asked]", "always: [not answered]", "unknown predicate 'answered'"),
        (
            'answer: {command: "yes", effects: [not asked]}',
            'answer: {command: "yes"}',
            "what it brings about",
        ),
        ("effects: [looked(object)]}", "effect: [looked(object)]}", "not a known field"),
        ("each: {i: object}", "each: [i]", "should be an object"),
        ("hot(i)]", "hot(j)]", "'j' is no variable of its `over`"),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, problem):
    text = MANUAL.replace(old, new, 1)
    assert text != MANUAL
    (mistake, *_) = find_mistakes(ManualText("test.yaml", text))
    assert problem in str(mistake)
    assert mistake.line == text[: text.index(new)].count("\n") + 1


VISIT = MANUAL.replace(
    "procedures:\n",
    "procedures:\n  visit: {goals: [visit], over: {i: object}, steps: [{reach: here(i)}]}\n",
)


@pytest.mark.parametrize(("together", "reached"), [(True, 1), (False, 0), (None, 0)])
def test_who_is_at_one_place_is_at_all_that_go_together_with_it(together, reached):
    belief = kitchen(foods=("leek",))
    facts = {**belief.known, parse_literal("with(kitchen, leek)").atom: together}
    facts = {atom: value for atom, value in facts.items() if value is not None}
    del facts[parse_literal("here(leek)").atom]
    belief = _Called(facts, belief.things, at="in", hand="held")
    assert standing(belief, Goal("visit", "soup"), VISIT).stage == reached


SEASON = "season: {command: put <object> in <vessel>, needs: [held(object)], effects: [seasoned], once: [object]}"
ONCE = (
    MANUAL.replace("processes:\n", f"processes:\n  {SEASON}\n")
    .replace("  asked: {}\n", "  asked: {}\n  seasoned: {}\n")
    .replace(
        "procedures:\n", "procedures:\n  season: {goals: [season], steps: [{season: seasoned}]}\n"
    )
)


def _after(*past: Done) -> list[str]:
    belief = kitchen("held(leek)", "held(milk)").learn("not seasoned", vessel=["pot", "bowl"])
    rules = read_manual(ManualText("test.yaml", ONCE)).active("season")
    return commands(Reasoner(rules).plan(Situation(belief, Goal("season"), past=past)))


def test_what_counts_once_is_not_done_again_after_it_scored_nor_in_the_same_way():
    assert sorted(_after()) == [
        "put leek in bowl",
        "put leek in pot",
        "put milk in bowl",
        "put milk in pot",
    ]
    in_vain = _after(Done("put leek in pot", gained=False))
    assert sorted(in_vain) == ["put leek in bowl", "put milk in bowl", "put milk in pot"]
    assert sorted(_after(Done("put leek in pot", gained=True))) == [
        "put milk in bowl",
        "put milk in pot",
    ]


def test_what_counts_once_is_said_of_a_parameter_of_the_command():
    (mistake,) = find_mistakes(
        ManualText("test.yaml", ONCE.replace("once: [object]", "once: [stove]"))
    )
    assert "'stove' is no parameter of 'put <object> in <vessel>'" in str(mistake)


def test_what_never_changes_is_said_of_all_things_of_a_kind():
    text = ONCE.replace("needs: [held(object)]", 'needs: [held(object), "suits(object, vessel)"]')
    text = text.replace("facts:\n", "facts:\n  suits: {leek: [bowl]}\n").replace(
        "  asked: {}\n", "  asked: {}\n  suits: {args: [object, vessel]}\n"
    )
    belief = kitchen("held(leek 1)", "held(milk 1)", foods=("leek 1", "milk 1")).learn(
        "not seasoned", vessel=["pot 1", "bowl 2"]
    )
    rules = read_manual(ManualText("test.yaml", text)).active("season")
    assert commands(Reasoner(rules).plan(Situation(belief, Goal("season")))) == [
        "put leek 1 in bowl 2"
    ]
