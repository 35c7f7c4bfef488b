"""Past the paper: what failed in a like state, and so is ranked down, or asked about where it ended a task for good."""

from __future__ import annotations

from collections.abc import Iterable

from rpms.core.belief import StateSignature
from rpms.core.facts import kind_of
from rpms.core.lift import read, renamed
from rpms.core.memory import CriticalFailure, FailureLesson
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate

_RELATIONS = ("holding", "inventory", "location", "open")
"""The fields of a state in which what an action names can stand."""


def likeness(command: str, state: StateSignature, syntax: ActiveRules) -> tuple[object, ...]:
    """Features that two actions, each in its state, must share for one to bear on the other.

    The action without its instances, and how what it names stood to the state.
    """
    names = read(command, syntax).names
    stood = tuple(tuple(name in (state.get(field) or ()) for field in _RELATIONS) for name in names)
    at = "".join(map(kind_of, state.get("location") or ()))
    return lifted(command, syntax), stood, state.occupied, at


def lifted(command: str, syntax: ActiveRules) -> str:
    """A command with kinds in place of names."""
    return renamed(command, {name: kind_of(name) for name in read(command, syntax).names})


def failed_alike(
    commands: Iterable[str],
    state: StateSignature,
    memories: Iterable[Candidate],
    syntax: ActiveRules,
    experience: Whereabouts,
) -> dict[str, str]:
    """Commands to rank down, with the id of a lesson: each failed in a like state more often than it worked."""
    lessons: dict[object, list[FailureLesson]] = {}
    for each in memories:
        if isinstance(entry := each.entry, FailureLesson):
            lessons.setdefault(likeness(entry.failed_action, entry.state_signature, syntax), []).append(entry)
    found: dict[str, str] = {}
    for command in commands if lessons else ():
        alike = lessons.get(likeness(command, state, syntax), [])
        if alike and sum(each.occurrence_count for each in alike) > experience.worked(lifted(command, syntax)):
            found[command] = alike[0].id
    return found


def ended_alike(command: str, memories: Iterable[Candidate], syntax: ActiveRules) -> CriticalFailure | None:
    """The critical failure of which an action is a repetition: the same with other instances, whatever the state."""
    critical = [each.entry for each in memories if isinstance(each.entry, CriticalFailure)]
    if not critical:
        return None
    now = lifted(command, syntax)
    return next((each for each in critical if lifted(each.failed_action, syntax) == now), None)
