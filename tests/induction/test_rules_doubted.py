"""Needs are taken out for a win without them, not for one in which they held."""

from types import SimpleNamespace
from typing import Any, cast

from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.rehearse import Rehearsal
from rpms.logic.facts import Atom, Literal
from rpms.logic.rules import Predicate
from rpms.store.evidence import Trace, Witness

NEAR = Literal(Atom("near", ()))
DRY = Literal(Atom("dry", ()))
WON = Trace("3:heat", "heat", "heat", "A kitchen.", ())


def doubted_after(*attempts: Attempt) -> set[Literal]:
    """The needs of `heat` that are doubted after a win by exploration."""
    predicates = {name: Predicate(name, (), name, f"not {name}") for name in ("near", "dry")}
    facts = [NEAR.atom, DRY.atom]
    book = Book("heat", Vocabulary(predicates), facts=facts, attempts=list(attempts))
    action = SimpleNamespace(template="heat", explaining=(NEAR, DRY), likely=())
    explorer = SimpleNamespace(
        agenda=SimpleNamespace(learned=SimpleNamespace(actions=(action,))),
        ledger=SimpleNamespace(books={"heat": book}),
    )
    rehearsal = Rehearsal(cast(Any, explorer), [], cast(Any, None))
    rehearsal._doubt_needs_of(WON)
    return rehearsal.doubted.get("heat", set())


def heated(episode: str, true: int, false: int = 0) -> Attempt:
    return Attempt(Witness(episode, 1), (), (), False, true, false, 0, 0, 0, 0)


def test_a_need_that_held_when_the_task_was_won_is_kept() -> None:
    assert doubted_after(heated(WON.episode, 0b01)) == {DRY}
    assert doubted_after(heated(WON.episode, 0b11)) == set()


def test_another_episode_is_no_reason() -> None:
    assert doubted_after(heated("2:heat", 0b00)) == set()
