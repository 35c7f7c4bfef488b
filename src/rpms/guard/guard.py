"""The guard for tool-calling agents: a call is checked before it is made, and what came of it
is learned from.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from time import perf_counter
from types import ModuleType
from typing import Any
from uuid import uuid4

from rpms.foreign.json_text import NotJson
from rpms.foreign.shown import excerpt
from rpms.guard.belief import RecordKey, ToolBelief
from rpms.guard.call_facts import CallFacts, PythonFact, records_in
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
from rpms.guard.conversation_facts import ConversationFacts
from rpms.guard.explaining import (
    CheckedCall,
    Weighed,
    explain_check,
    facts_over_arguments,
    list_known,
    weigh_rules,
)
from rpms.guard.functions import F, guarded
from rpms.guard.json_calls import TooLarge, as_call, as_result, tool_of
from rpms.guard.judging import findings, judge
from rpms.guard.log import GuardLog, ToldLine
from rpms.guard.manual_files import ManualFiles
from rpms.guard.provenance import FAILED, Piece
from rpms.guard.python_facts import PythonFacts
from rpms.guard.repeats import Repeats
from rpms.guard.session_log import SessionLog
from rpms.guard.setup import GuardSetup, Watch
from rpms.guard.shared_facts import SharedFacts
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom, Truth

ManualLike = ToolManual | Path | str | Sequence[Path | str]
"""A manual, or its file or files."""
_LOUD = logging.getLogger("rpms.guard")


class Guard:
    """Checks the calls of one conversation. It may be shared by threads."""

    def __init__(
        self,
        manual: ManualLike,
        belief: FactBelief | None = None,
        *,
        python: Mapping[str, PythonFact] | ModuleType | PythonFacts | None = None,
        now: datetime | None = None,
        log: GuardLog | Path | str | None = None,
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
        files = None
        if not isinstance(manual, ToolManual):
            files = ManualFiles([manual] if isinstance(manual, str | Path) else manual)
            manual = files.read()
        if not isinstance(python, PythonFacts):
            python = PythonFacts(manual, python)
        if log is not None and not isinstance(log, GuardLog):
            log = GuardLog(log, manual.guard)
        self._setup = GuardSetup(
            manual=manual,
            python=python,
            files=files,
            now=now,
            log=log,
            shared=SharedFacts(Path(store)) if store is not None else None,
            observe_only=observe_only,
            watch=watch,
            start=dict(belief.known) if belief is not None else {},
        )
        self._begin(session)

    def _begin(self, session: str) -> None:
        """Begin a conversation: nothing is known but what was known at first."""
        self.session = session or uuid4().hex[:8]
        self._gathered = ConversationFacts(ToolBelief(self._setup.start), self._setup.shared)
        self._clock: datetime | None = None
        self._heard = 0
        self._repeats = Repeats()
        self._last: CheckedCall | None = None
        self._notes = SessionLog(self._setup, self.session)
        self._lock = RLock()

    @property
    def manual(self) -> ToolManual:
        """The manual that calls are judged by."""
        return self._setup.manual

    @property
    def python(self) -> PythonFacts:
        """The functions that the manual names."""
        return self._setup.python

    @property
    def problem(self) -> str:
        """The reason for which there is no manual to judge by; empty if there is one."""
        return self._setup.no_manual

    @property
    def may_wait(self) -> bool:
        """True if a check may take long: a function in Python, or another guard with the store."""
        return self._setup.shared is not None or self.python.any

    @property
    def belief(self) -> ToolBelief:
        """The facts and records that this conversation has told."""
        return self._gathered.belief

    def fresh(self, session: str = "", *, silent: bool = False) -> Guard:
        """A guard by the same manual that knows only what this one knew at first.

        A silent one writes no log, shares no facts, and judges also where this one only observes.
        """
        other = copy(self)
        if silent:
            quiet = replace(self._setup, log=None, shared=None, observe_only=False, watch=None)
            other._setup = quiet  # noqa: SLF001  its own kind
        other._begin(session)  # noqa: SLF001  its own kind
        return other

    def join(self, other: Guard) -> None:
        """Write to the log of another guard, share its facts, and observe or judge as it does."""
        self._setup = other._setup
        self._notes.setup = other._setup
        self._gathered.shared = other._setup.shared

    def refresh(self) -> None:
        """Judge by the manual as its files are now; what is known stays.

        While they cannot be read, every call is refused.
        """
        self._setup.refresh()

    def at(self, moment: str) -> None:
        """Judge as of a moment, in ISO 8601, unless the manual or the host names one."""
        self._clock = moment_of(moment)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Let neither another thread nor another guard with the same store judge meanwhile."""
        with self._lock, self._gathered.transaction():
            yield

    # --- checks ---

    def check(
        self,
        call: Call | Mapping[str, Any],
        *,
        can_modify: bool = False,
        can_ask: bool = False,
        approved: bool | None = None,
        wrong: Refuse | None = None,
    ) -> Ruling:
        """Allow, Warn or Refuse; a call that is refused is not to be made. Never raises for what a
        call holds.

        A host that `can_modify` may be told Modify: its `call` is the one to make and to observe.
        One that `can_ask` a person may be told Ask, and checks the call again with what was decided
        as `approved`. Otherwise such calls are refused, and what to do about it is the remedy. A
        host that knows something `wrong` with a call says so here: no rule is asked.
        """
        start = perf_counter()
        with self._transaction():
            self.refresh()
            if wrong is not None and not self._setup.no_manual:
                judged = CheckedCall(_readable(call), None, wrong)
            else:
                judged = self._judged(
                    call, can_modify=can_modify, can_ask=can_ask, approved=approved
                )
            ruling = self._log_check(judged, approved=approved)
            self._last = judged._replace(ruling=ruling)
            if self._setup.observe_only:
                self._expect_anyway(judged)
        if self._setup.watch is not None:
            self._setup.watch(judged.asked, ruling, perf_counter() - start)
        return Allow() if self._setup.observe_only else ruling

    def _judged(
        self,
        call: Call | Mapping[str, Any],
        *,
        can_modify: bool,
        can_ask: bool,
        approved: bool | None,
    ) -> CheckedCall:
        """A call with its ruling, whatever is in it."""
        try:
            read = as_call(call)
        except NotJson as error:
            return CheckedCall(_readable(call), None, _refusal_to_read(error))
        if self._setup.no_manual:
            what = f"there is no manual to judge by: {self._setup.no_manual}"
            return CheckedCall(read, None, Refuse(what, MANUAL, "", "tell the operator"))
        try:
            known = self._facts(read)
            judgement = self.python.within(
                lambda: judge(known, can_modify=can_modify, approved=approved is True)
            )
            facts = judgement.facts
            ruling = judgement.ruling
            if isinstance(ruling, Ask) and (approved is False or not can_ask):
                ruling = _unapproved(ruling, approved)
            if ruling.goes_on:
                ruling = self._repeats.judge(facts.call, ruling, self.manual)
            if ruling.goes_on:
                self._gathered.announce(facts.call, facts.possible(), self.manual)
        except Exception as error:  # noqa: BLE001  whatever the guard does wrong is no reason to go on unseen
            return CheckedCall(read, None, self._failed(read, error))
        return CheckedCall(read, facts, ruling)

    def _expect_anyway(self, judged: CheckedCall) -> None:
        """Expect the changes of a call that is made although it should not be."""
        ruling = judged.ruling
        if judged.facts is not None and (not ruling.goes_on or isinstance(ruling, Modify)):
            possible = self._facts(judged.asked).possible()
            self._gathered.announce(judged.asked, possible, self.manual)

    def _failed(self, call: Call, error: Exception) -> Ruling:
        """The ruling when the guard itself broke: as the manual wants it, and never quietly."""
        what = f"the guard failed on {excerpt(call.tool)}: {type(error).__name__}: {excerpt(error)}"
        if self.manual.errors is OnError.CLOSED:
            _LOUD.error("%s; the call is refused", what)
            remedy = "tell the operator; the manual says that nothing is done unchecked"
            return Refuse(what, ERROR, "", remedy)
        _LOUD.error("%s; THE CALL WAS NOT CHECKED", what)
        return Warn(f"{what}; the call was not checked", ERROR)

    def _facts(self, call: Call, manual: ToolManual | None = None) -> CallFacts:
        now = self._setup.now or self.manual.now or self._clock or datetime.now(UTC)
        return CallFacts(call, manual or self.manual, self._gathered, now, self.python)

    def _log_check(self, judged: CheckedCall, *, approved: bool | None) -> Ruling:
        """Put a ruling into the log, if there is one. Where that fails, the guard has failed."""
        ruling = judged.ruling
        error = self._notes.add_check(judged, approved=approved)
        if error is None or not ruling.goes_on:
            return ruling
        failed = self._failed(judged.asked, error)
        if isinstance(failed, Refuse):
            self.withdraw(judged.asked)
        return ruling if isinstance(ruling, Modify) and failed.goes_on else failed

    # --- what came of calls ---

    def withdraw(self, call: Call) -> None:
        """Forget a call that was let through and then not made."""
        with self._transaction():
            self._gathered.end(call)

    def abandon(self, call: Call) -> None:
        """Note that nobody waits for a call any more: what it changes is unknown until it is
        found out, or told.
        """
        with self._transaction():
            self._gathered.lose(call)

    def observe(
        self, call: Call | Mapping[str, Any], result: object, *, failed: bool | None = None
    ) -> None:
        """Learn from the result of a call.

        Text that is JSON is read as such; `failed` overrides the manual's `fails`. A result that
        cannot be read tells nothing, and its facts stay unknown. Nothing in a result raises an
        error.
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
        """Take in a call's result. Where it cannot be read or the guard fails on it, all that the
        call may have changed is unknown.
        """
        value = _value_of(call, result)
        if failed is None and value is not MISSING:
            failed = self.manual.failed(value)  # of what cannot be read, nobody knows
        self._gathered.end(call)
        self._trace(call, value, failed=bool(failed))
        unsure = value is MISSING
        learned = False
        try:
            learned = self._learn(call, value, failed=failed)
        except Exception as error:  # noqa: BLE001  see check
            what = excerpt(call.tool)
            _LOUD.error("the guard failed on the result of %s: %s", what, excerpt(error))
            unsure = True
        if unsure:  # its possible changes are unknown until they are found out, or told
            possible = self._facts(call).possible(failed=failed)
            self._gathered.announce(call, possible, self.manual)
            self._gathered.lose(call)
        text = "" if value is MISSING else text_of(value)
        self._notes.add_result(call, None if value is MISSING else value, text, failed)
        news = self._heard if call.tool == USER else 0
        self._repeats.add(call, (news, text), failed=bool(failed), learned=learned)

    def _trace(self, call: Call, value: object, *, failed: bool) -> None:
        """Keep what was said or returned, if a rule asks where values came from.

        An error is no answer of its tool's: it may name whatever it was asked about.
        """
        traces = self.belief.traces
        if not self.manual.traces:
            traces.miss()
        elif value is MISSING:
            traces.add(Piece("", call.tool))
        elif call.tool == USER:
            traces.add(Piece.said(call.arguments["text"]))
        else:
            tool = FAILED if failed else call.tool
            traces.add(Piece.returned(tool, call.arguments, value))

    def _learn(self, call: Call, result: object, *, failed: bool | None) -> bool:
        """Learn facts and records from a result; True if a fact has changed."""
        facts = self._facts(call)
        learned = False
        if failed is not None:
            changes = self.python.within(lambda: facts.changes(result, failed=failed))
            learned = self._gathered.learn(changes, self.manual)
        if not failed:
            self._forget_records(call, result, facts)
            self._keep_records(call, result)
        return learned

    def _forget_records(self, call: Call, result: object, facts: CallFacts) -> None:
        """Forget the records that a call has outdated."""
        tool = self.manual.tools.get(call.tool)
        if tool is None:
            return
        for outdated in tool.forgets:
            for atom in facts.bind(outdated, {RESULT: result}):
                self.belief.forget(RecordKey(atom.predicate, atom.args))

    def _keep_records(self, call: Call, result: object) -> None:
        """Keep the records that a result holds."""
        if result is MISSING:
            return
        for kind in self.manual.records.values():
            if call.tool in kind.tools:
                for key, record in records_in(kind, call, result).items():
                    self.belief.keep(key, record)

    def tell(self, *facts: str) -> None:
        """Learn facts that the host knows, written as in a manual with their own names:
        `verified("mia_li_3668")`.

        Nothing is learned, and an InputError raised, where one of them is no fact of the manual
        that can be told.
        """
        with self._transaction():
            given = [self.manual.fact_from_text(fact) for fact in facts]
            if self._gathered.learn(given, self.manual):  # only facts that were not known are news
                self._heard += 1
                self._repeats.news(self._heard)
            self._notes.add_loudly(ToldLine(facts=tuple(map(str, given))))

    def forget_lookups(self) -> None:
        """Forget records, which can be looked up again; facts that calls have set stay known."""
        with self._lock:
            self.belief.forget_records()
            self._repeats = Repeats()
            self._last = None

    def tool(self, function: F) -> F:
        """Put a function behind this guard: a decorator. Where a call is refused, CallRefused is
        raised.
        """
        return guarded(self, function)

    def wrap(self, function: F, **options: Any) -> F:
        """Put a function behind this guard, with the options of `guarded`: `name`, `refused`,
        `approves`.
        """
        return guarded(self, function, **options)

    # --- explanations ---

    def explain(self) -> str:
        """The last check as text: the ruling, what each rule said, and what is known."""
        with self._transaction():
            lines = explain_check(self._last) if self._last is not None else []
            return "\n".join([*lines, *list_known(self.belief)]).strip()

    def weigh(self, call: Call, manual: ToolManual | None = None) -> list[Weighed]:
        """Every rule's judgement of a call, by this guard's manual or another one."""
        with self._transaction():
            facts = self._facts(call, manual)
            return self.python.within(lambda: list(weigh_rules(facts)))

    def kept_rules(self) -> list[str]:
        """The rules that were asked about the last call and stand against nothing in it."""
        if self._last is None or self._last.facts is None:
            return []
        found = findings(self._last.facts)
        return [each.by.rule.id for each in found if each.broken is Truth.FALSE]

    def facts_of(self, call: Call) -> dict[Atom, Truth]:
        """Truth of every fact of the manual over a call's arguments, by the arguments' names."""
        with self._transaction():
            return facts_over_arguments(self._facts(call))


def _readable(call: Call | Mapping[str, Any]) -> Call:
    """A call as it is logged; of one that cannot be read, only what tool it may be of."""
    try:
        return as_call(call)
    except NotJson:
        return Call(tool_of(call))


def _unapproved(asking: Ask, approved: bool | None) -> Refuse:
    """The refusal of a call that no person has approved."""
    remedy = asking.remedy or "ask a person to approve it"
    if approved is False:
        remedy = "a person said no"
    return Refuse(asking.reason, asking.rule, asking.fact, remedy)


def _value_of(call: Call, result: object) -> object:
    """A result as JSON; MISSING if it cannot be read."""
    if result is MISSING:
        return MISSING
    try:
        return as_result(result)
    except NotJson as error:
        _LOUD.warning("the result of %s tells nothing: %s", excerpt(call.tool), error)
        return MISSING


def _refusal_to_read(error: NotJson) -> Refuse:
    """The ruling on a call that cannot be read."""
    remedy = (
        "send less at once" if isinstance(error, TooLarge) else "write arguments as a JSON object"
    )
    return Refuse(f"the call cannot be read: {error}", FORM, "", remedy)
