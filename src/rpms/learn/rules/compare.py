"""Two manuals compared by what they say: for each action, prohibition and goal, what the second asks more or less.

Actions are matched by how their commands are written, their parameters by where they stand in them; what a schema or a
parameter is called does not matter. Conditions are compared by what follows from what, and facts that are told from
kinds of things (`heats`, or a table of a learned manual) by the kinds for which they block a command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, permutations, product

from rpms.core.facts import Atom, Clause, Facts, Truth
from rpms.core.rules import PARAMETER, ActionSchema, Purpose, Revelation, RuleManual
from rpms.learn.rules.entail import equivalent, follows

_MOST_RENAMINGS = 720
"""Ways to match the variables of two goals that are tried."""
_MOST_KINDS = 200_000
"""Combinations of kinds that are looked at for one action."""
_EXAMPLES = 3
"""Kinds that a line names."""


class Relation(StrEnum):
    """What the second manual is, beside the first."""

    EQUAL = "equal"
    STRICTER = "stricter"
    """It allows less, or wants more."""
    LOOSER = "looser"
    DIFFERENT = "different"
    """Both, or something that is neither."""
    ONLY_FIRST = "only in A"
    ONLY_SECOND = "only in B"


@dataclass(frozen=True, slots=True)
class Line:
    """One condition: in both (`=`), in the first alone (`-`) or in the second alone (`+`)."""

    sign: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """One side of an action or a goal: what it needs, what plans see to, what it does."""

    name: str
    relation: Relation
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """An action, a prohibition, a goal or a procedure."""

    sort: str
    name: str
    """A command as it is written, or the type of a goal."""
    relation: Relation
    parts: tuple[ComparedPart, ...] = ()


def compare(first: RuleManual, second: RuleManual, world: Facts | None = None) -> list[Entry]:
    """What the second manual says beside the first. `world` answers what its author knows of kinds of things."""
    pairs, alone = _matched(first.actions, second.actions)
    entries = [_actions(one, other, first, second, world) for one, other in pairs]
    entries += [Entry("action", each.syntax[0], side) for each, side in alone]
    entries += _prohibitions(first, second, pairs)
    entries += _purposes(first, second)
    return entries


# Actions.


def _template(syntax: str) -> str:
    return PARAMETER.sub("<>", syntax)


def renaming(one: ActionSchema, other: ActionSchema) -> dict[str, str] | None:
    """What the other's parameters are called in the one, by a command that both share; None where they share none."""
    ways = {_template(syntax): PARAMETER.findall(syntax) for syntax in one.syntax}
    for syntax in other.syntax:
        if (names := ways.get(_template(syntax))) is not None:
            return dict(zip(PARAMETER.findall(syntax), names, strict=True))
    return None


Pairs = list[tuple[ActionSchema, ActionSchema]]


def _matched(
    first: Sequence[ActionSchema], second: Sequence[ActionSchema]
) -> tuple[Pairs, list[tuple[ActionSchema, Relation]]]:
    """Actions with a command in common, the second's with the first's names; and those that have none."""
    pairs: Pairs = []
    for one in first:
        for other in second:
            names = renaming(one, other)
            if names is not None:
                pairs.append((one, _renamed(other, names)))
    known = ({one.name for one, _ in pairs}, {other.name for _, other in pairs})
    alone = [(each, Relation.ONLY_FIRST) for each in first if each.name not in known[0]]
    return pairs, alone + [(each, Relation.ONLY_SECOND) for each in second if each.name not in known[1]]


def _renamed(schema: ActionSchema, names: Mapping[str, str]) -> ActionSchema:
    return replace(
        schema,
        preconditions=tuple(clause.bind(names) for clause in schema.preconditions),
        plan=tuple(clause.bind(names) for clause in schema.plan),
        effects=tuple(literal.bind(names) for literal in schema.effects),
        observes=tuple(
            Revelation(each.atom.bind(names), tuple(clause.bind(names) for clause in each.given))
            for each in schema.observes
        ),
    )


