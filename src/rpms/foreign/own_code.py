"""Code of the user's own, named as `module:name`: loading it, and telling where it failed."""

import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt

_NOT_OWN = (str(Path(__file__).parents[1]), str(Path(importlib.__file__).parent), "<")
"""Beginnings of files that are this package's, or Python's where it imports."""


@contextmanager
def searched_too(folder: Path | None) -> Iterator[None]:
    """Meanwhile a folder is searched for modules, before all others."""
    before = list(sys.path)
    try:
        if folder is not None:
            sys.path.insert(0, str(folder))
        yield
    finally:
        sys.path[:] = before


def names_code(text: str) -> bool:
    """True for `module:name`."""
    module, colon, attribute = text.partition(":")
    is_module = all(map(str.isidentifier, module.split(".")))
    return bool(colon) and attribute.isidentifier() and is_module


def load_named(text: str) -> Any:
    """The object that `module:name` names. A stranger's module may raise anything."""
    module, _, attribute = text.partition(":")
    return getattr(importlib.import_module(module), attribute)


def place_of(error: BaseException) -> str:
    """The last line of the user's own code that an error came through; empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [frame for frame in frames if not frame.filename.startswith(_NOT_OWN)]
    if not foreign:
        return ""
    folder = Path(foreign[0].filename).parent  # the user's; others are libraries that it called
    own = [frame for frame in foreign if Path(frame.filename).parent == folder]
    return f" at {Path(own[-1].filename).name}:{own[-1].lineno}"


def error_in_words(error: BaseException) -> str:
    """An error by its class and text; a stranger's may have one that cannot be made."""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  whatever it raises is not the error to be told
        text = "(no text)"
    return excerpt(f"{type(error).__name__}: {text}")
