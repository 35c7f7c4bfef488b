"""Places to search for a thing, the likeliest first; a search that was begun comes before all."""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple

from rpms.logic.facts import kind_of
from rpms.planning.experience.step_at_hand import StepAtHand
from rpms.planning.experience.things_here import ThingsHere
from rpms.planning.lift import names_of, renamed
from rpms.planning.ways import FURTHER_DOWN


class SearchStep(NamedTuple):
    """A command that looks for a thing, with the experience behind it in words."""

    command: str
    told: str


class _PlaceToSearch(NamedTuple):
    """A place that may have a thing, and what to do next to see if it does."""

    look: SearchStep
    price: float
    """Steps that it is expected to cost more than the likeliest place."""
    begun: bool
    """True if a part of the way there is done, so that turning elsewhere would waste it."""


class Searcher:
    """Finds commands that look for a thing, by where others of its kind were found."""

    def __init__(self, step: StepAtHand, things: ThingsHere) -> None:
        self._step = step
        self._belief = step.belief
        self._here = things

    def search(
        self, kind: str, tried: Container[str] = (), slack: float = inf
    ) -> Iterator[SearchStep]:
        """Commands to look for a kind, likeliest place first.

        A place of which the search has begun is searched before all others, and these come if they
        cost at most `slack` steps more than the likeliest.
        """
        places = list(self._places_to_search(kind))
        begun = [place.look for place in places if place.begun]
        if any(look.command not in tried for look in begun):
            yield from begun
            return
        others = [place for place in places if not place.begun]
        yield from _nearly_likeliest(others, tried, slack)
        yield from begun

    def _places_to_search(self, kind: str) -> Iterator[_PlaceToSearch]:
        """Known places that may have a kind of thing, likeliest first."""
        ranks = {**self._new_kinds, **self._step.whereabouts.order(kind, {})}
        for place_kind in sorted(ranks, key=ranks.__getitem__):
            told = self._step.whereabouts.told(kind, place_kind) or f"look for {kind}"
            price = FURTHER_DOWN * ranks[place_kind]
            for place in self._belief.called(place_kind):
                steps = self.approach(place)
                command = self._next_of(steps)
                if command is not None and not self._here.lacks(place, kind):
                    begun = command != steps[0]
                    yield _PlaceToSearch(SearchStep(command, told), price, begun)

    def _next_of(self, commands: Iterable[str]) -> str | None:
        """The first command that is neither done nor refused; None if there is none."""
        for command in commands:
            if command not in self._step.refused and not self._step.is_done(command):
                return command
        return None

    def approach(self, place: str) -> tuple[str, ...]:
        """Commands given at places of this kind before use; those most places need come before
        refused ones.
        """
        kind = kind_of(place)
        most = self._step.whereabouts.approach()
        commands = self._step.whereabouts.approach(kind)
        if any((kind, command) in self._refused_approaches for command in commands):
            commands = tuple(dict.fromkeys((*most[:1], *commands)))
        return tuple(command.replace("{}", place) for command in commands or most)

    @cached_property
    def _refused_approaches(self) -> frozenset[tuple[str, str]]:
        """Kinds of places with what was refused there in this episode, `{}` for the place."""
        refused: set[tuple[str, str]] = set()
        for turn in self._step.history:
            if turn.failed:
                for name in names_of(turn.action, self._step.schemas):
                    refused.add((kind_of(name), renamed(turn.action, {name: "{}"})))
        return frozenset(refused)

    @cached_property
    def _new_kinds(self) -> dict[str, float]:
        """Kinds that can be gone to as others were, at the price of places that experience does
        not know.
        """
        parts: set[str] = set()
        for way in self._step.whereabouts.approach()[:1]:
            instance = self._step.schemas.instance(way)
            if instance is not None:
                parts.update(instance.binding)
        kinds: dict[str, float] = {}
        for part in sorted(parts):
            for name in self._belief.names.get(part, ()):
                kinds[kind_of(name)] = inf
        return kinds


def _nearly_likeliest(
    places: Sequence[_PlaceToSearch], tried: Container[str], slack: float
) -> Iterator[SearchStep]:
    """Looks that cost at most `slack` steps more than the likeliest that is not tried yet."""
    untried = [place.price for place in places if place.look.command not in tried]
    least = min(untried, default=0.0)
    for place in places:
        if place.price <= least + slack:
            yield place.look
