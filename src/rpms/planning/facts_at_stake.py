"""The facts that a manual's lines need, bring about and end."""

from collections.abc import Iterable, Mapping

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Literal, Sort, grouped
from rpms.logic.rules import ActiveRules, kept_with_rules


@kept_with_rules
def uses(rules: ActiveRules) -> tuple[tuple[str, Literal], ...]:
    """Each fact that a line of some action needs."""
    found: list[tuple[str, Literal]] = []
    for schema in rules.all_actions:
        for clause in schema.preconditions:
            found += [(schema.name, literal) for literal in clause.literals]
    return tuple(found)


@kept_with_rules
def users(rules: ActiveRules) -> Mapping[Literal, frozenset[str]]:
    """The actions that need each fact, by the fact."""
    by_fact = grouped((literal, name) for name, literal in uses(rules))
    return {literal: frozenset(names) for literal, names in by_fact.items()}


@kept_with_rules
def wanted_facts(rules: ActiveRules) -> frozenset[Sort]:
    """Facts that actions and the goal need, by predicate and sign, without permanent facts and
    kinds.
    """
    wanted = [literal for _, literal in uses(rules)]
    if rules.purpose is not None:
        wanted += rules.purpose.wants
    listed = {*rules.lore.facts, *rules.lore.kinds}
    lasting = {name for name, predicate in rules.predicates.items() if predicate.lasting}
    changing = rules.predicates.keys() - listed - lasting
    return frozenset([each.signed for each in wanted if each.atom.predicate in changing])


@kept_with_rules
def served_facts(rules: ActiveRules) -> frozenset[Sort]:
    """Facts that actions, this goal or another need."""
    served = set(wanted_facts(rules))
    for goal in rules.goals:
        served.update(literal.signed for literal in goal.wants)
    return frozenset(served)


def facts_made(schemas: Iterable[ActionSchema]) -> frozenset[Sort]:
    """Facts that some actions bring about, by predicate and sign."""
    made: set[Sort] = set()
    for schema in schemas:
        made.update(effect.signed for effect in schema.effects)
    return frozenset(made)


def excludes(rules: ActiveRules, one: Literal, other: Literal) -> bool:
    """True if of two facts only one can be so: one is at one place."""
    if one == other or one.negated or other.negated:
        return False
    predicate = one.atom.predicate
    return predicate == other.atom.predicate and bool(rules.predicates[predicate].exclusive)


def undone_with(
    rules: ActiveRules, facts: Iterable[Literal], others: Iterable[Literal]
) -> set[Literal]:
    """Those of `facts` that every action causing one of `others` ends, or that exclude it: to
    put down ends holding.
    """
    found: set[Literal] = set()
    for wanted in others:
        ended = _always_ended_by(rules, wanted)
        found.update(fact for fact in facts if fact in ended or excludes(rules, wanted, fact))
    return found


def _always_ended_by(rules: ActiveRules, wanted: Literal) -> set[Literal]:
    """The facts that end whichever action causes another; none if no action does."""
    ended: list[set[Literal]] = []
    for giving in rules.giving.get(wanted.signed, ()):
        binding = dict(zip(giving.effect.atom.args, wanted.atom.args, strict=True))
        ended.append({each.opposite().bind(binding) for each in giving.schema.effects})
    return set.intersection(*ended) if ended else set()
