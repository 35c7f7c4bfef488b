"""Files of the package that one step told by the paper's preset enters.

    python benchmarks/told_step.py [--world alfworld] [--condition full]

Plays a builtin game with a script for a few steps, and lists the files that the next step runs
through: the decision with its prompt, and the whole step with asking, reading the answer and
recording it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import rpms
from rpms.models.base import Decoding
from rpms.models.policy import ScriptedModel
from rpms.paper.compose import compose
from rpms.paper.decide import decide
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Course, Player
from rpms.store.memories import read_memory
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

PACKAGE = Path(rpms.__file__).parent
STEPS = 4
"""Steps before the one that is looked at, so that nothing is loaded or prepared any more."""


def files_entered(call: Callable[[], object]) -> list[str]:
    """The package's files in which a function runs while a call lasts."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    own = (Path(name) for name in found if name.startswith(str(PACKAGE)))
    return sorted(file.relative_to(PACKAGE).as_posix() for file in own)


def show(title: str, files: list[str]) -> None:
    beside = [name for name in files if not name.startswith("worlds/")]
    print(f"{title}: {len(beside)} files, and {len(files) - len(beside)} of the worlds")
    print("\n".join(f"  {name}" for name in files))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--world", default="alfworld")
    parser.add_argument("--condition", default="full")
    given = parser.parse_args()
    world = find_world(given.world)
    settings = Settings.read({"preset": "paper", "condition": given.condition})
    memory = read_memory(Path(world.embedded_memory()), world.name)
    mind = compose(settings.condition_value(), knowledge_of(world, settings.sources(world)), memory)
    task = world.tasks(world.splits[0], Setting())[0]
    game = world.open(task, Setting())
    commands = [each for each in game_commands(world, task) if each][: STEPS + 1]
    player = Player(
        world, mind, ScriptedModel("script", [f"Action: {each}" for each in commands]), Decoding()
    )
    outcome = game.reset()
    course = player.begin(player.understand(outcome.observation, task.id))
    for _ in range(STEPS):
        move = player.choose(course, outcome.observation, task.id)
        outcome = game.step(move.command)
        course = player.after(course, move, outcome)
    observation = outcome.observation

    def decided() -> None:
        found = decide(
            mind, course.goal, course.belief, course.command, observation, course.history
        )
        found.prompt.messages()

    def stepped() -> Course:
        move = player.choose(course, observation, task.id)
        return player.after(course, move, outcome)

    show("deciding, up to the prompt", files_entered(decided))
    show("the whole step", files_entered(stepped))
    game.close()


def game_commands(world: World, task: Task) -> list[str]:
    """Commands that a game accepts, one after the other."""
    game = world.open(task, Setting())
    game.reset()
    commands = []
    for number in range(STEPS + 1):
        possible = game.admissible()
        commands.append(possible[number % len(possible)])
        game.step(commands[-1])
    game.close()
    return commands


if __name__ == "__main__":
    main()
