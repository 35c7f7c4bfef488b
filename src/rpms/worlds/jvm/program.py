"""A simulator that runs in Java: where its jar is, and what it needs beside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rpms.core.errors import InputError


def _nothing(_jar: Path, _folder: Path) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Program:
    """Differences between simulators; all else about a JVM is the same."""

    label: str
    """Its name in messages."""
    package: str
    """The Python package that its jar comes with."""
    jar: str
    interface: str
    """The Java class that plays one game."""
    extra: str
    """The extra of this package that installs it."""
    options: tuple[str, ...] = ()
    """Options of its JVM beyond those that every simulator is run with."""
    prepare: Callable[[Path, Path], tuple[str, ...]] = _nothing
    """Given its jar and the folder that it will run in: put there what it reads, and return the addresses of classes
    that are to be found before the jar's."""

    @property
    def install(self) -> str:
        return f"pip install 'rpms[{self.extra}]'"

    def jars(self) -> tuple[str, Path]:
        """Return py4j's jar and the simulator's; the copy of py4j inside a simulator's is too old to authenticate."""
        missing = f"the {self.label} simulator is not installed"
        try:
            from py4j.java_gateway import find_jar_path  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError(f"{missing} (py4j is missing): {self.install}") from None
        spec = importlib.util.find_spec(self.package)  # found, not imported: only its jar is wanted
        if spec is None:
            raise InputError(f"{missing} ({self.package} is missing): {self.install}")
        folders = spec.submodule_search_locations or ()
        simulator = next((jar for folder in folders if (jar := Path(folder) / self.jar).is_file()), None)
        gateway = find_jar_path()
        if simulator is None or not gateway:
            lost = f"the installed {self.package} or py4j package has lost its jar"
            raise InputError(f"{lost}: {self.install} --force-reinstall")
        return str(gateway), simulator
