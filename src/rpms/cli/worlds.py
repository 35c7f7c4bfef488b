"""`rpms worlds`: which worlds there are, and whether one keeps what every world must."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rpms.cli import options
from rpms.cli.screen import make_console
from rpms.core.errors import RPMSError
from rpms.play.world_check import Status, check_world
from rpms.worlds.registry import find_world, world_names

app = typer.Typer(help="Which worlds are installed, and whether one is sound.", invoke_without_command=True)

_STYLES = {Status.OK: "green", Status.FAILED: "bold red", Status.SKIPPED: "yellow"}


@app.callback()
def list_worlds(context: typer.Context) -> None:
    """List the installed worlds."""
    if context.invoked_subcommand is not None:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("world", "splits", "engines", "steps"):
        table.add_column(heading, overflow="fold")
    for name in world_names():
        try:
            world = find_world(name)
        except RPMSError as error:
            table.add_row(Text(name), Text(str(error), style="red"))
            continue
        cells = (name, ", ".join(world.splits), ", ".join(world.engines), str(world.step_budget))
        table.add_row(*map(Text, cells))
    make_console().print(table)


@app.command("check")
def check(
    world: options.WorldName,
    split: Annotated[str | None, typer.Option(help="The split; the world's own first one by default.")] = None,
    data: options.DataFolder = None,
    engine: options.EngineName = "native",
    option: options.WorldOptions = None,
    games: Annotated[int, typer.Option(min=1, help="How many tasks to try, from all over the split.")] = 6,
    steps: Annotated[int, typer.Option(min=1, help="Random steps in each.")] = 30,
    seed: Annotated[int, typer.Option(help="The same seed, the same walks.")] = 0,
    only: Annotated[list[str] | None, typer.Option(help="Only this property, by name.", show_default=False)] = None,
) -> None:
    """Try the properties every world must have; exit code 1 if one fails."""
    found = find_world(world)
    setting = options.make_setting(found, data, engine, option)
    console = make_console(soft_wrap=True)
    failures = 0
    for finding in check_world(found, setting, split, games, steps, seed, only or ()):
        failures += finding.status is Status.FAILED
        line = Text.assemble((f"{finding.status:8}", _STYLES[finding.status]), f"{finding.name:10} ", finding.claim)
        console.print(line)
        console.print(Text(f"{'':19}{finding.detail}", style="" if finding.status is Status.FAILED else "dim"))
    if failures:
        console.print(Text(f"{failures} of the properties above do not hold"))
        raise typer.Exit(1)
