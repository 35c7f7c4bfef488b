"""The facts that a manual can speak of over the parameters of an action."""

from collections.abc import Iterator
from itertools import permutations

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom, Clause
from rpms.logic.rules import ActiveRules, kept_with_rules


@kept_with_rules
def _roles(rules: ActiveRules) -> frozenset[tuple[str, int, str]]:
    """The parameters that stand in each place of each predicate, in any line of the manual or
    in its declaration.
    """
    roles: set[tuple[str, int, str]] = set()
    for atom in _atoms_of(rules):
        roles.update((atom.predicate, place, arg) for place, arg in enumerate(atom.args))
    return frozenset(roles)


def _atoms_of(rules: ActiveRules) -> Iterator[Atom]:
    """The facts of every line, over parameters."""
    clauses: list[Clause] = []
    for schema in rules.all_actions:
        clauses += schema.preconditions
        yield from (effect.atom for effect in schema.effects)
        yield from (seen.atom for seen in schema.observes)
    for rule in rules.rules:
        for ban in rule.forbids:
            clauses += ban.when
    for clause in clauses:
        yield from (literal.atom for literal in clause.literals)
    for name, predicate in rules.predicates.items():
        yield Atom(name, predicate.args)


@kept_with_rules
def atoms_over(rules: ActiveRules, schema: ActionSchema) -> tuple[Atom, ...]:
    """Every fact that could be meant over a schema's parameters, and those about nothing in
    particular.
    """
    roles = _roles(rules)
    found: list[Atom] = []
    for name, predicate in rules.predicates.items():
        for args in permutations(schema.variables, len(predicate.args)):
            if all((name, place, arg) in roles for place, arg in enumerate(args)):
                found.append(Atom(name, args))
    return tuple(found)
