"""PDDL domains, read into what their actions mean (without order, nesting, costs and names of variables), and problems.

One oddity is meaning, not spelling: the official `examineObject` quantifies over the type `location,` (with the comma),
which no object has. That branch is therefore never true, and the engine examines only what is held.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rpms.worlds.alfworld.engine import sexpr, texts
from rpms.worlds.alfworld.engine.errors import Damage, quoted
from rpms.worlds.alfworld.engine.sexpr import SExpr

Meaning: TypeAlias = tuple[Any, ...]

MAX_CHARACTERS = 200_000
"""Ten times the official domains."""

TYPES = frozenset({"agent", "location", "receptacle", "object", "rtype", "otype"})


def _declared(section: SExpr) -> list[tuple[str, tuple[str, ...]]]:
    """The predicates of a `:predicates` section, with the types of their arguments."""
    entries = [sexpr.words_of(entry, "predicate") for entry in section[1:]]
    return [(name, tuple(kind for _, kind in sexpr.typed(words, f"predicate {name}"))) for name, *words in entries]


PREDICATES: Mapping[str, tuple[str, ...]] = dict(_declared(sexpr.read(texts.domain("0.3"))[4]))
"""Every predicate of ALFWorld, with the types of its arguments; names are lower-case throughout the engine."""

_FALSE: Meaning = ("or",)


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain's name, its constants with their types, and the meaning of each action by lower-case name."""

    name: str
    constants: tuple[tuple[str, str], ...]
    actions: Mapping[str, Meaning]


def read(text: str) -> Domain:
    """Read a domain. Raises Damage when it is damaged or speaks of types or predicates that ALFWorld lacks."""
    top = sexpr.read(text, MAX_CHARACTERS)
    name = header(top, "domain")
    constants: list[tuple[str, str]] = []
    declared: set[str] = set()
    types = {"object"}
    actions: dict[str, Meaning] = {}
    for section in top[2:]:
        if not isinstance(section, list) or not section or not isinstance(section[0], str):
            raise Damage("has a malformed section")
        title = section[0]
        if title == ":types":
            pairs = sexpr.typed(sexpr.words_of(section, ":types")[1:], ":types")
            types |= _known_types(pairs)
        elif title == ":constants":
            constants += sexpr.typed(sexpr.words_of(section, ":constants")[1:], ":constants")
        elif title == ":predicates":
            declared |= _known_predicates(section)
        elif title == ":action":
            action, meaning = _Action(section, frozenset(types), frozenset(declared)).read()
            if action in actions:
                raise Damage(f"has two actions named {quoted(action)}")
            actions[action] = meaning
        elif title not in (":requirements", ":functions"):
            raise Damage(f"has a section {quoted(title)} that no ALFWorld domain has")
    return Domain(name, tuple(constants), actions)


def header(top: list[SExpr], kind: str) -> str:
    """The name in `(define (kind name) …`."""
    if len(top) < 2 or top[0] != "define":
        raise Damage("does not start with (define")
    words = sexpr.words_of(top[1], f"({kind} …)")
    if len(words) != 2 or words[0] != kind:
        raise Damage(f"does not name its {kind}")
    return words[1]


def _known_types(pairs: Iterable[tuple[str, str]]) -> set[str]:
    found = set()
    for name, parent in pairs:
        if name not in TYPES or parent != "object":
            raise Damage(f"has an unknown type {quoted(name)}")
        found.add(name)
    return found


def _known_predicates(section: SExpr) -> set[str]:
    for name, types in _declared(section):
        if name not in PREDICATES:
            raise Damage(f"has an unknown predicate {quoted(name)}")
        if PREDICATES[name] != types:
            raise Damage(f"declares predicate {quoted(name)} for other types than ALFWorld does")
    return {name for name, _ in _declared(section)}


