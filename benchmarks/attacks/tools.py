"""Hostile inputs to the guard for tools: its manuals, its logs, what tools return, and MCP
messages.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import time
from pathlib import Path
from random import Random
from typing import Any

from attacks.mutate import NASTY_TEXTS, NASTY_VALUES, as_json, bomb, changed_bytes, changed_tree
from rpms.foreign.limits import LONGEST_FACT
from rpms.guard import Call, Guard, find_tool_mistakes, open_tool_manual, read_tool_manual
from rpms.guard.log import read_guard_log
from rpms.guard.replay import replay, tried
from rpms.induction.tool_rules import learn_tools
from rpms.report.guard_pages import write_guard_report
from rpms.store.manual_reader import manual_text

logging.getLogger("rpms.guard").setLevel(
    logging.CRITICAL
)  # what it says of each hostile result is not the question
_SHOP = Path(__file__).parents[2] / "examples" / "guard" / "shop.yaml"
MANUAL = open_tool_manual(_SHOP)
ORDER = {
    "id": "W1",
    "status": "pending",
    "placed": "2024-05-15T09:00:00",
    "user_id": "mia",
    "items": [{"id": "a1"}],
}
RETURN = {"order_id": "W1", "user_id": "mia", "items": ["a1"], "method": "card"}


def guard_manuals(dice: Random, folder: Path, _samples: object) -> None:
    """A manual with bytes changed, or a bomb in its place; where it can be read, calls are
    judged by it.
    """
    file = folder / "manual.yaml"
    file.write_bytes(bomb(dice) if dice.random() < 0.1 else changed_bytes(_SHOP.read_bytes(), dice))
    texts = [manual_text(file)]
    if find_tool_mistakes(*texts):
        open_tool_manual(file)
        raise AssertionError("a manual with mistakes was read")
    guard = Guard(file)
    guard.observe(Call("get_order", {"order_id": "W1"}), ORDER)
    guard.check(Call("return_items", RETURN))
    guard.explain()


def guard_logs(dice: Random, folder: Path, _samples: object) -> None:
    """A log with bytes changed, or values swapped: read, replayed, learned from and shown."""
    file = folder / "log.jsonl"
    guard = Guard(MANUAL, log=file)
    for number in range(3):
        guard.check(Call("cancel_order", {"order_id": f"W{number}", "user_id": "mia"}))
        guard.observe(Call("get_order", {"order_id": f"W{number}"}), {**ORDER, "id": f"W{number}"})
    data = file.read_bytes()
    if dice.random() < 0.5:
        file.write_bytes(changed_bytes(data, dice))
    else:
        lines = [json.loads(line) for line in data.splitlines()]
        lines[dice.randrange(len(lines))] = changed_tree(lines[dice.randrange(len(lines))], dice)
        file.write_bytes(b"\n".join(map(as_json, lines)))
    list(read_guard_log(file))
    list(replay(Guard(MANUAL), file))
    learn_tools(tried(Guard(MANUAL), file), _SHOP, folder / "learned.yaml")
    write_guard_report([file], folder / "report")


def tool_results(dice: Random, _folder: Path, _samples: object) -> None:
    """Results and arguments with anything in them.

    The guard must answer, and never by its own error.
    """
    guard = Guard(MANUAL)
    for _ in range(5):
        tool = dice.choice(["get_order", "get_user", "return_items", "cancel_order", *NASTY_TEXTS])
        arguments: Any = changed_tree(RETURN, dice)
        if dice.random() < 0.2:
            arguments = dice.choice((*NASTY_VALUES, bomb(dice).decode("utf-8", "replace")))
        call = {"name": tool, "arguments": arguments, "id": dice.choice(NASTY_VALUES)}
        ruling = guard.check(call)
        if ruling.rule == "G-ERROR":
            raise AssertionError(ruling.reason)
        result: Any = changed_tree(ORDER, dice)
        if dice.random() < 0.3:
            result = (
                changed_bytes(as_json(ORDER), dice)
                if dice.random() < 0.5
                else dice.choice(NASTY_VALUES)
            )
        guard.observe(call, result)
        guard.explain()
        if not ruling.text.isprintable():
            raise AssertionError("a ruling that cannot be printed")


class _Neither:
    """Neither true nor false, and nothing can be asked of it."""

    def __bool__(self) -> bool:
        raise ValueError("ask not")

    __eq__ = __len__ = __str__ = __repr__ = __hash__ = __bool__  # type: ignore[assignment]


NEITHER = (
    _Neither(),
    object(),
    "True",
    1.0,
    b"\1",
    Exception("x"),
    NotImplemented,
    ...,
    bool,
    lambda: True,
)


def _loop(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def python_facts(dice: Random, _folder: Path, _samples: object) -> None:
    """Functions that return, raise or do anything: only True, False and None count, and the
    guard answers.
    """
    rule = "{P-X-1: {text: x, tools: t, requires: odd(x)}}"
    text = f"facts: {{odd: {{args: [x], python: odd}}}}\ntools: {{t: [x]}}\npolicies: {rule}"
    value = dice.choice((True, False, None, *NASTY_VALUES, *NEITHER))
    late = dice.choice((time.sleep, _loop)) if dice.random() < 0.003 else None

    def odd(_look: object, _x: object) -> Any:
        if late is not None:
            late(LONGEST_FACT + 1)
        if dice.random() < 0.2:
            raise dice.choice(
                (
                    SystemExit(0),
                    ValueError("x"),
                    KeyError("x"),
                    RecursionError(),
                    KeyboardInterrupt(),
                )
            )
        if dice.random() < 0.2:
            print(dice.choice(NASTY_TEXTS))
        return value

    with contextlib.redirect_stdout(io.StringIO()):
        guard = Guard(read_tool_manual(("m", text)), python={"odd": odd})
        ruling = guard.check(Call("t", {"x": dice.choice(NASTY_TEXTS)}))
    if ruling.goes_on and late is not None:
        raise AssertionError("a fact that came too late counted as true")
    if ruling.goes_on and value is not True:
        raise AssertionError(f"{value!r} counted as true")
