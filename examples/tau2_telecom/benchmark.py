"""τ² telecom in solo mode without an LLM: the planner and the menu controls, by kind of ticket.

    python examples/tau2_telecom/benchmark.py [--split train] [--limit N] [--manual FILE] [--rows planner
menu-random/0]

Each row is a model that is no LLM under a condition. `planner` does what the best plan of the
manual begins with; with `strict` there is a menu, of which `menu-best` takes the highest-ranked
entry and `menu-random` any. Without rules the planner knows how calls are written, what they need
and do, and no procedure. Won is what the task's own assertions say once the ticket is closed or
handed over.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from tau2_telecom_world import world

from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.episode import Ending, Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.play.task_choice import limited
from rpms.worlds.base import Setting, Task

ROWS: tuple[tuple[str, dict[str, str]], ...] = (
    ("planner", {"condition": "rules-only", "manual": "complete"}),
    ("planner", {"condition": "baseline", "manual": "complete"}),
    ("menu-best", {"condition": "rules-only", "preset": "strict"}),
    ("menu-random/0", {"condition": "rules-only", "preset": "strict"}),
    ("menu-random/1", {"condition": "rules-only", "preset": "strict"}),
)


def episodes(name: str, given: dict[str, str], tasks: Sequence[Task]) -> list[Episode]:
    """Play all tasks one after the other."""
    settings = Settings.read(given)
    mind = compose(
        settings.condition_value(), knowledge_of(world, settings.sources(world)), EpisodicMemory()
    )
    player = Player(world, mind, open_model(name), Decoding())
    return [play_task(player, task, Setting()) for task in tasks]


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--split", choices=world.splits, default=world.splits[0])
    parser.add_argument("--limit", type=int, help="only so many tickets, of all kinds in turn")
    parser.add_argument(
        "--manual", type=Path, help="a manual in place of the world's own, such as a learned one"
    )
    parser.add_argument("--rows", nargs="*", help="only these models")
    options = parser.parse_args()
    tasks = limited(world.tasks(options.split, Setting()), options.limit)
    kinds = sorted({task.type for task in tasks})
    widths = [max(len(kind), 7) for kind in kinds]
    titles = " ".join(f"{kind:>{width}}" for kind, width in zip(kinds, widths, strict=True))
    print(
        f"{'model':<14} {'condition':<20} {titles} {'all':>7} {'steps':>6} {'refused':>8} {'s':>6}  lost",
        flush=True,
    )
    for name, row in ROWS:
        if options.rows and name not in options.rows:
            continue
        given = {**row, "manual": str(options.manual)} if options.manual else row
        start = time.perf_counter()
        played = episodes(name, given, tasks)
        seconds = time.perf_counter() - start
        won: defaultdict[str, list[bool]] = defaultdict(list)
        for one in played:
            won[one.type].append(one.ending is Ending.WON)
        cells = [f"{sum(won[kind])}/{len(won[kind])}" for kind in kinds]
        told = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        steps = [step for one in played for step in one.steps]
        every = [each for kind in kinds for each in won[kind]]
        endings = Counter(str(one.ending) for one in played if one.ending is not Ending.WON)
        lost = ", ".join(f"{count} {ending}" for ending, count in endings.items())
        label = f"{row['condition']}{', strict' if row.get('preset') else ''}"
        refused = sum(step.infeasible for step in steps)
        print(
            f"{name:<14} {label:<20} {told} {f'{sum(every)}/{len(every)}':>7} {len(steps) / len(played):>6.1f} "
            f"{refused:>8} {seconds:>6.1f}  {lost}",
            flush=True,
        )


if __name__ == "__main__":
    main()
