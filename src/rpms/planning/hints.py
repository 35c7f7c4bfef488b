"""What a prompt says beside rules and memories: what comes next by the plan, what failed already,
and that the agent walks in circles.
"""

from collections.abc import Sequence

from rpms.paper.prompt import Turn, brief
from rpms.planning.menu import next_steps
from rpms.planning.plan_graph import Plan

_FAILED_SHOWN = 4
"""Failed commands that are named."""
_WINDOW = 10
"""Turns a circle may span: longer ones are searches, not loops."""
_RETURNS = 3
"""Number of times a state must recur in the window to be a circle."""


def guidance(plan: Plan, history: Sequence[Turn], state: str) -> tuple[str, ...]:
    """Lines for the goal block: what comes next, what was just done, what already failed here."""
    lines: list[str] = []
    if plan.options:
        lines.append(f"  Now: {next_steps(plan.options[0])}")
    if history and not history[-1].failed:
        lines.append(f"  Just done: {brief(history[-1].action)}")
    failed = dict.fromkeys(
        turn.action for turn in history if turn.failed and turn.action and turn.state == state
    )
    if failed:
        lines.append(f"  Already failed: {', '.join(map(brief, list(failed)[:_FAILED_SHOWN]))}")
    return tuple(lines)


def find_loop(history: Sequence[Turn], state: str) -> str:
    """A sentence about the loop an agent is in; empty if none.

    `state` is the present one, progress included.
    """
    if _failed_twice(history):
        action = history[-1].action
        what = f"`{brief(action)}` has failed" if action else "Your answer held no action"
        return f"{what} twice in a row. Do something else."
    recent = history[-_WINDOW:]
    here = [place for place, turn in enumerate(recent) if turn.state == state]
    if not state or len(here) < _RETURNS - 1:
        return ""
    since = recent[here[0] :]
    actions = dict.fromkeys(brief(turn.action) for turn in since if turn.action)
    return (
        f"You keep coming back to this same state. Tried in vain: {', '.join(actions)}. Do"
        " something new."
    )


def _failed_twice(history: Sequence[Turn]) -> bool:
    """True if the last two turns failed with the same action, or both had none."""
    if len(history) < 2:
        return False
    before, last = history[-2:]
    return before.failed and last.failed and before.action == last.action
