"""Steps, and the episode they make up."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rpms.core.acting.menu import chain_of
from rpms.core.acting.surprise import Surprise
from rpms.core.decide import Decision
from rpms.core.prompt import Part
from rpms.core.reading.readings import Readings
from rpms.core.usage import Usage


class Ending(StrEnum):
    """All ways in which an episode can end."""

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
    """The recorded fields of a step; no other place names them."""

    number: int
    """From 1, as the paper counts."""
    observation: str
    """o_t: what the decision was made on."""
    answer: str
    """The model's text, verbatim."""
    thought: str
    action: str | None
    """The action in the answer; None if there was none, which costs a step like any other mistake."""
    command: str
    """The command sent to the world."""
    repairs: tuple[str, ...]
    """Corrections made while reading the answer and writing the command."""
    result: str
    """The world's answer."""
    score: float
    infeasible: bool
    """P1: the world could not do it."""
    objection: str
    """The precondition that the full manual knows to be broken, whatever the condition shows of the manual."""
    contradictions: tuple[str, ...]
    """P2: what the belief held for known that was not so."""
    surprises: tuple[Surprise, ...] = ()
    """Differences between the observation and the last command's prediction, or that no plan is left."""
    usage: Usage
    """Of all requests of this step, those asked again included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Happening):
    """One decision and what came of it."""

    decision: Decision
    refusals: tuple[tuple[str, str], ...] = ()
    """Commands the guard refused, each with the reason given; one re-ask each."""
    forbidden: tuple[tuple[str, str], ...] = ()
    """Each command of the model's that a rule certainly forbids, with that rule's id; refused or not."""
    replaced: str = ""
    """Why the command is not the model's own, if it is not."""
    readings: Readings | None = None
    """Readings of a goal in a person's words, at the first step and whenever another reading is taken."""
    notes: tuple[str, ...] = ()
    """Steps the client took to get an answer, such as shortening the history."""

    @property
    def advice(self) -> str:
        """The reason for a failure; empty if the action worked or no action was given."""
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
        """Fields beyond the paper, those in use."""
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
    """The error, if a model or a world failed."""
    usage: Usage = field(default_factory=Usage)
    trial: int = 0
    """Number of the attempt, for methods that make several."""

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
        """Number of times the model was asked again after a refusal."""
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
        """Number of observations the manual did not predict."""
        return sum(len(step.surprises) for step in self.steps)
