"""A memory before any agent has won: what the episodes of an exploration teach, harvested as from any other episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rpms.core.condition import RULES_ONLY, compose
from rpms.core.decide import decide
from rpms.core.episode import Ending, Episode, Step
from rpms.core.memory import Entry, merge
from rpms.core.recall import EpisodicMemory
from rpms.core.rules import RuleManual
from rpms.core.usage import Usage
from rpms.learn.harvest import harvest
from rpms.play.setup import knowledge_of
from rpms.store.memories import write_memory
from rpms.store.traces import Trace
from rpms.worlds.base import World

MOST_LOST = 40
"""Episodes without a win that lessons are taken from: they repeat each other."""


def episodes_of(world: World, manual: RuleManual, traces: Iterable[Trace]) -> Iterator[tuple[str, Episode]]:
    """Episodes as if an agent with the manual had played them, so that their progress is known."""
    mind = compose(RULES_ONLY, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    for trace in traces:
        goal = world.goal(trace.opening)
        belief, action, observation = world.start(goal), None, trace.opening
        steps: list[Step] = []
        for number, spoken in enumerate(trace.steps, 1):
            decision = decide(mind, goal, belief, action, observation, ())
            infeasible = world.infeasible(spoken.answer)
            steps.append(
                Step(
                    number=number,
                    observation=observation,
                    decision=decision,
                    answer=spoken.command,
                    thought="",
                    action=spoken.command,
                    command=spoken.command,
                    repairs=(),
                    result=spoken.answer,
                    score=spoken.score,
                    infeasible=infeasible,
                    objection="",
                    contradictions=(),
                    usage=Usage(),
                )
            )
            belief, action, observation = decision.belief, spoken.command, spoken.answer
        ending = Ending.WON if trace.won else Ending.OUT_OF_STEPS
        score = trace.steps[-1].score if trace.steps else 0.0
        yield trace.episode, Episode(trace.task, trace.kind, goal.text, ending, score, tuple(steps))


def experience_of(world: World, manual: RuleManual, traces: Iterable[Trace]) -> tuple[Entry, ...]:
    """Entries that won episodes and some of the others teach."""
    every = list(traces)
    won = [trace for trace in every if trace.won]
    lost = [trace for trace in every if not trace.won and trace.steps][:MOST_LOST]
    found: list[Entry] = []
    for origin, episode in episodes_of(world, manual, (*won, *lost)):
        found += harvest(episode, manual, origin)
    return merge(found)


def write_experience(file: Path, world: World, manual: RuleManual, traces: Iterable[Trace]) -> int:
    """Write a memory; how many entries it has."""
    entries = experience_of(world, manual, traces)
    write_memory(file, entries, world.name)
    return len(entries)
