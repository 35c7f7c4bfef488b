"""The goal, made into a test of a state: quantifiers are unrolled once, over what the
unchanging facts allow.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from rpms.logic.bits import bits
from rpms.worlds.alfworld.engine import pddl
from rpms.worlds.alfworld.engine.layout import GameLayout, State
from rpms.worlds.alfworld.engine.pddl import TYPES, Damage, Problem, SExpr

Test: TypeAlias = Callable[[State], bool]
Ground: TypeAlias = "bool | Test"
"""A part of the goal for which no variable is left: already decided, or to be asked of a state."""
Names: TypeAlias = Mapping[str, str]

MAX_WORK = 200_000
"""Parts and bindings looked at while unrolling; official goals need a few hundred."""


class _Mask(NamedTuple):
    """The bits of a state that hold the facts of one predicate."""

    field: str
    """The field of the state."""
    things: str
    """The layout's index of the things that have a bit each."""
    rows: str = ""
    """The layout's index of the rows, if the field is a table: one mask for each place."""


_MASKS: Mapping[str, _Mask] = {
    "opened": _Mask("opened", "receptacles"),
    "ishot": _Mask("hot", "objects"),
    "iscool": _Mask("cool", "objects"),
    "isclean": _Mask("clean", "objects"),
    "issliced": _Mask("sliced", "objects"),
    "istoggled": _Mask("toggled", "objects"),
    "ison": _Mask("lit", "objects"),
    "inreceptacle": _Mask("contents", "objects", "receptacles"),
    "objectatlocation": _Mask("around", "objects", "locations"),
}
CHANGING = frozenset({*_MASKS, "atlocation", "holds", "holdsany", "checked"})
"""The predicates that actions change; the others are as true at the end as at the start."""


def compile_goal(problem: Problem, layout: GameLayout, start: State) -> Test:
    """A test that tells whether a state wins.

    Raises Damage for a goal that is malformed, too large or out of reach.
    """
    unrolled = _Unrolling(problem, layout, reach_of(layout, start)).ground(problem.goal, {})
    if isinstance(unrolled, bool):
        raise Damage(f"has a goal that {'is always' if unrolled else 'can never be'} met")
    return unrolled


