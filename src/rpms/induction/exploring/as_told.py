"""Commands that a goal's own sentence says nearly word for word, tried where wins are rare.

The score of a command is the share of its words that the sentence has (`is_named`): of `First,
focus on the thermometer`, `focus on thermometer` has all. What comes of it is learned like anything
else.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.questions import Question
from rpms.logic.actions import Instance
from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal, is_named

IT = "it"
"""The word by which a sentence speaks of what it has just spoken of."""


def as_told(
    questions: Iterable[Question],
    goal: Goal,
    known: Mapping[str, Collection[str]],
    done: Collection[str],
    it: str = "",
) -> list[tuple[str, Instance]]:
    """Commands that were not done yet, of which the goal's text has nearly all words: in the order
    of its sentences, last those that no single sentence says.

    `known`: by role, names that were ever seen: what is not here may be elsewhere. `it`: what the
    text may mean by that word: `Then, move it to the red box`.
    """
    named = {role: _named(names, goal, it) for role, names in known.items()}
    found: list[_Told] = []
    for question in questions:
        if not question.schema.variables:
            continue
        for told in _told_of(question, goal, named, it):
            if told.command not in done:
                found.append(told)
    found.sort(key=lambda told: told.place)
    return [(told.command, told.instance) for told in found]


class _Told(NamedTuple):
    """A command, by the place of the first sentence that says it."""

    place: int
    command: str
    instance: Instance


def _told_of(
    question: Question, goal: Goal, named: Mapping[str, Sequence[str]], it: str
) -> Iterator[_Told]:
    """An action's commands with names that the goal's text has, if it says them nearly word for
    word.
    """
    sentences = goal.text.split(". ")
    roles = question.schema.variables
    template = question.book.template
    pools = [named.get(role, ()) for role in roles]
    for names in product(*pools):
        said_names = [IT if name == it else name for name in names]
        said = fill(template, said_names)
        if is_named(said, goal.text):
            instance = Instance(question.schema, dict(zip(roles, names, strict=True)))
            yield _Told(_place_of(said, sentences), fill(template, names), instance)


def _place_of(command: str, sentences: Sequence[str]) -> int:
    for place, sentence in enumerate(sentences):
        if is_named(command, sentence):
            return place
    return len(sentences)


def _named(names: Iterable[str], goal: Goal, it: str) -> list[str]:
    """The names that the goal's text has, and of what it calls `it`."""
    found: list[str] = []
    for name in names:
        if name == it or is_named(kind_of(name), goal.text):
            found.append(name)
    return sorted(found)
