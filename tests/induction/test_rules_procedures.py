"""Goals of which the last state does not tell how they are won: the way there is learned as a
procedure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesLearned, RulesPlan, learn_rules
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import RuleManual
from rpms.planning.reason import Reasoner
from rpms.play.sources import universal_tier
from rpms.store.evidence import evidence_file, read_evidence
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Game, Outcome, Setting, Task
from tests.induction.made_up import Action, Domain, MadeUp, MadeUpGame

RED, WARM = Atom("red", ("x",)), Atom("warm", ("x",))
GLAZING = Domain(
    (
        Action("paint", (Literal(WARM, True),), (Literal(RED),)),
        Action("chill", (), (Literal(WARM, True),)),
        Action("heat", (), (Literal(WARM), Literal(RED, True))),
    )
)


class Kiln(MadeUpGame):
    """Things are raw in the beginning.

    Won is what is heated while it is red, and heat makes it red no longer.
    """

    painted_first = True

    def reset(self) -> Outcome:
        super().reset()
        self.true = set()
        return Outcome(self._told("Begin."))

    def step(self, command: str) -> Outcome:
        verb, _, thing = command.partition(" ")
        red = Atom("red", (thing,)) in self.true
        outcome = super().step(command)
        won = verb == "heat" and (red or not self.painted_first)
        return replace(outcome, done=won, won=won)


class KilnWhereHeatSuffices(Kiln):
    painted_first = False


class Pottery(MadeUp):
    """A World of such games."""

    def __init__(self, game: type[Kiln]) -> None:
        super().__init__(GLAZING)
        self._game = game

    def open(self, task: Task, _setting: Setting) -> Game:
        return self._game(self.domain, int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("glaze", "thing")


def learned(game: type[Kiln], out: Path) -> tuple[Pottery, RulesLearned, RuleManual]:
    world = Pottery(game)
    tasks = tuple(world.tasks("train", Setting()))
    result = learn_rules(RulesPlan(world, tasks, Setting(), "train", Exploring(steps=400)), out)
    return world, result, read_manual(universal_tier(), manual_text(out))


def won(world: Pottery, manual: RuleManual) -> bool:
    """Whether the engine wins with a manual alone."""
    game = world.open(world.tasks("train", Setting())[0], Setting())
    outcome = game.reset()
    goal = world.goal(outcome.observation)
    belief = world.update(world.start(goal), None, outcome.observation)  # type: ignore[arg-type]
    for _ in range(6):
        plan = Reasoner(manual.active(goal.type, goal.object)).plan(Situation(belief, goal))
        if not plan.options:
            return False
        outcome = game.step(plan.options[0].command)
        if outcome.won:
            return True
        belief = world.update(belief, None, outcome.observation)  # type: ignore[arg-type]
    return False


def test_what_all_wins_did_on_the_way_is_a_procedure_that_plans_follow(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    world, _, manual = learned(Kiln, out)
    procedure = next(purpose for purpose in manual.purposes if purpose.staged)
    assert [[str(clause) for clause in step.until] for step in procedure.steps] == [
        ["red(x)"],
        ["warm(x)"],
    ]
    assert won(world, manual)
    without = replace(
        manual, purposes=tuple(purpose for purpose in manual.purposes if not purpose.staged)
    )
    assert not won(world, without)
    (claim,) = (
        claim
        for claim in read_evidence(evidence_file(out)).claims
        if claim.at == ("procedures", "glaze")
    )
    assert claim.text == "red(x), then warm(x)"
    assert claim.witnesses


def test_where_the_last_state_suffices_there_is_no_procedure(tmp_path: Path) -> None:
    world, _, manual = learned(KilnWhereHeatSuffices, tmp_path / "manual.yaml")
    assert not any(purpose.staged for purpose in manual.purposes)
    assert won(world, manual)
