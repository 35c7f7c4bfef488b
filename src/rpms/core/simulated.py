"""Facts as they would be after some actions."""

from __future__ import annotations

from rpms.core.facts import Atom, Facts, Truth
from rpms.core.rules import ActiveRules, Instance


class Simulated:
    """Facts as they would be after some actions: effects laid over a belief that stays as it is."""

    def __init__(self, base: Facts, rules: ActiveRules) -> None:
        self._base = base
        self._rules = rules
        self._known: dict[Atom, Truth] = {}
        self._only: dict[str, Atom] = {}

    def truth(self, atom: Atom, /) -> Truth:
        if atom in self._known:
            return self._known[atom]
        only = self._only.get(atom.predicate)
        if only is None:
            return self._base.truth(atom)
        together = self._rules.predicates[atom.predicate].exclusive
        if together == "always":
            return Truth.FALSE
        return self._base.truth(Atom(together, (only.args[0], atom.args[0])))

    def apply(self, instance: Instance) -> None:
        """Take over what an action does."""
        for literal in instance.effects:
            atom = literal.atom
            predicate = self._rules.predicates.get(atom.predicate)
            if predicate is not None and predicate.exclusive and not literal.negated:
                self._only[atom.predicate] = atom
                self._known = {
                    known: value for known, value in self._known.items() if known.predicate != atom.predicate
                }
            self._known[atom] = Truth.of(not literal.negated)
