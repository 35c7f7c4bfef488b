"""One call judged by a manual and what is known: needs first, then policies; what is known before what is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rpms.core.facts import Atom, Clause, Literal, Truth
from rpms.core.readings import MISSING, Path
from rpms.core.tools import Absent, CallFacts, OnUnknown, Policy, Tool
from rpms.guard.rulings import OTHER, Allow, Refuse, Ruling, Warn

_SHOWN = 4
"""Facts that are named in a reason."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of the call."""

    rule: str
    text: str
    broken: Truth
    facts: tuple[Atom, ...] = ()
    """What decides it, or is not known."""
    unknown: OnUnknown = OnUnknown.REFUSE
    instead: str = ""
    warns: bool = False


def findings(facts: CallFacts) -> Iterator[Finding]:
    """What each rule that concerns the call's tool says of it."""
    tool = facts.manual.tools.get(facts.call.tool)
    if tool is not None:
        for clause in tool.needs:
            bound = _bound(clause, facts, {})
            text = f"{tool.name} needs that {' or '.join(_wanted(each, facts) for each in bound.literals)}"
            yield _found(tool.id, text, [_negated(each) for each in bound.literals], facts, tool)
    for policy in facts.manual.by_tool.get(facts.call.tool, ()):
        yield _of_policy(policy, facts)


def _of_policy(policy: Policy, facts: CallFacts) -> Finding:
    """The gravest thing that a policy says, over its prohibitions and all elements that it is about."""
    rule, gravest = policy.rule, Finding(policy.rule.id, policy.rule.text, Truth.FALSE)
    for variables in _elements(policy.each, facts):
        for ban in rule.forbids:
            if ban.action != facts.call.tool:
                continue
            clauses = [_bound(clause, facts, variables) for clause in ban.when]
            found = _found(rule.id, rule.text, clauses, facts, policy)
            if found.broken is Truth.TRUE:
                return found
            gravest = found if found.broken is Truth.UNKNOWN and gravest.broken is Truth.FALSE else gravest
    return gravest


def _elements(each: Mapping[str, Path], facts: CallFacts) -> Iterable[Mapping[str, Any]]:
    """The values of a policy's variables, element by element; one set of nothing where it has no variables."""
    if not each:
        return [{}]
    lists = []
    for path in each.values():
        whole = facts.values_at(Path(path.head, path.steps[:-1]) if path.steps[-1] == "*" else path)
        lists.append(facts.values_at(path) if all(isinstance(one, list | dict) for one in whole) else [MISSING])
    return [dict(zip(each, row, strict=True)) for row in zip_longest(*lists, fillvalue=MISSING)]


def _bound(clause: Clause, facts: CallFacts, variables: Mapping[str, Any]) -> Clause:
    return Clause(
        tuple(Literal(next(facts.bind(each.atom, variables=variables)), each.negated) for each in clause.literals)
    )


def _negated(literal: Literal) -> Clause:
    return Clause((Literal(literal.atom, not literal.negated),))


def _found(rule: str, text: str, clauses: list[Clause], facts: CallFacts, by: Tool | Policy) -> Finding:
    """Whether all clauses hold, and so the rule is broken."""
    broken = Truth.TRUE
    doubtful: list[Atom] = []
    for clause in clauses:
        value = clause.truth(facts)
        if value is Truth.FALSE:
            return Finding(rule, text, Truth.FALSE)
        broken = broken & value
        if value is Truth.UNKNOWN:
            doubtful += [each.atom for each in clause.literals if each.truth(facts) is Truth.UNKNOWN]
    known = [each.atom for clause in clauses for each in clause.literals if each.truth(facts) is Truth.TRUE]
    instead, warns = (by.instead, by.warns) if isinstance(by, Policy) else ("", False)
    return Finding(rule, text, broken, tuple(doubtful or known), by.unknown, instead, warns)


def _wanted(literal: Literal, facts: CallFacts) -> str:
    return facts.manual.say(literal.atom, Truth.of(not literal.negated))


def judge(facts: CallFacts) -> Ruling:
    """The ruling on a call: a rule that is known to be broken outweighs one of which that is not known."""
    if facts.call.tool not in facts.manual.tools and facts.manual.others is not OnUnknown.PASS:
        reason = f"the manual does not declare the tool {facts.call.tool}"
        return _ruling(facts.manual.others)(reason, OTHER, "", "use one of the declared tools")
    doubt: Ruling | None = None
    for found in findings(facts):
        if found.broken is Truth.FALSE:
            continue
        known = found.broken is Truth.TRUE
        kind: type[Ruling] = (Warn if found.warns else Refuse) if known else _ruling(found.unknown, warns=found.warns)
        if kind is Allow:
            continue
        remedy = (found.instead or _way_to(found, facts)) if known else _lookup(found, facts)
        fact = "; ".join(dict.fromkeys(facts.manual.say(atom, facts.truth(atom)) for atom in found.facts[:_SHOWN]))
        ruling = kind(found.text, found.rule, fact, remedy)
        if known and isinstance(ruling, Refuse):
            return ruling
        if doubt is None or (isinstance(ruling, Refuse) and not isinstance(doubt, Refuse)):
            doubt = ruling
    return doubt or Allow()


def _ruling(unknown: OnUnknown, *, warns: bool = False) -> type[Ruling]:
    if unknown is OnUnknown.PASS:
        return Allow
    return Warn if warns or unknown is OnUnknown.WARN else Refuse


def _lookup(found: Finding, facts: CallFacts) -> str:
    """What would tell what is not known: a lookup, an argument, a call that makes the fact so."""
    ways = []
    for atom in found.facts:
        record = facts.missing.get(atom)
        absent = [arg for arg in atom.args if isinstance(arg, Absent)]
        if record is not None and record[0] in facts.manual.records:
            kind = facts.manual.records[record[0]]
            ways.append(f"{kind.ask} first, with {kind.tools[0]}: {', '.join(record[1:])}")
        elif absent:
            ways.append(f"give the argument {absent[0].replace('<', '').replace('>', '')}")
        elif atom in facts.under_way:
            ways.append("wait for the result of the call that is under way")
        else:
            ways.append(_way_to(found, facts))
    return "; ".join(dict.fromkeys(way for way in ways if way))


def _way_to(found: Finding, facts: CallFacts) -> str:
    """A call whose effect would change one of the facts that stand in the way."""
    for atom in found.facts:
        for tool in facts.manual.tools.values():
            for effect in tool.effects:
                changes = effect.literal.negated == (facts.truth(atom) is Truth.TRUE)
                if effect.literal.atom.predicate == atom.predicate and changes and tool.name != facts.call.tool:
                    return f"{tool.name} first"
    return ""
