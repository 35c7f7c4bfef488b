"""How likely an action needs each fact that it may need, by Bayes' rule.

Before anything is seen, a fact about the action's things is needed as often as not, a negation
seldom. A fact that is needed held in every success; one that is not held in n of them by chance,
with likelihood f to the power of n, where f says how often it holds anyway. A refusal falls on all
facts that were lacking, on each the more, the fewer they were.

What follows from a doubtful fact is doubtful too: as long as nobody knows which of the two is
needed, either may be without the other.
"""

from collections.abc import Mapping
from math import prod

from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.literals import mask_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.bits import bits


def chances_of(needs: Needs) -> dict[int, float]:
    """By literal that an action may need, as a bit, how likely it is needed; 1 where that is
    shown.
    """
    found: dict[int, float] = {}
    for bit in bits(needs.explanations.required):
        found[bit] = 1.0 if _is_shown(needs, bit) else _after_successes(needs, bit)
    for doubt, implied in implied_by_doubts(needs).items():
        for bit in bits(implied):
            found[bit] = _after_successes(needs, bit, without=1 << doubt)
    for lacking in sorted(_lacking_in_refusals(needs, mask_of(found))):
        _blame(found, lacking)
    return found


def implied_by_doubts(needs: Needs) -> dict[int, int]:
    """By doubtful fact, as a bit, the facts that count as implied because of it alone."""
    found = {}
    for bit in bits(needs.explanations.required):
        if not _is_shown(needs, bit):
            found[bit] = needs.explanations.implied_only_by(bit)
    return found


def _is_shown(needs: Needs, bit: int) -> bool:
    """True if refusals lacked nothing but a fact, and no other that was never told apart from
    it.
    """
    return needs.proofs.proven_alone(bit) and not needs.proofs.by_fact[bit].same


def prior_of(needs: Needs, bit: int) -> float:
    """The chance that a fact is needed, before anything is seen."""
    if needs.table.is_by_name(bit):
        return LIMITS.needs_name
    if bit >= needs.table.size:
        return LIMITS.needs_negation
    return LIMITS.needs_fact


def _after_successes(needs: Needs, bit: int, without: int = 0) -> float:
    """The chance that a fact is needed that held in every success in which it was known.

    `without`: facts that are taken not to be needed.
    """
    prior = prior_of(needs, bit)
    others = needs.explanations.explaining & ~(1 << bit) & ~without
    by_chance = needs.table.frequency(bit, others) ** needs.table.independent_wins
    chance = prior / (prior + (1 - prior) * by_chance)
    return min(LIMITS.surest, chance)


def _lacking_in_refusals(needs: Needs, possible: int) -> set[int]:
    """Sets of possible needs that were lacking in refusals: another refusal that lacked the same
    tells nothing new about which of them it was.
    """
    lacking: set[int] = set()
    for row in needs.explanations.explainable:
        if row.fails & possible:
            lacking.add(row.fails & possible)
    return lacking


def _blame(chances: dict[int, float], lacking: int) -> None:
    """Take in a refusal; what is known to be needed explains it alone."""
    refused = chance_of_refusal(chances, lacking)
    if refused == 1.0:
        return
    for bit in bits(lacking):
        chances[bit] = min(LIMITS.surest, chances[bit] / refused)


def chance_of_refusal(chances: Mapping[int, float], lacking: int) -> float:
    """The chance that a trial is refused that lacks some facts: any that is needed is enough
    (noisy-or).
    """
    return 1 - prod(1 - chances[bit] for bit in bits(lacking))
