"""Goals: the thirty tasks, read from their descriptions alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rpms.core.goal import UNKNOWN_GOAL
from rpms.core.goal import Goal as CoreGoal
from rpms.worlds.scienceworld.tasks import KINDS

_FIELDS: Final = frozenset({"task", "target", "place", "box", "box_room", "criterion", "intermediate", "trait"})
"""Fields that a procedure may ask a goal for."""


@dataclass(frozen=True)
class ScienceGoal(CoreGoal):
    """A goal with all that its sentence says.

    As a signature it is `family:task:target:box`, such as `F3:melt:water`: the task is the signature's object.
    """

    task: str = ""
    """The simulator's name of the task, such as `find-animal`."""
    target: str = ""
    """Its subject: a substance, an animal, a plant, a trait, a device; for F1 the kind of thing to be found."""
    place: str = ""
    """The room where the target or the ingredients are said to be."""
    box: str = ""
    """The box for the target, where there is but one."""
    box_room: str = ""
    """The room where the boxes are said to be."""
    branches: tuple[tuple[str, str], ...] = ()
    """The two sides of a conditional task: what must turn out to be so (above, below, dominant, recessive, conductive,
    nonconductive), and the box for it."""
    threshold: float | None = None
    """The temperature that decides between the branches, in °C."""
    candidates: tuple[str, ...] = ()
    """The inclined planes to compare, by their full names."""
    criterion: str = ""
    """Deciding measure: steepest, shallowest, most, least, longest, shortest, `longest, then shortest`."""
    intermediate: str = ""
    """The secondary colour on the way to a tertiary one."""
    trait: str = ""
    """The property whose inheritance is asked for, such as `plant height`; its value is `criterion`."""
    source: str = ""
    """`renewable` or `nonrenewable`."""

    def named(self, field_name: str) -> str:
        return str(getattr(self, field_name, "")) if field_name in _FIELDS else super().named(field_name)

    def places(self) -> Mapping[str, tuple[str, ...]]:
        return self._places

    @cached_property
    def _places(self) -> Mapping[str, tuple[str, ...]]:
        things = (self.target, "seed jar", "recipe") if self.place else ()
        boxes = (self.box, *(box for _, box in self.branches)) if self.box_room else ()
        return dict.fromkeys(things, (self.place,)) | {box: (self.box_room,) for box in boxes if box}


_Fields = Mapping[str, str]
_Read = Callable[[_Fields], dict[str, object]]

_BOX: Final = r"[a-z]{1,20} box"
_NAME: Final = r"[^.,\n]{1,80}?"


_SIDES: Final = ("above", "below", "dominant", "recessive", "conductive", "nonconductive")
_PRIMARY: Final = frozenset({"red", "yellow", "blue"})


def _said(fields: _Fields) -> dict[str, object]:
    """Fields of a goal that a sentence tells; the two sides of a condition are its branches."""
    said: dict[str, object] = {name: fields[name] for name in ("source", *_FIELDS) if name in fields}
    said["branches"] = tuple((name, fields[name]) for name in _SIDES if name in fields)
    return said | ({"threshold": float(fields["threshold"])} if "threshold" in fields else {})


def _tertiary(fields: _Fields) -> dict[str, object]:
    colours = fields["target"].removesuffix(" paint").split("-")
    secondary = next((colour for colour in colours if colour not in _PRIMARY), "")
    return {"intermediate": f"{secondary} paint" if secondary else "", "place": "art studio"}


def _planes(name: str) -> _Read:
    def read(fields: _Fields) -> dict[str, object]:
        planes = tuple(name.format(piece.strip()) for piece in fields["planes"].split(","))
        return {"target": fields["criterion"], "criterion": fields["criterion"].split(" ")[0], "candidates": planes}

    return read


def _lived(criterion: str) -> _Read:
    return lambda _: {"target": criterion, "criterion": criterion}


