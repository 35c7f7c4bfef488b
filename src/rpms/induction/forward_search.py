"""Ways to a state in which wanted facts hold together, where nothing is hidden: weighted A*.

Actions are put into effect on the facts that some action changes; those that none does are looked
up once. The heuristic is additive: the sum of what each wanted literal costs by itself if nothing
were ever undone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count, islice
from math import inf
from typing import NamedTuple

from rpms.induction.thresholds import LIMITS
from rpms.induction.vocabulary import Vocabulary
from rpms.logic.achievers import command_of
from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Clause, Literal

_State = frozenset[Atom]  # The changing facts that are true


class GroundAction(NamedTuple):
    """An action with names."""

    command: str
    needs: tuple[Literal, ...]  # Those that actions change: all others hold
    effects: tuple[Literal, ...]

    def after(self, state: _State) -> _State:
        """The state that it leads to."""
        unmade = {effect.atom for effect in self.effects if effect.negated}
        made = {effect.atom for effect in self.effects if not effect.negated}
        return (state - unmade) | made


class _Estimate(NamedTuple):
    """The additive heuristic of a state, and the actions that can be done in it."""

    cost: float
    applicable: list[GroundAction]


class _Node(NamedTuple):
    """A state on the way."""

    state: _State
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
        goal = [clause.literals[0] for clause in wanted]
        lasting = [literal for literal in goal if literal.atom.predicate not in changing]
        if not all(self._holds(literal, belief) for literal in lasting):
            return ()
        actions: list[GroundAction] = []
        for schema in schemas:
            actions += self._ground(schema, changing, belief)
        asked = [each for each in goal if each.atom.predicate in changing]
        problem = _Problem(actions, asked)
        answers = self.vocabulary.answers(belief)
        return problem.solve(frozenset(atom for atom in problem.atoms if answers[atom]))

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
            (made if need.atom.predicate in changing else lasting).append(need)
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
        bound = {*variables[: len(chosen) + 1]}
        now = []
        for literal in lasting:
            slots = bound.union(variables).intersection(literal.atom.args)
            if slots <= bound and (variable in slots or len(chosen) == 0):
                now.append(literal)
        for name in names_for(variable, belief.names):
            if name in chosen.values():
                continue
            filled = {**chosen, variable: name}
            if all(self._holds(literal.bind(filled), belief) for literal in now):
                yield from self._bindings(variables, lasting, belief, filled)


def _grounded(
    schema: ActionSchema, needs: Iterable[Literal], binding: Mapping[str, str]
) -> GroundAction:
    """An action with names in place of its slots."""
    bound = tuple([need.bind(binding) for need in needs])
    effects = tuple([effect.bind(binding) for effect in schema.effects])
    return GroundAction(command_of(schema, binding), bound, effects)


class _Problem:
    """Ground actions, and literals that are to hold together."""

    def __init__(self, actions: Sequence[GroundAction], goal: Sequence[Literal]) -> None:
        self._actions = actions
        self._goal = frozenset(goal)
        self._needing: dict[Literal, list[int]] = {literal: [] for literal in goal}
        """By literal that is wanted or needed, the actions that need it."""
        for number, action in enumerate(actions):
            for need in dict.fromkeys(action.needs):
                self._needing.setdefault(need, []).append(number)
        self.atoms = {literal.atom for literal in self._needing}
        """Facts that anything depends on."""
        for action in actions:
            self.atoms.update(effect.atom for effect in action.effects)

    def solve(self, start: _State) -> tuple[str, ...]:
        """Commands that lead to the goal; none where it holds, or none was found."""
        order = count()
        waiting = [(0.0, next(order), _Node(start, (), self._estimate(start)))]
        seen = {start}
        for _ in range(LIMITS.search_nodes):
            if not waiting:
                break
            _, _, node = heappop(waiting)
            if node.estimate.cost == 0:
                return node.commands
            for action in node.estimate.applicable:
                state = action.after(node.state)
                if state in seen:
                    continue
                seen.add(state)
                further = _Node(state, (*node.commands, action.command), self._estimate(state))
                if further.estimate.cost < inf:
                    rank = len(further.commands) + LIMITS.greedy_search * further.estimate.cost
                    heappush(waiting, (rank, next(order), further))
        return ()

    def _estimate(self, state: _State) -> _Estimate:
        """Spread costs from what holds now until all of the goal is reached."""
        spreading = _Spreading(self._actions, self._needing)
        return spreading.until(self._goal, state)


class _Spreading:
    """Costs of literals, spread from what holds in one state through the actions that it
    allows.
    """

    def __init__(
        self, actions: Sequence[GroundAction], needing: Mapping[Literal, Sequence[int]]
    ) -> None:
        self._actions = actions
        self._needing = needing
        self._costs: dict[Literal, float] = {}
        self._queue: list[tuple[float, int, Literal]] = []
        self._order = count()
        self._lacking = [len(action.needs) for action in actions]
        """By action, the needs that were not reached yet."""
        self._spent = [1.0] * len(actions)
        """By action, its own step and what its needs cost."""
        self._applicable: list[GroundAction] = []

    def until(self, goal: frozenset[Literal], state: _State) -> _Estimate:
        """Spread until all of the goal is reached, and all that can be done at once is known."""
        for literal in self._needing:
            if (literal.atom in state) is not literal.negated:
                self._reach(literal, 0.0)
        for number, action in enumerate(self._actions):
            if not action.needs:
                self._allow(number)
        done: set[Literal] = set()
        while self._queue and not (done >= goal and self._queue[0][0] > 0):
            cost, _, literal = heappop(self._queue)
            if literal not in done:
                done.add(literal)
                self._meet(literal, cost)
        total = sum(self._costs[each] if each in done else inf for each in goal)
        return _Estimate(total, self._applicable)

    def _meet(self, literal: Literal, cost: float) -> None:
        """Note for each action that needs a literal that it can be had for so much."""
        for number in self._needing[literal]:
            self._lacking[number] -= 1
            self._spent[number] += cost
            if self._lacking[number] == 0:
                self._allow(number)

    def _allow(self, number: int) -> None:
        """Note that an action can be done, and what its effects cost then."""
        action = self._actions[number]
        cost = self._spent[number]
        if cost == 1.0:
            self._applicable.append(action)
        for effect in action.effects:
            if effect in self._needing:
                self._reach(effect, cost)

    def _reach(self, literal: Literal, cost: float) -> None:
        """Note that a literal can be had for so much, unless it is cheaper otherwise."""
        if cost < self._costs.get(literal, inf):
            self._costs[literal] = cost
            heappush(self._queue, (cost, next(self._order), literal))
