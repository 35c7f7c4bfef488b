"""Ways to a state in which wanted facts hold together, where nothing is hidden: weighted A*.

Actions are put into effect on the facts that some action changes; those that none does are looked
up once. The heuristic is additive: the sum of what each wanted literal costs by itself if nothing
were ever undone. Facts that it finds no cost for can never be brought about from here.

A state is an integer with a bit for each fact. Of fact number n, the literal is numbered 2n and its
negation 2n + 1.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, count, islice
from math import inf
from operator import is_
from typing import NamedTuple

from rpms.induction.evidence.literals import mask_of
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.exploring.meeting import Meeting, NumberedAction, literals_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Clause, Literal
from rpms.planning.achievers import command_of

_NEVER = -1  # No literal: what nothing leads to


class GroundAction(NamedTuple):
    """An action with names."""

    command: str
    needs: tuple[Literal, ...]  # Those that actions change: all others hold
    effects: tuple[Literal, ...]


class _Estimate(NamedTuple):
    """The additive heuristic of a state, and the actions that can be done in it, by number."""

    cost: float
    applicable: list[int]


class _Node(NamedTuple):
    """A state on the way."""

    state: int
    commands: tuple[str, ...]  # That lead to it
    estimate: _Estimate


@dataclass
class ForwardSearch:
    """Plans of one episode."""

    vocabulary: Vocabulary
    _grounded: dict[tuple[ActionSchema, frozenset[str]], list[GroundAction]] = field(
        default_factory=dict
    )
    """By action and its changing predicates, all ways to fill its slots."""
    _last: "_LastProblem | None" = None
    """The problem that was last asked about."""

    def way(
        self,
        schemas: Iterable[ActionSchema],
        changing: Collection[str],
        belief: Belief,
        wanted: Sequence[Clause],
    ) -> tuple[str, ...]:
        """Commands after which all wanted facts hold, as far as is known; none where no way was
        found or none is needed.
        """
        problem = self._problem(schemas, changing, belief)
        goal = []
        for clause in wanted:
            literal = clause.literals[0]
            if literal.atom in problem.numbers:
                goal.append(literal)
            elif not self._holds(literal, belief):
                return ()
        return problem.solve(self._state(problem, belief), goal)

    def reachable(
        self, schemas: Iterable[ActionSchema], changing: Collection[str], belief: Belief
    ) -> frozenset[Atom]:
        """Facts that actions change and that hold or may be brought about from here, if nothing
        were ever undone.
        """
        problem = self._problem(schemas, changing, belief)
        return problem.reachable(self._state(problem, belief))

    def meeting(
        self, schemas: Iterable[ActionSchema], changing: Collection[str], belief: Belief
    ) -> Meeting:
        """What may hold together after any actions from here: drawn once for the same actions, as
        what an earlier state led to is all that a later one may lead to.
        """
        problem = self._problem(schemas, changing, belief)
        if problem.meeting is None:
            answers = self.vocabulary.answers(belief)
            state = self._state(problem, belief)
            holds = answers.__getitem__
            problem.meeting = Meeting(problem.actions, problem.numbers, state, holds)
        return problem.meeting

    def _state(self, problem: "_Problem", belief: Belief) -> int:
        answers = self.vocabulary.answers(belief)
        state = 0
        for atom, number in problem.numbers.items():
            if answers[atom]:
                state |= 1 << number
        return state

    def _problem(
        self, schemas: Iterable[ActionSchema], changing: Collection[str], belief: Belief
    ) -> "_Problem":
        """The ground actions with their literals as numbers; the last ones are kept."""
        by_schema = [self._ground(schema, changing, belief) for schema in schemas]
        if self._last is None or not _same_lists(self._last.by_schema, by_schema):
            problem = _Problem(list(chain.from_iterable(by_schema)))
            self._last = _LastProblem(by_schema, problem)
        return self._last.problem

    def _holds(self, literal: Literal, belief: Belief) -> bool:
        value = self.vocabulary.answers(belief)[literal.atom]
        return value is not None and value is not literal.negated

    def _ground(
        self, schema: ActionSchema, changing: Collection[str], belief: Belief
    ) -> list[GroundAction]:
        """All ways to fill an action's slots such that what no action changes is as needed."""
        made: list[Literal] = []
        lasting: list[Literal] = []
        for need in self._single_needs(schema):
            if need.atom.predicate in changing:
                made.append(need)
            else:
                lasting.append(need)
        key = schema, frozenset(need.atom.predicate for need in made)
        if key not in self._grounded:
            bindings = self._bindings(schema.variables, lasting, belief, {})
            some = islice(bindings, LIMITS.ground_actions)
            self._grounded[key] = [_grounded(schema, made, binding) for binding in some]
        return self._grounded[key]

    def _single_needs(self, schema: ActionSchema) -> list[Literal]:
        """The needs of an action that are one literal, over predicates that are known."""
        found: list[Literal] = []
        for clause in schema.preconditions:
            if len(clause.literals) == 1:
                found += clause.literals
        known = self.vocabulary.predicates
        return [need for need in found if need.atom.predicate in known]

    def _bindings(
        self,
        variables: Sequence[str],
        lasting: Sequence[Literal],
        belief: Belief,
        chosen: Mapping[str, str],
    ) -> Iterator[dict[str, str]]:
        """Different names for all variables, of which lasting literals hold."""
        if len(chosen) == len(variables):
            yield dict(chosen)
            return
        variable = variables[len(chosen)]
        now = _settled_by(len(chosen), variables, lasting)
        for name in names_for(variable, belief.names):
            if name in chosen.values():
                continue
            filled = {**chosen, variable: name}
            if all(self._holds(literal.bind(filled), belief) for literal in now):
                yield from self._bindings(variables, lasting, belief, filled)


