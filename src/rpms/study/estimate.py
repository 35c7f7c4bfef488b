"""What a study would cost, before it is run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rpms.core.condition import RULES_ONLY, compose
from rpms.core.decide import decide
from rpms.core.errors import RPMSError
from rpms.core.recall import EpisodicMemory
from rpms.core.usage import Usage
from rpms.models.accounting import Price, list_cost
from rpms.models.providers import Kind, parse_model_name
from rpms.play.plan import RunPlan
from rpms.play.setup import knowledge_of
from rpms.store.runs import RunFolder
from rpms.study.run import Layout, Means, finished, plan_cell
from rpms.study.values import Case, Study

STEPS = 0.65
"""The share of the step budget that an episode takes: the paper's conditions take 31 to 37 of 50 steps."""
TURN = 45
"""Tokens that a step adds to the history: a thought, an action, an observation."""
ANSWER = 40
"""Tokens of an answer."""
_NO_TOKENS = (Kind.PLANNER, Kind.SCRIPTED, Kind.REPLAY)
FALLBACK = 1_500
"""Tokens of a first prompt, where no game can be opened here to measure one."""


@dataclass(frozen=True)
class Estimate:
    """What one run would take from here on."""

    what: str
    model: str
    episodes: int
    done: int
    usage: Usage
    measured: bool
    """From episodes of this very run that are finished; otherwise from the first prompt and the paper's lengths."""
    shared: bool = False
    """The same run as another one of the study: costs nothing more."""

    @property
    def left(self) -> int:
        return 0 if self.shared else self.episodes - self.done

    def cost(self, price: Price | None) -> float | None:
        return list_cost(self.usage, price) if self.left and self.usage != Usage() else 0.0


def estimate_study(study: Study, models: Sequence[str], means: Means, layout: Layout) -> tuple[Estimate, ...]:
    """Every run of a study, the learning rounds included, without asking a model or writing anything."""
    found: list[Estimate] = []
    seen: set[object] = set()
    for model in models:
        remembering = any(case.condition.memory and case.memory is None for case in study.cases)
        learning = study.learning
        out = layout.learned(study, means, learning.model or model) if learning else None
        if learning is not None and remembering and out not in seen:
            seen.add(out)
            found.extend(_learning(study, learning.model or model, means, layout))
        found.extend(_case(study, case, model, means, layout, seen) for case in study.cases)
    return tuple(found)


def _learning(study: Study, model: str, means: Means, layout: Layout) -> list[Estimate]:
    learning = study.learning
    assert learning is not None
    out = layout.learned(study, means, model)
    empty = EpisodicMemory(world=means.world.name)
    like = Study(study.title, study.world, (), choice=learning.choice, steps=study.steps)
    rounds = []
    for number in range(1, learning.rounds + 1):
        case = Case("learning", learning.later if number > 1 else RULES_ONLY)
        plan = plan_cell(like, case, model, means, empty)
        # the folders that learning keeps its rounds in; a study only counts what is there
        done = finished(out.with_name(f"{out.stem}.rounds") / f"round{number}")
        usage = _times(_guess(plan), len(plan.tasks) - done)
        rounds.append(Estimate(f"learning, round {number}", model, len(plan.tasks), done, usage, measured=False))
    return rounds


def _case(study: Study, case: Case, model: str, means: Means, layout: Layout, seen: set[object]) -> Estimate:
    memory = EpisodicMemory(world=means.world.name)
    key: object = (model, case.condition, case.memory, case.round)
    folder = None
    if case.condition.memory:
        memory, known = _memory(study, case, model, means, layout, memory)
    else:
        known = True
    plan = plan_cell(study, case, model, means, memory)
    if known:
        folder = layout.run_folder(plan)
        key = folder
    shared = key in seen
    seen.add(key)
    done = finished(folder) if folder is not None else 0
    left = len(plan.tasks) - done
    if folder is not None and done:
        rows = RunFolder(folder).summary()
        return Estimate(
            case.name, model, len(plan.tasks), done, _times(rows.usage, left / done), measured=True, shared=shared
        )
    usage = _guess(plan)
    return Estimate(case.name, model, len(plan.tasks), done, _times(usage, left), measured=False, shared=shared)


def _memory(
    study: Study, case: Case, model: str, means: Means, layout: Layout, empty: EpisodicMemory
) -> tuple[EpisodicMemory, bool]:
    """The memory of a case, if it is there already."""
    file = case.memory
    if file is None and study.learning is not None:
        out = layout.learned(study, means, study.learning.model or model)
        file = out.with_name(f"{out.stem}.round{case.round or study.learning.rounds}{out.suffix}")
        if not file.is_file():
            return empty, False
    assert file is not None
    return means.read_memory(file, means.world.name), True


def _guess(plan: RunPlan) -> Usage:
    """Tokens of one episode: its first prompt, growing by a turn with each step. What is no LLM reads none."""
    if parse_model_name(plan.model_name).provider.kind in _NO_TOKENS:
        return Usage()
    steps = max(1, round(plan.step_budget * STEPS))
    first = _first_prompt(plan)
    if plan.condition.memory and not plan.memory.entries:
        first += knowledge_of(plan.world).budget.memory
    prompt = steps * first + TURN * steps * (steps - 1) // 2
    return Usage(prompt_tokens=prompt, completion_tokens=steps * ANSWER)


def _first_prompt(plan: RunPlan) -> int:
    world = plan.world
    try:
        game = world.open(plan.tasks[0], plan.setting)
        try:
            opening = game.reset().observation
        finally:
            game.close()
    except RPMSError:
        return FALLBACK
    goal = world.goal(opening)
    mind = compose(plan.condition, knowledge_of(world), plan.memory)
    return decide(mind, goal, world.start(goal), None, opening, ()).prompt.tokens


def _times(usage: Usage, count: float) -> Usage:
    return Usage(
        prompt_tokens=round(usage.prompt_tokens * count),
        cached_tokens=round(usage.cached_tokens * count),
        completion_tokens=round(usage.completion_tokens * count),
    )
