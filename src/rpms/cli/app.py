"""The commands, put together: thin.

Each reads its options, calls one function and prints what it returns. A command's module is
imported when the command line names it, so that help and mistakes do not wait for the others.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from inspect import cleandoc, signature
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

import rpms
from rpms.cli.knobs import declare, with_shared
from rpms.cli.screen import complain, say, show_logs

_PLAY = "Play and learn"
_LOOK = "Look at results"
_KNOW = "Rules, memory and worlds"
_MORE = "Beyond"


class LazyCommand(NamedTuple):
    """A command of this package, which is not imported yet."""

    panel: str
    """The command's panel in `rpms --help`."""
    module: str
    name: str
    """Name of its function, or of its group of commands, in the module."""
    summary: str = ""
    """The first sentence of its help, told here so that `rpms --help` imports none of them."""

    def load(self) -> Any:
        """Import the command: a function, or a `typer.Typer` with commands of its own."""
        return getattr(import_module(f"rpms.cli.{self.module}"), self.name)


COMMANDS = {
    "play": LazyCommand(
        _PLAY,
        "play",
        "main",
        "Play one task and watch every step: observation, belief, rules, memories with verdicts,"
        " action.",
    ),
    "run": LazyCommand(
        _PLAY,
        "run",
        "main",
        "Play the tasks of a split and keep every episode; the same command continues where it"
        " stopped.",
    ),
    "learn": LazyCommand(
        _PLAY,
        "run",
        "learn_memory",
        "Play a split round by round and write what it teaches as a frozen memory: snippets,"
        " lessons and schemas.",
    ),
    "study": LazyCommand(
        _PLAY,
        "study",
        "app",
        "Run, list and check studies: one YAML file for each table of the paper.",
    ),
    "teach": LazyCommand(
        _PLAY,
        "teach",
        "app",
        "Teach a small model to read what it is told: pairs, train, correct.",
    ),
    "insights": LazyCommand(
        _PLAY,
        "run",
        "gather_insights",
        "Let a model draw insights from recorded runs; `--agent expel` plays with these and with"
        " the won episodes.",
    ),
    "report": LazyCommand(
        _LOOK,
        "report",
        "report",
        "Write static pages about runs, a study or a guard's log; they open from disk, without a"
        " server.",
    ),
    "view": LazyCommand(
        _LOOK, "report", "view", "Open a report in a browser, or serve it at a port."
    ),
    "show": LazyCommand(
        _LOOK,
        "report",
        "show",
        "Print an episode from beginning to end: observations, thoughts, actions, and how it"
        " ended.",
    ),
    "table": LazyCommand(
        _LOOK,
        "report",
        "table",
        "Print one of the paper's tables from runs or a study, or write it into a page.",
    ),
    "leaderboard": LazyCommand(
        _LOOK,
        "report",
        "leaderboard",
        "Rank models and agents by success, for each set of tasks they played under the same"
        " settings.",
    ),
    "export": LazyCommand(
        _LOOK,
        "report",
        "export_runs",
        "Write the episodes, steps and recalled memories of runs as tables; a run may still be"
        " going on.",
    ),
    "worlds": LazyCommand(
        _KNOW,
        "worlds",
        "app",
        "List the worlds, check one, or write a new one to start from.",
    ),
    "prompts": LazyCommand(_KNOW, "worlds", "prompts", "The texts of a world's prompts."),
    "models": LazyCommand(
        _KNOW,
        "models",
        "app",
        "List the models that can be used, or check that one answers.",
    ),
    "rules": LazyCommand(
        _KNOW, "rules", "app", "Show, check, learn, test and compare rule manuals."
    ),
    "memory": LazyCommand(
        _KNOW, "memory", "app", "Show, count, merge, compare and clean memories."
    ),
    "docs": LazyCommand(
        _LOOK,
        "docs",
        "search_docs",
        "List the sections of the documentation that have all the words; without words, the pages"
        " by task.",
    ),
    "guard": LazyCommand(_MORE, "guard", "app", "Check the tool calls of agents against a manual."),
    "envs": LazyCommand(
        _MORE,
        "worlds",
        "envs",
        "Use the worlds from other programs: Gymnasium ids, an OpenEnv server.",
    ),
    "games": LazyCommand(
        _KNOW,
        "games",
        "games",
        "Make ALFWorld games, so that you need not download any.",
    ),
}
OF_GROUPS = {
    "rules learn": LazyCommand(_KNOW, "rules_learn", "learn"),
    "rules verify": LazyCommand(_KNOW, "rules_learn", "check_against"),
    "teach pairs": LazyCommand(_PLAY, "teach", "write_pairs"),
    "teach train": LazyCommand(_PLAY, "teach", "train_model"),
    "teach correct": LazyCommand(_PLAY, "teach", "correct_student"),
    "teach show": LazyCommand(_PLAY, "teach", "show_taught"),
    "study run": LazyCommand(_PLAY, "study", "main"),
    "guard mcp": LazyCommand(_MORE, "guard_mcp", "run"),
}
"""Commands of groups that stand in another module than their group, or share its options, in the
order of the help."""
_NOT_IMPORTED: Any = None


