"""The model that is no LLM: from a decision to the next action, by belief, active rules and memories alone.

What it does not find in the decision it does not know: without rules it has no idea where things are usually kept, and
searches a room in the order in which the room was described.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rpms.core.decide import Decision
from rpms.core.facts import kind_of
from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.core.memory import SuccessSnippet
from rpms.core.rules import ActiveRules
from rpms.worlds.alfworld.affordances import LIGHTS, TOOLS, affordances
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.goals import LOOK, TWO, VERBS
from rpms.worlds.alfworld.progress import targets

Choice = tuple[str, str]
"""A thought and an action."""


def plan(decision: Decision) -> Choice:
    """The thought and the action for one step. The same decision always gives the same answer."""
    belief = decision.belief
    assert isinstance(belief, AlfworldBelief)
    planner = _Planner(decision.goal, belief, decision.rules, tuple(_experience(decision)))
    for thought, action in planner.choices():
        if action not in belief.refused:
            return thought, action
    return "Nothing is left to try, so I look again.", "look"


def _experience(decision: Decision) -> Iterator[str]:
    """The kinds of places where shown memories took an object of the goal's kind, best memory first."""
    for candidate in decision.memories:
        if isinstance(candidate.entry, SuccessSnippet):
            for action in candidate.entry.actions:
                thing, _, place = action.removeprefix("take ").partition(" from ")
                if action.startswith("take ") and kind_of(thing) == decision.goal.object and place:
                    yield kind_of(place)


@dataclass(frozen=True, slots=True)
class _Planner:
    goal: Goal
    belief: AlfworldBelief
    rules: ActiveRules
    experience: tuple[str, ...]

    def choices(self) -> Iterator[Choice]:
        """What to do, the best first; later ones are for when an earlier one was just refused."""
        goal, belief = self.goal, self.belief
        if goal.type == UNKNOWN_GOAL or not goal.object:
            yield from self._search("", "anything of use")
            return
        held = belief.hand
        if held is None:
            yield from self._fetch()
        elif kind_of(held) != goal.object:
            yield from self._put_down(held)
        elif goal.type == LOOK:
            yield from self._light(held)
        elif goal.type in VERBS and not belief.is_(held, goal.state):
            yield from self._transform(held, VERBS[goal.type])
        else:
            yield from self._deliver(held)

    def _fetch(self) -> Iterator[Choice]:
        """Take the nearest object of the kind that does not yet count; look for one if none is known."""
        goal, belief = self.goal, self.belief
        keep, placed = belief.gathered() if goal.type == TWO else ("", ())
        known = [(thing, place) for thing, place in targets(goal, belief) if place != keep or thing not in placed]
        known.sort(key=lambda pair: self._cost(pair[1]))
        for thing, place in known:
            yield from self._reach(place, f"I have seen {thing} in {place}.", door=True)
            yield f"Here is {thing}.", f"take {thing} from {place}"
        yield from self._search(goal.object, goal.object)

    def _light(self, held: str) -> Iterator[Choice]:
        belief = self.belief
        wanted = self.goal.destination
        lamps = [
            (thing, place) for place, inside in belief.contents.items() for thing in inside if kind_of(thing) == wanted
        ]
        for lamp, place in sorted(lamps, key=lambda pair: self._cost(pair[1])):
            yield from self._reach(place, f"I hold {held} and have seen {lamp} in {place}.", door=False)
            yield f"I hold {held} and {lamp} is here.", f"use {lamp}"
        yield from self._search(wanted, wanted)

    def _transform(self, held: str, verb: str) -> Iterator[Choice]:
        tools = [place for place in self.belief.places if kind_of(place) in TOOLS[verb]]
        for tool in sorted(tools, key=self._cost):
            yield from self._reach(tool, f"I hold {held} and need to {verb} it.", door=False)
            yield f"{tool} can {verb} {held}.", f"{verb} {held} with {tool}"

    def _deliver(self, held: str) -> Iterator[Choice]:
        goal, belief = self.goal, self.belief
        keep = belief.gathered()[0] if goal.type == TWO else ""
        places = [place for place in belief.places if kind_of(place) == goal.destination]
        for place in sorted(places, key=lambda place: (place != keep, self._cost(place))):
            yield from self._reach(place, f"{held} is ready for {goal.destination}.", door=True)
            yield f"{held} belongs here.", f"put {held} in/on {place}"

    def _put_down(self, held: str) -> Iterator[Choice]:
        """Get rid of what is of no use."""
        fitting = [
            place for place in self.belief.places if affordances().fits(kind_of(held), kind_of(place)) is not False
        ]
        for place in sorted(fitting, key=self._cost):
            yield from self._reach(place, f"I have no use for {held}.", door=True)
            yield f"I leave {held} here.", f"put {held} in/on {place}"

    def _reach(self, place: str, why: str, *, door: bool) -> Iterator[Choice]:
        """Get to a place, and through its door if need be."""
        if not self.belief.here(place):
            yield f"{why} I go to {place}.", f"go to {place}"
        if door and self.belief.closed(place):
            yield f"{place} is closed.", f"open {place}"

    def _search(self, kind: str, what: str) -> Iterator[Choice]:
        """Look where it is likeliest first: what the rules say, then what experience says, then as the room lists."""
        belief = self.belief
        rank = self._rank(kind)
        unseen = [place for place in belief.places if place not in belief.seen]
        unseen.sort(key=lambda place: (self._misfit(place, kind), rank(place), self._cost(place)))
        for place in unseen:
            if not belief.here(place):
                yield f"I need to find {what}. I look in {place}.", f"go to {place}"
            elif belief.closed(place):
                yield f"{place} is closed; {what} may be inside.", f"open {place}"
            else:
                yield f"{place} is here too; I look what is in it.", f"examine {place}"
                yield f"{place} may be closed.", f"open {place}"

    def _rank(self, kind: str) -> Callable[[str], int]:
        order = dict.fromkeys((*self._localities(kind), *self.experience))
        place_of = {place: number for number, place in enumerate(order)}
        return lambda place: place_of.get(kind_of(place), len(place_of))

    def _localities(self, kind: str) -> Iterable[str]:
        """The places of the active rules that say where a kind is found, in their order."""
        for rule in self.rules.domain:
            locality = rule.locality
            if locality is not None and kind in locality.objects and (locality.category == "light") == (kind in LIGHTS):
                yield from locality.places

    def _misfit(self, place: str, kind: str) -> bool:
        """Whether the rules of `put` say that a kind does not belong in a place: then it is searched last."""
        if not kind or kind in LIGHTS or not self.rules.environment:
            return False
        return affordances().fits(kind, kind_of(place)) is False

    def _cost(self, place: str) -> int:
        """Steps until one can reach into a place; an unknown door counts half a step, in tenths of steps."""
        belief = self.belief
        closed = belief.closed(place)
        door = 10 if closed else 0
        if closed is None:
            door = 10 if belief.has_door(place) else 8
        return door + (0 if belief.here(place) else 10)
