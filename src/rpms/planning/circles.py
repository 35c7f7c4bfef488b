"""A plan that led back to where it began, and the lines that are to blame for it."""

from collections.abc import Iterable
from itertools import pairwise

from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.edges import Link
from rpms.planning.facts_at_stake import excludes
from rpms.planning.noticed import PlanNoticed, SurpriseKind
from rpms.planning.trust import CONTRADICTED, LinePart, ManualLine


def circle(
    noticed: PlanNoticed, rules: ActiveRules, chain: tuple[Link, ...], situation: Situation
) -> PlanNoticed:
    """A plan that led back to where it began: its doubts are doubtful, or what its next action
    lacks is not needed.
    """
    trust = noticed.trust
    blamed = _blamed(rules, chain, situation)
    for line in blamed:
        trust = trust.weighed(line, CONTRADICTED)
    if any(one.kind == SurpriseKind.CIRCLE for one in noticed.surprises):
        return noticed.trusting(trust)
    named = blamed[0] if blamed else _line_served(rules, chain[0])
    text = f"`{chain[0].command}` led back to a state in which it was done before"
    return noticed.with_(SurpriseKind.CIRCLE, named, text, trust)


def _blamed(rules: ActiveRules, chain: tuple[Link, ...], situation: Situation) -> list[ManualLine]:
    """The lines to blame for a plan that led back: its doubts, or needs of the first action that
    has some to blame.
    """
    doubts = [ManualLine(link.doubt, LinePart.DOUBTED, "") for link in chain if link.doubt]
    if doubts:
        return doubts
    for link, then in pairwise(chain):
        instance = rules.instance(then.command)
        if instance is None:
            continue
        needs = _needs_to_blame(rules, link, instance, situation)
        if needs:
            return [ManualLine.of_need(rules, instance.schema, need) for need in needs]
    return []


def _needs_to_blame(
    rules: ActiveRules, link: Link, instance: Instance, situation: Situation
) -> list[Clause]:
    """Needs of an action that an earlier one serves, or else all that it lacks; and needs that
    cannot hold together.
    """
    needs = rules.needs_of(instance.schema)
    lacking: list[Clause] = []
    for need in needs:
        if need.truth(situation, instance.binding) is not Truth.TRUE:
            lacking.append(need)
    wanted = Literal(link.fact.atom, link.fact.negated)
    served: list[Clause] = []
    for need in lacking:
        if wanted in need.bind(instance.binding).literals:
            served.append(need)
    return list(dict.fromkeys([*(served or lacking), *_at_odds(rules, needs)]))


def _at_odds(rules: ActiveRules, needs: Iterable[Clause]) -> list[Clause]:
    """The needs of which each excludes another one."""
    told = [need for need in needs if need.literals]
    found: list[Clause] = []
    for need in told:
        if any(excludes(rules, need.literals[0], other.literals[0]) for other in told):
            found.append(need)
    return found


def _line_served(rules: ActiveRules, link: Link) -> ManualLine | str:
    """The line that an action of a plan rests on."""
    instance = rules.instance(link.command)
    if instance is None:
        return ""
    part = LinePart.SHOWS if link.reveals else LinePart.DOES
    return ManualLine(instance.schema.name, part, str(Literal(link.fact.atom, link.fact.negated)))
