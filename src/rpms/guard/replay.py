"""A manual tried out: a guard's log played again, and cases of calls with the ruling that is
expected of each.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import read_text
from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.shown import excerpt
from rpms.guard.calls import FORM, USER, Call, Ruling, Tried
from rpms.guard.comparisons import MISSING
from rpms.guard.guard import Guard
from rpms.guard.log import CheckLine, Event, ResultLine, ToldLine, Word, read_guard_log
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Atom, Truth
from rpms.store.yaml_files import YamlFile, YamlKind, entries_at, read_yaml, validate

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


def played(
    guard: Guard, log: Path, gaps: Counter[str] | None = None, *, asked: bool = False
) -> Iterator[tuple[Event, Guard, Mapping[Atom, Truth]]]:
    """The events of a log, each with the guard of its conversation, which has learned it.

    Where `asked`, also the facts of a call before its result was learned. `gaps` counts what could
    not be learned.
    """
    live: dict[str, Guard] = {}
    gaps = gaps if gaps is not None else Counter()
    for event in read_guard_log(log):
        if event.session not in live:
            live[event.session] = guard.fresh(event.session, silent=True)
        here = live[event.session]
        here.at(event.at)
        if isinstance(event, CheckLine) and event.rule == FORM:
            gaps["calls were not of the form that their tools take, as when they were made"] += 1
        before: Mapping[Atom, Truth] = {}
        if isinstance(event, ResultLine):
            before = here.facts_of(call_of(event)) if asked else {}
            gaps["results were not kept: what followed from them is unknown"] += (
                event.unread and not event.failed
            )
            _observe(here, event)
        for fact in event.facts if isinstance(event, ToldLine) else ():
            try:
                here.tell(fact)
            except InputError:
                gaps["facts were told that cannot be told by this manual"] += 1
        yield event, here, before


def _observe(guard: Guard, event: ResultLine) -> None:
    """Have a guard learn what a log has of a call, or of what the user said."""
    if event.tool == USER:
        guard.hear(str(event.arguments.get("text", "")))
        return
    guard.observe(call_of(event), MISSING if event.unread else event.result, failed=event.failed)


def call_of(event: CheckLine | ResultLine) -> Call:
    """The call of a line."""
    return Call(event.tool, event.arguments, event.id)


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
            call, error = call_of(event), excerpt(event.result) if event.failed else ""
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
    open_: dict[str, list[Call]] = {}
    for event, here, _ in played(guard, log):
        live[event.session], calls = here, open_.setdefault(event.session, [])
        if isinstance(event, ResultLine):
            open_[event.session] = [each for each in calls if each.place != call_of(event).place]
        elif isinstance(event, CheckLine) and (
            event.ruling in ("allow", "warn", "modify") or event.shadow
        ):
            calls.append(
                call_of(event if event.made is None else replace(event, arguments=event.made))
            )
    for session, here in live.items():
        for call in open_[session]:
            here.check(call, can_modify=True, approved=True)
            here.abandon(call)
        here.at("")  # by the clock again
        here.join(guard)
    return live


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
    for name, steps in entries_at(yaml, ("cases",)):
        if not isinstance(steps, list):
            raise yaml.error(("cases", name), "a case is a list of steps")
        done.cases += 1
        here = guard.fresh(silent=True)
        for place, step in enumerate(steps):
            _play(here, yaml, name, place, step, done)
    return done


def _play(guard: Guard, yaml: YamlFile, name: str, place: int, step: Any, done: CasesRun) -> None:
    at = ("cases", name, place)
    form = validate(yaml, StepForm, step, at)
    if not (form.call or form.says or form.tell):
        problem = "a step has a `call`, or what the user `says`, or facts to `tell`"
        raise yaml.error(at, problem)
    if form.says:
        guard.hear(form.says)
    if form.tell:
        guard.tell(form.tell)
    if not form.call:
        return
    call = Call(form.call, form.args, f"{place}")
    can_ask = form.approved is None
    ruling = guard.check(call, can_modify=True, can_ask=can_ask, approved=form.approved)
    done.checks += 1
    done.fired[ruling.rule] += bool(ruling.rule)
    for rule in guard.kept_rules():
        done.kept[rule] += rule != ruling.rule
    difference = _difference(form, ruling)
    if difference:
        where = f"{yaml.name}:{yaml.line(at)} {excerpt(name)}, {form.call}"
        done.differences.append(f"{where}: {difference}")
    if form.result is not None or form.failed is not None:
        guard.observe(getattr(ruling, "call", call), form.result, failed=form.failed)
    else:
        guard.withdraw(call)


def _difference(form: StepForm, ruling: Ruling) -> str:
    """A ruling that is not the expected one, in words."""
    as_expected = not form.expect or ruling.word == form.expect
    by_expected = not form.by or ruling.rule == form.by
    if as_expected and by_expected:
        return ""
    expected = f"{form.expect or ''} {form.by}".strip()
    got = f"{ruling.word} {ruling.rule}".rstrip()
    return f"expected {expected}, got {got}. {ruling.text}".rstrip()
