"""A very small house where what was learned in a room is for that room, for tests of following
experience.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rpms.logic.belief import FactBelief, Situation, StateSignature
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules
from rpms.paper.memory import Entry, Origin, SuccessSnippet, VerifiedSchema
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

MANUAL = read_manual(
    ManualText(
        "house.yaml",
        """
world: house
predicates:
  inside: {args: [room], exclusive: always}
  passage: {args: [room]}
  carried: {args: [object]}
  open: {args: [object]}
  boxed: {args: [object, place]}
  looked: {}
environment:
  look_around: {syntax: look around, effects: [looked]}
  go: {syntax: go to <room>, effects: [inside(room)]}
  open_door: {syntax: open door to <room>, effects: [passage(room)]}
  open: {syntax: open <object>, effects: [open(object)]}
  pick_up: {syntax: pick up <object>, effects: [carried(object)]}
  point: {syntax: point at <object>}
  put: {syntax: put <object> in <place>, effects: ['boxed(object, place)', not carried(object)]}
  stir: {syntax: stir <object>}
  wait: {syntax: wait}
""",
    )
)
SYNTAX = MANUAL.active("")
DOORS = {
    "cellar": ["hall"],
    "hall": ["cellar", "kitchen", "garden"],
    "kitchen": ["hall"],
    "garden": ["hall"],
}


@dataclass(frozen=True)
class HouseBelief(FactBelief):
    """Place, inventory, and things seen."""

    at: str = "inside"
    hand: str = "carried"
    seen: Mapping[str, str] = field(default_factory=dict)

    @property
    def last_seen(self) -> Mapping[str, str]:
        return self.seen

    def signature(self) -> StateSignature:
        return StateSignature.of(
            room=(self.location,) if self.location else None, inventory=self.holding
        )


def by_room(situation: Situation, entry: Entry, _rules: ActiveRules) -> str:
    """A state filter that minds rooms."""
    rooms = None if isinstance(entry, VerifiedSchema) else entry.state_signature.get("room")
    return f"learned in the {rooms[0]}" if rooms and situation.belief.location not in rooms else ""


@dataclass
class House:
    """The house itself: doors are shut, and what is in a cupboard shows once it is open and one
    looks again.
    """

    things: dict[str, str]
    """Thing → its room, or what it is shut away in."""
    room: str = "cellar"
    belief: HouseBelief = field(default_factory=HouseBelief)
    opened: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.belief = self.belief.learn(f"inside({self.room})")
        self.step("look around")
        self.done.clear()

    def step(self, command: str) -> None:
        """Do a command, or refuse it."""
        before = self.belief
        verb, _, rest = command.partition(" ")
        if command == "look around":
            self._look()
        elif verb == "go" and rest[3:] in DOORS[self.room] and rest[3:] in self.opened:
            self.room = rest[3:]
            self.belief = self.belief.learn(
                "not inside(_)", f"inside({self.room})", "not looked", "not passage(_)"
            )
            self.belief = self.belief.learn(
                *(f"passage({each})" for each in DOORS[self.room] if each in self.opened)
            )
            self.opened.add(self.room)
        elif command.startswith("open door to ") and rest[8:] in DOORS[self.room]:
            self.opened.add(rest[8:])
            self.belief = self.belief.learn(f"passage({rest[8:]})")
        elif verb == "open" and self.things.get(rest) == self.room:
            self.opened.add(rest)
            self.belief = self.belief.learn(f"open({rest})")
        elif verb == "pick" and rest[3:] in self._here:
            self.belief = self.belief.learn(f"carried({rest[3:]})")
        elif verb == "put" and rest.partition(" in ")[2] in self._here:
            thing, _, place = rest.partition(" in ")
            self.belief = self.belief.learn(f"boxed({thing}, {place})", f"not carried({thing})")
        elif verb not in ("wait", "stir", "point"):
            self.tried.append(command)
            return
        self.done.append(command)
        self.tried = [] if self.belief != before else [*self.tried, command]

    @property
    def _here(self) -> list[str]:
        places = {self.room, *self.opened} - (set(DOORS) - {self.room})
        return [
            thing
            for thing, place in self.things.items()
            if place in places and self._room_of(place) == self.room
        ]

    def _room_of(self, place: str) -> str:
        return place if place in DOORS else self._room_of(self.things[place])

    def _look(self) -> None:
        rooms = [self.room, *DOORS[self.room]]
        belief = self.belief.learn("looked", object=self._here, place=self._here, room=rooms)
        self.belief = replace(
            belief, seen={**self.belief.seen, **dict.fromkeys(self._here, self.room)}
        )


MUG = Goal("fetch", "bring", "mug", "red box")


def snippet(
    room: str,
    sub_goal: str,
    *actions: str,
    goal: GoalSignature = MUG.signature,
    stage: int = 0,
    id_: str = "",
):
    """A snippet that reached a sub-goal in a room."""
    state = StateSignature.of(room=(room,), inventory=(), progress=(str(stage),))
    return SuccessSnippet(
        goal, state, sub_goal, actions, origins=frozenset({Origin("e", 1)}), id=id_ or actions[-1]
    )
