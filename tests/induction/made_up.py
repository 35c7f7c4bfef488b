"""Made-up worlds whose truth is known: actions over numbered things, with preconditions and
effects drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.facts import Atom, Literal
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from tests.induction.seeded import seeded_tasks

REFUSED = "No."
UNARY, NULLARY = ("red", "warm", "bent"), ("dark", "loud")


@dataclass(frozen=True)
class Action:
    """One action of a made-up world: its verb, what it needs of its thing or of the world, and
    what it does.
    """

    verb: str
    needs: tuple[Literal, ...]
    does: tuple[Literal, ...]


@dataclass(frozen=True)
class Domain:
    """The truth."""

    actions: tuple[Action, ...]
    hidden: frozenset[str] = frozenset()
    """Predicates that no text tells of."""


@dataclass
class MadeUpGame:
    """One episode: things with random properties, all of them told after each step."""

    domain: Domain
    seed: int
    true: set[Atom] = field(default_factory=set)

    def reset(self) -> Outcome:
        dice = Random(self.seed)
        self.things = [f"thing {number}" for number in range(1, 4)]
        every = [Atom(name, (thing,)) for name in UNARY for thing in self.things] + [
            Atom(name) for name in NULLARY
        ]
        self.true = {atom for atom in every if dice.random() < 0.5}
        self.every = every
        return Outcome(self._told("Begin."))

    def _told(self, answer: str) -> str:
        shown = [atom for atom in self.every if atom.predicate not in self.domain.hidden]
        return f"{answer}|" + ";".join(
            f"{'' if atom in self.true else 'not '}{atom}" for atom in shown
        )

    def step(self, command: str) -> Outcome:
        verb, _, thing = command.partition(" ")
        action = next((each for each in self.domain.actions if each.verb == verb), None)
        if action is None or thing not in self.things:
            return Outcome(self._told(REFUSED))
        bound = [literal.bind({"x": thing}) for literal in action.needs]
        if not all((literal.atom in self.true) is not literal.negated for literal in bound):
            return Outcome(self._told(REFUSED))
        for literal in (each.bind({"x": thing}) for each in action.does):
            (self.true.discard if literal.negated else self.true.add)(literal.atom)
        return Outcome(self._told("Done."))

    def admissible(self) -> tuple[str, ...]:
        return tuple(
            sorted(
                f"{action.verb} {thing}" for action in self.domain.actions for thing in self.things
            )
        )

    def close(self) -> None:
        pass


class MadeUp(World):
    """A World of a domain."""

    name = "made up"
    splits = ("train",)
    wording = Wording("", "")
    step_budget = 25

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        return seeded_tasks(split, "any", 200)

    def open(self, task: Task, _setting: Setting) -> Game:
        return MadeUpGame(self.domain, int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("any")

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        facts = [fact for fact in observation.partition("|")[2].split(";") if fact]
        things = {fact.partition("(")[2].rstrip(")") for fact in facts} - {""}
        return belief.learn(*facts, thing=sorted(things))

    def infeasible(self, observation: str) -> bool:
        return observation.startswith(REFUSED)

    def manual(self) -> Any:
        lines = [
            f"  {name}: {{args: [thing], yes: <thing> is {name}, no: <thing> is not {name}}}"
            for name in UNARY
        ]
        lines += [f"  {name}: {{yes: it is {name}, no: it is not {name}}}" for name in NULLARY]
        return (("made up", "world: made up\npredicates:\n" + "\n".join(lines)),)