class _Action:
    """One action being read."""

    def __init__(self, section: list[SExpr], types: frozenset[str], predicates: frozenset[str]) -> None:
        self._section = section
        self._types = types
        self._predicates = predicates

    def read(self) -> tuple[str, Meaning]:
        name = self._section[1] if len(self._section) > 1 else None
        if not isinstance(name, str):
            raise Damage("has an action without a name")
        fields: dict[str, SExpr] = {}
        for key, value in zip(self._section[2::2], self._section[3::2], strict=False):
            if not isinstance(key, str) or key in fields:
                raise Damage(f"has a malformed action {quoted(name)}")
            fields[key] = value
        if len(self._section) % 2 or not fields.keys() <= {":parameters", ":precondition", ":effect"}:
            raise Damage(f"has a malformed action {quoted(name)}")
        parameters = fields.get(":parameters", [])
        pairs = sexpr.typed(sexpr.words_of(parameters, "parameter list"), name) if parameters else []
        before = self._condition(fields.get(":precondition", []), {})
        after = self._effect(fields.get(":effect", []))
        return name, (tuple(sorted(pairs)), before, tuple(sorted(after, key=repr)))

    def _condition(self, node: SExpr, bound: Mapping[str, str]) -> Meaning:
        if node == []:
            return ("and",)
        if not isinstance(node, list) or not isinstance(node[0], str):
            raise Damage("has a malformed condition")
        head = node[0]
        if head in ("and", "or"):
            return _combined(head, [self._condition(part, bound) for part in node[1:]])
        if head == "not" and len(node) == 2:
            return ("not", self._condition(node[1], bound))
        if head == "exists" and len(node) == 3:
            pairs = sexpr.typed(sexpr.words_of(node[1], "variable list"), "exists")
            if any(kind not in self._types for _, kind in pairs):
                return _FALSE
            fresh = {name: f"?{len(bound) + index}" for index, (name, _) in enumerate(pairs)}
            body = self._condition(node[2], {**bound, **fresh})
            return ("exists", tuple((fresh[name], kind) for name, kind in pairs), body)
        return self._atom(node, bound)

    def _atom(self, node: SExpr, bound: Mapping[str, str]) -> Meaning:
        words = sexpr.words_of(node, "condition")
        if words[0] not in self._predicates:
            raise Damage(f"uses an undeclared predicate {quoted(words[0])}")
        if len(words) - 1 != len(PREDICATES[words[0]]):
            raise Damage(f"gives predicate {quoted(words[0])} {len(words) - 1} arguments")
        return tuple(bound.get(word, word) for word in words)

    def _effect(self, node: SExpr) -> set[Meaning]:
        """Effects as a set; what an action costs is the planner's business, not the player's."""
        if node == []:
            return set()
        if not isinstance(node, list) or not isinstance(node[0], str):
            raise Damage("has a malformed effect")
        head = node[0]
        if head == "and":
            return {effect for part in node[1:] for effect in self._effect(part)}
        if head == "increase":
            return set()
        if head == "when" and len(node) == 3:
            condition = self._condition(node[1], {})
            return {("when", condition, effect) for effect in self._effect(node[2])}
        if head == "not" and len(node) == 2:
            return {("not", self._atom(node[1], {}))}
        return {self._atom(node, {})}


def _combined(head: str, parts: list[Meaning]) -> Meaning:
    other = ("and",) if head == "or" else _FALSE
    flat: set[Meaning] = set()
    for part in parts:
        if part == other:
            return other
        flat |= set(part[1:]) if part[0] == head else {part}
    return next(iter(flat)) if len(flat) == 1 else (head, *sorted(flat, key=repr))


MAX_THINGS = 3_000
"""Eight times what the largest official game declares."""

