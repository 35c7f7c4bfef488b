"""Steps, and the episode they make up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

from rpms.paper.beyond import Surprise
from rpms.paper.decide import Decision
from rpms.paper.memory import Entry
from rpms.paper.prompt import Part


class Ending(StrEnum):
    """All ways in which an episode can end."""

    WON = "won"
    LOST = "lost"
    """The world ended it for good, as ScienceWorld does with a score of -100."""
    OUT_OF_STEPS = "out of steps"
    STUCK = "stuck"
    """One failing action again and again, if the run asks to stop then; or no goal that the request
    may mean can be reached, where plans are followed."""
    MODEL_ERROR = "model error"
    WORLD_ERROR = "world error"


class GoalReadings(Protocol):
    """Readings of a goal in a person's words, as `rpms.reading` makes them."""

    @property
    def request(self) -> str:
        """The person's words."""
        ...

    @property
    def why(self) -> str:
        """The reason that another reading was taken."""
        ...

    def record(self) -> list[dict[str, object]]:
        """The readings, for the episode's file."""
        ...

    def lines(self) -> Iterable[str]:
        """The readings, for people."""
        ...


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of one request. Adding two gives the cost of both."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """The part of `prompt_tokens` that the server did not compute again."""
    completion_tokens: int = 0
    requests: int = 0
    """Requests that reached the provider: 0 for an answer from a record."""
    seconds: float = 0.0
    """Time from the question to its answer, waits between tries included."""
    written_tokens: int = 0
    """The part of `prompt_tokens` stored for reuse, which Anthropic bills higher; 0 where a
    provider does not say."""

    def __add__(self, other: Self) -> Self:
        sums: dict[str, Any] = {}
        for each in fields(self):
            sums[each.name] = getattr(self, each.name) + getattr(other, each.name)
        return type(self)(**sums)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """The recorded fields of a step; no other place names them."""

    number: int
    """Counted from 1, as in the paper."""
    observation: str
    """o_t: what the decision was made on."""
    answer: str
    """The model's text, verbatim."""
    thought: str
    action: str | None
    """The action in the answer; None if there was none, which costs a step like any other
    mistake."""
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
    """The precondition that the full manual knows to be broken, whatever the condition shows of
    the manual."""
    contradictions: tuple[str, ...]
    """P2: what the belief held for known that was not so."""
    surprises: tuple[Surprise, ...] = ()
    """Differences between the world's answer and what was foretold of the command, or that no
    plan is left then."""
    usage: Usage
    """The cost of all requests of this step, those asked again included."""


class RefusedCommand(NamedTuple):
    """A command that the guard refused, and the reason that the model was given."""

    command: str
    reason: str


class ForbiddenCommand(NamedTuple):
    """A command of the model's that a rule certainly forbids."""

    command: str
    rule: str
    """The rule's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Happening):
    """One decision and its outcome."""

    decision: Decision
    refusals: tuple[RefusedCommand, ...] = ()
    """Commands that the guard refused; one re-ask each."""
    forbidden: tuple[ForbiddenCommand, ...] = ()
    """Commands that a rule certainly forbids, refused or not."""
    replaced: str = ""
    """The reason that another command took the place of the model's; empty if none did."""
    truncated: bool = False
    """True if the answer was cut at the limit of new tokens."""
    readings: GoalReadings | None = None
    """Readings of a goal in a person's words, at the first step and whenever another reading is
    taken."""
    notes: tuple[str, ...] = ()
    """Steps the client took to get an answer, such as shortening the history."""

    @property
    def advice(self) -> str:
        """The reason for a failure; empty if the action worked or no action was given."""
        return self.objection if self.infeasible and self.command else ""

    @property
    def plan(self) -> tuple[str, ...]:
        """The plan that the command begins, from the goal back to it; nothing where rules made
        none.
        """
        return self.decision.advice.chain(self.command)

    @property
    def extras(self) -> dict[str, object]:
        """Fields beyond the paper, those in use."""
        decision = self.decision
        readings = self.readings
        found: dict[str, object] = {
            "plan": list(self.plan),
            "menu": [item.record() for item in decision.menu.items],
            "readings": readings.record() if readings is not None else [],
            "reading": readings.why if readings is not None else "",
            "notice": decision.notice,
            "refused": [each._asdict() for each in self.refusals],
            "forbidden": [each._asdict() for each in self.forbidden],
            "replaced": self.replaced,
            "truncated": self.truncated,
            "no_room": {str(each.part): each.items for each in decision.prompt.no_room},
            "notes": list(self.notes),
            "messages": [[each.role, each.content] for each in decision.prompt.own_messages()],
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
    """The error, if a model or a world failed; the reason, if the player gave up."""
    usage: Usage = field(default_factory=Usage)
    trial: int = 0
    """Number of the attempt, for methods that make several."""

    @property
    def won(self) -> bool:
        return self.ending is Ending.WON

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Sums over its steps, by the names of `COUNTS`, and the failures that were repeated."""
        counts = {"repeated_failures": self._repeated_failures()}
        for name, of in COUNTS.items():
            counts[name] = sum(map(of, self.steps))
        return counts

    def _repeated_failures(self) -> int:
        """Count the commands that failed right after they had failed."""
        repeated = 0
        for before, step in pairwise(self.steps):
            both_failed = before.infeasible and step.infeasible
            if both_failed and before.command == step.command:
                repeated += 1
        return repeated


class OwnHarvest(Protocol):
    """Section 3.3 by one's own: its entries are kept beside the paper's."""

    def __call__(self, episode: Episode, /) -> Iterable[Entry]:
        """The entries that an episode teaches, of any kind."""
        ...


COUNTS: Mapping[str, Callable[[Step], int]] = {
    "infeasible": lambda step: step.infeasible,
    # told from feasible ones by the manual and the belief
    "foreseeable": lambda step: step.infeasible and bool(step.objection),
    "contradictions": lambda step: len(step.contradictions),
    "surprises": lambda step: len(step.surprises),
    "reasks": lambda step: len(step.refusals),
    "replaced": lambda step: bool(step.replaced),
    "truncated": lambda step: step.truncated,
    "menus": lambda step: bool(step.decision.menu.items),
    "sole": lambda step: len(step.decision.menu.items) == 1,
    "led": lambda step: bool(step.command) and step.command == step.decision.menu.best,
    "shortened": lambda step: step.decision.prompt.forgets,
    "crowded": lambda step: step.decision.prompt.crowded,
    "remembered": lambda step: step.decision.prompt.shows(Part.MEMORY),
}
"""Numbers of a step that tables add up."""