def _actions(
    one: ActionSchema, other: ActionSchema, first: RuleManual, second: RuleManual, world: Facts | None
) -> Entry:
    """What two schemas of one command have to do with each other. `other` has the names of `one` already."""
    told = [_of_kinds(one.preconditions, first), _of_kinds(other.preconditions, second)]
    kinds = None if equivalent(*told) and not _tables(told) else _kinds_compared(world, *told)
    left = [
        tuple(clause for clause in schema.preconditions if kinds is None or clause not in mine)
        for schema, mine in zip((one, other), told, strict=True)
    ]
    needs = _conditions("needs", *left)
    lines = {(line.sign, line.text) for line in needs.lines}
    safe = _conditions("plan", (*left[0], *one.plan), (*left[1], *other.plan))
    shown = tuple(line for line in safe.lines if (line.sign, line.text) not in lines)
    parts = [needs, *([kinds] if kinds else []), replace(safe, lines=shown)]
    parts.append(_listed("effects", map(str, one.effects), map(str, other.effects)))
    parts.append(_listed("reveals", map(_revealed, one.observes), map(_revealed, other.observes)))
    parts = [part for part in parts if part.lines]
    asked = _together(part.relation for part in parts if part.name in ("needs", "kinds"))
    same = all(part.relation is Relation.EQUAL for part in parts)
    return Entry(
        "action",
        one.syntax[0],
        Relation.DIFFERENT if asked is Relation.EQUAL and not same else asked,
        tuple(parts),
    )


def _together(relations: Iterable[Relation]) -> Relation:
    """One word for several parts."""
    left = {relation for relation in relations if relation is not Relation.EQUAL}
    return left.pop() if len(left) == 1 else Relation.DIFFERENT if left else Relation.EQUAL


def _relation(*, first_holds: bool, second_holds: bool) -> Relation:
    """Whether what the first asks follows from the second, and the other way round."""
    if first_holds:
        return Relation.EQUAL if second_holds else Relation.STRICTER
    return Relation.LOOSER if second_holds else Relation.DIFFERENT


def _conditions(name: str, first: Sequence[Clause], second: Sequence[Clause]) -> ComparedPart:
    lines = []
    kept = [follows(second, clause) for clause in first]
    known = [follows(first, clause) for clause in second]
    for clause, there in zip(first, kept, strict=True):
        note = "" if not there or any(_same(clause, each) for each in second) else "follows from the rest of B"
        lines.append(Line("=" if there else "-", str(clause), note))
    for clause, there in zip(second, known, strict=True):
        if not any(_same(clause, each) for each in first):
            lines.append(Line("=" if there else "+", str(clause), "follows from the rest of A" if there else ""))
    relation = _relation(first_holds=all(kept), second_holds=all(known))
    return ComparedPart(name, relation, tuple(dict.fromkeys(lines)))


def _same(one: Clause, other: Clause) -> bool:
    return set(one.literals) == set(other.literals)


def _revealed(revelation: Revelation) -> str:
    given = " and ".join(sorted(map(str, revelation.given)))
    return f"{revelation.atom} if {given}" if given else str(revelation.atom)


def _listed(name: str, first: Iterable[str], second: Iterable[str]) -> ComparedPart:
    one, other = dict.fromkeys(first), dict.fromkeys(second)
    lines = [Line("=" if text in other else "-", text) for text in one]
    lines += [Line("+", text) for text in other if text not in one]
    return ComparedPart(name, Relation.EQUAL if one.keys() == other.keys() else Relation.DIFFERENT, tuple(lines))


# Facts that are told from kinds of things.


def _of_kinds(clauses: Iterable[Clause], manual: RuleManual) -> tuple[Clause, ...]:
    def told(clause: Clause) -> bool:
        return any(
            literal.kinds is not None
            or ((known := manual.predicates.get(literal.atom.predicate)) is not None and known.lasting)
            for literal in clause.literals
        )

    return tuple(filter(told, clauses))


def _tables(clauses: Iterable[Iterable[Clause]]) -> bool:
    return any(literal.kinds is not None for some in clauses for clause in some for literal in clause.literals)


