"""Files that are whole or not there: written beside, then renamed; and locks that end with their
holder.
"""

import errno
import glob
import hashlib
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from filelock import lock_descriptor

from rpms.foreign import file_reader as foreign
from rpms.foreign.json_text import NotJson, as_object, loads
from rpms.foreign.limits import LARGEST_MEMORY, MOST_LISTED_VALUES
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError


@contextmanager
def writing(place: Path, then: str = "nothing was changed") -> Iterator[None]:
    """Within this, an error of the system becomes one line that says which file or folder cannot be
    written, and how much of it is there.
    """
    try:
        yield
    except (OSError, ValueError, FileError) as error:
        why = str(error)
        if isinstance(error, FileError):
            why = error.problem.removeprefix("cannot be read: ")
        elif isinstance(error, OSError) and error.strerror:
            why = error.strerror
        raise InputError(f"{place}: cannot be written: {why}; {then}") from None


LOCK = "lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""Errors of a system or a file system without locks, such as NFS without its lock service."""
_POLL = 0.005
"""Seconds between attempts: holders keep a lock for less."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, or raise InputError at once if another process holds it.

    The system frees the lock when its holder dies. On file systems without locks the file names its
    holder, and one whose process is gone is taken over.
    """
    with writing(folder):
        handle = foreign.open_regular(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            taken = _lock(handle)
        except OSError as error:
            raise InputError(f"{folder}: cannot be locked: {error.strerror or error}") from None
        holder: dict[str, Any] = {}
        with suppress(NotJson, OSError):
            holder.update(as_object(loads(os.pread(handle, 4096, 0))))
        if taken is False:
            raise InputError(_taken(folder, holder))
        if taken is None and _is_held_by_another(holder):
            raise InputError(
                f"{_taken(folder, holder)}; if that process is gone, remove {folder / LOCK}"
            )
        _write(handle, {"pid": os.getpid(), "host": socket.gethostname()})
        try:
            yield
        finally:
            _write(handle, {})
    finally:
        os.close(handle)


def hold(handle: int) -> bool:
    """Mark an open file or folder as in use until it is closed; False where another process
    uses it.
    """
    try:
        return _lock(handle) is not False
    except OSError:
        return False


@contextmanager
def opened(path: Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """The descriptor of a file or folder, which is closed in the end."""
    handle = os.open(path, flags)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def waiting_lock(folder: Path) -> Iterator[None]:
    """Hold a folder for a moment, after any other holder.

    Leaves no file; does nothing without locks.
    """
    with opened(folder) as handle:
        _lock(handle, wait=True)
        yield


def _lock(handle: int, *, wait: bool = False) -> bool | None:
    """Take the system's lock on an open file; False if another process has it, None if there are no
    locks.
    """
    try:
        return lock_descriptor(handle, blocking=wait, poll_interval=_POLL)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise


def is_held(holder: Any) -> bool:
    """True if the process that a lock's file names is there; one on another machine is taken at
    its word.
    """
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


def _is_held_by_another(holder: dict[str, Any]) -> bool:
    """True if a lock's file names another process, which may still be there."""
    if not holder:
        return False
    elsewhere = holder.get("host") != socket.gethostname()
    return elsewhere or (holder.get("pid") != os.getpid() and is_held(holder))


def _taken(folder: Path, holder: dict[str, Any]) -> str:
    who = "another process"
    if {"pid", "host"} <= holder.keys():
        who = f"process {excerpt(holder['pid'], 20)} on {excerpt(holder['host'], 80)}"
    return (
        f"{folder}: a run is already under way here ({who}); wait for it, or choose another folder"
    )


def _write(handle: int, holder: dict[str, Any]) -> None:
    """Say who holds the lock; for people, so that a full disk does not matter."""
    with suppress(OSError):
        os.ftruncate(handle, 0)
        if holder:
            os.pwrite(handle, json.dumps(holder).encode(), 0)


_LEFTOVER_AGE = 3600.0
"""Seconds after which a half-written file counts as abandoned, if nothing tells that its writer
lives."""


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash at any moment, sees the old one or the new one,
    never a part.
    """
    with writing(file):
        with suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISREG(file.stat().st_mode):  # a device that is replaced is gone for all
                raise ValueError("it is a device, pipe or folder, not a file")
        data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
        with written_beside(file, data) as beside:
            beside.replace(file)


def change_text(file: Path, before: str, after: str) -> None:
    """Write another text into a file that a person keeps; one that says something else by now was
    changed meanwhile, and is an InputError.

    Of two commands that change it at once, the later one changes nothing. A link is followed: it
    is the file it leads to that is wrong.
    """
    real = Path(os.path.realpath(file))
    with writing(file), opened(real) as handle:
        _lock(handle, wait=True)  # whoever waited finds another text below
        if foreign.read_text(real, LARGEST_MEMORY) != before:
            raise InputError(
                f"{file}: was changed by somebody else meanwhile; nothing was written, run the"
                " command again"
            )
        write_whole(real, after)


@contextmanager
def written_beside(file: Path, data: bytes) -> Iterator[Path]:
    """A new file with some data beside another, on the disk and marked as in use; gone
    afterwards, unless renamed.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    # between its making and its marking nobody may take it for a leftover
    with waiting_lock(file.parent):
        beside = file.with_name(f".{file.name}.{token_hex(4)}.part")
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        hold(handle)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
            yield beside
    finally:
        beside.unlink(missing_ok=True)


def remove_leftovers(folder: Path, beginning: str) -> None:
    """Remove half-written files that killed processes left, by the beginning of their names; files
    that are in use or new stay.
    """
    if parts := list(folder.glob(f".{glob.escape(beginning)}*.part")):
        with waiting_lock(folder):
            for part in filter(is_left, parts):
                with suppress(OSError):
                    part.unlink(missing_ok=True)


def is_left(path: Path) -> bool:
    """True for a file or folder that its writer does not hold any more; without locks, for an
    old one.
    """
    try:
        with opened(path, os.O_RDONLY if path.is_dir() else os.O_RDWR) as handle:
            free = _lock(handle)
            if free is not None:
                return free
            return os.fstat(handle).st_mtime < time.time() - _LEFTOVER_AGE
    except OSError:
        return False  # gone already, or not ours to look at


def read_text(file: Path, largest: int = LARGEST_MEMORY) -> str:
    """Read a user's text file, or say in one line why not; one of more values than there is
    room for is refused.
    """
    text = foreign.read_text(file, largest)
    if len(text) > MOST_LISTED_VALUES and sum(map(text.count, ",[{\n")) > MOST_LISTED_VALUES:
        raise FileError(
            file, None, f"holds more than {MOST_LISTED_VALUES:,} values, which no such file does"
        )
    return text


SEAL = '{"type": "seal", "sha256": "'
"""Beginning of the last line of a sealed text."""


def sealed(text: str) -> str:
    """A text of whole lines with a last one that holds its checksum."""
    return f'{text}{SEAL}{hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()}"}}\n'


def read_sealed(file: Path, largest: int = LARGEST_MEMORY) -> str:
    """Sealed text without its seal; a file that was cut off or changed since is a FileError."""
    try:
        whole = foreign.read_bytes(file, largest).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise FileError(file, None, "is not UTF-8 text") from None
    text = whole[: whole.rfind(SEAL)]
    if sealed(text) != whole:  # also where there is no seal at all
        raise FileError(file, None, "was cut off or changed after it was written")
    return text
