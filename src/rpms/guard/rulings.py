"""What the guard says of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from rpms.foreign.shown import excerpt

FORM: Final = "G-FORM"
"""The guard's own rules, beside the manual's: a call must be JSON of a sane size."""
REPEAT: Final = "G-REPEAT"
"""A call that failed twice in a row is not made a third time."""
CIRCLE: Final = "G-CIRCLE"
"""Calls that bring nothing new are a circle."""
OTHER: Final = "G-OTHER"
"""A tool that the manual does not declare."""
ERROR: Final = "G-ERROR"
"""The guard itself failed."""
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of a check; one of Allow, Warn and Refuse."""

    word: ClassVar[str] = ""
    reason: str = ""
    """The rule in words, or what is wrong with the call."""
    rule: str = ""
    """Its id: the manual's, or one of the guard's own."""
    fact: str = ""
    """What is known, or not known, that decides it: `reservation EHGLP3 is basic economy`."""
    remedy: str = ""
    """What to do instead, or first."""

    @property
    def goes_on(self) -> bool:
        """Whether the call may be made."""
        return not isinstance(self, Refuse)

    @property
    def text(self) -> str:
        """The ruling for a model to read: what was refused or warned of, why, and what to do. One bounded line."""
        if not self.reason:
            return ""
        rule, fact = f"{self.rule}: " if self.rule else "", f" ({excerpt(self.fact, _LONGEST)})" if self.fact else ""
        remedy = f" What to do: {excerpt(self.remedy, _LONGEST).rstrip('.')}." if self.remedy else ""
        return f"{rule}{excerpt(self.reason, _LONGEST).rstrip('.')}{fact}.{remedy}"


@dataclass(frozen=True, slots=True)
class Allow(Ruling):
    """Nothing known stands against the call."""

    word: ClassVar[str] = "allow"


@dataclass(frozen=True, slots=True)
class Warn(Ruling):
    """The call may be made; whoever makes it should know something."""

    word: ClassVar[str] = "warn"


@dataclass(frozen=True, slots=True)
class Refuse(Ruling):
    """The call is not to be made."""

    word: ClassVar[str] = "refuse"
