"""A folder that is whole or not there: written beside its place, then swapped in."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from rpms.store.lock import hold, waiting_lock

_NEW, _OLD = ".new", ".old"


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A new, empty folder that takes the place of `target` when the block ends well, and is gone when it does not.

    Any number of processes may do so at once: each writes its own folder, and they are swapped in one after the other.
    What a killed one left is removed by the next, and where it was killed in mid-swap the older folder is put back.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with waiting_lock(target.parent):
        _clear(target)
        new = target.with_name(f".{target.name}.{token_hex(4)}{_NEW}")
        new.mkdir()
        mark = _hold(new)
    try:
        yield new
        with waiting_lock(target.parent):
            old = new.with_suffix(_OLD)
            if target.exists():
                target.rename(old)
            new.rename(target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if mark is not None:
            os.close(mark)


def _clear(target: Path) -> None:
    """Remove leftovers of killed processes beside a folder, whose parent the caller holds."""
    left = [path for path in target.parent.glob(f".{glob.escape(target.name)}.*") if path.suffix in (_NEW, _OLD)]
    for path in left:
        if path.suffix == _OLD and not target.exists():
            with suppress(OSError):
                path.rename(target)
            continue
        held = _hold(path)
        if held is not None:  # else somebody is writing it
            shutil.rmtree(path, ignore_errors=True)
            os.close(held)


def _hold(folder: Path) -> int | None:
    """Mark a folder as in use until this process ends; None where another one uses it."""
    try:
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    if hold(handle):
        return handle
    os.close(handle)
    return None
