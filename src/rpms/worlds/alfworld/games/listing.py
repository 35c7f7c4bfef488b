"""Listing games: those under `$ALFWORLD_DATA`, the builtin ones, and a task for each sentence
that people wrote.
"""

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import read_text, unreadable
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_GAME
from rpms.logic.errors import FileError, InputError
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.gamefile import read_data, read_engine
from rpms.worlds.alfworld.engine.texts import DIALECTS, ReleaseName, domain, grammar
from rpms.worlds.alfworld.games.make import GAME_FILE, GAMES_FOLDER, game_data, make_game
from rpms.worlds.alfworld.goals import MADE, TASK_TYPES
from rpms.worlds.base import REQUEST, SENTENCE, Task

_UNSUPPORTED = ("movable", "Sliced")
"""Parts of folder names: the official splits leave their tasks out, since these games have no plans
for them."""

_KEPT = 4096
"""Games kept ready to be played again: the training split, at some 40 kB each. Reading one takes as
long as hundreds of steps, and a loop that trains plays the same games over and over."""

_TAIL = 8192
_UNSOLVABLE = re.compile(rb'"solvable"\s*:\s*false')
_HELP = (
    "set ALFWORLD_DATA or give --data DIR (alfworld-download fetches the games), or play --split"
    " builtin"
)


def type_of(folder: str) -> str | None:
    """The task type that a folder of games is named after; None for any other folder."""
    kind = folder.partition("-")[0]
    return kind if kind in TASK_TYPES else None


class GameFile(NamedTuple):
    """A game's file, and the type of its task."""

    path: str
    type: str


def game_files(folder: str | Path) -> Iterator[GameFile]:
    """The game files below a folder, as ALFWorld itself selects them, in the order of the disk.

    Left out are tasks with movable receptacles or sliced objects and games marked unsolvable: 3,553
    training and 140 seen games remain of the official download. The mark is at a file's end in
    every release: the rest is not read.
    """

    def fail(error: OSError) -> None:
        raise InputError(f"cannot read {error.filename}: {error.strerror}") from error

    for place, _, held in os.walk(folder, topdown=False, onerror=fail):
        kind = type_of(Path(place).parent.name)
        below = place[len(str(folder)) :]
        unsupported = any(word in below for word in _UNSUPPORTED)
        if GAME_FILE not in held or kind is None or unsupported:
            continue
        path = os.path.join(place, GAME_FILE)  # noqa: PTH118  as the original writes it
        if os.path.isfile(path) and not _is_unsolvable(path):  # noqa: PTH113  a pipe would never end
            yield GameFile(path, kind)


def _is_unsolvable(path: str) -> bool:
    """True if a game file ends with the mark; one that cannot be read is reported when it is
    played.
    """
    with suppress(OSError), open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
        return _UNSOLVABLE.search(file.read()) is not None
    return False


def list_tasks(data: Path, split: str) -> list[Task]:
    """List a split's games under `data`, sorted by id.

    None is opened or checked yet; `source["path"]` is the file.
    """
    folder = _split_folder(data, split)
    tasks: list[Task] = []
    for path, kind in game_files(folder):
        name = "/".join(Path(path).parts[-3:-1])
        tasks.append(Task(name, split, kind, {"path": path}))
    if not tasks:
        raise InputError(f"no ALFWorld games in {folder}: {_HELP}")
    return sorted(tasks, key=lambda task: task.id)


def _split_folder(data: Path, split: str) -> Path:
    """The folder of a split's games; an InputError if there is none."""
    games = data / GAMES_FOLDER
    if not data.is_dir():
        raise InputError(f"no folder {data}: {_HELP}")
    if not games.is_dir():
        raise InputError(
            f"{data} has no folder {GAMES_FOLDER}, so it is not ALFWorld data: {_HELP}"
        )
    if not (games / split).is_dir():
        splits = sorted(path.name for path in games.iterdir() if path.is_dir())
        raise InputError(
            f"no split {split!r} in {games} (it has: {', '.join(splits) or 'none'}): {_HELP}"
        )
    return games / split


