"""Facts about things an action does not name that become known by it: all that lies in a box that
was opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from rpms.induction.evidence.templates import knows
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.logic.actions import role_of
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom
from rpms.logic.rules import ANYTHING
from rpms.store.evidence import Witness


class SeenStep(NamedTuple):
    """A step with the beliefs before and after it."""

    before: Belief
    after: Belief
    witness: Witness
    refused: bool


class Glimpse(NamedTuple):
    """Revelations of which something became known, and of which something is unknown still."""

    shown: int
    hidden: int


class Observer(NamedTuple):
    """Tells what a step made known about an action's things, and others."""

    vocabulary: Vocabulary
    step: SeenStep
    names: Sequence[str]

    def may_show(self, atom: Atom) -> bool:
        """True if a revelation may come from looking: a taken thing is nowhere else, and nobody
        looked.
        """
        about_all = {*atom.args} == {ANYTHING}
        no_role = self._sought(atom) not in self.step.after.names  # such as `other`
        return about_all or no_role or self.found(atom)

    def found(self, atom: Atom) -> bool:
        """True if a fact about something else and the action's things is true, and was unknown
        before.

        What became known of the action's own things shows nothing of others: of a drain that
        nobody had seen, closing it tells in which room it is.
        """
        before = self.vocabulary.answers(self.step.before)
        after = self.vocabulary.answers(self.step.after)
        slots = slots_of(self.names)
        for thing in self.step.after.names.get(self._sought(atom), ()):
            if thing in self.names:
                continue
            slots[ANYTHING] = thing
            fact = atom.bind(slots)
            if after[fact] and before[fact] is None:
                return True
        return False

    def _sought(self, atom: Atom) -> str:
        """The role of `_` in a revelation."""
        declared = self.vocabulary.predicates[atom.predicate].args
        return role_of(declared[atom.args.index(ANYTHING)])

    def glimpses(self, revelations: Sequence[Atom]) -> Glimpse:
        """Facts that became known, and that did not, of all things in the roles of `_` that are
        known afterwards.
        """
        others = {}
        for role, known in self.step.after.names.items():
            others[role] = [name for name in known if name not in self.names]
        shown = 0
        hidden = 0
        for place, atom in enumerate(revelations):
            if self._depends_on_place(atom):
                continue
            glimpse = self._glimpse_of(atom, others)
            shown |= glimpse.shown << place
            hidden |= glimpse.hidden << place
        return Glimpse(shown, hidden)

    def _depends_on_place(self, atom: Atom) -> bool:
        """True if a fact is about where the agent is, or about places while the agent is at one:
        what is seen of these depends on the place.
        """
        declared = self.vocabulary.predicates[atom.predicate]
        if declared.exclusive:
            return True
        places = {each.args[0] for each in self.vocabulary.placing}
        return self.step.before.location is not None and not places.isdisjoint(declared.args)

    def _glimpse_of(self, atom: Atom, others: Mapping[str, Sequence[str]]) -> Glimpse:
        """The glimpse of one revelation: if it became known, and if something of it is unknown
        still, each as 0 or 1.
        """
        before = self.vocabulary.answers(self.step.before)
        after = self.vocabulary.answers(self.step.after)
        # of its own things, something true has to be found, as for probes
        of_its_own = {*atom.args} != {ANYTHING}
        shown = False
        for args in product(*self._pools(atom, others)):
            value = after[atom.predicate, args]
            if value is None:
                return Glimpse(shown, True)
            if shown or before[atom.predicate, args] is not None:
                continue
            shown = value or (not of_its_own and self._were_known(args))
        return Glimpse(shown, False)

    def _were_known(self, names: Iterable[str]) -> bool:
        """True if all names were known before: that what was just found in a box does not lie on
        the floor is no answer to the question what lies there.
        """
        return all(knows(self.step.before, name) for name in names)

    def _pools(self, atom: Atom, others: Mapping[str, Sequence[str]]) -> list[Sequence[str]]:
        """For each argument, the names that it may stand for: all others in the role of `_`, the
        action's own thing for a slot.
        """
        declared = self.vocabulary.predicates[atom.predicate]
        pools: list[Sequence[str]] = []
        for arg, role in zip(atom.args, declared.args, strict=True):
            if arg == ANYTHING:
                pools.append(others.get(role_of(role), []))
            else:
                pools.append([self.names[int(arg)]])
        return pools


def slots_of(names: Sequence[str]) -> dict[str, str]:
    """Names by the slots that they fill, as facts write these."""
    return {str(place): name for place, name in enumerate(names)}
