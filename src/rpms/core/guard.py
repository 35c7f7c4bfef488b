"""The guard: an action is checked against the schemas and the belief before it reaches the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rpms.core.arbitration import infeasibility
from rpms.core.belief import Situation
from rpms.core.facts import Atom, Clause
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


def find_remedy(clause: Clause, rules: ActiveRules, situation: Situation, *, further: bool = True) -> str:
    """A command of the manual whose effects would make a failing precondition true, and which can be done now.

    Where that command itself cannot be done, with `further` the one that would make it possible.
    """
    for wanted in clause.literals:
        for schema in rules.environment:
            for effect in schema.effects:
                if (effect.atom.predicate, effect.negated) != (wanted.atom.predicate, wanted.negated):
                    continue
                for values in _stand_ins(wanted.atom, rules, situation):
                    command = schema.syntax[0]
                    for name, value in zip(effect.atom.args, values, strict=True):
                        command = command.replace(f"<{name}>", value)
                    remedy = "" if "<" in command else _first(command, rules, situation, further=further)
                    if remedy:
                        return remedy
    return ""


def _stand_ins(atom: Atom, rules: ActiveRules, situation: Situation) -> Iterator[tuple[str, ...]]:
    """What a fact is about; where all that is in one place shares it, also where its object was last seen."""
    yield atom.args
    predicate = rules.predicates.get(atom.predicate)
    if len(atom.args) == 1 and predicate is not None and predicate.exclusive not in ("", "always"):
        place = situation.belief.last_seen.get(atom.args[0])
        if place is not None:
            yield (place,)


def _first(command: str, rules: ActiveRules, situation: Situation, *, further: bool) -> str:
    """The command, or what is to be done before it; nothing if it cannot be helped."""
    objection = infeasibility(command, rules, situation)
    if objection is None or not objection.conflict:
        return command
    if objection.clause is None or not further:
        return ""
    return find_remedy(objection.clause, rules, situation, further=False)


def ask_again(command: str, refusal: Refusal) -> str:
    """What a model is told when its action was not executed."""
    return f"`{command}` was not executed: {refusal.text}. Choose another action."
