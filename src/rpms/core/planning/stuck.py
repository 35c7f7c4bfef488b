"""Explains why no plan reaches a goal: the need at the end of the chain, and what it lacks."""

from collections.abc import Iterator

from rpms.core.facts import Truth
from rpms.core.planning.achievers import Achiever, Fact
from rpms.core.planning.ground import Edge
from rpms.core.planning.prices import GOAL, Priced
from rpms.core.rules import ANYTHING, Purpose


class Impasse(Priced):
    """A situation in which no plan reaches the goal."""

    def explain(self, purpose: Purpose) -> str:
        """The first need that cannot be met, behind what it is for: `a ← action: reason`; nothing if all can be."""
        for imagined in (False, True):
            for binding in self.bindings(purpose, self._facts.goal, imagined=imagined):
                judged = [(need, one, self._judge(need, one)) for need, one in self.left(purpose, binding)[1]]
                self._regress(Edge(GOAL, (fact,), 0.0) for _, _, (_, _, fact) in judged if fact is not None)
                self._price()
                for need, one, (value, _, fact) in judged:
                    if value is False:
                        return self._unmakeable(need.literals[0].bound(one))
                    if fact is not None and fact not in self._costs:
                        return next(self._reasons(fact, set()), self._unmakeable(fact))
        return ""

    def _reasons(self, fact: Fact, asked: set[Fact]) -> Iterator[str]:
        """Reasons why a fact cannot be had, each fact asked once: first what has no names, then what is false."""
        if fact in asked:
            return
        asked.add(fact)
        if fact.predicate == "or":
            for one in fact.args:
                yield from self._reasons(Fact(*one), asked)
            return
        makers = self._manual.makers(fact.predicate, fact.negated) if fact.makeable else ()
        revealers = self._manual.revealers.get(fact.predicate, ()) if self._truth(fact) is None else ()
        achievers = (*makers, *revealers)
        if not achievers:
            yield self._unmakeable(fact)
        for find in (self._nameless, self._unmet):
            for way in achievers:
                yield from (f"{self._say(fact)} ← {way.schema.name}: {reason}" for reason in find(way, fact))
        for way in achievers:
            for needed in self._lacking_of(way, fact):
                deeper = self._reasons(needed, asked)
                yield from (f"{self._say(fact)} ← {way.schema.name} ← {reason}" for reason in deeper)

    def _lacking_of(self, way: Achiever, fact: Fact) -> Iterator[Fact]:
        """Needs of a way that could be met in principle and have no price."""
        bound = self._bound(way, fact)
        for need in way.needs:
            free = sorted(need.names - bound.keys())
            names = self._names.get(free[0], ()) if len(free) == 1 else ()
            for filled in [{**bound, free[0]: name} for name in names] if free else [bound]:
                _, _, needed = self._judge(need, filled)
                if needed is not None and needed not in self._costs:
                    yield needed

    def _nameless(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Variables of a way that nothing is named for, and names that are known in other roles alone."""
        bound = self._bound(way, fact)
        for variable, name in bound.items():
            if variable in way.parameters and not self._suits(variable, name):
                yield f"{name!r} is known, but not as a <{variable}>"
        for variable in way.parameters:
            if variable not in bound and not self._names.get(variable):
                yield f"nothing is known that could be its <{variable}>"

    def _unmet(self, way: Achiever, fact: Fact) -> Iterator[str]:
        """Needs of a way that no name fulfils: false, and no action changes that."""
        bound = self._bound(way, fact)
        for need in way.needs:
            free = sorted(need.names - bound.keys())
            names = self._names.get(free[0], ()) if len(free) == 1 else ()
            filled = [{**bound, free[0]: name} for name in names] if free else [bound]
            if not need.literals:
                yield f"a rule forbids `{way.schema.name}` in every state"
            elif filled and all(self._judge(need, one)[0] is False for one in filled):
                lacking = need.literals[0]
                reason = self._unmakeable(lacking.bound(filled[0]))
                yield reason if len(filled) == 1 else f"{lacking.bound(bound).atom} is false of every <{free[0]}>"

    def _bound(self, way: Achiever, fact: Fact) -> dict[str, str]:
        pairs = zip(way.fact.args, fact.args, strict=True)
        return {parameter: name for parameter, name in pairs if parameter not in (ANYTHING, name)}

    def _unmakeable(self, fact: Fact) -> str:
        for way in self._manual.makers(fact.predicate, fact.negated):
            for reason in self._nameless(way, fact):
                return f"{self._say(fact)} ← {way.schema.name}: {reason}"
        unknown = self._truth(fact) is None
        why = "unknown, and no action shows or changes it" if unknown else "not so, and no action changes that"
        return f"{self._say(fact)}: it is {why}"

    def _say(self, fact: Fact) -> str:
        named = fact.atom if fact.predicate != "or" else Fact(*fact.args[0]).atom
        return self._manual.rules.say(named, Truth.of(not fact.negated))
