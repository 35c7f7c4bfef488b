"""Two written policies as manuals: an airline's and a shop's, whose tools are those of τ²-bench."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Final

from rpms.core.errors import InputError
from rpms.guard.calls import ToolManual
from rpms.guard.guard import Guard
from rpms.guard.manuals import read_tool_manual

NAMES: Final = ("airline", "retail")
"""The policies, each a manual and the functions that it names."""


def policy_guard(name: str) -> Guard:
    """A guard for one conversation under one of the policies."""
    return Guard(policy_manual(name), python=import_module(f"{__name__}.{name}"))


@cache
def policy_manual(name: str) -> ToolManual:
    """One of the policies, read once."""
    if name not in NAMES:
        raise InputError(f"no policy is called {name!r}; known: {', '.join(NAMES)}")
    text = files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return read_tool_manual((f"{name}.yaml", text))
