"""The menu: what can be done now, as far as the belief knows, so that a small model chooses instead of inventing."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

from rpms.core.arbitration import objection_to_action
from rpms.core.belief import Situation
from rpms.core.rules import ActiveRules
from rpms.core.tokens import estimate_tokens
from rpms.core.verdict import Candidate


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A command that a world thinks of, and how near it is to the current sub-goal."""

    command: str
    relevance: float = 0.0
    """Higher is nearer. What leads back to something already known is below zero."""


MENU_TOKENS = 150
"""Tokens that the entries of a menu may have together; one that does not fit beside the more relevant is left out."""

Suggest = Callable[[Situation, ActiveRules, Sequence[Candidate]], Iterable[Suggestion]]
"""A world's commands in a situation, from the belief alone, never from a simulator's own list."""


def suggest_nothing(_situation: Situation, _rules: ActiveRules, _memories: Sequence[Candidate]) -> Iterable[Suggestion]:
    """The neutral element: no menu."""
    return ()


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of a menu."""

    command: str
    relevance: float
    rank: int
    """Its place by relevance, from 0; the order of the menu itself does not show it."""


@dataclass(frozen=True, slots=True)
class Menu:
    """The entries as they are shown: grouped by what they do, so that the first is not simply the best."""

    items: tuple[MenuItem, ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(item.command for item in self.items)

    @property
    def best(self) -> str | None:
        """The entry that is nearest to the sub-goal."""
        return min(self.items, key=lambda item: item.rank).command if self.items else None


def make_menu(
    suggestions: Iterable[Suggestion],
    situation: Situation,
    rules: ActiveRules,
    tried: Container[str],
    size: int,
    *,
    ranked: bool,
) -> Menu:
    """The commands that are not known to be infeasible, cut to a size and grouped by their first word.

    With `ranked`, the most relevant stay; what was tried in this very state comes after all else. Without, those stay
    that come first by name.
    """
    feasible = [item for item in suggestions if not infeasible(item.command, rules, situation)]
    if ranked:
        feasible.sort(key=lambda item: (item.command in tried, -item.relevance))
    else:
        feasible.sort(key=_by_name)
    left, kept = MENU_TOKENS, list[MenuItem]()
    for rank, item in enumerate(feasible[:size]):
        tokens = estimate_tokens(item.command)
        if tokens <= left or not kept:
            kept.append(MenuItem(item.command, item.relevance, rank))
            left -= tokens
    return Menu(tuple(sorted(kept, key=_by_name)))


def infeasible(command: str, rules: ActiveRules, situation: Situation) -> bool:
    """Whether a command is known not to work, or known to go against a rule."""
    objection = objection_to_action(command, rules, situation)
    return objection is not None and objection.conflict


def _by_name(item: Suggestion | MenuItem) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Sort by verb, then so that `drawer 10` comes after `drawer 9`."""
    words = item.command.split()
    return words[0] if words else "", tuple((int(word), "") if word.isdecimal() else (0, word) for word in words)
