"""Evidence is counted in independent witnesses: what is tried again with the same things in the same
episode proves nothing more.
"""

from collections.abc import Iterable

from rpms.induction.attempts import Attempt, Book, Known, SeenState, Vocabulary, independent
from rpms.induction.implications import Implications
from rpms.induction.needs import Needs
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom
from rpms.logic.rules import Predicate
from rpms.store.evidence import Label, Witness

DARK = Atom("dark")
LOUD = Atom("loud")
BOTH = 0b11
LAMPS = ("a", "b", "c")
LIT = 0b01
WARM_PLACE = 1


def attempt(episode: str, step: int, *, worked: bool) -> Attempt:
    """A try to ring, for which it was dark and loud where it worked, and neither where not."""
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


def test_two_facts_that_agree_in_many_episodes_are_one() -> None:
    rows = [attempt(f"night {day}", 0, worked=True) for day in range(4)]
    rows += [attempt(f"day {day}", 0, worked=False) for day in range(4)]
    assert necessary(book_of(rows)) in ([{DARK}], [{LOUD}])


def test_few_episodes_leave_open_which_of_two_facts_it_was() -> None:
    rows = [attempt(f"night {day}", 0, worked=True) for day in range(2)]
    rows += [attempt(f"day {day}", 0, worked=False) for day in range(2)]
    assert necessary(book_of(rows)) == [{DARK, LOUD}]


def states(*told: str) -> Book:
    """A book of `wipe <lamp>`, after states in which lamps were lit and warm, or neither."""
    predicates = {name: Predicate(name, ("lamp",), name, f"not {name}") for name in ("lit", "warm")}
    vocabulary = Vocabulary(predicates)
    facts = [Atom("lit", ("0",)), Atom("warm", ("0",))]
    book = Book("wipe <>", vocabulary, [{"lamp"}], facts, roles=[{"lamp"}])
    book.imagined += [Known(BOTH, 0), Known(0, BOTH)]
    for number in range(8):
        belief = FactBelief().learn(
            "lit(a)", "warm(a)", "not lit(b)", "not warm(b)", *told, lamp=LAMPS
        )
        vocabulary.seen.add(SeenState(f"episode {number}", belief))
    return book


def test_a_fact_follows_from_another_with_which_it_always_held() -> None:
    assert Implications(states()).follows(WARM_PLACE, LIT)


def test_what_is_unknown_refutes_nothing() -> None:
    assert Implications(states("lit(c)")).follows(WARM_PLACE, LIT)


def test_what_is_known_to_be_false_does() -> None:
    assert not Implications(states("lit(c)", "not warm(c)")).follows(WARM_PLACE, LIT)
