"""Commands that look at finished runs: `rpms report`, `view`, `table`, `leaderboard`, `show`,
`export`.
"""

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from rpms.cli.screen import complain, say
from rpms.cli.serving import make_live_server, make_server, serve
from rpms.foreign.file_reader import beside, is_there
from rpms.guard.log import is_guard_log
from rpms.logic.errors import InputError
from rpms.play.task_choice import place_of
from rpms.report.export import export
from rpms.store.episodes import EpisodeRecord, StepRecord, read_episode
from rpms.store.files import change_text, read_text
from rpms.store.run_summaries import CUT
from rpms.store.runs import PROTOCOL, RunFolder

_LOOPBACK = "127.0.0.1"
_TAKES = "a report is made of folders of `rpms run`, a study's folder, or the log of a guard"


InputsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Run folders to compare, a study's folder, or a guard's log.", show_default=False
    ),
]
PublishedOption = Annotated[
    bool, typer.Option("--published", help="Show the paper's numbers too, marked as published.")
]
FormOption = Annotated[str, typer.Option(help="terminal, markdown, latex or csv.")]


def needs_extra(*names: str) -> Any:
    """Import modules of `rpms.report` that need the extra, or raise a line that says so."""
    try:
        found = [import_module(f"rpms.report.{name}") for name in names]
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        raise InputError(f"this needs {name}: pip install 'rpms[report]'") from None
    return found if len(found) > 1 else found[0]


def report(
    inputs: InputsArgument,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; by default `report` in the first folder."),
    ] = None,
    title: Annotated[str, typer.Option(help="The heading of the overview.")] = "",
    published: PublishedOption = False,
    pages: Annotated[
        int, typer.Option(help="Episodes with pages of their own; tables count all.", min=0)
    ] = 2_000,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help=(
                "Serve a live page of the runs in a folder, on this machine alone, until Ctrl-C;"
                " write nothing."
            ),
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(help="With --watch: the port to serve at; 0 takes a free one.", min=0)
    ] = 0,
) -> None:
    """Write static pages about runs, a study or a guard's log; they open from disk, without a
    server.
    """
    if watch:
        _watch(inputs, port)
        return
    for each in inputs:
        _check_input(each)
    page_files = needs_extra("page_files")
    if all(map(is_guard_log, inputs)):
        place = out or beside(inputs[0], f"{inputs[0].stem}.report")
        written = needs_extra("guard_pages").write_guard_report(inputs, place, title=title)
    else:
        place = out or inputs[0] / "report"
        written = needs_extra("pages").write_report(
            inputs, place, title=title, with_published=published, pages=pages
        )
    # those of several models may be alike
    say(*(f"note: {note}" for note in dict.fromkeys(written.notes)))
    say(f"open {written.page}")
    if open_:
        page_files.open_report(written.folder)


def _check_input(path: Path) -> None:
    """Refuse what is no folder and no guard's log."""
    if not is_there(path):
        raise InputError(f"{path}: does not exist; {_TAKES}")
    if path.is_file() and not is_guard_log(path):
        raise InputError(f"{path}: is not a guard's log; {_TAKES}")


def _watch(inputs: list[Path], port: int) -> None:
    """Serve the live page of a folder in which runs are going on."""
    if len(inputs) != 1:
        raise InputError(
            "--watch looks at one folder: that of a run, or of a study with all its runs"
        )
    serve(make_live_server(inputs[0], _LOOPBACK, port), f"{inputs[0]}, live,", _LOOPBACK)


def view(
    folder: Annotated[Path, typer.Argument(help="A report, or a run or study with one in it.")],
    port: Annotated[
        int | None,
        typer.Option(help="Serve it at this port instead, as over SSH; 0 takes a free one.", min=0),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen at; anything but loopback lets others read the report."
        ),
    ] = _LOOPBACK,
) -> None:
    """Open a report in a browser, or serve it at a port."""
    inner = folder / "report"
    found = inner if (inner / "index.html").is_file() else folder
    if port is None:
        needs_extra("page_files").open_report(found)
        return
    serve(make_server(found, host, port), str(found), host)


def leaderboard(
    inputs: Annotated[
        list[Path], typer.Argument(help="Run folders and studies.", show_default=False)
    ],
    form: FormOption = "terminal",
    out: Annotated[
        Path | None, typer.Option(help="Also write it as a page into this folder.")
    ] = None,
) -> None:
    """Rank models and agents by success, for each set of tasks they played under the same
    settings.
    """
    leaderboards, table, page_files = needs_extra("leaderboards", "table", "page_files")
    found = leaderboards.leaderboards(inputs)
    say(*(table.render(each, form) for each in found))
    if out is not None:
        shown = {"title": "Leaderboard", "tables": found}
        say(f"open {page_files.write_single(out, 'leaderboard.html', shown).page}")


def table(
    name: Annotated[
        str, typer.Argument(help="Which table, such as ablation, or `all` that apply.")
    ],
    inputs: InputsArgument,
    form: FormOption = "terminal",
    published: PublishedOption = False,
    into: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Write it as Markdown into this page, between <!-- table NAME --> and <!-- end of"
                " table NAME -->."
            )
        ),
    ] = None,
) -> None:
    """Print one of the paper's tables from runs or a study, or write it into a page."""
    gather, table, tables = needs_extra("gather", "table", "tables")
    tables.check_table_name(name)  # a misspelt name does not wait for runs to be read
    made = tables.named_tables(name, gather.gather(inputs), with_published=published)
    if into is not None:
        text = "\n".join(table.render(each, "markdown") for each in made)
        before = read_text(into)
        page = table.with_table(before, name, text)
        if page is None:
            begin, end = table.markers(name)
            raise InputError(f"{into}: has no place for this table: write {begin} and {end} in it")
        change_text(into, before, page)
        say(f"the table {name} is in {into}")
        return
    printed: set[str] = set()
    for each in made:
        shown = table.without_notes(each, printed) if form == "terminal" else each
        say(table.render(shown, form))


