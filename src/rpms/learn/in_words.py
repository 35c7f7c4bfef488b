"""Preconditions and effects in words without the names of instances, so that they hold in other rooms."""

from __future__ import annotations

import re
from functools import lru_cache

from rpms.core.facts import Atom, Clause, Literal, Truth
from rpms.core.rules import ActionSchema, ActiveRules

_PARAMETER = re.compile(r"<([a-z_]+)>")


def literal_in_words(literal: Literal, rules: ActiveRules) -> str:
    """One fact of a schema in the manual's words: `you are at the place`, `the place is not closed`."""
    atom = Atom(literal.atom.predicate, tuple(f"the {arg}" for arg in literal.atom.args))
    return rules.say(atom, Truth.of(not literal.negated))


def in_words(clause: Clause, rules: ActiveRules) -> str:
    """A precondition of a schema in words; of several alternatives, all."""
    return " or ".join(literal_in_words(literal, rules) for literal in clause.literals)


def schema_effects(schema: ActionSchema, rules: ActiveRules) -> tuple[str, ...]:
    """Effects of an action in words, and what it needs and leaves as it was, as `still: you hold the object`."""
    changed = {literal.atom.predicate for literal in schema.effects}
    kept = [
        f"still: {literal_in_words(clause.literals[0], rules)}"
        for clause in schema.preconditions
        if len(clause.literals) == 1 and schema.effects and _kept(clause.literals[0], rules, changed)
    ]
    return (*(literal_in_words(literal, rules) for literal in schema.effects), *kept)


def _kept(literal: Literal, rules: ActiveRules, changed: set[str]) -> bool:
    """Only of what is exclusive, such as the one thing in hand, is it worth saying that it stays."""
    predicate = rules.predicates.get(literal.atom.predicate)
    exclusive = predicate is not None and predicate.exclusive == "always"
    return exclusive and not literal.negated and literal.atom.predicate not in changed


def template_of(schema: ActionSchema, command: str) -> str:
    """The way of writing an action that a command follows, with `{object}` for names, as in Appendix F."""
    syntax = next((way for way in schema.syntax if _one_way(way).match(command) is not None), schema.syntax[0])
    return _PARAMETER.sub(r"{\1}", syntax)


@lru_cache(maxsize=512)
def _one_way(syntax: str) -> ActionSchema:
    return ActionSchema("one", (syntax,))
