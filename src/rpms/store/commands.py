"""The commands that a manual's processes name, held against those that its actions write."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from rpms.core.rules import PARAMETER, ActionSchema
from rpms.foreign.shown import excerpt

_LONGEST_COMPARED = 200
"""Characters of a command in which its nearest neighbour is looked for; finding it takes the square of that."""
WAIT = "wait"
"""Command that lets time pass. A process may name it without an action: it needs and does nothing by itself."""


def unknown_command(command: str, actions: Collection[ActionSchema]) -> str:
    """Fault of a process's command: no action writes it; the nearest one is named.

    `wait` needs no action, nor does a command that is all parameter (`<choice>`): what the game itself offers.
    """
    written = PARAMETER.sub("x", command)
    blank = not PARAMETER.sub("", command).strip()
    if command == WAIT or blank or any(action.match(written) is not None for action in actions):
        return ""
    known = [WAIT, *(syntax for action in actions for syntax in action.syntax)]
    nearest = get_close_matches(command[:_LONGEST_COMPARED], known, 1, 0.0)[0]
    return f"no action writes the command {excerpt(command)!r}; the nearest known one is `{nearest}`"
