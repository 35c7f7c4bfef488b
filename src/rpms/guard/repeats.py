"""Calls that fail again and again, or bring nothing new: counted, until something is learned."""

from collections import Counter, deque

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


class Repeats:
    """Calls that an agent has tried, and a mark where something new came of one."""

    def __init__(self) -> None:
        self._calls: deque[tuple[str, int]] = deque(maxlen=_MOST_TURNS)
        """The latest calls, each with the number of things that had been learned before it."""
        self._seen: set[int] = set()
        self._failures: Counter[str] = Counter()

    def judge(self, call: Call, ruling: Ruling, manual: ToolManual) -> Ruling:
        """The ruling, unless the agent repeats what failed or goes in circles."""
        again = self._failures[call.key]
        rule, kind, found = REPEAT, manual.repeats, ""
        if again >= _MOST_FAILURES and manual.repeats is not OnUnknown.PASS:
            found = (
                f"`{excerpt(call.text)}` has failed {again} times, and nothing was learned since it"
                " first did"
            )
        elif sum(key == call.key for key, _ in self._calls) >= _RETURNS - 1:
            idle = [
                key for key, learned in list(self._calls)[-_WINDOW:] if learned == len(self._seen)
            ]
            rule, kind = CIRCLE, manual.circles
            if len(idle) >= _RETURNS - 1:
                found = (
                    "nothing new came of"
                    f" {', '.join(excerpt(key, 120) for key in dict.fromkeys(idle))}"
                )
        else:
            return ruling  # to read several known things anew, once each, is no circle
        if (
            not found
            or kind is OnUnknown.PASS
            or (isinstance(ruling, Warn | Modify) and kind is OnUnknown.WARN)
        ):
            return ruling
        return (Warn if kind is OnUnknown.WARN else Refuse)(
            found, rule, "", "do something else, or ask the user"
        )

    def add(self, call: Call, said: object, *, failed: bool, learned: bool) -> None:
        """Count a result; `said` tells it from others, `learned` that it changed what is known."""
        seen = len(self._seen)
        self._seen.add(hash((call.key, failed, said)))
        self._calls.append((call.key, seen))
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
