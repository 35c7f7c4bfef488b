"""Files that are whole or not there: written beside, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rpms.core.errors import FileError, InputError

_UMASK = os.umask(0)
os.umask(_UMASK)


def write_whole(file: Path, text: str) -> None:
    """Write a file so that a reader, or a crash at any moment, sees the old one or the new one, never a part."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(beside).chmod(
                0o666 & ~_UMASK
            )  # a temporary file is its owner's alone; this one is to be read by others
            Path(beside).replace(file)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}; nothing was changed") from None


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a new folder of files, by their paths in it: all of them, or nothing where it cannot be done."""
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} exists already; nothing was changed")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part") as beside:
            whole = Path(beside, folder.name)
            for path, text in texts.items():
                file = whole / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="\n")
            whole.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}; nothing was changed") from None


def read_text(file: Path) -> str:
    """Read a user's text file, or say in one line why not."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(file, None, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FileError(file, None, "is not UTF-8 text") from None
