"""Episodes of embedded games, played by a script."""

from __future__ import annotations

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, ScriptedModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY, Condition
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
KNOWLEDGE = knowledge_of(WORLD)
MANUAL = KNOWLEDGE.manual


def game_of(kind: str):
    return next(task for task in WORLD.tasks("builtin", Setting()) if task.type.startswith(kind))


def planned(kind: str) -> Episode:
    return _play(kind, PolicyModel("planner", follow_plan), 50)


def scripted(kind: str, *actions: str, condition: Condition = RULES_ONLY) -> Episode:
    model = ScriptedModel("script", [f"Action: {action}" for action in actions])
    return _play(kind, model, len(actions), condition)


def _play(kind, model, steps, condition=RULES_ONLY) -> Episode:
    task = game_of(kind)
    game = WORLD.open(task, Setting())
    mind = compose(condition, KNOWLEDGE, EpisodicMemory())
    try:
        return play(Play(Player(WORLD, mind, model, Decoding()), game, task, steps))
    finally:
        game.close()
