"""Share of ALFRED's goal conditions that a state meets, by the type of the task."""

from __future__ import annotations

from collections.abc import Callable

from rpms.core.facts import kind_of
from rpms.worlds.alfworld.engine.engine import GameEngine
from rpms.worlds.alfworld.engine.layout import State
from rpms.worlds.alfworld.games.goals import LOOK, TWO
from rpms.worlds.alfworld.goals import STATES, parse_goal

Rate = Callable[[State], float]


def goal_condition_rate(engine: GameEngine) -> Rate:
    """A measure of states, 1 where all conditions are met; of a goal with a single one, whether it is won.

    Two objects in place are two conditions; a heated, cooled or cleaned one has three: treated, in place, and both at
    once. Under a lamp there are two: the object in hand, the lamp here and on.
    """
    goal, layout = parse_goal(engine.task), engine.layout
    wanted = sum(1 << index for index, name in enumerate(layout.object_names) if kind_of(name) == goal.object)
    lamps = sum(1 << index for index, name in enumerate(layout.object_names) if kind_of(name) == goal.destination)
    places = [index for index, name in enumerate(layout.receptacle_names) if kind_of(name) == goal.destination]

    def lit(state: State) -> float:
        on = lamps & state.toggled
        seen = on and any(state.contents[place] & on for place in layout.here[state.location])
        return ((state.held >= 0 and wanted >> state.held & 1) + bool(seen)) / 2

    def both(state: State) -> float:
        return min(2, max((state.contents[place] & wanted).bit_count() for place in places)) / 2

    def treated(state: State) -> float:
        done: int = getattr(state, goal.state) & wanted
        inside = 0
        for place in places:
            inside |= state.contents[place] & wanted
        return ((done > 0) + (inside > 0) + (done & inside > 0)) / 3

    rates: dict[str, Rate] = {LOOK: lit, TWO: both, **dict.fromkeys(STATES, treated)}
    known = wanted and (lamps if goal.type == LOOK else places)
    return rates[goal.type] if known and goal.type in rates else lambda state: float(engine.won(state))
