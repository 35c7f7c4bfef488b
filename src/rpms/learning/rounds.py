"""Rounds of learning: play a split, harvest it, merge, and go on with what was learned.

The paper plays every round under Rules-only and does not say what makes rounds differ. With greedy
decoding the same configuration plays the same episodes again and teaches nothing new. So the first
round is the paper's, and later ones play with the memory so far (Full), unless told otherwise. An
episode that taught exactly what it taught in an earlier round is no new evidence and is counted
once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import NamedTuple, Self, Unpack

from rpms.foreign.file_reader import read_bytes
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.learning.audit import Audit, audit
from rpms.learning.corrective_rules import worded_by
from rpms.learning.harvest import harvest_by
from rpms.logic.errors import InputError
from rpms.logic.rules import RuleManual
from rpms.models.base import Model
from rpms.paper.condition import FULL, RULES_ONLY, Condition
from rpms.paper.episode import Episode
from rpms.paper.memory import Entry, Kind, Origin, merge
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import OpenModel, RunDesign
from rpms.play.run import Listener, RunOptions, check_workers, run
from rpms.play.setting_values import Part, name_of
from rpms.play.settings import AS_PAPER
from rpms.play.sources import ManualChoice, manual_of
from rpms.store import memories
from rpms.store.files import read_text, remove_leftovers, write_whole
from rpms.store.quarantine import Quarantined, read_quarantine, set_aside, write_quarantine
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

EXPERIENCE = "experience"
"""The folder of a run that holds what each episode taught: one memory an episode, possibly an
empty one."""
_NOTHING = "no sub-goal was reached and no action was refused"


@dataclass(frozen=True)
class Harvester:
    """Makes of each finished episode the text that is kept beside it; goes to wherever episodes
    are played.
    """

    world: World
    manual: ManualChoice = field(default_factory=ManualChoice)
    words: OpenModel | None = None
    """Opens the model that words lessons; without one they are put together from what was seen."""
    harvest: str | Part = AS_PAPER
    """One of `rpms.learning.harvest.HARVESTS` by its name, or a harvest of one's own."""

    @cached_property
    def _manual(self) -> RuleManual:
        return manual_of(self.world, self.manual)

    @cached_property
    def _model(self) -> Model:
        assert self.words is not None
        return self.words()

    def __call__(self, episode: Episode) -> str:
        entries = harvest_by(self.harvest, episode, self._manual)
        if self.words is not None:
            entries = worded_by(self._model, entries, episode)
        return "\n".join(memories.memory_lines(entries, self.world.name)) + "\n"


@dataclass(frozen=True)
class LearningDesign:
    """Design of learning. The same design learns the same, however often it is interrupted."""

    play: RunDesign
    """The tasks of every round, who plays them and on what terms; its condition and its memory
    are the rounds' own."""
    rounds: int = 3
    first: Condition = RULES_ONLY
    """The condition of the first round: Rules-only, with what else is switched."""
    later: Condition = FULL
    """The condition of the rounds after it. A model too weak to win where nothing is enforced
    teaches only failures."""
    start: EpisodicMemory | None = None
    """A memory to go on from; an empty one by default."""
    before: int = 0
    """Rounds that this memory comes from: those of this design are counted on, and all play with
    it."""
    aside: tuple[Quarantined, ...] = ()
    """Entries set aside of this memory, which stay out of what is learned."""
    audit: bool = False
    """True if harmful entries are set aside after each round that plays with a memory and hides
    some of it."""
    words: OpenModel | None = None
    """Opens the model that words lessons; without one they are put together from what was seen."""
    harvest: str | Part = AS_PAPER
    """As in `Harvester.harvest`."""

    @property
    def world(self) -> World:
        return self.play.world

    def run_design(self, number: int, memory: EpisodicMemory) -> RunDesign:
        """The run of one round, counted from 1, with the memory of the rounds before it."""
        play = self.play
        earlier_rounds = number - 1
        decoding = play.decoding
        if decoding.temperature and decoding.seed is not None:
            decoding = replace(decoding, seed=decoding.seed + earlier_rounds)
        seed = play.seed
        if play.sources.retrieval(play.world).mask:  # each round hides others
            seed += earlier_rounds
        return replace(
            play.remembering(memory),
            condition=self.later if earlier_rounds else self.first,
            decoding=decoding,
            seed=seed,
            keep={EXPERIENCE: Harvester(play.world, play.sources.manual, self.words, self.harvest)},
            harvest=name_of(self.harvest),
            # rounds carry in their memory what other methods carry from trial to trial
            method=play.method.once("learning plays each task once a round"),
        )


