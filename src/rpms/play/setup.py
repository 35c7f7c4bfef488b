"""From a world and a condition to a mind that can decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from rpms.core.acting.enforcement import Constrained, Enforcement, GuardMode
from rpms.core.condition import Knowledge
from rpms.core.prompt import Budget, prompt_limit
from rpms.core.rules import RuleManual
from rpms.models.providers import chooses_from_menu
from rpms.play.methods import METHODS, REACT, Method
from rpms.play.sources import COMPLETE_MANUAL, ManualChoice, Sources
from rpms.store.manuals import read_manual
from rpms.worlds.base import World

_COMPLETE = Sources(ManualChoice(COMPLETE_MANUAL))


def manual_of(world: World, choice: ManualChoice = _COMPLETE.manual) -> RuleManual:
    """A world's whole manual: its complete one, or the one that is chosen."""
    return read_manual(*choice.texts(world))


def knowledge_of(
    world: World, sources: Sources = _COMPLETE, answer: int = 0, method: Method = METHODS[REACT]
) -> Knowledge:
    """A world's knowledge, ready for a condition to choose from. `answer`: tokens of the context window it needs."""
    told, planned_with = (sources.manual.texts(world, planning=planning) for planning in (False, True))
    return Knowledge(
        update=world.update,
        wording=method.wording(sources.prompts.over(world.wording), world),
        manual=manual_of(world, sources.manual),
        compat=world.compat,
        retrieval=sources.recalling.over(world.retrieval),
        seams=sources.seams,
        budget=Budget(prompt=prompt_limit(sources.context, answer), memory=sources.recalling.tokens(world.retrieval)),
        spell=lambda command, belief: world.command(command, belief).text,
        plans=None if planned_with == told else read_manual(*planned_with),
    )


def can_play(enforcement: Enforcement, model: str) -> bool:
    """True if a model of that name can do anything: what chooses from a menu needs one."""
    return enforcement.menu > 0 or not chooses_from_menu(model)


def weakness_of_guard(manual: RuleManual) -> str:
    """Gaps of the guard for want of preconditions, in words; empty if it can do its work."""
    if not manual.actions:
        return "the guard is inert, except for answers without an action: its manual has no actions"
    if not any(action.preconditions for action in manual.actions):
        return "the guard refuses only what is no known action: no action in its manual has preconditions"
    return ""


def idle_parts(world: World, *enforcements: Enforcement) -> tuple[str, ...]:
    """Parts that are on and can do nothing, or less than they say, in words for their user."""
    manual = cache(partial(manual_of, world))  # read once, where anything asks for it
    return tuple(dict.fromkeys(words for each in enforcements for words in _idle_parts(world, each, manual)))


def _idle_parts(world: World, enforcement: Enforcement, manual: Callable[[], RuleManual]) -> Iterator[str]:
    no_menu = enforcement.menu == 0
    weak = weakness_of_guard(manual()) if enforcement.guard is not GuardMode.OFF else ""
    idle = {
        weak: bool(weak),
        "unstick does nothing without loops=on": enforcement.unstick and not enforcement.loops,
        "unstick has no menu to fall back on, only what a refusal names: add menu=5": enforcement.unstick and no_menu,
        "replace does nothing without guard=block": enforcement.replace and enforcement.guard is not GuardMode.BLOCK,
        "replace has no menu to fall back on, only what a refusal names: add menu=5": enforcement.replace
        and enforcement.guard is GuardMode.BLOCK
        and no_menu,
        "ranked=off does nothing without a menu": no_menu and not enforcement.ranked,
        f"constrained={enforcement.constrained} does nothing: there is no menu, and its manual has no actions": (
            enforcement.constrained is not Constrained.OFF and no_menu and not manual().actions
        ),
    }
    yield from (f"{world.name}: {words}" for words, holds in idle.items() if holds)
