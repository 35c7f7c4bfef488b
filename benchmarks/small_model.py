"""Effect of each part of RPMS, and of each part past the paper, on one model: many configurations
at once.

    python benchmarks/small_model.py --model hf/PATH --data DIR --split valid_seen --out RUNS
[--only NAME,…]

Every configuration is a run of its own under RUNS and can be continued; all of them share one
model, so that a GPU gets batches as large as there are episodes. Other methods play where `--only`
names them, expel with `--insights`. Prints a Markdown table: games won, the world's score, steps,
and per step infeasible actions executed, tokens and re-asks.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import NoReturn

from rpms.cli.options import make_setting
from rpms.logic.errors import InputError, RPMSError
from rpms.models.base import Decoding
from rpms.models.catalogue import FROM_MENU, IN_PROCESS, ModelOptions, backend_of, parse_model_name
from rpms.paper.condition import CONDITIONS
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, RunDesign, design_run, lend
from rpms.play.methods import METHODS, REACT
from rpms.play.run import MakeRunner
from rpms.play.runners import InProcesses, cores
from rpms.play.seats import Threads
from rpms.play.settings import Settings
from rpms.play.sources import can_play
from rpms.play.trials import Trials, run_trials
from rpms.store.memories import read_frozen
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import open_run
from rpms.study.study_files import find_study, read_study
from rpms.worlds.registry import find_world

_PARTS: Mapping[str, Mapping[str, object]] = {
    "guard-advise": {"guard": "advise"},
    "guard": {"guard": "block"},
    "menu": {"menu": 5},
    "menu-unranked": {"menu": 5, "ranked": False},
    "menu, held": {"menu": 5, "constrained": "auto"},
    "guidance": {"guidance": True},
    "loops": {"loops": True},
    "compact": {"compact": True},
    "recent": {"recent": 3},
}
_LESS: Mapping[str, Mapping[str, object]] = {
    "unranked": {"ranked": False},
    "no guidance": {"guidance": False},
    "no guard": {"guard": "off"},
    "not compact": {"compact": False},
}


def configurations(
    insights: Path | None = None, trials: int | None = None
) -> Mapping[str, Settings]:
    """The paper's four conditions, everything on in all four, each part alone on the full one, and
    all but one.

    And the other methods, under the decoding of either preset; expel where there are insights for
    it to play with.
    """
    made = {name: Settings(condition=name) for name in CONDITIONS}
    made |= {f"{name} + strict": Settings(condition=name, preset="strict") for name in CONDITIONS}
    made |= {
        f"full + {name}": Settings(condition="full", enforce=part) for name, part in _PARTS.items()
    }
    made |= {
        f"full + strict, {name}": Settings(condition="full", preset="strict", enforce=part)
        for name, part in _LESS.items()
    }
    for name, method in METHODS.items():
        if name == REACT or (method.recalled and insights is None):
            continue
        given = Settings(
            agent=name,
            insights=insights if method.recalled else None,
            trials=trials if method.question else None,
        )
        made |= {name: given, f"{name} + strict": replace(given, preset="strict")}
    return made


def rows(name: str, trials: Trials) -> list[str]:
    """The lines of one configuration: where it has several trials, the first one and the best
    of all apart.
    """
    if trials.best_folder == trials.folders[0]:
        return [row(name, trials.summaries[0])]
    best = trials.best_folder.name.replace("-", " ")
    return [row(f"{name}, trial 0", trials.summaries[0]), row(f"{name}, {best}", trials.best)]


def row(name: str, summary: RunSummary) -> str:
    """One line of the table."""
    steps = summary.steps or 1
    usage = summary.usage
    score = fmean(episode.score for episode in summary.rows) if summary.rows else 0.0
    reasks = sum(episode.reasks for episode in summary.rows)
    return (
        f"| {name} | {summary.won} of {summary.total} | {score:.2f} | {steps / max(summary.done, 1):.1f} | "
        f"{summary.infeasible / steps:.1%} | {reasks / steps:.2f} | {usage.prompt_tokens / steps:.0f} | "
        f"{usage.completion_tokens / steps:.0f} |"
    )


class OneLine(argparse.ArgumentParser):
    """A parser that tells a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def count(text: str) -> int:
    """A whole number above 0."""
    if not (text.isdecimal() and len(text) < 10 and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def chosen(
    only: str, model: str, known: Mapping[str, Settings]
) -> Mapping[str, tuple[Settings, int | None]]:
    """The configurations to play by the names they go by here, each with a budget of steps if
    it has its own.
    """
    playable = {name: each for name, each in known.items() if can_choose(each, model)}
    made: dict[str, tuple[Settings, int | None]] = {}
    usual = [
        name for name, each in playable.items() if each.agent is None
    ]  # other methods play where they are named
    for given in only.split(",") if only else usual:
        named = given.strip().replace(";", ",")
        name, at, steps = named.partition("@")
        if "*" in name:
            made |= {each: (playable[each], None) for each in playable if fnmatchcase(each, name)}
            continue
        if name not in known:
            names = ", ".join(repr(each.replace(",", ";")) for each in known)
            raise InputError(f"--only: there is no configuration {name!r}; choose from {names}")
        if name not in playable:
            raise InputError(f"--only: {model} chooses from a menu, and {name!r} has none")
        try:
            made[named] = known[name], count(steps) if at else None
        except argparse.ArgumentTypeError as error:
            raise InputError(f"--only {named!r}: {error}; write {name}@20") from None
    return made


def can_choose(settings: Settings, model: str) -> bool:
    """True if there is a menu, for a model that needs one."""
    condition = settings.condition_value()
    return can_play(condition.enforcement, model) and (
        condition.informed or backend_of(model) not in FROM_MENU
    )


def main() -> None:
    parser = OneLine(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", default="alfworld")
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--split", default="valid_seen")
    parser.add_argument("--memory", type=Path)
    parser.add_argument(
        "--manual", type=Path, help="rules for all configurations, such as a learned manual"
    )
    parser.add_argument(
        "--insights", type=Path, help="what expel plays with, gathered by `rpms insights`"
    )
    parser.add_argument(
        "--trials", type=count, help="attempts of reflexion and clin; their papers' by default"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sample", type=count, help="only so many games, drawn at random")
    parser.add_argument("--per-task", type=count, help="only the first so many games of each type")
    parser.add_argument("--option", action="append", help="an option of the world, NAME=VALUE")
    parser.add_argument("--seed", type=int, default=0, help="for the draw")
    parser.add_argument(
        "--steps",
        type=count,
        help="an episode's budget; a configuration's own follows its name: full@20",
    )
    parser.add_argument("--max-tokens", type=count)
    parser.add_argument("--batch", type=count, default=256)
    parser.add_argument(
        "--only",
        default="",
        help="configurations by name, separated by commas; `;` within a name stands for one",
    )
    parser.add_argument(
        "--study", type=Path, help="the configurations are a study's conditions, such as ladder's"
    )
    parser.add_argument(
        "--at-once", type=count, help="configurations played at the same time; all by default"
    )
    parser.add_argument(
        "--processes", type=count, help="of each configuration; by default all cores together"
    )
    try:
        play_all(parser.parse_args())
    except RPMSError as error:
        parser.error(str(error))


def play_all(options: argparse.Namespace) -> None:
    """Play, and print the table; what cannot be played is an RPMSError before anything is."""
    world = find_world(options.world)
    parse_model_name(options.model)
    memory = (
        read_frozen(options.memory, world.name)
        if options.memory
        else EpisodicMemory(world=world.name)
    )
    setting = make_setting(world, options.data, "native", options.option)
    draw = Settings(
        split=options.split, per_task=options.per_task, sample=options.sample, seed=options.seed
    )
    games, setting = draw.tasks(world, setting)
    known = configurations(options.insights, options.trials)
    if options.study:
        known = {case.name: case.settings for case in read_study(find_study(options.study)).cases}
    if options.manual:
        known = {name: replace(each, manual=options.manual) for name, each in known.items()}
    wanted = chosen(options.only, options.model, known)
    model = NamedModel(options.model, ModelOptions(batch=options.batch))()
    runs: dict[str, tuple[RunDesign, Path]] = {}
    try:
        for name, (settings, steps) in wanted.items():
            design = design_run(
                world,
                options.model,
                lend(model),
                split=options.split,
                tasks=games,
                seed=options.seed,
                condition=settings.condition_value(),
                sources=settings.sources(world),
                memory=memory,
                setting=setting,
                decoding=Decoding(max_tokens=options.max_tokens or world.max_tokens),
                step_budget=steps or options.steps,
                method=settings.method(world),
            )
            folder = options.out / "".join(letter if letter.isalnum() else "-" for letter in name)
            with open_run(folder, design.protocol()):  # one that holds another run is refused here
                runs[name] = design, folder
        at_once = options.at_once or len(runs)
        each = InProcesses(options.processes or max(2, cores() // at_once), shared=True)
        print_table(runs, at_once, each if chooses_by_text(options.model) else Threads)
    finally:
        model.close()


def chooses_by_text(model: str) -> bool:
    """True for a model that answers a prompt, and so can answer players in other processes."""
    return parse_model_name(model).provider.backend in IN_PROCESS


def print_table(
    runs: Mapping[str, tuple[RunDesign, Path]], at_once: int, runner: MakeRunner
) -> None:
    """Play so many runs at once; a line to stderr as each ends, and the table in order."""
    begun = time.monotonic()

    def play(name: str) -> Trials:
        design, folder = runs[name]
        trials = run_trials(design, folder, len(design.tasks), runner=runner)
        for line in rows(name, trials):
            print(f"{time.monotonic() - begun:6.0f} s  {line}", file=sys.stderr, flush=True)
        return trials

    with ThreadPoolExecutor(at_once) as pool:
        futures = {name: pool.submit(play, name) for name in runs}
        print("| configuration | won | score | steps | infeasible executed | re-asks/step", end=" ")
        print("| prompt tokens/step | new tokens/step |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, future in futures.items():
            print(*rows(name, future.result()), sep="\n", flush=True)


if __name__ == "__main__":
    main()
