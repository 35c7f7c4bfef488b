"""Two real policies as guard manuals, measured on τ²'s tasks: what must be allowed, and what must be refused.

    python benchmarks/policies.py                          both domains, train tasks
    python benchmarks/policies.py --domain retail --show 3
    python benchmarks/policies.py --split test             for reporting only: nothing is to be written from it

Each task's reference actions are replayed with the real tools of the package `inspect-evals`, with the lookups that a
careful agent makes; before each action that changes something, the guard is asked. Violations are made from those actions,
and counted only where a second reading of the policy, which sees the whole database, finds exactly their rule broken.
Exit code 1 if an action that keeps the policy was refused, or a violation was not.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tau2.cases import Case, references, violations
from tau2.sandbox import DOMAINS, SPLITS, available, tasks

from rpms.guard import Call, Refuse, Ruling
from rpms.guard.policies import policy_guard

WANTED = 0.95
"""Violations refused with the right rule, of all."""


def judged(domain: str, case: Case) -> Ruling:
    """What the guard says of a call after the conversation before it, told what only the customer said."""
    guard = policy_guard(domain)
    for call, result in case.session.turns:
        guard.observe(Call(call.name, call.arguments), result.text, failed=result.failed)
    guard.tell("confirmed" if case.session.confirmed else "not confirmed")
    if case.session.reason is not None:
        guard.tell(f'reason("{case.session.reason}")')
    return guard.check(Call(case.call.name, case.call.arguments))


def allowed(domain: str, cases: Iterable[Case]) -> bool:
    """Print which reference actions are allowed; whether all are that keep the policy."""
    kept, wrong, breaking, warned = 0, [], [], 0
    for case in cases:
        ruling = judged(domain, case)
        kept += ruling.goes_on
        warned += ruling.goes_on and bool(ruling.rule) and not ruling.rule.startswith("G-")
        if not ruling.goes_on:
            (breaking if ruling.rule in case.rules else wrong).append(f"- task {case.task}, {case.call.name}: {ruling.text}")
    total = kept + len(wrong) + len(breaking)
    print(f"Reference actions that change something: {total}; allowed: {kept} ({warned} with a warning)")
    print(f"Refused although they keep the policy: {len(wrong)}; refused because they break it: {len(breaking)}")
    print("\n".join([*wrong, *breaking]), end="\n\n" if wrong or breaking else "\n")
    return not wrong


def refused(domain: str, cases: Iterable[Case], kinds: Iterable[object], show: int) -> bool:
    """Print what became of the violations of each kind; whether enough were refused by the right rule."""
    rows = {kind.name: [kind.rule, 0, 0, 0] for kind in kinds}
    missed = []
    for case in cases:
        ruling = judged(domain, case)
        row = rows[case.kind.name]
        right = isinstance(ruling, Refuse) and ruling.rule in case.rules
        row[1] += 1
        row[2] += isinstance(ruling, Refuse)
        row[3] += right
        if not right:
            missed.append(f"- {case.kind.name}, task {case.task}, {str(case.call)[:160]}: {ruling.word} {ruling.text}")
    print("| violation | rule | made | refused | by that rule |\n| --- | --- | ---: | ---: | ---: |")
    for name, (rule, made, stopped, right) in rows.items():
        print(f"| {name} | {rule} | {made} | {stopped} | {right} |")
    made, stopped, right = (sum(row[column] for row in rows.values()) for column in (1, 2, 3))
    print(f"| **all** | | **{made}** | **{stopped}** | **{right}** |\n")
    worst = min((row[3] / row[1] for row in rows.values() if row[1]), default=0.0)
    print(f"Refused by the right rule: {right} of {made} ({right / max(1, made):.1%}); worst kind {worst:.1%}")
    print("\n".join(missed[:show]))
    return bool(made) and right / made >= WANTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--domain", choices=DOMAINS, action="append", help="one of the two; both by default")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N tasks")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", type=int, default=10, metavar="N", help="print at most N violations that were missed")
    options = parser.parse_args()
    if not available():
        sys.exit("the tools and tasks of τ² are not installed: pip install 'rpms[tau2]'")
    good = True
    for domain in options.domain or DOMAINS:
        policy = importlib.import_module(f"tau2.{domain}_policy")
        kinds = importlib.import_module(f"tau2.{domain}_kinds").KINDS
        chosen = tasks(domain, options.split)[: options.first]
        print(f"## {domain}, {len(chosen)} {options.split} tasks\n")
        good &= allowed(domain, references(policy, domain, chosen))
        good &= refused(domain, violations(policy, domain, kinds, chosen, options.seed), kinds, options.show)
        print()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
