"""Likely mistakes of a sound manual: rules that never decide, facts that nothing sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.calls import USER, OnUnknown, Policy, ToolManual
from rpms.guard.provenance import FROM_TOOL, FROM_USER
from rpms.logic.facts import Atom, Clause, Literal, Sort


class LikelyMistake(NamedTuple):
    """An entry of a manual that is likely to be a mistake."""

    section: str
    name: str
    problem: str


def likely_mistakes(manual: ToolManual) -> Iterator[LikelyMistake]:
    """All that is odd about a manual."""
    yield from _undeclared_lookups(manual)
    yield from _undeclared_sources(manual)
    yield from _unset_facts(manual)
    for place, policy in enumerate(manual.policies):
        name = policy.rule.id
        earlier = next((each for each in manual.policies[:place] if _covers(each, policy)), None)
        if _never_broken(policy):
            problem = f"{name} never decides: what it says cannot be broken"
            yield LikelyMistake("policies", name, problem)
        elif earlier is not None:
            problem = f"{name} never decides: {earlier.rule.id} refuses all that it would"
            yield LikelyMistake("policies", name, problem)


def _undeclared_lookups(manual: ToolManual) -> Iterator[LikelyMistake]:
    """Records that are from a tool that is not declared."""
    if not manual.tools:
        return
    refused = ", and so refused" if manual.others is OnUnknown.REFUSE else ""
    for kind in manual.records.values():
        for tool in kind.tools:
            if tool not in manual.tools:
                problem = f"{kind.name} is from {excerpt(tool)!r}, which is none of the `tools`"
                yield LikelyMistake("records", kind.name, problem + refused)


class _Asked(NamedTuple):
    """A fact that a tool or a policy asks for."""

    section: str
    name: str
    atom: Atom


class _Effect(NamedTuple):
    """A fact that a call makes true or false."""

    tool: str
    literal: Literal


def _asked(manual: ToolManual) -> Iterator[_Asked]:
    """The facts that rules ask for."""
    for tool in manual.tools.values():
        for clause in tool.needs:
            for literal in clause.literals:
                yield _Asked("tools", tool.name, literal.atom)
    for policy in manual.policies:
        for clause in (*policy.when, *policy.requires):
            for literal in clause.literals:
                yield _Asked("policies", policy.rule.id, literal.atom)


def _undeclared_sources(manual: ToolManual) -> Iterator[LikelyMistake]:
    """Rules that ask whether a value is from a tool that is not declared."""
    for section, name, atom in _asked(manual):
        if atom.predicate == FROM_TOOL and atom.args[1] not in manual.tools:
            yield LikelyMistake(section, name, f"{excerpt(atom.args[1])!r} is none of the `tools`")


def _effects(manual: ToolManual) -> Iterator[_Effect]:
    """The facts that calls make true or false."""
    for tool in manual.tools.values():
        for effect in (*tool.effects, *tool.failing):
            yield _Effect(tool.name, effect.literal)


def find_unheard(manual: ToolManual) -> Iterator[str]:
    """Rules that no call can keep if nobody hears the user, as over MCP, for the operator."""
    for name, clause in _unheard_needs(manual).items():
        needed = str(clause).replace("<", "").replace(">", "")
        yield (
            f"{name} needs {needed}, which only the user's words tell, and over MCP nobody hears"
            " them: it refuses all that it is about. With `asks: true` in a policy, the client's"
            " user approves each such call instead"
        )


def _unheard_needs(manual: ToolManual) -> dict[str, Clause]:
    """By rule, the first requirement that only the user's words tell, where the rule refuses
    without it.
    """
    makes = {literal.signed for tool, literal in _effects(manual) if tool != USER}
    found: dict[str, Clause] = {}
    for rules in manual.rules.values():
        for rule in rules:
            unheard = [each for each in rule.requires if _needs_words(each, manual, makes)]
            if unheard and _refuses(rule, unheard[0], manual):
                found.setdefault(rule.rule.id, unheard[0])
    return found


def _needs_words(clause: Clause, manual: ToolManual, makes: set[Sort]) -> bool:
    """True if only the user's words can make a requirement hold; `makes` has the sorts of facts
    that calls bring about.
    """
    for literal in clause.literals:
        if literal.atom.predicate == FROM_USER and not literal.negated:
            continue
        fact = manual.facts.get(literal.atom.predicate)
        if fact is None or not fact.set_by_calls or literal.signed in makes:
            return False
        if fact.initially is (not literal.negated):
            return False
    return True


def _refuses(rule: Policy, clause: Clause, manual: ToolManual) -> bool:
    """True if a rule refuses while a requirement that waits for the user's words does not hold."""
    if rule.asks or rule.warns or rule.sets:
        return False
    facts = [manual.facts.get(literal.atom.predicate) for literal in clause.literals]
    stays_unknown = any(fact is None or fact.initially is None for fact in facts)
    return rule.unknown is OnUnknown.REFUSE or not stays_unknown


def _unset_facts(manual: ToolManual) -> Iterator[LikelyMistake]:
    """Facts that rules ask for, and that no effect sets."""
    changed = {literal.atom.predicate for _, literal in _effects(manual)}
    unset = {each.atom.predicate for each in _asked(manual)} - changed
    for name, fact in manual.facts.items():
        if fact.set_by_calls and name in unset:
            problem = f"nothing sets {name}: no effect does, so only `guard.tell` can"
            yield LikelyMistake("facts", name, problem)


def _never_broken(policy: Policy) -> bool:
    """True if a rule never applies, or always holds."""
    alone = [clause.literals[0] for clause in policy.when if len(clause.literals) == 1]
    if _opposed(alone):
        return True
    return bool(policy.requires) and all(_opposed(each.literals) for each in policy.requires)


def _opposed(literals: Iterable[Literal]) -> bool:
    """True if a fact stands among them with its negation: together they cannot hold, and one of
    them always does.
    """
    together = set(literals)
    return any(each.opposite() in together for each in together)


def _covers(earlier: Policy, later: Policy) -> bool:
    """True if one rule refuses every call that another would."""
    if earlier.warns or earlier.asks or earlier.sets:
        return False
    if (earlier.each, earlier.unknown) != (later.each, later.unknown):
        return False
    covers_tools = set(later.tools) <= set(earlier.tools)
    applies_wherever_later_does = set(earlier.when) <= set(later.when)
    if not covers_tools or not applies_wherever_later_does:
        return False
    if not later.requires:
        return not earlier.requires
    return set(later.requires) <= set(earlier.requires)
