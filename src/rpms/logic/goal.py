"""Goals, their signature γ, and how far along one is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, Self
from urllib.parse import unquote

UNKNOWN_GOAL = "unknown"
"""The type of a goal whose text fits no template."""
EXPLORING = "explore"
"""The sub-goal where nothing is known of how to reach the goal."""


_WORD = re.compile("[a-z0-9]+")
_LITTLE_WORDS = frozenset({"a", "an", "the", "in", "on", "of", "to", "with"})
_NAMING = 2 / 3
"""Share of a name's words above which a text with them names the thing: all of three, or three of
four, since a sentence may leave one out."""
_SHORTEST_STEM = 4  # `plane` is in `planes`; of shorter words each is its own


@lru_cache(maxsize=65_536)
def is_named(name: str, text: str) -> bool:
    """True if a text has nearly all words of a name, in any order.

    >>> is_named("plane with a steel surface", "Which of the planes (steel, paper) is smoother?")
    False
    >>> is_named("steel plane", "Which of the planes (steel, paper) is smoother?")
    True
    """
    said = _words_of(text)
    words = [word for word in _words_of(name) if word not in _LITTLE_WORDS]
    found = [word for word in words if _is_said(word, said)]
    return len(found) > _NAMING * len(words)


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_WORD.findall(text.casefold())))


def _is_said(word: str, said: Sequence[str]) -> bool:
    """True if a word is among some, in a longer form perhaps."""
    if word in said:
        return True
    return len(word) >= _SHORTEST_STEM and any(other.startswith(word) for other in said)


def escape(text: str, signs: str) -> str:
    """Percent-encode the signs that separate the fields of a signature."""
    for sign in "%" + signs:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


@dataclass(frozen=True, slots=True)
class GoalSignature:
    """γ: the key by which experience is recalled.

    Its text form is the paper's, `pick_heat_then_place_in_recep:mug:hot:cabinet`; empty fields at
    the end are left out, so that a world may use fewer, as ScienceWorld's `F3:melt:water` does.
    """

    type: str
    object: str = ""
    state: str = ""
    destination: str = ""

    def __str__(self) -> str:
        fields = (self.type, self.object, self.state, self.destination)
        return ":".join(escape(field, ":") for field in fields).rstrip(":")

    @classmethod
    @lru_cache(maxsize=65_536)
    def parse(cls, text: str) -> Self:
        """Read the text form; equal texts give one object. A ValueError says what is wrong."""
        fields = [unquote(field.strip()) for field in text.split(":")]
        if not fields[0] or len(fields) > 4:
            raise ValueError(
                f"goal signature {text[:200]!r} is not `type:object:state:destination`"
            )
        return cls(*fields)


@dataclass(frozen=True)
class Goal:
    """A goal. Worlds whose goals have more fields extend this class."""

    type: str
    object: str = ""
    state: str = ""
    destination: str = ""
    text: str = ""
    """The goal as the world put it."""
    bound: float | None = field(default=None, kw_only=True)
    """The number that the goal names, such as a temperature that decides."""

    def named(self, field_name: str) -> str:
        """The word in a field of the goal; empty if there is none."""
        return {"object": self.object, "state": self.state, "destination": self.destination}.get(
            field_name, ""
        )

    def places(self) -> Mapping[str, Sequence[str]]:
        """Places that the goal itself names: thing → places, likeliest first."""
        return {}

    @cached_property
    def signature(self) -> GoalSignature:
        return GoalSignature(self.type, self.object, self.state, self.destination)


class GoalStep(NamedTuple):
    """A step that a goal's own sentence asks for."""

    name: str
    """The kind of step: `focus_on`."""
    target: str
    """The thing it is about, in the sentence's words: `water`."""
    done: bool = False
    """True if the belief shows that it was done."""


_THE_TARGET = " object"
"""Stands for the target in the name of a sub-goal; said aloud, the target itself stands there."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The current sub-goal, as far as the belief tells."""

    sub_goal: str
    """The kind of the current sub-goal: `find_object`."""
    target: str
    """The sub-goal's object: `apple`."""
    done: int
    total: int

    @property
    def text(self) -> str:
        return f"{self.sub_goal} - {self.target}" if self.target else self.sub_goal

    @property
    def words(self) -> str:
        """The sub-goal as one would say it: `find apple`."""
        words = self.sub_goal.replace("_", " ")
        if not self.target:
            return words
        return f"{words.removesuffix(_THE_TARGET)} {self.target}"

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


NOTHING_DONE = Progress(EXPLORING, "", 0, 1)
"""Progress where nothing is known of how to reach the goal."""
