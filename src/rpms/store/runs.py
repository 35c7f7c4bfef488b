"""The run folder: what was to be run, and what has been so far.

protocol.json    everything that decides the results; a folder belongs to one protocol
episodes/        one file an episode
timings.jsonl    what differs from one time to the next: seconds and requests
price.json       US dollars a million tokens, where they are known; decides no result
lock             held while a run is under way
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from rpms.core.errors import FileError, InputError
from rpms.core.usage import Usage
from rpms.foreign.files import is_there, open_regular, read_bytes, unreadable
from rpms.foreign.json_text import Amount, Count, NotJson, Text, first_mistake, loads
from rpms.foreign.limits import LARGEST_TABLE
from rpms.foreign.shown import excerpt
from rpms.store.episode_form import file_name
from rpms.store.episodes import EpisodeRecord, EpisodeRow, read_episode, read_row
from rpms.store.files import read_sealed, read_text, sealed, write_whole
from rpms.store.lock import LOCK, locked

PROTOCOL, EPISODES, TIMINGS, PRICE = "protocol.json", "episodes", "timings.jsonl", "price.json"
EPOCHS = "epochs"
"""Where a run's folder keeps further runs of the same tasks; see `rpms.play.epochs`."""
_VERSION = 1

Json = str | int | float | bool | None | Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class Protocol:
    """Everything that decides the results of a run. Two runs of one protocol are one run."""

    tasks: tuple[str, ...]
    """The ids, in the order of the run."""
    settings: Mapping[str, Json]
    """World, engine, split, model, decoding, condition, memory, budget and so on, by name, as JSON."""

    @cached_property
    def tasks_hash(self) -> str:
        """The same hash, the same tasks in the same order."""
        return hashlib.sha256(json.dumps(self.tasks).encode()).hexdigest()

    @cached_property
    def hash(self) -> str:
        """The same hash, the same protocol."""
        return hashlib.sha256(json.dumps(self._json(), sort_keys=True).encode()).hexdigest()

    def _json(self) -> dict[str, Any]:
        return {"version": _VERSION, **self.settings, "tasks_hash": self.tasks_hash, "tasks": list(self.tasks)}

    def text(self) -> str:
        """The file's text."""
        return json.dumps(self._json(), indent=1) + "\n"

    def differences(self, now: Protocol) -> tuple[str, ...]:
        """What is otherwise in another protocol, each as `field: was → is`: first the tasks, hashes last."""
        was, is_ = _flat(self.settings), _flat(now.settings)
        names = [*was, *(name for name in is_ if name not in was)]
        other = [name for name in names if _written(was, name) != _written(is_, name)]
        other.sort(key=lambda name: any(map(_is_hash, (was.get(name), is_.get(name)))))
        found = [f"{name}: {_said(was, name)} → {_said(is_, name)}" for name in other]
        if self.tasks != now.tasks:
            added, gone = set(now.tasks) - set(self.tasks), set(self.tasks) - set(now.tasks)
            how = f"{len(added)} added, {len(gone)} gone" if added or gone else "in another order"
            found.insert(0, f"tasks: {len(self.tasks)} → {len(now.tasks)} ({how})")
        return tuple(found)


