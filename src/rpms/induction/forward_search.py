"""Ways to a state in which wanted facts hold together, where nothing is hidden: weighted A*.

Actions are put into effect on the facts that some action changes; those that none does are looked
up once. The heuristic is additive: the sum of what each wanted literal costs by itself if nothing
were ever undone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
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
        known = self.vocabulary.predicates
        clauses = [clause for clause in schema.preconditions if len(clause.literals) == 1]
        literals = [clause.literals[0] for clause in clauses]
        needs = [each for each in literals if each.atom.predicate in known]
        own = frozenset(each.atom.predicate for each in needs) & frozenset(changing)
        key = schema, own
        if key not in self._grounded:
            lasting = [each for each in needs if each.atom.predicate not in own]
            made = [each for each in needs if each.atom.predicate in own]
            found = []
            for binding in self._bindings(schema.variables, lasting, belief, {}):
                bound = tuple(need.bind(binding) for need in made)
                effects = tuple(effect.bind(binding) for effect in schema.effects)
                found.append(GroundAction(command_of(schema, binding), bound, effects))
                if len(found) >= LIMITS.ground_actions:
                    break
            self._grounded[key] = found
        return self._grounded[key]

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
        holding = [each for each in self._needing if (each.atom in state) is not each.negated]
        costs = dict.fromkeys(holding, 0.0)
        order = count()
        queue = [(0.0, next(order), literal) for literal in holding]
        lacking = [len(action.needs) for action in self._actions]
        spent = [1.0] * len(self._actions)
        applicable = [action for action in self._actions if not action.needs]
        for action in applicable:
            self._reach(action, 1.0, costs, queue, order)
        done: set[Literal] = set()
        while queue and not (done >= self._goal and queue[0][0] > 0):
            cost, _, literal = heappop(queue)
            if literal in done:
                continue
            done.add(literal)
            for number in self._needing[literal]:
                lacking[number] -= 1
                spent[number] += cost
                if lacking[number] == 0:
                    if spent[number] == 1.0:
                        applicable.append(self._actions[number])
                    self._reach(self._actions[number], spent[number], costs, queue, order)
        total = sum(costs[each] if each in done else inf for each in self._goal)
        return _Estimate(total, applicable)

    def _reach(
        self,
        action: GroundAction,
        cost: float,
        costs: dict[Literal, float],
        queue: list[tuple[float, int, Literal]],
        order: Iterator[int],
    ) -> None:
        """Note that an action can bring its effects about for so much."""
        for effect in action.effects:
            if effect in self._needing and cost < costs.get(effect, inf):
                costs[effect] = cost
                heappush(queue, (cost, next(order), effect))
