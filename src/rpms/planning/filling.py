"""Names for the parameters of an action that a fact leaves open, each choice with what is still
to be seen to and the price of what is granted.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from rpms.logic.achievers import Achiever, Achievers, Fact, Level, Need, Passing, asked_about
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import kind_of
from rpms.logic.ground import UNASKED
from rpms.paper.progress import Purposeful
from rpms.planning.whereabouts import Order, place_ranks

PLACES = 12
"""Places considered at a time for something unseen: more than a menu holds."""
FILLINGS = 60
"""Choices of two names or more that are considered for one fact where lines may be doubted: a
full hand can be had with anything that can be taken from anywhere."""


class Surroundings(NamedTuple):
    """Known facts about a command's things and the agent: if equal, nothing has changed."""

    location: str | None
    holding: object
    facts: tuple[tuple[tuple[str, tuple[str, ...]], bool | None], ...] = ()
    """Values of the facts over the command's things, by predicate and names."""


Filled = tuple[dict[str, str], tuple[Fact, ...], float]
"""Names for all parameters, with what is still to be seen to and the price of what is granted."""


class Filling(Purposeful):
    """The actions that lead to a fact in one situation, with names in place of parameters."""

    _best = False
    """True if only the best plan is asked for: what can be done at once is preferred to the
    same after something."""
    _doubting = False
    """True if lines may be doubted."""

    def __init__(self, achievers: Achievers, situation: Situation, order: Order) -> None:
        super().__init__(achievers, situation)
        self._rank = place_ranks(situation.goal, order)
        self._passed = self._known_names.passed
        self._passing = achievers.answers_of(situation).possible
        self._spent: dict[str, set[tuple[str, ...]]] = {}

    def _called(self, role: str) -> Sequence[str]:
        """The names in a role."""
        names = self._read[role] = self._names.get(role, ())
        return names

    def _is_spent(self, schema: ActionSchema, binding: Mapping[str, str]) -> bool:
        """True if what counts once was done: with some names if the score rose with it, else in
        just this way.
        """
        self._read[None] = True  # rests on more than facts and names
        if schema.name not in self._spent:
            spent = self._spent[schema.name] = set()
            for command, gained in self._situation.past:
                if (done := schema.match(command)) is not None:
                    spent.add(tuple(done[name] for name in sorted(schema.once if gained else done)))
        every = (sorted(schema.once), sorted(schema.parameters))
        return any(
            tuple(binding[name] for name in names) in self._spent[schema.name] for names in every
        )

    def _as_then(
        self, then: Surroundings | None, needs: Sequence[Fact], *, moving: bool = False
    ) -> bool:
        """True if some facts will be what they were, once some needs are met, or after a move."""
        if then is None:
            return not needs
        self._read[None] = True  # rests on more than facts and names
        positional, belief = self._index.positional, self._situation.belief
        met = {(need.predicate, need.args): not need.negated for need in needs}
        moving = moving or any(need.predicate in positional for need in needs)
        if not moving and (then.location, then.holding) != (belief.location, belief.holding):
            return False
        facts = dict(then.facts)
        return met.keys() <= facts.keys() and all(
            met[key] is was
            if key in met
            else (moving and key[0] in positional) or self._situation.value(*key) is was
            for key, was in facts.items()
        )

    def _fill(self, way: Achiever, binding: dict[str, str]) -> list[Filled]:
        """Every way to fill in the parameters that are left, judging needs as soon as they are
        bound.
        """
        filled: list[Filled] = []
        if way.waived and self._holds_any(way.waived, binding):
            return filled  # nothing to doubt
        levels = self._index.levels(way)
        if len(levels) > 1 and (self._doubting or (self._best and not way.waived)):
            self._fill_at_once(levels, way.bound, binding, filled)
            filled = self._doubtful(way, filled)
        if not filled:
            self._fill_levels(levels, way.bound, binding, (), 0.0, filled)
            filled = self._doubtful(way, filled)
        return filled

    def _doubtful(self, way: Achiever, filled: list[Filled]) -> list[Filled]:
        """Choices of names with which there is something to doubt, if the way is a doubt."""
        if not way.waived:
            return filled
        return [one for one in filled if not self._holds_any(way.waived, one[0])]

    def _fill_levels(
        self,
        levels: Sequence[Level],
        needs: Iterable[Need],
        binding: dict[str, str],
        found: tuple[tuple[bool, Fact], ...],
        price: float,
        filled: list[Filled],
    ) -> None:
        for need in needs:
            value, extra, fact = self._judge(need, binding)
            if value is False:
                return
            price += extra
            if fact is not None:
                found = (*found, (need.moving, fact))
        if not levels:
            ordered = sorted(found, key=itemgetter(0)) if len(found) > 1 else found
            filled.append((dict(binding), tuple([fact for _, fact in ordered]), price))
            return
        level = levels[0]
        for name in self._worth_trying(level, binding):
            if self._doubting and len(levels) > 1 and len(filled) > FILLINGS:
                break
            binding[level.parameter] = name
            self._fill_levels(levels[1:], level.needs, binding, found, price, filled)
        binding.pop(level.parameter, None)

    def _fill_at_once(
        self,
        levels: Sequence[Level],
        needs: Iterable[Need],
        binding: dict[str, str],
        filled: list[Filled],
    ) -> None:
        """Fill in names with which all needs hold.

        Any others cost more, and are in no best plan.
        """
        if any(self._judge(need, binding)[0] is not True for need in needs):
            return
        if not levels:
            filled.append((dict(binding), (), 0.0))
            return
        for name in self._worth_trying(levels[0], binding):
            binding[levels[0].parameter] = name
            self._fill_at_once(levels[1:], levels[0].needs, binding, filled)
        binding.pop(levels[0].parameter, None)

    def _holds_any(self, needs: tuple[Need, ...], binding: Mapping[str, str]) -> bool:
        """True if one of the needs that can be judged holds."""
        return any(self._judge(need, binding)[0] for need in needs if need.names <= binding.keys())

    def _worth_trying(self, level: Level, binding: dict[str, str]) -> Sequence[str]:
        """The names for a parameter; of places to look in, where the thing was found, or the
        likeliest and nearest.
        """
        if level.sought is not None:
            return self._places_to_look(level, level.sought, binding)
        names = self._called(level.parameter)
        if len(names) > 1:
            for fact in level.listed:
                first = fact.args[0]
                row = self._row(fact.predicate, binding.get(first, first))
                names = [name for name in names if name in row or kind_of(name) in row]
        if level.filters and len(names) > 1:
            possible = self._possible(level.filters[0], level.parameter, binding)
            names = [name for name in names if name in possible]
        return names

    def _places_to_look(self, level: Level, sought: Fact, binding: dict[str, str]) -> list[str]:
        """The names for a parameter with which a fact that looking tells holds; where there are
        none, those with which it may hold, the likeliest first.
        """
        found: list[str] = []
        left: list[tuple[float, str]] = []
        args = [binding.get(arg, arg) if arg != level.parameter else None for arg in sought.args]
        for name in self._called(level.parameter):
            filled = tuple([name if arg is None else arg for arg in args])
            value = self._value(sought.predicate, filled)
            if value is None:
                left.append((self._rank(filled), name))
            elif value is not sought.negated:
                found.append(name)
        if found:
            return found
        if len(left) > PLACES:
            left = self._likeliest(left, level, binding)
        return [name for _, name in left]

    def _likeliest(
        self, ranked: list[tuple[float, str]], level: Level, binding: dict[str, str]
    ) -> list[tuple[float, str]]:
        """The first few by rank; of one rank, those that lack least."""
        ranked.sort(key=itemgetter(0))
        last = ranked[PLACES - 1][0]
        near = [item for item in ranked if item[0] <= last]

        def order(item: tuple[float, str]) -> tuple[float, int]:
            rank, name = item
            return rank, self._lacking(level.later, {**binding, level.parameter: name})

        near.sort(key=order)
        return near[:PLACES]

    def _possible(self, need: Need, parameter: str, binding: dict[str, str]) -> set[str]:
        """The names for a parameter with which a need is not out of the question."""
        args = need.literals[0].args
        key = (id(need), parameter, *map(binding.get, args, args))
        kept = self._passing.get(key)
        if kept is None:
            kept = self._passed.get(key)
            if kept is None or not self._stands(kept.read.items()):
                kept = self._passed[key] = self._find_possible(need, parameter, binding)
            self._passing[key] = kept
        self._read.update(kept.read)
        return kept.names

    def _find_possible(self, need: Need, parameter: str, binding: Mapping[str, str]) -> Passing:
        """The names for a parameter with which a need is not out of the question, and the
        answers that say so.
        """
        outer = self._read
        self._read = {}
        bound = dict(binding)
        passing: set[str] = set()
        for name in self._called(parameter):
            bound[parameter] = name
            if self._judge(need, bound).possible is not False:
                passing.add(name)
        found = Passing(passing, self._read, asked_about(self._read))
        self._read = outer
        return found

    def _stands(self, read: Iterable[tuple[Any, Any]]) -> bool:
        """True if answers of an earlier step, about facts and names in a role, are those of
        this one.
        """
        known, names = self._known, self._names
        for key, answer in read:
            if type(key) is str:
                if names.get(key, ()) is not answer:
                    return False
                continue
            now = known.get(key, UNASKED)
            if now is UNASKED:
                now = known[key] = self._find_value(*key)
            if now is not answer:
                return False
        return True

    def _lacking(self, needs: Sequence[Need], binding: Mapping[str, str]) -> int:
        """Number of needs that do not hold yet."""
        lacking = 0
        for need in needs:
            predicate, args, negated, _ = need.literals[0]
            value = self._value(predicate, tuple(map(binding.get, args, args)))
            lacking += value is None or value is negated
        return lacking
