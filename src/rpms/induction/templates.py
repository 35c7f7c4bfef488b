"""Commands taken apart: known names are taken out of them, and what is left is the action's way
of being written.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import NamedTuple

from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of

SLOT = "<>"
_PIECE = re.compile(r"""\s+|[(),="']|[^\s(),="']+""")
"""Words, and what stands between them in sentences and in calls of tools."""
_NUMBER = re.compile(r"\d")


class ReadCommand(NamedTuple):
    """A command as an instance of a template: `heat <> with <>` and the names in its slots."""

    template: str
    names: tuple[str, ...]


class Names:
    """Every name that was seen so far in any episode, with the roles that it was known to have."""

    def __init__(self) -> None:
        self.roles: dict[str, set[str]] = {}
        self.order: dict[
            str, int
        ] = {}  # Roles in the order in which they were first seen, the narrowest first
        self.episodes = 0
        self.spread: Counter[str] = Counter()  # In how many episodes each name was known
        self.few: dict[str, tuple[str, ...]] = {}  # The names of roles that have only few in all
        self.in_hand: dict[str, None] = {}  # Names of what was in hand whenever some action worked
        self._widespread: tuple[str, ...] = ()
        self._unnumbered: list[str] = []
        self.kinds: dict[str, None] = {}
        self._known: dict[str, set[str]] = {}  # By role, the names that were known to have it
        self._readings: dict[str, ReadCommand] = {}  # Of commands, until a new name comes

    def learn(self, names: Mapping[str, Sequence[str]]) -> None:
        """Take over what a belief knows to be there."""
        for role in sorted(names, key=lambda role: len(names[role])):
            self.order.setdefault(role, len(self.order))
            known = self._known.setdefault(role, set())
            for name in names[role] if not known.issuperset(names[role]) else ():
                if name not in self.roles:
                    self.kinds[kind_of(name)] = None
                    self._unnumbered += [] if _NUMBER.search(name) else [name]
                    self._readings.clear()
                self.roles.setdefault(name, set()).add(role)
                known.add(name)

    def begin(self) -> None:
        """Another episode begins. Now and then it is settled anew which names are fixed."""
        self.episodes += 1
        if self.episodes < LIMITS.settled_names or self.episodes & (self.episodes - 1):
            return
        every = self._unnumbered
        most = sorted(every, key=lambda name: -self.spread[name])[: LIMITS.most_widespread]
        self._widespread = tuple(
            name for name in most if self.spread[name] >= LIMITS.widespread * self.episodes
        )
        sizes = Counter(role for roles in self.roles.values() for role in roles)
        few = [role for role in self.order if sizes[role] <= LIMITS.few_names]
        self.few = {role: tuple(name for name in every if role in self.roles[name]) for role in few}

    @property
    def constants(self) -> tuple[str, ...]:
        """Names that stand for one thing in every episode: those without a number, as far as
        they are widespread.
        """
        # a thing hidden in most episodes may still matter if it was in hand
        return (
            tuple(dict.fromkeys((*self._widespread, *self.in_hand)))
            if self.many
            else tuple(self._unnumbered)
        )

    @property
    def many(self) -> bool:
        """True if there are too many names without a number for all to be fixed ones."""
        return len(self._unnumbered) > LIMITS.fixed_names

    def read(self, command: str) -> ReadCommand:
        """Take the names out of a command, the longest first; its first word is the verb and
        stays.
        """
        if command in self._readings:
            return self._readings[command]
        pieces = _PIECE.findall(" ".join(command.split()))
        template, names = pieces[:1], []
        place = 1
        while place < len(pieces):
            for end in range(min(len(pieces), place + 2 * LIMITS.longest_name - 1), place, -1):
                name = "".join(pieces[place:end])
                if name in self.roles:
                    template.append(SLOT)
                    names.append(name)
                    place = end
                    break
            else:
                template.append(pieces[place])
                place += 1
        return self._readings.setdefault(command, ReadCommand("".join(template), tuple(names)))


def fill(template: str, names: Sequence[str]) -> str:
    """A command: a template with names in its slots."""
    return "".join(
        piece + name for piece, name in zip(template.split(SLOT), (*names, ""), strict=True)
    )


def draw(belief: Belief, roles: Sequence[Collection[str]], dice: Random) -> tuple[str, ...] | None:
    """Names for slots, such that facts about them often hold: what is held, what is here, where
    a thing was seen.
    """
    chosen: list[str] = []
    for allowed in roles:
        pools = [belief.names.get(role, ()) for role in sorted(allowed)]
        known = (
            pools[0]
            if len(pools) == 1
            else list(dict.fromkeys(name for names in pools for name in names))
        )
        if not known:
            return None
        some: Sequence[str] = ()
        chance = dice.random()
        if chance < 0.3:
            some = belief.holding
        elif chance < 0.5:
            here = belief.location
            near = [name for name, where in belief.last_seen.items() if where == here]
            some = [here] if here is not None and here in known else near
        elif chance < 0.75 and chosen:
            where = belief.last_seen.get(chosen[-1])
            some = [where] if where is not None else ()
        if some:
            some = [name for name in some if name in known and name not in chosen]
        chosen.append(dice.choice(some or known))
    return tuple(chosen) if len(set(chosen)) == len(chosen) else None