def _inherited(fields: _Fields) -> dict[str, object]:
    value, _, trait = fields["trait"].partition(" ")
    return {"criterion": value, "trait": trait, "place": "greenhouse"}


def _measured(what: str, then: str) -> str:
    """A measurement that decides between two boxes."""
    return (
        rf"measure the {what} of (?P<target>{_NAME}), which is located around the (?P<place>{_NAME})\."
        rf" .{{1,300}}? is above (?P<threshold>-?\d{{1,5}}(?:\.\d{{1,5}})?) degrees celsius, {then} the"
        rf" (?P<above>{_BOX})\. .{{1,200}}? {then} the (?P<below>{_BOX})\."
        rf" The boxes are located around the (?P<box_room>{_NAME})\."
    )


_SURFACE: Final = "inclined plane with a {} surface"
_STATE_TASK: Final = r"\. (?:For compounds without [^.]{1,120}\. )?First, focus on the substance\."
_TWO_PLANES: Final = r"determine which of the two inclined planes "
_FRICTION: Final = r" has the (?P<criterion>(?:most|least) friction)\."
_IN: Final = r" .{1,300}?'(?P<place>[^'\n]{1,40})'"
_TEMPLATES: Final[Mapping[str, str]] = {
    "find-": (
        rf"find a\(n\) (?P<target>animal|plant|living thing|non-living thing)\. .{{1,80}}? move it to the"
        rf" (?P<box>{_BOX}) in the (?P<box_room>{_NAME})\."
    ),
    "use-thermometer": _measured("temperature", "place it in"),
    "measure-melting-point-": _measured("melting point", "focus on"),
    "boil": rf"boil (?P<target>{_NAME}){_STATE_TASK}",
    "melt": rf"melt (?P<target>{_NAME}){_STATE_TASK}",
    "freeze": rf"freeze (?P<target>{_NAME}){_STATE_TASK}",
    "change-the-state-of-matter-of": rf"change the state of matter of (?P<target>{_NAME}){_STATE_TASK}",
    "chemistry-mix": (
        rf"use chemistry to create the substance '(?P<target>{_NAME})'\. .{{1,80}}? near the (?P<place>{_NAME})\."
    ),
    "chemistry-mix-paint-tertiary-color": r"use chemistry to create (?P<target>[a-z]{1,20}-[a-z]{1,20} paint)\.",
    "chemistry-mix-paint-secondary-color": r"use chemistry to create (?P<target>[a-z]{1,20} paint)\.",
    "grow-plant": rf"grow an? (?P<target>{_NAME}) plant from seed\. Seeds can be found in the (?P<place>{_NAME})\.",
    "grow-fruit": rf"grow an? (?P<target>{_NAME})\. .{{1,200}}? Seeds can be found in the (?P<place>{_NAME})\.",
    "identify-life-stages-1": rf"focus on the \d{{1,2}} life stages of the (?P<target>{_NAME}), starting",
    "identify-life-stages-2": rf"focus on the life stages of the (?P<target>{_NAME}) plant, starting",
    "inclined-plane-determine-angle": (
        _TWO_PLANES + r"\((?P<planes>[A-Z], ?[A-Z])\) has the (?P<criterion>(?:steepest|shallowest) angle)\."
    ),
    "inclined-plane-friction-unnamed-surfaces": (
        _TWO_PLANES + r"\((?P<planes>unknown material [^()\n]{1,80})\)" + _FRICTION
    ),
    "inclined-plane-friction-named-surfaces": _TWO_PLANES + r"\((?P<planes>[^()\n]{1,80})\)" + _FRICTION,
    "lifespan-longest-lived-then-shortest-lived": (
        r"find the animal with the longest life span, then the shortest" + _IN
    ),
    "lifespan-longest-lived": r"find the animal with the longest life span\." + _IN,
    "lifespan-shortest-lived": r"find the animal with the shortest life span\." + _IN,
    "mendelian-genetics-": (
        rf"determine whether (?P<trait>{_NAME}) is a dominant or recessive trait in the (?P<target>{_NAME})\."
        rf" .{{1,60}}? dominant, focus on the (?P<dominant>{_BOX})\."
        rf" .{{1,60}}? recessive, focus on the (?P<recessive>{_BOX})\."
    ),
    "power-component-renewable-vs-nonrenewable-energy": (
        rf"turn on the (?P<target>{_NAME}) by powering it using a (?P<source>renewable|nonrenewable) power"
    ),
    "power-component": rf"turn on the (?P<target>{_NAME})\.",
    "test-conductivity": (
        rf"determine if (?P<target>{_NAME}) is electrically conductive\. The .{{1,120}}? is located around the"
        rf" (?P<place>{_NAME})\. .{{1,200}}? electrically conductive, place it in the (?P<conductive>{_BOX})\."
        rf" .{{1,60}}? electrically nonconductive, place it in the (?P<nonconductive>{_BOX})\."
    ),
}
"""Patterns of sentences, by the beginning of their task's name; the first that fits counts."""
_PATTERNS: Final = {task: re.compile(pattern) for task, pattern in _TEMPLATES.items()}
_MORE: Final[Mapping[str, _Read]] = {
    "chemistry-mix-paint-tertiary-color": _tertiary,
    "chemistry-mix-paint-secondary-color": lambda _: {"place": "art studio"},
    **dict.fromkeys(("identify-life-stages-1", "identify-life-stages-2"), lambda _: {"place": "outside"}),
    "inclined-plane-determine-angle": _planes("inclined plane {}"),
    **dict.fromkeys(
        ("inclined-plane-friction-unnamed-surfaces", "inclined-plane-friction-named-surfaces"), _planes(_SURFACE)
    ),
    "lifespan-longest-lived-then-shortest-lived": _lived("longest, then shortest"),
    "lifespan-longest-lived": _lived("longest"),
    "lifespan-shortest-lived": _lived("shortest"),
    "mendelian-genetics-": _inherited,
}
"""Conclusions from a sentence beyond the words under the names of fields."""
_START: Final = re.compile(r"Your task is to ")
_LONGEST_DESCRIPTION: Final = 1_200


