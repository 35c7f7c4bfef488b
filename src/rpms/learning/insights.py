"""ExpeL's second stage: from recorded runs to insights that hold in many tasks, and trajectories to
recall.

The model compares a failed and a successful attempt at the same task, then reads several successes
at once, and each time answers with changes to one list of insights. Answers are lines of a fixed
form; whatever else they say counts for nothing, and an insight is one bounded line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from rpms.foreign.shown import excerpt, one_line
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.base import Decoding, Model, Request
from rpms.paper.prompt import Budget, Form, Layout, Part, Prompt, Turn, make_block, prompt_limit
from rpms.paper.selection import build
from rpms.paper.wording import transcript
from rpms.store.episodes import EpisodeRecord
from rpms.store.expel_material import (
    LONGEST_INSIGHT,
    LONGEST_TRAJECTORY,
    MOST_INSIGHTS,
    Experience,
    Insight,
    Trajectory,
)
from rpms.store.runs import RunFolder

TOGETHER = 8
"""Successes that are read at once."""
MOST_CHANGES = 4
"""Changes of one answer that count, so that no single one rewrites the list."""
MOST_TRAJECTORIES = 1_000
"""Trajectories that are kept; a prompt recalls two of them."""
_VOTES_OF_NEW = 2
"""Votes of a new insight: one objection does not remove it."""
_OBJECTION = 1
"""Votes that an objection takes."""
_OBJECTION_TO_FULL_LIST = 3
"""Votes that an objection takes if the list is full: there is no room for better insights then."""
_CHANGE = re.compile(
    r"(?:[-*] ?)?(ADD|EDIT|AGREE|REMOVE)(?: (\d{1,2}))?(?:: ?(.*))?", re.IGNORECASE
)
_CHARACTERS = 3
"""Characters of a token, at least."""
_LIST = (
    "You keep a numbered list of insights: general advice that helps with many tasks of a text"
    " world. Below are "
)
_PAIR = (
    "a failed and a successful attempt at the same task. Find what made the difference, then change"
    " the list."
)
_SUCCESSES = "attempts that succeeded. Find what they have in common, then change the list."
_CHANGES = (
    " Write at most four lines, each in one of these forms:\nADD: a new insight\nEDIT 3: insight 3"
    " in better words\nAGREE 3\nREMOVE 3\nAgree with what these attempts support; remove what they"
    " contradict, or what is said twice. An insight is one sentence that holds beyond these tasks."
    " Answer with such lines alone."
)


class _Asked(NamedTuple):
    """A question to the model: what to find, and the attempts that it is shown."""

    about: str
    shown: tuple[EpisodeRecord, ...]


def gather_experience(
    runs: Sequence[RunFolder],
    world: str,
    model: Model,
    decoding: Decoding,
    context: int = 0,
    note: Callable[[str], None] = lambda _line: None,
) -> Experience:
    """Draw insights and trajectories from runs of one world; a failed answer is noted,
    ModelUnavailable is raised.
    """
    attempts = _attempts(runs, world)
    won = [record for record in chain.from_iterable(attempts.values()) if record.row.won]
    insights: tuple[Insight, ...] = ()
    limit = prompt_limit(context, decoding.max_tokens)
    questions = [*_failures_beside_successes(attempts), *_successes_together(won)]
    for number, asked in enumerate(questions, start=1):
        prompt = question(asked.about, asked.shown, insights, limit)
        try:
            answer = model.answer(Request(prompt, replace(decoding, stop=()), f"insights {number}"))
        except ModelUnavailable:
            raise
        except ModelError as error:
            note(f"question {number} was not answered: {excerpt(error)}")
            continue
        insights = changed(insights, answer.text)
    trajectories: dict[Trajectory, None] = {}
    for record in won:
        trajectories[Trajectory(record.task, record.goal, transcript_of(record))] = None
    return Experience(world, insights, tuple(trajectories)[:MOST_TRAJECTORIES])


def _failures_beside_successes(attempts: Mapping[str, Sequence[EpisodeRecord]]) -> Iterator[_Asked]:
    """Every failure beside the first success at its task."""
    for tried in attempts.values():
        success = next((record for record in tried if record.row.won), None)
        if success is None:
            continue
        for record in tried:
            if not record.row.won:
                yield _Asked(_PAIR, (record, success))


def _successes_together(won: Sequence[EpisodeRecord]) -> Iterator[_Asked]:
    """The successes, several at a time."""
    for begin in range(0, len(won), TOGETHER):
        yield _Asked(_SUCCESSES, tuple(won[begin : begin + TOGETHER]))


def changed(insights: Sequence[Insight], answer: str) -> tuple[Insight, ...]:
    """The list after a model's answer: most votes first, and what has none left is gone."""
    against = _OBJECTION_TO_FULL_LIST if len(insights) >= MOST_INSIGHTS else _OBJECTION
    items = list(insights)
    for change in _changes_in(answer)[:MOST_CHANGES]:
        if change.kind == "ADD":
            if change.text and change.text not in [item.text for item in items]:
                items.append(Insight(change.text, _VOTES_OF_NEW))
        elif 0 <= change.place < len(insights):  # one that the model was shown
            items[change.place] = _judged(items[change.place], change, against)
    return _ranked(items)


