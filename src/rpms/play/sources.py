"""A run's share of a world's knowledge: manual, texts, recall, room; and what its parts can do
with it.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from rpms.logic.belief import Belief
from rpms.logic.errors import InputError
from rpms.logic.rules import RuleManual
from rpms.models.catalogue import FROM_MENU, backend_of
from rpms.paper.compose import Seams, judged_by
from rpms.paper.consistency import CompatibilityFilter
from rpms.paper.decide import HARD_SOFT, Mind
from rpms.paper.enforcement import Constrained, Enforcement, GuardMode
from rpms.paper.prompt import Budget, prompt_limit
from rpms.paper.recall import Recollection, Retrieval
from rpms.paper.wording import PromptStyle
from rpms.parts import checked
from rpms.play.methods import METHODS, REACT, Method
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.manuals import read_manual
from rpms.store.prompt_files import Prompts
from rpms.worlds.base import World

PAPER_MANUAL = "paper"
COMPLETE_MANUAL = "complete"
MANUALS = (PAPER_MANUAL, COMPLETE_MANUAL)
WEIGHTS = ("type", "object", "state", "destination")
"""The fields of a goal signature that d_γ weighs."""


def universal_tier() -> ManualText:
    """Tier 1, which every world shares unchanged."""
    return ManualText(
        "universal.yaml",
        files("rpms.worlds").joinpath("universal.yaml").read_text(encoding="utf-8"),
    )


@dataclass(frozen=True)
class ManualChoice:
    """Choice of manual: a world's at the paper's scale, its complete one, or a file of one's
    own laid over that.
    """

    name: str = PAPER_MANUAL
    """`paper`, `complete`, or the file's name."""
    own: ManualText | None = None
    over: str = ""
    """The one that a file is laid over: `paper` or `complete`."""

    def texts(self, world: World, *, planning: bool = False) -> tuple[ManualText, ...]:
        """The texts it is read from, tier 1 first. `planning`: also what only a planner knows."""
        if PAPER_MANUAL not in (self.name, self.over):
            files = world.manual()
        elif planning:
            files = (*world.paper_manual(), *world.procedures())
        else:
            files = world.paper_manual()
        texts = [universal_tier()]
        texts += [ManualText(name, text) for name, text in files]
        if self.own is not None:
            texts.append(self.own)
        return tuple(texts)

    def hash(self, world: World) -> str:
        """Hash of the rules of all tiers."""
        digests = (hashlib.sha256(text.text.encode()).digest() for text in self.texts(world))
        return hashlib.sha256(b"".join(digests)).hexdigest()


def choose_manual(choice: str | Path, over: str = COMPLETE_MANUAL) -> ManualChoice:
    """A manual by its name, or a file of one's own laid over one; one that cannot be read is a
    FileError.
    """
    if str(choice) in MANUALS:
        return ManualChoice(str(choice))
    file = Path(choice)
    if not file.is_file():
        raise InputError(
            f"{choice}: is no manual and no file: choose {' or '.join(MANUALS)}, or a file of tiers"
            " 2, 3"
        )
    return ManualChoice(file.name, manual_text(file)._replace(own=True), over)


@dataclass(frozen=True)
class Sources:
    """The knowledge of a run. Small, and free of files: it goes to wherever episodes are played."""

    manual: ManualChoice = field(default_factory=ManualChoice)
    prompts: Prompts = field(default_factory=Prompts)
    recall: Retrieval | None = None
    """Settings of recall; by default the world's own, with schemas by goal."""
    memory_tokens: int = Budget().memory
    seams: Seams = field(default_factory=Seams)
    context: int = 0
    """Tokens of the model's context window; 0 for no limit."""

    def retrieval(self, world: World) -> Retrieval:
        return self.recall or replace(world.retrieval, schemas_by_goal=True)

    def retrieval_entry(self, world: World) -> dict[str, Any]:
        """Settings of recall, as a protocol records them."""
        retrieval = self.retrieval(world)
        similarity = retrieval.similarity
        weights: dict[str, float] = {}
        for one in fields(similarity):
            if one.type in (float, "float"):
                weights[one.name] = getattr(similarity, one.name)
        found = {
            "theta": retrieval.threshold,
            "k": {str(kind): number for kind, number in sorted(retrieval.top.items())},
            "weights": weights,
            "schemas": "goal" if retrieval.schemas_by_goal else "any",
            "warnings": retrieval.warnings,
            "examined": retrieval.examined,
            "memory_tokens": self.memory_tokens,
        }
        if retrieval.mask:
            found["mask"] = retrieval.mask
        return found


_COMPLETE = Sources(ManualChoice(COMPLETE_MANUAL))


