"""The simulator as a program for Java."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rpms.worlds.jvm.program import Program
from rpms.worlds.scienceworld.faster import write_faster_classes


def _faster(jar: Path, folder: Path) -> tuple[str, ...]:
    classes = folder / "classes"
    return (f"{classes.as_uri()}/",) if write_faster_classes(jar, classes) else ()


PROGRAM: Final = Program(
    label="ScienceWorld",
    package="scienceworld",
    jar="scienceworld.jar",
    interface="scienceworld.runtime.pythonapi.PythonInterface",
    extra="scienceworld",
    options=(
        # Sets are ordered by identity hashes, which differ from run to run; where all are equal they keep the order of
        # insertion, and menus, lists and random draws are the same every time. Sets of the simulator's objects, which
        # are searched most, have better hashes (see `faster`); without them a step takes more than twice as long.
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:hashCode=2",
        "-Xss8m",  # the simulator recurses over nested objects
    ),
    prepare=_faster,
)
