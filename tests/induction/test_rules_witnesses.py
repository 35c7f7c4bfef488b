"""Evidence is counted in independent witnesses: what is tried again with the same things in the same
episode proves nothing more.
"""

from collections.abc import Iterable

from rpms.induction.attempts import Attempt, Book, Vocabulary, independent
from rpms.induction.needs import Needs
from rpms.logic.facts import Atom
from rpms.logic.rules import Predicate
from rpms.store.evidence import Label, Witness

DARK = Atom("dark")
LOUD = Atom("loud")
BOTH = 0b11


def attempt(episode: str, step: int, *, worked: bool) -> Attempt:
    """A try to ring: it was dark and loud where it worked, and neither where it did not."""
    true = BOTH if worked else 0
    return Attempt(Witness(episode, step), (), (), not worked, true, BOTH & ~true, 0, 0, 0, 0)


def book_of(attempts: Iterable[Attempt]) -> Book:
    predicates = {name: Predicate(name, (), name, f"not {name}") for name in ("dark", "loud")}
    rows = list(attempts)
    succeeded = sum(not row.refused for row in rows)
    return Book(
        "ring", Vocabulary(predicates), facts=[DARK, LOUD], attempts=rows, succeeded=succeeded
    )


def necessary(book: Book) -> list[set[Atom]]:
    """The facts of each precondition that the guard would block by."""
    found = [fact for fact in Needs(book).facts() if fact.label is Label.NECESSARY]
    return [{literal.atom for literal in fact.clause.literals} for fact in found]


def test_two_facts_that_agree_all_day_are_not_one() -> None:
    rows = [attempt("night", step, worked=True) for step in range(6)]
    rows += [attempt("day", step, worked=False) for step in range(6)]
    assert independent(rows) == 2
    assert {DARK} not in necessary(book_of(rows))
    assert {LOUD} not in necessary(book_of(rows))


def test_two_days_leave_open_which_of_two_facts_it_was() -> None:
    rows = [attempt("night", step, worked=True) for step in range(6)]
    for day in ("monday", "tuesday"):
        rows += [attempt(day, step, worked=False) for step in range(6)]
    assert necessary(book_of(rows)) == [{DARK, LOUD}]


def test_two_facts_that_agree_in_many_episodes_are_one() -> None:
    rows = [attempt(f"night {day}", 0, worked=True) for day in range(4)]
    rows += [attempt(f"day {day}", 0, worked=False) for day in range(4)]
    assert necessary(book_of(rows)) in ([{DARK}], [{LOUD}])


def test_one_refusal_again_and_again_makes_nothing_necessary() -> None:
    rows = [attempt(f"night {day}", 0, worked=True) for day in range(8)]
    rows += [attempt("day", step, worked=False) for step in range(8)]
    assert necessary(book_of(rows)) == []


HEAVY = 0b001
SMALL = 0b010
LARGE = 0b100


def posted(letters: int, true: int, *, worked: bool, step: int) -> list[Attempt]:
    """As many tries to post letters, each in an episode of its own, of which some facts hold."""
    false = (HEAVY | SMALL | LARGE) & ~true
    return [
        Attempt(Witness(f"{step} {number}", 0), (), (), not worked, true, false, 0, 0, 0, 0)
        for number in range(letters)
    ]


def test_what_another_pair_explains_too_speaks_for_a_pair_as_well() -> None:
    rows = posted(6, HEAVY | LARGE, worked=True, step=0)
    rows += posted(6, SMALL, worked=True, step=1)
    rows += posted(7, HEAVY, worked=False, step=2)
    rows += posted(7, 0, worked=False, step=3)
    # too few by themselves: without the refusals above, nobody could tell
    rows += posted(2, HEAVY | SMALL, worked=False, step=4)
    rows += posted(2, LARGE, worked=False, step=5)
    names = ("heavy", "small", "large")
    predicates = {name: Predicate(name, (), name, f"not {name}") for name in names}
    facts = [Atom(name) for name in names]
    book = Book("post", Vocabulary(predicates), facts=facts, attempts=rows, succeeded=12)
    book.worked[()] = 12
    found = {frozenset(map(str, fact.clause.literals)) for fact in Needs(book).either}
    assert {"heavy", "small"} in found
    assert {"not heavy", "large"} in found
