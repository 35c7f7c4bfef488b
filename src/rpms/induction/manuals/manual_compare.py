"""Comparison of two manuals: their actions and goals, line by line, whatever names they use."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations, product
from typing import NamedTuple

from rpms.logic.actions import PARAMETER, ActionSchema, Revelation
from rpms.logic.facts import Clause, grouped
from rpms.logic.rules import Purpose, RuleManual


class Relation(StrEnum):
    """Relation of the second manual to the first."""

    EQUAL = "equal"
    STRICTER = "stricter"  # It needs, forbids or wants more
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
    name: str  # A command as it is written, or the type of a goal
    relation: Relation
    lines: tuple[Line, ...] = ()


_ASKED_FOR = ("needs", "forbidden", "wants")
"""Parts whose lines ask for something."""


class _Key(NamedTuple):
    """An entry of either manual is known by this."""

    sort: str
    name: str


_Parts = Mapping[str, frozenset[str]]
"""The lines of an entry, part by part, as texts."""


def compare(first: RuleManual, second: RuleManual) -> list[Entry]:
    """Every action and goal of two manuals, with their lines."""
    ours = _entries_of(first)
    theirs = _entries_of(second)
    keys = dict.fromkeys((*ours, *theirs))
    return [_entry(key, ours.get(key), theirs.get(key)) for key in keys]


def _entry(key: _Key, one: _Parts | None, other: _Parts | None) -> Entry:
    if one is None:
        return Entry(key.sort, key.name, Relation.ONLY_SECOND)
    if other is None:
        return Entry(key.sort, key.name, Relation.ONLY_FIRST)
    lines: list[Line] = []
    for part in one:
        for text in sorted(one[part] | other[part]):
            lines.append(Line(_sign(text, one[part], other[part]), part, text))
    return Entry(key.sort, key.name, _relation(lines), tuple(lines))


def _sign(text: str, one: Collection[str], other: Collection[str]) -> str:
    if text not in other:
        return "-"
    return "=" if text in one else "+"


def _relation(lines: Iterable[Line]) -> Relation:
    """Stricter or looser if only one of the two asks for more, whatever else differs."""
    differing = [line for line in lines if line.sign != "="]
    asked = {line.sign for line in differing if line.part in _ASKED_FOR}
    if asked == {"+"}:
        return Relation.STRICTER
    if asked == {"-"}:
        return Relation.LOOSER
    return Relation.DIFFERENT if differing else Relation.EQUAL


def _entries_of(manual: RuleManual) -> dict[_Key, _Parts]:
    """Actions and goals of a manual, as texts that do not depend on the names of parameters."""
    found: dict[_Key, _Parts] = {}
    for action in manual.actions:
        for syntax in action.syntax:
            parameters = PARAMETER.findall(syntax)
            names = {name: str(number) for number, name in enumerate(parameters, 1)}
            command = PARAMETER.sub(r"<{\1}>", syntax).format(**names)
            found[_Key("action", command)] = _parts_of_action(manual, action, names)
    for purpose in manual.purposes:
        found |= _entries_of_purpose(purpose)
    return found


def _entries_of_purpose(purpose: Purpose) -> dict[_Key, _Parts]:
    """A goal or a procedure as one entry for each type of goals that it is for."""
    sort = "procedure" if purpose.staged else "goal"
    part = "stages" if purpose.staged else "wants"
    texts = frozenset(_texts_of_purpose(purpose))
    objects = ", ".join(sorted(purpose.objects))
    found: dict[_Key, _Parts] = {}
    for type_ in sorted(purpose.goals):
        name = f"{type_} of {objects}" if objects else type_
        found[_Key(sort, name)] = {part: texts}
    return found


def _parts_of_action(manual: RuleManual, action: ActionSchema, names: Mapping[str, str]) -> _Parts:
    effects = [str(literal.bind(names)) for literal in action.effects]
    reveals = [_text_shown(manual, shown, names) for shown in action.observes]
    return {
        "needs": frozenset(_texts(manual, action.preconditions, names)),
        "plan": frozenset(_texts(manual, action.plan, names)),
        "effects": frozenset(effects),
        "reveals": frozenset(reveals),
        "forbidden": frozenset(_bans_on(manual, action, names)),
    }


def _text_shown(manual: RuleManual, shown: Revelation, names: Mapping[str, str]) -> str:
    """A fact that an action shows, and the conditions under which it does."""
    fact = str(shown.atom.bind(names))
    return " if ".join((fact, *_texts(manual, shown.given, names)))


def _bans_on(manual: RuleManual, action: ActionSchema, names: Mapping[str, str]) -> Iterator[str]:
    """The conditions under which rules forbid an action."""
    for rule in manual.rules:
        for ban in rule.forbids:
            if ban.action == action.name:
                conditions = [*map(str, rule.when), *_texts(manual, ban.when, names)]
                yield " and ".join(sorted(conditions)) or "always"


def _texts(
    manual: RuleManual, clauses: Iterable[Clause], names: Mapping[str, str]
) -> Iterator[str]:
    """Conditions as texts; a table of kinds is told by the kinds that it rules out."""
    for clause in clauses:
        bound = clause.bind(names)
        kinds = manual.lore.kinds.get(clause.literals[0].atom.predicate)
        if kinds is None or len(clause.literals) > 1:
            yield " or ".join(sorted(map(str, bound.literals)))
            continue
        slots = ", ".join(bound.literals[0].atom.args)
        for row in kinds.no:
            yield f"({slots}) is not ({', '.join(row)})"


def _texts_of_purpose(purpose: Purpose) -> list[str]:
    """Texts of what a goal wants, its variables called by their fields: `object 1`.

    Which of two variables of a field is the first is a matter of taste. All ways to number them
    are tried, and the one whose texts come first in the alphabet is taken.
    """
    fields = {**purpose.over, **purpose.each}
    ways = [_texts_of_stages(purpose, names) for names in _numberings(fields)]
    return min(ways, key=sorted)


def _numberings(fields: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The ways to call variables by their fields and a number, which tells those of one field
    apart.
    """
    variables = grouped((field, name) for name, field in fields.items())
    for orders in product(*map(permutations, variables.values())):
        names: dict[str, str] = {}
        for field, order in zip(variables, orders, strict=True):
            for number, name in enumerate(order, 1):
                names[name] = f"{field} {number}"
        yield names


def _texts_of_stages(purpose: Purpose, names: Mapping[str, str]) -> list[str]:
    """Each stage's facts; those of a procedure with their number, as their order matters."""
    texts: list[str] = []
    for number, stage in enumerate(purpose.steps, 1):
        facts = sorted(str(clause.bind(names)) for clause in stage.until)
        text = " and ".join(facts)
        texts.append(f"{number}. {text}" if purpose.staged else text)
    return texts
