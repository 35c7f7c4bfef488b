"""The work that doubting takes in a step, and its bounds.

Doubts are many, and the cheapest are weighed first: at a bound the best plan so far has to do, and
the step says that not all were weighed. A plan that trusts the manual has about fifty edges, and
these are ten times as many.
"""

from dataclasses import dataclass

EXPANDED = 500
"""Ways to facts that one search tries, and edges that are found by them, before the best plan so
far is taken."""
FURTHER = 8
"""Times as many that are tried where there is no plan so far and any line may be doubted, once: not
again with the same doubts in the same circumstances."""
OF_STEP = 2 * EXPANDED
"""The same for all searches of a step: past it, no other plan is looked for in place of one that
leads back."""


@dataclass
class Effort:
    """The work of all searches of one step in which lines may be doubted."""

    is_cut_short: bool = False
    """True if a search ends at its first bound even where there is no plan so far: an earlier one
    went on in vain."""
    is_in_vain: bool = False
    """True if no plan was found, whatever was doubted."""
    spent: int = 0
    """Ways that were tried, and edges that were found by them."""

    @property
    def is_spent(self) -> bool:
        """True if no other plan is to be looked for in this step."""
        return self.spent > OF_STEP
