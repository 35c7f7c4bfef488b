"""A run's design: which tasks are played, by whom and on what terms; and the protocol that
records it.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum, StrEnum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.models import catalogue
from rpms.models.base import Decoding, Model, WrappedModel
from rpms.models.catalogue import (
    NO_LLM,
    Backend,
    ModelOptions,
    backend_of,
    parse_model_name,
    taught_on,
)
from rpms.models.hf.adapters import Taught
from rpms.paper.compose import Seams
from rpms.paper.condition import ABLATION, FULL, Condition
from rpms.paper.decide import Mind
from rpms.paper.episode import Episode
from rpms.paper.memory import learned_from
from rpms.paper.recall import EpisodicMemory
from rpms.parts import check_signature
from rpms.play.methods import CARRIED, METHODS, REACT, Earlier, Method
from rpms.play.setting_values import SEAMS, identity
from rpms.play.sources import Sources, knowledge_of
from rpms.play.task_choice import limited
from rpms.play.understanding import READER_CONTROLS, Reads
from rpms.store.answers import FolderOfAnswers, open_answers
from rpms.store.memories import memory_hash
from rpms.store.prompt_files import prompts_hash
from rpms.store.protocol import Protocol
from rpms.worlds.base import Setting, Task, World, game_of


@dataclass(frozen=True)
class NamedModel:
    """A model by name, opened when called; it can be pickled and sent to where the episodes are
    played.
    """

    name: str
    options: ModelOptions = field(default_factory=ModelOptions)
    record: Path | None = None
    """A folder that keeps every answer, and gives back what it holds."""
    reader: str = ""
    """Reader of goals beside it: of a model that is no LLM, nothing is kept then, and of the
    reader all."""

    def __call__(self) -> Model:
        return catalogue.open_model(
            self.name, self.options, open_answers=open_answers, record=self._kept
        )

    def check(self) -> None:
        """Raise what opening the model here would raise, if that shows at once."""
        catalogue.check_openable(
            self.name, self.options, open_answers=open_answers, record=self._kept
        )

    @property
    def _kept(self) -> FolderOfAnswers | None:
        if self.record is None:
            return None
        if self.reader and backend_of(self.name) in NO_LLM:
            return None
        return FolderOfAnswers(self.record)


OpenModel = Callable[[], Model]
"""Opens a model. It must be possible to pickle it, since a cluster calls it in each of its
processes."""


@dataclass(frozen=True)
class RunDesign:
    """Episodes to be played. A design always gives the same episodes, however they are played."""

    world: World
    split: str
    tasks: tuple[Task, ...]
    model_name: str
    open_model: OpenModel
    condition: Condition
    memory: EpisodicMemory
    setting: Setting
    decoding: Decoding
    step_budget: int
    sources: Sources = field(default_factory=Sources)
    stuck_after: int = 0
    seed: int = 0
    """The seed by which the task list was drawn, if it was, and by which memories are hidden."""
    epoch: int = 1
    """Number of the time that these tasks are played; see `rpms.play.run`."""
    keep: Mapping[str, Callable[[Episode], str]] = field(default_factory=dict)
    """Makes further texts of a finished episode to keep, by the name of their folder in the
    run's folder."""
    harvest: str = ""
    """Name of the harvest, if memories are made of the episodes."""
    method: Method = METHODS[REACT]
    reader: str = ""
    """Name of the reader of goals in people's words, a control or a model; by default the model
    that plays."""
    open_reader: OpenModel | None = None
    trial: int = 0
    """Number of the attempt at its tasks; see `rpms.play.run`."""
    earlier: Mapping[str, Earlier] = field(default_factory=dict)
    """The attempt before, by task, from which the model carries something to this one."""
    edition: Mapping[str, str] | None = None
    """The edition of its games where somebody has looked at them just now; by default they are
    looked at when the protocol is made."""

    @property
    def overlap(self) -> tuple[str, ...]:
        """The tasks that its memory was learned from; none if it plays without a memory."""
        if not self.condition.memory:
            return ()
        return self._tasks_like(learned_from(self.memory.entries))

    @property
    def taught(self) -> Taught | None:
        """The record of how its model was taught, if it was."""
        return taught_on(self.model_name)

    @property
    def taught_overlap(self) -> tuple[str, ...]:
        """The tasks that its model was taught on."""
        taught = self.taught
        if taught is None or taught.world != self.world.name:
            return ()
        return self._tasks_like(taught.tasks)

    def _tasks_like(self, others: Iterable[str]) -> tuple[str, ...]:
        """The tasks in the same games as others."""
        games = set(map(game_of, others))
        return tuple(task.id for task in self.tasks if game_of(task.id) in games)

    @property
    def beside(self) -> tuple[str, ...]:
        """The folders of all that is kept beside an episode."""
        return (*self.keep, CARRIED) if self.trial else tuple(self.keep)

    def remembering(self, memory: EpisodicMemory) -> Self:
        """The design with another memory. A memory of another world, or with entries that nothing
        here can word for a prompt, is an InputError.
        """
        if memory.world and memory.world != self.world.name:
            raise InputError(f"this is a memory of {memory.world}, not of {self.world.name}")
        strangers = {str(entry.kind) for entry in memory.entries if not entry.kind.registered}
        if strangers and self.condition.memory:
            raise InputError(
                f"the memory has entries of the kind {excerpt(min(strangers))}, which nothing here"
                " registers: add --harvest MODULE:NAME, whose module does, or import it first"
            )
        return replace(self, memory=memory)

    def reads(self, model: Model) -> Reads:
        """Opens the design's reader; by default the model that plays."""
        return Reads.by(self.reader, self.open_reader or (lambda: model), model)

    def protocol(self) -> Protocol:
        """Everything in this design that decides its results."""
        edition = self.edition
        if edition is None:
            edition = self.world.edition(self.tasks, self.setting)
        manual = self.sources.manual
        retrieval: dict[str, Any] = {}
        if self.condition.memory:
            retrieval = self.sources.retrieval_entry(self.world)
        settings: dict[str, Any] = {
            "package": version("rpms"),
            "world": self.world.name,
            "engine": self.setting.engine,
            "edition": dict(edition),
            "options": dict(sorted(self.setting.options.items())),
            "split": self.split,
            "model": self.model_name,
            "decoding": _json(self.decoding),
            "condition": _json(self.condition),
            "memory": self._memory_entry(),
            "manual": {"name": manual.name, "hash": manual.hash(self.world)},
            "prompts": prompts_hash(self.sources.prompts.over(self.world.wording)),
            "retrieval": retrieval,
            "context": self.sources.context,
            "step_budget": self.step_budget,
            "stuck_after": self.stuck_after,
            "seed": self.seed,
        }
        unusual = {
            "harvest": self.harvest,
            "parts": self._own_parts(),
            "agent": self._agent_entry(),
            "reader": self.reader,
            "epoch": self.epoch if self.epoch > 1 else 0,
            "taught": _taught_entry(self),
        }
        settings |= {name: value for name, value in unusual.items() if value}
        return Protocol(tuple(task.id for task in self.tasks), settings)

    def _memory_entry(self) -> dict[str, Any]:
        """Hash and size of the memory, and how many of the tasks it was learned from."""
        found: dict[str, Any] = {"hash": "", "entries": 0}
        if self.condition.memory:
            found = {"hash": memory_hash(self.memory), "entries": len(self.memory)}
        if self.overlap:
            found["overlap"] = len(self.overlap)
        return found

    def _own_parts(self) -> dict[str, Any]:
        """The user's own parts, by the seam that each is put in."""
        parts = {seam: getattr(self.sources.seams, seam) for seam in SEAMS}
        return {seam: identity(part) for seam, part in parts.items() if part is not None}

    def _agent_entry(self) -> dict[str, Any]:
        """The method; from the second trial on, also a hash of what prompts say of earlier trials.
        Empty for plain ReAct.
        """
        if self.method.name == REACT:
            return {}
        found = {**self.method.protocol_entry(), "trial": self.trial}
        if self.trial:
            earlier = []
            for task, each in self.earlier.items():
                turns = [[turn.observation, turn.thought, turn.action] for turn in each.turns]
                earlier.append([task, turns, each.last, *each.carried])
            found["earlier"] = hashlib.sha256(json.dumps(earlier).encode()).hexdigest()
        return found

    def knowledge(self) -> Mind:
        """All that its world knows, from the sources of this design."""
        return knowledge_of(
            self.world,
            self.sources,
            self.decoding.max_tokens,
            self.method,
            steps=self.step_budget,
        )


