"""The run folder: what was to be run, and what has been so far; `open_run` begins a run, or resumes
one after a crash.

protocol.json    everything that decides the results; a folder belongs to one protocol
episodes/        one file an episode; a run of more than 4,096 tasks sorts them into folders 00 to
                 ff, by the task's hash
timings.jsonl    what differs from one time to the next: seconds and requests
price.json       US dollars a million tokens, where they are known; decides no result
lock             held while a run is under way
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeVar

from rpms.foreign.file_reader import is_there, open_regular, unreadable
from rpms.foreign.json_text import NotJson, from_json, loads, reader_of
from rpms.foreign.limits import LARGEST_RECORD, LARGEST_TABLE
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError
from rpms.paper.episode import Usage
from rpms.store.episodes import EpisodeRecord, EpisodeRow, file_name, read_episode, read_row
from rpms.store.files import LOCK, locked, read_sealed, read_text, sealed, write_whole, writing
from rpms.store.price import Price
from rpms.store.protocol import Protocol, read_protocol
from rpms.store.run_summaries import RunSummary

PROTOCOL = "protocol.json"
EPISODES = "episodes"
TIMINGS = "timings.jsonl"
PRICE = "price.json"
_FLAT = 4_096
"""Most tasks of a run whose episodes lie in one folder. With more tasks they lie in 256 folders,
but for those that an older version wrote."""
_PART = 500
"""Episodes that a thread reads at a time."""
EPOCHS = "epochs"
"""Folder of further runs of the same tasks; see `rpms.play.run`."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Measurements that differ from one time to the next."""

    task: str
    seconds: float
    """Time from opening the game to closing it."""
    model_seconds: tuple[float, ...] = ()
    """Waiting for the model, step by step."""
    requests: tuple[int, ...] = ()
    """Requests that reached a provider, step by step."""

    def usage_of(self, place: int, usage: Usage) -> Usage | None:
        """The usage of the step at a place, with its measured time; None if none was measured."""
        if place >= min(len(self.requests), len(self.model_seconds)):
            return None
        return replace(usage, requests=self.requests[place], seconds=self.model_seconds[place])


class TaskReading(NamedTuple):
    """A task of a run, and what its file says."""

    task: str
    found: EpisodeRow | FileError | None
    """Its row; None before it is finished; or what is wrong with its file."""


