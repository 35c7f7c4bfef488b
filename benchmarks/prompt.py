"""Tokens of each prompt block, and how much of a prompt is an unchanged prefix of the next step's.

    python benchmarks/prompt.py [--games 12] [--memory FILE]

Plays builtin ALFWorld games with the planner, first to record experience, then with that experience
as memory, and rebuilds every prompt in both layouts, and under `strict`. The reference is the
`paper` layout in the same run.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path

from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, RULES_ONLY
from rpms.paper.decide import Mind, decide
from rpms.paper.episode import Episode
from rpms.paper.memory import Entry, FailureLesson, Origin, SuccessSnippet, merge
from rpms.paper.prompt import Layout, Prompt, Turn, estimate_tokens
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_memory
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
KNOWLEDGE = knowledge_of(WORLD)


def played(games: int, mind: Mind) -> list[Episode]:
    """Play builtin games with the planner."""
    player = Player(WORLD, mind, PolicyModel("planner", follow_plan), Decoding())
    return [
        play_task(player, task, Setting()) for task in WORLD.tasks("builtin", Setting())[:games]
    ]


def experience(episodes: Sequence[Episode]) -> list[Entry]:
    """A learner's entries of some episodes, in short: finds and failures."""
    entries: list[Entry] = []
    for episode in episodes:
        start = episode.steps[0].decision
        for step in episode.steps:
            origin = frozenset({Origin(episode.task, step.number)})
            if step.infeasible:
                advice = step.objection or "look where you are first"
                entries.append(
                    FailureLesson(
                        start.goal_signature,
                        step.decision.state_signature,
                        step.command,
                        advice,
                        origins=origin,
                    )
                )
            elif step.command.startswith("take "):
                actions = tuple(past.command for past in episode.steps[: step.number])[-6:]
                entries.append(
                    SuccessSnippet(
                        start.goal_signature,
                        start.state_signature,
                        "taken",
                        actions,
                        origins=origin,
                    )
                )
    return list(merge(entries))


def prompts(episode: Episode, mind: Mind) -> list[Prompt]:
    """Every prompt of an episode, as another mind would have built it."""
    history: list[Turn] = []
    belief = WORLD.start(episode.steps[0].decision.goal)
    action: str | None = None
    made = []
    for step in episode.steps:
        decision = decide(mind, step.decision.goal, belief, action, step.observation, history)
        made.append(decision.prompt)
        history.append(Turn(step.observation, step.command, step.thought))
        belief, action = decision.belief, step.command
    return made


def _shared_start(one: str, other: str) -> str:
    pairs = zip(one, other, strict=False)
    return one[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]


def reused(sequence: Sequence[Prompt]) -> list[float]:
    """For each prompt after the first, the share of its predecessor that it starts with, in
    tokens.
    """
    shares = []
    for before, after in pairwise(sequence):
        prefix = _shared_start(before.text, after.text)
        shares.append(estimate_tokens(prefix) / estimate_tokens(after.text))
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--memory", type=Path)
    options = parser.parse_args()
    recorded = played(options.games, compose(RULES_ONLY, KNOWLEDGE, EpisodicMemory()))
    naive = played(options.games, compose(BASELINE, KNOWLEDGE, EpisodicMemory()))
    memory = (
        read_memory(options.memory, "alfworld")
        if options.memory
        else EpisodicMemory(experience([*recorded, *naive]), "alfworld")
    )
    episodes = [*recorded, *naive]
    steps = sum(len(episode.steps) for episode in episodes)
    print(f"{len(episodes)} recorded episodes, {steps} steps, {len(memory)} memory entries\n")
    blocks: dict[str, list[int]] = defaultdict(list)
    injected: list[int] = []
    shares: dict[Layout, list[float]] = {}
    for layout in (Layout.PAPER, Layout.CACHED):
        mind = compose(replace(FULL, layout=layout), KNOWLEDGE, memory)
        made = [prompts(episode, mind) for episode in episodes]
        shares[layout] = [share for sequence in made for share in reused(sequence)]
        if layout is Layout.CACHED:
            for prompt in (prompt for sequence in made for prompt in sequence):
                injected.append(sum(block.tokens for block in prompt.injected()))
                for block in prompt.blocks:
                    blocks[block.part].append(block.tokens)
    print(f"{'block':20} {'in prompts':>10} {'mean tokens':>12} {'most':>6}")
    for part, tokens in blocks.items():
        print(
            f"{part:20} {len(tokens) / steps:10.0%} {statistics.mean(tokens):12.0f} {max(tokens):6}"
        )
    spread = statistics.quantiles(injected, n=20)
    middle = f"5% to 95% {spread[0]:.0f}-{spread[-1]:.0f}"
    print(
        f"\ninjected blocks: mean {statistics.mean(injected):.0f}, {middle}, most {max(injected)}"
    )
    strict = compose(
        Settings(condition="full", preset="strict").condition_value(), KNOWLEDGE, memory
    )
    held = [
        sum(block.tokens for block in prompt.injected())
        for episode in recorded
        for prompt in prompts(episode, strict)
    ]
    print(f"under strict: median {statistics.median(held):.0f}, most {max(held)}")
    paper, cached = (statistics.mean(shares[layout]) for layout in (Layout.PAPER, Layout.CACHED))
    print("share of a prompt that the step before had at its start:", end=" ")
    print(f"paper {paper:.1%}, cached {cached:.1%} ({cached / paper:.2f}x)")


if __name__ == "__main__":
    main()