@dataclass(frozen=True)
class Round:
    """Result of a round."""

    number: int
    summary: RunSummary
    file: Path
    """The snapshot: everything learned up to here."""
    counts: Counter[Kind]
    hash: str
    """Hash of the snapshot's bytes, as its freeze records it."""
    repeated: int
    """Episodes that taught exactly what they taught in an earlier round."""
    aside: int = 0
    """Entries that were set aside so far."""
    audited: str = ""
    """Finding of the audit, in a line; empty where none was made."""

    @property
    def entries(self) -> int:
        return self.counts.total()


def learn(
    design: LearningDesign,
    out: Path,
    workers: int | None = None,
    listener: Callable[[int], Listener] = lambda _: Listener(),
    *,
    after: Callable[[Round], None] = lambda _: None,
    empty: bool = True,
    **run_options: Unpack[RunOptions],
) -> tuple[Round, ...]:
    """Learn into a frozen memory, with snapshots beside it; the same call continues.

    `empty`: it may learn nothing.
    """
    if design.rounds < 1:
        raise InputError(f"{design.rounds} rounds teach nothing; give 1 or more")
    check_workers(workers)
    _check_out(out)
    remove_leftovers(out.parent, out.stem)
    held = _Held(design.start or EpisodicMemory(world=design.world.name), design.aside)
    taught: dict[str, set[str]] = {}
    results: list[Round] = []
    for number in range(design.before + 1, design.before + design.rounds + 1):
        folder = memories.round_folder(out, number)
        round_design = design.run_design(number, held.memory)
        summary = run(round_design, folder, workers, listener(number), **run_options)
        experience = _experience(RunFolder(folder), number, design.world, taught)
        audited = _audit(design, out, number, round_design) if design.audit else None
        held = held.after(experience, audited, design.world)
        if not held.memory.entries and not empty:
            raise InputError(f"nothing was learned from {folder}: {_NOTHING}")
        file = memories.snapshot_file(out, number)
        result = Round(
            number=number,
            summary=summary,
            file=file,
            counts=held.counts,
            hash=held.write(file),
            repeated=experience.repeated,
            aside=len(held.aside),
            audited=audited.summary if audited else "",
        )
        results.append(result)
        after(result)
    if held.aside:
        write_quarantine(out, held.aside, design.world.name)
    write_whole(out, read_text(results[-1].file))
    memories.freeze(out)
    return tuple(results)


class _Experience(NamedTuple):
    """Entries of a round, by episode, and the episodes that taught nothing new."""

    fresh: list[Sequence[Entry]]
    repeated: int


class _Held(NamedTuple):
    """All that is remembered after a round, and what an audit set aside."""

    memory: EpisodicMemory
    aside: tuple[Quarantined, ...]

    @property
    def counts(self) -> Counter[Kind]:
        return Counter(entry.kind for entry in self.memory.entries)

    def after(self, experience: _Experience, audited: Audit | None, world: World) -> Self:
        """The memory with the entries of one more round, without those that it showed to be
        harmful.
        """
        entries = merge(self.memory.entries, *experience.fresh)
        harmful = audited.harmful if audited else {}
        kept, aside = set_aside(entries, harmful, self.aside)
        return type(self)(EpisodicMemory(kept, world.name), aside)

    def write(self, file: Path) -> str:
        """Write a memory, with what was set aside beside it, and freeze it; returns its hash."""
        if self.aside:
            write_quarantine(file, self.aside, self.memory.world)
        memories.write_memory(file, self.memory.entries, self.memory.world)
        return memories.freeze(file)


