"""Two written policies as manuals: an airline's and a shop's, whose tools are those of τ²-bench."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Final

from rpms.core.errors import InputError
from rpms.guard.call_facts import PythonFact
from rpms.guard.calls import ToolManual
from rpms.guard.guard import Guard
from rpms.guard.tool_manuals import read_tool_manual

NAMES: Final = ("airline", "retail")
"""The policies, each a manual and the functions that it names."""


def policy_guard(name: str) -> Guard:
    """A guard for one conversation under one of the policies."""
    return Guard(policy_manual(name), python=policy_functions(name))


@cache
def policy_functions(name: str) -> dict[str, PythonFact]:
    """The functions that a policy's manual names; a record or argument of an unexpected shape tells them nothing."""

    def of_shape(function: PythonFact) -> PythonFact:
        def told(*args: Any) -> bool | None:
            try:
                return function(*args)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                return None

        return told

    known = vars(import_module(f"{__name__}.records")) | vars(import_module(f"{__name__}.{name}"))
    return {fact.python: of_shape(known[fact.python]) for fact in policy_manual(name).facts.values() if fact.python}


@cache
def policy_manual(name: str) -> ToolManual:
    """One of the policies, read once."""
    if name not in NAMES:
        raise InputError(f"no policy is called {name!r}; known: {', '.join(NAMES)}")
    text = files(__name__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return read_tool_manual((f"{name}.yaml", text))
