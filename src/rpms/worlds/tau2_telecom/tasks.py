"""The official tasks: which split has which, and what each is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rpms.core.errors import InputError
from rpms.worlds.base import Task
from rpms.worlds.tau2_telecom.package import OFFICIAL, splits

SPLITS: Final = (*OFFICIAL, "full-train")
"""Train and test are disjoint and make up base. Full holds every task, those of test included; full-train, which is our
own, holds the others: there is much to learn from, and nothing of test."""

_TYPE = re.compile(r"\[([a-z_]+)\]")


def list_tasks(split: str) -> Sequence[Task]:
    """The tasks of a split, in the official order."""
    if split not in SPLITS:
        raise InputError(f"tau2-telecom has no split {split!r}; choose one of {', '.join(SPLITS)}")
    known = splits()
    held_out = frozenset(known["test"])
    names = [name for name in known["full"] if name not in held_out] if split == "full-train" else known[split]
    return [Task(name, split, _type_of(name)) for name in names]


def _type_of(name: str) -> str:
    match = _TYPE.match(name)
    return match[1] if match else "other"
