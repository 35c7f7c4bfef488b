"""Scores on the way, and a last step that has to be guessed: the goal's own sentence says among
what.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rpms.induction.conclusions.ledger import Ledger, vocabulary_of
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Literal
from rpms.logic.goal import Goal, is_named
from rpms.planning.reason import Reasoner
from rpms.play.sources import universal_tier
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Game, Outcome, Setting, Task
from tests.induction.made_up import Action, Domain, MadeUp, MadeUpGame

WARM, BENT = Atom("warm", ("x",)), Atom("bent", ("x",))
THINGS = ("red box", "blue box", "old lamp", "wool hat", "tin cup")
QUIZ = Domain(
    (
        Action("warm", (Literal(WARM, True),), (Literal(WARM),)),
        Action("choose", (), ()),
        Action("bend", (Literal(BENT, True),), (Literal(BENT),)),
    )
)


class Quiz(MadeUpGame):
    """The sentence names two things, and one of them is right; to choose anything else ends the
    game, and so does the wrong one of the two. To warm something scores once.
    """

    score = 0.0

    def reset(self) -> Outcome:
        super().reset()
        self.things = list(THINGS)
        self.every = [Atom(name, (thing,)) for name in ("warm", "bent") for thing in THINGS]
        self.true = set()
        named = self.named()
        return Outcome(self._told(f"Choose the {named[0]} or the {named[1]}."))

    def named(self) -> tuple[str, str]:
        first = self.seed % len(THINGS)
        return THINGS[first], THINGS[first - 1]

    def step(self, command: str) -> Outcome:
        outcome = super().step(command)
        verb, _, thing = command.partition(" ")
        if verb == "warm" and "Done" in outcome.observation:
            self.score = max(self.score, 0.1)
        if verb != "choose" or thing not in THINGS:
            return replace(outcome, score=self.score)
        won = thing == self.named()[self.seed // len(THINGS) % 2]
        return replace(outcome, score=1.0 if won else -1.0, done=True, won=won)


class QuizWorld(MadeUp):
    """A World of such games."""

    def __init__(self) -> None:
        super().__init__(QUIZ)

    def open(self, task: Task, _setting: Setting) -> Game:
        return Quiz(self.domain, int(task.source["seed"]))

    def goal(self, opening: str) -> Goal:
        return Goal("choose", text=opening.partition("|")[0])


def test_what_the_sentence_names_is_guessed_where_that_gains_more_than_it_loses(
    tmp_path: Path,
) -> None:
    out = tmp_path / "manual.yaml"
    world = QuizWorld()
    tasks = tuple(world.tasks("train", Setting()))
    plan = RulesPlan(world, tasks[:100], Setting(), "train", Exploring(steps=800))
    learn_rules(plan, out)
    manual = read_manual(universal_tier(), manual_text(out))
    needs = []
    for process in manual.lore.processes:
        if process.syntax[0].startswith("choose "):
            needs += [str(clause) for clause in process.preconditions]
    assert "goal_names(thing)" in needs
    reasoner = Reasoner(manual.active("choose", ""))
    won = sum(_won(world, task, reasoner) for task in tasks[100:120])
    assert won >= 6  # ten of twenty by luck, and none by choosing nothing


def _won(world: QuizWorld, task: Task, reasoner: Reasoner) -> bool:
    """True if plans alone win a game."""
    game = world.open(task, Setting())
    outcome = game.reset()
    goal = world.goal(outcome.observation)
    belief = world.update(world.start(goal), None, outcome.observation)  # type: ignore[arg-type]
    for _ in range(8):
        options = reasoner.plan(Situation(belief, goal)).options
        if not options or outcome.done:
            break
        outcome = game.step(options[0].command)
        belief = world.update(belief, None, outcome.observation)  # type: ignore[arg-type]
    return outcome.won


class Traps(MadeUpGame):
    """Wires hang everywhere that no text tells of, each with a name of its own; to touch one ends
    the game.
    """

    def admissible(self) -> tuple[str, ...]:
        wires = [f"touch {colour} wire of game {self.seed}" for colour in ("red", "blue", "grey")]
        return (*super().admissible(), *wires)

    def step(self, command: str) -> Outcome:
        outcome = super().step(command)
        if command.startswith("touch "):
            return Outcome(self._told("It hisses."), done=True)
        return outcome


class TrapWorld(MadeUp):
    """A World of such games."""

    def open(self, task: Task, _setting: Setting) -> Game:
        return Traps(self.domain, int(task.source["seed"]))


def test_what_often_ended_the_task_waits_also_with_names_that_nobody_knows() -> None:
    world = TrapWorld(QUIZ)
    tasks = world.tasks("train", Setting())
    ledger = Ledger(world, vocabulary_of(world))
    explorer = Explorer(world, Setting(), tasks, ledger, Exploring(steps=600))
    lengths = [len(trace.steps) for trace in explorer.explore()]
    later = lengths[20:30]  # the last ones of all are cut short when the steps are used
    assert len(later) == 10
    assert min(later) >= world.step_budget - LIMITS.last_steps


def test_a_text_names_what_it_has_nearly_all_words_of() -> None:
    text = "Which of the two inclined planes (titanium, cloth) has the most friction?"
    assert is_named("inclined plane with a titanium surface", text)
    assert not is_named("inclined plane with a steel surface", text)
    assert not is_named("door to the kitchen", "Seeds can be found in the kitchen.")
    assert is_named("unknown substance B", "Focus on the unknown substance B.")
    assert not is_named("unknown substance C", "Focus on the unknown substance B.")
