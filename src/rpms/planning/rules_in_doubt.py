"""Rules with what may be doubted of them, ready to plan with, and kept for the steps to come."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from rpms.logic.rules import ActiveRules
from rpms.planning.achievers import Achievers, achievers_of
from rpms.planning.doubtful_rules import DoubtBook, doubted, doubts_rest_on
from rpms.planning.kept_answers import Groundwork
from rpms.planning.plan_graph import Plan
from rpms.planning.plans_begun import doubts_of
from rpms.planning.reason import Reasoner
from rpms.planning.trust import Trust

_DOUBTING_KEPT = 4
"""Rules with doubts that are kept for the steps to come, for each goal: most steps change some
trust."""
_REACHES_KEPT = 16
"""Reaches of rules with doubts that are kept, for each goal."""
_DOUBTS_KEPT = 500
"""Actions whose doubts are kept as they were made, for each goal."""
_GROUNDWORKS_KEPT = 6
"""Groundworks that rules with doubts share, for each goal: widths differ in what can be done."""


class _Weighed(NamedTuple):
    """The rules with doubts at their price, ready to plan with."""

    reasoner: Reasoner
    contradicted: frozenset[str]
    """The doubts that go against contradicted lines alone."""


@dataclass(frozen=True, eq=False)
class RulesInDoubt:
    """The rules with what may be doubted of them, made when a plan first asks for it."""

    rules: ActiveRules
    trust: Trust
    idle: frozenset[str]
    """Commands that are not to be given as things are."""

    @property
    def has_grounds(self) -> bool:
        """True if anything that happened may speak against a line."""
        trust = self.trust
        return bool(trust.shaken or trust.learned or self.idle or trust.refusals.refused)

    @cached_property
    def _weighed(self) -> _Weighed:
        return _weighed(self.rules, self.trust)

    @cached_property
    def reasoner(self) -> Reasoner:
        """Plans with doubts, and without commands that are not to be given."""
        reasoner = self._weighed.reasoner
        commands = self.trust.refusals.barred(self.rules, self.idle)
        return Reasoner(reasoner.rules, reasoner.achievers, commands)

    def is_contradicted(self, plan: Plan) -> bool:
        """True if a plan doubts contradicted lines alone."""
        if not plan.options:
            return False
        return self._weighed.contradicted.issuperset(doubts_of(plan.options[0].chain))


def _weighed(rules: ActiveRules, trust: Trust) -> _Weighed:
    """The rules with doubts, as made in an earlier step where nothing that they rest on changed."""
    every = achievers_of(rules).kept
    kept: dict[object, _Weighed] = every.setdefault("doubting", {})
    rest_on = doubts_rest_on(trust)
    if rest_on not in kept:
        if len(kept) >= _DOUBTING_KEPT:
            kept.clear()
        kept[rest_on] = _weigh(rules, trust)
    return kept[rest_on]


def _weigh(rules: ActiveRules, trust: Trust) -> _Weighed:
    """The rules with doubts, on the groundwork of others that reach the same."""
    trusting = achievers_of(rules)
    every = trusting.kept
    reaches: dict[object, object] = every.setdefault("reaches", {})
    if len(reaches) >= _REACHES_KEPT:
        reaches.clear()
    groundworks: dict[object, Groundwork] = every.setdefault("groundworks", {})
    if len(groundworks) >= _GROUNDWORKS_KEPT:
        groundworks.clear()
    book: DoubtBook = every.setdefault("doubts", DoubtBook())
    book.tidy(_DOUBTS_KEPT)
    found = doubted(rules, trust, book=book)
    achievers = Achievers(found.rules, trusting.groundwork)
    achievers.share(groundworks, reaches)
    return _Weighed(Reasoner(found.rules, achievers), found.contradicted)
