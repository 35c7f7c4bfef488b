"""From a world and a condition to a mind that can decide."""

from __future__ import annotations

from importlib.resources import files

from rpms.core.advice import no_guidance
from rpms.core.condition import Knowledge
from rpms.core.decide import show_all
from rpms.core.enforcement import Enforcement, GuardMode
from rpms.core.menu import suggest_nothing
from rpms.core.rules import RuleManual
from rpms.store.manuals import ManualText, read_manual
from rpms.worlds.base import World


def universal_tier() -> ManualText:
    """Tier 1, which every world shares unchanged."""
    file = files("rpms.worlds").joinpath("universal.yaml")
    return ManualText("universal.yaml", file.read_text(encoding="utf-8"))


def manual_of(world: World) -> RuleManual:
    """A world's whole manual."""
    return read_manual(universal_tier(), *(ManualText(name, text) for name, text in world.manual()))


def knowledge_of(world: World) -> Knowledge:
    """What a world knows, ready for a condition to choose from.

    A world may also have the methods `suggest`, `guide` and `focus`, without which menu, guidance and compact rules
    have nothing to add in it.
    """
    return Knowledge(
        update=world.update,
        progress=world.progress,
        voice=world.voice,
        manual=manual_of(world),
        compat=world.compat,
        retrieval=world.retrieval,
        suggest=getattr(world, "suggest", suggest_nothing),
        guide=getattr(world, "guide", no_guidance),
        focus=getattr(world, "focus", show_all),
    )


def idle_parts(world: World, enforcement: Enforcement) -> tuple[str, ...]:
    """What is switched on and has nothing to go by in a world, in words for its user."""
    schemas = any(action.preconditions for action in manual_of(world).actions)
    idle = {
        "the guard is inert: no action in its manual has preconditions": enforcement.guard is not GuardMode.OFF
        and not schemas,
        "there is no menu: it has no method `suggest`": enforcement.menu > 0 and not hasattr(world, "suggest"),
        "there is no guidance: it has no method `guide`": enforcement.guidance and not hasattr(world, "guide"),
        "its rules stay whole: it has no method `focus`": enforcement.compact and not hasattr(world, "focus"),
    }
    return tuple(f"{world.name}: {words}" for words, holds in idle.items() if holds)
