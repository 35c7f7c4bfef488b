"""Running a study: what is missing is played, nothing twice, and an index says which run is which
condition.

study.json       the index: models → conditions → run folders, which reports read
runs/            one run folder for each protocol, named by it; studies may share the folder
learned/         memories that studies learned, with the episodes they were learned from
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rpms.foreign.file_reader import is_there
from rpms.logic.errors import FileError, InputError
from rpms.models.catalogue import parse_model_name
from rpms.paper.condition import CONDITIONS, Condition
from rpms.paper.memory import Kind
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.play.controls import play_controls
from rpms.play.epochs import run_epochs
from rpms.play.meter import Meter
from rpms.play.methods import REACT
from rpms.play.plan import OpenModel, RunPlan, overlapping
from rpms.play.run import Listener, MakeRunner, RunOptions, check_workers
from rpms.play.seats import Threads
from rpms.play.setting_values import name_of
from rpms.play.settings import ALLOW, Settings
from rpms.play.trials import Trials, run_trials
from rpms.play.understanding import READER_CONTROLS
from rpms.store.expel_material import Experience, read_experience, write_experience
from rpms.store.files import remove_leftovers, write_whole
from rpms.store.memories import read_frozen
from rpms.store.price import Price
from rpms.store.protocol import INDEX, Group, StudyIndex, read_study_index
from rpms.store.runs import CutAnswers, RunFolder, RunSummary, refuse_foreign
from rpms.study.studies import Case, Choice, Learning, Study
from rpms.worlds.base import Setting, World, game_of

_VARIES = ("manual", "prompts", "decoding", "context")
"""Fields in which conditions of a study may differ beside switches and memories: its author
meant them to."""
_HASH = 12
"""Hexadecimal digits of a protocol's hash in a folder's name."""


@dataclass(frozen=True)
class Means:
    """Means of running a study, beside its file."""

    world: World
    setting: Setting
    open_model: Callable[[str], OpenModel]
    learn: Callable[[Learning, str, Path], Mapping[int, Path]]
    """Learns what is missing with a model into a file, and gives the snapshots by round:
    `rpms.learning.rounds` does."""
    window: Callable[[str, Settings], int] = lambda _model, _settings: 0
    """Tokens of a model's context window; 0 for no limit."""
    workers: int | None = None
    runner: MakeRunner = Threads
    listener: Callable[[str], Listener] = lambda _: Listener()
    """Makes a listener for a run, given what it is of."""
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    """Prices by model; kept with its runs."""
    gather: Callable[[Sequence[Path], RunPlan], Experience] | None = None
    """Draws from runs what ExpeL plays with, with the model of their plan:
    `rpms.learning.insights` does."""
    meter: Meter | None = None
    """Counts against the limits of this call, over all its runs."""
    epochs: int = 1
    """Times that each run is played; the table shows the first."""
    editions: dict[str, Mapping[str, str]] | None = None
    """Editions of the games by choice of tasks, where they are looked at once: an estimate makes
    a thousand plans in a moment. A study that plays for hours looks anew for each run."""

    def edition(self, choice: Choice, plan: RunPlan) -> Mapping[str, str] | None:
        """The edition of a plan's games, if it is looked at once for all plans."""
        if self.editions is None:
            return None
        key = repr(choice)
        if key not in self.editions:
            self.editions[key] = self.world.edition(plan.tasks, plan.setting)
        return self.editions[key]


@dataclass(frozen=True)
class Result:
    """One model under one condition: a run, which several conditions may share."""

    model: str
    case: Case
    plan: RunPlan
    folder: Path
    summary: RunSummary


@dataclass(frozen=True)
class StudyLayout:
    """Folders of a study."""

    out: Path
    pool: Path
    """Runs and memories; several studies that share it share their runs."""

    def refuse_foreign(self) -> None:
        """Refuse a folder that holds something, but no study."""
        if os.path.isdir(self.out):  # noqa: PTH112  never raises
            refuse_foreign(self.out, "study", INDEX, others=("runs", "learned"))

    def learned(self, learning: Learning, means: Means, model: str) -> Path:
        """The memory that a model learns.

        Rounds are no part of the name: more of them go on from fewer.
        """
        # the manual and the package version are in the first round's protocol; under others its
        # folder would be refused
        plan = plan_round(learning, 1, model, means)
        named_by = (
            plan.protocol().hash,
            str(learning.condition(2)),
            name_of(learning.settings.harvesting),
        )
        digest = hashlib.sha256(json.dumps(named_by).encode()).hexdigest()
        return self.pool / "learned" / f"{slug(model)}-{digest[:_HASH]}" / "memory.jsonl"

    def begun(self, model: str) -> bool:
        """True if a model has played or learned here before."""
        return any(any((self.pool / kind).glob(f"{slug(model)}-*")) for kind in ("runs", "learned"))

    def run_folder(self, plan: RunPlan) -> Path:
        """The folder of a protocol: one that is there already, whatever it is called, or a new
        one.
        """
        digest = plan.protocol().hash[:_HASH]
        runs = self.pool / "runs"
        found = sorted(runs.glob(f"*-{digest}")) if runs.is_dir() else []
        method = "" if plan.method.name == REACT else f"-{plan.method.name}"
        new = f"{slug(plan.model_name)}-{label(plan.condition)}{method}-{digest}"
        return found[0] if found else runs / new


