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
    prepare=_faster,
)
