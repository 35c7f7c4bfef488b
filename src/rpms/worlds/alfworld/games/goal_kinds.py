"""The six kinds of goal: how each is said, what it means in PDDL, and what a house needs for it."""

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
        return template.format(object=self.object.lower(), receptacle=self.receptacle.lower())

    @property
    def in_light(self) -> bool:
        return self.type == LOOK

    @property
    def wanted(self) -> int:
        """Number of objects it takes."""
        return 2 if self.type == TWO else 1

    @property
    def treatment(self) -> tuple[str, str] | None:
        """Verb and appliance by which the object is treated before it is put down."""
        return tuple(MADE["treatments"][self.type]) if self.type in MADE["treatments"] else None

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
        return str(MADE["goals"][self.type].format(object=self.object, receptacle=self.receptacle))
