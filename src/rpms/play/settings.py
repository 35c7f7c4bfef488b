"""Every setting of an experiment, defined once: `rpms run`, `learn`, `study run`, study files and
`Agent` read it here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from rpms.logic.errors import FileError, InputError, nearest
from rpms.logic.rules import Tier
from rpms.models.base import Decoding
from rpms.paper.arbitration import Arbitration
from rpms.paper.compose import Seams
from rpms.paper.condition import BeliefShown, Condition, MemoryWords, named_condition
from rpms.paper.enforcement import PAPER, STRICT, Calls, Repair, with_part
from rpms.paper.memory import Kind
from rpms.paper.prompt import Budget, Form, Layout
from rpms.paper.recall import Retrieval
from rpms.play import setting_values as reads
from rpms.play.design import OpenModel, RunDesign, design_run
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.setting_values import NoMemoryGiven, Part, SettingError, read_by
from rpms.play.sources import MANUALS, PAPER_MANUAL, WEIGHTS, Sources, choose_manual, manual_of
from rpms.play.task_choice import ChosenTasks, drawn, first_of_each_type, limited, tasks_named
from rpms.store.expel_material import read_experience
from rpms.store.prompt_files import Prompts, read_prompts
from rpms.worlds.base import Setting, World

NO_MEMORY = "none"
EMBEDDED_MEMORY = "embedded"
BY_GOAL = "goal"
FOR_ANY = "any"
REFUSE = "refuse"
ALLOW = "allow"
AS_PAPER = "as_paper"
CLEAN = "clean"
_SWITCHES = (
    *("arbitration", "state_filter", "layout", "form", "belief", "notes", "outcomes"),
    *("memory_words", "repair", "calls", "tiers"),
)
"""The settings that are fields of a `Condition`."""
CONDITION_SETTINGS = ("condition", "preset", "enforce", *_SWITCHES)
"""The settings that a `Condition` is made of."""
TASK_SETTINGS = ("split", "task", "per_task", "sample", "limit", "steps", "simplifications")
"""The settings that choose what is played."""


@dataclass(frozen=True)
class Settings:
    """The settings, each with the function that reads its value.

    None means that it is not given: then the preset decides, or else the world, or else the model.
    `rpms.cli.setting_options` says what each is for.
    """

    condition: str | None = read_by(reads.condition_name)
    preset: str | None = read_by(reads.one_of(("paper", "strict")))
    enforce: Mapping[str, Any] | None = read_by(reads.parts)
    arbitration: Arbitration | Part | None = read_by(
        reads.part_or("arbitration", reads.one_of(Arbitration))
    )
    retriever: Part | None = read_by(reads.part_or("retriever"))
    consistency: Part | None = read_by(reads.part_or("consistency"))
    prompt: Part | None = read_by(reads.part_or("prompt"))
    state_filter: bool | None = read_by(reads.switch)
    theta: float | None = read_by(reads.number(0, 1))
    k: Mapping[Kind, int] | None = read_by(reads.kinds)
    schemas: str | None = read_by(reads.one_of((BY_GOAL, FOR_ANY)))
    memory_tokens: int | None = read_by(reads.whole(0))
    warnings: int | None = read_by(reads.whole(0, 1000))
    examined: int | None = read_by(reads.whole(1))
    weights: Mapping[str, float] | None = read_by(
        reads.pairs(WEIGHTS, reads.number(0, 1), "type=0.5,object=0.3,destination=0.2")
    )
    mask: float | None = read_by(reads.number(0, 0.9))
    manual: str | Path | None = read_by(reads.file_or(*MANUALS))
    tiers: tuple[Tier, ...] | None = read_by(reads.tiers)
    prompts: Path | None = read_by(lambda value: Path(value).expanduser())
    layout: Layout | None = read_by(reads.one_of(Layout))
    form: Form | None = read_by(reads.one_of(Form))
    belief: BeliefShown | None = read_by(reads.one_of(BeliefShown))
    notes: bool | None = read_by(reads.switch)
    outcomes: bool | None = read_by(reads.switch)
    memory_words: MemoryWords | None = read_by(reads.one_of(MemoryWords))
    repair: Repair | None = read_by(reads.one_of(Repair))
    calls: Calls | None = read_by(reads.one_of(Calls))
    memory: str | Path | None = read_by(reads.file_or(NO_MEMORY, EMBEDDED_MEMORY))
    harvest: str | Part | None = read_by(reads.part_or("harvest", reads.one_of((AS_PAPER, CLEAN))))
    reader: str | None = read_by(str)
    overlap: str | None = read_by(reads.one_of((REFUSE, ALLOW)))
    agent: str | None = read_by(reads.one_of(METHODS))
    trials: int | None = read_by(reads.whole(1, 100))
    insights: Path | None = read_by(lambda value: Path(value).expanduser())
    context: int | None = read_by(reads.whole(256))
    max_tokens: int | None = read_by(reads.whole(1))
    temperature: float | None = read_by(reads.number(0))
    seed: int | None = read_by(reads.whole(0, 2**63))
    split: str | None = read_by(str)
    task: tuple[str, ...] | None = read_by(reads.texts)
    per_task: int | None = read_by(reads.whole(1))
    sample: int | None = read_by(reads.whole(1))
    limit: int | None = read_by(reads.whole(1))
    steps: int | None = read_by(reads.whole(1))
    simplifications: str | None = read_by(
        lambda value: "" if str(value) == "none" else ",".join(reads.texts(value))
    )

    @classmethod
    def read(cls, given: Mapping[str, Any], folder: Path = Path()) -> Settings:
        """Read settings by name.

        A wrong name or value is a SettingError; files are relative to a folder.
        """
        values: dict[str, Any] = {}
        for name, value in given.items():
            read = _READS.get(name)
            if read is None:
                problem = f"there is no such setting; {nearest(str(name), SETTING_NAMES)}"
                raise SettingError(str(name), problem)
            if value is None:
                continue
            try:
                found = read(value)
            except SettingError as error:
                raise SettingError(name, error.problem, error.inner) from None
            except (ValueError, TypeError, InputError) as error:
                raise SettingError(name, str(error)) from None
            values[name] = folder / found if isinstance(found, Path) else found
        return cls(**values)

    @property
    def given(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        found: dict[str, Any] = {}
        for name in SETTING_NAMES:
            value = getattr(self, name)
            if value is not None:
                found[name] = value
        return found

    def over(self, other: Settings) -> Settings:
        """These settings, filled up from others.

        Parts of the enforcement are laid over the others' one by one.
        """
        merged = {**other.given, **self.given}
        if self.enforce is not None and other.enforce is not None:
            merged["enforce"] = {**other.enforce, **self.enforce}
        return Settings(**merged)

    def only(self, *, tasks: bool) -> Settings:
        """The settings that choose what is played, or all the others."""
        found = self.given
        for name in self.given:
            if (name in TASK_SETTINGS) != tasks:
                del found[name]
        return Settings(**found)

    @property
    def of_preset(self) -> Settings:
        return PRESETS[self.preset or "paper"]

    @property
    def condition_name(self) -> str:
        """Condition name; `baseline` if another method is chosen and nothing else is said."""
        return self.condition or ("full" if self.agent in (None, REACT) else "baseline")

    def method(self, world: World) -> Method:
        """The method that they choose, with its experience, which is read here."""
        method = METHODS[self.agent or REACT]
        if self.trials is not None:
            if self.trials > 1 and not method.question:
                raise SettingError(
                    "trials",
                    f"{method.name} attempts a task once; choose the agent reflexion or clin",
                )
            method = replace(method, trials=self.trials)
        if self.insights is not None:
            if not method.recalled:
                raise SettingError("insights", f"are for the agent expel, not for {method.name}")
            return replace(method, experience=read_experience(self.insights, world.name))
        if method.recalled:
            command = f"`rpms insights RUNS --out {world.name}.expel.jsonl --model MODEL`"
            raise SettingError(
                "insights", f"expel plays with what recorded runs taught: gather it with {command}"
            )
        return method

    def condition_value(self) -> Condition:
        full = self.over(self.of_preset)
        enforcement = STRICT if self.preset == "strict" else PAPER
        for name, value in (self.enforce or {}).items():
            enforcement = with_part(enforcement, name, value)
        base = named_condition(self.condition_name)
        switches = {name: value for name, value in full.given.items() if name in _SWITCHES}
        # a judge of one's own, which is no part of the condition
        if callable(switches.get("arbitration")):
            del switches["arbitration"]
        return replace(base, **switches, enforcement=enforcement)

    def sources(self, world: World, context: int = 0) -> Sources:
        """The knowledge that they choose, checked against a world; files are read here."""
        chosen = self.over(self.of_preset)
        try:
            manual = choose_manual(chosen.manual or PAPER_MANUAL, str(self.of_preset.manual))
        except FileError:
            raise
        except InputError as error:
            raise SettingError("manual", str(error)) from None
        recall = self._recall(world.retrieval, by_goal=chosen.schemas != FOR_ANY)
        sources = Sources(
            manual,
            Prompts() if self.prompts is None else read_prompts(self.prompts),
            recall,
            self._memory_budget(world.retrieval, recall),
            self.seams,
            context,
        )
        try:
            manual_of(world, manual)
        except FileError as error:
            raise FileError(
                error.file, error.line, f"{error.problem} (in the manual of {world.name})"
            ) from None
        return sources

    def _recall(self, usual: Retrieval, *, by_goal: bool) -> Retrieval:
        """Settings of recall: the given ones, else the world's own."""
        k = self.k or {}
        warnings = self.warnings
        if warnings is None:  # as many as failures are asked for
            asked = (k.get(Kind.CRITICAL_FAILURE, 0), k.get(Kind.FAILURE, 0))
            warnings = max(usual.warnings, *asked)
        return replace(
            usual,
            # its weights alone
            similarity=replace(usual.similarity, **(self.weights or {})),  # type: ignore[arg-type]
            threshold=usual.threshold if self.theta is None else self.theta,
            top={**usual.top, **k},
            mask=self.mask or 0.0,
            schemas_by_goal=by_goal,
            warnings=warnings,
            examined=self.examined or usual.examined,
        )

    def _memory_budget(self, usual: Retrieval, recall: Retrieval) -> int:
        """Tokens for memories: as given, or else more than usual if --k asks for more memories."""
        if self.memory_tokens is not None:
            return self.memory_tokens
        before = sum(usual.top.values())
        wanted = sum(recall.top.values())
        return Budget().memory * max(before, wanted) // before

    @property
    def seams(self) -> Seams:
        """Parts of the user's own."""
        judge = self.arbitration if callable(self.arbitration) else None
        return Seams(self.retriever, self.consistency, judge, self.prompt)

    @property
    def harvesting(self) -> str | Part:
        """The way in which learning harvests episodes."""
        return self.harvest or self.of_preset.harvest or AS_PAPER

    def decoding(self, world: World) -> Decoding:
        """Greedy, unless a temperature is given; then the draw follows from the seed."""
        most = self.max_tokens or world.max_tokens
        if not self.temperature:
            return Decoding(max_tokens=most, temperature=0.0)
        return Decoding(max_tokens=most, temperature=self.temperature, seed=self.seed or 0)

    def design(
        self, world: World, model: str, open_model: OpenModel, context: int = 0, **given: Any
    ) -> RunDesign:
        """The run that they describe.

        `context`: the model's window; `given`: more of `design_run`, or in their place.
        """
        usual = {
            "split": self.split,
            "condition": self.condition_value(),
            "decoding": self.decoding(world),
            "step_budget": self.steps,
            "sources": self.sources(world, context),
            "seed": self.seed or 0,
            "reader": self.reader or "",
            "overlap": self.overlap == ALLOW,
        }
        method = given.pop("method", None) or self.method(world)
        return design_run(world, model, open_model, method=method, **{**usual, **given})

    def setting(self, world: World, base: Setting) -> Setting:
        if self.simplifications is None:
            return base
        if "simplifications" not in world.options:
            raise SettingError("simplifications", f"{world.name} has none")
        return replace(base, options={**base.options, "simplifications": self.simplifications})

    def tasks(self, world: World, base: Setting, part: slice = slice(None)) -> ChosenTasks:
        """The selected tasks."""
        named, setting = tasks_named(
            world, self.split or world.splits[0], self.setting(world, base), self.task
        )
        every = first_of_each_type(named, self.per_task)[part]
        sample = drawn(every, self.sample, self.seed or 0)
        return ChosenTasks(list(limited(sample, self.limit)), setting)

    def memory_file(
        self, world: World, model: str = "", *, embedded_games: bool | None = None
    ) -> Path | None:
        """The memory to read, or None; a condition that lacks one is NoMemoryGiven.

        `model`: who would learn one.
        """
        if not named_condition(self.condition_name).memory or self.memory == NO_MEMORY:
            return None
        if isinstance(self.memory, Path):
            return self.memory
        if embedded_games is None:
            embedded_games = (self.split or world.splits[0]) == "builtin"
        if embedded_games or self.memory == EMBEDDED_MEMORY:
            embedded = world.embedded_memory()
            if embedded:
                return Path(embedded)
        if self.memory == EMBEDDED_MEMORY:
            raise SettingError("memory", f"{world.name} has no embedded memory; give a file")
        raise NoMemoryGiven(
            f"the condition {self.condition_name} uses memory, and none was given. Learn one with"
            f" `{self._how_to_learn(world, model)}` and give it as memory; or choose the condition"
            " rules-only; or give `none` as memory, to play with an empty one"
        )

    def _how_to_learn(self, world: World, model: str) -> str:
        """The command that learns a memory from other tasks than those that are played.

        Nobody is told to learn from a split that is there to test with.
        """
        played = self.split or world.splits[0]
        tasks = "--task TASKS-THAT-YOU-WILL-NOT-PLAY"
        # `train` where there is one, else the first
        for split in sorted(world.splits, key=lambda split: split != "train"):
            if split != played and not _TESTS.search(split):
                tasks = f"--split {split}"
                break
        who = f" --model {model}" if model else ""
        return f"rpms learn {world.name} {tasks}{who} --out memory.jsonl"


_TESTS = re.compile("test|eval|unseen|valid")
"""Names of splits that are kept for testing."""
_READS: Mapping[str, reads.Read] = {each.name: each.metadata["read"] for each in fields(Settings)}
SETTING_NAMES = tuple(_READS)
PRESETS: Mapping[str, Settings] = {
    "paper": Settings(
        schemas=BY_GOAL,
        manual=PAPER_MANUAL,
        layout=Layout.PAPER,
        form=Form.CHAT,
        belief=BeliefShown.PAPER,
        notes=False,
        repair=Repair.FORM,
        harvest=AS_PAPER,
    ),
    "strict": Settings(
        schemas=FOR_ANY,
        manual="complete",
        layout=Layout.CACHED,
        form=Form.SINGLE,
        belief=BeliefShown.EXTENDED,
        notes=True,
        repair=Repair.BELIEF,
        harvest=CLEAN,
    ),
}
"""Settings of a preset beside the enforcement of its name."""
