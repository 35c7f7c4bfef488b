"""Tries out a manual: by a guard's log, which is played again, and by cases, which are calls with
the ruling that is expected of each.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import read_text
from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.shown import excerpt
from rpms.guard.calls import FORM, USER, Call, Ruling, Tried
from rpms.guard.comparisons import MISSING
from rpms.guard.guard import Guard
from rpms.guard.log import CheckLine, Event, ResultLine, ToldLine, Word, read_guard_log
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Atom, Truth
from rpms.store.yaml_files import Place, YamlKind, read_yaml

_CASES = YamlKind("cases", LARGEST_MANUAL, 64, "the key cases; this file has none")


@dataclass(frozen=True, slots=True)
class Replayed:
    """A call of the log, judged anew."""

    session: str
    call: Call
    now: Ruling
    then: str

    @property
    def changed(self) -> bool:
        return self.now.word != self.then


class PlayedEvent(NamedTuple):
    """An event of a log that is played again."""

    event: Event
    guard: Guard
    """The guard of its conversation, which has learned it."""
    before: Mapping[Atom, Truth]
    """The facts of a call before its result was learned, where they are asked for."""


def played(
    guard: Guard, log: Path, gaps: Counter[str] | None = None, *, asked: bool = False
) -> Iterator[PlayedEvent]:
    """Play the events of a log again.

    `asked`: ask for the facts before each result. `gaps` counts what could not be learned.
    """
    live: dict[str, Guard] = {}
    gaps = gaps if gaps is not None else Counter()
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here = live[event.session]
        here.at(event.at)
        before: Mapping[Atom, Truth] = {}
        if asked and isinstance(event, ResultLine):
            before = here.facts_of(call_of(event))
        _learn(here, event, gaps)
        yield PlayedEvent(event, here, before)


def _learn(guard: Guard, event: Event, gaps: Counter[str]) -> None:
    """Have a guard learn an event of a log, and count what it cannot learn."""
    match event:
        case CheckLine() if event.rule == FORM:
            gaps["calls were not of the form that their tools take, as when they were made"] += 1
        case ResultLine():
            lost = event.unread and not event.failed
            gaps["results were not kept: what followed from them is unknown"] += lost
            _observe(guard, event)
        case ToldLine():
            for fact in event.facts:
                try:
                    guard.tell(fact)
                except InputError:
                    gaps["facts were told that cannot be told by this manual"] += 1


def _observe(guard: Guard, event: ResultLine) -> None:
    """Let a guard learn from a log's entry: a call's result, or the user's words."""
    if event.tool == USER:
        guard.hear(str(event.arguments.get("text", "")))
        return
    guard.observe(call_of(event), MISSING if event.unread else event.result, failed=event.failed)


def call_of(event: CheckLine | ResultLine) -> Call:
    """The call of a line."""
    return Call(event.tool, event.arguments, event.id)


def call_made(event: CheckLine) -> Call:
    """The call that was made after a check: as it was asked for, or as the guard changed it."""
    arguments = event.arguments if event.made is None else event.made
    return Call(event.tool, arguments, event.id)


def tried(guard: Guard, log: Path) -> Iterator[Tried]:
    """The calls of a log that were made, with what the manual's facts were before and after
    each.
    """
    steps: Counter[str] = Counter()
    for event, here, before in played(guard, log, asked=True):
        if isinstance(event, ResultLine):
            steps[event.session] += 1
            if event.failed is None:
                continue  # nobody knows what came of it
            call = call_of(event)
            error = excerpt(event.result) if event.failed else ""
            yield Tried(
                call,
                event.session,
                steps[event.session],
                event.failed,
                error,
                before,
                here.facts_of(call),
            )


def replay(guard: Guard, log: Path, gaps: Counter[str] | None = None) -> Iterator[Replayed]:
    """Judge every call of a log anew, each conversation by a guard of its own, at the moment it was
    made.

    A call that could not be read then is not judged: `gaps` counts those, and what else the log
    does not tell.
    """
    for event, here, _ in played(guard, log, gaps):
        if isinstance(event, CheckLine) and event.rule != FORM:
            call = call_of(event)
            now = here.check(
                call,
                can_modify=event.ruling != "refuse",
                can_ask=event.ruling == "ask",
                approved=event.approved,
            )
            yield Replayed(event.session, call, now, event.ruling)


