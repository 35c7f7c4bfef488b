"""Experience without its instances: which names an action is about, what they were for, and
what failed alike.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from rpms.logic.belief import StateSignature
from rpms.logic.facts import grouped, kind_of
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
    return _any_of(tuple(names)).sub(lambda match: names[match[0]], command) if names else command


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
    if of is not snippet or lifted is None:
        if len(kept) >= _LIFTED_KEPT:
            kept.clear()
        kept[id(snippet)] = snippet, (lifted := _lift(snippet, rules))
    return lifted


def _lift(snippet: SuccessSnippet, rules: ActiveRules) -> Lifted:
    deeds = tuple(
        Stride(at, each, names_of(each, rules)) for at, each in enumerate(snippet.actions, 1)
    )
    held = frozenset(
        snippet.state_signature.get("holding") or snippet.state_signature.get("inventory") or ()
    )
    goal = snippet.goal_signature
    found, sought, source = _finding(deeds, held, goal)
    later = {name for deed in deeds[found:] for name in deed.names}
    roles: dict[str, Role] = {}
    if not sought and snippet.sub_goal_type.startswith(_FINDING) and deeds and deeds[-1].names:
        thing = (
            goal.destination if any(kind_of(name) == goal.object for name in held) else goal.object
        )
        sought, source, later = f"{thing} ?", deeds[-1].names[-1], set()
        roles[sought] = Role.OBJECT if thing == goal.object else Role.DESTINATION
    in_goal = {goal.destination: Role.DESTINATION, goal.object: Role.OBJECT}
    for name in dict.fromkeys(
        name for deed in deeds for name in deed.names
    ):  # a name has one role, the first
        vain = sought and name not in later
        own = Role.VAIN if vain else in_goal.get(kind_of(name), Role.KIND)
        roles[name] = Role.SOURCE if name == source else own
    to_do = tuple(_to_do(deeds, roles, sought, source))
    return Lifted(deeds, roles, held, sought, source, to_do)


def _to_do(
    deeds: Sequence[Stride], roles: Mapping[str, Role], sought: str, source: str
) -> Iterator[tuple[Stride, tuple[str, ...]]]:
    used = {source, *(name for deed in deeds if len(deed.names) > 1 for name in deed.names)}
    for deed in deeds:
        if len(deed.names) == 1 and (roles[deed.names[0]] is Role.VAIN or deed.names[0] in used):
            continue
        found, first = (
            sought in deed.names,
            next(other for other in deeds if set(other.names) == set(deed.names)),
        )
        places = (
            [name for name in deed.names if name != sought] if found or len(deed.names) > 1 else []
        )
        places += [source] if found and source not in deed.names else []
        yield deed, tuple(places) if deed is first else ()


def _finding(
    deeds: Sequence[Stride], held: frozenset[str], goal: GoalSignature
) -> tuple[int, str, str]:
    """Index of the action that found something, the thing and the place; empty if all things
    used were in hand.
    """
    visited: list[str] = []
    for place, deed in enumerate(deeds):
        new = [name for name in deed.names if name not in visited]
        if held.intersection(deed.names):
            return 0, "", ""
        if len(deed.names) == 2 and new:
            thing, where = deed.names if deed.names[0] in new else deed.names[::-1]
            return place, thing, where
        last = place + 1 == len(deeds)
        if (
            last
            and len(deed.names) == 1
            and new
            and visited
            and kind_of(new[0]) in (goal.object, goal.destination)
        ):
            return place, new[0], visited[-1]
        visited += [name for name in deed.names if name not in visited[-1:]]
    return 0, "", ""


def likeness(command: str, state: StateSignature, syntax: ActiveRules) -> tuple[object, ...]:
    """Features that two actions, each in its state, must share for one to bear on the other:
    all but the instances.
    """
    names = names_of(command, syntax)
    stood = tuple(tuple(name in (state.get(field) or ()) for field in _RELATIONS) for name in names)
    at = "".join(map(kind_of, state.get("location") or ()))
    return lifted(command, syntax), stood, state.occupied, at


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
