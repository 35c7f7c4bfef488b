"""What scores step by step: conditions of two facts, what counts once, and what is tried beyond
what is known.
"""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rpms.induction.conclusions.conditions import conditions
from rpms.induction.conclusions.deeds import deeds_of
from rpms.induction.conclusions.ledger import Diary, InHand, Ledger, vocabulary_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Book, Known
from rpms.induction.evidence.linked_attempts import unseen_name
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.exploring.agenda import Agenda
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.past_outcomes import Past
from rpms.induction.exploring.questions import Question
from rpms.induction.exploring.session import Session
from rpms.induction.exploring.ventures import Ventures
from rpms.induction.manuals.manual_verify import verify
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Belief, FactBelief, Situation
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import Lore, Predicate, RuleManual
from rpms.store.evidence import Spoken, Trace, Witness
from rpms.worlds.registry import find_world
from tests.induction.tidy import Tidy
from tests.worlds.scienceworld.laboratory import BOIL, KITCHEN, MENU

_WANTS = [Atom("wants", ("0", manner)) for manner in ("heat", "wash")]
_CHARMED = Atom("charmed", ("0",))


def _scored(attempt: Attempt) -> bool:
    return attempt.scored


def _book(template: str, slots: int, facts: list[Atom], attempts: list[Attempt]) -> Book:
    predicates = {
        fact.predicate: Predicate(fact.predicate, ("thing",) * len(fact.args)) for fact in facts
    }
    book = Book(
        template, Vocabulary(predicates), slots=[{"thing"} for _ in range(slots)], facts=facts
    )
    book.roles = [{"thing"}, {"place"}][:slots]
    for attempt in attempts:
        book.attempts.append(attempt)
        (book.refused if attempt.refused else book.worked)[attempt.kinds] += 1
    return book


def _tried(
    episode: int,
    names: tuple[str, ...],
    true: int,
    *,
    of: int,
    scored: bool = False,
    unknown: int = 0,
    refused: bool = False,
    lost: bool = False,
) -> Attempt:
    known = ((1 << of) - 1) & ~unknown
    witness = Witness(str(episode), len(names) + 1)  # no first step
    true, false = true & known, known & ~true
    attempt = Attempt(
        witness, names, names, refused, true, false, true, false, 0, 0, goal="work", scored=scored
    )
    return attempt._replace(lost=lost, further=scored)


def _worked_on(seed: int, count: int) -> list[Attempt]:
    """Things of many kinds put into a stove or a sink: it scores where just that is wanted."""
    dice, attempts = Random(seed), []
    for episode in range(count):
        wants, place = dice.choice((1, 2)), dice.choice(("stove", "sink"))
        well = (wants, place) in ((1, "stove"), (2, "sink"))
        names = (f"thing {dice.choice('abcdefgh')}", place)
        charmed = dice.choice((0, 4))
        attempts.append(
            _tried(episode, names, wants | charmed, of=3, scored=well, refused=not well)
        )
    return attempts


@given(st.integers(0, 1_000))
def test_what_is_to_be_done_to_one_thing_and_what_the_other_is_tell_only_together(
    seed: int,
) -> None:
    book = _book("use <> with <>", 2, [*_WANTS, _CHARMED], _worked_on(seed, 60))
    found = list(conditions(book))
    for when in found:
        told = {str(literal) for literal in when.literals}
        assert not when.against
        assert told & {"wants(0, heat)", "not wants(0, wash)", "kind(1, stove)"} or told & {
            "wants(0, wash)", "not wants(0, heat)", "kind(1, sink)",
        }  # fmt: skip
    good = sum(not attempt.refused for attempt in book.attempts)
    assert sum(when.confirmed for when in found) >= good / 2


def test_what_mostly_tells_is_not_narrowed_by_what_just_happened_to_hold() -> None:
    dice = Random(3)
    facts = [Atom("wanted", ("0",)), *(Atom("near", (name,)) for name in "abcdefgh")]
    attempts = []
    for episode in range(120):
        well = episode % 2 == 0 and episode % 24 != 0
        bits = (episode % 2 == 0) | dice.getrandbits(8) << 1
        attempts.append(
            _tried(episode, ("nut",), bits, of=len(facts), scored=well, refused=not well)
        )
    (when,) = conditions(_book("take <>", 1, facts, attempts))
    assert [str(literal) for literal in when.literals] == ["wanted(0)"]


