"""Names that people type: a wrong one is answered with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA

_NEAR = 0.6
"""Similarity from which one name is taken for another misspelt."""


def is_near(name: str, known: Iterable[str]) -> bool:
    """True for what may be a misspelt name. Only such a word of a file is quoted: the file may be any, and secret."""
    return process.extractOne(name, tuple(known), scorer=OSA.normalized_similarity, score_cutoff=_NEAR) is not None


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say to a name that is not known: the nearest one, or all of them where none is near.

    >>> nearest("tempature", ("temperature", "theta"))
    'did you mean temperature?'
    """
    names = tuple(known)
    found = process.extractOne(name, names, scorer=OSA.normalized_similarity, score_cutoff=_NEAR)
    if found:
        return f"did you mean {found[0]}?"
    return f"choose one of {', '.join(names)}" if names else "there are none"