class _Nothing:
    def truth(self, _atom: Atom, /) -> Truth:
        return Truth.UNKNOWN


def _kinds_compared(world: Facts | None, first: tuple[Clause, ...], second: tuple[Clause, ...]) -> ComparedPart | None:
    """For which kinds the two block a command; None where no table names any kinds."""
    kinds = _kinds_named((*first, *second))
    if not kinds:
        return None
    facts = world or _Nothing()
    found: dict[tuple[bool, bool], list[str]] = {}
    for row in islice(product(*(sorted(names) for names in kinds.values())), _MOST_KINDS):
        binding = {arg: f"{kind} ?" for arg, kind in zip(kinds, row, strict=True)}
        blocked = (_blocks(first, binding, facts), _blocks(second, binding, facts))
        found.setdefault(blocked, []).append(" with ".join(row))
    every = sum(map(len, found.values()))
    texts = [str(clause) for clause in first], [str(clause) for clause in second]
    lines = [Line("=" if text in texts[1] else "-", text, "told from kinds") for text in texts[0]]
    lines += [Line("+", text, "told from kinds") for text in texts[1] if text not in texts[0]]
    for sign, word, blocked in (
        ("=", "both block", (True, True)),
        ("-", "only A blocks", (True, False)),
        ("+", "only B blocks", (False, True)),
    ):
        if rows := found.get(blocked):
            such = f", such as {'; '.join(rows[:_EXAMPLES])}" if sign != "=" else ""
            lines.append(Line(sign, f"{word} {len(rows):,} of {every:,} kinds{such}"))
    relation = _relation(first_holds=(True, False) not in found, second_holds=(False, True) not in found)
    return ComparedPart("kinds", relation, tuple(lines))


def _kinds_named(clauses: Iterable[Clause]) -> dict[str, set[str]]:
    """By parameter, the kinds that tables name."""
    kinds: dict[str, set[str]] = {}
    told = [literal for clause in clauses for literal in clause.literals]
    for literal in told:
        for row in (*literal.kinds.yes, *literal.kinds.no) if literal.kinds else ():
            for arg, kind in zip(literal.atom.args, row, strict=False):
                kinds.setdefault(arg, set()).add(kind)
    return kinds


def _blocks(clauses: Iterable[Clause], binding: Mapping[str, str], facts: Facts) -> bool:
    return any(clause.bind(binding).truth(facts) is Truth.FALSE for clause in clauses)


# Prohibitions.


@dataclass(frozen=True, slots=True)
class _Ban:
    goals: frozenset[str]
    when: tuple[Clause, ...]
    id: str

    def covers(self, other: _Ban) -> bool:
        """Whether it forbids all that the other one forbids."""
        return (not self.goals or (bool(other.goals) and other.goals <= self.goals)) and all(
            follows(other.when, clause) for clause in self.when
        )

    def __str__(self) -> str:
        goals = f" ({', '.join(sorted(self.goals))})" if self.goals else ""
        return f"when {' and '.join(map(str, self.when)) or 'anything holds'}{goals}"


def _bans(manual: RuleManual, action: str, names: Mapping[str, str]) -> list[_Ban]:
    return [
        _Ban(rule.goals, (*rule.when, *(clause.bind(names) for clause in ban.when)), rule.id)
        for rule in manual.rules
        for ban in rule.forbids
        if ban.action == action
    ]


def _prohibitions(first: RuleManual, second: RuleManual, pairs: Pairs) -> Iterator[Entry]:
    """What is forbidden of each action, whichever rule says it."""
    for one in first.actions:
        others = [each for each in second.actions if any(a.name == one.name and b.name == each.name for a, b in pairs)]
        here = _bans(first, one.name, {})
        theirs = [_bans(second, other.name, renaming(one, other) or {}) for other in others] or [[]]
        yield from (_forbidden(one.syntax[0], here, there) for there in theirs if here or there)
    matched = {other.name for _, other in pairs}
    for other in second.actions:
        if other.name not in matched and (bans := _bans(second, other.name, {})):
            yield _forbidden(other.syntax[0], [], bans)


