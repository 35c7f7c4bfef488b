"""Commands taken apart: known names are taken out of them, and what is left is the action's way of being written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from rpms.core.belief import Belief
from rpms.core.facts import kind_of

SLOT = "<>"
_LONGEST_NAME = 8
"""Words of a name at most."""


class ReadCommand(NamedTuple):
    """A command as an instance of a template: `heat <> with <>` and the names in its slots."""

    template: str
    names: tuple[str, ...]


class Names:
    """Every name that was seen so far in any episode, with the roles that it was known to have."""

    def __init__(self) -> None:
        self.roles: dict[str, set[str]] = {}
        self.order: dict[str, int] = {}
        """Roles in the order in which they were first seen, the narrowest of an episode first."""

    def learn(self, names: Mapping[str, Sequence[str]]) -> None:
        """Take over what a belief knows to be there."""
        for role in sorted(names, key=lambda role: len(names[role])):
            self.order.setdefault(role, len(self.order))
            for name in names[role]:
                self.roles.setdefault(name, set()).add(role)

    @property
    def constants(self) -> list[str]:
        """Names that stand for one thing in every episode: those without a number."""
        return [name for name in self.roles if kind_of(name) == name and not name.isdigit()]

    def read(self, command: str) -> ReadCommand:
        """Take the names out of a command, the longest first; its first word is the verb and stays."""
        words = command.split()
        template, names = words[:1], []
        place = 1
        while place < len(words):
            for end in range(min(len(words), place + _LONGEST_NAME), place, -1):
                name = " ".join(words[place:end])
                if name in self.roles:
                    template.append(SLOT)
                    names.append(name)
                    place = end
                    break
            else:
                template.append(words[place])
                place += 1
        return ReadCommand(" ".join(template), tuple(names))


def fill(template: str, names: Sequence[str]) -> str:
    """A command: a template with names in its slots."""
    pieces = template.split(SLOT)
    return "".join(piece + name for piece, name in zip(pieces, (*names, ""), strict=True))


def draw(belief: Belief, roles: Sequence[Collection[str]], dice: Random) -> tuple[str, ...] | None:
    """Names for slots, drawn so that facts about them often hold: what is held, what is here, where a thing was seen.

    None where a slot has no name, or two have the same.
    """
    chosen: list[str] = []
    for allowed in roles:
        known = list(dict.fromkeys(name for role in allowed for name in belief.names.get(role, ())))
        if not known:
            return None
        some: list[str] = []
        chance = dice.random()
        if chance < 0.3:
            some = [name for name in belief.holding if name in known]
        elif chance < 0.5:
            some = [belief.location] if belief.location in known else []
            some = some or [name for name, where in belief.last_seen.items() if where == belief.location]
        elif chance < 0.75 and chosen:
            where = belief.last_seen.get(chosen[-1])
            some = [where] if where is not None else []
        some = [name for name in some if name in known and name not in chosen]
        chosen.append(dice.choice(some or known))
    return tuple(chosen) if len(set(chosen)) == len(chosen) else None
