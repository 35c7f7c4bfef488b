"""`rpms envs`: the worlds for other people's loops."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from rpms.cli.screen import say
from rpms.core.errors import InputError
from rpms.worlds.registry import find_world, world_names

app = typer.Typer(help="Use the worlds from other programs: Gymnasium ids, an OpenEnv server.", no_args_is_help=True)


@app.command("list")
def list_ids() -> None:
    """List the Gymnasium ids of the installed worlds, with their splits."""
    try:
        from rpms.envs.gym import env_id  # noqa: PLC0415  needs the extra
    except ImportError as error:
        raise InputError(str(error)) from None
    for name in world_names():
        say(f"{env_id(name):28} {', '.join(find_world(name).splits)}")


@app.command("serve")
def serve(
    world: list[str] | None = None,
    port: int = 8000,
    host: str = "127.0.0.1",
    sessions: int = 64,
    idle: float = 600,
    allow_host: list[str] | None = None,
    data: Path | None = None,
    engine: str = "native",
) -> None:
    """Serve the worlds as OpenEnv environments until Ctrl-C."""
    try:
        from rpms.envs.admission import TOKEN_VARIABLE, admission  # noqa: PLC0415
        from rpms.envs.openenv import Served, listen, make_app, make_server  # noqa: PLC0415  needs the extra
    except ImportError as error:
        raise InputError(str(error)) from None
    worlds = tuple(map(find_world, world or world_names()))
    if lacking := next((each for each in worlds if engine not in each.engines), None):
        raise InputError(f"{lacking.name} has no engine {engine!r}; choose one of {', '.join(lacking.engines)}")
    admitted = admission(host, allow_host or (), os.environ.get(TOKEN_VARIABLE, ""))
    served = Served(worlds, data.absolute() if data else None, engine)
    names = ", ".join(each.name for each in worlds)
    with listen(host, port) as place:
        address, taken = place.getsockname()[:2]
        say(f"serving {names} at http://{address}:{taken}, up to {sessions} sessions; Ctrl-C stops it")
        make_server(make_app(served, sessions, idle, admitted)).run(sockets=[place])