def design_run(
    world: World,
    model_name: str,
    open_model: OpenModel,
    *,
    split: str | None = None,
    tasks: Sequence[Task] | None = None,
    limit: int | None = None,
    setting: Setting | None = None,
    memory: EpisodicMemory | None = None,
    reader: str = "",
    overlap: bool = False,
    **others: Any,
) -> RunDesign:
    """Make a design, by default the paper's and the world's. What cannot be run is an InputError
    here.

    `overlap`: play tasks that the memory was learned from, or the model taught on, which results
    then say. `others`: fields of a `RunDesign`, and `parts`: `Seams` of one's own.
    """
    setting = setting or Setting()
    split = split or world.splits[0]
    every = world.tasks(split, setting) if tasks is None else tasks
    chosen = tuple(limited(every, limit))
    _check_tasks(world, split, setting, chosen)
    parts = others.pop("parts", None)
    fields: dict[str, Any] = {
        "condition": FULL,
        "memory": EpisodicMemory(world=world.name),
        "decoding": Decoding(max_tokens=world.max_tokens),
        "step_budget": world.step_budget,
        "reader": reader,
    }
    if reader:
        fields["open_reader"] = _open_reader(reader, model_name, open_model)
    for name, value in others.items():
        if value is not None:
            fields[name] = value
    if parts is not None:
        fields["sources"] = _with_parts(fields.get("sources", Sources()), parts)
    design = RunDesign(world, split, chosen, model_name, open_model, setting=setting, **fields)
    _check_ranges(design)
    design = _with_memory(design, memory)
    if not overlap:
        _refuse_known_tasks(design)
    return design


