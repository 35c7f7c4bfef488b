"""`rpms show`: an episode as text; `rpms export`: runs as tables; `rpms convert`: run folders of earlier versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rpms.cli.screen import complain, say
from rpms.core.errors import InputError
from rpms.foreign.file_reader import is_there
from rpms.play.task_choice import place_of
from rpms.report.export import export
from rpms.store.episodes import EpisodeRecord, StepRecord, read_episode
from rpms.store.old_episodes import convert_run
from rpms.store.runs import PROTOCOL, RunFolder


def export_runs(
    runs: list[Path],
    to: str = "csv",
    out: Path | None = None,
    tables: str = "episodes,steps,candidates",
) -> None:
    """Write the episodes, steps and recalled memories of runs as tables; a run may still be going on."""
    names = tuple(dict.fromkeys(name.strip() for name in tables.split(",") if name.strip()))
    written = export(runs, to, out or runs[0] / "export" / to, names)
    for note in written.notes:
        complain(f"note: {note}")
    for name, lines in written.files.items():
        say(f"{written.folder / name}: {lines:,} lines")


def convert(runs: list[Path]) -> None:
    """Write the episodes of run folders anew in the present form; what was converted already stays as it is."""
    for folder in runs:
        say(f"{folder}: {convert_run(folder):,} episodes converted")


def show(episode: Path, task: str | None = None, belief: bool = False, prompts: bool = False) -> None:
    """Print an episode from beginning to end: observations, thoughts, actions, and how it ended."""
    file = episode
    if is_there(episode / PROTOCOL):
        run = RunFolder(episode)
        tasks = run.protocol.tasks
        if task is None:
            chosen = next((each for each in tasks if is_there(run.file(each))), tasks[0])
        elif (place := place_of(tasks, task)) is not None:
            chosen = tasks[place]
        else:
            raise InputError(f"{episode} has no task {task!r}: give a number from 1 to {len(tasks)}, or an id")
        file = run.file(chosen)
        if not is_there(file):
            raise InputError(f"{episode}: {chosen} was not played yet")
    elif task is not None:
        raise InputError(f"--task needs a run's folder, and {episode} is not one")
    for line in transcript(read_episode(file), belief=belief, prompts=prompts):
        say(line)


def transcript(episode: EpisodeRecord, *, belief: bool = False, prompts: bool = False) -> Iterator[str]:
    """Line after line; on demand with the belief and the memories, or each prompt in full."""
    row = episode.row
    yield f"task: {row.task}"
    yield f"goal: {episode.goal}"
    for step in episode.steps:
        yield ""
        yield f"step {step.number}"
        yield step.observation.strip()
        if belief:
            yield from _known(step)
        if prompts:
            for block in episode.prompt(step.number).blocks:
                yield f"--- {block.part}, {block.tokens} tokens"
                yield block.text
            yield "---"
        yield from _done(step)
    if episode.steps:
        yield ""
        yield episode.steps[-1].result.strip()
    yield f"ended: {row.ending}{f': {row.error}' if row.error else ''}"
    yield f"{row.steps} steps, {row.infeasible} infeasible, score {row.score:g}"


def _known(step: StepRecord) -> Iterator[str]:
    yield from (f"  {line}" for line in step.belief.lines)
    yield f"  sub-goal: {step.progress.text} ({step.progress.percent}%)"
    for candidate in step.candidates:
        reason = f": {candidate.reason}" if candidate.reason else ""
        yield f"  memory {candidate.entry} [{candidate.fate}{reason}] {' '.join(candidate.wording.split())}"


def _done(step: StepRecord) -> Iterator[str]:
    if why := step.extras.get("reading"):
        yield f"another reading: {why}"
    yield from (f"read as: {each['goal']}" for each in step.extras.get("readings", ()) if "taken" in each)
    if step.thought.strip():
        yield f"thought: {step.thought.strip()}"
    for refusal in step.extras.get("refused", ()):
        yield f"refused: {refusal['command'] or '(no action)'}: {refusal['reason']}"
    if replaced := step.extras.get("replaced"):
        yield f"replaced: {step.action or '(no action)'}: {replaced}"
    yield f"> {step.command or '(no action)'}"
    if step.infeasible:
        yield f"infeasible{f': {step.objection}' if step.objection else ''}"
    yield from (f"surprise, {one.kind}: {one.text}{f' [{one.line}]' if one.line else ''}" for one in step.surprises)
