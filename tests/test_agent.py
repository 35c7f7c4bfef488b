"""`rpms.Agent`: the same decisions as in a run, in somebody else's loop."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import rpms
from rpms.learning.harvest import harvest
from rpms.logic.errors import InputError, ModelError
from rpms.models.base import Decoding
from rpms.models.policy import FunctionModel, PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.memory import Kind, merge
from rpms.paper.prompt import Part
from rpms.paper.recall import EpisodicMemory
from rpms.planning.reason import Reasoner
from rpms.play.seats import Play, play
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_frozen
from rpms.worlds.base import Outcome, Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
TASKS = WORLD.tasks("builtin", Setting())
EXAMPLE = Path(__file__).parents[1] / "examples" / "own_loop.py"


def steps_of(agent: rpms.Agent, number: int) -> list[str]:
    game = WORLD.open(TASKS[number], Setting())
    outcome = game.reset()
    agent.reset(outcome.observation)
    commands = []
    while not outcome.done and len(commands) < 50:
        commands.append(agent.act(outcome.observation))
        outcome = game.step(commands[-1])
    game.close()
    assert outcome.won
    return commands


@pytest.mark.parametrize("name", ["paper", "strict"])
@pytest.mark.parametrize("given_apart", [False, True])
def test_it_decides_as_a_run_does(name, given_apart):
    settings = Settings(preset=name, manual="complete")
    game = WORLD.open(TASKS[9], Setting())
    mind = compose(
        settings.condition_value(), knowledge_of(WORLD), EpisodicMemory(world="alfworld")
    )
    episode = play(
        Play(
            Player(WORLD, mind, PolicyModel("planner", follow_plan), Decoding()), game, TASKS[9], 50
        )
    )
    apart = {"preset": name} if given_apart else {"condition": settings.condition_value()}
    with rpms.Agent("alfworld", memory="none", manual="complete", **apart) as agent:
        assert steps_of(agent, 9) == [step.command for step in episode.steps]
        assert agent.decision.prompt == episode.steps[-1].decision.prompt


@pytest.mark.parametrize(("preset", "plans"), [("paper", 0), ("strict", 1)])
def test_a_step_makes_one_plan_where_knowledge_acts_and_none_in_the_papers_conditions(
    preset, plans, monkeypatch
):
    with rpms.Agent("alfworld", memory="none", manual="complete", preset=preset) as planner:
        walked = steps_of(planner, 9)
    made, plan, walk = [], Reasoner.plan, iter(walked)
    monkeypatch.setattr(
        Reasoner, "plan", lambda *given, **options: made.append(1) or plan(*given, **options)
    )
    model = FunctionModel(lambda _asked: f"Thought: on\nAction: {next(walk)}")
    with rpms.Agent(
        "alfworld", model=model, memory="none", manual="complete", preset=preset
    ) as agent:
        assert steps_of(agent, 9) == walked
    assert len(made) == plans * len(walked)


def clumsy(asked):
    """A model that fails, says nothing of use, and follows the plan, in turn; `asked` keeps
    what it was told.
    """

    def answer(request):
        asked.append(request.prompt)
        spoken = (
            "Action: heat fridge 1 with apple 1",
            "I am not sure.",
            "Action: take mug 9 from shelf 3",
        )
        thought, action = follow_plan(request.decision)
        return (*spoken, f"Thought: {thought}\nAction: {action}")[len(asked) % 4]

    return FunctionModel(answer)


@pytest.mark.parametrize("condition", ["full", "memory-only"])
@pytest.mark.parametrize("guard", ["off", "advise", "block"])
def test_a_model_is_told_the_same_in_anybodys_loop(condition, guard):
    settings = Settings.read({"condition": condition, "enforce": f"guard={guard}"})
    mind = compose(
        settings.condition_value(),
        knowledge_of(WORLD, settings.sources(WORLD, 0)),
        EpisodicMemory(),
    )
    in_a_run, in_a_loop = [], []
    game = WORLD.open(TASKS[3], Setting())
    episode = play(Play(Player(WORLD, mind, clumsy(in_a_run), Decoding()), game, TASKS[3], 12))
    with rpms.Agent(
        "alfworld", clumsy(in_a_loop), "none", condition, enforce=f"guard={guard}"
    ) as agent:
        outcome = game.reset()
        agent.reset(outcome.observation)
        for _ in episode.steps:
            command = agent.act(outcome.observation)
            outcome = game.step(command) if command else Outcome(WORLD.not_understood)
    assert in_a_loop == in_a_run


def test_settings_are_those_of_the_command_line():
    agent = rpms.Agent(
        "alfworld",
        condition="rules-only",
        tiers="universal,environment",
        layout="cached",
        prompts=None,
        theta=0.6,
    )
    steps_of(agent, 0)
    parts = {block.part for block in agent.decision.prompt.blocks}
    assert Part.DOMAIN not in parts
    assert Part.UNIVERSAL in parts


def test_one_agent_plays_many_episodes():
    agent = rpms.Agent("alfworld", memory="embedded")
    first = steps_of(agent, 0)
    assert steps_of(agent, 4)
    assert steps_of(agent, 0) == first


def test_a_task_without_an_observation_is_added_to_the_first_one():
    agent = rpms.Agent("alfworld", condition="baseline")
    goal = agent.reset("put a hot apple in fridge.")
    assert goal.type == "pick_heat_then_place_in_recep"
    agent.act(
        "You are in the middle of a room. Looking quickly around you, you see a fridge 1, and a microwave 1."
    )
    assert "Your task is to: put a hot apple in fridge." in agent.decision.prompt.text
    agent.act("On the fridge 1, you see nothing.")
    assert agent.decision.prompt.text.count("put a hot apple in fridge.") == 1


def test_a_task_that_states_itself_is_not_stated_twice():
    agent = rpms.Agent("scienceworld", condition="baseline")
    agent.reset("Your task is to boil water. First, focus on the substance.")
    agent.act("This room is called the hallway. In it, you see: \n\tthe agent\n")
    assert agent.decision.prompt.text.count("Your task is to boil water.") == 1
    assert "Your task is to: Your" not in agent.decision.prompt.text


def test_an_explanation_has_belief_rules_memories_and_every_block():
    agent = rpms.Agent("alfworld", memory="embedded")
    steps_of(agent, 0)
    told = agent.explain()
    for line in agent.decision.belief.lines():
        assert line in told
    for block in agent.decision.prompt.blocks:
        assert f"--- {block.part}, {block.tokens} tokens" in told
        assert block.text in told
    assert "[U-STATE-001]" in told
    assert told.splitlines()[-1].startswith("action: ")


def test_a_model_that_fails_may_be_asked_again():
    failing = [True]

    def answer(request):
        if failing.pop() if failing else False:
            raise ModelError("a hiccup")
        return f"Action: {follow_plan(request.decision)[1]}"

    agent = rpms.Agent("alfworld", memory="none", model=FunctionModel(answer))
    game = WORLD.open(TASKS[0], Setting())
    first = game.reset().observation
    agent.reset(first)
    with pytest.raises(ModelError, match="a hiccup"):
        agent.act(first)
    command = agent.act(first)
    failing.append(True)
    second = game.step(command).observation
    with pytest.raises(ModelError, match="a hiccup"):
        agent.act(second)
    agent.act(second)
    assert agent.decision.prompt.text.count(f"Action: {command}") == 1


def test_an_answer_without_an_action_is_an_empty_command():
    agent = rpms.Agent("alfworld", memory="none", model=FunctionModel(lambda request: ""))
    agent.reset("put a hot apple in fridge.")
    assert agent.act("You are in the middle of a room.") == ""


@pytest.mark.parametrize(
    ("use", "problem"),
    [
        (lambda: rpms.Agent("alfworld", memory="none").act("hello"), "call reset"),
        (lambda: rpms.Agent("alfworld", memory="none").explain(), "nothing has been decided"),
        (lambda: rpms.Agent("alfword"), "did you mean alfworld"),
        (lambda: rpms.Agent("alfworld", condition="half"), "is no condition"),
        (
            lambda: rpms.Agent("alfworld", memory=EpisodicMemory(world="elsewhere")),
            "a memory of elsewhere",
        ),
        (lambda: rpms.Agent("alfworld", memory="nowhere.jsonl"), "cannot be read"),
        (
            lambda: rpms.Agent("alfworld"),
            "uses memory, and none was given. Learn one with `rpms learn alfworld",
        ),
        (
            lambda: rpms.Agent("alfworld", condition=FULL),
            "condition full uses memory, and none was given",
        ),
        (
            lambda: rpms.Agent("alfworld", condition="memory-only"),
            "condition memory-only uses memory, and none was",
        ),
        (lambda: rpms.Agent("scienceworld", memory="embedded"), "has no embedded memory"),
        (lambda: rpms.Agent("alfworld", tempature=0.5), "did you mean temperature?"),
        (lambda: rpms.Agent("alfworld", split="train"), "by your own loop"),
        (
            lambda: rpms.Agent("alfworld", condition=FULL, layout="paper"),
            "is a part of the condition",
        ),
    ],
)
def test_misuse_is_one_clear_line(use, problem):
    with pytest.raises(InputError, match=problem):
        use()


def test_the_example_runs_and_is_short(capsys):
    runpy.run_path(str(EXAMPLE))
    assert "\nwon\n" in capsys.readouterr().out
    code = [line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(code) <= 20


def test_importing_rpms_loads_nothing_else():
    heavy = "import sys, rpms; print([m for m in sys.modules if m.startswith(('rpms.', 'pydantic', 'rich', 'openai'))])"
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError):
        _ = rpms.nothing


def learned(tmp_path: Path, numbers: tuple[int, ...], name: str) -> Path:
    file = tmp_path / name
    with rpms.Agent("alfworld", memory="none", manual="complete") as agent:
        for number in numbers:
            steps_of(agent, number)
            assert agent.outcome(won=True)
            agent.save(file)
    return file


def test_it_learns_in_a_loop_of_ones_own_what_a_run_teaches(tmp_path):
    file = learned(tmp_path, (9,), "one.jsonl")
    game = WORLD.open(TASKS[9], Setting())
    given = Settings(manual="complete", preset="paper")
    mind = compose(given.condition_value(), knowledge_of(WORLD), EpisodicMemory(world="alfworld"))
    played = play(
        Play(
            Player(WORLD, mind, PolicyModel("planner", follow_plan), Decoding()), game, TASKS[9], 50
        )
    )
    taught = harvest(played, knowledge_of(WORLD).manual)
    saved = read_frozen(file, "alfworld").entries
    assert {entry.id for entry in saved} == {entry.id for entry in taught}
    assert {origin.episode for entry in saved for origin in entry.origins} == {
        min(saved[0].origins).episode
    }


def test_memories_of_two_processes_merge_in_any_order_and_nothing_is_counted_twice(tmp_path):
    one, two = learned(tmp_path, (0, 3), "one.jsonl"), learned(tmp_path, (3, 6), "two.jsonl")
    entries = [read_frozen(file).entries for file in (one, two)]
    both = merge(*entries)
    assert both == merge(*reversed(entries))
    assert both == read_frozen(learned(tmp_path, (0, 3, 6), "all.jsonl")).entries
    with rpms.Agent("alfworld", memory=one) as agent:
        agent.save(two)
    assert read_frozen(two).entries == both


def test_what_it_learned_comes_to_mind_in_the_next_episode():
    with rpms.Agent("alfworld", memory="none") as agent:
        steps_of(agent, 9)
        assert not agent.decision.candidates
        agent.outcome(won=True)
        steps_of(agent, 9)
        assert any(candidate.verdict.fate.shown for candidate in agent.decision.candidates)


def test_an_episode_that_the_world_ended_for_good_teaches_a_critical_failure():
    with rpms.Agent("alfworld", memory="none") as agent:
        opening = WORLD.open(TASKS[0], Setting()).reset().observation
        agent.reset(opening)
        command = agent.act(opening)
        (entry,) = agent.outcome(won=False, observation="It explodes.", fatal=True)
        assert (entry.kind, entry.failed_action) == (Kind.CRITICAL_FAILURE, command)


def test_outcomes_out_of_place_are_told(tmp_path):
    with rpms.Agent("alfworld", memory="none") as agent:
        with pytest.raises(InputError, match="no episode to end"):
            agent.outcome(won=True)
        with pytest.raises(InputError, match="nothing to save"):
            agent.save(tmp_path / "memory.jsonl")
        agent.reset("Your task is to: put some mug in desk.")
        with pytest.raises(InputError, match="not both"):
            agent.outcome(won=True, fatal=True)
        assert agent.outcome(won=False) == ()
    with pytest.raises(InputError, match="is for runs"):
        rpms.Agent("alfworld", memory="none", mask=0.2)
