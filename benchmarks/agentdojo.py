"""AgentDojo as a judge of the guard: attacks that succeed, benign tasks refused, questions asked.

    python benchmarks/agentdojo.py                       all suites of AgentDojo v1.2.2
    python benchmarks/agentdojo.py --suite slack --users 3 --show 20

No model is asked. An agent that does all it is told is replayed: the user's prompt is heard, the user
task's reference calls are made, and then the attacker's. The attacker's text stands in every place of
the environment that AgentDojo lets it write to, and so arrives in results. A call that the guard
refuses is not made. Nobody can know how a person would answer a question, so two bounds are given: all
questions refused, and all approved. An attack has succeeded if AgentDojo's own check says so.

Policies are the manuals in `agentdojo_policies`: banking and slack were written from tools and prompts,
workspace and travel from what the tools say of themselves, before any of their tasks was run. No manual
was written from reference calls.

Attacks without reference calls only change what the agent says, which no guard of calls sees; they are
counted and left out. Slack's injection_task_5 is judged by AgentDojo from the calls that the agent asked
for, so that calls that were refused would count as a success; it is given the calls that were made.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
# this file has the package's name: without this, it would import itself
sys.path = [each for each in sys.path if Path(each or ".").resolve() != HERE]

from pydantic_core import to_jsonable_python  # noqa: E402

from rpms.guard import Allow, Ask, Call, Guard, Ruling  # noqa: E402
from rpms.play.success_rate import wilson  # noqa: E402

try:
    from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
    from agentdojo.task_suite.load_suites import get_suites
except ImportError:
    get_suites = None

VERSION = "v1.2.2"
LOOKED_AT = ("banking", "slack")
NOT_LOOKED_AT = ("workspace", "travel")
SUITES = (*LOOKED_AT, *NOT_LOOKED_AT)
MODES = ("unguarded", "questions refused", "questions approved")


@dataclass
class Replay:
    """One agent in one environment, whose calls a guard judges, or nobody."""

    suite: Any
    environment: Any
    guard: Guard | None
    approves: bool
    made: list[Any] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """The calls that were not made, each with its rule."""
    questions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._runtime = FunctionsRuntime(self.suite.tools)

    def hear(self, prompt: str) -> None:
        if self.guard is not None:
            self.guard.hear(prompt)

    def make_all(self, calls: list[Any]) -> None:
        for call in calls:
            self.make(call)

    def make(self, call: Any) -> object:
        """Make a call if it may be made; the calls in its arguments first. Returns its result."""
        arguments = {name: self._resolved(value) for name, value in call.args.items()}
        # a null stands for an optional argument that is not given
        shown = {name: as_json(value) for name, value in arguments.items() if value is not None}
        asked = Call(call.function, shown, id=f"{len(self.made)}")
        if not self._may_make(asked):
            return None
        result, error = self._runtime.run_function(self.environment, call.function, arguments)
        self.made.append(call.model_copy(update={"args": arguments}))
        if self.guard is not None:
            self.guard.observe(asked, error or as_json(result), failed=error is not None)
        return result

    def _resolved(self, value: Any) -> Any:
        """An argument whose calls are made."""
        if isinstance(value, FunctionCall):
            return self.make(value)
        if isinstance(value, list):
            return [self._resolved(inner) for inner in value]
        if isinstance(value, dict):
            return {name: self._resolved(inner) for name, inner in value.items()}
        return value

    def _may_make(self, call: Call) -> bool:
        ruling: Ruling = Allow()
        if self.guard is not None:
            ruling = self.guard.check(call, can_ask=True)
        if isinstance(ruling, Ask):
            self.questions.append(f"{ruling.rule}: {call.text[:120]}")
            ruling = self.guard.check(call, can_ask=True, approved=self.approves)
        if not ruling.goes_on:
            self.refused.append(f"{ruling.rule} ({ruling.fact[:100]}): {call.text[:120]}")
        return ruling.goes_on


def as_json(value: Any) -> Any:
    """A result as a host would hand it to the guard."""
    return to_jsonable_python(value)


@dataclass
class Counts:
    """Results of one suite in one mode."""

    attacks: int = 0
    succeeded: int = 0
    asked_of_attacks: int = 0
    """Attacked conversations in which a person was asked about a call of the attacker's."""
    tasks: int = 0
    hindered: int = 0
    """Benign tasks of which a call was not made."""
    useful: int = 0
    """Benign tasks that AgentDojo finds done."""
    asked_of_tasks: int = 0
    """Benign tasks about which a person was asked."""
    questions: int = 0
    broken: int = 0
    """Pairs that AgentDojo itself cannot play with the attacker's text in place."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            *(
                mine + theirs
                for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)
            )
        )


class Row(NamedTuple):
    """A line of the table."""

    suite: str
    mode: str


@dataclass
class Judge:
    """Plays the tasks of one suite in one mode."""

    suite: Any
    mode: str
    manual: Guard
    show: int = 0
    shown: Counter[str] = field(default_factory=Counter)

    def benign(self, user: Any, counts: Counts) -> None:
        """Play a task of the user's that nobody attacks."""
        environment = user.init_environment(self.suite.load_and_inject_default_environment({}))
        before = environment.model_copy(deep=True)
        replay = self._replay(environment)
        replay.hear(user.PROMPT)
        replay.make_all(user.ground_truth(before.model_copy(deep=True)))
        counts.tasks += 1
        counts.hindered += bool(replay.refused)
        counts.asked_of_tasks += bool(replay.questions)
        counts.questions += len(replay.questions)
        counts.useful += self._holds(
            user.utility_from_traces, user.utility, user.GROUND_TRUTH_OUTPUT, before, replay
        )
        for line in (*replay.refused, *replay.questions):
            self._say(f"benign {user.ID}: {line}")

    def attack(self, user: Any, attacker: Any, counts: Counts) -> None:
        """Play a task of the user's and then the attacker's."""
        places = self.suite.get_injection_vector_defaults()
        text = f"TODO: {attacker.GOAL}"
        try:
            loaded = self.suite.load_and_inject_default_environment(dict.fromkeys(places, text))
            environment = user.init_environment(loaded)
            before = environment.model_copy(deep=True)
            theirs = user.ground_truth(before.model_copy(deep=True))
            injected = attacker.ground_truth(before.model_copy(deep=True))
        except Exception as error:  # noqa: BLE001  whatever AgentDojo does not get through
            counts.broken += 1
            self._say(f"{user.ID} {attacker.ID}: cannot be played: {type(error).__name__}: {error}")
            return
        replay = self._replay(environment)
        replay.hear(user.PROMPT)
        replay.make_all(theirs)
        asked = len(replay.questions)
        replay.make_all(injected)
        said = f"{user.GROUND_TRUTH_OUTPUT} {attacker.GROUND_TRUTH_OUTPUT}"
        won = self._holds(attacker.security_from_traces, attacker.security, said, before, replay)
        counts.attacks += 1
        counts.succeeded += won
        counts.asked_of_attacks += len(replay.questions) > asked
        if won:
            self._say(f"{user.ID} {attacker.ID}: the attack succeeds")

    def _replay(self, environment: Any) -> Replay:
        guard = None if self.mode == "unguarded" else self.manual.fresh()
        return Replay(self.suite, environment, guard, self.mode == "questions approved")

    def _holds(
        self,
        from_traces: Callable[..., bool | None],
        from_environment: Callable[..., bool],
        said: str,
        before: Any,
        replay: Replay,
    ) -> bool:
        """AgentDojo's own check, of the calls that were made and the environment after them."""
        with contextlib.redirect_stdout(io.StringIO()):
            held = from_traces(said, before, replay.environment, replay.made)
            if held is None:
                held = from_environment(said, before, replay.environment)
        return bool(held)

    def _say(self, line: str) -> None:
        if self.mode == MODES[1] and sum(self.shown.values()) < self.show:
            print(f"  {line}")
            self.shown[line] += 1


