"""Folders that a command writes whole, and may replace by newer ones: a list in each says what
wrote it and which files, and nothing but those files is ever removed.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path, PurePath
from secrets import token_hex

from rpms.foreign import file_reader as foreign
from rpms.foreign.json_text import NotJson, as_object, loads
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError
from rpms.store.files import hold, is_left, waiting_lock, writing

LIST = "rpms-wrote.json"
"""The file that lists what was written; it is written first, and removed last."""
_NEW = ".new"
_OLD = ".old"


@dataclass(frozen=True, slots=True)
class _Listed:
    """Content of a folder's list."""

    what: str
    """Name of what was written, for messages: `a report`."""
    files: frozenset[str]
    finished: bool
    """False while it is being written: then everything in it is its writer's."""


@contextmanager
def replaced_folder(out: Path, what: str) -> Iterator[Path]:
    """A new folder that takes the place of an older one of the same kind, whole or not at all.

    `what` names the kind for messages and in the list. A folder with anything that its list does
    not name is refused, before anything is written and again before it is replaced.
    """
    try:
        target = _target(out, what)
        _check_at_first(target, what, out)
    except OSError as error:
        raise foreign.unreadable(out, error) from None
    try:
        with _folder_beside(target, what) as beside:
            yield beside
            _write_list(beside, what, finished=True)
            with waiting_lock(target.parent):
                check_replaceable(target, what, out)
                _swap(beside, target)
            _remove(beside.with_suffix(_OLD))
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written: {error.strerror or error}; nothing was changed"
        ) from None


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write a new folder of files, by their paths in it. If it cannot be written, nothing is."""
    if folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} exists already; nothing was changed")
    with writing(folder), _folder_beside(folder.absolute(), "a folder") as beside:
        for path, text in texts.items():
            file = beside / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        (beside / LIST).unlink()  # the folder is its user's now, and never replaced
        with waiting_lock(folder.absolute().parent):
            if folder.exists():
                raise InputError(f"{folder} exists already; nothing was changed")
            beside.rename(folder)


def _check_at_first(target: Path, what: str, shown: Path) -> None:
    """Check a folder before anything is written.

    Nobody is made to wait for this, so that another process may replace the folder meanwhile. A
    folder that would be refused is therefore looked at again while nobody can.
    """
    try:
        check_replaceable(target, what, shown)
    except InputError:
        with waiting_lock(target.parent):
            check_replaceable(target, what, shown)


def check_replaceable(folder: Path, what: str, shown: Path) -> None:
    """Raise InputError unless a folder is missing, empty, or holds nothing but what the same kind
    of command wrote. `shown`: its name in messages.
    """
    with suppress(FileNotFoundError):  # it is not there, or another is just being swapped in
        if not any(folder.iterdir()):
            return
        listed = _read_list(folder)
        if listed is None or not listed.finished or listed.what != what:
            raise InputError(
                f"{shown}: holds something that is not {what} with a list of its files ({LIST});"
                " choose another folder"
            )
        if strangers := _strangers(folder, listed.files):
            raise InputError(
                f"{shown}: holds {excerpt(strangers[0], 80)}, which is no part of {what}; choose"
                " another folder, or move it away"
            )


def _target(out: Path, what: str) -> Path:
    """The real folder that is to be replaced; one that somebody stands in is refused."""
    with suppress(FileNotFoundError):  # it is not there, or another is just being swapped in
        if not stat.S_ISDIR(out.stat().st_mode):  # asked once: in between it may be moved away
            raise InputError(f"{out}: is a file; {what} is a folder")
    target = out.resolve()
    here = Path.cwd()
    if target == here or target in here.parents:
        raise InputError(
            f"{out}: is the current folder, or holds it; name a folder in it, such as {out / 'out'}"
        )
    return target


def _read_list(folder: Path) -> _Listed | None:
    """The list of a folder; None if it has none, or if the file of that name is no such list."""
    file = folder / LIST
    if not foreign.is_there(file):
        return None
    try:
        listed = as_object(loads(foreign.read_bytes(file, LARGEST_MEMORY)))
    except (NotJson, FileError):
        return None
    what = listed.get("rpms-wrote")
    files = listed.get("files")
    if not isinstance(what, str) or not isinstance(files, list):
        return None
    names = frozenset(name for name in files if isinstance(name, str))
    return _Listed(what, names, listed.get("finished") is True)


def _write_list(folder: Path, what: str, *, finished: bool) -> None:
    files = sorted(path.as_posix() for path in _files_in(folder) if path.as_posix() != LIST)
    record = {
        "rpms-wrote": what,
        "version": version("rpms"),
        "finished": finished,
        "files": files,
    }
    text = json.dumps(record, indent=0, ensure_ascii=True) + "\n"
    beside = folder / f"{LIST}.part"
    beside.write_text(text, encoding="utf-8", newline="\n")
    beside.replace(folder / LIST)


def _entries(folder: Path) -> Iterator[tuple[PurePath, bool]]:
    """Everything below a folder, each with True if it is a folder itself; no link is followed."""
    for place, folders, files in os.walk(folder, onerror=_raise):
        inner = PurePath(place).relative_to(folder)
        for name in folders:
            yield inner / name, not (Path(place) / name).is_symlink()
        for name in files:
            yield inner / name, False


def _raise(error: OSError) -> None:
    raise error


def _files_in(folder: Path) -> Iterator[PurePath]:
    for path, is_folder in _entries(folder):
        if not is_folder:
            yield path


def _strangers(folder: Path, listed: Iterable[str]) -> list[str]:
    """The files in a folder that its list does not name, and the folders that hold no file which
    it names.
    """
    known_files = set(map(PurePath, (*listed, LIST)))
    known_folders = set(chain.from_iterable(path.parents for path in known_files))
    found: list[str] = []
    for path, is_folder in _entries(folder):
        known = known_folders if is_folder else known_files
        if path not in known:
            found.append(path.as_posix())
    return sorted(found)


def _remove(folder: Path) -> None:
    """Remove the listed files of a folder, its list, and then the folder, if nothing is left in it.

    Of a folder whose writer was killed all files are removed: nobody else knew its name.
    """
    with suppress(OSError):
        listed = _read_list(folder)
        if listed is not None:
            for path in list(_files_in(folder)):
                ours = not listed.finished or path.as_posix() in listed.files
                if ours and path != PurePath(LIST):
                    (folder / path).unlink(missing_ok=True)
        if not any(path != PurePath(LIST) for path in _files_in(folder)):
            (folder / LIST).unlink(missing_ok=True)
        for place, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):  # something is left in it
                Path(place).rmdir()


@contextmanager
def _folder_beside(target: Path, what: str) -> Iterator[Path]:
    """A new folder beside `target`, gone afterwards unless it was renamed.

    Any number of processes may do so at once: each writes its own folder, and they are swapped in
    one after the other. What a killed one left is removed by the next, and where it was killed in
    mid-swap the older folder is put back.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with waiting_lock(target.parent):
        _clear(target, what)
        new = target.with_name(f".{target.name}.{token_hex(4)}{_NEW}")
        new.mkdir()
        _write_list(new, what, finished=False)
        mark = os.open(new, os.O_RDONLY)
        hold(mark)
    try:
        yield new
    finally:
        os.close(mark)
        if new.exists():
            _remove(new)


def _clear(target: Path, what: str) -> None:
    """Put back files that a killed process had moved away, and remove its leftovers."""
    form = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.(?:new|old)")
    for path in list(target.parent.iterdir()):
        if not form.fullmatch(path.name) or not path.is_dir() or path.is_symlink():
            continue
        if path.suffix == _OLD and _is_whole(path, what) and not target.exists():
            with suppress(OSError):
                path.rename(target)
        elif is_left(path):
            _remove(path)


def _is_whole(path: Path, what: str) -> bool:
    """True for a folder that was written to its end, by the same command."""
    listed = _read_list(path)
    return listed is not None and listed.finished and listed.what == what


def _swap(new: Path, target: Path) -> None:
    """Put a folder in the place of another, which stays beside it."""
    if target.exists():
        target.rename(new.with_suffix(_OLD))
    new.rename(target)
