"""What happened: steps, and the episode they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rpms.core.acting.plan_words import chain_of
from rpms.core.acting.surprise import Surprise
from rpms.core.decide import Decision
from rpms.core.prompt import Part
from rpms.core.reading.readings import Readings
from rpms.core.usage import Usage


class Ending(StrEnum):
    """How an episode ended. There are no other ways."""

    WON = "won"
    LOST = "lost"
    """The world ended it for good, as ScienceWorld does with a score of -100."""
    OUT_OF_STEPS = "out of steps"
    STUCK = "stuck"
    """The same failing action over and over; only where a run asks for it."""
    MODEL_ERROR = "model error"
    WORLD_ERROR = "world error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What happened at a step, as every record of it tells: the one place where these fields are named."""

    number: int
    """From 1, as the paper counts."""
    observation: str
    """o_t: what the decision was made on."""
    answer: str
    """What the model wrote, to the letter."""
    thought: str
    action: str | None
    """The action in the answer; None if there was none, which costs a step like any other mistake."""
    command: str
    """What the world was given."""
    repairs: tuple[str, ...]
    """What was forgiven in reading the answer and writing the command."""
    result: str
    """What the world answered."""
    score: float
    infeasible: bool
    """P1: the world could not do it."""
    objection: str
    """The precondition that the full manual knows to be broken, whatever the condition shows of the manual."""
    contradictions: tuple[str, ...]
    """P2: what the belief held for known that was not so."""
    surprises: tuple[Surprise, ...] = ()
    """Where the observation differs from what the manual foretold of the command before, or no plan is left."""
    usage: Usage
    """Of all requests of this step, those asked again included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Happening):
    """One decision and what came of it."""

    decision: Decision
    refusals: tuple[tuple[str, str], ...] = ()
    """What the guard refused before, each command with the reason it was told: one re-ask each."""
    forbidden: tuple[tuple[str, str], ...] = ()
    """Each command of the model's that a rule certainly forbids, with that rule's id; refused or not."""
    replaced: str = ""
    """Why the command is not the model's own, if it is not."""
    readings: Readings | None = None
    """What the goal in a person's words was read as, at the first step and wherever another reading is taken."""
    notes: tuple[str, ...] = ()
    """What the model's side had to do to get an answer, such as shorten the history."""

    @property
    def advice(self) -> str:
        """What can be told of why it failed; nothing where it worked, or where an action was missing altogether."""
        return self.objection if self.infeasible and self.command else ""

    @property
    def plan(self) -> tuple[str, ...]:
        """The plan that the command begins, from the goal back to it; nothing where rules made none."""
        rules, advice = self.decision.rules, self.decision.advice
        if not (rules.environment and advice.has_plan):
            return ()
        begun = [option for option in advice.plan.options if option.command == self.command]
        return chain_of(begun[0], rules) if begun else ()

    @property
    def extras(self) -> dict[str, object]:
        """What goes past the paper, as far as it was used."""
        decision = self.decision
        found: dict[str, object] = {
            "plan": list(self.plan),
            "menu": [{"command": item.command, "reason": item.reason} for item in decision.menu.items],
            "readings": self.readings.record() if self.readings is not None else [],
            "reading": self.readings.why if self.readings is not None else "",
            "notice": decision.notice,
            "refused": [{"command": command, "reason": reason} for command, reason in self.refusals],
            "forbidden": [{"command": command, "rule": rule} for command, rule in self.forbidden],
            "replaced": self.replaced,
            "no_room": {str(part): count for part, count in decision.prompt.no_room},
            "notes": list(self.notes),
            "messages": [[each.role, each.content] for each in decision.prompt.messages()]
            if decision.prompt.speak is not None
            else [],
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True)
class Episode:
    """One attempt at one task."""

    task: str
    type: str
    goal: str
    ending: Ending
    score: float
    steps: tuple[Step, ...]
    error: str = ""
    """What went wrong, if a model or a world failed."""
    usage: Usage = field(default_factory=Usage)
    trial: int = 0
    """Which attempt at the task it is, where a method makes several."""

    @property
    def won(self) -> bool:
        return self.ending is Ending.WON

    @property
    def infeasible(self) -> int:
        return sum(step.infeasible for step in self.steps)

    @property
    def foreseeable(self) -> int:
        """Infeasible actions that the manual and the belief could have told from feasible ones."""
        return sum(step.infeasible and bool(step.objection) for step in self.steps)

    @property
    def repeated_failures(self) -> int:
        """Failing commands that had just failed in the same way."""
        pairs = zip(self.steps, self.steps[1:], strict=False)
        return sum(one.infeasible and two.infeasible and one.command == two.command for one, two in pairs)

    @property
    def reasks(self) -> int:
        """How often the model was asked again because the guard had refused its action."""
        return sum(len(step.refusals) for step in self.steps)

    @property
    def replaced(self) -> int:
        """Actions that were not the model's own: an answer refused to the last, or a loop broken in its place."""
        return sum(bool(step.replaced) for step in self.steps)

    @property
    def menus(self) -> int:
        """Steps with a menu to choose from."""
        return sum(bool(step.decision.menu.items) for step in self.steps)

    @property
    def sole(self) -> int:
        """Steps whose menu had one entry: nothing was chosen."""
        return sum(len(step.decision.menu.items) == 1 for step in self.steps)

    @property
    def led(self) -> int:
        """Steps in which the menu's best entry was taken: the first step of the plan, where there is one."""
        return sum(bool(step.command) and step.command == step.decision.menu.best for step in self.steps)

    @property
    def shortened(self) -> int:
        """Steps whose prompt left out turns of the history for want of room."""
        return sum(any(part is Part.HISTORY for part, _ in step.decision.prompt.no_room) for step in self.steps)

    @property
    def crowded(self) -> int:
        """Steps whose prompt left out knowledge for want of room, since even without history it did not fit."""
        return sum(step.decision.prompt.crowded for step in self.steps)

    @property
    def contradictions(self) -> int:
        return sum(len(step.contradictions) for step in self.steps)

    @property
    def surprises(self) -> int:
        """Where what happened differs from what the manual foretold."""
        return sum(len(step.surprises) for step in self.steps)
