"""What each part of RPMS, and each part past the paper, does for one model: many configurations at once.

    python benchmarks/small_model.py --model hf/PATH --data DIR --split valid_seen --out RUNS [--only NAME,…]

Every configuration is a run of its own under RUNS and can be continued; all of them share one model, so that a GPU
gets batches as large as there are episodes. Prints a Markdown table: games won, the world's score, steps, and per
step infeasible actions executed, tokens and re-asks.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from rpms.cli.options import drawn, first_of_each_type, make_setting
from rpms.core.condition import BASELINE, CONDITIONS, FULL, Condition
from rpms.core.enforcement import ALONE, STRICT
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions
from rpms.play.answering import NamedModel
from rpms.play.plan import lend, plan_run
from rpms.play.run import run
from rpms.store.memories import read_memory
from rpms.store.runs import RunSummary
from rpms.worlds.registry import find_world


def configurations() -> Mapping[str, Condition]:
    """The paper's four conditions, each part alone on top of the full one, and everything on in all four."""
    made: dict[str, Condition] = dict(CONDITIONS)
    made |= {f"full + {name}": replace(FULL, enforcement=part) for name, part in ALONE.items()}
    made |= {f"{name} + strict": replace(condition, enforcement=STRICT) for name, condition in CONDITIONS.items()}
    made["baseline + menu"] = replace(BASELINE, enforcement=ALONE["menu"])
    made["full + strict, unranked"] = replace(FULL, enforcement=replace(STRICT, ranked=False))
    made["full + strict, no guidance"] = replace(FULL, enforcement=replace(STRICT, guidance=False))
    return made


def row(name: str, summary: RunSummary) -> str:
    """One line of the table."""
    steps = summary.steps or 1
    usage = summary.usage
    score = fmean(episode.score for episode in summary.rows) if summary.rows else 0.0
    reasks = sum(episode.reasks for episode in summary.rows)
    return (
        f"| {name} | {summary.won} of {summary.total} | {score:.1f} | {steps / max(summary.done, 1):.1f} | "
        f"{summary.infeasible / steps:.1%} | {reasks / steps:.2f} | {usage.prompt_tokens / steps:.0f} | "
        f"{usage.completion_tokens / steps:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", default="alfworld")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--split", default="valid_seen")
    parser.add_argument("--memory", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sample", type=int, help="only so many games, drawn at random")
    parser.add_argument("--per-task", type=int, help="only the first so many games of each type")
    parser.add_argument("--option", action="append", help="an option of the world, NAME=VALUE")
    parser.add_argument("--seed", type=int, default=0, help="for the draw")
    parser.add_argument(
        "--steps", type=int, help="an episode's budget; a configuration's own follows its name: full@20"
    )
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument(
        "--only", default="", help="configurations by name, separated by commas; `;` within a name stands for one"
    )
    parser.add_argument("--at-once", type=int, help="configurations played at the same time; all by default")
    options = parser.parse_args()
    world = find_world(options.world)
    known = configurations()
    names = [name.replace(";", ",") for name in options.only.split(",")] if options.only else list(known)
    for name in names:
        if name.partition("@")[0] not in known:
            parser.error(f"there is no configuration {name!r}; choose from {', '.join(known)}")
    memory = read_memory(options.memory, world.name) if options.memory else EpisodicMemory(world=world.name)
    model = NamedModel(options.model, world.name, ModelOptions(batch=options.batch))()
    setting = make_setting(world, options.data, "native", options.option)
    games = first_of_each_type(world.tasks(options.split, setting), options.per_task)
    games = drawn(games, options.sample, options.seed)
    begun = time.monotonic()

    def play(named: str) -> RunSummary:
        name, _, steps = named.partition("@")
        plan = plan_run(
            world,
            options.model,
            lend(model),
            split=options.split,
            tasks=games,
            seed=options.seed,
            condition=known[name],
            memory=memory,
            setting=setting,
            decoding=Decoding(max_tokens=options.max_tokens or world.max_tokens),
            step_budget=int(steps) if steps else options.steps,
        )
        folder = options.out / "".join(letter if letter.isalnum() else "-" for letter in named)
        summary = run(plan, folder, len(plan.tasks))
        print(f"{time.monotonic() - begun:6.0f} s  {row(named, summary)}", file=sys.stderr, flush=True)
        return summary

    with ThreadPoolExecutor(options.at_once or len(names)) as pool:
        futures = {name: pool.submit(play, name) for name in names}
        print("| configuration | won | score | steps | infeasible executed | re-asks/step", end=" ")
        print("| prompt tokens/step | new tokens/step |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, future in futures.items():
            print(row(name, future.result()), flush=True)
    model.close()


if __name__ == "__main__":
    main()
