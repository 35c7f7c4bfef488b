"""The classroom: the teacher plays and each step is retold for every condition; or a student plays
and is corrected at the states it reaches, which is DAgger.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rpms.foreign.file_reader import beside
from rpms.logic.errors import InputError, nearest
from rpms.models.catalogue import IN_PROCESS, backend_of
from rpms.paper.condition import CONDITIONS
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, RunDesign, overlapping
from rpms.play.run import Listener, run
from rpms.play.runners import InProcesses
from rpms.play.setting_values import NoMemoryGiven
from rpms.play.settings import ALLOW, Settings
from rpms.play.together import RunToPlay, run_together
from rpms.store.episodes import EpisodeRow
from rpms.store.memories import read_frozen
from rpms.store.run_summaries import RunSummary
from rpms.store.runs import RunFolder
from rpms.teaching.pairs import (
    Pair,
    PairSource,
    add_pairs,
    check_addable,
    parse_pairs,
    require_training_split,
    splits_to_learn_from,
)
from rpms.teaching.teacher import Corrections, RetoldEpisodes, Thoughts, manual_label, memory_label
from rpms.worlds.base import Setting, Task, World

TEACHER = "planner"
MOST_CORRECTED = 25
"""States of a student's episode that are corrected at most."""
_HASH = 12


@dataclass(frozen=True)
class Classroom:
    """The tasks of a world that are taught, and the settings of a student's prompts."""

    world: World
    tasks: tuple[Task, ...]
    setting: Setting
    settings: Settings
    """Settings of the student's prompts, as a run of it would have them; a manual is the
    teacher's too."""
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    thoughts: Thoughts = Thoughts.WORDS

    def __post_init__(self) -> None:
        if not self.tasks:
            raise InputError(f"{self.world.name}: there are no tasks to teach")
        if self.settings.overlap != ALLOW:
            for split in dict.fromkeys(task.split for task in self.tasks):
                require_training_split(split, self.world.splits)

    def teacher(self) -> RunDesign:
        """The teacher's run: the planner follows the rules alone, by the complete manual or the
        one that is given.
        """
        own = Settings(
            condition="rules-only",
            preset="strict",
            manual=self.settings.manual,
            steps=self.settings.steps,
            simplifications=self.settings.simplifications,
        )
        return own.design(
            self.world,
            TEACHER,
            NamedModel(TEACHER),
            tasks=self.tasks,
            setting=self.setting,
            split=self.tasks[0].split,
            memory=EpisodicMemory(world=self.world.name),
        )

    def student(
        self, condition: str, model: str, open_model: NamedModel, context: int = 0
    ) -> RunDesign:
        """A student's run under a condition; it may know the games, since this is no test, but
        its memory may not.
        """
        own = replace(self.settings, condition=condition)
        memory = EpisodicMemory(world=self.world.name)
        try:
            file = own.memory_file(self.world)
        except NoMemoryGiven:
            raise InputError(self._without_memory(condition)) from None
        if file is not None:
            memory = read_frozen(file, self.world.name)
        design = own.design(
            self.world,
            model,
            open_model,
            context,
            tasks=self.tasks,
            setting=self.setting,
            split=self.tasks[0].split,
            memory=memory,
            overlap=True,
        )
        if design.overlap and self.settings.overlap != ALLOW:
            raise InputError(overlapping(len(design.overlap), len(design.tasks), design.overlap[0]))
        return design

    def knowledge_unlike(self, pairs: Sequence[Pair]) -> tuple[str, ...]:
        """`manual` and `memory`, each if new pairs would have another one than all pairs so far."""
        pairs = [pair for pair in pairs if pair.world == self.world.name]
        found: list[str] = []
        manuals = {pair.manual for pair in pairs} - {""}
        if manuals and manual_label(self.teacher()) not in manuals:
            found.append("manual")
        if any(self._has_another_memory(pairs, condition) for condition in self.conditions):
            found.append("memory")
        return tuple(found)

    def _has_another_memory(self, pairs: Sequence[Pair], condition: str) -> bool:
        """True if new pairs of a condition would recall from a memory that no pair so far had."""
        memories = {pair.memory for pair in pairs if pair.condition == condition}
        if not memories:
            return False
        student = self.student(condition, TEACHER, NamedModel(TEACHER))
        return memory_label(student) not in memories

    def _without_memory(self, condition: str) -> str:
        """Words for someone who gave no memory: how to learn one from games that are not taught."""
        taught = self.tasks[0].split
        games = f"--split {taught} --task TASKS-THAT-ARE-NOT-TAUGHT"
        other_splits = [
            split for split in splits_to_learn_from(self.world.splits) if split != taught
        ]
        if other_splits:
            games = f"--split {other_splits[-1]}"
        without_memory = [name for name in self.conditions if not CONDITIONS[name].memory]
        without = ""
        if without_memory:
            without = f"; or leave it out with --conditions {','.join(without_memory)}"
        return (
            f"the condition {condition} shows memories, and no memory was given: learn one from"
            f" other games with `rpms learn {self.world.name} {games} --out memory.jsonl` and give"
            f" it with --memory; or give --memory none for an empty one{without}"
        )


