"""With which kinds an action works, where only some go together."""

from __future__ import annotations

import pytest

from rpms.induction.conclusions.action_model import kind_tables
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.thresholds import LIMITS
from rpms.store.evidence import Witness

Pairs = dict[str, str]


def attempts(pairs: Pairs, *, refused: bool, times: int = 1) -> list[Attempt]:
    """Attempts with things and the places they were tried in, as often as told, each time in
    another episode: `{"shelf": "mug plate"}`.
    """
    found = []
    for place, things in pairs.items():
        for thing in things.split():
            kinds = (thing, place)
            for time in range(times):
                witness = Witness(f"task {time}", 1)
                found.append(Attempt(witness, kinds, kinds, refused, 0, 0, 0, 0, 0, 0))
    return found


def tables(worked: Pairs, refused: Pairs, times: int = LIMITS.refused_kinds) -> dict[str, set[str]]:
    """What each table says never works."""
    wins, losses = attempts(worked, refused=False), attempts(refused, refused=True, times=times)
    book = Book("put <> in <>", Vocabulary({}), slots=[set(), set()], attempts=[*wins, *losses])
    book.worked.update(each.kinds for each in wins)
    return {
        table.name: {" ".join(kinds) for kinds in table.refused}
        for table in kind_tables("put", ("0", "1"), book, losses)
    }


SHELVES = {"shelf": "mug plate book cup", "desk": "mug plate book cup"}

TOWELS = {**SHELVES, "holder": "towel"}
PICKY = {"holder": "mug plate book cup"}


class TestWhereKindsAreAllThatMatters:
    def test_a_place_that_refused_often_enough_is_taken_not_to_work(self):
        assert tables(SHELVES, {"lamp": "mug"}) == {"put_1": {"lamp"}}
        assert tables(SHELVES, {"lamp": "mug"}, times=LIMITS.refused_kinds - 1) == {"put_1": set()}

    def test_one_that_refused_in_one_episode_alone_is_not(self):
        wins = attempts(SHELVES, refused=False)
        once, *_ = attempts({"lamp": "mug"}, refused=True)
        losses = [once] * LIMITS.refused_kinds
        book = Book("put <> in <>", Vocabulary({}), slots=[set(), set()], attempts=wins)
        book.worked.update(each.kinds for each in wins)
        assert [table.refused for table in kind_tables("put", ("0", "1"), book, losses)] == [{}]

    def test_nor_one_that_refused_no_more_often_than_others_that_work(self):
        unlucky = {"shelf": "mug plate book cup", "lamp": "mug"}
        assert tables(SHELVES, unlucky) == {"put_1": set()}

    def test_nothing_is_concluded_of_two_strange_kinds(self):
        assert tables(SHELVES, {"lamp": "ghost"}) == {}


class TestWhereOnlySomeGoTogether:
    @pytest.mark.parametrize("things", ["mug", "mug plate book"])
    def test_a_place_may_still_take_what_was_never_tried_there(self, things):
        found = tables(TOWELS, {**PICKY, "machine": things})
        assert found["put_1"] == set(), "a holder refused as many, and takes towels"
        assert {f"{thing} machine" for thing in things.split()} <= found["put_0_1"]

    def test_however_many_it_refused(self):
        """Only towels fit the holder; a machine may be choosier still than all that are known."""
        things = " ".join(f"thing{letter}" for letter in "abcdefghijklmno")
        worked = {**TOWELS, "shelf": f"{SHELVES['shelf']} {things}"}
        found = tables(worked, {**PICKY, "machine": things})
        assert found["put_1"] == set()
        assert {f"{thing} machine" for thing in things.split()} <= found["put_0_1"]
