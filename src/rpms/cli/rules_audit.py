"""`rpms rules diff` and `rpms rules review`: what two manuals say differently, and a person's word on learned lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rpms.cli.report import needs_extra
from rpms.cli.screen import say
from rpms.core.belief import Belief
from rpms.core.errors import InputError
from rpms.core.rules import RuleManual
from rpms.foreign.shown import excerpt
from rpms.learn.rules.compare import Entry, Relation, compare
from rpms.learn.rules.review import decide, lines_of
from rpms.play.setup import manual_of
from rpms.play.sources import choose_manual, universal_tier
from rpms.store.decisions import Reviewed
from rpms.store.evidence import Witness, counts_of, evidence_of
from rpms.store.manuals import manual_text, read_manual
from rpms.store.traces import Trace, read_traces, traces_file
from rpms.worlds.registry import find_world

_SORTS = {"action": "actions", "prohibition": "prohibitions", "goal": "goals", "procedure": "procedures"}
_ORDER = tuple(Relation)
_STEPS_SHOWN = 2
"""Steps that are shown for a line, of each sort."""


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A manual's file, or a world for its own manual.")],
    second: Annotated[str, typer.Argument(metavar="B", help="The same, to compare with A.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare what two manuals say. The exit code is 0 if they are equal, 1 if they differ.

    Actions are matched by their commands, not by their names. `stricter` means that B allows less or asks for more
    than A, `looser` the opposite. A condition is marked `=` if both have it, `-` if only A has it, `+` if only B.
    """
    one, other = _opened(first), _opened(second)
    entries = compare(one, other, _knows_kinds(one.world or other.world))
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
        world = find_world(alone.world) if alone.world else None
    except InputError:
        world = None  # a world that is not installed here: its manual can be read all the same
    return manual_of(world, choose_manual(file)) if world else alone


def _knows_kinds(name: str) -> Belief | None:
    """What answers facts that follow from kinds, of a world that is here."""
    try:
        world = find_world(name) if name else None
    except InputError:
        return None
    belief: Belief | None = world.start(world.goal("")) if world else None
    return belief


def _told(entries: list[Entry]) -> Iterator[str]:
    for sort, title in _SORTS.items():
        these = [entry for entry in entries if entry.sort == sort]
        if not these:
            continue
        counts = Counter(entry.relation for entry in these)
        yield f"\n{title}: " + ", ".join(f"{counts[each]} {each.value}" for each in _ORDER if counts[each])
        for relation in _ORDER:
            some = [entry for entry in these if entry.relation is relation]
            for entry in some if any(entry.parts for entry in some) and relation is not Relation.EQUAL else ():
                yield f"  {relation.value}: {entry.name}"
                yield from _parts(entry)
            if some and (relation is Relation.EQUAL or not any(entry.parts for entry in some)):
                yield f"  {relation.value}: {'; '.join(entry.name for entry in some)}"


def _parts(entry: Entry) -> Iterator[str]:
    for part in entry.parts:
        same = [line.text for line in part.lines if line.sign == "=" and not line.note]
        if part.relation is Relation.EQUAL:
            yield f"      {part.name}: equal" + (f" ({'; '.join(same)})" if same else "")
            continue
        yield f"      {part.name}: {part.relation.value}"
        for line in sorted(part.lines, key=lambda line: "=-+".index(line.sign)):
            yield f"        {line.sign} {line.text}" + (f"  [{line.note}]" if line.note else "")


# Review.


def review(
    manual: Annotated[Path, typer.Argument(help="A learned manual; its evidence is beside it.")],
    accept: Annotated[list[str] | None, typer.Option(help="The id of a line to keep; may be repeated.")] = None,
    reject: Annotated[list[str] | None, typer.Option(help="The id of a line to take out; may be repeated.")] = None,
    because: Annotated[str, typer.Option(help="Your reason, kept with the decisions.")] = "",
    listing: Annotated[bool, typer.Option("--list", help="Print the lines with their ids and evidence.")] = False,
    about: Annotated[str, typer.Option(help="Only lines with this text in them, such as environment/heat.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also list lines that are not in the manual.")] = False,
    page: Annotated[Path | None, typer.Option(help="Write a web page of all lines into this folder.")] = None,
) -> None:
    """Accept or reject the lines of a learned manual one by one, each shown with its evidence.

    Decisions change the manual at once. They are kept in a file beside it, and learning it again respects them.
    """
    rows = [row for row in lines_of(manual) if about in row.claim.place and (every or row.stands or row.decision)]
    choices = {**dict.fromkeys(accept or (), True), **dict.fromkeys(reject or (), False)}
    if both := set(accept or ()) & set(reject or ()):
        raise InputError(f"{both.pop()!r} cannot be both accepted and rejected; choose one. Nothing was changed")
    if choices:
        _say_decided(decide(manual, choices, because))
    if listing:
        say("\n".join(_row(row) for row in rows) or "there is no such line")
    if page is not None:
        written = needs_extra(_review_pages).write_review(manual, lines_of(manual), evidence_of(manual), page)
        say(f"{written.page}: {written.episodes} lines")
    if not (choices or listing or page):
        _ask(manual, [row for row in rows if row.decision is None], because)


def _review_pages() -> Any:
    from rpms.report import review_pages  # noqa: PLC0415  needs the extra

    return review_pages


def _say_decided(said: list[str]) -> None:
    say("\n".join(said) or "the manual did not change; the decision is kept")


def _row(row: Reviewed) -> str:
    claim = row.claim
    state = row.word if row.decision else claim.label.value
    return f"{claim.id}  {state:<9}  {claim.place}  ({counts_of(claim)})"


def _ask(manual: Path, rows: list[Reviewed], because: str) -> None:
    """Go through lines that are not decided yet. Each answer is written at once."""
    if not rows:
        say("nothing is left to decide; `--list` shows the decisions")
        return
    spoken = {trace.episode: trace for trace in read_traces(file)[1]} if (file := traces_file(manual)).is_file() else {}
    for number, row in enumerate(rows, 1):
        claim = row.claim
        say(f"\n{number} of {len(rows)}  {claim.place}  [{claim.label.value}]\n  {counts_of(claim)}")
        for title, steps in (("for", claim.witnesses), ("against", claim.counterexamples)):
            for witness in steps[:_STEPS_SHOWN]:
                say(f"  {title}: {witness.episode} step {witness.step}{_spoken(spoken, witness)}")
        try:
            answer = typer.prompt("accept, reject, skip or quit", default="skip").strip().lower()
        except typer.Abort:  # Ctrl-C, or the end of the input
            answer = "quit"
        if answer[:1] == "q":
            say("\nyour decisions so far are kept")
            return
        if answer[:1] in ("a", "r"):
            _say_decided(decide(manual, {claim.id: answer[:1] == "a"}, because))


def _spoken(traces: Mapping[str, Trace], witness: Witness) -> str:
    """What was said at a step, where the episode is at hand."""
    trace = traces.get(witness.episode)
    if trace is None or not 0 < witness.step <= len(trace.steps):
        return ""
    step = trace.steps[witness.step - 1]
    return f": {excerpt(step.command, 80)!r} -> {excerpt(step.answer, 100)!r}"
