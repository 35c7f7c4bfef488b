"""The canonical procedure of each task as sub-goals, each with a test on goal and belief."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rpms.worlds.scienceworld import conditions as on
from rpms.worlds.scienceworld.conditions import Test
from rpms.worlds.scienceworld.goals import ScienceGoal


@dataclass(frozen=True, slots=True)
class SubGoal:
    """One step of a procedure."""

    kind: str
    """What is to be done: `focus_on`."""
    target: str
    """What with: `water`."""
    reached: Test
    lasting: bool = True
    """Once reached, it counts as reached; otherwise the world, or the agent, may undo it."""

    @property
    def means(self) -> bool:
        """Whether it only serves the next one, and is passed as soon as that is reached; focusing never is."""
        return not self.kind.startswith("focus_on")


def _search(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        SubGoal("find", goal.target, on.found),
        SubGoal("focus_on", goal.target, on.focused_times(1)),
        SubGoal("take", f"the {goal.target} focused on", lambda g, b: on.taken(g, b) or on.boxed(g, b), lasting=False),
        SubGoal("go_to", goal.box_room, lambda g, b: b.room == g.box_room or on.boxed(g, b), lasting=False),
        SubGoal("move_it_to", goal.box, on.boxed, lasting=False),
    )


def _instrument(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        SubGoal("take", "thermometer", lambda g, b: on.carried("thermometer")(g, b) or on.boxed(g, b), lasting=False),
        SubGoal("focus_on", "thermometer", on.focused("thermometer")),
        SubGoal("find", goal.target, lambda g, b: on.seen(b, g.target)),
        SubGoal("focus_on", goal.target, on.focused(goal.target)),
    )


def _thermometer(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    boxes = " or ".join(branch.box for branch in goal.branches)
    return (
        *_instrument(goal),
        SubGoal("measure", goal.target, on.measured(goal.target)),
        SubGoal("move_it_to", boxes, on.boxed, lasting=False),
    )


def _melting_point(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    boxes = " or ".join(branch.box for branch in goal.branches)
    return (
        *_instrument(goal),
        SubGoal("put_in_a_vessel", goal.target, lambda g, b: on.in_vessel(b, g.target)),
        SubGoal("heat", goal.target, lambda g, b: on.heated(b, g.target)),
        SubGoal("measure_until_molten", goal.target, on.melted),
        SubGoal("focus_on", boxes, on.box_focused),
    )


def _matter(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    target = goal.target
    start = (
        SubGoal("find", target, on.visible(target)),
        SubGoal("focus_on", target, on.focused(target)),
        SubGoal("put_in_a_vessel", target, lambda g, b: on.in_vessel(b, g.target)),
    )
    heat = SubGoal("heat", target, lambda g, b: on.heated(b, g.target))
    cool = SubGoal("cool", target, lambda g, b: on.cooled(b, g.target))
    either = SubGoal("heat_or_cool", target, lambda g, b: on.heated(b, g.target) or on.cooled(b, g.target))
    ends = {
        "boil": (heat, SubGoal("check_that_it_is_gas", target, on.became(target, frozenset({"gas"})))),
        "melt": (
            SubGoal("have_it_solid", target, on.was(target, "solid")),
            heat,
            SubGoal("check_that_it_is_liquid", target, on.became(target, frozenset({"liquid"}), before="solid")),
        ),
        "freeze": (
            SubGoal("have_it_liquid", target, on.was(target, "liquid")),
            cool,
            SubGoal("check_that_it_is_solid", target, on.became(target, frozenset({"solid"}), before="liquid")),
        ),
        "change-the-state-of-matter-of": (either, SubGoal("check_its_new_state", target, on.changed(target))),
    }
    return (*start, *ends[goal.task])


def _chemistry(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        SubGoal("go_to", goal.place, on.in_room(goal.place)),
        SubGoal("read", "recipe", lambda _g, b: "recipe" in b.readings),
        SubGoal("put_in_one_vessel", "all ingredients", on.mixture),
        SubGoal("mix", goal.target, on.visible(goal.target)),
        SubGoal("focus_on", goal.target, on.focused(goal.target)),
    )


def _paint(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    start = (
        SubGoal("go_to", goal.place, on.in_room(goal.place)),
        SubGoal("pour_in_one_vessel", "two primary paints", on.paints(2)),
    )
    end = (
        SubGoal("mix", goal.target, on.visible(goal.target)),
        SubGoal("focus_on", goal.target, on.focused(goal.target)),
    )
    if not goal.intermediate:
        return (*start, *end)
    between = (
        SubGoal("mix", goal.intermediate, lambda g, b: on.seen(b, g.intermediate) or on.seen(b, g.target)),
        SubGoal("focus_on", goal.intermediate, lambda g, b: any(name == g.intermediate for name in b.focused)),
    )
    final = SubGoal("focus_on", goal.target, lambda g, b: any(name == g.target for name in b.focused))
    return (*start, *between, end[0], final)


def _garden(goal: ScienceGoal, plants: int) -> tuple[SubGoal, ...]:
    sown = ("seed", "tree", "plant")
    return (
        SubGoal("take", "seed jar", lambda g, b: on.carried("seed")(g, b) or on.potted(sown, plants)(g, b)),
        SubGoal("go_to", "greenhouse", on.in_room("greenhouse")),
        SubGoal("put_in_flower_pots", "soil", on.potted(("soil",), plants)),
        SubGoal("plant", f"{goal.target} seed", on.potted(sown, plants)),
    )


def _plant(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        *_garden(goal, 1),
        SubGoal("focus_on", f"{goal.target} seed", on.focused_times(1)),
        SubGoal("water_until_seedling", goal.target, on.grown(("seedling", "adult", "reproducing"))),
        SubGoal("water_until_adult", goal.target, on.grown(("adult", "reproducing"))),
        SubGoal("water_until_reproducing", goal.target, on.grown(("reproducing",))),
    )


def _crop(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        *_garden(goal, 2),
        SubGoal("water_until_reproducing", goal.target, on.grown(("reproducing",), 2)),
        SubGoal("open", "bee hive", lambda _g, b: b.containers.get("bee hive", False)),
        SubGoal("wait_for_fruit", goal.target, on.fruit),
        SubGoal("focus_on", goal.target, on.focused_times(1)),
    )


def _heredity(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    boxes = " or ".join(branch.box for branch in goal.branches)
    return (
        *_garden(goal, 2),
        SubGoal("water_until_reproducing", goal.target, on.grown(("reproducing",), 2)),
        SubGoal("open", "bee hive", lambda _g, b: b.containers.get("bee hive", False)),
        SubGoal("wait_for_seeds_of", goal.target, on.offspring),
        SubGoal("focus_on", boxes, on.box_focused),
    )


def _animal_stages(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    focus = [
        SubGoal("focus_on_life_stage", f"{number} of the {goal.target}", on.focused_times(number))
        for number in range(1, (goal.stages or 4) + 1)
    ]
    return (SubGoal("go_to", "outside", on.in_room("outside")), *focus)


def _plant_stages(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    focus = [
        SubGoal("focus_on", f"{goal.target} in the {stage} stage", on.focused_times(number))
        for number, stage in enumerate(on.STAGES, 1)
    ]
    return (SubGoal("go_to", "outside", on.in_room("outside")), *focus)


def _planes(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    slides = [SubGoal("time_the_block_on", plane, on.slid(plane)) for plane in goal.candidates]
    return (
        SubGoal("find", "inclined planes", lambda g, b: all(on.seen(b, plane) for plane in g.candidates)),
        SubGoal("take", "stopwatch", lambda g, b: on.carried("stopwatch")(g, b) or bool(b.readings)),
        *slides,
        SubGoal("focus_on", f"the plane with the {goal.target}", on.focused_times(1)),
    )


def _lifespan(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    order = goal.criterion.split(", then ")
    focus = [
        SubGoal("focus_on", f"the {which}-lived animal", on.focused_times(number))
        for number, which in enumerate(order, 1)
    ]
    return (SubGoal("go_to", goal.place, on.in_room(goal.place)), *focus)


def _power(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    return (
        SubGoal("find", goal.target, on.visible(goal.target)),
        SubGoal("focus_on", goal.target, on.focused(goal.target)),
        SubGoal("wire", f"{goal.target} to a {goal.source} power source".replace("  ", " "), on.wired(4)),
        SubGoal("check_that_it_is_on", goal.target, on.lit),
    )


def _conductivity(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    boxes = " or ".join(branch.box for branch in goal.branches)
    return (
        SubGoal("find", goal.target, on.visible(goal.target)),
        SubGoal("focus_on", goal.target, on.focused(goal.target)),
        SubGoal("wire", f"{goal.target} into a circuit with a battery and a light bulb", on.wired(6)),
        SubGoal("move_it_to", boxes, on.boxed, lasting=False),
    )


_PROCEDURES: Final[Mapping[str, Callable[[ScienceGoal], tuple[SubGoal, ...]]]] = {
    "find-animal": _search,
    "find-living-thing": _search,
    "find-non-living-thing": _search,
    "find-plant": _search,
    "use-thermometer": _thermometer,
    "measure-melting-point-known-substance": _melting_point,
    "measure-melting-point-unknown-substance": _melting_point,
    "boil": _matter,
    "melt": _matter,
    "freeze": _matter,
    "change-the-state-of-matter-of": _matter,
    "chemistry-mix": _chemistry,
    "chemistry-mix-paint-secondary-color": _paint,
    "chemistry-mix-paint-tertiary-color": _paint,
    "grow-plant": _plant,
    "grow-fruit": _crop,
    "identify-life-stages-1": _animal_stages,
    "identify-life-stages-2": _plant_stages,
    "inclined-plane-determine-angle": _planes,
    "inclined-plane-friction-named-surfaces": _planes,
    "inclined-plane-friction-unnamed-surfaces": _planes,
    "lifespan-longest-lived": _lifespan,
    "lifespan-shortest-lived": _lifespan,
    "lifespan-longest-lived-then-shortest-lived": _lifespan,
    "mendelian-genetics-known-plant": _heredity,
    "mendelian-genetics-unknown-plant": _heredity,
    "power-component": _power,
    "power-component-renewable-vs-nonrenewable-energy": _power,
    "test-conductivity": _conductivity,
    "test-conductivity-of-unknown-substances": _conductivity,
}


@lru_cache(maxsize=1_024)
def procedure(goal: ScienceGoal) -> tuple[SubGoal, ...]:
    """The sub-goals of a goal, in order; none for a goal that no template fits."""
    make = _PROCEDURES.get(goal.task)
    return make(goal) if make else ()
