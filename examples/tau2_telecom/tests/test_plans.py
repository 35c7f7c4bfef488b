"""The manual: whoever follows its plans solves tickets, keeps to the policy, and is checked by
the guard.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from tickets import TASKS, followed, mind, opened, task_with, world

from rpms.conformance import Status, check_world
from rpms.logic.belief import Situation
from rpms.logic.facts import parse_clause
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending
from rpms.paper.recall import EpisodicMemory
from rpms.paper.review import review_rules
from rpms.planning.reason import plan_for
from rpms.planning.remedies import review
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of, manual_of
from rpms.play.step import Player
from rpms.worlds.base import Setting

MANUAL = manual_of(world)
SLOW = bool(os.environ.get("RPMS_SLOW"))


@pytest.mark.parametrize("task", TASKS if SLOW else TASKS[5::18], ids=lambda task: task.id)
def test_plans_solve_train_tickets_without_a_refusal(task):
    episode = followed(task)
    assert episode.ending is Ending.WON
    assert not [step.command for step in episode.steps if step.infeasible]
    assert not [step.contradictions for step in episode.steps if step.contradictions]


@pytest.mark.parametrize("task", TASKS if SLOW else TASKS[5::18], ids=lambda task: task.id)
def test_a_sound_manual_is_never_surprised(task):
    """Service that comes back with the last fault is foretold, also where a need is unknown."""
    condition = replace(RULES_ONLY, enforcement=STRICT)
    strict = compose(condition, knowledge_of(world), EpisodicMemory())
    player = Player(world, strict, open_model("planner"), Decoding())
    episode = play(Play(player, world.open(task, Setting()), task, world.step_budget))
    assert episode.ending is Ending.WON
    assert [step.surprises for step in episode.steps if step.surprises] == []


_FINAL = ("done", "transfer", "refuel", "suspend", "send_payment", "resume")
"""Calls that end a ticket, or do what no later call undoes."""


@pytest.mark.parametrize("task", TASKS[::2] if SLOW else TASKS[4::35], ids=lambda task: task.id)
def test_plans_solve_a_ticket_after_ten_calls_at_random(task):
    game, dice = world.open(task, Setting()), Random(task.id)

    def answer(request):
        if len(episode.steps) < 10:
            return f"Action: {dice.choice([each for each in game.admissible() if not each.startswith(_FINAL)])}"
        return f"Action: {follow_plan(request.decision)[1]}"

    episode = Play(Player(world, mind(), FunctionModel(answer), Decoding()), game, task, 60)
    assert play(episode).ending is Ending.WON


def test_a_plan_that_leads_back_with_no_line_to_blame_gives_way_to_one_that_doubts():
    knowledge = knowledge_of(world)
    processes = [
        replace(one, preconditions=(parse_clause("data_on"),))
        if one.name == "switch_data_on"
        else one
        for one in knowledge.manual.lore.processes
    ]
    wrong = replace(
        knowledge.manual, lore=replace(knowledge.manual.lore, processes=tuple(processes))
    )
    strict = compose(
        replace(RULES_ONLY, enforcement=STRICT), replace(knowledge, manual=wrong), EpisodicMemory()
    )
    task = task_with("mobile_data_issue", "data_mode_off")
    episode = play(
        Play(
            Player(world, strict, open_model("planner"), Decoding()),
            world.open(task, Setting()),
            task,
            40,
        )
    )
    assert episode.ending is Ending.WON


def test_a_suspended_line_is_resumed_after_paying_and_the_phone_restarted():
    commands = [
        step.command
        for step in followed(task_with("airplane_mode_on|overdue_bill_suspension")).steps
    ]
    order = [
        'send_payment_request(customer_id="C1001", bill_id="B1234321")',
        "make_payment()",
        'resume_line(customer_id="C1001", line_id="L1002")',
        "reboot_device()",
        "done()",
    ]
    assert [command for command in commands if command in order][-5:] == order


def test_a_line_whose_contract_is_over_is_handed_over_and_never_resumed():
    commands = [
        step.command
        for step in followed(task_with("contract_end_suspension", "airplane_mode_on")).steps
    ]
    assert commands[-1].startswith("transfer_to_human_agents(")
    assert not [
        command for command in commands if command.startswith(("resume_line", "send_payment"))
    ]


@pytest.mark.parametrize(
    ("parts", "calls", "command", "because"),
    [
        (("mms_issue",), (), "done()", ""),
        (("mms_issue",), ("can_send_mms()",), "done()", "D-DONE-003"),
        (("mobile_data_issue",), ("run_speed_test()",), "done()", "D-DONE-002"),
        (
            ("mms_issue",),
            (),
            'send_payment_request(customer_id="C1001", bill_id="B1002")',
            "D-PAY-001",
        ),
        (
            ("contract_end_suspension",),
            ('get_details_by_id(id="L1002")',),
            'resume_line(customer_id="C1001", line_id="L1002")',
            "D-RESUME-002",
        ),
        (
            ("mms_issue", "airplane_mode_on"),
            ("check_status_bar()",),
            "toggle_wifi()",
            "E-TOGGLE_WIFI",
        ),
        (("mms_issue",), (), "reset_everything()", "no known action"),
    ],
)
def test_the_guard_holds_calls_to_policy_and_conditions(parts, calls, command, because):
    game = opened(*parts)
    said = game.reset().observation
    goal = world.goal(said)
    belief = world.update(world.start(goal), None, said)
    for call in calls:
        belief = world.update(belief, call, game.step(call).observation)
    rules = MANUAL.active(goal.type, goal.object)
    situation = Situation(belief, goal)
    found = review(command, rules, situation) or review_rules(command, rules, situation)
    assert (because in f"{found.text} {found.rule}") if because else found is None


def test_what_works_already_needs_no_more():
    """A later stage that is reached leaves earlier ones behind."""
    goal = world.goal(opened("mms_issue").reset().observation)
    belief = world.start(goal).learn("mms_works")
    plan = plan_for(MANUAL.active(goal.type, goal.object), Situation(belief, goal))
    assert [option.command for option in plan.options] == ["done()"]


def test_the_world_has_the_properties_of_a_world():
    findings = list(check_world(world, games=2, steps=8))
    assert [finding for finding in findings if finding.status is not Status.OK] == []
