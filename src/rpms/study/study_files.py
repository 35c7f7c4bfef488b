"""Study files: YAML, checked, with every mistake at its line; and those that are shipped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    field_validator,
)

from rpms.foreign.limits import LARGEST_STUDY, MOST_CELLS
from rpms.foreign.own_code import names_code
from rpms.foreign.shown import excerpt
from rpms.logic.errors import FileError, InputError, is_near, nearest
from rpms.paper.condition import LATER, named_condition
from rpms.play.setting_values import SEAMS, SettingError
from rpms.play.settings import SETTING_NAMES, TASK_SETTINGS, Settings
from rpms.play.task_choice import read_part
from rpms.store.files import read_text
from rpms.store.protocol import TABLES
from rpms.store.yaml_files import Place, YamlFile, YamlKind, plain, read_yaml
from rpms.study.studies import Case, Choice, Learning, Study, Written

STUDY = YamlKind(
    "a study", LARGEST_STUDY, 32, "`title`, `world`, `conditions` and more; this file is none"
)

Name = Annotated[str, Field(min_length=1, max_length=80)]


class _Strict(BaseModel):
    """A section that takes its own fields alone, in their own types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Choice(_Strict):
    """The fields that choose tasks, beside the settings that do."""

    part: Annotated[Any, PlainValidator(lambda value: read_part(str(value)))] = slice(None)
    options: dict[str, str | int] = Field(default_factory=dict)

    def choice(self, settings: Settings, written: Written) -> Choice:
        options = {name: str(value) for name, value in self.options.items()}
        return Choice(settings.only(tasks=True), self.part, options, written)


class _Learn(_Choice):
    """The section `learn`."""

    rounds: int = Field(default=1, ge=1, le=20)
    later: str = "full"
    model: str | None = None

    @field_validator("later")
    @classmethod
    def _is_a_choice(cls, value: str) -> str:
        if value not in LATER:
            raise ValueError(f"{value!r} cannot be a later round: choose {' or '.join(LATER)}")
        return value


class _Case(_Strict):
    """One of the section `conditions`."""

    round: int | None = Field(default=None, ge=1)


def _known_table(name: str) -> str:
    if name not in TABLES:
        raise ValueError(f"there is no table {excerpt(name)!r}; {nearest(name, TABLES)}")
    return name


def _one_or_more(models: list[str]) -> list[str]:
    if not models:
        raise ValueError("names no model; name one or more, or leave it out and give --model")
    return models


class _Study(_Choice):
    """The whole file."""

    title: Name
    about: str = ""
    players: dict[Name, str] = Field(default_factory=dict)
    world: Name
    engine: str = "native"
    models: Annotated[list[Name], AfterValidator(_one_or_more)] = Field(default_factory=list)
    learn: dict[str, Any] | None = None
    tables: list[Annotated[Name, AfterValidator(_known_table)]] = Field(default_factory=list)
    conditions: dict[Name, dict[str, Any] | None] = Field(min_length=1)


_Form = TypeVar("_Form", bound=_Strict)


class Section(NamedTuple, Generic[_Form]):
    """A section of a study's file."""

    form: _Form
    """Its own fields."""
    settings: Settings


SHIPPED_PARTS = frozenset(
    {"rpms.teaching.another_game:in_alfworld", "rpms.teaching.another_game:lore_in_alfworld"}
)
"""Parts of this package that a study may name without leave."""


def read_study(file: Path, parts: Collection[str] = ()) -> Study:
    """Read a study; the first mistake is a FileError. Its settings hold for all conditions and
    learning.

    A file is data and imports no code: the parts it names are installed ones, shipped ones, or of
    a module in `parts`.
    """
    yaml = read_yaml(str(file), read_text(file, 4 * LARGEST_STUDY), STUDY)
    reader = _Reader(yaml, file.parent, parts)
    tree = plain(yaml.tree, lambda key: key if isinstance(key, int | float) else str(key))
    form, common = reader.read(_Study, tree, yaml.at(), without=("condition",))
    _check_size(yaml, form)
    if common.memory and form.learn is not None:
        raise yaml.at("memory").error(
            "`memory` and `learn` cannot both be given: one reads a memory, the other makes it",
        )
    learning = reader.learning(form.learn, common) if form.learn is not None else None
    cases: list[Case] = []
    for name, given in form.conditions.items():
        cases.append(reader.case(name, given or {}, common.only(tasks=False), learning))
    return Study(
        title=form.title,
        about=" ".join(form.about.split()),
        players={name: " ".join(text.split()) for name, text in form.players.items()},
        world=form.world,
        choice=form.choice(common, reader.written()),
        engine=form.engine,
        models=tuple(form.models),
        learning=learning,
        tables=tuple(form.tables),
        cases=tuple(cases),
        file=file,
        written=reader.written(),
    )


def _check_size(yaml: YamlFile, form: _Study) -> None:
    """Refuse a study with more runs than anybody plays."""
    if len(form.conditions) * max(1, len(form.models)) > MOST_CELLS:
        counted = f"{len(form.conditions):,} conditions and {len(form.models):,} models"
        problem = f"{counted}: a study has at most {MOST_CELLS:,} of both multiplied"
        raise yaml.at("conditions").error(problem)


