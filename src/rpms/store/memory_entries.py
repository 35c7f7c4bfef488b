"""One entry of a memory's file: the fields of Appendix F, read and written."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.json_text import (
    NotJson,
    Reader,
    needed_by,
    object_reader,
    reader_of,
)
from rpms.foreign.limits import (
    LONGEST_FIELD,
    MOST_COUNTED,
    MOST_ITEMS,
)
from rpms.foreign.shown import excerpt
from rpms.logic.belief import StateSignature
from rpms.logic.errors import FileError, is_near
from rpms.logic.goal import GoalSignature
from rpms.paper import memory as remembered
from rpms.paper.memory import Entry, Kind, Origin


def _within(found: Any, most: int) -> Any:
    """A text or list that was read; a ValueError if it is longer than this."""
    if len(found) > most:
        raise ValueError(
            f"should have at most {most:,} {'characters' if isinstance(found, str) else 'items'}"
        )
    return found


def _text(value: Any) -> str:
    """A text without the line breaks that a printed listing puts into it."""
    text = str(_within(reader_of(str)(value), LONGEST_FIELD))
    return " ".join(text.split()) if "\n" in text else text


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _within(reader_of(tuple[Any, ...])(value), MOST_ITEMS)))


def _snapshot(value: Any) -> Mapping[str, Any]:
    found = _within(reader_of(Mapping[str, Any])(value), MOST_ITEMS)
    return {_within(name, LONGEST_FIELD): item for name, item in found.items()}


def _filled(read: Reader) -> Reader:
    def some(value: Any) -> Any:
        found = read(value)
        if not found:
            raise ValueError("should not be empty")
        return found

    return some


filled_text = _filled(_text)
_named = reader_of(tuple[tuple[str, int] | tuple[str, int, bool], ...])


def _up_to(most: float) -> Reader:
    def number(value: Any) -> float:
        found = float(reader_of(float)(value))
        if not 0 <= found <= most:
            raise ValueError(f"should be 0 to {most:g}")
        return found

    return number


_READERS: Mapping[str, Reader] = {
    "type": lambda value: remembered.kind_in_file(_text(value)),
    "goal_signature": lambda value: GoalSignature.parse(_text(value)),
    "state_signature": lambda value: StateSignature.parse(_text(value)),
    "goals": lambda value: frozenset(map(GoalSignature.parse, _texts(value))),
    "actions": _filled(_texts),
    "preconditions": _texts,
    "effects": _texts,
    "precondition": _snapshot,
    "outcome": _snapshot,
    "fields": _snapshot,
    "failed_action": filled_text,
    "action_template": filled_text,
    "request": filled_text,
    "success_count": reader_of(int),
    "failure_count": reader_of(int),
    "occurrence_count": reader_of(int),
    "confidence": _up_to(1),
    "retrieval_weight": _filled(_up_to(1_000)),
    "origins": lambda value: frozenset(Origin(*each) for each in _named(value)),
}
"""Readers of fields by name; all others are texts."""
_DERIVED = ("success_count", "failure_count", "occurrence_count", "confidence")
"""Fields of a file that follow from the origins."""
_UNLESS_EMPTY = ("worded_by", "goals")
"""Fields that the paper's listings do not have; they are written if they say something."""


class ReadEntry(NamedTuple):
    """An entry of a file."""

    entry: Entry
    made_up: int
    """Origins that were made up for it, since the file only counts them."""


