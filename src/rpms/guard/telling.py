"""Facts that a host tells a guard: read from text, and refused where no rule would ask for them as they are told."""

from __future__ import annotations

from dataclasses import replace

from rpms.core.errors import InputError
from rpms.core.facts import Atom, Literal, parse_literal
from rpms.core.names import nearest
from rpms.foreign.shown import excerpt
from rpms.guard.calls import ToolManual


def unquoted(fact: str) -> Literal:
    """A fact as in a manual, whose names may be in quotes."""
    try:
        literal = parse_literal(fact)
    except ValueError as error:
        raise InputError(str(error)) from None
    args = tuple(arg[1:-1] if len(arg) > 1 and arg[0] == arg[-1] == '"' else arg for arg in literal.atom.args)
    return replace(literal, atom=Atom(literal.atom.predicate, args))


def check_tellable(atom: Atom, manual: ToolManual) -> None:
    """Raise InputError for a fact that no rule would ever ask for as it is told; a manual without facts asks none."""
    if not manual.facts:
        return
    name, fact = atom.predicate, manual.facts.get(atom.predicate)
    if fact is None:
        raise InputError(f"the manual has no fact {excerpt(name)!r}; {nearest(name, manual.facts)}")
    wanted = fact.predicate.args
    if len(atom.args) != len(wanted):
        form = f"{name}({', '.join(wanted)})" if wanted else name
        raise InputError(f"the fact {excerpt(str(atom))} has {len(atom.args)} arguments; write it as {form}")
    if fact.told:
        return
    kind = manual.records.get(fact.record)
    if fact.python:
        raise InputError(f"the fact {name} cannot be told: the function {fact.python!r} says whether it holds")
    if kind is not None:
        way = f"{kind.ask} with {kind.tools[0]}, and observe what it returns"
        raise InputError(f"the fact {name} cannot be told: it is read from the record {kind.name}; {way}")
    raise InputError(f"the fact {name} cannot be told: it is read from what a call is made with")
