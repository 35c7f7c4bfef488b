"""The guard for tool-calling agents: a call is checked before it is made, and what came of it
is learned from.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from threading import RLock
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple
from uuid import uuid4

from rpms.foreign.json_text import NotJson
from rpms.foreign.shown import excerpt
from rpms.guard.call_facts import (
    CallFacts,
    PythonFact,
    TooLarge,
    ToolBelief,
    as_call,
    as_result,
    records_in,
    tool_of,
)
from rpms.guard.calls import (
    ERROR,
    FORM,
    MANUAL,
    RESULT,
    USER,
    Allow,
    Ask,
    Call,
    Modify,
    OnError,
    Refuse,
    Ruling,
    ToolManual,
    Warn,
)
from rpms.guard.comparisons import MISSING, moment_of, text_of
from rpms.guard.judging import findings, judge
from rpms.guard.log import (
    LONGEST_RESULT,
    CheckLine,
    Event,
    ResultLine,
    ToldLine,
    Word,
    add_line,
    begin_log,
)
from rpms.guard.manual_files import ManualFiles
from rpms.guard.python_facts import PythonFacts
from rpms.guard.repeats import Repeats
from rpms.guard.under_way import UnderWay
from rpms.logic.belief import FactBelief
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Atom, Truth

Watch = Callable[[Call, Ruling, float], None]
"""Told of every check: the call, the ruling, the seconds."""


class _Judged(NamedTuple):
    """A call that was checked."""

    asked: Call
    facts: CallFacts | None
    """The facts of the call that the ruling is about; None if no rule was asked."""
    ruling: Ruling


_MOST_ASKED = 6
"""Arguments of a call that a learner is told about."""
_LOUD = logging.getLogger("rpms.guard")


class Guard:
    """Checks the calls of one conversation. It may be shared by threads."""

    def __init__(
        self,
        manual: ToolManual | Path | str | Sequence[Path | str],
        belief: FactBelief | None = None,
        *,
        python: Mapping[str, PythonFact] | ModuleType | PythonFacts | None = None,
        now: datetime | None = None,
        log: Path | str | None = None,
        session: str = "",
        store: Path | str | None = None,
        observe_only: bool = False,
        watch: Watch | None = None,
    ) -> None:
        """`manual` is read from its files, or read already. `belief` holds what is known from the
        start.

        `python` has the functions that the manual names; a manual alone never runs code. `now`
        stands in place of the manual's and the clock's. `log` is a file that everything is written
        to, under the name of a `session`. `store` is a file in which guards share the facts that
        the manual says are `shared`. With `observe_only`, calls are judged and logged, and all are
        allowed. `watch` is called with every call, its ruling and the seconds it took.
        """
        self._files: ManualFiles | None = None
        if not isinstance(manual, ToolManual):
            self._files = ManualFiles([manual] if isinstance(manual, str | Path) else manual)
            manual = self._files.read()
        self.manual = manual
        self._no_manual = ""
        known = belief or FactBelief()
        self._start = (
            belief if isinstance(belief, ToolBelief) else ToolBelief(known.known, known.things)
        )
        self.python = (
            python if isinstance(python, PythonFacts) else PythonFacts(self.manual, python)
        )
        self._now = now
        self._log = Path(log) if log is not None else None
        self._observe_only, self._watch = observe_only, watch
        self._begin(session, Path(store) if store is not None else None)
        if self._log is not None:
            begin_log(self._log, self.manual.guard)

    def _begin(self, session: str, store: Path | None = None) -> None:
        """Begin a conversation: nothing is known but what was known at first."""
        self.belief = self._start
        self.session = session or uuid4().hex[:8]
        self._clock: datetime | None = None
        self._heard = 0
        self._repeats = Repeats()
        self._under_way = UnderWay(store)
        self._last: _Judged | None = None
        self._lock = RLock()

    def fresh(self, session: str = "", *, silent: bool = False) -> Guard:
        """A guard by the same manual that knows only what this one knew at first; a silent one
        writes no log.
        """
        other = copy(self)
        other._begin(session)  # noqa: SLF001  its own kind
        if silent:
            other._log, other._watch, other._observe_only = None, None, False  # noqa: SLF001
        else:
            other.join(self)
        return other

    def join(self, other: Guard) -> None:
        """Write to the log of another guard, share its facts, and observe or judge as it does."""
        self._log, self._watch, self._observe_only = other._log, other._watch, other._observe_only
        self._under_way.share(other._under_way)

    def refresh(self) -> None:
        """Judge by the manual as its files are now; what is known stays.

        While they cannot be read, every call is refused.
        """
        if self._files is None:
            return
        try:
            manual = self._files.read()
            if manual is not self.manual:
                python = PythonFacts(manual, self.python.given)
                with self._lock:
                    self.python, self.manual = python, manual
        except InputError as error:
            problem = excerpt(error)
            if problem != self._no_manual:
                _LOUD.error("the manual cannot be used, ALL CALLS ARE REFUSED: %s", problem)
            self._no_manual = problem
        else:
            self._no_manual = ""

    def at(self, moment: str) -> None:
        """Judge as of a moment, in ISO 8601, unless the manual or the host names one."""
        self._clock = moment_of(moment)

    def check(
        self,
        call: Call | Mapping[str, Any],
        *,
        can_modify: bool = False,
        can_ask: bool = False,
        approved: bool | None = None,
    ) -> Ruling:
        """Allow, Warn or Refuse; a call that is refused is not to be made. Never raises for what a
        call holds.

        A host that `can_modify` may be told Modify: its `call` is the one to make and to observe.
        One that `can_ask` a person may be told Ask, and checks the call again with what was decided
        as `approved`. Otherwise such calls are refused, and what to do about it is the remedy.
        """
        start = perf_counter()
        with self._transaction():
            judged = self._judged(call, can_modify=can_modify, can_ask=can_ask, approved=approved)
            ruling = judged.ruling
            if self._log is not None:
                ruling = self._written(judged.asked, ruling, approved=approved)
            self._last = judged._replace(ruling=ruling)
        if self._watch is not None:
            self._watch(judged.asked, ruling, perf_counter() - start)
        if not self._observe_only:
            return ruling
        if judged.facts is not None and (not ruling.goes_on or isinstance(ruling, Modify)):
            possible = self._facts(judged.asked).possible()  # it is made all the same
            self._under_way.add(judged.asked, possible, self.manual)
        return Allow()

    def _judged(
        self,
        call: Call | Mapping[str, Any],
        *,
        can_modify: bool,
        can_ask: bool,
        approved: bool | None,
    ) -> _Judged:
        """A call with its ruling, whatever is in it."""
        try:
            read = as_call(call)
        except NotJson as error:
            remedy = "write arguments as a JSON object"
            if isinstance(error, TooLarge):
                remedy = "send less at once"
            refusal = Refuse(f"the call cannot be read: {error}", FORM, "", remedy)
            return _Judged(Call(tool_of(call)), None, refusal)
        if self._no_manual:
            what = f"there is no manual to judge by: {self._no_manual}"
            return _Judged(read, None, Refuse(what, MANUAL, "", "tell the operator"))
        try:
            facts, ruling = self._check(
                read, can_modify=can_modify, can_ask=can_ask, approved=approved
            )
        except Exception as error:  # noqa: BLE001  whatever the guard does wrong is no reason to go on unseen
            return _Judged(read, None, self._failed(read, error))
        return _Judged(read, facts, ruling)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Judge by what other guards have told, and let none of them judge meanwhile."""
        with self._lock, self._under_way.transaction() as news:
            if news:
                self.belief = self.belief.learn(*news)
            yield

    def preview(self, call: Call | Mapping[str, Any]) -> Ruling:
        """The ruling that a host would get that can modify and ask; nothing is noted or logged."""
        with self._lock:
            try:
                return judge(self._facts(as_call(call)), can_modify=True)[1]
            except NotJson as error:
                return Refuse(f"the call cannot be read: {error}", FORM)

    def _written(self, call: Call, ruling: Ruling, *, approved: bool | None) -> Ruling:
        """Put a ruling into the log. Where that fails, the guard has failed."""
        said: dict[str, Any] = {
            name: getattr(ruling, name) for name in ("rule", "reason", "fact", "remedy")
        }
        said |= {
            "made": dict(ruling.call.arguments) if isinstance(ruling, Modify) else None,
            "approved": approved,
        }
        error = self._note(
            CheckLine, call, ruling=Word(ruling.word), shadow=self._observe_only, **said
        )
        if error is None or not ruling.goes_on:
            return ruling
        failed = self._failed(call, error)
        if isinstance(failed, Refuse):
            self.withdraw(call)
        return ruling if isinstance(ruling, Modify) and failed.goes_on else failed

    def _note(self, form: type[Event], call: Call | None = None, **said: Any) -> Exception | None:
        """Put a line into the log, if there is one; what goes wrong with that is returned."""
        if self._log is None:
            return None
        if call is not None:
            said |= {"tool": call.tool, "arguments": dict(call.arguments), "id": call.id}
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            add_line(self._log, form(at=at, session=self.session, **said))
        except (FileError, OSError, ValueError) as error:
            return error
        return None

    def _check(
        self, call: Call, *, can_modify: bool, can_ask: bool, approved: bool | None
    ) -> tuple[CallFacts, Ruling]:
        known = self._facts(call)
        facts, ruling = self.python.within(
            lambda: judge(known, can_modify=can_modify, approved=approved is True)
        )
        if isinstance(ruling, Ask) and (approved is False or not can_ask):
            remedy = (
                "a person said no"
                if approved is False
                else ruling.remedy or "ask a person to approve it"
            )
            ruling = Refuse(ruling.reason, ruling.rule, ruling.fact, remedy)
        if ruling.goes_on:
            ruling = self._repeats.judge(facts.call, ruling, self.manual)
        if ruling.goes_on:
            self._under_way.add(facts.call, facts.possible(), self.manual)
        return facts, ruling

    def _failed(self, call: Call, error: Exception) -> Ruling:
        """The ruling when the guard itself broke: as the manual wants it, and never quietly."""
        what = f"the guard failed on {excerpt(call.tool)}: {type(error).__name__}: {excerpt(error)}"
        if self.manual.errors is OnError.CLOSED:
            _LOUD.error("%s; the call is refused", what)
            return Refuse(
                what, ERROR, "", "tell the operator; the manual says that nothing is done unchecked"
            )
        _LOUD.error("%s; THE CALL WAS NOT CHECKED", what)
        return Warn(f"{what}; the call was not checked", ERROR)

    def facts_of(self, call: Call) -> dict[Atom, Truth]:
        """Truth of every fact of the manual over a call's arguments, by the arguments' names."""
        with self._lock:
            facts, given = self._facts(call), call.arguments.items()
            plain = [name for name, value in given if isinstance(value, str | int | float)][
                :_MOST_ASKED
            ]
            found: dict[Atom, Truth] = {}
            for name, fact in self.manual.facts.items():
                for args in permutations(plain, len(fact.predicate.args)):
                    bound = Atom(name, tuple(facts.name(call.arguments[arg]) for arg in args))
                    try:
                        found[Atom(name, args)] = facts.truth(bound)
                    except Exception:  # noqa: BLE001  a function that was made for other arguments
                        found[Atom(name, args)] = Truth.UNKNOWN
            return found

    def _facts(self, call: Call) -> CallFacts:
        now = self._now or self.manual.now or self._clock or datetime.now(UTC)
        return CallFacts(call, self.manual, self.belief, now, self.python, self._under_way.coming())

    def withdraw(self, call: Call) -> None:
        """Forget a call that was let through and then not made."""
        with self._transaction():
            self._under_way.end(call)

    def abandon(self, call: Call) -> None:
        """Note that nobody waits for a call any more: what it changes is unknown until it is
        found out, or told.
        """
        with self._transaction():
            self._under_way.lose(call)

    def observe(
        self, call: Call | Mapping[str, Any], result: object, *, failed: bool | None = None
    ) -> None:
        """Learn from what a call returned. Text that is JSON is read as such; `failed` overrides
        the manual's `fails`.

        What cannot be read tells nothing: its facts stay unknown. Never raises for what a result
        holds.
        """
        try:
            read = as_call(call)
        except NotJson:
            return
        if read.tool == USER:
            _LOUD.error("a tool called %s tells nothing: only `hear` does", USER)
            return
        with self._transaction():
            self._observe(read, result, failed=failed)

    def hear(self, text: str) -> None:
        """Learn what the user said: a manual reads it from the tool `user_says`, which no agent
        can call.
        """
        with self._transaction():
            self._heard += 1  # a message is news even in the same words
            self._observe(Call(USER, {"text": text}), text, failed=False)

    def _observe(self, call: Call, result: object, *, failed: bool | None) -> None:
        value = self._value_of(call, result)
        if failed is None and value is not MISSING:
            failed = self.manual.failed(value)  # of what cannot be read, nobody knows
        known = self.belief.known
        self.withdraw(call)
        unsure = value is MISSING
        try:
            self._learn(call, value, failed=failed)
        except Exception as error:  # noqa: BLE001  see check
            _LOUD.error(
                "the guard failed on the result of %s: %s", excerpt(call.tool), excerpt(error)
            )
            unsure = True
        if unsure:  # its possible changes are unknown until they are found out, or told
            self._under_way.add(call, self._facts(call).possible(failed=failed), self.manual)
            self._under_way.lose(call)
        text = "" if value is MISSING else text_of(value)
        unread = value is MISSING or len(text) > LONGEST_RESULT
        problem = self._note(
            ResultLine, call, failed=failed, result=None if unread else value, unread=unread
        )
        if problem:
            _LOUD.error("the log cannot be written: %s", excerpt(problem))
        news = self._heard if call.tool == USER else 0
        learned = self.belief.known != known
        self._repeats.add(call, (news, text), failed=bool(failed), learned=learned)

    def _value_of(self, call: Call, result: object) -> object:
        """A result as JSON; MISSING if it cannot be read."""
        if result is MISSING:
            return MISSING
        try:
            return as_result(result)
        except NotJson as error:
            _LOUD.warning("the result of %s tells nothing: %s", excerpt(call.tool), error)
            return MISSING

    def tell(self, *facts: str) -> None:
        """Learn facts that the host knows, written as in a manual with their own names:
        `verified("mia_li_3668")`.

        Nothing is learned, and an InputError raised, where one of them is no fact of the manual
        that can be told.
        """
        with self._transaction():
            told = [self.manual.told(fact) for fact in facts]
            before, self.belief = self.belief, self.belief.learn(*told)
            self._under_way.settle(told, self.manual)
            if self.belief.known != before.known:  # only facts that were not known are news
                self._heard += 1
                self._repeats.news(self._heard)
            if problem := self._note(ToldLine, facts=tuple(map(str, told))):
                _LOUD.error("the log cannot be written: %s", excerpt(problem))

    def _learn(self, call: Call, result: object, *, failed: bool | None) -> None:
        facts = self._facts(call)
        changes = (
            self.python.within(lambda: facts.changes(result, failed=failed))
            if failed is not None
            else []
        )
        belief = self.belief.learn(*changes) if changes else self.belief
        tool = self.manual.tools.get(call.tool)
        if not failed:
            bound = (facts.bind(each, {RESULT: result}) for each in (tool.forgets if tool else ()))
            gone = {(atom.predicate, *atom.args) for atoms in bound for atom in atoms}
            kinds = [
                each
                for each in self.manual.records.values()
                if call.tool in each.tools and result is not MISSING
            ]
            found = {
                key: value
                for kind in kinds
                for key, value in records_in(kind, call, result).items()
            }
            belief = belief.with_records(found, gone) if found or gone else belief
        self.belief = belief
        self._under_way.settle(changes, self.manual)

    def explain(self) -> str:
        """The last check as text: the ruling, what each rule said, and what is known."""
        with self._lock:
            lines: list[str] = []
            if self._last is not None:
                asked, facts, ruling = self._last
                call = facts.call if facts is not None else asked
                shown = (
                    f"{call.tool}, which could not be read" if ruling.rule == FORM else call.text
                )
                lines += [
                    f"call: {excerpt(shown)}",
                    f"ruling: {ruling.word}",
                    f"  {ruling.text}".rstrip(),
                ]
                words = {Truth.TRUE: "broken", Truth.FALSE: "kept", Truth.UNKNOWN: "not known"}
                lines += ["", "rules:"]
                if facts is None:
                    lines.append("  none was asked")
                else:
                    for found in findings(facts):
                        said = "; ".join(
                            facts.manual.say(atom, facts.truth(atom)) for atom in found.facts
                        )
                        why = f": {excerpt(said)}" if said else ""
                        lines.append(f"  {found.by.rule.id}: {words[found.broken]}{why}")
            told = sorted(
                f"{'' if holds else 'not '}{atom}" for atom, holds in self.belief.known.items()
            )
            lines += ["", "facts:", *(f"  {excerpt(line)}" for line in told)]
            lines += [
                "",
                "records:",
                *(f"  {excerpt(' '.join(key))}" for key in self.belief.records),
            ]
            return "\n".join(lines).strip()

    def kept_rules(self) -> list[str]:
        """The rules that were asked about the last call and stand against nothing in it."""
        facts = self._last.facts if self._last is not None else None
        found = findings(facts) if facts is not None else ()
        return [each.by.rule.id for each in found if each.broken is Truth.FALSE]
