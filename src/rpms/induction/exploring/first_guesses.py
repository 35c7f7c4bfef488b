"""Guesses at the needs of an action that has never worked, or only with one thing in two slots:
a sample of its version space.

A guess is a set of facts. No success lacked any of them, each refusal lacked one as far as that can
be, and facts that never hold together are not in one guess. Guesses are drawn at random: first some
facts by how likely they are needed, then, refusal by refusal, one of those that were lacking:
rather one that explains many refusals at once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import mask_of, union
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits
from rpms.logic.facts import Atom


@dataclass(eq=False)
class FirstGuesses:
    """Guesses that fit all attempts of an action."""

    book: Book
    usual: Mapping[str, float]
    """By predicate, how much likelier than others it is needed."""
    analogous: int
    """Facts that an action with the same parameters needs, as bits."""
    attainable: int
    """Facts that may hold at all, as far as actions are known: no trial can have others."""
    exclusive: Callable[[int, int], bool]
    dice: Random
    guesses: list[int] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)
    """By fact, the share of the guesses that have it."""

    _apart: dict[tuple[int, int], bool] = field(default_factory=dict)
    """By two facts, whether they exclude each other, as far as was asked."""

    def __post_init__(self) -> None:
        self._refusals = _least_lacking(self.book)
        self._prior = self._prior_chances()
        held: Counter[int] = Counter()
        for _ in range(LIMITS.first_guesses):
            guess = self._draw()
            self.guesses.append(guess)
            held.update(bits(guess))
        for place in range(len(self.book.facts)):
            self.chances.append(min(LIMITS.surest, held[place] / LIMITS.first_guesses))

    def _prior_chances(self) -> dict[int, float]:
        """By fact that no success lacked, how likely it is needed before anything was refused."""
        refuted = union(attempt.false for attempt in self.book.successes)
        few = min(LIMITS.needs_fact, LIMITS.usual_needs / max(1, len(self.book.facts)))
        found = {}
        possible = self.attainable & ~refuted
        for place, atom in enumerate(self.book.facts):
            if not possible >> place & 1:
                continue
            chance = few * self.usual.get(atom.predicate, 1.0)
            if self.analogous >> place & 1:
                chance *= LIMITS.by_analogy
            found[place] = min(LIMITS.needs_fact, chance)
        return found

    def _draw(self) -> int:
        """A guess that explains as many refusals as go with the facts that it began with: a
        hitting set of the facts that they lacked, drawn greedily.
        """
        guess = self._first_facts()
        left = [lacking for lacking in self._refusals if not lacking & guess]
        while left:
            refusal = self.dice.choice(left)
            weights = self._explaining(refusal, left, guess)
            if not weights:
                left.remove(refusal)
                continue
            [fact] = self.dice.choices(list(weights), list(weights.values()))
            guess |= 1 << fact
            left = [lacking for lacking in left if not lacking >> fact & 1]
        return guess

    def _first_facts(self) -> int:
        """Facts drawn by how likely they are needed, of which none excludes another."""
        some = []
        for place, chance in self._prior.items():
            if self.dice.random() < chance:
                some.append(place)
        self.dice.shuffle(some)
        guess = 0
        for place in some:
            if self._goes_with(place, guess):
                guess |= 1 << place
        return guess

    def _explaining(self, lacking: int, left: Sequence[int], guess: int) -> dict[int, float]:
        """The facts that a refusal lacked and that go with a guess, each weighed by how likely it
        is needed and how many of the other refusals it explains.
        """
        weights = {}
        for place in bits(lacking):
            if place in self._prior and self._goes_with(place, guess):
                explained = sum(other >> place & 1 for other in left)
                weights[place] = self._prior[place] * explained
        return weights

    def _goes_with(self, place: int, guess: int) -> bool:
        """True if a fact excludes none of those in a guess."""
        for other in bits(guess):
            key = (place, other)
            if key not in self._apart:
                self._apart[key] = self.exclusive(place, other)
            if self._apart[key]:
                return False
        return True

    def success(self, lacking: int) -> float:
        """The likelihood that nothing is needed of what is lacking: the share of the guesses that
        have none of it; where all have some, as if facts were needed independently.
        """
        independent = prod(1 - self.chances[place] for place in bits(lacking))
        fitting = [guess for guess in self.guesses if not guess & lacking]
        return (len(fitting) + independent) / (len(self.guesses) + 1)


def _least_lacking(book: Book) -> list[int]:
    """By refusal, the facts that were lacking; without refusals that lacked more than another."""
    found: list[int] = []
    every = {attempt.false for attempt in book.refusals}
    for lacking in sorted(every, key=int.bit_count):
        if all(other & ~lacking for other in found):
            found.append(lacking)
    return found


class WorkingAction(NamedTuple):
    """An action that has worked: what it needs, and the facts over its slots that it makes."""

    needs: Needs
    makes: Sequence[Atom]


def needed_by(others: Sequence[WorkingAction]) -> dict[str, float]:
    """By predicate, how much likelier than others it is needed, as other actions tell: what is made
    and needed by no action yet is made for one that has never worked.
    """
    able: Counter[str] = Counter()
    needing: Counter[str] = Counter()
    made: set[str] = set()
    for action in others:
        table = action.needs.table
        needed = table.literals(action.needs.explanations.explaining)
        able.update({atom.predicate for atom in table.book.facts})
        needing.update({literal.atom.predicate for literal in needed})
        made.update(atom.predicate for atom in action.makes)
    found = {}
    for predicate, count in able.items():
        share = (needing[predicate] + 1) / (count + 2)  # Laplace's rule of succession
        found[predicate] = 2 * share
    for predicate in made:
        if not needing[predicate]:
            found[predicate] = LIMITS.made_for
    return found


def needed_by_analogy(book: Book, others: Iterable[WorkingAction]) -> int:
    """Facts that actions with the same parameters, in whatever order, need or make, as bits: many
    an action undoes another.
    """
    places = {atom: place for place, atom in enumerate(book.facts)}
    found = set()
    for action in others:
        table = action.needs.table
        slots = _same_parameters(table.book.declared, book.declared)
        if slots is None:
            continue
        required = table.literals(action.needs.explanations.required)
        needed = [literal.atom for literal in required]
        for atom in (*needed, *action.makes):
            bound = atom.bind(slots)
            if bound in places:
                found.add(places[bound])
    return mask_of(found)


def _same_parameters(one: Sequence[str], other: Sequence[str]) -> dict[str, str] | None:
    """Slots of one action by those of another with the same parameters; None if it has others."""
    if sorted(one) != sorted(other):
        return None
    return {str(place): str(other.index(name)) for place, name in enumerate(one)}
