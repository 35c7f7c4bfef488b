"""Progress from the goal's own facts: which of them hold, and what comes before those that do not.

No plan is made.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations, product
from typing import NamedTuple

from rpms.logic.achievers import Achievers, achievers_of
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import kind_of
from rpms.logic.goal import NOTHING_DONE, Goal, Progress
from rpms.logic.ground import Ground
from rpms.logic.rules import ActiveRules, Purpose, Stage
from rpms.logic.wanted_facts import Fact, Need


class GoalStanding(NamedTuple):
    """Progress towards a goal."""

    progress: Progress = NOTHING_DONE
    stage: int | None = None
    """Stages behind, where the goal has a procedure."""


def standing(rules: ActiveRules, situation: Situation) -> GoalStanding:
    """Progress towards the goal: by the goal's facts, or by its sentence if the manual has none."""
    if rules.purpose is None:
        return standing_by_sentence(situation.belief)
    return Tracker(achievers_of(rules), situation).standing(rules.purpose)


class Milestone(NamedTuple):
    """A landmark of the goal: a fact about one thing that comes true on the way to it, such as
    found, in hand, heated.
    """

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


class Want(NamedTuple):
    """A fact that a goal wants, and the names in it."""

    need: Need
    binding: Mapping[str, str]


class Remaining(NamedTuple):
    """The rest of a goal."""

    stages: int
    """Stages behind."""
    wants: list[Want]
    """Facts that are wanted now: by the present stage, or by the whole goal."""


class _NamedNeed(NamedTuple):
    """A need over a way's parameters, and its fact with names in their place."""

    need: Need
    fact: Fact


class _Before(NamedTuple):
    """The needs that come before a fact, by the usual way to it."""

    binding: Mapping[str, str]
    """Names of that way's parameters."""
    needs: Sequence[_NamedNeed]
    """Those about the goal's things."""


_NOTHING_BEFORE = _Before({}, ())


