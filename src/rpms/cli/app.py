"""The commands, put together: thin. Each reads its options, calls one function and prints what it returns."""

from __future__ import annotations

from importlib.metadata import entry_points
from inspect import cleandoc
from typing import Annotated

import typer

from rpms import __version__
from rpms.cli import (
    envs,
    export,
    guard,
    insights,
    learn,
    memory,
    models,
    play,
    report,
    rules,
    run,
    show,
    study,
    worlds,
)
from rpms.cli.screen import complain, say

ENTRY_POINTS = "rpms.commands"
"""Functions that add the commands of a world, or of another package, to the application they are given."""

app = typer.Typer(
    name="rpms",
    help="Rules, memory and a deterministic belief for LLM agents in closed text worlds.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    for problem in _not_loaded:
        complain(f"note: {problem}")


_PLAY, _LOOK, _KNOW, _MORE = "Play and learn", "Look at results", "Rules, memory and worlds", "Beyond"
app.command("play", rich_help_panel=_PLAY)(play.play_one)
app.command("run", rich_help_panel=_PLAY)(run.run_split)
app.command("learn", rich_help_panel=_PLAY)(learn.learn_split)
app.add_typer(study.app, name="study", rich_help_panel=_PLAY)
app.command("insights", rich_help_panel=_PLAY)(insights.gather_insights)
app.command("report", rich_help_panel=_LOOK)(report.report)
app.command("view", rich_help_panel=_LOOK)(report.view)
app.command("show", rich_help_panel=_LOOK)(show.show)
app.command("table", rich_help_panel=_LOOK)(report.table)
app.command("leaderboard", rich_help_panel=_LOOK)(report.leaderboard)
app.command("export", rich_help_panel=_LOOK)(export.export_runs)
app.command("convert", rich_help_panel=_LOOK)(export.convert)
app.add_typer(worlds.app, name="worlds", rich_help_panel=_KNOW)
app.add_typer(worlds.prompts, name="prompts", rich_help_panel=_KNOW)
app.add_typer(models.app, name="models", rich_help_panel=_KNOW)
app.add_typer(rules.app, name="rules", rich_help_panel=_KNOW)
app.add_typer(memory.app, name="memory", rich_help_panel=_KNOW)
app.add_typer(guard.app, name="guard", rich_help_panel=_MORE)
app.add_typer(envs.app, name="envs", rich_help_panel=_MORE)


def add_others(app: typer.Typer) -> list[str]:
    """Add the commands that worlds and other packages bring; says of those that cannot be loaded why."""
    problems = []
    for point in sorted(entry_points(group=ENTRY_POINTS)):
        try:
            point.load()(app)
        except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            problems.append(f"the commands of {point.name} ({point.value}) cannot be loaded: {reason}")
    return problems


def join_lines(app: typer.Typer) -> None:
    """Make each paragraph of every command's help one line: where it breaks is the terminal's matter, not the file's.

    Typer does so with the first paragraph alone.
    """
    for command in app.registered_commands:
        text = command.help or (command.callback.__doc__ if command.callback else None) or ""
        command.help = "\n\n".join(" ".join(each.split()) for each in cleandoc(text).split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)


_not_loaded = add_others(app)
join_lines(app)
