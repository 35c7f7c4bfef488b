"""Progress from the goal's own facts: which of them hold, and what comes before those that do not. No plan is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import NamedTuple

from rpms.core.facts import kind_of
from rpms.core.goal import EXPLORING, Goal, Progress
from rpms.core.planning.achievers import Fact, Need, fact_of
from rpms.core.planning.ground import Ground
from rpms.core.rules import Purpose, Stage


class GoalStanding(NamedTuple):
    """How far along a goal is."""

    progress: Progress = Progress(EXPLORING, "", 0, 1)
    stage: int | None = None
    """Stages behind, where the goal has a procedure."""


class Milestone(NamedTuple):
    """A fact about a thing that a goal comes past: found, in hand, heated."""

    fact: Fact
    name: str
    thing: str
    found: bool = False


class Purposeful(Ground):
    """What a goal asks for in one situation, over the things that are known there."""

    def bindings(self, purpose: Purpose, goal: Goal, *, imagined: bool) -> Iterator[dict[str, str]]:
        """Every way to put things in place of a purpose's variables; variables of one field are different things."""
        choices = []
        for field_ in dict.fromkeys(purpose.over.values()):
            variables = [name for name, source in purpose.over.items() if source == field_]
            named = goal.named(field_) or (field_ if purpose.staged else "")
            known = list(self._facts.belief.called(named)) if named else []
            lacking = max(len(variables) - len(known), int(imagined)) if named else 0
            known += [f"{named} {'?' * number}" for number in range(1, lacking + 1)]
            ways = combinations if purpose.interchangeable else permutations
            choices.append([dict(zip(variables, chosen, strict=True)) for chosen in ways(known, len(variables))])
        for chosen in product(*choices):
            yield {name: thing for binding in chosen for name, thing in binding.items()}

    def wants(
        self, purpose: Purpose, step: Stage, binding: Mapping[str, str]
    ) -> Iterator[tuple[Need, Mapping[str, str]]]:
        """The facts that end a step, for everything that it speaks of."""
        every: list[Mapping[str, str]] = [binding]
        named = frozenset(arg for clause in step.until for literal in clause.literals for arg in literal.atom.args)
        for variable, source in purpose.each.items():
            if variable in named:
                word = self._facts.goal.named(source) or source
                things = self._facts.belief.called(word) or (f"{word} ?",)
                every = [{**one, variable: thing} for one in every for thing in things]
        return ((need, one) for one in every for need in wanted(step))

    def reached(self, purpose: Purpose, binding: Mapping[str, str]) -> int:
        """Count the stages of a procedure that are behind: those up to the last one whose facts hold."""
        for place in range(len(purpose.steps) - 1, -1, -1):
            if all(
                self._judge(need, one)[0] is True for need, one in self.wants(purpose, purpose.steps[place], binding)
            ):
                return place + 1
        return 0


