"""The simulator as a program for Java."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from rpms.worlds.jvm.program import Program

_DATA: Final = ("cooking_world.json", "twc_objects.folds.json")
"""Files beside the jar, which the simulator reads from the folder that it runs in."""


def _with_data(jar: Path, folder: Path) -> tuple[str, ...]:
    for name in _DATA:
        if (jar.parent / name).is_file():  # another release may keep them elsewhere, and says so itself where it cannot
            shutil.copyfile(jar.parent / name, folder / name)
    return ()


PROGRAM: Final = Program(
    label="TextWorldExpress",
    package="textworld_express",
    jar="textworld-express.jar",
    interface="textworldexpress.runtime.PythonInterface",
    extra="textworld-express",
    prepare=_with_data,
)