def test_what_a_condition_may_have_covered_is_not_explained_by_luck() -> None:
    facts = [Atom("wanted", ("0",)), Atom("read"), Atom("late")]
    known = [
        _tried(n, ("nut",), 0b011 if n % 2 else 0b010, of=3, scored=n % 2 == 1, refused=not n % 2)
        for n in range(40)
    ]
    before = [_tried(99 + n, ("nut",), 0b100, of=3, unknown=1, scored=True) for n in range(5)]
    found = list(conditions(_book("take <>", 1, facts, known + before)))
    assert [[str(literal) for literal in when.literals] for when in found] == [["wanted(0)"]]


def _scores(again: list[tuple[bool, bool]]) -> tuple[str, ...]:
    """The slots with which taking counts once: it scored in every episode, and was then done
    `again`.
    """
    facts, names = [Atom("wanted", ("0",))], Names()
    names.learn({"thing": ["nut", "fig"], "place": ["shelf"]})
    attempts = []
    for episode, (further, refused) in enumerate(again):
        attempts.append(_tried(episode, ("nut",), 1, of=1, scored=True))
        attempts.append(_tried(episode, ("nut",), 1, of=1, scored=further, refused=refused))
        attempts.append(_tried(episode, ("fig",), 0, of=1))
    deeds = deeds_of([_book("take <>", 1, facts, attempts)], "work", names, {}, {})
    assert deeds
    return tuple(map(str, deeds[0].once))


def test_what_does_not_score_again_counts_once_whether_it_is_refused_or_not() -> None:
    assert _scores([(False, False)] * 5) == ("0",)
    assert _scores([(False, True)] * 5) == ("0",)
    assert _scores([(True, False)] * 5) == ()


def test_an_action_is_as_promising_as_the_circumstances_that_speak_against_it_leave_it() -> None:
    good = [_tried(n, ("nut",), 1, of=2, scored=True) for n in range(3)]
    bad = [_tried(9 + n, ("nut",), 2, of=2, lost=True) for n in range(3)]
    book = _book("crack <>", 1, [Atom("ripe", ("0",)), Atom("green", ("0",))], good + bad)
    past = Past(book, _scored, "work")
    ripe, green = past.share(1, 2, ("nut",), worst=True), past.share(2, 1, ("nut",), worst=True)
    assert green < 0.2 < 0.4 < ripe
    assert (
        Past(book, _scored, "other").share(2, 1, ("nut",), worst=True) == 0.5
    )  # nothing was seen with such goals


def test_what_was_in_hand_whenever_an_action_worked_and_seldom_else_is_told() -> None:
    hand = InHand()
    for step in range(20):
        assert list(hand.add("take <>", ("nut",), ("lamp",), str(step))) == []
    assert (
        list(hand.add("crack <>", ("nut",), ("nut", "hammer", "lamp"), "1")) == []
    )  # once is not enough
    assert list(hand.add("crack <>", ("fig",), ("fig", "hammer", "lamp"), "2")) == ["hammer"]
    assert list(hand.add("crack <>", ("fig",), ("fig", "lamp"), "3")) == []


def test_a_question_of_the_world_neither_scores_nor_repeats_what_did():
    """ScienceWorld asks which of two oranges is meant, before and after something scored."""
    world = find_world("scienceworld")
    ledger = Ledger(world, vocabulary_of(world))
    diary = Diary(ledger, "1:boil", BOIL + KITCHEN)
    # no game is asked
    standing = Looking(Agenda(ledger), diary, None, Random(0))  # type: ignore[arg-type]
    heard = []
    for command, answer, score in (
        ("pick up orange", MENU, 0.0),
        ("0", "You move the orange to the inventory.", 0.0),
        ("focus on stove", "You focus on the stove.", 10.0),
        ("pick up orange", MENU, 10.0),
    ):
        standing.ventures.given_up.add("look around")
        standing.told(
            command, refused=diary.add(Spoken(command, answer, score, won=False, lost=False))
        )
        heard.append(not standing.ventures.given_up)
    assert heard == [False, False, True, False]


def test_a_deadly_command_whose_names_became_known_within_an_episode_is_tried_by_its_template():
    """`focus on air` ended tasks before anybody knew that air is a thing."""
    world = find_world("scienceworld")
    ledger = Ledger(world, vocabulary_of(world))
    ended = [_tried(episode, (), 0, of=0, lost=True) for episode in range(4)]
    ledger.books["focus on air"] = _book("focus on air", 0, [], ended)
    ledger.books["focus on air"].losses = len(ended)
    agenda = Agenda(ledger)
    agenda.heed_ruin()
    assert list(agenda.deadly) == ["focus on air"]
    ledger.add_form("focus on <>")
    assert list(ledger.books) == ["focus on <>"]
    diary = Diary(ledger, "1:boil", BOIL + KITCHEN)
    session = Session(agenda, diary, None, Random(0))  # type: ignore[arg-type]  # no game is asked
    assert list(session.daring.risky_trials()) == []
    agenda.heed_ruin()
    assert list(agenda.deadly) == ["focus on <>"]
    assert {book.template for book, _ in session.daring.risky_trials()} == {"focus on <>"}


