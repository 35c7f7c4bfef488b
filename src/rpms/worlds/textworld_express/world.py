"""TextWorldExpress as a World: its knowledge in one place, and an episode in the simulator that a game starts."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from rpms.core.errors import InputError, WorldError
from rpms.foreign.json_text import NotJson, loads
from rpms.worlds.base import Command, Game, Outcome, Setting, Task, World, read_wording
from rpms.worlds.jvm.bridge import JavaGame, Simulator
from rpms.worlds.jvm.process import Program, missing
from rpms.worlds.textworld_express.belief import ExpressBelief
from rpms.worlds.textworld_express.games import GameChoice, list_tasks, parse_choice, parse_goal, task_at
from rpms.worlds.textworld_express.observations import refused
from rpms.worlds.textworld_express.update import start, update

_DATA: Final = ("cooking_world.json", "twc_objects.folds.json")
"""Files beside the jar, which the simulator reads from the folder that it runs in."""


def _with_data(jar: Path, folder: Path) -> tuple[str, ...]:
    for name in _DATA:
        if (jar.parent / name).is_file():  # another release may keep them elsewhere, and says so itself where it cannot
            shutil.copyfile(jar.parent / name, folder / name)
    return ()


PROGRAM: Final = Program(
    label="TextWorldExpress",
    extra="textworld-express",
    interface="textworldexpress.runtime.PythonInterface",
    prepare=_with_data,
)


class ExpressGame(JavaGame):
    """One game, made by its name, its parameters and a seed of its fold.

    Every answer of the simulator has all there is to know of the moment; the player sees its observation, and at the
    start the task before it.
    """

    program: ClassVar = PROGRAM

    def __init__(self, task: Task, parameters: str = "") -> None:
        super().__init__(task)
        self._parameters = parameters
        self._said: dict[str, Any] = {}

    def _open(self, simulator: Simulator) -> Outcome:
        opening = self._outcome(self._load(simulator, gold=False))
        return Outcome(f"{simulator.text('getTaskDescription')}\n\n{opening.observation}", score=opening.score)

    def _load(self, simulator: Simulator, *, gold: bool) -> str:
        self._told_to_load(simulator, self.task.source["game"], self._parameters)
        return simulator.text("generateNewGameJSON", int(self.task.source["seed"]), self.task.split, gold)

    def _step(self, command: str) -> Outcome:
        return self._outcome(self._text("stepJSON", command))

    def _outcome(self, answer: str) -> Outcome:
        try:
            said = loads(answer)
            score, won = float(said["score"]), bool(said["tasksuccess"])
            outcome = Outcome(str(said["observation"]), score=score, won=won, done=won or bool(said["taskfailure"]))
        except (NotJson, KeyError, TypeError, ValueError) as error:
            raise WorldError(f"the simulator's answer cannot be read ({error}): another release of it?") from None
        self._said = said
        return outcome

    def admissible(self) -> tuple[str, ...]:
        """The valid actions, of which some are refused all the same: doors are listed open or not."""
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
    """`game`: names of games and parameters with commas between, `coin,numLocations=5`; all eight by default."""
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
        """Compare the belief with one made of a look and an inventory; of other games nothing can be said."""
        if not isinstance(game, ExpressGame):
            return ()
        told = update(update(start(belief.goal), "look around", game.look()), "inventory", game.inventory())
        if told.location != belief.location:
            return (f"the room is {told.location}, not {belief.location}",)
        gone, new = _things(belief) - _things(told), _things(told) | _ways(told)
        return (*sorted(f"not so: {claim}" for claim in gone), *sorted(new - _things(belief) - _ways(belief)))


def _things(belief: ExpressBelief) -> set[str]:
    """Facts of a belief about things that are carried or in the open."""
    found = {f"{thing} is carried" for thing in belief.holding}
    found |= {f"{thing} is {state}" for thing in belief.holding for state in belief.states.get(thing, ())}
    if belief.here is not None:
        found |= {f"{thing} is here" for thing in (*belief.here.loose, *belief.here.furniture)}
        opened = ((name, each.content or ()) for name, each in belief.here.furniture.items() if each.open)
        found |= {f"{thing} is in {name}" for name, content in opened for thing in content}
    return found


def _ways(belief: ExpressBelief) -> set[str]:
    """Facts of a belief about ways, doors and lids, of which a look does not show all."""
    if belief.here is None:
        return set()
    found = {f"{direction} is {there}" for direction, there in belief.here.exits.items() if there is not None}
    found |= {f"the door {way} is {'closed' if shut else 'open'}" for way, shut in belief.here.doors.items()}
    return found | {f"{name} is {'open' if each.open else 'closed'}" for name, each in belief.here.furniture.items()}


world: World = TextWorldExpress()
