"""A plan gives a model that chooses a menu with reasons, guidance, fewer rules; without rules,
experience.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.goal import Goal, Progress
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import infeasibility
from rpms.paper.beyond import Menu, turn_state
from rpms.paper.enforcement import Enforcement
from rpms.paper.memory import FailureLesson, Origin, SuccessSnippet
from rpms.paper.prompt import Turn, estimate_tokens
from rpms.paper.verdict import Candidate, Fate, Verdict
from rpms.planning.advice import Adviser, PlanAdvice
from rpms.planning.edges import Link, Option
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.experience.plans_weighed import weighed
from rpms.planning.focus import focus
from rpms.planning.hints import guidance
from rpms.planning.menu import MENU_TOKENS, chain_of, feasible_actions, make_menu, purpose_of
from rpms.planning.plan_graph import Plan
from rpms.planning.reason import plan_for
from rpms.planning.wanted_facts import Fact
from rpms.planning.whereabouts import Whereabouts
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, manual

RULES = manual().active(COOL_APPLE.type, COOL_APPLE.object, COOL_APPLE.destination)
ROOM = KitchenBelief(
    "sink 1",
    containers={"fridge 1": False},
    places=("sink 1", "fridge 1", "countertop 1", "countertop 2"),
    searched=frozenset({"sink 1"}),
)
SEARCHING = Situation(ROOM, COOL_APPLE)
HOLDING = Situation(replace(ROOM, holding=("apple 1",)), COOL_APPLE)


PROGRESS = Progress("find_object", "apple", 0, 4)
NOW = turn_state(ROOM, PROGRESS)


def recalled(*actions: str, id_: str = "s") -> Candidate:
    state = StateSignature.parse("holding=none")
    entry = SuccessSnippet(
        COOL_APPLE.signature, state, "taken", actions, origins=frozenset({Origin("e", 1)}), id=id_
    )
    return Candidate(entry, 1.0, 1.0, Verdict(Fate.KEPT))


def advised(
    situation: Situation,
    size: int = 5,
    rules: ActiveRules = RULES,
    memories=(),
    history=(),
    ranked=True,
    **own,
):
    step = AdaptContext(situation, RULES, PROGRESS, history)
    adviser = Adviser(Enforcement(menu=size, ranked=ranked), plans=manual(), **own)
    return PlanAdvice(step, rules, memories, adviser)


CHOICES = [
    ("open fridge 1", "look for apple"),
    ("go to drawer 10", "look for apple"),
    ("go to drawer 9", "look for apple"),
    ("go to sink 1", ""),
]


class TestMenus:
    def test_a_menu_is_cut_by_relevance_and_grouped_by_what_entries_do(self):
        menu = make_menu(CHOICES, {}, 3, ranked=True)
        assert menu.commands == ("go to drawer 9", "go to drawer 10", "open fridge 1")
        assert menu.best == "open fridge 1", "which is not simply the first"
        assert make_menu([], {}, 3, ranked=True).best is None

    def test_what_was_tried_in_this_very_state_is_left_out_while_anything_else_is_left(self):
        assert make_menu(CHOICES, {"open fridge 1": 1}, 4, ranked=True).best == "go to drawer 10"
        every = {command for command, _ in CHOICES}
        assert set(make_menu(CHOICES, {"open fridge 1": 1}, 4, ranked=True).commands) == every - {
            "open fridge 1"
        }
        assert set(make_menu(CHOICES, dict.fromkeys(every, 1), 4, ranked=True).commands) == every
        again = {**dict.fromkeys(every, 2), "go to sink 1": 1}
        assert make_menu(CHOICES, again, 4, ranked=True).commands == ("go to sink 1",), (
            "each gets its turn"
        )

    def test_an_adviser_knows_what_was_tried_by_the_state_of_the_turns(self):
        first = advised(SEARCHING).menu.best
        here, elsewhere = Turn("o", first, state=NOW), Turn("o", first, state="then")
        assert advised(SEARCHING, history=[here]).menu.best != first
        assert advised(SEARCHING, history=[elsewhere]).menu.best == first

    def test_what_lets_a_process_go_on_may_be_done_again_unless_it_failed(self):
        plan = plan_for(RULES, SEARCHING)
        first, *rest = plan.options
        waits = replace(first, chain=(first.chain[0]._replace(waits=True), *first.chain[1:]))
        waiting = replace(plan, options=(waits, *rest))

        class Waiting(Adviser):
            def plan(self, _step, _memories, noticed):
                return waiting, noticed

        def best(**turn: object) -> str | None:
            step = AdaptContext(
                SEARCHING, RULES, PROGRESS, [Turn("o", first.command, state=NOW, **turn)]
            )
            return PlanAdvice(step, RULES, (), Waiting(Enforcement(menu=5))).menu.best

        assert best() == first.command
        assert best(failed=True) != first.command

        away = [Turn("o", first.command, state=NOW), Turn("o", "go back", state="then")]
        step = AdaptContext(SEARCHING, RULES, PROGRESS, away)
        menu = PlanAdvice(step, RULES, (), Waiting(Enforcement(menu=5))).menu
        assert menu.best != first.command, "it led elsewhere, and that led back"

    def test_an_unranked_menu_is_cut_by_name(self):
        assert make_menu(CHOICES, {}, 2, ranked=False).commands == (
            "go to drawer 9",
            "go to drawer 10",
        )

    def test_a_menu_has_a_budget_of_tokens_and_never_less_than_one_entry(self):
        long = [(f"go to {'very ' * 60}far place {n}", "") for n in range(5)]
        menu = make_menu([*long, ("look", "")], {}, 6, ranked=True)
        assert menu.best == long[0][0]
        assert 1 < len(menu.items) < 6
        assert sum(estimate_tokens(item.command) for item in menu.items) <= MENU_TOKENS
        assert len(make_menu([("go " * 900, "")], {}, 6, ranked=True).items) == 1

    def test_an_entry_is_meant_by_its_number_or_its_words(self):
        menu = make_menu(CHOICES, {}, 3, ranked=True)
        assert menu.lines()[0] == "  1. go to drawer 9 (look for apple)"
        for answer in ("3", "3.", "3. open fridge 1", "open fridge 1"):
            assert menu.command_for(answer) == "open fridge 1"
        for answer in ("0", "4", "3. open fridge 2", "dance", "", "99999999999999999999"):
            assert menu.command_for(answer) == answer
        assert Menu().command_for("1") == "1"


class TestChoices:
    def test_the_menu_holds_what_plans_begin_with_each_with_its_reason(self):
        entries = {item.command: item.reason for item in advised(SEARCHING).menu.items}
        assert entries["go to fridge 1"] == "then open fridge 1"
        assert entries["go to countertop 1"] == "look for apple"
        carrying = {item.command: item.reason for item in advised(HOLDING).menu.items}
        assert carrying["go to fridge 1"] == "then cool apple 1 with fridge 1"
        at_fridge = Situation(replace(HOLDING.belief, location="fridge 1"), COOL_APPLE)
        assert (
            advised(at_fridge)
            .menu.lines()[0]
            .endswith("cool apple 1 with fridge 1 (so that apple 1 is cool)")
        )

    def test_unranked_it_holds_all_that_is_known_to_be_feasible_by_name(self):
        feasible = list(feasible_actions(RULES, SEARCHING))
        assert set(feasible) >= {"go to sink 1", "go to fridge 1"}
        assert all(infeasibility(command, RULES, SEARCHING) is None for command in feasible)
        assert "open fridge 1" not in feasible, "one is not there"
        unranked = advised(SEARCHING, size=100, ranked=False).menu
        assert set(unranked.commands) == set(feasible)
        assert not any(item.reason for item in unranked.items)

    def test_commands_are_written_as_the_game_wants_them(self):
        unranked = advised(
            SEARCHING, ranked=False, spell=lambda command, _belief: command.upper()
        ).menu
        assert all(command.isupper() for command in unranked.commands)
        plan = plan_for(RULES, SEARCHING).respelled(str.upper, ())
        assert all(option.command.isupper() for option in plan.options)

    def test_what_just_failed_comes_after_all_else(self):
        plan = plan_for(RULES, SEARCHING)
        first = plan.options[0].command
        assert plan.respelled(str, {first}).options[-1].command == first

    def test_a_chain_is_told_from_the_goal_back_to_what_is_done_now(self):
        option = plan_for(RULES, HOLDING).options[0]
        assert chain_of(option, RULES) == (
            "apple 1 is cool",
            "cool apple 1 with fridge 1",
            "you are at fridge 1",
            "go to fridge 1",
        )

    def test_a_thing_that_may_be_where_it_belongs_is_looked_for_there_not_taken_from_there_and_put_back(
        self,
    ):
        apple, there = "apple ?", "countertop 1"
        look = Link(f"go to {there}", Fact("in", (apple, there), makeable=False), reveals=True)
        take = Link(f"take {apple} from {there}", Fact("holding", (apple,)), reveals=False)
        put = Link(f"put {apple} in {there}", Fact("in", (apple, there)), reveals=False)
        cool = Link("cool apple ? with fridge 1", Fact("cool", (apple,)), reveals=False)
        told = chain_of(Option(look.command, 0.0, (look, take, put)), RULES)
        assert told == ("unknown whether apple is in countertop 1", "go to countertop 1")
        assert len(chain_of(Option(look.command, 0.0, (look, take, cool)), RULES)) == 6, (
            "to be cooled, it is taken"
        )

    def test_what_is_yet_unseen_goes_by_its_kind(self):
        for option in plan_for(RULES, SEARCHING).options:
            told = " ".join((purpose_of(option, RULES), *chain_of(option, RULES)))
            assert "?" not in told
            assert "take apple from" in told

    def test_rules_shown_are_those_of_what_is_to_be_done_now(self):
        assert {rule.id for rule in focus(RULES, plan_for(RULES, SEARCHING)).rules} == {"D-LOC-001"}
        home = replace(HOLDING.belief, location="countertop 1", cool=frozenset({"apple 1"}))
        placing = plan_for(RULES, Situation(home, COOL_APPLE))
        assert {rule.id for rule in focus(RULES, placing).rules} == {"D-COOL-001"}
        assert focus(RULES, Plan()).rules == ()


class TestGuidance:
    def test_it_says_what_comes_next_as_far_as_it_is_certain(self):
        assert guidance(plan_for(RULES, HOLDING), (), "now") == (
            "  Now: go to fridge 1, then cool apple 1 with fridge 1",
        )
        (line,) = guidance(plan_for(RULES, SEARCHING), (), "now")
        assert line.startswith("  Now: go to ")
        assert "?" not in line

    def test_it_says_what_was_just_done_and_what_already_failed_here(self):
        history = [
            Turn("o", "open moon 1", state="now", failed=True),
            Turn("o", "open sun 1", state="then", failed=True),
            Turn("o", "", state="now", failed=True),
            Turn("o", "go to sink 1", state="now"),
        ]
        assert guidance(Plan(), history, "now") == (
            "  Just done: go to sink 1",
            "  Already failed: open moon 1",
        )

    def test_it_names_few_of_many_failures(self):
        history = [Turn("o", f"open moon {n}", state="now", failed=True) for n in range(9)]
        (line,) = guidance(Plan(), history, "now")
        assert line.count("open moon") == 4

    def test_a_silent_adviser_says_nothing(self):
        advice = advised(SEARCHING, size=0)
        assert (advice.guidance, advice.menu.items, advice.notice, advice.shown) == (
            (),
            (),
            "",
            RULES,
        )
        assert not advice.has_plan, "and makes no plan"


class TestExperience:
    def test_without_rules_the_menu_is_experience_and_nothing_without_it(self):
        memories = [recalled("go to fridge 7", "open fridge 7")]
        menu = advised(SEARCHING, rules=ActiveRules(), memories=memories).menu
        assert [(item.command, item.reason) for item in menu.items] == [
            ("go to fridge 1", "adapted from s: steps 1 to 2 of 2")
        ]
        assert advised(SEARCHING, rules=ActiveRules()).menu.items == ()

    def test_with_rules_experience_is_evidence_beside_what_an_entry_is_for(self):
        found = SuccessSnippet(
            COOL_APPLE.signature,
            StateSignature.parse("holding=none"),
            "taken",
            ("take apple 2 from fridge 4",),
        )
        room = AdaptContext(SEARCHING, RULES, whereabouts=Whereabouts([found], RULES))
        plan = weighed(plan_for(RULES, SEARCHING), [], room)
        said = {option.command: option.evidence for option in plan.options}
        assert said["go to fridge 1"] == "apple was found at fridge 1 of 1 times"

    def test_what_failed_in_a_like_state_comes_after_all_else_with_the_lesson_named(self):
        plan, room = plan_for(RULES, SEARCHING), AdaptContext(SEARCHING, RULES)
        first = plan.options[0].command
        state = StateSignature.parse("holding=none")
        lesson = FailureLesson(
            COOL_APPLE.signature, state, first, "no", origins=frozenset({Origin("e", 1)}), id="f"
        )
        last = weighed(plan, [Candidate(lesson, 1.0, 1.0, Verdict(Fate.KEPT))], room).options[-1]
        assert (last.command, last.evidence) == (first, "failed in f")

    def test_where_no_plan_leads_to_the_goal_experience_comes_first(self):
        memories = [recalled("go to countertop 7", "dance")]
        plan = weighed(Plan(), memories, AdaptContext(SEARCHING, RULES))
        assert plan.options[0].command == "go to countertop 1"


@pytest.mark.parametrize("type_", ["unknown", COOL_APPLE.type])
def test_every_goal_gets_advice_of_some_sort(type_):
    situation = Situation(ROOM, Goal(type_, "apple", "cool", "countertop"))
    rules = manual().active(type_, "apple", "countertop")
    assert plan_for(rules, situation).options
