"""Loops: the same failure again, or the same states in a circle, seen in the history and named to the model."""

from __future__ import annotations

from collections.abc import Sequence

from rpms.core.prompt import Turn
from rpms.core.tokens import brief

_WINDOW = 10
"""Turns a circle may span: longer ones are searches, not loops."""
_RETURNS = 3
"""Number of times a state must recur in the window to be a circle."""


def find_loop(history: Sequence[Turn], state: str) -> str:
    """A sentence about the loop an agent is in; empty if none. `state` is the present one, progress included."""
    if len(history) >= 2 and history[-1].failed and history[-2].failed and history[-1].action == history[-2].action:
        action = history[-1].action
        what = f"`{brief(action)}` has failed" if action else "Your answer held no action"
        return f"{what} twice in a row. Do something else."
    recent = list(history[-_WINDOW:])
    here = [place for place, turn in enumerate(recent) if turn.state == state]
    if state and len(here) >= _RETURNS - 1:
        actions = list(dict.fromkeys(brief(turn.action) for turn in recent[here[0] :] if turn.action))
        return f"You keep coming back to this same state. Tried in vain: {', '.join(actions)}. Do something new."
    return ""
