"""What tools need, from their own failures: facts that held in every success, and whose falsehood explains failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rpms.core.facts import Literal, Truth
from rpms.core.tools import Tried
from rpms.foreign.shown import excerpt

_FEWEST = 2
"""Failures that a fact has to explain: one may have another cause."""


@dataclass(frozen=True, slots=True)
class Need:
    """A precondition that is proposed for a tool, with what speaks for it."""

    tool: str
    literal: Literal
    successes: int
    """Successes in which it was known to hold; in none was it known not to."""
    of_successes: int
    failures: int
    """Failures in which it was known not to hold."""
    of_failures: int
    error: str
    """What these failures said most often."""
    witnesses: tuple[tuple[str, int], ...]
    """Some of them: conversation and step."""

    @property
    def text(self) -> str:
        return str(self.literal)

    @property
    def evidence(self) -> str:
        seen = ", ".join(f"{session}:{step}" for session, step in self.witnesses)
        return (
            f"held in {self.successes} of {self.of_successes} successes, did not in {self.failures} of "
            f"{self.of_failures} failures ({seen}): {excerpt(self.error, 80)!r}"
        )


def propose_needs(tried: Iterable[Tried]) -> list[Need]:
    """Proposals for each tool, those first that explain most. What never succeeded, or never failed, has none."""
    by_tool: dict[str, list[Tried]] = {}
    for each in tried:
        by_tool.setdefault(each.call.tool, []).append(each)
    return [need for tool, attempts in sorted(by_tool.items()) for need in _needs(tool, attempts)]


def _needs(tool: str, attempts: Sequence[Tried]) -> list[Need]:
    successes = [each for each in attempts if not each.failed]
    failures = [each for each in attempts if each.failed]
    atoms = dict.fromkeys(atom for each in attempts for atom in each.before)
    literals = [Literal(atom, negated) for atom in atoms for negated in (False, True)]
    safe = []
    for literal in literals:
        values = {_value(literal, each) for each in successes}
        if Truth.TRUE in values and Truth.FALSE not in values:
            safe.append(literal)
    found = []
    open_ = list(failures)
    while safe:  # the fact that explains most of what is left, until none explains enough
        explained = {each: [one for one in open_ if _value(each, one) is Truth.FALSE] for each in safe}
        best = max(safe, key=lambda each: (len(explained[each]), -len(each.atom.args), not each.negated))
        told = explained[best]
        if len(told) < _FEWEST:
            break
        held = sum(_value(best, each) is Truth.TRUE for each in successes)
        error = Counter(each.error for each in told).most_common(1)[0][0]
        seen = tuple((each.session, each.step) for each in told[:3])
        found.append(Need(tool, best, held, len(successes), len(told), len(failures), error, seen))
        open_ = [each for each in open_ if each not in told]
        safe.remove(best)
    return found


def _value(literal: Literal, tried: Tried) -> Truth:
    value = tried.before.get(literal.atom, Truth.UNKNOWN)
    return ~value if literal.negated else value
