"""TextWorld's grammar text: commands and answers of each action, and the rules that they are put together by.

Nothing in a grammar is evaluated: its texts are compared with those of ALFWorld's releases (`dialect`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from rpms.worlds.alfworld.engine.damage import Damage, quoted

MAX_CHARACTERS = 400_000

_SPACE = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*")
_HEAD = re.compile(r"action\s+([\w/-]+)\s*\{")
_FIELD = re.compile(r'(template|feedback|pddl|grammar)\s*::\s*("""(.*?)"""|"([^"]*)")\s*;', re.DOTALL)


class Grammar(NamedTuple):
    """The texts of a game."""

    actions: Mapping[str, tuple[str, str]]
    """Lower-case name of an action → its command and the text that answers."""
    rules: Mapping[str, Any]
    """Symbol → its alternatives, as the grammar writes them."""


def read(text: str) -> Grammar:
    """Read a grammar. Raises Damage for anything TextWorld could not read."""
    if len(text) > MAX_CHARACTERS:
        raise Damage(f"is {len(text):,} characters long; the limit is {MAX_CHARACTERS:,}")
    actions: dict[str, tuple[str, str]] = {}
    rules: dict[str, Any] = {}
    at = _skip(text, 0)
    while at < len(text):
        if head := _HEAD.match(text, at):
            fields, at = _fields(text, head.end())
            missing = [name for name in ("template", "feedback") if name not in fields]
            if missing:
                raise Damage(f"gives action {quoted(head[1])} no {missing[0]}")
            actions[head[1].lower()] = (fields["template"], fields["feedback"])
            block = fields.get("grammar", "{}")
            rules.update(_rules("\n".join(line for line in block.split("\n") if not line.lstrip().startswith("#"))))
        elif (field := _FIELD.match(text, at)) and field[1] == "grammar" and field[3] is not None:
            rules.update(_rules(field[3]))
            at = field.end()
        else:
            raise Damage("is not a TextWorld grammar", text.count("\n", 0, at) + 1)
        at = _skip(text, at)
    return Grammar(actions, rules)


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _fields(text: str, at: int) -> tuple[dict[str, str], int]:
    fields: dict[str, str] = {}
    at = _skip(text, at)
    while field := _FIELD.match(text, at):
        fields[field[1]] = field[4] if field[3] is None else field[3]
        at = _skip(text, field.end())
    if text[at : at + 1] != "}":
        raise Damage("has an action that does not end", text.count("\n", 0, at) + 1)
    return fields, at + 1


def _rules(block: str) -> dict[str, Any]:
    try:
        data = json.loads(block)
    except (ValueError, RecursionError):
        raise Damage("has a block of rules that is not JSON") from None
    if not isinstance(data, dict):
        raise Damage("has a block of rules that is not a JSON object")
    return data