def _task_name(stem: str, target: str) -> str:
    """The full name of a task whose template it shares with others."""
    unknown = target.startswith(("unknown ", "solid unknown ", "liquid unknown ", "gaseous unknown "))
    endings = {
        "find-": target.replace(" ", "-"),
        "measure-melting-point-": f"{'un' if unknown else ''}known-substance",
        "mendelian-genetics-": f"{'un' if unknown else ''}known-plant",
        "test-conductivity": "-of-unknown-substances" if unknown else "",
    }
    return stem + endings.get(stem, "")


def parse_goal(opening: str) -> ScienceGoal:
    """Read the goal out of an opening observation or a description alone. Never fails: see UNKNOWN_GOAL."""
    start = _START.search(opening)
    sentence = (opening[start.end() :] if start else opening).partition("\n")[0].strip()
    description = f"Your task is to {sentence}" if start else sentence
    text = " ".join(sentence.split())[:_LONGEST_DESCRIPTION]
    for stem, pattern in _PATTERNS.items():
        match = pattern.match(text)
        if match is None:
            continue
        fields = {name: value for name, value in match.groupdict().items() if value is not None}
        said = _said(fields) | (_MORE[stem](fields) if stem in _MORE else {})
        task = _task_name(stem, str(said["target"]))
        if task in KINDS:
            return _goal(task, description, said)
    return ScienceGoal(UNKNOWN_GOAL, text=description)


def _goal(task: str, text: str, said: dict[str, object]) -> ScienceGoal:
    family = KINDS[task].family
    return ScienceGoal(
        family,
        task,
        str(said["target"]),
        str(said.get("box", "")),
        text,
        task=task,
        **said,  # type: ignore[arg-type]
    )
