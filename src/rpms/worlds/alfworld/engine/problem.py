"""The PDDL problem of a game: its things, what is true at the start, and the goal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rpms.worlds.alfworld.engine import sexpr, texts
from rpms.worlds.alfworld.engine.damage import Damage, quoted
from rpms.worlds.alfworld.engine.sexpr import SExpr

TYPES = frozenset({"agent", "location", "receptacle", "object", "rtype", "otype"})
PREDICATES: Mapping[str, tuple[str, ...]] = {
    words[0]: tuple(kind for _, kind in sexpr.typed(words[1:], words[0]))
    for words in (sexpr.words_of(entry, "predicate") for entry in sexpr.read(texts.domain("0.3"))[4][1:])
}
"""Every predicate of ALFWorld, with the types of its arguments; names are lower-case throughout the engine."""

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


def read(text: str, domain: str) -> Problem:
    """Read a problem of a domain, by its name. Raises Damage when it is damaged or uses words it does not declare."""
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
    if sections[":domain"] != [domain]:
        raise Damage(f"is for another domain than {quoted(domain)}")
    if len(sections[":goal"]) != 1:
        raise Damage("has not exactly one goal")
    things = _things(sections[":objects"])
    return Problem(things, _facts(sections[":init"], things), sections[":goal"][0])


def header(top: list[SExpr], kind: str) -> str:
    """The name in `(define (kind name) …`."""
    if len(top) < 2 or top[0] != "define":
        raise Damage("does not start with (define")
    words = sexpr.words_of(top[1], f"({kind} …)")
    if len(words) != 2 or words[0] != kind:
        raise Damage(f"does not name its {kind}")
    return words[1]


def _things(section: list[SExpr]) -> dict[str, str]:
    words = sexpr.words_of(section, ":objects") if section else []
    pairs = sexpr.typed(words, ":objects")
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
