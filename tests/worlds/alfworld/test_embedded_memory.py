"""The small memory that ships with the embedded games."""

from __future__ import annotations

from pathlib import Path

from rpms.paper.memory import Kind, merge
from rpms.store.memories import read_memory
from rpms.worlds.alfworld.world import Alfworld
from rpms.worlds.base import Setting


def test_it_was_learned_on_games_of_its_own():
    memory = read_memory(Path(Alfworld().embedded_memory()), "alfworld")
    tasks = {task.id for task in Alfworld().tasks("builtin_train", Setting())}
    assert {entry.kind for entry in memory.entries} >= {Kind.SUCCESS, Kind.SCHEMA}
    assert all(
        any(task in origin.episode for task in tasks)
        for entry in memory.entries
        for origin in entry.origins
    )
    assert merge(memory.entries) == memory.entries
