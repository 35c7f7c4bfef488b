"""TextWorldExpress as a World: its knowledge in one place, its simulator a lazy import away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rpms.core.errors import InputError
from rpms.core.wording import Wording
from rpms.worlds.base import Command, Game, Setting, Task, World, read_wording
from rpms.worlds.jvm.process import missing
from rpms.worlds.textworld_express import observations as said
from rpms.worlds.textworld_express.belief import ExpressBelief
from rpms.worlds.textworld_express.games import GameChoice, list_tasks, parse_choice, parse_goal, task_at
from rpms.worlds.textworld_express.observations import Place, refused
from rpms.worlds.textworld_express.simulator import PROGRAM, ExpressGame
from rpms.worlds.textworld_express.update import start, update

WORDING = read_wording(__package__)


class TextWorldExpress(World):
    """The World of TextWorldExpress's eight games."""

    name = "textworld-express"
    splits: tuple[str, ...] = ("dev", "train", "test")
    options: tuple[str, ...] = ("game",)
    """`game`: names of games and parameters with commas between, `coin,numLocations=5`; all eight by default."""
    step_budget = 100
    """The package's own limit."""
    wording: Wording = WORDING
    manual_names = ("manual.yaml", "homes.yaml")

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        return list_tasks(split, self._choice(setting).games)

    def _choice(self, setting: Setting) -> GameChoice:
        wrong = next((name for name in setting.options if name not in self.options), None)
        if wrong is not None:
            form = "write game=NAME,PARAMETER=VALUE, such as game=cookingworld,numLocations=5"
            raise InputError(f"TextWorldExpress has no option {wrong!r}: {form}")
        return parse_choice(setting.options.get("game", ""))

    def edition(self, _tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:
        """The parameters that are not the default ones: results under others cannot be compared."""
        parameters = self._choice(setting).parameters
        return {"parameters": ",".join(f"{name}={value}" for name, value in parameters.items()) or "default"}

    def not_installed(self) -> str:
        return missing(PROGRAM)

    def open(self, task: Task, setting: Setting) -> Game:
        return ExpressGame(task, self._choice(setting).of(task.source["game"]))

    variation = staticmethod(task_at)
    goal = staticmethod(parse_goal)
    start = staticmethod(start)
    update = staticmethod(update)
    infeasible = staticmethod(refused)

    def command(self, action: str, belief: ExpressBelief) -> Command:
        """Forgive letter case, spaces and a trailing dot; names have the letters that the game writes them with."""
        plain = super().command(action, belief)
        text = plain.text
        for name in belief.names["thing"] if isinstance(belief, ExpressBelief) else ():
            if name != name.casefold():
                text = re.sub(rf"\b{re.escape(name.casefold())}(?!\S)", lambda _, name=name: name, text)  # type: ignore[misc]
        return Command(text, plain.repairs if text != action else ())

    def contradictions(self, belief: ExpressBelief, game: Game) -> tuple[str, ...]:
        """Compare room, things and inventory with what a look would show; of other games nothing can be said."""
        return disagreements(belief, game.look(), game.inventory()) if isinstance(game, ExpressGame) else ()


def disagreements(belief: ExpressBelief, look: str, inventory: str) -> tuple[str, ...]:
    """Beliefs that two listings of the same moment deny."""
    room, listing = said.room(look), said.inventory(inventory)
    found = list(_of_inventory(belief, listing[0])) if listing is not None else []
    if room is None:
        return tuple(found)
    if room.name != belief.location or belief.here is None:
        return (*found, f"the room is {room.name}, not {belief.location}")
    return (*found, *_of_things(belief.here, room.place), *_of_ways(belief.here, room.place))


def _of_inventory(belief: ExpressBelief, carried: tuple[said.Food, ...]) -> Iterator[str]:
    names = {each.name for each in carried}
    yield from (f"{thing} is not carried" for thing in belief.holding if thing not in names)
    yield from (f"{thing} is carried" for thing in sorted(names) if thing not in belief.holding)
    for each in carried:
        if belief.states.get(each.name, frozenset()) != each.states - {"raw"}:
            yield f"{each.name} is {', '.join(sorted(each.states)) or 'as it was'}"


def _of_things(here: Place, seen: Place) -> Iterator[str]:
    names = {*seen.loose, *seen.furniture}
    yield from (f"{thing} is not here" for thing in here.loose if thing not in names)
    yield from (f"{thing} is here" for thing in seen.loose if thing not in here.loose)
    for name, each in seen.furniture.items():
        known = here.furniture.get(name)
        if known is None or known.open is not each.open:
            yield f"{name} is {'open' if each.open else 'closed'}"
        elif each.open and {*(each.content or ())} != {*(known.content or ())}:
            yield f"in {name}: {', '.join(each.content or ()) or 'nothing'}"


def _of_ways(here: Place, seen: Place) -> Iterator[str]:
    for direction, there in seen.exits.items():
        if there is not None and here.exits.get(direction) != there:
            yield f"{direction} is {there}, not {here.exits.get(direction)}"
        if seen.doors.get(direction) is not here.doors.get(direction):
            yield f"the door {direction} is {'closed' if seen.doors.get(direction) else 'open'}"


world: World = TextWorldExpress()
