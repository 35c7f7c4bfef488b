"""Games whose goals people put in their own words: each sentence is a task of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError, InputError
from rpms.foreign.files import read_text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_GAME
from rpms.worlds.alfworld.games.builtin import BUILTIN, LARGE
from rpms.worlds.base import REQUEST, SENTENCE, Task

ANNOTATIONS = "traj_data.json"
"""The file beside an official game that has what annotators wrote of it."""
_LONGEST = 400
"""Characters of a sentence; the longest official one has half as many."""


def requested(tasks: Iterable[Task], split: str) -> list[Task]:
    """A task for each sentence of each game; games without any are left out, all without any are an InputError."""
    if split == LARGE:
        raise InputError(f"no sentences come with the split {LARGE}: play {BUILTIN}, or give --goal")
    found = [
        Task(f"{task.id}{SENTENCE}{number}", task.split, task.type, {**task.source, REQUEST: sentence})
        for task in tasks
        for number, sentence in enumerate(_sentences(task), start=1)
    ]
    if not found:
        raise InputError(
            f"no game of {split} has goals in people's words: {ANNOTATIONS} beside each game has them "
            "(`alfworld-download --extra` fetches it)"
        )
    return found


def _sentences(task: Task) -> tuple[str, ...]:
    if "builtin" in task.source:
        return tuple(_builtin().get(task.source["builtin"], ()))
    file = Path(task.source["path"]).with_name(ANNOTATIONS)
    if not file.is_file():
        return ()
    try:
        found = list(_descriptions(loads(read_text(file, LARGEST_GAME, encoding="utf-8"))))
    except NotJson as error:
        raise FileError(file, None, f"is not JSON: {error}") from None
    return tuple(found)


def _descriptions(data: Any) -> Iterator[str]:
    """`turk_annotations.anns[].task_desc`, those that are a sentence."""
    notes = data.get("turk_annotations") if isinstance(data, dict) else None
    each = notes.get("anns") if isinstance(notes, dict) else None
    for one in each if isinstance(each, list) else ():
        said = one.get("task_desc") if isinstance(one, dict) else None
        text = " ".join(said.split())[:_LONGEST] if isinstance(said, str) else ""
        if text.isprintable() and text:
            yield text


@cache
def _builtin() -> dict[str, list[str]]:
    """Sentences for the embedded games, by game."""
    text = (files("rpms.worlds.alfworld") / BUILTIN / "requests.json").read_text(encoding="utf-8")
    sentences: dict[str, list[str]] = json.loads(text)
    return sentences
