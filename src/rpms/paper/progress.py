"""Progress from the goal's own facts: which of them hold, and what comes before those that do not.

No plan is made, and no index of the planner is asked.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple

from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Clause, Literal, kind_of
from rpms.logic.goal import NOTHING_DONE, Progress
from rpms.logic.rules import ActiveRules, Purpose, Stage
from rpms.paper.landmarks import Milestone
from rpms.paper.outlook import Outlook


class GoalStanding(NamedTuple):
    """Progress towards a goal."""

    progress: Progress = NOTHING_DONE
    stage: int | None = None
    """Stages behind, where the goal has a procedure."""


def standing(rules: ActiveRules, situation: Situation) -> GoalStanding:
    """Progress towards the goal: by the goal's facts, or by its sentence if the manual has none.

    What was measured last still stands while belief, goal, stage and past are the same values, as
    they are where a command was refused.
    """
    if rules.purpose is None:
        return standing_by_sentence(situation.belief)
    last: _Measured | None = rules.kept.get(_Measured)
    if last is None or not last.serves(situation):
        last = _Measured(situation, Tracker(rules, situation).standing(rules.purpose))
        rules.kept[_Measured] = last
    return last.standing


class _Measured(NamedTuple):
    """Progress as it was measured in a situation."""

    situation: Situation
    standing: GoalStanding

    def serves(self, situation: Situation) -> bool:
        """True if nothing has changed since."""
        mine = self.situation
        return (
            mine.belief is situation.belief
            and mine.goal is situation.goal
            and mine.stage == situation.stage
            and mine.past == situation.past
        )


class Want(NamedTuple):
    """A fact that a goal wants, or several of which one is enough, and the names in it."""

    clause: Clause
    binding: Mapping[str, str]


class Remaining(NamedTuple):
    """The rest of a goal."""

    stages: int
    """Stages behind."""
    wants: list[Want]
    """Facts that are wanted now: by the present stage, or by the whole goal."""


class Demands:
    """The facts that a goal wants in one situation, of the things that are known there."""

    def __init__(
        self, situation: Situation, holds: Callable[[Clause, Mapping[str, str]], bool]
    ) -> None:
        """`holds`: tells if a fact, or one of several, is known to hold with some names."""
        self._situation = situation
        self._holds = holds
        self._reached: dict[tuple[object, ...], int] = {}
        """Stages behind, by purpose and things."""

    def bindings(self, purpose: Purpose, *, imagined: bool) -> Iterator[dict[str, str]]:
        """Every way to put things in place of a purpose's variables; variables of one field are
        different things.
        """
        choices: list[list[dict[str, str]]] = []
        for field_ in dict.fromkeys(purpose.over.values()):
            choices.append(self._bindings_of(field_, purpose, imagined=imagined))
        for chosen in product(*choices):
            binding: dict[str, str] = {}
            for part in chosen:
                binding |= part
            yield binding

    def _bindings_of(
        self, field_: str, purpose: Purpose, *, imagined: bool
    ) -> list[dict[str, str]]:
        """Every way to put things in place of the variables of one field of the goal."""
        variables = [name for name, source in purpose.over.items() if source == field_]
        things = self._things_for(purpose, field_, len(variables), imagined=imagined)
        pick = combinations if purpose.interchangeable else permutations
        bindings: list[dict[str, str]] = []
        for chosen in pick(things, len(variables)):
            bindings.append(dict(zip(variables, chosen, strict=True)))
        return bindings

    def _things_for(
        self, purpose: Purpose, field_: str, wanted: int, *, imagined: bool
    ) -> list[str]:
        """Things that a field of the goal may mean: those known by its name, and as many unseen
        ones (`apple ?`) as are lacking.
        """
        named = self._situation.goal.named(field_) or (field_ if purpose.staged else "")
        if not named:
            return []
        things = list(self._situation.belief.called(named))
        lacking = max(wanted - len(things), int(imagined))
        unseen = [f"{named} {'?' * number}" for number in range(1, lacking + 1)]
        return things + unseen

    def wants(self, purpose: Purpose, step: Stage, binding: Mapping[str, str]) -> Iterator[Want]:
        """The facts that end a step, for everything that it speaks of."""
        for one in self._each_thing(purpose, step, binding):
            for clause in step.until:
                yield Want(clause, one)

    def _each_thing(
        self, purpose: Purpose, step: Stage, binding: Mapping[str, str]
    ) -> list[Mapping[str, str]]:
        """A binding for every thing that a purpose is about, over the variables that a step's
        facts speak of.
        """
        every: list[Mapping[str, str]] = [binding]
        for variable, source in purpose.each.items():
            if variable in step.spoken_of:
                word = self._situation.goal.named(source) or source
                things = self._situation.belief.called(word) or (f"{word} ?",)
                every = [{**one, variable: thing} for one, thing in product(every, things)]
        return every

    def reached(self, purpose: Purpose, binding: Mapping[str, str]) -> int:
        """Count the stages of a procedure that are passed: up to the last one whose facts hold."""
        key = (id(purpose), *binding.values())
        if key not in self._reached:
            self._reached[key] = self._count_reached(purpose, binding)
        return self._reached[key]

    def _count_reached(self, purpose: Purpose, binding: Mapping[str, str]) -> int:
        for number in range(len(purpose.steps), 0, -1):
            if self._is_passed(purpose, purpose.steps[number - 1], binding):
                return number
        return 0

    def _is_passed(self, purpose: Purpose, stage: Stage, binding: Mapping[str, str]) -> bool:
        """True if the facts that end a stage hold."""
        for clause, names in self.wants(purpose, stage, binding):
            if not self._holds(clause, names):
                return False
        return True

    def remaining(self, purpose: Purpose, binding: Mapping[str, str]) -> Remaining:
        """The rest of a goal by some things."""
        if purpose.staged:
            reached = self.reached(purpose, binding)
            steps = purpose.steps[reached : reached + 1]
        else:
            reached = 0
            steps = purpose.steps
        wants: list[Want] = []
        for step in steps:
            wants += self.wants(purpose, step, binding)
        return Remaining(reached, wants)


class _Route(NamedTuple):
    """One way to reach a goal by its milestones."""

    things: tuple[str, ...]
    total: int
    todo: list[Milestone]
    """Milestones that are still to be reached."""
    lacking: list[list[Literal]]
    """The wants that do not hold yet, each as the facts of which one is enough."""


class Tracker:
    """Measures progress in one situation."""

    def __init__(self, rules: ActiveRules, situation: Situation) -> None:
        self._rules = rules
        self._belief = situation.belief
        self._outlook = Outlook(rules, situation)
        self._landmarks = self._outlook.landmarks
        self._demands = Demands(situation, self._outlook.holds)
        self._missing: dict[object, set[Literal]] = {}
        """By fact and things: the fact and its needs, those that do not hold."""

    def standing(self, purpose: Purpose) -> GoalStanding:
        """Progress towards the goal by the things that are furthest along."""
        for imagined in (False, True):
            possible = self._possible(purpose, imagined=imagined)
            if purpose.staged:
                found = self._staged(purpose, list(possible))
            else:
                found = self._nearest(purpose, possible)
            if found is not None:
                return found
        return GoalStanding()

    def _possible(self, purpose: Purpose, *, imagined: bool) -> Iterator[dict[str, str]]:
        """The ways to fill in things by which every want holds, or can still come to hold."""
        for binding in self._demands.bindings(purpose, imagined=imagined):
            wants = self._demands.remaining(purpose, binding).wants
            if all(self._is_possible(want) for want in wants):
                yield binding

    def _is_possible(self, want: Want) -> bool:
        """True if a want holds, or an action may still bring it about or show it."""
        return self._outlook.holds(*want) or bool(self._outlook.still_possible(*want))

    # A procedure.

    def _staged(
        self, purpose: Purpose, bindings: Sequence[Mapping[str, str]]
    ) -> GoalStanding | None:
        """The present stage, and the first thing that is lacking."""
        if not bindings:
            return None
        best = max(bindings, key=lambda binding: self._demands.reached(purpose, binding))
        done, wants = self._demands.remaining(purpose, best)
        total = len(purpose.steps)
        if done == total:
            return GoalStanding(Progress("done", "", done, total), done)
        target = self._first_lacking(wants)
        return GoalStanding(Progress(purpose.steps[done].name, target, done, total), done)

    def _first_lacking(self, wants: Iterable[Want]) -> str:
        """The thing that the first want is about which does not hold."""
        for want in wants:
            if self._outlook.holds(*want):
                continue
            arg = next(iter(want.clause.literals[0].atom.args), "")
            thing = want.binding.get(arg, arg)
            return kind_of(thing) if thing.endswith("?") else thing
        return ""

    # Facts in any order.

    def _nearest(
        self, purpose: Purpose, bindings: Iterable[Mapping[str, str]]
    ) -> GoalStanding | None:
        """Progress by the things with the fewest milestones left, and of those the ones at hand."""
        routes = self._routes(purpose, bindings)
        if not routes:
            return None
        nearest = min(routes, key=self._distance)
        return GoalStanding(_progress_on(nearest, self._next(nearest)))

    def _routes(self, purpose: Purpose, bindings: Iterable[Mapping[str, str]]) -> list[_Route]:
        """The ways to a goal; bindings that lack the same facts about the same things share one."""
        wanted: list[Clause] = []
        for step in purpose.steps:
            wanted += step.until
        routes: dict[object, _Route] = {}
        for binding in bindings:
            things = tuple([binding[name] for name in purpose.sought])
            held = [self._outlook.holds(clause, binding) for clause in wanted]
            # the place a thing goes to makes no difference
            key = (things, *held)
            if key not in routes:
                routes[key] = self._route(wanted, things, binding)
        return list(routes.values())

    def _distance(self, route: _Route) -> tuple[int, int]:
        """The milestones left; of two routes with as many, the things that are not at hand."""
        return len(route.todo), self._count_away(_without_choice(route.lacking), route.things)

    def _route(
        self, wanted: Iterable[Clause], things: tuple[str, ...], binding: Mapping[str, str]
    ) -> _Route:
        """The milestones of a goal by some things, and those that are left."""
        milestones: dict[Milestone, None] = {}
        lacking: list[list[Literal]] = []
        missing: set[Literal] = set()
        for clause in wanted:
            fact = clause.literals[0].bind(binding)
            milestones |= dict.fromkeys(self._landmarks.milestones(fact, things))
            if not self._outlook.holds(clause, binding):
                choices = self._outlook.still_possible(clause, binding)
                lacking.append(choices)
                for choice in choices:
                    missing |= self._missing_for(choice, things)
        return _Route(things, len(milestones), _to_reach(milestones, missing), lacking)

    def _next(self, route: _Route) -> Milestone | None:
        """The milestone to see to first: the first one left on the way to the nearest fact that is
        lacking.
        """
        if not route.todo:
            return None
        nearest = self._nearest_lacking(route)
        if nearest is not None:
            on_the_way = [each.fact for each in self._landmarks.milestones(nearest, route.things)]
            for milestone in route.todo:
                if milestone.fact in on_the_way:
                    return milestone
        return route.todo[0]

    def _nearest_lacking(self, route: _Route) -> Literal | None:
        """The nearest of the lacking facts that have the predicate of the first one. None where
        nothing is lacking, or the first leaves a choice.
        """
        if not route.lacking or len(route.lacking[0]) > 1:
            return None
        first = route.lacking[0][0]
        alike = [fact for fact in _without_choice(route.lacking) if fact.signed == first.signed]
        return min(alike, key=lambda fact: self._distance_to(fact, route))

    def _distance_to(self, fact: Literal, route: _Route) -> tuple[int, int]:
        """The milestones left on the way to a fact; of two facts with as many, the things that are
        not at hand.
        """
        todo = [milestone.fact for milestone in route.todo]
        to_reach = 0
        for milestone in self._landmarks.milestones(fact, route.things):
            to_reach += milestone.fact in todo
        return to_reach, self._count_away([fact], route.things)

    def _count_away(self, facts: Iterable[Literal], things: Sequence[str]) -> int:
        """Count the things in some facts that are not at hand; one that nobody has seen counts
        twice.
        """
        named: set[str] = set()
        for fact in facts:
            named.update(arg for arg in fact.atom.args if arg in things)
        last_seen = self._belief.last_seen
        away = 0
        for name in named:
            if "?" in name:
                away += 2
            elif name not in self._at_hand and last_seen.get(name) not in self._at_hand:
                away += 1
        return away

    @cached_property
    def _at_hand(self) -> set[str | None]:
        """The agent's place, and what it holds."""
        return {self._belief.location, *self._belief.holding}

    def _missing_for(self, fact: Literal, things: tuple[str, ...]) -> set[Literal]:
        """A fact that does not hold, and every need before it that does not hold either."""
        key = (fact, things)
        if key in self._missing:
            return self._missing[key]
        missing = {fact}
        # entered before its needs are looked at: a fact that needs itself adds nothing
        self._missing[key] = missing
        before = self._landmarks.needs_before(fact, things)
        for need in before.needs:
            if self._outlook.is_lacking(need.clause, before.binding):
                missing |= self._missing_for(need.fact, things)
        return missing


