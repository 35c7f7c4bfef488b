"""Cost of a check: the median over many calls, by manuals of different size.

python benchmarks/guard.py [--rules 100] [--calls 2000] [--mcp]

With --mcp, what the guard adds to a plain proxy of FastMCP before a server of the official SDK:
start-up, small calls, writes of a megabyte.
"""

from __future__ import annotations

import argparse
import json
import os
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
...
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


PLAIN = """
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
create_proxy(StdioTransport(sys.argv[1], sys.argv[2:])).run(show_banner=False, log_level="CRITICAL")
"""


def measure_mcp(calls: int) -> None:
    """Compare a server alone, behind a plain proxy of FastMCP, and behind the guard, by turns, so
    that a busy machine is busy for all.
    """
    with tempfile.TemporaryDirectory() as folder:
        manual = Path(folder, "m.yaml")
        manual.write_text(MANUAL)
        server = [sys.executable, "-c", SERVER]
        guard = [sys.executable, "-m", "rpms", "guard", "mcp", "--manual", str(manual), "--"]
        commands = {
            "server alone": server,
            "plain proxy": [sys.executable, "-c", PLAIN, *server],
            "guard": [*guard, *server],
        }
        clients = {}
        for name, command in commands.items():
            clients[name] = Client(command)
            print(f"start-up, {name}: {clients[name].worked():.2f} s of processor time")
        _print_calls("small calls", clients, calls, "x")
        _print_calls("writes of 1 MB", clients, max(10, calls // 10), "x" * 1_000_000)
        for client in clients.values():
            client.end()


def _print_calls(kind: str, clients: dict[str, Client], calls: int, content: str) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in clients}
    before = {name: client.worked() for name, client in clients.items()}
    for number in range(calls):
        for name, client in clients.items():
            took = client.call("read", path=f"/a/{kind}{number}")
            if len(content) > 1:
                took = client.call("write", path=f"/a/{kind}{number}", content=content)
            seconds[name].append(took)
    worked = {name: (client.worked() - before[name]) / calls for name, client in clients.items()}
    median = {name: statistics.median(each) for name, each in seconds.items()}
    fast = {name: statistics.quantiles(each, n=10)[0] for name, each in seconds.items()}
    for what, found in (("median", median), ("fastest tenth", fast), ("processor time", worked)):
        times = ", ".join(f"{name} {1e3 * each:.2f} ms" for name, each in found.items())
        print(
            f"{kind}, {what}: {times}; {found['guard'] / found['plain proxy']:.2f} times the proxy"
        )


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
