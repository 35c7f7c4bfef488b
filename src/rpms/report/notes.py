"""Notes under a table: what is missing, crashed, damaged or not counted in its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rpms.logic.counting import counted
from rpms.report.comparison import Comparison
from rpms.report.outcomes import Results
from rpms.report.table import plain
from rpms.store.run_summaries import CutAnswers, MemoryShown, lack_of_room
from rpms.worlds.base import games_won


class _Note(NamedTuple):
    """Notes on one condition. Notes with the same words are one note."""

    name: str
    how_many: str
    words: str
    detail: str = ""


def omissions(comparison: Comparison) -> tuple[str, ...]:
    """Everything that a reader of the numbers must know: what is missing, crashed, damaged or
    not counted.
    """
    return (*reservations(comparison), *map(plain, _controls(comparison)))


def reservations(comparison: Comparison) -> tuple[str, ...]:
    """Notes on what is missing, crashed, damaged or not counted; conditions with the same note
    share it.
    """
    alike: dict[str, list[_Note]] = {}
    for results in comparison:
        for note in _notes(results):
            alike.setdefault(note.words, []).append(note)
    return tuple(map(plain, map(_in_one, alike.values())))


def _controls(comparison: Comparison) -> Iterator[str]:
    """For each condition with menus: how much there was to choose, and what others win from the
    same menus.
    """
    for results in comparison:
        menus = results.total("menus")
        if not menus:
            continue
        sole = results.total("sole")
        led = results.total("led")
        others = [f"{name} {each.won}" for name, each in results.controls.items()]
        wins = f"from such menus {' and '.join(others)} of {len(results)} won; " if others else ""
        first = "plan's first step" if results.switches.get("rules", True) else "best recalled step"
        yield (
            f"{results.name}: {wins}{sole / menus:.0%} of its menus had one entry, and in"
            f" {led / menus:.0%} of its steps the {first} was taken"
        )


def _in_one(notes: Sequence[_Note]) -> str:
    """One line for notes that say the same of several conditions."""
    names: list[str] = []
    named: list[str] = []
    first = notes[0]
    same = True
    for note in notes:
        names.append(note.name)
        named.append(f"{note.name} {note.how_many.rstrip(';')}")
        same = same and note._replace(name=first.name) == first
    if not same:
        return f"{first.words}: {'; '.join(named)}"
    text = f"{', '.join(names)}: {first.how_many} {first.words}"
    return f"{text}: {first.detail}" if first.detail else text


def _notes(results: Results) -> Iterator[_Note]:
    """Notes on one condition, what changes its numbers most first."""
    yield from _notes_on_tasks(results)
    yield from _notes_on_episodes(results)
    yield from _notes_on_answers(results)


def _notes_on_tasks(results: Results) -> Iterator[_Note]:
    """Remarks on the tasks of a run: those that its memory knows, those that share a game, and best
    attempts.
    """
    memory = results.protocol.get("memory")
    shared = memory.get("overlap") if isinstance(memory, Mapping) else 0
    if shared:
        words = "tasks are among those that its memory was learned from"
        yield _Note(results.label, f"{shared} of {len(results)}", words)
    games = games_won((row.task, row.won) for row in results)
    if games:
        in_every, in_some, all_games = games
        words = (
            "games won in every and in some of their sentences, which intervals and tests take for"
            " independent"
        )
        yield _Note(results.name, f"{in_every} and {in_some} of {all_games}", words)
    if results.best_of:
        words = "attempts at each task; steps and tokens are of that one"
        yield _Note(results.label, f"the best of up to {results.best_of}", words)


def _notes_on_episodes(results: Results) -> Iterator[_Note]:
    total = counted(len(results), "episode")
    if results.going:
        so_far = f"partial, {len(results.played)} of {total} so far;"
        yield _Note(results.label, so_far, "still being played")
    elif results.missing:
        missing = f"{len(results.missing)} of {total}"
        yield _Note(results.label, missing, "missing, counted as lost", _listed(results.missing))
    crashed = [f"{row.task} ({row.ending})" for row in results.crashed]
    if crashed:
        count = f"{len(crashed)} of {total}"
        yield _Note(results.label, count, "crashed, counted as lost", _listed(crashed))
    if results.damaged:
        count = counted(len(results.damaged), "damaged file")
        yield _Note(results.label, count, "skipped", _listed(list(results.damaged)))


def _notes_on_answers(results: Results) -> Iterator[_Note]:
    replaced = results.total("replaced")
    if replaced:
        words = "actions were not the model's own (`replace` or `unstick`)"
        yield _Note(results.label, f"{replaced} of {results.total('steps')}", words)
    cut = CutAnswers.of(results)
    if cut.count:
        yield _Note(results.label, cut.numbers, cut.words)
    shown = MemoryShown.of(results)
    if results.memory_entries and shown.rare:
        yield _Note(results.label, shown.numbers, "prompts showed memories")
    for words in lack_of_room(tuple(results)):
        count, _, rest = words.partition(" prompts ")
        yield _Note(results.label, count, f"prompts {rest}")


def _listed(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - _NAMED
    listed = ", ".join(names[:_NAMED])
    return f"{listed} and {more} more" if more > 0 else listed


_NAMED = 5
"""Most tasks that a note names; pages list them all."""
