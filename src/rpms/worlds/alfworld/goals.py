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
from rpms.worlds.alfworld.engine.layout import State
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

    Two objects in place are two conditions; a heated, cooled or cleaned one has three: treated, in
    place, and both at once. Under a lamp there are two: the object in hand, the lamp here and on.
    """
    goal = parse_goal(engine.task)
    layout = engine.layout
    wanted = _mask_of_kind(layout.object_names, goal.object)
    lamps = _mask_of_kind(layout.object_names, goal.destination)
    ends = _mask_of_kind(layout.receptacle_names, goal.destination)
    places = list(bits(ends))

    def won(state: State) -> float:
        return float(engine.won(state))

    def lit(state: State) -> float:
        held = state.held >= 0 and bool(wanted >> state.held & 1)
        here = 0
        for place in layout.here[state.location]:
            here |= state.contents[place]
        seen = bool(here & lamps & state.toggled)
        return (held + seen) / 2

    def both(state: State) -> float:
        counts = [(state.contents[place] & wanted).bit_count() for place in places]
        return min(2, max(counts)) / 2

    def treated(state: State) -> float:
        done: int = getattr(state, goal.state) & wanted
        inside = 0
        for place in places:
            inside |= state.contents[place] & wanted
        return ((done > 0) + (inside > 0) + (done & inside > 0)) / 3

    if not wanted or not (lamps if goal.type == LOOK else places):
        return won
    rates: dict[str, Rate] = {LOOK: lit, TWO: both, **dict.fromkeys(STATES, treated)}
    return rates.get(goal.type, won)


def _mask_of_kind(names: Sequence[str], kind: str) -> int:
    """A bit for each name of a kind."""
    return sum(1 << index for index, name in enumerate(names) if kind_of(name) == kind)
