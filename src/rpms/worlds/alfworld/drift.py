"""State drift: what a belief holds for known that is not so in the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.game import GroundTruth, NativeGame
from rpms.worlds.base import Game


def contradictions(belief: AlfworldBelief, game: Game) -> tuple[str, ...]:
    """Compare everything a belief claims with the native engine's state; other engines do not tell theirs."""
    if not isinstance(game, NativeGame):
        return ()
    return tuple(_compare(belief, game.truth()))


def _compare(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    if belief.hand != truth.held:
        yield f"holding {belief.hand}, in truth {truth.held}"
    yield from _compare_places(belief, truth)
    yield from _compare_contents(belief, truth)
    yield from _compare_states(belief, truth)


def _compare_contents(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    for place, inside in belief.contents.items():
        real = set(truth.contents.get(place, ()))
        for thing in set(inside) - real:
            yield f"{thing} is not in {place}"
        if place in belief.seen:
            for thing in real - set(inside):
                yield f"{thing} is in {place}"
    for thing, place in belief.last_seen.items():
        if thing not in truth.contents.get(place, ()):
            yield f"{thing} was not last seen in {place}"


def _compare_states(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    actual = {
        "hot": truth.hot,
        "cool": truth.cool,
        "clean": truth.clean,
        "sliced": truth.sliced,
        "on": truth.toggled,
    }
    for thing, states in belief.states.items():
        for state in states:
            if thing not in actual[state]:
                yield f"{thing} is not {state}"


def _compare_places(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    names = belief.places or tuple(belief.sites.of)
    for place in names:
        if place not in truth.places:
            yield f"there is no {place}"
            continue
        here = belief.here(place)
        if here is not None and here != (place in truth.here):
            yield f"{place} is {'not ' if here else ''}here"
        closed = belief.closed(place)
        if closed is not None and closed != (place in truth.openable and place not in truth.opened):
            yield f"{place} is {'not ' if closed else ''}closed"
        door = belief.has_door(place)
        if door is not None and door != (place in truth.openable):
            yield f"{place} has {'no' if door else 'a'} door"
    sites = belief.sites
    for one, other in combinations(names, 2):
        together = sites.together(one, other) if one in sites.of or other in sites.of else None
        if together is not None and together != (truth.places.get(one) == truth.places.get(other)):
            yield f"{one} and {other} are {'not ' if together else ''}together"
    if belief.places and set(belief.places) != set(truth.places):
        yield "the room has other places"
