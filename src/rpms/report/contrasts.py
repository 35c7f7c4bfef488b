"""Pairs of conditions that are compared, and their tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rpms.core.facts import grouped
from rpms.report.outcomes import Cells, Comparison, Results, paired
from rpms.report.statistics import Interval, McNemar, holm, interaction, mcnemar_of, paired_bootstrap, power_warning
from rpms.report.table import plain
from rpms.store.runs import lack_of_room
from rpms.worlds.base import games_won


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two conditions on the same tasks."""

    first: str
    second: str
    pairs: int
    test: McNemar
    success: Interval
    """Second minus first, as a fraction."""
    score: Interval
    """Second minus first, on the world's own scale, negative scores counted as 0."""
    adjusted: float = 1.0
    """The exact p-value after Holm's correction over all contrasts of the comparison."""
    warning: str = ""
    """Reason why it shows nothing, and what it would take."""
    provisional: bool = False
    """A condition is still being played: only what both have played is in it."""

    @property
    def name(self) -> str:
        return f"{self.second} vs. {self.first}"


def pairs_to_compare(comparison: Comparison) -> tuple[tuple[Results, Results], ...]:
    """The pairs of the 2x2, of Appendix G and of the state filter; and the first condition against every other."""
    pairs = [pair for a, b, c, d in comparison.ablations for pair in ((a, b), (a, c), (a, d), (b, d), (c, d))]
    pairs += (*comparison.soft_pairs, *comparison.filter_pairs)
    reference = next(iter(comparison.ablation or comparison), None)
    pairs += [(reference, other) for other in comparison if reference and other.name != reference.name]
    return tuple({(first.name, second.name): (first, second) for first, second in pairs}.values())


def contrasts(comparison: Comparison) -> tuple[Contrast, ...]:
    """Test every pair of the comparison, corrected for their number."""
    found = []
    for first, second in pairs_to_compare(comparison):
        rows = paired(first, second)
        test = mcnemar_of([one.won for one, _ in rows], [two.won for _, two in rows])
        success = paired_bootstrap([float(two.won) - float(one.won) for one, two in rows])
        score = paired_bootstrap([two.floored - one.floored for one, two in rows])
        numbers = (len(rows), test, success, score, 1.0, power_warning(test))
        found.append(Contrast(first.name, second.name, *numbers, provisional=first.going or second.going))
    adjusted = holm({contrast.name: contrast.test.exact for contrast in found})
    return tuple(replace(contrast, adjusted=adjusted[contrast.name]) for contrast in found)


def interaction_of(cells: Cells, *, by_score: bool = False) -> Interval:
    """D - (B + C - A), paired by task over what all four were to play."""
    values = [[row.floored if by_score else float(row.won) for row in rows] for rows in paired(*cells)]
    return interaction(*([each[place] for each in values] for place in range(len(cells))))


class _Note(NamedTuple):
    """Notes on one condition. Notes with the same words are one note."""

    name: str
    how_many: str
    words: str
    detail: str = ""


def omissions(comparison: Comparison) -> tuple[str, ...]:
    """Everything that a reader of the numbers must know: what is missing, crashed, damaged or not counted."""
    alike = grouped((note.words, note) for results in comparison for note in _notes(results))
    return (*(plain(_in_one(notes)) for notes in alike.values()), *map(plain, _controls(comparison)))


def _controls(comparison: Comparison) -> Iterator[str]:
    """For each condition with menus: how much there was to choose, and what others win from the same menus."""
    for results in (each for each in comparison if each.total("menus")):
        menus, sole, led = (results.total(name) for name in ("menus", "sole", "led"))
        others = [f"{name} {each.won}" for name, each in results.controls.items()]
        wins = f"from such menus {' and '.join(others)} of {len(results)} won; " if others else ""
        yield (
            f"{results.name}: {wins}{sole / menus:.0%} of its menus had one entry, and in {led / menus:.0%} of its "
            "steps the plan's first step was taken"
        )


def _in_one(notes: Sequence[_Note]) -> str:
    """One line for notes that say the same of several conditions."""
    if len({(note.how_many, note.detail) for note in notes}) == 1:
        one = notes[0]
        text = f"{', '.join(note.name for note in notes)}: {one.how_many} {one.words}"
        return f"{text}: {one.detail}" if one.detail else text
    each = "; ".join(f"{note.name} {note.how_many.rstrip(';')}" for note in notes)
    return f"{notes[0].words}: {each}"


def _notes(results: Results) -> Iterator[_Note]:
    memory, steps, total = results.protocol.get("memory"), results.total("steps"), _counted(len(results), "episode")
    shared = memory.get("overlap") if isinstance(memory, Mapping) else 0
    crashed = [f"{row.task} ({row.ending})" for row in results.crashed]
    replaced, played = results.total("replaced"), len(results.played)
    lost = () if results.going else results.missing
    if shared:
        words = "tasks are among those that its memory was learned from"
        yield _Note(results.label, f"{shared} of {len(results)}", words)
    if games := games_won((row.task, row.won) for row in results):
        words = "games won in every and in some of their sentences, which intervals and tests take for independent"
        yield _Note(results.name, f"{games[0]} and {games[1]} of {games[2]}", words)
    told: list[tuple[object, str, str, Sequence[str]]] = [
        (
            results.best_of,
            f"the best of up to {results.best_of}",
            "attempts at each task; steps and tokens are of that one",
            (),
        ),
        (results.going, f"partial, {played} of {total} so far;", "still being played", ()),
        (lost, f"{len(lost)} of {total}", "missing, counted as lost", lost),
        (crashed, f"{len(crashed)} of {total}", "crashed, counted as lost", crashed),
        (results.damaged, _counted(len(results.damaged), "damaged file"), "skipped", list(results.damaged)),
        (replaced, f"{replaced} of {steps}", "actions were not the model's own (`replace` or `unstick`)", ()),
    ]
    for words in lack_of_room(tuple(results)):
        count, _, rest = words.partition(" prompts ")
        told.append((True, count, f"prompts {rest}", ()))
    told.append((results.stray, _counted(len(results.stray), "episode"), "of other tasks not counted", results.stray))
    for so, count, words, names in told:
        if so:
            more = len(names) - _NAMED
            listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            yield _Note(results.label, count, words, listed)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


_NAMED = 5
"""Most tasks that a note names; pages list them all."""