class Tracker(Purposeful):
    """Measures progress in one situation."""

    def standing(self, purpose: Purpose) -> GoalStanding:
        """Progress towards the goal by the things that are furthest along."""
        for imagined in (False, True):
            bindings = self.bindings(purpose, self._facts.goal, imagined=imagined)
            possible = [each for each in bindings if self._is_possible(purpose, each)]
            if possible:
                return self._staged(purpose, possible) if purpose.staged else self._nearest(purpose, possible)
        return GoalStanding()

    def _is_possible(self, purpose: Purpose, binding: Mapping[str, str]) -> bool:
        steps = purpose.steps
        if purpose.staged:
            reached = self.reached(purpose, binding)
            steps = steps[reached : reached + 1]
        return all(
            self._judge(need, one)[0] is not False for step in steps for need, one in self.wants(purpose, step, binding)
        )

    # A procedure.

    def _staged(self, purpose: Purpose, bindings: Sequence[Mapping[str, str]]) -> GoalStanding:
        """The present stage, and the first thing that is lacking."""
        best = max(bindings, key=lambda binding: self.reached(purpose, binding))
        done, total = self.reached(purpose, best), len(purpose.steps)
        if done == total:
            return GoalStanding(Progress("done", "", done, total), done)
        step = purpose.steps[done]
        wants = self.wants(purpose, step, best)
        lacking = next((pair for pair in wants if self._judge(*pair)[0] is not True), None)
        arg = next(iter(lacking[0].literals[0].args), "") if lacking is not None else ""
        thing = lacking[1].get(arg, arg) if lacking is not None else ""
        return GoalStanding(Progress(step.name, kind_of(thing) if thing.endswith("?") else thing, done, total), done)

    # Facts in any order.

    def _nearest(self, purpose: Purpose, bindings: Sequence[Mapping[str, str]]) -> GoalStanding:
        ways = [self._way(purpose, binding) for binding in bindings]
        return GoalStanding(min(ways, key=lambda way: way.distance).progress)

    def _way(self, purpose: Purpose, binding: Mapping[str, str]) -> _Way:
        """The milestones of a goal by some things, and those that are left."""
        things = [thing for name, thing in binding.items() if _is_sought(purpose, name)]
        facts = [fact_of(clause.literals[0].bind(binding)) for step in purpose.steps for clause in step.until]
        stones = list(dict.fromkeys(stone for fact in facts for stone in self._milestones(fact, things)))
        needs = [need for step in purpose.steps for need in wanted(step)]
        lacking = [fact for need in needs if (fact := self._judge(need, binding)[2]) is not None]
        left: set[Fact] = set()
        for fact in lacking:
            self._leave(fact, things, left)
        todo: list[Milestone] = []
        for stone in stones:  # of one thing, nothing counts before all that comes before it: a cold mug is not home yet
            waits = any(earlier.thing == stone.thing for earlier in todo)
            if waits or stone.fact in left or (stone.found and "?" in stone.thing):
                todo.append(stone)
        return _Way(tuple(stones), tuple(todo), self._next(lacking, todo, things), self._away(lacking, things))

    def _next(self, lacking: Sequence[Fact], todo: Sequence[Milestone], things: Sequence[str]) -> Milestone | None:
        """The milestone to see to first: of the first fact that is lacking, or of the nearest one like it."""
        if not lacking or not todo:
            return todo[0] if todo else None
        first = lacking[0]
        like = [fact for fact in lacking if (fact.predicate, fact.negated) == (first.predicate, first.negated)]
        left = {stone.fact for stone in todo}

        def distance(fact: Fact) -> tuple[int, int]:
            return sum(stone.fact in left for stone in self._milestones(fact, things)), self._away([fact], things)

        chain = {stone.fact for stone in self._milestones(min(like, key=distance), things)}
        return next((stone for stone in todo if stone.fact in chain), todo[0])

    def _away(self, facts: Iterable[Fact], things: Sequence[str]) -> int:
        """Count what is not at hand of the things that some facts are about; what nobody has seen is farthest."""
        belief = self._facts.belief
        named = {arg for fact in facts if fact.predicate != "or" for arg in fact.args if arg in things}
        here = {belief.location, *belief.holding}
        return sum(2 if "?" in name else int(not {name, belief.last_seen.get(name)} & here) for name in named)

    def _leave(self, fact: Fact, things: Sequence[str], left: set[Fact]) -> None:
        """Add a fact and what has to come before it to what is left to do."""
        fact = fact._replace(makeable=True)
        if fact.predicate == "or":
            for one in fact.args:
                self._leave(Fact(*one), things, left)
        elif fact not in left:
            left.add(fact)
            for before in self._before(fact, things, lacking=True):
                self._leave(before, things, left)

    def _before(self, fact: Fact, things: Sequence[str], *, lacking: bool = False) -> list[Fact]:
        """The facts that the usual way to a fact needs first; those that do not hold, or all."""
        thing = next((arg for arg in fact.args if arg in things), None)
        ways = self._manual.makers.get((fact.predicate, fact.negated), ())
        if thing is None or not ways or fact.predicate in self._manual.positional:
            return []
        binding = dict(zip(ways[0].fact.args, fact.args, strict=True))
        needs = [need for need in ways[0].needs if need.literals[0].makeable]
        if lacking:
            needs = [need for need in needs if self._judge(need, binding)[2] is not None]
        return [bound for need in needs if self._can_make(bound := need.literals[0].bound(binding))]

    def _milestones(
        self, fact: Fact, things: Sequence[str], above: frozenset[Fact] = frozenset()
    ) -> Iterator[Milestone]:
        """The facts about a thing on the way to a fact, in their order: found, then in hand, then heated."""
        fact = fact._replace(makeable=True)
        thing = next((arg for arg in fact.args if arg in things), None)
        ways = self._manual.makers.get((fact.predicate, fact.negated), ())
        if thing is None or not ways or fact.predicate in self._manual.positional or fact in above:
            return
        way, above = ways[0], above | {fact}
        binding = dict(zip(way.fact.args, fact.args, strict=True))
        role = next((name for name, bound in binding.items() if bound == thing), "object")
        stones = [
            stone
            for one in self._before(fact, things)
            for stone in self._milestones(one, things, above)
            if stone.thing == thing
        ]
        yield from stones or [Milestone(Fact("found", (thing,)), f"find_{role}", thing, found=True)]
        yield Milestone(fact, f"{way.schema.name}_{role}", thing)


class _Way(NamedTuple):
    """One way to reach a goal by its milestones."""

    stones: tuple[Milestone, ...]
    todo: tuple[Milestone, ...]
    current: Milestone | None
    away: int

    @property
    def distance(self) -> tuple[int, int]:
        return len(self.todo), self.away

    @property
    def progress(self) -> Progress:
        total = len(self.stones)
        if self.current is None:
            return Progress("done", "", total, total)
        target = kind_of(self.current.thing) if self.current.found else self.current.thing
        return Progress(self.current.name, target, total - len(self.todo), total)


def wanted(step: Stage) -> list[Need]:
    """What ends a stage, as needs that are never taken for granted."""
    return [Need(tuple(map(fact_of, clause.literals)), frozenset(), moving=False, wanted=True) for clause in step.until]


def _is_sought(purpose: Purpose, variable: str) -> bool:
    """True if a variable is for a thing that has to be had, rather than for a place."""
    return any(
        variable in literal.atom.args[:1]
        for step in purpose.steps
        for clause in step.until
        for literal in clause.literals
    )
