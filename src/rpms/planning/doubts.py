"""A doubt: an action that goes against a line of the manual, at a price."""

from dataclasses import dataclass
from typing import NamedTuple

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Clause
from rpms.logic.rules import ActiveRules
from rpms.planning.trust import Trust

SUPPOSED, HOPED, WAIVED = "may need", "may do", "may not need"
MAY = " may "
"""What every doubt has after the name of its action."""


class Doubt(NamedTuple):
    """An action that goes against a line."""

    action: ActionSchema
    contradicted: bool = False
    """True if it goes against a single line, and something spoke against that."""


@dataclass(frozen=True)
class ActionInDoubt:
    """An action whose lines may be doubted."""

    rules: ActiveRules
    trust: Trust
    stated: ActionSchema
    """As the manual states it."""
    left: ActionSchema
    """As the episode has left it, without lines that were refuted."""

    @property
    def key(self) -> str:
        """What its lines in the manual are known by."""
        return self.rules.key_of(self.stated)


def without(schema: ActionSchema, price: float, *needs: Clause) -> ActionSchema:
    """An action without some of its needs, at a price in steps beyond its own."""
    left = tuple(need for need in schema.preconditions if need not in needs)
    doubt = f"{schema.doubt}, and" if schema.doubt else schema.name
    doubt = f"{doubt} {WAIVED} {' and '.join(map(str, needs))}"
    return schema.varied(preconditions=left, steps=schema.steps + price, doubt=doubt, waives=needs)
