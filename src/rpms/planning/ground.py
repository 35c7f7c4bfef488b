"""The facts of one situation: names for an action's parameters, which of its needs hold, the
price of granting one.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import Any, NamedTuple

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import is_unseen, kind_of
from rpms.planning.achievers import Achiever, Achievers, Fact, Judged, Level, Need, asked_about
from rpms.planning.whereabouts import Order, place_ranks

GRANTED = 0.5
"""Steps that it costs to take an unknown fact for granted."""
UNTRIED = 5.0
"""Steps that it costs to try a kind that a table does not list: what is known to work is
offered before that."""
PLACES = 12
"""Places considered at a time for something unseen: more than a menu holds."""


class Surroundings(NamedTuple):
    """Known facts about a command's things and the agent: if equal, nothing has changed."""

    location: str | None
    holding: object
    facts: tuple[tuple[tuple[str, tuple[str, ...]], bool | None], ...] = ()
    """Values of the facts over the command's things, by predicate and names."""


Filled = tuple[dict[str, str], tuple[Fact, ...], float]
"""Names for all parameters, with what is still to be seen to and the price of what is granted."""
_UNASKED: Any = object()  # looked up once, since facts and names are hashed anew each time
HOLDS: Judged = (True, 0.0, None)
IMPOSSIBLE: Judged = (False, inf, None)


