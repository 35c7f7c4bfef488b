"""The facts that a world's belief answers, and some of the beliefs that were seen, to ask later."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rpms.induction.evidence.states import AskedOnce, Reservoir
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief
from rpms.logic.rules import Predicate


@dataclass(frozen=True)
class Vocabulary:
    """The facts that a world's belief answers, without those that follow from kinds: these are
    to be learned.
    """

    predicates: Mapping[str, Predicate]
    positive: bool = False  # True if no action needs a fact to be false
    decisive: int = LIMITS.decisive  # Refusals with one fact alone false that make it necessary
    seen: Reservoir = field(default_factory=Reservoir, compare=False)
    _answers: dict[int, AskedOnce] = field(default_factory=dict, compare=False)
    """Of the last beliefs, by identity."""

    def answers(self, belief: Belief) -> AskedOnce:
        """Answers of a belief.

        Several actions ask one the same: of fixed names, before a step and after the last.
        """
        if id(belief) not in self._answers:
            if len(self._answers) >= LIMITS.beliefs_asked:
                del self._answers[next(iter(self._answers))]
            self._answers[id(belief)] = AskedOnce(belief)
        return self._answers[id(belief)]

    @cached_property
    def placing(self) -> list[Predicate]:
        """The predicates that say where the agent is: each holds of one place at a time."""
        found = []
        for predicate in self.predicates.values():
            if predicate.exclusive == "always" and len(predicate.args) == 1:
                found.append(predicate)
        return found

    @property
    def place_role(self) -> str:
        """The role of places, by the first predicate that says where the agent is."""
        return self.placing[0].args[0]

    def roles_of_place(self, belief: Belief) -> Iterator[str]:
        """Roles of the agent's place; none where no predicate says where the agent is."""
        for predicate in self.placing:
            if belief.location is not None and belief.value(predicate.name, (belief.location,)):
                yield predicate.args[0]

    @cached_property
    def companions(self) -> frozenset[str]:
        """The predicates of two that say which facts of an exclusive one hold together."""
        return frozenset(each.companion for each in self.predicates.values())
