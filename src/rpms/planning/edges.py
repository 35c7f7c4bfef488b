"""What plans are made of: steps of possible plans, links of one that was chosen, and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import is_unseen
from rpms.planning.achievers import command_of
from rpms.planning.wanted_facts import Fact

GOAL = Fact("<goal>", ())
UNSEEN = "anything ?"
"""Whatever may be found. A name that ends in a question mark is of something that nobody has
seen yet."""


@dataclass(slots=True, eq=False)
class Edge:
    """A way with names in place of its parameters: one step of some plan."""

    fact: Fact
    needs: tuple[Fact, ...]
    """Facts that do not hold yet, in the order to achieve them."""
    cost: float
    schema: ActionSchema | None = None
    """The action; None if a fact only follows from another."""
    reveals: bool = False
    binding: Mapping[str, str] = field(default_factory=dict)
    _command: str | None = None
    _is_seen: bool | None = None

    @property
    def command(self) -> str:
        if self._command is None:
            self._command = command_of(self.schema, self.binding) if self.schema is not None else ""
        return self._command

    @property
    def named(self) -> tuple[str, ...]:
        """Things its command names: mixing is done to a vessel, not to the result."""
        schema = self.schema
        if schema is None:
            return ()
        names = [name for name in schema.variables if name not in schema.others]
        return tuple([self.binding[name] for name in names])

    @property
    def can_be_done(self) -> bool:
        """True for an action with things that somebody has seen."""
        if self._is_seen is None:  # edges are kept from step to step
            self._is_seen = self.schema is not None and not is_unseen(self.named)
        return self._is_seen


class Link(NamedTuple):
    """One action of a plan, with the fact it serves."""

    command: str
    fact: Fact
    reveals: bool
    waits: bool = False
    """True if it lets a process go on, so that doing it again is not wasted."""
    doubt: str = ""
    """The line of the manual that it goes against, if it is a doubt."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be done now, with the plan that it begins."""

    command: str
    regret: float
    """Steps that the cheapest plan beginning with it takes beyond the cheapest plan."""
    chain: tuple[Link, ...] = ()
    """From it to the goal; none for what experience did, of which no rule says what it is for."""
    evidence: str = ""
    """The experience that speaks for it or against it."""

    def spelled(self, spell: Callable[[str], str]) -> Option:
        """The same with its command as a game wants it written."""
        written = spell(self.command)
        if written == self.command:
            return self
        return Option(written, self.regret, self.chain, self.evidence)
