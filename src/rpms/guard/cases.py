"""Tests of a manual: conversations of calls and results, and the ruling that is expected at each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError
from rpms.foreign.files import read_text
from rpms.foreign.limits import LARGEST_MANUAL
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call
from rpms.guard.guard import Guard
from rpms.guard.log import Word
from rpms.store.yaml_files import YamlFile, YamlKind, entries_at, read_yaml, validate

_CASES = YamlKind("cases", LARGEST_MANUAL, 64, "the key cases; this file has none")


@dataclass(frozen=True)
class StepForm:
    """A line of a conversation: a call with its expected ruling and its result, what the user says, or what is told."""

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
        raise FileError(file, 1, "cases are written under the key `cases`, each a name with a list of steps")
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
    form = validate(yaml, StepForm, step, ("cases", name, place))
    if form.says:
        guard.hear(form.says)
    if form.tell:
        guard.tell(form.tell)
    if not form.call:
        if not (form.says or form.tell):
            raise yaml.error(("cases", name, place), "a step has a `call`, or what the user `says`, or facts to `tell`")
        return
    call = Call(form.call, form.args, f"{place}")
    ruling = guard.check(call, can_modify=True, can_ask=form.approved is None, approved=form.approved)
    done.checks += 1
    done.fired[ruling.rule] += bool(ruling.rule)
    for rule in guard.kept_rules():
        done.kept[rule] += rule != ruling.rule
    wrong = form.expect and ruling.word != form.expect
    if wrong or (form.by and ruling.rule != form.by):
        expected, got = f"{form.expect or ''} {form.by}".strip(), f"{ruling.word} {ruling.rule}".rstrip()
        where = f"{yaml.name}:{yaml.line(('cases', name, place))} {excerpt(name)}, {form.call}"
        done.differences.append(f"{where}: expected {expected}, got {got}. {ruling.text}".rstrip())
    if form.result is not None or form.failed is not None:
        guard.observe(getattr(ruling, "call", call), form.result, failed=form.failed)
    else:
        guard.withdraw(call)