def manual_of(world: World, choice: ManualChoice = _COMPLETE.manual) -> RuleManual:
    """A world's whole manual: its complete one, or the one that is chosen."""
    return read_manual(*choice.texts(world))


def knowledge_of(
    world: World,
    sources: Sources = _COMPLETE,
    answer: int = 0,
    method: Method = METHODS[REACT],
    *,
    steps: int | None = None,
) -> Mind:
    """All that a world knows, ready for a condition to choose from.

    `answer`: tokens of the context window it needs. `steps`: the most in an episode, by default the
    world's own limit.
    """
    own = checked(sources.seams)
    wording = method.wording(sources.prompts.over(world.wording), world)
    wording = wording.naming_steps(steps or world.step_budget)
    budget = Budget(prompt=prompt_limit(sources.context, answer), memory=sources.memory_tokens)
    compat = CompatibilityFilter(own.consistency or world.compat, own=own.consistency is not None)
    arbitrate = HARD_SOFT
    if own.arbitration:
        arbitrate = partial(judged_by, judge=own.arbitration)
    # read when a plan is first made, and once
    planning_manual = cache(partial(_planning_manual, world, sources.manual))
    return Mind(
        update=world.update,
        style=PromptStyle(wording, budget=budget, speak=own.prompt),
        manual=manual_of(world, sources.manual),
        experience=Recollection(retrieval=sources.retrieval(world), retriever=own.retriever),
        consistent=compat,
        arbitrate=arbitrate,
        extend=partial(_extend, world, planning_manual),
    )


def _extend(world: World, planning_manual: Callable[[], RuleManual | None], mind: Mind) -> Mind:
    """Give a composed mind what goes past the paper. Planning is loaded here, and only here."""
    from rpms.planning.extension import extend  # noqa: PLC0415  a run of the paper loads no planner

    def repaired(command: str, belief: Belief) -> str:
        return world.command(command, belief).text

    return extend(mind, repaired, planning_manual())


def _planning_manual(world: World, manual: ManualChoice) -> RuleManual | None:
    """The manual with what only a planner knows; None if there is nothing of the kind."""
    planned_with = manual.texts(world, planning=True)
    return None if planned_with == manual.texts(world) else read_manual(*planned_with)


def can_play(enforcement: Enforcement, model: str) -> bool:
    """True if a model of that name can do anything: what chooses from a menu needs one."""
    return enforcement.menu > 0 or backend_of(model) not in FROM_MENU


def weakness_of_guard(manual: RuleManual) -> str:
    """Gaps of the guard for want of preconditions, in words; empty if it can do its work."""
    if not manual.actions:
        return "the guard is inert, except for answers without an action: its manual has no actions"
    if not any(action.preconditions for action in manual.actions):
        return (
            "the guard refuses only what is no known action: no action in its manual has"
            " preconditions"
        )
    return ""


def idle_parts(world: World, *enforcements: Enforcement) -> tuple[str, ...]:
    """Parts that are on and can do nothing, or less than they say, in words for their user."""
    manual = cache(partial(manual_of, world))  # read once, where anything asks for it
    found: dict[str, None] = {}
    for enforcement in enforcements:
        for words in _idle_parts(enforcement, manual):
            found[f"{world.name}: {words}"] = None
    return tuple(found)


def _idle_parts(enforcement: Enforcement, manual: Callable[[], RuleManual]) -> Iterator[str]:
    """The things that parts of an enforcement lack, in the order of their documentation."""
    weak = weakness_of_guard(manual()) if enforcement.guard is not GuardMode.OFF else ""
    if weak:
        yield weak
    yield from _idle_repairs(enforcement)
    if enforcement.menu:
        return
    if not enforcement.ranked:
        yield "ranked=off does nothing without a menu"
    if enforcement.constrained is not Constrained.OFF and not manual().actions:
        no_choice = "there is no menu, and its manual has no actions"
        yield f"constrained={enforcement.constrained} does nothing: {no_choice}"


def _idle_repairs(enforcement: Enforcement) -> Iterator[str]:
    """The things that `unstick` and `replace` lack."""
    no_menu = enforcement.menu == 0
    no_fall_back = "has no menu to fall back on, only what a refusal names: add menu=5"
    if enforcement.unstick and not enforcement.loops:
        yield "unstick does nothing without loops=on"
    if enforcement.unstick and no_menu:
        yield f"unstick {no_fall_back}"
    if enforcement.replace and enforcement.guard is not GuardMode.BLOCK:
        yield "replace does nothing without guard=block"
    elif enforcement.replace and no_menu:
        yield f"replace {no_fall_back}"