def _with_memory(design: RunDesign, memory: EpisodicMemory | None) -> RunDesign:
    """The design with a memory; one that uses memory, and has none, is refused."""
    if memory is not None:
        return design.remembering(memory)
    if design.condition.memory:
        raise InputError(
            "the condition uses memory, and none was given: read one, or give EpisodicMemory() for"
            " none"
        )
    return design


def _check_tasks(world: World, split: str, setting: Setting, tasks: Sequence[Task]) -> None:
    """Refuse a design without tasks, with one twice, or with an engine that the world has not."""
    if not tasks:
        raise InputError(f"{world.name}: no tasks to run in the split {split!r}")
    for task, times in Counter(task.id for task in tasks).items():
        if times > 1:
            raise InputError(f"the task {task!r} is listed more than once")
    if setting.engine not in world.engines:
        raise InputError(
            f"{world.name} has no engine {setting.engine!r}; choose one of"
            f" {', '.join(world.engines)}"
        )


def _open_reader(reader: str, model_name: str, open_model: OpenModel) -> NamedModel:
    """The model that reads requests, reached as the model that plays is."""
    if isinstance(open_model, NamedModel):
        return replace(open_model, name=reader)
    if reader not in READER_CONTROLS:
        backend = parse_model_name(reader).provider.backend
        if backend in NO_LLM - {Backend.REPLAY}:
            raise InputError(
                f"reader {reader}: give a language model, or one of {', '.join(READER_CONTROLS)}"
            )
    return replace(NamedModel(model_name), name=reader)


