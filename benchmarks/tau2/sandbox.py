"""The real tools of a τ² domain on a database of one's own, and the tasks of one split with their
reference actions.

Only the package's tool classes and data files are used: no model, no user simulator, no Inspect
task.
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import importlib
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

DOMAINS = ("airline", "retail")
SPLITS = ("train", "test")


@dataclass(frozen=True)
class Call:
    """A tool by name with its arguments."""

    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name}({json.dumps(self.arguments)})"


@dataclass(frozen=True)
class Result:
    """A tool's answer: its text, or its error's."""

    text: str
    failed: bool = False


@dataclass(frozen=True)
class Task:
    """One task: its id and the calls its authors hold for right, in order."""

    id: str
    actions: tuple[Call, ...]


class Overlay(dict[str, Any]):
    """Records that are copied when first fetched by name, so that a change never reaches the
    shared originals.
    """

    def __init__(self, shared: dict[str, Any]) -> None:
        super().__init__(shared)
        self._own: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        if key not in self._own:
            super().__setitem__(key, copy.deepcopy(super().__getitem__(key)))
            self._own.add(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._own.add(key)
        super().__setitem__(key, value)


class Sandbox:
    """A fresh database of one domain, and its tools by name.

    Making one costs well under a millisecond.
    """

    def __init__(self, domain: str) -> None:
        from inspect_ai.util import Store  # noqa: PLC0415 — a heavy package, wanted only where tools run

        self.domain = domain
        shared = _database(domain)
        tables = {name: Overlay(getattr(shared, name)) for name in type(shared).model_fields}
        self.db = type(shared).model_construct(**tables)
        self._tools = _tools_class(domain)(store=Store(), db=self.db, initialized=True)

    def call(self, call: Call) -> Result:
        """Run a tool as an agent would: what it answers, or the error that the agent would read."""
        from inspect_ai.tool import ToolError  # noqa: PLC0415

        try:
            answer = self._run(call)
        except (ToolError, ValueError, TypeError, KeyError) as error:
            return Result(f"Error: {error}", failed=True)
        return Result(answer if isinstance(answer, str) else json.dumps(answer))

    def _run(self, call: Call) -> Any:
        if call.name in {"calculate", "transfer_to_human_agents"}:
            common = importlib.import_module("inspect_evals.tau2.common.tools")
            return asyncio.run(getattr(common, call.name)()(**call.arguments))
        return getattr(self._tools, call.name)(**copy.deepcopy(call.arguments))


def available() -> bool:
    """True if the package with τ²-bench's tools and tasks is installed."""
    return importlib.util.find_spec("inspect_evals") is not None


def tasks(domain: str, split: str) -> list[Task]:
    """The tasks of one official split.

    Those of other splits are dropped before anything of them is read.
    """
    folder = _folder() / "domains" / domain
    wanted = set(json.loads((folder / "split_tasks.json").read_text(encoding="utf-8"))[split])
    records = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    return [_task(record) for record in records if record["id"] in wanted]


def _task(record: dict[str, Any]) -> Task:
    actions = (record["evaluation_criteria"] or {}).get("actions") or []
    return Task(
        record["id"], tuple(Call(action["name"], action["arguments"]) for action in actions)
    )


def _folder() -> Any:
    return importlib.import_module("inspect_evals.tau2.utils").TAU2_DATA_DIR


def _tools_class(domain: str) -> Any:
    name = f"{domain.title()}AgentTools"
    return getattr(importlib.import_module(f"inspect_evals.tau2.{domain}.{name}"), name)


@cache
def _database(domain: str) -> Any:
    """The domain's database as shipped, read once; the package's own loader leaves a temporary
    file each time.
    """
    model = _tools_class(domain).model_fields["db"].annotation
    with gzip.open(_folder() / "domains" / domain / "db.json.gz") as file:
        return model.model_validate(json.load(file))
