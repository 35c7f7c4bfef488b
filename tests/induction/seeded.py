"""Tasks of a made-up world that differ in nothing but a seed."""

from __future__ import annotations

from rpms.worlds.base import Task


def seeded_tasks(split: str, goal_type: str, count: int) -> tuple[Task, ...]:
    """So many tasks of one goal type, each with its seed as its source."""
    tasks = []
    for seed in range(count):
        tasks.append(Task(f"{split}-{seed}", split, goal_type, {"seed": str(seed)}))
    return tuple(tasks)
