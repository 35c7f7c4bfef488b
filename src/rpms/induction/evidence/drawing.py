"""Names drawn for an action's slots, such that facts about them often hold."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple

from rpms.induction.evidence.templates import names_in
from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of


class _InRoles(NamedTuple):
    """The names in some roles, in their order and as a set."""

    names: Sequence[str]
    every: frozenset[str]


class NamesAround:
    """Names that a belief knows, in lists that many draws at one step have in common."""

    def __init__(self, belief: Belief) -> None:
        self._belief = belief
        self._holding = belief.holding
        self._here = belief.location
        self._places = belief.last_seen
        """By thing, where it was last seen."""
        self._in_roles: dict[tuple[str, ...], _InRoles] = {}
        """By roles, the names that are known in any of them."""
        self._fitting: dict[tuple[str, frozenset[str]], Sequence[str]] = {}

    def draw(
        self, roles: Iterable[tuple[str, ...]], dice: Random, *, twice: bool = False
    ) -> tuple[str, ...] | None:
        """Names for slots: what is held, what is here, where a thing was seen.

        None where a role has no names, or where one name stands in two slots and may not.
        """
        chosen: list[str] = []
        for allowed in roles:
            known = self._names_in(allowed)
            if not known.names:
                return None
            fit = []
            for name in self._likely(known, chosen, dice):
                if name in known.every and name not in chosen:
                    fit.append(name)
            chosen.append(dice.choice(fit or known.names))
        names_twice = len(set(chosen)) < len(chosen)
        if names_twice and not twice:
            return None
        return tuple(chosen)

    def _names_in(self, roles: tuple[str, ...]) -> _InRoles:
        """Known names in any of some roles, each once."""
        if roles not in self._in_roles:
            names = names_in(self._belief, roles)
            self._in_roles[roles] = _InRoles(names, frozenset(names))
        return self._in_roles[roles]

    def _likely(self, known: _InRoles, chosen: Sequence[str], dice: Random) -> Sequence[str]:
        """Names of which facts often hold together with those already chosen; none, now and
        then.
        """
        chance = dice.random()
        if chance < 0.3:
            return self._holding
        if chance < 0.5:
            return self._near(known)
        if chance < 0.75 and chosen:
            where = self._places.get(chosen[-1])
            return () if where is None else (where,)
        return ()

    def _near(self, known: _InRoles) -> Sequence[str]:
        """The agent's place, if it is one of the known names, else the things that are there."""
        if self._here is None:
            return ()
        if self._here in known.every:
            return (self._here,)
        return self._things_here

    @cached_property
    def _things_here(self) -> Sequence[str]:
        """The things that were last seen at the agent's place."""
        return [name for name, where in self._places.items() if where == self._here]

    def of_kinds(self, role: str, kinds: frozenset[str]) -> Sequence[str]:
        """The known names in a role that are of some kinds."""
        if (role, kinds) not in self._fitting:
            known = self._belief.names.get(role, ())
            self._fitting[role, kinds] = [name for name in known if kind_of(name) in kinds]
        return self._fitting[role, kinds]
