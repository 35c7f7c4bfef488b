"""Study files: YAML, checked, with every mistake reported at its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rpms.core.arbitration import Arbitration
from rpms.core.condition import Condition, named_condition
from rpms.core.enforcement import Enforcement, named_enforcement, preset, with_part
from rpms.core.errors import FileError, InputError
from rpms.core.prompt import Layout
from rpms.store.files import read_text
from rpms.study.values import Case, Choice, Learning, Part, Study

LARGEST = 200_000
"""Bytes. A study is written by people; anything larger is not one."""

LATER = ("full", "rules-only")
"""The conditions that rounds of learning after the first may have."""

_DEEPEST = 32

Name = Annotated[str, Field(min_length=1, max_length=80)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Choice(_Strict):
    split: str | None = None
    part: str = "1/1"
    limit: int | None = Field(default=None, ge=1)
    options: dict[str, str | int] = Field(default_factory=dict)

    @field_validator("part")
    @classmethod
    def _is_part(cls, value: str) -> str:
        number, slash, of = value.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
            raise ValueError(f"{value!r}: write it like 1/2, the first of two parts")
        return value

    def choice(self) -> Choice:
        number, _, of = self.part.partition("/")
        options = {name: str(value) for name, value in self.options.items()}
        return Choice(self.split, Part(int(number), int(of)), self.limit, options)


class _Learn(_Choice):
    rounds: int = Field(default=1, ge=1, le=20)
    later: str = "full"
    model: str | None = None
    enforcement: str | dict[str, object] = "paper"

    @field_validator("later")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in LATER:
            raise ValueError(f"{value!r} cannot be a later round: choose {' or '.join(LATER)}")
        return value


class _Case(_Strict):
    condition: str = ""
    arbitration: str = Arbitration.HARD_SOFT.value
    state_filter: bool = True
    layout: str = "cached"
    enforcement: str | dict[str, object] = "paper"
    memory: str | None = None
    round: int | None = Field(default=None, ge=1)


class _Study(_Choice):
    title: Name
    about: str = ""
    world: Name
    engine: str = "native"
    steps: int | None = Field(default=None, ge=1)
    models: list[Name] = Field(default_factory=list)
    memory: str | None = None
    learn: _Learn | None = None
    tables: list[Name] = Field(default_factory=list)
    conditions: dict[Name, _Case | None] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_memory(self) -> _Study:
        if self.memory and self.learn:
            raise ValueError("`memory` and `learn` cannot both be given: one reads a memory, the other makes it")
        return self


def read_study(file: Path) -> Study:
    """Read a study; the first mistake is a FileError with its line. Paths in it are relative to the file."""
    text = read_text(file)
    if len(text) > LARGEST:
        raise FileError(file, None, f"larger than {LARGEST:,} bytes: not a study")
    tree = _parse(file, text)
    try:
        form = _Study.model_validate(_plain(tree))
    except ValidationError as error:
        raise _mistake(file, tree, error) from None
    cases = []
    for name, given in form.conditions.items():
        case = given or _Case()
        enforcement = _enforcement(case.enforcement, tree, file, "conditions", name, "enforcement")
        try:
            cases.append(_case(name, case, enforcement, form, file))
        except InputError as error:
            raise FileError(file, _line(tree, ("conditions", name)), f"{name}: {error}") from None
    if len({case.name for case in cases}) < len(cases):
        raise FileError(file, _line(tree, ("conditions",)), "two conditions have one name")
    return Study(
        title=form.title,
        about=" ".join(form.about.split()),
        world=form.world,
        choice=form.choice(),
        engine=form.engine,
        steps=form.steps,
        models=tuple(form.models),
        learning=_learning(form.learn, tree, file) if form.learn is not None else None,
        tables=tuple(form.tables),
        cases=tuple(cases),
        file=file,
    )


def _learning(form: _Learn, tree: CommentedMap, file: Path) -> Learning:
    enforcement = _enforcement(form.enforcement, tree, file, "learn", "enforcement")
    return Learning(form.choice(), form.rounds, named_condition(form.later), form.model, enforcement)


def _parse(file: Path, text: str) -> CommentedMap:
    depth = 0
    for match in re.finditer(r"[\[\]{}]", text):  # on which a YAML parser would spend its time
        depth = max(0, depth + (1 if match[0] in "[{" else -1))
        if depth > _DEEPEST:
            raise FileError(file, text.count("\n", 0, match.start()) + 1, "nested too deeply for a study")
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise FileError(file, line, f"not valid YAML: {(error.problem or 'cannot be read').splitlines()[0]}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        problem = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise FileError(file, None, f"not valid YAML: {problem}") from None
    if not isinstance(tree, CommentedMap):
        raise FileError(file, 1, "a study is a mapping with `title`, `world`, `conditions` and more; this file is none")
    return tree


def _plain(value: object) -> object:
    """The tree without ruamel's types, so that strict checks see what a person wrote."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, int | float) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _line(tree: CommentedMap, path: tuple[object, ...]) -> int:
    """The line of a place in the tree, or of the nearest place above it that has one."""
    node: Any = tree
    line = 1
    for step in path:
        if step == "[key]":
            break
        try:
            where = node.lc.key(step) if isinstance(node, CommentedMap) else node.lc.item(step)
            line, node = where[0] + 1, node[step]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
        if not isinstance(node, CommentedMap | CommentedSeq):
            break
    return line


