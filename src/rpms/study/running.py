"""Running a study: missing runs are played, and nothing is played twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rpms.foreign.file_reader import is_there
from rpms.paper.memory import Kind
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.play.controls import play_controls
from rpms.play.design import RunDesign
from rpms.play.epochs import run_epochs
from rpms.play.run import Listener, RunOptions, check_workers
from rpms.play.trials import Trials, run_trials
from rpms.store.expel_material import Experience, read_experience, write_experience
from rpms.store.files import remove_leftovers
from rpms.store.memories import read_frozen
from rpms.store.protocol import INDEX
from rpms.store.run_summaries import CutAnswers
from rpms.store.runs import RunFolder
from rpms.study.cells import Means, Result, design_cell
from rpms.study.studies import Case, Study
from rpms.study.study_checks import check_designs
from rpms.study.study_layout import HASH_DIGITS, StudyLayout, read_index, slug, write_index


def run_study(
    study: Study,
    models: Sequence[str],
    means: Means,
    layout: StudyLayout,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Result, ...]:
    """Run what is missing of a study; the index is written after each run.

    `tell` prints at once which runs were played earlier, and which have too many answers that were
    cut.
    """
    check_workers(means.workers)
    layout.refuse_foreign()
    remove_leftovers(layout.out, INDEX)
    read_index(layout)  # one that cannot be read is said before anything is played
    cases = {model: study.cases_for(model) for model in models}
    check_designs(study, cases, means)
    running = _Running(study, means, layout, _Memories(study, means, layout))
    results: list[Result] = []
    played: dict[Path, Trials] = {}
    for model in models:
        for case in cases[model]:
            design = running.design(model, case)
            what = f"{model}, {case.name}"
            folder = layout.run_folder(design)
            if folder in played:
                tell(f"{what}: the same run as before")
            else:
                run = partial(running.run, what)
                played[folder], *_ = run_epochs(design, folder, means.epochs, run)
            for remark in _remarks(what, design, played[folder]):
                tell(remark)
            results += _results(model, case, design, played[folder])
            write_index(study, results, layout)
    return tuple(results)


@dataclass(frozen=True)
class _Running:
    """A study under way."""

    study: Study
    means: Means
    layout: StudyLayout
    memories: _Memories

    def design(self, model: str, case: Case) -> RunDesign:
        """The run of one condition, with its memory, and with what expel draws from other runs."""
        memory = self.memories.of(model, case)
        design = design_cell(self.study.choice, case, model, self.means, memory)
        if design.method.recalled and design.method.experience is None:
            method = replace(design.method, experience=self._experience(design, case))
            return replace(design, method=method)
        return design

    def run(self, what: str, design: RunDesign, folder: Path) -> Trials:
        means = self.means
        run_options = RunOptions(
            runner=means.runner, price=means.prices.get(design.model_name), meter=means.meter
        )

        def listen(trial: int) -> Listener:
            return means.listener(f"{what} (trial {trial})" if trial else what)

        trials = run_trials(design, folder, means.workers, listen, **run_options)
        if design.epoch == 1:
            play_controls(design, folder, means.workers, means.runner)
        return trials

    def _experience(self, design: RunDesign, case: Case) -> Experience:
        """The experience that expel plays with: reflexion plays the tasks to learn from, and
        insights are drawn from that.
        """
        assert self.study.learning is not None
        assert self.means.gather is not None
        settings = replace(case.settings, agent="reflexion", trials=3)  # as in expel's paper
        choice = self.study.learning.choice
        model = design.model_name
        gathering = design_cell(
            choice, Case("gathering", settings), model, self.means, design.memory
        )
        what = f"{model}, gathering for {case.name}"
        trials = self.run(what, gathering, self.layout.run_folder(gathering))
        digest = gathering.protocol().hash[:HASH_DIGITS]
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
        world = self._means.world.name
        if file is None:
            return EpisodicMemory(world=world)
        if file not in self._read:
            self._read[file] = read_frozen(file, world, empty=True)
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


def _remarks(what: str, design: RunDesign, trials: Trials) -> Iterator[str]:
    """Remarks on a run that people should hear before the study ends."""
    for note in kinds_never_shown(design, trials.folders[0]):
        yield f"note: {what}: {note}"
    cut = CutAnswers.of(trials.summaries[0].rows)
    if cut.too_many:
        yield f"WARNING: {what}: {cut.numbers} {cut.words}"


def _results(model: str, case: Case, design: RunDesign, trials: Trials) -> Iterator[Result]:
    """The first trial's result, and the best attempts' where the case names that too."""
    first, *names_of_best = case.names
    first_case = replace(case, name=first)
    yield Result(model, first_case, design, trials.folders[0], trials.summaries[0])
    for name in names_of_best:
        best_case = replace(case, name=name)
        yield Result(model, best_case, design, trials.best_folder, trials.best)


def kinds_never_shown(design: RunDesign, folder: Path) -> Iterator[str]:
    """Notes on kinds of memory of the user's own that no prompt of a run showed. A kind of which
    the settings show no entry is left out.
    """
    top = design.sources.retrieval(design.world).top
    due: Counter[Kind] = Counter()
    for entry in design.memory.entries:
        kind = entry.kind
        if kind.wording is not None and kind.told and top.get(kind, kind.top):
            due[kind] += 1
    if not due or not design.condition.memory:
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
