"""What memory adds to a plan: evidence for its options, and recalled steps where there is none."""

from collections.abc import Sequence
from math import inf

from rpms.logic.facts import kind_of
from rpms.paper.memory import SuccessSnippet
from rpms.paper.verdict import Candidate
from rpms.planning.edges import Option
from rpms.planning.experience.adapt import AdaptContext
from rpms.planning.experience.recalled_steps import recalled_steps
from rpms.planning.lift import failed_alike
from rpms.planning.plan_graph import Plan


def weighed(plan: Plan, memories: Sequence[Candidate], context: AdaptContext) -> Plan:
    """A plan with the evidence of memory for its options; without a plan to the goal, recalled
    steps come first.
    """
    if not plan.options or plan.cost == inf:
        plan = _recalled_first(plan, memories, context)
    begun = _begun_by_snippets(memories)
    commands = [option.command for option in plan.options]
    lessons = failed_alike(
        commands, context.signature, memories, context.schemas, context.whereabouts.worked
    )

    def weigh(option: Option) -> Option:
        told = option.evidence or _found_there(option, context)
        if not told and option.command in begun:
            told = f"as in {begun[option.command]}"
        if option.command in lessons:
            told = f"failed in {lessons[option.command]}"
        if told == option.evidence:
            return option
        return Option(option.command, option.regret, option.chain, told)

    return plan.offering(sorted(map(weigh, plan.options), key=lambda one: one.command in lessons))


def _recalled_first(plan: Plan, memories: Sequence[Candidate], context: AdaptContext) -> Plan:
    """A plan with recalled steps before its own options."""
    recalled: dict[str, Option] = {}
    for command, why in recalled_steps(memories, context):
        recalled[command] = Option(command, 0.0, evidence=why)
    others = [one for one in plan.options if one.command not in recalled]
    return plan.offering((*recalled.values(), *others))


def _begun_by_snippets(memories: Sequence[Candidate]) -> dict[str, str]:
    """The first commands of adapted snippets, with the id of the best snippet for each."""
    begun: dict[str, str] = {}
    for each in reversed(memories):
        if each.adapted and isinstance(each.entry, SuccessSnippet) and each.entry.actions:
            begun[each.entry.actions[0]] = each.entry.id
    return begun


def _found_there(option: Option, context: AdaptContext) -> str:
    """Of a look, how often experience found such a thing in such a place."""
    args = next((link.fact.args for link in option.chain if link.reveals), ())
    sought = [kind_of(arg) for arg in args if arg.endswith("?")]
    places = [kind_of(arg) for arg in args if not arg.endswith("?")]
    return context.whereabouts.told(sought[0], places[0]) if sought and places else ""
