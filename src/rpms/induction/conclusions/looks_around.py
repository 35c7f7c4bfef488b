"""Looks around: commands that name nothing and show things of the agent's place.

Each place is worth one look. Where what the look makes so is so already, nothing more is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from rpms.induction.conclusions.unnamed_effects import Process
from rpms.logic.actions import PARAMETER, ActionSchema
from rpms.logic.belief import Belief
from rpms.logic.facts import Clause, Literal


def brings_into_sight(before: Belief, after: Belief) -> bool:
    """True if things were seen that nobody knew, and the agent stayed where it was."""
    if before.location is None or after.location != before.location:
        return False
    known = set(chain.from_iterable(before.names.values()))
    return not known.issuperset(chain.from_iterable(after.names.values()))


def _is_look_around(schema: ActionSchema) -> bool:
    """True for a process by which a command that names nothing shows things of a place."""
    names_nothing = not PARAMETER.search(schema.syntax[0])
    return bool(schema.observes) and bool(schema.others) and names_nothing


def taken_once(processes: Sequence[Process]) -> list[Process]:
    """Processes, of which those that show things of a place need what a look there ends."""
    found = []
    for process in processes:
        schema = process.schema
        if _is_look_around(schema):
            ended = _ended_by(schema, processes)
            new = [clause for clause in ended if clause not in schema.preconditions]
            needed = (*schema.preconditions, *new[:1])
            schema = replace(schema, preconditions=needed)
        found.append(process._replace(schema=schema))
    return found


def _ended_by(look: ActionSchema, processes: Iterable[Process]) -> list[Clause]:
    """The opposites of what a command makes so of the same place: these end with it. Facts that it
    makes false are left out.
    """
    found: list[Clause] = []
    for process in processes:
        schema = process.schema
        if schema.syntax != look.syntax or schema.others != look.others:
            continue
        for effect in schema.effects:
            if not effect.negated and set(effect.atom.args) == set(look.others):
                found.append(Clause((Literal(effect.atom, negated=True),)))
    return found
