"""Trials of an action that has never worked, or only with one name in two slots: those that can be
made in a state, and states to bring about for one.

It is tried as if one of the guesses at its needs were right (`first_guesses`), with names of which
the guessed facts hold and many others, rather rare ones. What was refused with more facts holding
is not tried again.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from random import Random
from typing import NamedTuple

from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.bindings import Bindings
from rpms.induction.evidence.literals import mask_of, union
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.states import AskedOnce
from rpms.induction.evidence.templates import Names, fill
from rpms.induction.exploring.first_guesses import (
    FirstGuesses,
    WorkingAction,
    needed_by,
    needed_by_analogy,
)
from rpms.induction.exploring.laboratory import Aim, Reach, Trial, each_alone
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Literal


class _WithinReach(NamedTuple):
    """Facts about some names, by their places in the book."""

    given: int  # Those that hold, and that no action changes, as bits
    made: list[int]  # Those that hold or can be made true


class _Seen(NamedTuple):
    """How much was seen of an action."""

    attempts: int
    facts: int


@dataclass(frozen=True, eq=False)
class _Exclusions:
    """Which facts over the slots of an action exclude each other, by their places in its book."""

    book: Book
    reach: Reach
    fitting: Sequence[Collection[str]]
    """By slot, the names that may fill it."""
    held: int
    """Facts that were seen to hold of any names, as bits."""
    apart: dict[int, bool]
    """By two facts, as bits, True if they exclude each other, as far as was looked up."""

    def known_under(self, reach: Reach) -> dict[int, bool]:
        """The pairs that were looked up and are the same under another reach.

        What was never seen together may be by now, or a way there be known.
        """
        if reach.meeting is self.reach.meeting:
            return dict(self.apart)
        return {both: False for both, is_apart in self.apart.items() if not is_apart}

    def exclusive(self, one: int, other: int) -> bool:
        """True if two facts were never seen to hold of the same names, though each was, and no
        known action leads there.
        """
        both = 1 << one | 1 << other
        if self.held & both != both:
            return False
        if both not in self.apart:
            self.apart[both] = not self._seen(both) and not self.may_meet(one, other)
        return self.apart[both]

    def may_meet(self, one: int, other: int) -> bool:
        """True if it is known that two facts may hold together of names that may fill the slots."""
        facts = self.book.facts
        return self.reach.possible_of_any(facts[one], facts[other], self.fitting)

    def compatible(self, begun: Sequence[int], ranked: Sequence[int]) -> list[int]:
        """Some facts, and others in their order that may hold together with them."""
        found = list(begun)
        for place in ranked:
            if place not in found and not any(self.exclusive(place, other) for other in found):
                found.append(place)
        return found

    def _seen(self, facts: int) -> bool:
        """True if some facts held together of any names in a state that was kept."""
        costs = dict.fromkeys(bits(facts), 1.0)
        args: set[str] = set()
        for place in bits(facts):
            args.update(self.book.facts[place].args)
        for state in self.book.vocabulary.seen:
            search = Bindings(self.book, state.answers, nodes=LIMITS.names_asked)
            for found in search.search(costs):
                names = list(found.names.values())
                all_differ = len(set(names)) == len(names)
                if all_differ and args.isdisjoint(names):
                    return True
        return False


@dataclass(frozen=True, eq=False)
class _Guesswork:
    """Guesses at what an action needs, and what they rest on."""

    seen: _Seen
    """How much of the action had been seen when they were made."""
    exclusions: _Exclusions
    guesses: FirstGuesses
    surprise: Sequence[float]
    """By fact, the bits that it tells of names that it holds of them: a rare one tells more."""

    def weights(self, guess: int) -> list[float]:
        """By fact, how much it speaks for names that it holds of them, if a guess is right."""
        weights = []
        for place, surprise in enumerate(self.surprise):
            counts = 1.0 if guess >> place & 1 else LIMITS.beside_guess
            weights.append(surprise * counts)
        return weights


@dataclass(eq=False)
class Untried:
    """Trials of an action that the world declares and that has never worked."""

    book: Book
    names: Names
    others: Sequence[WorkingAction] = ()  # The actions that have worked
    _last: _Guesswork | None = None

    def _guesswork(self, belief: Belief, reach: Reach, dice: Random) -> _Guesswork:
        """Guesses at what it needs: the last ones, or new ones where more was seen of it since."""
        seen = _Seen(len(self.book.attempts), len(self.book.facts))
        if self._last is None or self._last.seen != seen:
            self._last = self._guess_anew(seen, belief, reach, dice)
        return self._last

    def _guess_anew(self, seen: _Seen, belief: Belief, reach: Reach, dice: Random) -> _Guesswork:
        """Guesses by all that was seen of it until now."""
        exclusions = self._exclusions(belief, reach)
        guesses = FirstGuesses(
            self.book,
            usual=needed_by(self.others),
            analogous=needed_by_analogy(self.book, self.others),
            attainable=self._attainable(belief, exclusions),
            exclusive=exclusions.exclusive,
            dice=dice,
        )
        return _Guesswork(seen, exclusions, guesses, self._surprises())

    def _exclusions(self, belief: Belief, reach: Reach) -> _Exclusions:
        """Which facts exclude each other, with the pairs that were looked up before."""
        held = union(known.true for known in self.book.imagined)
        held |= union(attempt.true for attempt in self.book.attempts)
        fitting = [names_for(role, belief.names) for role in self.book.declared]
        apart: dict[int, bool] = {}
        if self._last is not None:
            apart = self._last.exclusions.known_under(reach)
        return _Exclusions(self.book, reach, fitting, held, apart)

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

    def _attainable(self, belief: Belief, exclusions: _Exclusions) -> int:
        """Facts that were seen to hold of any names, hold of some now, or can be made true."""
        search = Bindings(self.book, self.book.vocabulary.answers(belief), nodes=LIMITS.nodes)
        found = exclusions.held
        for place in range(len(self.book.facts)):
            if found >> place & 1:
                continue
            made = exclusions.may_meet(place, place)
            if made or next(search.search({place: 1.0}), None) is not None:
                found |= 1 << place
        return found

    def trial(self, belief: Belief, reach: Reach, dice: Random) -> Trial | None:
        """The likeliest trial here of some; None where more facts held in some refusal."""
        best: Trial | None = None
        for number in range(LIMITS.first_choices):
            # the best names first, then others: the best may be refused for good
            greed = LIMITS.greed / (1 + number)
            names = self._choose_names(belief, self._guesswork(belief, reach, dice), greed, dice)
            if names is None:
                return None
            # names in new roles open new facts, and the guesses have to know of these
            self.book.widen(names, self.names)
            guesses = self._guesswork(belief, reach, dice).guesses
            known = self.book.measure(belief, names)
            success = guesses.success(known.false)
            is_likelier = best is None or success > best.success
            if is_likelier and not self._hopeless(known.true):
                worth = LIMITS.first_success * success
                best = Trial(fill(self.book.template, names), worth, known.true, success)
        return best

    def _choose_names(
        self, belief: Belief, guesswork: _Guesswork, greed: float, dice: Random
    ) -> tuple[str, ...] | None:
        """Names of which a guess holds, else of which much of it does; None where there are none
        for some slot.
        """
        answers = self.book.vocabulary.answers(belief)
        guess = dice.choice(guesswork.guesses.guesses)
        names = self._of_which_hold(guess, answers, dice)
        if names is not None:
            return names

        def holds(atom: Atom) -> bool:
            return bool(answers[atom])

        return self._related(belief, dice, holds, guesswork.weights(guess), greed=greed)

    def _of_which_hold(
        self, facts: int, answers: AskedOnce, dice: Random
    ) -> tuple[str, ...] | None:
        """Different names for all slots of which some facts hold; None where there are none."""
        slots = range(len(self.book.declared))
        search = Bindings(self.book, answers, dice, nodes=LIMITS.first_nodes)
        costs = dict.fromkeys(bits(facts), 1.0)
        for found in search.search(costs, slots=slots):
            names = tuple(found.names[slot] for slot in slots)
            all_differ = len(set(names)) == len(names)
            if all_differ or self._may_name_twice(dice):
                return names
        return None

    def _hopeless(self, true: int) -> bool:
        """True if all these facts held in a refusal."""
        return any(not true & ~attempt.true for attempt in self.book.refusals)

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
        guesswork = self._guesswork(belief, reach, dice)
        answers = self.book.vocabulary.answers(belief)

        def within_reach_of(atom: Atom) -> bool:
            return bool(answers[atom]) or (atom.predicate in changing and reach.makeable(atom))

        for guess in dice.sample(guesswork.guesses.guesses, LIMITS.aims):
            weights = guesswork.weights(guess)
            chosen = self._related(belief, dice, within_reach_of, weights)
            if chosen is None or not self.book.facts:
                return
            within_reach = self._within_reach(belief, chosen, changing, reach)
            exclusions = guesswork.exclusions
            sets = _sets_of(guess, within_reach.made, weights, exclusions, dice)
            yield from self._aims_with(chosen, within_reach.given, sets, reach)

    def _aims_with(
        self, names: Sequence[str], given: int, sets: Iterable[Sequence[int]], reach: Reach
    ) -> Iterator[Aim]:
        """Trials with some names, one for each set of facts to bring about that is not hopeless.

        `given`: the facts that hold in any case.
        """
        command = fill(self.book.template, names)
        slots = slots_of(names)
        for places in sets:
            if not places or self._hopeless(given | mask_of(places)):
                continue
            literals = [Literal(self.book.facts[place].bind(slots)) for place in places]
            wanted = list(dict.fromkeys(literals))
            if reach.possible(wanted):
                yield Aim(command, each_alone(wanted))

    def _within_reach(
        self,
        belief: Belief,
        names: Sequence[str],
        changing: Container[str],
        reach: Reach,
    ) -> _WithinReach:
        """Facts of some names that hold for good, and facts that hold or can be made true."""
        slots = slots_of(names)
        true = self.book.measure(belief, names).true
        given = 0
        made = []
        for place, atom in enumerate(self.book.facts):
            holds = true >> place & 1
            if atom.predicate not in changing:
                given |= holds << place
            elif holds or reach.makeable(atom.bind(slots)):
                made.append(place)
        return _WithinReach(given, made)

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
        *,
        greed: float = LIMITS.greed,
    ) -> tuple[str, ...] | None:
        """Names for all slots, chosen one after the other such that facts hold of them together."""
        slots = list(slots_of(self.book.declared))
        in_any_order = [*slots]
        dice.shuffle(in_any_order)
        twice = self._may_name_twice(dice)
        chosen: dict[str, str] = {}
        for slot in in_any_order:
            known = names_for(self.book.declared[int(slot)], belief.names)
            if not twice:
                known = [name for name in known if name not in chosen.values()]
            if not known:
                return None
            telling = self._telling(weights, slot, chosen)
            ranked: list[_RankedName] = []
            for name in known:
                told = _told_by(telling, {**chosen, slot: name}, holds)
                ranked.append(_RankedName(told, dice.random(), name))
            chosen[slot] = _one_of_the_best(ranked, greed, dice)
        return tuple(chosen[slot] for slot in slots)

    def _telling(
        self, weights: Sequence[float], slot: str, chosen: Collection[str]
    ) -> list["_TellingFact"]:
        """The facts about a slot and others that were chosen, with what each tells."""
        bound = {*chosen, slot}
        found: list[_TellingFact] = []
        # a fact that was found since weights were given has none yet
        for atom, weight in zip(self.book.facts, weights, strict=False):
            if weight > 0 and slot in atom.args and bound.issuperset(atom.args):
                found.append(_TellingFact(atom, weight))
        return found


class _TellingFact(NamedTuple):
    """A fact over slots, and how much it speaks for names that it holds of them."""

    atom: Atom
    weight: float


def _told_by(
    facts: Iterable[_TellingFact], names: Mapping[str, str], holds: Callable[[Atom], bool]
) -> float:
    """The sum of what the facts tell that hold of some names."""
    told = 0.0
    for atom, weight in facts:
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


def _sets_of(
    guess: int,
    made: Sequence[int],
    weights: Sequence[float],
    exclusions: _Exclusions,
    dice: Random,
) -> tuple[Sequence[int], ...]:
    """Facts to bring about: those that were guessed, these with a few more, and with all that
    go together.
    """
    begun = [place for place in made if guess >> place & 1]
    rank = {place: weights[place] * dice.random() for place in made}
    more = exclusions.compatible(begun, sorted(made, key=rank.__getitem__, reverse=True))
    few = len(begun) + int(dice.expovariate(LIMITS.few_facts))
    return begun, more[: few + 1], more
