"""The entries of a guard's manual as people write them, section by section. What has no default must be given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rpms.guard.calls import OnUnknown
from rpms.guard.json_facts import Which


class OnError(StrEnum):
    """The fate of a call when the guard itself fails."""

    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True)
class ToolSettingsForm:
    """Settings for all calls."""

    guard: str = ""
    now: str = ""
    unknown: OnUnknown = OnUnknown.REFUSE
    errors: OnError = OnError.CLOSED
    others: OnUnknown = OnUnknown.PASS
    repeats: OnUnknown = OnUnknown.REFUSE
    circles: OnUnknown = OnUnknown.WARN
    fails: tuple[str | Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class ToolRecordForm:
    """A kind of record, and where it stands in what tools return."""

    from_: tuple[str, ...]
    key: tuple[str, ...]
    each: str = ""
    at: str = ""
    ask: str = ""
    asked: str = ""


@dataclass(frozen=True)
class ToolFactForm:
    """A fact, and where its truth is from."""

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
    """Needs and effects of a tool."""

    args: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    on_failure: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    unknown: OnUnknown | None = None
    reads: bool = False


@dataclass(frozen=True)
class ToolPolicyForm:
    """A rule on tools."""

    text: str
    tools: tuple[str, ...]
    when: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    each: Mapping[str, str] = field(default_factory=dict)
    unknown: OnUnknown | None = None
    instead: str = ""
    warns: bool = False
    asks: bool = False
    draft: bool = False
    source: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
