"""ExpeL's second stage: from recorded runs to insights that hold in many tasks, and trajectories to
recall.

The model compares a failed and a successful attempt at the same task, then reads several successes
at once, and each time answers with changes to one list of insights. Answers are lines of a fixed
form; whatever else they say counts for nothing, and an insight is one bounded line.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rpms.foreign.shown import excerpt, one_line
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.base import Decoding, Model, Request
from rpms.paper.prompt import (
    Budget,
    Form,
    Layout,
    Part,
    Prompt,
    Turn,
    build,
    make_block,
    prompt_limit,
    transcript,
)
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

TOGETHER = 8  # Successes that are read at once
MOST_CHANGES = 4  # Of one answer, so that no single one rewrites the list
MOST_TRAJECTORIES = 1_000  # Of which a prompt recalls two
_BEGIN = 2  # Votes of a new insight: one objection does not remove it
_CHANGE = re.compile(
    r"(?:[-*] ?)?(ADD|EDIT|AGREE|REMOVE)(?: (\d{1,2}))?(?:: ?(.*))?", re.IGNORECASE
)
_CHARACTERS = 3  # Of a token, at least
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
    won = [record for each in attempts.values() for record in each if record.row.won]
    insights: tuple[Insight, ...] = ()
    limit = prompt_limit(context, decoding.max_tokens)
    # first every failure beside a success at its task, then the successes, several at a time
    questions: list[tuple[str, tuple[EpisodeRecord, ...]]] = []
    for tried in attempts.values():
        success = next((record for record in tried if record.row.won), None)
        if success is not None:
            questions += [(_PAIR, (failure, success)) for failure in tried if not failure.row.won]
    questions += [
        (_SUCCESSES, tuple(won[begin : begin + TOGETHER])) for begin in range(0, len(won), TOGETHER)
    ]
    for number, (about, shown) in enumerate(questions, start=1):
        prompt = question(about, shown, insights, limit)
        try:
            answer = model.answer(Request(prompt, replace(decoding, stop=()), f"insights {number}"))
        except ModelUnavailable:
            raise
        except ModelError as error:
            note(f"question {number} was not answered: {excerpt(error)}")
            continue
        insights = changed(insights, answer.text)
    taught = dict.fromkeys(Trajectory(record.task, record.goal, told(record)) for record in won)
    return Experience(world, insights, tuple(taught)[:MOST_TRAJECTORIES])


def changed(insights: Sequence[Insight], answer: str) -> tuple[Insight, ...]:
    """The list after a model's answer: most votes first, and what has none left is gone."""
    items = list(insights)
    changes = [
        found for line in answer.splitlines() if (found := _CHANGE.fullmatch(line.strip()[:1_000]))
    ]
    full = len(items) >= MOST_INSIGHTS
    for found in changes[:MOST_CHANGES]:
        kind, text = found[1].upper(), one_line(found[3] or "", LONGEST_INSIGHT).strip()
        place = int(found[2]) - 1 if found[2] else -1
        known = 0 <= place < len(insights)
        if kind == "ADD" and text and all(text != item.text for item in items):
            items.append(Insight(text, _BEGIN))
        elif kind == "EDIT" and known and text:
            items[place] = Insight(text, items[place].votes + 1)
        elif kind == "AGREE" and known:
            items[place] = replace(items[place], votes=items[place].votes + 1)
        elif kind == "REMOVE" and known:
            items[place] = replace(
                items[place], votes=max(0, items[place].votes - (3 if full else 1))
            )
    left = sorted((item for item in items if item.votes > 0), key=lambda item: -item.votes)
    once = {
        item.text: item for item in reversed(left)
    }  # two may have been edited into the same words
    return tuple(item for item in left if once[item.text] is item)[:MOST_INSIGHTS]


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
    attempts = [
        f"Attempt {number}, which"
        f" {'succeeded' if record.row.won else 'failed'}:\n{told(record, share)}"
        for number, record in enumerate(shown, start=1)
    ]
    numbered = [
        f"{number}. {insight.text}" for number, insight in enumerate(insights, start=1)
    ] or ["none yet"]
    blocks = (
        make_block(Part.INSTRUCTION, "", [f"{_LIST}{about}{_CHANGES}"]),
        make_block(Part.OBSERVATION, "", attempts),
        make_block(Part.NOTICE, "[Insights so far]", numbered),
    )
    return build(blocks, Layout.CACHED, Budget(prompt=limit), form=Form.SINGLE)


def told(record: EpisodeRecord, longest: int = LONGEST_TRAJECTORY) -> str:
    """An attempt as a prompt tells it, cut in the middle where it is too long."""
    turns = [Turn(step.observation, step.command, step.thought) for step in record.steps]
    history, last = transcript(turns, record.steps[-1].result)
    text = "\n".join((*history.items, *last.items))
    half = min(longest, LONGEST_TRAJECTORY) // 2 - 2
    return text if len(text) <= 2 * half else f"{text[:half]}\n…\n{text[-half:]}"
