"""The thirty tasks of `tasks.toml`: their families and variations, and their goals, read from
descriptions alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.logic.errors import InputError, nearest
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.base import Task, read_table

SPLITS = ("train", "dev", "test")
TABLE = read_table(__package__, "tasks.toml")
FAMILIES: Mapping[str, str] = TABLE["families"]
SIMPLIFICATIONS = tuple(TABLE["simplifications"])


class TaskKind(NamedTuple):
    """One of the thirty tasks.

    Its variations are numbered from 0: train first, then dev, then test.
    """

    name: str
    family: str
    train: int
    dev: int
    test: int

    def variations(self, split: str) -> range:
        start = {"train": 0, "dev": self.train, "test": self.train + self.dev}[split]
        return range(start, start + getattr(self, split))


KINDS = {name: TaskKind(name, *row) for name, row in TABLE["tasks"].items()}
PAPER_TASKS = tuple(name for name, kind in KINDS.items() if kind.family != "F5")
ELECTRICAL_TASKS = tuple(name for name, kind in KINDS.items() if kind.family == "F5")


def kind_named(name: str) -> TaskKind:
    """Look a task up by the simulator's name for it, with a suggestion where there is none."""
    if name in KINDS:
        return KINDS[name]
    raise InputError(f"ScienceWorld has no task {name!r}: {nearest(name, KINDS)}")


def task_at(name: str, number: int) -> Task:
    """Return one variation of a task, by number."""
    kind = kind_named(name)
    for split in SPLITS:
        if number in kind.variations(split):
            source = {"task": name, "variation": str(number)}
            return Task(f"{name}/{number}", split, name, source)
    last = kind.variations("test").stop - 1
    raise InputError(f"{name} has no variation {number}: they go from 0 to {last}")


def list_tasks(
    split: str,
    per_task: int | None = None,
    tasks: Sequence[str] | None = None,
    simplifications: str = "",
) -> list[Task]:
    """List the variations of a split, in order: the first `per_task` of each task, by default of
    the paper's 26.

    With simplifications under which one of the tasks cannot be done, there is no list.

    >>> len(list_tasks("test", per_task=10))
    241
    >>> [task.id for task in list_tasks("dev", per_task=2, tasks=["boil"])]
    ['boil/14', 'boil/15']
    """
    if split not in SPLITS:
        raise InputError(f"ScienceWorld has no split {split!r}: the splits are {', '.join(SPLITS)}")
    if per_task is not None and per_task < 1:
        raise InputError(f"the number of variations of each task must be 1 or more, not {per_task}")
    names = PAPER_TASKS if tasks is None else dict.fromkeys(tasks)
    kinds = [kind_named(name) for name in names]
    for kind in kinds:
        canonical_simplifications(simplifications, kind.name)
    found: list[Task] = []
    for kind in kinds:
        numbers = kind.variations(split)[:per_task]
        found += [task_at(kind.name, number) for number in numbers]
    return found


def canonical_simplifications(text: str, task: str | None = None) -> str:
    """Return a comma-separated setting with its parts checked, sorted and without repeats; `""` is
    none.

    >>> canonical_simplifications("openDoors, teleportAction,openDoors")
    'openDoors,teleportAction'
    """
    parts = sorted({part.strip() for part in text.split(",")} - {""})
    for part in parts:
        if part not in SIMPLIFICATIONS:
            raise InputError(
                f"ScienceWorld has no simplification {part!r}: {nearest(part, SIMPLIFICATIONS)}"
            )
    if task in ELECTRICAL_TASKS and "noElectricalAction" in parts:
        raise InputError(f"{task} cannot be done with the simplification 'noElectricalAction'")
    return ",".join(parts)


_FIELDS = frozenset(
    {"task", "target", "place", "box", "box_room", "criterion", "intermediate", "trait", "source"}
)
"""Fields that a procedure or a step of the sentence may ask a goal for."""


@dataclass(frozen=True)
class ScienceGoal(Goal):
    """A goal with all that its sentence says; its signature is `family:task:target:box`, such
    as `F3:melt:water`.
    """

    task: str = ""
    """The simulator's name of the task, such as `find-animal`."""
    target: str = ""
    """The task's subject: a substance, an animal, a plant, a trait, a device; for F1 the kind of
    thing to be found."""
    place: str = ""
    """The room where the target or the ingredients are said to be."""
    box: str = ""
    """The box for the target, where there is but one."""
    box_room: str = ""
    """The room where the boxes are said to be."""
    branches: tuple[tuple[str, str], ...] = ()
    """The two sides of a conditional task: what must turn out to be so (above, below, dominant,
    recessive, conductive, nonconductive), and the box for it."""
    candidates: tuple[str, ...] = ()
    """The inclined planes to compare, by their full names."""
    criterion: str = ""
    """Deciding measure: steepest, shallowest, most, least, longest, shortest, `longest, then
    shortest`."""
    intermediate: str = ""
    """The secondary colour on the way to a tertiary one."""
    trait: str = ""
    """The property whose inheritance is asked for, such as `plant height`; its value is
    `criterion`."""
    source: str = ""
    """`renewable` or `nonrenewable`."""

    def named(self, field_name: str) -> str:
        if field_name in _FIELDS:
            return str(getattr(self, field_name, ""))
        return super().named(field_name)

    def places(self) -> Mapping[str, tuple[str, ...]]:
        return self._places

    @cached_property
    def _places(self) -> Mapping[str, tuple[str, ...]]:
        places: dict[str, tuple[str, ...]] = {}
        if self.place:
            for thing in (self.target, "seed jar", "recipe"):
                places[thing] = (self.place,)
        if self.box_room:
            boxes = [box for _, box in self.branches]
            for box in filter(None, (self.box, *boxes)):
                places[box] = (self.box_room,)
        return places


