"""Episodes as texts alone, of an exploration: `manual.yaml` has `manual.episodes.jsonl`.

Since a belief follows from texts alone, all that was learned from an episode can be learned again from these lines. A
line is written when its episode has ended, so that a killed exploration loses at most the episode it was in.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from rpms.core.errors import FileError, InputError
from rpms.foreign.json_text import NotJson, Number, Text, first_mistake, loads
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.store.files import read_text

SUFFIX = ".episodes.jsonl"


class Spoken(NamedTuple):
    """One step: what was commanded, and what the world answered."""

    command: str
    answer: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    """Whether the task was over for good after it, and not won."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode."""

    episode: str
    """Unique among all that is learned from."""
    task: str
    type: str
    opening: str
    """The first observation."""
    steps: tuple[Spoken, ...] = ()

    @property
    def won(self) -> bool:
        return any(step.won for step in self.steps)


def traces_file(manual: Path) -> Path:
    """Where the episodes of a manual's exploration are."""
    return manual.with_suffix("").with_name(manual.with_suffix("").name + SUFFIX)


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["exploration"]
    version: Literal[1]
    settings: dict[Text, Text]


class _Trace(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["episode"]
    episode: Text
    task: Text
    kind: Text
    opening: Text
    steps: tuple[tuple[Text, Text, Number, bool, bool], ...]


class Keep(Protocol):
    """Takes over an episode that has ended."""

    def __call__(self, trace: Trace, /) -> None:
        """Keep it."""
        ...


def read_traces(file: Path) -> tuple[Mapping[str, str], tuple[Trace, ...]]:
    """The settings of an exploration and its episodes; a last line that was cut off by a crash is left out."""
    lines = read_text(file, LARGEST_MEMORY).split("\n")
    whole = lines[:-1]  # what comes after the last line's end was never finished
    settings: Mapping[str, str] | None = None
    traces: list[Trace] = []
    for number, line in enumerate(whole, 1):
        try:
            row = loads(line)
            if settings is None:
                settings = _Header.model_validate(row).settings
                continue
            form = _Trace.model_validate(row)
        except NotJson as error:
            raise FileError(file, number, f"is no exploration: {error}") from None
        except ValidationError as error:
            raise FileError(file, number, f"is no exploration: {first_mistake(error)}") from None
        steps = tuple(Spoken(*step) for step in form.steps)
        traces.append(Trace(form.episode, form.task, form.kind, form.opening, steps))
    if settings is None:
        raise FileError(file, 1, "is no exploration: it has no first line; remove it to begin anew")
    return settings, tuple(traces)


@contextmanager
def keeping(file: Path, settings: Mapping[str, str]) -> Iterator[tuple[tuple[Trace, ...], Keep]]:
    """The episodes that an exploration has already, and what takes over further ones, each as soon as it has ended.

    An exploration with other settings is an InputError: its episodes would not be those that these settings give.
    """
    known: tuple[Trace, ...] = ()
    if file.exists() and file.stat().st_size:
        before, known = read_traces(file)
        if dict(before) != dict(settings):
            changed = sorted(name for name in {*before, *settings} if before.get(name) != settings.get(name))
            raise InputError(
                f"{file}: is an exploration with another {', '.join(changed)}; remove it, or choose another --out"
            )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stream:
            whole = file.read_bytes().rfind(b"\n") + 1
            stream.truncate(whole)  # what a crash left of a line
            if not whole:
                _write(stream, {"type": "exploration", "version": 1, "settings": dict(settings)})
            yield known, lambda trace: _write(stream, _row(trace))
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror or error}") from None


def _row(trace: Trace) -> dict[str, object]:
    return {
        "type": "episode",
        "episode": trace.episode,
        "task": trace.task,
        "kind": trace.type,
        "opening": trace.opening,
        "steps": trace.steps,
    }


def _write(stream: IO[bytes], row: Mapping[str, object]) -> None:
    stream.write((json.dumps(row) + "\n").encode())
    stream.flush()
