"""Ways between places that the world's belief does not list among its names.

A plan fills a parameter with names that the belief or a table of the manual lists. Where the belief
only says where the agent is, the places that were seen make such a table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rpms.induction.conclusions.action_model import support_by
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.logic.belief import Belief
from rpms.logic.rules import Predicate
from rpms.store.evidence import Support, Witness


@dataclass
class PlaceMap:
    """The moves that were seen from each place."""

    role: str  # What places are called as a parameter: `room`
    moves: dict[str, dict[str, list[Witness]]] = field(default_factory=dict)
    """By place, and the place that a move led to, the steps."""

    def add(self, place: str, other: str, witness: Witness) -> None:
        """Take over a move."""
        self.moves.setdefault(place, {}).setdefault(other, []).append(witness)

    def table(self) -> "PlaceTable":
        """The map as a manual has it."""
        rows: dict[str, dict[str, Support]] = {}
        for place, others in self.moves.items():
            rows[place] = {other: support_by(steps) for other, steps in others.items()}
        return PlaceTable(f"{self.role}_leads_to", (self.role, f"{self.role}_2"), rows)


@dataclass(frozen=True)
class PlaceTable:
    """Places, each with those that moves led to from there."""

    name: str
    args: tuple[str, str]
    rows: Mapping[str, Mapping[str, Support]]

    @property
    def predicate(self) -> Predicate:
        """The predicate that the table lists."""
        place, other = self.args
        return Predicate(
            self.name,
            self.args,
            f"a move led from <{place}> to <{other}>",
            f"no move led from <{place}> to <{other}>",
        )


def unlisted_role(vocabulary: Vocabulary, belief: Belief) -> str | None:
    """Role of the agent's place, where the belief lists no names in it; None where it does, or
    where no predicate says where the agent is.
    """
    for role in vocabulary.roles_of_place(belief):
        if not belief.names.get(role):
            return role
    return None
