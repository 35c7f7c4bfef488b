"""State-consistent filtering, Eq. 5 and 6: is an experience from a state like this one?"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from rpms.logic.actions import Instance
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import Simulated, settled
from rpms.paper.memory import Entry, SuccessSnippet, VerifiedSchema
from rpms.paper.verdict import Candidate, Fate, Verdict, reordered

Compat = Callable[[Belief, Entry], str]
"""COMPAT: says why an entry does not suit the belief; nothing if it does. A world may bring its
own."""
LARGEST_LEAD = 1
"""Most stages an experience may lie ahead of the present one."""
_WINDOW = 12
"""Candidates that are ordered by how well they match."""


def same_occupancy(belief: Belief, entry: Entry) -> str:
    """Eq. 6: what was learned with an empty hand is for an empty hand, and with a full hand for
    a full one.
    """
    then = None if isinstance(entry, VerifiedSchema) else entry.state_signature.occupied
    if then is None or then == bool(belief.holding):  # an entry without a state suits every state
        return ""
    held = ", ".join(belief.holding) or "nothing"
    return f"learned with {'something' if then else 'nothing'} in hand, now holding {held}"


def stage_of(entry: Entry) -> int | None:
    """The stage of a procedure that an entry was learned at; None where it does not say."""
    then = (
        ""
        if isinstance(entry, VerifiedSchema)
        else "".join(entry.state_signature.get("progress") or ())
    )
    return int(then) if then.isdecimal() and len(then) < 10 else None


def learned_ahead(situation: Situation, entry: Entry) -> str:
    """The progress condition of Appendix A.2, for goals with a procedure in stages: why an
    entry is too far ahead.
    """
    then = stage_of(entry)
    if situation.stage is None or then is None or then <= situation.stage + LARGEST_LEAD:
        return ""
    return (
        f"learned at progress step {then}, now at step {situation.stage}: more than {LARGEST_LEAD}"
        " ahead"
    )


def accept_everything(_belief: Belief, _entry: Entry) -> str:
    """The neutral element: filtering switched off."""
    return ""


@dataclass(frozen=True)
class CompatibilityFilter:
    """M_filt by a COMPAT: mark the candidates that do not suit the belief; lazily, so that only
    what is needed is.
    """

    compat: Compat
    own: bool = False
    """True if it stands in place of every other, such as one of a user's."""

    def __call__(
        self, candidates: Iterable[Candidate], situation: Situation, _schemas: ActiveRules
    ) -> Iterator[Candidate]:
        for candidate in candidates:
            reason = self.compat(situation.belief, candidate.entry)
            if not reason and self.compat is not accept_everything:
                reason = learned_ahead(situation, candidate.entry)
            yield candidate.judged(Verdict(Fate.FILTERED, reason)) if reason else candidate


def executable_from_here(
    candidates: Iterable[Candidate], situation: Situation, schemas: ActiveRules
) -> Iterator[Candidate]:
    """A finer M_filt: a snippet suits a state unless an action, followed from here, needs what is
    known to be false.

    The best match comes first, by rank times degree. Lessons and schemas, whose actions need not
    work here, suit all.
    """

    def best_first(passed: list[Candidate]) -> list[Candidate]:
        degrees = [degree_of_match(each.entry, schemas, situation) for each in passed]
        ranked = [
            replace(each, rank=each.rank * degree)
            for each, degree in zip(passed, degrees, strict=True)
        ]
        return sorted(ranked, key=lambda candidate: (-candidate.rank, candidate.entry.id))

    return reordered(
        (_followed_through(each, situation, schemas) for each in candidates), _WINDOW, best_first
    )


def _followed_through(
    candidate: Candidate, situation: Situation, schemas: ActiveRules
) -> Candidate:
    for action, instance, clause, facts in _followed(candidate.entry, schemas, situation):
        if clause.truth(facts) is Truth.FALSE:
            fact = settled(clause, schemas, facts)
            reason = f"`{action}` could not be done from here: {fact}"
            return candidate.judged(Verdict(Fate.FILTERED, reason, instance.schema.id, fact))
    return candidate


def degree_of_match(entry: Entry, rules: ActiveRules, situation: Situation) -> float:
    """The share of an entry's preconditions that are known to hold, from 0.5 for none to 1 for
    all.
    """
    values = [
        clause.truth(facts) is Truth.TRUE
        for *_, clause, facts in _followed(entry, rules, situation)
    ]
    return 0.5 + 0.5 * sum(values) / len(values) if values else 1.0


def _followed(
    entry: Entry, rules: ActiveRules, situation: Situation
) -> Iterator[tuple[str, Instance, Clause, Simulated]]:
    """Every precondition of a snippet's actions with the facts at that point, each action's
    effects taken over.
    """
    facts = Simulated(situation, rules)
    for action in entry.actions if isinstance(entry, SuccessSnippet) else ():
        if (instance := rules.instance(action)) is not None:
            yield from ((action, instance, clause, facts) for clause in instance.preconditions)
            facts.apply(instance)
