"""Commands that a goal's own sentence says nearly word for word, tried where wins are rare.

The score of a command is the share of its words that the sentence has (`is_named`): of `First,
focus on the thermometer`, `focus on thermometer` has all. What comes of it is learned like anything
else.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import product

from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.questions import Question
from rpms.logic.actions import Instance
from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal, is_named


def as_told(
    questions: Iterable[Question], goal: Goal, belief: Belief, done: Collection[str]
) -> Iterator[tuple[str, Instance]]:
    """Commands that were not done yet, of which the goal's text has nearly all words."""
    for question in questions:
        roles = question.schema.variables
        slots = [_named(belief.names.get(role, ()), goal) for role in roles]
        if not roles or not all(slots):
            continue
        for names in product(*slots):
            command = fill(question.book.template, names)
            if command not in done and is_named(command, goal.text):
                yield command, Instance(question.schema, dict(zip(roles, names, strict=True)))


def _named(names: Iterable[str], goal: Goal) -> list[str]:
    """The names that the goal's text has."""
    found: list[str] = []
    for name in names:
        if is_named(kind_of(name), goal.text):
            found.append(name)
    return found