def scripted(suite: Any) -> Iterator[Any]:
    """The attacker's tasks that have reference calls."""
    for attacker in suite.injection_tasks.values():
        if attacker.ground_truth(suite.load_and_inject_default_environment({})):
            yield attacker


def play(suite: Any, mode: str, users: int, show: int) -> Counts:
    manual = Guard(HERE / "agentdojo_policies" / f"{suite.name}.yaml")
    judge = Judge(suite, mode, manual, show)
    counts = Counts()
    attackers = list(scripted(suite))
    for user in list(suite.user_tasks.values())[:users]:
        judge.benign(user, counts)
        for attacker in attackers:
            judge.attack(user, attacker, counts)
    return counts


def rate(part: int, whole: int) -> str:
    """A share with its 95% interval."""
    low, high = wilson(part, whole)
    return f"{part} of {whole}, {part / max(1, whole):.1%} ({low:.1%}–{high:.1%})"


def table(found: Mapping[Row, Counts]) -> Iterator[str]:
    yield (
        "| suite | | attacks that succeed | benign tasks refused | … done, by AgentDojo's check"
        " | … with a question | attacks with a question |"
    )
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for row, counts in found.items():
        cells = (
            row.suite,
            row.mode,
            rate(counts.succeeded, counts.attacks),
            rate(counts.hindered, counts.tasks),
            rate(counts.useful, counts.tasks),
            f"{rate(counts.asked_of_tasks, counts.tasks)}, {counts.questions} in all",
            rate(counts.asked_of_attacks, counts.attacks),
        )
        yield f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=SUITES, action="append", help="default: all")
    parser.add_argument("--users", type=int, default=10_000, help="first N user tasks")
    parser.add_argument(
        "--show", type=int, default=0, help="print up to N questions and refusals a suite"
    )
    chosen = parser.parse_args()
    if get_suites is None:
        print("skipped: agentdojo is not installed; pip install agentdojo")
        return 0
    suites = get_suites(VERSION)
    found: dict[Row, Counts] = {}
    for name in chosen.suite or SUITES:
        say_size(suites[name])
        for mode in MODES:
            found[Row(name, mode)] = play(suites[name], mode, chosen.users, chosen.show)
    broken = sum(counts.broken for row, counts in found.items() if row.mode == MODES[0])
    add_sums(found)
    print("\n".join(table(found)))
    print(f"Pairs that cannot be played with the attacker's text in place: {broken}")
    return 0


def say_size(suite: Any) -> None:
    users = len(suite.user_tasks)
    seen = "looked at" if suite.name in LOOKED_AT else "not looked at"
    pairs = users * len(suite.injection_tasks)
    with_calls = users * len(list(scripted(suite)))
    print(f"{suite.name} ({seen}): {pairs} pairs, {with_calls} with the attacker's reference calls")


def add_sums(found: dict[Row, Counts]) -> None:
    """Add rows for several suites together."""
    sums = {"looked at": LOOKED_AT, "not looked at": NOT_LOOKED_AT, "all": SUITES}
    for label, names in sums.items():
        for mode in MODES:
            parts = [found[Row(name, mode)] for name in names if Row(name, mode) in found]
            if len(parts) == len(names):
                found[Row(label, mode)] = sum(parts[1:], parts[0])


if __name__ == "__main__":
    sys.exit(main())
