"""Likely mistakes of a sound manual: rules that never decide, facts that nothing sets."""

from collections.abc import Iterable, Iterator

from rpms.foreign.shown import excerpt
from rpms.guard.calls import OnUnknown, Policy, ToolManual
from rpms.guard.provenance import FROM_TOOL
from rpms.logic.facts import Literal


def doubts_of(manual: ToolManual) -> Iterator[tuple[str, str, str]]:
    """All that is odd about a manual: the section and the name of an entry, and what it is."""
    for kind in manual.records.values() if manual.tools else ():
        for tool in kind.tools:
            if tool not in manual.tools:
                refused = ", and so refused" if manual.others is OnUnknown.REFUSE else ""
                problem = (
                    f"{kind.name} is from {excerpt(tool)!r}, which is none of the `tools`{refused}"
                )
                yield ("records", kind.name, problem)
    tools = manual.tools.values()
    asked = [clause for tool in tools for clause in tool.needs]
    asked += [clause for each in manual.policies for clause in (*each.when, *each.requires)]
    used = {literal.atom.predicate for clause in asked for literal in clause.literals}
    changed = {
        effect.literal.atom.predicate for tool in tools for effect in (*tool.effects, *tool.failing)
    }
    yield from _unknown_sources(manual)
    for name, fact in manual.facts.items():
        if fact.told and name in used - changed:
            yield ("facts", name, f"nothing sets {name}: no effect does, so only `guard.tell` can")
    for place, policy in enumerate(manual.policies):
        name = policy.rule.id
        alone = [clause.literals[0] for clause in policy.when if len(clause.literals) == 1]
        if _opposed(alone) or (
            policy.requires and all(_opposed(clause.literals) for clause in policy.requires)
        ):
            yield ("policies", name, f"{name} never decides: what it says cannot be broken")
        elif earlier := next(
            (each for each in manual.policies[:place] if _covers(each, policy)), None
        ):
            yield (
                "policies",
                name,
                f"{name} never decides: {earlier.rule.id} refuses all that it would",
            )


def _unknown_sources(manual: ToolManual) -> Iterator[tuple[str, str, str]]:
    """Rules that ask whether a value is from a tool that is not declared."""
    asked = [("tools", tool.name, tool.needs) for tool in manual.tools.values()]
    asked += [("policies", each.rule.id, (*each.when, *each.requires)) for each in manual.policies]
    for section, name, clauses in asked:
        for literal in (each for clause in clauses for each in clause.literals):
            atom = literal.atom
            if atom.predicate == FROM_TOOL and atom.args[1] not in manual.tools:
                yield (section, name, f"{excerpt(atom.args[1])!r} is none of the `tools`")


def _opposed(literals: Iterable[Literal]) -> bool:
    """True if a fact stands among them with its negation: together they cannot hold, and one of
    them always does.
    """
    both = {(each.atom, each.negated) for each in literals}
    return any((atom, not negated) in both for atom, negated in both)


def _covers(earlier: Policy, later: Policy) -> bool:
    """True if one rule refuses every call that another would."""
    if (
        earlier.warns
        or earlier.asks
        or earlier.sets
        or earlier.each != later.each
        or earlier.unknown != later.unknown
    ):
        return False
    if not set(later.tools) <= set(earlier.tools) or not set(earlier.when) <= set(later.when):
        return False
    return (
        set(later.requires) <= set(earlier.requires) if later.requires else earlier.requires == ()
    )
