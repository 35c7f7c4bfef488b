"""The files of a manual, watched while calls are judged by it.

A rule that cannot be read is no reason to judge without it. A half-saved file often is a sound
manual with fewer rules, so a file that calls are judged by must end with a line `...`. At the start
any other is an error; later, while a file is missing, broken, not whole, or was written within the
last second, there is no manual, and every call is refused.
"""

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.calls import ToolManual
from rpms.guard.tool_manuals import LAST_LINE, read_tool_manual
from rpms.logic.errors import FileError, InputError
from rpms.store.manual_reader import ManualText, manual_text

_LOUD = logging.getLogger("rpms.guard")
_SETTLED = 1.0
"""Seconds that a file must have been left alone: an editor may write it in several pieces."""


class _Stamp(NamedTuple):
    """A file as it was when last looked at."""

    written_at: int
    size: int
    inode: int


class ManualFiles:
    """The manual in some files, read again when they change. Guards and threads may share it."""

    def __init__(self, files: Sequence[Path | str]) -> None:
        """Read the files, which must be there, sound and whole."""
        self._files = [Path(file) for file in files]
        self._stamps = self._look()
        self._texts = [manual_text(file) for file in self._files]
        self._manual = read_tool_manual(*self._texts)
        require_whole(self._texts)
        self._problem = ""
        self._lock = Lock()

    def read(self) -> ToolManual:
        """The manual as its files are now; InputError if they cannot be judged by."""
        with self._lock:
            stamps = self._look()
            if stamps != self._stamps:
                self._change(stamps)
            if self._problem:
                raise InputError(self._problem)
            return self._manual

    def _look(self) -> list[_Stamp | None]:
        return [_stamp_of(file) for file in self._files]

    def _change(self, stamps: list[_Stamp | None]) -> None:
        """Read changed files, or say why they cannot be."""
        try:
            changed = set(stamps) - set(self._stamps)
            if any(map(_is_being_written, changed)):
                self._problem = "it is being written: try again in a second"
                return  # and look again at the next call
            texts = [manual_text(file) for file in self._files]
            if self._look() != stamps:
                self._problem = "it is being written: try again in a second"
                return
            if texts != self._texts:
                require_whole(texts)
                manual = read_tool_manual(*texts)
                self._say_what_changed(manual)
                self._manual = manual
                self._texts = texts
            self._problem = ""
        except InputError as error:
            self._problem = excerpt(error)
        self._stamps = stamps

    def _say_what_changed(self, manual: ToolManual) -> None:
        before = len(self._manual.policies)
        after = len(manual.policies)
        _LOUD.warning("the manual was read again: policies before %d, now %d", before, after)


def _stamp_of(file: Path) -> _Stamp | None:
    try:
        found = os.stat(file)  # noqa: PTH116  asked at every call
    except OSError:
        return None
    return _Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def _is_being_written(stamp: _Stamp | None) -> bool:
    return stamp is not None and abs(time.time() - stamp.written_at / 1e9) < _SETTLED


def require_whole(texts: Sequence[ManualText]) -> None:
    """Raise for a text that may end in the middle: any line may be the last of half a file."""
    for each in texts:
        if not each.text.rstrip().endswith(f"\n{LAST_LINE}"):
            problem = f"it may be half saved: a whole manual ends with a line `{LAST_LINE}`"
            raise FileError(each.name, None, problem)