@dataclass(frozen=True)
class RunFolder:
    """A run on disk, for reading. Needs no lock: every file in it is whole."""

    folder: Path

    @property
    def begun(self) -> bool:
        """True if there is a run here at all."""
        return is_there(self.folder / PROTOCOL)

    @cached_property
    def protocol(self) -> Protocol:
        if not self.begun:
            raise InputError(
                f"{self.folder}: there is no run here; `rpms run … --out {self.folder}` makes one"
            )
        if any((self.folder / EPISODES).glob("*.json")):
            raise InputError(
                f"{self.folder}: its episodes are in the form of an earlier version, which is not"
                " read any more; play them again into another folder"
            )
        return read_protocol(self.folder / PROTOCOL)

    @property
    def played(self) -> bool:
        """True if there is an episode, of whatever task."""
        return any((self.folder / EPISODES).rglob("*.json.gz"))

    def file(self, task: str) -> Path:
        """File of a task's episode, present or to come."""
        return self.file_beside(task, EPISODES, ".gz")

    def file_beside(self, task: str, folder: str, ending: str = "") -> Path:
        """File of a text kept beside an episode, present or to come."""
        name = file_name(task)
        file = self.folder / folder / f"{name}{ending}"
        if not self._in_shards or is_there(file):
            return file
        # first two digits of the task's hash
        return file.parent / name.removesuffix(".json")[-12:-10] / file.name

    @cached_property
    def _in_shards(self) -> bool:
        return self.begun and len(self.protocol.tasks) > _FLAT

    def faults_beside(self, task: str, folders: Iterable[str]) -> Iterator[FileError]:
        """Texts that were to be kept beside an episode and are missing or unusable."""
        for folder in folders:
            try:
                self.beside(task, folder)
            except FileError as error:
                yield error

    def beside(self, task: str, folder: str) -> str:
        """A text kept beside an episode; a missing, cut or changed one is a FileError."""
        return read_sealed(self.file_beside(task, folder))

    def readings(self) -> Iterator[TaskReading]:
        """Every task of the protocol, with what its file says."""
        # unpacking and checksums take the time, and run beside each other
        with ThreadPoolExecutor() as threads:
            for found in threads.map(self._part, range(0, len(self.protocol.tasks), _PART)):
                yield from found

    def _part(self, start: int) -> list[TaskReading]:
        return list(map(self._reading, self.protocol.tasks[start : start + _PART]))

    def _reading(self, task: str) -> TaskReading:
        try:
            file = self.file(task)
            if not is_there(file):
                return TaskReading(task, None)
            return TaskReading(task, _of_task(file, task, read_row(file)))
        except FileError as error:
            return TaskReading(task, error)

    def rows(self) -> Iterator[EpisodeRow]:
        """The finished episodes of the protocol's tasks; other files in the folder count for
        nothing.
        """
        for reading in self.readings():
            if isinstance(reading.found, FileError):
                raise reading.found
            if reading.found is not None:
                yield reading.found

    def episode(self, task: str) -> EpisodeRecord:
        """One episode in full."""
        return _of_task(self.file(task), task, read_episode(self.file(task)))

    def episodes(self) -> Iterator[EpisodeRecord]:
        """The finished episodes of the protocol's tasks, in full."""
        for task in self.protocol.tasks:
            if is_there(self.file(task)):
                yield self.episode(task)

    def summary(self) -> RunSummary:
        """The run so far, from its episode files alone."""
        return RunSummary(len(self.protocol.tasks), tuple(self.rows()))

    def timings(self) -> Mapping[str, Timing]:
        """Timings by task. If an episode was played more than once, the last time counts."""
        return _Timings(self.folder / TIMINGS)

    def price(self) -> Price | None:
        """The price that the run was played at; None if it was not known."""
        file = self.folder / PRICE
        if not is_there(file):
            return None
        try:
            return from_json(Price, loads(read_text(file, LARGEST_TABLE)))
        except NotJson:
            raise FileError(file, None, "is not the price of a run; it can be removed") from None


