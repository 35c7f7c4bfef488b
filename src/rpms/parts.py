"""Parts of your own, from one import: what each seam takes and gives, and the values it reads.

A retriever, a state filter, an arbitration, a prompt or a harvest is a function. What it returns is
checked, and an error in it is told in one line with its file, its line and its name.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError, RPMSError
from rpms.logic.facts import Truth
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules, Rule
from rpms.paper.compose import ListJudge, OwnJudge, Seams, list_wise
from rpms.paper.consistency import Compat
from rpms.paper.memory import Entry, Kind, Origin, OwnEntry, register_kind
from rpms.paper.prompt import Block, Message, Part, Speak
from rpms.paper.recall import Retriever
from rpms.paper.verdict import Candidate, Fate, Verdict

__all__ = [
    "ActiveRules",
    "Belief",
    "Block",
    "Candidate",
    "Compat",
    "Entry",
    "Fate",
    "Goal",
    "GoalSignature",
    "Kind",
    "ListJudge",
    "Message",
    "Origin",
    "OwnEntry",
    "OwnJudge",
    "Part",
    "PartError",
    "Retriever",
    "Rule",
    "Seams",
    "Situation",
    "Speak",
    "Truth",
    "Verdict",
    "checked",
    "list_wise",
    "register_kind",
]


class PartError(InputError):
    """A part of the user's own raised an error, or returned what its seam does not take."""


def checked(seams: Seams) -> Seams:
    """The same parts, each of which is called with its errors and return values looked after."""
    return replace(
        seams,
        retriever=_looked_after("retriever", seams.retriever, _check_found),
        consistency=_looked_after("consistency", seams.consistency, _check_reason),
        arbitration=_looked_after("arbitration", seams.arbitration, _check_verdicts),
        prompt=_looked_after("prompt", seams.prompt, _check_messages),
    )


def part_name(part: Any) -> str:
    """A part as a person wrote it: `my_parts:nearest`."""
    owner = part if hasattr(part, "__qualname__") else type(part)
    return f"{owner.__module__}:{owner.__qualname__}"


def _looked_after(seam: str, part: Any, check: Callable[[Any], Any]) -> Any:
    """A part whose errors become one line, and whose return value is checked."""
    if part is None:
        return None
    which = f"the {seam} {part_name(part)}"

    @wraps(part)
    def called(*given: Any) -> Any:
        try:
            made = check(part(*given))
        except _WrongValue as wrong:
            raise PartError(f"{which} returned {wrong}") from None
        except RPMSError:
            raise
        except Exception as error:  # noqa: BLE001  a part is a stranger's, and may raise anything
            raise PartError(f"{which} failed{_place(error)}: {_said(error)}") from None
        return made

    return called


class _WrongValue(Exception):
    """A value that a seam does not take, in words."""


def _said(error: Exception) -> str:
    return excerpt(f"{type(error).__name__}: {error}")


def _place(error: Exception) -> str:
    """The last line of the user's own code that an error came through."""
    ours = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(ours)]
    if not own:
        return ""
    last = (
        own[0]
        if len(own) == 1
        else next(
            (frame for frame in reversed(own) if "site-packages" not in frame.filename), own[-1]
        )
    )
    return f" at {Path(last.filename).name}:{last.lineno}"


def _check_found(value: Any) -> list[tuple[int, float]]:
    """Positions of entries with their scores."""
    wanted = "; a retriever gives pairs of an entry's position and its score"
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    found: list[tuple[int, float]] = []
    for pair in value:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise _WrongValue(f"{excerpt(pair, 60)} among others{wanted}")
        place, score = pair
        try:
            found.append((int(place), float(score)))
        except (TypeError, ValueError):
            raise _WrongValue(f"{excerpt(pair, 60)} among others{wanted}") from None
    return found


def _check_reason(value: Any) -> str:
    """Why an entry does not suit the belief; empty, or nothing, if it does."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _WrongValue(
            f"{excerpt(value, 60)}; a state filter gives the reason why an entry does not suit"
            " the state, as a text, and an empty text if it does"
        )
    return value


def _check_verdicts(value: Any) -> Any:
    """A verdict or nothing; of a list-wise judge, pairs of a position and a verdict."""
    if value is None or isinstance(value, Verdict):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        pairs = list(value)
        if all(_is_ruling(pair) for pair in pairs):
            return pairs
    raise _WrongValue(
        f"{excerpt(value, 60)}; an arbitration gives a Verdict or None, and a list-wise one pairs"
        " of a position and a Verdict"
    )


def _is_ruling(pair: Any) -> bool:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        return False
    return isinstance(pair[0], int) and isinstance(pair[1], Verdict)


def _check_messages(value: Any) -> Sequence[Message]:
    """The messages of a prompt."""
    wanted = "; a prompt part gives a list of Message(role, content)"
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise _WrongValue(f"{excerpt(value, 60)}{wanted}")
    messages = tuple(value)
    wrong = [each for each in messages if not isinstance(each, Message)]
    if wrong or not messages:
        raise _WrongValue(f"{excerpt(wrong[0] if wrong else messages, 60)}{wanted}")
    return messages


def unused(seams: Seams, *, rules: bool, memory: bool, state_filter: bool) -> Iterator[str]:
    """Parts that a condition never calls, in words for their user."""
    if seams.retriever is not None and not memory:
        yield f"the retriever {part_name(seams.retriever)} is never called: memory is off"
    if seams.consistency is not None and not (memory and state_filter):
        why = "the state filter is off" if memory else "memory is off"
        yield f"the consistency {part_name(seams.consistency)} is never called: {why}"
    if seams.arbitration is not None and not (memory and rules):
        why = "rules are off" if memory else "memory is off"
        yield f"the arbitration {part_name(seams.arbitration)} is never called: {why}"
