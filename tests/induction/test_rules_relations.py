"""Relations before names, things that no command names, and exceptions that are counted instead
of obeyed.
"""

from __future__ import annotations

from random import Random

from rpms.induction.conclusions.action_effects import Outcomes
from rpms.induction.conclusions.action_model import kind_tables
from rpms.induction.conclusions.conclude import Excluded, _action
from rpms.induction.conclusions.needs import Needs
from rpms.induction.conclusions.unnamed_effects import processes
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.linked_attempts import Linked
from rpms.induction.evidence.revelations import Observer, SeenStep
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom, Truth
from rpms.logic.rules import Predicate
from rpms.store.evidence import Label, Witness

VOCABULARY = Vocabulary(
    {
        "at": Predicate("at", ("room",), exclusive="always"),
        "locked": Predicate("locked", ("place",)),
        "opened": Predicate("opened", ("place",)),
        "fits": Predicate("fits", ("key", "place")),
        "door": Predicate("door", ("place", "room", "direction")),
        "blocked": Predicate("blocked", ("room", "direction")),
    }
)
COLOURS = ("red", "green", "blue", "brown", "white")


def try_unlocking(count: int, misread: int = 0) -> tuple[Book, Names]:
    """Unlock doors with keys that fit and keys that do not, other names each time; some
    successes are misread.
    """
    book, names = Book("unlock <> with <>", VOCABULARY), Names()
    for number in range(count):
        for other in (number, number + 1):
            door, key = (
                f"{COLOURS[number % 5]} door {'x' * (number + 1)}",
                f"{COLOURS[other % 5]} key {'x' * (other + 1)}",
            )
            fits = number == other
            before = FactBelief().learn(
                f"{'' if fits else 'not '}fits({key}, {door})", f"locked({door})", "at(hall)"
            )
            before = before.learn(place=[door], key=[key], room=["hall"], direction=["north"])
            after = (
                before.learn(f"{'' if number < misread else 'not '}locked({door})")
                if fits
                else before
            )
            names.learn(before.names)
            step = SeenStep(before, after, Witness("e", number), not fits)
            attempt = book.record(step, (door, key), names, Random(1))
            book.add(attempt, names)
    return book, names


def test_a_relation_is_learned_and_no_table_of_names() -> None:
    book, _ = try_unlocking(6)
    needs = Needs(book)
    certain = {str(fact.clause) for fact in needs.facts() if fact.label is Label.NECESSARY}
    assert certain == {"fits(1, 0)"}
    assert kind_tables("unlock", ("key", "door"), book, needs.faultless.found) == []


def test_one_exception_in_a_hundred_is_counted_and_the_effect_kept() -> None:
    book, _ = try_unlocking(100, misread=1)
    (effect,) = Outcomes(book).effects()
    assert (str(effect.clause), effect.against, len(effect.counterexamples)) == (
        "not locked(0)",
        1,
        1,
    )
    book, _ = try_unlocking(100, misread=4)
    assert Outcomes(book).effects() == []


def test_opening_a_door_frees_the_way_that_it_stands_in() -> None:
    linked, book, names = Linked("open <>", VOCABULARY), Book("open <>", VOCABULARY), Names()
    for number, way in enumerate(("north", "south", "east", "west", "north")):
        door, room = f"{COLOURS[number]} door", f"room {'x' * (number + 1)}"
        before = FactBelief().learn(
            f"at({room})",
            f"door({door}, {room}, {way})",
            f"blocked({room}, {way})",
            f"locked({door})",
        )
        before = before.learn(
            place=[door], room=[room], direction=["north", "south", "east", "west"]
        )
        after = before.learn(f"not blocked({room}, {way})", f"not locked({door})")
        names.learn(before.names)
        step = SeenStep(before, after, Witness("e", number), refused=False)
        attempt = book.record(step, (door,), names, Random(1))
        book.add(attempt, names)
        linked.add(attempt, step, names, Random(1))
    action = _action(book, names, {}, Excluded())
    assert action is not None
    (found,) = [
        each.schema
        for each in processes(linked, book, action, names)
        if "blocked" in each.schema.name
    ]
    assert found.syntax == ("open <place>",)
    assert [str(effect) for effect in found.effects] == ["not blocked(room, direction)"]
    assert {"door(place, room, direction)", "at(room)"} <= {
        str(clause) for clause in found.preconditions
    }


