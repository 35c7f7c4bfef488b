"""Progress from the goal's own facts: which of them hold, and what comes before those that do not.

No plan is made.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple

from rpms.logic.achievers import Achievers, Fact, Need, achievers_of
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import kind_of
from rpms.logic.goal import NOTHING_DONE, Goal, Progress
from rpms.logic.ground import Ground
from rpms.logic.rules import ActiveRules, Purpose, Stage


class GoalStanding(NamedTuple):
    """Progress towards a goal."""

    progress: Progress = NOTHING_DONE
    stage: int | None = None
    """Stages behind, where the goal has a procedure."""


def standing(rules: ActiveRules, situation: Situation) -> GoalStanding:
    """Progress towards the goal: by the goal's facts, or by its sentence if the manual has none."""
    if rules.purpose is None:
        return GoalStanding(*point(situation.belief))
    return Tracker(achievers_of(rules), situation).standing(rules.purpose)


class Milestone(NamedTuple):
    """A fact about a thing that a goal comes past: found, in hand, heated."""

    fact: Fact
    name: str
    thing: str
    found: bool = False


class _Route(NamedTuple):
    """One way to reach a goal by its milestones."""

    things: tuple[str, ...]
    total: int
    todo: list[Milestone]
    lacking: list[Fact]


class Purposeful(Ground):
    """A goal's demands in one situation, over the things known there."""

    def bindings(self, purpose: Purpose, goal: Goal, *, imagined: bool) -> Iterator[dict[str, str]]:
        """Every way to put things in place of a purpose's variables; variables of one field are
        different things.
        """
        choices = []
        for field_ in dict.fromkeys(purpose.over.values()):
            variables = [name for name, source in purpose.over.items() if source == field_]
            named = goal.named(field_) or (field_ if purpose.staged else "")
            known = list(self._facts.belief.called(named)) if named else []
            lacking = max(len(variables) - len(known), int(imagined)) if named else 0
            known += [f"{named} {'?' * number}" for number in range(1, lacking + 1)]
            pick = combinations if purpose.interchangeable else permutations
            choices.append(
                [
                    dict(zip(variables, chosen, strict=True))
                    for chosen in pick(known, len(variables))
                ]
            )
        for chosen in product(*choices):
            yield {name: thing for binding in chosen for name, thing in binding.items()}

    def wants(
        self, purpose: Purpose, step: Stage, binding: Mapping[str, str]
    ) -> list[tuple[Need, Mapping[str, str]]]:
        """The facts that end a step, for everything that it speaks of."""
        every: list[Mapping[str, str]] = [binding]
        needs = self._manual.wanted(step)
        for variable, source in purpose.each.items():
            if any(variable in literal.args for need in needs for literal in need.literals):
                word = self._facts.goal.named(source) or source
                things = self._facts.belief.called(word) or (f"{word} ?",)
                every = [{**one, variable: thing} for one in every for thing in things]
        return [(need, one) for one in every for need in needs]

    def reached(self, purpose: Purpose, binding: Mapping[str, str]) -> int:
        """Count the stages of a procedure that are behind: those up to the last one whose facts
        hold.
        """
        key = (id(purpose), *binding.values())
        if key not in self._reached:
            last_first = reversed([*enumerate(purpose.steps, 1)])
            stages = ((number, self.wants(purpose, step, binding)) for number, step in last_first)
            past = (
                number
                for number, wants in stages
                if all(self._judge(*want)[0] is True for want in wants)
            )
            self._reached[key] = next(past, 0)
        return self._reached[key]

    def left(
        self, purpose: Purpose, binding: Mapping[str, str]
    ) -> tuple[int, list[tuple[Need, Mapping[str, str]]]]:
        """The number of stages behind, and what is wanted now: by the present stage, or by the
        whole goal.
        """
        reached = self.reached(purpose, binding) if purpose.staged else 0
        steps = purpose.steps[reached : reached + 1] if purpose.staged else purpose.steps
        return reached, [pair for step in steps for pair in self.wants(purpose, step, binding)]


