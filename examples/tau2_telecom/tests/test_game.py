"""The sandbox: what tools say, how they refuse, and when a ticket is solved."""

from __future__ import annotations

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tickets import TASKS, opened, task_with, world

from rpms.foreign.call_text import read_call
from rpms.logic.errors import InputError
from rpms.worlds.base import Setting, Task

SLOW = bool(os.environ.get("RPMS_SLOW"))
SAMPLE = TASKS if SLOW else TASKS[::15]


def test_the_splits_are_the_official_ones():
    sizes = {split: len(world.tasks(split, Setting())) for split in world.splits}
    assert sizes == {
        "train": 74,
        "test": 40,
        "base": 114,
        "small": 20,
        "full": 2285,
        "full-train": 2245,
    }
    ids = {split: {task.id for task in world.tasks(split, Setting())} for split in world.splits}
    assert ids["train"] | ids["test"] == ids["base"] <= ids["full"]
    assert not ids["train"] & ids["test"]
    assert ids["full-train"] == ids["full"] - ids["test"]


def test_a_ticket_opens_with_its_text_and_the_date():
    opening = opened("mms_issue").reset().observation
    assert opening.startswith(
        "Today is 2025-02-25.\nTicket: The user has been unable to send MMS messages"
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("", "write a tool call"),
        ("please fix it", "write a tool call"),
        ("no_such_tool()", "Tool no_such_tool not found"),
        ("get_details_by_id()", "'id' is a required property"),
        ("get_details_by_id(id=5)", "5 is not of type 'string'"),
        ('get_details_by_id(id="L1002", more=1)', "Additional properties are not allowed"),
        ('get_details_by_id(id="L1002"', "do not end with a bracket"),
        ('get_details_by_id(id="L1002") toggle_data()', "one call at a time"),
        ('get_details_by_id(id="X1")', "Unknown ID format or type: X1"),
        ('get_details_by_id(id="L9999")', "Line with ID L9999 not found"),
        (
            'refuel_data(customer_id="C1001", line_id="L1002", gb_amount=-1)',
            "Refuel amount must be positive",
        ),
        (
            'refuel_data(customer_id="C1001", line_id="L1002", gb_amount="two")',
            "'two' is not of type 'number'",
        ),
        ('resume_line(customer_id="C1001", line_id="L1002")', "Line must be suspended to resume"),
        (
            'set_apn_settings(apn_settings={"apn_name": "x"})',
            "Input should be 'internet' or 'broken'",
        ),
        ('set_apn_settings(apn_settings="x")', ""),
        ("done(now=true)", "done takes no arguments"),
        ("make_payment()", "You do not have a payment request."),
        ("disconnect_vpn()", "No active VPN connection to disconnect."),
        ("toggle_wifi()", "Cannot change Wi-Fi settings while Airplane Mode is ON."),
        ('set_network_mode_preference(mode="6g")', "Failed to set network mode"),
        ('check_app_status(app_name="chess")', "App 'chess' not found"),
        (
            'grant_app_permission(app_name="messaging", permission="camera")',
            "Permission 'camera' not tracked",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_the_sandbox_own_words(call, says):
    game = opened("mms_issue", "airplane_mode_on")
    before = game.admissible()
    outcome = game.step(call)
    assert says in outcome.observation
    assert world.infeasible(outcome.observation)
    assert not outcome.done
    assert game.admissible() == before


def copied(game):
    """Another with the same state, to try something out in."""
    other = copy(game.inner)  # what checks it holds no state
    other.clear()
    for name, value in game.store.items():
        other.store.set(name, deepcopy(value))
    return other


def test_what_is_listed_is_accepted_and_what_a_tool_would_refuse_is_not_listed():
    game = opened("service_issue", "overdue_bill_suspension", "airplane_mode_on")
    listed = set(game.admissible())
    for command in sorted(listed):
        said = copied(game).call(read_call(command)) if command != "done()" else ""
        assert not world.infeasible(said), f"{command}: {said}"
    others = {
        "toggle_wifi()",
        "make_payment()",
        "disconnect_vpn()",
        'resume_line(customer_id="C1001", line_id="L1001")',
    }
    assert not others & listed
    for command in others:
        assert world.infeasible(copied(game).call(read_call(command)))


def test_a_ticket_closed_too_early_is_lost_and_takes_no_more_calls():
    game = opened("mms_issue")
    outcome = game.step("done()")
    assert (outcome.done, outcome.won, outcome.score) == (True, False, 0.0)
    assert game.step("toggle_data()").observation == "Error: the ticket is closed"
    assert game.admissible() == ()


def test_a_case_for_a_human_agent_is_won_by_handing_it_over_and_not_by_closing_it():
    handed = 'transfer_to_human_agents(summary="The SIM card is locked.")'
    assert opened("service_issue", "lock_sim_card_pin").step(handed).won
    assert not opened("service_issue", "lock_sim_card_pin").step("done()").won
    assert not opened("mms_issue").step(handed).won


@pytest.mark.parametrize("task", SAMPLE, ids=lambda task: task.id)
def test_the_actions_that_a_task_names_solve_it(task):
    """The gold path: what the benchmark's authors expect to be done, in their order."""
    from tau2_telecom_world.game import records  # noqa: PLC0415

    game = world.open(task, Setting())
    game.reset()
    for action in records()[task.id]["evaluation_criteria"]["actions"]:
        arguments = ", ".join(f"{name}={value!r}" for name, value in action["arguments"].items())
        outcome = game.step(f"{action['name']}({arguments})")
    assert (outcome if outcome.done else game.step("done()")).won


def test_new_bills_are_numbered_so_that_a_game_is_the_same_each_time():
    calls = (
        'refuel_data(customer_id="C1002", line_id="L1005", gb_amount=1)',
        'get_bills_for_customer(customer_id="C1002")',
    )
    played = [
        [game.step(call) for call in calls] for game in (opened("mms_issue"), opened("mms_issue"))
    ]
    assert played[0] == played[1]
    assert '"bill_id": "B00000007"' in played[0][1].observation


def test_games_at_the_same_time_do_not_disturb_each_other():
    tasks = [task_with("mms_issue"), task_with("service_issue"), task_with("mobile_data_issue")] * 2
    calls = (
        "check_network_status()",
        "toggle_airplane_mode()",
        "toggle_data()",
        "check_vpn_status()",
        "connect_vpn()",
    )

    def transcript(task):
        game = world.open(task, Setting())
        return [game.reset(), *(game.step(call) for call in calls for _ in range(3))]

    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(transcript, tasks))
    assert together == [transcript(task) for task in tasks]


def test_a_task_that_is_not_there_is_one_line():
    with pytest.raises(InputError, match="tau2-telecom has no task 'nobody'"):
        world.open(Task("nobody", "train", "mms_issue"), Setting())
    with pytest.raises(InputError, match="has no split 'dev'; choose one of train"):
        world.tasks("dev", Setting())
    with pytest.raises(InputError, match="has no option 'persona': there are none"):
        world.tasks("train", Setting(options={"persona": "Easy"}))


def test_it_goes_by_its_name_in_the_project():
    project = tomllib.loads(
        (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    )["project"]
    value = project["entry-points"]["rpms.worlds"]["tau2-telecom"]
    assert EntryPoint("tau2-telecom", value, "rpms.worlds").load() is world


@pytest.mark.parametrize("name", ["inspect_evals", "inspect_ai"])
def test_the_list_of_worlds_says_what_is_missing(monkeypatch, name):
    from tau2_telecom_world import game as package  # noqa: PLC0415

    assert world.not_installed() == ""
    monkeypatch.setattr(package, "find_spec", lambda wanted: None if wanted == name else wanted)
    assert (
        world.not_installed()
        == f"the tools of τ²-bench are not installed ({name} is missing): {package.INSTALL}"
    )


def test_without_the_benchmark_one_line_says_what_to_install(monkeypatch):
    from tau2_telecom_world import game as package  # noqa: PLC0415

    monkeypatch.setattr(package, "find_spec", lambda _name: None)
    package.splits.cache_clear()
    try:
        with pytest.raises(
            InputError,
            match=r"not installed \(inspect_evals is missing\): pip install inspect-evals",
        ):
            world.tasks("train", Setting())
    finally:
        package.splits.cache_clear()