def _check_out(out: Path) -> None:
    """Refuse a folder, and a file that learning did not write, or that was changed since."""
    if out.suffix == "" or out.is_dir():
        raise InputError(f"{out}: give the memory a file name such as {out / 'memory.jsonl'}")
    if not out.exists() or _snapshots_like(out):
        return  # a snapshot to the byte is its own, whatever its seal
    if not memories.freeze_file(out).is_file():
        raise InputError(f"{out}: exists and was not written by `rpms learn`; choose another file")
    memories.check_frozen(out)


def _audit(design: LearningDesign, out: Path, number: int, played: RunDesign) -> Audit | None:
    """Audit of the rounds so far that hid some of their memory; nothing after a round that hid
    none.
    """
    if not played.condition.memory or not played.memory.entries:
        return None
    if not played.sources.retrieval(design.world).mask:
        return None
    folders: list[Path] = []
    for each in range(design.before + 1, number + 1):
        folder = memories.round_folder(out, each)
        if RunFolder(folder).protocol.settings.get("retrieval"):
            folders.append(folder)
    return audit(folders)


def continued(design: LearningDesign, out: Path) -> LearningDesign:
    """The design that begins with the frozen memory in `out`; rounds count on from its origins, or
    from the snapshot it equals.
    """
    if not out.is_file() or not memories.check_frozen(out):
        raise InputError(
            f"{out}: is no frozen memory to go on from; leave out --continue to begin one"
        )
    memory = memories.read_frozen(out, design.world.name)
    numbers = _snapshots_like(out)
    for entry in memory.entries:
        for origin in entry.origins:
            found = re.match(r"round(\d{1,6})/", origin.episode)
            if found is not None:
                numbers.append(int(found[1]))
    aside = read_quarantine(out, design.world.name)
    return replace(design, start=memory, before=max(numbers, default=1), aside=aside)


def _snapshots_like(out: Path) -> list[int]:
    """The rounds whose snapshots are this memory to the byte."""
    held = read_bytes(out, LARGEST_MEMORY)
    alike: list[int] = []
    for number in count(1):
        file = memories.snapshot_file(out, number)
        if not file.is_file():
            break
        if read_bytes(file, LARGEST_MEMORY) == held:
            alike.append(number)
    return alike


def _experience(
    folder: RunFolder, number: int, world: World, taught: dict[str, set[str]]
) -> _Experience:
    """Entries of a round that no earlier episode of the same task had taught to the letter."""
    fresh: list[Sequence[Entry]] = []
    repeated = 0
    for task in folder.protocol.tasks:
        file = folder.folder / EXPERIENCE / folder.file(task).name
        text = folder.beside(task, EXPERIENCE)
        before = taught.setdefault(task, set())
        if text in before:
            repeated += 1
            continue
        before.add(text)
        if text.count("\n") > 1:  # more than the header
            entries = memories.parse_memory(file, text, world.name).entries
            fresh.append([_of_round(entry, number) for entry in entries])
    return _Experience(fresh, repeated)


def _of_round(entry: Entry, number: int) -> Entry:
    """An entry whose origins name the round too, since every round plays the same tasks."""
    origins: set[Origin] = set()
    for origin in entry.origins:
        origins.add(origin._replace(episode=f"round{number}/{origin.episode}"))
    return replace(entry, origins=frozenset(origins))


def learned(results: Sequence[Round]) -> Iterator[str]:
    """Rounds in words, a line each, and another for an audit."""
    for result in results:
        counts: list[str] = []
        for kind in Kind:
            if result.counts[kind]:
                counts.append(f"{result.counts[kind]} {kind.replace('_', ' ')}")
        again = f", {result.repeated} as before" if result.repeated else ""
        won = f"{result.summary.won} of {result.summary.done} won"
        found = f"nothing was learned: {_NOTHING}"
        if counts:
            found = f"{result.entries} entries ({', '.join(counts)})"
        aside = f"; {result.aside} set aside" if result.aside else ""
        yield f"round {result.number}: {won}{again}; {found}{aside}"
        if result.audited:
            yield f"audit: {result.audited}"
