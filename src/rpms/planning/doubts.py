"""A doubt: an action that goes against a line of the manual, at a price."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, DoubtfulAction
from rpms.logic.facts import Clause
from rpms.logic.rules import ActiveRules
from rpms.planning.trust import Trust

SUPPOSED, HOPED, WAIVED = "may need", "may do", "may not need"
MAY = " may "
"""What every doubt has after the name of its action."""


class Doubt(NamedTuple):
    """An action that goes against a line."""

    action: DoubtfulAction
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


def without(action: DoubtfulAction, price: float, *needs: Clause) -> DoubtfulAction:
    """An action without some of its needs, at a price in steps beyond its own."""
    make = partial(_made_without, action, price, needs)
    steps = action.steps + price
    return DoubtfulAction(steps, action.variables, action.effects, action.observes, make)


def _made_without(action: DoubtfulAction, price: float, needs: Sequence[Clause]) -> ActionSchema:
    schema = action.schema
    left = tuple(need for need in schema.preconditions if need not in needs)
    doubt = f"{schema.doubt}, and" if schema.doubt else schema.name
    doubt = f"{doubt} {WAIVED} {' and '.join(map(str, needs))}"
    return schema.varied(
        preconditions=left, steps=schema.steps + price, doubt=doubt, waives=tuple(needs)
    )
