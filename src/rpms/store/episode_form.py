"""The form of an episode file: its fields, its checksum, its name."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, PlainValidator

from rpms.core.episode import Ending
from rpms.core.errors import FileError
from rpms.core.usage import Usage

HISTORY_HERE = -1
"""Stands in a step's list of blocks where the history goes."""
_SAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_SLUG = 80
_SEAL = re.compile(rb'"sha256":"([0-9a-f]{64})"\}\n\Z')
_SEAL_LENGTH = len(b'"sha256":""}\n') + 64


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a text")  # noqa: TRY004  what pydantic turns into a ValidationError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""Any text, half characters included: some models write them, and pydantic's own texts cannot hold them."""


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
    try:
        data = file.read_bytes()
    except OSError as error:
        raise FileError(file, None, f"cannot be read: {error.strerror or error}") from None
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


class Form(BaseModel):
    """A piece of the file."""

    model_config = ConfigDict(frozen=True)


class TokensForm(Form):
    """A usage, less what differs from one time to the next."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    written_tokens: int = 0

    def usage(self) -> Usage:
        return Usage(self.prompt_tokens, self.cached_tokens, self.completion_tokens, written_tokens=self.written_tokens)


class MetricsForm(Form):
    """What tables count."""

    steps: int
    infeasible: int
    foreseeable: int
    repeated_failures: int
    contradictions: int
    reasks: int = 0
    replaced: int = 0
    shortened: int = 0
    crowded: int = 0
    usage: TokensForm


class HeadForm(Form):
    """The first line of a file, which is all that a table needs."""

    version: Literal[1]
    task: Text
    type: Text
    goal: Text
    goal_signature: Text
    ending: Ending
    score: float
    won: bool
    error: Text
    metrics: MetricsForm


class CandidateForm(Form):
    """A candidate; its wording is the index of a text."""

    entry: Text
    kind: Text
    wording: int
    score: float
    rank: float
    fate: Text
    reason: Text = ""
    rule: Text = ""
    fact: Text = ""


class BlockForm(Form):
    """A block of a prompt; its text is the index of one."""

    part: Text
    tokens: int
    text: int


class HistoryForm(Form):
    """A history: how many turns after the opening one the budget dropped, or else the index of its text."""

    tokens: int
    dropped: int = 0
    alone: bool = False
    """Whether the opening one is shown without its action."""
    text: int | None = None


class BeliefForm(Form):
    """What changed since the step before; None for what is no longer there."""

    location: Text | None = None
    holding: tuple[Text, ...] = ()
    containers: dict[Text, bool | None] = {}
    last_seen: dict[Text, Text | None] = {}
    lines: tuple[int, ...] = ()
    signature: Text = ""


class StepForm(Form):
    """A step; whole numbers that stand for a text, candidate or block are indices."""

    number: int
    observation: int
    belief: BeliefForm
    progress: tuple[Text, Text, int, int]
    candidates: tuple[int, ...] = ()
    unlisted: int = 0
    prompt: tuple[int, ...]
    history: HistoryForm | None = None
    cut: tuple[tuple[Text, int], ...] = ()
    left_out: int | None = None
    """A text with a line for each active rule and schema that the prompt does not show at this sub-goal."""
    answer: int
    thought: int
    action: Text | None = None
    command: Text = ""
    repairs: tuple[Text, ...] = ()
    result: int
    turn: int | None = None
    """How later histories tell of this step, where they tell it otherwise than its observation, thought and command."""
    spoken: int = 0
    """Where in that text the model's own words begin."""
    score: float = 0.0
    infeasible: bool = False
    objection: Text = ""
    contradictions: tuple[Text, ...] = ()
    usage: TokensForm = TokensForm()
    extras: dict[Text, Any] = {}


class FileForm(HeadForm):
    """The whole file, less its checksum."""

    layout: Text = "CACHED"
    form: Text = "single"
    rules: dict[Text, tuple[Text, ...]]
    candidates: tuple[CandidateForm, ...]
    blocks: tuple[BlockForm, ...]
    steps: tuple[StepForm, ...]
    texts: tuple[Text, ...]
