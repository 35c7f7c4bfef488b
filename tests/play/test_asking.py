"""The guard in an episode: what is refused is asked again, counted, and never reaches the world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.errors import ContextOverflow, InputError
from rpms.models.base import Answer, Decoding, Request
from rpms.models.policy import FunctionModel
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.enforcement import PAPER, Constrained, Enforcement, GuardMode
from rpms.paper.episode import Ending, Episode, Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome, Setting, Task
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
KNOWLEDGE = knowledge_of(WORLD)
TASK = WORLD.tasks("builtin", Setting())[0]
BLOCK = replace(PAPER, guard=GuardMode.BLOCK)


def episode(
    enforcement: Enforcement, answers: list[str], steps: int = 1, condition=FULL
) -> tuple[Episode, list[Request]]:
    asked: list[Request] = []

    def answer(request: Request) -> Answer:
        asked.append(request)
        return Answer(
            answers[min(len(asked), len(answers)) - 1], Usage(prompt_tokens=100, requests=1)
        )

    mind = compose(replace(condition, enforcement=enforcement), KNOWLEDGE, EpisodicMemory())
    game = WORLD.open(TASK, Setting())
    return play(
        Play(Player(WORLD, mind, FunctionModel(answer), Decoding()), game, TASK, steps)
    ), asked


def test_a_refused_action_is_not_executed_and_the_model_is_told_why():
    result, asked = episode(BLOCK, ["Action: open drawer 1", "Action: go to desk 1"])
    (step,) = result.steps
    assert (step.command, step.infeasible, result.counts["reasks"]) == ("go to desk 1", False, 1)
    assert step.refusals[0][0] == "open drawer 1"
    assert "`open drawer 1` was not executed: " in asked[1].prompt.text
    assert "go to drawer 1" in asked[1].prompt.text, "the remedy"
    assert step.usage.prompt_tokens == 200, "what is asked again is paid for"


def test_an_answer_that_still_fails_is_executed_after_the_last_re_ask():
    result, asked = episode(replace(BLOCK, reasks=2), ["Action: open drawer 1"])
    (step,) = result.steps
    assert (len(asked), step.command, step.infeasible, step.replaced) == (
        3,
        "open drawer 1",
        True,
        "",
    )


def test_or_it_is_replaced_by_the_best_of_the_menu_and_the_step_says_so():
    result, _ = episode(replace(BLOCK, replace=True, menu=8), ["Action: open drawer 1"])
    (step,) = result.steps
    assert step.command.startswith("go to ")
    assert step.replaced.startswith("refused to the last")
    assert step.extras["replaced"] == step.replaced


def test_what_is_the_models_own_is_not_called_replaced():
    beyond = replace(BLOCK, menu=8, loops=True, unstick=True)
    first, _ = episode(beyond, ["Action: look"], steps=4)
    stuck = next(step for step in first.steps if step.replaced)
    assert stuck.replaced.startswith("stuck: ")
    answers = ["Action: look"] * (stuck.number - 1) + [f"Action: {stuck.command}"]
    same, _ = episode(beyond, answers, steps=stuck.number)
    assert (same.steps[-1].command, same.steps[-1].replaced) == (stuck.command, "")


def test_where_asking_again_fails_the_answer_before_stands():
    calls = 0

    def answer(request: Request) -> Answer:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise ContextOverflow("too long")
        return Answer(
            "Action: open drawer 1", Usage(prompt_tokens=100, requests=1), notes=("a note",)
        )

    mind = compose(replace(FULL, enforcement=BLOCK), KNOWLEDGE, EpisodicMemory())
    result = play(
        Play(
            Player(WORLD, mind, FunctionModel(answer), Decoding()),
            WORLD.open(TASK, Setting()),
            TASK,
            1,
        )
    )
    (step,) = result.steps
    assert (step.command, result.counts["reasks"], result.usage.prompt_tokens) == (
        "open drawer 1",
        1,
        100,
    )
    assert step.notes == ("a note", "asked again without an answer: too long")
    assert result.ending is Ending.OUT_OF_STEPS


def test_an_answer_without_an_action_is_asked_again_too():
    result, asked = episode(BLOCK, ["I wonder.", "Action: go to desk 1"])
    assert (result.steps[0].command, len(asked)) == ("go to desk 1", 2)


def test_advice_follows_the_worlds_bare_refusal():
    result, asked = episode(
        replace(PAPER, guard=GuardMode.ADVISE), ["Action: open drawer 1"], steps=2
    )
    assert result.counts["reasks"] == 0
    assert result.steps[0].infeasible
    assert "Obs: Nothing happens. (" in asked[1].prompt.text


def test_off_is_the_paper():
    result, asked = episode(PAPER, ["Action: open drawer 1"], steps=2)
    assert len(asked) == 2
    assert "Obs: Nothing happens." in asked[1].prompt.text
    assert "drawer 1 is" not in asked[1].prompt.text.split("Obs: Nothing happens.")[1]
    assert result.steps[0].objection, "what would have been refused is recorded all the same"


def test_choices_are_given_only_to_a_model_that_can_be_held_to_them():
    _, asked = episode(replace(PAPER, menu=8, constrained=Constrained.AUTO), ["Action: look"])
    assert asked[0].choices == ()
    with pytest.raises(InputError, match="cannot hold its answers to a menu"):
        episode(replace(PAPER, menu=8, constrained=Constrained.ON), ["Action: look"])


HALLWAY = (
    "Your task is to boil water. First, focus on the substance.\n\nThis room is called the hallway. In it, you see: \n"
    "\tthe agent\n\ta table. On the table is: nothing.\nYou also see:\n\tA door to the kitchen (that is open)\n"
)


class Hallway:
    """A game that ends for good when the wrong thing is focused on, as ScienceWorld's do."""

    def reset(self) -> Outcome:
        return Outcome(HALLWAY)

    def step(self, command: str) -> Outcome:
        if command == "focus on table":
            return Outcome("You focus on the table.", -100, done=True)
        return Outcome(
            "No known action matches that input." if command.startswith("go") else "Time passes."
        )

    def admissible(self) -> tuple[str, ...]:
        return ()

    def close(self) -> None:
        pass


