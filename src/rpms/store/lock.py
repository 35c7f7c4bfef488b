"""A folder that one process at a time may write to."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import lock_descriptor

from rpms.core.errors import FileError, InputError
from rpms.foreign.files import open_regular
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.shown import excerpt

LOCK = "lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""Errors of a system or a file system without locks, such as NFS without its lock service."""
_POLL = 0.005
"""Seconds between attempts: holders keep a lock for less."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, or raise InputError at once if another process holds it.

    The system frees the lock when its holder dies. On file systems without locks the file names its holder, and one
    whose process is gone is taken over.
    """
    file = folder / LOCK
    try:
        handle = open_regular(file, os.O_RDWR | os.O_CREAT, 0o644)
    except FileError as error:
        why = error.problem.removeprefix("cannot be read: ")
        raise InputError(f"{folder}: cannot be written: {why}; nothing was changed") from None
    try:
        _take_folder(handle, folder)
        _write(handle, {"pid": os.getpid(), "host": socket.gethostname()})
        try:
            yield
        finally:
            _write(handle, {})
    finally:
        os.close(handle)


def hold(handle: int) -> bool:
    """Mark an open file or folder as in use until it is closed; False where another process uses it."""
    return take(handle) is not False


def take(handle: int) -> bool | None:
    """As `hold`; None where there are no locks, so that nobody can tell whether another process uses it."""
    try:
        return _lock(handle)
    except OSError:
        return False


@contextmanager
def waiting_lock(folder: Path) -> Iterator[None]:
    """Hold a folder for a moment, after any other holder. Leaves no file; does nothing without locks."""
    handle = os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        _lock(handle, wait=True)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, *, wait: bool = False) -> bool | None:
    """Take the system's lock on what is open; False where another process has it, None where there are no locks."""
    try:
        return lock_descriptor(handle, blocking=wait, poll_interval=_POLL)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise


def _take_folder(handle: int, folder: Path) -> None:
    try:
        taken = _lock(handle)
    except OSError as error:
        raise InputError(f"{folder}: cannot be locked: {error.strerror or error}") from None
    if taken is False:
        raise InputError(_taken(folder, _read(handle)))
    if taken is None:
        _take_by_name(handle, folder)


def _take_by_name(handle: int, folder: Path) -> None:
    holder = _read(handle)
    elsewhere = holder.get("host") != socket.gethostname()
    if holder and (elsewhere or (holder.get("pid") != os.getpid() and is_held(holder))):
        raise InputError(f"{_taken(folder, holder)}; if that process is gone, remove {folder / LOCK}")


def is_held(holder: Any) -> bool:
    """True if the process that a lock's file names is there; one on another machine is taken at its word."""
    if not isinstance(holder, dict) or not {"pid", "host"} <= holder.keys():
        return False
    if holder["host"] != socket.gethostname():
        return True
    if not isinstance(holder["pid"], int) or holder["pid"] <= 0:
        return False
    try:
        os.kill(holder["pid"], 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _taken(folder: Path, holder: dict[str, Any]) -> str:
    known = {"pid", "host"} <= holder.keys()
    who = f"process {excerpt(holder['pid'], 20)} on {excerpt(holder['host'], 80)}" if known else "another process"
    return f"{folder}: a run is already under way here ({who}); wait for it, or choose another folder"


def _read(handle: int) -> dict[str, Any]:
    try:
        holder = loads(os.pread(handle, 4096, 0))
    except (NotJson, OSError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _write(handle: int, holder: dict[str, Any]) -> None:
    """Say who holds the lock; for people, so that a full disk does not matter."""
    try:
        os.ftruncate(handle, 0)
        if holder:
            os.pwrite(handle, json.dumps(holder).encode(), 0)
    except OSError:
        return
