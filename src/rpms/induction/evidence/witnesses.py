"""Attempts as witnesses: which of them tell something that others have not told already."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rpms.induction.evidence.attempts import Attempt, Occasion


def independent(attempts: Iterable[Attempt]) -> int:
    """Number of independent witnesses among attempts: one for each occasion."""
    return len({attempt.occasion for attempt in attempts})


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
        found.setdefault((attempt.occasion, facts, came(attempt)), attempt)
    return list(found.values())


def done_again(
    attempts: Iterable[Attempt], slots: Sequence[int], came: Callable[[Attempt], bool]
) -> Iterator[Attempt]:
    """Attempts after one that came to something in the same episode with the same names in some
    slots.
    """
    done: set[Occasion] = set()
    for attempt in attempts:
        names = tuple([attempt.names[slot] for slot in slots])
        key = (attempt.witness.episode, names)
        if key in done:
            yield attempt
        elif came(attempt):
            done.add(key)
