"""What memory alone says to do next: steps of recalled snippets, and places to search."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from rpms.paper.memory import SuccessSnippet
from rpms.paper.verdict import Candidate, Trail
from rpms.planning.experience.adapt import AdaptContext, snippet_of


def recalled_steps(
    memories: Iterable[Candidate],
    context: AdaptContext,
    tried: Container[str] = (),
    slack: float = inf,
) -> Iterator[tuple[str, str]]:
    """Commands from experience alone, each with its source: the next step of each snippet, best
    first.

    Once all of these were tried in this state, places to search come too, and then the snippets'
    later steps.
    """
    snippets = _sort_snippets(_bound_snippets(memories, context), context.progress.sub_goal)
    ready = [*snippets.for_now, *snippets.for_later]
    if any(snippet.trail.followed for snippet in ready):
        yield from _next_steps(ready)
        return
    first = list(_first_steps(snippets.for_now or ready, context))
    yield from first
    if any(command not in tried for command, _ in first):
        return
    for kind in snippets.sought or dict.fromkeys(context.things.missing()):
        yield from context.searcher.search(kind, tried, slack)
    yield from _all_steps(ready, context)


@dataclass(slots=True)
class _SortedSnippets:
    """Recalled snippets by what they are good for at this step."""

    for_now: list[_BoundSnippet] = field(default_factory=list)
    """Those for the sub-goal that is next."""
    for_later: list[_BoundSnippet] = field(default_factory=list)
    sought: dict[str, None] = field(default_factory=dict)
    """Kinds of things that the other snippets need and nobody has seen here, in order."""


def _sort_snippets(snippets: Iterable[_BoundSnippet], sub_goal: str) -> _SortedSnippets:
    """Snippets by what they are good for, each list in their order."""
    result = _SortedSnippets()
    for snippet in snippets:
        if snippet.trail.seeks:
            result.sought[snippet.trail.seeks] = None
        elif snippet.entry.sub_goal_type == sub_goal:
            result.for_now.append(snippet)
        else:
            result.for_later.append(snippet)
    return result


def _next_steps(snippets: Iterable[_BoundSnippet]) -> Iterator[tuple[str, str]]:
    """The next step of each snippet, with its source."""
    for each in snippets:
        if each.entry.actions:
            yield each.entry.actions[0], each.source


def _all_steps(
    snippets: Iterable[_BoundSnippet], context: AdaptContext
) -> Iterator[tuple[str, str]]:
    """Every step of the snippets that was not refused here, with its source."""
    for each in snippets:
        for action in each.entry.actions:
            if action not in context.refused:
                yield action, each.source


def _first_steps(
    snippets: Iterable[_BoundSnippet], context: AdaptContext
) -> Iterator[tuple[str, str]]:
    """The next step of each snippet that was not refused here, with its source."""
    for each in snippets:
        first = each.entry.actions[0]
        if first not in context.refused:
            yield first, each.source


class _BoundSnippet(NamedTuple):
    """A snippet with the names that are here in place of its own."""

    entry: SuccessSnippet
    trail: Trail

    @property
    def source(self) -> str:
        return f"adapted from {self.entry.id}: {self.trail.note}"


def _bound_snippets(
    memories: Iterable[Candidate], context: AdaptContext
) -> Iterator[_BoundSnippet]:
    """The snippets among memories that can be bound to the names that are here."""
    for each in memories:
        if not isinstance(each.entry, SuccessSnippet):
            continue
        bound = each if each.adapted else context.adapt(each)
        if bound.adapted is not None:
            yield _BoundSnippet(snippet_of(bound), bound.adapted)
