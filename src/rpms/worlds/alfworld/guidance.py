"""Past the paper: what to do next as far as belief and manual tell, as lines for the goal block and as a menu.

Nothing here looks at the simulator: a suggestion is what the belief allows, and its relevance is how near it is to the
current sub-goal. The planner is not asked, so that a choice is left to the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rpms.core.advice import recap
from rpms.core.belief import Situation
from rpms.core.facts import kind_of
from rpms.core.goal import Goal, Progress
from rpms.core.memory import SuccessSnippet
from rpms.core.menu import Suggestion
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate
from rpms.worlds.alfworld.affordances import TOOLS, affordances
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.goals import LOOK, TWO, VERBS
from rpms.worlds.alfworld.progress import targets

_LIKELY_SHOWN = 4
"""How many unsearched places the goal block names."""

_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "find_object": ("go", "open", "take"),
    "take_object": ("go", "open", "take"),
    "find_light": ("go", "open", "use"),
    "use_light": ("go", "use"),
    "heat_object": ("go", "heat"),
    "cool_object": ("go", "cool"),
    "clean_object": ("go", "clean"),
    "place_object": ("go", "open", "put"),
}
"""The actions that matter at each sub-goal."""
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "find_object": ("search_strategy", "object_locality", "container_interaction"),
    "find_light": ("search_strategy", "object_locality", "container_interaction"),
    "take_object": ("container_interaction", "verification"),
    "place_object": ("container_interaction", "state_management"),
    "use_light": ("state_management",),
    **dict.fromkeys(("heat_object", "cool_object", "clean_object"), ("state_management", "verification")),
}
"""The groups of rules that matter only at these sub-goals; other groups matter at all."""
_SOMETIMES = frozenset(group for groups in _GROUPS.values() for group in groups)


def focus(rules: ActiveRules, progress: Progress) -> ActiveRules:
    """Only the schemas and groups of rules that matter at the current sub-goal."""
    actions = _ACTIONS.get(progress.sub_goal)
    if actions is None:
        return rules
    groups = _GROUPS.get(progress.sub_goal, ())
    return rules.narrowed(
        progress.sub_goal,
        lambda schema: schema.name in actions,
        lambda rule: rule.group in groups or rule.group not in _SOMETIMES,
    )


@dataclass(frozen=True, slots=True)
class Needs:
    """What the current sub-goal is about, in names of this room."""

    wanted: str
    """The kind that is looked for; nothing if all that is needed is known."""
    goto: tuple[str, ...]
    """Places to be at."""
    enter: bool
    """Whether a closed door of such a place is in the way."""
    do: tuple[str, ...]
    """Commands that reach the sub-goal where the agent is at the right place."""
    text: str
    """The same in words, from where the agent is."""


def needs_of(goal: Goal, belief: AlfworldBelief) -> Needs:
    """What is needed now."""
    held = belief.hand
    if held is None:
        return _to_take(goal, belief)
    if kind_of(held) != goal.object:
        places = tuple(place for place in belief.places if affordances().fits(kind_of(held), kind_of(place)))
        return _with(held, places, f"put {held} down, which is not needed,", "put {0} in/on {1}", belief, door=True)
    if goal.type == LOOK:
        return _to_light(goal, belief, held)
    verb = VERBS.get(goal.type)
    if verb and not belief.is_(held, goal.state):
        tools = tuple(place for place in belief.places if kind_of(place) in TOOLS[verb])
        return _with(held, tools, f"{verb} {held}", verb + " {0} with {1}", belief, door=False)
    keep = belief.gathered()[0] if goal.type == TWO else ""
    places = tuple(
        place for place in belief.places if kind_of(place) == goal.destination and (not keep or place == keep)
    )
    return _with(held, places, f"put {held}", "put {0} in/on {1}", belief, door=True)


def _with(held: str, places: tuple[str, ...], deed: str, command: str, belief: AlfworldBelief, *, door: bool) -> Needs:
    """Something is to be done with the held object at one of some places."""
    here = next((place for place in places if belief.here(place)), None)
    if here is None:
        text = f"you hold {held}: go to {_any(places)}, to {deed} there"
    elif door and belief.closed(here):
        text = f"you hold {held} and are at {here}, which is closed: open it"
    else:
        text = f"you hold {held} and are at {here}: {deed} here"
    return Needs("", places, door, tuple(command.format(held, place) for place in places), text)


def _to_take(goal: Goal, belief: AlfworldBelief) -> Needs:
    keep, placed = belief.gathered() if goal.type == TWO else ("", ())
    known = [(thing, place) for thing, place in targets(goal, belief) if place != keep or thing not in placed]
    if not known:
        return Needs(goal.object, (), True, (), f"look for {goal.object}")
    at = next(((thing, place) for thing, place in known if belief.here(place)), None)
    if at is None:
        text = f"{'; '.join(f'{thing} is in/on {place}' for thing, place in known[:3])}: go there"
    elif belief.closed(at[1]):
        text = f"{at[0]} is in {at[1]} here, which is closed: open it"
    else:
        text = f"{at[0]} is here: take it from {at[1]}"
    do = tuple(f"take {thing} from {place}" for thing, place in known)
    return Needs("", tuple(dict.fromkeys(place for _, place in known)), True, do, text)


def _to_light(goal: Goal, belief: AlfworldBelief, held: str) -> Needs:
    lamps = [
        (thing, place)
        for place, inside in belief.contents.items()
        for thing in inside
        if kind_of(thing) == goal.destination
    ]
    if not lamps:
        return Needs(goal.destination, (), False, (), f"you hold {held}: look for {goal.destination}")
    lamp, place = next(((lamp, place) for lamp, place in lamps if belief.here(place)), lamps[0])
    there = f"{lamp} is here: use {lamp}" if belief.here(place) else f"{lamp} is in/on {place}: go there"
    do = tuple(f"use {lamp}" for lamp, _ in lamps)
    return Needs("", tuple(place for _, place in lamps), False, do, f"you hold {held} and {there}")


def _any(places: Sequence[str]) -> str:
    return " or ".join(places[:3]) if places else "nowhere known"


def likely_places(kind: str, belief: AlfworldBelief, rules: ActiveRules, memories: Sequence[Candidate]) -> list[str]:
    """Unsearched places for a kind, likeliest first: the domain tier's localities, then evidence from memory."""
    order: dict[str, int] = {}
    for rule in rules.domain:
        locality = rule.locality
        if locality is not None and kind in locality.objects:
            for place in locality.places:
                order.setdefault(place, len(order))
    for candidate in memories:
        if isinstance(candidate.entry, SuccessSnippet):
            for action in candidate.entry.actions:
                thing, _, place = action.removeprefix("take ").partition(" from ")
                if action.startswith("take ") and kind_of(thing) == kind:
                    order.setdefault(kind_of(place), len(order))
    unseen = [place for place in belief.places if place not in belief.seen]
    return sorted(unseen, key=lambda place: (order.get(kind_of(place), len(order)), belief.places.index(place)))


