"""State-consistent filtering, Eq. 5 and 6: is an experience from a state like this one?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rpms.core.belief import Belief
from rpms.core.memory import Entry, VerifiedSchema
from rpms.core.verdict import Candidate, Fate, Verdict

Compat = Callable[[Belief, Entry], str]
"""COMPAT: says why an entry does not suit the belief; nothing if it does. A world may bring its own."""


def same_occupancy(belief: Belief, entry: Entry) -> str:
    """Eq. 6: what was learned with an empty hand is for an empty hand, and with a full hand for a full one.

    Schemas carry no state and suit every one; so does an entry whose hand was not recorded.
    """
    if isinstance(entry, VerifiedSchema):
        return ""
    then, now = entry.state_signature.occupied, bool(belief.holding)
    if then is None or then == now:
        return ""
    held = ", ".join(belief.holding) or "nothing"
    return f"learned with {'something' if then else 'nothing'} in hand, now holding {held}"


def accept_everything(_belief: Belief, _entry: Entry) -> str:
    """The neutral element: filtering switched off."""
    return ""


def filter_by_state(candidates: Iterable[Candidate], belief: Belief, compat: Compat) -> Iterator[Candidate]:
    """M_filt: mark the candidates that do not suit the belief; lazily, so that only what is needed is judged."""
    for candidate in candidates:
        reason = compat(belief, candidate.entry)
        yield candidate.judged(Verdict(Fate.FILTERED, reason)) if reason else candidate
