"""A ScienceWorld episode in the simulator."""

import json
from typing import ClassVar, Final

from rpms.worlds.base import Outcome
from rpms.worlds.jvm.bridge import JavaGame, Simulator
from rpms.worlds.jvm.process import Program
from rpms.worlds.scienceworld.commands import menu_options, only_reading, player_choice
from rpms.worlds.scienceworld.faster import write_faster_classes
from rpms.worlds.scienceworld.tasks import canonical_simplifications, task_at

PROGRAM: Final = Program(
    label="ScienceWorld",
    extra="scienceworld",
    interface="scienceworld.runtime.pythonapi.PythonInterface",
    options=(
        # Sets are ordered by identity hashes, which differ from run to run; where all are equal they keep the order of
        # insertion, and menus, lists and random draws are the same every time. Sets of the simulator's objects, which
        # are searched most, have better hashes (see `faster`); without them a step takes more than twice as long.
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:hashCode=2",
        "-Xss8m",  # the simulator recurses over nested objects
    ),
    prepare=lambda jar, folder: write_faster_classes(jar, folder / "classes"),
)


class ScienceWorldGame(JavaGame):
    """One variation of one task.

    Ambiguity menus. Where the command names exactly one option the adapter answers the menu and the player sees the
    result alone; else the menu is the observation, and costs no time. The next command answers it by number (spaces
    and what follows a colon do not matter) or by an option's text. Any other command would be swallowed by the
    simulator: it takes it for a wrong answer, cancels the menu, lets one iteration pass and says `Unknown action`. Here
    the menu is cancelled first, at the same cost of one iteration, and then the command is given.
    """

    program: ClassVar = PROGRAM

    def __init__(self, task_name: str, variation: int, simplifications: str = "") -> None:
        super().__init__(task_at(task_name, variation))
        self.variation = variation
        self.simplifications = canonical_simplifications(simplifications, task_name)
        self._pending: tuple[str, ...] = ()

    def _open(self, simulator: Simulator) -> Outcome:
        self._pending = ()
        self._load(simulator, gold=False)
        # Until the first step the server still answers with the score and the end of the game it played before.
        return Outcome(f"{self._text('getTaskDescription')}\n\n{self.look()}")

    def _step(self, command: str) -> Outcome:
        if self._pending:
            options, self._pending = self._pending, ()
            choice = player_choice(options, command)
            if choice is not None:
                command = str(choice)
            else:
                cancelled = self._text("step", "")
                if not command.strip():
                    return self._outcome(cancelled)
        observation = self._text("step", command)
        options = menu_options(observation)
        reading = only_reading(options, command) if options else None
        if reading is not None:
            observation = self._text("step", str(reading))
        elif options:
            self._pending = options
        return self._outcome(observation)

    def admissible(self) -> tuple[str, ...]:
        """Every valid action, thousands in some rooms: asking takes 20 times as long as a step.

        For checks, never for prompts. What no name tells from another thing is listed under names drawn by chance, out
        of the numbers that the game itself draws from: one that was asked may go on otherwise, where bees fly.
        """
        answer = json.loads(self._text("getValidActionObjectCombinationsJSON"))
        return tuple(sorted({str(entry["action"]) for entry in answer["validActions"]}))

    def look(self) -> str:
        """Answer to `look around` now, at no cost in time: for checks, never for prompts."""
        return self._text("freeActionLook")

    def inventory(self) -> str:
        """Answer to `inventory` now, at no cost in time: for checks, never for prompts."""
        return self._text("freeActionInventory")

    def _load(self, simulator: Simulator, *, gold: bool) -> None:
        self._told_to_load(simulator, self.task.type, self.variation, self.simplifications, gold)

    def _outcome(self, observation: str) -> Outcome:
        """Add the score and the end. The server never ends an episode at -100, from which nothing recovers."""
        simulator = self._live()
        score = round(100 * float(simulator.call("getScore") or 0.0))
        completed = bool(simulator.call("getCompleted"))
        return Outcome(observation, score=float(score), won=completed and score >= 100, done=completed or score < 0)
