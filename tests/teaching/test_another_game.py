"""The control with another game's blocks: all that is injected is wrong, and nothing else is
changed.
"""

from __future__ import annotations

import pytest

from rpms.logic.errors import FileError
from rpms.models.policy import FunctionModel
from rpms.paper.prompt import SHARED, Block, Part
from rpms.play.design import NamedModel
from rpms.play.seats import Seat
from rpms.play.settings import Settings
from rpms.study.study_files import read_study
from rpms.teaching.another_game import in_alfworld
from rpms.teaching.classroom import Classroom
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

ALFWORLD = find_world("alfworld")
NAME = "rpms.teaching.another_game:in_alfworld"
LORE = "rpms.teaching.another_game:lore_in_alfworld"


def prompts(condition: str, **settings) -> list[tuple[tuple[Block, ...], str]]:
    """The blocks and the sent text of three steps in which a model looks around."""
    given = {"split": "builtin_train", "limit": 1, "memory": "embedded", "overlap": "allow"}
    chosen = Settings.read({**given, **settings})
    tasks, setting = chosen.tasks(ALFWORLD, Setting())
    room = Classroom(ALFWORLD, tuple(tasks), setting, chosen)
    design = room.student(condition, "planner", NamedModel("planner"))
    found: list[tuple[tuple[Block, ...], str]] = []

    def answer(request) -> str:
        found.append((request.prompt.blocks, request.prompt.text))
        return "Thought: I look.\nAction: look"

    seat = Seat(design, FunctionModel(answer, plans=False))
    play = seat.begin(tasks[0], ALFWORLD.open(tasks[0], setting))
    for _ in range(3):
        play.step()
    return found


@pytest.mark.parametrize(
    ("condition", "part"),
    [("rules-only", Part.GOAL), ("memory-only", Part.MEMORY), ("full", Part.MEMORY)],
)
def test_what_is_injected_is_another_games_and_the_rest_is_the_games_own(condition, part):
    for blocks, text in prompts(condition, prompt=NAME):
        by_part = {block.part: block for block in blocks}
        for block in blocks:
            lines = block.text.splitlines()
            assert lines[0] in text  # all headings are as ever
            if block.part in SHARED:
                assert all(line in text for line in lines)
        wrong = [line for line in by_part[part].items if line not in text]
        assert wrong


def test_rules_and_memories_alone_are_anothers_beside_its_own_state_and_sub_goal():
    own = prompts("full")
    swapped = prompts("full", prompt=LORE)
    for (blocks, _), (_, text) in zip(own, swapped, strict=True):
        by_part = {block.part: block for block in blocks}
        for part in (Part.GOAL, Part.BELIEF):
            assert by_part[part].text in text
        wrong = [line for line in by_part[Part.MEMORY].items if line not in text]
        assert wrong


def test_a_baseline_prompt_has_nothing_to_replace():
    swapped = prompts("baseline", prompt=NAME)
    assert [text for _, text in swapped] == [
        "\n\n".join(message.content for message in in_alfworld(blocks))
        for blocks, _ in prompts("baseline")
    ]
    for blocks, text in swapped:
        assert all(block.text.splitlines()[-1] in text for block in blocks)


def test_a_game_gets_the_same_other_one_at_every_step_and_every_time():
    texts = [text for _, text in prompts("full", prompt=NAME)]
    goals = {line for text in texts for line in text.splitlines() if line.startswith("  Goal: ")}
    assert len(goals) == 1
    assert texts == [text for _, text in prompts("full", prompt=NAME)]


def test_a_study_may_name_it_without_leave_and_nothing_else_of_the_module(tmp_path):
    text = (
        "title: A control\nworld: alfworld\nmemory: embedded\n"
        'conditions:\n  mine: {condition: full, prompt: "rpms.teaching.another_game:NAME"}\n'
    )
    file = tmp_path / "study.yaml"
    file.write_text(text.replace("NAME", "in_alfworld"), encoding="utf-8")
    assert read_study(file).title == "A control"
    file.write_text(text.replace("NAME", "find_world"), encoding="utf-8")
    with pytest.raises(FileError, match="a study runs no code of its own"):
        read_study(file)
