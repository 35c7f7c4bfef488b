"""Pairs: the planner's steps told to every condition, and a student's states with the right answer."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from inspect import signature
from random import Random

import pytest

from rpms.cli.teach import report, write_pairs
from rpms.logic.counting import counted
from rpms.logic.errors import FileError, InputError
from rpms.logic.goal import Progress
from rpms.models.policy import FunctionModel
from rpms.paper.condition import CONDITIONS
from rpms.play.design import NamedModel, lend
from rpms.play.run import Listener, run
from rpms.play.seats import Seat
from rpms.play.settings import Settings
from rpms.store.runs import RunFolder
from rpms.teaching.classroom import Classroom, correct, read_conditions, teach_pairs
from rpms.teaching.pairs import PairSource, add_pairs, pairs_text, read_pairs
from rpms.teaching.teacher import (
    Corrections,
    Follower,
    Thoughts,
    player_of,
    spread,
    taught_step,
)
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms
from tests.cli.command import rpms as rpms  # noqa: PLC0414  a fixture

ALFWORLD = find_world("alfworld")
TRAIN = "builtin_train"


def classroom(number: int = 2, **settings):
    given = {"split": TRAIN, "limit": number, "memory": "none", **settings}
    chosen = Settings.read(given)
    tasks, setting = chosen.tasks(ALFWORLD, Setting())
    return Classroom(ALFWORLD, tuple(tasks), setting, chosen)


@pytest.fixture(scope="module")
def taught(tmp_path_factory):
    """A file of pairs from two games."""
    out = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    done = teach_pairs(classroom(), out, None, Listener(), processes=1)
    return out, done


def test_every_step_of_the_teacher_is_told_to_every_condition(taught):
    out, done = taught
    pairs = read_pairs(out)
    assert done.found == done.added == len(pairs) == 4 * done.played["planner"].steps
    assert {pair.condition for pair in pairs} == set(CONDITIONS)
    assert {pair.source for pair in pairs} == {PairSource.TEACHER}
    for pair in pairs:
        assert pair.completion[0].content.startswith("Thought: ")
        assert "\nAction: " in pair.completion[0].content
    told = [pair for pair in pairs if pair.step == 1]
    blocks = {pair.condition: pair.prompt[0].content for pair in told}
    assert "[RULES" in blocks["full"]
    assert "[RULES" not in blocks["baseline"]


@pytest.mark.parametrize("thoughts", Thoughts)
def test_the_thought_is_the_sub_goal_that_a_told_prompt_shows(tmp_path, thoughts):
    out = tmp_path / "pairs.jsonl"
    teach_pairs(replace(classroom(), thoughts=thoughts), out, None, Listener(), processes=1)
    for pair in read_pairs(out):
        shown = re.search("Current sub-goal: (.*)", pair.prompt[0].content)
        if pair.condition == "baseline":
            assert shown is None
            continue
        assert shown is not None
        sub_goal = shown[1]
        if thoughts is Thoughts.WORDS:
            kind, target = sub_goal.split(" - ")
            sub_goal = f"{kind.removesuffix('_object')} {target}"
        thought = f"Thought: I want to {sub_goal}."
        assert pair.completion[0].content.startswith(f"{thought}\n")
        for turn in pair.prompt[2:-1:2]:
            assert turn.role == "assistant"
            assert "_object" not in turn.content or thoughts is Thoughts.PRINTED


def test_sub_goals_are_said_in_words():
    assert Progress("find_object", "apple", 0, 1).words == "find apple"
    assert Progress("fill_a_vessel_with", "water", 0, 1).words == "fill a vessel with water"
    assert Progress("water_and_wait", "", 0, 1).words == "water and wait"


def test_a_pair_is_the_prompt_that_a_run_of_the_condition_shows(taught, tmp_path):
    """A student that gives the right answers is asked exactly what it was taught."""
    out, _ = taught
    room = classroom()
    pairs = read_pairs(out)
    for condition in ("baseline", "full"):
        lessons = {}
        for pair in pairs:
            if pair.condition == condition:
                lessons[json.dumps([[m.role, m.content] for m in pair.prompt])] = pair
        asked = []

        def answer(request, lessons=lessons, asked=asked):
            key = json.dumps([[m.role, m.content] for m in request.prompt.messages()])
            asked.append(key)
            return lessons[key].completion[0].content

        design = room.student(condition, "planner", NamedModel("planner"))
        design = replace(design, open_model=lend(FunctionModel(answer)))
        summary = run(design, tmp_path / condition)
        assert summary.won == len(room.tasks)
        assert len(asked) == len(lessons)


def test_the_lines_are_what_other_trainers_read(taught):
    out, _ = taught
    for line in out.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert [message["role"] for message in row["completion"]] == ["assistant"]
        roles = [message["role"] for message in row["prompt"]]
        assert roles[0] == "system"
        assert roles[-1] == "user"
        assert {"task", "condition", "step", "source", "split", "world"} <= row.keys()


def test_of_the_messages_the_answer_alone_is_learned(rpms: Rpms, tmp_path):
    pairs, messages = tmp_path / "pairs.jsonl", tmp_path / "messages.jsonl"
    arguments = ("--split", "builtin_train", "--limit", "1", "--memory", "none", "--out", pairs)
    done = rpms("teach", "pairs", "alfworld", *arguments, "--messages", messages)
    assert f"{messages}: the same pairs as messages" in done.out
    lines = messages.read_text("utf-8").splitlines()
    for line, pair in zip(lines, read_pairs(pairs), strict=True):
        row = json.loads(line)
        assert row.keys() == {"messages"}  # OpenAI takes nothing beside them
        roles = [turn["role"] for turn in row["messages"]]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2)]  # LLaMA-Factory
        *earlier, answer = row["messages"]
        assert answer == {"role": "assistant", "content": pair.completion[0].content}
        weights = [turn["weight"] for turn in earlier if turn["role"] == "assistant"]
        assert weights == [0] * (len(pair.prompt) // 2 - 1)
        assert [turn["content"] for turn in earlier] == [turn.content for turn in pair.prompt]


def test_messages_do_not_take_the_place_of_the_pairs(rpms: Rpms, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    done = rpms("teach", "pairs", "alfworld", "--out", pairs, "--messages", pairs)
    assert done.code == 2
    assert "is the file of the pairs: give another" in done.err
    assert not pairs.exists()


def test_the_same_command_adds_nothing_and_plays_nothing_again(taught):
    out, done = taught
    before = out.read_bytes()
    again = teach_pairs(classroom(), out, None, Listener(), processes=1)
    assert again.found == done.found
    assert again.added == 0
    assert out.read_bytes() == before


def commands_of(game, opening: str) -> list[str]:
    """Some things to do in a game, sensible and not."""
    places = [command for command in game.admissible() if command.startswith("go to")]
    kinds = [f"open {place.removeprefix('go to ')}" for place in places]
    return [*places, *kinds, "take nothing from nowhere", "jump", opening[:20]]


@pytest.mark.parametrize("place", range(6))
def test_wherever_a_student_is_the_teacher_wins_from_there(place):
    """The labels are right for the state: after any walk, following them wins."""
    room = classroom(6)
    task = room.tasks[place]
    teacher = room.teacher()
    game = ALFWORLD.open(task, room.setting)
    outcome = game.reset()
    choices = commands_of(game, outcome.observation)
    walk = Random(place)
    player = player_of(teacher, teacher.open_model())
    follower = Follower(player, task.id, outcome.observation)
    for number in range(80):
        move = follower.decide(outcome.observation)
        said = taught_step(move, Thoughts.WORDS)
        assert said is not None
        command = walk.choice(choices) if number < 25 else said.command
        outcome = game.step(command)
        follower.hear(move, f"Action: {command}", command, outcome)
        if outcome.won:
            assert number >= 25
            return
    pytest.fail("the teacher did not win")


def episode_of(design, task, commands: list[str]):
    """The episode of a student that does what it is told, and thinks nothing of it."""
    said = iter(commands)
    model = FunctionModel(lambda _: f"Thought: hm.\nAction: {next(said)}")
    play = Seat(design, model).begin(task, ALFWORLD.open(task, design.setting))
    for _ in commands:
        play.step()
    return play.episode()


def test_a_loop_is_corrected_and_spread_over_the_episode():
    room = classroom(1)
    design = room.student("full", "planner", NamedModel("planner"))
    episode = episode_of(design, room.tasks[0], ["go to nowhere", "inventory"] * 15)
    corrections = Corrections(room.teacher(), design, "full", Thoughts.WORDS, most=5)
    lines = [json.loads(line) for line in corrections(episode).splitlines()]
    assert [line["step"] for line in lines] == [1, 7, 13, 19, 25]
    assert {line["source"] for line in lines} == {"correction"}
    assert {line["student"] for line in lines} == {"planner"}
    assert "Thought: hm." in lines[-1]["prompt"][-2]["content"]
    assert "hm." not in lines[-1]["completion"][0]["content"]
    assert spread(list(range(30)), 5) == [0, 6, 12, 18, 24]


def test_corrections_of_a_student_are_added_to_the_teachers_pairs(taught, tmp_path):
    out, _ = taught
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_bytes(out.read_bytes())
    script = tmp_path / "script.txt"
    script.write_text("look\n" * 50, encoding="utf-8")
    room = classroom(1, steps=6)
    student = NamedModel(f"scripted/{script}")
    done = correct(room, student, 0, pairs, lambda _: Listener(), processes=1)
    assert set(done.played) == set(CONDITIONS)
    assert done.found == 4 * 6
    new = [pair for pair in read_pairs(pairs) if pair.source is PairSource.CORRECTION]
    assert len(new) == done.added == 4 * 5  # the first state is the teacher's too
    assert {pair.student for pair in new} == {student.name}
    folders = [*(tmp_path / "pairs.students").iterdir()]
    assert sorted(RunFolder(folder).summary().done for folder in folders) == [1] * 4
    again = correct(room, student, 0, pairs, lambda _: Listener(), processes=1)
    assert again.added == 0


def test_games_that_are_measured_on_are_not_taught():
    with pytest.raises(InputError, match="builtin is a split that is measured on"):
        classroom(split="builtin")
    assert classroom(split="builtin", overlap="allow").tasks


def test_a_memory_of_the_same_games_is_refused():
    room = classroom(24, memory="embedded")
    with pytest.raises(InputError, match="the memory is learned from"):
        room.student("full", "planner", NamedModel("planner"))


@pytest.mark.parametrize(
    ("world", "games"),
    [("alfworld", "--split valid_train"), ("scienceworld", "--split train --task TASKS-THAT")],
)
def test_who_gave_no_memory_is_told_to_learn_one_from_other_games(
    rpms: Rpms, tmp_path, world, games
):
    if world == "scienceworld":
        pytest.importorskip("scienceworld", reason="the extra `scienceworld` is not installed")
    split = {"alfworld": TRAIN, "scienceworld": "train"}[world]
    words = ["teach", "pairs", world, "--split", split, "--limit", "1"]
    ran = rpms(*words, "--conditions", "baseline,full", "--out", tmp_path / "pairs.jsonl")
    assert ran.code == 2
    assert f"`rpms learn {world} {games}" in ran.line
    assert "or leave it out with --conditions baseline" in ran.line
    assert list(tmp_path.iterdir()) == []


def test_that_new_pairs_are_told_otherwise_is_said(taught):
    out, _ = taught
    pairs = read_pairs(out)
    room = classroom(1)
    assert room.knowledge_unlike(pairs) == ()
    assert room.knowledge_unlike([]) == ()
    others = [replace(pair, manual="mine:0", memory=pair.memory and "0") for pair in pairs]
    assert room.knowledge_unlike(others) == ("manual", "memory")


def test_a_note_names_the_file_whose_memory_is_another(rpms: Rpms, tmp_path):
    out = tmp_path / "pairs.jsonl"
    room = replace(classroom(1), conditions=("full",))
    teach_pairs(room, out, None, Listener(), processes=1)
    pairs = [replace(pair, memory="0123456789ab") for pair in read_pairs(out)]
    out.write_text(pairs_text(pairs), encoding="utf-8")
    words = ["teach", "pairs", "alfworld", "--split", TRAIN, "--limit", "1", "--memory", "none"]
    ran = rpms(*words, "--processes", 1, "--conditions", "full", "--out", out)
    assert ran.code == 0, ran.err
    assert f"note: {out} was written with another memory: give the same" in ran.out


def test_pairs_of_two_worlds_do_not_go_together(taught, tmp_path):
    out, _ = taught
    pairs = read_pairs(out)
    with pytest.raises(FileError, match="do not go together"):
        add_pairs(tmp_path / "mixed.jsonl", [pairs[0], replace(pairs[1], world="scienceworld")])
    assert not (tmp_path / "mixed.jsonl").exists()


def test_a_game_that_the_teacher_does_not_win_is_named_and_not_taught(tmp_path, capsys):
    out = tmp_path / "pairs.jsonl"
    room = classroom(2, steps=5)  # too few for any
    done = teach_pairs(room, out, None, Listener(), processes=1)
    assert done.found == done.added == 0
    assert [row.task for row in done.not_taught] == [task.id for task in room.tasks]
    report(done, out)
    said = capsys.readouterr().out
    assert f"not won, and so not taught: {room.tasks[0].id} (out of steps)" in said


def test_a_misspelt_condition_is_told_with_its_option():
    with pytest.raises(InputError, match="--conditions: 'ful' is no condition; did you mean full"):
        read_conditions("baseline,ful")


def test_a_file_of_something_else_is_refused_before_a_game_is_played(tmp_path):
    out = tmp_path / "notes.txt"
    out.write_text("my notes\n")
    with pytest.raises(FileError, match=r"notes\.txt:1: is no pair"):
        teach_pairs(classroom(), out, None, Listener(), processes=1)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
    assert out.read_text() == "my notes\n"


def test_pairs_of_another_world_are_refused_before_a_game_is_played(taught, tmp_path):
    out = tmp_path / "pairs.jsonl"
    pairs = [replace(pair, world="elsewhere") for pair in read_pairs(taught[0])[:1]]
    add_pairs(out, pairs)
    with pytest.raises(FileError, match="holds pairs of elsewhere, not of alfworld"):
        teach_pairs(classroom(), out, None, Listener(), processes=1)
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.jsonl"]


@pytest.mark.parametrize("option", ["--price", "--record", "--base-url", "--max-cost", "--ray"])
def test_the_planner_has_no_price_no_answers_to_keep_and_no_server(option):
    options = signature(write_pairs).parameters
    assert option.removeprefix("--").replace("-", "_") not in options


def test_what_is_no_pair_is_said_with_its_line(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"prompt": []}\n', encoding="utf-8")
    with pytest.raises(FileError, match=r"pairs.jsonl:1: is no pair"):
        read_pairs(file)


def test_corrections_do_not_take_a_split_that_the_pairs_are_not_of(taught, rpms: Rpms):
    out, _ = taught
    result = rpms("teach", "correct", "planner", "alfworld", "--pairs", out, "--split", "train")
    assert result.code == 2
    assert f"--split train: the games of {out} are of {TRAIN}: leave it out" in result.err


@pytest.mark.parametrize("thoughts", Thoughts)
def test_corrections_are_of_the_conditions_and_the_form_of_the_pairs(
    rpms: Rpms, tmp_path, thoughts
):
    out = tmp_path / "pairs.jsonl"
    room = replace(classroom(1), conditions=("baseline", "full"), thoughts=thoughts)
    teach_pairs(room, out, None, Listener(), processes=1)
    script = tmp_path / "script.txt"
    script.write_text("look\n" * 20, encoding="utf-8")
    words = ["teach", "correct", f"scripted/{script}", "alfworld", "--pairs", out]
    ran = rpms(*words, "--memory", "none", "--steps", 3, "--processes", 1)
    assert ran.code == 0, ran.err
    pairs = read_pairs(out)
    assert {pair.source for pair in pairs} == set(PairSource)
    corrections = [pair for pair in pairs if pair.source is PairSource.CORRECTION]
    assert {pair.condition for pair in corrections} == {"baseline", "full"}
    assert {pair.thoughts for pair in corrections} == {thoughts}
    answers = [pair.completion[0].content for pair in pairs]
    assert any("find_object - " in answer for answer in answers) == (thoughts is Thoughts.PRINTED)


def test_training_knows_what_may_be_said_about_overlap(taught, rpms: Rpms, tmp_path):
    out, _ = taught
    words = ["teach", "train", "base", out, "--out", tmp_path / "out", "--overlap"]
    assert "--overlap 'alow' is none of its values; did you mean allow?" in rpms(*words, "alow").err


def test_one_thing_is_counted_in_the_singular():
    assert counted(1, "game") == "1 game"
    assert counted(1160, "pair") == "1,160 pairs"


def test_that_two_conditions_are_told_the_same_is_said(rpms: Rpms, tmp_path):
    out = tmp_path / "pairs.jsonl"
    words = ["teach", "pairs", "alfworld", "--split", TRAIN, "--limit", "1", "--memory", "none"]
    ran = rpms(*words, "--processes", "1", "--out", out)
    assert ran.code == 0, ran.err
    prompts = {(pair.condition, pair.step): pair.prompt for pair in read_pairs(out)}
    for (condition, step), prompt in prompts.items():
        if condition == "full":
            assert prompt == prompts["rules-only", step]
    assert "full and rules-only are the same" in ran.out
    ran = rpms(*words, "--processes", "1", "--conditions", "baseline,full", "--out", out)
    assert "the same" not in ran.out
