"""What brings about facts of one sort, by the roles of the things that these are about."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.logic.actions import GivenBy
from rpms.logic.facts import grouped


class FactPlace(NamedTuple):
    """A place in a fact that an action gives."""

    word: str
    is_role: bool
    """True if the word is a parameter of the action; else it is the kind of a thing that the
    manual names."""


@dataclass(eq=False)
class GiversAlike:
    """All that brings about a fact of things in the same roles: doubts repeat the actions that
    they are made of.
    """

    places: tuple[FactPlace, ...]
    givers: Sequence[GivenBy]
    is_circular: Callable[[GivenBy], bool]
    """True for what needs the very fact that it gives."""

    @cached_property
    def is_of_use(self) -> bool:
        """True if something among it does not need the very fact that it gives."""
        return not all(map(self.is_circular, self.givers))


def alike(
    givers: Iterable[GivenBy], is_circular: Callable[[GivenBy], bool]
) -> Sequence[GiversAlike]:
    """What brings about facts of a sort, grouped by the roles of their things."""
    groups = grouped((_places(each), each) for each in givers)
    return [GiversAlike(places, every, is_circular) for places, every in groups.items()]


def _places(given: GivenBy) -> tuple[FactPlace, ...]:
    """The places in the fact that something gives."""
    variables = given.variables
    return tuple([FactPlace(word, word in variables) for word in given.effect.atom.args])