class Demands:
    """What a goal wants in one situation, of the things that are known there."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._reached = ground.index.answers_of(ground.situation).reached

    def bindings(self, purpose: Purpose, goal: Goal, *, imagined: bool) -> Iterator[dict[str, str]]:
        """Every way to put things in place of a purpose's variables; variables of one field are
        different things.
        """
        choices: list[list[dict[str, str]]] = []
        for field_ in dict.fromkeys(purpose.over.values()):
            choices.append(self._bindings_of(field_, purpose, goal, imagined=imagined))
        for chosen in product(*choices):
            binding: dict[str, str] = {}
            for part in chosen:
                binding |= part
            yield binding

    def _bindings_of(
        self, field_: str, purpose: Purpose, goal: Goal, *, imagined: bool
    ) -> list[dict[str, str]]:
        """Every way to put things in place of the variables of one field of the goal."""
        variables = [name for name, source in purpose.over.items() if source == field_]
        things = self._things_for(purpose, goal, field_, len(variables), imagined=imagined)
        pick = combinations if purpose.interchangeable else permutations
        chosen = pick(things, len(variables))
        return [dict(zip(variables, each, strict=True)) for each in chosen]

    def _things_for(
        self, purpose: Purpose, goal: Goal, field_: str, wanted: int, *, imagined: bool
    ) -> list[str]:
        """Things that a field of the goal may mean: those known by its name, and as many unseen
        ones (`apple ?`) as are lacking.
        """
        named = goal.named(field_) or (field_ if purpose.staged else "")
        if not named:
            return []
        things = list(self._ground.situation.belief.called(named))
        lacking = max(wanted - len(things), int(imagined))
        unseen = [f"{named} {'?' * number}" for number in range(1, lacking + 1)]
        return things + unseen

    def wants(self, purpose: Purpose, step: Stage, binding: Mapping[str, str]) -> list[Want]:
        """The facts that end a step, for everything that it speaks of."""
        needs = self._ground.index.wanted(step)
        if not purpose.each:
            return [Want(need, binding) for need in needs]
        every = self._each_thing(purpose, _variables_of(needs), binding)
        return [Want(need, one) for one, need in product(every, needs)]

    def _each_thing(
        self, purpose: Purpose, spoken_of: Container[str], binding: Mapping[str, str]
    ) -> list[Mapping[str, str]]:
        """A binding for every thing that a purpose is about, over the variables that some facts
        speak of.
        """
        every: list[Mapping[str, str]] = [binding]
        for variable, source in purpose.each.items():
            if variable in spoken_of:
                word = self._ground.situation.goal.named(source) or source
                things = self._ground.situation.belief.called(word) or (f"{word} ?",)
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
            if self._is_all_there(wants):
                return number
        return 0

    def _is_all_there(self, wants: Iterable[Want]) -> bool:
        """True if all that is wanted holds."""
        judge = self._ground.judge
        for want in wants:  # noqa: SIM110  asked so often that `all` is too dear
            if judge(want.need, want.binding).possible is not True:
                return False
        return True

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


class Tracker:
    """Measures progress in one situation."""

    def __init__(self, achievers: Achievers, situation: Situation) -> None:
        self._ground = Ground(achievers, situation)
        self._demands = Demands(self._ground)
        self._lacking_before: dict[object, set[Fact]] = {}
        kept = self._ground.known_names.stones
        self._needed: dict[object, _Before] = kept.setdefault("needed", {})
        self._stones: dict[object, tuple[Milestone, ...]] = kept.setdefault("stones", {})

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
        for binding in self._demands.bindings(
            purpose, self._ground.situation.goal, imagined=imagined
        ):
            wants = self._demands.left(purpose, binding).wants
            if all(self._ground.judge(*want).possible is not False for want in wants):
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
            if self._ground.judge(*want).possible is True:
                continue
            arg = next(iter(want.need.literals[0].args), "")
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
        return GoalStanding(self._progress_on(min(routes, key=self._distance)))

    def _routes(self, purpose: Purpose, bindings: Iterable[Mapping[str, str]]) -> list[_Route]:
        """The ways to a goal; bindings that lack the same facts about the same things share one."""
        needs = self._all_wanted(purpose)
        routes: dict[object, _Route] = {}
        for binding in bindings:
            things = tuple([binding[name] for name in purpose.sought])
            judged = [self._ground.judge(need, binding).left for need in needs]
            # the place a thing goes to makes no difference
            key = (things, *[fact is None for fact in judged])
            if key not in routes:
                wanted = [need.literals[0].bound(binding) for need in needs]
                lacking = [fact for fact in judged if fact is not None]
                routes[key] = self._route(wanted, things, lacking)
        return list(routes.values())

    def _all_wanted(self, purpose: Purpose) -> list[Need]:
        """The needs of every step of a purpose."""
        needs: list[Need] = []
        for step in purpose.steps:
            needs += self._ground.index.wanted(step)
        return needs

    def _progress_on(self, route: _Route) -> Progress:
        current = self._next(route)
        if current is None:
            return Progress("done", "", route.total, route.total)
        target = kind_of(current.thing) if current.found else current.thing
        done = route.total - len(route.todo)
        return Progress(current.name, target, done, route.total)

    def _distance(self, route: _Route) -> tuple[int, int]:
        """Milestones left, and things that are not at hand."""
        return len(route.todo), self._away(route.lacking, route.things)

    def _route(
        self, wanted: Iterable[Fact], things: tuple[str, ...], lacking: list[Fact]
    ) -> _Route:
        """The milestones of a goal by some things, and those that are left."""
        stones: dict[Milestone, None] = {}
        for fact in wanted:
            stones |= dict.fromkeys(self._milestones(fact, things))
        left: set[Fact] = set()
        for fact in lacking:
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
            nearest = self._nearest_lacking(route)
            on_the_way = {stone.fact for stone in self._milestones(nearest, route.things)}
            for stone in route.todo:
                if stone.fact in on_the_way:
                    return stone
        return route.todo[0]

    def _nearest_lacking(self, route: _Route) -> Fact:
        """The first fact that is lacking, or one with its predicate that has fewer milestones left,
        or things nearer at hand.
        """
        first = route.lacking[0]
        sort = (first.predicate, first.negated)
        like = [fact for fact in route.lacking if (fact.predicate, fact.negated) == sort]
        left = {stone.fact for stone in route.todo}

        def distance(fact: Fact) -> tuple[int, int]:
            stones = self._milestones(fact, route.things)
            todo = sum(stone.fact in left for stone in stones)
            return todo, self._away([fact], route.things)

        return min(like, key=distance)

    def _away(self, facts: Iterable[Fact], things: Sequence[str]) -> int:
        """Count the things in some facts that are not at hand; one that nobody has seen counts
        twice.
        """
        named: set[str] = set()
        for fact in facts:
            if not fact.alternatives:
                named.update(arg for arg in fact.args if arg in things)
        away = 0
        for name in named:
            if "?" in name:
                away += 2
            elif name not in self._at_hand and self._last_seen.get(name) not in self._at_hand:
                away += 1
        return away

    @cached_property
    def _at_hand(self) -> set[str | None]:
        """The agent's place, and what it holds."""
        belief = self._ground.situation.belief
        return {belief.location, *belief.holding}

    @cached_property
    def _last_seen(self) -> Mapping[str, str]:
        return self._ground.situation.belief.last_seen

    def _left(self, fact: Fact, things: tuple[str, ...]) -> set[Fact]:
        """A fact that does not hold, and all that has to come before it and does not hold
        either.
        """
        fact = Fact(fact.predicate, fact.args, fact.negated)
        key = (fact, things)
        if key not in self._lacking_before:
            # entered before its needs are looked at: what needs itself adds nothing
            left = self._lacking_before[key] = set[Fact]()
            before: Sequence[Fact] = fact.alternatives
            if not before:
                left.add(fact)
                before = self._lacking_needs(fact, things)
            for one in before:
                left |= self._left(one, things)
        return self._lacking_before[key]

    def _lacking_needs(self, fact: Fact, things: tuple[str, ...]) -> list[Fact]:
        before = self._before(fact, things)
        lacking: list[Fact] = []
        for each in before.needs:
            if self._ground.judge(each.need, before.binding).left is not None:
                lacking.append(each.fact)
        return lacking

    def _before(self, fact: Fact, things: tuple[str, ...]) -> _Before:
        """Preconditions of the usual way to a fact that concern the things and that actions can
        cause.
        """
        key = (fact, things)
        if key not in self._needed:
            self._needed[key] = self._find_before(fact, things)
        return self._needed[key]

    def _find_before(self, fact: Fact, things: tuple[str, ...]) -> _Before:
        makers = self._ground.index.makers(fact.predicate, fact.negated)
        if not makers or not self._is_about(fact, things):
            return _NOTHING_BEFORE
        usual = makers.ways[0]
        binding = dict(zip(usual.fact.args, fact.args, strict=True))
        needs: list[_NamedNeed] = []
        for need in usual.needs:
            if not need.literals or not need.literals[0].makeable:
                continue
            bound = need.literals[0].bound(binding)
            if self._is_about(bound, things) and self._ground.can_make(bound):
                needs.append(_NamedNeed(need, bound))
        return _Before(binding, needs)

    def _is_about(self, fact: Fact, things: tuple[str, ...]) -> bool:
        """True if a fact is about some things, and not about where the agent is."""
        if fact.predicate in self._ground.index.positional:
            return False
        return not set(things).isdisjoint(fact.args)

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
        makers = self._ground.index.makers(fact.predicate, fact.negated)
        if not makers or fact in above or not self._is_about(fact, things):
            return
        thing = next(arg for arg in fact.args if arg in things)
        before = self._before(fact, things)
        role = _role_of(thing, before.binding)
        stones: list[Milestone] = []
        for each in before.needs:
            on_the_way = self._milestones(each.fact, things, above | {fact})
            stones += [stone for stone in on_the_way if stone.thing == thing]
        yield from stones or [Milestone(Fact("found", (thing,)), f"find_{role}", thing, found=True)]
        yield Milestone(fact, f"{makers.ways[0].schema.name}_{role}", thing)


def _role_of(thing: str, binding: Mapping[str, str]) -> str:
    """The variable that is bound to a thing."""
    for name, bound in binding.items():
        if bound == thing:
            return name
    return "object"


def _variables_of(needs: Iterable[Need]) -> set[str]:
    """The arguments that facts are about."""
    found: set[str] = set()
    for need in needs:
        for literal in need.literals:
            found.update(literal.args)
    return found


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