def _to_reach(milestones: Iterable[Milestone], missing: Container[Literal]) -> list[Milestone]:
    """The milestones that are left: those whose facts are missing, and all later ones of the same
    thing. A mug that is in its place, but still to be heated, does not count as put there.
    """
    todo: list[Milestone] = []
    unfinished: set[str] = set()
    for milestone in milestones:
        never_seen = milestone.found and "?" in milestone.thing
        if never_seen or milestone.fact in missing or milestone.thing in unfinished:
            todo.append(milestone)
            unfinished.add(milestone.thing)
    return todo


def _without_choice(lacking: Iterable[Sequence[Literal]]) -> list[Literal]:
    """The lacking facts in whose place no other fact would do."""
    return [choices[0] for choices in lacking if len(choices) == 1]


def _progress_on(route: _Route, current: Milestone | None) -> Progress:
    """Progress on a route, at a milestone; None if all of it is behind."""
    if current is None:
        return Progress("done", "", route.total, route.total)
    target = kind_of(current.thing) if current.found else current.thing
    done = route.total - len(route.todo)
    return Progress(current.name, target, done, route.total)


def standing_by_sentence(belief: Belief) -> GoalStanding:
    """Progress by the steps that the goal's sentence asks for. One is behind when it was done, or a
    later one was.
    """
    steps = belief.asked()
    if not steps:
        return GoalStanding()
    behind = 0
    for number, step in enumerate(steps, start=1):
        if step.done:
            behind = number
    now = steps[min(behind, len(steps) - 1)]
    return GoalStanding(Progress(now.name, now.target, behind, len(steps)), behind)
