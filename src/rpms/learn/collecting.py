"""Collection of garbage while much is recorded that stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 50_000
"""New objects after which garbage is looked for. Python's own number, 700, costs an eighth of a learning's time."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for garbage seldom: what is recorded stays to the end, and hardly anything else is in cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
