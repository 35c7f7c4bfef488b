"""Dialects of ALFWorld's games, and proof that a game's texts mean what the engine does.

The engine does not interpret actions: it implements ALFWorld's. So each action of a file is compared, by a digest of
its meaning, with those the engine implements, and a file with any other action or wording is refused. The two releases
differ in four places, each recognised on its own, so a mixture of them plays as its texts say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Literal

from rpms.worlds.alfworld.engine import domain as domains
from rpms.worlds.alfworld.engine.domain import Domain
from rpms.worlds.alfworld.engine.errors import Damage, quoted
from rpms.worlds.alfworld.engine.grammar import Grammar

_TASK = "\n\nYour task is to: "

_EITHER_SINK = "a1917f6aed2b4aac"
_PUT = "b810f4a402ad9fe7"
_ARRIVE_AT_LOCATION = "b07d97fb3e9c7912"

_DOMAIN: dict[str, tuple[str, ...]] = {
    "look": ("2a90c164cb9ea8a0",),
    "inventory": ("679a3b91389beeeb",),
    "examinereceptacle": ("dfa3a03563f2c587",),
    "examineobject": ("7942139f348d9465",),
    "gotolocation": ("121be09856856ab8",),
    "openobject": ("bb5d8b301d4a223c",),
    "closeobject": ("240e87592b586639",),
    "pickupobject": ("5f1dcce96b2f8501",),
    "putobject": ("531ccb1f43b68f52",),
    "cleanobject": (_EITHER_SINK, "ea73054b84b26ca2"),
    "heatobject": ("4ebb9b5081ab66c7",),
    "coolobject": ("befd6610d795c755",),
    "toggleobject": ("00a13914767cf523",),
    "sliceobject": ("d565666deac68a2c",),
    "help": ("679a3b91389beeeb",),
}
"""Digests of what each action needs and does."""

_TEXT: dict[str, tuple[str, ...]] = {
    "look": ("100d5c3c4d01f0e0",),
    "inventory": ("fc4abba1cf592efa",),
    "examinereceptacle": ("1efadfc4f6f70c7e",),
    "examineobject": ("fd19daaba438102b",),
    "gotolocation": (_ARRIVE_AT_LOCATION, "e591062f5c39bbdf"),
    "openobject": ("824048a58629c7d4",),
    "closeobject": ("8d73eeb61595c7ed",),
    "pickupobject": ("07bfba623873bdae",),
    "putobject": (_PUT, "56f98d99f501b9dd"),
    "cleanobject": ("8dc49cf053c102bf",),
    "heatobject": ("050181d5037d37f0",),
    "coolobject": ("ddfd7eb518e839e5",),
    "toggleobject": ("879964e64daddd8a",),
    "sliceobject": ("838b798cf707f2f4",),
    "intro": ("a81402467ec0d4f0",),
}
"""Digests of the command and the answer of each action; `intro` is what a game opens with, without its goal."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """Differences between games of the two releases."""

    name: Literal["0.3", "0.4"]
    """The release whose commands it takes: 0.3 has `put … in/on …`, 0.4 has `move … to …`."""
    arrives_at_location: bool
    """`go to` answers with the location's name (0.3) or the receptacle's (0.4)."""
    any_sink: bool
    """A receptacle of type Sink cleans too (0.3), not only a SinkBasin."""
    help: str | None
    """Answer to `help`, where it is a command."""


@lru_cache(maxsize=8)
def read_domain(text: str) -> Domain:
    """Read a domain and refuse it unless its actions are ALFWorld's. Remembered, since games share their domain."""
    domain = domains.read(text)
    for action, digests in _DOMAIN.items():
        if action == "help" and action not in domain.actions:
            continue
        if action not in domain.actions:
            raise Damage(f"lacks ALFWorld's action {action!r}")
        if digest(domain.actions[action]) not in digests:
            raise Damage(f"defines action {action!r} in another way than ALFWorld")
    if unknown := sorted(domain.actions.keys() - _DOMAIN.keys()):
        raise Damage(f"has an action {quoted(unknown[0])} that ALFWorld does not have")
    return domain


def recognise(domain: Domain, grammar: Grammar) -> tuple[Dialect, str]:
    """The dialect of a game and its goal sentence. Raises Damage when its wording is not ALFWorld's."""
    said: dict[str, str] = {}
    helped: str | None = None
    for action in domain.actions:
        text = grammar.actions.get(action)
        if text is None:
            raise Damage(f"has no texts for action {action!r}")
        answer = grammar.meaning(text.feedback)
        if action == "help":
            helped = answer[0] if len(answer) == 1 and isinstance(answer[0], str) else None
            if helped is None or text.template != "help":
                raise Damage("words action 'help' in another way than ALFWorld")
            continue
        said[action] = digest((grammar.meaning(text.template), answer))
    intro = grammar.meaning("#intro#")
    last = intro[-1]
    if not isinstance(last, str) or not last.startswith(_TASK):
        raise Damage("does not end its intro with a plain 'Your task is to: …'")
    said["intro"] = digest(intro[:-1])
    for action, seen in said.items():
        if seen not in _TEXT[action]:
            raise Damage(f"words {action!r} in another way than ALFWorld")
    dialect = Dialect(
        name="0.3" if said["putobject"] == _PUT else "0.4",
        arrives_at_location=said["gotolocation"] == _ARRIVE_AT_LOCATION,
        any_sink=digest(domain.actions["cleanobject"]) == _EITHER_SINK,
        help=helped,
    )
    return dialect, last.removeprefix(_TASK)


def digest(meaning: object) -> str:
    """A short name for a meaning: equal meanings have equal names on every machine."""
    return sha256(repr(meaning).encode()).hexdigest()[:16]
