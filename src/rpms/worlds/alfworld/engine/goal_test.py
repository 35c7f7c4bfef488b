"""The goal, made into a test of a state: quantifiers are unrolled once, over what the unchanging facts allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from rpms.worlds.alfworld.engine import sexpr
from rpms.worlds.alfworld.engine.damage import Damage, quoted
from rpms.worlds.alfworld.engine.layout import GameLayout, State, bits
from rpms.worlds.alfworld.engine.problem import PREDICATES, TYPES, Problem, check_atom
from rpms.worlds.alfworld.engine.sexpr import SExpr

Test: TypeAlias = Callable[[State], bool]
Ground: TypeAlias = "bool | Bit | Test"
"""A part of the goal for which no variable is left: already decided, or to be asked of a state."""
Names: TypeAlias = Mapping[str, str]


class Bit(NamedTuple):
    """Membership of one thing in some masks of a state.

    It stays data until a test is made of it: many, one for each thing and place, become a few operations on masks.
    """

    masks: frozenset[int]
    """Fields of the state that are masks of objects or receptacles."""
    rows: frozenset[tuple[int, int]]
    """Fields of the state that are tables of such masks, and the row in each."""
    thing: int


MAX_WORK = 200_000
"""Parts and bindings looked at while unrolling; official goals need a few hundred."""

_FLAGS: Mapping[str, str] = {
    "opened": "opened",
    "ishot": "hot",
    "iscool": "cool",
    "isclean": "clean",
    "issliced": "sliced",
    "istoggled": "toggled",
    "ison": "lit",
}
"""Facts about one thing, and the mask of the state that holds them."""

_TABLES: Mapping[str, str] = {"inreceptacle": "contents", "objectatlocation": "around"}
"""Facts about an object somewhere, and the masks of the state that hold them."""

CHANGING = frozenset({*_FLAGS, *_TABLES, "atlocation", "holds", "holdsany", "checked"})
"""The predicates that actions change; the others are as true at the end as at the start."""

_QUANTIFIERS = ("exists", "forall")


def compile_goal(problem: Problem, layout: GameLayout, start: State) -> Test:
    """A test that tells whether a state wins. Raises Damage for a goal that is malformed, too large or out of reach."""
    unrolled = _Unrolling(problem, layout, reach_of(layout, start)).ground(problem.goal, {})
    if isinstance(unrolled, bool):
        raise Damage("has a goal that is always met" if unrolled else "has a goal that can never be met")
    return _test(unrolled)


def mentions(goal: SExpr, predicate: str) -> bool:
    """True if a goal speaks of a predicate at all."""
    return goal == predicate or (isinstance(goal, list) and any(mentions(part, predicate) for part in goal))


class _Unrolling:
    def __init__(self, problem: Problem, layout: GameLayout, reach: State) -> None:
        self._problem = problem
        self._layout = layout
        self._reach = reach
        self._left = MAX_WORK
        self._found: dict[int, list[list[str]]] = {}
        self._of_type = {
            kind: [thing for thing, other in problem.things.items() if kind in (other, "object")] for kind in TYPES
        }

    def ground(self, node: SExpr, bound: Names) -> Ground:
        self._spend(1)
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            raise Damage("has a malformed goal")
        head, parts = node[0], node[1:]
        if head == "and":
            return _all(self.ground(part, bound) for part in parts)
        if head == "or":
            return _any(self.ground(part, bound) for part in parts)
        if head == "not" and len(parts) == 1:
            return _not(self.ground(parts[0], bound))
        if head == "imply" and len(parts) == 2:
            return _any([_not(self.ground(parts[0], bound)), self.ground(parts[1], bound)])
        if head in _QUANTIFIERS and len(parts) == 2:
            return self._quantified(head, parts[0], parts[1], bound)
        return self._atom([bound.get(word, word) for word in sexpr.words_of(node, "goal")])

    def _quantified(self, head: str, variables: SExpr, body: SExpr, bound: Names) -> Ground:
        types = dict(sexpr.typed(sexpr.words_of(variables, "variable list"), "the goal"))
        for name, kind in types.items():
            if kind not in TYPES or not name.startswith("?"):
                raise Damage(f"quantifies over {quoted(name)} of type {quoted(kind)} in its goal")
        if id(body) not in self._found:
            self._found[id(body)] = self._filters(head, body)
        rows = self._bindings(types, self._found[id(body)], {**bound, **dict.fromkeys(types, "")})
        if head == "exists":
            return _any(self.ground(body, row) for row in rows)
        return _all(self.ground(body, row) for row in rows)

    def _filters(self, head: str, body: SExpr) -> list[list[str]]:
        """The unchanging facts that a binding must satisfy to matter: it is enough to try those that do."""
        if not isinstance(body, list) or not body:
            return []
        if head == "forall":
            return self._filters("exists", body[1]) if body[0] == "imply" and len(body) == 3 else []
        if body[0] in ("and", "exists"):
            inner = body[1:] if body[0] == "and" else body[2:]
            hidden = set(_words(body[1])) if body[0] == "exists" and len(body) > 1 else set()
            return [row for part in inner for row in self._filters("exists", part) if not hidden & set(row)]
        static = isinstance(body[0], str) and body[0] in PREDICATES and body[0] not in CHANGING
        return [sexpr.words_of(body, "goal")] if static else []

    def _bindings(self, types: Names, filters: list[list[str]], bound: dict[str, str]) -> list[dict[str, str]]:
        """Every way to name the variables that the filters allow; one filter at a time, then the rest freely."""
        rows = [bound]
        for predicate, *arguments in sorted(filters, key=lambda row: len(self._problem.facts[row[0]])):
            if len(arguments) == len(PREDICATES[predicate]):
                rows = [row for old in rows for row in self._matches(predicate, arguments, old, types)]
        for name, kind in types.items():
            fitting = self._of_type[kind]
            free = [row for row in rows if not row[name]]
            self._spend(len(free) * len(fitting))
            rows = [row for row in rows if row[name]] + [{**row, name: thing} for row in free for thing in fitting]
        return rows

    def _matches(self, predicate: str, arguments: list[str], row: dict[str, str], types: Names) -> list[dict[str, str]]:
        facts = self._problem.facts[predicate]
        known = tuple(row.get(word, word) for word in arguments)
        self._spend(1)
        if all(known):
            return [row] if known in facts else []
        found = []
        for fact in facts:
            new = dict(row)
            for word, thing in zip(arguments, fact, strict=True):
                value = new.get(word, word)
                if value == "" and types.get(word, "") in (self._problem.things[thing], "object"):
                    new[word] = thing
                elif value != thing:
                    break
            else:
                found.append(new)
        self._spend(len(found) + len(facts) // 16)
        return found

    def _spend(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise Damage("has a goal that is too large to unroll")

    def _atom(self, words: list[str]) -> Ground:
        things = self._problem.things
        for word in words[1:]:
            if word not in things:
                raise Damage(f"uses an undeclared object {quoted(word)} in its goal")
        if words[0] == "=" and len(words) == 3:
            return words[1] == words[2]
        types = PREDICATES.get(words[0])
        if types is None or len(types) != len(words) - 1:
            check_atom(words, things)
            return False
        if words[0] not in CHANGING:
            return tuple(words[1:]) in self._problem.facts[words[0]]
        return _ask(self._layout, self._reach, words)


def _words(node: SExpr) -> list[str]:
    return [word for word in node if isinstance(word, str)] if isinstance(node, list) else []


def _ask(layout: GameLayout, reach: State, words: list[str]) -> Ground:
    """The test for one fact that actions change, or False for one that they never bring about."""
    predicate, first, last = words[0], words[1], words[-1]
    if predicate == "checked":
        return lambda state: first in state.checked
    if predicate in _FLAGS:
        field = _FLAGS[predicate]
        index = (layout.receptacles if predicate == "opened" else layout.objects).get(first, -1)
        return _may(getattr(reach, field), index) and Bit(frozenset({_place(field)}), frozenset(), index)
    if predicate in _TABLES:
        field = _TABLES[predicate]
        row = (layout.receptacles if predicate == "inreceptacle" else layout.locations).get(last, -1)
        index = layout.objects.get(first, -1)
        can = row >= 0 and _may(getattr(reach, field)[row], index)
        return can and Bit(frozenset(), frozenset({(_place(field), row)}), index)
    return first == layout.agent and _ask_agent(layout, reach, predicate, last)


def _ask_agent(layout: GameLayout, reach: State, predicate: str, thing: str) -> Ground:
    if predicate == "holdsany":
        return reach.held != 0 and (lambda state: state.held >= 0)
    if predicate == "holds":
        held = layout.objects.get(thing, -1)
        return _may(reach.held, held) and (lambda state: state.held == held)
    place = layout.locations.get(thing, -1)
    return _may(reach.location, place) and (lambda state: state.location == place)


def _may(mask: int, index: int) -> bool:
    return index >= 0 and bool(mask >> index & 1)


def _place(field: str) -> int:
    return State._fields.index(field)


def _not(part: Ground) -> Ground:
    if isinstance(part, bool):
        return not part
    test = _test(part)
    return lambda state: not test(state)


def _all(parts: Iterable[Ground]) -> Ground:
    bits: dict[int, Bit] = {}
    tests: list[Test] = []
    for part in parts:
        if part is False:
            return False
        if isinstance(part, Bit):
            other = bits.get(part.thing, part)
            bits[part.thing] = Bit(part.masks | other.masks, part.rows | other.rows, part.thing)
        elif part is not True:
            tests.append(part)
    if len(bits) == 1 and not tests:
        return next(iter(bits.values()))
    tests = [*map(_test, bits.values()), *tests]
    if len(tests) <= 1:
        return tests[0] if tests else True
    if len(tests) == 2:
        one, other_test = tests
        return lambda state: one(state) and other_test(state)
    return lambda state: all(test(state) for test in tests)


def _any(parts: Iterable[Ground]) -> Ground:
    bits: list[Bit] = []
    tests: list[Test] = []
    for part in parts:
        if part is True:
            return True
        if isinstance(part, Bit):
            bits.append(part)
        elif part is not False:
            tests.append(part)
    if len(bits) == 1 and not tests:
        return bits[0]
    tests = [*_any_bit(bits), *tests]
    if len(tests) <= 1:
        return tests[0] if tests else False

    def any_test(state: State) -> bool:
        for test in tests:  # noqa: SIM110  half the time of any(…), at every step of every game
            if test(state):
                return True
        return False

    return any_test


def _test(part: Bit | Test) -> Test:
    return next(_any_bit([part])) if isinstance(part, Bit) else part


def _any_bit(bits: Iterable[Bit]) -> Iterator[Test]:
    """Tests of which one holds exactly where one of the bits is set; bits of one row or thing are grouped."""
    things: defaultdict[tuple[frozenset[int], frozenset[tuple[int, int]]], int] = defaultdict(int)
    for bit in bits:
        things[bit.masks, bit.rows] |= 1 << bit.thing
    rows: defaultdict[tuple[frozenset[int], int, int], list[int]] = defaultdict(list)
    for (masks, cells), mask in things.items():
        if len(cells) == 1:
            ((table, row),) = cells
            rows[masks, mask, table].append(row)
        else:
            yield _masked(tuple(masks), tuple(cells), mask)
    for (masks, mask, table), places in rows.items():
        yield _in_row(tuple(masks), mask, table, tuple(places))


def _masked(masks: tuple[int, ...], cells: tuple[tuple[int, int], ...], mask: int) -> Test:
    def masked(state: State) -> bool:
        left = mask
        for place in masks:
            left &= state[place]  # type: ignore[operator]
        for table, row in cells:
            left &= state[table][row]  # type: ignore[index]
        return left != 0

    return masked


def _in_row(masks: tuple[int, ...], mask: int, table: int, rows: tuple[int, ...]) -> Test:
    def in_row(state: State) -> bool:
        left = mask
        for place in masks:
            left &= state[place]  # type: ignore[operator]
        if left:
            contents = state[table]
            for row in rows:
                if contents[row] & left:  # type: ignore[index]
                    return True
        return False

    return in_row


def reach_of(layout: GameLayout, start: State) -> State:
    """Everything that some course of the game may bring about, and perhaps more; location and hand as masks too."""
    placed = [receptacle for receptacle, place in enumerate(layout.place) if place >= 0]
    location = 1 << start.location
    held = 1 << start.held if start.held >= 0 else 0
    opened = start.opened
    for receptacle in placed:
        location |= 1 << layout.place[receptacle]
        held |= start.contents[receptacle] & layout.pickupable
        opened |= layout.openable & 1 << receptacle
    contents, around = list(start.contents), list(start.around)
    usable = 0
    for receptacle in placed:
        contents[receptacle] |= held & layout.accepts[receptacle]
        around[layout.place[receptacle]] |= held & layout.accepts[receptacle]
        usable |= contents[receptacle] & layout.toggleable
    treated = {
        verb: held & layout.treatable[verb] if any(layout.appliances[verb] >> one & 1 for one in placed) else 0
        for verb in layout.appliances
    }
    sliced = start.sliced
    if held & layout.knives:
        for place in bits(location):
            sliced |= around[place] & layout.sliceable
    return start._replace(
        location=location,
        held=held,
        opened=opened,
        contents=tuple(contents),
        around=tuple(around),
        hot=start.hot | treated["heat"],
        cool=start.cool | treated["cool"],
        clean=start.clean | treated["clean"],
        sliced=sliced,
        toggled=start.toggled | usable,
        lit=start.lit | usable,
    )
