"""Trials of one action: those that can be made in a state, and states to bring about for one.

An action that has worked before is tried with names that lack little of what it may need; the worth
of a trial is the entropy of its outcome (`odds`). One that has never worked is tried as if one of
the guesses at its needs were right (`first_guesses`), with names of which the guessed facts hold
and many others, rather rare ones. What was refused with more facts holding is not tried again.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf, log2
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.bindings import Bindings
from rpms.induction.evidence.literals import literal_of, mask_of, signed, union
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.states import AskedOnce
from rpms.induction.evidence.templates import Names, fill
from rpms.induction.exploring.first_guesses import (
    FirstGuesses,
    WorkingAction,
    needed_by,
    needed_by_analogy,
)
from rpms.induction.exploring.odds import Odds, entropy
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Clause, Literal, kind_of


class Trial(NamedTuple):
    """A command, the bits that its outcome would tell, and how likely it succeeds."""

    command: str
    worth: float
    about: object = None  # What it would settle
    success: float = 0.0


class Aim(NamedTuple):
    """A command to be tried once some facts hold."""

    command: str
    wanted: tuple[Clause, ...]


def _any_may_meet(_literals: Iterable[Literal]) -> bool:
    return True


def _none_is_made(_atom: Atom) -> bool:
    return False


def _none_is_known(_one: Atom, _other: Atom, _names: Sequence[Collection[str]]) -> bool:
    return False


@dataclass(frozen=True)
class Reach:
    """What known actions can bring about."""

    makeable: Callable[[Atom], bool]
    """Whether some action is known to make a fact true."""
    possible: Callable[[Iterable[Literal]], bool] = _any_may_meet
    """Whether literals may hold together."""
    possible_of_any: Callable[[Atom, Atom, Sequence[Collection[str]]], bool] = _none_is_known
    """Whether it is known that two facts over slots may hold together of some names."""


class _Costs(NamedTuple):
    """By literal, the cost of its not holding: of those that no action changes, and the others."""

    lasting: dict[int, float]
    made: dict[int, float]


@dataclass(eq=False)
class Laboratory:
    """Trials of an action that has worked."""

    book: Book
    odds: Odds
    asked: Counter[object] = field(default_factory=Counter)
    """Trials since conclusions were drawn, by what each was to settle."""
    pursued: Counter[Literal] = field(default_factory=Counter)
    """By fact, how often a state without it was to be brought about, ever."""

    @property
    def _slots(self) -> range:
        return range(len(self.book.slots))

    def trials(self, belief: Belief, dice: Random) -> Iterator[Trial]:
        """Trials with names that lack little, each with its worth."""
        answers = self.book.vocabulary.answers(belief)
        search = Bindings(self.book, answers, dice, nodes=LIMITS.nodes)
        found = search.search(self.odds.costs, -log2(LIMITS.unlikely), self._slots)
        for binding in islice(found, LIMITS.near_misses):
            names = tuple(binding.names[slot] for slot in self._slots)
            yield self._trial(names, belief)

    def _trial(self, names: tuple[str, ...], belief: Belief) -> Trial:
        known = self.book.measure(belief, names)
        holds, fails = signed(known.true, known.false, len(self.book.facts))
        lacking = tuple(bit for bit in self.odds.open if fails >> bit & 1)
        about: tuple[object, ...] = lacking or tuple(map(kind_of, names))
        success = self.odds.success(holds, fails)
        worth = entropy(success) / (1 + self.asked[about])
        return Trial(fill(self.book.template, names), worth, about, success)

    def doubts(self) -> dict[int, float]:
        """By open fact, the bits that a trial without it alone would tell."""
        found = {}
        for bit, chance in self.odds.open.items():
            found[bit] = entropy(chance) / (1 + self.pursued[literal_of(self.book.facts, bit)])
        return found

    def aims(
        self, doubt: int, belief: Belief, changing: Container[str], reach: Reach, dice: Random
    ) -> Iterator[Aim]:
        """Trials that lack an open fact, and as little else as can be: first with all else that
        may be needed and that may hold without it, then with what is certain.
        """
        self.pursued[literal_of(self.book.facts, doubt)] += 1
        costs = self._costs_without(doubt, changing)
        names = self._cheapest(costs.lasting, belief, dice)
        if names is None:
            return
        command = fill(self.book.template, names)
        certain = [bit for bit, cost in costs.made.items() if cost == inf]
        open_ones = costs.made.keys() - {*certain}
        costliest_first = sorted(open_ones, key=costs.made.__getitem__, reverse=True)
        most = self._together(certain, costliest_first, names, reach)
        for bits_wanted in (most, certain):
            wanted = self._bound(bits_wanted, names)
            if reach.possible(wanted):
                yield Aim(command, tuple(Clause((each,)) for each in wanted))

    def _costs_without(self, doubt: int, changing: Container[str]) -> "_Costs":
        """What it costs to lack each fact that may be needed, if one of them is false for sure."""
        size = len(self.book.facts)
        opposite = (doubt + size) % (2 * size)
        costs = _Costs({}, {})
        for bit, cost in {**self.odds.costs, opposite: inf}.items():
            if bit == doubt:
                continue
            predicate = literal_of(self.book.facts, bit).atom.predicate
            some = costs.made if predicate in changing else costs.lasting
            some[bit] = cost
        return costs

    def _bound(self, some: Iterable[int], names: Sequence[str]) -> list[Literal]:
        """Literals of the book, of some names, each once."""
        slots = slots_of(names)
        literals = [literal_of(self.book.facts, bit).bind(slots) for bit in some]
        return list(dict.fromkeys(literals))

    def _together(
        self, certain: Sequence[int], others: Iterable[int], names: Sequence[str], reach: Reach
    ) -> list[int]:
        """Certain needs, and those of others, in their order, that may hold beside them."""
        found = list(certain)
        for bit in others:
            if reach.possible(self._bound((*found, bit), names)):
                found.append(bit)
        return found

    def _cheapest(
        self, costs: Mapping[int, float], belief: Belief, dice: Random
    ) -> list[str] | None:
        """Of some names, those that lack the least; None where all lack too much."""
        answers = self.book.vocabulary.answers(belief)
        search = Bindings(self.book, answers, dice, nodes=LIMITS.nodes)
        found = search.search(costs, -log2(LIMITS.unlikely), self._slots)
        some = list(islice(found, LIMITS.near_misses))
        if not some:
            return None
        cheapest = min(some, key=lambda binding: binding.cost)
        return [cheapest.names[slot] for slot in self._slots]


def _clauses(literals: Sequence[Literal], names: Sequence[str]) -> tuple[Clause, ...]:
    """Literals over slots, of some names."""
    bound = {str(slot): name for slot, name in enumerate(names)}
    return tuple(Clause((each,)) for each in dict.fromkeys(one.bind(bound) for one in literals))


class _WithinReach(NamedTuple):
    """Facts about some names, by their places in the book."""

    given: int  # Those that hold, and that no action changes, as bits
    made: list[int]  # Those that hold or can be made true


@dataclass(eq=False)
class Untried:
    """Trials of an action that the world declares and that has never worked."""

    book: Book
    names: Names
    others: Sequence[WorkingAction] = ()  # The actions that have worked
    _apart: dict[int, bool] = field(default_factory=dict)
    """By two facts, as bits, True if they exclude each other."""
    _held: int = 0  # Facts that were seen to hold of any names
    _reach: Reach = field(default=Reach(_none_is_made))
    """What known actions can bring about, when it was last judged."""
    _fitting: Sequence[Collection[str]] = ()
    """By slot, the names that may fill it, when it was last judged."""
    _rests_on: tuple[int, int] = (-1, -1)  # The attempts and facts when it was last judged
    odds: FirstGuesses = field(init=False)
    """Guesses at what it needs, by the refusals until then."""
    _surprise: list[float] = field(default_factory=list)
    """By fact, the bits that it tells of names that it holds of them: a rare one tells more."""

    def _judge(self, belief: Belief, reach: Reach, dice: Random) -> None:
        """Guess what it needs, where more was seen of it since the last time."""
        seen = len(self.book.attempts), len(self.book.facts)
        if self._rests_on == seen:
            return
        self._rests_on = seen
        if reach.possible_of_any != self._reach.possible_of_any:
            # what was never seen together may be by now, or a way there be known
            self._apart = {both: apart for both, apart in self._apart.items() if not apart}
        self._reach = reach
        self._fitting = [names_for(role, belief.names) for role in self.book.declared]
        self._held = union(known.true for known in self.book.imagined)
        self._held |= union(attempt.true for attempt in self.book.attempts)
        usual = needed_by(self.others)
        analogous = needed_by_analogy(self.book, self.others)
        attainable = self._attainable(belief)
        self.odds = FirstGuesses(self.book, usual, analogous, attainable, self._exclusive, dice)
        self._surprise = self._surprises()

    def _surprises(self) -> list[float]:
        """By fact, the bits that it tells that it holds of some names."""
        held: Counter[int] = Counter()
        for known in self.book.imagined:
            held.update(bits(known.true))
        every = len(self.book.imagined) + 2
        found = []
        for place in range(len(self.book.facts)):
            found.append(-log2((held[place] + 1) / every))
        return found

    def _attainable(self, belief: Belief) -> int:
        """Facts that were seen to hold of any names, hold of some now, or can be made true."""
        search = Bindings(self.book, self.book.vocabulary.answers(belief), nodes=LIMITS.nodes)
        found = self._held
        for place, atom in enumerate(self.book.facts):
            if found >> place & 1:
                continue
            made = self._reach.possible_of_any(atom, atom, self._fitting)
            if made or next(search.search({place: 1.0}), None) is not None:
                found |= 1 << place
        return found

    def _weights(self, guess: int) -> list[float]:
        """By fact, how much it speaks for names that it holds of them, if a guess is right."""
        weights = []
        for place, surprise in enumerate(self._surprise):
            counts = 1.0 if guess >> place & 1 else LIMITS.beside_guess
            weights.append(surprise * counts)
        return weights

    def trial(self, belief: Belief, reach: Reach, dice: Random) -> Trial | None:
        """The likeliest trial here of some; None where more facts held in some refusal."""
        best: Trial | None = None
        self._judge(belief, reach, dice)
        answers = self.book.vocabulary.answers(belief)

        def holding(atom: Atom) -> bool:
            return bool(answers[atom])

        for number in range(LIMITS.first_choices):
            # the best names first, then others: the best may be refused for good
            greed = LIMITS.greed / (1 + number)
            guess = dice.choice(self.odds.guesses)
            chosen = self._of_which_hold(guess, answers, dice)
            if chosen is None:
                chosen = self._related(belief, dice, holding, self._weights(guess), greed)
            if chosen is None:
                return None
            self.book.widen(chosen, self.names)
            self._judge(belief, reach, dice)
            known = self.book.measure(belief, chosen)
            success = self.odds.success(known.false)
            if self._hopeless(known.true) or (best is not None and success <= best.success):
                continue
            worth = LIMITS.first_success * success
            best = Trial(fill(self.book.template, chosen), worth, known.true, success)
        return best

    def _of_which_hold(
        self, facts: int, answers: AskedOnce, dice: Random
    ) -> tuple[str, ...] | None:
        """Different names for all slots of which some facts hold; None where there are none."""
        slots = range(len(self.book.declared))
        search = Bindings(self.book, answers, dice, nodes=LIMITS.first_nodes)
        for found in search.search(dict.fromkeys(bits(facts), 1.0), slots=slots):
            names = tuple(found.names[slot] for slot in slots)
            if len({*names}) == len(names) or self._may_name_twice(dice):
                return names
        return None

    def _hopeless(self, true: int) -> bool:
        """True if all these facts held in a refusal."""
        refused = []
        for attempt in self.book.attempts:
            if attempt.refused:
                refused.append(attempt.true)
        return any(not true & ~before for before in refused)

    def aims(
        self,
        belief: Belief,
        changing: Container[str],
        reach: Reach,
        dice: Random,
    ) -> Iterator[Aim]:
        """Trials for which facts are to be made true that some guess has, and others that go with
        them: more than held in any refusal.
        """
        self._judge(belief, reach, dice)
        answers = self.book.vocabulary.answers(belief)

        def within_reach_of(atom: Atom) -> bool:
            return bool(answers[atom]) or (atom.predicate in changing and reach.makeable(atom))

        for guess in dice.sample(self.odds.guesses, LIMITS.aims):
            weights = self._weights(guess)
            chosen = self._related(belief, dice, within_reach_of, weights)
            if chosen is None or not self.book.facts:
                return
            within_reach = self._within_reach(belief, chosen, changing, reach)
            sets = self._sets_of(guess, within_reach.made, weights, dice)
            yield from self._aims_with(chosen, within_reach.given, sets, reach)

    def _aims_with(
        self, names: Sequence[str], given: int, sets: Iterable[Sequence[int]], reach: Reach
    ) -> Iterator[Aim]:
        """Trials with some names, one for each set of facts to bring about that is not hopeless.

        `given`: the facts that hold in any case.
        """
        command = fill(self.book.template, names)
        for places in sets:
            if not places or self._hopeless(given | mask_of(places)):
                continue
            clauses = _clauses([Literal(self.book.facts[place]) for place in places], names)
            if reach.possible([clause.literals[0] for clause in clauses]):
                yield Aim(command, clauses)

    def _within_reach(
        self,
        belief: Belief,
        names: Sequence[str],
        changing: Container[str],
        reach: Reach,
    ) -> _WithinReach:
        """Facts of some names that hold for good, and facts that hold or can be made true."""
        bound = {str(slot): name for slot, name in enumerate(names)}
        true = self.book.measure(belief, names).true
        given = 0
        made = []
        for place, atom in enumerate(self.book.facts):
            holds = bool(true >> place & 1)
            if atom.predicate not in changing:
                given |= holds << place
            elif holds or reach.makeable(atom.bind(bound)):
                made.append(place)
        return _WithinReach(given, made)

    def _sets_of(
        self, guess: int, made: Sequence[int], weights: Sequence[float], dice: Random
    ) -> tuple[Sequence[int], ...]:
        """Facts to bring about: those that were guessed, these with a few more, and with all that
        go together.
        """
        begun = [place for place in made if guess >> place & 1]
        rank = {place: weights[place] * dice.random() for place in made}
        more = self._compatible(begun, sorted(made, key=rank.__getitem__, reverse=True))
        few = len(begun) + int(dice.expovariate(LIMITS.few_facts))
        return begun, more[: few + 1], more

    def _compatible(self, begun: Sequence[int], ranked: Sequence[int]) -> list[int]:
        """Some facts, and others in their order that may hold together with them."""
        found = list(begun)
        for place in ranked:
            if place not in found and not any(self._exclusive(place, other) for other in found):
                found.append(place)
        return found

    def _exclusive(self, one: int, other: int) -> bool:
        """True if two facts were never seen to hold of the same names, though each was, and no
        known action leads there.
        """
        both = 1 << one | 1 << other
        if self._held & both != both:
            return False
        if both not in self._apart:
            facts = self.book.facts
            self._apart[both] = not self._seen(both) and not self._reach.possible_of_any(
                facts[one], facts[other], self._fitting
            )
        return self._apart[both]

    def _seen(self, facts: int) -> bool:
        """True if some facts held together of any names in a state that was kept."""
        for state in self.book.vocabulary.seen:
            search = Bindings(self.book, state.answers, nodes=LIMITS.names_asked)
            asked = dict.fromkeys(bits(facts), 1.0)
            constants = set()
            for place in bits(facts):
                for arg in self.book.facts[place].args:
                    constants.add(arg)
            for found in search.search(asked):
                names = [*found.names.values()]
                if len({*names}) == len(names) and constants.isdisjoint(names):
                    return True
        return False

    def _may_name_twice(self, dice: Random) -> bool:
        """True if one name may stand in two slots: rarely, and only where others were refused."""
        often = len(self.book.attempts) > LIMITS.patience
        return often and not self.book.succeeded and dice.random() < LIMITS.names_twice

    def _related(
        self,
        belief: Belief,
        dice: Random,
        holds: Callable[[Atom], bool],
        weights: Sequence[float],
        greed: float = LIMITS.greed,
    ) -> tuple[str, ...] | None:
        """Names for all slots, chosen one after the other such that facts hold of them together."""
        slots = list(range(len(self.book.declared)))
        dice.shuffle(slots)
        twice = self._may_name_twice(dice)
        chosen: dict[str, str] = {}
        for slot in slots:
            every = names_for(self.book.declared[slot], belief.names)
            known = [name for name in every if twice or name not in chosen.values()]
            if not known:
                return None
            telling = self._telling(weights, str(slot), chosen)
            ranked: list[_RankedName] = []
            for name in known:
                told = _told_by(telling, {**chosen, str(slot): name}, holds)
                ranked.append(_RankedName(told, dice.random(), name))
            chosen[str(slot)] = _one_of_the_best(ranked, greed, dice)
        return tuple(chosen[str(slot)] for slot in range(len(slots)))

    def _telling(
        self, weights: Sequence[float], slot: str, chosen: Collection[str]
    ) -> list[tuple[Atom, float]]:
        """The facts about a slot and others that were chosen, with what each tells."""
        bound = {*chosen, slot}
        found: list[tuple[Atom, float]] = []
        # a fact that was found since weights were given has none yet
        for atom, weight in zip(self.book.facts, weights, strict=False):
            if weight > 0 and slot in atom.args and bound.issuperset(atom.args):
                found.append((atom, weight))
        return found


def _told_by(
    telling: Iterable[tuple[Atom, float]], names: Mapping[str, str], holds: Callable[[Atom], bool]
) -> float:
    """The sum of what the facts tell that hold of some names."""
    told = 0.0
    for atom, weight in telling:
        if holds(atom.bind(names)):
            told += weight
    return told


class _RankedName(NamedTuple):
    """A name for a slot, by what the facts tell that hold of it; equal ones in any order."""

    told: float
    dice: float
    name: str


def _one_of_the_best(ranked: Sequence[_RankedName], greed: float, dice: Random) -> str:
    """The best name at some rate, else the next one, and so on."""
    best_first = sorted(ranked, reverse=True)
    place = min(int(dice.expovariate(greed)), len(best_first) - 1)
    return best_first[place].name


def laboratory_of(needs: Needs, pursued: Counter[Literal]) -> Laboratory:
    """The laboratory of an action that has worked."""
    return Laboratory(needs.table.book, Odds(needs), pursued=pursued)
