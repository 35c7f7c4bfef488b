"""A TextWorldExpress episode in the simulator."""

import shutil
from pathlib import Path
from typing import Any, ClassVar, Final

from rpms.core.errors import WorldError
from rpms.foreign.json_text import NotJson, loads
from rpms.worlds.base import Outcome, Task
from rpms.worlds.jvm.bridge import JavaGame, Simulator
from rpms.worlds.jvm.process import Program

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