BUILTIN = "builtin"
"""The split of games that ship with the package, as problems only, in `builtin/games.json.gz`: what
`made_games` gives for the seed. Games of the next two splits are made when they are asked for: the
same on every machine."""
BUILTIN_SEED = 163
BUILTIN_COUNT = 24
TRAIN = "builtin_train"
"""The split that the embedded memory was learned on: other games of the same seed."""
LARGE = "builtin_large"
"""The split with houses of many places, in which a search is long."""
MADE_SPLITS = (BUILTIN, TRAIN, LARGE)
LARGE_SEED = 611
LARGE_GAMES: Sequence[int] = MADE["large"]
_DIALECT: ReleaseName = "0.3"


class _Opened(NamedTuple):
    """A game that was opened."""

    place: str
    """Id of a builtin game, or the path of its file."""
    dialect: str = ""
    """The one it was put into; empty for its own."""
    version: tuple[int, int] = (0, 0)
    """Time and size of its file."""


_kept: dict[_Opened, GameEngine | None] = {}
"""Games that were opened, and from the second time on what was read: a run, which plays each
once, keeps none but those that were made here."""


def made_games(seed: int, numbers: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Games of a seed by id, as they are stored: goal, problem and a shortest sequence of
    commands that wins.

    Their engines are kept for `load_task`: processes that are forked from this one read none.
    """
    games: dict[str, dict[str, Any]] = {}
    for number in numbers:
        game = make_game(seed, number, _DIALECT)
        games[game.id] = {
            "goal": game.goal.text,
            "problem": game.data["pddl_problem"],
            "walkthrough": list(game.walkthrough),
        }
        _kept[_Opened(game.id)] = game.engine
    return games


@cache
def _games(split: str) -> dict[str, dict[str, Any]]:
    if split == BUILTIN:
        raw = (files("rpms.worlds.alfworld") / BUILTIN / "games.json.gz").read_bytes()
        return dict(json.loads(gzip.decompress(raw)))
    if split == TRAIN:
        return made_games(BUILTIN_SEED, range(BUILTIN_COUNT, 2 * BUILTIN_COUNT))
    return made_games(LARGE_SEED, LARGE_GAMES)


def builtin_ids(split: str = BUILTIN) -> tuple[str, ...]:
    """Name the builtin games, sorted."""
    return tuple(sorted(_games(split)))


def _find(name: str) -> dict[str, Any]:
    other = TRAIN if f"_S{BUILTIN_SEED}_" in name else LARGE
    for split in (BUILTIN, other):
        if name in _games(split):
            return _games(split)[name]
    raise InputError(
        f"no builtin game {name!r}: list them with split {BUILTIN}, {TRAIN} or {LARGE}"
    )


def builtin_game(name: str) -> dict[str, Any]:
    """Give what the game file of a builtin game would hold."""
    stored = _find(name)
    return game_data(_DIALECT, stored["goal"], stored["problem"])


def builtin_walkthrough(name: str) -> tuple[str, ...]:
    """Give a shortest sequence of commands that wins a builtin game."""
    return tuple(_find(name)["walkthrough"])


def builtin_tasks(split: str = BUILTIN) -> list[Task]:
    """List the games that ship with the package, sorted by id; `source["builtin"]` is the id."""
    return [
        Task(name, split, type_of(name) or "", {"builtin": name}) for name in builtin_ids(split)
    ]


def known_dialect(name: str) -> ReleaseName | None:
    """The dialect of that name; None for no name, where each game keeps its own."""
    if not name:
        return None
    for dialect in DIALECTS:
        if dialect == name:
            return dialect
    raise InputError(f"ALFWorld has no dialect {name!r}; choose one of {', '.join(DIALECTS)}")


def task_data(task: Task, dialect: str = "") -> Mapping[str, Any]:
    """Content of a listed game's file, in its own dialect or in the one given, then without a
    walkthrough.
    """
    builtin = task.source.get("builtin")
    path = task.source.get("path", "")
    known = known_dialect(dialect)
    data = builtin_game(builtin) if builtin else read_data(path)
    if known is None:
        return data
    game = read_engine(data, builtin or path)
    if game.dialect.name == known:
        return data
    kept = {name: value for name, value in data.items() if name != "walkthrough"}
    return {**kept, "pddl_domain": domain(known), "grammar": grammar(known, game.task)}


def load_game(path: str, dialect: str = "") -> GameEngine:
    """Open a game file for the native engine, like `load_task`."""
    return load_task(Task(path, "", "", {"path": path}), dialect)


def load_task(task: Task, dialect: str = "") -> GameEngine:
    """Open a listed game for the native engine, in its own dialect or the one given; read anew
    if its file changed.
    """
    key = _opened(task, dialect)
    kept = _kept.get(key)
    if kept is not None:
        return kept
    engine = read_engine(task_data(task, dialect), key.place)
    if len(_kept) >= _KEPT:
        _kept.clear()
    _kept[key] = engine if key in _kept else None
    return engine


def _opened(task: Task, dialect: str) -> _Opened:
    """A task's game as it is now: a file may have changed since it was opened."""
    builtin = task.source.get("builtin", "")
    if builtin:
        return _Opened(builtin, dialect)
    path = task.source["path"]
    try:
        found = Path(path).stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    return _Opened(path, dialect, (found.st_mtime_ns, found.st_size))


ANNOTATIONS = "traj_data.json"
"""The file beside an official game that has what annotators wrote of it."""
_LONGEST = 400
"""Characters of a sentence; the longest official one has half as many."""


def requested(tasks: Iterable[Task], split: str) -> list[Task]:
    """A task for each sentence of each game; games without any are left out, all without any
    are an InputError.
    """
    if split == LARGE:
        raise InputError(
            f"no sentences come with the split {LARGE}: play {BUILTIN}, or give --goal"
        )
    found: list[Task] = []
    for task in tasks:
        for number, sentence in enumerate(_sentences(task), start=1):
            id_ = f"{task.id}{SENTENCE}{number}"
            found.append(Task(id_, task.split, task.type, {**task.source, REQUEST: sentence}))
    if not found:
        raise InputError(
            f"no game of {split} has goals in people's words: {ANNOTATIONS} beside each game has"
            " them (`alfworld-download --extra` fetches it)"
        )
    return found


def _sentences(task: Task) -> Sequence[str]:
    """The sentences of `turk_annotations.anns[].task_desc`, or those that come with a builtin
    game.
    """
    if "builtin" in task.source:
        return _builtin_sentences().get(task.source["builtin"], ())
    file = Path(task.source["path"]).with_name(ANNOTATIONS)
    if not file.is_file():
        return ()
    try:
        data = loads(read_text(file, LARGEST_GAME, encoding="utf-8"))
    except NotJson as error:
        raise FileError(file, None, f"is not JSON: {error}") from None
    match data:
        case {"turk_annotations": {"anns": list(notes)}}:
            return [sentence for sentence in map(_description, notes) if sentence]
    return ()


def _description(note: object) -> str:
    """A person's sentence, in one line and at most so long; empty if there is none to print."""
    match note:
        case {"task_desc": str(said)}:
            sentence = " ".join(said.split())[:_LONGEST]
            return sentence if sentence.isprintable() else ""
    return ""


@cache
def _builtin_sentences() -> Mapping[str, list[str]]:
    """The sentences that come with builtin games, by the game's id."""
    file = files("rpms.worlds.alfworld") / BUILTIN / "requests.json"
    return dict(json.loads(file.read_text(encoding="utf-8")))
