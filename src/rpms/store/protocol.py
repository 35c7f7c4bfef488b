"""The protocol of a run, which has all that decides its results; and the index of a study, which
says which run is which condition.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_TABLE, LONGEST_NUMBER
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError
from rpms.store.files import read_text

_VERSION = 1

Json = str | int | float | bool | None | Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class Protocol:
    """Everything that decides the results of a run. Two runs of one protocol are one run."""

    tasks: tuple[str, ...]
    """The ids, in the order of the run."""
    settings: Mapping[str, Json]
    """World, engine, split, model, decoding, condition, memory, budget and so on, by name, as
    JSON."""

    @cached_property
    def tasks_hash(self) -> str:
        """Hash of the tasks, in their order."""
        return hashlib.sha256(json.dumps(self.tasks).encode()).hexdigest()

    @cached_property
    def hash(self) -> str:
        """Hash of the whole protocol."""
        return hashlib.sha256(json.dumps(self._json(), sort_keys=True).encode()).hexdigest()

    def _json(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            **self.settings,
            "tasks_hash": self.tasks_hash,
            "tasks": list(self.tasks),
        }

    def text(self) -> str:
        """The file's text."""
        return json.dumps(self._json(), indent=1) + "\n"

    def _settings_as_texts(self) -> dict[str, str]:
        """Settings by their whole names, as JSON, without those that hold nothing."""
        settings = flat(self.settings)
        return {name: json.dumps(item) for name, item in settings.items() if item != {}}

    def differences(self, now: Self) -> tuple[str, ...]:
        """Differences from another protocol, each as `field: was → is`: first the tasks, hashes
        last.
        """
        was = self._settings_as_texts()
        now_is = now._settings_as_texts()
        plain: list[str] = []
        hashes: list[str] = []
        for name in {**was, **now_is}:
            one = was.get(name, "nothing")
            two = now_is.get(name, "nothing")
            if one == two:
                continue
            changed = f"{name}: {_said(one)} → {_said(two)}"
            if _HASH.fullmatch(one) or _HASH.fullmatch(two):
                hashes.append(changed)
            else:
                plain.append(changed)
        if self.tasks != now.tasks:
            added = set(now.tasks) - set(self.tasks)
            gone = set(self.tasks) - set(now.tasks)
            difference = "in another order"
            if added or gone:
                difference = f"{len(added)} added, {len(gone)} gone"
            plain.insert(0, f"tasks: {len(self.tasks)} → {len(now.tasks)} ({difference})")
        return (*plain, *hashes)


def flat(value: Mapping[str, Json], prefix: str = "") -> dict[str, Json]:
    """Nested settings by dotted names."""
    found: dict[str, Json] = {}
    for name, item in value.items():
        if isinstance(item, Mapping) and item:
            found |= flat(item, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = item
    return found


_HASH = re.compile(r'"[0-9a-f]{16,}"')  # in JSON, and so with its quotes


def _said(value: str) -> str:
    """A value for a person; a hash is cut to as much as tells two apart."""
    return f"{value[1:13]}…" if _HASH.fullmatch(value) else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a text")  # noqa: TRY004  what pydantic turns into a ValidationError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""Any text, half characters included: some models write them, and pydantic's own texts cannot
hold them."""


def _first_mistake(error: ValueError) -> str:
    """The first breach of a form, and its place, in one line; what else is wrong as it says."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return excerpt(f"{place}: {first['msg'].removeprefix('Value error, ')}")


class _MemoryForm(BaseModel):
    model_config = ConfigDict(extra="allow")

    hash: Text = ""
    entries: Annotated[int, Field(ge=0, le=LONGEST_NUMBER, strict=True)] = 0


class _ProtocolForm(BaseModel):
    """The checked form of a protocol: what others read of its settings has the type that they
    expect.
    """

    model_config = ConfigDict(extra="allow")

    version: int
    tasks: tuple[Text, ...]
    tasks_hash: Text
    world: Text = ""
    engine: Text = ""
    split: Text = ""
    model: Text = ""
    package: Text = ""
    options: dict[Text, Any] = {}
    decoding: dict[Text, Any] = {}
    condition: dict[Text, Any] | Text | None = None
    memory: _MemoryForm | None = None


def read_protocol(file: Path) -> Protocol:
    """Read a protocol, or say in one line why not."""
    try:
        content = loads(read_text(file, LARGEST_TABLE))
        form = _ProtocolForm.model_validate(content)
    except (NotJson, ValidationError) as error:
        raise FileError(
            file, None, f"is not the protocol of a run: {_first_mistake(error)}"
        ) from None
    if form.version != _VERSION:
        raise FileError(
            file, None, "was written by another version of rpms, in a form that is not known here"
        )
    if len(set(form.tasks)) < len(form.tasks):
        raise FileError(file, None, "lists a task more than once")
    settings = dict(content)
    for name in ("version", "tasks", "tasks_hash"):
        del settings[name]
    protocol = Protocol(form.tasks, settings)
    if protocol.tasks_hash != form.tasks_hash:
        raise FileError(file, None, "its task list is not the one its hash was taken of")
    return protocol


INDEX = "study.json"
TABLES = (
    "main",
    "ablation",
    "scores",
    "types",
    "arbitration",
    "learning",
    "significance",
    "epochs",
    "efficiency",
    "actions",
    "failures",
    "overview",
    "taught",
    "verdicts",
)
"""Names of the tables that a report can make, in the order in which it shows them."""


class Group(BaseModel):
    """One comparison of a study: its conditions, and the folder of each, relative to the index."""

    title: Text = ""
    model: Text = ""
    about: Text = ""
    tables: tuple[Text, ...] = ()
    """Tables that the study is about; a report shows them first."""
    runs: dict[Text, Text]


class StudyIndex(BaseModel):
    """The checked form of the file."""

    title: Text = ""
    about: Text = ""
    world: Text = ""
    tables: tuple[Text, ...] = ()
    varies: tuple[Text, ...] = ()
    """Fields in which its conditions may differ, beside those in which any may."""
    groups: tuple[Group, ...] = ()
    runs: dict[Text, Text] = {}
    """Runs of a study with one comparison, in place of groups."""

    @property
    def comparisons(self) -> tuple[Group, ...]:
        """The groups, each filled up with what the index says for all."""
        said = self.model_dump(include={"title", "about", "tables"})
        groups = self.groups or (Group(runs=self.runs),)
        return tuple(
            Group(**{**said, **group.model_dump(exclude_defaults=True)}) for group in groups
        )


def read_study_index(file: Path, advice: str = "") -> StudyIndex:
    """Read an index. A file that is none is a FileError of one line, with advice at its end."""
    try:
        index = StudyIndex.model_validate(loads(read_text(file, LARGEST_TABLE)))
    except (NotJson, ValidationError) as error:
        raise FileError(
            file, None, f"is not the index of a study: {_first_mistake(error)}{advice}"
        ) from None
    if not index.groups and not index.runs:
        raise FileError(file, None, f"is not the index of a study: it names no runs{advice}")
    return index