class LazyCommands(TyperGroup):
    """The group `rpms`: imports a command of the table when the command line names it."""

    _describing = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name in COMMANDS:
            self.commands.setdefault(name, _NOT_IMPORTED)  # names to suggest for a mistyped one

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; while the help of all is written, one that says no more than its summary."""
        known = COMMANDS.get(cmd_name)
        if known is None:
            return super().get_command(ctx, cmd_name)
        if self._describing:
            return _described(cmd_name, known)
        return imported(cmd_name, known)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._describing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._describing = False


def make_app() -> typer.Typer:
    """The application, none of whose commands is imported yet."""
    app = typer.Typer(
        name="rpms",
        cls=LazyCommands,
        help="Rules, memory and a deterministic belief for LLM agents in closed text worlds.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def _main(
        _version: Annotated[
            bool,
            typer.Option(
                "--version",
                callback=_show_version,
                is_eager=True,
                help="Print the version and exit.",
            ),
        ] = False,
    ) -> None: ...

    return app


def imported(name: str, known: LazyCommand) -> Any:
    """A command of the table as click runs it: one command, or a group of several."""
    found = known.load()
    command: Any
    if isinstance(found, typer.Typer):
        group = _completed(name, found)
        join_lines(group)
        command = typer.main.get_group(group)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(name)(command_of(name, found))
        join_lines(alone)
        command = typer.main.get_command(alone)
    command.name = name
    command.rich_help_panel = known.panel
    return command


def _completed(name: str, group: typer.Typer) -> typer.Typer:
    """A group with those of its commands that stand elsewhere, each with its options."""
    own = {each.name for each in group.registered_commands}
    for path, other in OF_GROUPS.items():
        first, _, word = path.partition(" ")
        if first == name and word not in own:
            group.command(word)(command_of(path, other.load()))
    for each in group.registered_commands:
        if f"{name} {each.name}" not in OF_GROUPS:
            declare(each.callback, f"{name} {each.name}")
    return group


def command_of(path: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as a command: its parameters get the options that `options.toml` tells."""
    if "settings" in signature(function).parameters:
        return with_shared(path, function)
    declare(function, path)
    return function


def _described(name: str, known: LazyCommand) -> Any:
    """A stand-in that has a command's name, summary and panel."""
    app = typer.Typer(add_completion=False)
    app.command(name, help=known.summary)(lambda: None)
    command: Any = typer.main.get_command(app)
    command.name = name
    command.rich_help_panel = known.panel
    return command


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {rpms.__version__}")
        raise typer.Exit


class _Explained(TyperCommand):
    """A command whose options' help may name what only the settings know: `{conditions}`."""

    def invoke(self, ctx: Any) -> Any:
        """Run it, and print what an interrupted command says about going on."""
        show_logs()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            if str(stop):
                complain(f"rpms: {stop}")
                raise SystemExit(130) from None
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for each in self.params:
            if isinstance(each, TyperOption) and each.help and "{" in each.help:
                each.help = each.help.format_map(_names_in_settings())
        super().format_help(ctx, formatter)


@cache
def _names_in_settings() -> Mapping[str, str]:
    """The names that a setting's values have, such as those of all conditions."""
    from rpms.play.settings import NAMES  # noqa: PLC0415  few ask for help

    return {name: ", ".join(known) for name, known in NAMES.items()}


def join_lines(app: typer.Typer) -> None:
    """Make each paragraph of every command's help one line; typer does so with the first alone."""
    for command in app.registered_commands:
        command.cls = _Explained
        text = command.help or (command.callback and command.callback.__doc__) or ""
        paragraphs = cleandoc(text).split("\n\n")
        command.help = "\n\n".join([" ".join(each.split()) for each in paragraphs])
