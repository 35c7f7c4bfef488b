"""Runs as tables for other programs: episodes, steps and candidates as CSV, JSON lines or
Parquet, each read once.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import whole_letters
from rpms.logic.errors import FileError, InputError
from rpms.models.accounting import cost
from rpms.report.gather import is_going, runs_in
from rpms.store.episodes import EpisodeRecord, StepRecord
from rpms.store.own_folders import replaced_folder
from rpms.store.price import Price
from rpms.store.runs import RunFolder, Timing

CONTENTS = "export.json"
"""File that says what an export holds, and of which runs."""


def _columns(kind: type, *names: str) -> dict[str, type]:
    return dict.fromkeys(names, kind)


_KEYS = {
    **_columns(str, "run", "condition", "model", "world", "split"),
    **_columns(int, "seed", "epoch"),
    "task": str,
}
"""First columns of every line."""
_TOKENS = _columns(
    int, "prompt_tokens", "cached_tokens", "written_tokens", "completion_tokens", "requests"
)
TABLES: Mapping[str, Mapping[str, type]] = {
    "episodes": {
        **_KEYS,
        **_columns(str, "type", "goal", "goal_signature", "ending"),
        "won": bool,
        "score": float,
        **_columns(int, "steps", "infeasible", "foreseeable", "repeated_failures"),
        **_columns(int, "contradictions", "reasks", "replaced", "truncated", "shortened"),
        **_columns(int, "crowded", "remembered", "surprises"),
        **_TOKENS,
        **_columns(float, "seconds", "model_seconds", "cost"),
        "error": str,
    },
    "steps": {
        **_KEYS,
        "step": int,
        **_columns(str, "observation", "thought", "answer", "action", "command", "result"),
        "score": float,
        "infeasible": bool,
        **_columns(str, "objection", "location", "holding", "belief", "state_signature"),
        "sub_goal": str,
        **_columns(int, "percent", "candidates", "refused"),
        **_columns(str, "replaced", "contradictions", "surprises", "repairs", "extras"),
        **_TOKENS,
        **_columns(float, "model_seconds", "cost"),
    },
    "candidates": {
        **_KEYS,
        "step": int,
        **_columns(str, "entry", "kind", "wording"),
        **_columns(float, "score", "rank"),
        **_columns(str, "fate", "reason", "rule", "fact"),
    },
    "prompts": {**_KEYS, **_columns(int, "step", "message"), **_columns(str, "role", "content")},
}
"""The columns of each table with their types; unknown values are empty."""
USUAL = tuple(name for name in TABLES if name != "prompts")
"""Tables that are written unless others are named: prompts, each as it was sent, are long."""

Line = dict[str, Any]
Write = Callable[[Line], object]


class _TableLine(NamedTuple):
    """A line, and the table that it belongs to."""

    table: str
    line: Line


class Exported(NamedTuple):
    """Tables that were written."""

    lines: Mapping[str, int]
    """Numbers of lines by file."""
    notes: Sequence[str]
    """Notes on gaps."""


def export(inputs: Sequence[Path], to: str, out: Path, tables: Sequence[str] = USUAL) -> Exported:
    """Write tables of runs to a folder, new or of an older export."""
    _check_choices(to, tables)
    runs = runs_in(inputs)
    notes: list[str] = []
    counts = dict.fromkeys(tables, 0)
    with replaced_folder(out, "an export") as beside:
        with ExitStack() as stack:
            write: dict[str, Write] = {}
            for name in tables:
                writer = _WRITERS[to](beside / f"{name}.{to}", TABLES[name])
                write[name] = stack.enter_context(writer)
            for condition, run in runs:
                for table, line in _lines(condition, run, notes, tables):
                    write[table]({name: _writable(line.get(name)) for name in TABLES[table]})
                    counts[table] += 1
        files = {f"{name}.{to}": lines for name, lines in counts.items()}
        folders = [str(run.folder) for _, run in runs]
        contents = {"export": 1, "files": files, "runs": folders, "notes": notes}
        text = json.dumps(contents, indent=1)
        (beside / CONTENTS).write_text(f"{text}\n", encoding="utf-8")
    return Exported(files, notes)


def _check_choices(to: str, tables: Sequence[str]) -> None:
    """Refuse a format or a table that there is not."""
    if to not in _WRITERS:
        raise InputError(f"--to {to[:40]!r}: choose one of {', '.join(_WRITERS)}")
    unknown = [name for name in tables if name not in TABLES]
    if unknown or not tables:
        named = ", ".join(unknown) or "(none)"
        raise InputError(f"--tables {named}: choose of {', '.join(TABLES)}")


def _writable(value: Any) -> Any:
    """A value without half characters, which no file can hold."""
    return whole_letters(value) if isinstance(value, str) else value


def _lines(
    condition: str, run: RunFolder, notes: list[str], tables: Sequence[str]
) -> Iterator[_TableLine]:
    """The lines of a run's episodes; missing episodes are noted."""
    timings = run.timings()
    price = run.price()
    keys = _keys(condition, run)
    damaged: list[str] = []
    done = 0
    for task in run.protocol.tasks:
        if not is_there(run.file(task)):
            continue
        try:
            record = run.episode(task)
        except FileError as error:
            damaged.append(str(error))
            continue
        done += 1
        for table, line in _of_episode(record, timings.get(task), price, tables):
            yield _TableLine(table, {**keys, "task": task, **line})
    notes.extend(damaged)
    total = len(run.protocol.tasks)
    if done + len(damaged) < total:
        why = "is being played" if is_going(run.folder) else "is not finished"
        notes.append(f"{run.folder} {why}: {done} of {total} episodes are there and exported")


