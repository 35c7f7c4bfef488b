"""The goal of a game, read out of its first text."""

from __future__ import annotations

import re

from rpms.logic.goal import UNKNOWN_GOAL, Goal

_NAME = r"[\w' -]+?"
_THING, _PLACE = rf"(?P<thing>{_NAME})", rf"(?P<place>{_NAME})"
_ROOM = rf"(?: (?:in|within|inside) the {_NAME})?"
_KEY = rf"(?: with the (?P<key>{_NAME}))?"
_STATE = "(?P<state>unlocked|locked|opened|open|ajar|closed|shut)"
_FORMS = [
    ("drop", rf"(?:place|drop|ditch|throw|toss|deposit) the {_THING} on the floor of the {_PLACE}"),
    (
        "take",
        rf"(?:take|retrieve|recover|pick up|pick-up|lift) the {_THING}(?: (?:from|in|that's in) the {_NAME})?",
    ),
    ("unlock", rf"insert the (?P<key>{_NAME}) into the {_THING}{_ROOM}'s lock to unlock it"),
    (
        "lock",
        rf"(?:insert|put|place|deposit) the (?P<key>{_NAME}) into the {_THING}{_ROOM} to lock it",
    ),
    (
        "put",
        rf"(?:insert|put|place|deposit|sit|rest) the {_THING} (?:into|inside|on) the {_PLACE}{_ROOM}",
    ),
    ("eat", rf"eat the {_THING}"),
    ("state", rf"(?P<state>unlock|lock|open|close) the {_THING}{_ROOM}{_KEY}"),
    ("state", rf"the {_THING}{_ROOM} is (?:wide )?{_STATE}{_KEY}"),
]
_READ = [(type_, re.compile(rf"(?:.*?\b)?{form}")) for type_, form in _FORMS]
_STATES = {
    "unlocked": "unlock",
    "locked": "lock",
    "opened": "open",
    "ajar": "open",
    "closed": "close",
    "shut": "close",
}


def read_goal(opening: str) -> Goal:
    """The goal of a game; a key that it names is its state.

    Type `unknown` if its form is not known.
    """
    text = " ".join(opening.partition("-= ")[0].casefold().split())
    sentence = re.split(r"[.!?] ", text.rstrip(".! "))[-1]
    for type_, form in _READ:
        if match := form.fullmatch(sentence):
            found = match.groupdict()
            asked = found.get("state") or type_
            kind = _STATES.get(asked, asked)
            return Goal(
                kind, found["thing"], found.get("key") or "", found.get("place") or "", sentence
            )
    return Goal(UNKNOWN_GOAL, text=text)