def export_runs(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or a study's folder.", show_default=False)
    ],
    to: Annotated[str, typer.Option(help="The format: csv or jsonl.")] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; by default export/FORMAT in the first folder."),
    ] = None,
    tables: Annotated[
        str,
        typer.Option(
            help="The tables to write, separated by commas; also prompts, as they were sent."
        ),
    ] = "episodes,steps,candidates",
) -> None:
    """Write the episodes, steps and recalled memories of runs as tables; a run may still be
    going on.
    """
    names = tuple(dict.fromkeys(name.strip() for name in tables.split(",") if name.strip()))
    folder = out or runs[0] / "export" / to
    files, notes = export(runs, to, folder, names)
    complain(*(f"note: {note}" for note in notes))
    say(*(f"{folder / name}: {lines:,} lines" for name, lines in files.items()))


def show(
    episode: Annotated[
        Path, typer.Argument(help="An episode's file, or a run's folder with --task.")
    ],
    task: Annotated[
        str | None,
        typer.Option(help="In a run's folder: a task's number, its id, or the start of its id."),
    ] = None,
    belief: Annotated[
        bool, typer.Option("--belief", help="Also print the belief and the memories of each step.")
    ] = False,
    prompts: Annotated[
        bool, typer.Option("--show-prompts", help="Also print each prompt in full.")
    ] = False,
) -> None:
    """Print an episode from beginning to end: observations, thoughts, actions, and how it ended."""
    file = episode
    if is_there(episode / PROTOCOL):
        file = _file_of_task(RunFolder(episode), task)
    elif task is not None:
        raise InputError(f"--task needs a run's folder, and {episode} is not one")
    elif os.path.isdir(episode):  # noqa: PTH112  never raises
        raise InputError(
            f"{episode}: is no run: there is no {PROTOCOL} in it; give a run's folder, or the file"
            " of an episode"
        )
    say(*transcript(read_episode(file), belief=belief, prompts=prompts))


def _file_of_task(run: RunFolder, task: str | None) -> Path:
    """The file of a task's episode; without a task, that of the first task that was played."""
    tasks = run.protocol.tasks
    if task is None:
        played = (each for each in tasks if is_there(run.file(each)))
        chosen = next(played, tasks[0])
    else:
        place = place_of(tasks, task)
        if place is None:
            raise InputError(
                f"{run.folder} has no task {task!r}: give a number from 1 to {len(tasks)}, or an id"
            )
        chosen = tasks[place]
    file = run.file(chosen)
    if not is_there(file):
        raise InputError(f"{run.folder}: {chosen} was not played yet")
    return file


def transcript(
    episode: EpisodeRecord, *, belief: bool = False, prompts: bool = False
) -> Iterator[str]:
    """Line after line; on demand with the belief and the memories, or each prompt in full."""
    row = episode.row
    yield f"task: {row.task}"
    yield f"goal: {episode.goal}"
    for step in episode.steps:
        yield from ("", f"step {step.number}", step.observation.strip())
        if belief:
            yield from _known(step)
        if prompts:
            for title, text in episode.prompt(step.number).sections():
                yield f"--- {title}"
                yield text
            yield "---"
        yield from _done(step)
    if episode.steps:
        yield ""
        yield episode.steps[-1].result.strip()
    yield f"ended: {row.ending}{f': {row.error}' if row.error else ''}"
    yield f"{row.steps} steps, {row.infeasible} infeasible, score {row.score:g}"


def _known(step: StepRecord) -> Iterator[str]:
    """A step's belief, sub-goal and memories with their verdicts."""
    for line in step.belief.lines:
        yield f"  {line}"
    yield f"  sub-goal: {step.progress.text} ({step.progress.percent}%)"
    for candidate in step.candidates:
        reason = f": {candidate.reason}" if candidate.reason else ""
        words = " ".join(candidate.wording.split())
        yield f"  memory {candidate.entry} [{candidate.fate}{reason}] {words}"


def _done(step: StepRecord) -> Iterator[str]:
    """A step's lines after its observation: the decision and its outcome."""
    yield from _decided(step)
    yield f"> {step.command or '(no action)'}"
    if step.extras.get("truncated"):
        yield CUT
    if step.infeasible:
        yield f"infeasible: {step.objection}" if step.objection else "infeasible"
    yield from map(str, step.surprises)


def _decided(step: StepRecord) -> Iterator[str]:
    """The reading of the request, the thought, and answers that were refused or replaced."""
    if step.extras.get("reading"):
        yield f"another reading: {step.extras['reading']}"
    for reading in step.extras.get("readings", ()):
        if "taken" in reading:
            yield f"read as: {reading['goal']}"
    if step.thought.strip():
        yield f"thought: {step.thought.strip()}"
    for refusal in step.extras.get("refused", ()):
        yield f"refused: {refusal['command'] or '(no action)'}: {refusal['reason']}"
    if step.extras.get("replaced"):
        yield f"replaced: {step.action or '(no action)'}: {step.extras['replaced']}"
