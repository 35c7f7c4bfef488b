"""Goals: the sentences of the games, and what people write instead as far as templates reach."""

from __future__ import annotations

import re

from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.alfworld import observations
from rpms.worlds.alfworld.affordances import LIGHTS
from rpms.worlds.alfworld.games.goals import CLEAN, COOL, HEAT, LOOK, PLACE, SENTENCES, TWO
from rpms.worlds.alfworld.words import Mention, mentions

STATES = {HEAT: "hot", COOL: "cool", CLEAN: "clean"}

_TEMPLATES = tuple(
    (re.compile(re.sub(r"\{[a-z]+\}", r"(\\S+)", sentence.rstrip("."))), type_)
    for type_, sentences in SENTENCES.items()
    for sentence in sentences
)
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
