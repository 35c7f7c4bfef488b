"""`rpms worlds`: list the worlds, check one, write a new one; `rpms envs`: worlds elsewhere."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rpms.cli import options
from rpms.cli.models import ready_cell
from rpms.cli.screen import make_console, say
from rpms.cli.shared_options import DataOption, EngineOption, WorldArgument, WorldOptions
from rpms.conformance import Status, check_world
from rpms.foreign.own_code import error_in_words
from rpms.foreign.shown import excerpt
from rpms.logic.errors import ANY_ERROR, InputError, RPMSError, WorldError, nearest
from rpms.play.sources import manual_of
from rpms.report.table import TableCell, grid
from rpms.store.own_folders import write_folder
from rpms.store.prompt_files import prompts_text
from rpms.worlds.base import World
from rpms.worlds.registry import find_world, new_world, world_names

envs = typer.Typer(
    help="Use the worlds from other programs: Gymnasium ids, an OpenEnv server.",
    no_args_is_help=True,
)
prompts = typer.Typer(help="The texts of a world's prompts.", no_args_is_help=True)
app = typer.Typer(
    help="List the worlds, check one, or write a new one to start from.",
    invoke_without_command=True,
)

_STYLES = {Status.OK: "green", Status.FAILED: "bold red", Status.SKIPPED: "yellow"}


@app.callback()
def list_worlds(context: typer.Context) -> None:
    """List the worlds, and what has to be installed before one can be played."""
    if context.invoked_subcommand is not None:
        return
    rows: list[tuple[str | TableCell, ...]] = []
    problems: list[str] = []
    for name in world_names():
        try:
            world = _finished(name)
        except RPMSError as error:
            problems.append(str(error))
            continue
        missing = world.not_installed()
        if missing:
            problems.append(f"{name}: {missing}")
        cells = (", ".join(world.splits), ", ".join(world.engines), str(world.step_budget))
        rows.append((name, ready_cell(ready=not missing), *cells))
    console = make_console()
    console.print(grid(("world", "ready", "splits", "engines", "steps"), rows, words=5))
    for problem in problems:
        console.print(Text(problem, style="red"), soft_wrap=True)


def _finished(name: str) -> World:
    """A world that is complete: it has what a World must have, and its manual can be read. A
    mistake is an error of one line.
    """
    world = find_world(name)
    try:
        manual_of(world)
    except InputError:
        raise
    except ANY_ERROR as error:  # a stranger's world may raise anything
        reason = excerpt(error) if isinstance(error, WorldError) else error_in_words(error)
        raise InputError(
            f"world {world.name!r} is not finished: its manual cannot be had: {reason}"
        ) from None
    return world


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="The new world's name, such as lighthouse.")],
    out: Annotated[Path, typer.Option(help="Where to make its folder.")] = Path(),
) -> None:
    """Write a small but complete world to start from: game, belief, manual, tests."""
    texts = new_world(name)
    folder = out / name
    write_folder(folder, texts)
    say(f"{folder}: a world of {len(texts)} files. Try it, then make it yours:")
    # told from a world's name
    quoted = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    say(f"  rpms worlds check {quoted}\n  rpms play {quoted}")


@app.command("check")
def check(
    world: WorldArgument,
    split: Annotated[
        str | None, typer.Option(help="The split; the world's own first one by default.")
    ] = None,
    data: DataOption = None,
    engine: EngineOption = "native",
    option: WorldOptions = None,
    games: Annotated[
        int, typer.Option(help="How many tasks to try, spread over the split.", min=1)
    ] = 6,
    steps: Annotated[int, typer.Option(help="Random steps in each task.", min=1)] = 30,
    seed: Annotated[int, typer.Option(help="The same seed, the same walks.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only check this property, by name.", show_default=False),
    ] = None,
) -> None:
    """Check the properties that every world must have; the exit code is 1 if one fails."""
    found = _finished(world)
    setting = options.make_setting(found, data, engine, option)
    console = make_console(soft_wrap=True)
    failures = 0
    for finding in check_world(found, setting, split, games, steps, seed, only or ()):
        failures += finding.status is Status.FAILED
        line = Text.assemble(
            (f"{finding.status:8}", _STYLES[finding.status]), f"{finding.name:10} ", finding.claim
        )
        console.print(line)
        console.print(
            Text(f"{'':19}{finding.detail}", style="" if finding.status is Status.FAILED else "dim")
        )
    if failures:
        console.print(Text(f"{failures} of the properties above do not hold"))
        raise typer.Exit(1)


@prompts.command("show")
def show_prompts(
    world: Annotated[str, typer.Argument(help="A world.")],
    preset: Annotated[
        str, typer.Option(help="As prompts of this preset have them: paper or strict.")
    ] = "paper",
) -> None:
    """Print a world's instruction, example and headings as a file for `--prompts`, to change
    what you like.
    """
    if preset not in ("paper", "strict"):
        raise InputError(f"--preset: {nearest(preset, ('paper', 'strict'))}")
    wording = find_world(world).wording
    if preset == "paper":
        wording = wording.terse()
    elif wording.choosing:
        wording = replace(wording, example=wording.choosing)
    say(prompts_text(wording).rstrip("\n"))


@envs.command("list")
def list_ids() -> None:
    """List the Gymnasium ids of the installed worlds, with their splits."""
    try:
        from rpms.envs.gym import env_id  # noqa: PLC0415  needs the extra
    except ImportError as error:
        raise InputError(str(error)) from None
    for name in world_names():
        say(f"{env_id(name):28} {', '.join(find_world(name).splits)}")


@envs.command("serve")
def serve(
    world: Annotated[
        list[str] | None,
        typer.Argument(help="The worlds to serve; by default all of them.", show_default=False),
    ] = None,
    port: Annotated[
        int, typer.Option(help="The port; 0 picks a free one.", min=0, max=65535)
    ] = 8000,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; the default is reachable from this machine only."
        ),
    ] = "127.0.0.1",
    sessions: Annotated[int, typer.Option(help="How many sessions may run at once.", min=1)] = 64,
    idle: Annotated[
        float, typer.Option(help="End a session after this many seconds without use.", min=1)
    ] = 600,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="A further name of this server, or of pages that may use it.", show_default=False
        ),
    ] = None,
    data: DataOption = None,
    engine: EngineOption = "native",
) -> None:
    """Serve the worlds as OpenEnv environments until Ctrl-C."""
    try:
        from rpms.envs.admission import TOKEN_VARIABLE, admission  # noqa: PLC0415
        from rpms.envs.openenv import (  # noqa: PLC0415  needs the extra
            Served,
            listen,
            make_app,
            make_server,
        )
    except ImportError as error:
        raise InputError(str(error)) from None
    worlds = tuple(map(find_world, world or world_names()))
    for each in worlds:
        if engine not in each.engines:
            raise InputError(
                f"{each.name} has no engine {engine!r}; choose one of {', '.join(each.engines)}"
            )
    admitted = admission(host, allow_host or (), os.environ.get(TOKEN_VARIABLE, ""))
    served = Served(worlds, data.absolute() if data else None, engine)
    names = ", ".join(each.name for each in worlds)
    with listen(host, port) as place:
        address, taken = place.getsockname()[:2]
        say(
            f"serving {names} at http://{address}:{taken}, up to {sessions} sessions; Ctrl-C"
            " stops it"
        )
        make_server(make_app(served, sessions, idle, admitted)).run(sockets=[place])
