"""What looking may tell: facts that nobody knows and that some action shows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from rpms.logic.rules import ANYTHING
from rpms.planning.edges import UNSEEN
from rpms.planning.filling import Filling
from rpms.planning.wanted_facts import Fact

LOOKS = 4
"""Looks at known things that are considered at a time where nothing else is left to look at."""


class Looks:
    """The facts that looking may tell in one situation."""

    def __init__(self, filling: Filling, left_to_see: Callable[[Fact], float]) -> None:
        """`left_to_see`: how much is left to be seen to before an action shows a fact."""
        self._filling = filling
        self._sights = filling.index.sights
        self._left_to_see = left_to_see

    def at(self, thing: str) -> Sequence[Fact]:
        """All that nobody knows of a thing and that some action shows."""
        if thing == UNSEEN:
            return self._at_anything()
        found: dict[Fact, None] = {}
        for predicate, sights in self._sights.items():
            if predicate in self._filling.index.together:
                continue  # being together never says where a thing is
            for sight in sights:
                if self._may_concern(sight, thing):
                    facts = self._unknown_of(sight, thing)
                    found |= dict.fromkeys([fact for fact in facts if thing in fact.args])
        return tuple(found)

    def _may_concern(self, sight: Fact, thing: str) -> bool:
        """True if a sight may be of a thing: it leaves one open, or the thing has a role."""
        roles = sight.args
        return ANYTHING in roles or any(thing in self._filling.called(role) for role in roles)

    def _at_anything(self) -> Sequence[Fact]:
        """Looks that may show something new, and facts about no thing that nobody knows.

        Facts about known things are what plans for the goal look at themselves, so they come in
        where there is nothing else, and of them those that are seen to soonest.
        """
        new: list[Fact] = []
        known: list[Fact] = []
        for sights in self._sights.values():
            for sight in sights:
                is_new = ANYTHING in sight.args or not sight.args
                (new if is_new else known).append(sight)
        found = self._unknown_of_all(new)
        if found:
            return found
        return sorted(self._unknown_of_all(known), key=self._left_to_see)[:LOOKS]

    def _unknown_of_all(self, sights: Iterable[Fact]) -> Sequence[Fact]:
        """Facts that nobody knows of some that are shown, about whatever may be found."""
        found: dict[Fact, None] = {}
        for sight in sights:
            found |= dict.fromkeys(self._unknown_of(sight, UNSEEN))
        return tuple(found)

    def _unknown_of(self, sight: Fact, thing: str) -> Iterator[Fact]:
        """Facts that nobody knows of those that are shown as one sight, with a thing for what it
        leaves open.
        """
        free = [name for name in sight.args if name != ANYTHING]
        for chosen in product(*map(self._filling.called, free)):
            binding = dict(zip(free, chosen, strict=True))
            args = tuple([binding.get(arg, thing) for arg in sight.args])
            fact = Fact(sight.predicate, args, sight.negated, makeable=False)
            if self._filling.truth(fact) is None:
                yield fact
