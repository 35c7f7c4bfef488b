"""What a step showed about the manual: surprises, and the trust that they leave."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Self

from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.paper import beyond
from rpms.paper.beyond import Surprise
from rpms.paper.memory import SuccessSnippet
from rpms.paper.verdict import Candidate
from rpms.planning.trust import ManualLine, Trust


class SurpriseKind(StrEnum):
    """The ways in which what happens differs from what was foretold."""

    REFUSED = "refused"
    """Refused though nothing known speaks against it."""
    ACCEPTED = "accepted"
    """Accepted though the manual says that it cannot be done."""
    ABSENT = "absent"
    """An effect did not come."""
    CHANGED = "changed"
    """A change that nobody foretold."""
    UNFINISHED = "unfinished"
    """All that the goal wants holds, and the game goes on."""
    STRANDED = "stranded"
    """No plan is left that trusts the manual, and the game goes on."""
    CIRCLE = "circle"
    """The plan led back to a state in which the same was done before."""


@dataclass(frozen=True)
class PlanNoticed(beyond.Noticed):
    """Trust after a step, and what surprised."""

    trust: Trust
    surprises: tuple[Surprise, ...] = ()

    def with_(self, kind: str, line: ManualLine | str, text: str, trust: Trust) -> Self:
        """The same with one more surprise, and the trust that it leaves."""
        return type(self)(
            trust.but(last=text), (*self.surprises, Surprise(str(kind), str(line), text))
        )

    def trusting(self, trust: Trust) -> Self:
        """The same with another trust."""
        return type(self)(trust, self.surprises)

    def stranded(self) -> Self:
        """The same where no plan is left."""
        none = Surprise(str(SurpriseKind.STRANDED), "", "nothing known leads to the goal any more")
        return type(self)(self.trust, (*self.surprises, none))

    @property
    def against_goal(self) -> str:
        """Surprise that speaks against the goal as it is understood; empty where none does."""
        kinds = (SurpriseKind.UNFINISHED, SurpriseKind.STRANDED)
        return next((one.text for one in self.surprises if one.kind in kinds), "")

    def in_last_step(
        self, before: beyond.Advice, command: str, *, refused: bool
    ) -> Sequence[Surprise]:
        """Surprises that belong to the step before; that no plan is left is told once."""
        told = [one for one in before.noticed.surprises if one.kind == SurpriseKind.STRANDED]
        new = [one for one in self.surprises if one not in told]
        if entry := recalled_for(before.memories, command):
            new += against_memory(entry, command, self, refused=refused)
        return new

    def for_another_goal(self) -> Self:
        return self.trusting(self.trust.but(held=None, made_in_vain=0))


def recalled_for(memories: Iterable[Candidate], command: str) -> str:
    """The memory, bound to the present room, of which a command is a step; empty if there is
    none.
    """
    for candidate in memories:
        entry = candidate.entry
        if candidate.adapted is None or not isinstance(entry, SuccessSnippet):
            continue
        if command in entry.actions:
            return entry.id
    return ""


def against_memory(
    entry: str, command: str, noticed: PlanNoticed, *, refused: bool
) -> tuple[Surprise, ...]:
    """A surprise that speaks against the memory whose step a command was: refused, or without
    its effect.
    """
    if refused:
        return (
            Surprise(
                str(SurpriseKind.REFUSED),
                entry,
                f"`{command}` was refused, though {entry} did the like",
            ),
        )
    if any(one.kind == SurpriseKind.ABSENT for one in noticed.surprises):
        return (
            Surprise(
                str(SurpriseKind.ABSENT), entry, f"`{command}` did not do what it did in {entry}"
            ),
        )
    return ()


class TriedAction(NamedTuple):
    """An action that was tried, with what was known before and after it."""

    rules: ActiveRules
    instance: Instance
    command: str
    before: Situation
    after: Situation

    @property
    def key(self) -> str:
        """What its lines in the manual are known by."""
        return self.rules.key_of(self.instance.schema)

    def said(self, literal: Literal) -> str:
        """A literal in the manual's words."""
        return self.rules.say(literal.atom, Truth.of(not literal.negated))
