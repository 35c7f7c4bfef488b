"""The other methods: each plays the same games in its own form, and what it carries between
trials is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.agent import Agent
from rpms.foreign.shown import unseen
from rpms.learning.insights import changed, gather_experience
from rpms.logic.errors import FileError, InputError, ModelError, ModelUnavailable
from rpms.models.base import Answer, Decoding
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.condition import BASELINE, RULES_ONLY
from rpms.paper.episode import Usage
from rpms.paper.prompt import SHARED, Part, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.methods import LONGEST_ITEM, METHODS, Earlier, reflect
from rpms.play.settings import SettingError, Settings
from rpms.play.trials import run_trials
from rpms.store.expel_material import (
    LONGEST_INSIGHT,
    MOST_INSIGHTS,
    Experience,
    Insight,
    Trajectory,
    read_experience,
    write_experience,
)
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
EXPERIENCE = Experience(
    "alfworld",
    (Insight("Look in the drawers.", 3),),
    tuple(
        Trajectory(f"task {n}", f"put a mug in drawer {n}", f"You see mug {n}.\nAction: look")
        for n in range(3)
    ),
)
LEARNED = {
    name: replace(each, experience=EXPERIENCE if each.recalled else None)
    for name, each in METHODS.items()
}
PLAN = "I will follow the plan that I had at first."
CAUSES = "Going to the desk is necessary to see it\nand some prose\n- Waiting does not contribute to anything"


def answer_as(name: str, decision) -> str:
    thought, action = follow_plan(decision)
    state = "Goal: the task\nState: somewhere; carrying nothing\n" if name == "stateact" else ""
    return f"{state}Thought: {thought}\nAction: {action}"


def learner(name: str, seen: list | None = None, asked: Counter | None = None, wins_from: int = 1):
    """Plays well from a trial on; until then it looks around.

    Between trials it writes a design and causes.
    """

    def answer(request):
        if asked is not None:
            asked[request.episode] += 1
        if request.decision is None:
            return Answer(f"{PLAN}\n{CAUSES}", Usage(100, 0, 10, 1))
        if seen is not None:
            seen.append(request.prompt)
        trial = int((re.findall(r" trial (\d)$", request.episode) or [0])[0])
        text = (
            answer_as(name, request.decision) if trial >= wins_from else "Thought: hm\nAction: look"
        )
        return Answer(text, Usage(10, 0, 2, 1))

    return FunctionModel(answer, "learner")


def design(name: str, model, **options):
    method = replace(LEARNED[name], trials=options.pop("trials", LEARNED[name].trials))
    usual = {
        "split": "builtin",
        "limit": 3,
        "condition": BASELINE,
        "step_budget": 12,
        "method": method,
    }
    return design_run(
        WORLD, model.name, lend(model), **{"memory": EpisodicMemory(), **usual, **options}
    )


def files(folder: Path) -> dict[str, bytes]:
    kept = (
        file for file in folder.rglob("*") if file.suffix == ".json" and file.name != "price.json"
    )
    return {str(file.relative_to(folder)): file.read_bytes() for file in kept}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_plays_and_its_files_give_back_its_prompts_to_the_letter(tmp_path, name):
    seen: list = []
    model = learner(name, seen, wins_from=0)
    summary = run_trials(design(name, model, limit=1, trials=1), tmp_path / name).summaries[0]
    assert summary.won == summary.total == 1
    run = RunFolder(tmp_path / name)
    record = run.episode(run.protocol.tasks[0])
    assert [record.prompt(step.number).text for step in record.steps] == [
        prompt.text for prompt in seen
    ]
    last = seen[-1]
    injected = {block.part for block in last.blocks} - SHARED
    assert injected == ({Part.CARRIED} if name == "expel" else set()), (
        "a baseline has nothing of RPMS"
    )
    assert ("Thought" in last.text) == (name != "act")
    assert ("State: somewhere; carrying nothing\nThought: " in last.text) == (name == "stateact")
    assert run.protocol.settings.get("agent", {"name": "react"})["name"] == name


def test_a_react_run_is_recorded_as_before_methods_came():
    assert "agent" not in design("react", learner("react")).protocol().settings


@pytest.mark.parametrize("world", ["alfworld", "scienceworld"])
def test_examples_are_in_the_form_that_is_asked_for(world):
    found = find_world(world)
    act, stateact = (METHODS[name].wording(found.wording, found) for name in ("act", "stateact"))
    assert "hought:" not in act.instruction + act.example + act.choosing
    assert "a short thought" not in act.instruction
    assert act.example.count("Action:") == found.wording.example.count("Action:")
    turns = stateact.example.count("Action:")
    assert stateact.example.count("\nState: at ") == stateact.example.count("\nGoal: ") == turns
    assert re.search(r"^Goal: .*\nState: .*\nThought: ", stateact.instruction, re.MULTILINE)
    without = re.sub(r"^(?:Goal|State): .*\n", "", stateact.example, flags=re.MULTILINE)
    assert without == found.wording.example


def test_states_of_the_example_tell_where_the_last_walk_led():
    place, checked = "the start", 0
    for line in METHODS["stateact"].wording(WORLD.wording, WORLD).example.split("\n"):
        if line.startswith("State: "):
            assert line.startswith(f"State: at {place}; carrying ")
            checked += 1
        elif line.startswith("Action: go to "):
            place = line.removeprefix("Action: go to ")
    assert checked == 8


@given(st.text())
def test_no_prompt_of_ones_own_breaks_a_form(text):
    wording = replace(WORLD.wording, instruction=text, example=text)
    for method in METHODS.values():
        made = method.wording(wording, WORLD)
        if method.name in ("react", "reflexion", "expel", "clin"):
            assert (made.instruction, made.example) == (text, text)
        else:
            assert made.instruction


@pytest.mark.parametrize("name", [name for name, each in METHODS.items() if each.question])
def test_what_was_lost_is_tried_again_with_what_the_model_wrote(tmp_path, name):
    seen: list = []
    trials = run_trials(design(name, learner(name, seen, wins_from=2), trials=4), tmp_path)
    assert [summary.won for summary in trials.summaries] == [0, 0, 3], (
        "and no fourth trial of what is won"
    )
    assert trials.best.won == 3
    assert trials.best_folder == tmp_path / "best-of-4"
    second = next(p for p in seen if any(block.part is Part.CARRIED for block in p.blocks))
    shown = next(block.text for block in second.blocks if block.part is Part.CARRIED)
    if name == "clin":
        assert shown.split("\n")[1:] == [
            "  - Going to the desk is necessary to see it",
            "  - Waiting does not contribute to anything",
        ]
    else:
        assert PLAN in shown
    best = RunFolder(trials.best_folder)
    assert {row.trial for row in best.rows()} == {2}
    assert best.protocol.settings["agent"]["best_of"] == 4
    record = RunFolder(tmp_path / "trial-2").episode(best.protocol.tasks[0])
    assert record.steps[0].usage.prompt_tokens == 110, "what was asked in between is paid for"
    assert record.steps[0].extras["notes"]
    assert record.steps[1].usage.prompt_tokens == 10


def test_reflexion_keeps_the_last_three_plans(tmp_path):
    seen: list = []
    run_trials(
        design(
            "reflexion", learner("reflexion", seen, wins_from=9), trials=6, limit=1, step_budget=1
        ),
        tmp_path,
    )
    counts = [prompt.text.count(PLAN) for prompt in seen]
    assert counts == [0, 1, 2, 3, 3, 3]


def test_a_run_goes_on_with_more_trials_and_asks_nothing_twice(tmp_path):
    asked: Counter = Counter()
    model = learner("reflexion", asked=asked, wins_from=3)
    run_trials(design("reflexion", model, trials=2, step_budget=4), tmp_path / "a")
    before = Counter(asked)
    run_trials(design("reflexion", model, trials=3, step_budget=4), tmp_path / "a")
    assert all(asked[episode] == times for episode, times in before.items())
    run_trials(
        design("reflexion", learner("reflexion", wins_from=3), trials=3, step_budget=4),
        tmp_path / "b",
        workers=3,
    )
    mine, other = files(tmp_path / "a"), files(tmp_path / "b")
    assert {name: text for name, text in mine.items() if "best-of-2" not in name} == other


def test_a_run_that_broke_off_anywhere_ends_with_the_same_bytes(tmp_path):
    whole = tmp_path / "whole"
    run_trials(
        design("clin", learner("clin", wins_from=1), trials=2, limit=2, step_budget=8), whole
    )
    left = iter(range(3, 60, 6))
    for number in left:
        good = learner("clin", wins_from=1)
        count = iter(range(number))

        def answer(request, good=good, count=count):
            if next(count, None) is None:
                raise ModelUnavailable("the server is gone")
            return good.answer(request)

        try:
            run_trials(
                design("clin", FunctionModel(answer, "learner"), trials=2, limit=2, step_budget=8),
                tmp_path / "broken",
            )
        except ModelUnavailable:
            continue
        break
    assert files(tmp_path / "broken") == files(whole)


def test_a_trial_that_followed_from_other_attempts_is_refused(tmp_path):
    run_trials(
        design("reflexion", learner("reflexion", wins_from=5), trials=2, step_budget=2, limit=1),
        tmp_path,
    )
    for file in (tmp_path / "episodes").iterdir():
        file.unlink()

    def other(request):
        return "A plan." if request.decision is None else "Action: inventory"

    with pytest.raises(InputError, match=r"trial-1: .*remove it"):
        run_trials(
            design("reflexion", FunctionModel(other, "learner"), trials=2, step_budget=2, limit=1),
            tmp_path,
        )


EARLIER = Earlier(
    (Turn("You see a desk.", "look", "hm"),), "Nothing happens.", "out of steps", ("  - old",)
)


@pytest.mark.parametrize("name", [name for name, each in METHODS.items() if each.question])
@given(
    text=st.text(max_size=300)
    | st.just("A is necessary to B\n" * 5_000)
    | st.just("{0} %s ../x \x1b[2J" * 4_000)
)
def test_what_a_model_writes_is_bounded_and_can_be_shown(name, text):
    written = reflect(METHODS[name], EARLIER, FunctionModel(lambda _: text), Decoding(), "e")
    assert written.carried
    assert len(written.carried) <= 10
    for item in written.carried:
        assert len(item) <= LONGEST_ITEM + 4
        assert not any(unseen(char) for char in item)


def test_a_model_that_cannot_answer_carries_what_it_had():
    def fails(_request):
        raise ModelError("no")

    assert (
        reflect(METHODS["clin"], EARLIER, FunctionModel(fails), Decoding(), "e").carried
        == EARLIER.carried
    )
    prose = FunctionModel(lambda _: "I do not know.")
    assert reflect(METHODS["clin"], EARLIER, prose, Decoding(), "e").carried == EARLIER.carried


def test_a_long_attempt_is_cut_to_the_window():
    turns = tuple(Turn(f"You see thing {n}." * 20, "look", "hm") for n in range(200))
    asked: list = []
    model = FunctionModel(lambda request: asked.append(request.prompt) or "A plan.")
    reflect(
        METHODS["reflexion"],
        Earlier(turns, "The end.", "lost"),
        model,
        Decoding(),
        "e",
        context=2_000,
    )
    assert asked[0].tokens < 2_000
    assert "The end." in asked[0].text


def test_only_other_methods_play_the_baseline_by_default():
    assert Settings().condition_name == Settings(agent="react").condition_name == "full"
    assert Settings(agent="clin").condition_value().rules is False
    assert Settings(agent="clin", condition="rules-only").condition_value().rules is True


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"agent": "nope"}, "agent"),
        ({"agent": "act", "trials": 3}, "trials"),
        ({"agent": "reflexion", "trials": 0}, "trials"),
        ({"agent": "expel"}, "insights"),
        ({"agent": "act", "insights": "x.jsonl"}, "insights"),
    ],
)
def test_a_wrong_setting_says_which(given, name):
    with pytest.raises(SettingError) as error:
        Settings.read(given).method(WORLD)
    assert error.value.name == name


def test_rules_can_be_asked_for_beside_a_method(tmp_path):
    seen: list = []
    model = learner("act", seen, wins_from=0)
    run_trials(design("act", model, limit=1, condition=RULES_ONLY), tmp_path)
    assert any(block.part is Part.ENVIRONMENT for block in seen[0].blocks)


# expel


@given(
    st.lists(
        st.text(max_size=80) | st.sampled_from(["ADD: x", "AGREE 1", "REMOVE 1", "EDIT 1: y"]),
        max_size=30,
    )
)
def test_insights_are_a_short_list_whatever_a_model_answers(answers):
    insights: tuple[Insight, ...] = ()
    for text in answers:
        insights = changed(insights, text)
        assert len(insights) <= MOST_INSIGHTS
        assert all(0 < len(each.text) <= LONGEST_INSIGHT and each.votes > 0 for each in insights)


def test_insights_are_added_agreed_with_edited_and_removed():
    insights = changed(
        (), "ADD: Look first.\nADD: Look first.\nADD: Open doors.\nsome prose\nAGREE 7"
    )
    assert [(each.text, each.votes) for each in insights] == [
        ("Look first.", 2),
        ("Open doors.", 2),
    ]
    insights = changed(insights, "AGREE 2\nEDIT 1: Look around first.\nREMOVE 1")
    assert [(each.text, each.votes) for each in insights] == [
        ("Open doors.", 3),
        ("Look around first.", 2),
    ]
    assert [each.text for each in changed(changed(insights, "REMOVE 2"), "REMOVE 2")] == [
        "Open doors."
    ]
    merged = changed(insights, "EDIT 2: Open doors.")
    assert [(each.text, each.votes) for each in merged] == [("Open doors.", 3)], (
        "the same words stand once"
    )


def test_experience_is_gathered_from_runs_and_played_with(tmp_path):
    trials = run_trials(design("reflexion", learner("reflexion"), trials=2), tmp_path / "runs")
    asked: list[str] = []

    def answer(request):
        asked.append(request.prompt.text)
        return "ADD: Follow the plan." if len(asked) == 1 else "AGREE 1"

    runs = [RunFolder(folder) for folder in trials.folders]
    found = gather_experience(runs, "alfworld", FunctionModel(answer), Decoding())
    assert len(asked) == 4, "three failures beside successes, and the three successes together"
    assert "Attempt 1, which failed" in asked[0]
    assert "Attempt 2, which succeeded" in asked[0]
    assert [(each.text, each.votes) for each in found.insights] == [("Follow the plan.", 5)]
    assert len(found.trajectories) == 3
    file = tmp_path / "expel.jsonl"
    write_experience(file, found)
    assert read_experience(file, "alfworld") == found
    with pytest.raises(FileError, match="gathered in alfworld"):
        read_experience(file, "scienceworld")
    task = found.trajectories[0].task
    assert task not in {each.task for each in found.recall(found.trajectories[0].goal, task, 5)}
    file.write_text(file.read_text().replace("Follow", "Fellow"))
    with pytest.raises(FileError, match="changed"):
        read_experience(file, "alfworld")


def test_the_most_similar_trajectories_are_recalled():
    first, second = EXPERIENCE.recall("put a mug in drawer 2", "another", 2)
    assert first.goal == "put a mug in drawer 2"
    assert second != first


def test_an_agent_of_ones_own_loop_reads_what_it_wrote():
    prompts: list[str] = []

    def answer(request):
        prompts.append(request.prompt.text)
        return PLAN if request.decision is None else "Action: look"

    agent = Agent("alfworld", FunctionModel(answer), agent="reflexion")
    opening = (
        "You are in the middle of a room. You see a desk 1.\nYour task is to: put some mug in desk."
    )
    for _ in range(2):
        agent.reset(opening)
        agent.act(opening)
        agent.outcome(won=False, observation="Nothing happens.")
    assert [PLAN in prompt for prompt in prompts] == [False, False, True, True]
    assert agent.condition.rules is False
