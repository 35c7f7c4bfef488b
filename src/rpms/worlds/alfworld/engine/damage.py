"""Errors of this package's readers before the file's name is known; `GameFile` turns them into a FileError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Damage(Exception):
    """A text that cannot be a game, with the line of that text where known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        self.problem = problem if line is None else f"{problem} (its line {line})"
        super().__init__(self.problem)


def quoted(text: object, limit: int = 60) -> str:
    """Untrusted text made fit for a one-line message: escaped, and short."""
    shown = ascii(text)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


@contextmanager
def about(text: str) -> Iterator[None]:
    """Name the text that damage found within is about."""
    try:
        yield
    except Damage as damage:
        raise Damage(f"{text} {damage.problem}") from None
