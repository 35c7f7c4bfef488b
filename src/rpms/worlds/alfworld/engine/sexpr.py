"""PDDL's parentheses as nested lists, read the way Fast Downward reads them.

Case is folded, `;` starts a comment, `?` starts a new word, and a comma is part of the word it touches: the official
domain relies on that last habit (see `domain.py`).
"""

from __future__ import annotations

import re
from typing import TypeAlias

from rpms.worlds.alfworld.engine.damage import Damage

SExpr: TypeAlias = "str | list[SExpr]"

MAX_CHARACTERS = 4_000_000
"""Forty times the largest official problem."""
MAX_DEPTH = 50
"""Official texts nest 9 deep; the bound keeps what walks the result within Python's stack."""

_COMMENT = re.compile(r";[^\n]*")
_PIECE = re.compile(r"\([^()]*\)|[()]|[^\s()]+")
"""A list without lists in it, which most of a problem is, in one piece; a parenthesis; a word."""


def read(text: str, limit: int = MAX_CHARACTERS) -> list[SExpr]:
    """The one list that a PDDL text holds. Raises Damage for anything else, in time linear in the text."""
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
    only = top[0]
    assert isinstance(only, list)
    return only


def _nested(pieces: list[str], text: str) -> list[SExpr]:
    top: list[SExpr] = []
    stack = [top]
    current = top
    for index, piece in enumerate(pieces):
        if piece == "(":
            if len(stack) > MAX_DEPTH:
                raise Damage(f"nests deeper than {MAX_DEPTH} parentheses", _line(text, index))
            deeper: list[SExpr] = []
            current.append(deeper)
            stack.append(deeper)
            current = deeper
        elif piece == ")":
            stack.pop()
            if not stack:
                raise Damage("has a ')' too many", _line(text, index))
            current = stack[-1]
        elif piece[0] == "(":
            current.append([*piece[1:-1].split()])
        else:
            current.append(piece)
    if len(stack) > 1:
        raise Damage("ends before its last ')': the text is cut off")
    return top


def words_of(expression: SExpr, what: str) -> list[str]:
    """A list that holds words alone, such as a ground fact."""
    if not isinstance(expression, list):
        raise Damage(f"has {expression[:40]!r} where {what} is expected")
    words: list[str] = []
    for word in expression:
        if not isinstance(word, str):
            raise Damage(f"has a malformed {what}")
        words.append(word)
    if not words:
        raise Damage(f"has an empty {what}")
    return words


def typed(words: list[str], what: str) -> list[tuple[str, str]]:
    """Names with their types, from `a b - t c - u`; names without one are of the root type, `object`."""
    result: list[tuple[str, str]] = []
    pending: list[str] = []
    rest = iter(words)
    for word in rest:
        if word != "-":
            pending.append(word)
            continue
        kind = next(rest, None)
        if kind is None or not pending:
            raise Damage(f"has a '-' without a name before it or a type after it in {what}")
        result += [(name, kind) for name in pending]
        pending = []
    return result + [(name, "object") for name in pending]


def _line(text: str, index: int) -> int:
    for at, match in enumerate(_PIECE.finditer(text)):
        if at == index:
            return text.count("\n", 0, match.start()) + 1
    return 1
