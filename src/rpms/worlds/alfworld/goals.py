"""The six kinds of goal: how each is said and read, what it means in PDDL and asks of a house,
how far it is met.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rpms.logic.bits import bits
from rpms.logic.facts import kind_of
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.layout import GameLayout, State
from rpms.worlds.alfworld.update import task
from rpms.worlds.base import read_table

MADE = read_table(f"{__package__}.games", "games.toml")
LOOK = "look_at_obj_in_light"
TWO = "pick_two_obj_and_place"
CLEAN = "pick_clean_then_place_in_recep"
HEAT = "pick_heat_then_place_in_recep"
COOL = "pick_cool_then_place_in_recep"
SENTENCES: Mapping[str, Sequence[str]] = MADE["sentences"]
TASK_TYPES = tuple(SENTENCES)
"""ALFWorld's six task types, by the names that start their folders."""
STATES = {HEAT: "hot", COOL: "cool", CLEAN: "clean"}


class Treatment(NamedTuple):
    """A verb and the type of appliance, by which an object is heated, cooled or cleaned."""

    verb: str
    appliance: str


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
    def treatment(self) -> Treatment | None:
        """The treatment of the object before it is put down; None if there is none."""
        made = MADE["treatments"].get(self.type)
        return None if made is None else Treatment(*made)

    @property
    def destination(self) -> str | None:
        """The type of receptacle that the object goes to; None if it stays in hand."""
        return None if self.in_light else self.receptacle

    @property
    def forbidden(self) -> str | None:
        """Places without such an object at the start, lest the game begin half won; as in
        official games.
        """
        return self.destination if self.treatment is None else None

    def pddl(self) -> str:
        """The winning condition, as official problems state it."""
        return str(MADE["goals"][self.type].format(object=self.object, receptacle=self.receptacle))


_TEMPLATES: dict[re.Pattern[str], str] = {}
"""Each form of a sentence, with the type of its goal."""
for _type, _sentences in SENTENCES.items():
    for _sentence in _sentences:
        _form = re.sub(r"\{[a-z]+\}", r"(\\S+)", _sentence.rstrip("."))
        _TEMPLATES[re.compile(_form)] = _type
_LONGEST_SENTENCE = 400


def parse_goal(opening: str) -> Goal:
    """The goal of an opening or of a sentence.

    Never fails: what people write is UNKNOWN_GOAL, for `rpms.reading`.
    """
    text = task(opening) or opening.strip()
    sentence = text.lower().strip().rstrip(".!").strip()
    if len(sentence) <= _LONGEST_SENTENCE:
        for pattern, type_ in _TEMPLATES.items():
            match = pattern.fullmatch(sentence)
            if match is not None:
                return make_goal(type_, match[1], match[2], text)
    return Goal(UNKNOWN_GOAL, text=text)


def make_goal(type_: str, thing: str, destination: str, text: str) -> Goal:
    """A goal with the state that its type asks for."""
    return Goal(type_, thing, STATES.get(type_, ""), destination, text)


Rate = Callable[[State], float]


def goal_condition_rate(engine: GameEngine) -> Rate:
    """A measure of states, 1 where all conditions are met; of a goal with a single one, whether it
    is won.
    """
    goal = parse_goal(engine.task)
    conditions = _GoalConditions(engine.layout, goal)
    if not conditions.can_be_met:
        return lambda state: float(engine.won(state))
    if goal.type == LOOK:
        return conditions.in_light
    if goal.type == TWO:
        return conditions.two_in_place
    if goal.type in STATES:
        return conditions.treated_in_place
    return lambda state: float(engine.won(state))


class _GoalConditions:
    """The share of a goal's conditions that a state meets. Things are bit masks."""

    def __init__(self, layout: GameLayout, goal: Goal) -> None:
        self._layout = layout
        self._goal = goal
        self._wanted = _mask_of_kind(layout.object_names, goal.object)
        self._lamps = _mask_of_kind(layout.object_names, goal.destination)
        destinations = _mask_of_kind(layout.receptacle_names, goal.destination)
        self._destinations = list(bits(destinations))

    @property
    def can_be_met(self) -> bool:
        """True if the house has such an object, and such a lamp or destination."""
        needed = self._lamps if self._goal.type == LOOK else self._destinations
        return bool(self._wanted) and bool(needed)

    def in_light(self, state: State) -> float:
        """Two conditions: the object is in hand; the lamp is here and on."""
        is_held = state.held >= 0 and bool(self._wanted >> state.held & 1)
        here = 0
        for place in self._layout.here[state.location]:
            here |= state.contents[place]
        is_lit = bool(here & self._lamps & state.toggled)
        return (is_held + is_lit) / 2

    def two_in_place(self, state: State) -> float:
        """Two conditions: one object in place, and a second one in the same place."""
        counts: list[int] = []
        for place in self._destinations:
            counts.append((state.contents[place] & self._wanted).bit_count())
        return min(2, max(counts)) / 2

    def treated_in_place(self, state: State) -> float:
        """Three conditions: an object is heated, cooled or cleaned; one is in place; one is
        both.
        """
        treated: int = getattr(state, self._goal.state) & self._wanted
        in_place = 0
        for place in self._destinations:
            in_place |= state.contents[place] & self._wanted
        met = (treated > 0) + (in_place > 0) + (treated & in_place > 0)
        return met / 3


def _mask_of_kind(names: Sequence[str], kind: str) -> int:
    """A bit for each name of a kind."""
    return sum(1 << index for index, name in enumerate(names) if kind_of(name) == kind)
