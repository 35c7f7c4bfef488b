"""f_UPD: a belief and the next text make the next belief."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from rpms.core.goal import Goal
from rpms.worlds.base import keyed
from rpms.worlds.textworld_express import observations as said
from rpms.worlds.textworld_express.belief import ExpressBelief
from rpms.worlds.textworld_express.games import ExpressGoal


def start(goal: Goal) -> ExpressBelief:
    """The belief before anything was seen: what the task gives is carried."""
    return ExpressBelief(goal, holding=goal.given if isinstance(goal, ExpressGoal) else ())


def update(belief: ExpressBelief, action: str | None, observation: str) -> ExpressBelief:
    """Take in what an action was answered with; what fits no pattern changes nothing."""
    text = observation[: said.LONGEST]
    if action is None and "\n\n" in text:
        text = text.partition("\n\n")[2]
    if (full := said.TEXTS["full"].match(text)) is not None:
        return replace(belief, capacity=int(full[1]))
    if said.refused(text):
        return belief
    if belief.goal.type == "simonsays":  # which has no rooms, and says of nothing whether it is there
        return _read(belief, action, text)
    if (room := said.room(text)) is not None:
        return _see(belief, *room)
    for pattern, change in said.CHANGES:
        if (match := pattern.fullmatch(text.strip())) is not None:
            return _obeyed(_CHANGES[change](belief, match, action or ""), action)
    return _read(belief, action, text)


def _read(belief: ExpressBelief, action: str | None, text: str) -> ExpressBelief:
    """Take in what is written somewhere, or said."""
    if (listing := said.inventory(text)) is not None:
        carried, most = listing
        belief = _with_states(belief, carried)
        return replace(belief, holding=tuple(each.name for each in carried), capacity=most or belief.capacity)
    readers = {"recipe": said.recipe, "chart": said.chart, "result": said.answer, "orders": said.orders}
    for field, read in readers.items():
        if (found := read(text)) not in (None, ()):
            return belief.but(**{field: found})
    return _obeyed(belief, action)


def _obeyed(belief: ExpressBelief, action: str | None) -> ExpressBelief:
    """Cross an order off that was followed."""
    return replace(belief, orders=belief.orders[1:]) if belief.orders and action == belief.orders[0] else belief


def _see(belief: ExpressBelief, room: str, seen: said.Place, foods: tuple[said.Food, ...]) -> ExpressBelief:
    before = belief.places.get(room)
    old = before.furniture if before is not None else {}
    furniture = {
        name: replace(each, content=old[name].content) if not each.open and name in old else each
        for name, each in seen.furniture.items()
    }
    exits = dict(seen.exits)
    for direction, there in exits.items():
        if there is None:  # behind a door: known from before, or seen from the other side, as ways lead back
            back = ((other, place.exits.get(said.OPPOSITE[direction])) for other, place in belief.places.items())
            across = next((other for other, way in back if way == room), None)
            exits[direction] = (before.exits.get(direction) if before is not None else None) or across
    places = {**belief.places, room: replace(seen, furniture=furniture, exits=exits)}
    for direction, there in exits.items():
        if there is not None and there in places:
            places[there] = _with_way(places[there], said.OPPOSITE[direction], room)
    placed = tuple(thing for thing in belief.placed if thing not in seen.loose)
    return replace(_with_states(belief, foods), location=room, places=places, placed=placed)


def _with_way(place: said.Place, direction: str, there: str) -> said.Place:
    """A room one of whose doors is known to lead somewhere."""
    if place.exits.get(direction, "") is not None:
        return place
    return replace(place, exits={**place.exits, direction: there})


def _with_states(belief: ExpressBelief, foods: tuple[said.Food, ...]) -> ExpressBelief:
    told = {each.name: each.states - {"raw"} for each in foods if each.states}
    return replace(belief, states={**belief.states, **told}) if told else belief


def _in_room(belief: ExpressBelief, **changes: object) -> ExpressBelief:
    if belief.here is None or belief.location is None:
        return belief
    return replace(belief, places={**belief.places, belief.location: replace(belief.here, **changes)})  # type: ignore[arg-type]


def _door(belief: ExpressBelief, match: re.Match[str], action: str) -> ExpressBelief:
    door, there, closed = said.TEXTS["door_command"].fullmatch(action), match["room"], match["verb"] == "close"
    if door is None or belief.here is None or belief.location is None:
        return belief
    way = door[1]
    here = replace(belief.here, exits={**belief.here.exits, way: there}, doors={**belief.here.doors, way: closed})
    places, back = {**belief.places, belief.location: here}, said.OPPOSITE[way]
    if there in places and back in places[there].exits:
        other = _with_way(places[there], back, belief.location)
        places[there] = replace(other, doors={**other.doors, back: closed})
    return replace(belief, places=places)


def _lid(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    """Open or close a lid: what is inside is listed, or stays as it was."""
    opened, inside = match["verb"] == "open", said.things(match["inside"] or "")
    old = belief.here.furniture.get(match["thing"]) if belief.here is not None else None
    content = tuple(each.name for each in inside) if opened else old.content if old else None
    return _furnish(_with_states(belief, inside), match["thing"], said.Furniture(opened, content, lid=True))


def _furnish(belief: ExpressBelief, name: str, furniture: said.Furniture) -> ExpressBelief:
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
    return belief.but(holding=(*belief.holding, thing), placed=_without(belief.placed, thing))


def _put(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    thing, here = match["thing"], belief.here
    if here is None:
        return belief
    old = here.furniture.get(match["place"], said.Furniture(open=True))
    belief = _furnish(belief, match["place"], replace(old, content=(*(old.content or ()), thing)))
    return belief.but(holding=_without(belief.holding, thing), placed=(*belief.placed, thing))


def _prepare(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    done = belief.states.get(match["thing"], frozenset()) | {said.DONE[match["verb"]]}
    return belief.but(states={**belief.states, match["thing"]: done})


def _meal(belief: ExpressBelief, _match: re.Match[str], _action: str) -> ExpressBelief:
    used = belief.recipe.ingredients if belief.recipe is not None else ()
    return belief.but(holding=(*(thing for thing in belief.holding if thing not in used), "meal"))


def _without(things: tuple[str, ...], thing: str) -> tuple[str, ...]:
    """All but one thing of that name."""
    place = things.index(thing) if thing in things else len(things)
    return (*things[:place], *things[place + 1 :])


_CHANGES: Final[Mapping[str, Callable[[ExpressBelief, re.Match[str], str], ExpressBelief]]] = {
    **keyed(_door, _lid, _take, _put, _prepare, _meal),
    "eat": lambda belief, match, _action: belief.but(
        holding=_without(belief.holding, match["thing"]), eaten=(*belief.eaten, match["thing"])
    ),
}
"""Changes, as `texts.toml` names them."""
