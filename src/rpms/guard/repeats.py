"""Calls that fail again and again, or bring nothing new: counted, until something is learned."""

from __future__ import annotations

from collections import Counter

from rpms.core.acting.loops import find_circle
from rpms.core.prompt import Turn
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, OnUnknown, ToolManual
from rpms.guard.rulings import CIRCLE, REPEAT, Modify, Refuse, Ruling, Warn

_MOST_TURNS = 50
_MOST_COUNTED = 1_000
_MOST_FAILURES = 2
"""Failures after which a call is not made again, as long as nothing is learned."""


class Repeats:
    """Calls that an agent has tried, and a mark where something new came of one."""

    def __init__(self) -> None:
        self._history: list[Turn] = []
        self._seen: set[int] = set()
        self._failures: Counter[str] = Counter()

    @property
    def _state(self) -> str:
        """Count of what was learned: while it is the same, nothing new came of any call."""
        return str(len(self._seen))

    def judge(self, call: Call, ruling: Ruling, manual: ToolManual) -> Ruling:
        """The ruling, unless the agent repeats what failed or goes in circles."""
        again = self._failures[call.key]
        rule, kind, found = REPEAT, manual.repeats, ""
        if again >= _MOST_FAILURES and manual.repeats is not OnUnknown.PASS:
            found = f"`{excerpt(call.text)}` has failed {again} times, and nothing was learned since it first did"
        elif sum(turn.action == call.key for turn in self._history) >= 2:
            rule, kind, found = CIRCLE, manual.circles, find_circle(self._history, self._state)
        else:
            return ruling  # to read several known things anew, once each, is no circle
        if not found or kind is OnUnknown.PASS or (isinstance(ruling, Warn | Modify) and kind is OnUnknown.WARN):
            return ruling
        return (Warn if kind is OnUnknown.WARN else Refuse)(found, rule, "", "do something else, or ask the user")

    def add(self, call: Call, said: object, *, failed: bool, learned: bool) -> None:
        """Count a result; `said` tells it from others, `learned` that it changed what is known."""
        state, seen = self._state, len(self._seen)
        self._seen.add(hash((call.key, failed, said)))
        self._history = [*self._history, Turn("", call.key, state=state, failed=failed)][-_MOST_TURNS:]
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
