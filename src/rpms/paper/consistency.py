"""State-consistent filtering, Eq. 5 and 6: is an experience from a state like this one?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.paper.memory import Entry, VerifiedSchema
from rpms.paper.verdict import Candidate, Fate, Verdict

LARGEST_LEAD = 1
"""Most stages an experience may lie ahead of the present one."""


class Compat(Protocol):
    """COMPAT: says why an entry does not suit the state; nothing if it does. A world may bring
    its own.
    """

    def __call__(self, situation: Situation, entry: Entry, rules: ActiveRules, /) -> str:
        """`rules`: those that the condition shows; none where rules are off."""
        ...


def same_occupancy(situation: Situation, entry: Entry, _rules: ActiveRules) -> str:
    """Eq. 6: what was learned with an empty hand is for an empty hand, and with a full hand for
    a full one.
    """
    holding = situation.belief.holding
    then = None if isinstance(entry, VerifiedSchema) else entry.state_signature.occupied
    if then is None or then == bool(holding):  # an entry without a state suits every state
        return ""
    held = ", ".join(holding) or "nothing"
    return f"learned with {'something' if then else 'nothing'} in hand, now holding {held}"


def stage_of(entry: Entry) -> int | None:
    """The stage of a procedure at which an entry was learned; None if it does not say."""
    if isinstance(entry, VerifiedSchema):
        return None
    then = "".join(entry.state_signature.get("progress") or ())
    return int(then) if then.isdecimal() and len(then) < 10 else None


def learned_ahead(situation: Situation, entry: Entry) -> str:
    """The progress condition of Appendix A.2, for goals with a procedure in stages: why an
    entry is too far ahead.
    """
    if situation.stage is None:
        return ""
    then = stage_of(entry)
    if then is None or then <= situation.stage + LARGEST_LEAD:
        return ""
    return (
        f"learned at progress step {then}, now at step {situation.stage}: more than {LARGEST_LEAD}"
        " ahead"
    )


def accept_everything(_situation: Situation, _entry: Entry, _rules: ActiveRules) -> str:
    """The neutral element: filtering switched off."""
    return ""


@dataclass(frozen=True)
class CompatibilityFilter:
    """M_filt by a COMPAT: mark the candidates that do not suit the state. It is lazy, so that only
    candidates that are needed are looked at.
    """

    compat: Compat
    own: bool = False
    """True if it stands in place of every other, such as one of a user's."""

    def __call__(
        self, candidates: Iterable[Candidate], situation: Situation, rules: ActiveRules
    ) -> Iterator[Candidate]:
        for candidate in candidates:
            reason = self.compat(situation, candidate.entry, rules)
            if not reason and self.compat is not accept_everything:
                reason = learned_ahead(situation, candidate.entry)
            if reason:
                yield candidate.judged(Verdict(Fate.FILTERED, reason))
            else:
                yield candidate
