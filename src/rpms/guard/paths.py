r"""Paths in calls: which name a place in a folder, by their text or by the links on this disk.

A tool opens the file that the system finds, not the one that a text seems to name. `a/link/../b`
is beside wherever the link leads, `..\b` is one name on one system and two on another, `~` is
somebody's home. Of such paths the text tells nothing, and the answer is None.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress

_SEPARATORS = re.compile(r"[\\/]")
_DRIVE = re.compile(r"[A-Za-z]:")


def inside(value: object, folder: object) -> bool | None:
    """True if a path names a folder or something in it, by its text alone."""
    if not isinstance(value, str) or not isinstance(folder, str):
        return None
    windows = "\\" in folder
    root = _parts(folder, windows=windows)
    path = _parts(value, windows=windows)
    if root is None or path is None or _is_absolute(value) is not _is_absolute(folder):
        return None  # from where a relative path starts, only the tool knows
    beginning = path[: len(root)]
    is_alike = _without_case(beginning) == _without_case(root)
    if windows or not is_alike:
        return is_alike
    return True if beginning == root else None  # some disks disregard case


def _without_case(parts: Sequence[str]) -> list[str]:
    return [part.casefold().strip() for part in parts]


def under(value: object, folder: object) -> bool | None:
    """True if a path leads to a folder or into it, on this machine's disk, links followed.

    A relative path starts where this process runs.
    """
    if not isinstance(value, str) or not isinstance(folder, str) or value.startswith("~"):
        return None
    if os.path.isabs(folder) and not os.path.isabs(value):  # noqa: PTH117  a text from outside
        return None
    with suppress(OSError, ValueError):
        root = os.path.realpath(folder)
        return os.path.commonpath([root, os.path.realpath(value)]) == root
    return None


def plain_path(text: str) -> str | None:
    """A path without doubled slashes and dots; None if its text does not tell what it names."""
    parts = _parts(text, windows=False)
    if parts is None:
        return None
    return ("/" if text.startswith("/") else "") + "/".join(parts)


def is_crooked(text: str) -> bool:
    """True if only a disk can tell which file a path names."""
    return _parts(text, windows=False) is None


def _parts(text: str, *, windows: bool) -> Sequence[str] | None:
    """The names in a path; None if its text does not tell where it leads."""
    if "\0" in text or text.startswith("~") or ("\\" in text and not windows):
        return None
    names = _SEPARATORS.split(text) if windows else text.split("/")
    if ".." in names:
        return None
    return [name for name in names if name not in ("", ".")]


def _is_absolute(text: str) -> bool:
    return text.startswith(("/", "\\")) or _DRIVE.match(text) is not None
