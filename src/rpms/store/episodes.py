"""The episode file: one JSON an episode, the same bytes for the same episode on every machine and at any time.

Nothing in it tells when or where it was played; that is in the run's `timings.jsonl`. Texts, candidates and prompt
blocks stand once an episode and are referred to by index, and the history of a prompt is not kept at all, since the
steps before it say the same. The last field is a checksum of all that is before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from rpms.core.acting.surprise import Surprise
from rpms.core.episode import Ending, Episode, Happening
from rpms.core.errors import FileError
from rpms.core.goal import Progress
from rpms.core.prompt import Block, Layout, Part, Prompt, Turn, transcript
from rpms.core.prompt import Form as PromptForm
from rpms.core.usage import Usage
from rpms.foreign.json_text import NotJson, first_mistake, loads
from rpms.store.episode_form import HISTORY_HERE, TEXTS, FileForm, HeadForm, StepForm, sound_bytes

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode in numbers: all that tables count, small enough to keep by the thousand."""

    task: str
    type: str
    ending: Ending
    score: float
    steps: int
    infeasible: int
    foreseeable: int
    repeated_failures: int
    contradictions: int
    usage: Usage = field(default_factory=Usage)
    """Tokens alone; requests and seconds are what timings tell."""
    error: str = ""
    reasks: int = 0
    """How often the guard had the model asked again."""
    replaced: int = 0
    """Actions that were not the model's own."""
    shortened: int = 0
    """Steps whose prompt left out turns of the history for want of room."""
    crowded: int = 0
    """Steps whose prompt left out knowledge for want of room."""
    trial: int = 0
    """Which attempt at the task it was."""
    surprises: int = 0
    """Where what happened differs from what the manual foretold."""

    @property
    def won(self) -> bool:
        return self.ending is Ending.WON

    @property
    def failed(self) -> bool:
        """Whether a model or a world broke down, rather than the agent lose. Such episodes count like any other."""
        return self.ending in (Ending.MODEL_ERROR, Ending.WORLD_ERROR)


def row_of(episode: Episode) -> EpisodeRow:
    """The numbers of an episode, as its file will give them back."""
    return EpisodeRow(
        episode.task,
        episode.type,
        episode.ending,
        episode.score,
        len(episode.steps),
        episode.infeasible,
        episode.foreseeable,
        episode.repeated_failures,
        episode.contradictions,
        tokens_of(episode.usage),
        episode.error,
        episode.reasks,
        episode.replaced,
        episode.shortened,
        episode.crowded,
        episode.trial,
        episode.surprises,
    )


def tokens_of(usage: Usage) -> Usage:
    """A usage without what differs from one time to the next."""
    return Usage(
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.completion_tokens,
        written_tokens=usage.written_tokens,
    )


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A memory that came to mind, with its verdict."""

    entry: str
    """The entry's id."""
    kind: str
    wording: str
    """As the prompt words it, or would have."""
    score: float
    rank: float
    fate: str
    reason: str = ""
    rule: str = ""
    fact: str = ""


@dataclass(frozen=True, slots=True)
class BeliefRecord:
    """What was believed when a step was decided."""

    location: str | None
    holding: tuple[str, ...]
    containers: Mapping[str, bool]
    last_seen: Mapping[str, str]
    lines: tuple[str, ...]
    """As a prompt shows it; what two steps' lines do not share is what changed."""
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Happening):
    """One step, as its file tells it."""

    belief: BeliefRecord
    progress: Progress
    candidates: tuple[CandidateRecord, ...]
    unlisted: int
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What features beyond the paper recorded, by their names."""
    left_out: tuple[str, ...] = ()
    """The active rules and schemas that the prompt does not show at this sub-goal."""


@dataclass(frozen=True)
class EpisodeRecord:
    """An episode as its file tells it."""

    row: EpisodeRow
    goal: str
    goal_signature: str
    rules: Mapping[str, tuple[str, ...]]
    """The ids of the active rules by tier."""
    steps: tuple[StepRecord, ...]
    _file: FileForm = field(repr=False)

    @property
    def task(self) -> str:
        return self.row.task

    @cached_property
    def _turns(self) -> Block:
        """The history of the whole episode, of which a step's prompt shows the turns before it."""
        usual = usual_turns(self.steps)
        told = {place: step for place, step in enumerate(self._file.steps) if step.turn is not None}
        items = [self._file.texts[told[n].turn or 0] if n in told else item for n, item in enumerate(usual.items)]
        spoken = [told[n].spoken if n in told else begin for n, begin in enumerate(usual.spoken)]
        return Block(Part.HISTORY, "", tuple(items), 0, tuple(spoken))

    def prompt(self, number: int) -> Prompt:
        """The whole prompt of a step, from 1, to the letter; what stood in a block is one item here."""
        step, texts = self._file.steps[number - 1], self._file.texts
        cut = [(part, texts[place]) for part, place in step.cut]
        blocks: list[Block] = []
        for place in step.prompt:
            if place != HISTORY_HERE:
                known = self._file.blocks[place]
                blocks.append(Block(known.part, "", (texts[known.text],), known.tokens))
                continue
            assert step.history is not None
            if step.history.text is not None:
                blocks.append(Block(Part.HISTORY, "", (texts[step.history.text],), step.history.tokens))
                continue
            dropped = range(1, 1 + step.history.dropped)
            shown = self._turns.keeping(place for place in range(number - 1) if place not in dropped)
            shown = shown.opening_alone() if step.history.alone else shown
            cut.extend((Part.HISTORY, self._turns.items[place]) for place in dropped)
            blocks.append(replace(shown, tokens=step.history.tokens))
        no_room = tuple((Part(part), fewer) for part, fewer in step.extras.get("no_room", {}).items())
        return Prompt(tuple(blocks), tuple(cut), no_room, Layout[self._file.layout], PromptForm(self._file.form))


