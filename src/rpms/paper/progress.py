"""Progress from the goal's own facts: which of them hold, and what comes before those that do not.

No plan is made, and no index of the planner is asked.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple

from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Atom, Clause, Literal, kind_of
from rpms.logic.goal import NOTHING_DONE, Progress
from rpms.logic.rules import ActiveRules, Purpose, Stage
from rpms.paper.outlook import Outlook, UsualWay, usual_way


class GoalStanding(NamedTuple):
    """Progress towards a goal."""

    progress: Progress = NOTHING_DONE
    stage: int | None = None
    """Stages behind, where the goal has a procedure."""


def standing(rules: ActiveRules, situation: Situation) -> GoalStanding:
    """Progress towards the goal: by the goal's facts, or by its sentence if the manual has none."""
    if rules.purpose is None:
        return standing_by_sentence(situation.belief)
    return Tracker(rules, situation).standing(rules.purpose)


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
    """What a goal wants in one situation, of the things that are known there."""

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
        chosen = pick(things, len(variables))
        return [dict(zip(variables, each, strict=True)) for each in chosen]

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

    def wants(self, purpose: Purpose, step: Stage, binding: Mapping[str, str]) -> list[Want]:
        """The facts that end a step, for everything that it speaks of."""
        if not purpose.each:
            return [Want(clause, binding) for clause in step.until]
        spoken_of = {name for clause in step.until for name in clause.names}
        every = self._each_thing(purpose, spoken_of, binding)
        return [Want(clause, one) for one, clause in product(every, step.until)]

    def _each_thing(
        self, purpose: Purpose, spoken_of: Container[str], binding: Mapping[str, str]
    ) -> list[Mapping[str, str]]:
        """A binding for every thing that a purpose is about, over the variables that some facts
        speak of.
        """
        every: list[Mapping[str, str]] = [binding]
        for variable, source in purpose.each.items():
            if variable in spoken_of:
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
            wants = self.wants(purpose, purpose.steps[number - 1], binding)
            if all(self._holds(*want) for want in wants):
                return number
        return 0

    def left(self, purpose: Purpose, binding: Mapping[str, str]) -> Remaining:
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


class Milestone(NamedTuple):
    """A landmark of the goal: a fact about one thing that comes true on the way to it, such as
    found, in hand, heated.
    """

    fact: Literal
    name: str
    thing: str
    found: bool = False


class _Route(NamedTuple):
    """One way to reach a goal by its milestones."""

    things: tuple[str, ...]
    total: int
    todo: list[Milestone]
    lacking: list[list[Literal]]
    """What is wanted and does not hold: facts of which one is enough."""


class _Need(NamedTuple):
    """A need of the usual way to a fact: its clause, and the first fact of it with names."""

    clause: Clause
    fact: Literal


class _Before(NamedTuple):
    """The needs that come before a fact, by the usual way to it."""

    binding: Mapping[str, str]
    """Names of that way's parameters."""
    needs: Sequence[_Need]
    """Those about the goal's things."""


_NOTHING_BEFORE = _Before({}, ())


