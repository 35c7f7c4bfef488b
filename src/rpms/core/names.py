"""Names that people type: a wrong one is answered with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to a name that is not known: the nearest one, or all of them where none is near.

    >>> nearest("tempature", ("temperature", "theta"))
    'did you mean temperature?'
    """
    names = tuple(known)
    found = process.extractOne(name, names, scorer=OSA.normalized_similarity, score_cutoff=0.6)
    if found:
        return f"did you mean {found[0]}?"
    return f"choose one of {', '.join(names)}" if names else "there are none"
