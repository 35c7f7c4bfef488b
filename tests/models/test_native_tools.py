"""A ticket played by a server that calls tools: what it is offered, and what the guard makes of
its calls.
"""

from __future__ import annotations

import json
import warnings

import pytest

from rpms.logic.errors import InputError
from rpms.models.base import Decoding
from rpms.models.patience import Patience
from rpms.models.policy import PolicyModel, follow_plan
from rpms.models.remote import RemoteModel
from rpms.paper.compose import compose
from rpms.paper.enforcement import Calls
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from tests.models.server import serve
from tests.models.test_tool_calls import tool_call

world = pytest.importorskip("tau2_telecom_world", reason="needs examples/tau2_telecom").world
if problem := world.not_installed():
    pytest.skip(problem, allow_module_level=True)

TICKET = next(
    task
    for task in world.tasks("train", Setting())
    if "service_issue" in task.id and "airplane_mode_on|unseat_sim_card" in task.id
)


@pytest.fixture(autouse=True, scope="module")
def loaded():
    """The simulator, loaded where it is played: collecting the tests takes seconds less."""
    with warnings.catch_warnings():  # of packages that it imports
        warnings.simplefilter("ignore")
        world.tools()


def played(script, **given):
    settings = Settings.read({"calls": "native", "condition": "rules-only", **given})
    mind = compose(
        settings.condition_value(), knowledge_of(world, settings.sources(world)), EpisodicMemory()
    )
    with serve() as server:
        server.play_script(script)
        model = RemoteModel("vllm/m", "m", server.url + "/v1", patience=Patience(tries=1))
        try:
            game = world.open(TICKET, Setting())
            episode = play(
                Play(Player(world, mind, model, Decoding(), calls=Calls.NATIVE), game, TICKET, 15)
            )
        finally:
            model.close()
        return episode, server.seen


def first_offered(seen):
    """A server that calls the first tool it is offered with the first value that it may."""
    function = seen.body["tools"][0]["function"]
    values = {
        name: schema["enum"][0] for name, schema in function["parameters"]["properties"].items()
    }
    return tool_call(function["name"], json.dumps(values), content=None)


def test_held_to_the_menu_even_the_first_tool_with_the_first_value_solves_the_ticket():
    episode, seen = played(first_offered, preset="strict")
    assert str(episode.ending) == "won"
    assert not [step for step in episode.steps if step.infeasible]
    names = [[tool["function"]["name"] for tool in each.body["tools"]] for each in seen]
    assert names[0] == ["get_customer_by_phone"]
    assert max(map(len, names)) <= 5


def test_without_a_menu_all_tools_are_offered_and_the_guard_checks_each_call():
    def script(seen):
        asked_again = "is no known action" in json.dumps(seen.body["messages"])
        return tool_call(
            "check_network_status" if asked_again else "fix_everything", "{}", content=None
        )

    episode, seen = played(script, enforce={"guard": "block"})
    assert len(seen[0].body["tools"]) == 44
    first = episode.steps[0]
    assert first.refusals[0][0] == "fix_everything()"
    assert first.command == "check_network_status()"


def test_malformed_arguments_reach_the_sandbox_and_its_refusal_is_recorded():
    def script(_seen):
        return tool_call("get_details_by_id", '{"id": 5', content=None)

    episode, _ = played(script)
    step = episode.steps[0]
    assert step.infeasible
    assert step.result.startswith("Error: ")
    assert any("not JSON" in note for note in step.notes)


def test_a_model_that_cannot_call_tools_is_one_line():
    settings = Settings.read({"calls": "native", "condition": "rules-only"})
    mind = compose(
        settings.condition_value(), knowledge_of(world, settings.sources(world)), EpisodicMemory()
    )
    game, model = world.open(TICKET, Setting()), PolicyModel("planner", follow_plan)
    episode = Play(Player(world, mind, model, Decoding(), calls=Calls.NATIVE), game, TICKET, 5)
    with pytest.raises(
        InputError, match="planner cannot be given tools to call; leave out calls=native"
    ):
        episode.step()