def _keys(condition: str, run: RunFolder) -> Line:
    """The columns that all lines of a run share."""
    settings = run.protocol.settings
    keys: Line = {"run": str(run.folder), "condition": condition}
    keys["seed"] = _whole(settings.get("seed"))
    keys["epoch"] = _whole(settings.get("epoch", 1))
    for name in ("model", "world", "split"):
        keys[name] = str(settings.get(name, ""))
    return keys


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _of_episode(
    record: EpisodeRecord, timing: Timing | None, price: Price | None, tables: Sequence[str]
) -> Iterator[_TableLine]:
    """The lines of an episode that stand in some tables."""
    for each in _usual_lines(record, timing, price):
        if each.table in tables:
            yield each
    if "prompts" in tables:
        yield from _prompt_lines(record)


def _usual_lines(
    record: EpisodeRecord, timing: Timing | None, price: Price | None
) -> Iterator[_TableLine]:
    """The line of an episode, then those of its steps and of the candidates of each."""
    row = record.row
    spent = [_spent(step, timing, place, price) for place, step in enumerate(record.steps)]
    episode = _values("episodes", record, row.usage, row)
    episode["ending"] = str(row.ending)
    episode["seconds"] = None if timing is None else timing.seconds
    for name in ("requests", "model_seconds", "cost"):
        of_steps = [each[name] for each in spent]
        episode[name] = None if None in of_steps else sum(of_steps)
    yield _TableLine("episodes", episode)
    for step, taken in zip(record.steps, spent, strict=True):
        yield _TableLine("steps", {**_step(step), **taken})
        for candidate in step.candidates:
            line = {"step": step.number, **_values("candidates", candidate)}
            yield _TableLine("candidates", line)


def _prompt_lines(record: EpisodeRecord) -> Iterator[_TableLine]:
    """The messages of each step, as its model got them."""
    for step in record.steps:
        messages = record.prompt(step.number).messages()
        for number, message in enumerate(messages, start=1):
            line: Line = {"step": step.number, "message": number}
            line["role"] = message.role
            line["content"] = message.content
            yield _TableLine("prompts", line)


def _spent(step: StepRecord, timing: Timing | None, place: int, price: Price | None) -> Line:
    """Time and requests of a step, as far as the run's timings tell."""
    usage = None if timing is None else timing.usage_of(place, step.usage)
    if usage is None:
        return dict.fromkeys(("requests", "model_seconds", "cost"))
    paid = cost(usage, price)
    return {"requests": usage.requests, "model_seconds": usage.seconds, "cost": paid}


def _values(table: str, *sources: object) -> Line:
    """The columns of a table that some values have by the same names; if several have one, the last
    counts.
    """
    found: Line = {}
    for source in sources:
        for name in TABLES[table]:
            if hasattr(source, name):
                found[name] = getattr(source, name)
    return found


def _step(step: StepRecord) -> Line:
    """The columns of a step, without those about time and cost."""
    belief = step.belief
    extras = step.extras
    surprises = [f"{one.kind}: {one.text} [{one.line}]" for one in step.surprises]
    return {
        **_values("steps", belief, step.usage, step),
        "step": step.number,
        "holding": "\n".join(belief.holding),
        "belief": "\n".join(belief.lines),
        "state_signature": belief.signature,
        "sub_goal": step.progress.text,
        "percent": step.progress.percent,
        "candidates": len(step.candidates),
        "refused": len(extras.get("refused", ())),
        "replaced": str(extras.get("replaced", "")),
        "contradictions": "\n".join(step.contradictions),
        "surprises": "\n".join(surprises),
        "repairs": "\n".join(step.repairs),
        "extras": json.dumps(extras, ensure_ascii=False) if extras else "",
    }


@contextmanager
def _csv(file: Path, columns: Mapping[str, type]) -> Iterator[Write]:
    """Write CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it;
    in the other forms it stays as it is.
    """
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        yield lambda line: writer.writerow(map(_cell, line.values()))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return value


@contextmanager
def _json_lines(file: Path, _columns: Mapping[str, type]) -> Iterator[Write]:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        yield lambda line: stream.write(json.dumps(line, ensure_ascii=False) + "\n")


_WRITERS = {"csv": _csv, "jsonl": _json_lines}
FORMS = tuple(_WRITERS)
