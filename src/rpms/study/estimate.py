"""The cost of a study, estimated before it is run."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from rpms.logic.errors import RPMSError
from rpms.models.accounting import list_cost
from rpms.models.catalogue import NO_LLM, parse_model_name
from rpms.paper.compose import compose
from rpms.paper.decide import decide
from rpms.paper.episode import Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import RunDesign
from rpms.store.memories import memory_hash, read_frozen, round_folder, snapshot_file
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from rpms.study.cells import Means, design_cell, design_round
from rpms.study.studies import Case, Learning, Study
from rpms.study.study_checks import refuse_overlap
from rpms.study.study_layout import StudyLayout
from rpms.worlds.base import Setting, World

STEPS = 0.65
"""The share of the step budget that an episode takes: the paper's conditions take 31 to 37 of
50 steps."""
TURN = 45
"""Tokens that a step adds to the history: a thought, an action, an observation."""
ANSWER = 40
"""Tokens of an answer."""
SECONDS = 1.0
"""Seconds that one answer takes: a hosted 8B model, or a server that answers a batch of this many
workers."""
FALLBACK = 1_500
"""Tokens of a first prompt, where no game can be opened here to measure one."""


@dataclass(frozen=True)
class Estimate:
    """Tokens and episodes that one run still takes."""

    what: str
    model: str
    episodes: int
    done: int
    usage: Usage
    measured: bool
    """True if it follows from finished episodes of this very run; otherwise from the first prompt
    and the paper's lengths."""
    shared: bool = False
    """True if another condition of the study is the same run: it costs nothing more."""
    seconds: float | None = None
    """Seconds of waiting for one answer, in finished episodes; None without any."""

    @property
    def left(self) -> int:
        return 0 if self.shared else self.episodes - self.done

    def cost(self, price: Price | None) -> float | None:
        return list_cost(self.usage, price) if self.left and self.usage != Usage() else 0.0


def estimate_study(
    study: Study, models: Sequence[str], means: Means, layout: StudyLayout
) -> tuple[Estimate, ...]:
    """Every run of a study, the learning rounds included, without asking a model or writing
    anything.
    """
    refuse_overlap(study, means)
    means = replace(means, editions={})
    prompts = _FirstPrompts()
    found: list[Estimate] = []
    learned: set[Path] = set()
    seen: set[object] = set()
    for model in models:
        cases = study.cases_for(model)
        learner = _learner_for(study, model, cases)
        if study.learning is not None and learner:
            out = layout.learned(study.learning, means, learner)
            if out not in learned:
                found += _of_rounds(study.learning, learner, means, out, prompts)
            learned.add(out)
        for case in cases:
            memory = _memory(study, case, model, means, layout)
            of_design = memory or EpisodicMemory(world=means.world.name)
            design = design_cell(study.choice, case, model, means, of_design)
            folder = layout.run_folder(design) if memory is not None else None
            key: object = folder or (model, str(case.settings), case.round)
            found.append(_of_case(case, design, folder, prompts, shared=key in seen))
            seen.add(key)
    return tuple(found)


def _learner_for(study: Study, model: str, cases: Sequence[Case]) -> str:
    """The model that learns, if a condition that this one plays needs it; else empty."""
    return study.learner(model) if any(case.learns for case in cases) else ""


def _of_rounds(
    learning: Learning, learner: str, means: Means, out: Path, prompts: "_FirstPrompts"
) -> Iterator[Estimate]:
    """The rounds of learning, whose runs lie beside the memory that they make."""
    for number in range(1, learning.rounds + 1):
        design = design_round(learning, number, learner, means)
        episodes = len(design.tasks)
        done = _finished(RunFolder(round_folder(out, number)))
        usage = _times(_guess(design, prompts), episodes - done)
        yield Estimate(f"learning, round {number}", learner, episodes, done, usage, measured=False)


