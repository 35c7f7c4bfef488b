"""Content of a memory: counts, entries in full or in a line, differences of two memories."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rpms.logic.errors import InputError
from rpms.paper import memory
from rpms.paper.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Origin,
    RememberedRequest,
    VerifiedSchema,
)
from rpms.paper.recall import EpisodicMemory
from rpms.store.memory_entries import record

_ORIGINS_SHOWN = 3


class Stats:
    """A memory in numbers."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = len(entries)
        self.kinds = Counter(entry.kind for entry in entries)
        self.goals: Counter[str] = Counter()
        """Entries by goal type; schemas belong to none."""
        self.rules: Counter[str] = Counter()
        """Corrective rules, by how many lessons state them."""
        self.observations = 0
        episodes: set[str] = set()
        for entry in entries:
            if not isinstance(entry, VerifiedSchema):
                self.goals[entry.goal_signature.type] += 1
            if isinstance(entry, FailureLesson | CriticalFailure):
                self.rules[entry.corrective_rule] += 1
            self.observations += len(entry.origins)
            episodes.update(origin.episode for origin in entry.origins)
        self.episodes = len(episodes)


def said(entry: Entry) -> str:
    """Text of an entry, in one line."""
    match entry:
        case memory.SuccessSnippet():
            return f"{entry.sub_goal_type}: {' -> '.join(entry.actions)}"
        case FailureLesson() | CriticalFailure():
            return f"{entry.failed_action}: {entry.corrective_rule}"
        case RememberedRequest():
            return f"`{entry.request}` meant {entry.goal_signature}"
        case memory.OwnEntry():
            return entry.text
        case _:
            return f"{entry.action_template} ({entry.confidence:.2f})"


def where_from(origins: Iterable[Origin], most: int = _ORIGINS_SHOWN) -> str:
    """Episodes and steps: `round1/… step 4 (failed); … and 7 more`."""
    ordered = sorted(origins)
    named: list[str] = []
    for origin in ordered[:most]:
        failed = " (failed)" if origin.failed else ""
        named.append(f"{origin.episode} step {origin.step}{failed}")
    rest = len(ordered) - len(named)
    more = f"; and {rest} more" if rest else ""
    return "; ".join(named) + more


def full_text(entry: Entry) -> str:
    """An entry with all its fields, as its file has them, and every origin on a line of its own."""
    value = record(entry)
    value.pop("origins")
    origins = "\n".join(f"  {where_from([origin])}" for origin in sorted(entry.origins))
    fields = json.dumps(value, indent=2, ensure_ascii=False)
    return f"{fields}\nlearned in:\n{origins or '  (not recorded)'}"


class ChangedEntry(NamedTuple):
    """An entry that gives the same advice with other evidence, wording or weight."""

    before: Entry
    after: Entry


class MemoryDifference(NamedTuple):
    """Differences of two memories. Entries are compared by what they say, not by their ids."""

    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    changed: tuple[ChangedEntry, ...]


def difference(before: EpisodicMemory, after: EpisodicMemory) -> MemoryDifference:
    """Entries added, removed and changed from one memory to another; two of different worlds
    are an InputError.
    """
    if before.world and after.world and before.world != after.world:
        raise InputError(f"these are memories of two worlds, {before.world} and {after.world}")
    old = _by_key(before)
    added: list[Entry] = []
    changed: list[ChangedEntry] = []
    for key, entry in _by_key(after).items():
        earlier = old.pop(key, None)
        if earlier is None:
            added.append(entry)
        elif {**record(earlier), "id": entry.id} != record(entry):
            changed.append(ChangedEntry(earlier, entry))
    return MemoryDifference(tuple(added), tuple(old.values()), tuple(changed))


def _by_key(memory: EpisodicMemory) -> dict[tuple[object, ...], Entry]:
    """Entries by what makes two of them the same, whatever their ids."""
    return {(entry.kind, *entry.key()): entry for entry in memory.entries}


COLUMNS = (
    "id",
    "type",
    "goal_signature",
    "state_signature",
    "says",
    "evidence",
    "failed",
    "confidence",
    "origins",
)


def row(entry: Entry) -> tuple[str, ...]:
    """An entry as a line of a table, by `COLUMNS`."""
    goal = state = sure = ""
    if isinstance(entry, VerifiedSchema):
        sure = f"{entry.confidence:.3f}"
    else:
        goal = str(entry.goal_signature)
        state = str(entry.state_signature)
    failed = sum(origin.failed for origin in entry.origins)
    worked = len(entry.origins) - failed
    where = where_from(entry.origins, len(entry.origins))
    return (
        entry.id,
        str(entry.kind),
        goal,
        state,
        said(entry),
        str(worked),
        str(failed),
        sure,
        where,
    )
