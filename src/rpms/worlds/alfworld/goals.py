"""Goals: the sentences of the games. What people write instead is read by `rpms.core.reading`."""

from __future__ import annotations

import re

from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.worlds.alfworld import observations
from rpms.worlds.alfworld.games.goals import CLEAN, COOL, HEAT, SENTENCES

STATES = {HEAT: "hot", COOL: "cool", CLEAN: "clean"}

_TEMPLATES = tuple(
    (re.compile(re.sub(r"\{[a-z]+\}", r"(\\S+)", sentence.rstrip("."))), type_)
    for type_, sentences in SENTENCES.items()
    for sentence in sentences
)
_LONGEST_SENTENCE = 400


def parse_goal(opening: str) -> Goal:
    """Read the goal out of an opening observation, or out of a sentence alone. Never fails: see UNKNOWN_GOAL."""
    text = observations.task(opening) or opening.strip()
    sentence = text.lower().strip().rstrip(".!").strip()
    if len(sentence) <= _LONGEST_SENTENCE:
        for pattern, type_ in _TEMPLATES:
            match = pattern.fullmatch(sentence)
            if match is not None:
                return make_goal(type_, match[1], match[2], text)
    return Goal(UNKNOWN_GOAL, text=text)


def make_goal(type_: str, thing: str, destination: str, text: str) -> Goal:
    """A goal with the state that its type asks for."""
    return Goal(type_, thing, STATES.get(type_, ""), destination, text)