def slug(text: str) -> str:
    """A name as a part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_.")[:40] or "model"


def label(condition: Condition) -> str:
    """A condition as a part of a folder's name."""
    for name, usual in CONDITIONS.items():
        if usual.rules == condition.rules and usual.memory == condition.memory:
            return f"{name}_varied" if _is_varied(condition, usual) else name
    raise AssertionError("the 2x2 has every combination of rules and memory")


def _is_varied(condition: Condition, usual: Condition) -> bool:
    return (
        condition.arbitration is not usual.arbitration
        or condition.state_filter is not usual.state_filter
        or condition.enforcement != usual.enforcement
    )


def plan_cell(
    choice: Choice, case: Case, model: str, means: Means, memory: EpisodicMemory
) -> RunPlan:
    """The run of one condition; its first trial, where it has several."""
    plan = case.settings.plan(
        means.world,
        model,
        means.open_model(model),
        means.window(model, case.settings),
        split=choice.settings.split,
        tasks=choice.tasks(means.world, means.setting),
        condition=case.condition,
        memory=memory,
        setting=choice.setting(means.world, means.setting),
        step_budget=choice.settings.steps,
        method=case.method(means.world),
    )
    return replace(plan, edition=means.edition(choice, plan))


def plan_round(learning: Learning, number: int, model: str, means: Means) -> RunPlan:
    """A round of learning as a run; of later rounds, what is known before anything is learned."""
    case = Case("learning", replace(learning.settings, condition=learning.condition_name(number)))
    return plan_cell(learning.choice, case, model, means, EpisodicMemory(world=means.world.name))


def run_study(
    study: Study,
    models: Sequence[str],
    means: Means,
    layout: StudyLayout,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Result, ...]:
    """Run what is missing of a study, indexed after each run.

    `tell`: told of runs that are an earlier one, and of those with too many cut answers, so that
    nobody waits for the end to hear of them.
    """
    check_workers(means.workers)
    layout.refuse_foreign()
    remove_leftovers(layout.out, INDEX)
    read_index(layout)  # one that cannot be read is said before anything is played
    cases = {model: study.cases_for(model) for model in models}
    _check_plans(study, cases, means)
    running = _Running(study, means, layout, _Memories(study, means, layout))
    results: list[Result] = []
    played: dict[Path, Trials] = {}
    for model in models:
        for case in cases[model]:
            plan = running.plan(model, case)
            what = f"{model}, {case.name}"
            folder = layout.run_folder(plan)
            if folder in played:
                tell(f"{what}: the same run as before")
            else:
                run = partial(running.run, what)
                played[folder], *_ = run_epochs(plan, folder, means.epochs, run)
            for remark in _remarks(what, plan, played[folder]):
                tell(remark)
            results += _results(model, case, plan, played[folder])
            write_index(study, results, layout)
    return tuple(results)


@dataclass(frozen=True)
class _Running:
    """A study under way."""

    study: Study
    means: Means
    layout: StudyLayout
    memories: _Memories

    def plan(self, model: str, case: Case) -> RunPlan:
        """The run of one condition, with its memory, and with what expel draws from other runs."""
        memory = self.memories.of(model, case)
        plan = plan_cell(self.study.choice, case, model, self.means, memory)
        if plan.method.recalled and plan.method.experience is None:
            method = replace(plan.method, experience=self._experience(plan, case))
            return replace(plan, method=method)
        return plan

    def run(self, what: str, plan: RunPlan, folder: Path) -> Trials:
        means = self.means
        run_options = RunOptions(
            runner=means.runner, price=means.prices.get(plan.model_name), meter=means.meter
        )

        def listen(trial: int) -> Listener:
            return means.listener(f"{what} (trial {trial})" if trial else what)

        trials = run_trials(plan, folder, means.workers, listen, **run_options)
        if plan.epoch == 1:
            play_controls(plan, folder, means.workers, means.runner)
        return trials

    def _experience(self, plan: RunPlan, case: Case) -> Experience:
        """The experience that expel plays with: reflexion plays the tasks to learn from, and
        insights are drawn from that.
        """
        assert self.study.learning is not None
        assert self.means.gather is not None
        settings = replace(case.settings, agent="reflexion", trials=3)  # as in expel's paper
        choice = self.study.learning.choice
        model = plan.model_name
        gathering = plan_cell(choice, Case("gathering", settings), model, self.means, plan.memory)
        what = f"{model}, gathering for {case.name}"
        trials = self.run(what, gathering, self.layout.run_folder(gathering))
        digest = gathering.protocol().hash[:_HASH]
        file = self.layout.pool / "learned" / f"{slug(model)}-expel-{digest}.jsonl"
        if is_there(file):
            return read_experience(file, self.means.world.name)
        experience = self.means.gather(trials.folders, gathering)
        write_experience(file, experience)
        return experience


