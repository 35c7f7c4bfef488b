"""Content of a memory: counts, one entry in full or in a line, and differences of two memories."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rpms.core.errors import InputError
from rpms.core.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Kind,
    Origin,
    OwnEntry,
    RememberedRequest,
    SuccessSnippet,
    VerifiedSchema,
)
from rpms.core.recall import EpisodicMemory
from rpms.store.memories import record

_ORIGINS_SHOWN = 3


@dataclass(frozen=True)
class Stats:
    """A memory in numbers."""

    entries: int
    kinds: Counter[Kind]
    goals: Counter[str]
    """Entries by goal type; schemas belong to none."""
    rules: Counter[str]
    """Corrective rules by how many lessons state them."""
    observations: int
    """Pieces of evidence, all entries together."""
    episodes: int
    """Episodes that taught something."""


def stats(memory: EpisodicMemory) -> Stats:
    """Count what is in a memory."""
    entries = memory.entries
    origins = [origin for entry in entries for origin in entry.origins]
    return Stats(
        len(entries),
        Counter(entry.kind for entry in entries),
        Counter(entry.goal_signature.type for entry in entries if not isinstance(entry, VerifiedSchema)),
        Counter(entry.corrective_rule for entry in entries if isinstance(entry, FailureLesson | CriticalFailure)),
        len(origins),
        len({origin.episode for origin in origins}),
    )


def said(entry: Entry) -> str:
    """Text of an entry, in one line."""
    match entry:
        case SuccessSnippet():
            return f"{entry.sub_goal_type}: {' -> '.join(entry.actions)}"
        case FailureLesson() | CriticalFailure():
            return f"{entry.failed_action}: {entry.corrective_rule}"
        case RememberedRequest():
            return f"`{entry.request}` meant {entry.goal_signature}"
        case OwnEntry():
            return entry.text
        case _:
            return f"{entry.action_template} ({entry.confidence:.2f})"


def where_from(origins: Iterable[Origin], most: int = _ORIGINS_SHOWN) -> str:
    """Episodes and steps: `round1/… step 4 (failed); … and 7 more`."""
    ordered = sorted(origins)
    named = [f"{one.episode} step {one.step}{' (failed)' if one.failed else ''}" for one in ordered[:most]]
    rest = len(ordered) - len(named)
    return "; ".join(named) + (f"; and {rest} more" if rest else "")


def full_text(entry: Entry) -> str:
    """An entry with all its fields, as its file has them, and every origin on a line of its own."""
    value = record(entry)
    value.pop("origins")
    origins = "\n".join(f"  {where_from([origin])}" for origin in sorted(entry.origins))
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\nlearned in:\n{origins or '  (not recorded)'}"


@dataclass(frozen=True)
class MemoryDifference:
    """Differences of two memories. Entries are compared by what they say, not by their ids."""

    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    changed: tuple[tuple[Entry, Entry], ...]
    """The same advice with other evidence, wording or weight: before and after."""

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def difference(before: EpisodicMemory, after: EpisodicMemory) -> MemoryDifference:
    """Entries added, removed and changed from one memory to another; two of different worlds are an InputError."""
    if before.world and after.world and before.world != after.world:
        raise InputError(f"these are memories of two worlds, {before.world} and {after.world}")
    old, new = _by_content(before.entries), _by_content(after.entries)
    return MemoryDifference(
        tuple(entry for key, entry in new.items() if key not in old),
        tuple(entry for key, entry in old.items() if key not in new),
        tuple((old[key], entry) for key, entry in new.items() if key in old and _content(old[key]) != _content(entry)),
    )


def _by_content(entries: Iterable[Entry]) -> dict[tuple[str, ...], Entry]:
    return {(entry.kind, *entry.key()): entry for entry in entries}


def _content(entry: Entry) -> dict[str, object]:
    return {name: value for name, value in record(entry).items() if name != "id"}


COLUMNS = ("id", "type", "goal_signature", "state_signature", "says", "evidence", "failed", "confidence", "origins")


def row(entry: Entry) -> tuple[str, ...]:
    """An entry as a line of a table, by `COLUMNS`."""
    goal = state = sure = ""
    if isinstance(entry, VerifiedSchema):
        sure = f"{entry.confidence:.3f}"
    else:
        goal, state = str(entry.goal_signature), str(entry.state_signature)
    failed = sum(origin.failed for origin in entry.origins)
    worked, where = len(entry.origins) - failed, where_from(entry.origins, len(entry.origins))
    return entry.id, str(entry.kind), goal, state, said(entry), str(worked), str(failed), sure, where
