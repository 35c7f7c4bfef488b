"""The fields of a guard's manual, as they are written: what has no default must be given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rpms.guard import calls
from rpms.guard.calls import OnUnknown
from rpms.guard.json_facts import Which


@dataclass(frozen=True)
class SettingsForm(calls.ManualSettings):
    """Settings of a manual: rulings on the unknown, signs of failure, and the moment."""

    now: str = ""
    fails: tuple[str | Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class RecordForm:
    """A kind of record, and where it stands in what tools return."""

    from_: tuple[str, ...]
    key: tuple[str, ...]
    each: str = ""
    at: str = ""
    ask: str = ""
    asked: str = ""


@dataclass(frozen=True)
class FactForm:
    """A fact in words, and where its truth is from."""

    args: tuple[str, ...] = ()
    yes: str = ""
    no: str = ""
    of: str = ""
    path: str = ""
    count: str = ""
    sum: str = ""
    which: Which = Which.ANY
    as_: str = ""
    python: str = ""
    initially: bool | None = None
    shared: bool = False


@dataclass(frozen=True)
class ToolForm:
    """A tool: its arguments, needs and effects."""

    args: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    on_failure: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    unknown: OnUnknown | None = None
    reads: bool = False


@dataclass(frozen=True)
class PolicyForm:
    """A rule: the tools it is for, when it applies, what it requires, and the advice if it is
    broken.
    """

    text: str
    tools: tuple[str, ...]
    when: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    each: Mapping[str, str] = field(default_factory=dict)
    unknown: OnUnknown | None = None
    instead: str = ""
    warns: bool = False
    asks: bool = False
    source: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
