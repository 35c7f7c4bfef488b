"""Studies: as values, and as YAML files, checked, with every mistake reported at its line."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, field_validator

from rpms.foreign.limits import LARGEST_STUDY, MOST_CELLS
from rpms.logic.errors import FileError, InputError, nearest
from rpms.models.catalogue import FROM_MENU, backend_of
from rpms.models.own import names_code
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import LATER, Condition, named_condition
from rpms.play.knob_values import SEAMS, SettingError, worded
from rpms.play.knobs import KNOBS
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.plan import read_part
from rpms.play.settings import NO_MEMORY, Settings
from rpms.play.sources import can_play
from rpms.play.understanding import CONTROLS
from rpms.store.files import read_text
from rpms.store.yaml_files import YamlFile, YamlKind, plain, read_yaml
from rpms.worlds.base import Setting, Task, World


@dataclass(frozen=True)
class Choice:
    """A choice of a world's tasks."""

    settings: Settings = field(default_factory=Settings)
    """Those that choose tasks: split, task, per_task, sample, limit, steps, simplifications."""
    part: slice = field(default_factory=lambda: slice(None))
    """Part of them that is played; see `read_part`."""
    options: Mapping[str, str] = field(default_factory=dict)

    def setting(self, world: World, base: Setting) -> Setting:
        """The setting of its games; an option that the world does not have is an InputError."""
        made = self.settings.setting(world, self._base(base))
        world.chosen(made)
        return made

    def tasks(self, world: World, base: Setting) -> Sequence[Task]:
        """The tasks, in the world's order; none at all is an InputError."""
        found, _ = self.settings.tasks(world, self._base(base), self.part)
        if not found:
            raise InputError(
                f"{world.name}: no tasks to run in the split"
                f" {self.settings.split or world.splits[0]!r}"
            )
        return tuple(found)

    def _base(self, base: Setting) -> Setting:
        return replace(base, options={**base.options, **self.options})


@dataclass(frozen=True)
class Learning:
    """The learning phase that comes before a study's conditions."""

    choice: Choice = Choice()
    rounds: int = 1
    later: str = "full"
    """The condition of rounds after the first."""
    model: str | None = None
    """Model that learns; by default the model under test."""
    settings: Settings = field(default_factory=Settings)
    """All but those that choose tasks."""

    def condition(self, number: int) -> Condition:
        """The condition of a round, counted from 1."""
        return replace(self.settings, condition=self.condition_name(number)).condition_value()

    def condition_name(self, number: int) -> str:
        """The name of a round's condition: the first is always Rules-only."""
        return self.later if number > 1 else "rules-only"


