"""Of the rules, those that matter to what is to be done now: a shorter prompt shows no others."""

from dataclasses import replace

from rpms.logic.rules import ActiveRules, Rule, kept_with_rules
from rpms.planning.plan_graph import Plan


def focus(rules: ActiveRules, plan: Plan) -> ActiveRules:
    """Of the rules, those that matter to what is to be done now: prohibitions of it, and where
    to look for things.
    """
    links = plan.options[0].chain if plan.options else ()
    actions: set[str] = set()
    for link in links:
        instance = rules.instance(link.command)
        if instance is not None:
            actions.add(instance.schema.name)
    is_searching = any(link.reveals for link in links)
    return _about(rules, frozenset(actions), is_searching)


@kept_with_rules
def _about(rules: ActiveRules, actions: frozenset[str], seeking: bool) -> ActiveRules:
    def matters(rule: Rule) -> bool:
        return (seeking and rule.locality is not None) or any(
            ban.action in actions for ban in rule.forbids
        )

    universal, domain = (tuple(filter(matters, tier)) for tier in (rules.universal, rules.domain))
    return replace(rules, universal=universal, domain=domain, environment=())


@kept_with_rules
def left_out(rules: ActiveRules, shown: ActiveRules) -> tuple[str, ...]:
    """Rules and actions that a focus removed.

    Rules with a condition are not counted: they appear whenever it holds.
    """
    if shown is rules:
        return ()
    kept = {rule.id for rule in shown.rules}
    names = {schema.name for schema in shown.environment}
    left_out = [rule.id for rule in rules.rules if not rule.when and rule.id not in kept]
    left_out += [schema.name for schema in rules.environment if schema.name not in names]
    return tuple(left_out)
