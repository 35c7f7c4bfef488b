"""A new world to start from: the template, under a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from rpms.core.errors import InputError
from rpms.worlds.registry import world_names

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

    template = files("rpms.worlds").joinpath("template")
    return {named(path): named(file.read_text(encoding="utf-8")) for path, file in _all(template)}


def _all(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_file() and not item.name.endswith(".pyc"):
            yield f"{above}{item.name}", item
        elif item.is_dir() and not item.name.startswith(("_", ".")):
            yield from _all(item, f"{above}{item.name}/")
