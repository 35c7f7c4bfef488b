"""The exception tree, and the nearest right name, with which a wrong one is answered.

RPMSError               anything this package raises on purpose
├── InputError          a user's file, flag or name is wrong: one line, exit code 2
│   └── FileError       … and it is in a file, at a known line
├── WorldError          a simulator failed; the episode is marked, the run goes on
├── LimitReached        a limit that the user set (rpms.play.meter): exit code 3, and the same
│                       command goes on
└── ModelError          a model could not answer
    ├── ModelUnavailable    endpoint, key or package missing: the run stops and can be resumed
    └── ContextOverflow     the prompt is too long for the model
"""

import re
from collections.abc import Iterable
from pathlib import PurePath

_LONG_WORD = re.compile(r"(\S{200})\S{200,}(\S{40})")
_LONGEST = 4_000


def _shortened(text: str) -> str:
    """The message; a quoted name that is so long that nothing else would be read is cut."""
    if len(text) <= _LONGEST // 10:
        return text
    text = cut_long_words(text)
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 4 :]}"


def cut_long_words(text: str) -> str:
    """A text with the beginning and the end of each word that is longer than any name."""
    return _LONG_WORD.sub(r"\1…\2", text)


class RPMSError(Exception):
    """Base of every error this package raises on purpose; its text is one line for a person."""

    exit_code = 1
    """Exit code of a command that ends with this error."""

    def __init__(self, text: object = "") -> None:
        super().__init__(_shortened(str(text)))


class InputError(RPMSError):
    """Something the user gave is wrong. The text says what, where, and what to do."""

    exit_code = 2


class FileError(InputError):
    """A user's file is wrong, at a known place."""

    def __init__(self, file: str | PurePath, line: int | None, problem: str) -> None:
        self.file = str(file)
        self.line = line
        self.problem = problem
        place = self.file if line is None else f"{self.file}:{line}"
        super().__init__(f"{place}: {problem}")


class WorldError(RPMSError):
    """A simulator died, hung or misbehaved in the middle of an episode."""


class ModelError(RPMSError):
    """A model could not answer this request."""


class ModelUnavailable(ModelError):
    """No request can succeed until the user changes something: a key, a server, a package."""


class ContextOverflow(ModelError):
    """The prompt does not fit the model's context window."""


ANY_ERROR = (Exception, SystemExit)
"""Anything that foreign code may raise while it is loaded: if it exits, our command would end with
its exit code. Ctrl-C is a person's, and passes. Of a world or part that is called during an episode
(`rpms.worlds.checked`, `rpms.parts`), Ctrl-C alone passes: it may cancel a loop of its own."""

_NEAR = 0.6
"""Similarity from which one name is taken for another misspelt."""


def is_near(name: str, names: Iterable[str]) -> bool:
    """True for what may be a misspelt name.

    Only such a word of a file is quoted: the file may be any, and secret.
    """
    return _nearest_of(name, tuple(names)) is not None


def nearest(name: str, names: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest known one, or all of them if none is near.

    >>> nearest("tempature", ("temperature", "theta"))
    'did you mean temperature?'
    """
    choices = tuple(names)
    found = _nearest_of(name, choices)
    if found is not None:
        return f"did you mean {found}?"
    return f"choose one of {', '.join(choices)}" if choices else "there are none"


def _nearest_of(name: str, names: tuple[str, ...]) -> str | None:
    from rapidfuzz import process  # noqa: PLC0415  only a wrong name waits for it
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    found = process.extractOne(name, names, scorer=OSA.normalized_similarity, score_cutoff=_NEAR)
    return found[0] if found else None
