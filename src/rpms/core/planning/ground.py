"""The ways to a fact in one situation, with names in place of parameters: what regression expands."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter
from typing import Any

from rpms.core.actions import ActionSchema
from rpms.core.belief import Situation
from rpms.core.facts import is_unseen, kind_of
from rpms.core.planning.achievers import Achiever, Achievers, Fact, Judged, Level, Need, asked_about, command_of
from rpms.core.planning.whereabouts import Order, place_ranks
from rpms.core.rules import ANYTHING

GRANTED = 0.5
"""Steps that it costs to take an unknown fact for granted."""
UNTRIED = 5.0
"""Steps that it costs to try a kind that a table does not list: what is known to work is offered before that."""
SEARCH = 2.0
"""Steps that a look costs beyond the way there, since it may find nothing."""
FURTHER_DOWN = 2.0
"""Steps that one place further down in the order of likely places counts."""
PLACES = 12
"""Places considered at a time for something unseen: more than a menu holds."""


@dataclass(slots=True, eq=False)
class Edge:
    """A way with names in place of its parameters: one step of some plan."""

    fact: Fact
    needs: tuple[Fact, ...]
    """Facts that do not hold yet, in the order to achieve them."""
    cost: float
    schema: ActionSchema | None = None
    """The action; None if a fact only follows from another."""
    reveals: bool = False
    binding: Mapping[str, str] = field(default_factory=dict)
    _command: str | None = None

    @property
    def command(self) -> str:
        if self._command is None:
            self._command = command_of(self.schema, self.binding) if self.schema is not None else ""
        return self._command

    @property
    def named(self) -> tuple[str, ...]:
        """Things its command names: mixing is done to a vessel, not to the result."""
        schema = self.schema
        return tuple(self.binding[name] for name in schema.variables if name not in schema.others) if schema else ()


Filled = tuple[dict[str, str], tuple[Fact, ...], float]
"""Names for all parameters, with what is still to be seen to and the price of what is granted."""
_UNASKED: Any = object()  # looked up once, since facts and names are hashed anew each time
HOLDS: Judged = (True, 0.0, None)
IMPOSSIBLE: Judged = (False, inf, None)


class Ground:
    """The facts of one situation, and the actions that lead to a fact there."""

    _best = False
    """True if only the best plan is asked for: what can be done at once is preferred to the same after something."""

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
        self._beyond = inf
        """Cost of the cheapest way that cost more than might be spent."""
        self._spent: dict[str, set[tuple[str, ...]]] = {}

    def _possible_edges(self, fact: Fact, since: float, spend: float) -> Iterator[Edge]:
        """The edges to a fact that does not hold, by ways that cost less than may be spent and no less than `since`."""
        if fact.predicate == "or":
            yield from (Edge(fact, (Fact(*one),), 0.0) for one in fact.args)
            return
        if self._truth(fact) is None and not (fact.makeable and self._can_make(fact)):
            price = SEARCH + FURTHER_DOWN * self._rank(fact.args)
            for way in self._affordable(self._manual.revealers.get(fact.predicate, ()), since, spend):
                yield from self._ground(way, fact, price)
        if not fact.makeable:
            return
        direct = False
        for way in self._affordable(self._manual.makers(fact.predicate, fact.negated), since, spend):
            for edge in self._ground(way, fact) if not way.circular else ():
                direct = True
                yield edge
        companion = self._manual.companions.get(fact.predicate)
        if companion and not fact.negated and not direct:
            yield from self._by_companion(companion, fact, since, spend)

    def _affordable(self, achievers: Iterable[Achiever], since: float, spend: float) -> Iterator[Achiever]:
        for way in achievers:
            if since <= way.schema.steps < spend:
                yield way
            elif way.schema.steps >= spend:
                self._beyond = min(self._beyond, way.schema.steps)

    def _by_companion(self, companion: str, fact: Fact, since: float, spend: float) -> Iterator[Edge]:
        """Being at one thing is being at all that is in the same place: ways there by another name."""
        for way in self._affordable(self._manual.makers(fact.predicate), since, spend):
            (name,) = way.fact.args
            others, together = self._called(name), self._manual.together[companion]
            for one in [each for each in others if self._value(companion, (each, *fact.args))] or others:
                value, price, need = self._judge(together, {"one": one, "other": fact.args[0]})
                if value is False:
                    continue
                if need is not None:  # to find out is to be there
                    yield Edge(fact, (need,), price)
                    continue
                for edge in self._ground(way, fact._replace(args=(one,)), price):
                    edge.fact = fact
                    yield edge

    def _called(self, role: str) -> Sequence[str]:
        """The names in a role."""
        names = self._read[role] = self._names.get(role, ())
        return names

    def _places(self, predicate: str) -> Sequence[str]:
        """The agent's places in the sense of a predicate, by the belief: those where moving would change nothing."""
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

    def _ground(self, way: Achiever, fact: Fact, price: float = 0.0) -> Iterator[Edge]:
        """A way to a fact with all names filled in, each time in another manner."""
        binding: dict[str, str] = {}
        for parameter, name in zip(way.fact.args, fact.args, strict=True):
            if parameter == ANYTHING:
                continue
            if parameter not in way.parameters:
                if kind_of(name) != parameter:
                    return  # what it brings about is about a thing by its name
            elif binding.setdefault(parameter, name) != name or not self._suits(parameter, name):
                return
        for filled, needs, extra in self._fill(way, binding):
            if not (way.schema.once and self._is_spent(way.schema, filled)):
                yield Edge(fact, needs, way.schema.steps + price + extra, way.schema, way.reveals, filled)

    def _is_spent(self, schema: ActionSchema, binding: Mapping[str, str]) -> bool:
        """True if what counts once was done: with some names if the score rose with it, else in just this way."""
        self._read[None] = True  # rests on more than facts and names
        if schema.name not in self._spent:
            spent = self._spent[schema.name] = set()
            for command, gained in self._facts.past:
                if (done := schema.match(command)) is not None:
                    spent.add(tuple(done[name] for name in sorted(schema.once if gained else done)))
        every = (sorted(schema.once), sorted(schema.parameters))
        return any(tuple(binding[name] for name in names) in self._spent[schema.name] for names in every)

    def _suits(self, parameter: str, name: str) -> bool:
        """True if a name can fill a parameter: not one known only in another role, nor an unknown permanent one."""
        if name in self._vocabulary.every:
            return name in self._vocabulary.called.get(parameter, ())
        self._vocabulary.strangers.add(name)
        return parameter not in self._manual.lasting_names

    def _fill(self, way: Achiever, binding: dict[str, str]) -> list[Filled]:
        """Every way to fill in the parameters that are left, judging needs as soon as they are bound."""
        filled: list[Filled] = []
        if way.waived and self._holds_any(way.waived, binding):
            return filled  # nothing to doubt
        levels = self._manual.levels(way)
        if self._best and len(levels) > 1 and not way.waived:
            self._fill_at_once(levels, way.bound, binding, filled)
        if not filled:
            self._fill_levels(levels, way.bound, binding, (), 0.0, filled)
        return filled if not way.waived else [one for one in filled if not self._holds_any(way.waived, one[0])]

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
        self, levels: Sequence[Level], needs: Iterable[Need], binding: dict[str, str], filled: list[Filled]
    ) -> None:
        """Fill in names with which all needs hold. Any others cost more, and are in no best plan."""
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
        """The names for a parameter; of places to look in, where the thing was found, or the likeliest and nearest."""
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
            left.sort(key=lambda item: (item[0], self._lacking(needs, {**binding, level.parameter: item[1]})))
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
        """True if answers of an earlier step, about facts and names in a role, are those of this one."""
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
        """Judge a precondition: whether it can be had at all, what taking it for granted costs, what is left to do."""
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
            found_out = revealable and (literal.predicate, literal.negated) in manual.hoped  # before anything is hoped
            makeable = literal.makeable and not found_out and self._can_make(fact)
            stated = makeable and (literal.predicate, literal.negated) not in manual.hoped
            sure = need.wanted or (
                stated and (literal.predicate in manual.positional or (not literal.negated and is_unseen(args)))
            )
            if value is None and not sure and (makeable or need.given or not revealable):
                granted = max(granted, UNTRIED if literal.predicate in self._lore.kinds else GRANTED)
            elif makeable or revealable:
                left.append(fact)
        if granted:
            return None, granted, None
        if not left:
            return IMPOSSIBLE
        return None, 0.0, left[0] if len(left) == 1 else Fact("or", tuple(left))  # type: ignore[arg-type]

    def _can_make(self, fact: Fact) -> bool:
        """True if any action gives such a fact, with names in the roles that they have."""
        key = (fact.predicate, fact.args, fact.negated)
        if key not in self._made:
            makers = self._manual.makers(fact.predicate, fact.negated)
            self._made[key] = (fact.predicate in self._manual.companions and not fact.negated) or any(
                not way.circular
                and all(
                    self._suits(parameter, name) if parameter in way.parameters else kind_of(name) == parameter
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
        if companion and any(self._value(companion, (place, *args)) for place in self._places(predicate)):
            return True
        return value