class Tracker:
    """Measures progress in one situation."""

    def __init__(self, rules: ActiveRules, situation: Situation) -> None:
        self._rules = rules
        self._belief = situation.belief
        self._outlook = Outlook(rules, situation)
        self._demands = Demands(situation, self._outlook.holds)
        self._lacking_before: dict[object, set[Literal]] = {}
        self._needed: dict[object, _Before] = {}
        self._stones: dict[object, tuple[Milestone, ...]] = {}

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
        """The ways to fill in things with which nothing that is wanted is impossible."""
        for binding in self._demands.bindings(purpose, imagined=imagined):
            wants = self._demands.left(purpose, binding).wants
            if all(self._outlook.holds(*want) or self._outlook.left(*want) for want in wants):
                yield binding

    # A procedure.

    def _staged(
        self, purpose: Purpose, bindings: Sequence[Mapping[str, str]]
    ) -> GoalStanding | None:
        """The present stage, and the first thing that is lacking."""
        if not bindings:
            return None
        best = max(bindings, key=lambda binding: self._demands.reached(purpose, binding))
        done, wants = self._demands.left(purpose, best)
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
        wanted = [clause for step in purpose.steps for clause in step.until]
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
        """Milestones left, and things that are not at hand."""
        return len(route.todo), self._away(_single(route.lacking), route.things)

    def _route(
        self, wanted: Iterable[Clause], things: tuple[str, ...], binding: Mapping[str, str]
    ) -> _Route:
        """The milestones of a goal by some things, and those that are left."""
        stones: dict[Milestone, None] = {}
        lacking: list[list[Literal]] = []
        left: set[Literal] = set()
        for clause in wanted:
            stones |= dict.fromkeys(self._milestones(clause.literals[0].bind(binding), things))
            if not self._outlook.holds(clause, binding):
                either = self._outlook.left(clause, binding)
                lacking.append(either)
                for fact in either:
                    left |= self._left(fact, things)
        todo: list[Milestone] = []
        # of one thing, nothing counts before all that comes before it: a cold mug is not home
        behind: set[str] = set()
        for stone in stones:
            unseen = stone.found and "?" in stone.thing
            if stone.thing in behind or stone.fact in left or unseen:
                todo.append(stone)
                behind.add(stone.thing)
        return _Route(things, len(stones), todo, lacking)

    def _next(self, route: _Route) -> Milestone | None:
        """The milestone to see to first: the first one left on the way to the nearest fact that is
        lacking.
        """
        if not route.todo:
            return None
        if route.lacking:
            on_the_way = {stone.fact for stone in self._stones_to_nearest(route)}
            for stone in route.todo:
                if stone.fact in on_the_way:
                    return stone
        return route.todo[0]

    def _stones_to_nearest(self, route: _Route) -> tuple[Milestone, ...]:
        """The milestones of the first fact that is lacking, or of one with its predicate that has
        fewer milestones left, or things nearer at hand. None where one of several would do.
        """
        first = route.lacking[0]
        if len(first) > 1:
            return ()
        left = {stone.fact for stone in route.todo}

        def distance(fact: Literal) -> tuple[int, int]:
            stones = self._milestones(fact, route.things)
            todo = sum(stone.fact in left for stone in stones)
            return todo, self._away([fact], route.things)

        like = [fact for fact in _single(route.lacking) if fact.signed == first[0].signed]
        return self._milestones(min(like, key=distance), route.things)

    def _away(self, facts: Iterable[Literal], things: Sequence[str]) -> int:
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

    def _left(self, fact: Literal, things: tuple[str, ...]) -> set[Literal]:
        """A fact that does not hold, and all that has to come before it and does not hold
        either.
        """
        key = (fact, things)
        if key not in self._lacking_before:
            # entered before its needs are looked at: what needs itself adds nothing
            left = self._lacking_before[key] = {fact}
            before = self._before(fact, things)
            for need in before.needs:
                if self._outlook.is_lacking(need.clause, before.binding):
                    left |= self._left(need.fact, things)
        return self._lacking_before[key]

    def _before(self, fact: Literal, things: tuple[str, ...]) -> _Before:
        """Needs of the usual way to a fact that concern the things and that actions can see to."""
        key = (fact, things)
        if key not in self._needed:
            self._needed[key] = self._find_before(fact, things)
        return self._needed[key]

    def _find_before(self, fact: Literal, things: tuple[str, ...]) -> _Before:
        usual = self._usual_way_about(fact, things)
        if usual is None:
            return _NOTHING_BEFORE
        binding = dict(zip(usual.args, fact.atom.args, strict=True))
        needs: list[_Need] = []
        for clause in usual.before:
            needed = clause.literals[0].bind(binding)
            if self._is_about(needed, things) and self._outlook.can_make(needed):
                needs.append(_Need(clause, needed))
        return _Before(binding, needs)

    def _usual_way_about(self, fact: Literal, things: tuple[str, ...]) -> UsualWay | None:
        """The usual way to a fact about some things."""
        return usual_way(self._rules, fact.signed) if self._is_about(fact, things) else None

    def _is_about(self, fact: Literal, things: tuple[str, ...]) -> bool:
        """True if a fact is about some things, and not about where the agent is."""
        if fact.atom.predicate in self._rules.positional:
            return False
        return not set(things).isdisjoint(fact.atom.args)

    def _milestones(
        self, fact: Literal, things: tuple[str, ...], above: frozenset[Literal] = frozenset()
    ) -> tuple[Milestone, ...]:
        """The facts about a thing on the way to a fact, in their order: found, then in hand,
        then heated.
        """
        key = (fact, things, above)
        if key not in self._stones:
            self._stones[key] = tuple(self._make_milestones(fact, things, above))
        return self._stones[key]

    def _make_milestones(
        self, fact: Literal, things: tuple[str, ...], above: frozenset[Literal]
    ) -> Iterator[Milestone]:
        usual = self._usual_way_about(fact, things)
        if usual is None or fact in above:
            return
        thing = next(arg for arg in fact.atom.args if arg in things)
        before = self._before(fact, things)
        role = _role_of(thing, before.binding)
        stones: list[Milestone] = []
        for need in before.needs:
            on_the_way = self._milestones(need.fact, things, above | {fact})
            stones += [stone for stone in on_the_way if stone.thing == thing]
        if not stones:
            found = Literal(Atom("found", (thing,)))
            stones.append(Milestone(found, f"find_{role}", thing, found=True))
        yield from stones
        yield Milestone(fact, f"{usual.action}_{role}", thing)


def _single(lacking: Iterable[Sequence[Literal]]) -> list[Literal]:
    """The facts that are lacking and that no other fact would do for."""
    return [either[0] for either in lacking if len(either) == 1]


def _progress_on(route: _Route, current: Milestone | None) -> Progress:
    """Progress on a route, at a milestone; None if all of it is behind."""
    if current is None:
        return Progress("done", "", route.total, route.total)
    target = kind_of(current.thing) if current.found else current.thing
    done = route.total - len(route.todo)
    return Progress(current.name, target, done, route.total)


def _role_of(thing: str, binding: Mapping[str, str]) -> str:
    """The variable that is bound to a thing."""
    for name, bound in binding.items():
        if bound == thing:
            return name
    return "object"


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
