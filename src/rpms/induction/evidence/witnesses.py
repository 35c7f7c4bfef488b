"""Attempts as witnesses: which of them tell something that others have not told already."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rpms.induction.evidence.attempts import Attempt
from rpms.induction.thresholds import LIMITS
from rpms.store.evidence import Witness


def independent(attempts: Iterable[Attempt]) -> int:
    """Number of independent witnesses among attempts.

    What is tried again with the same things in the same episode mostly comes out as before, since
    most facts hold for a whole episode; it proves nothing more.
    """
    return len({(attempt.witness.episode, attempt.names) for attempt in attempts})


def _was_refused(attempt: Attempt) -> bool:
    return attempt.refused


def distinct(
    attempts: Iterable[Attempt], came: Callable[[Attempt], bool] = _was_refused
) -> list[Attempt]:
    """Attempts without those that repeat an earlier one of their episode: the same things, the
    same facts before, and the same outcome.

    A condition is asked of these. What was tried again after a fact had changed tells something
    new about the fact, even with the same things.
    """
    found: dict[object, Attempt] = {}
    for attempt in attempts:
        facts = (attempt.true, attempt.false)
        key = (attempt.witness.episode, attempt.names, facts, came(attempt))
        found.setdefault(key, attempt)
    return list(found.values())


def done_again(
    attempts: Iterable[Attempt], slots: Sequence[int], came: Callable[[Attempt], bool]
) -> Iterator[Attempt]:
    """Attempts after one that came to something in the same episode with the same names in some
    slots.
    """
    done = set()
    for attempt in attempts:
        key = (attempt.witness.episode, *(attempt.names[slot] for slot in slots))
        if key in done:
            yield attempt
        elif came(attempt):
            done.add(key)


def repeated(attempts: Sequence[Attempt], slots: int) -> frozenset[Witness]:
    """Refusals with a thing with which the action had worked in the episode, and never did so
    twice: it was done.
    """
    found: set[Witness] = set()
    for slot in range(slots):
        again = list(done_again(attempts, (slot,), lambda each: not each.refused))
        if independent(again) >= LIMITS.several and all(each.refused for each in again):
            found.update(each.witness for each in again)
    return frozenset(found)