def _flat(value: Mapping[str, Json], prefix: str = "") -> dict[str, Json]:
    """Nested settings by dotted names."""
    flat: dict[str, Json] = {}
    for name, item in value.items():
        if isinstance(item, Mapping):
            flat.update(_flat(item, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = item
    return flat


def _written(settings: Mapping[str, Json], name: str) -> str:
    return json.dumps(settings[name]) if name in settings else "nothing"


_HASH = re.compile(r"[0-9a-f]{16,}")


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _said(settings: Mapping[str, Json], name: str) -> str:
    """A value for a person; of a hash only as much as tells two apart."""
    value = settings.get(name)
    return f"{str(value)[:12]}…" if _is_hash(value) else _written(settings, name)


class _MemoryForm(BaseModel):
    model_config = ConfigDict(extra="allow")

    hash: Text = ""
    entries: Count = 0


class _ProtocolForm(BaseModel):
    """The checked form of a protocol: what others read of its settings has the type that they expect."""

    model_config = ConfigDict(extra="allow")

    version: int
    tasks: tuple[Text, ...]
    tasks_hash: Text
    world: Text = ""
    engine: Text = ""
    split: Text = ""
    model: Text = ""
    package: Text = ""
    options: dict[Text, Any] = {}
    decoding: dict[Text, Any] = {}
    condition: dict[Text, Any] | Text | None = None
    memory: _MemoryForm | None = None


def read_protocol(file: Path) -> Protocol:
    """Read a protocol, or say in one line why not."""
    try:
        content = loads(read_text(file, LARGEST_TABLE))
        form = _ProtocolForm.model_validate(content)
    except NotJson as error:
        raise FileError(file, None, f"is not the protocol of a run: {error}") from None
    except ValidationError as error:
        raise FileError(file, None, f"is not the protocol of a run: {first_mistake(error)}") from None
    if form.version != _VERSION:
        raise FileError(file, None, "was written by another version of rpms, in a form that is not known here")
    if len(set(form.tasks)) < len(form.tasks):
        raise FileError(file, None, "lists a task more than once")
    settings = {name: value for name, value in content.items() if name not in ("version", "tasks", "tasks_hash")}
    protocol = Protocol(form.tasks, settings)
    if protocol.tasks_hash != form.tasks_hash:
        raise FileError(file, None, "its task list is not the one its hash was taken of")
    return protocol


@dataclass(frozen=True, slots=True)
class Timing:
    """What differs from one time to the next."""

    task: str
    seconds: float
    """From opening the game to closing it."""
    model_seconds: tuple[float, ...] = ()
    """Waiting for the model, step by step."""
    requests: tuple[int, ...] = ()
    """Requests that reached a provider, step by step."""


class _TimingForm(BaseModel):
    task: Text
    seconds: Amount
    model_seconds: tuple[Amount, ...]
    requests: tuple[Count, ...]


class _PriceForm(BaseModel):
    prompt: Amount
    completion: Amount
    cached: Amount | None = None
    written: Amount | None = None


@dataclass(frozen=True)
class RunSummary:
    """A run in numbers, all of them from episode files."""

    total: int
    """Tasks of the protocol."""
    rows: tuple[EpisodeRow, ...]
    """The finished episodes, in the order of the tasks."""

    @property
    def done(self) -> int:
        return len(self.rows)

    @property
    def won(self) -> int:
        return sum(row.won for row in self.rows)

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def success(self) -> float:
        """Of the finished episodes; those in which a model or world broke down count as not won."""
        return self.won / self.done if self.rows else 0.0

    @property
    def endings(self) -> Counter[str]:
        return Counter(str(row.ending) for row in self.rows)

    @property
    def steps(self) -> int:
        return sum(row.steps for row in self.rows)

    @property
    def infeasible(self) -> int:
        return sum(row.infeasible for row in self.rows)

    @property
    def usage(self) -> Usage:
        return sum((row.usage for row in self.rows), start=Usage())


@dataclass(frozen=True)
class RunFolder:
    """A run on disk, for reading. Needs no lock: every file in it is whole."""

    folder: Path

    @cached_property
    def protocol(self) -> Protocol:
        if not is_there(self.folder / PROTOCOL):
            raise InputError(f"{self.folder}: there is no run here; `rpms run … --out {self.folder}` makes one")
        return read_protocol(self.folder / PROTOCOL)

    def file(self, task: str) -> Path:
        """Where a task's episode is, or will be."""
        return self.folder / EPISODES / file_name(task)

    def has_beside(self, task: str, folders: Iterable[str]) -> bool:
        """Whether all that was to be kept beside an episode is there and sound."""
        try:
            for folder in folders:
                self.beside(task, folder)
        except FileError:
            return False
        return True

    def damaged_beside(self, task: str, folders: Iterable[str]) -> Iterator[FileError]:
        """What is there and cannot be used of what was kept beside an episode."""
        for folder in folders:
            try:
                self.beside(task, folder)
            except FileError as error:
                if is_there(Path(error.file)):
                    yield error

    def beside(self, task: str, folder: str) -> str:
        """What was kept beside an episode; what is missing, cut off or changed is a FileError."""
        return read_sealed(self.folder / folder / file_name(task))

    def rows(self) -> Iterator[EpisodeRow]:
        """The finished episodes of the protocol's tasks; other files in the folder count for nothing."""
        for task in self.protocol.tasks:
            file = self.file(task)
            if is_there(file):
                yield _of_task(file, task, read_row(file))

    def episode(self, task: str) -> EpisodeRecord:
        """One episode in full."""
        return read_episode(self.file(task))

    def summary(self) -> RunSummary:
        """The run so far, from its episode files alone."""
        return RunSummary(len(self.protocol.tasks), tuple(self.rows()))

    def timings(self) -> dict[str, Timing]:
        """By task. Of an episode that was played more than once, the last time counts."""
        file = self.folder / TIMINGS
        if not is_there(file):
            return {}
        lines = read_bytes(file, LARGEST_TABLE).decode("utf-8", "replace").splitlines()
        found: dict[str, Timing] = {}
        for line in lines:
            try:
                form = _TimingForm.model_validate(loads(line))
            except (NotJson, ValidationError):
                continue  # cut off by a crash; the episode was played again and has another line
            found[form.task] = Timing(**dict(form))
        return found

    def price(self) -> dict[str, float | None] | None:
        """US dollars a million tokens by kind, None for a kind without a price of its own; None where none is known."""
        file = self.folder / PRICE
        if not is_there(file):
            return None
        try:
            return dict(_PriceForm.model_validate(loads(read_text(file, LARGEST_TABLE))))
        except (NotJson, ValidationError):
            raise FileError(file, None, "is not the price of a run; it can be removed") from None


def _of_task(file: Path, task: str, row: EpisodeRow) -> EpisodeRow:
    if row.task != task:
        raise FileError(file, None, f"is an episode of {excerpt(row.task)!r} under the name of {excerpt(task)!r}")
    return row


@dataclass
class OpenRun:
    """A run folder that this process may write to."""

    run: RunFolder
    finished: dict[str, EpisodeRow]
    """Episodes of an earlier start."""
    damaged: tuple[FileError, ...]
    """Episode files that cannot be read and will be played again."""
    _timings: int = field(repr=False)

    def write(self, row: EpisodeRow, text: str, timing: Timing, beside: Iterable[tuple[str, str]] = ()) -> None:
        """Keep one finished episode; once this returns, it survives a crash.

        `beside` is written first, each as folder and text under the episode's name and with a checksum, so that whoever
        finds the episode finds them as well.
        """
        file = self.run.file(row.task)
        for folder, content in beside:
            write_whole(self.run.folder / folder / file.name, sealed(content))
        self._time(timing)
        write_whole(file, text)

    def write_price(self, numbers: Mapping[str, float | None]) -> None:
        """Keep the price, as `RunFolder.price` gives it back; the latest one given holds for the whole run."""
        write_whole(self.run.folder / PRICE, json.dumps(dict(numbers)) + "\n")

    def _time(self, timing: Timing) -> None:
        value = {
            "task": timing.task,
            "seconds": round(timing.seconds, 6),
            "model_seconds": [round(seconds, 6) for seconds in timing.model_seconds],
            "requests": list(timing.requests),
        }
        try:
            # the line before may be one that a crash cut off
            os.write(self._timings, f"\n{json.dumps(value)}".encode())
        except OSError as error:
            place = self.run.folder / TIMINGS
            raise InputError(f"{place}: cannot be written: {error.strerror}; all episodes so far are whole") from None


@contextmanager
def open_run(folder: Path, protocol: Protocol) -> Iterator[OpenRun]:
    """Begin a run in a folder, or go on with it. One process at a time; refused if the protocol is another one."""
    _make_folder(folder)
    with locked(folder):
        file = folder / PROTOCOL
        if is_there(file):
            differences = read_protocol(file).differences(protocol)
            if differences and not any((folder / EPISODES).glob("*.json")):
                write_whole(file, protocol.text())  # nothing was played under the other one
            elif differences:
                raise InputError(
                    f"{folder}: holds another run; choose another folder, or run as before. "
                    f"What differs: {'; '.join(differences)}"
                )
        elif any(not path.name.startswith(".") and path.name != LOCK for path in _inside(folder)):
            raise InputError(f"{folder}: is not empty and holds no run; choose another folder")
        else:
            write_whole(file, protocol.text())
        _remove_leftovers(folder)
        run = RunFolder(folder)
        finished, damaged = _finished(run, protocol)
        timings = _open_timings(folder / TIMINGS)
        try:
            yield OpenRun(run, finished, damaged, timings)
        finally:
            os.close(timings)


def _inside(folder: Path) -> Sequence[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from None


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder}: is a file, or under one; a run needs a folder") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no folder has such a name"
        raise InputError(f"{folder}: cannot be made: {why}") from None


def _finished(run: RunFolder, protocol: Protocol) -> tuple[dict[str, EpisodeRow], tuple[FileError, ...]]:
    finished: dict[str, EpisodeRow] = {}
    damaged: list[FileError] = []
    for task in protocol.tasks:
        file = run.file(task)
        if not is_there(file):
            continue
        try:
            finished[task] = _of_task(file, task, read_row(file))
        except FileError as error:
            damaged.append(error)
    return finished, tuple(damaged)


def _open_timings(file: Path) -> int:
    try:
        return open_regular(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    except FileError as error:
        why = error.problem.removeprefix("cannot be read: ")
        raise InputError(f"{file}: cannot be written: {why}; nothing was changed") from None


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process left half written. The lock is held: nobody else is writing."""
    for pattern in (".*.part", "*/.*.part"):
        for leftover in folder.glob(pattern):
            leftover.unlink(missing_ok=True)