class Ground:
    """The facts of one situation, and the actions that lead to a fact there."""

    _best = False
    """True if only the best plan is asked for: what can be done at once is preferred to the
    same after something."""

    def __init__(self, achievers: Achievers, situation: Situation, order: Order) -> None:
        self._manual = achievers
        self._facts = situation
        self._rank = place_ranks(situation.goal, order)
        self._lore = achievers.rules.lore
        self._vocabulary = achievers.known_names(situation.belief.names)
        self._names = self._vocabulary.names
        self._made, self._judged = self._vocabulary.made, self._vocabulary.judged
        self._passed = self._vocabulary.passed
        self._known, self._passing, self._here, self._reached = achievers.answers_of(situation)[2:]
        self._read: dict[Any, Any] = {}
        """Answers that were asked for: values by fact, names by role."""
        self._spent: dict[str, set[tuple[str, ...]]] = {}

    def _called(self, role: str) -> Sequence[str]:
        """The names in a role."""
        names = self._read[role] = self._names.get(role, ())
        return names

    def _places(self, predicate: str) -> Sequence[str]:
        """The agent's places in the sense of a predicate, by the belief: those where moving
        would change nothing.
        """
        if predicate not in self._here:
            self._here[predicate] = [
                name
                for way in self._manual.makers(predicate)
                for name in self._names.get(way.fact.args[0], ())
                if all(
                    self._facts.value(*one.atom.bind({way.fact.args[0]: name})) is (not one.negated)
                    for one in way.schema.effects
                )
            ]
        return self._here[predicate]

    def _is_spent(self, schema: ActionSchema, binding: Mapping[str, str]) -> bool:
        """True if what counts once was done: with some names if the score rose with it, else in
        just this way.
        """
        self._read[None] = True  # rests on more than facts and names
        if schema.name not in self._spent:
            spent = self._spent[schema.name] = set()
            for command, gained in self._facts.past:
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
        positional, belief = self._manual.positional, self._facts.belief
        met = {(need.predicate, need.args): not need.negated for need in needs}
        moving = moving or any(need.predicate in positional for need in needs)
        if not moving and (then.location, then.holding) != (belief.location, belief.holding):
            return False
        facts = dict(then.facts)
        return met.keys() <= facts.keys() and all(
            met[key] is was
            if key in met
            else (moving and key[0] in positional) or self._facts.value(*key) is was
            for key, was in facts.items()
        )

    def _suits(self, parameter: str, name: str) -> bool:
        """True if a name can fill a parameter: not one known only in another role, nor an
        unknown permanent one.
        """
        if name in self._vocabulary.every:
            return name in self._vocabulary.called.get(parameter, ())
        self._vocabulary.strangers.add(name)
        return parameter not in self._manual.lasting_names

    def _fill(self, way: Achiever, binding: dict[str, str]) -> list[Filled]:
        """Every way to fill in the parameters that are left, judging needs as soon as they are
        bound.
        """
        filled: list[Filled] = []
        if way.waived and self._holds_any(way.waived, binding):
            return filled  # nothing to doubt
        levels = self._manual.levels(way)
        if self._best and len(levels) > 1 and not way.waived:
            self._fill_at_once(levels, way.bound, binding, filled)
        if not filled:
            self._fill_levels(levels, way.bound, binding, (), 0.0, filled)
        return (
            filled
            if not way.waived
            else [one for one in filled if not self._holds_any(way.waived, one[0])]
        )

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
        names, literal = self._called(level.parameter), level.sought
        if literal is None:
            for predicate, (arg, _), _, _ in level.listed if len(names) > 1 else ():
                row = self._row(predicate, binding.get(arg, arg))
                names = [name for name in names if name in row or kind_of(name) in row]
            if level.filters and len(names) > 1:
                possible = self._possible(level.filters[0], level.parameter, binding)
                return [name for name in names if name in possible]
            return names
        found: list[str] = []
        left: list[tuple[float, str]] = []
        args = [binding.get(arg, arg) if arg != level.parameter else None for arg in literal.args]
        for name in names:
            filled = tuple([name if arg is None else arg for arg in args])
            value = self._value(literal.predicate, filled)
            if value is None:
                left.append((self._rank(filled), name))
            elif value is not literal.negated:
                found.append(name)
        if len(left) > PLACES and not found:
            left.sort(key=itemgetter(0))
            last, needs = left[PLACES - 1][0], level.later
            left = [item for item in left if item[0] <= last]
            left.sort(
                key=lambda item: (
                    item[0],
                    self._lacking(needs, {**binding, level.parameter: item[1]}),
                )
            )
        return found or [name for _, name in left[:PLACES]]

    def _row(self, predicate: str, name: str) -> Container[str]:
        """All that a permanent fact is true of, beside a name: by itself or by its kind."""
        table = self._lore.facts[predicate]
        return table.get(name) or table.get(kind_of(name)) or ()

    def _possible(self, need: Need, parameter: str, binding: dict[str, str]) -> set[str]:
        """The names for a parameter with which a need is not out of the question."""
        args = need.literals[0].args
        key = (id(need), parameter, *map(binding.get, args, args))
        kept = self._passing.get(key)
        if kept is None:
            kept = self._passed.get(key)
            if kept is None or not self._stands(kept[1].items()):
                outer, self._read = self._read, {}
                bound, passing = dict(binding), set[str]()
                for name in self._called(parameter):
                    bound[parameter] = name
                    if self._judge(need, bound)[0] is not False:
                        passing.add(name)
                kept = self._passed[key] = passing, self._read, asked_about(self._read)
                self._read = outer
            self._passing[key] = kept
        self._read.update(kept[1])
        return kept[0]

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
            now = known.get(key, _UNASKED)
            if now is _UNASKED:
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

    def _judge(self, need: Need, binding: Mapping[str, str]) -> Judged:
        """Judge a precondition: whether it can be had at all, what taking it for granted costs,
        what is left to do.
        """
        if len(need.literals) != 1:
            return self._judge_literals(need, binding)
        predicate, args, negated, makeable = need.literals[0]
        args = tuple(map(binding.get, args, args))
        fact = (predicate, args)
        value: bool | None = self._known.get(fact, _UNASKED)
        if value is _UNASKED:
            value = self._value(predicate, args)
        else:
            self._read[fact] = value
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
        left, granted, manual = list[Fact](), 0.0, self._manual
        for literal in need.literals:
            args = tuple(map(binding.get, literal.args, literal.args))
            value = self._value(literal.predicate, args)
            if value is not None and value is not literal.negated:
                return HOLDS
            fact = Fact(literal.predicate, args, literal.negated, literal.makeable)
            revealable = value is None and literal.predicate in manual.revealers
            found_out = (
                revealable and (literal.predicate, literal.negated) in manual.hoped
            )  # before anything is hoped
            makeable = literal.makeable and not found_out and self._can_make(fact)
            stated = makeable and (literal.predicate, literal.negated) not in manual.hoped
            sure = need.wanted or (
                stated
                and (
                    literal.predicate in manual.positional
                    or (not literal.negated and is_unseen(args))
                )
            )
            if value is None and not sure and (makeable or need.given or not revealable):
                granted = max(
                    granted, UNTRIED if literal.predicate in self._lore.kinds else GRANTED
                )
            elif makeable or revealable:
                left.append(fact)
        if granted:
            return None, granted, None
        if not left:
            return IMPOSSIBLE
        either = left[0] if len(left) == 1 else Fact("or", tuple(left))  # type: ignore[arg-type]
        return None, 0.0, either

    def _can_make(self, fact: Fact) -> bool:
        """True if any action gives such a fact, with names in the roles that they have."""
        key = (fact.predicate, fact.args, fact.negated)
        if key not in self._made:
            makers = self._manual.makers(fact.predicate, fact.negated)
            self._made[key] = (
                fact.predicate in self._manual.companions and not fact.negated
            ) or any(
                not way.circular
                and all(
                    self._suits(parameter, name)
                    if parameter in way.parameters
                    else kind_of(name) == parameter
                    for parameter, name in zip(way.fact.args, fact.args, strict=True)
                )
                for way in makers
            )
        return self._made[key]

    def _truth(self, fact: Fact) -> bool | None:
        value = self._value(fact.predicate, fact.args)
        return value if value is None or not fact.negated else not value

    def _value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        key = (predicate, args)
        value: bool | None = self._known.get(key, _UNASKED)
        if value is _UNASKED:
            value = self._known[key] = self._find_value(predicate, args)
        self._read[key] = value
        return value

    def _find_value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        if predicate not in self._manual.lasting:
            value = self._facts.value(predicate, args)
        elif predicate in self._lore.facts:
            row = self._row(predicate, args[0])
            return args[1] in row or kind_of(args[1]) in row
        else:
            value = self._lore.kinds[predicate].truth(args).known
        companion = self._manual.companions.get(predicate) if value is None else None
        if companion and any(
            self._value(companion, (place, *args)) for place in self._places(predicate)
        ):
            return True
        return value
