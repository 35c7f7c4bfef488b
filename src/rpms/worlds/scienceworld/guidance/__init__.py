"""Past the paper: what to do next as far as goal and belief tell, as lines for the goal block and as a menu.

Nothing here looks at the simulator, and no history is needed: each recipe finds the first need that is not met, in
whatever state the belief is. The planner's knowledge of the house is shared; the planner itself is not asked.
"""

from rpms.worlds.scienceworld.guidance.advice import focus, guide, suggest

__all__ = ["focus", "guide", "suggest"]
