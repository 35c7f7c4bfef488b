"""The belief of Appendix A.2: room, inventory, what was seen where, and states of matter. Progress is the plan's."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Final

from rpms.core.belief import StateSignature
from rpms.core.facts import Atom, Truth
from rpms.core.goal import GoalStep
from rpms.worlds.base import some
from rpms.worlds.scienceworld.predicates import PREDICATES
from rpms.worlds.scienceworld.recipes.household import EVERY_RECIPE, RECIPES, WORDS, to_use
from rpms.worlds.scienceworld.recipes.physics import treated
from rpms.worlds.scienceworld.scene import Scene
from rpms.worlds.scienceworld.tasks import TABLE
from rpms.worlds.scienceworld.tree import walk

_WATCHING: Final = re.compile(r"(?:wait|look|examine|use thermometer|pour|move jug)")
"""The commands that let the world work."""
_ARITY: Final = {name: len(signature(ask).parameters) - 1 for name, ask in (PREDICATES | RECIPES).items()}


@dataclass(frozen=True)
class ScienceBelief(Scene):
    """One moment's belief. Made by `rpms.worlds.scienceworld.update.update`."""

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Known things, by the roles they may have in a command. What was never seen may have any."""
        mine = [recipe for recipe in EVERY_RECIPE if not recipe.tasks or self.aim.task.startswith(recipe.tasks)]
        found = {role: names(self) for recipe in mine for role, names in recipe.roles.items()}
        unseen = [name for names in found.values() for name in names if name.endswith("?")]
        return found | {role: [*found[role], *unseen] for role in ("object", "place")}

    def called(self, word: str) -> Sequence[str]:
        """Known things that a goal or a procedure may mean by a word."""
        return self.mean(word, WORDS.get(word, lambda scene: to_use(scene, word, scene.of_kind(word))))

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.value(atom.predicate, atom.args))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        key, known = (predicate, args), self._meant
        if key not in known:
            said = self._answer(predicate, args)
            known[key] = said if said is None else bool(said)
        found: bool | None = known[key]
        return found

    def _answer(self, predicate: str, names: tuple[str, ...]) -> bool | None:
        if len(names) != _ARITY.get(predicate):
            return None
        if predicate in RECIPES:
            return RECIPES[predicate](self, *names)
        args = [name.removesuffix(" ?") for name in names]  # what was never seen goes by its kind
        if predicate in ("here", "portable", "with") and args[-1] != names[-1]:  # and is in no room that was searched
            searched = predicate == "with" and not self.veiled(args[0]) and not self.hiding(args[0])
            return False if searched or predicate == "here" else None
        return PREDICATES[predicate](self, *args)

    def signature(self) -> StateSignature:
        """σ(b): `room=kitchen|inventory=empty`, and the instruments carried if there are any."""
        return StateSignature.of(
            room=None if self.room is None else (self.room,),
            inventory=tuple(sorted(self.holding)),
            instrument=self.instruments or None,
        )

    @property
    def fingerprint(self) -> str:
        """All that is known of the world, as a number: where it is the same, nothing has changed or was found out.

        Where the world is at work too, watching it is never the same. Numbers are compared within one episode alone,
        and mean nothing outside the process that made them.
        """
        if not self.failed and _WATCHING.match(self.last_action or ""):
            running = any("on" in seen.thing.flags for seen in self.things if seen.place == (self.room or ""))
            target = self.aim.target  # heated or cooled; what grows, slides or conducts changes everywhere
            if running or self.aim.type in ("F4", "F5") or (target and treated(self, target)):
                return str(self.steps)
        exits = frozenset((room, frozenset(ways.items())) for room, ways in self.exits.items())
        known = (self.rooms, self.temperatures, self.readings)
        told = (self.inventory, self.connections, self.broken, self.focused, self.menu)
        return str(hash((exits, *(frozenset(facts.items()) for facts in known), *told)))

    def asked(self) -> tuple[GoalStep, ...]:
        """The steps of the goal's sentence; none where no template fits it."""
        task, steps = self.aim.task, list[GoalStep]()
        rows = next(rows for stem, rows in TABLE["steps"].items() if task.startswith(stem)) if task else ()
        for verb, words, *when in rows:
            target = re.sub(r"<(\w+)>", lambda field: self.goal.named(field[1]), words)
            seen = any(f" {target} " in f" {name} " for name in self.last_seen)
            met = [seen if each == "seen" else len(self.focused) >= int(each) for each in " ".join(when).split()]
            steps.append(GoalStep(verb, target, done=bool(met) and all(met)))
        return tuple(steps)

    def lines(self) -> tuple[str, ...]:
        """The lines of the [Current State] block; the first is the paper's. Only what is known is said."""
        carrying = ", ".join(self.holding) or ("nothing" if self.inventory_known else "nothing known")
        task, rooms = self.goal.text.casefold(), self.rooms.items()
        elsewhere = ((room, seen.name) for room, things in rooms if room != self.room for seen in walk(things))
        said = {
            "Seen": some([*dict.fromkeys(f"{name} in {room}" for room, name in elsewhere if name in task)], _SHOWN),
            "States": some([f"{name} is {state}" for name, (*_, state) in self.state_history.items()], _SHOWN),
            "Measured": some([f"{name} {degrees:g} °C" for name, degrees in self.temperatures.items()], _SHOWN),
            "Focused on": ", ".join(self.focused),
            "Not yet searched": ", ".join(room for room in ROOMS if room not in self.looked) if self.looked else "",
        }
        first = f"Room: {self.room or 'unknown'}  Carrying: {carrying}"
        return (first, *(f"{name}: {text}" for name, text in said.items() if text))


ROOMS: Final = (
    *("kitchen", "bathroom", "hallway", "living room", "bedroom"),
    *("workshop", "art studio", "greenhouse", "outside", "foundry"),
)
"""As the instruction names them."""
_SHOWN: Final = 6
