"""Two real policies as guard manuals, measured on τ²'s tasks: what must be allowed, and what must
be refused.

    python benchmarks/policies.py                          both domains, train tasks
    python benchmarks/policies.py --domain retail --first 5
    python benchmarks/policies.py --split test             for reporting only: nothing is to be written from it

Each task's reference actions are replayed with the real tools of the package `inspect-evals`,
together with the lookups that a careful agent makes, and the guard is asked before every call.
Other calls are made from those actions: violations, which count only where a second reading of the
policy, which sees the whole database, finds just their rule broken; and permitted ones, of which it
finds none broken. Exit code 1 if a call that keeps the policy was refused, or fewer than 95% of the
violations were refused by their rule.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

from tau2.measure import Made, References, judge_made, judge_references
from tau2.sandbox import DOMAINS, SPLITS, available, tasks

from rpms.play.success_rate import wilson

WANTED = 0.95
"""Violations refused by the rule of their kind, of all."""


def rate(part: int, whole: int) -> str:
    """A share with its 95% interval."""
    low, high = wilson(part, whole)
    return f"{part} of {whole} ({part / max(1, whole):.1%}, 95% interval {low:.1%}–{high:.1%})"


def print_references(found: References) -> None:
    print(f"Reference actions that change something, allowed: {rate(found.allowed, found.writes)}")
    print(
        f"Of these with a warning: {found.warned}; only for a reason that the replay supplies: {found.assumed}"
    )
    print(f"Refused because they break the policy: {len(found.breaking)}")
    print("\n".join(found.breaking), end="\n" * bool(found.breaking))
    print(
        f"Refused although they keep it, with {found.reads} lookups and other reads: {len(found.wrong)}"
    )
    print("\n".join(found.wrong))


def print_made(found: Made, show: int) -> None:
    print("| violation | rule | made | refused | by that rule | stopped by the tool itself |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in found.rows.values():
        print(
            f"| {row.kind.name} | {row.kind.rule} | {row.made} | {row.refused} | {row.right} | {row.by_tool} |"
        )
    sums = " | ".join(
        f"**{found.total(column)}**" for column in ("made", "refused", "right", "by_tool")
    )
    print(f"| **all {sum(bool(row.made) for row in found.rows.values())} kinds** | | {sums} |\n")
    print(
        f"Violations refused by the rule of their kind: {rate(found.total('right'), found.total('made'))}"
    )
    print("\n".join(found.missed[:show]), end="\n" * bool(found.missed))
    print(f"Permitted calls allowed: {rate(found.permitted - len(found.wrong), found.permitted)}")
    print("\n".join(found.wrong[:show]), end="\n" * bool(found.wrong))
    print(f"Permitted calls that the tool itself stops: {len(found.stopped)}")
    print("\n".join(found.stopped[:show]), end="\n" * bool(found.stopped))
    print(f"A check took {1000 * median(found.seconds or [0.0]):.2f} ms at the median\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--domain", choices=DOMAINS, action="append", help="one of the two; both by default"
    )
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N tasks")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--show",
        type=int,
        default=10,
        metavar="N",
        help="print at most N wrong rulings of each sort",
    )
    options = parser.parse_args()
    if not available():
        parser.error("the tools and tasks of τ² are not installed: pip install inspect-evals")
    good = True
    for domain in options.domain or DOMAINS:
        chosen = tasks(domain, options.split)[: options.first]
        print(f"## {domain}: {len(chosen)} {options.split} tasks\n")
        references, made = (
            judge_references(domain, chosen),
            judge_made(domain, chosen, options.seed),
        )
        print_references(references)
        print_made(made, options.show)
        good &= (
            not references.wrong
            and not made.wrong
            and made.total("right") >= WANTED * made.total("made")
        )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