def _mistake(file: Path, tree: CommentedMap, error: ValidationError) -> FileError:
    first = error.errors(include_url=False)[0]
    path = tuple(step for step in first["loc"] if step not in ("str", "dict[str,object]"))
    problem = {
        "extra_forbidden": "is not a known field",
        "missing": "is missing",
    }.get(first["type"], first["msg"].removeprefix("Value error, "))
    place = ".".join(str(step) for step in path)
    return FileError(file, _line(tree, path), f"{place}: {problem}" if place else problem)


def _case(name: str, form: _Case, enforcement: Enforcement, study: _Study, file: Path) -> Case:
    """One condition: by its own name where that is one of the 2x2's, else as its fields say."""
    base = named_condition(form.condition or name)
    try:
        arbitration = Arbitration(form.arbitration)
    except ValueError:
        modes = ", ".join(mode.value for mode in Arbitration)
        raise InputError(f"unknown arbitration {form.arbitration!r}; choose one of {modes}") from None
    try:
        layout = Layout[form.layout.upper()]
    except KeyError:
        raise InputError(f"unknown layout {form.layout!r}; choose cached or paper") from None
    if form.round is not None and (study.learn is None or form.round > study.learn.rounds):
        rounds = study.learn.rounds if study.learn else 0
        raise InputError(f"wants the memory after round {form.round}, but the study learns {rounds} rounds")
    condition = Condition(base.rules, base.memory, arbitration, form.state_filter, layout, enforcement)
    memory = form.memory or study.memory
    if base.memory and not memory and study.learn is None:
        raise InputError("uses memory; give the study a `memory` file or a `learn` block")
    return Case(name, normal(condition), file.parent / memory if memory else None, form.round)


def normal(condition: Condition) -> Condition:
    """The same condition with every switch that makes no difference at its default, so that equal ones are equal."""
    if not condition.memory:
        condition = replace(condition, state_filter=True, arbitration=Arbitration.HARD_SOFT)
    if not condition.rules:
        condition = replace(condition, arbitration=Arbitration.HARD_SOFT)
    return condition


def _enforcement(given: str | dict[str, object], tree: CommentedMap, file: Path, *path: str) -> Enforcement:
    """A preset or a single part by name, or single options over the paper's; mistakes are at their own line."""
    place: tuple[str, ...] = path
    try:
        if isinstance(given, str):
            return named_enforcement(given)
        enforcement = preset(str(given.get("preset", "paper")))
        for name, value in given.items():
            place = (*path, name)
            if name != "preset":
                enforcement = with_part(enforcement, name, value)
    except InputError as error:
        raise FileError(file, _line(tree, place), f"{'.'.join(place)}: {error}") from None
    return enforcement
