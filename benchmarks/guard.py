"""Cost of a check: the median over many calls, by manuals of different size.

python benchmarks/guard.py [--rules 100] [--calls 2000] [--mcp]

With --mcp, what the proxy adds to calls of a server of the official SDK: start-up, small calls,
writes of a megabyte.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
"""Requirements of the rules, by turns."""


def manual_of(rules: int) -> str:
    """A manual whose every rule is about the one tool, with facts of its own: nothing that one
    finds helps another.
    """
    facts = [
        f"  status_{_word(n)}: {{args: [order], of: order, path: status, is: s{n}}}"
        for n in range(rules)
    ]
    policies = [
        f"""  P-RULE-{n}:
    text: Rule {n} holds.
    tools: change
    when: [not status_{_word(n)}(order), "of_user(order, user)"]
    requires: {REQUIRED[n % len(REQUIRED)]}"""
        for n in range(rules)
    ]
    tools = [
        "tools:",
        "  change: [order, user, items, method]",
        "  get_order: [order_id]",
        "policies:",
    ]
    return "\n".join([HEAD.rstrip(), *facts, *tools, *policies])


def _word(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def measure(rules: int, calls: int) -> tuple[list[float], list[float]]:
    guard = Guard(read_tool_manual(("benchmark", manual_of(rules))))
    items = [{"id": f"i{n}", "price": n} for n in range(10)]
    order = {
        "id": "W1",
        "user_id": "mia",
        "status": "open",
        "placed": "2024-05-15T14:00:00",
        "items": items,
    }
    guard.observe(Call("get_order", {"order_id": "W1"}), order)
    guard.observe(Call("get_user", {"user_id": "mia"}), {"methods": {"card": {}}})
    seconds, worked = [], []
    for number in range(calls):
        arguments = {
            "order": "W1",
            "user": "mia",
            "items": [f"i{number % 10}", "i3"],
            "method": "card",
            "n": number,
        }
        start, cpu = time.perf_counter(), time.process_time()
        ruling = guard.check(Call("change", arguments))
        seconds.append(time.perf_counter() - start)
        worked.append(time.process_time() - cpu)
        assert ruling.word == "allow", ruling  # every rule was looked at to its end
    return seconds, worked


ONCE = """
facts: {paid: {args: [bill], initially: false, shared: true}}
tools: {pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill)]}}
"""


def measure_growth(facts: int, calls: int, store: Path | None) -> float:
    """Seconds of a check of a once-rule, when so many facts are known."""
    guard = Guard(read_tool_manual(("once", ONCE)), store=store)
    guard.tell(*(f"paid(B{number})" for number in range(facts)))
    seconds = []
    for number in range(calls):
        call = Call("pay", {"bill": f"new {number}"}, str(number))
        start = time.perf_counter()
        assert guard.check(call).goes_on
        seconds.append(time.perf_counter() - start)
        guard.observe(call, "paid")
    return statistics.median(seconds)


def print_growth(calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("in memory", "in a store"):
            found = []
            for facts in (10, 16_000):
                store = Path(folder, f"{facts}.db") if name == "in a store" else None
                found.append(measure_growth(facts, calls, store))
            few, many = found
            said = f"{1e3 * few:.3f} ms with 10 facts, {1e3 * many:.3f} ms with 16,000"
            print(f"a once-rule, facts {name}: {said}, {many / few:.2f} times")


SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("files")
@server.tool()
def read(path: str) -> str:
    return "text of " + path
@server.tool()
def write(path: str, content: str) -> str:
    return str(len(content))
server.run()
"""
MANUAL = """
facts: {was_read: {args: [path], initially: false, as: path}}
tools:
  read: {args: [path], effects: [was_read(path)]}
  write: [path, content]
policies: {P-READ-001: {text: What is written was read., tools: write, requires: was_read(path)}}
"""


class Client:
    """A client that writes and reads lines."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        version, who = (
            "2025-11-25",
            {"clientInfo": {"name": "a", "version": "1"}, "capabilities": {}},
        )
        self.number = 0
        self.ask("initialize", {"protocolVersion": version, **who})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, object]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, object]) -> float:
        """Seconds until the answer."""
        self.number += 1
        start = time.perf_counter()
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        seconds = time.perf_counter() - start
        assert not answer["result"].get("isError"), answer
        return seconds

    def call(self, tool: str, **arguments: str) -> float:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def worked(self) -> float:
        """Seconds of processor time of the process and those that it started; exact where a
        machine is busy.
        """
        return _worked(self.process.pid)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def _worked(pid: int) -> float:
    spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK") + sum(map(_worked, map(int, children)))


def measure_mcp(calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        manual = Path(folder, "m.yaml")
        manual.write_text(MANUAL)
        server = [sys.executable, "-c", SERVER]
        proxy = [sys.executable, "-m", "rpms", "guard", "mcp", "--manual", str(manual), "--"]
        echo = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*proxy, *echo], stdin=subprocess.DEVNULL, check=False)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"start-up: {end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime:.2f} s of processor time"
        )
        plain, guarded = Client(server), Client([*proxy, *server])
        rows = {
            "small calls": (calls, "x"),
            "writes of 1 MB": (max(10, calls // 20), "x" * 1_000_000),
        }
        for name, (times, content) in rows.items():
            found: dict[str, list[float]] = {"plain": [], "guarded": []}
            before = [plain.worked(), guarded.worked()]
            for number in range(times):  # by turns, so that a busy machine is busy for both
                for key, client in (("plain", plain), ("guarded", guarded)):
                    path = f"/a/{number}"
                    small = client.call("read", path=path)
                    found[key].append(
                        small
                        if len(content) == 1
                        else client.call("write", path=path, content=content)
                    )
            for label, place in (
                ("median", 4),
                ("fastest tenth", 0),
            ):  # a busy machine adds a wait for each process
                one, other = (statistics.quantiles(each, n=10)[place] for each in found.values())
                said = f"{1e3 * one:.2f} ms, guarded {1e3 * other:.2f} ms, {other / one:.2f} times"
                print(f"{name}, {label}: {said}")
            one, other = (
                (each.worked() - was) / times
                for each, was in zip((plain, guarded), before, strict=True)
            )
            said = f"{1e3 * one:.2f} ms, guarded {1e3 * other:.2f} ms, {other / one:.2f} times"
            print(f"{name}, processor time of server and proxy: {said}")
        plain.end()
        guarded.end()


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--rules", type=int, default=100)
    arguments.add_argument("--calls", type=int, default=2_000)
    arguments.add_argument("--mcp", action="store_true")
    options = arguments.parse_args()
    if options.mcp:
        measure_mcp(options.calls // 10)
        return
    seconds, worked = measure(options.rules, options.calls)
    tenth = statistics.quantiles(seconds, n=10)
    print(f"{options.rules} rules on one tool, {options.calls} calls, all allowed")
    print(
        f"a check: median {1e3 * statistics.median(seconds):.3f} ms, 90% {1e3 * tenth[-1]:.3f} ms"
    )
    print(f"of processor time: median {1e3 * statistics.median(worked):.3f} ms")
    print_growth(options.calls // 4)


if __name__ == "__main__":
    main()
