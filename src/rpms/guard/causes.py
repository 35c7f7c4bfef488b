"""Reasons why a fact is unknown, each with advice."""

from dataclasses import dataclass

from rpms.foreign.shown import excerpt
from rpms.guard.belief import RecordKey
from rpms.guard.calls import ToolManual
from rpms.logic.facts import Atom


@dataclass(frozen=True, slots=True)
class NotLookedUp:
    """A record is missing."""

    record: RecordKey

    def remedy(self, manual: ToolManual) -> str:
        """The call that looks it up."""
        kind = manual.records.get(self.record.kind)
        if kind is None:
            return ""
        return f"{kind.ask} first, with {kind.tools[0]}: {', '.join(self.record.names)}"


@dataclass(frozen=True, slots=True)
class WrittenOtherwise:
    """A known fact differs only in how its names are written."""

    atom: Atom

    def remedy(self, _manual: ToolManual) -> str:
        """The writing that is known."""
        return f"write {excerpt(', '.join(self.atom.args))} as it was written before"


@dataclass(frozen=True, slots=True)
class NamesNothing:
    """An argument is a path whose text does not tell where it leads."""

    def remedy(self, _manual: ToolManual) -> str:
        """The writing that would tell."""
        return "write the path in full, without `..`, `~` and backslashes"


@dataclass(frozen=True, slots=True)
class Coming:
    """A change by a call that has not returned."""

    value: bool
    lost: bool = False
    """True if nobody waits for the call any more: it was cancelled, or took too long."""

    def remedy(self, _manual: ToolManual) -> str:
        """The way to learn whether the call was done."""
        if self.lost:
            return "an earlier call did not return: find out whether it was done, or ask a person"
        return "wait for the result of the call that is under way"


@dataclass(frozen=True, slots=True)
class NotTraced:
    """A value was found in nothing that the user said or tools returned."""

    tool: str = ""
    """The tool that it should be from; empty for the user."""

    def remedy(self, _manual: ToolManual) -> str:
        """The one who could name it."""
        return f"call {self.tool} first" if self.tool else "ask the user for it"


Cause = NotLookedUp | WrittenOtherwise | NamesNothing | Coming | NotTraced
"""A reason for which a fact is unknown."""