def test_a_fact_that_seldom_held_is_tried_with_each_kind_of_other_thing() -> None:
    rows = [_tried(episode, (f"fruit {episode}", "shelf"), 0, of=1) for episode in range(60)]
    past = Past(_book("put <> in <>", 2, [_CHARMED], rows), _scored, "work")
    assert past.untried(1, ("some fruit", "box"), [0])
    assert not past.untried(
        1, ("some fruit", "box"), []
    )  # a fact that will not hold when it is done
    assert not past.untried(0, ("some fruit", "box"), [0])
    rows += [_tried(60 + episode, (f"charmed {episode}", "box"), 1, of=1) for episode in range(4)]
    tried = Past(_book("put <> in <>", 2, [_CHARMED], rows), _scored, "work")
    assert not tried.untried(1, ("another fruit", "box"), [0])
    assert tried.untried(1, ("another fruit", "shelf"), [0])
    heated = [
        _tried(episode, (f"fruit {episode}", "stove"), 1, of=2, lost=True) for episode in range(20)
    ]
    heating = Past(_book("put <> in <>", 2, _WANTS, heated), _scored, "work")
    assert heating.untried(1, ("some fruit", "oven"), [0, 1])
    assert not heating.untried(1, ("some fruit", "stove"), [0, 1])


def test_what_is_new_is_as_promising_as_its_action_and_less_for_each_failure() -> None:
    rows = [_tried(n, (f"fruit {n}", "oven"), 1, of=2, scored=n % 4 < 3) for n in range(40)]
    once = [_tried(40, ("fig", "stove"), 2, of=2, lost=True)]
    never = [_tried(n, (f"fruit {n}", "shelf"), 1, of=2) for n in range(40)]
    heating = Past(_book("heat <> in <>", 2, _WANTS, rows), _scored, "work")
    failed = Past(_book("heat <> in <>", 2, _WANTS, rows + once), _scored, "work")
    putting = Past(_book("put <> in <>", 2, _WANTS, never), _scored, "work")
    fresh = ("pear", "stove")
    assert (
        0
        < putting.untried(2, fresh, [1])
        < 0.1
        < failed.untried(2, fresh, [1])
        < heating.untried(2, fresh, [1])
    )
    assert failed.untried(2, ("pear", "oven"), [1]) > 0.6  # it failed with another thing


def test_needs_that_no_action_changes_are_found_out_by_trying_unless_they_are_known_to_fail() -> (
    None
):
    world = find_world("scienceworld")
    agenda = Agenda(Ledger(world, vocabulary_of(world)))
    needs = tuple(Clause((Literal(Atom(name, ("thing",))),)) for name in ("holding", "fits"))
    schema = ActionSchema("heat", ("heat <thing> in <place>",), needs)
    rows = [_tried(n, (f"fruit {n}", "oven"), 1, of=2, scored=True) for n in range(9)]
    rows += [_tried(9, ("fig", "stove"), 0, of=2)]
    agenda.questions.append(Question(schema, _book("heat <> in <>", 2, _WANTS, rows)))
    agenda.changing = frozenset(["holding"])
    belief = FactBelief().learn("wants(pear, wash)", "wants(plum, wash)", "not fits(plum)", "not holding(pear)",
                                thing=["pear", "plum"], place=["stove"])  # fmt: skip
    (found,) = Ventures(agenda, "work", Random(0), lambda _: False).prospects(
        Situation(belief, Goal("work"))
    )
    assert found.command == "heat pear in stove"
    assert [str(clause) for clause in found.needs] == ["holding(pear)"]


def test_an_action_fits_kinds_by_the_number_of_others_that_were_refused() -> None:
    rows = [_tried(n, ("meal",), 1, of=1) for n in range(9)]
    rows += [
        _tried(20 + n, (f"thing {letter}",), 1, of=1, refused=True)
        for n, letter in enumerate("abcdefgh")
    ]
    few, many = (
        Question(
            ActionSchema("prepare", ("prepare <thing>",)), _book("prepare <>", 1, [_CHARMED], some)
        )
        for some in (rows[:11], rows)
    )
    assert many.fitting(("knife",)) < few.fitting(("knife",)) < 1.0 == many.fitting(("meal",))


