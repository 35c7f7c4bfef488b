"""The one door to the package that holds τ²'s data and tools. Importing it takes about three seconds, so it is late.

Nearly all of that is Inspect itself, which the tools are written for; no path into the package avoids it. Its runtime
is not needed: a tool is a coroutine that never waits, working on a store that a context variable names.
"""

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from rpms.core.errors import InputError
from rpms.foreign.file_reader import read_bytes
from rpms.foreign.limits import LARGEST_GAME
from rpms.worlds.base import Task

INSTALL: Final = "pip install 'rpms[tau2]'"
DATA: Final = ("tau2", "data", "domains", "telecom")
OFFICIAL: Final = ("train", "test", "base", "small", "full")


@cache
def load_package() -> SimpleNamespace:
    """Import the package: its parts in use, under our own names. If it is missing, one line says what to install."""
    try:
        from inspect_ai.model._call_tools import tool_params, validate_tool_input  # noqa: PLC0415
        from inspect_ai.tool import ToolDef, ToolError  # noqa: PLC0415
        from inspect_ai.util import Store  # noqa: PLC0415
        from inspect_ai.util._store import init_subtask_store  # noqa: PLC0415
        from inspect_evals.tau2.telecom.environment import get_environment  # noqa: PLC0415
        from inspect_evals.tau2.telecom.tools import all_telecom_agent_tools  # noqa: PLC0415
        from inspect_evals.tau2.telecom.user_tools import all_telecom_user_tools  # noqa: PLC0415
        from inspect_evals.tau2.telecom.utils import get_today  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error.name or "inspect_evals") from None
    except ImportError as error:
        raise InputError(f"this version of inspect-evals is not one that rpms knows ({error}): {INSTALL} -U") from None
    definitions = [ToolDef(make()) for make in (*all_telecom_agent_tools, *all_telecom_user_tools)]
    return SimpleNamespace(
        tools={each.name: each for each in definitions},  # as the sandbox defines them: description, schema, function
        make_environment=get_environment,  # the database and the phone of the store in force, made at the first call
        make_store=Store,
        use_store=init_subtask_store,  # makes a store the one in force, in this context
        problems=validate_tool_input,  # the sandbox's words for arguments that do not fit a tool's schema
        converted=tool_params,  # arguments as the tool's function wants them
        refusal=ToolError,
        today=get_today().isoformat(),
    )


def _missing(module: str) -> InputError:
    return InputError(f"the tools of τ²-bench are not installed ({module} is missing): {INSTALL}")


def missing() -> str:
    """Missing package, with the way to install it; empty if all is here."""
    absent = next((name for name in ("inspect_evals", "inspect_ai") if find_spec(name) is None), None)
    return "" if absent is None else str(_missing(absent))


@cache
def splits() -> Mapping[str, tuple[str, ...]]:
    """The official splits: the ids of their tasks, in order."""
    read = _read("split_tasks.json")
    missing = [name for name in OFFICIAL if name not in read]
    if missing:
        raise InputError(f"the installed inspect-evals has no split {missing[0]!r} of telecom tasks: {INSTALL} -U")
    return {name: tuple(read[name]) for name in OFFICIAL}


@cache
def records() -> Mapping[str, Mapping[str, Any]]:
    """Every task of the package by its id: ticket, how it begins, what is asserted in the end."""
    return {task["id"]: task for task in _read("tasks.json.gz")}


def _read(name: str) -> Any:
    """A file of the tasks, found without importing anything."""
    spec = find_spec("inspect_evals")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("inspect_evals")
    content = read_bytes(Path(spec.submodule_search_locations[0], *DATA, name), LARGEST_GAME)
    try:
        return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"inspect-evals has no readable {'/'.join((*DATA, name))} ({error}): {INSTALL} -U") from None


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
    return [Task(name, split, match[1] if (match := _TYPE.match(name)) else "other") for name in names]
