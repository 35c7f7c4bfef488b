"""Manuals that are read again when their files change, while guards run by them."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from rpms.core.errors import FileError
from rpms.foreign.shown import excerpt
from rpms.guard.calls import ToolManual
from rpms.guard.manuals import open_tool_manual

_LOUD = logging.getLogger("rpms.guard")
_Stamp = tuple[tuple[str, int, int], ...]


class ManualFiles:
    """The files of a manual, and when each was last written."""

    def __init__(self, files: Sequence[Path | str]) -> None:
        self._files = tuple(map(str, files))
        self._stamp = self._now()
        self.manual = open_tool_manual(*self._files)

    def changed(self) -> ToolManual | None:
        """The manual as it is now, if it has changed; one with mistakes is complained of, and the old one stays."""
        stamp = self._now()
        if stamp == self._stamp or not stamp:
            return None
        self._stamp = stamp
        try:
            self.manual = _read(stamp)
        except FileError as error:
            _LOUD.error("the changed manual is not used: %s", excerpt(error))
            return None
        _LOUD.warning("the manual was read again")
        return self.manual

    def _now(self) -> _Stamp:
        try:
            return tuple((file, (stat := os.stat(file)).st_mtime_ns, stat.st_size) for file in self._files)  # noqa: PTH116  quick
        except OSError:
            return ()


@lru_cache(maxsize=4)
def _read(stamp: _Stamp) -> ToolManual:
    """Read a manual once for all guards that run by it."""
    return open_tool_manual(*(file for file, _, _ in stamp))
