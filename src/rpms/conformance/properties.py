"""The properties that every world must have: a function says what it saw, or raises what it
found.
"""

from collections.abc import Callable

from rpms.conformance.belief_properties import belief, drift, facts, goals, signature
from rpms.conformance.game_properties import commands, games, members, refusals, tasks
from rpms.conformance.manual_properties import effects, manual, plans, progress, schemas
from rpms.conformance.playing_properties import doubt, planner, prompts
from rpms.conformance.walk import Subject

PROPERTIES: tuple[Callable[[Subject], str], ...] = (
    members,
    tasks,
    manual,
    games,
    refusals,
    goals,
    belief,
    signature,
    facts,
    schemas,
    effects,
    drift,
    progress,
    commands,
    prompts,
    planner,
    plans,
    doubt,
)
"""The checks, in the order of trial. A function's name is the property's, its docstring the
claim."""