_IDS = re.compile(r"[a-z0-9_.+\- ]*")


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem whose every word is declared and of the right type."""

    things: Mapping[str, str]
    """The type of each id."""
    facts: Mapping[str, frozenset[tuple[str, ...]]]
    """The arguments for which each predicate holds at the start; every predicate has an entry."""
    goal: SExpr


def read_problem(text: str, domain: Domain) -> Problem:
    """Read a problem. Raises Damage when it is damaged or uses words that neither it nor the domain declares."""
    top = sexpr.read(text)
    header(top, "problem")
    sections: dict[str, list[SExpr]] = {}
    for section in top[2:]:
        if not isinstance(section, list) or not section or not isinstance(section[0], str):
            raise Damage("has a malformed section")
        if section[0] in sections:
            raise Damage(f"has two sections {quoted(section[0])}")
        sections[section[0]] = section[1:]
    for name in (":domain", ":objects", ":init", ":goal"):
        if name not in sections:
            raise Damage(f"has no {name} section")
    if unknown := sorted(sections.keys() - {":domain", ":objects", ":init", ":goal", ":requirements", ":metric"}):
        raise Damage(f"has an unknown section {quoted(unknown[0])}")
    if sections[":domain"] != [domain.name]:
        raise Damage(f"is for another domain than {quoted(domain.name)}")
    if len(sections[":goal"]) != 1:
        raise Damage("has not exactly one goal")
    things = _things(sections[":objects"], domain)
    return Problem(things, _facts(sections[":init"], things), sections[":goal"][0])


def _things(section: list[SExpr], domain: Domain) -> dict[str, str]:
    words = sexpr.words_of(section, ":objects") if section else []
    pairs = [*domain.constants, *sexpr.typed(words, ":objects")]
    if len(pairs) > MAX_THINGS:
        raise Damage(f"declares {len(pairs):,} objects; the limit is {MAX_THINGS:,}")
    ids = " ".join(name for name, _ in pairs)
    if (end := _IDS.match(ids)) is None or end.end() < len(ids):
        raise Damage("has an object name with a character that no ALFWorld game has")
    things: dict[str, str] = {}
    for name, kind in pairs:
        if kind not in TYPES:
            raise Damage(f"declares {quoted(name)} of an unknown type {quoted(kind)}")
        if name in things:
            raise Damage(f"declares {quoted(name)} twice")
        things[name] = kind
    return things


def _facts(section: list[SExpr], things: Mapping[str, str]) -> dict[str, frozenset[tuple[str, ...]]]:
    facts: dict[str, set[tuple[str, ...]]] = {name: set() for name in PREDICATES}
    denied: set[tuple[str, ...]] = set()
    for fact in section:
        if isinstance(fact, list) and fact[:1] == ["="]:
            if fact[1:2] != [["total-cost"]]:
                raise Damage("has a number in :init that no ALFWorld game has")
            continue
        if isinstance(fact, list) and fact[:1] == ["not"] and len(fact) == 2:
            denied.add(tuple(sexpr.words_of(fact[1], "fact")))
            continue
        words = sexpr.words_of(fact, "fact")
        check_atom(words, things)
        facts[words[0]].add(tuple(words[1:]))
    for name, *arguments in denied:
        if tuple(arguments) in facts.get(name, ()):
            raise Damage(f"says that {quoted(name)} both holds and does not hold")
    return {name: frozenset(rows) for name, rows in facts.items()}


def check_atom(words: list[str], things: Mapping[str, str]) -> None:
    """Refuse a ground fact with an unknown predicate, an undeclared object, or objects of the wrong types."""
    types = PREDICATES.get(words[0])
    if types is None:
        raise Damage(f"uses an unknown predicate {quoted(words[0])}")
    if len(types) != len(words) - 1:
        raise Damage(f"gives predicate {quoted(words[0])} {len(words) - 1} arguments, not {len(types)}")
    for word, kind in zip(words[1:], types, strict=True):
        found = things.get(word)
        if found is None:
            raise Damage(f"uses an undeclared object {quoted(word)}")
        if found != kind:
            raise Damage(f"uses {quoted(word)}, of type {found}, where {words[0]} takes a {kind}")
