"""Experience without its instances: which names an action is about, what they were for, and
what failed alike.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from rpms.logic.belief import StateSignature
from rpms.logic.facts import grouped, kind_of, unseen_of
from rpms.logic.goal import GoalSignature
from rpms.logic.rules import ActiveRules
from rpms.paper.memory import CriticalFailure, FailureLesson, Stride, SuccessSnippet
from rpms.paper.verdict import Candidate

_FINDING = "find_"
"""Prefix of the sub-goals reached by seeing a thing; no action names the thing if one ends the
episode."""
_LIFTED_KEPT = 1_000
_RELATIONS = ("holding", "inventory", "location", "open")
"""The fields of a state in which what an action names can stand."""
_INSTANCE = re.compile(r"\b[a-z]+ \d+\b")


def names_of(command: str, rules: ActiveRules) -> tuple[str, ...]:
    """The names in a command, in order: by its syntax, which every player has read, or without
    one by their numbers.
    """
    instance = rules.instance(command)
    names = instance.binding.values() if instance is not None else _INSTANCE.findall(command)
    return tuple(dict.fromkeys(names))


def renamed(command: str, names: Mapping[str, str]) -> str:
    """A command with other names in place of its own, all at once; what only begins like a name
    stays.
    """
    if not names:
        return command
    return _any_of(tuple(names)).sub(lambda match: names[match[0]], command)


@lru_cache(maxsize=4_096)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)")


class Role(StrEnum):
    """The role of a name in an episode."""

    OBJECT = "object"
    """The goal's object."""
    DESTINATION = "destination"
    """The place or the second thing that the goal names."""
    SOURCE = "source"
    """The place at which a thing was found."""
    VAIN = "vain"
    """A place searched before without success."""
    KIND = "kind"
    """A thing of its kind, such as a tool."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A snippet with what each of its names was for."""

    deeds: tuple[Stride, ...]
    roles: Mapping[str, Role]
    held: frozenset[str]
    """Things in hand at its beginning."""
    sought: str = ""
    """Name of the thing it found; with a question mark if it was only seen."""
    source: str = ""
    """The place of the find."""
    to_do: tuple[tuple[Stride, tuple[str, ...]], ...] = ()
    """The deeds that only searched, or led to where another is done, left out; each with the
    places to reach first."""


def lift(snippet: SuccessSnippet, rules: ActiveRules) -> Lifted:
    """Read a snippet: `take mug 1 from desk 2` finds mug 1 on desk 2; places named before it were
    searched.

    A thing is found by the first action that names it beside a place, or that names it alone where
    the goal is about such a thing; what was in hand is not found but used. Kept with the rules for
    the steps to come.
    """
    kept: dict[int, tuple[SuccessSnippet, Lifted]] = rules.kept.setdefault("lifted", {})
    of, lifted = kept.get(id(snippet), (None, None))
    if of is snippet and lifted is not None:
        return lifted
    if len(kept) >= _LIFTED_KEPT:
        kept.clear()
    lifted = _lift(snippet, rules)
    kept[id(snippet)] = snippet, lifted
    return lifted


class _Find(NamedTuple):
    """What a snippet found, and where."""

    at: int = 0
    """Index of the action that found it."""
    thing: str = ""
    """Empty if nothing was found, since all things used were in hand."""
    source: str = ""
    """The place of the find."""
    only_seen: bool = False
    """True if the snippet ends with seeing the thing, so that no action names it."""


def _lift(snippet: SuccessSnippet, rules: ActiveRules) -> Lifted:
    deeds = tuple(
        Stride(at, each, names_of(each, rules)) for at, each in enumerate(snippet.actions, 1)
    )
    state = snippet.state_signature
    held = frozenset(state.get("holding") or state.get("inventory") or ())
    find = _finding(deeds, held, snippet.goal_signature)
    if not find.thing:
        find = _seeing(snippet, deeds, held)
    roles = _roles(deeds, find, snippet.goal_signature)
    to_do = tuple(_to_do(deeds, roles, find))
    return Lifted(deeds, roles, held, find.thing, find.source, to_do)


def _finding(deeds: Sequence[Stride], held: frozenset[str], goal: GoalSignature) -> _Find:
    """The first action that names a new thing beside a place, or the last one if it names a new
    thing of the goal alone; nothing once an action uses what was in hand.
    """
    visited: list[str] = []
    for at, deed in enumerate(deeds):
        if held.intersection(deed.names):
            return _Find()
        found = _found_beside(at, deed.names, visited)
        if found is None and at + 1 == len(deeds):
            found = _found_alone(at, deed.names, visited, goal)
        if found is not None:
            return found
        visited += [name for name in deed.names if name not in visited[-1:]]
    return _Find()


def _found_beside(at: int, names: Sequence[str], visited: Sequence[str]) -> _Find | None:
    """A find by an action of two names, one of which is new: the other is the place."""
    if len(names) != 2:
        return None
    one, other = names
    if one not in visited:
        return _Find(at, one, other)
    return _Find(at, other, one) if other not in visited else None


