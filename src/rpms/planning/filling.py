"""Names for the parameters of an action that a fact leaves open, each choice with what is still
to be seen to and the price of what is granted.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import kind_of
from rpms.planning.achievers import Achievers
from rpms.planning.ground import Ground
from rpms.planning.kept_answers import Passing, asked_about
from rpms.planning.needs_by_name import JudgedWith, NeedByName
from rpms.planning.wanted_facts import Achiever, Fact, Level, Need
from rpms.planning.whereabouts import Order, PlaceRanks

PLACES = 12
"""Places considered at a time for something unseen: more than a menu holds."""
FILLINGS = 60
"""Choices of two names or more that are considered for one fact where lines may be doubted: a
full hand can be had with anything that can be taken from anywhere."""


class Filled(NamedTuple):
    """Names for parameters of an action, and what comes of the needs that they decide."""

    binding: dict[str, str]
    here: tuple[Fact, ...] = ()
    """Facts that are still to be seen to, in the order of the needs."""
    elsewhere: tuple[Fact, ...] = ()
    """Those for which one goes somewhere, which comes last."""
    price: float = 0.0
    """Steps that it costs to take for granted what nobody knows."""
    left: int = 0
    """The number of needs that are still to be seen to."""

    @property
    def needs(self) -> tuple[Fact, ...]:
        """Facts that are still to be seen to, in the order to achieve them."""
        return (*self.here, *self.elsewhere)


class _Choice(NamedTuple):
    """A parameter, and the names with which all holds that is needed of it alone."""

    level: Level
    holding: Container[str]


class _JudgedNames(NamedTuple):
    """Names for a parameter, as a need judges them."""

    passing: set[str]
    holding: set[str]


_Found = TypeVar("_Found")


class Filling(Ground):
    """The actions that lead to a fact in one situation, with names in place of parameters."""

    best = False
    """True if only the best plan is asked for: what can be done at once is preferred to the
    same after something."""
    _doubting = False
    """True if lines may be doubted."""

    def __init__(self, achievers: Achievers, situation: Situation, order: Order) -> None:
        super().__init__(achievers, situation)
        self._rank = self._ranks_for(order)
        self._passed = self.known_names.passed
        answers = achievers.groundwork.answers_of(situation)
        self._passing = answers.possible
        self._needs_by_name = answers.needs_by_name
        self._fills_standing = answers.fills
        self._spent: dict[str, set[tuple[str, ...]]] = {}

    def _ranks_for(self, order: Order) -> PlaceRanks:
        """The ranks of places by an order: those of the step before, where goal and order are the
        same.
        """
        goal = self.situation.goal
        kept = self.known_names.ranks
        if kept is None or kept.goal is not goal or kept.order != order:
            kept = self.known_names.ranks = PlaceRanks(goal, order)
        return kept

    def called(self, role: str) -> Sequence[str]:
        """The names in a role."""
        names = self._read[role] = self.names.get(role, ())
        return names

    def _is_spent(self, schema: ActionSchema, binding: Mapping[str, str]) -> bool:
        """True if what counts once was done: with some names if the score rose with it, else in
        just this way.
        """
        self._read[None] = True  # rests on more than facts and names
        if schema.name not in self._spent:
            self._spent[schema.name] = self._find_spent(schema)
        spent = self._spent[schema.name]
        for names in (sorted(schema.once), sorted(schema.parameters)):
            if tuple(binding[name] for name in names) in spent:
                return True
        return False

    def _find_spent(self, schema: ActionSchema) -> set[tuple[str, ...]]:
        """The things with which an action was done that counts once: those that count if the
        score rose with it, else all.
        """
        spent: set[tuple[str, ...]] = set()
        for command, gained in self.situation.past:
            done = schema.match(command)
            if done is not None:
                names = schema.once if gained else done
                spent.add(tuple(done[name] for name in sorted(names)))
        return spent

    def _fill(self, way: Achiever, binding: dict[str, str]) -> list[Filled]:
        """Every way to fill in the parameters that are left, judging needs as soon as they are
        bound.
        """
        filled: list[Filled] = []
        if way.waived and self._holds_any(way.waived, binding):
            return filled  # nothing to doubt
        levels = self.index.levels(way)
        if len(levels) > 1 and (self._doubting or (self.best and not way.waived)):
            filled = self._doubtful(way, levels, self._fill_at_once(levels, way.bound, binding))
        if not filled:
            filled = self._doubtful(way, levels, self._fill_possible(levels, way.bound, binding))
        return filled

    def _doubtful(
        self, way: Achiever, levels: Sequence[Level], filled: list[Filled]
    ) -> list[Filled]:
        """Choices of names with which there is something to doubt, if the way is a doubt."""
        if not way.waived or not filled or not levels:
            return filled
        if len(levels) > 1:
            return [one for one in filled if not self._holds_any(way.waived, one.binding)]
        parameter = levels[0].parameter
        binding = dict(filled[0].binding)
        del binding[parameter]
        waived = [self._by_name(need, parameter, binding) for need in way.waived]
        found: list[Filled] = []
        for one in filled:
            if not self._holds_with(waived, one.binding[parameter]):
                found.append(one)
        return found

    def _holds_with(self, needs: Sequence[NeedByName], name: str) -> bool:
        """True if one of some needs holds with a name."""
        for need in needs:
            judged, read = need[name]
            for fact, value in read:
                self._read[fact] = value
            if judged.possible:
                return True
        return False

    def _fill_possible(
        self, levels: Sequence[Level], needs: Iterable[Need], binding: dict[str, str]
    ) -> list[Filled]:
        """Every choice of names with which no need is out of the question; where lines may be
        doubted, only the first of many.
        """
        start = self._with_needs_judged(Filled(dict(binding)), needs)
        if start is None:
            return []
        if not levels:
            return [start]
        filled: list[Filled] = []
        for batch in self._batches(levels, start):
            filled += batch
            if self._doubting and len(filled) > FILLINGS:
                break
        return filled

    def _batches(self, levels: Sequence[Level], chosen: Filled) -> Iterator[list[Filled]]:
        """The possible choices of names; those that differ in the last name alone are a batch."""
        level = levels[0]
        later = levels[1:]
        every = self._with_next_name(level, chosen)
        if not later:
            yield every
            return
        for longer in every:
            yield from self._batches(later, longer)

    def _with_next_name(self, level: Level, chosen: Filled) -> list[Filled]:
        """A choice with each name for the next parameter with which no need is out of the
        question.
        """
        binding = chosen.binding
        needs = [self._by_name(need, level.parameter, binding) for need in level.needs]
        found: list[Filled] = []
        for name in self._worth_trying(level, binding):
            longer = self._with_name(chosen, level.parameter, name, needs)
            if longer is not None:
                found.append(longer)
        return found

    def _with_name(
        self, chosen: Filled, parameter: str, name: str, needs: Sequence[NeedByName]
    ) -> Filled | None:
        """A choice with one more name; None if a need is out of the question with it."""
        binding, here, elsewhere, price, left = chosen
        for need in needs:
            (possible, granted, lacking), read = need[name]
            for fact, value in read:
                self._read[fact] = value
            if possible is False:
                return None
            price += granted
            if lacking is None:
                continue
            left += 1
            if need.moving:
                elsewhere = (*elsewhere, lacking)
            else:
                here = (*here, lacking)
        return Filled({**binding, parameter: name}, here, elsewhere, price, left)

    def _by_name(self, need: Need, parameter: str, binding: Mapping[str, str]) -> NeedByName:
        """A need by the names for one of its parameters, as far as it was judged in this step."""
        key = (id(need), parameter, *map(binding.get, need.names))
        found = self._needs_by_name.get(key)
        if found is None:
            found = NeedByName(need, parameter, binding, self._judge_noting)
            self._needs_by_name[key] = found
        return found

    def _judge_noting(self, need: Need, binding: Mapping[str, str]) -> JudgedWith:
        """A need, judged, with the answers from which that follows."""
        if len(need.literals) != 1:
            judged, read = self._noting_answers(lambda: self.judge(need, binding))
            return JudgedWith(judged, tuple(read.items()))
        judged = self.judge(need, binding)
        predicate, args, _, _ = need.literals[0]
        fact = (predicate, tuple(map(binding.get, args, args)))
        return JudgedWith(judged, ((fact, self._read[fact]),))

    def _with_needs_judged(self, chosen: Filled, needs: Iterable[Need]) -> Filled | None:
        """A choice once more needs are judged; None if one of them is out of the question."""
        binding, here, elsewhere, price, left = chosen
        for need in needs:
            judged = self.judge(need, binding)
            if judged.possible is False:
                return None
            price += judged.price
            if judged.left is None:
                continue
            left += 1
            if need.moving:
                elsewhere = (*elsewhere, judged.left)
            else:
                here = (*here, judged.left)
        return Filled(binding, here, elsewhere, price, left)

    def _fill_at_once(
        self, levels: Sequence[Level], needs: Iterable[Need], binding: dict[str, str]
    ) -> list[Filled]:
        """Every choice of names with which all needs hold.

        Any others cost more, and are in no best plan. What is needed of one parameter alone is
        asked of each of its names once, before names of several are tried together.
        """
        filled: list[Filled] = []
        if not self._all_hold(needs, binding):
            return filled
        choices: list[_Choice] = []
        for level in levels:
            holding = self._names_holding(level, binding)
            if not holding:
                return filled
            choices.append(_Choice(level, holding))
        self._fill_holding(choices, binding, filled)
        return filled

    def _fill_holding(
        self, choices: Sequence[_Choice], binding: dict[str, str], filled: list[Filled]
    ) -> None:
        """Add to `filled` every choice of names with which all that is needed holds."""
        if not choices:
            filled.append(Filled(dict(binding)))
            return
        level, holding = choices[0]
        for name in self._worth_trying(level, binding):
            if name not in holding:
                continue
            binding[level.parameter] = name
            if self._all_hold(level.needs, binding):
                self._fill_holding(choices[1:], binding, filled)
        binding.pop(level.parameter, None)

    def _all_hold(self, needs: Iterable[Need], binding: Mapping[str, str]) -> bool:
        """True if all of some needs hold."""
        return all(self.judge(need, binding).possible is True for need in needs)

    def _names_holding(self, level: Level, binding: Mapping[str, str]) -> Container[str]:
        """The names for a parameter with which all holds that is needed of it and of what has a
        name already.
        """
        names: set[str] | None = None
        for need in level.filters:
            if need.names - binding.keys() == {level.parameter}:
                holding = self._passing_names(need, level.parameter, binding).holding
                names = holding if names is None else names & holding
        return self.called(level.parameter) if names is None else names

    def _holds_any(self, needs: tuple[Need, ...], binding: Mapping[str, str]) -> bool:
        """True if one of the needs that can be judged holds."""
        for need in needs:
            if need.names <= binding.keys() and self.judge(need, binding).possible:
                return True
        return False

    def _worth_trying(self, level: Level, binding: dict[str, str]) -> Sequence[str]:
        """The names for a parameter; of places to look in, where the thing was found, or the
        likeliest and nearest.
        """
        if level.sought is not None:
            return self._places_to_look(level, level.sought, binding)
        names = self.called(level.parameter)
        if len(names) > 1:
            names = self._listed(names, level, binding)
        if level.filters and len(names) > 1:
            passing = self._passing_names(level.filters[0], level.parameter, binding)
            names = [name for name in names if name in passing.names]
        return names

    def _listed(
        self, names: Sequence[str], level: Level, binding: Mapping[str, str]
    ) -> Sequence[str]:
        """Those names for a parameter that the manual lists, by name or by kind, in every
        permanent fact that an action needs of it.
        """
        for fact in level.listed:
            first = fact.args[0]
            row = self._lore.row(fact.predicate, binding.get(first, first))
            names = [name for name in names if name in row or kind_of(name) in row]
        return names

    def _places_to_look(self, level: Level, sought: Fact, binding: dict[str, str]) -> list[str]:
        """The names for a parameter with which a fact that looking tells holds; where there are
        none, those with which it may hold, the likeliest first.
        """
        found: list[str] = []
        left: list[tuple[str, tuple[str, ...]]] = []
        bound = dict(binding)
        for name in self.called(level.parameter):
            bound[level.parameter] = name
            filled = tuple(map(bound.get, sought.args, sought.args))
            value = self._value(sought.predicate, filled)
            if value is None:
                left.append((name, filled))
            elif value is not sought.negated:
                found.append(name)
        if found:
            return found
        if len(left) > PLACES:
            ranked = [(self._rank(filled), name) for name, filled in left]
            return self._likeliest(ranked, level, binding)
        return [name for name, _ in left]

    def _likeliest(
        self, ranked: list[tuple[float, str]], level: Level, binding: dict[str, str]
    ) -> list[str]:
        """The first few by rank; of one rank, those that lack least."""
        ranked.sort(key=itemgetter(0))
        last = ranked[PLACES - 1][0]
        near = [item for item in ranked if item[0] <= last]

        def order(item: tuple[float, str]) -> tuple[float, int]:
            rank, name = item
            return rank, self._lacking(level.later, {**binding, level.parameter: name})

        near.sort(key=order)
        return [name for _, name in near[:PLACES]]

    def _passing_names(self, need: Need, parameter: str, binding: Mapping[str, str]) -> Passing:
        """The names for a parameter with which a need is not out of the question."""
        args = need.literals[0].args
        key = (id(need), parameter, *map(binding.get, args, args))
        kept = self._passing.get(key)
        if kept is None:
            kept = self._passed.get(key)
            if kept is None or not self._stands(kept.read.items()):
                kept = self._passed[key] = self._find_passing(need, parameter, binding)
            self._passing[key] = kept
        self._read.update(kept.read)
        return kept

    def _find_passing(self, need: Need, parameter: str, binding: Mapping[str, str]) -> Passing:
        """The names for a parameter with which a need is not out of the question, and the
        answers that say so.
        """
        judged, read = self._noting_answers(lambda: self._judge_names(need, parameter, binding))
        return Passing(judged.passing, judged.holding, read, asked_about(read))

    def _judge_names(self, need: Need, parameter: str, binding: Mapping[str, str]) -> _JudgedNames:
        """The names for a parameter with which a need is not out of the question, and those with
        which it holds.
        """
        bound = dict(binding)
        passing: set[str] = set()
        holding: set[str] = set()
        for name in self.called(parameter):
            bound[parameter] = name
            possible = self.judge(need, bound).possible
            if possible is not False:
                passing.add(name)
            if possible:
                holding.add(name)
        return _JudgedNames(passing, holding)

    def _noting_answers(self, find: Callable[[], _Found]) -> tuple[_Found, dict[Any, Any]]:
        """What is found, and the answers that were asked for meanwhile: it stands as long as
        these do.
        """
        outer = self._read
        self._read = {}
        found = find()
        read = self._read
        self._read = outer
        return found, read

    def _stands(self, read: Iterable[tuple[Any, Any]]) -> bool:
        """True if answers of an earlier step, about facts and names in a role, are those of
        this one.
        """
        known = self._with_places
        names = self.names
        for key, answer in read:
            if type(key) is str:
                if names.get(key, ()) is not answer:
                    return False
                continue
            if known[key] is not answer:
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
