"""Objections to a command: the rules, asked about one action here and now."""

from dataclasses import dataclass

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import infeasibility, prohibition
from rpms.paper.prompt import brief


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason that an action would fail or is forbidden, and what would help."""

    reason: str
    """The fact that stands against it: `drawer 3 is closed`; or the rule that forbids it."""
    rule: str
    remedy: str = ""
    """The first step towards being able to do it: `open drawer 3`; only planning knows it."""
    forbidden: bool = False
    """True if it may well be possible, but a rule forbids it."""

    @property
    def text(self) -> str:
        return f"{self.reason}; first: {self.remedy}" if self.remedy else self.reason


def review(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that is known to fail.

    What is unknown passes: only the world can tell.
    """
    objection = infeasibility(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    return Refusal(objection.fact or objection.reason, objection.rule)


def review_rules(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that a rule forbids, all conditions of the prohibition being known to
    hold.
    """
    objection = prohibition(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    text = next(rule.text for rule in rules.rules if rule.id == objection.rule)
    return Refusal(
        f"{objection.rule} forbids it: {text.rstrip('.')}", objection.rule, forbidden=True
    )


def ask_again(command: str, refusal: Refusal) -> str:
    """The message to a model whose action was not executed."""
    what = f"`{brief(command)}`" if command else "Your answer"
    return f"{what} was not executed: {brief(refusal.text, 400)}. Choose another action."