def _found_alone(
    at: int, names: Sequence[str], visited: Sequence[str], goal: GoalSignature
) -> _Find | None:
    """A find by an action of one name: a new thing of the goal, at the place visited last."""
    if len(names) != 1 or not visited or names[0] in visited:
        return None
    is_of_goal = kind_of(names[0]) in (goal.object, goal.destination)
    return _Find(at, names[0], visited[-1]) if is_of_goal else None


def _seeing(snippet: SuccessSnippet, deeds: Sequence[Stride], held: frozenset[str]) -> _Find:
    """A find by sight alone: the sub-goal was to find something, and the last action's place
    showed it. With the goal's object in hand it was the destination that was sought.
    """
    is_search = snippet.sub_goal_type.startswith(_FINDING)
    if not (is_search and deeds and deeds[-1].names):
        return _Find()
    goal = snippet.goal_signature
    has_object = any(kind_of(name) == goal.object for name in held)
    thing = goal.destination if has_object else goal.object
    return _Find(0, unseen_of(thing), deeds[-1].names[-1], only_seen=True)


def _roles(deeds: Sequence[Stride], find: _Find, goal: GoalSignature) -> dict[str, Role]:
    """The role of each name; a place that is named only before the find was searched in vain."""
    in_goal = {goal.destination: Role.DESTINATION, goal.object: Role.OBJECT}
    roles: dict[str, Role] = {}
    later: set[str] = set()
    if find.only_seen:
        roles[find.thing] = in_goal[find.thing.removesuffix(" ?")]
    else:
        for deed in deeds[find.at :]:
            later.update(deed.names)
    for deed in deeds:
        for name in deed.names:
            if name == find.source:
                roles[name] = Role.SOURCE
            elif find.thing and name not in later:
                roles[name] = Role.VAIN
            else:
                roles[name] = in_goal.get(kind_of(name), Role.KIND)
    return roles


def _to_do(
    deeds: Sequence[Stride], roles: Mapping[str, Role], find: _Find
) -> Iterator[tuple[Stride, tuple[str, ...]]]:
    """The deeds that are to be done again, each with the places to reach first: none where an
    earlier deed was about the same names and has led there.
    """
    used = {find.source}
    for deed in deeds:
        if len(deed.names) > 1:
            used.update(deed.names)
    came: set[frozenset[str]] = set()
    for deed in deeds:
        names = frozenset(deed.names)
        is_first = names not in came
        came.add(names)
        alone = deed.names[0] if len(deed.names) == 1 else ""
        if alone and (roles[alone] is Role.VAIN or alone in used):
            continue
        yield deed, tuple(_places(deed, find)) if is_first else ()


def _places(deed: Stride, find: _Find) -> Iterator[str]:
    """The places that a deed is done at: where it names several things, all but the one sought,
    and the place of the find.
    """
    finds = find.thing in deed.names
    if finds or len(deed.names) > 1:
        for name in deed.names:
            if name != find.thing:
                yield name
    if finds and find.source not in deed.names:
        yield find.source


def likeness(command: str, state: StateSignature, syntax: ActiveRules) -> tuple[object, ...]:
    """Features that two actions, each in its state, must share for one to bear on the other:
    all but the instances.
    """
    related = [state.get(field) or () for field in _RELATIONS]
    stood: list[tuple[bool, ...]] = []
    for name in names_of(command, syntax):
        stood.append(tuple([name in things for things in related]))
    at = "".join(map(kind_of, state.get("location") or ()))
    return lifted(command, syntax), tuple(stood), state.occupied, at


def lifted(command: str, syntax: ActiveRules) -> str:
    """A command with kinds in place of names."""
    return renamed(command, {name: kind_of(name) for name in names_of(command, syntax)})


def failed_alike(
    commands: Iterable[str],
    state: StateSignature,
    memories: Iterable[Candidate],
    syntax: ActiveRules,
    worked: Callable[[str], int],
) -> dict[str, str]:
    """Commands to rank down, each with a lesson's id: in a like state they failed more often
    than they `worked`.
    """
    failures = [each.entry for each in memories if isinstance(each.entry, FailureLesson)]
    lessons = grouped(
        (likeness(each.failed_action, each.state_signature, syntax), each) for each in failures
    )
    found: dict[str, str] = {}
    for command in commands if lessons else ():
        alike = lessons.get(likeness(command, state, syntax), [])
        if alike and sum(each.occurrence_count for each in alike) > worked(lifted(command, syntax)):
            found[command] = alike[0].id
    return found


def ended_alike(
    command: str, memories: Iterable[Candidate], syntax: ActiveRules
) -> CriticalFailure | None:
    """The critical failure of which an action is a repetition: the same with other instances,
    whatever the state.
    """
    critical = [each.entry for each in memories if isinstance(each.entry, CriticalFailure)]
    if not critical:
        return None
    now = lifted(command, syntax)
    return next((each for each in critical if lifted(each.failed_action, syntax) == now), None)
