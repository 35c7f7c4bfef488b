"""Evidence is counted in independent witnesses: what is tried again with the same things in the same
episode proves nothing more.
"""

from collections.abc import Iterable
from random import Random

from rpms.induction.conclusions.action_effects import Outcomes
from rpms.induction.conclusions.conditions import conditions, view, without_repeats
from rpms.induction.conclusions.deeds import deeds_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.columns import columns_of
from rpms.induction.evidence.linked_attempts import Linked
from rpms.induction.evidence.revelations import SeenStep
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.evidence.witnesses import distinct, independent
from rpms.induction.manuals.manual_verify import Foretold
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom, Literal, Truth
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
    rows = [attempt(f"night {night}", 0, worked=True) for night in range(3)]
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


def test_a_need_is_not_certain_before_several_successes_had_it() -> None:
    refusals = [attempt(f"day {day}", 0, worked=False) for day in range(9)]
    two = [attempt(f"night {night}", 0, worked=True) for night in range(2)]
    third = attempt("night 3", 0, worked=True)
    assert necessary(book_of([*two, *two, *refusals])) == []
    assert necessary(book_of([*two, third, *refusals])) != []


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
    found = {frozenset(map(str, fact.clause.literals)) for fact in Needs(book).pairs.found}
    assert {"heavy", "small"} in found
    assert {"not heavy", "large"} in found


def examined(count: int, true: int, false: int, *, worked: bool = True) -> list[Attempt]:
    """Tries to look at things: bit 0 for a place, bit 1 for being near, bit 2 for being held."""
    found = []
    for number in range(count):
        episode = f"{true} {false} {number}"
        found.append(
            Attempt(Witness(episode, 0), ("it",), ("it",), not worked, true, false, 0, 0, 0, 0)
        )
    return found


def pairs(*every: list[Attempt]) -> set[frozenset[str]]:
    """The needs of two facts, of which one must hold."""
    names = ("place", "near", "held")
    predicates = {name: Predicate(name, ("thing",), name, f"not {name}") for name in names}
    book = Book("examine <>", Vocabulary(predicates), slots=[{"thing"}], roles=[{"thing"}])
    book.facts = [Atom(name, ("0",)) for name in names]
    for rows in every:
        book.attempts += rows
    book.worked[("it",)] = 1
    return {frozenset(map(str, fact.clause.literals)) for fact in Needs(book).pairs.found}


def test_two_facts_are_no_need_where_one_of_them_held_in_a_single_success() -> None:
    """Whether a held thing is near is mostly unknown. Once one was known not to be: that it is no
    place, and not near, does not explain why others that are near and not held were refused.
    """
    places = examined(20, 0b011, 0b100)
    held = examined(12, 0b100, 0b001)
    held_elsewhere = examined(1, 0b100, 0b011)
    near = examined(8, 0b010, 0b101, worked=False)
    by_luck = frozenset({"place(0)", "not near(0)"})
    assert by_luck not in pairs(places, held, held_elsewhere, near)
    assert frozenset({"place(0)", "held(0)"}) in pairs(places, held, held_elsewhere, near)


def test_nor_where_neither_is_known_in_more_successes_than_the_weaker_one_carries() -> None:
    places = examined(60, 0b011, 0b100)
    unknown = examined(5, 0, 0b001)
    near = examined(8, 0b010, 0b101, worked=False)
    need = frozenset({"place(0)", "held(0)"})
    assert need not in pairs(places, examined(4, 0b100, 0b001), unknown, near)
    assert need in pairs(places, examined(6, 0b100, 0b001), unknown, near)


def guarded(*every: list[Attempt]) -> set[frozenset[str]]:
    """What the guard asks of an action."""
    names = ("place", "near", "held")
    predicates = {name: Predicate(name, ("thing",), name, f"not {name}") for name in names}
    book = Book("examine <>", Vocabulary(predicates), slots=[{"thing"}], roles=[{"thing"}])
    book.facts = [Atom(name, ("0",)) for name in names]
    for rows in every:
        book.attempts += rows
    book.worked[("it",)] = 1
    found = set()
    for fact in Needs(book).facts():
        if fact.label is Label.NECESSARY:
            found.add(frozenset(map(str, fact.clause.literals)))
    return found


def test_what_held_wherever_nobody_knew_of_a_need_may_do_instead_of_it() -> None:
    """Of what was held, nobody knew whether it was near: that near is needed was only seen of
    other things.
    """
    near = examined(60, 0b010, 0b100)
    far = examined(6, 0, 0b110, worked=False)
    held = examined(5, 0b100, 0)
    assert guarded(near, far) == {frozenset({"near(0)"})}
    assert guarded(near, far, held) == {frozenset({"near(0)", "held(0)"})}
    both = examined(1, 0b110, 0)
    assert guarded(near, far, held, both) == {frozenset({"near(0)"})}
    held_and_far = examined(3, 0b100, 0b010, worked=False)
    assert guarded(near, far, held, held_and_far) == {frozenset({"near(0)"})}