def _forbidden(name: str, first: Sequence[_Ban], second: Sequence[_Ban]) -> Entry:
    kept = [any(each.covers(ban) for each in second) for ban in first]
    known = [any(each.covers(ban) for each in first) for ban in second]
    lines = [Line("=" if there else "-", str(ban), ban.id) for ban, there in zip(first, kept, strict=True)]
    said = {line.text for line in lines}
    lines += [
        Line("=" if there else "+", str(ban), ban.id)
        for ban, there in zip(second, known, strict=True)
        if str(ban) not in said or not there
    ]
    relation = _relation(first_holds=all(kept), second_holds=all(known))
    return Entry("prohibition", name, relation, (ComparedPart("forbidden", relation, tuple(lines)),))


# Goals.


def _by_goal(manual: RuleManual) -> dict[tuple[bool, str, tuple[str, ...]], Purpose]:
    found: dict[tuple[bool, str, tuple[str, ...]], Purpose] = {}
    for each in manual.purposes:
        for type_ in sorted(each.goals):
            found.setdefault((each.staged, type_, tuple(sorted(each.objects))), each)
    return found


def _purposes(first: RuleManual, second: RuleManual) -> Iterator[Entry]:
    mine, theirs = _by_goal(first), _by_goal(second)
    for key in dict.fromkeys((*mine, *theirs)):
        staged, type_, objects = key
        sort, name = "procedure" if staged else "goal", f"{type_}{f' of {chr(44).join(objects)}' if objects else ''}"
        if key not in theirs:
            yield Entry(sort, name, Relation.ONLY_FIRST)
        elif key not in mine:
            yield Entry(sort, name, Relation.ONLY_SECOND)
        else:
            part = (_procedures if staged else _goals)(mine[key], theirs[key])
            yield Entry(sort, name, part.relation, (part,))


def _goals(one: Purpose, other: Purpose) -> ComparedPart:
    def part(names: Mapping[str, str]) -> ComparedPart:
        return _conditions("wants", _wanted(one), [clause.bind(names) for clause in _wanted(other)])

    return _best(one, other, part)


def _procedures(one: Purpose, other: Purpose) -> ComparedPart:
    """Stages in their order: equal, or different."""

    def part(names: Mapping[str, str]) -> ComparedPart:
        here = [" and ".join(sorted(map(str, step.until))) for step in one.steps]
        there = [" and ".join(sorted(str(clause.bind(names)) for clause in step.until)) for step in other.steps]
        found = _listed("stages", here, there)
        if found.relation is Relation.EQUAL and here != there:
            return ComparedPart("stages", Relation.DIFFERENT, (*found.lines, Line("+", "in another order")))
        return found

    return _best(one, other, part)


def _wanted(purpose: Purpose) -> list[Clause]:
    return [clause for step in purpose.steps for clause in step.until]


def _best(one: Purpose, other: Purpose, part: Callable[[Mapping[str, str]], ComparedPart]) -> ComparedPart:
    """The comparison under the renaming of variables under which most agrees: variables of one field may trade."""

    def disagreement(found: ComparedPart) -> int:
        return sum(line.sign != "=" for line in found.lines)

    found = [part(names) for names in islice(_renamings(one, other), _MOST_RENAMINGS)]
    return min(found, key=disagreement)


def _renamings(one: Purpose, other: Purpose) -> Iterator[dict[str, str]]:
    """Ways to call the other's variables by the one's names, field by field; a name that is left over stays apart."""
    fields = dict.fromkeys((*other.over.values(), *other.each.values()))
    here, there = ({**each.over, **each.each} for each in (one, other))
    ways = []
    for field in fields:
        names = [name for name, source in there.items() if source == field]
        free = [name for name, source in here.items() if source == field]
        free += [f"another {field}" for _ in range(len(names) - len(free))]
        ways.append([dict(zip(names, some, strict=True)) for some in islice(permutations(free, len(names)), 720)])
    for chosen in product(*ways):
        yield {name: new for each in chosen for name, new in each.items()}
