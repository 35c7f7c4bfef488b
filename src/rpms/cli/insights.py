"""`rpms insights`: draw from recorded runs what the agent expel plays with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options
from rpms.cli.screen import complain, say
from rpms.core.errors import InputError
from rpms.foreign.files import is_there
from rpms.foreign.shown import one_line
from rpms.learn.insights import gather_experience
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions
from rpms.models.providers import FROM_MENU, Backend, parse_model_name
from rpms.models.windows import context_window
from rpms.play.plan import NamedModel
from rpms.play.trials import trial_folder
from rpms.store.experience import write_experience
from rpms.store.runs import PROTOCOL, RunFolder
from rpms.worlds.registry import world_named


def gather_insights(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of one world; their later trials are read too.")],
    out: Annotated[Path, typer.Option(help="The file to write, such as expel.jsonl.")],
    model: options.ModelName,
    base_url: options.BaseUrl = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, so that it is asked for only once.")
    ] = None,
    context: Annotated[int | None, typer.Option(help="The model's context window, in tokens.", min=256)] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The longest answer, in tokens.", min=1)] = None,
) -> None:
    """Let a model draw insights from recorded runs; `--agent expel` plays with these and with the won episodes.

    Use runs of tasks that you will not test on. Runs of `--agent reflexion` are best: a failure and a success at the
    same task teach most.
    """
    if parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"{model} writes no text; name an LLM with --model")
    if is_there(out):
        raise InputError(f"{out}: exists already; choose another file or remove it")
    folders = [RunFolder(each) for folder in runs for each in _trials(folder)]
    name = str(folders[0].protocol.settings.get("world", ""))
    world = world_named(name, folders[0].folder)
    answering = NamedModel(model, name, ModelOptions(base_url=base_url), record.absolute() if record else None)()
    try:
        decoding = Decoding(max_tokens=max_tokens or world.max_tokens)
        window = context_window(model, context, base_url).tokens
        found = gather_experience(folders, name, answering, decoding, window, lambda line: complain(f"note: {line}"))
    finally:
        answering.close()
    if not found.trajectories:
        raise InputError("no episode of these runs was won, so there is nothing to learn from")
    write_experience(out, found)
    for insight in found.insights:
        say(f"{insight.votes:3d}  {one_line(insight.text)}")
    say(f"{len(found.insights)} insights and {len(found.trajectories)} trajectories are in {out}")


def _trials(folder: Path) -> list[Path]:
    """A run, and its later trials where it has any."""
    found = [folder]
    while is_there((later := trial_folder(folder, len(found))) / PROTOCOL):
        found.append(later)
    return found