class _Memories:
    """The memories of a study's conditions, each read once; what must be learned is learned when
    first wanted.
    """

    def __init__(self, study: Study, means: Means, layout: StudyLayout) -> None:
        """Files that the study names are read now, before anything is played."""
        self._study = study
        self._means = means
        self._layout = layout
        self._read: dict[Path, EpisodicMemory] = {}
        self._snapshots: dict[str, Mapping[int, Path]] = {}
        for case in study.cases:
            file = case.memory_file(means.world)
            if file is not None and file not in self._read:
                self._read[file] = read_frozen(file, means.world.name)

    def of(self, model: str, case: Case) -> EpisodicMemory:
        """The memory that a model plays a condition with."""
        file = case.memory_file(self._means.world)
        if file is None and case.learns and self._study.learner(model):
            file = self._snapshot(model, case)
        name = self._means.world.name
        if file is None:
            return EpisodicMemory(world=name)
        if file not in self._read:
            self._read[file] = read_frozen(file, name, empty=True)
        return self._read[file]

    def _snapshot(self, model: str, case: Case) -> Path:
        """The file of what was learned for a model by the end of the round that a condition
        names.
        """
        learning = self._study.learning
        assert learning is not None
        if model not in self._snapshots:
            learner = self._study.learner(model)
            out = self._layout.learned(learning, self._means, learner)
            self._snapshots[model] = self._means.learn(learning, learner, out)
        return self._snapshots[model][case.round or learning.rounds]


def _remarks(what: str, plan: RunPlan, trials: Trials) -> Iterator[str]:
    """Remarks on a run that people should hear before the study ends."""
    for note in kinds_never_shown(plan, trials.folders[0]):
        yield f"note: {what}: {note}"
    cut = CutAnswers.of(trials.summaries[0].rows)
    if cut.too_many:
        yield f"WARNING: {what}: {cut.numbers} {cut.words}"


def _results(model: str, case: Case, plan: RunPlan, trials: Trials) -> Iterator[Result]:
    """The first trial's result, and the best attempts' where the case names that too."""
    runs = (
        (trials.folders[0], trials.summaries[0]),
        (trials.best_folder, trials.best),
    )
    for name, (folder, summary) in zip(case.names, runs, strict=False):
        yield Result(model, replace(case, name=name), plan, folder, summary)


def kinds_never_shown(plan: RunPlan, folder: Path) -> Iterator[str]:
    """Notes on kinds of memory of the user's own that no prompt of a run showed.

    A kind of which the settings show none is left out.
    """
    top = plan.sources.retrieval(plan.world).top
    due: Counter[Kind] = Counter()
    for entry in plan.memory.entries:
        kind = entry.kind
        if kind.wording is not None and kind.told and top.get(kind, kind.top):
            due[kind] += 1
    if not due or not plan.condition.memory:
        return
    shown = _shown_kinds(RunFolder(folder))
    for kind in sorted(due):
        if kind not in shown:
            yield (
                f"no prompt showed any of the {due[kind]} memories of the kind {kind}; why not:"
                f" rpms table verdicts {folder}"
            )


def _shown_kinds(run_folder: RunFolder) -> set[str]:
    """The kinds of memory that a run's prompts showed."""
    shown: set[str] = set()
    for episode in run_folder.episodes():
        for step in episode.steps:
            for candidate in step.candidates:
                if Fate(candidate.fate).shown:
                    shown.add(candidate.kind)
    return shown


def refuse_overlap(study: Study, means: Means) -> None:
    """Refuse a study that would play games it learns from, unless it says that this is meant."""
    forbidden = any(case.learns and case.settings.overlap != ALLOW for case in study.cases)
    if study.learning is None or not forbidden:
        return
    tested = study.choice.tasks(means.world, means.setting)
    learned_from = study.learning.choice.tasks(means.world, means.setting)
    games = {game_of(task.id) for task in learned_from}
    shared = [task.id for task in tested if game_of(task.id) in games]
    if shared:
        raise InputError(f"{study.file}: {overlapping(len(shared), len(tested), shared[0])}")


