"""Truth of the manual's facts in a belief: true, false, or None where nobody knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rpms.core.facts import kind_of
from rpms.worlds.alfworld.affordances import KNIVES, affordances
from rpms.worlds.alfworld.known import AlfworldKnown


def _at(belief: AlfworldKnown, thing: str) -> bool | None:
    return belief.here(thing) if not belief.places or thing in belief.places else belief.near(thing)


def _exists(belief: AlfworldKnown, place: str) -> bool | None:
    return place in belief.places if belief.places else None


def _slices(_belief: AlfworldKnown, tool: str, thing: str) -> bool | None:
    if kind_of(tool) not in KNIVES:
        return False if kind_of(tool) in affordances().objects else None
    return affordances().has("sliceable", kind_of(thing))


def _placed(belief: AlfworldKnown, thing: str, place: str) -> bool:
    where, placed = belief.gathered()
    return where == place and thing in placed


def _treats(verb: str) -> Callable[[AlfworldKnown, str, str], bool | None]:
    return lambda _belief, place, thing: affordances().treats(verb, kind_of(place), kind_of(thing))


def _cleans(belief: AlfworldKnown, place: str, thing: str) -> bool | None:
    known = affordances().treats("clean", kind_of(place), kind_of(thing))
    return False if known is None and place in belief.inert else known


def _has(attribute: str) -> Callable[[AlfworldKnown, str], bool | None]:
    return lambda _belief, thing: affordances().has(attribute, kind_of(thing))


def _movable(_belief: AlfworldKnown, thing: str) -> bool | None:
    kind = kind_of(thing)
    known = affordances().has("pickupable", kind)
    return False if known is None and kind in affordances().places else known


def _is(state: str) -> Callable[[AlfworldKnown, str], bool]:
    return lambda belief, thing: belief.is_(thing, state)


PREDICATES: Mapping[str, tuple[int, Callable[..., bool | None]]] = {
    "at": (1, _at),
    "same_place": (2, lambda belief, one, other: belief.together(one, other)),
    "exists": (1, _exists),
    "holding": (1, lambda belief, thing: thing == belief.hand),
    "hand_empty": (0, lambda belief: belief.hand is None),
    "closed": (1, lambda belief, place: belief.closed(place)),
    "door": (1, lambda belief, place: belief.has_door(place)),
    "in": (2, lambda belief, thing, place: belief.contains(place, thing)),
    "movable": (1, _movable),
    "lamp": (1, _has("toggleable")),
    "fits": (2, lambda _belief, thing, place: affordances().fits(kind_of(thing), kind_of(place))),
    "heats": (2, _treats("heat")),
    "cools": (2, _treats("cool")),
    "cleans": (2, _cleans),
    "slices": (2, _slices),
    "heated": (1, _is("hot")),
    "cooled": (1, _is("cool")),
    "cleaned": (1, _is("clean")),
    "sliced": (1, _is("sliced")),
    "lit": (1, _is("on")),
    "placed": (2, _placed),
    "helpful": (0, lambda belief: None if belief.dialect is None else belief.dialect != "0.3"),
}
"""Predicate → number of arguments, and who answers. Deeds (`heated`, …) are false until done or seen."""
