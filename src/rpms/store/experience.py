"""What ExpeL plays with: insights that a model drew from recorded runs, and the trajectories that succeeded.

One JSON object a line, a header first and a checksum last. A model wrote the insights and a world the trajectories:
both are bounded texts for a prompt, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rapidfuzz import fuzz

from rpms.core.errors import FileError
from rpms.foreign.json_text import Count, NotJson, Text, first_mistake, loads
from rpms.foreign.limits import LARGEST_SCRIPT
from rpms.store.files import read_sealed, sealed, write_whole

MOST_INSIGHTS = 20
LONGEST_INSIGHT = 400
LONGEST_TRAJECTORY = 8_000
"""Characters: about 2,000 tokens, of which a prompt shows two."""


@dataclass(frozen=True, slots=True)
class Insight:
    """A sentence that is to hold in many tasks, and how often it was found to."""

    text: str
    votes: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An attempt that succeeded, as a prompt tells it."""

    task: str
    goal: str
    text: str


@dataclass(frozen=True)
class Experience:
    """What recorded runs taught."""

    world: str
    insights: tuple[Insight, ...] = ()
    trajectories: tuple[Trajectory, ...] = ()

    def recall(self, goal: str, task: str, count: int) -> tuple[Trajectory, ...]:
        """The trajectories whose goals are most like one; never one of the same task."""
        others = [each for each in self.trajectories if each.task != task]
        return tuple(sorted(others, key=lambda each: -fuzz.token_sort_ratio(goal, each.goal))[:count])

    @cached_property
    def text(self) -> str:
        """The file's text, without its seal."""
        head = {"type": "experience", "version": 1, "world": self.world}
        insights = [{"type": "insight", "text": each.text, "votes": each.votes} for each in self.insights]
        told = [
            {"type": "trajectory", "task": each.task, "goal": each.goal, "text": each.text}
            for each in self.trajectories
        ]
        return "".join(json.dumps(line) + "\n" for line in (head, *insights, *told))

    @cached_property
    def hash(self) -> str:
        """The same hash, the same experience."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Head(_Strict):
    type: Literal["experience"]
    version: Literal[1]
    world: Text


class _Insight(_Strict):
    type: Literal["insight"]
    text: Annotated[Text, Field(max_length=LONGEST_INSIGHT)]
    votes: Count


class _Trajectory(_Strict):
    type: Literal["trajectory"]
    task: Text
    goal: Text
    text: Annotated[Text, Field(max_length=LONGEST_TRAJECTORY)]


_LINE: TypeAdapter[_Head | _Insight | _Trajectory] = TypeAdapter(
    Annotated[_Head | _Insight | _Trajectory, Field(discriminator="type")]
)


def write_experience(file: Path, experience: Experience) -> None:
    """Write it whole, with its checksum."""
    write_whole(file, sealed(experience.text))


def read_experience(file: Path, world: str) -> Experience:
    """Read it; what was cut off, changed, or gathered in another world is a FileError."""
    lines = []
    for number, line in enumerate(read_sealed(file, LARGEST_SCRIPT).splitlines(), start=1):
        try:
            lines.append(_LINE.validate_python(loads(line)))
        except NotJson as error:
            raise FileError(file, number, f"is not an experience: {error}") from None
        except ValidationError as error:
            raise FileError(file, number, f"is not an experience: {first_mistake(error)}") from None
    if not lines or not isinstance(lines[0], _Head):
        raise FileError(file, 1, "is not an experience: its first line is no header")
    if lines[0].world != world:
        raise FileError(file, 1, f"was gathered in {lines[0].world}, not in {world}")
    insights = tuple(Insight(line.text, line.votes) for line in lines if isinstance(line, _Insight))
    if len(insights) > MOST_INSIGHTS:
        raise FileError(file, None, f"has {len(insights)} insights; a prompt shows {MOST_INSIGHTS}")
    told = tuple(Trajectory(line.task, line.goal, line.text) for line in lines if isinstance(line, _Trajectory))
    return Experience(world, insights, told)
