"""Why no plan reaches the goal: for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rpms.logic.belief import Situation
from rpms.logic.facts import Truth
from rpms.logic.rules import ANYTHING, Purpose
from rpms.paper.progress import Demands, Want
from rpms.planning.achievers import Achievers
from rpms.planning.edges import GOAL, Edge
from rpms.planning.plan_graph import left_of
from rpms.planning.search import Search
from rpms.planning.wanted_facts import Achiever, Fact, Need, fact_of
from rpms.planning.ways import Ways
from rpms.planning.whereabouts import Order


class Missing(NamedTuple):
    """Things that a goal needs and that are in none of the places, all of which were searched."""

    word: str
    """The goal's word for them."""
    is_further: bool = False
    """True if such a thing is known, and the goal needs more of them."""

    def __str__(self) -> str:
        return f"other {self.word}" if self.is_further else self.word


def said_nowhere(missing: Iterable[object]) -> str:
    """The sentence that things of some kinds are nowhere: `no egg and no safe is in any place
    here`.
    """
    return f"no {' and no '.join(map(str, missing))} is in any place here"


class Impasse:
    """A situation in which no plan reaches the goal, and why: the need at the end of the chain,
    and what it lacks.
    """

    def __init__(self, achievers: Achievers, situation: Situation, order: Order) -> None:
        self._ways = Ways(achievers, situation, order)
        self._demands = Demands(situation, self._ways.holds)
        self._search = Search(self._ways)

    def explain(self, purpose: Purpose) -> str:
        """The first need that cannot be met, behind what it is for: `a ← action: reason`;
        nothing if all can be.
        """
        for imagined in (False, True):
            for binding in self._demands.bindings(purpose, imagined=imagined):
                wanted = self._demands.remaining(purpose, binding).wants
                reason = self._why_not(wanted)
                if reason:
                    return reason
        return ""

    def _why_not(self, wanted: Sequence[Want]) -> str:
        """Why the first want that cannot be had cannot; nothing if all can be."""
        judged = [self._ways.judge_wanted(*want) for want in wanted]
        self._search.reaches([Edge(GOAL, left_of(judged), 0.0)])
        for want, one in zip(wanted, judged, strict=True):
            if one.possible is False:
                first = fact_of(want.clause.literals[0])
                return self._unmakeable(first.bound(want.binding))
            if one.left is not None and not self._search.can_be_had(one.left):
                return next(self._reasons(one.left, set()), self._unmakeable(one.left))
        return ""

    def _reasons(self, fact: Fact, asked: set[Fact]) -> Iterator[str]:
        """Reasons why a fact cannot be had, each fact asked once: first what has no names, then
        what is false.
        """
        if fact in asked:
            return
        asked.add(fact)
        if fact.alternatives:
            for one in fact.alternatives:
                yield from self._reasons(one, asked)
            return
        achievers = self._ways_to(fact)
        if not achievers:
            yield self._unmakeable(fact)
        for find in (self._nameless, self._unmet):
            for way in achievers:
                for reason in find(way, fact):
                    yield f"{self._say(fact)} ← {way.schema.name}: {reason}"
        for way in achievers:
            yield from self._deeper_reasons(way, fact, asked)

    def _deeper_reasons(self, way: Achiever, fact: Fact, asked: set[Fact]) -> Iterator[str]:
        """Reasons why what a way to a fact needs cannot be had, behind that way."""
        for needed in self._lacking_of(way, fact):
            for reason in self._reasons(needed, asked):
                yield f"{self._say(fact)} ← {way.schema.name} ← {reason}"

    def _ways_to(self, fact: Fact) -> Sequence[Achiever]:
        """Actions that make a fact so, and if nobody knows it, those that show it."""
        achievers: list[Achiever] = []
        if fact.makeable:
            achievers += self._ways.index.makers(fact.predicate, fact.negated)
        if self._ways.truth(fact) is None:
            achievers += self._ways.index.revealers.get(fact.predicate, ())
        return achievers

    def _lacking_of(self, way: Achiever, fact: Fact) -> Iterator[Fact]:
        """Needs of a way that could be met in principle and have no price."""
        bound = self._bound(way, fact)
        for need in way.needs:
            for filled in self._choices_for(need, bound):
                needed = self._ways.judge(need, filled).left
                if needed is not None and not self._search.can_be_had(needed):
                    yield needed

    def _choices_for(self, need: Need, bound: Mapping[str, str]) -> list[Mapping[str, str]]:
        """Names for all that a need is about: each known one where one is open; none where more
        are.
        """
        free = need.names - bound.keys()
        if not free:
            return [bound]
        if len(free) > 1:
            return []
        (variable,) = free
        return [{**bound, variable: name} for name in self._ways.names.get(variable, ())]

    def _nameless(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Variables of a way that nothing is named for, and names that are known in other roles
        alone.
        """
        bound = self._bound(way, fact)
        for variable, name in bound.items():
            if variable in way.parameters and not self._ways.suits(variable, name):
                yield f"{name!r} is known, but not as a <{variable}>"
        for variable in way.parameters:
            if variable not in bound and not self._ways.names.get(variable):
                yield f"nothing is known that could be its <{variable}>"

    def _unmet(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Needs of a way that no name fulfils: false, and no action changes that."""
        bound = self._bound(way, fact)
        for need in way.needs:
            if not need.literals:
                yield f"a rule forbids `{way.schema.name}` in every state"
                continue
            filled = self._choices_for(need, bound)
            if filled and all(self._ways.judge(need, one).possible is False for one in filled):
                yield self._why_unmet(need, bound, filled)

    def _why_unmet(
        self, need: Need, bound: Mapping[str, str], filled: Sequence[Mapping[str, str]]
    ) -> str:
        """Why a need is not met with any of the names that it can be filled with."""
        lacking = need.literals[0]
        if len(filled) == 1:
            return self._unmakeable(lacking.bound(filled[0]))
        (variable,) = need.names - bound.keys()
        return f"{lacking.bound(bound).atom} is false of every <{variable}>"

    def _bound(self, way: Achiever, fact: Fact) -> dict[str, str]:
        pairs = zip(way.fact.args, fact.args, strict=True)
        return {parameter: name for parameter, name in pairs if parameter not in (ANYTHING, name)}

    def _unmakeable(self, fact: Fact) -> str:
        for way in self._ways.index.makers(fact.predicate, fact.negated):
            for reason in self._nameless(way, fact):
                return f"{self._say(fact)} ← {way.schema.name}: {reason}"
        if self._ways.truth(fact) is None:
            return f"{self._say(fact)}: it is unknown, and no action shows or changes it"
        return f"{self._say(fact)}: it is not so, and no action changes that"

    def _say(self, fact: Fact) -> str:
        named = fact.alternatives[0] if fact.alternatives else fact
        return self._ways.index.rules.say(named.atom, Truth.of(not fact.negated))
