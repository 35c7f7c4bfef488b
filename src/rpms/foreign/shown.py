"""Foreign text made safe to show: what a file, a model or a server wrote may command a
terminal, or go on for pages.
"""

import unicodedata

from rpms.foreign.limits import LONGEST_LINE, LONGEST_SHOWN
from rpms.logic.errors import cut_long_words

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Control and formatting characters, halves of letters, private and unassigned ones, and breaks of
lines: some move the cursor or turn text around, and none can be seen."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""
_VARIANTS = range(0xFE00, 0xFE10)
_LOOKED_AT = 200_000
"""Characters of a text that are looked at."""


def unseen(char: str) -> bool:
    """True for a character that is invisible or changes what is around it."""
    return unicodedata.category(char) in _UNSEEN or char in _FILLERS or ord(char) in _VARIANTS


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """A text as one line of bounded length, with a blank for each break and nothing for what
    cannot be seen.
    """
    text = cut_long_words(text[:_LOOKED_AT])[: 4 * longest]
    if not (text.isascii() and text.isprintable()):
        text = " ".join("".join(map(_in_a_line, text)).split())
    return _cut_at(text, longest)


def _in_a_line(char: str) -> str:
    """A character as one line shows it."""
    if char.isspace():
        return " "
    return "" if unseen(char) else char


def excerpt(text: object, longest: int = LONGEST_SHOWN) -> str:
    """A foreign text, or value, as it stands within a message."""
    try:
        said = str(text)
    except (ValueError, RecursionError):
        # Python writes no number of more than some thousand digits
        said = "something too long to be written"
    return one_line(said, longest)


def whole_letters(text: str) -> str:
    """A text that every file can keep: half characters, which some models write, become
    question marks.
    """
    return text.encode("utf-8", "replace").decode()


def lines(text: str) -> str:
    """A text of several lines for a terminal: breaks and tabs stay, what cannot be seen goes,
    no line is endless.
    """
    if not (text.isascii() and text.isprintable()):
        text = "".join([char for char in text if char in "\n\t" or not unseen(char)])
    return "\n".join([_cut_at(line, LONGEST_LINE) for line in text.split("\n")])


def _cut_at(line: str, longest: int) -> str:
    """A line that is no longer than this; `…` stands for the rest."""
    return line if len(line) <= longest else line[: longest - 1] + "…"