_BOX = r"[a-z]{1,20} box"
_NAME = r"[^.,\n]{1,80}?"
_SIDES = ("above", "below", "dominant", "recessive", "conductive", "nonconductive")
_FORMS = {**dict.fromkeys(("box", *_SIDES), _BOX), "bound": r"-?\d{1,5}(?:\.\d{1,5})?"}
"""Fields of a sentence that are no plain names."""


def _sentence_pattern(sentence: str) -> re.Pattern[str]:
    """The pattern of a sentence of the table, with a named group for each `<field>`."""

    def group(field: re.Match[str]) -> str:
        return f"(?P{field[0]}{_FORMS.get(field[1], _NAME)})"

    return re.compile(re.sub(r"(?<!P)<(\w+)>", group, sentence))


_PATTERNS = {stem: _sentence_pattern(sentence) for stem, sentence in TABLE["sentences"].items()}
_PLANES = {"inclined-plane-determine-angle": "inclined plane {}"}
_SURFACE = "inclined plane with a {} surface"
_PRIMARY = frozenset({"red", "yellow", "blue"})


def _said_of_planes(name: str, fields: Mapping[str, str]) -> dict[str, object]:
    """The planes that are to be compared, by what and for which answer. `name`: what a plane is
    called, with its surface left blank.
    """
    surfaces = [piece.strip() for piece in fields["planes"].split(",")]
    wanted = fields["criterion"]
    return {
        "candidates": tuple(name.format(surface) for surface in surfaces),
        "target": wanted,
        "criterion": wanted.split(" ")[0],
    }


def _said(stem: str, fields: Mapping[str, str]) -> dict[str, object]:
    """Fields of a goal that a sentence tells, and what follows from them; two sides of a
    condition are its branches.
    """
    said: dict[str, object] = {name: fields[name] for name in _FIELDS if name in fields}
    said["branches"] = tuple((side, fields[side]) for side in _SIDES if side in fields)
    if "bound" in fields:
        said["bound"] = float(fields["bound"])
    if "planes" in fields:
        said |= _said_of_planes(_PLANES.get(stem, _SURFACE), fields)
    if "trait" in fields:
        said["criterion"], _, said["trait"] = fields["trait"].partition(" ")
    if stem == "chemistry-mix-paint-tertiary-color":
        said["intermediate"] = _secondary_colour(fields["target"])
    said.update(TABLE["also"].get(stem, {}))
    return said


def _secondary_colour(paint: str) -> str:
    """The paint of two that a tertiary colour is mixed from, and that has to be mixed itself."""
    for colour in paint.removesuffix(" paint").split("-"):
        if colour not in _PRIMARY:
            return f"{colour} paint"
    return ""


_START = "Your task is to "
_LONGEST_DESCRIPTION = 1_200


def _task_name(stem: str, target: str) -> str:
    """The full name of a task whose template it shares with others."""
    is_unknown = re.match(r"(?:(?:solid|liquid|gaseous) )?unknown ", target) is not None
    known = "unknown" if is_unknown else "known"
    match stem:
        case "find-":
            return stem + target.replace(" ", "-")
        case "measure-melting-point-":
            return f"{stem}{known}-substance"
        case "mendelian-genetics-":
            return f"{stem}{known}-plant"
        case "test-conductivity" if is_unknown:
            return f"{stem}-of-unknown-substances"
    return stem


def parse_goal(opening: str) -> ScienceGoal:
    """Read the goal out of an opening observation or a description alone.

    Never fails: see UNKNOWN_GOAL.
    """
    _, start, rest = opening.partition(_START)
    sentence = (rest if start else opening).partition("\n")[0].strip()
    description = f"{start}{sentence}"
    text = " ".join(sentence.split())[:_LONGEST_DESCRIPTION]
    for stem, pattern in _PATTERNS.items():
        match = pattern.match(text)
        if match is None:
            continue
        matched = {name: value for name, value in match.groupdict().items() if value is not None}
        said = _said(stem, matched)
        task = _task_name(stem, str(said["target"]))
        if task in KINDS:
            signature = (KINDS[task].family, task, str(said["target"]), str(said.get("box", "")))
            fields = {"text": description, "task": task, **said}
            return ScienceGoal(*signature, **fields)  # type: ignore[arg-type]
    return ScienceGoal(UNKNOWN_GOAL, text=description)
