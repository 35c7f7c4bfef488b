"""The belief of Appendix A.2, and the truth of the manual's facts in it. Whatever may have changed
unseen is unknown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from typing import Self

from rpms.logic.belief import Numbers, StateSignature
from rpms.logic.facts import Atom, Truth, is_unseen
from rpms.logic.goal import Goal, GoalStep
from rpms.logic.inquiry import Gauge
from rpms.logic.quantities import Decided
from rpms.worlds.base import keyed, some
from rpms.worlds.scienceworld import object_properties as properties
from rpms.worlds.scienceworld import reach
from rpms.worlds.scienceworld.affordances import is_fixed
from rpms.worlds.scienceworld.goal_steps import steps_asked
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.recipes import heat
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE, RECIPES, WORDS, to_use
from rpms.worlds.scienceworld.scene import RUNNING, Ask, Scene
from rpms.worlds.scienceworld.tree import read_phrase, walk

_SHOWN = 6
"""Things of one sort that a prompt names at most."""


def _read(belief: Scene, words: str) -> bool | None:
    """True if a paper was read; another of the name may not have been."""
    return True if read_phrase(words).head in belief.readings else None


def _asked(belief: Scene) -> bool | None:
    """True if the simulator waits for a number."""
    return True if belief.menu else None


def _of_kind_to_use(scene: Scene, word: str) -> list[str]:
    """The thing of a kind that is to be used."""
    return to_use(scene, word, scene.of_kind(word))


PREDICATES: Mapping[str, Ask] = {
    **keyed(reach.here, reach.near, reach.shut, reach.inside, reach.adjoins),
    "with": reach.with_,
    **keyed(
        properties.portable,
        properties.running,
        properties.works,
        properties.helps,
    ),
    **keyed(
        properties.joinable,
        properties.wired,
        properties.pourable,
        properties.several,
    ),
    **keyed(properties.wet, properties.decoy),
    "open": properties.open_,
    **{use: properties.serving(use) for use in ("lid", "paper", "food", "flushed")},
    **keyed(_read, _asked),
    "looked": lambda belief: belief.room in belief.looked,
    "listed": lambda belief: belief.inventory_known,
}
"""Predicate → who answers."""
_ALL_PREDICATES = {**PREDICATES, **RECIPES}
_ARITY = {name: len(signature(ask).parameters) - 1 for name, ask in _ALL_PREDICATES.items()}
_WATCHING = re.compile(r"(?:wait|look|examine|use thermometer)")
"""The commands that let the world work."""
_TENDING = re.compile(r"(?:pour|move jug)")
"""Commands that let plants grow; elsewhere, pouring to and fro leads back to where it began."""


@dataclass(frozen=True)
class ScienceBelief(Scene):
    """One moment's belief. Made by `rpms.worlds.scienceworld.update.update`."""

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Known things, by the roles that they may have in a command. Things that were never seen
        may have any role.
        """
        found: dict[str, Sequence[str]] = {}
        for recipe in EVERY_RECIPE:
            if not recipe.tasks or self.aim.task.startswith(recipe.tasks):
                for role, names_of in recipe.roles.items():
                    found[role] = names_of(self)
        unseen: list[str] = []
        for names in found.values():
            unseen += [name for name in names if name.endswith("?")]
        found["object"] = [*found["object"], *unseen]
        found["place"] = [*found["place"], *unseen]
        return found

    def called(self, word: str) -> Sequence[str]:
        """Known things that a goal or a procedure may mean by a word."""
        return self.mean(word, WORDS.get(word) or partial(_of_kind_to_use, word=word))

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.value(atom.predicate, atom.args))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        key = (predicate, args)
        known = self._meant
        if key not in known:
            answer = self._decided(predicate, args)
            known[key] = None if answer is None else bool(answer)
        found: bool | None = known[key]
        return found

    def gauge(self, quantity: str, thing: str, /) -> Gauge:
        return heat.gauge(self, thing) if quantity == heat.TEMPERATURE else Gauge()

    def deciding(self, decided: Decided, goal: Goal) -> Self:
        numbers = Numbers(decided, goal)
        return self if numbers == self.numbers else self.but(numbers=numbers)

    def _decided(self, predicate: str, names: tuple[str, ...]) -> bool | None:
        """The answer of a quantity of the manual, or else of this world."""
        if predicate in self.numbers.decided:
            return self.numbers.value(self, Atom(predicate, names))
        return self._answer(predicate, names)

    def _answer(self, predicate: str, names: tuple[str, ...]) -> bool | None:
        if len(names) != _ARITY.get(predicate):
            return None
        if predicate in RECIPES:
            return RECIPES[predicate](self, *names)
        if not is_unseen(names):
            return PREDICATES[predicate](self, *names)
        kinds = [name.removesuffix(" ?") for name in names]  # a thing never seen goes by its kind
        if names[-1].endswith(" ?") and predicate in ("here", "portable", "with"):
            return self._answer_of_unseen(predicate, kinds)
        return PREDICATES[predicate](self, *kinds)

    def _answer_of_unseen(self, predicate: str, kinds: Sequence[str]) -> bool | None:
        """The answer about a thing that was never seen."""
        match predicate:
            case "here":
                return False
            case "with":  # it is in no room that was searched
                return None if self._may_hold(*kinds) else False
        return None

    def _may_hold(self, room: str, kind: str) -> bool:
        """True if a thing that was never seen may be in a room: if it is built in, in one that was
        not looked at, else also under a lid.
        """
        if is_fixed(kind):
            return room not in self.looked
        return self.veiled(room) or bool(self.hiding(room))

    def signature(self) -> StateSignature:
        """σ(b): `room=kitchen|inventory=empty`, and the instruments carried if there are any."""
        return StateSignature.of(
            room=None if self.room is None else (self.room,),
            inventory=tuple(sorted(self.holding)),
            instrument=self.instruments or None,
        )

    @property
    def fingerprint(self) -> str:
        """A number that stands for all that is known of the world: while it stays the same, nothing
        has changed, and nothing was found out. That time goes on is no change: who walks to and fro
        while a block slides comes back to where he was.

        While the world is at work, watching it gives a new number each time. Numbers are compared
        within one episode, and mean nothing outside the process that made them.
        """
        if self._is_watching and self._at_work:
            return str(self.steps)
        exits = frozenset((room, frozenset(ways.items())) for room, ways in self.exits.items())
        rooms = frozenset(self.rooms.items())
        temperatures = frozenset(self.temperatures.items())
        lasting = frozenset(
            [(what, said) for what, said in self.readings.items() if not what.startswith(RUNNING)]
        )
        rest = (self.inventory, self.connections, self.broken, self.focused, self.menu)
        return str(hash((exits, rooms, temperatures, lasting, *rest)))

    @property
    def _is_watching(self) -> bool:
        """True if the last command watched the world, or tended what grows in it."""
        if self.failed or not self.last_action:
            return False
        if _WATCHING.match(self.last_action):
            return True
        return self.aim.type == "F4" and _TENDING.match(self.last_action) is not None

    @property
    def _at_work(self) -> bool:
        """True if the world changes while one watches: a device is on, or the goal's thing is
        heated or cooled; what grows, slides or conducts changes everywhere.
        """
        if self.aim.type in ("F4", "F5"):
            return True
        here = self.room or ""
        for seen in self.things:
            if seen.place == here and "on" in seen.thing.flags:
                return True
        return bool(self.aim.target and heat.device_around(self, self.aim.target))

    def asked(self) -> tuple[GoalStep, ...]:
        return steps_asked(self)

    def lines(self) -> tuple[str, ...]:
        """The lines of the [Current State] block; the first is the paper's.

        Only what is known is said.
        """
        nothing = "nothing" if self.inventory_known else "nothing known"
        carrying = ", ".join(self.holding) or nothing
        states = [f"{name} is {states[-1]}" for name, states in self.state_history.items()]
        measured = [f"{name} {degrees:g} °C" for name, degrees in self.temperatures.items()]
        said = {
            "Seen": some(self._seen_elsewhere(), _SHOWN),
            "States": some(states, _SHOWN),
            "Measured": some(measured, _SHOWN),
            "Focused on": ", ".join(self.focused),
            "Not yet searched": self._not_searched(),
        }
        lines = [f"Room: {self.room or 'unknown'}  Carrying: {carrying}"]
        for name, text in said.items():
            if text:
                lines.append(f"{name}: {text}")
        return tuple(lines)

    def _not_searched(self) -> str:
        """The rooms that nobody has looked around in; empty at the start, when that is all."""
        if not self.looked:
            return ""
        return ", ".join(room for room in ROOMS if room not in self.looked)

    def _seen_elsewhere(self) -> list[str]:
        """Things of the task that were seen in other rooms, each with its room."""
        task = self.goal.text.casefold()
        found: dict[str, None] = {}
        for room, forest in self.rooms.items():
            if room == self.room:
                continue
            for seen in walk(forest):
                if seen.name in task:
                    found[f"{seen.name} in {room}"] = None
        return list(found)
