"""What a check costs: the median over many calls, by a manual of so many rules, each over facts from several lookups.

python benchmarks/guard.py [--rules 100] [--calls 2000]
"""

from __future__ import annotations

import argparse
import statistics
import time

from rpms.guard import Call, Guard, read_tool_manual

HEAD = """
guard: benchmark
now: 2024-05-15T15:00:00
records:
  order: {from: get_order, key: result.id}
  user: {from: get_user, key: arguments.user_id}
facts:
  of_user: {args: [order, user], of: order, path: user_id, is: <user>}
  recent: {args: [order], of: order, path: placed, after: now - 24h}
  in_order: {args: [order, item], of: order, path: items.*.id, is: <item>}
  method_of: {args: [user, method], of: user, path: methods, has: <method>}
  done: {args: [order], initially: false}
"""


REQUIRED = (
    "recent(order)",
    '[not done(order), "method_of(user, method)"]',
    '["in_order(order, item)"]\n    each: {item: items}',
)
"""What rules require, by turns."""


def manual_of(rules: int) -> str:
    """A manual whose every rule is about the one tool, with facts of its own: nothing that one finds helps another."""
    facts = [f"  status_{_word(n)}: {{args: [order], of: order, path: status, is: s{n}}}" for n in range(rules)]
    policies = [
        f"""  P-RULE-{n}:
    text: Rule {n} holds.
    tools: change
    when: [not status_{_word(n)}(order), "of_user(order, user)"]
    requires: {REQUIRED[n % len(REQUIRED)]}"""
        for n in range(rules)
    ]
    tools = ["tools:", "  change: [order, user, items, method]", "  get_order: [order_id]", "policies:"]
    return "\n".join([HEAD.rstrip(), *facts, *tools, *policies])


def _word(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def measure(rules: int, calls: int) -> tuple[list[float], list[float]]:
    guard = Guard(read_tool_manual(("benchmark", manual_of(rules))))
    items = [{"id": f"i{n}", "price": n} for n in range(10)]
    order = {"id": "W1", "user_id": "mia", "status": "open", "placed": "2024-05-15T14:00:00", "items": items}
    guard.observe(Call("get_order", {"order_id": "W1"}), order)
    guard.observe(Call("get_user", {"user_id": "mia"}), {"methods": {"card": {}}})
    seconds, worked = [], []
    for number in range(calls):
        arguments = {"order": "W1", "user": "mia", "items": [f"i{number % 10}", "i3"], "method": "card", "n": number}
        start, cpu = time.perf_counter(), time.process_time()
        ruling = guard.check(Call("change", arguments))
        seconds.append(time.perf_counter() - start)
        worked.append(time.process_time() - cpu)
        assert ruling.word == "allow", ruling  # every rule was looked at to its end
    return seconds, worked


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--rules", type=int, default=100)
    arguments.add_argument("--calls", type=int, default=2_000)
    options = arguments.parse_args()
    seconds, worked = measure(options.rules, options.calls)
    tenth = statistics.quantiles(seconds, n=10)
    print(f"{options.rules} rules on one tool, {options.calls} calls, all allowed")
    print(f"a check: median {1e3 * statistics.median(seconds):.3f} ms, 90% {1e3 * tenth[-1]:.3f} ms")
    print(f"of processor time: median {1e3 * statistics.median(worked):.3f} ms")


if __name__ == "__main__":
    main()
