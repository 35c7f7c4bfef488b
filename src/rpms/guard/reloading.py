"""Manuals that are read again when their files change, while guards run by them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from rpms.guard.calls import ToolManual
from rpms.guard.manuals import open_tool_manual

Stamp = tuple[tuple[str, int, int], ...]
"""The files of a manual, each with when it was last written and its size."""


def stamp_of(files: Iterable[str]) -> Stamp:
    """Files as they are now; empty where one is not there."""
    try:
        return tuple((file, (stat := os.stat(file)).st_mtime_ns, stat.st_size) for file in files)  # noqa: PTH116  quick
    except OSError:
        return ()


@lru_cache(maxsize=4)
def manual_at(stamp: Stamp) -> ToolManual:
    """A changed manual, read once for all guards that run by it."""
    return open_tool_manual(*(file for file, _, _ in stamp))
