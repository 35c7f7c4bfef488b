"""PDDL as the games write it: lists read the way Fast Downward reads them, and the problem of a
game.

Case is folded, `;` starts a comment, `?` starts a new word, and a comma is part of the word it
touches: the official domain relies on that last habit.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple, TypeAlias, cast

from rpms.worlds.alfworld.engine import texts

SExpr: TypeAlias = "str | list[SExpr]"

MAX_CHARACTERS = 4_000_000
"""Forty times the largest official problem."""
MAX_DEPTH = 50
"""Official texts nest 9 deep; the bound keeps what walks the result within Python's stack."""
MAX_THINGS = 3_000
"""Eight times what the largest official game declares."""

_COMMENT = re.compile(r";[^\n]*")
_PIECE = re.compile(r"\([^()]*\)|[()]|[^\s()]+")
"""A list without lists in it, which most of a problem is, in one piece; a parenthesis; a word."""
_IDS = re.compile(r"[a-z0-9_.+\- ]*")


class Damage(Exception):
    """A text that cannot be a game, with the line of that text where known; `read_engine` adds
    the file's name.
    """

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.problem = problem if line is None else f"{problem} (its line {line})"
        super().__init__(self.problem)


_LONGEST_QUOTE = 60


def quoted(text: object) -> str:
    """Untrusted text made fit for a one-line message: escaped, and short."""
    shown = ascii(text)
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[: _LONGEST_QUOTE - 1]}…"


def read_list(text: str, limit: int = MAX_CHARACTERS) -> list[SExpr]:
    """The one list that a PDDL text holds.

    Raises Damage for anything else, in time linear in the text.
    """
    if len(text) > limit:
        raise Damage(f"is {len(text):,} characters long; the limit is {limit:,}")
    bare = _COMMENT.sub("", text)
    if not bare.isascii():
        raise Damage("has a non-ASCII character outside its comments")
    bare = bare.lower().replace("?", " ?")
    pieces = _PIECE.findall(bare)
    if not pieces or pieces[0][0] != "(":
        raise Damage("does not start with '('")
    top = _nested(pieces, bare)
    if len(top) > 1:
        raise Damage("goes on after its last ')'")
    return top[0]  # type: ignore[return-value]  # a list, as it starts with a parenthesis


def _nested(pieces: list[str], text: str) -> list[SExpr]:
    """The pieces of a text as nested lists, by its parentheses."""
    top: list[SExpr] = []
    stack = [top]
    for index, piece in enumerate(pieces):
        if piece == "(":
            if len(stack) > MAX_DEPTH:
                raise Damage(f"nests deeper than {MAX_DEPTH} parentheses", _line(text, index))
            deeper: list[SExpr] = []
            stack[-1].append(deeper)
            stack.append(deeper)
        elif piece == ")":
            stack.pop()
            if not stack:
                raise Damage("has a ')' too many", _line(text, index))
        elif piece.startswith("("):  # a list of words alone, in one piece
            stack[-1].append([*piece[1:-1].split()])
        else:
            stack[-1].append(piece)
    if len(stack) > 1:
        raise Damage("ends before its last ')': the text is cut off")
    return top


def _line(text: str, index: int) -> int:
    """The line of a piece, by the piece's number."""
    piece = next(islice(_PIECE.finditer(text), index, None))
    return text.count("\n", 0, piece.start()) + 1


def words_of(expression: SExpr, what: str) -> list[str]:
    """A list that holds words alone, such as a ground fact."""
    if not isinstance(expression, list):
        raise Damage(f"has {expression[:40]!r} where {what} is expected")
    if list in map(type, expression):
        raise Damage(f"has a malformed {what}")
    if not expression:
        raise Damage(f"has an empty {what}")
    return cast("list[str]", expression)


def typed(words: list[str], what: str) -> list[tuple[str, str]]:
    """Names with their types, from `a b - t c - u`; names without one are of the root type,
    `object`.
    """
    result: list[tuple[str, str]] = []
    pending: list[str] = []
    rest = iter(words)
    for word in rest:
        if word != "-":
            pending.append(word)
            continue
        kind = next(rest, None)
        if not pending or kind is None:
            raise Damage(f"has a '-' without a name before it or a type after it in {what}")
        result += [(name, kind) for name in pending]
        pending = []
    return result + [(name, "object") for name in pending]


def _declared_predicates() -> dict[str, tuple[str, ...]]:
    """The predicates that ALFWorld's domain declares, each with the types of its arguments."""
    sections = read_list(texts.domain("0.3"))
    predicates = {}
    for entry in sections[4][1:]:
        name, *arguments = words_of(entry, "predicate")
        predicates[name] = tuple(kind for _, kind in typed(arguments, name))
    return predicates


