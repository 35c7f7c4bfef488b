"""Worlds of this package, of others that register under `rpms.worlds`, and in folders."""

import re
import sys
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from rpms.foreign.file_reader import parsing, read_text
from rpms.foreign.own_code import error_in_words
from rpms.foreign.shown import excerpt
from rpms.logic.errors import ANY_ERROR, FileError, InputError, nearest
from rpms.worlds.base import World, lacking

ENTRY_POINTS = "rpms.worlds"
PROJECT = "pyproject.toml"
LARGEST_PROJECT = 1_000_000
_ABSTRACT = re.compile(r"abstract class .{1,200} abstract methods? ([\w', ]+)")
"""Python's words for a class that leaves something out."""


ELSEWHERE = {
    "tau2-telecom": "examples/tau2_telecom",
    "textworld": "examples/textworld",
    "textworld-express": "examples/textworld_express",
    "toolbox": "examples/toolbox",
}
"""Worlds that are packages of their own in RPMS's repository, and their folders there."""


def world_names() -> tuple[str, ...]:
    """The names of all installed worlds, in alphabetical order."""
    return tuple(sorted({point.name for point in entry_points(group=ENTRY_POINTS)}))


_given: dict[str, World] = {}
"""Worlds loaded from folders that a person named, by their own names; of one name, the last
loaded."""


def world_named(name: str, source: object) -> World:
    """The world that a data file names: one whose folder the command line gave, or an installed
    one.

    A file is data: what it names is never a path, so reading it runs nobody's code. `source` is the
    file, for messages.
    """
    if name in _given:
        return _given[name]
    if name in world_names():
        return find_world(name)
    if name in ELSEWHERE:
        raise InputError(f"{source}: {_how_to_install(name)}")
    raise InputError(
        f"{source}: its world is not installed here; install it, name its folder with --world, or"
        f" {nearest(name, world_names())}"
    )


@cache
def find_world(name: str) -> World:
    """Load a world by its name, or by the folder that it is written in; a mistake is one line for a
    person.

    This is for names that a person typed, since the code in a folder runs. Names that stand in
    files go to `world_named`.
    """
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            return _load(point)
    folder = Path(name)
    try:
        is_project = (folder / PROJECT).is_file()
    except OSError:  # it is too long, or may not be looked at
        raise InputError(f"unknown world {excerpt(name, 80)}: there is no such folder") from None
    if is_project:
        world = _load(_point_in(folder), folder.resolve())
        _given[world.name] = world
        return world
    raise InputError(_why_not_found(name, folder))


def _why_not_found(name: str, folder: Path) -> str:
    """The mistake in a name that is neither a world's nor its folder's, and what to do."""
    if folder.is_dir():
        return f"{folder} holds no world: there is no {PROJECT} in it"
    if folder.parent != Path() or name.startswith("."):
        return f"{name}: there is no such folder"
    if name in ELSEWHERE:
        return _how_to_install(name)
    near = get_close_matches(name, world_names(), 1)
    hint = f", did you mean {near[0]}?" if near else "."
    return f"unknown world {name!r}{hint} Installed: {', '.join(world_names()) or 'none'}"


def _how_to_install(name: str) -> str:
    folder = ELSEWHERE[name]
    return f"the world {name} is a package of its own: pip install ./{folder}, in a clone of RPMS"


def _why_not_loaded(error: BaseException) -> str:
    """An error in words; of a class that lacks methods, which they are."""
    missing = _ABSTRACT.search(str(error)) if isinstance(error, TypeError) else None
    if missing is not None:
        unwritten = missing[1].replace("'", "")
        return f"is not finished: its class does not write {unwritten}"
    return f"cannot be loaded: {error_in_words(error)}"


def _load(point: EntryPoint, folder: Path | None = None) -> World:
    """World of an entry point, once it is known to be one."""
    which = f"world {point.name!r} ({point.value})"
    if folder is not None:
        _make_importable(folder)
    try:
        world: World = point.load()
    except ANY_ERROR as error:  # a stranger's package may raise anything
        raise InputError(f"{which} {_why_not_loaded(error)}") from None
    problem = lacking(world)
    if not problem and world.name != point.name:
        problem = f"it calls itself {world.name!r}, its entry point {point.name!r}"
    if problem:
        raise InputError(f"{which} is not finished: {problem}")
    if folder is not None:
        _require_from(folder, point, which)
    return world


def _make_importable(folder: Path) -> None:
    """Let Python find the package of a world's folder, before others of its name."""
    for place in (folder / "src", folder):
        if place.is_dir() and str(place) not in sys.path:
            sys.path.insert(0, str(place))
    invalidate_caches()


def _require_from(folder: Path, point: EntryPoint, which: str) -> None:
    """Refuse a world if Python found its module elsewhere than in the folder that was named."""
    file = sys.modules[point.module].__file__
    if file is not None and not Path(file).resolve().is_relative_to(folder):
        other = f"another package {point.module} is in {Path(file).parent}"
        raise InputError(f"{which} is not loaded from {folder}: {other}")


def _point_in(folder: Path) -> EntryPoint:
    """The entry point that the project in a folder declares."""
    file = folder / PROJECT
    text = read_text(file, LARGEST_PROJECT)
    with parsing(file, lambda error: f"cannot be read: {excerpt(error)}"):
        project = tomllib.loads(text)
    try:
        ((name, value),) = project["project"]["entry-points"][ENTRY_POINTS].items()
        return EntryPoint(name, value, ENTRY_POINTS)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise FileError(
            file, None, f'needs one world in [project.entry-points."{ENTRY_POINTS}"]'
        ) from None


_NAME = re.compile(r"[a-z](?:[a-z0-9_]*[a-z0-9])?")
_LONGEST = 40


def new_world(name: str) -> Mapping[str, str]:
    """The files of a small complete world, by their paths."""
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        letters = f"small letters, digits and _, a letter first, at most {_LONGEST}"
        raise InputError(f"{name[:80]!r} cannot name a world: use {letters}, such as `lighthouse`")
    if name in world_names():
        raise InputError(f"there is a world called {name} already: choose another name")
    title = "".join(map(str.capitalize, name.split("_")))

    def named(text: str) -> str:
        return text.replace("Template", title).replace("template", name)

    template = Path(__file__).with_name("template")
    found = {}
    for file in sorted(template.rglob("*")):
        path = file.relative_to(template)
        hidden = any(part.startswith(("_", ".")) for part in path.parent.parts)
        if file.is_file() and not hidden:
            found[named(path.as_posix())] = named(file.read_text(encoding="utf-8"))
    return found
