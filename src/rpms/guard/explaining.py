"""Explains a check in words: the ruling, the judgement of each rule, and the known facts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.belief import ToolBelief
from rpms.guard.call_facts import CallFacts
from rpms.guard.calls import FORM, Call, Policy, Ruling
from rpms.guard.judging import findings
from rpms.logic.facts import Atom, Truth

_MOST_ASKED = 6
"""Arguments of a call that a learner is told about."""
_WORDS = {Truth.TRUE: "broken", Truth.FALSE: "kept", Truth.UNKNOWN: "not known"}


class CheckedCall(NamedTuple):
    """A call that was checked."""

    asked: Call
    facts: CallFacts | None
    """The facts of the call that the ruling is about; None if no rule was asked."""
    ruling: Ruling


class Weighed(NamedTuple):
    """One rule's judgement of a call."""

    by: Policy
    broken: Truth
    text: str
    facts: str
    """Facts that decide it, or are not known, in the manual's words."""


def explain_check(last: CheckedCall) -> list[str]:
    """The call, the ruling, and what each rule said."""
    call = last.facts.call if last.facts is not None else last.asked
    shown = call.text
    if last.ruling.rule == FORM:
        shown = f"{call.tool}, which could not be read"
    lines = [
        f"call: {excerpt(shown)}",
        f"ruling: {last.ruling.word}",
        f"  {last.ruling.text}".rstrip(),
        "",
        "rules:",
    ]
    if last.facts is None:
        return [*lines, "  none was asked"]
    for found in findings(last.facts):
        said = [last.facts.say(atom) for atom in found.facts]
        why = f": {excerpt('; '.join(said))}" if said else ""
        lines.append(f"  {found.by.rule.id}: {_WORDS[found.broken]}{why}")
    return lines


def list_known(belief: ToolBelief) -> list[str]:
    """The facts that are known, in alphabetical order, and the records."""
    known = [str(atom) if holds else f"not {atom}" for atom, holds in belief.known.items()]
    lines = ["", "facts:"]
    lines += [f"  {excerpt(line)}" for line in sorted(known)]
    lines += ["", "records:"]
    for kind, records in belief.records.items():
        for names in records:
            line = " ".join((kind, *names))
            lines.append(f"  {excerpt(line)}")
    return lines


def weigh_rules(facts: CallFacts) -> Iterator[Weighed]:
    """Every rule's judgement of a call."""
    for each in findings(facts):
        said = "; ".join(map(facts.say, each.facts))
        yield Weighed(each.by, each.broken, each.text, said)


def facts_over_arguments(facts: CallFacts) -> dict[Atom, Truth]:
    """Truth of every fact of the manual over a call's arguments, by the arguments' names."""
    arguments = facts.call.arguments
    plain = [name for name, value in arguments.items() if isinstance(value, str | int | float)]
    found: dict[Atom, Truth] = {}
    for predicate, fact in facts.manual.facts.items():
        for args in permutations(plain[:_MOST_ASKED], len(fact.predicate.args)):
            values = tuple(facts.name(arguments[arg]) for arg in args)
            found[Atom(predicate, args)] = _tried(facts, Atom(predicate, values))
    return found


def _tried(facts: CallFacts, atom: Atom) -> Truth:
    """Truth of a fact; unknown if its function was made for other arguments."""
    try:
        return facts.truth(atom)
    except Exception:  # noqa: BLE001  a user's code
        return Truth.UNKNOWN
