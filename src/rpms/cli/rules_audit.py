"""`rpms rules diff` and `rpms rules review`: lines that differ, and learned lines taken out or put in."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import say
from rpms.core.errors import InputError
from rpms.core.rules import RuleManual
from rpms.foreign.shown import excerpt
from rpms.learn.manual_review import Entry, Relation, Reviewed, compare, decide, lines_of
from rpms.play.sources import choose_manual, manual_of, universal_tier
from rpms.store.evidence import counts_of
from rpms.store.manuals import manual_text, read_manual
from rpms.store.traces import read_traces, traces_file
from rpms.worlds.registry import find_world, world_named

_STEPS_SHOWN = 2
"""Steps that are shown for a line, of each sort."""


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A manual's file, or a world for its own manual.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same, to compare with A.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the lines of two manuals. The exit code is 0 if they are equal, 1 if they differ.

    Actions are matched by their commands, not by their names. `stricter` means that B has more needs, prohibitions or
    wanted facts than A, `looser` the opposite. A line is marked `=` if both
    have it, `-` if only A has it, `+` if only B.
    """
    entries = compare(_opened(first), _opened(second))
    if as_json:
        say(json.dumps([asdict(entry) for entry in entries], ensure_ascii=True, indent=1))
    else:
        say("\n".join((f"A: {first}", f"B: {second}", *_told(entries))))
    raise typer.Exit(int(any(entry.relation is not Relation.EQUAL for entry in entries)))


def _opened(name: str) -> RuleManual:
    """A manual as it is used: a file over the manual of the world that it names."""
    file = Path(name)
    if not file.is_file():
        if not file.is_dir() and ("/" in name or file.suffix in (".yaml", ".yml")):
            raise InputError(f"{name}: there is no such manual")
        return manual_of(find_world(name))
    alone = read_manual(universal_tier(), manual_text(file))
    try:
        world = world_named(alone.world, file) if alone.world else None
    except InputError:
        world = None  # a world that is not installed here: its manual can be read all the same
    return manual_of(world, choose_manual(file)) if world else alone


def _told(entries: list[Entry]) -> Iterator[str]:
    for sort in dict.fromkeys(entry.sort for entry in entries):
        these = [entry for entry in entries if entry.sort == sort]
        counts = Counter(entry.relation for entry in these)
        yield f"\n{sort}s: " + ", ".join(f"{counts[each]} {each.value}" for each in Relation if counts[each])
        for entry in sorted(these, key=lambda entry: list(Relation).index(entry.relation)):
            yield f"  {entry.relation.value}: {entry.name}"
            different = entry.relation is not Relation.EQUAL
            yield from (f"      {line.sign} {line.part}: {line.text}" for line in entry.lines if different)


def review(
    manual: Annotated[Path, typer.Argument(help="A learned manual; its evidence is beside it.")],
    accept: Annotated[list[str] | None, typer.Option(help="The id of a line to put in; may be repeated.")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="The id of a line to take out; may be repeated.")] = None,
    about: Annotated[str, typer.Option(help="Only lines with this text in them, such as environment/heat.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also list lines that are not in the manual.")] = False,
) -> None:
    """List the lines of a learned manual with their evidence, or take lines out and put lines in.

    What is taken out or put in is an edit of the manual: learning it again keeps it, as it keeps your own
    edits.
    """
    if both := set(accept or ()) & set(reject or ()):
        raise InputError(f"{both.pop()!r} cannot be both accepted and rejected; choose one. Nothing was changed")
    choices = {**dict.fromkeys(accept or (), True), **dict.fromkeys(reject or (), False)}
    if choices:
        say("\n".join(decide(manual, choices)) or "the manual did not change")
        return
    rows = [row for row in lines_of(manual) if about in row.claim.place and (every or row.stands or row.decided)]
    file = traces_file(manual)
    spoken = {trace.episode: trace.steps for trace in read_traces(file)[1]} if about and file.is_file() else {}
    for row in rows:
        say(_row(row))
        for title, steps in (("for", row.claim.witnesses), ("against", row.claim.counterexamples)):
            for episode, number in steps[:_STEPS_SHOWN] if about else ():
                said = spoken.get(episode, ())[number - 1 : number]
                text = "".join(f": {excerpt(step.command, 80)!r} -> {excerpt(step.answer, 100)!r}" for step in said)
                say(f"    {title}: {excerpt(episode)} step {number}{text}")
    if not rows:
        say("there is no such line")


def _row(row: Reviewed) -> str:
    claim = row.claim
    state = ("put in" if row.stands else "taken out") if row.decided else claim.label.value
    return f"{claim.id}  {state:<9}  {claim.place}  ({counts_of(claim)})"
