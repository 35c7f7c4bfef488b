"""Parts of your own, from one import: what each seam takes and gives, and the values it reads.

A retriever, a state filter, an arbitration, a prompt, a harvest or the wording of a kind of memory
is a function; a reader of requests is a model. What a part takes and returns is checked, and an
error in it is told in one line with its file, its line and its name.
"""

import inspect
import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import Any

from rpms.foreign.own_code import error_in_words, place_of
from rpms.foreign.shown import excerpt
from rpms.logic.actions import ActionSchema, Instance
from rpms.logic.belief import Belief, Situation, StateSignature
from rpms.logic.errors import InputError, RPMSError
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules, Prohibition, Rule
from rpms.models.base import Answer, Model, Request
from rpms.paper import memory
from rpms.paper.compose import ListJudge, OwnJudge, Seams, list_wise
from rpms.paper.condition import Condition
from rpms.paper.consistency import Compat
from rpms.paper.decide import Decision
from rpms.paper.episode import Episode, OwnHarvest, Step
from rpms.paper.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Kind,
    KindWording,
    Origin,
    OwnEntry,
    RememberedRequest,
    SuccessSnippet,
    VerifiedSchema,
)
from rpms.paper.prompt import Block, Message, Part, Speak
from rpms.paper.recall import Retriever
from rpms.paper.verdict import Candidate, Fate, Verdict

__all__ = [
    "ActionSchema",
    "ActiveRules",
    "Answer",
    "Atom",
    "Belief",
    "Block",
    "Candidate",
    "Clause",
    "Compat",
    "CriticalFailure",
    "Decision",
    "Entry",
    "Episode",
    "FailureLesson",
    "Fate",
    "Goal",
    "GoalSignature",
    "Instance",
    "Kind",
    "KindWording",
    "ListJudge",
    "Literal",
    "Message",
    "Model",
    "Origin",
    "OwnEntry",
    "OwnHarvest",
    "OwnJudge",
    "Part",
    "PartError",
    "Prohibition",
    "RememberedRequest",
    "Request",
    "Retriever",
    "Rule",
    "Seams",
    "Situation",
    "Speak",
    "StateSignature",
    "Step",
    "SuccessSnippet",
    "Truth",
    "Verdict",
    "VerifiedSchema",
    "checked",
    "checked_harvest",
    "list_wise",
    "register_kind",
]


_GIVEN = {
    "retriever": ("goal", "situation", "entries", "texts"),
    "consistency": ("situation", "entry", "rules"),
    "arbitration": ("entry", "rules", "situation"),
    "prompt": ("blocks",),
    "harvest": ("episode",),
    "kind": ("entry",),
}
"""The arguments of a part, in their order, by its seam."""


_ROLES = ("system", "user", "assistant")
"""Speaker of a message."""

Check = Callable[[Any, tuple[Any, ...]], Any]
"""Checks what a part returned, given its arguments, and returns it in the form in which it is used;
a value that the seam does not take is a `_WrongValue`."""


class PartError(InputError):
    """A part of the user's own raised an error, or returned what its seam does not take."""


def checked(seams: Seams) -> Seams:
    """The same parts, with checks: an error in one becomes one line, and what it returns is looked
    at.
    """
    ranks = getattr(seams.arbitration, "list_wise", False)
    check_judgement = _check_rulings if ranks else _check_verdict
    return replace(
        seams,
        retriever=_part_looked_after("retriever", seams.retriever, _check_found),
        consistency=_part_looked_after("consistency", seams.consistency, _check_reason),
        arbitration=_part_looked_after("arbitration", seams.arbitration, check_judgement),
        prompt=_part_looked_after("prompt", seams.prompt, _check_messages),
    )


def checked_harvest(part: OwnHarvest) -> Callable[[Episode], tuple[Entry, ...]]:
    """The same harvest, called with its errors and entries looked after."""
    which = f"the harvest {part_name(part)}"
    found: Callable[[Episode], tuple[Entry, ...]] = _looked_after(which, part, _check_entries)
    return found


