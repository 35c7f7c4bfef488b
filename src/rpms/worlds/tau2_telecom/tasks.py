"""The official tasks: which split has which, and what each is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rpms.core.errors import InputError
from rpms.worlds.base import Task
from rpms.worlds.tau2_telecom.package import records, splits

SPLITS: Final = ("train", "test", "base", "small", "full")
"""Train and test are disjoint and make up base. Full holds every task, those of test included."""

_TYPE = re.compile(r"\[([a-z_]+)\]")


def list_tasks(split: str) -> Sequence[Task]:
    """The tasks of a split, in the official order."""
    if split not in SPLITS:
        raise InputError(f"tau2-telecom has no split {split!r}; choose one of {', '.join(SPLITS)}")
    known = splits()
    if split not in known:
        raise InputError(f"the installed inspect-evals has no split {split!r} of telecom tasks")
    return [Task(name, split, _type_of(name)) for name in known[split]]


def _type_of(name: str) -> str:
    match = _TYPE.match(name)
    return match[1] if match else "other"


def is_known(name: str) -> bool:
    """Whether there is a task of that id."""
    return name in records()
