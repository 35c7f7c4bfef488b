"""The score by which exploration chooses: how likely each need is needed, what a trial would tell,
and where an action may be listed that nobody has seen.
"""

from __future__ import annotations

from rpms.induction.conclusions.ledger import Diary, Ledger, vocabulary_of
from rpms.induction.conclusions.need_chances import chances_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Known
from rpms.induction.evidence.contexts import Context, Contexts
from rpms.induction.evidence.templates import ReadCommand
from rpms.induction.exploring.questions import Question
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom
from rpms.store.evidence import Spoken
from rpms.worlds.alfworld.world import world as alfworld
from tests.induction.test_rules_asked import book_of, tried

FACTS = (Atom("holding", ("0",)), Atom("at", ("0",)), Atom("heated", ("0",)))


def chances(attempts: list[Attempt], drawn: list[str]) -> dict[str, float]:
    """By literal, how likely it is needed, where some facts hold of names drawn at random."""
    book = book_of("clean <>", FACTS, attempts)
    for true in drawn:
        mask = int(true[::-1], 2)
        book.imagined.append(Known(mask, 0b111 & ~mask))
    needs = Needs(book)
    return {str(needs.table.literal(bit)): chance for bit, chance in chances_of(needs).items()}


class TestANeed:
    def test_is_sure_once_refusals_lacked_it_alone(self) -> None:
        seen = tried(9, ["mug"], "101") + tried(2, ["mug"], "001", refused=True)
        assert chances(seen, ["000", "100"])["holding(0)"] == 1.0

    def test_is_hardly_one_if_it_holds_anyway(self) -> None:
        """Who holds a thing is not where it lies: that held in every success, and in all else."""
        seen = tried(9, ["mug"], "100") + tried(9, ["mug"], "010", refused=True)
        found = chances(seen, ["100"] * 9 + ["010"] * 9)
        assert found["holding(0)"] > 0.5 > found.get("not at(0)", 0.0)

    def test_is_likelier_the_seldomer_it_holds_by_chance(self) -> None:
        seen = tried(4, ["mug"], "101") + tried(1, ["mug"], "000", refused=True)
        rare = chances(seen, ["100"] * 9 + ["101"])["heated(0)"]
        usual = chances(seen, ["101"] * 9 + ["100"])["heated(0)"]
        assert rare > usual

    def test_more_refusals_that_lacked_the_same_do_not_tell_which_it_was(self) -> None:
        seen = tried(4, ["mug"], "101")
        drawn = ["101"] * 9 + ["000"]
        once = chances([*seen, *tried(1, ["mug"], "000", refused=True)], drawn)
        often = chances([*seen, *tried(9, ["mug"], "000", refused=True)], drawn)
        assert once["heated(0)"] == often["heated(0)"] < 1.0


def question(attempts: list[Attempt]) -> Question:
    book = book_of("clean <>", FACTS[:1], attempts)
    return Question(ActionSchema("clean", ("clean <object>",)), book)


class TestATrial:
    def test_tells_nothing_where_its_outcome_is_known(self) -> None:
        held = tried(9, ["mug"], "1")
        refused = tried(3, ["mug"], "0", refused=True)
        settled = question(held + refused)
        assert settled.information(0b1, 0, ("mug",))[0] == 0.0
        assert settled.information(0, 0b1, ("mug",))[0] == 0.0

    def test_tells_something_where_nobody_knows_why_it_was_refused(self) -> None:
        held = tried(9, ["mug"], "1")
        refused = tried(3, ["mug"], "0", refused=True) + tried(4, ["mug"], "1", refused=True)
        assert question(held + refused).information(0b1, 0, ("mug",))[0] > LIMITS.informative

    def test_with_new_kinds_tells_the_less_the_more_kinds_were_refused(self) -> None:
        held = tried(2, ["mug"], "1") + tried(1, ["cup"], "1")
        few = held + tried(1, ["pen"], "1", refused=True)
        many = list(few)
        for kind in ("box", "hat", "book", "key", "vase"):
            many += tried(1, [kind], "1", refused=True)
        fork = ("fork",)
        assert question(many).fitness(fork) < question(few).fitness(fork)
        told = question(few).information(0b1, 0, fork)[0]
        assert 0 < question(many).information(0b1, 0, fork)[0] < told

    def test_without_two_things_tells_nothing(self) -> None:
        """A new kind, not held: nobody could tell which of the two was wrong."""
        held = tried(3, ["mug"], "1") + tried(1, ["mug"], "0", refused=True)
        assert question(held).information(0, 0b1, ("fork",))[0] == 0.0


class TestANewContext:
    def seen(self) -> tuple[Contexts, Diary]:
        """A mug was taken from a desk and carried to a shelf."""
        ledger = Ledger(alfworld, vocabulary_of(alfworld))
        opening = (
            "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking"
            " quickly around you, you see a desk 1, a safe 1, a shelf 2, and a shelf 1.\n\n"
            "Your task is to: put a mug in safe."
        )
        diary = Diary(ledger, "one", opening)
        for command, answer in (
            ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a mug 1."),
            ("take mug 1 from desk 1", "You pick up the mug 1 from the desk 1."),
            ("go to shelf 1", "You arrive at shelf 1. On the shelf 1, you see nothing."),
        ):
            diary.add(Spoken(command, answer, 0.0, False, False))
        return ledger.contexts, diary

    def test_is_a_kind_of_place_where_such_a_thing_was_never_carried(self) -> None:
        contexts, diary = self.seen()
        assert contexts.just_entered
        new = []
        for place in ("desk 1", "shelf 1", "shelf 2", "safe 1"):
            if contexts.is_new(ReadCommand("go to <>", (place,)), diary.belief):
                new.append(place)
        assert new == ["safe 1"]

    def test_promises_less_the_more_were_seen(self) -> None:
        contexts, _ = self.seen()
        before = contexts.chance_of_news(3)
        for number in range(50):
            contexts.seen.add(Context(f"place {number}", ()))
        assert contexts.chance_of_news(3) < before