class _Reader:
    """Reads the sections of one file: the fields that are a section's own, and the settings in
    it.
    """

    def __init__(self, yaml: YamlFile, folder: Path, parts: Collection[str]) -> None:
        self._yaml = yaml
        self._folder = folder
        self._parts = parts

    def written(self, *section: str) -> Written:
        """Lines of the keys of the file, or of a section."""
        entries: Any = self._yaml.tree
        for name in section:
            entries = entries[name]
        lines = {str(key): self._yaml.line((*section, key)) for key in entries}
        return Written(Path(self._yaml.name), lines)

    def learning(self, given: object, common: Settings) -> Learning:
        """The section `learn`: of the study's settings, all but those that choose tasks hold."""
        place = self._yaml.at("learn")
        form, own = self.read(_Learn, given, place, without=("condition", "memory"))
        rules_of_play = Settings(steps=common.steps, simplifications=common.simplifications)
        choice = form.choice(own.over(rules_of_play), self.written("learn"))
        settings = own.only(tasks=False).over(common.only(tasks=False))
        return Learning(choice, form.rounds, form.later, form.model, settings)

    def case(self, name: str, given: object, shared: Settings, learning: Learning | None) -> Case:
        """One of `conditions`. Its key is its name, unless the key is that of a condition or a
        method.
        """
        place = self._yaml.at("conditions", name)
        form, own = self.read(_Case, given, place, without=TASK_SETTINGS)
        named = own.condition or (None if own.agent else name)
        settings = own.over(Settings(condition=named)).over(shared)
        try:
            return _case(name, settings, form.round, learning)
        except InputError as error:
            raise place.error(f"{name}: {error}") from None

    def read(
        self, form: type[_Form], given: object, place: Place, without: Collection[str]
    ) -> Section[_Form]:
        """Read a section, which may have all settings but some."""
        entries = given if isinstance(given, Mapping) else {}
        allowed = [name for name in SETTING_NAMES if name not in without]
        given_settings: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for name, value in entries.items():
            if name in allowed:
                given_settings[name] = value
            else:
                own[name] = value
        for name in (*SEAMS, "harvest"):
            self._refuse_code(place.at(name), str(given_settings.get(name, "")))
        self._refuse_models_of_code(entries, place)
        try:
            read = form.model_validate(own)
        except ValidationError as error:
            raise _first_mistake(error, place, (*form.model_fields, *allowed)) from None
        return Section(read, self._settings(given_settings, place))

    def _settings(self, given: Mapping[str, Any], place: Place) -> Settings:
        """Read the settings of a section; a mistake is told with its line."""
        try:
            return Settings.read(given, self._folder)
        except SettingError as error:
            where = place.at(error.name)
            if error.inner:
                where = where.at(error.inner)
            raise where.mistake(error.problem) from None

    def _refuse_models_of_code(self, entries: Mapping[str, Any], place: Place) -> None:
        """Refuse a section's `model`, any of its `models`, or a `reader` that is `module:name`."""
        models = entries.get("models")
        key = "models" if models else "model"
        named = models if isinstance(models, list) else [entries.get("model", "")]
        for model in map(str, named):
            if names_code(model):
                self._refuse_code(place.at(key), model)
        reader = str(entries.get("reader", ""))
        if names_code(reader):
            self._refuse_code(place.at("reader"), reader)

    def _refuse_code(self, place: Place, name: str) -> None:
        """Refuse `module:name` of a module that the command does not allow."""
        module, sign, _ = name.partition(":")
        if sign and module not in self._parts and name not in SHIPPED_PARTS:
            raise place.error(
                f"{place.name}: a study runs no code of its own: add --parts and the module's name"
                " to the command"
            )


def _first_mistake(error: ValidationError, place: Place, names: Collection[str]) -> FileError:
    """The mistake in a section that is told: a misspelt key if there is one, else the first."""
    found = error.errors(include_url=False)
    first = next((each for each in found if _is_misspelt(each, names)), found[0])
    key = str(first["loc"][-1])
    match first["type"]:
        case "missing":
            problem = "is missing"
        case "extra_forbidden" if key in TASK_SETTINGS:
            problem = "is not a known field: all conditions of a study play the same tasks"
        case "extra_forbidden":
            problem = f"is not a known field; {nearest(key, names)}"
        case _:
            problem = first["msg"].removeprefix("Value error, ")
    return place.at(*first["loc"]).mistake(problem)


def _is_misspelt(mistake: Mapping[str, Any], names: Collection[str]) -> bool:
    """True for a key that is nearly a known one; it explains why that one is missing.

    Others are not told first: a file that is no study at all is not quoted.
    """
    return mistake["type"] == "extra_forbidden" and is_near(str(mistake["loc"][-1]), names)


def _case(name: str, settings: Settings, number: int | None, learning: Learning | None) -> Case:
    """One condition of a study; its fields are checked against the study's learning."""
    base = named_condition(settings.condition_name)
    rounds = learning.rounds if learning is not None else 0
    if number is not None and number > rounds:
        raise InputError(
            f"wants the memory after round {number}, but the study learns {rounds} rounds"
        )
    if base.memory and settings.memory is None and learning is None:
        raise InputError("uses memory; give the study a `memory` file or a `learn` block")
    return Case(name, settings, number)


_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "studies", _PACKAGE.parents[1] / "studies")
"""Folders of studies: inside an installed package, or at the top of a clone."""


def shipped_studies() -> Mapping[str, Path]:
    """The files by name, in alphabetical order."""
    for folder in _FOLDERS:
        if (folder / "quickstart.yaml").is_file():
            return {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    return {}


def find_study(given: Path) -> Path:
    """A study's file: the one that was given, or one that comes with the package, by its name."""
    if given.exists():
        return given
    shipped = shipped_studies()
    if str(given) in shipped:
        return shipped[str(given)]
    if given.suffix or given.parent != Path():
        raise InputError(
            f"{given}: there is no such file; `rpms study list` names the studies that come with"
            " rpms"
        )
    raise InputError(f"there is no study {str(given)!r}; {nearest(str(given), shipped)}")
