"""A plan that led back to where it began, and the lines that are to blame for it."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.edges import Link
from rpms.planning.facts_at_stake import excludes
from rpms.planning.noticed import PlanNoticed, SurpriseKind
from rpms.planning.plans_begun import Begun
from rpms.planning.trust import CONTRADICTED, LinePart, ManualLine


def circle(
    noticed: PlanNoticed, rules: ActiveRules, plans: Sequence[Begun], situation: Situation
) -> PlanNoticed:
    """Plans of which the first led back to the present situation: their doubts are doubtful, or
    what their next actions lack is not needed. Each plan is blamed once.
    """
    lines = _blamed_for_all(rules, plans, situation)
    trust = noticed.trust
    for line in lines:
        if trust.has_left(line):
            trust = trust.weighed(line, CONTRADICTED)
    trust = trust.but(plans=trust.plans.having_weighed(plans))
    if any(one.kind == SurpriseKind.CIRCLE for one in noticed.surprises):
        return noticed.trusting(trust)
    first = plans[0]
    named: ManualLine | str = ""
    if lines:
        named = lines[0]
    elif first.chain:
        named = _line_served(rules, first.chain[0])
    text = f"`{first.command}` led back to a state in which it was done before"
    return noticed.with_(SurpriseKind.CIRCLE, named, text, trust)


def _blamed_for_all(
    rules: ActiveRules, plans: Sequence[Begun], situation: Situation
) -> list[ManualLine]:
    """The lines to blame for plans that led, one after the other, to the present situation; none
    for a plan that was blamed before.
    """
    led_to = [*(begun.situation for begun in plans[1:]), situation]
    lines: list[ManualLine] = []
    for begun, after in zip(plans, led_to, strict=True):
        if not begun.weighed:
            lines += _blamed(rules, begun, after)
    return lines


def _blamed(rules: ActiveRules, begun: Begun, after: Situation) -> list[ManualLine]:
    """The lines to blame for a plan that led back: its doubts, or needs of the first action that
    has some to blame.

    `after`: what its first command led to; for needs of later actions too, since nobody knows more.
    """
    chain = begun.chain
    doubts = [ManualLine(link.doubt, LinePart.DOUBTED, "") for link in chain if link.doubt]
    if doubts:
        return doubts
    for link, then in pairwise(chain):
        instance = rules.instance(then.command)
        if instance is None:
            continue
        needs = _needs_to_blame(rules, link, instance, begun.situation, after)
        if needs:
            return [ManualLine.of_need(rules, instance.schema, need) for need in needs]
    return []


def _needs_to_blame(
    rules: ActiveRules, link: Link, instance: Instance, before: Situation, after: Situation
) -> list[Clause]:
    """Needs of an action that an earlier one serves, or else all that it lacks; and needs that
    cannot hold together: by what the manual says, or since that earlier one ended them.
    """
    needs = rules.needs_of(instance.schema)
    lacking: list[Clause] = []
    ended: list[Clause] = []
    for need in needs:
        if need.truth(before, instance.binding) is not Truth.TRUE:
            lacking.append(need)
        elif need.truth(after, instance.binding) is Truth.FALSE:
            ended.append(need)
    wanted = Literal(link.fact.atom, link.fact.negated)
    served: list[Clause] = []
    for need in lacking:
        if wanted in need.bind(instance.binding).literals:
            served.append(need)
    return list(dict.fromkeys([*(served or lacking), *ended, *_at_odds(rules, needs)]))


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
