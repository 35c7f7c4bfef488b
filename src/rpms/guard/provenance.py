"""The source of a value: the user's messages, or what a tool returned.

A value is traced by its text, without asking a model. The agent's own words are no source, nor is
what a result repeats of the call that it answers.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rpms.guard.comparisons import text_of
from rpms.logic.facts import Truth
from rpms.logic.rules import Predicate

FROM_USER = "from_user"
FROM_TOOL = "from_tool"
PREDICATES: Mapping[str, Predicate] = {
    FROM_USER: Predicate(
        FROM_USER, ("value",), "<value> is from the user", "<value> is not from the user"
    ),
    FROM_TOOL: Predicate(
        FROM_TOOL, ("value", "tool"), "<value> is from <tool>", "<value> is not from <tool>"
    ),
}
"""Facts that every manual knows: from_user(argument) and from_tool(argument, "tool")."""
MOST_CHARACTERS = 400_000
"""Characters of messages, and of results, that a conversation remembers. The oldest are forgotten
first; from then on, a value that is not found may have been in them."""
_CHUNK = 20_000
_LONGEST_VALUE = 1_000
"""Most characters of a value. A longer one is not looked for: nobody reads such a text as a
name."""
_MOST_VALUES = 50
"""Values in one argument that are looked for; a longer list is unknown."""
_MOST_PLACES = 1_000
"""Places in a text that are tried, so that no text takes seconds."""
_SHORT = 3
"""Letters and digits below which a value is contained in anything, so that this tells nothing."""
_END = "\0"
"""Stands between the values of a result, so that nothing is found across two of them."""
_JOINS = ".@:/\\_+#%&=?~-"
"""Signs that make one word of what stands on both sides: bob@x.com, a/b.txt."""
_BEGINS = "./\\~"
"""Signs that belong to the word after them: /etc/passwd is not etc/passwd."""
_NOT_WHOLE = ("characters, sha256 ", "[masked ")
"""Signs that a log has cut a text or masked a value: what is read from it again has gaps."""
_NUMBER = re.compile(r"(0|-?[1-9]\d{0,14})(\.\d{1,6})?")


FAILED = "(failed)"
"""Stands for the tool of a call that failed: no rule can name it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A message of the user, or a result."""

    text: str
    """Values of the piece in one text, an end mark before and after each; empty if it was not
    kept."""
    tool: str = ""
    """The tool that returned it; empty for the user."""
    asked: str = ""
    """The values of the call that it answers, in loose writing."""
    loose: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "loose", _loosened(self.text))

    @classmethod
    def said(cls, text: str) -> Piece:
        """A message of the user."""
        return cls(_joined([text]))

    @classmethod
    def returned(cls, tool: str, arguments: Mapping[str, Any], result: object) -> Piece:
        """A result of a call."""
        asked = _loosened(_joined(_texts(dict(arguments))))
        return cls(_joined(_texts(result)), tool, asked)

    @property
    def size(self) -> int:
        """Characters that it takes."""
        return len(self.text) + len(self.asked)

    def has(self, value: _Value) -> bool:
        """True if a value is in this text. A long value may stand within it, as words of its own; a
        short one, which may be there by chance, has to be a text by itself. A value that the call
        named does not count: results repeat it.
        """
        if value.loose in self.asked:
            return False
        if any(f"{_END}{each}{_END}" in self.text for each in value.spellings):
            return True
        return not value.short and any(_is_within(self.text, each) for each in value.spellings)


class _Chunk:
    """Some pieces, one after another, whose texts are searched as one."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.size = 0
        self._loose = ""
        self._starts: list[int] = []

    def add(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.size += piece.size
        self._starts.append(len(self._loose))
        self._loose += piece.loose

    def pieces_with(self, form: str) -> Iterator[Piece]:
        """The pieces in which a text stands, loosely read."""
        place = self._loose.find(form)
        while place >= 0:
            number = bisect_right(self._starts, place)
            yield self.pieces[number - 1]
            if number == len(self.pieces):
                break
            place = self._loose.find(form, self._starts[number])


class _Source:
    """The newest pieces of one kind that are remembered.

    They are searched and forgotten in chunks, so that thousands of pieces cost little.
    """

    def __init__(self) -> None:
        self.chunks: deque[_Chunk] = deque()
        self.gap = False
        """True once something was not kept, so that nothing is known not to have been there."""
        self._size = 0

    def add(self, piece: Piece) -> None:
        if not piece.text or piece.size > MOST_CHARACTERS:
            self.gap = True
            return
        if not self.chunks or self.chunks[-1].size + piece.size > _CHUNK:
            self.chunks.append(_Chunk())
        self.chunks[-1].add(piece)
        self.gap = self.gap or any(sign in piece.text for sign in _NOT_WHOLE)
        self._size += piece.size
        while self._size > MOST_CHARACTERS:
            self._size -= self.chunks.popleft().size
            self.gap = True

    def clear(self) -> None:
        self.gap = self.gap or bool(self.chunks)
        self.chunks.clear()
        self._size = 0

    def has(self, value: _Value, tool: str = "") -> Truth:
        """True if a value was there; with a `tool`, in its results."""
        found = Truth.UNKNOWN if self.gap else Truth.FALSE
        for piece in self._pieces_with(value):
            if tool and piece.tool != tool:
                continue
            if piece.has(value):
                return Truth.TRUE
            found = Truth.UNKNOWN
        return found

    def _pieces_with(self, value: _Value) -> Iterator[Piece]:
        """The pieces that may have a value."""
        for chunk in reversed(self.chunks):
            for form in value.forms:
                yield from chunk.pieces_with(form)


class Traces:
    """The messages and results of one conversation, in which values are looked for."""

    def __init__(self) -> None:
        self._user = _Source()
        self._tools = _Source()

    def add(self, piece: Piece) -> None:
        """Take note of a message or a result."""
        self._source(piece.tool).add(piece)

    def miss(self) -> None:
        """Note that things are said and returned that are not kept."""
        self._user.gap = True
        self._tools.gap = True

    def clear(self) -> None:
        """Forget everything. From now on, a value that is not found may have been there."""
        self._user.clear()
        self._tools.clear()

    def _source(self, tool: str) -> _Source:
        return self._tools if tool else self._user

    def truth(self, value: object, tools: Sequence[str] = ("",)) -> Truth:
        """Truth of an argument being from some tools, or from the user, whose name is empty: each
        value in it has to be from one of them.
        """
        found = Truth.TRUE
        for place, leaf in enumerate(_leaves(value)):
            if place >= _MOST_VALUES:
                return found & Truth.UNKNOWN
            found &= self._from_one_of(leaf, tools)
            if found is Truth.FALSE:
                break
        return found

    def _from_one_of(self, leaf: object, tools: Sequence[str]) -> Truth:
        found = Truth.FALSE
        for tool in tools:
            found |= self._of_leaf(leaf, tool)
        return found

    def _of_leaf(self, leaf: object, tool: str) -> Truth:
        value = _value_of(leaf)
        if value is None:
            return Truth.UNKNOWN
        here = self._source(tool).has(value, tool)
        if here is not Truth.FALSE:
            return here
        elsewhere = Truth.TRUE in (self._user.has(value), self._tools.has(value))
        return Truth.FALSE if elsewhere else Truth.UNKNOWN


@dataclass(frozen=True, slots=True)
class _Value:
    """A value to look for."""

    spellings: tuple[str, ...]
    """Texts that mean just this: 1200 is also 1,200.00."""
    loose: str
    short: bool

    @property
    def forms(self) -> Iterable[str]:
        """Texts without which, loosely read, the value is not there."""
        if len(self.spellings) == 1:
            return (self.loose,)
        return dict.fromkeys(each.partition(".")[0] for each in self.spellings)


def _value_of(leaf: object) -> _Value | None:
    """A value to look for; None for what cannot be traced: a boolean, or a very long text."""
    if isinstance(leaf, bool) or not isinstance(leaf, str | int | float):
        return None
    text = text_of(leaf).strip()
    if len(text) > _LONGEST_VALUE or _END in text:
        return None
    letters = sum(sign.isalnum() for sign in text)
    return _Value(_spellings(text), _loosened(text), letters < _SHORT)


def _spellings(text: str) -> tuple[str, ...]:
    """A text, and if it is a number, the other ways in which people write that."""
    if not _NUMBER.fullmatch(text):
        return (text,)
    whole, _, decimals = text.partition(".")
    cents = decimals.rstrip("0")
    endings = {f".{decimals}" if decimals else "", f".{cents}" if cents else ""}
    if len(cents) <= 2:
        endings.add(f".{cents:0<2}")
    if len(cents) <= 1:
        endings.add(f".{cents:0<1}")
    starts = {whole, f"{int(whole):,}"}
    return tuple(map("".join, product(sorted(starts), sorted(endings))))


def _leaves(value: object) -> Iterator[object]:
    """The values in an argument. Null, empty texts and empty lists hold none; names of fields
    are the tool's.
    """
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None and not (isinstance(value, str) and not value.strip()):
        yield value


def _texts(value: object) -> Iterator[str]:
    """The texts in a result, and its names, which may be data too."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield text_of(value)


def _joined(texts: Iterator[str] | list[str]) -> str:
    inner = [text.replace(_END, " ").strip() for text in texts]
    return _END + _END.join(inner) + _END


def _loosened(text: str) -> str:
    """A text without what readers may disregard: case, blanks, invisible signs, forms of
    letters.
    """
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in plain if unicodedata.category(sign) != "Cf")
    parts = text.casefold().split(_END)
    return _END.join(" ".join(part.split()) for part in parts)


def _is_within(text: str, value: str) -> bool:
    """True if a value stands in a text as words of its own."""
    place = text.find(value) if value else -1
    for _ in range(_MOST_PLACES):
        if place < 0:
            return False
        end = place + len(value)
        if not (_joins_before(text, place) or _joins_after(text, end)):
            return True
        place = text.find(value, place + 1)
    return False


def _joins_before(text: str, place: int) -> bool:
    """True if the word that begins at a place began earlier."""
    before = text[place - 1]  # there is an end before every value
    if _is_of_word(before) or before in _BEGINS:
        return True
    if before in "-," and text[place].isdigit():
        return before == "-" or text[place - 2].isdigit()
    return before in _JOINS and _is_of_word(text[place - 2])


def _joins_after(text: str, end: int) -> bool:
    """True if the word that ends at a place goes on."""
    after = text[end]  # there is an end after every value
    if _is_of_word(after):
        return True
    if after == ",":
        return text[end - 1].isdigit() and text[end + 1].isdigit()
    return after in _JOINS and _is_of_word(text[end + 1])


def _is_of_word(sign: str) -> bool:
    """True for letters, digits, accents and invisible signs, behind which a word may go on."""
    return sign.isalnum() or unicodedata.category(sign) in ("Mn", "Mc", "Me", "Cf")
