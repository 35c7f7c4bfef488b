"""Counts calls that fail again and again, or that bring nothing new, until something is learned."""

from collections import Counter, deque
from typing import NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.calls import (
    CIRCLE,
    REPEAT,
    Call,
    Modify,
    OnUnknown,
    Refuse,
    Ruling,
    ToolManual,
    Warn,
)

_MOST_TURNS = 50
_WINDOW = 10
"""Calls among which a circle is looked for: longer ones are searches."""
_RETURNS = 3
_MOST_COUNTED = 1_000
_MOST_FAILURES = 2
"""Failures after which a call is not made again, as long as nothing is learned."""


class _Turn(NamedTuple):
    """A call that was made."""

    key: str
    learned: int
    """The number of things that had been learned before it."""


class Repeats:
    """Calls that an agent has tried, and a mark where something new came of one."""

    def __init__(self) -> None:
        self._turns: deque[_Turn] = deque(maxlen=_MOST_TURNS)
        self._seen: set[int] = set()
        self._failures: Counter[str] = Counter()

    def judge(self, call: Call, ruling: Ruling, manual: ToolManual) -> Ruling:
        """The ruling, unless the agent repeats what failed or goes in circles."""
        again = self._failures[call.key]
        if again >= _MOST_FAILURES and manual.repeats is not OnUnknown.PASS:
            found = (
                f"`{excerpt(call.text)}` has failed {again} times, and nothing was learned since it"
                " first did"
            )
            return _graver(ruling, manual.repeats, REPEAT, found)
        idle = self._idle_calls(call)
        if manual.circles is OnUnknown.PASS or not idle:
            return ruling
        found = f"nothing new came of {', '.join(excerpt(key, 120) for key in idle)}"
        return _graver(ruling, manual.circles, CIRCLE, found)

    def _idle_calls(self, call: Call) -> list[str]:
        """Calls that brought nothing new, if this one is made again among them; to read several
        known things anew, once each, is no circle.
        """
        times_made = sum(turn.key == call.key for turn in self._turns)
        latest = list(self._turns)[-_WINDOW:]
        idle = [turn.key for turn in latest if turn.learned == len(self._seen)]
        if min(times_made, len(idle)) < _RETURNS - 1:
            return []
        return list(dict.fromkeys(idle))

    def add(self, call: Call, said: object, *, failed: bool, learned: bool) -> None:
        """Count a result; `said` tells it from others, `learned` that it changed what is known."""
        seen = len(self._seen)
        self._seen.add(hash((call.key, failed, said)))
        self._turns.append(_Turn(call.key, seen))
        if failed:
            if len(self._failures) >= _MOST_COUNTED and call.key not in self._failures:
                del self._failures[next(iter(self._failures))]
            self._failures[call.key] += 1
            return
        self._failures.pop(call.key, None)
        if learned or len(self._seen) > seen:
            self._failures.clear()

    def news(self, what: object) -> None:
        """Something was learned that no call returned, which may be what failed calls wanted."""
        self._seen.add(hash(("told", what)))
        self._failures.clear()


def _graver(ruling: Ruling, kind: OnUnknown, rule: str, found: str) -> Ruling:
    """The ruling on a repeated call; one that warns already is not warned of twice."""
    warns = kind is OnUnknown.WARN
    if warns and isinstance(ruling, Warn | Modify):
        return ruling
    return (Warn if warns else Refuse)(found, rule, "", "do something else, or ask the user")
