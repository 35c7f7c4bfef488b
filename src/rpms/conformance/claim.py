"""Exceptions by which a property fails or cannot be tried."""

from __future__ import annotations


class Failed(Exception):
    """The property does not hold; the text says where and how."""


class Skipped(Exception):
    """The property cannot be tried; the text says why."""


def require(holds: bool, otherwise: str) -> None:
    """Fail unless something holds."""
    if not holds:
        raise Failed(otherwise)
