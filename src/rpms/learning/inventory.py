"""Content of a memory: counts, entries in full or in a line, differences of two memories,
entries to do without.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Self

from rapidfuzz import fuzz, process

from rpms.learning.audit import exposures_of
from rpms.logic.belief import Situation
from rpms.logic.errors import InputError
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import Goal
from rpms.logic.rules import RuleManual
from rpms.paper import memory
from rpms.paper.arbitration import TransferableFacts, object_to
from rpms.paper.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Kind,
    Origin,
    RememberedRequest,
    VerifiedSchema,
)
from rpms.paper.recall import EpisodicMemory, Retrieval
from rpms.store.memories import record
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

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


class MemoryDifference(NamedTuple):
    """Differences of two memories. Entries are compared by what they say, not by their ids."""

    added: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    changed: tuple[tuple[Entry, Entry], ...]
    """The same advice with other evidence, wording or weight: before and after."""


def difference(before: EpisodicMemory, after: EpisodicMemory) -> MemoryDifference:
    """Entries added, removed and changed from one memory to another; two of different worlds
    are an InputError.
    """
    if before.world and after.world and before.world != after.world:
        raise InputError(f"these are memories of two worlds, {before.world} and {after.world}")
    old = _by_key(before)
    added: list[Entry] = []
    changed: list[tuple[Entry, Entry]] = []
    for key, entry in _by_key(after).items():
        earlier = old.pop(key, None)
        if earlier is None:
            added.append(entry)
        elif {**record(earlier), "id": entry.id} != record(entry):
            changed.append((earlier, entry))
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


ALIKE = 95.0  # Per cent of their letters in common from which two entries of one goal say the same
LEAST_EPISODES = 20
"""Episodes of its type of task in which an entry must have been passed over before it counts as
never recalled."""


class Junk(StrEnum):
    """Reasons why an entry may be done without."""

    DUPLICATE = "near-duplicate"
    UNUSED = "never recalled"
    BELOW = "always below others"
    CONTRADICTED = "against the manual"


@dataclass(frozen=True, slots=True)
class Remark:
    """One reason to do without one entry."""

    entry: Entry
    junk: Junk
    reason: str


def find_junk(
    entries: Sequence[Entry],
    world: World,
    manual: RuleManual,
    retrieval: Retrieval,
    runs: Sequence[Path] = (),
) -> tuple[Remark, ...]:
    """Everything that speaks against keeping entries.

    Critical failures are kept, however seldom they are needed.
    """
    able = [entry for entry in entries if not isinstance(entry, CriticalFailure)]
    unused = _unused(able, runs) if runs else ()
    return (
        *_contradicted(able, world, manual),
        *_duplicates(able),
        *_below(able, retrieval),
        *unused,
    )


class _Group(NamedTuple):
    """Entries of one kind, goal and hand: the state as the paper's filter tells it apart.

    Schemas belong to every goal and hand.
    """

    kind: Kind
    goal: str = ""
    hand: str = ""

    @classmethod
    def of(cls, entry: Entry) -> Self:
        if isinstance(entry, VerifiedSchema):
            return cls(entry.kind)
        return cls(entry.kind, str(entry.goal_signature), str(entry.state_signature.occupied))


def _best_first(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (-entry.strength, entry.id))


def _duplicates(entries: Iterable[Entry]) -> Iterator[Remark]:
    """Entries of one kind, goal and hand that say nearly the same; the best confirmed of them
    stays.
    """
    groups: defaultdict[tuple[_Group, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        failed = entry.failed_action if isinstance(entry, FailureLesson | CriticalFailure) else ""
        # another name, another matter
        groups[_Group.of(entry), memory.canonical(failed)].append(entry)
    for alike in groups.values():
        kept: dict[str, str] = {}
        for entry in _best_first(alike):
            text = memory.canonical(said(entry))
            found = process.extractOne(text, kept, scorer=fuzz.ratio, score_cutoff=ALIKE)
            if found is None:
                kept[entry.id] = text
                continue
            _, _, other = found
            reason = f"says nearly what {other} says, with no more evidence"
            yield Remark(entry, Junk.DUPLICATE, reason)


def _below(entries: Iterable[Entry], retrieval: Retrieval) -> Iterator[Remark]:
    """Entries that as many others as a prompt shows precede, since their goal, sub-goal and
    hand are the same. Of kinds that nothing here registers, nobody knows how many it shows.
    """
    groups: defaultdict[tuple[_Group, str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry, VerifiedSchema | RememberedRequest):
            continue  # of these, what matters now comes first
        if not entry.kind.registered:
            continue
        stage = "".join(entry.state_signature.get("progress") or ())
        sub_goal = entry.sub_goal_type if isinstance(entry, memory.SuccessSnippet) else ""
        groups[_Group.of(entry), sub_goal, stage].append(entry)
    for (group, _, _), alike in groups.items():
        most = retrieval.top.get(group.kind, group.kind.top)
        reason = f"{most} entries of the same goal, sub-goal and hand come before it"
        for entry in _best_first(alike)[most:]:
            yield Remark(entry, Junk.BELOW, reason)


def _unused(entries: Iterable[Entry], runs: Sequence[Path]) -> Iterator[Remark]:
    """Entries whose turn never came in runs, of whose type of task enough was played."""
    came: set[str] = set()
    played: Counter[str] = Counter()  # Episodes by the type of their goal
    for run in runs:
        for episode in RunFolder(run).episodes():
            came.update(exposure.entry for exposure in exposures_of(episode))
            played[episode.goal_signature.partition(":")[0]] += 1
    for entry in entries:
        type_ = "" if isinstance(entry, VerifiedSchema) else entry.goal_signature.type
        episodes = played[type_] if type_ else played.total()
        if entry.id not in came and episodes >= LEAST_EPISODES:
            of_type = f" of {type_}" if type_ else ""
            yield Remark(entry, Junk.UNUSED, f"its turn never came in {episodes} episodes{of_type}")


class _AnyTime(TransferableFacts):
    """Facts that hold in whatever room, state and moment of an episode: what was done before is
    unknown.
    """

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.UNKNOWN if atom.predicate in self.rules.deeds else super().truth(atom)


def _contradicted(entries: Iterable[Entry], world: World, manual: RuleManual) -> Iterator[Remark]:
    """Entries that go against the manual in every room and state."""
    for entry in entries:
        if isinstance(entry, VerifiedSchema):
            continue
        own = entry.goal_signature
        goal = Goal(own.type, own.object, own.state, own.destination)
        rules = manual.active(own.type, own.object, own.destination)
        start = Situation(world.start(goal), goal)
        objection = object_to(entry, rules, _AnyTime(start, rules, own))
        if objection is not None and objection.conflict:
            rule = f" [{objection.rule}]" if objection.rule else ""
            yield Remark(entry, Junk.CONTRADICTED, f"{objection.reason}{rule}")