@dataclass(frozen=True)
class Case:
    """One condition of a study, by the name that tables give it."""

    name: str
    settings: Settings = field(default_factory=Settings)
    """All but those that choose tasks."""
    round: int | None = None
    """The round whose snapshot it plays with; the last by default."""

    @cached_property
    def condition(self) -> Condition:
        """With every switch that makes no difference at its default, so that equal ones are
        equal.
        """
        found = self.settings.condition_value()
        state_filter = found.state_filter or not found.memory
        judged = found.arbitration if found.memory and found.rules else Arbitration.HARD_SOFT
        return replace(found, state_filter=state_filter, arbitration=judged)

    @property
    def learns(self) -> bool:
        """True if it plays with what the study learned."""
        return self.condition.memory and self.settings.memory is None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its runs in tables: the first trial and the best of all are two."""
        usual = METHODS[self.settings.agent or REACT]
        if not usual.question:
            return (self.name,)
        return (
            f"{self.name}, trial 0",
            f"{self.name}, best of {self.settings.trials or usual.trials}",
        )

    def method(self, world: World) -> Method:
        """Its method; what a study says of trials and insights holds for those of its methods
        that have any.
        """
        usual = METHODS[self.settings.agent or REACT]
        settings = self.settings
        if usual.recalled and settings.insights is None:
            return usual  # its experience is gathered first
        trials = settings.trials if usual.question else None
        insights = settings.insights if usual.recalled else None
        return replace(settings, trials=trials, insights=insights).method(world)

    def memory_file(self, world: World) -> Path | None:
        """A memory to read, where it is not learned."""
        given = self.settings.memory not in (None, NO_MEMORY) and self.condition.memory
        return self.settings.memory_file(world) if given else None


def _under(given: Settings, own: Settings) -> Settings:
    """Settings over a case's own.

    One that reads goals without a model is a control, and stays one.
    """
    settings = given.over(own)
    return replace(settings, reader=own.reader) if own.reader in CONTROLS else settings


@dataclass(frozen=True)
class Study:
    """A comparison: one world, its tasks, models, and conditions."""

    title: str
    world: str
    cases: tuple[Case, ...]
    about: str = ""
    """Remarks on the numbers for whoever reads them."""
    players: Mapping[str, str] = field(default_factory=dict)
    """By model: a remark that is true only where that model plays."""
    choice: Choice = Choice()
    engine: str = "native"
    models: tuple[str, ...] = ()
    learning: Learning | None = None
    tables: tuple[str, ...] = ()
    """The report's tables that it is about, by name."""
    file: Path = Path()

    def models_to_run(self, given: Sequence[str]) -> tuple[str, ...]:
        """The models to run: those given, else the study's own; none at all is an InputError."""
        models = tuple(dict.fromkeys(given or self.models))
        if not models:
            conditions = ", ".join(case.name for case in self.cases)
            raise InputError(
                f"{self.file}: names no model; give one or more with --model. Each plays"
                f" {len(self.cases)} conditions: {conditions}"
            )
        return models

    def cases_for(self, model: str) -> tuple[Case, ...]:
        """The conditions that a model plays: what chooses from a menu, those with one; none at
        all is an InputError.
        """
        needs_menu = backend_of(model) in FROM_MENU
        cases: list[Case] = []
        for case in self.cases:
            if needs_menu and not case.condition.informed:
                continue
            if can_play(case.condition.enforcement, model):
                cases.append(case)
        if not cases:
            raise InputError(
                f"{model} chooses from a menu, and no condition of {self.file} has one"
            )
        return tuple(cases)

    def learner(self, model: str) -> str:
        """Name of the model that fills another's memory; empty if it would need a menu and
        there is none.
        """
        if self.learning is None:
            return ""
        learner = self.learning.model or model
        return learner if can_play(self.learning.condition(1).enforcement, learner) else ""

    def about_of(self, *models: str) -> str:
        """The text for a report on these models: `about`, and the remarks on those among them."""
        remarks = [self.players.get(model, "") for model in models]
        return " ".join(filter(None, (self.about, *remarks)))

    def under(self, given: Settings) -> Study:
        """The same study with settings before its own, named in its title."""
        of_tasks = given.only(tasks=True)
        of_play = given.only(tasks=False)
        learning = self.learning
        if of_play.memory is not None:
            learning = None
        elif learning is not None:
            learning = _learning_under(learning, of_tasks, of_play)
        study = replace(
            self,
            choice=replace(self.choice, settings=of_tasks.over(self.choice.settings)),
            cases=tuple(
                replace(case, settings=_under(of_play, case.settings)) for case in self.cases
            ),
            learning=learning,
        )
        if not given.given:
            return study
        settings = [f"{name} {worded(value) or 'none'}" for name, value in given.given.items()]
        told = ", ".join(settings)
        about = f"Run with {told}, and so not the study as it is written. {self.about}".rstrip()
        return replace(study, title=f"{self.title} ({told})", about=about)

    def only(self, names: str) -> Study:
        """The same study with some of its conditions, by names in which * stands for any text;
        with all, for none.
        """
        wanted = [name.strip() for name in names.split(";") if name.strip()]
        if not wanted:
            return self
        cases: list[Case] = []
        for case in self.cases:
            if any(fnmatchcase(case.name, name) for name in wanted):
                cases.append(case)
        if not cases:
            known = "; ".join(case.name for case in self.cases)
            raise InputError(f"no condition is called {names!r}; choose from {known}")
        return replace(self, cases=tuple(cases))

    def on_the_learned_split(self) -> Study:
        """A rehearsal for who lacks the games to be tested: those learned from, one half to
        learn and one to play.
        """
        assert self.learning is not None
        learned = self.learning.choice
        here = learned.settings.split
        lacking = self.choice.settings.split
        return replace(
            self,
            title=f"{self.title} - rehearsal on {here}",
            about=f"A rehearsal on {here}, in place of {lacking}, which is not here. {self.about}",
            choice=replace(learned, part=slice(1, None, 2)),
            learning=replace(self.learning, choice=replace(learned, part=slice(0, None, 2))),
        )


def _learning_under(learning: Learning, of_tasks: Settings, of_play: Settings) -> Learning:
    """Learning with settings before its own.

    A limit on tasks holds for learning too where the model under test learns by itself, which takes
    as long as playing; a learner that the study names, such as the planner, learns from all.
    """
    own = learning.choice.settings
    given_limit = of_tasks.limit if learning.model is None else None
    limits = [limit for limit in (given_limit, own.limit) if limit is not None]
    limited = replace(of_tasks, split=None, limit=min(limits, default=None))
    return replace(
        learning,
        choice=replace(learning.choice, settings=limited.over(own)),
        settings=_under(of_play, learning.settings),
    )


STUDY = YamlKind(
    "a study", LARGEST_STUDY, 32, "`title`, `world`, `conditions` and more; this file is none"
)

