"""A model that is no LLM: it reads the decision instead of the prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rpms.core.belief import Situation
from rpms.core.errors import ModelError
from rpms.core.planning.reason import reasoner_of
from rpms.models.base import Answer

if TYPE_CHECKING:
    from rpms.core.decide import Decision
    from rpms.models.base import Request

Policy = Callable[["Decision"], tuple[str, str]]
"""From the step's decision to a thought and an action."""


def follow_plan(decision: Decision) -> tuple[str, str]:
    """The policy called `planner`: begin the best plan. What the decision does not know, it does not know."""
    for option in decision.plan.options:
        return f"I want to {decision.progress.text}.", option.command
    commands = (schema.syntax[0] for schema in decision.schemas.environment if not schema.parameters)
    waiting = (command for command in commands if not decision.bars(command))
    reason = reasoner_of(decision.schemas).impasse(Situation(decision.belief, decision.goal))
    return f"Nothing is left to try: {reason}.", next(waiting, "")


class PolicyModel:
    """Answers with what a policy chooses, in the words a model would use."""

    def __init__(self, name: str, policy: Policy) -> None:
        self.name = name
        self._policy = policy

    def answer(self, request: Request) -> Answer:
        if request.decision is None:
            raise ModelError(f"{self.name} reads the step's decision, and the request carries none")
        thought, action = self._policy(request.decision)
        return Answer(f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}")

    def close(self) -> None:
        """Nothing is held."""
