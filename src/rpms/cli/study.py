"""`rpms study`: run the conditions of a study file, and show the results."""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from rpms.cli import options
from rpms.cli.panels import takes_options
from rpms.cli.resources import Resources
from rpms.cli.screen import complain, make_console, say
from rpms.cli.setting_options import SettingOptions
from rpms.cli.shared_options import EpochsOption
from rpms.cli.study_tables import estimates_table, results_table, waiting_time
from rpms.foreign.shown import excerpt
from rpms.learning.insights import gather_experience
from rpms.learning.rounds import LearningDesign, learn, learned
from rpms.logic.errors import InputError
from rpms.models.catalogue import NO_LLM, parse_model_name
from rpms.models.windows import Fetch, context_window
from rpms.models.wire import fetch
from rpms.parts import unused
from rpms.play.design import NamedModel, RunDesign
from rpms.play.display import progress
from rpms.play.run import Listener, RunOptions
from rpms.play.settings import Settings
from rpms.report.comparison import Comparison
from rpms.report.table import Table, terminal, without_notes
from rpms.store.expel_material import Experience
from rpms.store.files import read_text
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from rpms.study.cells import Means, design_round
from rpms.study.estimate import ANSWER, STEPS, TURN, Estimate, estimate_study
from rpms.study.running import run_study
from rpms.study.studies import Learning, Study
from rpms.study.study_checks import check_study
from rpms.study.study_files import find_study, read_study, shipped_studies
from rpms.study.study_layout import StudyLayout
from rpms.worlds.base import Setting, World
from rpms.worlds.registry import find_world, world_named

StudyArgument = Annotated[
    Path,
    typer.Argument(
        help="A study's file, or a name that `rpms study list` prints.", show_default=False
    ),
]
StudyWorldOption = Annotated[
    str | None,
    typer.Option(help="The study's world by its folder, where it is not installed; its code runs."),
]
PartsOption = Annotated[
    list[str] | None,
    typer.Option(
        help="A module whose parts the study names; its code runs.",
        metavar="MODULE",
        show_default=False,
    ),
]

app = typer.Typer(
    help="Run, list and check studies: one YAML file for each table of the paper.",
    no_args_is_help=True,
)

_SHOWN_ALREADY = ("main", "ablation", "scores", "efficiency")
"""Tables of the paper whose numbers stand in the table of results, too: only their notes are
printed beside it."""
_USUAL_TABLES = ("ablation", "significance")
"""Tables of a study that names none: who compares two conditions wants to know if they differ."""
_WIDTH = 120
"""Least width of tables off a terminal: as `rpms table` prints them, no number cut off."""


@app.command("list")
def list_studies() -> None:
    """List the studies that come with rpms: name, world and title."""
    for name, file in shipped_studies().items():
        study = read_study(file)
        say(f"{name:28} {study.world:18} {study.title}")
    say("\n`rpms study show NAME` prints one, `rpms study run NAME` runs it")


@app.command("show")
def show_study(
    file: StudyArgument,
) -> None:
    """Print a study's file: its tasks, conditions and tables, to read or to save and change."""
    say(read_text(find_study(file)).rstrip("\n"))


@app.command("check")
def check(
    files: Annotated[list[Path], typer.Argument(help="Study files.", show_default=False)],
    world: StudyWorldOption = None,
    parts: PartsOption = None,
) -> None:
    """Check study files; the first mistake is printed with its file and line, and the exit code
    is 2.
    """
    if world is not None:
        find_world(world)
    for file in map(find_study, files):
        study = read_study(file, parts or ())
        played_in = _world_of(study)
        setting = _setting_of(study, played_in, None)
        check_study(study, played_in, setting)
        say(f"{file}: ok, {len(study.cases)} conditions of {study.world}: {study.title}")


