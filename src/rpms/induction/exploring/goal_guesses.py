"""Guesses at what goals want, before wins tell: sets of facts, best those that the goal's own words
say.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from rpms.induction.evidence.templates import words_in
from rpms.induction.evidence.wants import NOT, SWAP, GoalBook, State, fields_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom
from rpms.logic.goal import Goal


def guesses(book: GoalBook, made: Sequence[Atom]) -> Iterator[State]:
    """Sets of facts that a goal of a type may want, simplest first, over facts that actions
    make: none is refuted.
    """
    for state in _small_states(made):
        refuted = any(map(state.issubset, book.went_on))
        if not refuted and says_all(state, book):
            yield state


def says_all(state: State, book: GoalBook) -> bool:
    """True if facts speak of each field that goals of a type have: one of which nothing is wanted
    would not be in the goal.
    """
    spoken_of = set(fields_of(state).values())
    return all(name in spoken_of for name, count in book.fields.items() if count)


def _small_states(made: Sequence[Atom]) -> Iterator[State]:
    """Single facts, facts of both of two objects, then sets without negations."""
    for atom in made:
        yield frozenset({atom})
    for atom in made:
        if "x" in atom.args:
            yield frozenset({atom, atom.bind(SWAP)})
    positive = []
    for atom in made:
        if not atom.predicate.startswith(NOT):
            positive.append(atom)
    for size in range(2, LIMITS.largest_guess + 1):
        for atoms in combinations(positive, size):
            yield frozenset(atoms)


def words_of(goal: Goal) -> frozenset[str]:
    """The words of a goal's type, state and text, without the names of its things."""
    told = f"{goal.type} {goal.state} {goal.text}".lower()
    named = f"{goal.object} {goal.destination}".lower()
    return frozenset(words_in(told)) - {*words_in(named)}


def words_said(atoms: Iterable[Atom], words: Iterable[str]) -> frozenset[str]:
    """Of some words, those that facts say: `cooled` says `cool`, and no negation says any."""
    said: set[str] = set()
    for atom in atoms:
        if not atom.predicate.startswith(NOT):
            said.update(_words_in_predicate(atom.predicate))
    return frozenset([word for word in words if any(_same_stem(word, each) for each in said)])


@lru_cache(maxsize=1_024)
def _words_in_predicate(predicate: str) -> tuple[str, ...]:
    return tuple(words_in(predicate))


@lru_cache(maxsize=16_384)
def _same_stem(one: str, other: str) -> bool:
    """True if a word is another or a form of it: `cool`, `cooled`. Short ones say too little:
    `in`, `at`.
    """
    short, long = sorted((one, other), key=len)
    return len(short) >= LIMITS.stem and long.startswith(short)
