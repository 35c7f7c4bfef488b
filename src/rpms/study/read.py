"""Study files: YAML, checked, with every mistake reported at its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from rpms.core.arbitration import Arbitration
from rpms.core.condition import LATER, Condition, named_condition
from rpms.core.enforcement import Enforcement, named_enforcement, preset, with_part
from rpms.core.errors import FileError, InputError
from rpms.core.prompt import Layout
from rpms.foreign.limits import LARGEST_STUDY
from rpms.store.files import read_text
from rpms.store.pages import Page, PageKind, plain, read_page
from rpms.study.values import Case, Choice, Learning, Part, Study

STUDY = PageKind("a study", LARGEST_STUDY, 32, "`title`, `world`, `conditions` and more; this file is none")

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
    page = read_page(str(file), read_text(file, 4 * LARGEST_STUDY), STUDY)
    try:
        form = _Study.model_validate(plain(page.tree, _key))
    except ValidationError as error:
        raise _mistake(page, error) from None
    cases = []
    for name, given in form.conditions.items():
        case = given or _Case()
        enforcement = _enforcement(case.enforcement, page, "conditions", name, "enforcement")
        try:
            cases.append(_case(name, case, enforcement, form, file))
        except InputError as error:
            raise page.error(("conditions", name), f"{name}: {error}") from None
    if len({case.name for case in cases}) < len(cases):
        raise page.error(("conditions",), "two conditions have one name")
    return Study(
        title=form.title,
        about=" ".join(form.about.split()),
        world=form.world,
        choice=form.choice(),
        engine=form.engine,
        steps=form.steps,
        models=tuple(form.models),
        learning=_learning(form.learn, page) if form.learn is not None else None,
        tables=tuple(form.tables),
        cases=tuple(cases),
        file=file,
    )


def _learning(form: _Learn, page: Page) -> Learning:
    enforcement = _enforcement(form.enforcement, page, "learn", "enforcement")
    return Learning(form.choice(), form.rounds, named_condition(form.later), form.model, enforcement)


def _key(name: object) -> object:
    """A number stays one, so that it is told that a text was wanted."""
    return name if isinstance(name, int | float) else str(name)


def _mistake(page: Page, error: ValidationError) -> FileError:
    first = error.errors(include_url=False)[0]
    path = tuple(step for step in first["loc"] if step not in ("str", "dict[str,object]"))
    problem = {
        "extra_forbidden": "is not a known field",
        "missing": "is missing",
    }.get(first["type"], first["msg"].removeprefix("Value error, "))
    place = ".".join(str(step) for step in path)
    return page.error(path, f"{place}: {problem}" if place else problem)


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


def _enforcement(given: str | dict[str, object], page: Page, *path: str) -> Enforcement:
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
        raise page.error(place, f"{'.'.join(place)}: {error}") from None
    return enforcement
