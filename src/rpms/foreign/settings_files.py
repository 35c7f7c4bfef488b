"""Settings files that libraries look for in the current folder, though nobody named them: they
stay unread while such a library is imported.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_MATPLOTLIB = "matplotlibrc"
"""The name by which matplotlib looks into the current folder, before all other places."""
_FASTMCP = "FASTMCP_ENV_FILE"
"""Names the file that FastMCP, which OpenEnv imports too, reads in place of `.env`."""


@contextmanager
def settings_files_unread() -> Iterator[None]:
    """Import libraries without the settings that somebody left in the current folder.

    No library has a switch for it: matplotlib is told that there is no such file, FastMCP that its
    file is an empty one. Both are as before once the import is done; a file that the environment
    names is the user's word, and read.
    """
    paths: Any = os.path
    exists = paths.exists
    named = _FASTMCP in os.environ

    def exists_elsewhere(path: Any) -> bool:
        return path != _MATPLOTLIB and bool(exists(path))

    paths.exists = exists_elsewhere
    if not named:
        os.environ[_FASTMCP] = os.devnull
    try:
        yield
    finally:
        paths.exists = exists
        if not named:
            del os.environ[_FASTMCP]
