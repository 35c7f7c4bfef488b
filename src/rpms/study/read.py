"""Study files: YAML, checked, with every mistake reported at its line."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, field_validator

from rpms.core.condition import LATER, named_condition
from rpms.core.errors import FileError, InputError, nearest
from rpms.foreign.limits import LARGEST_STUDY, MOST_CELLS
from rpms.play.knob_values import SEAMS, SettingError
from rpms.play.knobs import KNOBS
from rpms.play.plan import read_part
from rpms.play.settings import Settings
from rpms.store.files import read_text
from rpms.store.yaml_files import YamlFile, YamlKind, plain, read_yaml
from rpms.study.values import Case, Choice, Learning, Study

STUDY = YamlKind("a study", LARGEST_STUDY, 32, "`title`, `world`, `conditions` and more; this file is none")

Name = Annotated[str, Field(min_length=1, max_length=80)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Choice(_Strict):
    part: Annotated[Any, PlainValidator(lambda value: read_part(str(value)))] = slice(None)
    options: dict[str, str | int] = Field(default_factory=dict)

    def choice(self, settings: Settings) -> Choice:
        return Choice(settings.only(tasks=True), self.part, {name: str(value) for name, value in self.options.items()})


class _Learn(_Choice):
    rounds: int = Field(default=1, ge=1, le=20)
    later: str = "full"
    model: str | None = None

    @field_validator("later")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in LATER:
            raise ValueError(f"{value!r} cannot be a later round: choose {' or '.join(LATER)}")
        return value


class _Case(_Strict):
    round: int | None = Field(default=None, ge=1)


class _Study(_Choice):
    title: Name
    about: str = ""
    players: dict[Name, str] = Field(default_factory=dict)
    world: Name
    engine: str = "native"
    models: list[Name] = Field(default_factory=list)
    learn: dict[str, Any] | None = None
    tables: list[Name] = Field(default_factory=list)
    conditions: dict[Name, dict[str, Any] | None] = Field(min_length=1)


_Form = TypeVar("_Form", bound=_Strict)
_OF_TASKS = tuple(name for name, each in KNOBS.items() if each.tasks)
"""The settings that choose tasks: all conditions of a study play the same ones."""


def read_study(file: Path, parts: Collection[str] = ()) -> Study:
    """Read a study; the first mistake is a FileError. Its settings hold for all conditions and learning.

    A file is data and imports no code: the parts it names are installed ones, or of a module in `parts`.
    """
    yaml = read_yaml(str(file), read_text(file, 4 * LARGEST_STUDY), STUDY)
    reader = _Reader(yaml, file.parent, parts)
    form, common = reader.read(
        _Study,
        plain(yaml.tree, lambda key: key if isinstance(key, int | float) else str(key)),
        (),
        without=("condition",),
    )
    if len(form.conditions) * max(1, len(form.models)) > MOST_CELLS:
        counted = f"{len(form.conditions):,} conditions and {len(form.models):,} models"
        raise yaml.error(("conditions",), f"{counted}: a study has at most {MOST_CELLS:,} of both multiplied")
    if common.memory and form.learn is not None:
        raise yaml.error(
            ("memory",), "`memory` and `learn` cannot both be given: one reads a memory, the other makes it"
        )
    shared = common.only(tasks=False)
    learning = None
    if form.learn is not None:
        learn, own = reader.read(_Learn, form.learn, ("learn",), without=("condition", "memory"))
        settings = own.only(tasks=False).over(shared)
        played = Settings(steps=common.steps, simplifications=common.simplifications)  # how games are played, not which
        learning = Learning(learn.choice(own.over(played)), learn.rounds, learn.later, learn.model, settings)
    cases = []
    for name, given in form.conditions.items():
        case, own = reader.read(_Case, given or {}, ("conditions", name), without=_OF_TASKS)
        named = own.condition or (None if own.agent else name)
        settings = own.over(Settings(condition=named)).over(shared)
        try:
            cases.append(_case(name, settings, case.round, learning))
        except InputError as error:
            raise yaml.error(("conditions", name), f"{name}: {error}") from None
    return Study(
        title=form.title,
        about=" ".join(form.about.split()),
        players={name: " ".join(text.split()) for name, text in form.players.items()},
        world=form.world,
        choice=form.choice(common),
        engine=form.engine,
        models=tuple(form.models),
        learning=learning,
        tables=tuple(form.tables),
        cases=tuple(cases),
        file=file,
    )


class _Reader:
    """Reads the sections of one file: the fields that are a section's own, and the settings in it."""

    def __init__(self, yaml: YamlFile, folder: Path, parts: Collection[str]) -> None:
        self._yaml, self._folder, self._parts = yaml, folder, parts

    def read(
        self, form: type[_Form], given: object, path: tuple[str, ...], without: Collection[str]
    ) -> tuple[_Form, Settings]:
        entries = given if isinstance(given, Mapping) else {}
        knobs = {name: value for name, value in entries.items() if name in KNOBS and name not in without}
        own = {name: value for name, value in entries.items() if name not in knobs}
        for name in (*SEAMS, "harvest"):
            module, sign, _ = str(knobs.get(name, "")).partition(":")
            if sign and module not in self._parts:
                problem = f"{name}: a study runs no code of its own: add --parts and the module's name to the command"
                raise self._yaml.error((*path, name), problem)
        names = (*form.model_fields, *(name for name in KNOBS if name not in without))
        try:
            read = form.model_validate(own)
        except ValidationError as error:
            raise self._mistake(error, path, names) from None
        try:
            return read, Settings.read(knobs, self._folder)
        except SettingError as error:
            where = (*path, error.name, *((error.inner,) if error.inner else ()))
            raise self._yaml.error(where, f"{'.'.join(where)}: {error.problem}") from None

    def _mistake(self, error: ValidationError, path: tuple[str, ...], names: Collection[str]) -> FileError:
        first = error.errors(include_url=False)[0]
        where = (*path, *first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            problem = "is missing"
        elif first["type"] == "extra_forbidden":
            chooses = ": all conditions of a study play the same tasks" if where[-1] in _OF_TASKS else ""
            problem = f"is not a known field{chooses or '; ' + nearest(str(where[-1]), names)}"
        place = ".".join(map(str, where))
        return self._yaml.error(where, f"{place}: {problem}" if place else problem)


def _case(name: str, settings: Settings, number: int | None, learning: Learning | None) -> Case:
    """One condition: by its own name where that is one of the 2x2's, else as its fields say."""
    base = named_condition(settings.condition_name)
    rounds = learning.rounds if learning is not None else 0
    if number is not None and number > rounds:
        raise InputError(f"wants the memory after round {number}, but the study learns {rounds} rounds")
    if base.memory and settings.memory is None and learning is None:
        raise InputError("uses memory; give the study a `memory` file or a `learn` block")
    return Case(name, settings, number)


_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "studies", _PACKAGE.parents[1] / "studies")
"""In an installed package they are inside of it; in a clone at its top."""


def shipped_studies() -> Mapping[str, Path]:
    """The files by name, in alphabetical order."""
    folder = next((each for each in _FOLDERS if (each / "quickstart.yaml").is_file()), None)
    return {} if folder is None else {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def find_study(given: Path) -> Path:
    """A study's file: the one that was given, or one that comes with the package, by its name."""
    if given.exists():
        return given
    known = shipped_studies()
    if str(given) in known:
        return known[str(given)]
    if given.suffix or given.parent != Path():
        raise InputError(f"{given}: there is no such file; `rpms study list` names the studies that come with rpms")
    raise InputError(f"there is no study {str(given)!r}; {nearest(str(given), known)}")