@app.command("run")
@takes_options(Resources, SettingOptions, without=("condition",))
def main(
    resources: Resources,
    given: SettingOptions,
    file: StudyArgument,
    out: Annotated[
        Path | None, typer.Option(help="The study's folder; by default results/NAME.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="One or more models, instead of the study's own.", show_default=False),
    ] = None,
    pool: Annotated[
        Path | None,
        typer.Option(help="Where runs are kept; studies that share it share their runs."),
    ] = None,
    world: StudyWorldOption = None,
    parts: PartsOption = None,
    only: Annotated[
        str,
        typer.Option(
            help="Only conditions of these names; * stands for any text, several with ;",
            metavar="NAME;…",
        ),
    ] = "",
    epochs: EpochsOption = 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only estimate what it would take.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            help="Write a page at the end, if the extra `report` is installed.",
        ),
    ] = True,
) -> None:
    """Run what is missing of a study and print its results; the same command continues where it
    stopped.

    A setting given here overrides the file's, in every condition and in learning.
    """
    settings = given.read()
    file = find_study(file)
    if world is not None:
        find_world(world)
    study = _under_settings(read_study(file, parts or ()).only(only), settings, resources.data)
    models = study.models_to_run(model or ())
    folder = out or Path("results", file.stem)
    layout = StudyLayout(folder, pool or folder)
    console = _wide_console()
    asked = _models_asked(study, models)
    prices = {name: resources.price_of(name) for name in asked}
    _note_idle_parts(study)
    _note_unused_parts(study, models)
    means = _AtConsole(study, console, resources, prices, epochs).means
    if dry_run:
        estimates = estimate_study(study, models, means, layout)
        _print_estimates(console, study, estimates, resources, means)
        return
    if report:
        _note_missing_packages()
    _check_models(study, resources, asked, layout)
    results = run_study(study, models, means, layout, say)
    console.print()
    console.print(results_table(results))
    if report:
        _report(console, folder, study, models)
    _print_title(console, study, models)
    say(f"runs and index: {folder}")


def _under_settings(study: Study, settings: Settings, data: Path | None) -> Study:
    """A study with the settings of the command line, and no more tasks than these allow."""
    changed = study.under(settings)
    return changed if settings.limit is None else _limited(changed, settings, data)


def _world_of(study: Study) -> World:
    """The study's world; one that is not installed is a mistake on its line."""
    line = study.written.lines.get("world", 1)
    return world_named(study.world, f"{study.file}:{line}: world: {excerpt(study.world)!r}")


def _setting_of(study: Study, world: World, data: Path | None) -> Setting:
    """The setting of the study's games; an engine that the world lacks is a mistake on its line."""
    with study.written.at("engine"):
        return options.make_setting(world, data, study.engine, None)


def _wide_console() -> Console:
    console = make_console()
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    return console


def _models_asked(study: Study, models: Sequence[str]) -> tuple[str, ...]:
    """The models that play, and those beside them that learn a memory."""
    learners = [study.learner(name) for name in models]
    return tuple(dict.fromkeys((*models, *filter(None, learners))))


def _check_models(
    study: Study, resources: Resources, models: Iterable[str], layout: StudyLayout
) -> None:
    """Refuse models that cannot be reached, before anything is played."""
    for name in models:
        resources.check(_named(study, resources, name), begun=layout.begun(name))


def _print_estimates(
    console: Console,
    study: Study,
    estimates: Sequence[Estimate],
    resources: Resources,
    means: Means,
) -> None:
    """Print what a study still costs, and how long its answers take."""
    console.print(estimates_table(estimates, means.prices))
    say(waiting_time(estimates, resources.workers or 1))
    _explain_estimates(study, means.epochs)


def _print_title(console: Console, study: Study, models: Sequence[str]) -> None:
    console.print()
    console.print(Text(study.title, style="bold"))
    about = study.about_of(*models)
    if about:
        console.print(Text(about))


def _limited(study: Study, settings: Settings, data: Path | None) -> Study:
    """A pilot: --limit holds for the tasks that are played, and for those that are learned from."""
    if settings.split is None:
        study = _rehearsed(study, data)
    if study.learning is not None and study.learning.model is None:
        complain(f"note: the memory is learned from at most {settings.limit} tasks, too: --limit")
    return study


