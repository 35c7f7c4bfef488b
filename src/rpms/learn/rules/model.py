"""What was learned of one action, as values: facts over its slots, each with what speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rpms.core.facts import Atom, Clause, Kinds, Literal
from rpms.store.evidence import Label, Support, Witness

MOST_WITNESSES = 5
"""Steps that are kept with a claim, of each sort."""


@dataclass(frozen=True, slots=True)
class Induced(Support):
    """A clause over slots, with what speaks for it."""

    clause: Clause
    given: Clause | None = None
    """Only where this holds."""


@dataclass(frozen=True, slots=True)
class KindTable:
    """The kinds with which an action worked, and those with which it was refused though nothing else was missing."""

    name: str
    slots: tuple[int, ...]
    worked: Mapping[tuple[str, ...], Sequence[Witness]]
    refused: Mapping[tuple[str, ...], Sequence[Witness]]

    @property
    def kinds(self) -> Kinds:
        return Kinds(frozenset(self.worked), frozenset(self.refused))


@dataclass(frozen=True)
class ActionModel:
    """One action."""

    name: str
    template: str
    parameters: tuple[str, ...]
    """What its slots are called: roles of the belief's names."""
    successes: int
    refusals: int
    unexplained: int
    """Refusals for which no fact and no kind accounts."""
    needs: tuple[Induced, ...] = ()
    """Every fact that was true in all successes, and every one that was not, by its label."""
    tables: tuple[KindTable, ...] = ()
    effects: tuple[Induced, ...] = ()
    conditional: tuple[Induced, ...] = ()
    observes: tuple[Induced, ...] = ()
    losses: int = 0
    """How often the task was over for good after it."""
    ruinous: Induced | None = None
    """What held whenever it was the end, and never when it was not."""
    witnesses: tuple[Witness, ...] = ()
    explaining: tuple[Literal, ...] = ()
    """The best guess at what is needed: the fewest facts that account for all refusals, once there were enough."""
    safe: frozenset[Literal] = field(default_factory=frozenset)
    """All literals that were true in every success: the safe bound, which nothing here goes beyond."""

    circumstances: tuple[Literal, ...] = ()
    """Of an action that has hardly ever worked, what may have been needed beside that."""

    @property
    def syntax(self) -> str:
        """As the manual writes it."""
        pieces = self.template.split("<>")
        names = (*(f"<{name}>" for name in self.parameters), "")
        return "".join(piece + name for piece, name in zip(pieces, names, strict=True))

    @property
    def guessed(self) -> tuple[Literal, ...]:
        """What plans see to: what is known to be needed, the best guess at the rest, and that the kinds fit."""
        certain = [fact.clause.literals[0] for fact in self.labelled(Label.NECESSARY)]
        told = [Literal(Atom(one.name, tuple(map(str, one.slots))), kinds=one.kinds) for one in self.tables]
        return tuple(dict.fromkeys((*certain, *self.explaining, *told)))

    def labelled(self, *labels: Label) -> tuple[Induced, ...]:
        """The preconditions with some labels."""
        return tuple(fact for fact in self.needs if fact.label in labels)

    def bind(self, clause: Clause) -> Clause:
        """A clause with the parameters' names in place of the slots."""
        return clause.bind({str(place): name for place, name in enumerate(self.parameters)})


def literal_of(facts: Sequence[Atom], bit: int) -> Literal:
    """The literal that a bit stands for."""
    return Literal(facts[bit % len(facts)], bit >= len(facts))