def test_what_came_into_being_with_a_score_is_tried_first_by_itself() -> None:
    world = find_world("scienceworld")
    agenda = Agenda(Ledger(world, vocabulary_of(world)))
    for template, words in (
        ("eat <>", ("eat <thing>",)),
        ("put <> in <>", ("put <thing> in <place>",)),
    ):
        slots = template.count("<>")
        rows = [_tried(n, ("fig", "box")[:slots], 0, of=1) for n in range(30)]
        agenda.questions.append(
            Question(ActionSchema(template[:3], words), _book(template, slots, [_CHARMED], rows))
        )
    things = [f"rare {number}" for number in range(20)]
    before = FactBelief().learn(
        *(f"charmed({thing})" for thing in things), thing=things, place=["box"]
    )
    after = before.learn("holding(meal)", "here(meal)", thing=["meal"])
    ventures = Ventures(agenda, "work", Random(0), lambda _: False)
    ventures.born["meal"] = None
    found = [each.command for each in ventures.prospects(Situation(after, Goal("work")))]
    assert found[:1] == ["eat meal"]
    agenda.questions[0].book.worked["meal",] = 3
    assert (
        ventures.prospects(Situation(after, Goal("work")))[0].command == "eat meal"
    )  # until its past tells


def test_what_ends_tasks_is_told_by_the_kinds_and_the_facts_that_end_them() -> None:
    rows = [
        _tried(
            episode, (f"fruit {episode}", place), 0, of=1, lost=place == "box" and episode % 2 == 0
        )
        for episode in range(20)
        for place in ("box", "shelf")
    ]
    past = Past(_book("put <> in <>", 2, [_CHARMED], rows), lambda attempt: attempt.lost)
    assert past.share(0, 1, ("pear", "shelf")) < 0.1 < 0.4 < past.share(0, 1, ("pear", "box"))
    facts = [Atom("wanted", ("0",)), Atom("wants", ("0", "cut"))]
    cuts = [
        _tried(n, (f"fruit {n}",), n % 4, of=2, lost=n % 4 == 1) for n in range(40)
    ]  # wanted, and not to be cut
    cutting = Past(_book("cut <>", 1, facts, cuts), lambda attempt: attempt.lost)
    harmless = max(cutting.share(true, 3 & ~true, ("fig",)) for true in (0, 2, 3))
    assert harmless < 0.1 < 0.8 < cutting.share(1, 2, ("fig",))


def _needs(names: list[str], rows: list[Attempt]) -> Needs:
    """Needs of an action that was done in rooms, of which there are many."""
    book = _book("prepare <>", 1, [Atom("ready"), *(Atom("at", (name,)) for name in names)], rows)
    book.named = tuple(names)
    book.imagined += [Known(row.true, row.false) for row in rows]
    return Needs(book)


def _explaining(needs: Needs) -> set[str]:
    """Facts that explain the refusals."""
    return set(map(str, needs.table.literals(needs.explanations.explaining)))


def test_where_an_action_works_is_told_by_few_refusals_elsewhere_and_no_two_places_that_happened_to_be() -> (
    None
):
    """Where nine successes may be luck, four refusals elsewhere are not.

    Of many pairs of places, some always fits.
    """
    rooms = [f"room {letter}" for letter in "abcdefghij"]
    ready, there = 1, 2
    rows = [_tried(n, ("meal",), ready | there, of=11) for n in range(9)]
    rows += [
        _tried(20 + n, ("meal",), ready | there << 1 + n % 2, of=11, refused=True) for n in range(6)
    ]
    rows += [_tried(40 + n, ("meal",), there << n % 2, of=11, refused=True) for n in range(20)]
    found = _needs(rooms, rows)
    assert _explaining(found) == {"ready", "at(room a)"}
    mixed = [_tried(n, ("meal",), ready | there << n % 3, of=11) for n in range(9)]
    mixed += [
        _tried(20 + n, ("meal",), ready | there << 3 + n % 2, of=11, refused=True) for n in range(4)
    ]
    assert _needs(rooms, mixed).pairs.found == ()
    many = [
        _tried(n, ("meal",), ready | there << n % 2, of=11, refused=n % 2 == 1) for n in range(2500)
    ]
    by_many = _needs(rooms, many)
    assert "at(room a)" in map(str, by_many.table.literals(by_many.bound.safe))


