"""Parts of following experience from place to place: ScienceWorld by memory alone, with each part
left out.

    python benchmarks/following.py --memory FILE [--per-task 1] [--model menu-best] [--task NAME
...]

Memory-only under `strict` on dev variations, no rules and no LLM. `binding alone` is without
following at all; each row after the first leaves one part of `rpms.planning.experience.atlas`,
`trail` and `recollection` out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from rpms.logic.errors import RPMSError
from rpms.models.base import Decoding
from rpms.paper.compose import compose
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.planning.experience.atlas import Atlas
from rpms.planning.experience.following import Following
from rpms.planning.experience.trail import Pathfinder
from rpms.play.design import NamedModel
from rpms.play.seats import play_task
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_frozen
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

PARTS: dict[str, tuple[type, str, Callable[..., object]]] = {
    "looking for what is not known to be anywhere": (Pathfinder, "_search", lambda *_: None),
    "the words of the present goal": (Pathfinder, "_words", lambda *_: iter(())),
    "what reached the sub-goal for other goals": (
        Following,
        "_elsewhere",
        lambda *_, **__: iter(()),
    ),
    "leaving divided experience alone": (Atlas, "ends", lambda *_: []),
}


def episodes(
    world: World, tasks: list[Task], memory: EpisodicMemory, model: str, *, follow: bool = True
) -> list[Episode]:
    settings = Settings(condition="memory-only", preset="strict")
    mind = compose(settings.condition_value(), knowledge_of(world, settings.sources(world)), memory)
    if not follow:
        mind = replace(mind, beyond=replace(mind.beyond, follows=None))
    player = Player(world, mind, NamedModel(model)(), Decoding(world.max_tokens))
    return [play_task(player, task, Setting()) for task in tasks]


def row(name: str, played: list[Episode]) -> str:
    score = sum(episode.score for episode in played) / len(played)
    return f"| {name} | {score:.1f} | {sum(episode.won for episode in played)} of {len(played)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memory", type=Path, help="learned on train variations")
    parser.add_argument("--per-task", type=int, default=1)
    parser.add_argument("--model", default="menu-best")
    parser.add_argument("--task", action="append", default=[])
    args = parser.parse_args()
    world = find_world("scienceworld")
    if args.memory is None or (missing := world.not_installed()):
        parser.exit(0, f"skipped: {'give --memory FILE' if args.memory is None else missing}\n")
    options = {"per_task": str(args.per_task), "tasks": ",".join(args.task)}
    try:
        memory = read_frozen(args.memory, world.name)
        tasks = list(world.tasks("dev", Setting(options=options)))
        print(f"| memory alone, {args.model} | score | won |\n| --- | ---: | ---: |")
        print(
            row("followed from place to place", episodes(world, tasks, memory, args.model)),
            flush=True,
        )
        for name, (where, method, neutral) in PARTS.items():
            with patch.object(where, method, neutral):
                print(
                    row(f"without {name}", episodes(world, tasks, memory, args.model)), flush=True
                )
        print(
            row("binding alone", episodes(world, tasks, memory, args.model, follow=False)),
            flush=True,
        )
    except RPMSError as error:
        sys.exit(f"{parser.prog}: {error}")


if __name__ == "__main__":
    main()
