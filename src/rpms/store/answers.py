"""Recorded answers on disk: one file each, named by the hash of its question.

A file is written beside its place, flushed to the disk, and then renamed, so that at every moment each place holds a
whole entry or nothing, whoever else writes, and whatever dies or runs full in between.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError, InputError
from rpms.foreign.files import read_bytes
from rpms.foreign.json_text import NotJson, loads, question_key
from rpms.foreign.limits import LARGEST_RECORD
from rpms.store.files import remove_leftovers, waiting_lock, written_beside

_KEY = re.compile(r"[0-9a-f]{64}")
_FILES = "[0-9a-f][0-9a-f]/*.json"


class FolderOfAnswers:
    """A store of answers in a folder. Threads and processes may read and write it at the same time."""

    def __init__(self, folder: Path) -> None:
        """A folder that is not there yet is an empty store; it is made when the first answer is kept."""
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is not a folder, so no answers can be kept in it")
        self._folder = folder
        self._lock = threading.Lock()
        self._damaged: set[Path] = set()
        for each in {part.parent for part in folder.glob("[0-9a-f][0-9a-f]/.*.part")}:
            with suppress(OSError):  # a folder that this process may not write in
                remove_leftovers(each, "")

    @property
    def place(self) -> str:
        return str(self._folder)

    @property
    def damaged(self) -> tuple[Path, ...]:
        """Files found so far that hold no whole entry. Each counts as missing and is replaced when asked for again."""
        with self._lock:
            return tuple(sorted(self._damaged))

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry under a key; None where there is none or where its file is damaged."""
        return self._read(self._path(key))

    def put(self, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Keep an entry, safe from a crash, and return the one that is kept: the first for its key."""
        path = self._path(key)
        body = json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        data = f'{{"sha256":"{_hash(body)}","entry":{body}}}\n'.encode("utf-8", "surrogatepass")
        try:
            with written_beside(path, data) as beside:
                kept = self._place(beside, path)
        except OSError as error:
            raise InputError(
                f"{self._folder}: the answer cannot be recorded: {error.strerror}; what was recorded before is whole. "
                "Make room and run the same command again to resume"
            ) from error
        with suppress(OSError):  # the new name itself survives a power cut, where the system can
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        with self._lock:
            self._damaged.discard(path)
        return dict(entry) if kept is None else kept

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every undamaged entry, in the order of its key."""
        for path in sorted(self._folder.glob(_FILES)):
            entry = self._read(path)
            if entry is not None:
                yield entry

    def __len__(self) -> int:
        """Number of files, damaged ones included."""
        return sum(1 for _ in self._folder.glob(_FILES))

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError("a key is 64 hexadecimal digits")
        return self._folder / key[:2] / f"{key}.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            data = read_bytes(path, LARGEST_RECORD)
        except FileError:
            if not path.is_symlink() and not path.exists():
                return None
            data = b""
        entry = _whole_entry(data)
        # Under a name that is not its question's, an entry answers what nobody asked.
        if entry is not None and question_key(entry) != path.stem:
            entry = None
        if entry is None:
            with self._lock:
                self._damaged.add(path)
        return entry

    def _place(self, beside: Path, path: Path) -> dict[str, Any] | None:
        """Give the file its name, unless a whole entry has it already, which is returned."""
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}:
                raise
        else:
            return None
        with waiting_lock(path.parent):  # a damaged file, or a file system without links: one writer at a time
            kept = self._read(path)
            if kept is None:
                beside.replace(path)
            return kept


def _whole_entry(data: bytes) -> dict[str, Any] | None:
    """The entry of a file, if it is what was once written."""
    try:
        wrapped = loads(data.decode("utf-8", "surrogatepass"))
        entry, digest = wrapped["entry"], wrapped["sha256"]
    except (NotJson, UnicodeDecodeError, KeyError, TypeError):
        return None
    body = json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return entry if isinstance(entry, dict) and digest == _hash(body) else None


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
