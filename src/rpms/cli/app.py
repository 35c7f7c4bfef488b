"""The commands, put together: thin. Each reads its options, calls one function and prints what it returns."""

from __future__ import annotations

from importlib.metadata import entry_points
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


app.command("play")(play.play_one)
app.command("run")(run.run_split)
app.command("learn")(learn.learn_split)
app.command("insights")(insights.gather_insights)
app.command("report")(report.report)
app.command("view")(report.view)
app.command("leaderboard")(report.leaderboard)
app.command("table")(report.table)
app.command("export")(export.export_runs)
app.command("show")(show.show)
app.add_typer(rules.app, name="rules")
app.add_typer(guard.app, name="guard")
app.add_typer(models.app, name="models")
app.add_typer(memory.app, name="memory")
app.add_typer(study.app, name="study")
app.add_typer(worlds.app, name="worlds")
app.add_typer(envs.app, name="envs")


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


_not_loaded = add_others(app)
