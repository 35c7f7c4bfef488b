"""Complaints of a command on stderr."""

from __future__ import annotations


def complaints(error: str) -> list[str]:
    """The lines that are no notes: notes say what was assumed, before anything goes wrong."""
    return [line for line in error.splitlines() if not line.startswith("note: ")]
