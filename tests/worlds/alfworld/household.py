"""Helpers for tests of ALFWorld's knowledge: games in both dialects, and a loop that plays."""

import json
import lzma
from dataclasses import dataclass, field, replace
from importlib.resources import files

from rpms.models.policy import follow_plan
from rpms.paper.compose import compose, extended
from rpms.paper.condition import FULL
from rpms.paper.consistency import CompatibilityFilter
from rpms.paper.decide import Mind, decide
from rpms.paper.recall import EpisodicMemory, Recollection
from rpms.paper.wording import PromptStyle
from rpms.planning.extension import extend
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from rpms.worlds.alfworld import world
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.engine.texts import domain, grammar
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids

DIALECTS = ("0.3", "0.4")


def manual():
    universal = files("rpms.worlds").joinpath("universal.yaml").read_text(encoding="utf-8")
    return read_manual(
        ManualText("universal.yaml", universal), *(ManualText(*text) for text in world.manual())
    )


MANUAL = manual()
KNOWLEDGE = Mind(
    world.update,
    PromptStyle(world.wording),
    MANUAL,
    experience=Recollection(retrieval=world.retrieval),
    consistent=CompatibilityFilter(world.compat),
    extend=extend,
)


def mind(condition=FULL, memory=()):
    return extended(compose(condition, KNOWLEDGE, EpisodicMemory(memory)))


class UnannouncedGame(NativeGame):
    """As many loops pass answers on: without `You arrive at loc 7.`"""

    def step(self, command):
        outcome = super().step(command)
        start, _, rest = outcome.observation.partition(". ")
        return replace(outcome, observation=rest) if start.startswith("You arrive at ") else outcome


def make_game(problem, goal, dialect, kind=NativeGame):
    data = {
        "pddl_domain": domain(dialect),
        "grammar": grammar(dialect, goal),
        "pddl_problem": problem,
    }
    return kind(read_engine(data, "test"))


def builtin_games(dialect="0.3", kind=NativeGame):
    for name in builtin_ids():
        game = builtin_game(name)
        goal = read_engine(game, name).task
        yield name, make_game(game["pddl_problem"], goal, dialect, kind)


def official_rows(shared, split):
    with lzma.open(shared / "alfworld" / f"{split}.jsonl.xz", "rt", encoding="utf-8") as rows:
        for row in rows:
            yield json.loads(row)


@dataclass
class Played:
    won: bool
    steps: int
    refused: list = field(default_factory=list)
    """(belief, command) of each command that did nothing."""
    contradictions: list = field(default_factory=list)
    decisions: list = field(default_factory=list)
    actions: list = field(default_factory=list)


def play(game, a_mind, budget=50):
    outcome = game.reset()
    goal = world.goal(outcome.observation)
    belief, action = world.start(goal), None
    played = Played(False, 0)
    while not outcome.done and played.steps < budget:
        decision = decide(a_mind, goal, belief, action, outcome.observation, ())
        belief = decision.belief
        played.decisions.append(decision)
        played.contradictions += world.contradictions(belief, game)
        _, action = follow_plan(decision)
        action = world.command(action, belief).text
        played.actions.append(action)
        outcome = game.step(action)
        played.steps += 1
        if world.infeasible(outcome.observation):
            played.refused.append((belief, action))
    played.won = outcome.won
    return played