class _Timings(Mapping[str, Timing]):
    """The places of timings in their file, each read when it is asked for: a run may have many
    and long ones.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        place = 0
        self._places: dict[str, int] = {}
        if not is_there(file):
            return
        for line in self._lines():
            # a line that a crash cut off is left out: the episode was played again and has another
            for timing in self._read(line):
                self._places[timing.task] = place
            place += len(line)

    def _lines(self, place: int = 0) -> Iterator[bytes]:
        with os.fdopen(open_regular(self._file), "rb") as stream:
            try:
                stream.seek(place)
                yield from iter(lambda: stream.readline(LARGEST_RECORD), b"")
            except OSError as error:
                raise unreadable(self._file, error) from None

    def _read(self, line: bytes) -> list[Timing]:
        """The timing of a line; none where it is damaged."""
        text = line.decode("utf-8", "replace")
        try:
            return [reader_of(Timing)(loads(text))]
        except ValueError:
            return []

    def __getitem__(self, task: str) -> Timing:
        return self._read(next(self._lines(self._places[task])))[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


_Episode = TypeVar("_Episode", EpisodeRow, EpisodeRecord)


def _of_task(file: Path, task: str, read: _Episode) -> _Episode:
    if read.task != task:
        raise FileError(
            file,
            None,
            f"is an episode of {excerpt(read.task)!r} under the name of {excerpt(task)!r}",
        )
    return read


class TextBeside(NamedTuple):
    """A text that is kept beside an episode, in a folder of the run."""

    folder: str
    text: str


@dataclass
class OpenRun:
    """A run folder that this process may write to."""

    run: RunFolder
    finished: dict[str, EpisodeRow]
    """Episodes of an earlier start."""
    damaged: tuple[FileError, ...]
    """Episode files that cannot be read and will be played again."""
    _timings: int = field(repr=False)

    def write(
        self, row: EpisodeRow, data: bytes, timing: Timing, beside: Iterable[TextBeside] = ()
    ) -> None:
        """Keep one finished episode, safe from a crash; first `beside`, folders and texts, with
        checksums.
        """
        file = self.run.file(row.task)
        for folder, content in beside:
            write_whole(self.run.file_beside(row.task, folder), sealed(content))
        value = asdict(timing) | {
            "seconds": round(timing.seconds, 6),
            "model_seconds": [round(seconds, 6) for seconds in timing.model_seconds],
        }
        with writing(self.run.folder / TIMINGS, "all episodes so far are whole"):
            # the line before may be one that a crash cut off
            os.write(self._timings, f"\n{json.dumps(value)}".encode())
        write_whole(file, data)

    def write_price(self, price: Price) -> None:
        """Keep the price, as `RunFolder.price` gives it back; the latest one given holds for
        the whole run.
        """
        write_whole(self.run.folder / PRICE, json.dumps(asdict(price)) + "\n")


@contextmanager
def open_run(folder: Path, protocol: Protocol) -> Iterator[OpenRun]:
    """Begin a run in a folder, or go on with it.

    One process at a time; refused if the protocol is another one.
    """
    _make_folder(folder)
    refuse_foreign(folder, "run", PROTOCOL)  # before the lock is written into it
    with locked(folder):
        _claim(folder, protocol)
        _remove_parts(folder)
        run = RunFolder(folder)
        finished: dict[str, EpisodeRow] = {}
        damaged: list[FileError] = []
        for task, row in run.readings():
            if isinstance(row, EpisodeRow):
                finished[task] = row
            elif isinstance(row, FileError):
                damaged.append(row)
        with writing(folder / TIMINGS):
            timings = open_regular(folder / TIMINGS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            yield OpenRun(run, finished, tuple(damaged), timings)
        finally:
            os.close(timings)


def refuse_foreign(folder: Path, what: str, index: str, others: Collection[str] = ()) -> None:
    """Refuse a folder that holds something else: it is not empty, lacks the index, and has more in
    it than `others`, which one that was stopped early may have.
    """
    if is_there(folder / index):
        return
    for path in _inside(folder):
        if not path.name.startswith(".") and path.name not in (LOCK, *others):
            raise InputError(f"{folder}: is not empty and holds no {what}; choose another folder")


def _claim(folder: Path, protocol: Protocol) -> None:
    """Write the protocol into a folder that is empty, or in which nothing was played; refuse one
    that holds anything else.
    """
    file = folder / PROTOCOL
    if not is_there(file):
        refuse_foreign(folder, "run", PROTOCOL)
        write_whole(file, protocol.text())
        return
    before = RunFolder(folder)
    differences = before.protocol.differences(protocol)
    if not differences:
        return
    if before.played:
        raise InputError(
            f"{folder}: holds another run; choose another folder, or run as before. "
            f"What differs: {'; '.join(differences)}"
        )
    write_whole(file, protocol.text())


def _remove_parts(folder: Path) -> None:
    """Remove files that a killed process had not finished."""
    for form in (".*.part", "*/.*.part", "*/??/.*.part"):
        for leftover in folder.glob(form):
            leftover.unlink(missing_ok=True)


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


def begun_folders(folder_of: Callable[[int], Path], first: int) -> Iterator[Path]:
    """Numbered folders with a run in them, up to the first number that has none."""
    for number in count(first):
        folder = folder_of(number)
        if not is_there(folder / PROTOCOL):
            return
        yield folder
