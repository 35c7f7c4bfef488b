"""The guard: an action is checked against the schemas and the belief before it reaches the world."""

from __future__ import annotations

from dataclasses import dataclass

from rpms.core.arbitration import infeasibility
from rpms.core.belief import Situation
from rpms.core.facts import Clause
from rpms.core.rules import ActiveRules


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an action would fail, and what would help."""

    reason: str
    """The fact that stands against it: `drawer 3 is closed`."""
    rule: str
    remedy: str = ""
    """A command that would make the failing precondition true: `open drawer 3`."""

    @property
    def text(self) -> str:
        return f"{self.reason}; first: {self.remedy}" if self.remedy else self.reason


def review(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that is known to fail. What is unknown passes: only the world can tell."""
    objection = infeasibility(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    if objection.clause is None:
        return Refusal(objection.reason, objection.rule)
    return Refusal(objection.fact, objection.rule, find_remedy(objection.clause, rules, situation))


def find_remedy(clause: Clause, rules: ActiveRules, situation: Situation) -> str:
    """A command of the manual whose effects would make a failing precondition true, and which can be done now."""
    for wanted in clause.literals:
        for schema in rules.environment:
            for effect in schema.effects:
                if (effect.atom.predicate, effect.negated) != (wanted.atom.predicate, wanted.negated):
                    continue
                command = schema.syntax[0]
                for name, value in zip(effect.atom.args, wanted.atom.args, strict=True):
                    command = command.replace(f"<{name}>", value)
                if "<" not in command and not _refused(command, rules, situation):
                    return command
    return ""


def _refused(command: str, rules: ActiveRules, situation: Situation) -> bool:
    objection = infeasibility(command, rules, situation)
    return objection is not None and objection.conflict


def ask_again(command: str, refusal: Refusal) -> str:
    """What a model is told when its action was not executed."""
    return f"`{command}` was not executed: {refusal.text}. Choose another action."