def register_kind(
    name: str,
    wording: KindWording,
    *,
    top: int = 2,
    weight: float = 1.0,
    told: bool = True,
) -> Kind:
    """Add a kind of memory, whose entries are `OwnEntry`.

    `wording` says an entry in a prompt; `top`: how many of them a prompt shows; `weight`: the
    factor on their strength in ranking; `told`: False if no prompt shows them.
    """
    check_signature("kind", wording)
    words = _looked_after(f"the wording of {name}", wording, _check_wording)
    return memory.register_kind(name, words, top=top, weight=weight, told=told)


def part_name(part: Any) -> str:
    """A part as a person wrote it: `my_parts:nearest`."""
    owner = part if hasattr(part, "__qualname__") else type(part)
    return f"{owner.__module__}:{owner.__qualname__}"


def _part_looked_after(seam: str, part: Any, check: Check) -> Any:
    """A part of one's own, looked after; None where the paper's is used."""
    return None if part is None else _looked_after(f"the {seam} {part_name(part)}", part, check)


def _looked_after(which: str, part: Any, check: Check) -> Any:
    """A part with checks: an error in it becomes one line that names it, and its return value is
    looked at.
    """

    @wraps(part)
    def called(*given: Any) -> Any:
        try:
            made = check(part(*given), given)
        except _WrongValue as wrong:
            raise PartError(f"{which} returned {wrong}{_definition(part)}") from None
        except (RPMSError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001  a part may cancel a loop of its own
            raise PartError(f"{which} failed{place_of(error)}: {error_in_words(error)}") from None
        return made

    return called


def check_signature(seam: str, part: Any) -> None:
    """Refuse a part that cannot be called with what its seam gives, before anything is played."""
    given = _GIVEN[seam]
    try:
        signature = inspect.signature(part)
    except (TypeError, ValueError):  # some that are written in C have none
        return
    try:
        signature.bind(*given)
    except TypeError:
        takes = f"takes {signature}; it is called with ({', '.join(given)})"
        raise PartError(f"the {seam} {part_name(part)} {takes}") from None


class _WrongValue(Exception):
    """A value that a seam does not take, in words."""


def _definition(part: Any) -> str:
    """File and line where a part is written; empty for what has no source."""
    written = inspect.unwrap(part)
    if not hasattr(written, "__code__"):  # an object that is called like a function
        written = type(part).__call__
    code = getattr(written, "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""


def _check_found(value: Any, given: tuple[Any, ...]) -> list[tuple[int, float]]:
    """Positions of entries with their scores."""
    _, _, entries, _ = given
    wanted = "; a retriever gives pairs of an entry's position and its score"
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    found: list[tuple[int, float]] = []
    for pair in value:
        try:
            place, score = pair
            found.append((operator.index(place), float(score)))
        except (TypeError, ValueError):
            raise _WrongValue(f"{excerpt(pair, 60)} among others{wanted}") from None
        _check_position(place, entries)
        if math.isnan(score):
            raise _WrongValue(f"{excerpt(pair, 60)} among others; a score is a number")
    _check_each_once([place for place, _ in found])
    _check_best_first([score for _, score in found])
    return found


def _check_best_first(scores: Sequence[float]) -> None:
    """Refuse scores that rise."""
    for before, after in pairwise(scores):
        if after > before:
            raise _WrongValue(
                f"the score {before:g} before {after:g}; a retriever gives the best first"
            )


def _check_each_once(places: Sequence[int]) -> None:
    """Refuse a position that is given twice."""
    if twice := [place for place, times in Counter(places).items() if times > 1]:
        raise _WrongValue(f"the position {twice[0]} more than once; it is given once, if at all")


def _check_position(place: int, entries: Sequence[Entry]) -> None:
    if not 0 <= place < len(entries):
        count = f"there are {len(entries)} entries, from position 0"
        raise _WrongValue(f"the position {place} among others; {count}")


def _check_reason(value: Any, _given: tuple[Any, ...]) -> str:
    """Check the reason that an entry does not suit the belief; empty, or None, if it does."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _WrongValue(
            f"{excerpt(value, 60)}; a state filter gives the reason why an entry does not suit"
            " the state, as a text, and an empty text if it does"
        )
    return value


def _check_verdict(value: Any, _given: tuple[Any, ...]) -> Verdict | None:
    """A verdict, or nothing."""
    if value is None or _is_verdict(value):
        return value  # type: ignore[no-any-return]
    wanted = (
        "an arbitration gives a Verdict or None, its fate a Fate, and one that ranks is marked"
        " @list_wise"
    )
    raise _WrongValue(f"{excerpt(value, 60)}; {wanted}")


def _is_verdict(value: Any) -> bool:
    return isinstance(value, Verdict) and isinstance(value.fate, Fate)


def _check_rulings(value: Any, given: tuple[Any, ...]) -> list[tuple[int, Verdict]]:
    """Pairs of a position and a verdict."""
    entries, _, _ = given
    wanted = "; a list-wise arbitration gives pairs of an entry's position and a Verdict"
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    rulings: list[tuple[int, Verdict]] = []
    for pair in value:
        try:
            place, verdict = pair
            rulings.append((operator.index(place), verdict))
        except (TypeError, ValueError):
            raise _WrongValue(f"{excerpt(pair, 60)} among others{wanted}") from None
        _check_position(place, entries)
        if not _is_verdict(verdict):
            raise _WrongValue(f"{excerpt(pair, 60)} among others{wanted}")
    _check_each_once([place for place, _ in rulings])
    return rulings


def _check_messages(value: Any, _given: tuple[Any, ...]) -> Sequence[Message]:
    """The messages of a prompt."""
    wanted = (
        f"; a prompt part gives a list of Message(role, content), a role of {', '.join(_ROLES)}"
    )
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    messages = tuple(value)
    wrong = [each for each in messages if not _is_message(each)]
    if wrong or not messages:
        raise _WrongValue(f"{excerpt(wrong[0] if wrong else messages, 60)}{wanted}")
    return messages


def _is_message(value: Any) -> bool:
    return isinstance(value, Message) and value.role in _ROLES and isinstance(value.content, str)


def _check_entries(value: Any, _given: tuple[Any, ...]) -> tuple[Entry, ...]:
    """Entries of memory."""
    wanted = "; a harvest gives entries, such as OwnEntry(KIND, goal, state, fields, origins)"
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    entries = tuple(value)
    for each in entries:
        if not isinstance(each, Entry):
            raise _WrongValue(f"{excerpt(each, 60)} among others{wanted}")
        if isinstance(each, OwnEntry):
            _check_own_entry(each)
    return entries


def _check_own_entry(entry: OwnEntry) -> None:
    if not isinstance(entry.kind, Kind):
        raise _WrongValue(
            f"an entry of the kind {excerpt(entry.kind, 60)}; register_kind gives one"
        )
    try:
        json.dumps(dict(entry.fields))
    except (TypeError, ValueError) as error:
        raise _WrongValue(
            f"an entry whose fields cannot be written to a file ({error_in_words(error)});"
            " they are texts, numbers, or lists of them, by name"
        ) from None


def _check_wording(value: Any, _given: tuple[Any, ...]) -> str:
    """An entry in words."""
    if not isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}; the wording of a kind gives a text")
    return value


def unused(
    seams: Seams, condition: Condition, *, empty: bool = False, silent: str = ""
) -> Iterator[str]:
    """Parts that a condition never calls, in words for their user.

    `empty`: its memory has no entries; `silent`: the model's name, if it reads no prompts.
    """
    reasons = _reasons_for_silence(condition, empty=empty)
    for seam, why in reasons.items():
        part = getattr(seams, seam)
        if part is not None and why:
            yield f"the {seam} {part_name(part)} is never called: {why}"
    if seams.prompt is not None and silent:
        yield f"the prompt {part_name(seams.prompt)} changes no answer: {silent} reads no prompts"


def _reasons_for_silence(condition: Condition, *, empty: bool) -> dict[str, str]:
    """The reason that a condition never calls the part of each seam; empty if it does call it."""
    no_memory = "the memory is empty" if empty else ""
    if not condition.memory:
        no_memory = "memory is off"
    no_filter = "" if condition.state_filter else "the state filter is off"
    no_rules = "" if condition.rules else "rules are off"
    return {
        "retriever": no_memory,
        "consistency": no_memory or no_filter,
        "arbitration": no_memory or no_rules,
    }
