"""The commands, put together: thin.

Each reads its options, calls one function and prints what it returns. A command's module is
imported when the command line names it, so that help and mistakes do not wait for the others.
"""

from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

import rpms
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
        "learn",
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
        "learn",
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


class LazyCommands(TyperGroup):
    """The group `rpms`: imports a command of the table when the command line names it."""

    _describing = False

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for name, lazy in COMMANDS.items():
            self.commands[name] = _described(name, lazy)  # also for `did you mean`

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; while the help of all is written, one that says no more than its summary."""
        lazy = COMMANDS.get(cmd_name)
        if lazy is None or self._describing:
            return super().get_command(ctx, cmd_name)
        return imported(cmd_name, lazy)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._describing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._describing = False

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and print what an interrupted one says about going on."""
        show_logs()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            if str(stop):
                complain(f"rpms: {stop}")
                raise SystemExit(130) from None
            raise


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


def imported(name: str, lazy: LazyCommand) -> Any:
    """A command of the table as click runs it: one command, or a group of several."""
    found = lazy.load()
    command: Any
    if isinstance(found, typer.Typer):
        command = typer.main.get_group(found)
    else:
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        command = typer.main.get_command(alone)
    command.name = name
    command.rich_help_panel = lazy.panel
    _join_lines(command)
    return command


def _described(name: str, lazy: LazyCommand) -> Any:
    """A stand-in that has a command's name, summary and panel."""
    app = typer.Typer(add_completion=False)
    app.command(name, help=lazy.summary)(lambda: None)
    command: Any = typer.main.get_command(app)
    command.name = name
    command.rich_help_panel = lazy.panel
    return command


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {rpms.__version__}")
        raise typer.Exit


def _join_lines(command: Any) -> None:
    """Make each paragraph of a command's help, and of those below it, one line.

    Typer does so with the first paragraph alone.
    """
    paragraphs: list[str] = []
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        paragraphs.append(" ".join(paragraph.split()))
    command.help = "\n\n".join(paragraphs)
    for below in getattr(command, "commands", {}).values():
        _join_lines(below)
