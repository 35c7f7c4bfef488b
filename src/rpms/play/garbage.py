"""Looking for garbage less often than Python does, where hardly anything is in cycles."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

WITHIN_AN_EPISODE = 1_000_000
"""New objects within one episode after which garbage is looked for all the same; an episode with
many doubts keeps a quarter of them."""
WITHIN_A_LEARNING = 50_000
"""New objects after which a learning looks for garbage: what it records stays to the end. Python's
own number, 700, costs an eighth of its time."""


@contextmanager
def seldom_collected(new_objects: int) -> Iterator[None]:
    """Look for garbage after so many new objects: to look takes as long as twenty steps."""
    usual = gc.get_threshold()
    gc.set_threshold(new_objects, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
