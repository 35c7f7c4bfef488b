"""The parts that all conversations under one manual have in common; the manual is read again where
its files change.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, Ruling, ToolManual
from rpms.guard.log import GuardLog
from rpms.guard.manual_files import ManualFiles
from rpms.guard.python_facts import PythonFacts
from rpms.guard.shared_facts import SharedFacts
from rpms.logic.errors import InputError
from rpms.logic.facts import Atom

Watch = Callable[[Call, Ruling, float], None]
"""Told of every check: the call, the ruling, the seconds."""
_LOUD = logging.getLogger("rpms.guard")


@dataclass
class GuardSetup:
    """The parts that all conversations under one manual have in common."""

    manual: ToolManual
    python: PythonFacts
    files: ManualFiles | None
    no_manual: str = ""
    """The reason for which there is no manual to judge by."""
    now: datetime | None = None
    log: GuardLog | None = None
    shared: SharedFacts | None = None
    observe_only: bool = False
    watch: Watch | None = None
    start: dict[Atom, bool] = field(default_factory=dict)
    """Facts that are known from the start."""

    def refresh(self) -> None:
        """Take the manual as its files are now, or note why there is none."""
        if self.files is None:
            return
        try:
            manual = self.files.read()
            if manual is not self.manual:
                self.python = PythonFacts(manual, self.python.given)
                self.manual = manual
        except InputError as error:
            problem = excerpt(error)
            if problem != self.no_manual:
                _LOUD.error("the manual cannot be used, ALL CALLS ARE REFUSED: %s", problem)
            self.no_manual = problem
        else:
            self.no_manual = ""
