"""The entries of a guard's manual as people write them, section by section."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from rpms.foreign.shown import excerpt
from rpms.guard.calls import OnUnknown
from rpms.store.yaml_files import Strict, listed


def _word(value: object) -> object:
    """The fate of a call where a fact is unknown, as strict forms take it."""
    try:
        return OnUnknown(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(f"{excerpt(value)!r} is none of {', '.join(OnUnknown)}") from None


class ToolSettingsForm(Strict):
    """Settings for all calls."""

    guard: str = ""
    now: str = ""
    unknown: OnUnknown = OnUnknown.REFUSE
    errors: str = Field(default="closed", pattern="^(closed|open)$")
    others: OnUnknown = OnUnknown.PASS
    repeats: OnUnknown = OnUnknown.REFUSE
    circles: OnUnknown = OnUnknown.WARN
    fails: list[str | dict[str, Any]] = Field(default_factory=list)

    _lists = field_validator("fails", mode="before")(listed)
    _words = field_validator("unknown", "others", "repeats", "circles", mode="before")(_word)


class ToolRecordForm(Strict):
    """A kind of record, and where it stands in what tools return."""

    tools: list[str] = Field(min_length=1, alias="from")
    key: list[str] = Field(min_length=1)
    each: str = ""
    at: str = ""
    ask: str = ""
    asked: str = ""

    _lists = field_validator("tools", "key", mode="before")(listed)


class ToolFactForm(Strict):
    """A fact, and where its truth is from."""

    args: list[str] = Field(default_factory=list)
    yes: str = ""
    no: str = ""
    of: str = ""
    path: str = ""
    count: str = ""
    sum: str = ""
    which: str = "any"
    alike: str = Field(default="", alias="as", pattern="^(path|words)$")
    python: str = ""
    initially: bool | None = None
    shared: bool = False


class ToolForm(Strict):
    """Needs and effects of a tool."""

    args: list[str] = Field(default_factory=list)
    needs: list[str] = Field(default_factory=list)
    effects: list[str] = Field(default_factory=list)
    failing: list[str] = Field(default_factory=list, alias="on_failure")
    forgets: list[str] = Field(default_factory=list)
    unknown: OnUnknown | None = None
    reads: bool = False

    _lists = field_validator("needs", "effects", "failing", "forgets", mode="before")(listed)
    _words = field_validator("unknown", mode="before")(_word)


class ToolPolicyForm(Strict):
    """A rule on tools."""

    text: str = Field(min_length=1)
    tools: list[str] = Field(min_length=1)
    when: list[str] = Field(default_factory=list)
    requires: list[str] = Field(default_factory=list)
    each: dict[str, str] = Field(default_factory=dict)
    unknown: OnUnknown | None = None
    instead: str = ""
    warns: bool = False
    asks: bool = False
    draft: bool = False
    source: str = ""
    sets: dict[str, Any] = Field(default_factory=dict)

    _lists = field_validator("tools", "when", "requires", mode="before")(listed)
    _words = field_validator("unknown", mode="before")(_word)