def test_what_was_done_to_a_thing_already_is_no_matter_of_kinds_or_places() -> None:
    """Whatever was heated once is not heated again; that this was tried near the shelf, or in
    the oven, is luck.
    """
    facts = [Atom("holding", ("0",)), Atom("here", ("shelf",))]
    rows = []
    for n, letter in enumerate("abcdefghij"):
        rows += [_tried(n, (f"fruit {letter}", "stove"), 0b01, of=2)]
        rows += [_tried(n, (f"fruit {letter}", "oven"), 0b11, of=2, refused=True)] * (n % 2)
    rows += [_tried(20 + n, ("fruit a", "oven"), 0b01, of=2) for n in range(2)]
    book = _book("heat <> in <>", 2, facts, rows)
    book.named = ("shelf",)
    found = Needs(book)
    assert len(found.table.repeated) == 5
    assert not found.explanations.explaining
    assert not found.faultless.found


def test_a_thing_that_is_done_to_again_and_again_counts_as_ever() -> None:
    again = [_tried(n // 3, ("door",), n % 2, of=1, refused=n % 3 == 1) for n in range(30)]
    assert not Needs(_book("open <>", 1, [_CHARMED], again)).table.repeated


def test_names_that_never_worked_come_before_facts_about_fixed_names() -> None:
    """Nothing is heated in salt, which happens to lie in the pantry: being there is not what
    was wrong.
    """
    facts = [Atom("holding", ("0",)), Atom("at", ("pantry",))]
    fruits = [f"fruit {letter}" for letter in "abcdefghijklmnopqrst"]
    rows = [_tried(n, (fruit, "stove"), 0b01, of=2) for n, fruit in enumerate(fruits)]
    rows += [
        _tried(30 + n, (fruit, "stove"), 0, of=2, refused=True)
        for n, fruit in enumerate(fruits[:4])
    ]
    rows += [
        _tried(40 + n, (fruit, "salt"), 0b11, of=2, refused=True)
        for n, fruit in enumerate(fruits[:8])
    ]
    book = _book("heat <> in <>", 2, facts, rows)
    book.named = ("pantry", *(f"room {letter}" for letter in "abcdefgh"))
    found = Needs(book)
    assert _explaining(found) == {"holding(0)"}
    assert {attempt.kinds[1] for attempt in found.faultless.found} == {"salt"}


def test_a_place_that_was_entered_is_the_one_that_its_made_up_name_stood_for() -> None:
    hall = FactBelief().learn(
        "at(hall)", "leads(hall, beyond the door)", room=["hall"], other=["beyond the door"]
    )
    cellar = hall.learn(
        "not at(_)", "at(cellar)", "not leads(hall, _)", "leads(hall, cellar)", room=["cellar"]
    )
    assert unseen_name(hall, cellar) == "beyond the door"
    assert unseen_name(cellar, cellar.learn("not at(_)", "at(hall)")) == "hall"


def test_blind_trials_are_left_where_those_with_what_scored_end_the_task() -> None:
    """Things put into shelves harm nobody; into the box, where one in ten scored, nearly all
    end the task.
    """

    def blind(deadly: bool) -> bool:
        rows = [_tried(episode, (f"fruit {episode}", "shelf"), 0, of=1) for episode in range(400)]
        for episode in range(400, 440):
            scored = episode % 10 == 0
            names = (f"fruit {episode}", "box")
            rows.append(_tried(episode, names, 0, of=1, scored=scored, lost=deadly and not scored))
        known = Names()
        known.learn({"thing": [row.names[0] for row in rows], "place": ["box", "shelf"]})
        return any(
            deed.blind
            for deed in deeds_of(
                [_book("put <> in <>", 2, [_CHARMED], rows)], "work", known, {}, {}
            )
        )

    assert blind(deadly=False)
    assert not blind(deadly=True)


class _Orders(Tidy):
    """A world in which reading names one of five things."""

    def start(self, _goal: Goal) -> Belief:
        return FactBelief().learn("not named(_)", thing=["a", "b", "c", "d", "e"])


def test_an_effect_on_some_thing_that_no_need_tells_comes_about_once_a_step() -> None:
    told = Literal(Atom("named", ("thing",)))
    process = ActionSchema("read_named", ("read",), (), (told,), others=("thing",))
    manual = RuleManual(lore=Lore((process,)))
    steps = tuple(Spoken("read", f"|named({name})|{name}", 0.0) for name in ("a", "b", "c", "d"))
    traces = [
        Trace(f"{place}:t", "t", "tidy", "|not named(_)|a", (step,))
        for place, step in enumerate(steps)
    ]
    found = verify(manual, _Orders(), traces).effects["read_named", told]
    assert (found.seen, found.missed) == (4, [])