def _ranked(items: Sequence[Insight]) -> tuple[Insight, ...]:
    """The insights with votes, most first; of two that were edited alike, the first."""
    left = [item for item in items if item.votes > 0]
    left.sort(key=lambda item: -item.votes)
    by_text: dict[str, Insight] = {}
    for item in left:
        by_text.setdefault(item.text, item)
    return tuple(by_text.values())[:MOST_INSIGHTS]


class _Change(NamedTuple):
    """A line of an answer that changes the list."""

    kind: str
    """ADD, EDIT, AGREE or REMOVE."""
    place: int
    """Place in the list, from 0; -1 where the line names none."""
    text: str


def _changes_in(answer: str) -> list[_Change]:
    changes: list[_Change] = []
    for line in answer.splitlines():
        found = _CHANGE.fullmatch(line.strip()[:1_000])
        if found is None:
            continue
        place = int(found[2]) - 1 if found[2] else -1
        text = one_line(found[3] or "", LONGEST_INSIGHT).strip()
        changes.append(_Change(found[1].upper(), place, text))
    return changes


def _judged(insight: Insight, change: _Change, against: int) -> Insight:
    """An insight after a vote on it; an objection counts `against` votes."""
    match change.kind:
        case "EDIT" if change.text:
            return Insight(change.text, insight.votes + 1)
        case "AGREE":
            return _voted(insight, 1)
        case "REMOVE":
            return _voted(insight, -against)
    return insight


def _voted(insight: Insight, votes: int) -> Insight:
    return replace(insight, votes=max(0, insight.votes + votes))


def _attempts(runs: Sequence[RunFolder], world: str) -> dict[str, list[EpisodeRecord]]:
    """All attempts by task, in the order of the runs; those that a model or world broke off
    teach nothing.
    """
    found: dict[str, list[EpisodeRecord]] = {}
    for run in runs:
        if run.protocol.settings.get("world") != world:
            raise InputError(
                f"{run.folder}: is a run of {run.protocol.settings.get('world')}, not of {world}"
            )
        for record in run.episodes():
            if not record.row.failed and record.steps:
                found.setdefault(record.task, []).append(record)
    return found


def question(
    about: str, shown: Sequence[EpisodeRecord], insights: Sequence[Insight], limit: int = 0
) -> Prompt:
    """The prompt: what is asked, the attempts, each with its share of the room, and the list so
    far.
    """
    share = (limit // 2) * _CHARACTERS // len(shown) if limit else LONGEST_TRAJECTORY
    attempts: list[str] = []
    for number, record in enumerate(shown, start=1):
        fared = "succeeded" if record.row.won else "failed"
        attempts.append(f"Attempt {number}, which {fared}:\n{transcript_of(record, share)}")
    numbered = [f"{number}. {insight.text}" for number, insight in enumerate(insights, start=1)]
    blocks = (
        make_block(Part.INSTRUCTION, "", [f"{_LIST}{about}{_CHANGES}"]),
        make_block(Part.OBSERVATION, "", attempts),
        make_block(Part.NOTICE, "[Insights so far]", numbered or ["none yet"]),
    )
    return build(blocks, Layout.CACHED, Budget(prompt=limit), form=Form.SINGLE)


def transcript_of(record: EpisodeRecord, longest: int = LONGEST_TRAJECTORY) -> str:
    """An attempt as a prompt tells it, cut in the middle where it is too long."""
    turns = [Turn(step.observation, step.command, step.thought) for step in record.steps]
    history, last = transcript(turns, record.steps[-1].result)
    text = "\n".join((*history.items, *last.items))
    half = min(longest, LONGEST_TRAJECTORY) // 2 - 2
    if len(text) <= 2 * half:
        return text
    return f"{text[:half]}\n…\n{text[-half:]}"
