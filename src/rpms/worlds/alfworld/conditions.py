"""How much of a goal is reached: the share of ALFRED's goal conditions that a state meets, by the type of the task."""

from __future__ import annotations

from collections.abc import Callable

from rpms.worlds.alfworld.engine import GameEngine, State
from rpms.worlds.alfworld.goals import LOOK, PLACE, STATES, TWO, parse_goal

Rate = Callable[[State], float]


def goal_condition_rate(engine: GameEngine) -> Rate:
    """A measure of states, 1 where all conditions are met; of a goal that is none of the six, whether it is won.

    An object in place is one condition, two objects are two; a heated, cooled or cleaned one has three: treated, in
    place, and both at once. Under a lamp there are two: the object in hand, the lamp here and on.
    """
    goal = parse_goal(engine.task)
    layout = engine.layout
    wanted = _mask(layout.object_names, goal.object)
    lamps = _mask(layout.object_names, goal.destination)
    places = [index for index, name in enumerate(layout.receptacle_names) if _kind(name) == goal.destination]

    def lit(state: State) -> float:
        on = lamps & state.toggled
        seen = on and any(state.contents[place] & on for place in layout.here[state.location])
        return ((state.held >= 0 and wanted >> state.held & 1) + bool(seen)) / 2

    def placed(state: State) -> float:
        return float(any(state.contents[place] & wanted for place in places))

    def both(state: State) -> float:
        return min(2, max((state.contents[place] & wanted).bit_count() for place in places)) / 2

    def treated(state: State) -> float:
        done: int = getattr(state, goal.state) & wanted
        inside = 0
        for place in places:
            inside |= state.contents[place] & wanted
        return ((done > 0) + (inside > 0) + (done & inside > 0)) / 3

    if goal.type == LOOK and wanted and lamps:
        return lit
    if not (wanted and places):
        return lambda state: float(engine.won(state))
    if goal.type in STATES:
        return treated
    return {PLACE: placed, TWO: both}.get(goal.type, lambda state: float(engine.won(state)))


def _kind(name: str) -> str:
    return name.rpartition(" ")[0]


def _mask(names: tuple[str, ...], kind: str) -> int:
    return sum(1 << index for index, name in enumerate(names) if _kind(name) == kind)
