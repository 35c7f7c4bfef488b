"""The parts of a step that can be replaced one at a time, each by the paper's name for it.

A part is a plain function, or anything that is called like one. None stands for the paper's own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rpms.core.belief import Situation
from rpms.core.consistency import Compat
from rpms.core.goal import Goal
from rpms.core.memory import Entry
from rpms.core.prompt import Speak
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate, Fate, Verdict

Retriever = Callable[[Goal, Situation, Sequence[Entry], Sequence[str]], Iterable[tuple[int, float]]]
"""Eq. 4, for the entries of one kind at a time, which are also given as a prompt words them.

It gives the positions of those that come to mind, best first, each with its score."""
OwnJudge = Callable[[Entry, ActiveRules, Situation], Verdict | None]
"""φ: the verdict on an entry that suits the state, dropped or kept with a warning; None keeps the entry as it is."""


@dataclass(frozen=True)
class Seams:
    """Parts of one's own."""

    retriever: Retriever | None = None
    consistency: Compat | None = None
    """COMPAT: takes the belief and an entry, and says why they do not suit each other; nothing if they do."""
    arbitration: OwnJudge | None = None
    prompt: Speak | None = None
    """Takes the prompt's blocks in order and gives the messages that the model is sent."""


class Ranked(Iterator[Candidate]):
    """The candidates that a retriever of one's own found, as recall gives them."""

    def __init__(self, found: Iterable[tuple[int, float]], entries: Sequence[Entry]) -> None:
        self._found, self._entries = iter(found), entries

    def __next__(self) -> Candidate:
        place, score = next(self._found)
        return Candidate(self._entries[place], score, score, Verdict(Fate.KEPT))

    def missed(self, _most: int) -> tuple[Candidate, ...]:
        """A retriever does not say what it passed over."""
        return ()


def judged_by(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, judge: OwnJudge
) -> Iterator[Candidate]:
    """M_arb by a judge of one's own: it is asked of each candidate that nothing rejected before."""
    for candidate in candidates:
        verdict = judge(candidate.entry, rules, situation) if candidate.verdict.fate.shown else None
        yield candidate if verdict is None else candidate.judged(verdict)