@dataclass(frozen=True)
class TaughtPairs:
    """The pairs that some games gave."""

    played: Mapping[str, RunSummary]
    """Episodes, by who played or in which condition."""
    found: int
    """Pairs in them."""
    added: int
    """Pairs that the file did not have."""
    not_taught: tuple[EpisodeRow, ...] = ()
    """Games that the teacher did not win: nobody should learn to play them its way."""


def read_conditions(text: str) -> tuple[str, ...]:
    """Read names of conditions, separated by commas."""
    names = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    for name in names:
        if name not in CONDITIONS:
            raise InputError(f"--conditions: {name!r} is no condition; {nearest(name, CONDITIONS)}")
    if not names:
        raise InputError(f"--conditions: give one or more of {', '.join(CONDITIONS)}")
    return names


def teach_pairs(
    room: Classroom,
    out: Path,
    workers: int | None,
    listener: Listener,
    processes: int | None = None,
) -> TaughtPairs:
    """Let the teacher play, and add each step of the games it won to a file, once for every
    condition.

    The teacher's episodes are kept beside the file; the same call continues where it stopped.
    """
    check_addable(out, room.world.name)
    teacher = room.teacher()
    told: dict[str, RunDesign] = {}
    for condition in room.conditions:
        told[condition] = room.student(condition, TEACHER, NamedModel(TEACHER))
    retold = f"pairs-{_digest(told.values())}-{room.thoughts}"
    design = replace(teacher, keep={retold: RetoldEpisodes(teacher, told, room.thoughts)})
    folder = beside(out, f"{out.stem}.teacher") / _digest([teacher])
    summary = run(design, folder, workers, listener, runner=InProcesses(processes))
    found = _kept(RunFolder(folder), retold)
    lost = tuple(row for row in summary.rows if not row.won)
    return TaughtPairs({TEACHER: summary}, len(found), add_pairs(out, found), lost)


def correct(
    room: Classroom,
    student: NamedModel,
    context: int,
    out: Path,
    listener: Callable[[str], Listener],
    most: int = MOST_CORRECTED,
    workers: int | None = None,
    processes: int | None = None,
) -> TaughtPairs:
    """Let a student play under every condition, and add what the teacher would have done at the
    states it came to.

    A model in this process plays all episodes of all conditions at once.
    """
    check_addable(out, room.world.name)
    teacher = room.teacher()
    runs: list[RunToPlay] = []
    name = f"corrections-{_digest([teacher])}-{most}-{room.thoughts}"
    for condition in room.conditions:
        design = room.student(condition, student.name, student, context)
        corrections = Corrections(teacher, design, condition, room.thoughts, most)
        folder = beside(out, f"{out.stem}.students") / f"{condition}-{_digest([design])}"
        runs.append(RunToPlay(condition, replace(design, keep={name: corrections}), folder))
    summaries = _play(runs, student, listener, workers, processes)
    found: list[Pair] = []
    for one in runs:
        found += _kept(RunFolder(one.folder), name)
    played = {one.name: summary for one, summary in zip(runs, summaries, strict=True)}
    return TaughtPairs(played, len(found), add_pairs(out, found))


def _play(
    runs: Sequence[RunToPlay],
    student: NamedModel,
    listener: Callable[[str], Listener],
    workers: int | None,
    processes: int | None,
) -> Sequence[RunSummary]:
    """Play some runs: at once if the student is in this process, so that they share its batches,
    else one after the other.
    """
    if backend_of(student.name) in IN_PROCESS:
        model = student()
        try:
            return run_together(runs, model, listener, processes)
        finally:
            model.close()
    runner = InProcesses(processes)
    played: list[RunSummary] = []
    for one in runs:
        heard = listener(one.name)
        played.append(run(one.design, one.folder, workers, heard, runner=runner))
    return played


def _digest(designs: Iterable[RunDesign]) -> str:
    """The same for the same designs: names folders, so that another setting never meets what an
    earlier one left.
    """
    hashes = "".join(design.protocol().hash for design in designs)
    return hashlib.sha256(hashes.encode()).hexdigest()[:_HASH]


def _kept(folder: RunFolder, name: str) -> list[Pair]:
    """Pairs that were kept beside a run's episodes, in the order of its tasks."""
    found: list[Pair] = []
    for row in folder.rows():
        found += parse_pairs(folder.file_beside(row.task, name), folder.beside(row.task, name))
    return found


def corrected(pairs: Sequence[Pair]) -> int:
    """Number of pairs that correct a student."""
    return sum(pair.source is PairSource.CORRECTION for pair in pairs)
