"""Two manuals compared by their lines: for each action, prohibition and goal, the lines that only one of them has.

Actions are matched by how their commands are written, parameters by where they stand in them, variables of goals by
their fields: names do not matter. A table of kinds is compared kind by kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations, product

from rpms.core.facts import Clause
from rpms.core.rules import PARAMETER, ActionSchema, Purpose, RuleManual


class Relation(StrEnum):
    """Relation of the second manual to the first."""

    EQUAL = "equal"
    STRICTER = "stricter"
    """It needs, forbids or wants more."""
    LOOSER = "looser"
    DIFFERENT = "different"
    ONLY_FIRST = "only in A"
    ONLY_SECOND = "only in B"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of both manuals (`=`), of the first alone (`-`) or of the second alone (`+`)."""

    sign: str
    part: str
    """Part of an action or a goal: needs, plan, effects, reveals, forbidden, wants, stages."""
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An action, a goal or a procedure of one manual or both."""

    sort: str
    name: str
    """A command as it is written, or the type of a goal."""
    relation: Relation
    lines: tuple[Line, ...] = ()


_Parts = Mapping[str, frozenset[str]]


def compare(first: RuleManual, second: RuleManual) -> list[Entry]:
    """Every action and goal of two manuals, with their lines."""
    sides = (_said(first), _said(second))
    return [_entry(*key, *(side.get(key) for side in sides)) for key in dict.fromkeys((*sides[0], *sides[1]))]


def _entry(sort: str, name: str, one: _Parts | None, other: _Parts | None) -> Entry:
    if one is None or other is None:
        return Entry(sort, name, Relation.ONLY_SECOND if one is None else Relation.ONLY_FIRST)
    lines = [
        Line("=" if text in one[part] & other[part] else "-" if text in one[part] else "+", part, text)
        for part in one
        for text in sorted(one[part] | other[part])
    ]
    asked = {line.sign for line in lines if line.part in ("needs", "forbidden", "wants")} - {"="}
    relation = Relation.DIFFERENT if any(line.sign != "=" for line in lines) else Relation.EQUAL
    if len(asked) == 1:
        relation = Relation.STRICTER if asked == {"+"} else Relation.LOOSER
    return Entry(sort, name, relation, tuple(lines))


def _said(manual: RuleManual) -> dict[tuple[str, str], _Parts]:
    """Content of a manual, as texts that do not depend on names: by sort and name, part by part."""
    found: dict[tuple[str, str], _Parts] = {}
    for action in manual.actions:
        for syntax in action.syntax:
            names = {name: f"{place}" for place, name in enumerate(PARAMETER.findall(syntax), 1)}
            found["action", PARAMETER.sub(lambda match, names=names: f"<{names[match[1]]}>", syntax)] = _of_action(  # type: ignore[misc]
                manual, action, names
            )
    for purpose in manual.purposes:
        part = "stages" if purpose.staged else "wants"
        for type_ in sorted(purpose.goals):
            name = " of ".join(filter(None, (type_, ", ".join(sorted(purpose.objects)))))
            found["procedure" if purpose.staged else "goal", name] = {part: frozenset(_of_purpose(purpose))}
    return found


def _of_action(manual: RuleManual, action: ActionSchema, names: Mapping[str, str]) -> _Parts:
    bans = [
        " and ".join(sorted((*map(str, rule.when), *_texts(manual, ban.when, names)))) or "always"
        for rule in manual.rules
        for ban in rule.forbids
        if ban.action == action.name
    ]
    return {
        "needs": frozenset(_texts(manual, action.preconditions, names)),
        "plan": frozenset(_texts(manual, action.plan, names)),
        "effects": frozenset(str(literal.bind(names)) for literal in action.effects),
        "reveals": frozenset(
            " if ".join((str(each.atom.bind(names)), *_texts(manual, each.given, names))) for each in action.observes
        ),
        "forbidden": frozenset(bans),
    }


def _texts(manual: RuleManual, clauses: Iterable[Clause], names: Mapping[str, str]) -> Iterator[str]:
    """Conditions as texts; a table of kinds is told by the kinds that it rules out."""
    for clause in clauses:
        bound = clause.bind(names)
        kinds = manual.lore.kinds.get(clause.literals[0].atom.predicate)
        if kinds is None or len(clause.literals) > 1:
            yield " or ".join(sorted(map(str, bound.literals)))
        else:
            slots = ", ".join(bound.literals[0].atom.args)
            yield from (f"({slots}) is not ({', '.join(row)})" for row in kinds.no)


def _of_purpose(purpose: Purpose) -> tuple[str, ...]:
    """Texts of what a goal wants, variables called by their fields; of several ways, the first by the alphabet."""
    fields = {**purpose.over, **purpose.each}
    groups = [[name for name in fields if fields[name] == field] for field in dict.fromkeys(fields.values())]
    ways = []
    for chosen in product(*map(permutations, groups)):
        names = {name: f"{fields[name]} {place}" for group in chosen for place, name in enumerate(group, 1)}
        steps = [" and ".join(sorted(str(clause.bind(names)) for clause in step.until)) for step in purpose.steps]
        ways.append([f"{place}. {text}" for place, text in enumerate(steps, 1)] if purpose.staged else steps)
    return tuple(min(ways, key=sorted))
