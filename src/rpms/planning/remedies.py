"""The guard of a step: a command that is known to fail is refused, with what would help."""

from rpms.logic.belief import Situation
from rpms.logic.facts import Truth
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import infeasibility
from rpms.paper.review import Refusal
from rpms.planning.reason import reasoner_of


def review(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that is known to fail, with the first step that would help.

    What is unknown passes: only the world can tell.
    """
    objection = infeasibility(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    instance = rules.instance(command)
    if objection.clause is None or instance is None:
        return Refusal(objection.reason, objection.rule)
    remedy = reasoner_of(rules).remedy(instance, situation)
    reason = objection.fact
    if remedy.fact is not None and (known := situation.truth(remedy.fact)) is not Truth.UNKNOWN:
        reason = rules.say(remedy.fact, known)
    return Refusal(reason, objection.rule, remedy.command)