def _note_idle_parts(study: Study) -> None:
    """Say which parts of an enforcement do nothing in this world."""
    conditions = [case.condition for case in study.cases]
    if study.learning is not None:
        conditions.append(study.learning.condition(1))
    world = _world_of(study)
    options.note_idle_parts(world, [each.enforcement for each in conditions])


def _note_unused_parts(study: Study, models: Sequence[str]) -> None:
    """Say of each condition which parts of the user's own it never calls."""
    silent = [name for name in models if options.silent_model(name)]
    all_silent = silent[0] if len(silent) == len(models) else ""
    for case in study.cases:
        never = unused(case.settings.seams, case.condition, silent=all_silent)
        complain(*(f"note: {case.name}: {words}" for words in never))


def _explain_estimates(study: Study, epochs: int) -> None:
    step = f"{TURN} tokens more each step, {ANSWER} an answer, and {STEPS:.0%} of the step budget"
    times = f", once for each of {epochs} epochs" if epochs > 1 else ""
    say(f"a guess takes the first prompt, {step}{times}; nothing was run")
    if any(len(case.names) > 1 for case in study.cases):
        say("of methods with several trials, only the first is counted")


def _rehearsed(study: Study, data: Path | None) -> Study:
    """The study; on the split that it learns from if its own is not installed, with a note."""
    world = _world_of(study)
    setting = _setting_of(study, world, data)
    try:
        study.choice.tasks(world, setting)
    except InputError as error:
        learning = study.learning
        if learning is None or learning.choice.settings.split == study.choice.settings.split:
            raise
        other = study.on_the_learned_split()
        other.choice.tasks(world, setting)  # raises if these tasks are missing too
        played = other.choice.settings.split
        complain(
            f"note: {error}",
            f"note: this pilot plays {played}, and its numbers say nothing about other splits",
        )
        return other
    return study


def _named(study: Study, resources: Resources, model: str) -> NamedModel:
    """A model of the study; of one that learns and is no language model, nothing is recorded."""
    named = resources.model(model, study.cases[0].settings)
    learns = study.learning is not None and model == study.learning.model
    if learns and parse_model_name(model).provider.backend in NO_LLM:
        return replace(named, record=None)
    return named


@dataclass(frozen=True)
class _AtConsole:
    """A study as this command runs it, with its options and on its screen."""

    study: Study
    console: Console
    resources: Resources
    prices: Mapping[str, Price | None]
    epochs: int
    _windows: dict[tuple[str, int | None], int] = field(default_factory=dict)
    _ask: Fetch = field(default_factory=lambda: cache(fetch))
    """One server tells of all its models at once."""

    @cached_property
    def means(self) -> Means:
        world = _world_of(self.study)
        return Means(
            world,
            _setting_of(self.study, world, self.resources.data),
            partial(_named, self.study, self.resources),
            self.learn,
            self.window,
            workers=self.resources.workers,
            runner=self.resources.player(),
            listener=self.listen,
            prices=self.prices,
            gather=self.gather,
            meter=self.resources.meter(self.prices),
            epochs=self.epochs,
        )

    def window(self, model: str, settings: Settings) -> int:
        """The context window of a model. It is asked for, or assumed if it must be, once for each
        model.
        """
        key = (model, settings.context)
        if key not in self._windows:
            found = context_window(*key, self.resources.base_url, self._ask)
            if found.note:
                complain(f"note: {model}: {found.note}")
            self._windows[key] = found.tokens
        return self._windows[key]

    def listen(self, what: str) -> Listener:
        """Say what is played, and show how it goes."""
        say(what)
        return progress(self.console, self.prices.get(what.rpartition(", ")[0]))

    def gather(self, folders: Sequence[Path], played: RunDesign) -> Experience:
        """Have a run's model draw insights from runs."""
        runs = [RunFolder(folder) for folder in folders]
        world = self.means.world.name
        with closing(played.open_model()) as answering:
            return gather_experience(
                runs, world, answering, played.decoding, played.sources.context
            )

    def learn(self, learning: Learning, model: str, out: Path) -> Mapping[int, Path]:
        """Learn the study's memory: the file of each round."""
        means = self.means
        design = LearningDesign(
            design_round(learning, 1, model, means),
            learning.rounds,
            learning.condition(1),
            learning.condition(2),
            harvest=learning.settings.harvesting,
        )
        run_options = RunOptions(
            runner=means.runner, price=self.prices.get(model), meter=means.meter
        )

        def listen(number: int) -> Listener:
            return self.listen(f"{model}, learning round {number}")

        rounds = learn(design, out, means.workers, listen, **run_options)
        say("\n".join(learned(rounds)))
        return {result.number: result.file for result in rounds}