def check_study(study: Study, world: World, setting: Setting) -> None:
    """Refuse what a run would refuse on any machine: options, models, readers, methods, memories
    and manuals that do not exist; and, if games are here, splits and tasks that do not exist.
    """
    _check_choice(study.choice, world, setting)
    if study.learning is not None:
        _check_choice(study.learning.choice, world, setting)
        study.learning.settings.sources(world)
    for name in filter(None, (*study.models, study.learner(""))):
        _check_model(study, name)
    for case in study.cases:
        _check_case(study, case, world)


def _check_choice(choice: Choice, world: World, setting: Setting) -> None:
    """Refuse a split that a world does not have, and tasks and options that it does not have
    where its games can be listed: which ones there are is known only then.
    """
    choice.setting(world, setting)
    if choice.can_be_listed(world, setting):
        choice.tasks(world, setting)


def _check_model(study: Study, name: str) -> None:
    with study.written.at("models", "learn"):
        try:
            parse_model_name(name)
        except InputError as error:
            raise InputError(str(error).removeprefix("--model ")) from None


def _check_case(study: Study, case: Case, world: World) -> None:
    try:
        case.settings.sources(world)
        reader = case.settings.reader
        if reader and reader not in READER_CONTROLS:
            parse_model_name(reader)
        case.method(world)
        if file := case.memory_file(world):
            read_frozen(file, world.name)
    except FileError:
        raise
    except InputError as error:
        raise InputError(f"{study.file}: {case.name}: {error}") from None


def _check_plans(study: Study, cases: Mapping[str, Sequence[Case]], means: Means) -> None:
    """Make every plan once, so that missing games or files, or tasks both learned from and
    played, stop it at once.
    """
    refuse_overlap(study, means)
    no_memory = EpisodicMemory(world=means.world.name)
    cannot_learn = study.learning is None or means.gather is None
    for model, played in cases.items():
        learner = study.learner(model)
        if study.learning is not None and learner:
            plan_round(study.learning, 1, learner, means)
        for case in played:
            method = plan_cell(study.choice, case, model, means, no_memory).method
            if method.recalled and method.experience is None and cannot_learn:
                what = "give expel `insights: FILE`, or the study a `learn` block"
                raise InputError(f"{study.file}: {case.name}: {what}")
    check_study(study, means.world, means.setting)


def write_index(study: Study, results: Sequence[Result], layout: StudyLayout) -> None:
    """Write `study.json`: the run of each condition, by model; what it names already stays with
    its folder.
    """
    index_before = read_index(layout)
    groups: dict[str, Group] = {}
    for result in results:
        model = result.model
        before = index_before[model].runs if model in index_before else {}
        new = Group(model=model, about=study.about_of(model), tables=study.tables, runs=before)
        where = os.path.relpath(result.folder, layout.out)
        groups.setdefault(model, new).runs[result.case.name] = Path(where).as_posix()
    titles = dict.fromkeys(groups, study.title)
    for group in groups.values():
        group.runs = _in_order(group.runs, study)
    for model, group in index_before.items():
        if model not in groups:
            titles[model] = group.title.removesuffix(f": {model}")
            groups[model] = group
    for model, group in groups.items():
        group.title = f"{titles[model]}: {model}" if len(groups) > 1 else titles[model]
    index = StudyIndex(
        title=study.title, world=study.world, varies=_VARIES, groups=tuple(groups.values())
    )
    text = json.dumps(index.model_dump(exclude_defaults=True), indent=1, ensure_ascii=False)
    write_whole(layout.out / INDEX, f"{text}\n")


def _in_order(runs: Mapping[str, str], study: Study) -> dict[str, str]:
    """Runs in the order of the study's conditions; others after them."""
    names: list[str] = []
    for case in study.cases:
        names += case.names
    ordered = {name: runs[name] for name in names if name in runs}
    return ordered | dict(runs)


def read_index(layout: StudyLayout) -> dict[str, Group]:
    """Groups of `study.json` by model, without run folders that are gone."""
    file = layout.out / INDEX
    if not is_there(file):
        return {}
    index = read_study_index(file, advice="; move it or choose another --out")
    found: dict[str, Group] = {}
    for group in index.comparisons:
        for name, where in list(group.runs.items()):
            if not os.path.isdir(layout.out / where):  # noqa: PTH112  never raises
                del group.runs[name]
        if group.runs:
            found[group.model] = group
    return found