class _Unrolling:
    """Replaces the variables of a goal by names, within a budget of work."""

    def __init__(self, problem: Problem, layout: GameLayout, reach: State) -> None:
        self._problem = problem
        self._layout = layout
        self._reach = reach
        self._left = MAX_WORK
        self._found: dict[int, list[list[str]]] = {}
        self._of_type: dict[str, list[str]] = {kind: [] for kind in TYPES}
        for thing, kind in problem.things.items():
            for fitting in {kind, "object"}:
                self._of_type[fitting].append(thing)

    def _spend(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise Damage("has a goal that is too large to unroll")

    def ground(self, node: SExpr, bound: Names) -> Ground:
        """A part of the goal with names in place of its variables; `bound`: those that have one."""
        self._spend(1)
        if not _begins_with_word(node):
            raise Damage("has a malformed goal")
        match node:
            case ["and" | "or" as head, *parts]:
                grounded = (self.ground(part, bound) for part in parts)
                return _join(grounded, decisive=head == "or")
            case ["not", part]:
                return _not(self.ground(part, bound))
            case ["imply", one, other]:
                either = [_not(self.ground(one, bound)), self.ground(other, bound)]
                return _join(either, decisive=True)
            case ["exists" | "forall" as head, variables, body]:
                instances = self._instances(head, variables, body, bound)
                return _join(instances, decisive=head == "exists")
        return self._atom([bound.get(word, word) for word in pddl.words_of(node, "goal")])

    def _instances(
        self, head: str, variables: SExpr, body: SExpr, bound: Names
    ) -> Iterator[Ground]:
        """The body for each naming of the variables that may matter: unchanging facts first,
        then the rest freely.
        """
        types = _quantified(variables)
        rows = [{**bound, **dict.fromkeys(types, "")}]
        for predicate, *arguments in self._filters(head, body):
            if len(arguments) != len(pddl.PREDICATES[predicate]):
                continue
            matching: list[dict[str, str]] = []
            for row in rows:
                matching += self._matches(predicate, arguments, row, types)
            rows = matching
        for name, kind in types.items():
            rows = self._rows_naming(rows, name, kind)
        for row in rows:
            yield self.ground(body, row)

    def _rows_naming(
        self, rows: list[dict[str, str]], name: str, kind: str
    ) -> list[dict[str, str]]:
        """Rows in which a variable has a name: without one, a row for each thing of its type."""
        fitting = self._of_type[kind]
        named = [row for row in rows if row[name]]
        free = [row for row in rows if not row[name]]
        self._spend(len(free) * len(fitting))
        for row in free:
            named += [{**row, name: thing} for thing in fitting]
        return named

    def _filters(self, head: str, body: SExpr) -> list[list[str]]:
        """Unchanging facts without which a naming of the variables cannot matter, those with
        the fewest rows first.
        """
        known = self._found.get(id(body))
        if known is not None:
            return known
        needed: SExpr = []
        match head, body:
            case "exists", _:
                needed = body
            case "forall", ["imply", condition, _]:
                needed = condition
        found = _unchanging(needed)
        found.sort(key=lambda words: len(self._problem.facts[words[0]]))
        self._found[id(body)] = found
        return found

    def _matches(
        self, predicate: str, arguments: list[str], row: dict[str, str], types: Names
    ) -> list[dict[str, str]]:
        """The row with names from each fact that agrees with it; variables have none at first."""
        facts = self._problem.facts[predicate]
        known = tuple(row.get(word, word) for word in arguments)
        self._spend(1)
        if all(known):
            return [row] if known in facts else []
        found: list[dict[str, str]] = []
        for fact in facts:
            agreeing = self._agreeing(row, arguments, fact, types)
            if agreeing is not None:
                found.append(agreeing)
        self._spend(len(found) + len(facts) // 16)
        return found

    def _agreeing(
        self, row: dict[str, str], arguments: list[str], fact: tuple[str, ...], types: Names
    ) -> dict[str, str] | None:
        """The row with a fact's things in place of its free variables; None if they do not fit."""
        new = dict(row)
        for word, thing in zip(arguments, fact, strict=True):
            value = new.get(word, word)
            is_free = value == ""
            if is_free and types.get(word, "") in (self._problem.things[thing], "object"):
                new[word] = thing
            elif value != thing:
                return None
        return new

    def _atom(self, words: list[str]) -> Ground:
        """The test for one fact; False for one that no action ever brings about."""
        predicate, *arguments = words
        for word in arguments:
            if word not in self._problem.things:
                raise Damage(f"uses an undeclared object {pddl.quoted(word)} in its goal")
        if predicate == "=" and len(arguments) == 2:
            return arguments[0] == arguments[1]
        types = pddl.PREDICATES.get(predicate)
        if types is None or len(types) != len(arguments):
            pddl.check_atom(words, self._problem.things)
            return False
        if predicate not in CHANGING:
            return tuple(arguments) in self._problem.facts[predicate]
        return self._changing(predicate, arguments[0], arguments[-1])

    def _changing(self, predicate: str, first: str, last: str) -> Ground:
        """The test of a fact that actions change."""
        if predicate in _MASKS:
            return self._bit(predicate, first, last)
        if predicate == "checked":
            return lambda state: first in state.checked
        return self._of_agent(predicate, last) if first == self._layout.agent else False

    def _bit(self, predicate: str, thing: str, place: str) -> Ground:
        """The test of a fact that is a bit of a state's masks."""
        where = _MASKS[predicate]
        index = getattr(self._layout, where.things).get(thing, -1)
        row = getattr(self._layout, where.rows).get(place, -1) if where.rows else None
        within_reach = getattr(self._reach, where.field)
        if row is not None:
            within_reach = within_reach[row] if row >= 0 else 0
        if not _has_bit(within_reach, index):
            return False
        return _in_mask(State._fields.index(where.field), row, 1 << index)

    def _of_agent(self, predicate: str, thing: str) -> Ground:
        """The test of a fact about the agent's hand or place."""
        if predicate == "holdsany":
            return _within_reach(self._reach.held != 0, lambda state: state.held >= 0)
        if predicate == "holds":
            held = self._layout.objects.get(thing, -1)
            may_hold = _has_bit(self._reach.held, held)
            return _within_reach(may_hold, lambda state: state.held == held)
        place = self._layout.locations.get(thing, -1)
        may_be_there = _has_bit(self._reach.location, place)
        return _within_reach(may_be_there, lambda state: state.location == place)


def _within_reach(possible: bool, test: Test) -> Ground:
    """The test of a fact; False at once where it can never hold."""
    return test if possible else False


def _begins_with_word(node: SExpr) -> bool:
    return isinstance(node, list) and bool(node) and isinstance(node[0], str)


def _quantified(variables: SExpr) -> Mapping[str, str]:
    """The variables of a quantifier, each with its type."""
    types = dict(pddl.typed(pddl.words_of(variables, "variable list"), "the goal"))
    for name, kind in types.items():
        if kind not in TYPES or not name.startswith("?"):
            raise Damage(
                f"quantifies over {pddl.quoted(name)} of type {pddl.quoted(kind)} in its goal"
            )
    return types


def _unchanging(body: SExpr) -> list[list[str]]:
    """The unchanging facts that a binding must satisfy to matter: it is enough to try those
    that do.
    """
    match body:
        case ["and", *parts]:
            return _unchanging_in(parts)
        case ["exists", variables, *parts]:
            hidden = {name for name in variables if isinstance(name, str)}
            return [row for row in _unchanging_in(parts) if hidden.isdisjoint(row)]
        case [str(predicate), *_] if predicate in pddl.PREDICATES and predicate not in CHANGING:
            return [pddl.words_of(body, "goal")]
    return []


def _unchanging_in(parts: Iterable[SExpr]) -> list[list[str]]:
    found: list[list[str]] = []
    for part in parts:
        found += _unchanging(part)
    return found


def _has_bit(mask: int, index: int) -> bool:
    """True if a bit is set; False for the index -1 of what there is not."""
    return index >= 0 and bool(mask >> index & 1)


def _in_mask(field: int, row: int | None, bit: int) -> Test:
    """A test of a bit of a state's mask, or of a row of a table of masks."""
    if row is None:
        return lambda state: state[field] & bit != 0  # type: ignore[operator]
    return lambda state: state[field][row] & bit != 0  # type: ignore[index]


def _not(part: Ground) -> Ground:
    """The opposite of a part."""
    if isinstance(part, bool):
        return not part
    return lambda state: not part(state)


def _join(parts: Iterable[Ground], *, decisive: bool) -> Ground:
    """All parts together, where one that is false decides, or any of them, where one that is
    true does.
    """
    tests: list[Test] = []
    for part in parts:
        if part is decisive:
            return decisive
        if not isinstance(part, bool):
            tests.append(part)
    if len(tests) < 2:
        return tests[0] if tests else not decisive

    def joined(state: State) -> bool:
        for test in tests:  # half the time of any(…), at every step of every game
            if test(state) is decisive:
                return decisive
        return not decisive

    return joined


def reach_of(layout: GameLayout, start: State) -> State:
    """Everything that some course of the game may bring about, and perhaps more; location and
    hand as masks too.
    """
    placed = [receptacle for receptacle, place in enumerate(layout.place) if place >= 0]
    # What the agent may go to, open and hold at some time.
    location = 1 << start.location
    held = 1 << start.held if start.held >= 0 else 0
    opened = start.opened
    for receptacle in placed:
        location |= 1 << layout.place[receptacle]
        held |= start.contents[receptacle] & layout.pickupable
        opened |= layout.openable & 1 << receptacle
    # Where all of this may be put.
    contents = list(start.contents)
    around = list(start.around)
    usable = 0
    for receptacle in placed:
        put_there = held & layout.accepts[receptacle]
        contents[receptacle] |= put_there
        around[layout.place[receptacle]] |= put_there
        usable |= contents[receptacle] & layout.toggleable
    treated = _treated_within_reach(layout, placed, held)
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


def _treated_within_reach(
    layout: GameLayout, placed: Iterable[int], held: int
) -> Mapping[str, int]:
    """Objects that may be held and then heated, cooled or cleaned with some receptacle, by the
    verb.
    """
    treated = dict.fromkeys(layout.treatable, 0)
    for receptacle in placed:
        for verb in layout.treating[receptacle]:
            treated[verb] = held & layout.treatable[verb]
    return treated
