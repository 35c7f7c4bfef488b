"""The form of an episode file: its fields, its checksum, its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sized
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rpms.core.episode import Ending
from rpms.core.errors import FileError
from rpms.core.prompt import Part
from rpms.core.usage import Usage
from rpms.foreign.files import read_bytes
from rpms.foreign.json_text import Count, Number, Text
from rpms.foreign.limits import LARGEST_EPISODE

HISTORY_HERE = -1
"""Stands in a step's list of blocks where the history goes."""
_SAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_SLUG = 80
_SEAL = re.compile(rb'"sha256":"([0-9a-f]{64})"\}\n\Z')
_SEAL_LENGTH = len(b'"sha256":""}\n') + 64


def file_name(task: str) -> str:
    """The name of a task's file: readable, the same everywhere, and no path whatever the task is called."""
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    slug = _SAFE.sub("_", task)[:_LONGEST_SLUG].strip("_-")
    return f"{slug}-{digest}.json" if slug else f"{digest}.json"


def seal(body: str) -> str:
    """A file's text: what `episode_body` gives, closed with its checksum."""
    return f'{body}"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"}}\n'


def sound_bytes(file: Path) -> bytes:
    """The bytes of a file that are what was once written."""
    data = read_bytes(file, LARGEST_EPISODE)
    mark = _SEAL.search(data, max(0, len(data) - _SEAL_LENGTH))
    if mark is None:
        raise FileError(
            file, None, "is not a whole episode file; the same `rpms run` as before plays this episode again"
        )
    if hashlib.sha256(memoryview(data)[: mark.start()]).hexdigest().encode() != mark[1]:
        raise FileError(
            file, None, "was changed after it was written; the same `rpms run` as before plays this episode again"
        )
    return data


def _shown_extras(extras: dict[str, Any]) -> dict[str, Any]:
    """What pages take apart has the form that they expect; the rest they show as it is."""
    refused = extras.get("refused", [])
    if not isinstance(refused, list) or not all(
        isinstance(each, dict) and all(isinstance(each.get(name), str) for name in ("command", "reason"))
        for each in refused
    ):
        raise ValueError("`refused` is not a list of commands with reasons")
    return extras


class FilePiece(BaseModel):
    """A piece of the file."""

    model_config = ConfigDict(frozen=True)


class TokensForm(FilePiece):
    """A usage, less what differs from one time to the next."""

    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    completion_tokens: Count = 0
    written_tokens: Count = 0

    def usage(self) -> Usage:
        return Usage(self.prompt_tokens, self.cached_tokens, self.completion_tokens, written_tokens=self.written_tokens)


class MetricsForm(FilePiece):
    """What tables count."""

    steps: Count
    infeasible: Count
    foreseeable: Count
    repeated_failures: Count
    contradictions: Count
    reasks: Count = 0
    replaced: Count = 0
    shortened: Count = 0
    crowded: Count = 0
    surprises: Count = 0
    usage: TokensForm


class HeadForm(FilePiece):
    """The first line of a file, which is all that a table needs."""

    version: Literal[1]
    task: Text
    type: Text
    goal: Text
    goal_signature: Text
    ending: Ending
    score: Number
    won: bool
    error: Text
    trial: Count = 0
    metrics: MetricsForm


class CandidateForm(FilePiece):
    """A candidate; its wording is the index of a text."""

    entry: Text
    kind: Text
    wording: Count
    score: Number
    rank: Number
    fate: Text
    reason: Text = ""
    rule: Text = ""
    fact: Text = ""


class BlockForm(FilePiece):
    """A block of a prompt; its text is the index of one."""

    part: Part
    tokens: Count
    text: Count


class HistoryForm(FilePiece):
    """A history: how many turns after the opening one the budget dropped, or else the index of its text."""

    tokens: Count
    dropped: Count = 0
    alone: bool = False
    """Whether the opening one is shown without its action."""
    text: Count | None = None


class BeliefForm(FilePiece):
    """What changed since the step before; None for what is no longer there."""

    location: Text | None = None
    holding: tuple[Text, ...] = ()
    containers: dict[Text, bool | None] = {}
    last_seen: dict[Text, Text | None] = {}
    lines: tuple[Count, ...] = ()
    signature: Text = ""


TEXTS = frozenset({"observation", "answer", "thought", "result"})
"""The fields of a step that are long, and so stand once an episode: a step has the index of each."""


class StepForm(FilePiece):
    """A step; whole numbers that stand for a text, candidate or block are indices.

    It is written in the order of these fields, less those that are optional and have nothing to say.
    """

    number: Count
    observation: Count
    belief: BeliefForm
    progress: tuple[Text, Text, Count, Count]
    candidates: tuple[Count, ...] = ()
    unlisted: Count = 0
    prompt: tuple[Annotated[int, Field(ge=HISTORY_HERE, strict=True)], ...]
    history: HistoryForm | None = None
    cut: tuple[tuple[Part, Count], ...] = ()
    left_out: Count | None = None
    """A text with a line for each active rule and schema that the prompt does not show at this sub-goal."""
    answer: Count
    thought: Count
    action: Text | None = None
    command: Text = ""
    repairs: tuple[Text, ...] = ()
    result: Count
    turn: Count | None = None
    """How later histories tell of this step, where they tell it otherwise than its observation, thought and command."""
    spoken: Count = 0
    """Where in that text the model's own words begin."""
    score: Number = 0.0
    infeasible: bool = False
    objection: Text = ""
    contradictions: tuple[Text, ...] = ()
    surprises: tuple[tuple[Text, Text, Text], ...] = ()
    """Each with its kind, the line of the manual it speaks against, and words for people."""
    usage: TokensForm = TokensForm()
    extras: Annotated[dict[Text, Any], AfterValidator(_shown_extras)] = {}

    def text_places(self) -> list[int]:
        """Where the texts of this step stand."""
        kept = (self.left_out, self.turn, self.history.text if self.history is not None else None)
        said = [getattr(self, name) for name in TEXTS]
        return (
            [*said, *self.belief.lines]
            + [place for _, place in self.cut]
            + [place for place in kept if place is not None]
        )


class FileForm(HeadForm):
    """The whole file, less its checksum."""

    layout: Text = "CACHED"
    form: Text = "single"
    rules: dict[Text, tuple[Text, ...]]
    candidates: tuple[CandidateForm, ...]
    blocks: tuple[BlockForm, ...]
    steps: tuple[StepForm, ...]
    texts: tuple[Text, ...]

    @model_validator(mode="after")
    def _places_exist(self) -> FileForm:
        """Whatever stands for a text, a candidate or a block is the place of one."""
        texts = [candidate.wording for candidate in self.candidates] + [block.text for block in self.blocks]
        for number, step in enumerate(self.steps, start=1):
            if step.number != number:
                raise ValueError(f"step {number} is numbered {step.number}")
            if HISTORY_HERE in step.prompt and step.history is None:
                raise ValueError(f"step {number} has no history")
            if step.history is not None and step.history.dropped >= number:
                raise ValueError(f"step {number} drops more turns than there were")
            _check_places(step.candidates, self.candidates, f"step {number} names a candidate")
            _check_places(step.prompt, self.blocks, f"step {number} names a block")
            texts += step.text_places()
        _check_places(texts, self.texts, "it names a text")
        return self


def _check_places(places: Iterable[int], there: Sized, what: str) -> None:
    if max(places, default=HISTORY_HERE) >= len(there):
        raise ValueError(f"{what} that is not there")
