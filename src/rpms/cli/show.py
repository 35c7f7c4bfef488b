"""`rpms show`: a whole episode as text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import say
from rpms.core.errors import InputError
from rpms.foreign.files import is_there
from rpms.foreign.json_text import whole_number
from rpms.report.transcript import transcript
from rpms.store.episodes import read_episode
from rpms.store.runs import PROTOCOL, RunFolder


def show(
    episode: Annotated[Path, typer.Argument(help="An episode's file, or a run's folder with --task.")],
    task: Annotated[
        str | None, typer.Option(help="In a run's folder: a task's number, its id, or the start of its id.")
    ] = None,
    belief: Annotated[
        bool, typer.Option("--belief", help="Also print the belief and the memories of each step.")
    ] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Also print each prompt in full.")] = False,
) -> None:
    """Print an episode from beginning to end: observations, thoughts, actions, and how it ended."""
    file = _of_run(episode, task) if is_there(episode / PROTOCOL) else episode
    if file is episode and task is not None:
        raise InputError(f"--task needs a run's folder, and {episode} is not one")
    for line in transcript(read_episode(file), belief=belief, prompts=prompt):
        say(line)


def _of_run(folder: Path, wanted: str | None) -> Path:
    run = RunFolder(folder)
    tasks = run.protocol.tasks
    if wanted is None:
        chosen = next((task for task in tasks if is_there(run.file(task))), tasks[0])
    elif number := whole_number(wanted, len(tasks)):
        chosen = tasks[number - 1]
    else:
        found = [task for task in tasks if wanted and task.startswith(wanted)]
        if not found:
            raise InputError(f"{folder} has no task {wanted!r}: give a number from 1 to {len(tasks)}, or an id")
        chosen = next((task for task in found if task == wanted), found[0])
    if not is_there(run.file(chosen)):
        raise InputError(f"{folder}: {chosen} was not played yet")
    return run.file(chosen)
