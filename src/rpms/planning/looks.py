"""What looking may tell: facts that nobody knows and that some action shows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

from rpms.logic.rules import ANYTHING
from rpms.planning.edges import UNSEEN
from rpms.planning.filling import Filling
from rpms.planning.wanted_facts import Achiever, Fact

LOOKS = 4
"""Looks at known things that are considered at a time where nothing else is left to look at."""


class Looks:
    """The facts that looking may tell in one situation."""

    def __init__(self, filling: Filling, left_to_see: Callable[[Fact], float]) -> None:
        """`left_to_see`: how much is left to be seen to before an action shows a fact."""
        self._filling = filling
        self._revealers = filling.index.revealers
        self._left_to_see = left_to_see

    def at(self, thing: str) -> Sequence[Fact]:
        """All that nobody knows of a thing and that some action shows."""
        if thing == UNSEEN:
            return self._at_anything()
        found: dict[Fact, None] = {}
        for predicate, revealers in self._revealers.items():
            if predicate in self._filling.index.together:
                continue  # being together never says where a thing is
            for way in revealers:
                if self._may_concern(way, thing):
                    facts = self._unknown_of(way, thing)
                    found |= dict.fromkeys(fact for fact in facts if thing in fact.args)
        return tuple(found)

    def _may_concern(self, way: Achiever, thing: str) -> bool:
        """True if a way shows facts about a thing: it leaves one open, or the thing has a role."""
        roles = way.fact.args
        return ANYTHING in roles or any(thing in self._filling.called(role) for role in roles)

    def _at_anything(self) -> Sequence[Fact]:
        """Looks that may show something new, and facts about no thing that nobody knows.

        Facts about known things are what plans for the goal look at themselves, so they come in
        where there is nothing else, and of them those that are seen to soonest.
        """
        new: list[Achiever] = []
        known: list[Achiever] = []
        for revealers in self._revealers.values():
            for way in revealers:
                is_new = ANYTHING in way.fact.args or not way.fact.args
                (new if is_new else known).append(way)
        found = self._unknown_of_all(new)
        if found:
            return found
        return sorted(self._unknown_of_all(known), key=self._left_to_see)[:LOOKS]

    def _unknown_of_all(self, ways: Iterable[Achiever]) -> Sequence[Fact]:
        """Facts that some ways show and nobody knows, about whatever may be found."""
        found: dict[Fact, None] = {}
        for way in ways:
            found |= dict.fromkeys(self._unknown_of(way, UNSEEN))
        return tuple(found)

    def _unknown_of(self, way: Achiever, thing: str) -> Iterator[Fact]:
        """Facts that a way shows and nobody knows, with a thing for what it leaves open."""
        free = [name for name in way.fact.args if name != ANYTHING]
        for chosen in product(*map(self._filling.called, free)):
            binding = dict(zip(free, chosen, strict=True))
            args = tuple(binding.get(arg, thing) for arg in way.fact.args)
            fact = way.fact._replace(args=args, makeable=False)
            if self._filling.truth(fact) is None:
                yield fact
