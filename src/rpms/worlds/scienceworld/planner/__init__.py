"""The model that is no LLM: it follows the canonical procedures, as far as the rules let it know them.

It reads the decision alone: the goal, the active rules, the memories shown, and the transcript that every model sees.
The procedures of tier 2 are its own only while the manual's rules for the task are active; without them it explores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from rpms.core.decide import Decision
from rpms.core.memory import SuccessSnippet
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed, Move
from rpms.worlds.scienceworld.planner.naive import explore
from rpms.worlds.scienceworld.planner.procedures import PROCEDURES
from rpms.worlds.scienceworld.planner.rooms import ROOMS
from rpms.worlds.scienceworld.planner.transcript import Heard, read_transcript

IDLE: Final = Move("Nothing is left to do, so I let time pass", "wait1")
"""Once a procedure is at its end: harmless, and what was set going may still come about."""
_GONE: Final = re.compile(r"^go (?:to )?(.+)$")


def plan(decision: Decision) -> tuple[str, str]:
    """The thought and the action for one step. The same decision always gives the same answer."""
    transcript = read_transcript(decision.prompt)
    agent = Agent()
    agent.see(transcript.opening)
    goal = decision.goal if isinstance(decision.goal, ScienceGoal) else ScienceGoal(decision.goal.type)
    procedure = PROCEDURES.get(goal.task) if decision.rules.domain else None
    doing = procedure(agent, goal) if procedure else explore(agent, goal, tuple(_experience(decision)))
    move = follow(doing, agent, transcript.turns)
    return move.thought, move.action


def follow(doing: Doing[None], agent: Agent, turns: Iterable[Heard]) -> Move:
    """What a procedure does next, after it has been through the turns so far."""
    with suppress(StopIteration, Failed):
        move = next(doing)
        for turn in turns:
            agent.note(turn.action, turn.observation)
            move = doing.send(turn.observation)
        return move
    return IDLE


def _experience(decision: Decision) -> Iterator[str]:
    """The rooms that shown memories went to, the best memory first."""
    for candidate in decision.memories:
        if isinstance(candidate.entry, SuccessSnippet):
            for action in candidate.entry.actions:
                match = _GONE.match(action)
                if match and match[1] in ROOMS:
                    yield match[1]
