"""TextWorld's grammar text, read into what each action's texts mean rather than how they are written.

A rule's name does not matter, only what it expands to: `meaning` replaces every `#symbol#` by its alternatives, so two
grammars that print the same texts under the same conditions compare equal. Nothing in a grammar is ever evaluated;
what is not one of the few expressions below is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from rpms.worlds.alfworld.engine.errors import Damage, quoted

Part: TypeAlias = "str | tuple[Any, ...]"
"""A literal, or ("name", variable), ("list", given, parts), ("if", ((condition, parts), …))."""

MAX_CHARACTERS = 400_000
MAX_DEPTH = 30
"""Symbols within symbols; the official ones go 4 deep."""
MAX_EXPANSION = 4_000
"""Symbols in all texts spelled out; the official ones come to under 400."""

_SPACE = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*")
_HEAD = re.compile(r"action\s+([\w/-]+)\s*\{")
_FIELD = re.compile(r'(template|feedback|pddl|grammar)\s*::\s*("""(.*?)"""|"([^"]*)")\s*;', re.DOTALL)
_SYMBOL = re.compile(
    r"#(?P<call>[\w()/!<>\-\s,.]+)#"
    r"|\[\{(?P<item>#[\w()/!<>\-\s,.]+#\s*|[^|\[\]{}\n<>#]+)\|(?P<given>[^;|{}\n\[\]#]+)\}\]"
    r"|\{(?P<value>[^|\[\]{}\n<>#]+)\}"
    r'|(?P<literal>[^;|"<>\[\]#{}]+)'
)
_NAME = re.compile(r"(\w+)\.name(?: or \1\.id)?|(\w+)")
_LISTING = ("list_empty", "list_separator", "list_last_separator")


class GrammarRule(NamedTuple):
    """One alternative of a symbol: what it prints, and when."""

    condition: str
    text: str


class ActionText(NamedTuple):
    """Command of an action, and the text that answers."""

    template: str
    feedback: str


class Grammar:
    """The texts of a game, by lower-case action name and by symbol."""

    def __init__(self, actions: Mapping[str, ActionText], rules: Mapping[str, tuple[GrammarRule, ...]]) -> None:
        self.actions = actions
        self.rules = rules
        self._expansion = _Expansion(rules)

    def meaning(self, text: str) -> tuple[Part, ...]:
        """A text spelled out. Raises Damage for a missing or circular symbol."""
        return self._expansion.expand(text, ())


def read(text: str) -> Grammar:
    """Read a grammar. Raises Damage for anything TextWorld could not read, and for code in it."""
    if len(text) > MAX_CHARACTERS:
        raise Damage(f"is {len(text):,} characters long; the limit is {MAX_CHARACTERS:,}")
    actions: dict[str, ActionText] = {}
    rules: dict[str, tuple[GrammarRule, ...]] = {}
    at = _skip(text, 0)
    while at < len(text):
        if head := _HEAD.match(text, at):
            fields, at = _fields(text, head.end())
            missing = [name for name in ("template", "feedback") if name not in fields]
            if missing:
                raise Damage(f"gives action {quoted(head[1])} no {missing[0]}")
            actions[head[1].lower()] = ActionText(fields["template"], fields["feedback"])
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


def _rules(block: str) -> dict[str, tuple[GrammarRule, ...]]:
    try:
        data = json.loads(block)
    except (ValueError, RecursionError):
        raise Damage("has a block of rules that is not JSON") from None
    if not isinstance(data, dict):
        raise Damage("has a block of rules that is not a JSON object")
    return {name: _alternatives(name, entry) for name, entry in data.items()}


def _alternatives(name: str, entry: object) -> tuple[GrammarRule, ...]:
    if not isinstance(entry, list):
        raise Damage(f"gives symbol {quoted(name)} no list of rules")
    found = []
    for rule in entry:
        text, condition = (rule.get("rhs"), rule.get("condition", "")) if isinstance(rule, dict) else (None, "")
        if not isinstance(text, str) or not isinstance(condition, str):
            raise Damage(f"has a malformed rule for symbol {quoted(name)}")
        found.append(GrammarRule(_query(condition), text))
    return tuple(found)


class _Expansion:
    """Texts being spelled out, each symbol once, with a budget so that rules that double and redouble end."""

    def __init__(self, rules: Mapping[str, tuple[GrammarRule, ...]]) -> None:
        self._rules = rules
        self._left = MAX_EXPANSION
        self._known: dict[str, tuple[Part, ...]] = {}
        self._size: dict[str, int] = {}

    def expand(self, text: str, inside: tuple[str, ...]) -> tuple[Part, ...]:
        parts: list[Part] = []
        at = len(text) - len(text.lstrip())  # TextWorld's parser drops what space a text begins with
        while at < len(text):
            symbol = _SYMBOL.match(text, at)
            if symbol is None:
                raise Damage(f"has markup it cannot have in {quoted(text)}")
            at = symbol.end()
            if symbol["call"]:
                parts += self._call(symbol["call"], inside)
            elif symbol["item"]:
                item = symbol["item"].strip()
                listed = self._call(item[1:-1], inside) if item.startswith("#") else _value(item)
                marks = tuple(self._call(name, inside) for name in _LISTING)
                parts.append(("list", _query(symbol["given"]), _joined(listed), marks))
            else:
                parts += _value(symbol["value"]) if symbol["value"] else (symbol["literal"],)
        return _joined(parts)

    def _call(self, name: str, inside: tuple[str, ...]) -> tuple[Part, ...]:
        if name not in self._known:
            left = self._left
            self._known[name] = self._symbol(name, inside)
            self._size[name] = left - self._left + 1
            self._left = left
        self._left -= self._size[name]
        if self._left < 0:
            raise Damage(f"never finishes symbol {quoted(name)}")
        return self._known[name]

    def _symbol(self, name: str, inside: tuple[str, ...]) -> tuple[Part, ...]:
        if name in inside or len(inside) > MAX_DEPTH:
            raise Damage(f"never finishes symbol {quoted(name)}")
        options: list[tuple[str, tuple[Part, ...]]] = []
        for rule in self._rules.get(name, ()):
            options.append((rule.condition, self.expand(rule.text, (*inside, name))))
            if not rule.condition:
                break
        if not options or options[-1][0]:
            raise Damage(f"has no rule for symbol {quoted(name)} that always applies")
        return options[0][1] if len(options) == 1 else (("if", tuple(options)),)


def _value(expression: str) -> tuple[Part, ...]:
    """The parts of `a.name`, `a.indefinite` or a sum of them; ALFWorld's indefinite article is always "a"."""
    parts: list[Part] = []
    for term in expression.split(" + "):
        bare = term.strip()
        if bare == "' '":
            parts.append(" ")
        elif bare.endswith(".indefinite"):
            parts.append("a")
        elif name := _NAME.fullmatch(bare):
            parts.append(("name", name[1] or name[2]))
        else:
            raise Damage(f"asks for {quoted(bare)}, which is not a name")
    return tuple(parts)


def _joined(parts: list[Part] | tuple[Part, ...]) -> tuple[Part, ...]:
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _query(text: str) -> str:
    return " & ".join("".join(term.split()) for term in text.split("&")) if text.strip() else ""
