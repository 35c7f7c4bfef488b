"""The entries of a manual as people write them, section by section."""

from __future__ import annotations

from pydantic import Field, field_validator

from rpms.store.yaml_files import Strict, listed


class ForbidsForm(Strict):
    """A prohibition of a rule, and its conditions."""

    action: str
    when: list[str] = Field(default_factory=list)


class RuleForm(Strict):
    """An entry of tier 1 or 2."""

    text: str = Field(min_length=1)
    goals: list[str] = Field(default_factory=list)
    when: list[str] = Field(default_factory=list)
    forbids: list[ForbidsForm] = Field(default_factory=list)
    category: str = ""
    objects: list[str] = Field(default_factory=list)
    places: list[str] = Field(default_factory=list)


class ActionForm(Strict):
    """An entry of tier 3."""

    syntax: list[str] = Field(min_length=1)
    preconditions: list[str] = Field(default_factory=list)
    effects: list[str] = Field(default_factory=list)
    critical: list[str] = Field(default_factory=list)
    id: str = ""
    observes: list[str] = Field(default_factory=list)
    plan: list[str] = Field(default_factory=list)
    steps: float = Field(default=1.0, gt=0, le=1_000)
    told: bool = True

    _lists = field_validator("syntax", "critical", mode="before")(listed)


class ProcessForm(Strict):
    """An effect of time."""

    command: str
    needs: list[str] = Field(default_factory=list)
    effects: list[str] = Field(default_factory=list)
    observes: list[str] = Field(default_factory=list)
    steps: float = Field(default=1.0, gt=0, le=1_000)
    once: list[str] = Field(default_factory=list)


class KindsForm(Strict):
    """The kinds with which something works, and those with which it does not."""

    yes: list[str] | dict[str, list[str]] = Field(default_factory=dict)
    no: list[str] | dict[str, list[str]] = Field(default_factory=dict)


class GoalForm(Strict):
    """The facts that a goal wants."""

    over: dict[str, str]
    holds: list[str] = Field(min_length=1)


class ProcedureForm(Strict):
    """The stages in which a goal is reached."""

    goals: list[str] = Field(min_length=1)
    objects: list[str] = Field(default_factory=list)
    over: dict[str, str] = Field(default_factory=dict)
    each: dict[str, str] = Field(default_factory=dict)
    steps: list[dict[str, str | list[str]]] = Field(min_length=1)


class PredicateForm(Strict):
    """A fact, and how to say it."""

    args: list[str] = Field(default_factory=list)
    yes: str = ""
    no: str = ""
    exclusive: str = ""
    lasting: bool = False
