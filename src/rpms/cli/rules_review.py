"""`rpms rules review` and `rpms rules mend`: the lines of a learned manual, one by one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import complain, say
from rpms.cli.shared_options import RunsWorldOption
from rpms.foreign.shown import excerpt
from rpms.induction.evidence.recorded_episodes import read_differently, recorded
from rpms.induction.manuals.manual_edits import Edit, write_edit
from rpms.induction.manuals.manual_review import Reviewed, decide, lines_of
from rpms.induction.manuals.mend import Proposal, RecordedStep, propose, recorded_steps
from rpms.logic.errors import InputError
from rpms.play.sources import (
    ManualChoice,
    choose_manual,
    manual_of,
)
from rpms.store.evidence import Spoken, Witness, counts_of, read_traces, traces_file
from rpms.store.files import change_text
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.runs import RunFolder
from rpms.worlds.base import World
from rpms.worlds.registry import find_world, world_named


def review(
    manual: Annotated[Path, typer.Argument(help="A learned manual; its evidence is beside it.")],
    accept: Annotated[
        list[str] | None, typer.Option(help="The id of a line to put in; may be repeated.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(help="The id of a line to take out; may be repeated.")
    ] = None,
    about: Annotated[
        str, typer.Option(help="Only lines with this text in them, such as environment/heat.")
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Also list lines that are not in the manual.")
    ] = False,
) -> None:
    """List the lines of a learned manual with their evidence, or take lines out and put lines in.

    What is taken out or put in is an edit of the manual: learning it again keeps it, as it keeps
    your own edits.
    """
    choices = dict.fromkeys(accept or (), True)
    for line in reject or ():
        if choices.get(line):
            raise InputError(
                f"{line!r} cannot be both accepted and rejected; choose one. Nothing was changed"
            )
        choices[line] = False
    if choices:
        say("\n".join(decide(manual, choices)) or "the manual did not change")
        return
    _say_lines(manual, about, every=every)


def _say_lines(manual: Path, about: str, *, every: bool) -> None:
    """Say the lines of a learned manual; for lines that were asked about, also some steps for and
    against them.
    """
    rows = _rows_about(manual, about, every=every)
    spoken = _steps_spoken(traces_file(manual)) if about else {}
    for row in rows:
        claim = row.claim
        say(f"{claim.id}  {_state(row):<9}  {claim.place}  ({counts_of(claim)})")
        if about:
            say(*_evidence_lines("for", claim.witnesses[:2], spoken))
            say(*_evidence_lines("against", claim.counterexamples[:2], spoken))
    if not rows:
        say("there is no such line")


def _rows_about(manual: Path, about: str, *, every: bool) -> list[Reviewed]:
    """Lines with a word in their place; those that do not stand only where all are wanted, or a
    person decided so.
    """
    rows: list[Reviewed] = []
    for row in lines_of(manual):
        if about in row.claim.place and (every or row.stands or row.decided):
            rows.append(row)
    return rows


def _state(row: Reviewed) -> str:
    """A line's label, or what a person decided about it."""
    if not row.decided:
        return row.claim.label.value
    return "put in" if row.stands else "taken out"


def _steps_spoken(file: Path) -> dict[str, Sequence[Spoken]]:
    """The steps of explored episodes, by episode; empty if they were not kept."""
    if not file.is_file():
        return {}
    _, traces = read_traces(file)
    return {trace.episode: trace.steps for trace in traces}


def _evidence_lines(
    title: str, steps: Iterable[Witness], spoken: Mapping[str, Sequence[Spoken]]
) -> Iterator[str]:
    """The steps that speak for a line or against it, with what was said at each."""
    for witness in steps:
        text = ""
        for step in spoken.get(witness.episode, ())[witness.step - 1 : witness.step]:
            text += f": {excerpt(step.command, 80)!r} -> {excerpt(step.answer, 100)!r}"
        yield f"    {title}: {excerpt(witness.episode)} step {witness.step}{text}"


_PLACES_SHOWN = 3
"""Number of steps that are named when several contradict a line."""


def mend(
    manual: Annotated[Path, typer.Argument(help="A manual's file.")],
    runs: Annotated[list[Path], typer.Argument(help="Folders of `rpms run`, of one world.")],
    world: RunsWorldOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write the edits that pass into the manual.")
    ] = False,
) -> None:
    """Print each line that recorded runs contradict, with the steps, and an edit that would have
    foretold them.

    An edit passes if, replayed over all given runs, it surprises at no step at which the manual was
    right.
    """
    played_in = _world_of(runs, world)
    difference = read_differently(played_in, runs)
    if difference:
        complain(
            f"note: {difference}; if they were played in another world called {played_in.name},"
            " name its folder with --world"
        )
    moments = list(recorded_steps(played_in, recorded(played_in, runs)))
    before = manual_text(manual).text if write else ""
    choice = choose_manual(str(manual))
    proposals, _ = propose(manual_of(played_in, choice), moments)
    passed = _say_proposals(proposals)
    say(
        f"steps: {len(moments)}; lines contradicted: {len(proposals)}; edits that pass:"
        f" {len(passed)}"
    )
    if write and passed:
        _write_edits(manual, before, choice, played_in, passed)


def _say_proposals(proposals: Iterable[Proposal]) -> list[Edit]:
    """Say which lines are contradicted, and by which edit they would not be; return the edits."""
    by_edit: dict[Edit | None, list[Proposal]] = {}  # None: no edit passes
    for each in proposals:
        by_edit.setdefault(each.edit, []).append(each)
    for edit, against in by_edit.items():
        for each in against:
            say(f"{each.line}: contradicted at {_places(each.where)}", f"  {each.said}")
        say(f"  edit: {edit}" if edit else "  no single edit passes the replay")
    return [edit for edit in by_edit if edit is not None]


def _places(steps: Sequence[RecordedStep]) -> str:
    """The first of some steps, and how many more there are."""
    shown = [f"{step.task}, step {step.witness.step}" for step in steps[:_PLACES_SHOWN]]
    if len(steps) > _PLACES_SHOWN:
        shown.append(f"and {len(steps) - _PLACES_SHOWN} more")
    return "; ".join(shown)


def _world_of(runs: list[Path], given: str | None) -> World:
    """The world of recorded runs: the given one, or else the installed one that they name."""
    if given is not None:
        return find_world(given)
    names = {str(RunFolder(run).protocol.settings.get("world", "")) for run in runs}
    if len(names) > 1:
        raise InputError(
            f"the runs are of several worlds: {', '.join(sorted(names))}; give those of one"
        )
    return world_named(names.pop(), runs[0])


def _write_edits(
    manual: Path, before: str, choice: ManualChoice, world: World, edits: list[Edit]
) -> None:
    """Write edits into a manual's file, once the changed manual is known to have no mistake.

    `before`: its text as the edits were found.
    """
    text = before
    lacking: list[Edit] = []
    for edit in edits:
        changed = write_edit(text, edit)
        if changed is None:
            lacking.append(edit)
        else:
            text = changed
    manual_of(world, replace(choice, own=ManualText(str(manual), text, own=True)))
    change_text(manual, before, text)
    say(f"edits written to {manual}: {len(edits) - len(lacking)}")
    say(*(f"  not written, since the file does not hold it: {edit}" for edit in lacking))