Name = Annotated[str, Field(min_length=1, max_length=80)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Choice(_Strict):
    part: Annotated[Any, PlainValidator(lambda value: read_part(str(value)))] = slice(None)
    options: dict[str, str | int] = Field(default_factory=dict)

    def choice(self, settings: Settings) -> Choice:
        return Choice(
            settings.only(tasks=True),
            self.part,
            {name: str(value) for name, value in self.options.items()},
        )


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

SHIPPED_PARTS = frozenset({"rpms.teaching.another_game:in_alfworld"})
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
    form, common = reader.read(_Study, tree, (), without=("condition",))
    _check_size(yaml, form)
    if common.memory and form.learn is not None:
        raise yaml.error(
            ("memory",),
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
        choice=form.choice(common),
        engine=form.engine,
        models=tuple(form.models),
        learning=learning,
        tables=tuple(form.tables),
        cases=tuple(cases),
        file=file,
    )


def _check_size(yaml: YamlFile, form: _Study) -> None:
    """Refuse a study with more runs than anybody plays."""
    if len(form.conditions) * max(1, len(form.models)) > MOST_CELLS:
        counted = f"{len(form.conditions):,} conditions and {len(form.models):,} models"
        problem = f"{counted}: a study has at most {MOST_CELLS:,} of both multiplied"
        raise yaml.error(("conditions",), problem)


class _Reader:
    """Reads the sections of one file: the fields that are a section's own, and the settings in
    it.
    """

    def __init__(self, yaml: YamlFile, folder: Path, parts: Collection[str]) -> None:
        self._yaml = yaml
        self._folder = folder
        self._parts = parts

    def learning(self, given: object, common: Settings) -> Learning:
        """The section `learn`: of the study's settings, all but those that choose tasks hold."""
        form, own = self.read(_Learn, given, ("learn",), without=("condition", "memory"))
        rules_of_play = Settings(steps=common.steps, simplifications=common.simplifications)
        choice = form.choice(own.over(rules_of_play))
        settings = own.only(tasks=False).over(common.only(tasks=False))
        return Learning(choice, form.rounds, form.later, form.model, settings)

    def case(self, name: str, given: object, shared: Settings, learning: Learning | None) -> Case:
        """One of `conditions`: named by its key, unless it names a condition or a method."""
        path = ("conditions", name)
        form, own = self.read(_Case, given, path, without=_OF_TASKS)
        named = own.condition or (None if own.agent else name)
        settings = own.over(Settings(condition=named)).over(shared)
        try:
            return _case(name, settings, form.round, learning)
        except InputError as error:
            raise self._yaml.error(path, f"{name}: {error}") from None

    def read(
        self, form: type[_Form], given: object, path: tuple[str, ...], without: Collection[str]
    ) -> tuple[_Form, Settings]:
        """One section: its own fields, and the settings in it but for some."""
        entries = given if isinstance(given, Mapping) else {}
        allowed = [name for name in KNOBS if name not in without]
        knobs = {name: value for name, value in entries.items() if name in allowed}
        own = {name: value for name, value in entries.items() if name not in knobs}
        for name in (*SEAMS, "harvest", "reader"):
            self._refuse_code((*path, name), str(knobs.get(name, "")))
        self._refuse_models_of_code(entries, path)
        try:
            read = form.model_validate(own)
        except ValidationError as error:
            raise self._mistake(error, path, (*form.model_fields, *allowed)) from None
        try:
            return read, Settings.read(knobs, self._folder)
        except SettingError as error:
            inner = (error.inner,) if error.inner else ()
            where = (*path, error.name, *inner)
            raise self._yaml.error(where, f"{'.'.join(where)}: {error.problem}") from None

    def _refuse_models_of_code(self, entries: Mapping[str, Any], path: tuple[str, ...]) -> None:
        """Refuse a section's `model`, or any of its `models`, that is `module:name`."""
        models = entries.get("models")
        named = models if isinstance(models, list) else [entries.get("model", "")]
        for model in named:
            if names_code(str(model)):
                self._refuse_code((*path, "models" if models else "model"), str(model))

    def _refuse_code(self, path: tuple[str, ...], name: str) -> None:
        """Refuse `module:name` of a module that the command does not allow."""
        module, sign, _ = name.partition(":")
        if sign and "/" not in name and module not in self._parts and name not in SHIPPED_PARTS:
            problem = (
                f"{path[-1]}: a study runs no code of its own: add --parts and the module's name to"
                " the command"
            )
            raise self._yaml.error(path, problem)

    def _mistake(
        self, error: ValidationError, path: tuple[str, ...], names: Collection[str]
    ) -> FileError:
        first = error.errors(include_url=False)[0]
        where = (*path, *first["loc"])
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            problem = "is missing"
        elif first["type"] == "extra_forbidden":
            hint = f"; {nearest(str(where[-1]), names)}"
            if where[-1] in _OF_TASKS:
                hint = ": all conditions of a study play the same tasks"
            problem = f"is not a known field{hint}"
        place = ".".join(map(str, where))
        return self._yaml.error(where, f"{place}: {problem}" if place else problem)


def _case(name: str, settings: Settings, number: int | None, learning: Learning | None) -> Case:
    """One condition: by its own name where that is one of the 2x2's, else as its fields say."""
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
        raise InputError(
            f"{given}: there is no such file; `rpms study list` names the studies that come with"
            " rpms"
        )
    raise InputError(f"there is no study {str(given)!r}; {nearest(str(given), known)}")
