"""A temporary folder that is removed after its owner died: its lock is free then, and the next owner removes it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from filelock import lock_descriptor

_PREFIX: Final = "rpms-jvm-"
_YOUNG_S: Final = 60.0
"""A folder that has just been made may not be locked yet."""


class OwnFolder:
    """A new temporary folder, locked until it is removed or its process ends."""

    def __init__(self) -> None:
        _remove_left_over()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        descriptor = _locked(self.path)
        self._locks = [] if descriptor is None else [descriptor]
        """The lock; None once it is released. The caller that takes it out closes it."""

    def remove(self) -> None:
        """Remove the folder. Calling it twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.forget()

    def forget(self) -> None:
        """Let go of the folder; in a forked child it stays with the parent, whose lock is not touched."""
        with contextlib.suppress(IndexError):
            os.close(self._locks.pop())


def _remove_left_over() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _YOUNG_S and (lock := _locked(path)) is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)


def _locked(path: Path) -> int | None:
    """Return a lock on a folder, or None where another has it or there are no locks."""
    if sys.platform == "win32":
        return None  # where a folder cannot be opened
    descriptor = os.open(path, os.O_RDONLY)
    with contextlib.suppress(OSError):
        if lock_descriptor(descriptor, blocking=False):
            return descriptor
    os.close(descriptor)
    return None
