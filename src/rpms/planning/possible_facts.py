"""The facts that a manual can speak of over the parameters of an action."""

from collections.abc import Iterator
from itertools import product

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
    found: list[Atom] = []
    for predicate in rules.predicates:
        found += atoms_of(rules, schema, predicate)
    return tuple(found)


def atoms_of(rules: ActiveRules, schema: ActionSchema, predicate: str) -> Iterator[Atom]:
    """The facts of one predicate that could be meant over a schema's parameters."""
    roles = _roles(rules)
    fitting: list[list[str]] = []
    for place in range(len(rules.predicates[predicate].args)):
        fitting.append([arg for arg in schema.variables if (predicate, place, arg) in roles])
    for args in product(*fitting):
        if len(set(args)) == len(args):  # no parameter stands for two things at once
            yield Atom(predicate, args)