def in_the_hallway(
    enforcement: Enforcement, answers: list[str], steps: int = 1
) -> tuple[Episode, list[Request]]:
    world = find_world("scienceworld")
    asked: list[Request] = []

    def answer(request: Request) -> Answer:
        asked.append(request)
        return Answer(f"Action: {answers[min(len(asked), len(answers)) - 1]}", Usage(requests=1))

    mind = compose(replace(FULL, enforcement=enforcement), knowledge_of(world), EpisodicMemory())
    task = Task("boil/0", "F3", {})
    return play(
        Play(Player(world, mind, FunctionModel(answer), Decoding()), Hallway(), task, steps)
    ), asked


def test_what_a_rule_forbids_is_asked_again_though_it_could_be_done():
    result, asked = in_the_hallway(BLOCK, ["focus on table", "wait1"])
    (step,) = result.steps
    assert (step.command, step.score, result.counts["reasks"]) == ("wait1", 0, 1)
    assert (
        "`focus on table` was not executed: F3-FOCUS-001 forbids it: 'focus on' the substance"
        in asked[1].prompt.text
    )
    assert step.forbidden == (("focus on table", "F3-FOCUS-001"),)
    assert step.extras["forbidden"] == [{"command": "focus on table", "rule": "F3-FOCUS-001"}]


def test_a_forbidden_action_is_executed_if_the_model_insists_and_is_never_foreseeably_infeasible():
    result, asked = in_the_hallway(BLOCK, ["focus on table"])
    (step,) = result.steps
    assert (len(asked), step.command, result.ending, step.replaced) == (
        3,
        "focus on table",
        Ending.LOST,
        "",
    )
    assert (step.objection, result.counts["foreseeable"], len(step.forbidden)) == ("", 0, 3)


def test_it_is_replaced_only_where_replacing_is_on():
    result, _ = in_the_hallway(replace(BLOCK, replace=True, menu=5), ["focus on table"])
    (step,) = result.steps
    assert step.command != "focus on table"
    assert step.replaced.startswith("refused to the last: F3-FOCUS-001 forbids it")


@pytest.mark.parametrize("guard", [GuardMode.OFF, GuardMode.ADVISE])
def test_without_blocking_a_forbidden_action_is_executed_at_once_and_recorded(guard):
    result, asked = in_the_hallway(replace(PAPER, guard=guard), ["focus on table"])
    assert (len(asked), result.ending) == (1, Ending.LOST)
    assert result.steps[0].forbidden == (("focus on table", "F3-FOCUS-001"),)


def test_a_known_failure_comes_before_a_rule():
    result, _ = in_the_hallway(replace(BLOCK, reasks=1), ["focus on stove", "wait1"])
    assert result.steps[0].refusals == (
        ("focus on stove", "stove is neither here nor carried; first: go to kitchen"),
    )
    assert result.steps[0].forbidden == ()
