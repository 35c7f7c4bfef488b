"""The facts of one situation, judged against the manual: which needs of an action hold, which
could be brought about, and which are impossible.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, is_unseen, kind_of
from rpms.planning.achievers import Achievers, Relocation
from rpms.planning.givers import FactPlace
from rpms.planning.wanted_facts import Fact, Judged, NamedFact, Need

GRANTED = 0.5
"""Steps that it costs to take an unknown fact for granted."""
UNTRIED = 5.0
"""Steps that it costs to try a kind that a table does not list: kinds that are known to work come
first."""

HOLDS = Judged(True, 0.0, None)
IMPOSSIBLE = Judged(False, inf, None)


class _Lacking(NamedTuple):
    """A literal that is not known to hold."""

    price: float
    """Steps that it costs to take it for granted; 0 if it is not taken for granted."""
    left: Fact | None
    """The fact to bring about or to look at."""


_UNTRIED = _Lacking(UNTRIED, None)
_GRANTED = _Lacking(GRANTED, None)
_HOPELESS = _Lacking(0.0, None)


class Ground:
    """The facts of one situation, and judgements on what actions need."""

    def __init__(self, achievers: Achievers, situation: Situation) -> None:
        self.index = achievers
        self.situation = situation
        self._lore = achievers.rules.lore
        self.known_names = achievers.known_names(situation.belief.names)
        self.names = self.known_names.names
        self._made = self.known_names.made
        self._judged = self.known_names.judged
        answers = achievers.groundwork.answers_of(situation)
        self._by_belief = answers.by_belief
        self._with_places = answers.with_places
        if self._with_places.find is None:
            self._with_places.find = self._find_value
        self._here = answers.here
        self._read: dict[Any, Any] = {}
        """Answers that were asked for: values by fact, names by role."""

    def _places(self, predicate: str) -> Sequence[str]:
        """The agent's places in the sense of a predicate, by the belief: those where moving
        would change nothing.
        """
        if predicate not in self._here:
            places: dict[str, None] = {}
            for move in self.index.moves(predicate):
                names = self.names.get(move.role, ())
                places |= dict.fromkeys([name for name in names if self._is_there(move, name)])
            self._here[predicate] = list(places)
        return self._here[predicate]

    def _is_there(self, move: Relocation, name: str) -> bool:
        """True if every effect of a move to a place holds already."""
        binding = {move.role: name}
        for effect in move.effects:
            predicate, args = effect.atom
            value = self._by_belief[predicate, tuple(map(binding.get, args, args))]
            if value is not (not effect.negated):
                return False
        return True

    def suits(self, parameter: str, name: str) -> bool:
        """True if a name can fill a parameter. One that is known only in another role cannot, nor
        can an unknown one if the manual lists all names.
        """
        if name in self.known_names.every:
            return name in self.known_names.called.get(parameter, ())
        self.known_names.strangers.add(name)
        return parameter not in self.index.lasting_names

    def judge_wanted(self, clause: Clause, binding: Mapping[str, str]) -> Judged:
        """Judge facts of which a goal wants one."""
        return self.judge(self.index.wanted(clause), binding)

    def holds(self, clause: Clause, binding: Mapping[str, str]) -> bool:
        """True if one of the facts that a goal wants is known to hold."""
        return self.judge_wanted(clause, binding).possible is True

    def judge(self, need: Need, binding: Mapping[str, str]) -> Judged:
        """Judge a precondition: can it hold at all, what does it cost to assume it, and what is
        left to do?
        """
        if len(need.literals) != 1:
            return self._judge_literals(need, binding)
        predicate, args, negated, makeable = need.literals[0]
        args = tuple(map(binding.get, args, args))
        fact = (predicate, args)
        value = self._read[fact] = self._with_places[fact]  # as in `_value`, without a call
        if value is not None and value is not negated:
            return HOLDS
        if value is not None and not makeable:
            return IMPOSSIBLE
        key = (id(need), args, value)
        judged = self._judged.get(key)
        if judged is None:
            judged = self._judged[key] = self._judge_literals(need, binding)
        return judged

    def _judge_literals(self, need: Need, binding: Mapping[str, str]) -> Judged:
        """Judge literals of which one suffices."""
        left: list[Fact] = []
        granted = 0.0
        for literal in need.literals:
            fact = literal.bound(binding)
            value = self._value(fact.predicate, fact.args)
            if value is not None and value is not fact.negated:
                return HOLDS
            judged = self._judge_lacking(need, fact, unknown=value is None)
            granted = max(granted, judged.price)
            if judged.left is not None:
                left.append(judged.left)
        if granted:
            return Judged(None, granted, None)
        if not left:
            return IMPOSSIBLE
        return Judged(None, 0.0, Fact.either(left))

    def _judge_lacking(self, need: Need, fact: Fact, *, unknown: bool) -> _Lacking:
        """One literal of a need that does not hold, or of which nobody knows whether it does.

        What nobody knows may be taken for granted, at a price. All else is left to be brought
        about or to be looked at, where an action can do that; where none can, nothing helps.
        """
        revealable = unknown and fact.predicate in self.index.revealers
        makeable = self._is_makeable(fact, revealable=revealable)
        only_revealable = revealable and not makeable
        is_open = unknown and (need.given or not only_revealable)
        if is_open and not self._is_to_be_made(need, fact, makeable=makeable):
            return _UNTRIED if fact.predicate in self._lore.kinds else _GRANTED
        if makeable or revealable:
            return _Lacking(0.0, fact)
        return _HOPELESS

    def _is_makeable(self, fact: Fact, *, revealable: bool) -> bool:
        """True if an action can make a fact so; one that only a doubt gives is looked for before
        anything is hoped.
        """
        if revealable and self.index.is_hoped(fact.predicate, fact.negated):
            return False
        return fact.makeable and self.can_make(fact)

    def _is_to_be_made(self, need: Need, fact: Fact, *, makeable: bool) -> bool:
        """True if a fact has to be brought about though nobody knows if it holds already: what
        the goal wants, and where a stated action can do that, where the agent is and what is so of
        a thing that nobody has seen.
        """
        if need.wanted:
            return True
        if not makeable or self.index.is_hoped(fact.predicate, fact.negated):
            return False
        if fact.predicate in self.index.positional:
            return True
        return not fact.negated and is_unseen(fact.args)

    def can_make(self, fact: Fact) -> bool:
        """True if some action gives such a fact, with these names in their roles."""
        key = (fact.predicate, fact.args, fact.negated)
        if key not in self._made:
            together = fact.predicate in self.index.companions and not fact.negated
            self._made[key] = together or self._is_given(fact)
        return self._made[key]

    def _is_given(self, fact: Fact) -> bool:
        """True if some action gives such a fact, or where none does, if that may be hoped."""
        sort = (fact.predicate, fact.negated)
        for find in (self.index.givers, self.index.hoped_givers):
            for alike in find(sort):
                if self._fit(fact.args, alike.places) and alike.is_of_use:
                    return True
        return False

    def _fit(self, names: Sequence[str], places: Sequence[FactPlace]) -> bool:
        """True if names can stand in the places of a fact, by their roles or kinds."""
        for name, (word, is_role) in zip(names, places, strict=True):
            fits = self.suits(word, name) if is_role else kind_of(name) == word
            if not fits:
                return False
        return True

    def truth(self, fact: Fact) -> bool | None:
        value = self._value(fact.predicate, fact.args)
        return value if value is None or not fact.negated else not value

    def _value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        fact = (predicate, args)
        value = self._read[fact] = self._with_places[fact]
        return value

    def _find_value(self, fact: NamedFact) -> bool | None:
        predicate, args = fact
        if predicate in self._lore.facts:
            return self._lore.holds(predicate, args)
        if predicate in self._lore.kinds:
            value = self._lore.kinds[predicate].truth(args).known
        else:
            value = self._by_belief[fact]
        if value is None and predicate in self.index.companions:
            return self._is_beside(predicate, args) or None
        return value

    def _is_beside(self, predicate: str, args: tuple[str, ...]) -> bool:
        """True if a fact about a place holds because another place, with which it goes
        together, is the agent's.
        """
        companion = self.index.companions[predicate]
        for place in self._places(predicate):  # noqa: SIM110  asked so often that `any` is too dear
            if self._value(companion, (place, *args)):
                return True
        return False
