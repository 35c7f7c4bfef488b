"""The belief beside the real simulator: over gold paths and random walks, room and inventory
never disagree.
"""

import os
import random

import pytest

from rpms.logic.belief import Situation
from rpms.paper.arbitration import objection_to_action
from rpms.planning.remedies import review
from rpms.play.sources import manual_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import KINDS
from rpms.worlds.scienceworld.world import ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
SLOW = bool(os.environ.get("RPMS_SLOW"))
QUICK = ("find-plant", "melt", "power-component")
"""Gold paths that are planned and walked in a second or two."""
MANUAL = manual_of(world)
ROOMS = MANUAL.lore.facts["adjoins"]
pytestmark = pytest.mark.timeout(1_200 if SLOW else 300)


class Walk:
    """A belief and a simulator kept in step, compared after every command."""

    def __init__(self, game):
        self.game = game
        self.outcome = game.reset()
        self.goal = world.goal(self.outcome.observation)
        self.rules = MANUAL.active(self.goal.type, self.goal.object)
        self.belief = world.update(world.start(self.goal), None, self.outcome.observation)
        self.blocked = []

    def step(self, command):
        objection = objection_to_action(command, self.rules, Situation(self.belief, self.goal))
        self.outcome = self.game.step(command)
        answer = self.outcome.observation
        if (
            objection is not None
            and objection.conflict
            and objection.clause
            and not world.infeasible(answer)
        ):
            self.blocked.append((command, objection.reason, answer))
        self.belief = world.update(self.belief, command, answer)
        assert world.contradictions(self.belief, self.game) == (), (command, answer)


@pytest.mark.parametrize("task", KINDS if SLOW else QUICK)
def test_gold_paths_win_with_the_belief_in_agreement_and_no_command_blocked(task):
    with ScienceWorldGame(task, 0) as game:
        walk = Walk(game)
        for command in game.gold_path():
            waiting = bool(walk.belief.menu)
            if (
                command.isdecimal() and not waiting
            ):  # the menu it answers was answered by the adapter
                continue
            walk.step(command)
            if walk.outcome.done:
                break
        assert walk.outcome.score == 100
        assert walk.blocked == []


@pytest.mark.parametrize("seed", range(30 if SLOW else 2))
def test_random_walks_never_disagree(seed):
    chance = random.Random(seed)
    task = chance.choice(list(KINDS))
    with ScienceWorldGame(task, chance.choice(KINDS[task].variations("train"))) as game:
        walk = Walk(game)
        for _ in range(60 if SLOW else 20):
            walk.step(a_command(walk, chance))
        assert [command for command, _, _ in walk.blocked] == []


def a_command(walk, chance):
    """A command that the simulator would accept, all verbs being equally likely; looks and
    menus now and then.
    """
    if walk.belief.menu:
        return "0"
    if chance.random() < 0.2:
        return chance.choice(("inventory", "look around"))
    by_verb = {}
    for command in walk.game.admissible():
        by_verb.setdefault(command.partition(" ")[0], []).append(command)
    return chance.choice(by_verb[chance.choice(sorted(by_verb))])


ROUND = (
    *(
        "art studio",
        "hallway",
        "bedroom",
        "hallway",
        "living room",
        "hallway",
        "workshop",
        "hallway",
        "greenhouse",
    ),
    *("outside", "foundry", "outside", "kitchen", "bathroom", "kitchen", "hallway"),
)
"""A walk through all ten rooms."""


def ways_by_name():
    """Everything that a way may be called, and more."""
    for room in ROOMS:
        yield from (room, f"the {room}", f"door to {room}", f"{room} door", *room.split())
    yield from (
        "door",
        "room",
        "outside location",
        "location",
        "house",
        "moon",
        "back",
        "hall",
        "exit",
        "universe",
    )


def test_in_every_room_of_the_house_only_its_own_doors_pass_and_nothing_that_works_is_blocked():
    with ScienceWorldGame("boil", 0, "openDoors") as game:
        walk = Walk(game)
        seen = set()
        for room in ROUND:
            walk.step(f"go to {room}")
            walk.step("look around")
            assert walk.belief.room == room
            for name in dict.fromkeys(ways_by_name()) if room not in seen else ():
                situation = Situation(walk.belief, walk.goal)
                refusal = review(f"go to {name}", walk.rules, situation)
                if refusal is not None:
                    answer = game.step(f"go to {name}").observation
                    assert world.infeasible(answer), (room, name, refusal.text, answer)
                    assert not answer.startswith("Ambiguous"), (room, name)
                elif name in ROOMS:
                    assert name in ROOMS[room], (
                        "a room that no door of this one leads to is known to be out of reach"
                    )
            seen.add(room)
        assert seen == set(ROOMS)
        assert walk.blocked == []
