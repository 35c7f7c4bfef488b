"""Names that people type: a wrong one is answered with the nearest right one."""

from collections.abc import Iterable

_NEAR = 0.6
"""Similarity from which one name is taken for another misspelt."""


def is_near(name: str, known: Iterable[str]) -> bool:
    """True for what may be a misspelt name. Only such a word of a file is quoted: the file may be any, and secret."""
    return _nearest_of(name, tuple(known)) is not None


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: the nearest known one, or all of them if none is near.

    >>> nearest("tempature", ("temperature", "theta"))
    'did you mean temperature?'
    """
    names = tuple(known)
    if (found := _nearest_of(name, names)) is not None:
        return f"did you mean {found}?"
    return f"choose one of {', '.join(names)}" if names else "there are none"


def _nearest_of(name: str, known: tuple[str, ...]) -> str | None:
    from rapidfuzz import process  # noqa: PLC0415  only a wrong name waits for it
    from rapidfuzz.distance import OSA  # noqa: PLC0415

    found = process.extractOne(name, known, scorer=OSA.normalized_similarity, score_cutoff=_NEAR)
    return found[0] if found else None
