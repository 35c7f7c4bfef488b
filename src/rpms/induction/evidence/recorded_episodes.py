"""Recorded episodes as traces: those of runs and of explorations, and their beliefs read anew."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from rpms.foreign.shown import whole_letters
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError
from rpms.paper.episode import Ending, Happening
from rpms.store.episodes import EpisodeRecord
from rpms.store.evidence import TRACES, Spoken, Trace, Witness, read_traces
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

_COMPARED = 5
"""Episodes of each run whose beliefs are compared with those of a replay."""


def recorded(world: World, runs: Sequence[Path]) -> Iterator[Trace]:
    """The episodes of recorded runs, or of an exploration's file; those of another world are an
    InputError.
    """
    for path in runs:
        if path.name.endswith(TRACES):
            settings, traces = read_traces(path)
            _check_world(path, settings.get("world", ""), world)
            yield from traces
            continue
        run = RunFolder(path)
        _check_world(path, str(run.protocol.settings.get("world", "")), world)
        for record in run.episodes():
            if record.steps:
                yield _trace_of(path, record)


def _check_world(path: Path, found: str, world: World) -> None:
    if found != world.name:
        raise InputError(
            f"{path}: was played in {found or 'no world'}, not in {world.name}; nothing was learned"
        )


def _trace_of(path: Path, record: EpisodeRecord) -> Trace:
    """An episode of a run."""
    return Trace(
        whole_letters(f"{path.name}/{record.task}"),
        task=record.task,
        kind=record.row.type,
        opening=whole_letters(record.steps[0].observation),
        steps=spoken(record.steps, record.row.ending),
    )


def spoken(steps: Sequence[Happening], ending: Ending) -> tuple[Spoken, ...]:
    """Steps as a trace has them; the last one tells how the episode ended."""
    found: list[Spoken] = []
    for step in steps:
        is_last = step is steps[-1]
        found.append(
            Spoken(
                whole_letters(step.command),
                whole_letters(step.result),
                score=step.score,
                won=is_last and ending is Ending.WON,
                lost=is_last and ending is Ending.LOST,
            )
        )
    return tuple(found)


class ReplayedStep(NamedTuple):
    """A step of a trace, with what was believed before and after it."""

    witness: Witness
    spoken: Spoken
    refused: bool
    before: Situation
    after: Situation


def replayed(world: World, trace: Trace) -> Iterator[ReplayedStep]:
    """The steps of a trace, their beliefs read anew from the texts."""
    goal = world.goal(trace.opening)
    after = Situation(world.update(world.start(goal), None, trace.opening), goal)
    for number, step in enumerate(trace.steps, 1):
        before = after
        after = Situation(world.update(before.belief, step.command, step.answer), goal)
        witness = Witness(trace.episode, number)
        refused = world.infeasible(step.answer)
        yield ReplayedStep(witness, step, refused, before=before, after=after)


def read_differently(world: World, runs: Sequence[Path]) -> str:
    """The first recorded step that a world reads otherwise than it was read when it was played, in
    words; empty if it reads all that is compared alike.

    Goals in people's words are read by a model, and such episodes are passed over.
    """
    for path in runs:
        if path.name.endswith(TRACES):
            continue
        run = RunFolder(path)
        if "reader" in run.protocol.settings:
            continue
        for record in islice(run.episodes(), _COMPARED):
            number = _first_difference(world, record)
            if number:
                return f"{path}: {world.name} reads step {number} of {record.task} differently"
    return ""


def _first_difference(world: World, record: EpisodeRecord) -> int:
    """The first step whose belief a replay reads otherwise; 0 if there is none."""
    belief: Belief | None = None
    command: str | None = None
    for step in record.steps:
        if belief is None:
            belief = world.start(world.goal(step.observation))
        belief = world.update(belief, command, step.observation)
        if tuple(belief.lines()) != step.belief.lines:
            return step.number
        command = step.command
    return 0
