"""The command line: thin. Each command reads its options, calls one function and prints what it returns."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from rpms import __version__
from rpms.cli import games, learn, memory, models, play, report, rules, run, study, worlds
from rpms.core.errors import InputError, RPMSError

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
        typer.echo(f"rpms {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


app.command("play")(play.play_one)
app.command("run")(run.run_split)
app.command("learn")(learn.learn_split)
app.command("report")(report.report)
app.command("view")(report.view)
app.command("table")(report.table)
app.command("verify")(games.verify)
app.add_typer(rules.app, name="rules")
app.add_typer(games.app, name="games")
app.add_typer(models.app, name="models")
app.add_typer(memory.app, name="memory")
app.add_typer(study.app, name="study")
app.add_typer(worlds.app, name="worlds")


def main() -> None:
    """Run a command. A user's mistake is one line and exit code 2; what a world or model did wrong is exit code 1."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's Ctrl-C
    try:
        app()
    except RPMSError as error:
        typer.echo(f"rpms: {error}", err=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except KeyboardInterrupt:
        typer.echo("rpms: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
