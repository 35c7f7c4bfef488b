"""Goals: the sentences of the games, and what people write instead as far as templates reach."""

from __future__ import annotations

import re

from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.alfworld import observations
from rpms.worlds.alfworld.affordances import LIGHTS
from rpms.worlds.alfworld.words import Mention, mentions

LOOK = "look_at_obj_in_light"
PLACE = "pick_and_place_simple"
TWO = "pick_two_obj_and_place"
CLEAN = "pick_clean_then_place_in_recep"
HEAT = "pick_heat_then_place_in_recep"
COOL = "pick_cool_then_place_in_recep"
GOAL_TYPES = (PLACE, LOOK, CLEAN, HEAT, COOL, TWO)
"""ALFWorld's six types, by the paper's names."""

STATES = {HEAT: "hot", COOL: "cool", CLEAN: "clean"}

_TEMPLATES = tuple(
    (re.compile(pattern), type_)
    for pattern, type_ in (
        (r"put two (\S+) in (\S+)", TWO),
        (r"find two (\S+) and put them in (\S+)", TWO),
        (r"put a clean (\S+) in (\S+)", CLEAN),
        (r"clean some (\S+) and put it in (\S+)", CLEAN),
        (r"put a hot (\S+) in (\S+)", HEAT),
        (r"heat some (\S+) and put it in (\S+)", HEAT),
        (r"put a cool (\S+) in (\S+)", COOL),
        (r"cool some (\S+) and put it in (\S+)", COOL),
        (r"examine the (\S+) with the (\S+)", LOOK),
        (r"look at (\S+) under the (\S+)", LOOK),
        (r"put a (\S+) in (\S+)", PLACE),
        (r"put some (\S+) on (\S+)", PLACE),
    )
)
"""The games' own sentences, both of each type."""

_LONGEST_SENTENCE = 400
_WORD = re.compile(r"[a-z0-9]+")
_CUES = {
    HEAT: frozenset(
        {
            "heat",
            "heated",
            "heating",
            "hot",
            "warm",
            "warmed",
            "microwaved",
            "cook",
            "cooked",
            "cooking",
            "bake",
            "baked",
            "reheat",
        }
    ),
    COOL: frozenset({"cool", "cooled", "cooling", "cold", "chill", "chilled", "chilling", "refrigerated", "chilly"}),
    CLEAN: frozenset(
        {
            "clean",
            "cleaned",
            "cleaning",
            "wash",
            "washed",
            "washing",
            "rinse",
            "rinsed",
            "rinsing",
            "wet",
            "scrub",
            "scrubbed",
        }
    ),
}
_PAIR = frozenset({"two", "2", "both", "pair", "couple"})
_LIGHT = frozenset({"light", "lamp", "lamplight", "desklamp", "floorlamp", "lit"})
_BEYOND = frozenset({"slice", "sliced", "slices", "cut", "chop", "chopped", "three", "3", "not", "without", "or"})
"""Words of goals that are none of the six."""
_INTO = frozenset({"in", "on", "into", "onto", "inside", "to", "at", "upon", "within", "atop"})
_BESIDE = frozenset(
    {"by", "near", "next", "beside", "from", "with", "left", "right", "under", "above", "below", "using"}
)
"""Prepositions before a place that is not where the object shall be."""


def parse_goal(opening: str) -> Goal:
    """Read the goal out of an opening observation, or out of a sentence alone. Never fails: see UNKNOWN_GOAL."""
    text = observations.task(opening) or opening.strip()
    sentence = text.lower().strip().rstrip(".!").strip()
    if len(sentence) <= _LONGEST_SENTENCE:
        for pattern, type_ in _TEMPLATES:
            match = pattern.fullmatch(sentence)
            if match is not None:
                return _goal(type_, match[1], match[2], text)
        paraphrase = _paraphrase(_WORD.findall(sentence), text)
        if paraphrase is not None:
            return paraphrase
    return Goal(UNKNOWN_GOAL, text=text)


def _goal(type_: str, thing: str, destination: str, text: str) -> Goal:
    return Goal(type_, thing, STATES.get(type_, ""), destination, text)


def _paraphrase(words: list[str], text: str) -> Goal | None:
    """A goal from the kinds a sentence names and the words that tell its type; None if in doubt."""
    named = list(mentions(words))
    things = [mention for mention in named if not mention.is_place and mention.kind not in LIGHTS]
    if len({mention.kind for mention in things}) != 1 or not _BEYOND.isdisjoint(words):
        return None
    types = [type_ for type_, cues in _CUES.items() if not cues.isdisjoint(words)]
    if HEAT not in types and words[0] == "microwave":
        types.append(HEAT)
    if not _PAIR.isdisjoint(words):
        types.append(TWO)
    lights = [mention.kind for mention in named if mention.kind in LIGHTS]
    if lights or not _LIGHT.isdisjoint(words):
        types.append(LOOK)
    if len(types) > 1:
        return None
    type_ = types[0] if types else PLACE
    light = lights[-1] if lights else "desklamp"
    destination = light if type_ == LOOK else _destination(named, words, things[0])
    return _goal(type_, things[0].kind, destination, text) if destination else None


def _destination(named: list[Mention], words: list[str], thing: Mention) -> str:
    """The last place named with `in`, `on` or the like after the object; else the last before it."""
    places = [mention for mention in named if mention.is_place and _follows_into(mention, words)]
    after = [mention for mention in places if mention.start > thing.start]
    return (after or places)[-1].kind if places else ""


def _follows_into(mention: Mention, words: list[str]) -> bool:
    """Whether the nearest preposition before a place, at most three words back, says that something gets there."""
    for place in range(mention.start - 1, max(-1, mention.start - 4), -1):
        if words[place] in _BESIDE or (words[place] == "to" and place and words[place - 1] in _BESIDE):
            return False
        if words[place] in _INTO:
            return True
    return False
