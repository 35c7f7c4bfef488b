"""`rpms rules diff` and `rpms rules review`: what two manuals say differently, and a person's word on learned lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import say
from rpms.core.belief import Belief
from rpms.core.errors import InputError
from rpms.core.rules import RuleManual
from rpms.learn.rules.compare import Entry, Relation, compare
from rpms.play.setup import manual_of
from rpms.play.sources import choose_manual, universal_tier
from rpms.store.manuals import manual_text, read_manual
from rpms.worlds.registry import find_world

_SORTS = {"action": "actions", "prohibition": "prohibitions", "goal": "goals", "procedure": "procedures"}
_ORDER = tuple(Relation)


def diff(
    first: Annotated[str, typer.Argument(metavar="A", help="A manual's file, or a world's name for its own manual.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Compare two manuals by what they say: B beside A. Exit code 0 if they are equal, 1 if they differ.

    Actions are matched by their commands, whatever they and their parameters are called. `stricter`: B allows less, or
    wants more; `looser`: the other way round. Of each condition: `=` in both, `-` in A alone, `+` in B alone.
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
        if "/" in name or file.suffix in (".yaml", ".yml"):
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