def resumed(guard: Guard, log: Path) -> dict[str, Guard]:
    """The guards of a log's conversations, with what each had learned; calls that never
    returned count as lost.
    """
    live: dict[str, Guard] = {}
    under_way: dict[str, list[Call]] = {}
    for event, here, _ in played(guard, log):
        live[event.session] = here
        calls = under_way.setdefault(event.session, [])
        if isinstance(event, ResultLine):
            place = call_of(event).place
            under_way[event.session] = [call for call in calls if call.place != place]
        elif isinstance(event, CheckLine) and was_made(event):
            calls.append(call_made(event))
    for session, here in live.items():
        for call in under_way[session]:
            here.check(call, can_modify=True, approved=True)
            here.abandon(call)
        here.at("")  # by the clock again
        here.join(guard)
    return live


def was_made(event: CheckLine) -> bool:
    """True if a call was made after it was checked: allowed, or only watched."""
    return event.ruling in ("allow", "warn", "modify") or event.shadow


@dataclass(frozen=True)
class StepForm:
    """A line of a conversation: a call with its expected ruling and its result, what the user
    says, or what is told.
    """

    call: str = ""
    args: Mapping[str, Any] = field(default_factory=dict)
    expect: Word | None = None
    by: str = ""
    """The rule that decides."""
    approved: bool | None = None
    result: Any = None
    failed: bool | None = None
    says: str = ""
    tell: str = ""


@dataclass
class CasesRun:
    """Results of all cases."""

    checks: int = 0
    cases: int = 0
    differences: list[str] = field(default_factory=list)
    """The rulings that are not the expected ones, each in one line."""
    fired: Counter[str] = field(default_factory=Counter)
    """Count of each rule's decisions against a call."""
    kept: Counter[str] = field(default_factory=Counter)
    """Count of the times each rule was asked and let a call pass."""

    def uncovered(self, guard: Guard) -> Iterator[str]:
        """Gaps of the cases for a rule: none breaks it, or none keeps it."""
        for policy in guard.manual.policies:
            name = policy.rule.id
            if not self.fired[name]:
                yield f"{name} never decided"
            elif not self.kept[name] and not policy.asks:
                yield f"{name} never let a call pass"


def run_cases(guard: Guard, file: Path) -> CasesRun:
    """Play every case of a file with a guard of its own."""
    yaml = read_yaml(str(file), read_text(file, LARGEST_MANUAL), _CASES)
    if not yaml.tree.get("cases"):
        raise FileError(
            file, 1, "cases are written under the key `cases`, each a name with a list of steps"
        )
    done = CasesRun()
    for case, steps in yaml.at("cases").entries():
        if not isinstance(steps, list):
            raise case.error("a case is a list of steps")
        done.cases += 1
        here = guard.fresh(silent=True)
        for number, step in enumerate(steps):
            _play(here, case, number, step, done)
    return done


def _play(guard: Guard, case: Place, number: int, step: Any, done: CasesRun) -> None:
    """Play one step of a case: what is said and told first, then a call, whose ruling is
    compared.
    """
    place = case.at(number)
    form = place.read(StepForm, step)
    if not (form.call or form.says or form.tell):
        raise place.error("a step has a `call`, or what the user `says`, or facts to `tell`")
    if form.says:
        guard.hear(form.says)
    if form.tell:
        guard.tell(form.tell)
    if form.call:
        call = Call(form.call, form.args, str(number))
        ruling = _checked(guard, call, form, done)
        difference = _difference(form, ruling)
        if difference:
            where = f"{place.line} {excerpt(case.name)}, {form.call}"
            done.differences.append(f"{where}: {difference}")


def _checked(guard: Guard, call: Call, form: StepForm, done: CasesRun) -> Ruling:
    """The ruling on a call of a case, whose result, if there is one, is learned."""
    can_ask = form.approved is None
    ruling = guard.check(call, can_modify=True, can_ask=can_ask, approved=form.approved)
    done.checks += 1
    done.fired[ruling.rule] += bool(ruling.rule)
    for rule in guard.kept_rules():
        done.kept[rule] += rule != ruling.rule
    if form.result is not None or form.failed is not None:
        guard.observe(getattr(ruling, "call", call), form.result, failed=form.failed)
    else:
        guard.withdraw(call)
    return ruling


def _difference(form: StepForm, ruling: Ruling) -> str:
    """A ruling that is not the expected one, in words."""
    as_expected = not form.expect or ruling.word == form.expect
    by_expected = not form.by or ruling.rule == form.by
    if as_expected and by_expected:
        return ""
    expected = f"{form.expect or ''} {form.by}".strip()
    got = f"{ruling.word} {ruling.rule}".rstrip()
    return f"expected {expected}, got {got}. {ruling.text}".rstrip()
