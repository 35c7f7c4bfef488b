"""ExpeL's material on disk, JSON lines between a header and a checksum: insights, and
trajectories that succeeded.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from rapidfuzz import fuzz

from rpms.foreign.json_text import read_jsonl, tagged_reader
from rpms.foreign.limits import LARGEST_SCRIPT
from rpms.logic.errors import FileError
from rpms.store.files import read_sealed, sealed, write_whole

MOST_INSIGHTS = 20
LONGEST_INSIGHT = 400
LONGEST_TRAJECTORY = 8_000
"""Characters of a trajectory: about 2,000 tokens, and a prompt shows two."""


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
    """Lessons of recorded runs."""

    world: str
    insights: tuple[Insight, ...] = ()
    trajectories: tuple[Trajectory, ...] = ()

    def recall(self, goal: str, task: str, count: int) -> tuple[Trajectory, ...]:
        """The trajectories whose goals are most like this one, except those of the same task."""
        others = [each for each in self.trajectories if each.task != task]
        others.sort(key=lambda each: -fuzz.token_sort_ratio(goal, each.goal))
        return tuple(others[:count])

    @cached_property
    def text(self) -> str:
        """The file's text, without its seal."""
        rows: list[dict[str, object]] = [{"type": "experience", "version": 1, "world": self.world}]
        for insight in self.insights:
            rows.append({"type": "insight", **asdict(insight)})
        for trajectory in self.trajectories:
            rows.append({"type": "trajectory", **asdict(trajectory)})
        return "".join(json.dumps(row) + "\n" for row in rows)

    @cached_property
    def hash(self) -> str:
        """Hash of the experience."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def write_experience(file: Path, experience: Experience) -> None:
    """Write it whole, with its checksum."""
    write_whole(file, sealed(experience.text))


def read_experience(file: Path, world: str) -> Experience:
    """Read the material; a file that was cut off or changed, or is from another world, is a
    FileError.
    """
    read = tagged_reader({"experience": Experience, "insight": Insight, "trajectory": Trajectory})
    text = read_sealed(file, LARGEST_SCRIPT)
    lines = list(read_jsonl(file, text.split("\n"), read, "is no experience"))
    if not lines:
        raise FileError(file, 1, "is no experience: it has no header")
    _, head = lines[0]
    if head.world != world:
        raise FileError(file, 1, f"was gathered in {head.world}, not in {world}")
    insights: list[Insight] = []
    trajectories: list[Trajectory] = []
    for number, line in lines[1:]:
        is_insight = isinstance(line, Insight)
        if len(line.text) > (LONGEST_INSIGHT if is_insight else LONGEST_TRAJECTORY):
            raise FileError(file, number, "is no experience: text: is too long")
        if is_insight:
            insights.append(line)
        else:
            trajectories.append(line)
    if len(insights) > MOST_INSIGHTS:
        raise FileError(file, None, f"has {len(insights)} insights; a prompt shows {MOST_INSIGHTS}")
    return Experience(world, tuple(insights), tuple(trajectories))
