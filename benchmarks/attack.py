"""A campaign against the product: hostile inputs by kind, kills, misbehaving servers, hostile text
on pages.

    python benchmarks/attack.py                       a few minutes
    python benchmarks/attack.py --full                200,000 inputs, 600 kills, 250 faults
    python benchmarks/attack.py --inputs 5000 --kills 0 --faults 0 --pages 0 --only manuals,records

The same seed gives the same inputs. Everything is bounded in count and in time, and no request
leaves this machine. A failure is anything but a result or a refusal in one line: a traceback, more
than 10 seconds, more than 1 GB, something lost, a result that differs, a planted key found. Exit
code 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent))

from attacks.browser import page_campaign
from attacks.inputs import KINDS, SLOW, Samples, make_samples
from attacks.kills import WORKS, kill_campaign
from attacks.learned import learned_files
from attacks.servers import fault_campaign
from attacks.watch import Tally, in_child, own_folder, watched

ROOT = Path(__file__).resolve().parents[1]
HEADINGS = """| input | tries | refused | failures | slowest | largest growth |
| --- | ---: | ---: | --- | ---: | ---: |"""
BATCH = 250
"""Inputs that one process reads before a fresh one takes over."""


def attack(name: str, count: int, seed: int, samples: Samples, deadline: float) -> Tally:
    """Give the code that reads one kind of input so many hostile ones, in processes of their
    own.
    """
    tally = Tally()
    for start in range(0, count, BATCH):
        if time.monotonic() > deadline:
            break
        numbers = range(start, min(start + BATCH, count))
        # type: ignore[misc]
        tally.add(in_child(lambda numbers=numbers: _batch(name, numbers, seed, samples)))
    return tally


def _batch(name: str, numbers: range, seed: int, samples: Samples) -> Tally:
    tally = Tally()
    for number in numbers:
        dice = Random(f"{seed} {name} {number}")
        with own_folder() as folder:
            watched(
                lambda folder=folder, dice=dice: KINDS[name](dice, folder, samples),
                tally,
                f"{name} {number}",
            )  # type: ignore[misc]
    return tally


def _prepare(kinds: Collection[str]) -> None:
    """Load and learn once what several kinds of input need: each is read in a process of its own,
    forked from this one.
    """
    if {"learned manuals", "evidence", "explorations"} & set(kinds):
        learned_files()
    if {"guard sessions", "guard approvals"} & set(kinds):
        with suppress(ImportError):  # an extra
            import_module("rpms.guard.mcp_proxy")


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--inputs", type=int, default=3_000)
    arguments.add_argument(
        "--kills", type=int, default=25, help="in all, spread over the kinds of work"
    )
    arguments.add_argument("--faults", type=int, default=44)
    arguments.add_argument("--pages", type=int, default=2, help="poisoned reports")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument(
        "--minutes", type=float, default=120.0, help="no part begins anything new after these"
    )
    arguments.add_argument("--only", default="", help="kinds of input, with commas between")
    arguments.add_argument("--but", default="", help="kinds of input to leave out")
    arguments.add_argument(
        "--works", default=",".join(WORKS), help="kinds of work to kill, with commas between"
    )
    arguments.add_argument("--full", action="store_true")
    options = arguments.parse_args()
    if options.full:
        options.inputs, options.kills, options.faults, options.pages = 200_000, 600, 250, 10
    wanted = options.only.split(",") if options.only else list(KINDS)
    left_out = options.but.split(",")
    kinds = [name for name in KINDS if name in wanted and name not in left_out]
    deadline = time.monotonic() + 60 * options.minutes
    failures = 0
    with own_folder() as folder:
        samples = make_samples(folder, ROOT)
        print(f"seed {options.seed}\n\n{HEADINGS}")
        total = Tally()
        shares = {name: SLOW.get(name, 1.0) for name in kinds}
        if options.inputs:
            _prepare(kinds)
        for name, share in shares.items() if options.inputs else ():
            count = max(1, round(options.inputs * share / sum(shares.values())))
            tally = attack(name, count, options.seed, samples, deadline)
            print(tally.row(name), flush=True)
            total.add(tally)
        if options.faults:
            (folder / "faults").mkdir()
            tally = in_child(
                lambda: fault_campaign(
                    options.faults, options.seed, samples.request, folder / "faults"
                )
            )
            print(tally.row("server faults"), flush=True)
            total.add(tally)
        print(total.row("all"), flush=True)
        failures += total.failures.total()
        if options.kills:
            print("\n| killed | kills | played to the end | trouble |\n| --- | --: | --: | --- |")
            works = [name for name in WORKS if name in options.works.split(",")]
            for place, name in enumerate(works):
                (folder / f"kills{place}").mkdir()
                each = options.kills // len(works) + (place < options.kills % len(works))
                killed = kill_campaign(
                    name, each, Random(f"{options.seed} {name}"), folder / f"kills{place}", deadline
                )
                print(killed.row(name), flush=True)
                failures += killed.troubles
        pages = page_campaign(options.pages, options.seed, samples.run, folder)
        if pages is None:
            print("\npages: no browser, or none wanted")
        else:
            print(
                f"\npages in Chromium: {pages.tries} opened, {pages.failures.total()} troubles {dict(pages.failures)}"
            )
            failures += pages.failures.total()
        for what, example in total.examples.items():
            print(f"  {what}: {example}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
