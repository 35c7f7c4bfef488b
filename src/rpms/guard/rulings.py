"""Rulings of the guard on a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call

FORM: Final = "G-FORM"
"""The guard's own rules, beside the manual's: a call must be JSON of a sane size."""
REPEAT: Final = "G-REPEAT"
"""A call that failed twice, while nothing was learned, is not made a third time."""
CIRCLE: Final = "G-CIRCLE"
"""Calls that bring nothing new are a circle."""
OTHER: Final = "G-OTHER"
"""A tool that the manual does not declare."""
ERROR: Final = "G-ERROR"
"""The guard itself failed."""
CALL_IT_WITH: Final = "call it with "
"""Beginning of a Modify's remedy."""
_LONGEST = 600


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of a check; one of Allow, Warn, Modify, Ask and Refuse."""

    word: ClassVar[str] = ""
    """Its name in logs and on screens."""
    reason: str = ""
    """The rule in words, or what is wrong with the call."""
    rule: str = ""
    """Its id: the manual's, or one of the guard's own."""
    fact: str = ""
    """Known or unknown facts that decide it: `reservation EHGLP3 is basic economy`."""
    remedy: str = ""
    """Advice in place of the call, or before it."""

    def __init_subclass__(cls) -> None:
        cls.word = cls.__name__.lower()

    @property
    def goes_on(self) -> bool:
        """True if a call is to be made: of a Modify its own `call`, of all others the one that was asked for."""
        return not isinstance(self, Refuse | Ask)

    @property
    def text(self) -> str:
        """The ruling for a model to read: what was refused or warned of, why, and what to do. One bounded line."""
        remedy = f" What to do: {excerpt(self.remedy, _LONGEST).rstrip('.')}." if self.remedy else ""
        return f"{self._why}{remedy}"

    @property
    def notice(self) -> str:
        """Text for the model along with the result of a call; empty where it was simply allowed."""
        return ""

    @property
    def _why(self) -> str:
        """The rule and the fact, as a sentence."""
        if not self.reason:
            return ""
        rule, fact = f"{self.rule}: " if self.rule else "", f" ({excerpt(self.fact, _LONGEST)})" if self.fact else ""
        return f"{rule}{excerpt(self.reason, _LONGEST).rstrip('.')}{fact}."


@dataclass(frozen=True, slots=True)
class Allow(Ruling):
    """Nothing known stands against the call."""


@dataclass(frozen=True, slots=True)
class Warn(Ruling):
    """The call may be made; whoever makes it should know something."""

    @property
    def notice(self) -> str:
        return f"[warning] {self.text}"


@dataclass(frozen=True, slots=True)
class Modify(Ruling):
    """Another call is to be made in its place. Only a host that says it can do that is told so."""

    call: Call = field(default_factory=lambda: Call(""))
    """The call to make and to observe: the same tool, with other arguments."""

    @property
    def notice(self) -> str:
        return f"[changed] {self._why} It was called with {excerpt(self.remedy.removeprefix(CALL_IT_WITH), _LONGEST)}."


@dataclass(frozen=True, slots=True)
class Refuse(Ruling):
    """The call is not to be made."""


@dataclass(frozen=True, slots=True)
class Ask(Ruling):
    """A person decides whether the call is made. Only a host that says it can ask one is told so."""