TYPES = frozenset({"agent", "location", "receptacle", "object", "rtype", "otype"})
PREDICATES: Mapping[str, tuple[str, ...]] = _declared_predicates()
"""Every predicate of ALFWorld, with the types of its arguments; names are lower-case throughout
the engine."""


class Problem(NamedTuple):
    """A problem whose every word is declared and of the right type."""

    things: Mapping[str, str]
    """The type of each id."""
    facts: Mapping[str, frozenset[tuple[str, ...]]]
    """The arguments for which each predicate holds at the start; every predicate has an entry."""
    goal: SExpr


def read_problem(text: str, domain: str) -> Problem:
    """Read a problem of a domain, by its name.

    Raises Damage when it is damaged or uses words it does not declare.
    """
    top = read_list(text)
    header(top, "problem")
    sections = _sections(top[2:])
    for name in _NEEDED:
        if name not in sections:
            raise Damage(f"has no {name} section")
    unknown = sorted(sections.keys() - {*_NEEDED, ":requirements", ":metric"})
    if unknown:
        raise Damage(f"has an unknown section {quoted(unknown[0])}")
    if sections[":domain"] != [domain]:
        raise Damage(f"is for another domain than {quoted(domain)}")
    if len(sections[":goal"]) != 1:
        raise Damage("has not exactly one goal")
    things = _things(sections[":objects"])
    return Problem(things, _facts(sections[":init"], things), sections[":goal"][0])


_NEEDED = (":domain", ":objects", ":init", ":goal")
"""Sections that every problem has."""


def _sections(nodes: list[SExpr]) -> dict[str, list[SExpr]]:
    """The contents of each section, by the word that it begins with."""
    sections: dict[str, list[SExpr]] = {}
    for node in nodes:
        match node:
            case [str(name), *content]:
                if name in sections:
                    raise Damage(f"has two sections {quoted(name)}")
                sections[name] = content
            case _:
                raise Damage("has a malformed section")
    return sections


def header(top: list[SExpr], kind: str) -> str:
    """The name in `(define (kind name) …`."""
    if len(top) < 2 or top[0] != "define":
        raise Damage("does not start with (define")
    words = words_of(top[1], f"({kind} …)")
    if len(words) != 2 or words[0] != kind:
        raise Damage(f"does not name its {kind}")
    return words[1]


def _things(section: list[SExpr]) -> dict[str, str]:
    pairs = typed(words_of(section, ":objects") if section else [], ":objects")
    if len(pairs) > MAX_THINGS:
        raise Damage(f"declares {len(pairs):,} objects; the limit is {MAX_THINGS:,}")
    if not _IDS.fullmatch(" ".join(name for name, _ in pairs)):
        raise Damage("has an object name with a character that no ALFWorld game has")
    things: dict[str, str] = {}
    for name, kind in pairs:
        if kind not in TYPES:
            raise Damage(f"declares {quoted(name)} of an unknown type {quoted(kind)}")
        if name in things:
            raise Damage(f"declares {quoted(name)} twice")
        things[name] = kind
    return things


def _facts(
    section: list[SExpr], things: Mapping[str, str]
) -> dict[str, frozenset[tuple[str, ...]]]:
    """The facts of :init by predicate; a fact that is also denied there is damage."""
    facts: dict[str, set[tuple[str, ...]]] = {name: set() for name in PREDICATES}
    denied: set[tuple[str, ...]] = set()
    for fact in section:
        match fact:
            case ["=", ["total-cost"], *_]:
                pass
            case ["=", *_]:
                raise Damage("has a number in :init that no ALFWorld game has")
            case ["not", negated]:
                denied.add(tuple(words_of(negated, "fact")))
            case _:
                words = words_of(fact, "fact")
                check_atom(words, things)
                facts[words[0]].add(tuple(words[1:]))
    for name, *arguments in denied:
        if tuple(arguments) in facts.get(name, ()):
            raise Damage(f"says that {quoted(name)} both holds and does not hold")
    return {name: frozenset(rows) for name, rows in facts.items()}


def check_atom(words: list[str], things: Mapping[str, str]) -> None:
    """Refuse a ground fact with an unknown predicate, an undeclared object, or objects of the
    wrong types.
    """
    predicate, *arguments = words
    types = PREDICATES.get(predicate)
    if types == tuple(map(things.get, arguments)):  # as of nearly all facts: the fastest way to ask
        return
    if types is None:
        raise Damage(f"uses an unknown predicate {quoted(predicate)}")
    if len(types) != len(arguments):
        counts = f"{len(arguments)} arguments, not {len(types)}"
        raise Damage(f"gives predicate {quoted(predicate)} {counts}")
    for word, kind in zip(arguments, types, strict=True):
        found = things.get(word)
        if found is None:
            raise Damage(f"uses an undeclared object {quoted(word)}")
        if found != kind:
            raise Damage(f"uses {quoted(word)}, of type {found}, where {predicate} takes a {kind}")
