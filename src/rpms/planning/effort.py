"""The work that doubting takes in a step, and its bounds.

Doubts are many, and the cheapest are weighed first: at a bound the best plan so far has to do, or
trying what was never tried where there is none, and the step says that not all were weighed. A plan
that trusts the manual has about fifty edges, and these are ten times as many.
"""

from dataclasses import dataclass

EXPANDED = 500
"""Work of all searches over one graph before the best plan so far is taken."""
NARROWED = EXPANDED // 2
"""Work after which of all choices of things for the goal a FEW are followed."""
FEW = 3
FOR_OTHERS = EXPANDED // 2
"""Work after which no plans are looked for that are little dearer than the one found."""
FURTHER = 3
"""Times as much that is done where there is no plan so far and any line may be doubted: once, and
again when a new thing was seen or something was learned."""
OF_STEP = EXPANDED // 2
"""Work of all searches of a step past which no other plan is looked for in place of one that leads
back."""


@dataclass
class Effort:
    """The work of all searches of one step in which lines may be doubted."""

    allowed: int = EXPANDED
    """Work of all searches over one graph before they end though there is no plan so far."""
    is_in_vain: bool = False
    """True if no plan was found, whatever was doubted."""
    spent: int = 0
    """Ways that were tried, edges that were found by them, and choices of things for the goal."""

    @property
    def is_spent(self) -> bool:
        """True if no other plan is to be looked for in this step."""
        return self.spent > OF_STEP