def test_a_kind_is_not_blamed_where_one_of_two_facts_may_have_been_missing() -> None:
    """Places are examined where they are near, other things in hand. Of a hanger it was not known
    that it was near.
    """
    rows = [*examined(20, 0b011, 0b100), *examined(12, 0b100, 0b001)]
    for number in range(6):
        hanger = Attempt(
            Witness(f"far {number}", 0), ("hanger",), ("hanger",), True, 1, 4, 0, 0, 0, 0
        )
        rows.append(hanger)
    names = ("place", "near", "held")
    predicates = {name: Predicate(name, ("thing",), name, f"not {name}") for name in names}
    facts = [Atom(name, ("0",)) for name in names]
    book = Book("examine <>", Vocabulary(predicates), [{"thing"}], facts, [], rows)
    book.worked[("it",)] = 32
    assert Needs(book).faultless.found == []
    seen_near = [row._replace(true=row.true | 0b010) for row in rows[-6:]]
    book.attempts = [*rows[:-6], *seen_near]
    assert len(Needs(book).faultless.found) == 6


def done(episode: str, step: int, before: tuple[int, int], after: tuple[int, int]) -> Attempt:
    """A success with the same thing, and the facts that were true and false before and after."""
    return Attempt(Witness(episode, step), ("it",), ("it",), False, *before, *after, 0, 0)


def outcomes(attempts: Iterable[Attempt]) -> Outcomes:
    predicates = {name: Predicate(name, ("thing",), name, f"not {name}") for name in ("on", "hot")}
    facts = [Atom("on", ("0",)), Atom("hot", ("0",))]
    rows = list(attempts)
    return Outcomes(Book("use <>", Vocabulary(predicates), [{"thing"}], facts, [], rows, len(rows)))


def test_a_thing_that_is_misread_in_one_episode_contradicts_an_effect_once() -> None:
    rows = [done(f"day {day}", 0, (0, 0b11), (0b01, 0b10)) for day in range(60)]
    rows += [done("misread", step, (0, 0b11), (0, 0b11)) for step in range(4)]
    assert [str(fact.clause) for fact in outcomes(rows).effects()] == ["on(0)"]


def test_one_that_works_again_and_again_in_one_episode_does_not_outweigh_others() -> None:
    rows = [done("once", step, (0, 0b11), (0b01, 0b10)) for step in range(200)]
    rows += [done(f"day {day}", 0, (0, 0b11), (0, 0b11)) for day in range(3)]
    assert outcomes(rows).effects() == []


def test_what_one_episode_shows_again_and_again_is_not_revealed() -> None:
    again = [done("hot", step, (0b01, 0), (0b11, 0)) for step in range(6)]
    again += [done("cold", step, (0b01, 0), (0b01, 0b10)) for step in range(6)]
    assert outcomes(again).observes() == []
    third = done("another", 0, (0b01, 0), (0b11, 0))
    assert [str(fact.clause) for fact in outcomes([*again, third]).observes()] == ["hot(0)"]


def test_a_condition_is_not_told_by_one_episode() -> None:
    came = [done("warm", step, (0b10, 0b01), (0b11, 0)) for step in range(9)]
    stayed = [done("cold", step, (0, 0b11), (0, 0b11)) for step in range(9)]
    assert outcomes([*came, *stayed]).conditional == []
    came = [done(f"warm {day}", 0, (0b10, 0b01), (0b11, 0)) for day in range(9)]
    stayed = [done(f"cold {day}", 0, (0, 0b11), (0, 0b11)) for day in range(9)]
    (found,) = outcomes([*came, *stayed]).conditional
    assert [str(clause) for clause in found.given] == ["hot(0)"]


def test_a_process_is_no_surer_for_what_only_repeats() -> None:
    rows = [done("lucky", step, (0b10, 0b01), (0b11, 0)) for step in range(9)]
    rows += [done(f"day {day}", 0, (0b10, 0b01), (0b10, 0b01)) for day in range(2)]
    book = outcomes(rows).book
    seen = view(book, rows, lambda attempt: bool(attempt.true_after & 1))
    assert len(distinct(rows)) == 3
    assert list(conditions(without_repeats(seen))) == []
    assert list(conditions(seen)) != []


def test_refused_again_and_again_in_one_episode_is_not_yet_done_for_good() -> None:
    def heated(episode: str, step: int, *, refused: bool = True) -> Attempt:
        return done(episode, step, (0, 0), (0, 0))._replace(refused=refused)

    once = [heated("day", 0, refused=False), *(heated("day", step) for step in range(1, 5))]
    assert not columns_of(outcomes(once).book).done_before()
    days = []
    for day in range(3):
        days += [heated(f"day {day}", 0, refused=False), heated(f"day {day}", 1)]
    assert len(columns_of(outcomes(days).book).done_before()) == 3


def test_a_side_effect_is_counted_once_for_the_same_things_in_an_episode() -> None:
    predicates = {
        "wired": Predicate("wired", ("switch", "lamp"), "wired", "not wired"),
        "lit": Predicate("lit", ("lamp",), "lit", "not lit"),
    }
    linked = Linked("press <>", Vocabulary(predicates))
    dark = FactBelief().learn("wired(red, globe)", "not lit(globe)", switch=["red"], lamp=["globe"])
    bright = dark.learn("lit(globe)")
    for step in range(5):
        pressed = Attempt(Witness("day", step), ("red",), ("red",), False, 0, 0, 0, 0, 0, 0)
        seen = SeenStep(dark, bright, pressed.witness, refused=False)
        linked.add(pressed, seen, Names(), Random(0))
    assert [len(count.good) for count in linked.sides.values()] == [1]


