"""Hostile variants of sound files: bytes that are changed, JSON whose insides are swapped, and
things known to hurt.
"""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

NASTY_TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[2J\x1b]0;owned\x07",
    "\r\nrpms: all is well",
    "\u202egnp.exe\u2028\u2029\ufeff\u200b",
    "\ud800",
    "[bold]x[/nope]",
    "{{7*7}}${x}%s%n{0}",
    "</script><script>window.ran=1</script><img src=x onerror=window.ran=1>",
    "../../../etc/passwd",
    "/dev/zero",
    "a" * 5_000,
    "nul\x00byte",
    "é\u0301" * 500,
    "-1",
    "1e999",
    "NaN",
    "\u0663\u0664",
    "*a",
    "&a [*a]",
    "=1+1",
)
NASTY_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    10**30,
    10**400,
    -0.0,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    {"": None},
    [None] * 50,
    ["x"],
    {"a": {"b": []}},
    *NASTY_TEXTS,
)
NASTY_BYTES = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"[" * 3_000,
    b"{" * 3_000,
    b'{"a":' * 2_000,
    b"- " * 2_000,
    b"9" * 6_000,
    b"\\ud800",
    b"\r",
    b"\n\n\n",
    b"&a ",
    b"*a ",
    b"!!python/object:os.system ",
    b"<<: *a\n",
    b"? ",
    b"%YAML 9.9\n---\n",
    b"...\n---\n",
    b"'",
    b'"',
    b":",
    b"\t",
    b"|\n",
    b"(" * 2_000,
    b")",
)


def bomb(dice: Random) -> bytes:
    """Aliases of aliases: a few hundred bytes that stand for billions of values."""
    width, levels = dice.randrange(2, 12), dice.randrange(5, 60)
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines).encode() + b"\n"


def changed_bytes(sound: bytes, dice: Random) -> bytes:
    """A file that was cut, flipped, doubled, or into which something was put, once or a few
    times.
    """
    data = bytearray(sound)
    for _ in range(dice.choice((1, 1, 1, 2, 4, 12))):
        at = dice.randrange(len(data) + 1)
        until = min(len(data), at + dice.choice((1, 2, 8, 64, 1_000)))
        match dice.randrange(7):
            case 0:
                del data[at:until]
            case 1:
                data[at:at] = dice.choice(NASTY_BYTES)
            case 2:
                data[at:until] = bytes(dice.randrange(256) for _ in range(until - at))
            case 3:
                data[at:at] = data[at:until] * dice.choice((1, 3, 50))
            case 4:
                data[at:until] = dice.choice(NASTY_TEXTS).encode("utf-8", "surrogatepass")
            case 5:
                del data[at:]
            case 6 if at < len(data):
                data[at] ^= 1 << dice.randrange(8)
    return bytes(data)


def changed_tree(sound: Any, dice: Random) -> Any:
    """A JSON value with something wrong inside."""
    tree = json.loads(json.dumps(sound))
    for _ in range(dice.choice((1, 1, 1, 2, 5))):
        holder, key = _place(tree, dice)
        if holder is None:
            return deepcopy(dice.choice(NASTY_VALUES))
        match dice.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[dice.choice(NASTY_TEXTS)] = holder.pop(key)
            case 2 if isinstance(holder, list):
                holder[key:key] = [deepcopy(holder[key]) for _ in range(dice.choice((1, 40)))]
            case 3 if isinstance(holder[key], str):
                holder[key] += dice.choice(NASTY_TEXTS)
            case 4 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
                holder[key] = dice.choice((-1, 0, holder[key] * 1_000_000, 10**12, 10**30, 0.5))
            case _:
                holder[key] = deepcopy(dice.choice(NASTY_VALUES))
    return tree


def _place(tree: Any, dice: Random) -> tuple[Any, Any]:
    """A place in a tree: what holds it, and its key; nothing for the tree itself."""
    holder, key = None, None
    while isinstance(tree, dict | list) and tree and (holder is None or dice.random() < 0.75):
        holder = tree
        key = dice.choice(list(tree)) if isinstance(tree, dict) else dice.randrange(len(tree))
        tree = tree[key]
    return holder, key


def as_json(value: Any) -> bytes:
    """JSON as a careless writer makes it: numbers that are none and half letters included."""
    return json.dumps(value, ensure_ascii=True).encode()
