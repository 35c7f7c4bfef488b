"""Episodes of an exploration as texts: `manual.yaml` has `manual.episodes.jsonl`.

All that was learned follows from these lines. Each is written when its episode has ended, with a checksum over itself
and the line before it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rpms.core.errors import FileError, InputError
from rpms.foreign.file_reader import is_there, open_regular, read_bytes
from rpms.foreign.json_text import read_jsonl
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.foreign.typed import tagged_reader
from rpms.store.files import hold, read_text, write_whole, writing

SUFFIX = ".episodes.jsonl"
_VERSION = 2
_SEAL = ', "seal": "'
"""Text before the checksum, the last field of a line."""


class Spoken(NamedTuple):
    """One step: what was commanded, and what the world answered."""

    command: str
    answer: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    """True if the task was over for good after it, and not won."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode."""

    episode: str
    """Unique among all that is learned from."""
    task: str
    kind: str
    """Type of the task."""
    opening: str
    """The first observation."""
    steps: tuple[Spoken, ...] = ()
    seal: str = field(default="", compare=False)
    """The checksum of its line in a file."""

    @property
    def won(self) -> bool:
        return any(step.won for step in self.steps)


def traces_file(manual: Path) -> Path:
    """File of the episodes of a manual's exploration."""
    return manual.with_name(f"{manual.stem}{SUFFIX}")


@dataclass(frozen=True, slots=True)
class _Header:
    settings: Mapping[str, str]
    seal: str = ""


Keep = Callable[[Trace], None]
"""Takes over an episode that has ended."""


def read_traces(file: Path) -> tuple[Mapping[str, str], tuple[Trace, ...]]:
    """The settings of an exploration and its episodes; a last line that was cut off by a crash is left out."""
    head, *traces = _read(file)
    return head.settings, tuple(traces)


def _read(file: Path) -> list[Any]:
    """The header and the traces."""
    lines = read_text(file, LARGEST_MEMORY).split("\n")[:-1]  # what comes after the last line's end was never finished
    forms = tagged_reader({"exploration": _Header, "episode": Trace}, _VERSION)
    read = [each for _, each in read_jsonl(file, lines, forms, "is no exploration", halves=False)]
    if not read:
        raise FileError(file, 1, "is no exploration: it has no first line; remove it to begin anew")
    seal = ""
    for number, line in enumerate(lines, 1):
        expected, seal = sealed_line(seal, line.rpartition(_SEAL)[0] + "}")
        if line != expected:
            raise FileError(file, number, "was changed since, or a line before it; remove the file to begin anew")
    return read


@contextmanager
def keeping(file: Path, settings: Mapping[str, str]) -> Iterator[tuple[tuple[Trace, ...], Keep]]:
    """The episodes of an exploration, and what keeps further ones; other settings or processes are refused."""
    if not is_there(file):
        row = {"type": "exploration", "version": _VERSION, "settings": dict(settings)}
        header, _ = sealed_line("", json.dumps(row))
        write_whole(file, f"{header}\n")
    with os.fdopen(open_regular(file, os.O_RDWR | os.O_APPEND), "ab", buffering=0) as stream:
        if not hold(stream.fileno()):
            raise InputError(f"{file}: another process is exploring; wait for it, or choose another --out")
        head, *known = _read(file)
        before, seal = dict(head.settings), (known or [head])[-1].seal
        if before != dict(settings):
            changed = sorted(name for name in {*before, *settings} if before.get(name) != settings.get(name))
            raise InputError(
                f"{file}: is an exploration with another {', '.join(changed)}; remove it, or choose another --out"
            )
        stream.truncate(read_bytes(file, LARGEST_MEMORY).rfind(b"\n") + 1)  # without what a crash left of a line

        def keep(trace: Trace) -> None:
            nonlocal seal
            row = {name: getattr(trace, name) for name in ("episode", "task", "kind", "opening", "steps")}
            line, seal = sealed_line(seal, json.dumps({"type": "episode", **row}))
            data = f"{line}\n".encode()
            with writing(file, "all episodes so far are whole"):
                while data:
                    data = data[stream.write(data) :]

        yield tuple(known), keep


def sealed_line(before: str, text: str) -> tuple[str, str]:
    """A JSON object in a line with its checksum, which is also over that of the line before; and the checksum."""
    seal = hashlib.sha256(f"{before}{text}".encode()).hexdigest()
    return f'{text[:-1]}{_SEAL}{seal}"}}', seal