def _settled_by(place: int, variables: Sequence[str], literals: Iterable[Literal]) -> list[Literal]:
    """The literals about the variable in a place and those before it; with the first, also those
    about no variable.
    """
    bound = {*variables[: place + 1]}
    found = []
    for literal in literals:
        own = {*variables}.intersection(literal.atom.args)
        is_due = place == 0 or variables[place] in own
        if is_due and own <= bound:
            found.append(literal)
    return found


def _grounded(
    schema: ActionSchema, needs: Iterable[Literal], binding: Mapping[str, str]
) -> GroundAction:
    """An action with names in place of its slots."""
    bound = tuple([need.bind(binding) for need in needs])
    effects = tuple([effect.bind(binding) for effect in schema.effects])
    return GroundAction(command_of(schema, binding), bound, effects)


def _same_lists(some: Sequence[object], others: Sequence[object]) -> bool:
    """True if two lists have the very same members."""
    return len(some) == len(others) and all(map(is_, some, others))


class _LastProblem(NamedTuple):
    """A problem, with the ground actions that it was made of."""

    by_schema: list[list[GroundAction]]
    problem: "_Problem"


class _Problem:
    """Ground actions, with their facts and literals as numbers."""

    def __init__(self, actions: Sequence[GroundAction]) -> None:
        self._commands = [action.command for action in actions]
        self.numbers: dict[Atom, int] = {}
        """By fact that some action needs or changes, its number."""
        self._actions = [self._numbered(action) for action in actions]
        self._needing: list[list[int]] = [[] for _ in range(2 * len(self.numbers))]
        """By literal, the actions that need it."""
        for number, numbered in enumerate(self._actions):
            for need in numbered.needs:
                self._needing[need].append(number)
        self.meeting: Meeting | None = None
        """What may hold together, where that was asked."""

    def _numbered(self, action: GroundAction) -> NumberedAction:
        """An action with numbers in place of its literals: odd ones for negations."""
        needs = self._numbers(action.needs)
        effects = self._numbers(action.effects)
        made = mask_of(effect // 2 for effect in effects if not effect % 2)
        unmade = mask_of(effect // 2 for effect in effects if effect % 2)
        return NumberedAction(needs, effects, made, unmade)

    @property
    def _nodes(self) -> int:
        """States that a search looks at: the more, the less there is to be done in each."""
        affordable = LIMITS.search_work // max(1, len(self._actions))
        return min(LIMITS.most_nodes, max(LIMITS.search_nodes, affordable))

    @property
    def actions(self) -> Sequence[NumberedAction]:
        """The ground actions."""
        return self._actions

    def _numbers(self, literals: Iterable[Literal]) -> list[int]:
        """Literals as numbers, each once."""
        return [self._number(literal) for literal in dict.fromkeys(literals)]

    def _number(self, literal: Literal) -> int:
        number = self.numbers.setdefault(literal.atom, len(self.numbers))
        return 2 * number + literal.negated

    def solve(self, start: int, wanted: Iterable[Literal]) -> tuple[str, ...]:
        """Commands that lead to a state with the wanted literals; none where they hold, or none
        were found.
        """
        goal = frozenset(self._number(literal) for literal in wanted)
        order = count()
        waiting = [(0.0, next(order), _Node(start, (), self._estimate(start, goal)))]
        seen = {start}
        for _ in range(self._nodes):
            if not waiting:
                break
            _, _, node = heappop(waiting)
            if node.estimate.cost == 0:
                return node.commands
            for number in node.estimate.applicable:
                state = self._actions[number].after(node.state)
                if state in seen:
                    continue
                seen.add(state)
                commands = (*node.commands, self._commands[number])
                further = _Node(state, commands, self._estimate(state, goal))
                if further.estimate.cost < inf:
                    rank = len(commands) + LIMITS.greedy_search * further.estimate.cost
                    heappush(waiting, (rank, next(order), further))
        return ()

    def _estimate(self, state: int, goal: frozenset[int]) -> _Estimate:
        """Spread costs from what holds now until all of the goal is reached."""
        return _Spreading(self._actions, self._needing).until(goal, state)

    def reachable(self, state: int) -> frozenset[Atom]:
        """Facts that hold or may be brought about, if nothing were ever undone."""
        spreading = _Spreading(self._actions, self._needing)
        spreading.until(frozenset({_NEVER}), state)
        found = [atom for atom, number in self.numbers.items() if 2 * number in spreading.done]
        return frozenset(found)


class _Spreading:
    """Costs of literals, spread from what holds in one state through the actions that it
    allows.
    """

    def __init__(self, actions: Sequence[NumberedAction], needing: Sequence[Sequence[int]]) -> None:
        self._actions = actions
        self._needing = needing
        self._costs = [inf] * len(needing)
        self._queue: list[tuple[float, int]] = []
        self._lacking = [len(action.needs) for action in actions]
        """By action, the needs that were not reached yet."""
        self._spent = [1.0] * len(actions)
        """By action, its own step and what its needs cost."""
        self._applicable: list[int] = []
        self.done: set[int] = set()
        """Literals whose cost is final."""

    def until(self, goal: frozenset[int], state: int) -> _Estimate:
        """Spread until all of the goal is reached, and all that can be done at once is known."""
        self._begin(state)
        left = set(goal)
        while self._queue:
            cost, literal = heappop(self._queue)
            if cost > 0 and not left:
                break
            if literal not in self.done:
                self.done.add(literal)
                left.discard(literal)
                self._meet(literal, cost)
        total = inf if left else sum(self._costs[each] for each in goal)
        return _Estimate(total, self._applicable)

    def _begin(self, state: int) -> None:
        """What holds costs nothing, and what needs nothing can be done."""
        for literal in literals_of(state, len(self._needing) // 2):
            self._costs[literal] = 0.0
            self._queue.append((0.0, literal))
        for number, action in enumerate(self._actions):
            if not action.needs:
                self._allow(number)

    def _meet(self, literal: int, cost: float) -> None:
        """Note for each action that needs a literal that it can be had for so much."""
        for number in self._needing[literal]:
            self._lacking[number] -= 1
            self._spent[number] += cost
            if self._lacking[number] == 0:
                self._allow(number)

    def _allow(self, number: int) -> None:
        """Note that an action can be done, and what its effects cost then."""
        cost = self._spent[number]
        if cost == 1.0:
            self._applicable.append(number)
        for effect in self._actions[number].effects:
            if cost < self._costs[effect]:
                self._costs[effect] = cost
                heappush(self._queue, (cost, effect))
