"""Goals that are something to be done: no state tells them, since all that wins share was found so
in games that went on.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Literal
from rpms.logic.goal import Goal
from rpms.planning.reason import Reasoner
from rpms.play.sources import universal_tier
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Game, Outcome, Setting, Task
from tests.induction.made_up import REFUSED, Action, Domain, MadeUp, MadeUpGame

SHUT = Atom("red", ("x",))
DOORS = Domain(
    (
        Action("open", (Literal(SHUT),), (Literal(SHUT, True),)),
        Action("shut", (Literal(SHUT, True),), (Literal(SHUT),)),
        Action("polish", (), (Literal(Atom("warm", ("x",))),)),
    )
)


class Doors(MadeUpGame):
    """Some doors are shut in the beginning.

    Won is who shuts one; in one game of five that counts only from a side that nothing tells.
    """

    def step(self, command: str) -> Outcome:
        outcome = super().step(command)
        done = command.startswith("shut ") and not outcome.observation.startswith(REFUSED)
        won = done and self.seed % 5 > 0
        return replace(outcome, done=won, won=won)


class House(MadeUp):
    """A World of such games."""

    def __init__(self) -> None:
        super().__init__(DOORS)

    def open(self, task: Task, _setting: Setting) -> Game:
        return Doors(self.domain, int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("shut", "thing", text="see to it that a thing is shut")


def test_what_was_done_last_in_the_wins_is_done_where_no_state_tells_the_goal(
    tmp_path: Path,
) -> None:
    out = tmp_path / "manual.yaml"
    world = House()
    tasks = tuple(world.tasks("train", Setting()))
    plan = RulesPlan(world, tasks, Setting(), "train", Exploring(steps=400))
    result = learn_rules(plan, out)
    assert result.learned.by_deed == ("shut",)
    assert not result.learned.without_goal
    manual = read_manual(universal_tier(), manual_text(out))
    (deed,) = (each for each in manual.lore.processes if each.name == "win_shut")
    assert "goal_object(thing)" in map(str, deed.preconditions)  # though no other was ever tried
    for seed in (1, 2, 3, 4):
        assert _won(world, tasks[seed], Reasoner(manual.active("shut", "thing"))), seed


def _won(world: House, task: Task, reasoner: Reasoner) -> bool:
    """True if plans alone win a game."""
    game = world.open(task, Setting())
    outcome = game.reset()
    goal = world.goal(outcome.observation)
    belief = world.update(world.start(goal), None, outcome.observation)  # type: ignore[arg-type]
    for _ in range(4):
        options = reasoner.plan(Situation(belief, goal)).options
        if not options:
            return False
        outcome = game.step(options[0].command)
        if outcome.won:
            return True
        belief = world.update(belief, None, outcome.observation)  # type: ignore[arg-type]
    return False
