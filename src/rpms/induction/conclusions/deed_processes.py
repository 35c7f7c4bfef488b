"""Deeds as processes for plans: what is known to score or win, and looks that show more of it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rpms.induction.conclusions.action_model import ActionModel
from rpms.induction.conclusions.conditions import Circumstance
from rpms.induction.conclusions.scores import NO_NAME, Deed
from rpms.induction.conclusions.unnamed_effects import Process, process_of
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import Names
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom, Clause, Literal

ADVANCED = Atom("advanced")
"""The fact that a task has got further."""


def looks(deeds: Iterable[Deed], links: Sequence[Process]) -> Iterator[Process]:
    """Actions that show more things, as a way to get further before any are tried blindly."""
    only_once = [link for link in links if _shows_once(link.schema, links)]
    for goal in dict.fromkeys(deed.goal for deed in deeds if deed.blind):
        for link in only_once:
            yield link._replace(schema=_way_onward(link.schema, goal))


def _shows_once(schema: ActionSchema, links: Iterable[Process]) -> bool:
    """True if a command shows something, and one of its own needs ends with it."""
    if not schema.observes:
        return False
    ended: set[Literal] = set()
    for link in links:
        if link.schema.syntax == schema.syntax:
            ended.update(effect.opposite() for effect in link.schema.effects)
    return any(clause.literals[0] in ended for clause in schema.preconditions)


def _way_onward(schema: ActionSchema, goal: str) -> ActionSchema:
    """A look as something that gets a task of some type further."""
    return replace(
        schema,
        name=NO_NAME.sub("_", f"{schema.name} for {goal}"),
        id="",
        preconditions=(*schema.preconditions, _for_goal(goal)),
        observes=(),
        effects=(Literal(ADVANCED),),
        steps=LIMITS.looking_for_more,
    )


def _for_goal(goal: str) -> Clause:
    """The condition that a process is for one type of goal."""
    return Clause((Literal(Atom("goal_type", (goal,))),))


def deed_processes(
    deeds: Iterable[Deed], actions: Mapping[str, ActionModel], names: Names, verb: str = "score"
) -> Iterator[Process]:
    """Deeds as processes: a command, what it needs to be done and to score, and that the task
    has got further.
    """
    taken: Counter[str] = Counter()
    for deed in deeds:
        parameters = deed.book.called(names)
        if parameters is None:
            continue
        action = actions.get(deed.book.template)
        base = f"{verb}_{action.name if action is not None else 'order'}"
        taken[base] += 1
        name = base if taken[base] == 1 else f"{base}_{taken[base]}"
        yield _deed_process(deed, name, parameters, action)


def _deed_process(
    deed: Deed, name: str, parameters: Sequence[str], action: ActionModel | None
) -> Process:
    """A deed as a process; it also needs what the action needs to be done, where that is known."""
    literals = dict.fromkeys(deed.when.literals)
    if action is not None:
        literals |= dict.fromkeys((*action.guessed, *action.surroundings))
    when = replace(deed.when, literals=tuple(literals))
    roles = (*parameters, *deed.roles)
    found = process_of(name, deed.book.template, roles, when, effects=[Literal(ADVANCED)])
    needed = found.schema.preconditions
    steps = round(1 / (deed.share or when.share), 1)  # deeds that often fail cost more
    risk = _risk(deed.book, when)
    if deed.chance:  # what is sure comes first in play too
        steps = round(steps + risk, 1)
        risk = 0.0
    schema = replace(
        found.schema,
        preconditions=(*needed, *_not_yet(deed, parameters, needed), _for_goal(deed.goal)),
        once=tuple(parameters[slot] for slot in deed.once),
        steps=steps,
    )
    return found._replace(schema=schema, risk=risk)


def _not_yet(deed: Deed, parameters: Sequence[str], needed: Collection[Clause]) -> Iterator[Clause]:
    """The condition that a deed has something to change, where its needs do not say so already."""
    slots = slots_of(parameters)
    unchanged = [change.opposite().bind(slots) for change in deed.changes]
    if unchanged and not any(Clause((literal,)) in needed for literal in unchanged):
        yield Clause(tuple(unchanged))


def _risk(book: Book, when: Circumstance) -> float:
    """Steps that a deed costs more because it may end the task, so that the surest comes first."""
    if not any(attempt.lost for attempt in book.attempts):
        return 0.0
    tries = when.confirmed + when.against
    return round(LIMITS.ruin * (when.against + 1) / (tries + 2), 1)