_FOR_TABLES = ("numpy",)
_FOR_PAGES = ("matplotlib", "jinja2")
"""Packages of the extra `report` that tests and tables need, and those that pages need beside."""


def _missing(packages: Sequence[str]) -> str:
    return " and ".join(name for name in packages if find_spec(name) is None)


def _note_missing_packages() -> None:
    """Say, before a model is asked anything, which results cannot be made here."""
    remedy = "pip install 'rpms[report]'; `rpms report` makes up for it later"
    for_tables = _missing(_FOR_TABLES)
    for_pages = _missing(_FOR_PAGES)
    if for_tables:
        complain(f"note: no tests, tables and page at the end: {for_tables} is missing; {remedy}")
    elif for_pages:
        complain(f"note: no page at the end: {for_pages} is missing; {remedy}")


def _report(console: Console, folder: Path, study: Study, models: Sequence[str]) -> None:
    """Print the study's tables and write its page, if the packages for them are here."""
    if _missing(_FOR_TABLES):
        return
    from rpms.report.gather import gather  # noqa: PLC0415  loads all that tables are made of

    try:
        # those of other models were printed before
        comparisons = [each for each in gather([folder]) if not each.model or each.model in models]
        _print_tables(console, study, comparisons)
        if not _missing(_FOR_PAGES):
            _write_page(folder, study)
    except InputError as error:
        say(f"no page: {error}")


def _write_page(folder: Path, study: Study) -> None:
    from rpms.report.pages import write_report  # noqa: PLC0415  needs the extra

    written = write_report([folder], folder / "report", title=study.title)
    say(f"tables, figures and every episode: {written.page}")


def _print_tables(console: Console, study: Study, comparisons: Sequence[Comparison]) -> None:
    """Print the tables that a study is about, each note once, and what is missing in them."""
    from rpms.report.tables import applicable, main_table  # noqa: PLC0415  needs the extra

    printed: set[str] = set()
    for name in study.tables or _USUAL_TABLES:
        made = (main_table(comparisons),) if name == "main" else applicable(name, comparisons)
        for table in made:
            _print_table(console, without_notes(table, printed), notes_only=name in _SHOWN_ALREADY)
    say(*(f"\n{line}" for line in _missing_in(comparisons, printed)))


def _print_table(console: Console, table: Table, *, notes_only: bool) -> None:
    """Print a table, or its notes alone where its numbers were shown already."""
    if notes_only:
        shown = "\n".join(table.notes)
    else:
        shown = terminal(table, max(console.width, _WIDTH)).rstrip("\n")
    if shown:
        console.print()
        console.print(Text(shown), soft_wrap=not notes_only)


def _missing_in(comparisons: Sequence[Comparison], printed: Container[str]) -> list[str]:
    """Lines about what was left out of some comparisons, without the notes that were told."""
    from rpms.report.notes import omissions  # noqa: PLC0415  needs the extra
    from rpms.report.tables import notes_on_empty_tables  # noqa: PLC0415

    missing: dict[str, None] = {}
    for comparison in comparisons:
        missing |= dict.fromkeys(note for note in omissions(comparison) if note not in printed)
    for comparison in comparisons:
        missing |= dict.fromkeys(notes_on_empty_tables(comparison))
    return list(missing)