def _finished(run: RunFolder) -> int:
    return run.summary().done if run.begun else 0


def _of_case(
    case: Case, design: RunDesign, folder: Path | None, prompts: "_FirstPrompts", *, shared: bool
) -> Estimate:
    """The estimate of one run: by the episodes that are done already, else by a guess."""
    run = RunFolder(folder) if folder is not None else None
    done = _finished(run) if run is not None else 0
    left = len(design.tasks) - done
    waits: list[float] = []
    if run is not None and done:
        usage = _times(run.summary().usage, left / done)
        for timing in run.timings().values():
            waits += timing.model_seconds
    else:
        usage = _times(_guess(design, prompts), left)
    return Estimate(
        what=case.name,
        model=design.model_name,
        episodes=len(design.tasks),
        done=done,
        usage=usage,
        measured=bool(done),
        shared=shared,
        seconds=sum(waits) / len(waits) if waits else None,
    )


def _memory(
    study: Study, case: Case, model: str, means: Means, layout: StudyLayout
) -> EpisodicMemory | None:
    """The memory of a case; None if it has yet to be learned."""
    world = means.world
    learning = study.learning
    learner = study.learner(model)
    file = case.memory_file(world)
    if learning is not None and case.learns and learner:
        out = layout.learned(learning, means, learner)
        file = snapshot_file(out, case.round or learning.rounds)
        if not file.is_file():
            return None
    if file is None:
        return EpisodicMemory(world=world.name)
    return read_frozen(file, world.name, empty=case.learns)


def _guess(design: RunDesign, prompts: "_FirstPrompts") -> Usage:
    """A guess at the tokens of one episode: its first prompt, which grows by a turn with each step.
    A program that is no language model reads none.
    """
    if parse_model_name(design.model_name).provider.backend in NO_LLM:
        return Usage()
    steps = max(1, round(design.step_budget * STEPS))
    first = prompts.tokens(design)
    if design.condition.memory and not design.memory.entries:
        first += design.knowledge().style.budget.memory
    prompt = steps * first + TURN * steps * (steps - 1) // 2
    return Usage(prompt_tokens=prompt, completion_tokens=steps * ANSWER)


class _FirstPrompts:
    """Tokens of first prompts, each measured once: many models read the same one.

    Measured on the world's first split, which is never held out: an estimate looks at no game of a
    test.
    """

    def __init__(self) -> None:
        self._openings: dict[str, str | None] = {}
        self._tokens: dict[str, int] = {}

    def tokens(self, design: RunDesign) -> int:
        """Tokens of a design's first prompt, or a guess where no game can be opened here."""
        key = f"{design.setting} {design.condition} {design.sources} {memory_hash(design.memory)}"
        if key not in self._tokens:
            self._tokens[key] = self._measure(design)
        return self._tokens[key]

    def _measure(self, design: RunDesign) -> int:
        opening = self._opening(design)
        if opening is None:
            return FALLBACK
        goal = design.world.goal(opening)
        mind = compose(design.condition, design.knowledge(), design.memory)
        return decide(mind, goal, design.world.start(goal), None, opening, ()).prompt.tokens

    def _opening(self, design: RunDesign) -> str | None:
        """The first observation of the first game under a setting; None if none can be opened."""
        key = str(design.setting)
        if key not in self._openings:
            self._openings[key] = _open_first(design.world, design.setting)
        return self._openings[key]


def _open_first(world: World, setting: Setting) -> str | None:
    try:
        tasks = world.tasks(world.splits[0], setting)
        if not tasks:
            return None
        with closing(world.open(tasks[0], setting)) as game:
            return game.reset().observation
    except RPMSError:
        return None


def _times(usage: Usage, count: float) -> Usage:
    return Usage(
        prompt_tokens=round(usage.prompt_tokens * count),
        cached_tokens=round(usage.cached_tokens * count),
        completion_tokens=round(usage.completion_tokens * count),
    )
