"""Places that an episode has not been to: what scores may be there, out of sight."""

from dataclasses import dataclass, field

from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.planning.reason import Reasoner


@dataclass
class Wandering:
    """Places of one episode: where the agent has been, and those that are left."""

    vocabulary: Vocabulary
    been: set[str] = field(default_factory=set)
    heading: tuple[Clause, ...] = ()  # Where a plan leads now
    tries: int = 0  # Plans that were begun since a place was last reached

    def told(self, belief: Belief) -> None:
        """Hear where the agent is."""
        if belief.location is None or belief.location in self.been:
            return
        self.been.add(belief.location)
        self.heading = ()
        self.tries = 0

    def new_places(self, situation: Situation, reasoner: Reasoner) -> tuple[Clause, ...]:
        """One clause: to be at any of the places that are known and new; none where there are
        none.
        """
        there: list[Literal] = []
        names = reasoner.names(situation)
        for predicate in self.vocabulary.placing:
            for name in names.get(predicate.args[0], ()):
                atom = Atom(predicate.name, (name,))
                if name not in self.been and situation.belief.truth(atom) is not Truth.TRUE:
                    there.append(Literal(atom))
        return (Clause(tuple(there)),) if there else ()
