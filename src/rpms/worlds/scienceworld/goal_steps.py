"""The steps that a goal's sentence asks for, and which of them are done: Appendix A.2's progress
pointer.

A thing is the one that a goal names if the name is its own, in whatever state of matter it is
shown. A thing whose name merely contains the words is another one: a cherry seed is no cherry, salt
water no water.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rpms.logic.goal import GoalStep
from rpms.worlds.scienceworld.observations import MATTER
from rpms.worlds.scienceworld.recipes.biology import GREENS
from rpms.worlds.scienceworld.scene import Scene
from rpms.worlds.scienceworld.tasks import TABLE
from rpms.worlds.scienceworld.tree import Seen


class _Step(NamedTuple):
    """A line of `steps` in `tasks.toml`."""

    verb: str
    target: str
    """The thing it is about, with fields of the goal, such as `<target>`, or `<focused>`."""
    done: tuple[str, ...] = ()
    """Conditions that end it: a name of `_CONDITIONS`, or how many things were focused on."""


def _read_steps(rows: Sequence[Sequence[str]]) -> tuple[_Step, ...]:
    steps = []
    for verb, target, *done in rows:
        steps.append(_Step(verb, target, tuple(" ".join(done).split())))
    return tuple(steps)


_STEPS: Mapping[str, tuple[_Step, ...]] = {
    stem: _read_steps(rows) for stem, rows in TABLE["steps"].items()
}
"""Steps by the beginning of a task's name; the first that fits counts."""
_FIELD = re.compile(r"<(\w+)>")
_FOCUSED = "focused"
"""Stands for the thing that was focused on last; before that, for the kind that is sought."""


def steps_asked(scene: Scene) -> tuple[GoalStep, ...]:
    """The steps of the goal's sentence; none where no template fits it."""
    found = []
    for step in _steps_of(scene.aim.task):
        target = _FIELD.sub(lambda field: _value_of_field(scene, field[1]), step.target)
        met = [_is_met(scene, condition, target) for condition in step.done]
        found.append(GoalStep(step.verb, target, done=bool(met) and all(met)))
    return tuple(found)


def _value_of_field(scene: Scene, field: str) -> str:
    """The meaning of a field of a step's target."""
    if field == _FOCUSED:
        return scene.focused[-1] if scene.focused else scene.goal.named("target")
    return scene.goal.named(field)


def _steps_of(task: str) -> tuple[_Step, ...]:
    if not task:
        return ()
    return next(steps for stem, steps in _STEPS.items() if task.startswith(stem))


def _is_met(scene: Scene, condition: str, target: str) -> bool:
    if condition.isdecimal():
        return len(scene.focused) >= int(condition)
    return _CONDITIONS[condition](scene, target)


def _seen(scene: Scene, target: str) -> bool:
    return any(is_called(seen, target) for seen in scene.things)


def _grown(scene: Scene, fruit: str) -> bool:
    """True if such a fruit hangs on a plant. A fruit in a bowl was not grown."""
    for seen in scene.things:
        hangs = seen.holder.endswith(GREENS)
        if hangs and (seen.name == fruit or seen.name.endswith(f" {fruit}")):
            return True
    return False


_CONDITIONS: Mapping[str, Callable[[Scene, str], bool]] = {"seen": _seen, "grown": _grown}


def is_called(seen: Seen, target: str) -> bool:
    """True if a thing goes by the name that a goal has for it, so that commands know it by that.

    `liquid chocolate` is chocolate; ice and water have names of their own.
    """
    return _stateless(seen.name) == _stateless(target)


def _stateless(name: str) -> str:
    bare = name.casefold()
    matter = MATTER.match(bare)
    return bare if matter is None else bare[matter.end() :]
