"""The table of taught models, from nothing: memory, pairs, trainings, corrections, games.

    python benchmarks/taught.py BASE --data DIR --out FOLDER [--games 10,20,40,80,160] [--seeds 0,1,2]
                                [--corrected] [--thoughts words] [--run]

Prints the commands that the rows of docs/results.md are made of, one a line; with --run they are
carried out in turn, and the last one prints the table. Each command continues where it stopped, so
that the same line goes on after a crash. The thoughts of those rows say the sub-goal as prompts
print it; --thoughts words says it in words, as `rpms teach` does now. BASE is a chat model: a folder, a .gguf file or a name on
the Hugging Face hub. Teaching wants a GPU: about five minutes for 40 games at 1.5B.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Command = list[str]

MOST_CORRECTED = 10
"""States of one episode that are corrected at most."""


@dataclass(frozen=True)
class Series:
    """What every training of a table shares."""

    base: str
    data: Path
    out: Path
    thoughts: str
    """How thoughts say the sub-goal: printed or words."""

    @property
    def memory(self) -> str:
        return str(self.out / "memory.jsonl")

    def learn_memory(self) -> Command:
        """What the planner learns from games that are neither taught nor played."""
        return [
            *("rpms", "learn", "alfworld", "--split", "valid_train", "--sample", "140"),
            *("--seed", "7", "--rounds", "1", "--model", "planner"),
            *("--data", str(self.data), "--out", self.memory),
        ]

    def teach(self, games: int, seed: int) -> Iterator[Command]:
        """Pairs of some games, a training on them, and the four conditions played by the result."""
        name = f"{games}-games-seed-{seed}"
        pairs = str(self.out / f"{name}.jsonl")
        yield [
            *("rpms", "teach", "pairs", "alfworld", "--split", "train", "--sample", str(games)),
            *("--seed", str(seed), "--memory", self.memory, "--thoughts", self.thoughts),
            *("--data", str(self.data), "--out", pairs),
        ]
        yield from self._train_and_play(name, pairs, seed)

    def correct(self, games: int, seed: int) -> Iterator[Command]:
        """One round of corrections, and a training on all pairs from the base model."""
        before = f"{games}-games-seed-{seed}"
        name = f"{before}-corrected"
        pairs = str(self.out / f"{name}.jsonl")
        yield ["cp", "-n", str(self.out / f"{before}.jsonl"), pairs]
        yield [
            *("rpms", "teach", "correct", f"hf/{self.base}+{self.out / before}", "alfworld"),
            *("--pairs", pairs, "--memory", self.memory, "--thoughts", self.thoughts),
            *("--steps", "30"),
            *("--most", str(MOST_CORRECTED), "--data", str(self.data)),
        ]
        yield from self._train_and_play(name, pairs, seed)

    def _train_and_play(self, name: str, pairs: str, seed: int) -> Iterator[Command]:
        adapter = str(self.out / name)
        yield ["rpms", "teach", "train", self.base, pairs, "--seed", str(seed), "--out", adapter]
        yield [
            *("rpms", "study", "run", "taught", "--model", f"hf/{self.base}+{adapter}"),
            *("--memory", self.memory, "--data", str(self.data), "--no-report"),
            *("--out", str(self.out / f"{name}-runs")),
        ]


def commands(
    series: Series, games: list[int], seeds: list[int], *, corrected: bool
) -> Iterator[Command]:
    """All commands of the table, in their order."""
    yield series.learn_memory()
    runs: list[str] = []
    for count in games:
        for seed in seeds:
            yield from series.teach(count, seed)
            runs.append(str(series.out / f"{count}-games-seed-{seed}-runs"))
            if corrected:
                yield from series.correct(count, seed)
                runs.append(str(series.out / f"{count}-games-seed-{seed}-corrected-runs"))
    yield ["rpms", "table", "taught", *runs]


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between."""
    return [int(number) for number in text.split(",")]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", nargs="?", default="BASE")
    parser.add_argument("--data", type=Path, default=Path("DIR"))
    parser.add_argument("--out", type=Path, default=Path("taught"))
    parser.add_argument("--games", type=numbers, default=[10, 20, 40, 80, 160])
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--corrected", action="store_true")
    parser.add_argument("--thoughts", choices=("printed", "words"), default="printed")
    parser.add_argument("--run", action="store_true")
    given = parser.parse_args()
    series = Series(given.base, given.data, given.out, given.thoughts)
    if given.run:
        given.out.mkdir(parents=True, exist_ok=True)
    for command in commands(series, given.games, given.seeds, corrected=given.corrected):
        print(shlex.join(command), flush=True)
        if given.run:
            ended = subprocess.run(command, check=False)
            if ended.returncode:
                return ended.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
