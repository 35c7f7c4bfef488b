"""Studies as values: what is played, under which conditions, with what learning before."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from rpms.logic.errors import FileError, InputError, WorldError
from rpms.models.catalogue import FROM_MENU, backend_of
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import Condition
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.setting_values import worded
from rpms.play.settings import NO_MEMORY, Settings
from rpms.play.sources import can_play
from rpms.play.understanding import READER_CONTROLS
from rpms.worlds.base import Setting, Task, World


@dataclass(frozen=True)
class Written:
    """Lines on which the keys of a study's file, or of one of its sections, stand: messages name
    them.
    """

    file: Path = Path()
    lines: Mapping[str, int] = field(default_factory=dict)

    @contextmanager
    def at(self, *keys: str) -> Iterator[None]:
        """A context that turns an InputError into a mistake on the line of the first of these keys
        that is written.
        """
        try:
            yield
        except FileError:
            raise
        except InputError as error:
            for key in keys:
                if key in self.lines:
                    raise FileError(self.file, self.lines[key], f"{key}: {error}") from None
            raise

    def without(self, keys: Collection[str]) -> Written:
        """The lines, without those of keys that are overridden."""
        left = {key: line for key, line in self.lines.items() if key not in keys}
        return replace(self, lines=left)


@dataclass(frozen=True)
class Choice:
    """A choice of a world's tasks."""

    settings: Settings = field(default_factory=Settings)
    """The settings that choose tasks: split, task, per_task, sample, limit, steps,
    simplifications."""
    part: slice = field(default_factory=lambda: slice(None))
    """Part of them that is played; see `read_part`."""
    options: Mapping[str, str] = field(default_factory=dict)
    written: Written = Written()

    def setting(self, world: World, base: Setting) -> Setting:
        """The setting of its games; an option that the world does not have is an InputError."""
        with self.written.at("options", "simplifications"):
            made = self.settings.setting(world, self._base(base))
            world.chosen(made)
        return made

    def tasks(self, world: World, base: Setting) -> Sequence[Task]:
        """The tasks, in the world's order; none at all is an InputError.

        The mistake is on the line of the key that is wrong, unless the games of a split are just
        not on this machine.
        """
        try:
            return self._find_tasks(world, base)
        except InputError:
            if self.can_be_listed(world, base):
                with self.written.at(self._wrong_key(world, base)):
                    raise
            raise

    def _find_tasks(self, world: World, base: Setting) -> Sequence[Task]:
        found, _ = self.settings.tasks(world, self._base(base), self.part)
        if not found:
            raise InputError(f"{world.name}: no tasks to run in the split {self._split(world)!r}")
        return tuple(found)

    def _split(self, world: World) -> str:
        return self.settings.split or world.splits[0]

    def _wrong_key(self, world: World, base: Setting) -> str:
        """The key that is to blame where tasks cannot be chosen."""
        split = self._split(world)
        if split not in world.splits:
            return "split"
        try:
            world.tasks(split, self._base(base))
        except InputError:
            return "options"
        return "task"

    def can_be_listed(self, world: World, base: Setting) -> bool:
        """False if the games of a split are not on this machine; a split that a world does not
        have counts as listed, and has no games.
        """
        split = self._split(world)
        try:
            world.tasks(split, replace(base, options={}))
        except (InputError, WorldError):
            return split not in world.splits
        return True

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
        """The condition, with every switch that makes no difference at its default, so that equal
        ones compare as equal.
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
        """The case's method; a study's trials and insights hold for the methods that use them."""
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
    return replace(settings, reader=own.reader) if own.reader in READER_CONTROLS else settings


@dataclass(frozen=True)
class Study:
    """A comparison: one world, its tasks, models, and conditions."""

    title: str
    world: str
    cases: tuple[Case, ...]
    about: str = ""
    """Remarks on the numbers for whoever reads them."""
    players: Mapping[str, str] = field(default_factory=dict)
    """Remarks by the model that they are about."""
    choice: Choice = Choice()
    engine: str = "native"
    models: tuple[str, ...] = ()
    learning: Learning | None = None
    tables: tuple[str, ...] = ()
    """The report's tables that it is about, by name."""
    file: Path = Path()
    written: Written = Written()

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
        """The conditions that a model plays: all of them, or those with a menu if it chooses from
        one; InputError if there are none.
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
        """The study with settings that go before its own, named in its title."""
        of_tasks = given.only(tasks=True)
        of_play = given.only(tasks=False)
        learning = self.learning
        if of_play.memory is not None:
            learning = None
        elif learning is not None:
            learning = _learning_under(learning, of_tasks, of_play)
        study = replace(
            self,
            choice=_choice_under(self.choice, of_tasks),
            cases=tuple(
                replace(case, settings=_under(of_play, case.settings)) for case in self.cases
            ),
            learning=learning,
        )
        if not given.given:
            return study
        settings = [f"{name} {worded(value) or 'none'}" for name, value in given.given.items()]
        overridden = ", ".join(settings)
        note = f"Run with {overridden}, and so not the study as it is written."
        about = f"{note} {self.about}".rstrip()
        return replace(study, title=f"{self.title} ({overridden})", about=about)

    def only(self, names: str) -> Study:
        """The study with only some of its conditions, by names in which * stands for any text; with
        all if no name is given.
        """
        wanted = [name.strip() for name in names.split(";") if name.strip()]
        if not wanted:
            return self
        cases: list[Case] = []
        for case in self.cases:
            if any(fnmatchcase(case.name, name) for name in wanted):
                cases.append(case)
        if not cases:
            names_here = "; ".join(case.name for case in self.cases)
            raise InputError(f"no condition is called {names!r}; choose from {names_here}")
        return replace(self, cases=tuple(cases))

    def on_the_learned_split(self) -> Study:
        """A rehearsal for a machine that lacks the games of the test: of the games that are learned
        from, one half is learned from and the other played.
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


def _choice_under(choice: Choice, given: Settings) -> Choice:
    """A choice with settings before its own: what these say is not written in the file."""
    settings = given.over(choice.settings)
    return replace(choice, settings=settings, written=choice.written.without(given.given))


def _learning_under(learning: Learning, of_tasks: Settings, of_play: Settings) -> Learning:
    """Learning, with settings that come before its own.

    If the model under test learns by itself, a limit on tasks holds for learning, too, which takes
    as long as playing. A learner that the study names, such as the planner, learns from all tasks.
    """
    own = learning.choice.settings
    given_limit = of_tasks.limit if learning.model is None else None
    limits = [limit for limit in (given_limit, own.limit) if limit is not None]
    limited = replace(of_tasks, split=None, limit=min(limits, default=None))
    return replace(
        learning,
        choice=_choice_under(learning.choice, limited),
        settings=_under(of_play, learning.settings),
    )
