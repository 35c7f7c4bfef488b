"""Kinds like one that is nowhere: a person who wrote `pencil` may have meant the pen that is here.

Two kinds are alike as far as their names are, and as far as they share lasting facts: what they fit
into, what heats or cuts them. What is unknown of one of them speaks neither way.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz

from rpms.logic.facts import Truth, unseen_of
from rpms.planning.wanted_facts import Fact
from rpms.reading.narrowing import Narrowing, RequestForm
from rpms.reading.readings import RequestReading

NEAREST = 6
"""Kinds that are tried in place of one that is nowhere."""
UNLIKE = 6.0
"""Evidence against a kind that has nothing in common with the one that was read; a word that is the
very name of a kind counts as much for that kind."""


@lru_cache(maxsize=16_384)
def alike_in_name(one: str, other: str) -> float:
    """Likeness of two names, from 0 to 1: their letters in order, or one within the other."""
    short, long = sorted((one, other), key=len)
    if len(short) >= 3 and short in long:
        return 1.0
    return fuzz.ratio(one, other) / 100


@dataclass(frozen=True)
class NearestKinds:
    """Finds what may be meant by a kind that is nowhere."""

    possible: Narrowing
    _facts_of_kinds: dict[tuple[str, frozenset[str]], dict[Fact, Truth]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def readings(
        self, reading: RequestReading, form: RequestForm, field_: str
    ) -> Iterator[RequestReading]:
        """The readings that come of one whose object or destination is nowhere: the kinds here that
        are most like it, in its place. Those that rules or belief rule out are left out.
        """
        missing: str = getattr(reading.goal, field_)
        roles = self.possible.roles(form, field_)
        likeness: dict[str, float] = {}
        for kind in self.possible.kinds_here(roles):
            likeness[kind] = self.likeness(roles, missing, kind)
        tried = 0
        for kind in sorted(likeness, key=lambda kind: -likeness[kind]):
            changed: dict[str, Any] = {field_: kind}
            goal = replace(reading.goal, **changed)
            named = {name: getattr(goal, name) for name in form.fields}
            if self.possible.judge(form, named).reason:
                continue
            reason = f"no {missing} is here; a {kind} is like it"
            score = reading.score - UNLIKE * (1.0 - likeness[kind])
            yield RequestReading(goal, score, reasons=(*reading.reasons, reason))
            tried += 1
            if tried == NEAREST:
                return

    def likeness(self, roles: frozenset[str], one: str, other: str) -> float:
        """Likeness of two kinds, from 0 to 1; by their names alone where no fact is known of
        both.
        """
        named = alike_in_name(one, other)
        ours = self._facts(one, roles)
        theirs = self._facts(other, roles)
        compared = []
        for fact in ours.keys() & theirs.keys():
            if Truth.TRUE in (ours[fact], theirs[fact]):
                compared.append(fact)
        if not compared:
            return named / 2
        alike = [fact for fact in compared if ours[fact] is theirs[fact]]
        return (named + len(alike) / len(compared)) / 2

    def _facts(self, kind: str, roles: frozenset[str]) -> dict[Fact, Truth]:
        """Lasting facts that are known of a kind in some roles, with `_` in place of the kind."""
        if not self.possible.rules:
            return {}
        key = (kind, roles)
        if key not in self._facts_of_kinds:
            known: dict[Fact, Truth] = {}
            for fact in self._questions(roles):
                truth = self.possible.truth(fact.bound({_KIND: unseen_of(kind)}))
                if truth is not Truth.UNKNOWN:
                    known[fact] = truth
            self._facts_of_kinds[key] = known
        return self._facts_of_kinds[key]

    def _questions(self, roles: frozenset[str]) -> Iterator[Fact]:
        """Lasting facts of one kind in some roles, alone or beside another kind that is here."""
        for name, predicate in self.possible.manual.predicates.items():
            others = [role for role in predicate.args if role not in roles]
            is_of_one = len(predicate.args) - len(others) == 1
            if not is_of_one or not self.possible.is_lasting(name):
                continue
            if not others:
                yield Fact(name, (_KIND,))
            if len(others) == 1:
                for kind in self.possible.kinds_here(others):
                    yield Fact(name, _beside(kind, predicate.args, roles))


_KIND = "_"


def _beside(kind: str, args: Iterable[str], roles: Container[str]) -> tuple[str, ...]:
    """Arguments of a fact: `_` in some roles, and an unseen thing of a kind in the other."""
    return tuple([_KIND if role in roles else unseen_of(kind) for role in args])
