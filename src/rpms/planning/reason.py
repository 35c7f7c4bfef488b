"""Plans over the manual: the actions possible now, each with its purpose.

The manual is a planning domain. `progress` says what a goal asks for, `search` finds the actions
that lead there and their cost. A known fact costs nothing, an unknown one costs looking or is
assumed at a price; only a false fact that no action changes makes a plan impossible. No simulator
is asked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import inf

from rpms.logic.actions import ActionSchema, Instance, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import unseen_of
from rpms.logic.goal import Goal
from rpms.logic.rules import ActiveRules, Purpose, kept_with_rules
from rpms.planning.achievers import Achievers, achievers_of, command_of
from rpms.planning.commands_refused import Barred
from rpms.planning.edges import UNSEEN, Link, Option
from rpms.planning.effort import Effort
from rpms.planning.impasse import Impasse, Missing
from rpms.planning.kept_answers import KnownNames
from rpms.planning.plan_graph import Graph, Plan, Remedy
from rpms.planning.wanted_facts import Fact, fact_of
from rpms.planning.ways import NOTHING_BARRED
from rpms.planning.whereabouts import Order, Whereabouts, likely_places


class Reasoner:
    """The manual, ready to plan with."""

    def __init__(
        self,
        rules: ActiveRules,
        achievers: Achievers | None = None,
        barred: Barred = NOTHING_BARRED,
    ) -> None:
        """`achievers`: the index of the rules, where there is one already; `barred`: commands that
        plans do not give.
        """
        self.rules = rules
        self.achievers = achievers or Achievers(rules)
        self._barred = barred

    def plan(
        self,
        situation: Situation,
        order: Order | None = None,
        *,
        seek: bool = True,
        most: float = inf,
        effort: Effort | None = None,
        purpose: Purpose | None = None,
        best: bool = False,
    ) -> Plan:
        """Plan for a situation, if one costs no more than `most`; if none, and `seek`, one that
        finds out anything. Where lines may be doubted, the search counts its `effort`.

        Another `purpose` than that of the rules shares with it what was derived in earlier plans.
        Best: of the options the first alone, which takes less time.
        """
        order = order if order is not None else likely_places(self.rules)
        purposes = self._purposes(purpose)
        plan = Plan()
        if purposes:
            graph = self._graph(situation, order, effort=effort, best=best)
            plan = graph.plan(purposes, most)
        if self.rules.lore.always:
            first = self._graph(situation, order).first_things(most)
            if first:
                return plan.offering(first)
        if plan.options or plan.cost == 0 or not seek:
            return plan
        return self.explore(situation, order)

    def _purposes(self, purpose: Purpose | None) -> Sequence[tuple[Purpose, float]]:
        """The purposes to plan for, each with its price: the one asked for, else all readings of
        the goal, else the one that the rules have.
        """
        if purpose is not None:
            return ((purpose, 0.0),)
        if self.rules.purposes:
            return self.rules.purposes
        if self.rules.purpose is not None:
            return ((self.rules.purpose, 0.0),)
        return ()

    def explore(self, situation: Situation, order: Order) -> Plan:
        """Plan to find out whatever is unknown, and say whether that may lead to the goal.

        Where what the goal names is nowhere and no look may show anything new, what is unknown of
        known things cannot serve it either.
        """
        graph = self._graph(situation, order)
        if not graph.may_show_more():
            nowhere = self.nowhere(situation, order) if graph.tells_of_more() else ()
            if nowhere:
                return Plan(nowhere=tuple(map(str, nowhere)))
            return self.search(situation, order)
        plan = self.search(situation, order)
        if not plan.options:
            return plan
        return replace(plan, searching=self.may_be_found(situation, order))

    def may_be_found(self, situation: Situation, order: Order) -> bool:
        """True if a look may show more, and a plan reaches the goal once every role has one more
        thing.

        Nobody has seen that thing, so the plan begins with looking for it.
        """
        if not self._graph(situation, order).may_show_more():
            return False
        kept = self.achievers.kept
        if "supposing" not in kept:
            kept["supposing"] = Reasoner(self.rules, _Supposing(self.rules))
        supposing: Reasoner = kept["supposing"]
        plan = supposing.plan(situation, order, seek=False, best=True)
        return plan.cost < inf

    def nowhere(self, situation: Situation, order: Order | None = None) -> tuple[Missing, ...]:
        """The things that the goal needs beyond those that are known, where every place was looked
        at.

        No line of the manual is to blame for that, and no doubt brings such a thing about. What a
        goal in stages asks for may be made on the way, and so it need not be anywhere yet; where it
        is to be brought is there from the beginning.
        """
        purpose = self.rules.purpose
        if purpose is None:
            return ()
        if purpose.staged:
            words = [situation.goal.destination]
        else:
            words = _words_of(purpose, situation.goal)
        return self._in_no_place(words, situation, order)

    def not_there_yet(
        self, situation: Situation, order: Order | None = None
    ) -> tuple[Missing, ...]:
        """The same, with what may be made on the way."""
        purpose = self.rules.purpose
        if purpose is None:
            return ()
        return self._in_no_place(_words_of(purpose, situation.goal), situation, order)

    def _in_no_place(
        self, words: Sequence[str], situation: Situation, order: Order | None
    ) -> tuple[Missing, ...]:
        """The words by which fewer things are known than are needed, and no place is left where
        looking might show more.
        """
        missing = _missing(words, situation)
        if not missing:
            return ()
        if order is None:
            order = likely_places(self.rules)
        graph = self._graph(situation, order)
        return tuple(each for each in missing if graph.is_nowhere(unseen_of(each.word)))

    def search(
        self,
        situation: Situation,
        order: Order,
        sought: Sequence[str] = (UNSEEN,),
        *,
        most: float = inf,
        effort: Effort | None = None,
    ) -> Plan:
        """Plan to find things nobody has seen yet, or whatever is unknown, if that costs no more
        than `most`.
        """
        return self._graph(situation, order, effort=effort).explore(sought, most)

    def _graph(
        self,
        situation: Situation,
        order: Order,
        *,
        effort: Effort | None = None,
        best: bool = False,
    ) -> Graph:
        """The actions that matter in a situation: one graph for all plans made in it."""
        key = "best graph" if best else "graph"
        kept: Graph | None = self.achievers.kept.get(key)
        if kept is None or not kept.serves(situation, order, effort):
            kept = Graph(
                self.achievers, situation, order, effort=effort, best=best, barred=self._barred
            )
            self.achievers.kept[key] = kept
        kept.bar(self._barred)
        return kept

    def impasse(self, situation: Situation) -> str:
        """The need that keeps every plan from the goal, and why; for people, when no plan is
        found.
        """
        purpose = self.rules.purpose
        goal = situation.goal
        if purpose is None:
            return f"the manual has no goal of type {goal.type!r}"
        reason = Impasse(self.achievers, situation, likely_places(self.rules)).explain(purpose)
        return reason or "all that the goal wants holds, or could be had"

    def names(self, situation: Situation) -> Mapping[str, Sequence[str]]:
        """The names that are known, by role: those that the manual lists too."""
        return {**self.achievers.lasting_names, **situation.belief.names}

    def commands(self, situation: Situation) -> Iterator[str]:
        """Every action over the names that are known, whether it can be done or not."""
        names = self.names(situation)
        for schema in self.rules.environment:
            parameters = schema.variables
            for chosen in product(*(names_for(name, names) for name in parameters)):
                yield command_of(schema, dict(zip(parameters, chosen, strict=True)))

    @cached_property
    def glances(self) -> tuple[Option, ...]:
        """Actions possible anywhere that reveal something: for when things are not as believed."""
        schemas = [
            schema for schema in self.rules.environment if schema.observes and not schema.variables
        ]
        looks = [Link(schema.syntax[0], Fact("known", ()), reveals=True) for schema in schemas]
        return tuple(Option(look.command, 0.0, (look,)) for look in looks)

    def remedy(self, instance: Instance, situation: Situation, *, explained: bool = True) -> Remedy:
        """The first step towards being able to do an action, or, if `explained`, what stands
        against it for good.
        """
        order = likely_places(self.rules)
        if explained:
            graph = Graph(self.achievers, situation, order)
        else:
            graph = self._graph(situation, order, best=True)
        schema = instance.schema
        parameters = tuple(instance.binding)
        gives = _given_by(schema)
        needs = [
            self.achievers.need_of(clause, gives, parameters) for clause in schema.preconditions
        ]
        return graph.remedy(needs, instance.binding, explained=explained)


def _given_by(schema: ActionSchema) -> Fact | None:
    """The fact that an action is for: its first effect; None if it needs that fact itself."""
    if not schema.effects:
        return None
    given = fact_of(schema.effects[0])
    for clause in schema.preconditions:
        if len(clause.literals) == 1 and fact_of(clause.literals[0]) == given:
            return None
    return given


class _Supposing(Achievers):
    """The manual's index, as if there were one more thing for every role: `some place ?`."""

    @cached_property
    def _supposed(self) -> Mapping[str, str]:
        """The thing supposed for each role, where the manual itself lists no names."""
        roles = {name for schema in self.rules.all_actions for name in schema.variables}
        return {
            role: unseen_of(f"some {role}") for role in sorted(roles - self.lasting_names.keys())
        }

    def known_names(self, known: Mapping[str, Sequence[str]]) -> KnownNames:
        named = {role: (*known.get(role, ()), name) for role, name in self._supposed.items()}
        found = super().known_names({**known, **named})
        found.every = found.every.difference(self._supposed.values())  # what is unseen may be all
        return found


def _words_of(purpose: Purpose, goal: Goal) -> list[str]:
    """The goal's words for the things it is about, one for each thing."""
    return [goal.named(field) for field in purpose.over.values()]


def _missing(words: Iterable[str], situation: Situation) -> list[Missing]:
    """The words by which fewer things are known than are needed."""
    missing: list[Missing] = []
    for word, count in Counter(words).items():
        known = len(situation.belief.called(word)) if word else count
        if known < count:
            missing.append(Missing(word, known > 0))
    return missing


@kept_with_rules
def reasoner_of(rules: ActiveRules) -> Reasoner:
    """The reasoner over some rules, made once for all steps that ask for it."""
    return Reasoner(rules, achievers_of(rules))


def plan_for(
    rules: ActiveRules, situation: Situation, experience: Whereabouts | None = None
) -> Plan:
    """Plan from rules and experience."""
    goal = situation.goal
    return reasoner_of(rules).plan(
        situation, likely_places(rules, experience, (goal.object, goal.destination))
    )
