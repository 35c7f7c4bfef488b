"""A very small world, for tests of the core that should not depend on a real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rpms.logic.belief import Belief, StateSignature
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import Goal
from rpms.logic.rules import RuleManual
from rpms.paper.decide import Mind
from rpms.paper.prompt import Budget
from rpms.paper.wording import PromptStyle, Wording
from rpms.planning.extension import extend
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual

MANUAL = """
world: kitchen
predicates:
  at: {args: [place], yes: you are at <place>, no: you are not at <place>, exclusive: same_place}
  same_place: {args: [one, other], lasting: true}
  holding: {args: [object], yes: you hold <object>, no: you do not hold <object>, exclusive: always}
  hand_empty: {yes: your hand is empty, no: your hand is full}
  open: {args: [place], yes: <place> is open, no: <place> is closed}
  in: {args: [object, place], yes: <object> is in <place>, no: <object> is not in <place>}
  cool: {args: [object], yes: <object> is cool, no: <object> is not cool yet}
goals:
  pick_cool_then_place_in_recep: {over: {x: object, p: destination}, holds: [cool(x), 'in(x, p)']}
universal:
  state_management:
    U-STATE-001: Before any action, verify preconditions against current BeliefState.
domain:
  object_locality:
    D-LOC-001:
      {text: 'Food items commonly in: fridge, countertop', category: food, objects: [apple, egg], places: [fridge]}
    D-LOC-003: {text: 'Electronics commonly in: desk', category: electronics, objects: [laptop], places: [desk]}
  situation:
    S-002: {text: Hands empty - can pick up an object, when: [hand_empty]}
  cooling:
    D-COOL-001:
      text: cool X with fridge keeps X in hand - do NOT put X in the fridge to cool it
      goals: [pick_cool_then_place_in_recep]
      forbids:
        - {action: put, when: ['kind(place, fridge)', goal_object(object), goal_state(cool), not cool(object)]}
environment:
  go:
    syntax: go to <place>
    effects: [at(place)]
    observes: [open(place), 'in(_, place) if open(place)']
  open:
    syntax: open <place>
    preconditions: [at(place), not open(place)]
    effects: [open(place)]
    observes: ['in(_, place)']
  take:
    syntax: take <object> from <place>
    preconditions: [at(place), hand_empty, open(place), 'in(object, place)']
    effects: [holding(object), not hand_empty, 'not in(object, place)']
  put:
    syntax: [put <object> in/on <place>, move <object> to <place>]
    preconditions: [holding(object), at(place)]
    effects: [not holding(object), hand_empty, 'in(object, place)']
  cool:
    syntax: cool <object> with <place>
    preconditions: [holding(object), at(place), 'kind(place, fridge)']
    effects: [cool(object), holding(object)]
    critical: Single-step atomic action. Object stays in hand.
"""


@dataclass(frozen=True, slots=True)
class KitchenBelief(Belief):
    location: str | None = None
    holding: tuple[str, ...] = ()
    containers: Mapping[str, bool] = field(default_factory=dict)
    last_seen: Mapping[str, str] = field(default_factory=dict)
    cool: frozenset[str] = frozenset()
    places: tuple[str, ...] = ()
    """Places that are known to be there, beside those that were of some use already."""
    searched: frozenset[str] = frozenset()
    """Places of which all contents are known."""

    @property
    def names(self) -> Mapping[str, Sequence[str]]:
        here = (self.location,) if self.location else ()
        places = dict.fromkeys((*self.places, *self.containers, *self.last_seen.values(), *here))
        return {
            "place": tuple(places),
            "object": tuple(dict.fromkeys((*self.holding, *self.last_seen))),
        }

    def truth(self, atom: Atom, /) -> Truth:
        match atom.predicate, atom.args:
            case "at", (place,):
                return Truth.of(self.location == place if self.location else None)
            case "same_place", (one, other):
                return Truth.of(one == other)
            case "holding", (thing,):
                return Truth.of(thing in self.holding)
            case "hand_empty", ():
                return Truth.of(not self.holding)
            case "open", (place,):
                return Truth.of(self.containers.get(place))
            case "in", (thing, place):
                if thing in self.holding:
                    return Truth.FALSE
                known = self.last_seen.get(thing, "" if place in self.searched else None)
                return Truth.of(None if known is None else known == place)
            case "cool", (thing,):
                return Truth.of(thing in self.cool)
        return Truth.UNKNOWN

    def signature(self) -> StateSignature:
        opened = tuple(sorted(name for name, is_open in self.containers.items() if is_open))
        return StateSignature.of(holding=self.holding, open=opened or None)

    def lines(self) -> tuple[str, ...]:
        return (
            f"Holding: {', '.join(self.holding) or 'nothing'}",
            f"At: {self.location or 'nowhere'}",
        )


def update(belief: KitchenBelief, action: str | None, observation: str) -> KitchenBelief:
    if action and action.startswith("go to ") and observation.startswith("You arrive"):
        return replace(belief, location=action.removeprefix("go to "))
    if action and action.startswith("take ") and observation.startswith("You pick up"):
        return replace(belief, holding=(action.removeprefix("take ").partition(" from ")[0],))
    return belief


def manual() -> RuleManual:
    return read_manual(ManualText("kitchen.yaml", MANUAL))


def knowledge(**budget: int) -> Mind:
    wording = Wording("Act in a kitchen.", "Thought: go.\nAction: go to fridge 1")
    return Mind(update, PromptStyle(wording, budget=Budget(**budget)), manual(), extend=extend)


COOL_APPLE = Goal(
    "pick_cool_then_place_in_recep",
    "apple",
    "cool",
    "countertop",
    "cool some apple and put it in countertop.",
)
