"""Effect of memory that acts: steps that experience speaks to, and games won by it alone, without
an LLM.

    python benchmarks/memory.py --data DIR --memory FILE [--games 40] [--seed 0] [--controls 60]
    python benchmarks/memory.py --data DIR --memory FILE --fresh 140 --seed 5

`--fresh` plays Memory-only under `strict` in rooms that the memory does not know: training games
drawn at random that it did not learn from, a fifth of the rooms at a time, without the entries that
were learned in those rooms. It also counts refused commands that were given again in an unchanged
state.

Without it, three tables. The first counts the steps of Full, played by the planner on some seen
games, in which at least one snippet is shown in the prompt or bound to the room: under `paper`, as
stored, and under `strict`, adapted. The second plays all seen games with the planner in the four
conditions: without rules it still knows how commands are written, what they need and what the
goal's own facts are, and searches with or without what memory counted. The third is Memory-only
under `strict`, played by models that have nothing but the menu which adapted experience makes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rpms.logic.errors import RPMSError
from rpms.models.base import Decoding
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS
from rpms.paper.decide import Decision
from rpms.paper.episode import Ending, Episode
from rpms.paper.memory import Kind
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.play.design import NamedModel
from rpms.play.seats import play_task
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_frozen
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

ROOM = re.compile(r"-(\d+)/trial")
"""The number of the room in a game's name."""
FOLDS = 5
CONTROLS = ("menu-random/0", "menu-random/1", "menu-random/2", "menu-best")


def speaks(decision: Decision) -> tuple[bool, bool]:
    """True if a snippet is in the prompt; and True if one is, or is bound to the room for menu
    and design.
    """
    snippets = [each for each in decision.candidates if each.entry.kind is Kind.SUCCESS]
    shown = any(each.verdict.fate.shown for each in snippets)
    return shown, shown or any(
        each.adapted and each.verdict.fate is Fate.CROWDED for each in snippets
    )


def episodes(
    world: World,
    tasks: Sequence[Task],
    setting: Setting,
    settings: Settings,
    memory: EpisodicMemory,
    model: str,
) -> Iterator[Episode]:
    """Play some tasks, one after the other."""
    mind = compose(settings.condition_value(), knowledge_of(world, settings.sources(world)), memory)
    chooses = NamedModel(model)()
    player = Player(world, mind, chooses, Decoding(world.max_tokens))
    for task in tasks:
        yield play_task(player, task, setting)


def row(name: str, played: Sequence[Episode]) -> str:
    """One line of a table: games won, steps, infeasible actions."""
    won = sum(episode.ending is Ending.WON for episode in played)
    steps = sum(len(episode.steps) for episode in played)
    infeasible = sum(episode.counts["infeasible"] for episode in played) / max(steps, 1)
    return f"| {name} | {won} of {len(played)} | {steps / max(len(played), 1):.1f} | {infeasible:.1%} |"


def room_of(game: str) -> int:
    found = ROOM.search(game)
    return int(found[1]) if found else -1


def fresh(
    world: World, setting: Setting, memory: EpisodicMemory, count: int, seed: int, model: str
) -> list[Episode]:
    """Episodes in rooms that the memory does not know."""
    learned = {
        origin.episode.partition("/")[2] for entry in memory.entries for origin in entry.origins
    }
    unplayed = [task for task in world.tasks("train", setting) if task.id not in learned]
    tasks = random.Random(seed).sample(unplayed, count)
    played: list[Episode] = []
    for fold in range(FOLDS):
        here = [task for task in tasks if room_of(task.id) % FOLDS == fold]
        elsewhere = EpisodicMemory(
            entry
            for entry in memory.entries
            if not any(room_of(origin.episode) % FOLDS == fold for origin in entry.origins)
        )
        played += episodes(
            world,
            here,
            setting,
            Settings(condition="memory-only", preset="strict"),
            elsewhere,
            model,
        )
    return played


def repeated(episode: Episode) -> int:
    """Refused commands that had been refused in the very same state before."""
    given = [(step.command, str(step.decision.belief)) for step in episode.steps if step.infeasible]
    return len(given) - len(set(given))


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("ALFWORLD_DATA"))
    parser.add_argument("--memory", type=Path, required=True, help="learned on training games")
    parser.add_argument("--games", type=int, default=40, help="seen games of the first table")
    parser.add_argument("--controls", type=int, default=60, help="seen games of the third table")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--fresh", type=int, help="training games to draw in rooms that the memory does not know"
    )
    args = parser.parse_args()
    if args.data is None:
        parser.exit(
            0, "skipped: ALFWorld's games are not here; give --data DIR or set ALFWORLD_DATA\n"
        )
    world, setting = find_world("alfworld"), Setting(data=Path(args.data))
    try:
        memory = read_frozen(args.memory, world.name)
        if args.fresh:
            print(
                "| memory-only + strict, rooms not known | won | steps | infeasible |\n| --- | ---: | ---: | ---: |"
            )
            for name in CONTROLS:
                played = fresh(world, setting, memory, args.fresh, args.seed, name)
                print(row(name, played), f"refused again: {sum(map(repeated, played))}", flush=True)
                print(
                    *(f"  lost: {each.task}" for each in played if not each.won),
                    sep="\n",
                    flush=True,
                )
            return
        seen = list(world.tasks("valid_seen", setting))
        some = random.Random(args.seed).sample(seen, min(args.games, len(seen)))
        print(
            f"| steps of Full, {len(some)} games | with a snippet in the prompt | shown or bound |"
        )
        print("| --- | ---: | ---: |")
        for preset in ("paper", "strict"):
            full = Settings(condition="full", preset=preset)
            played = episodes(world, some, setting, full, memory, "planner")
            steps = [speaks(step.decision) for episode in played for step in episode.steps]
            told = [
                f"{sum(each) / len(each):.1%} ({sum(each)} of {len(each)})"
                for each in zip(*steps, strict=True)
            ]
            print(f"| {preset} | {' | '.join(told)} |", flush=True)
        print("\n| planner, strict | won | steps | infeasible |\n| --- | ---: | ---: | ---: |")
        for name in CONDITIONS:
            chosen = Settings(condition=name, preset="strict")
            print(
                row(name, [*episodes(world, seen, setting, chosen, memory, "planner")]), flush=True
            )
        few, _ = Settings(split="valid_seen", sample=args.controls, seed=args.seed).tasks(
            world, setting
        )
        print("\n| memory-only + strict | won | steps | infeasible |\n| --- | ---: | ---: | ---: |")
        for name in CONTROLS:
            alone = Settings(condition="memory-only", preset="strict")
            print(row(name, [*episodes(world, few, setting, alone, memory, name)]), flush=True)
    except RPMSError as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