def guide(
    situation: Situation, rules: ActiveRules, memories: Sequence[Candidate], history: Sequence[Turn]
) -> tuple[str, ...]:
    """Lines for the goal block: where to go on, what was just done, what was tried in vain."""
    belief, goal = situation.belief, situation.goal
    assert isinstance(belief, AlfworldBelief)
    needs = needs_of(goal, belief)
    now = f"  Now: {needs.text}"
    if needs.wanted:
        likely = likely_places(needs.wanted, belief, rules, memories)
        barred = next((place for place in likely if belief.here(place) and belief.closed(place)), None)
        if barred:
            now += f"; you are at {barred}, which is closed and not searched: open it"
        else:
            now += f"; likeliest unsearched places: {', '.join(likely[:_LIKELY_SHOWN]) or 'none left'}"
    return now, *recap(history, _DEEDS, belief.refused)


_DEEDS = frozenset({"take", "put", "move", "heat", "cool", "clean", "use", "open"})


def suggest(situation: Situation, rules: ActiveRules, memories: Sequence[Candidate]) -> Iterator[Suggestion]:
    """Everything the belief allows in this room, with its relevance for the sub-goal."""
    belief, goal = situation.belief, situation.goal
    assert isinstance(belief, AlfworldBelief)
    needs = needs_of(goal, belief)
    likely = likely_places(needs.wanted, belief, rules, memories) if needs.wanted else []
    for place in belief.places:
        if belief.here(place):
            yield from _here(place, belief, needs)
        else:
            yield Suggestion(f"go to {place}", _worth_going(place, belief, needs, likely))
    yield Suggestion("look", -3.0)
    yield Suggestion("inventory", -4.0)


def _worth_going(place: str, belief: AlfworldBelief, needs: Needs, likely: Sequence[str]) -> float:
    if place in needs.goto:
        return 5.0
    if place in likely:
        return 3.0 - likely.index(place) / 100
    return 0.0 if place not in belief.seen else -2.0


def _here(place: str, belief: AlfworldBelief, needs: Needs) -> Iterator[Suggestion]:
    """What can be done at a place where the agent is."""
    unsearched = place not in belief.seen
    if belief.closed(place):
        useful = (needs.wanted and unsearched) or (place in needs.goto and needs.enter)
        yield Suggestion(f"open {place}", 6.0 if useful else 0.0)
    elif belief.closed(place) is None:
        yield Suggestion(f"open {place}", 4.0 if needs.wanted and unsearched else 0.0)
    elif belief.has_door(place):
        yield Suggestion(f"close {place}", -3.0)
    yield Suggestion(f"examine {place}", 5.0 if needs.wanted and unsearched and not belief.closed(place) else -2.0)
    if belief.hand is None:
        for thing in belief.contents.get(place, ()):
            command = f"take {thing} from {place}"
            yield Suggestion(command, 7.0 if command in needs.do else 0.0)
    else:
        yield from _with_held(place, belief, belief.hand, needs)
    for thing in belief.contents.get(place, ()):
        command = f"use {thing}"
        if affordances().has("toggleable", kind_of(thing)):
            yield Suggestion(command, 8.0 if command in needs.do else 0.5)


def _with_held(place: str, belief: AlfworldBelief, held: str, needs: Needs) -> Iterator[Suggestion]:
    commands = [f"put {held} in/on {place}"]
    commands += [f"{verb} {held} with {place}" for verb, kinds in TOOLS.items() if kind_of(place) in kinds]
    if belief.dialect == "0.4":
        commands[0] = f"move {held} to {place}"
    for command in commands:
        wanted = command in needs.do or command.replace("move ", "put ").replace(" to ", " in/on ") in needs.do
        yield Suggestion(command, 8.0 if wanted else -1.0)