def test_a_table_of_names_is_marked() -> None:
    book, names = Book("eat <>", VOCABULARY), Names()
    for number in range(30):
        thing = f"thing {'x' * (number + 1)}"
        belief = FactBelief().learn("at(hall)", place=[thing], room=["hall"])
        names.learn(belief.names)
        for time in range(3):
            witness = Witness(f"episode {time}", number)
            step = SeenStep(belief, belief, witness, refused=number % 2 == 1)
            attempt = book.record(step, (thing,), names, Random(1))
            book.add(attempt, names)
    action = _action(book, names, {}, Excluded())
    assert action is not None
    assert [table.of_names for table in action.tables] == [True]
    assert action.tables[0].kinds.truth(("thing of another game",)) is Truth.UNKNOWN


def test_what_nobody_knew_before_is_made_unless_it_is_false_now_and_then() -> None:
    book, names = Book("open <>", VOCABULARY), Names()
    for number in range(6):
        place = f"chest {'x' * (number + 1)}"
        known = FactBelief().learn("at(hall)", place=[place], room=["hall"])
        names.learn(known.names)
        for before, refused in ((known, False), (known.learn(f"not locked({place})"), True)):
            after = before if refused else before.learn(f"locked({place})", f"opened({place})")
            attempt = book.record(
                SeenStep(before, after, Witness("e", number), refused), (place,), names, Random(1)
            )
            book.add(attempt, names)
    assert [str(fact.clause) for fact in Outcomes(book).effects()] == ["opened(0)"]


def test_what_more_successes_showed_than_knew_is_no_need() -> None:
    """Who reads a sheet sees that the sheet is not locked; a need of that could never be met
    before the first time.
    """

    def needs(first: int, again: int, episode: str = "e{}") -> set[str]:
        book, names = Book("read <>", VOCABULARY), Names()
        sheet = FactBelief().learn("at(hall)", "opened(sheet)", place=["sheet"], room=["hall"])
        told = sheet.learn("not locked(sheet)")
        steps = [(sheet, told, False)] * first + [(told, told, False)] * again
        steps += [(told.learn("locked(sheet)"), told, True)] * 3
        for number, (before, after, refused) in enumerate(steps):
            names.learn(before.names)
            step = SeenStep(before, after, Witness(episode.format(number), number), refused)
            book.add(book.record(step, ("sheet",), names, Random(1)), names)
        return {str(fact.clause) for fact in Needs(book).facts() if fact.label is Label.NECESSARY}

    assert needs(6, 4) == set()
    assert needs(4, 6) == set()  # where nobody knew it, it may have been locked
    assert needs(1, 12) == {"not locked(0)"}
    assert needs(1, 12, "one episode, in which all but the first know it from the first") == set()


def test_what_becomes_known_of_an_actions_own_thing_shows_nothing_of_others() -> None:
    held = Predicate("with", ("room", "object"))
    before = FactBelief().learn(room=["hall"])
    after = before.learn("with(hall, drain)").learn(object=["drain"])
    shown = Atom("with", ("1", "_"))
    step = SeenStep(before, after, Witness("e", 1), refused=False)
    vocabulary = Vocabulary({"with": held})
    assert not Observer(vocabulary, step, ("drain", "hall")).found(shown)
    assert Observer(vocabulary, step, ("lid", "hall")).found(shown)


def test_of_things_just_found_only_what_is_true_is_shown() -> None:
    vocabulary = Vocabulary({"floor": Predicate("floor", ("object",))})
    before = FactBelief().learn(place=["box"], object=["cup"])
    after = before.learn("not floor(key)", "not floor(cup)").learn(object=["cup", "key"])
    seen_before = before.learn("not floor(cup)")
    everything = [Atom("floor", ("_",))]

    def shown(before: FactBelief, after: FactBelief) -> int:
        step = SeenStep(before, after, Witness("e", 1), refused=False)
        return Observer(vocabulary, step, ("box",)).glimpses(everything).shown

    assert shown(before, after)  # nobody knew of the cup
    assert not shown(seen_before, after)
    assert shown(seen_before, after.learn("floor(key)"))