@dataclass(frozen=True)
class _Form:
    """Form of an entry in a file: its class, and its fields between `type` and `origins`."""

    made: type[Entry]
    names: str

    @cached_property
    def read(self) -> Callable[[Any], ReadEntry]:
        """The reader of an entry."""
        readers: dict[str, Reader] = {}
        for name in ("id", "type", *self.names.split(), "origins"):
            readers[name] = _READERS.get(name, _text)
        needed = [name for name in needed_by(self.made) if name != "kind"]
        return object_reader(readers, needed, self._build)

    def _build(self, given: dict[str, Any]) -> ReadEntry:
        """Make an entry of its fields. Where a file counts observations without naming them,
        origins are made up for them.
        """
        kind = given.pop("type")
        origins = given.pop("origins", None)
        counts = {name: given.pop(name) for name in _DERIVED if name in given}
        failures = counts.get("failure_count", 0)
        successes = counts.get("success_count", counts.get("occurrence_count", 1))
        if self.made is remembered.OwnEntry:
            given["kind"] = kind
            successes = len(origins or ())
        elif not successes and self.made is not remembered.VerifiedSchema:
            raise ValueError("counts no observation")
        made_up = 0
        if origins is None:
            origins = _made_up_origins(f"({given.get('id', '')})", successes, failures)
            made_up = len(origins)
        _check_origins(origins, successes, failures)
        return ReadEntry(self.made(**given, origins=origins), made_up)


def _check_origins(origins: Collection[Origin], successes: int, failures: int) -> None:
    """Refuse origins that are not as many as the entry counts."""
    failed = sum(origin.failed for origin in origins)
    total = successes + failures
    if len(origins) != total or failed != failures:
        raise ValueError(f"counts {total} observations but names {len(origins)} origins")


def _made_up_origins(source: str, successes: int, failures: int) -> frozenset[Origin]:
    """Origins of an entry that only counts its observations, as in the paper's listings."""
    total = successes + failures
    if total > MOST_COUNTED:
        raise ValueError(f"counts {total:,} observations and names none: {MOST_COUNTED:,} at most")
    return frozenset(Origin(source, number, number >= successes) for number in range(total))


_AT = "goal_signature state_signature"
_FAILED = f"{_AT} failed_action"
_FORMS: dict[str, _Form] = {
    Kind.SUCCESS: _Form(
        remembered.SuccessSnippet, f"{_AT} sub_goal_type precondition actions outcome success_count"
    ),
    Kind.FAILURE: _Form(
        remembered.FailureLesson,
        f"{_FAILED} failure_type failure_message corrective_rule occurrence_count worded_by",
    ),
    Kind.SCHEMA: _Form(
        remembered.VerifiedSchema,
        "action_template action_type preconditions effects success_count failure_count confidence"
        " goals",
    ),
    Kind.CRITICAL_FAILURE: _Form(
        remembered.CriticalFailure,
        f"{_FAILED} failure_message corrective_rule occurrence_count retrieval_weight",
    ),
    Kind.REQUEST: _Form(remembered.RememberedRequest, f"{_AT} request success_count"),
}
_OWN = _Form(remembered.OwnEntry, f"{_AT} fields")


def entry_of(file: Path, line: int, value: dict[str, Any]) -> ReadEntry:
    """Read an entry. If nothing here registers its kind, its `fields` tell it."""
    kind = value.get("type")
    known = isinstance(kind, str) and kind in [str(each) for each in Kind]
    own = isinstance(kind, str) and kind.isidentifier() and "fields" in value
    if not known and not own:
        named = f" {excerpt(kind)!r}" if is_near(str(kind), _FORMS) else ""
        raise FileError(file, line, f"unknown entry type{named}; known: {', '.join(_FORMS)}")
    try:
        return _FORMS.get(str(kind), _OWN).read(value)
    except NotJson as error:
        raise FileError(file, line, f"{kind}: {error}") from None


def record(entry: Entry) -> dict[str, Any]:
    """An entry as it stands in a file."""
    written: dict[str, Any] = {"id": entry.id, "type": str(entry.kind)}
    for name in _FORMS.get(entry.kind, _OWN).names.split():
        value = _written(getattr(entry, name))
        if value or name not in _UNLESS_EMPTY:
            written[name] = value
    origins: list[list[object]] = []
    for episode, step, failed in sorted(entry.origins):
        origins.append([episode, step, True] if failed else [episode, step])
    written["origins"] = origins
    return written


def _written(value: object) -> object:
    match value:
        case GoalSignature() | StateSignature():
            return str(value)
        case Mapping():
            return dict(value)
        case frozenset():
            return sorted(map(str, value))
    return value