def usual_turns(steps: Sequence[Any]) -> Block:
    """The history that tells of steps in the usual way: the observation, and the whole thought and command."""
    return transcript([Turn(step.observation, step.command, step.thought) for step in steps], "")[0]


def read_row(file: Path) -> EpisodeRow:
    """The numbers of an episode; a damaged file is a FileError, whatever part of it is damaged."""
    data = sound_bytes(file)
    head, _, _ = data.partition(b",\n")
    try:
        return _row(HeadForm.model_validate(loads(head + b"}")))
    except ValidationError as error:
        raise _not_an_episode(file, error) from None
    except NotJson as error:
        raise FileError(file, None, f"is not an episode: {error}") from None


def read_episode(file: Path) -> EpisodeRecord:
    """Read an episode; a damaged file is a FileError."""
    data = sound_bytes(file)
    try:
        return _record(FileForm.model_validate(loads(data)))
    except ValidationError as error:
        raise _not_an_episode(file, error) from None
    except NotJson as error:
        raise FileError(file, None, f"is not an episode: {error}") from None


def _not_an_episode(file: Path, error: ValidationError) -> FileError:
    if error.errors(include_url=False, include_input=False, include_context=False)[0]["loc"] == ("version",):
        return FileError(file, None, "was written by another version of rpms, in a form that is not known here")
    return FileError(file, None, f"is not an episode: {first_mistake(error)}")


def _row(head: HeadForm) -> EpisodeRow:
    counts = head.metrics
    return EpisodeRow(
        head.task,
        head.type,
        head.ending,
        head.score,
        counts.steps,
        counts.infeasible,
        counts.foreseeable,
        counts.repeated_failures,
        counts.contradictions,
        counts.usage.usage(),
        head.error,
        counts.reasks,
        counts.replaced,
        counts.shortened,
        counts.crowded,
        head.trial,
        counts.surprises,
    )


def _record(content: FileForm) -> EpisodeRecord:
    candidates = tuple(
        CandidateRecord(**{**dict(candidate), "wording": content.texts[candidate.wording]})
        for candidate in content.candidates
    )
    steps: list[StepRecord] = []
    containers: dict[str, bool] = {}
    last_seen: dict[str, str] = {}
    for step in content.steps:
        containers = _changed(containers, step.belief.containers)
        last_seen = _changed(last_seen, step.belief.last_seen)
        steps.append(_step(step, content.texts, candidates, containers, last_seen))
    return EpisodeRecord(_row(content), content.goal, content.goal_signature, content.rules, tuple(steps), content)


def _step(
    step: StepForm,
    texts: Sequence[str],
    candidates: Sequence[CandidateRecord],
    containers: Mapping[str, bool],
    last_seen: Mapping[str, str],
) -> StepRecord:
    belief = step.belief
    happened = {each.name: getattr(step, each.name) for each in fields(Happening)}
    happened |= {name: texts[happened[name]] for name in TEXTS}
    happened["usage"] = step.usage.usage()
    happened["surprises"] = tuple(Surprise(*each) for each in step.surprises)
    return StepRecord(
        **happened,
        belief=BeliefRecord(
            belief.location,
            belief.holding,
            containers,
            last_seen,
            tuple(texts[line] for line in belief.lines),
            belief.signature,
        ),
        progress=Progress(*step.progress),
        candidates=tuple(candidates[place] for place in step.candidates),
        unlisted=step.unlisted,
        extras=step.extras,
        left_out=() if step.left_out is None else tuple(texts[step.left_out].split("\n")),
    )


def _changed(before: Mapping[str, _Value], changes: Mapping[str, _Value | None]) -> dict[str, _Value]:
    return {name: value for name, value in {**before, **changes}.items() if value is not None}
