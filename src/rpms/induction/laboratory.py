"""Trials of one action: those that can be made in a state, and states to bring about for one.

An action that has worked before is tried with names that lack little of what it may need; the worth
of a trial is the entropy of its outcome (`odds`). One that has never worked is tried as if one of
the guesses at its needs were right (`first_guesses`), with names of which the guessed facts hold
and many others, rather rare ones. What was refused with more facts holding is not tried again.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf, log2
from random import Random
from typing import NamedTuple

from rpms.induction.attempts import Book
from rpms.induction.bindings import Bindings
from rpms.induction.first_guesses import FirstGuesses, needed_by, needed_by_analogy
from rpms.induction.literals import bits, literal_of, mask_of, signed, union
from rpms.induction.needs import Needs
from rpms.induction.odds import Odds, entropy
from rpms.induction.templates import Names, fill
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief
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
        self, doubt: int, belief: Belief, changing: Container[str], dice: Random
    ) -> Iterator[Aim]:
        """Trials that lack an open fact, and as little else as can be: first with all else that
        may be needed, then with what is certain.
        """
        self.pursued[literal_of(self.book.facts, doubt)] += 1
        size = len(self.book.facts)
        opposite = (doubt + size) % (2 * size)
        costs = {**self.odds.costs, opposite: inf}
        del costs[doubt]
        lasting: dict[int, float] = {}
        made: list[Literal] = []
        certain: list[Literal] = []
        for bit, cost in costs.items():
            literal = literal_of(self.book.facts, bit)
            if literal.atom.predicate not in changing:
                lasting[bit] = cost
                continue
            made.append(literal)
            if cost == inf:
                certain.append(literal)
        names = self._cheapest(lasting, belief, dice)
        if names is None:
            return
        command = fill(self.book.template, names)
        for wanted in (made, certain):
            yield Aim(command, _clauses(wanted, names))

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
    others: Sequence[Needs] = ()  # Needs of the actions that have worked
    _apart: dict[int, bool] = field(default_factory=dict)
    """By two facts, as bits, True if they exclude each other."""
    _held: int = 0  # Facts that were seen to hold of any names
    _rests_on: tuple[int, int] = (-1, -1)  # The attempts and facts when it was last judged
    odds: FirstGuesses = field(init=False)
    """Guesses at what it needs, by the refusals until then."""
    _surprise: list[float] = field(default_factory=list)
    """By fact, the bits that it tells of names that it holds of them: a rare one tells more."""

    def _judge(self, dice: Random) -> None:
        """Guess what it needs, where more was seen of it since the last time."""
        seen = len(self.book.attempts), len(self.book.facts)
        if self._rests_on == seen:
            return
        self._rests_on = seen
        self._held = union(known.true for known in self.book.imagined)
        self._held |= union(attempt.true for attempt in self.book.attempts)
        usual = needed_by(self.others)
        analogous = needed_by_analogy(self.book, self.others)
        self.odds = FirstGuesses(self.book, usual, analogous, self._exclusive, dice)
        held = Counter(place for known in self.book.imagined for place in bits(known.true))
        every = len(self.book.imagined) + 2
        self._surprise = []
        for place in range(len(self.book.facts)):
            self._surprise.append(-log2((held[place] + 1) / every))

    def _weights(self, guess: int) -> list[float]:
        """By fact, how much it speaks for names that it holds of them, if a guess is right."""
        weights = []
        for place, surprise in enumerate(self._surprise):
            counts = 1.0 if guess >> place & 1 else LIMITS.beside_guess
            weights.append(surprise * counts)
        return weights

    def trial(self, belief: Belief, dice: Random) -> Trial | None:
        """The likeliest trial here of some; None where more facts held in some refusal."""
        best: Trial | None = None
        self._judge(dice)
        answers = self.book.vocabulary.answers(belief)

        def holding(atom: Atom) -> bool:
            return bool(answers[atom])

        for number in range(LIMITS.first_choices):
            # the best names first, then others: the best may be refused for good
            greed = LIMITS.greed / (1 + number)
            weights = self._weights(dice.choice(self.odds.guesses))
            chosen = self._related(belief, dice, holding, weights, greed)
            if chosen is None:
                return None
            self.book.widen(chosen, self.names)
            self._judge(dice)
            known = self.book.measure(belief, chosen)
            success = self.odds.success(known.false)
            if self._hopeless(known.true) or (best is not None and success <= best.success):
                continue
            worth = LIMITS.first_success * success
            best = Trial(fill(self.book.template, chosen), worth, known.true, success)
        return best

    def _hopeless(self, true: int) -> bool:
        """True if all these facts held in a refusal."""
        refused = [attempt.true for attempt in self.book.attempts if attempt.refused]
        return any(not true & ~before for before in refused)

    def aims(
        self,
        belief: Belief,
        changing: Container[str],
        makeable: Callable[[Atom], bool],
        dice: Random,
    ) -> Iterator[Aim]:
        """Trials for which facts are to be made true that some guess has, and others that go with
        them: more than held in any refusal.

        `makeable`: whether some action is known to make a fact true.
        """
        self._judge(dice)
        answers = self.book.vocabulary.answers(belief)

        def within_reach_of(atom: Atom) -> bool:
            return bool(answers[atom]) or (atom.predicate in changing and makeable(atom))

        for guess in dice.sample(self.odds.guesses, LIMITS.aims):
            weights = self._weights(guess)
            chosen = self._related(belief, dice, within_reach_of, weights)
            if chosen is None or not self.book.facts:
                return
            within_reach = self._within_reach(belief, chosen, changing, makeable)
            command = fill(self.book.template, chosen)
            for places in self._sets_of(guess, within_reach.made, weights, dice):
                if places and not self._hopeless(within_reach.given | mask_of(places)):
                    literals = [Literal(self.book.facts[place]) for place in places]
                    yield Aim(command, _clauses(literals, chosen))

    def _within_reach(
        self,
        belief: Belief,
        names: Sequence[str],
        changing: Container[str],
        makeable: Callable[[Atom], bool],
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
            elif holds or makeable(atom.bind(bound)):
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
        """True if two facts were never seen to hold of the same names, though each was."""
        both = 1 << one | 1 << other
        if self._held & both != both:
            return False
        if both not in self._apart:
            self._apart[both] = not self._seen(both)
        return self._apart[both]

    def _seen(self, facts: int) -> bool:
        """True if some facts held together of any names in a state that was kept."""
        for state in self.book.vocabulary.seen:
            search = Bindings(self.book, state.answers, nodes=LIMITS.names_asked)
            asked = dict.fromkeys(bits(facts), 1.0)
            constants = {arg for place in bits(facts) for arg in self.book.facts[place].args}
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
            ranked: list[tuple[float, float, str]] = []
            for name in known:
                filled = {**chosen, str(slot): name}
                told = [weight for atom, weight in telling if holds(atom.bind(filled))]
                ranked.append((sum(told), dice.random(), name))
            ranked.sort(reverse=True)
            place = min(int(dice.expovariate(greed)), len(ranked) - 1)
            chosen[str(slot)] = ranked[place][2]
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


def laboratory_of(needs: Needs, pursued: Counter[Literal]) -> Laboratory:
    """The laboratory of an action that has worked."""
    return Laboratory(needs.book, Odds(needs), pursued=pursued)
