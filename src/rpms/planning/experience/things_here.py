"""Where things are in the present room, as far as is believed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from rpms.logic.facts import kind_of
from rpms.logic.rules import ANYTHING, ActiveRules, kept_with_rules
from rpms.planning.experience.step_at_hand import StepAtHand
from rpms.planning.lift import names_of


class ThingsHere:
    """Things of the present room, their places, and which were handled."""

    def __init__(self, step: StepAtHand) -> None:
        self._step = step
        self._belief = step.belief
        self._places: dict[str, str] = {}
        """Believed places of the things that were asked for: each is looked up once a step."""

    @cached_property
    def _contains(self) -> Sequence[str]:
        """The predicates of which looking tells: that something is somewhere."""
        return _predicates_of_place(self._step.schemas)

    def place_of(self, thing: str) -> str:
        """Believed place of a thing; empty if unknown."""
        if thing not in self._places:
            place = self._place_noted(thing)
            if place is None:
                place = next((name for name in self._all_names if self._holds(thing, name)), "")
            self._places[thing] = place
        return self._places[thing]

    def _place_noted(self, thing: str) -> str | None:
        """Place where a thing was last seen, none for one in hand; None if nobody saw it."""
        return "" if thing in self._belief.holding else self._last_seen.get(thing)

    @cached_property
    def _last_seen(self) -> Mapping[str, str]:
        return self._belief.last_seen

    @cached_property
    def _all_names(self) -> Iterable[str]:
        """All names that are known, each once."""
        return dict.fromkeys(chain.from_iterable(self._belief.names.values()))

    def lacks(self, place: str, kind: str) -> bool:
        """True if a place is known to have nothing of a kind: it was searched."""
        return self._holds(f"{kind} ?", place) is False

    def _holds(self, thing: str, place: str) -> bool | None:
        """True if a thing is known to be at a place, False if known not to be; else None."""
        # asked of every place: a generator costs more
        for predicate in self._contains:
            value = self._belief.value(predicate, (thing, place))
            if value is not None:
                return value
        return None

    @cached_property
    def _handled(self) -> frozenset[str]:
        """Things named in commands so far."""
        handled: set[str] = set()
        for command in self._step.done:
            handled.update(names_of(command, self._step.schemas))
        return frozenset(handled)

    def settled(self, thing: str) -> bool:
        """True if a thing was carried to where the goal wants it: it is not to be fetched again."""
        return (
            thing in self._handled
            and kind_of(self.place_of(thing)) == self._step.situation.goal.destination
        )

    def has_handled(self, place: str) -> bool:
        """True if a thing that was handled before is at a place now."""
        for thing in self._handled:
            # asked first, since to find a thing is to ask of every place
            may_be_there = self._place_noted(thing) is not None or self._holds(thing, place)
            if may_be_there and self.place_of(thing) == place:
                return True
        return False

    def missing(self) -> Iterator[str]:
        """Kinds named by the goal of which no thing is known, or only things already at the
        goal's destination.
        """
        goal = self._step.situation.goal
        for kind in (goal.object, goal.destination):
            if kind and all(map(self.settled, self._belief.called(kind))):
                yield kind


@kept_with_rules
def _predicates_of_place(rules: ActiveRules) -> Sequence[str]:
    """The predicates by which looking tells that something is somewhere."""
    predicates: dict[str, None] = {}
    for schema in rules.environment:
        for seen in schema.observes:
            args = seen.atom.args
            if len(args) == 2 and args[0] == ANYTHING:
                predicates[seen.atom.predicate] = None
    return tuple(predicates)