def test_one_lost_task_forbids_nothing() -> None:
    survived = [done(f"day {day}", 0, (0, 0b11), (0b01, 0b10)) for day in range(5)]
    lost = [done(f"end {day}", 0, (0b10, 0b01), (0b11, 0))._replace(lost=True) for day in range(2)]
    assert outcomes([*survived, lost[0]]).ruinous() is None
    ruin = outcomes([*survived, *lost]).ruinous()
    assert ruin is not None
    assert str(ruin.clause) == "hot(0)"


def test_scores_of_one_episode_are_one_witness_and_those_of_first_steps_none() -> None:
    def scored(episode: str, step: int) -> Attempt:
        done = attempt(episode, step, worked=True)
        return done._replace(goal="ring", scored=True, further=True)

    again = book_of(scored("monday", step) for step in range(2, 8))
    assert deeds_of([again], "ring", Names(), {}, {}) == []
    first = book_of(scored(f"day {day}", 1) for day in range(3))
    assert deeds_of([first], "ring", Names(), {}, {}) == [], "the opening may have been worth it"
    days = book_of(scored(f"day {day}", 2) for day in range(3))
    assert [deed.goal for deed in deeds_of([days], "ring", Names(), {}, {})] == ["ring"]


def test_an_effect_that_fails_again_and_again_in_one_episode_fails_once() -> None:
    lit = Literal(Atom("lit", ("lamp",)))
    foretold = Foretold()
    for step in range(9):
        foretold.count(lit, Truth.FALSE, Witness("monday", step))
        foretold.count(lit, Truth.TRUE, Witness("tuesday", step))
    assert (foretold.seen, len(foretold.missed)) == (1, 1)
    assert not foretold.fails()
    for day in ("wednesday", "thursday"):
        foretold.count(lit, Truth.FALSE, Witness(day, 0))
    assert foretold.fails()


def test_an_effect_that_mostly_came_about_of_the_same_things_came_about() -> None:
    lit = Literal(Atom("lit", ("lamp",)))
    foretold = Foretold()
    for value in (Truth.TRUE, Truth.FALSE, Truth.TRUE, Truth.UNKNOWN):
        foretold.count(lit, value, Witness("monday", 0))
    assert (foretold.seen, foretold.missed) == (1, [])


def test_successes_in_which_nothing_was_known_are_not_held_against_a_need_of_two() -> None:
    def letters(count: int, step: int, true: int, false: int, *, worked: bool) -> list[Attempt]:
        rows = []
        for number in range(count):
            witness = Witness(f"{step} {number}", 0)
            rows.append(Attempt(witness, (), (), not worked, true, false, 0, 0, 0, 0))
        return rows

    def found(unweighed: int) -> set[frozenset[str]]:
        rows = letters(40, 0, HEAVY | LARGE, SMALL, worked=True)
        rows += letters(30, 1, SMALL, HEAVY | LARGE, worked=True)
        rows += letters(unweighed, 2, SMALL, LARGE, worked=True)
        rows += letters(30, 3, HEAVY | SMALL, LARGE, worked=False)
        names = ("heavy", "small", "large")
        predicates = {name: Predicate(name, (), name, f"not {name}") for name in names}
        facts = [Atom(name) for name in names]
        won = 70 + unweighed
        book = Book("post", Vocabulary(predicates), facts=facts, attempts=rows, succeeded=won)
        book.worked[()] = won
        return {frozenset(map(str, fact.clause.literals)) for fact in Needs(book).pairs.found}

    need = frozenset({"not heavy", "large"})
    assert need in found(unweighed=0)
    assert need in found(unweighed=32), "as many as carry the weaker fact, and more than a tenth"
    assert need not in found(unweighed=60), "nearly half of them may have been heavy"


def test_who_opens_what_is_open_tells_nothing_of_what_opening_scores() -> None:
    opened = Literal(Atom("dark"))

    def pulled(day: int, *, dark: bool) -> Attempt:
        """The curtains are drawn: it scores where it was light."""
        true = BOTH if dark else 0b10
        row = Attempt(Witness(str(day), 2), (), (), False, true, BOTH & ~true, BOTH, 0, 0, 0)
        return row._replace(goal="ring", scored=not dark, further=not dark)

    rows = [pulled(day, dark=day % 3 > 0) for day in range(18)]
    effects = {"ring": (opened,)}
    (deed,) = deeds_of([book_of(rows)], "ring", Names(), {}, effects)
    assert deed.changes == (opened,)
    assert deed.when.against == 0
    scored_anyway = [row._replace(scored=True, further=True) for row in rows]
    (other,) = deeds_of([book_of(scored_anyway)], "ring", Names(), {}, effects)
    assert other.changes == (), "it scored without a change, too"
