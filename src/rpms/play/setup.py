"""From a world and a condition to a mind that can decide."""

from __future__ import annotations

from importlib.resources import files

from rpms.core.advice import no_guidance
from rpms.core.condition import Knowledge
from rpms.core.decide import show_all
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
