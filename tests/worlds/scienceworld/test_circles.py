"""Circles in the simulator are noticed, and end."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import parse_clause
from rpms.logic.rules import Purpose, RuleManual, Stage
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending, Episode, Step
from rpms.paper.recall import EpisodicMemory
from rpms.planning.noticed import SurpriseKind
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Outcome, Task
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import task_at
from rpms.worlds.scienceworld.world import ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)


class TwoPlanes(ScienceWorldGame):
    """A train variation with one plane of its own goal, and another that is nowhere."""

    def _open(self, simulator):
        shown = super()._open(simulator).observation.partition("\n\n")[2]
        task = (
            "Your task is to determine which of the two inclined planes (tin, lead) has the most"
            " friction. After completing your experiment, focus on the inclined plane with the most"
            " friction."
        )
        return Outcome(f"{task}\n\n{shown}")


def played(game: ScienceWorldGame, task: Task, manual: RuleManual, steps: int) -> Episode:
    """A game by its plans, under doubt."""
    condition = replace(RULES_ONLY, enforcement=STRICT)
    known = replace(knowledge_of(world), manual=manual)
    mind = compose(condition, known, EpisodicMemory())
    player = Player(world, mind, PolicyModel("planner", follow_plan), Decoding())
    try:
        return play(Play(player, game, task, steps))
    finally:
        game.close()


def with_schema(manual: RuleManual, name: str, **parts: object) -> RuleManual:
    """A manual in which an action, or a process, has other lines."""

    def other(schemas: Iterable[ActionSchema]) -> tuple[ActionSchema, ...]:
        return tuple([replace(one, **parts) if one.name == name else one for one in schemas])

    lore = replace(manual.lore, processes=other(manual.lore.processes))
    return replace(manual, actions=other(manual.actions), lore=lore)


def without_goal_fact(manual: RuleManual, name: str, fact: str) -> RuleManual:
    """A manual in which a goal wants one fact less."""
    purposes: list[Purpose] = []
    for purpose in manual.purposes:
        steps: list[Stage] = []
        for step in purpose.steps:
            left = tuple([one for one in step.until if str(one) != fact])
            if purpose.name != name or left:
                steps.append(replace(step, until=left) if purpose.name == name else step)
        purposes.append(replace(purpose, steps=tuple(steps)))
    return replace(manual, purposes=tuple(purposes))


def most_given(steps: Sequence[Step]) -> int:
    """How often the command was given that was given most in one state."""
    return max(Counter((state_of(step), step.command) for step in steps).values())


def state_of(step: Step) -> str:
    """All that is known at a step."""
    belief = step.decision.belief
    return f"{belief.signature()} {belief.fingerprint}"


def test_walking_to_and_fro_while_a_block_slides_is_noticed_and_ends():
    """The plane that is nowhere is looked for next door, and from there back where the block is."""
    number = 930
    task = task_at("inclined-plane-friction-named-surfaces", number)
    episode = played(TwoPlanes(task.type, number), task, knowledge_of(world).manual, 100)
    steps = episode.steps
    back = [
        place
        for place in range(2, len(steps))
        if state_of(steps[place]) == state_of(steps[place - 2])
        and steps[place - 1].command.startswith("go to ")
    ]
    assert back
    # the answer to the step before shows it
    assert SurpriseKind.CIRCLE in {one.kind for one in steps[back[0] - 1].surprises}
    assert episode.ending is Ending.STUCK


@pytest.mark.parametrize(
    ("number", "circles", "ending"), [(10, False, Ending.STUCK), (1, True, Ending.LOST)]
)
def test_pouring_ends_where_the_goal_lacks_a_fact_and_all_was_tried(number, circles, ending):
    """That the paint was mixed is not wanted, it says, and cups cannot be opened: the agent pours,
    mixes and walks between the rooms with paint. In one house it stops, in the other it pours in a
    circle, and then focuses on another paint.
    """
    sound = knowledge_of(world).manual
    lid = next(one for one in sound.actions if one.name == "open")
    needs = (*lid.preconditions, parse_clause("not open(object)"))
    manual = with_schema(sound, "open", preconditions=needs)
    manual = without_goal_fact(manual, "mix_secondary_colour", "made(x, v)")
    task = task_at("chemistry-mix-paint-secondary-color", number)
    episode = played(ScienceWorldGame(task.type, number), task, manual, 100)
    kinds = [one.kind for step in episode.steps for one in step.surprises]
    assert sum(step.command.startswith("pour ") for step in episode.steps) > 2
    assert (SurpriseKind.CIRCLE in kinds) is circles
    assert most_given(episode.steps) <= 2
    assert episode.ending is ending


def test_looking_for_a_device_that_cools_ends_where_no_door_of_one_is_told_to_show_anything():
    """What a closed thing holds is never seen, it says, so that nothing holds what is to freeze."""
    manual = with_schema(knowledge_of(world).manual, "uncover", observes=())
    task = task_at("freeze", 12)
    episode = played(ScienceWorldGame(task.type, 12), task, manual, 100)
    assert most_given(episode.steps) <= 2
    assert episode.ending is Ending.STUCK


def test_into_the_cold_and_out_again_is_no_circle_while_it_gets_colder():
    """What is to freeze has to be in the hand, it says: it is colder each time it is measured."""
    sound = knowledge_of(world).manual
    chill = next(one for one in sound.lore.processes if one.name == "chill")
    needs = (*chill.preconditions, parse_clause("carried(vessel)"))
    task = task_at("freeze", 1)
    manual = with_schema(sound, "chill", preconditions=needs)
    episode = played(ScienceWorldGame(task.type, 1), task, manual, 100)
    assert sum(step.command.endswith(" to freezer") for step in episode.steps) > 2
    assert most_given(episode.steps) == 1
    assert episode.won
