"""The six kinds of goal: how each is said, what it means in PDDL, and what a house needs for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rpms.worlds.base import read_table

MADE = read_table(__package__, "games.toml")
LOOK = "look_at_obj_in_light"
TWO = "pick_two_obj_and_place"
CLEAN = "pick_clean_then_place_in_recep"
HEAT = "pick_heat_then_place_in_recep"
COOL = "pick_cool_then_place_in_recep"
SENTENCES: Mapping[str, Sequence[str]] = MADE["sentences"]
TASK_TYPES = tuple(SENTENCES)
"""ALFWorld's six task types, by the names that start their folders."""


TREATMENTS = {
    CLEAN: ("clean", "SinkBasin", "isClean"),
    HEAT: ("heat", "Microwave", "isHot"),
    COOL: ("cool", "Fridge", "isCool"),
}
"""Treatment of the thing before it is put down: verb, appliance, and what it is then."""


@dataclass(frozen=True, slots=True)
class GameGoal:
    """A goal, in type names as the ids spell them."""

    type: str
    object: str
    receptacle: str
    """Destination of the object; for `look_at_obj_in_light` the lamp."""
    sentence: int = 0
    """Number of the sentence, of the two."""

    @property
    def text(self) -> str:
        """The sentence that `Your task is to: …` shows."""
        template = SENTENCES[self.type][self.sentence]
        return template.replace("{object}", self.object.lower()).replace("{receptacle}", self.receptacle.lower())

    @property
    def folder(self) -> str:
        """The official folder name, less the scene."""
        return f"{self.type}-{self.object}-None-{self.receptacle}"

    @property
    def in_light(self) -> bool:
        return self.type == LOOK

    @property
    def wanted(self) -> int:
        """Number of objects it takes."""
        return 2 if self.type == TWO else 1

    @property
    def treatment(self) -> tuple[str, str, str] | None:
        return TREATMENTS.get(self.type)

    @property
    def destination(self) -> str | None:
        """The receptacle type the object goes to, or None where it stays in hand."""
        return None if self.in_light else self.receptacle

    @property
    def forbidden(self) -> str | None:
        """Places without such an object at the start, lest the game begin half won; as in official games."""
        return self.destination if self.treatment is None else None

    def pddl(self) -> str:
        """The winning condition, as official problems state it."""
        of_type = f"(objectType ?o {self.object}Type)"
        if self.in_light:
            return (
                "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location)"
                f" (and (objectType ?ot {self.receptacle}Type) (toggleable ?ot) (isToggled ?ot)"
                " (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))"
                f" (exists (?o - object ?a - agent) (and {of_type} (holds ?a ?o))))"
            )
        at_place = f"(receptacleType ?r {self.receptacle}Type)"
        if self.wanted == 2:
            first = f"(objectType ?o1 {self.object}Type) {at_place} (inReceptacle ?o1 ?r)"
            second = f"(not (= ?o1 ?o2)) (objectType ?o2 {self.object}Type) {at_place} (inReceptacle ?o2 ?r)"
            found = f"(exists (?o1 - object) (and {first} (exists (?o2 - object) (and {second}))))"
        elif (treatment := self.treatment) is None:
            found = f"(exists (?o - object) (and (inReceptacle ?o ?r) {of_type} {at_place}))"
        else:
            verb, _, done = treatment
            treated = f"({verb}able ?o) {of_type} {at_place} ({done} ?o) (inReceptacle ?o ?r)"
            found = f"(exists (?o - object) (and {treated}))"
        return f"(and (exists (?r - receptacle) {found}))"
