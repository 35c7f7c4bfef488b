"""Recorded answers of models on disk, in a folder or packed in one small file.

In a folder, a file is named by the hash of its question. It is written beside its place, flushed to
the disk and then renamed, so that each place holds a whole entry or nothing at every moment,
whoever else writes, and whatever dies or runs full in between. A packed file has answers under the
beginning of their questions' hashes, without the questions; its first line says whose answers they
are and has a checksum of the others.
"""

import datetime as dt
import hashlib
import json
import lzma
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from rpms.foreign.file_reader import read_bytes, text_lines
from rpms.foreign.json_text import BOUNDS, NotJson, loads, question_key, read_jsonl, reader_of
from rpms.foreign.limits import LARGEST_RECORD
from rpms.logic.errors import FileError, InputError
from rpms.store.files import opened, remove_leftovers, waiting_lock, write_whole, written_beside
from rpms.store.protocol import Text

_FILES = "[0-9a-f][0-9a-f]/*.json"


class FolderOfAnswers:
    """A store of answers in a folder.

    Threads and processes may read and write it at the same time.
    """

    def __init__(self, folder: Path) -> None:
        """A folder that is not there yet is an empty store; it is made when the first answer is
        kept.
        """
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is not a folder, so no answers can be kept in it")
        self._folder = folder
        for each in {part.parent for part in folder.glob("[0-9a-f][0-9a-f]/.*.part")}:
            with suppress(OSError):  # a folder that this process may not write in
                remove_leftovers(each, "")

    @property
    def place(self) -> str:
        return str(self._folder)

    def get(self, key: str) -> dict[str, Any] | None:
        return self._read(self._path(key))

    def put(self, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Keep an entry, safe from a crash, and return the one that is kept: the first for its
        key.
        """
        path = self._path(key)
        body = _body(entry)
        data = f'{{"sha256":"{_hash(body)}","entry":{body}}}\n'.encode("utf-8", "surrogatepass")
        try:
            with written_beside(path, data) as beside:
                kept = self._place(beside, path)
        except OSError as error:
            raise InputError(
                f"{self._folder}: the answer cannot be recorded: {error.strerror}; what was"
                " recorded before is whole. Make room and run the same command again to resume"
            ) from error
        # the new name itself survives a power cut, if it can
        with suppress(OSError), opened(path.parent) as folder:
            os.fsync(folder)
        return dict(entry) if kept is None else kept

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every undamaged entry, in the order of its key."""
        for file in sorted(self._folder.glob(_FILES)):
            entry = self._read(file)
            if entry is not None:
                yield entry

    def __len__(self) -> int:
        """Number of files, damaged ones included."""
        return len(list(self._folder.glob(_FILES)))

    def _path(self, key: str) -> Path:
        if not re.fullmatch(r"[0-9a-f]{64}", key):
            raise ValueError("a key is 64 hexadecimal digits")
        return self._folder / key[:2] / f"{key}.json"

    def _read(self, path: Path) -> dict[str, Any] | None:
        """A whole entry. A damaged one counts as missing, and is replaced when it is asked for
        again.
        """
        try:
            wrapped = loads(read_bytes(path, LARGEST_RECORD))
            entry = wrapped["entry"]
            is_whole = wrapped["sha256"] == _hash(_body(entry))
        except (FileError, NotJson, KeyError, TypeError):
            return None
        if not is_whole or not isinstance(entry, dict):
            return None
        # Under a name that is not its question's, an entry answers what nobody asked.
        return entry if question_key(entry) == path.stem else None

    def _place(self, beside: Path, path: Path) -> dict[str, Any] | None:
        """Give the file its name, unless a whole entry has it already, which is returned."""
        with suppress(OSError):
            os.link(beside, path)
            return None
        # a damaged file, or a file system without links: one writer at a time
        with waiting_lock(path.parent):
            kept = self._read(path)
            if kept is None:
                beside.replace(path)
            return kept


def _body(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


ENDING = ".answers.xz"
_KEPT = 32
"""Hexadecimal digits of a question's hash: 128 bits tell any number of questions apart."""
_SHIPPED = resources.files("rpms.store.records")


class Heading(BaseModel):
    """The first line: whose answers, when, on what."""

    rpms: Literal["answers 1"] = "answers 1"
    model: Text
    recorded: Text
    """The day."""
    about: Text = ""
    bounds: tuple[str, ...] = ()
    """Constraints on actions anywhere in the record."""
    answers: Annotated[int, Field(ge=0, le=LARGEST_RECORD, strict=True)]
    sha256: str

    @property
    def line(self) -> str:
        """One line for people about the recorded answers."""
        about = f"; {self.about}" if self.about else ""
        return f"{self.answers:,} answers of {self.model}, recorded on {self.recorded}{about}"


class PackedAnswers:
    """A store that can only be read."""

    def __init__(self, file: Path) -> None:
        """Reads the file; one that is cut off, changed or something else is a FileError."""
        self._file = file
        first, *lines = list(text_lines(file)) or [""]
        try:
            self.heading = Heading.model_validate(loads(first))
        except (NotJson, ValidationError):
            raise FileError(
                file, 1, "is no packed record: its first line is not that of one"
            ) from None
        # Lines are read again when asked for: values take many times the room of their text.
        read = reader_of(tuple[str, Any])
        found = read_jsonl(file, ["", *lines], read, "is no answer of a packed record")
        self._lines: dict[str, str] = {}
        for number, (key, _) in found:
            self._lines[key] = lines[number - 2]
        digest = hashlib.sha256("\n".join([*lines, ""]).encode())
        if digest.hexdigest() != self.heading.sha256 or len(self._lines) != self.heading.answers:
            raise FileError(
                file, None, "is not as it was written: its checksum differs; pack it again"
            )

    @property
    def place(self) -> str:
        return str(self._file)

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry under a key, without its question."""
        line = self._lines.get(key[:_KEPT])
        return None if line is None else {"model": self.heading.model, "answer": loads(line)[1]}

    def put(self, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        """Refused: what is shipped is not changed."""
        raise InputError(
            f"{self._file}: is a packed record, which is only read; give --record a folder"
        )

    def entries(self) -> Iterator[dict[str, Any]]:
        """One entry with everything that is common to all: their model, and the bounds that they
        were held to.
        """
        yield {"model": self.heading.model, **{name: [] for name in self.heading.bounds}}


def pack(folder: Path, file: Path, about: str = "", day: str | None = None) -> Heading:
    """Write a folder's answers into one file, which ends in `.answers.xz`; damaged ones are left
    out.
    """
    if not file.name.endswith(ENDING):
        raise InputError(f"{file}: a packed record's name ends in {ENDING}")
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder of recorded answers")
    kept = list(FolderOfAnswers(folder).entries())
    model = _without_folders(_only_model(folder, kept))
    entries: dict[str, dict[str, Any]] = {}
    bounds: set[str] = set()
    for entry in kept:
        # A replay asks the model that the heading names.
        entries[question_key({**entry, "model": model})[:_KEPT]] = entry
        bounds.update(entry.keys() & BOUNDS)
    body = "".join(_packed_line(key, entry["answer"]) for key, entry in sorted(entries.items()))
    today = dt.datetime.now(tz=dt.UTC).date()
    heading = Heading(
        model=model,
        recorded=day or today.isoformat(),
        about=about,
        bounds=tuple(sorted(bounds, key=BOUNDS.index)),
        answers=len(entries),
        sha256=hashlib.sha256(body.encode()).hexdigest(),
    )
    whole = f"{heading.model_dump_json()}\n{body}".encode()
    write_whole(file, lzma.compress(whole, preset=9 | lzma.PRESET_EXTREME))
    return heading


def _only_model(folder: Path, entries: Iterable[Mapping[str, Any]]) -> str:
    """The one model that gave all answers; several or none are refused."""
    models = sorted({str(entry["model"]) for entry in entries})
    if len(models) == 1:
        return models[0]
    holds = "no recorded answers"
    if models:
        holds = f"answers of several models: {', '.join(models[:5])}"
    raise InputError(f"{folder} holds {holds}; a packed record has those of one")


def _without_folders(model: str) -> str:
    """A model's name with the last parts of paths alone: a record that is shared tells nobody
    where its maker keeps weights.
    """
    provider, slash, rest = model.partition("/")
    parts: list[str] = []
    for part in rest.split("+"):
        path = Path(part)
        parts.append(path.name if path.is_absolute() else part)
    return f"{provider}{slash}{'+'.join(parts)}"


def _packed_line(key: str, answer: Mapping[str, Any]) -> str:
    """An answer in one line, without the seconds it took, which a replay does not take."""
    usage: dict[str, Any] = {}
    for name, value in answer["usage"].items():
        if value and name != "seconds":
            usage[name] = value
    packed = json.dumps([key, {**answer, "usage": usage}], ensure_ascii=False)
    return f"{packed}\n"


def open_answers(place: Path) -> FolderOfAnswers | PackedAnswers:
    """The store at a path; a name that is no path may be that of a record which ships with this
    package.
    """
    if place.is_file():
        return PackedAnswers(place)
    if place.exists():
        return FolderOfAnswers(place)
    shipped = _shipped(place.name) if len(place.parts) == 1 else None
    if shipped is None:
        names = ", ".join(shipped_records())
        raise InputError(
            f"{place}: there is no such folder or file of answers; shipped with this package:"
            f" {names}"
        )
    return shipped


def shipped_records() -> dict[str, Heading]:
    """The records that ship with this package, by the name that follows `replay/`."""
    headings: dict[str, Heading] = {}
    for file in _SHIPPED.iterdir():
        name = file.name.removesuffix(ENDING)
        store = _shipped(name) if file.name.endswith(ENDING) else None
        if store is not None:
            headings[name] = store.heading
    return dict(sorted(headings.items()))


@cache
def _shipped(name: str) -> PackedAnswers | None:
    shipped = _SHIPPED / f"{name}{ENDING}"
    if not shipped.is_file():
        return None
    with resources.as_file(shipped) as file:
        return PackedAnswers(file)