class Tracker(Purposeful):
    """Measures progress in one situation."""

    def __init__(self, achievers: Achievers, situation: Situation) -> None:
        super().__init__(achievers, situation)
        self._lacking_before: dict[object, set[Fact]] = {}
        kept = self._vocabulary.stones
        self._needed: dict[object, tuple[dict[str, str], list[tuple[Need, Fact]]]] = (
            kept.setdefault("needed", {})
        )
        self._stones: dict[object, tuple[Milestone, ...]] = kept.setdefault("stones", {})

    def standing(self, purpose: Purpose) -> GoalStanding:
        """Progress towards the goal by the things that are furthest along."""
        for imagined in (False, True):
            bindings = self.bindings(purpose, self._facts.goal, imagined=imagined)
            wanted = ((each, self.left(purpose, each)[1]) for each in bindings)
            possible = (
                each
                for each, wants in wanted
                if all(self._judge(*want)[0] is not False for want in wants)
            )
            found = (
                self._staged(purpose, list(possible))
                if purpose.staged
                else self._nearest(purpose, possible)
            )
            if found is not None:
                return found
        return GoalStanding()

    # A procedure.

    def _staged(
        self, purpose: Purpose, bindings: Sequence[Mapping[str, str]]
    ) -> GoalStanding | None:
        """The present stage, and the first thing that is lacking."""
        if not bindings:
            return None
        best = max(bindings, key=lambda binding: self.reached(purpose, binding))
        (done, wants), total = self.left(purpose, best), len(purpose.steps)
        if done == total:
            return GoalStanding(Progress("done", "", done, total), done)
        step = purpose.steps[done]
        lacking = next((pair for pair in wants if self._judge(*pair)[0] is not True), None)
        arg = next(iter(lacking[0].literals[0].args), "") if lacking is not None else ""
        thing = lacking[1].get(arg, arg) if lacking is not None else ""
        return GoalStanding(
            Progress(step.name, kind_of(thing) if thing.endswith("?") else thing, done, total), done
        )

    # Facts in any order.

    def _nearest(
        self, purpose: Purpose, bindings: Iterable[Mapping[str, str]]
    ) -> GoalStanding | None:
        """Progress by the things with the fewest milestones left, and of those the ones at hand."""
        needs = [need for step in purpose.steps for need in self._manual.wanted(step)]
        routes: dict[object, _Route] = {}
        for binding in bindings:
            things = tuple([binding[name] for name in purpose.sought])
            lacking = [self._judge(need, binding)[2] for need in needs]
            key = (
                things,
                *[fact is None for fact in lacking],
            )  # the place a thing goes to makes no difference
            if key not in routes:
                bound = [need.literals[0].bound(binding) for need in needs]
                routes[key] = self._route(
                    bound, things, [fact for fact in lacking if fact is not None]
                )
        if not routes:
            return None
        route = min(
            routes.values(),
            key=lambda each: (len(each.todo), self._away(each.lacking, each.things)),
        )
        total, current = route.total, self._next(route)
        if current is None:
            return GoalStanding(Progress("done", "", total, total))
        target = kind_of(current.thing) if current.found else current.thing
        return GoalStanding(Progress(current.name, target, total - len(route.todo), total))

    def _route(
        self, wanted: Iterable[Fact], things: tuple[str, ...], lacking: list[Fact]
    ) -> _Route:
        """The milestones of a goal by some things, and those that are left."""
        stones = dict.fromkeys(stone for fact in wanted for stone in self._milestones(fact, things))
        left = {one for fact in lacking for one in self._left(fact, things)}
        todo: list[Milestone] = []
        behind: set[str] = (
            set()
        )  # of one thing, nothing counts before all that comes before it: a cold mug is not home
        for stone in stones:
            if stone.thing in behind or stone.fact in left or (stone.found and "?" in stone.thing):
                todo.append(stone)
                behind.add(stone.thing)
        return _Route(things, len(stones), todo, lacking)

    def _next(self, route: _Route) -> Milestone | None:
        """The milestone to see to first: of the first fact that is lacking, or of the nearest
        one like it.
        """
        lacking, todo, things = route.lacking, route.todo, route.things
        if not lacking or not todo:
            return todo[0] if todo else None
        first = lacking[0]
        like = [
            fact
            for fact in lacking
            if (fact.predicate, fact.negated) == (first.predicate, first.negated)
        ]
        left = {stone.fact for stone in todo}

        def distance(fact: Fact) -> tuple[int, int]:
            return sum(stone.fact in left for stone in self._milestones(fact, things)), self._away(
                [fact], things
            )

        chain = {stone.fact for stone in self._milestones(min(like, key=distance), things)}
        return next((stone for stone in todo if stone.fact in chain), todo[0])

    def _away(self, facts: Iterable[Fact], things: Sequence[str]) -> int:
        """Count what is not at hand of the things that some facts are about; what nobody has
        seen is farthest.
        """
        named = {
            arg for fact in facts if fact.predicate != "or" for arg in fact.args if arg in things
        }
        here, seen = self._at_hand
        return sum(
            2 if "?" in name else int(name not in here and seen.get(name) not in here)
            for name in named
        )

    @cached_property
    def _at_hand(self) -> tuple[set[str | None], Mapping[str, str]]:
        """The agent's place and what it holds; and where everything was last seen."""
        belief = self._facts.belief
        return {belief.location, *belief.holding}, belief.last_seen

    def _left(self, fact: Fact, things: tuple[str, ...]) -> set[Fact]:
        """A fact that does not hold, and all that has to come before it and does not hold
        either.
        """
        fact = Fact(fact.predicate, fact.args, fact.negated)
        key = (fact, things)
        if key not in self._lacking_before:
            left = self._lacking_before[key] = (
                set()
            )  # before its needs: what needs itself adds nothing
            if fact.predicate == "or":
                before = [Fact(*each) for each in fact.args]
            else:
                left.add(fact)
                binding, needs = self._before(fact, things)
                before = [
                    bound for need, bound in needs if self._judge(need, binding)[2] is not None
                ]
            for one in before:
                left |= self._left(one, things)
        return self._lacking_before[key]

    def _before(
        self, fact: Fact, things: tuple[str, ...]
    ) -> tuple[dict[str, str], list[tuple[Need, Fact]]]:
        """Preconditions of the usual way to a fact that concern the things and that actions can
        cause.
        """
        key = (fact, things)
        if key not in self._needed:
            makers = self._manual.makers(fact.predicate, fact.negated)
            if (
                not makers
                or fact.predicate in self._manual.positional
                or not any(arg in things for arg in fact.args)
            ):
                self._needed[key] = {}, []
            else:
                binding = dict(zip(makers[0].fact.args, fact.args, strict=True))
                makeable = [
                    need for need in makers[0].needs if need.literals and need.literals[0].makeable
                ]
                needs = [(need, need.literals[0].bound(binding)) for need in makeable]
                about = [each for each in needs if not set(things).isdisjoint(each[1].args)]
                unmoving = [
                    each for each in about if each[1].predicate not in self._manual.positional
                ]
                self._needed[key] = binding, [each for each in unmoving if self._can_make(each[1])]
        return self._needed[key]

    def _milestones(
        self, fact: Fact, things: tuple[str, ...], above: frozenset[Fact] = frozenset()
    ) -> tuple[Milestone, ...]:
        """The facts about a thing on the way to a fact, in their order: found, then in hand,
        then heated.
        """
        key = (fact, things, above)
        if key not in self._stones:
            self._stones[key] = tuple(self._make_milestones(fact, things, above))
        return self._stones[key]

    def _make_milestones(
        self, fact: Fact, things: tuple[str, ...], above: frozenset[Fact]
    ) -> Iterator[Milestone]:
        fact = Fact(fact.predicate, fact.args, fact.negated)
        thing = next((arg for arg in fact.args if arg in things), None)
        makers = self._manual.makers(fact.predicate, fact.negated)
        if (
            thing is None
            or not makers
            or fact.predicate in self._manual.positional
            or fact in above
        ):
            return
        binding, needs = self._before(fact, things)
        role = next((name for name, bound in binding.items() if bound == thing), "object")
        before = [
            stone for _, one in needs for stone in self._milestones(one, things, above | {fact})
        ]
        stones = [stone for stone in before if stone.thing == thing]
        yield from stones or [Milestone(Fact("found", (thing,)), f"find_{role}", thing, found=True)]
        yield Milestone(fact, f"{makers[0].schema.name}_{role}", thing)


def point(belief: Belief) -> tuple[Progress, int | None]:
    """The first step that is not behind, and how many are; one is behind when it was done, or a
    later one was.
    """
    steps = belief.asked()
    if not steps:
        return NOTHING_DONE, None
    behind = max((number for number, step in enumerate(steps, start=1) if step.done), default=0)
    step = steps[min(behind, len(steps) - 1)]
    return Progress(step.name, step.target, behind, len(steps)), behind
