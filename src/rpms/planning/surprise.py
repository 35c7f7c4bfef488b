"""Foretell and compare: differences between what the manual foretold and what happened, and the
lines they concern.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import ActiveRules
from rpms.paper import beyond
from rpms.paper.beyond import StepContext
from rpms.paper.prompt import Turn
from rpms.planning.doubts import HOPED, SUPPOSED, WAIVED
from rpms.planning.noticed import PlanNoticed, SurpriseKind, TriedAction
from rpms.planning.set_off import processes_of
from rpms.planning.trust import (
    COMPLETE,
    CONFIRMED,
    CONTRADICTED,
    REFUTED,
    UNSHAKEN,
    LinePart,
    ManualLine,
    Trust,
    false_over,
)
from rpms.planning.unfinished_goals import goal_holds, unfinished
from rpms.planning.unforetold import with_changes


def notice(
    earlier: beyond.Noticed, now: StepContext, before: Situation, *, won: bool = False
) -> PlanNoticed:
    """What the answer to the last command shows about the manual, and the plans that were begun
    since the last news.
    """
    trust = earlier.trust if isinstance(earlier, PlanNoticed) else UNSHAKEN
    if not now.history:
        return PlanNoticed(trust)
    last, situation = now.history[-1], now.situation
    noticed = compare(trust, now.schemas, before, last.action, situation, refused=last.failed)
    if not won and goal_holds(now.schemas, situation, now.progress):
        noticed = goal_goes_on(noticed, now.schemas, situation)
    return noticed.trusting(_with_plan_begun(noticed, last, before, situation))


def _with_plan_begun(
    noticed: PlanNoticed, last: Turn, before: Situation, after: Situation
) -> Trust:
    """Trust with the plan added that the last command began, if that worked.

    All plans are forgotten when an answer tells news. They are, too, when a player chooses a
    command itself: a circle of its own choice says nothing about the manual.
    """
    plans = noticed.trust.plans
    if last.action != plans.first or _tells_news(noticed, before, after):
        plans = replace(plans, walked=())
    elif not last.failed:
        plans = plans.having_begun(last.state, last.action, before)
    return noticed.trust.but(plans=plans)


def _tells_news(noticed: PlanNoticed, before: Situation, now: Situation) -> bool:
    """True if an answer told of things that nobody had seen, or of what actions need or do other
    than that one was refused.
    """
    if not before.belief.every_name.issuperset(now.belief.every_name):
        return True
    return any(one.kind != SurpriseKind.REFUSED for one in noticed.surprises)


def compare(
    trust: Trust,
    rules: ActiveRules,
    before: Situation,
    command: str,
    after: Situation,
    *,
    refused: bool,
) -> PlanNoticed:
    """Hold what a command did against what the manual foretold of it."""
    doubt = trust.plans.doubt(command)
    if refused:
        trust = trust.but(refusals=trust.refusals.with_refused(command, rules, after))
    noticed = PlanNoticed(trust)
    # A hope that comes true is learned, and no hope any more.
    if doubt and (refused or HOPED in doubt):
        line = ManualLine(doubt, LinePart.DOUBTED, "")
        noticed = noticed.trusting(noticed.trust.weighed(line, CONTRADICTED))
    instance = rules.instance(command)
    if instance is None:
        return noticed
    done = TriedAction(rules, instance, command, before, after)
    if refused:
        return _refused(noticed, done)
    noticed = _accepted(noticed, done)
    noticed = _with_blank_look(noticed, done)
    noticed = _with_effects(noticed, done, instance.schema, instance.binding, due=True)
    still = before.belief == after.belief
    for process, binding in processes_of(rules, command, before):
        # A process may take time: it is due where nothing at all has changed.
        noticed = _with_effects(noticed, done, process, binding, due=still)
    return with_changes(noticed, done)


def _with_blank_look(noticed: PlanNoticed, done: TriedAction) -> PlanNoticed:
    """A look that a plan began with and that did not tell what it was for showed nothing."""
    chain = noticed.trust.plans.offered.get(done.command, ())
    if not chain or not chain[0].reveals:
        return noticed
    link = chain[0]
    if done.after.value(link.fact.predicate, link.fact.args) is not None:
        return noticed
    trust = noticed.trust
    refusals = trust.refusals.with_blank(link, done.command, done.rules, done.after)
    return noticed.trusting(trust.but(refusals=refusals))


def _with_effects(
    noticed: PlanNoticed,
    done: TriedAction,
    schema: ActionSchema,
    binding: Mapping[str, str],
    *,
    due: bool,
) -> PlanNoticed:
    """Effects of an action, or of a process it set off: those that came speak for their lines,
    those that are due and did not come, against. What an action only may do is never due.
    """
    for effect in schema.effects:
        value = effect.truth(done.after, binding)
        if value is Truth.UNKNOWN:
            continue
        line = ManualLine.of_effect(done.rules, schema, effect)
        if value is Truth.TRUE:
            noticed = noticed.trusting(noticed.trust.weighed(line, CONFIRMED))
        elif due and effect not in schema.supposed:
            text = f"`{done.command}` was done, but not: {done.said(effect.bind(binding))}"
            trust = noticed.trust.weighed(line, CONTRADICTED)
            noticed = noticed.with_(SurpriseKind.ABSENT, line, text, trust)
    return noticed


def _refused(noticed: PlanNoticed, done: TriedAction) -> PlanNoticed:
    """Weigh a refusal: it confirms needs that explain it; otherwise the list of needs loses trust.

    A need that a plan took for granted explains the first command of an action that is refused,
    while nothing speaks against the manual: the guess was wrong, and not the manual. It confirms
    nothing, and the second such command counts.
    """
    trust = noticed.trust
    false, unknown = _needs_not_met(done)
    waived = WAIVED in trust.plans.doubt(done.command)
    if false and not waived:
        return noticed.trusting(_confirming(trust, done, false))
    # no need explains it, or needs were left open on purpose: what nobody knew may be needed too
    missing = false_over(done.rules, done.instance, done.before, unknown=True)
    suspecting = trust.suspecting(done.key, missing)
    if waived and (false or unknown):
        return noticed.trusting(_confirming(suspecting, done, [*false, *unknown]))
    if unknown and trust.is_first_guess(done.key, done.command):
        refusals = suspecting.refusals.with_guess(done.command, done.instance, unknown)
        return noticed.trusting(suspecting.but(refusals=refusals))
    return _refused_without_reason(noticed.trusting(suspecting), done)


def _confirming(trust: Trust, done: TriedAction, needs: Iterable[Clause]) -> Trust:
    """Trust once a refusal speaks for some needs."""
    for clause in needs:
        line = ManualLine.of_need(done.rules, done.instance.schema, clause)
        trust = trust.weighed(line, CONFIRMED)
    return trust


def _needs_not_met(done: TriedAction) -> tuple[list[Clause], list[Clause]]:
    """Needs that explain a refusal, as they are known not to hold, before or after it; and needs of
    which nobody knows, neither before nor after.
    """
    false: list[Clause] = []
    unknown: list[Clause] = []
    for clause in done.rules.needs_of(done.instance.schema):
        bound = clause.bind(done.instance.binding)
        was = bound.truth(done.before)
        now = bound.truth(done.after)
        if was is Truth.FALSE or now is Truth.FALSE:
            false.append(clause)
        elif was is Truth.UNKNOWN and now is Truth.UNKNOWN:
            unknown.append(clause)
    return false, unknown


def _refused_without_reason(noticed: PlanNoticed, done: TriedAction) -> PlanNoticed:
    """The list of needs is not complete, or one of them is not as stated: they share the blame."""
    schema = done.instance.schema
    line = ManualLine(done.key, LinePart.NEEDS, COMPLETE)
    trust = noticed.trust.weighed(line, CONTRADICTED)
    for clause in schema.preconditions:
        need = ManualLine.of_need(done.rules, schema, clause)
        trust = trust.weighed(need, CONTRADICTED / len(schema.preconditions))
    text = f"`{done.command}` was refused though nothing known speaks against it"
    return noticed.with_(SurpriseKind.REFUSED, line, text, trust)


def _accepted(noticed: PlanNoticed, done: TriedAction) -> PlanNoticed:
    """Needs that were false when the action worked are refuted."""
    rules, instance = done.rules, done.instance
    trust = noticed.trust.working(done.key, rules, instance, done.before, done.after)
    # Where a need was supposed, it may have worked for what the manual does not state.
    if SUPPOSED not in trust.plans.doubt(done.command):
        trust = trust.weighed(ManualLine(done.key, LinePart.NEEDS, COMPLETE), CONFIRMED)
    noticed = noticed.trusting(trust)
    for clause in rules.needs_of(instance.schema):
        if clause.truth(done.before, instance.binding) is Truth.FALSE:
            noticed = _done_without(noticed, done, clause)
    return noticed


def _done_without(noticed: PlanNoticed, done: TriedAction, clause: Clause) -> PlanNoticed:
    """An action worked though one of its needs did not hold.

    That refutes the need. It only speaks against a rule that forbids the action: that it can be
    done does not say that it does no harm.
    """
    line = ManualLine.of_need(done.rules, done.instance.schema, clause)
    if line.part is LinePart.FORBIDS:
        weight = CONTRADICTED
        text = f"`{done.command}` was done though {line.of} forbids it"
    else:
        weight = REFUTED
        text = f"`{done.command}` was done without: {clause.bind(done.instance.binding)}"
    trust = noticed.trust.weighed(line, weight)
    return noticed.with_(SurpriseKind.ACCEPTED, line, text, trust)


def goal_goes_on(noticed: PlanNoticed, rules: ActiveRules, situation: Situation) -> PlanNoticed:
    """All that the goal wants holds, and the game goes on: it wants more."""
    name = rules.purpose.name if rules.purpose is not None else ""
    trust = unfinished(noticed.trust, rules, situation)
    if trust.held == noticed.trust.held:
        return noticed
    text = "all that the goal is known to want holds, and the game goes on"
    return noticed.with_(
        SurpriseKind.UNFINISHED, ManualLine(name, LinePart.WANTS, COMPLETE), text, trust
    )
