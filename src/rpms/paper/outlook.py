"""What holds in one situation, and what the manual's actions may still bring about or show."""

from collections.abc import Mapping

from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, is_unseen
from rpms.logic.rules import ActiveRules
from rpms.paper.landmarks import landmarks_of


class Outlook:
    """The facts of one situation, judged by the manual."""

    def __init__(self, rules: ActiveRules, situation: Situation) -> None:
        self.rules = rules
        self.situation = situation
        self.landmarks = landmarks_of(rules, situation.belief.names)
        self._values: dict[Atom, bool | None] = {}

    def holds(self, clause: Clause, binding: Mapping[str, str]) -> bool:
        """True if one of some facts is known to hold."""
        for literal in clause.literals:
            value = self._value(literal.atom.bind(binding))
            if value is not None and value is not literal.negated:
                return True
        return False

    def still_possible(self, clause: Clause, binding: Mapping[str, str]) -> list[Literal]:
        """The facts of a clause, none of which holds, that an action may still give or show."""
        facts = [literal.bind(binding) for literal in clause.literals]
        return [fact for fact in facts if self.landmarks.can_make(fact) or self._may_be_shown(fact)]

    def is_lacking(self, clause: Clause, binding: Mapping[str, str]) -> bool:
        """True if an action has to see to a need first: it does not hold, and is not taken for
        granted.
        """
        if self.holds(clause, binding):
            return False
        facts = [literal.bind(binding) for literal in clause.literals]
        if any(self._is_granted(fact) for fact in facts):
            return False
        return bool(self.still_possible(clause, binding))

    def _is_granted(self, fact: Literal) -> bool:
        """True if a need that nobody knows is taken for granted: there is no way to see to it, or
        it is about a thing that was seen, which is probably as it should be.
        """
        if self._value(fact.atom) is not None:
            return False
        if not self.landmarks.can_make(fact):
            return not self._may_be_shown(fact)
        if fact.atom.predicate in self.rules.positional:
            return False
        return fact.negated or not is_unseen(fact.atom.args)

    def _may_be_shown(self, fact: Literal) -> bool:
        """True if nobody knows a fact, and some action would tell."""
        return self._value(fact.atom) is None and fact.atom.predicate in self.rules.shown

    def _value(self, atom: Atom) -> bool | None:
        """The truth of a fact; None if nobody knows."""
        try:
            return self._values[atom]
        except KeyError:
            value = self._values[atom] = self._find_value(atom)
        return value

    def _find_value(self, atom: Atom) -> bool | None:
        lore = self.rules.lore
        if atom.predicate in lore.facts:
            return lore.holds(*atom)
        if atom.predicate in lore.kinds:
            return lore.kinds[atom.predicate].truth(atom.args).known
        value = self.situation.value(*atom)
        return True if value is None and self._is_beside_agent(atom) else value

    def _is_beside_agent(self, atom: Atom) -> bool:
        """True if a fact about a place holds because the agent is at another that goes together
        with it.
        """
        companion = self.rules.companions.get(atom.predicate)
        place = self.situation.belief.location
        if companion is None or place is None:
            return False
        return self.situation.value(companion, (place, *atom.args)) is True
