"""The commands, put together: thin. Each reads its options, calls one function and prints what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperOption

from rpms import __version__
from rpms.cli.screen import complain, say

ENTRY_POINTS = "rpms.commands"
"""Functions that add the commands of a world, or of another package, to the application they are given."""

_PLAY, _LOOK, _KNOW, _MORE = "Play and learn", "Look at results", "Rules, memory and worlds", "Beyond"


class Known(NamedTuple):
    """A command of this package: where it is, and what `rpms --help` says of it without loading it."""

    module: str
    panel: str
    summary: str
    function: str = ""
    """The function that it is; none for a group of commands."""
    group: str = "app"
    """Name of the group in the module."""


COMMANDS = {
    "play": Known(
        "playing",
        _PLAY,
        "Play one task and watch every step: observation, belief, rules, memories with verdicts, action.",
        "play_one",
    ),
    "run": Known(
        "playing",
        _PLAY,
        "Play the tasks of a split and keep every episode; the same command continues where it stopped.",
        "run_split",
    ),
    "learn": Known(
        "playing",
        _PLAY,
        "Play a split round by round and write what it teaches as a frozen memory: snippets, lessons and schemas.",
        "learn_split",
    ),
    "study": Known("study", _PLAY, "Run, list and check studies: one YAML file for each table of the paper."),
    "insights": Known(
        "learn",
        _PLAY,
        "Let a model draw insights from recorded runs; `--agent expel` plays with these and with the won episodes.",
        "gather_insights",
    ),
    "report": Known(
        "report",
        _LOOK,
        "Write static pages about runs, a study or a guard's log; they open from disk, without a server.",
        "report",
    ),
    "view": Known("report", _LOOK, "Open a report in a browser, or serve it at a port.", "view"),
    "show": Known(
        "export",
        _LOOK,
        "Print an episode from beginning to end: observations, thoughts, actions, and how it ended.",
        "show",
    ),
    "table": Known("report", _LOOK, "Print one of the paper's tables from runs or a study.", "table"),
    "leaderboard": Known(
        "report",
        _LOOK,
        "Rank models and agents by success, for each set of tasks they played under the same settings.",
        "leaderboard",
    ),
    "export": Known(
        "export",
        _LOOK,
        "Write the episodes, steps and recalled memories of runs as tables; a run may still be going on.",
        "export_runs",
    ),
    "convert": Known(
        "export",
        _LOOK,
        "Write the episodes of run folders anew in the present form; what was converted already stays as it is.",
        "convert",
    ),
    "worlds": Known("worlds", _KNOW, "List the worlds, check one, or write a new one to start from."),
    "prompts": Known("worlds", _KNOW, "The texts of a world's prompts.", group="prompts"),
    "models": Known("models", _KNOW, "List the models that can be used, or check that one answers."),
    "rules": Known("rules", _KNOW, "Show, check, learn, test and compare rule manuals."),
    "memory": Known("memory", _KNOW, "Show, count, merge, compare and clean memories."),
    "docs": Known(
        "docs",
        _LOOK,
        "List the sections of the documentation that have all the words; without words, the pages by task.",
        "search_docs",
    ),
    "guard": Known("guard", _MORE, "Check the tool calls of agents against a manual."),
    "envs": Known("envs", _MORE, "Use the worlds from other programs: Gymnasium ids, an OpenEnv server."),
    "games": Known("alfworld", _KNOW, "Make ALFWorld games, so that you need not download any."),
    "verify": Known(
        "alfworld",
        _KNOW,
        "Replay games recorded with ALFWorld's own engine on the native one; exit code 1 if anything differs.",
        "verify",
    ),
}
_OWN_WORLD = "rpms.worlds.alfworld.cli:register"
"""The entry point behind this package's own world's commands."""


def make_app(word: str | None = None) -> typer.Typer:
    """The application: whole, or for a command line whose command is `word`, with that one loaded and no other."""
    app = typer.Typer(
        name="rpms",
        help="Rules, memory and a deterministic belief for LLM agents in closed text worlds.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    problems: list[str] = []

    @app.callback()
    def _main(
        _version: Annotated[
            bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
        ] = False,
    ) -> None:
        for problem in problems:
            complain(f"note: {problem}")

    of_world = word is None or (word in COMMANDS and COMMANDS[word].module == "alfworld")
    for name, known in COMMANDS.items():
        if known.module == "alfworld" and of_world:
            continue  # the world's own function adds it
        if word not in (None, name):
            app.command(name, help=known.summary, rich_help_panel=known.panel)(_not_loaded)
            continue
        module = import_module(f"rpms.cli.{known.module}")
        if known.function:
            app.command(name, rich_help_panel=known.panel)(getattr(module, known.function))
        else:
            app.add_typer(getattr(module, known.group), name=name, rich_help_panel=known.panel)
    if of_world or word not in COMMANDS:
        problems += add_others(app, () if of_world else (_OWN_WORLD,))
    join_lines(app)
    return app


def _not_loaded() -> None:
    """Stands for a command that the command line does not name."""


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {__version__}")
        raise typer.Exit


def __getattr__(name: str) -> typer.Typer:
    """Make the whole application when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = app = make_app()
    return app


def add_others(app: typer.Typer, but: Sequence[str] = ()) -> list[str]:
    """Add the commands that worlds and other packages bring; says of those that cannot be loaded why."""
    from importlib.metadata import entry_points  # noqa: PLC0415  few commands wait for it

    problems = []
    for point in sorted(entry_points(group=ENTRY_POINTS)):
        if point.value in but:
            continue
        try:
            point.load()(app)
        except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            problems.append(f"the commands of {point.name} ({point.value}) cannot be loaded: {reason}")
    return problems


class _Explained(TyperCommand):
    """A command whose options' help may name what only the settings know: `{conditions}`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for each in self.params:
            if isinstance(each, TyperOption) and each.help and "{" in each.help:
                from rpms.play.settings import NAMES  # noqa: PLC0415  few ask for help

                each.help = each.help.format_map({name: ", ".join(known) for name, known in NAMES.items()})
        super().format_help(ctx, formatter)


def join_lines(app: typer.Typer) -> None:
    """Make each paragraph of every command's help one line; typer does so with the first alone."""
    for command in app.registered_commands:
        command.cls = _Explained
        text = command.help or (command.callback.__doc__ if command.callback else None) or ""
        command.help = "\n\n".join(" ".join(each.split()) for each in cleandoc(text).split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)
