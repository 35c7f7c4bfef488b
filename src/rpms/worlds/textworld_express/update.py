"""f_UPD: a belief and the next text make the next belief."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rpms.core.goal import Goal
from rpms.worlds.textworld_express import observations as said
from rpms.worlds.textworld_express.belief import ExpressBelief
from rpms.worlds.textworld_express.games import ExpressGoal
from rpms.worlds.textworld_express.observations import DONE, OPPOSITE, Furniture, Place

_DOOR: Final = re.compile(r"(?:open|close) door to (north|south|east|west)")


def start(goal: Goal) -> ExpressBelief:
    """The belief before anything was seen: what the task gives is carried."""
    return ExpressBelief(goal, carried=goal.given if isinstance(goal, ExpressGoal) else ())


def update(belief: ExpressBelief, action: str | None, observation: str) -> ExpressBelief:
    """Take in what an action was answered with; what fits no pattern changes nothing."""
    text = observation[: said.LONGEST]
    if action is None and "\n\n" in text:
        text = text.partition("\n\n")[2]
    if (most := said.capacity(text)) is not None:
        return replace(belief, capacity=most)
    if said.refused(text):
        return belief
    if belief.goal.type == "simonsays":  # which has no rooms, and says of nothing whether it is there
        return _read(belief, action, text)
    if (room := said.room(text)) is not None:
        return _see(belief, room)
    for pattern, change in _CHANGES:
        if (match := pattern.fullmatch(text.strip())) is not None:
            return _obeyed(change(belief, match, action or ""), action)
    return _read(belief, action, text)


def _read(belief: ExpressBelief, action: str | None, text: str) -> ExpressBelief:
    """Take in what is written somewhere, or said."""
    if (listing := said.inventory(text)) is not None:
        carried, most = listing
        belief = _with_states(belief, carried)
        return replace(belief, carried=tuple(each.name for each in carried), capacity=most or belief.capacity)
    if (recipe := said.recipe(text)) is not None:
        return replace(belief, recipe=recipe)
    if (chart := said.chart(text)) is not None:
        return replace(belief, chart=chart)
    if (result := said.answer(text)) is not None:
        return replace(belief, result=result)
    if orders := said.orders(text):
        return replace(belief, orders=orders)
    return _obeyed(belief, action)


def _obeyed(belief: ExpressBelief, action: str | None) -> ExpressBelief:
    """Cross an order off that was followed."""
    return replace(belief, orders=belief.orders[1:]) if belief.orders and action == belief.orders[0] else belief


def _see(belief: ExpressBelief, room: said.LookAround) -> ExpressBelief:
    """Take in a look around."""
    before, seen = belief.places.get(room.name), room.place
    old = before.furniture if before is not None else {}
    furniture = {
        name: replace(each, content=old[name].content) if not each.open and name in old else each
        for name, each in seen.furniture.items()
    }
    exits = dict(seen.exits)
    for direction, there in exits.items():
        if there is None:
            known = before.exits.get(direction) if before is not None else None
            exits[direction] = known or _across(belief, room.name, direction)
    places = {**belief.places, room.name: replace(seen, furniture=furniture, exits=exits)}
    for direction, there in exits.items():
        if there is not None and there in places:
            places[there] = _with_way(places[there], OPPOSITE[direction], room.name)
    placed = tuple(thing for thing in belief.placed if thing not in seen.loose)
    return replace(_with_states(belief, room.foods), room=room.name, places=places, placed=placed)


def _across(belief: ExpressBelief, room: str, direction: str) -> str | None:
    """The room behind a door, if it was seen from the other side: ways lead back."""
    back = OPPOSITE[direction]
    return next((other for other, place in belief.places.items() if place.exits.get(back) == room), None)


def _with_way(place: Place, direction: str, there: str) -> Place:
    """A room one of whose doors is known to lead somewhere."""
    if place.exits.get(direction, "") is not None:
        return place
    return replace(place, exits={**place.exits, direction: there})


def _with_states(belief: ExpressBelief, foods: tuple[said.Food, ...]) -> ExpressBelief:
    told = {each.name: each.states - {"raw"} for each in foods if each.states}
    return replace(belief, states={**belief.states, **told}) if told else belief


def _in_room(belief: ExpressBelief, **changes: object) -> ExpressBelief:
    """The same belief with the present room changed."""
    if belief.here is None or belief.room is None:
        return belief
    return replace(belief, places={**belief.places, belief.room: replace(belief.here, **changes)})  # type: ignore[arg-type]


def _open_door(belief: ExpressBelief, match: re.Match[str], action: str) -> ExpressBelief:
    way = _DOOR.fullmatch(action)
    if way is None or belief.here is None:
        return belief
    exits, doors = {**belief.here.exits, way[1]: match["room"]}, {**belief.here.doors, way[1]: match["verb"] == "close"}
    belief = _in_room(belief, exits=exits, doors=doors)
    other = belief.places.get(match["room"])
    if other is None or belief.room is None:
        return belief
    back = OPPOSITE[way[1]]
    if back in other.exits:
        other = replace(_with_way(other, back, belief.room), doors={**other.doors, back: match["verb"] == "close"})
    return replace(belief, places={**belief.places, match["room"]: other})


def _open_lid(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    inside = said.things(match["inside"]) if match["inside"] else ()
    content = tuple(each.name for each in inside)
    return _furnish(_with_states(belief, inside), match["thing"], Furniture(open=True, content=content, lid=True))


def _close_lid(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    here = belief.here
    old = here.furniture.get(match["thing"]) if here is not None else None
    return _furnish(belief, match["thing"], Furniture(open=False, content=old.content if old else None, lid=True))


def _furnish(belief: ExpressBelief, name: str, furniture: Furniture) -> ExpressBelief:
    return _in_room(belief, furniture={**belief.here.furniture, name: furniture}) if belief.here is not None else belief


def _take(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    thing, here = match["thing"], belief.here
    if here is None:
        return belief
    holder = here.holder_of(thing)  # of two things of one name, the game takes the one that it lists first
    if holder is None:
        belief = _in_room(belief, loose=_without(here.loose, thing))
    else:
        held = here.furniture[holder]
        belief = _furnish(belief, holder, replace(held, content=_without(held.content or (), thing)))
    return replace(belief, carried=(*belief.carried, thing), placed=_without(belief.placed, thing))


def _put(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    thing, here = match["thing"], belief.here
    if here is None:
        return belief
    old = here.furniture.get(match["place"], Furniture(open=True))
    content = (*(old.content or ()), thing)
    belief = _furnish(belief, match["place"], replace(old, content=content))
    return replace(belief, carried=_without(belief.carried, thing), placed=(*belief.placed, thing))


def _change_food(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    done = belief.states.get(match["thing"], frozenset()) | {DONE[match["verb"]]}
    return replace(belief, states={**belief.states, match["thing"]: done})


def _make_meal(belief: ExpressBelief, _match: re.Match[str], _action: str) -> ExpressBelief:
    used = belief.recipe.ingredients if belief.recipe is not None else ()
    return replace(belief, carried=(*(thing for thing in belief.carried if thing not in used), "meal"))


def _eat(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    thing = match["thing"]
    return replace(belief, carried=_without(belief.carried, thing), eaten=(*belief.eaten, thing))


def _without(things: tuple[str, ...], thing: str) -> tuple[str, ...]:
    """All but one thing of that name."""
    place = things.index(thing) if thing in things else len(things)
    return (*things[:place], *things[place + 1 :])


_Change = Callable[[ExpressBelief, re.Match[str], str], ExpressBelief]
_CHANGES: Final[tuple[tuple[re.Pattern[str], _Change], ...]] = (
    (re.compile(r"You (?P<verb>open) the [\w -]+ door, revealing the (?P<room>[^.]+)\."), _open_door),
    (re.compile(r"You (?P<verb>close) the [\w -]+ door to the (?P<room>[^.]+)\."), _open_door),
    (
        re.compile(r"You open the (?P<thing>[^.]+)\. (?:It's empty inside|The [^.]+? contains (?P<inside>[^.]+))\."),
        _open_lid,
    ),
    (re.compile(r"You close the (?P<thing>[^.]+)\."), _close_lid),
    (re.compile(r"You take the (?P<thing>[^.]+)\."), _take),
    (re.compile(r"You put the (?P<thing>[^.]+?) in the (?P<place>[^.]+)\."), _put),
    (re.compile(r"You (?P<verb>slice|dice|chop) the (?P<thing>[^.]+)\."), _change_food),
    (re.compile(r"You (?P<verb>fry|roast|grill) the (?P<thing>[^.]+?) with the [^.]+\."), _change_food),
    (re.compile(r"Adding the meal to your inventory\."), _make_meal),
    (re.compile(r"You eat the (?P<thing>[^.]+)\. +It is delicious\."), _eat),
)
"""Beginnings and ends of texts, and what each changes."""