def _refuse_known_tasks(design: RunDesign) -> None:
    """Refuse tasks that the memory is learned from, or the model was taught on."""
    learned = design.overlap
    if learned:
        raise InputError(overlapping(len(learned), len(design.tasks), learned[0]))
    taught = design.taught_overlap
    if taught:
        raise InputError(
            f"the model was taught on {len(taught)} of these {len(design.tasks)} tasks, such as"
            f" {taught[0]}: play others; `overlap: allow` (--overlap allow) plays them, and the"
            " run's protocol says so"
        )


def _with_parts(sources: Sources, parts: object) -> Sources:
    """Sources with parts of one's own; one that cannot be called as its seam does is refused."""
    if not isinstance(parts, Seams):
        raise InputError(
            f"parts is a {type(parts).__name__}: give Seams({SEAMS[0]}=…), from rpms.parts"
        )
    for seam in SEAMS:
        part = getattr(parts, seam)
        if part is not None:
            check_signature(seam, part)
    return replace(sources, seams=parts)


def _taught_entry(design: RunDesign) -> dict[str, Any]:
    """The entry of a taught model in a protocol: its name does not tell trainings apart."""
    taught = design.taught
    if taught is None:
        return {}
    found: dict[str, Any] = {
        "hash": taught.hash,
        "games": len(taught.tasks),
        "corrections": taught.corrections,
        "overlap": len(design.taught_overlap),
    }
    if taught.rounds > 1:
        found["rounds"] = taught.rounds
    if not set(ABLATION.values()) <= set(taught.conditions):
        found["prompts"] = sorted(taught.conditions)
    if not set(taught.thoughts) <= {"words"}:
        found["thoughts"] = list(taught.thoughts)
    return found


def overlapping(shared: int, total: int, example: str) -> str:
    """Refusal of tasks that a memory is learned from, in words."""
    return (
        f"the memory is learned from {shared} of these {total} tasks, such as {example}: play"
        " others, or learn from others (a split called train); `overlap: allow` (--overlap allow)"
        " plays them, and every table says so"
    )


def _check_ranges(design: RunDesign) -> None:
    """Refuse numbers that a protocol could not be read back with."""
    steps = design.step_budget
    tokens = design.decoding.max_tokens
    temperature = design.decoding.temperature
    top_p = design.decoding.top_p
    failures = design.stuck_after
    _require(steps >= 1, f"a budget of {steps} steps leaves nothing to do")
    _require(0 <= temperature < math.inf, f"a temperature of {temperature}: give 0 or more")
    _require(0 < top_p <= 1, f"a top_p of {top_p}: give a number above 0, at most 1")
    _require(tokens >= 1, f"{tokens} new tokens are no answer; give 1 or more")
    _require(failures >= 0, f"stuck after {failures} failures: give 1 or more, or 0 for never")
    for number in (tokens, steps, design.seed, failures, design.decoding.seed or 0):
        problem = f"{excerpt(number, 40)} is beyond what can be recorded; give a smaller number"
        _require(abs(number) <= LONGEST_NUMBER, problem)


def _require(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise InputError(otherwise)


def _json(value: Any) -> Any:  # noqa: PLR0911  a table
    """A value as JSON; of a dataclass every field, those that are added later included."""
    match value:
        case StrEnum():
            return str(value)
        case Enum():
            return value.name.lower()
        case Mapping():
            return {str(name): _json(item) for name, item in sorted(value.items())}
        case set() | frozenset():
            return sorted(map(_json, value))
        case tuple() | list():
            return [_json(item) for item in value]
    if not is_dataclass(value):
        return value
    return {each.name: _json(getattr(value, each.name)) for each in fields(value)}


class _Lent(WrappedModel):
    """A model that outlives the run."""

    def close(self) -> None:
        """Do nothing: the model's owner closes it."""


def lend(model: Model) -> OpenModel:
    """Let a run use a model that is open already, and leave it open."""
    return partial(_Lent, model)  # can be pickled
