"""The guard for tool-calling agents: a call is checked before it is made, and what came of it is learned from."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, Final
from uuid import uuid4

from rpms.core.acting.loops import find_circle
from rpms.core.belief import FactBelief
from rpms.core.errors import FileError, InputError
from rpms.core.facts import Atom, Clause, Literal, Truth, parse_literal
from rpms.core.names import nearest
from rpms.core.prompt import Turn
from rpms.foreign.json_text import NotJson
from rpms.foreign.shown import excerpt
from rpms.guard.calls import Absent, Call, CallFacts, OnUnknown, PythonFact, ToolBelief, ToolManual
from rpms.guard.json_calls import as_call, as_result, records_in, tool_of
from rpms.guard.judging import Rulebook, judge
from rpms.guard.log import CheckLine, GuardLog, ResultLine, ToldLine, kept
from rpms.guard.manuals import open_tool_manual
from rpms.guard.readings import MISSING, moment_of, text_of
from rpms.guard.rulings import CIRCLE, ERROR, FORM, REPEAT, Modify, Refuse, Ruling, Warn

USER: Final = "user_says"
"""The name under which what the user says is observed, with its `text`: a manual may declare it like a tool."""
_MOST_TURNS = 50
_MOST_PENDING = 1_000
_MOST_FAILURES = 2
"""How often a call may fail before it is not made again, as long as nothing is learned."""
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
        python: Mapping[str, PythonFact] | ModuleType | None = None,
        now: datetime | None = None,
        log: Path | str | None = None,
        session: str = "",
    ) -> None:
        """`manual` is read from its files, or read already. `belief` holds what is known from the start.

        `python` has the functions that the manual names; a manual alone never runs code. `now` stands in place of the
        manual's and the clock's. `log` is a file that everything is written to, under the name of a `session`.
        """
        if isinstance(manual, str | Path):
            manual = open_tool_manual(manual)
        self.manual = manual if isinstance(manual, ToolManual) else open_tool_manual(*manual)
        known = belief or FactBelief()
        self.belief = belief if isinstance(belief, ToolBelief) else ToolBelief(known.known, known.things)
        self._start = self.belief
        self._python = _functions(self.manual, python)
        self._rules = Rulebook(self.manual)
        self._now = now
        self._clock: datetime | None = None
        self._history: list[Turn] = []
        self._seen: set[int] = set()
        self._heard = 0
        self._failures: Counter[str] = Counter()
        self._pending: dict[str, tuple[tuple[Atom, bool], ...]] = {}
        self._last: tuple[Call, CallFacts | None, Ruling] | None = None
        self._lock = RLock()
        self._log = GuardLog(Path(log)) if log is not None else None
        self.session = session or uuid4().hex[:8]
        if self._log is not None:
            self._log.begin(self.manual.name)

    def fresh(self, session: str = "", *, silent: bool = False) -> Guard:
        """A guard by the same manual that knows only what this one knew at first; a silent one writes no log."""
        other = Guard(self.manual, self._start, python=self._python, now=self._now, session=session)
        other._log = None if silent else self._log
        other._rules = self._rules
        return other

    def at(self, moment: str) -> None:
        """Judge as of a moment, in ISO 8601, unless the manual or the host names one."""
        self._clock = moment_of(moment)

    def check(self, call: Call | Mapping[str, Any], *, can_modify: bool = False) -> Ruling:
        """Allow, Warn or Refuse; a call that is refused is not to be made. Never raises for what a call holds.

        With `can_modify`, which a host says that will make another call in its place, also Modify: its `call` is the
        one to make and to observe. Without, such a call is refused, and what to call instead is the remedy.
        """
        with self._lock:
            facts: CallFacts | None = None
            try:
                read = as_call(call)
            except NotJson as error:
                read = Call(tool_of(call))
                ruling: Ruling = Refuse(
                    f"the call cannot be read: {error}", FORM, "", "write arguments as a JSON object"
                )
            else:
                try:
                    facts, ruling = self._check(read, can_modify=can_modify)
                except Exception as error:  # noqa: BLE001  whatever the guard does wrong is no reason to go on unseen
                    ruling = self._failed(read, error)
            ruling = self._written(read, ruling)
            self._last = (facts.call if facts else read, facts, ruling)
            return ruling

    def _written(self, call: Call, ruling: Ruling) -> Ruling:
        """Put a ruling into the log. Where that fails, the guard has failed."""
        if self._log is None:
            return ruling
        said: dict[str, Any] = {name: getattr(ruling, name) for name in ("rule", "reason", "fact", "remedy")}
        said |= {"ruling": ruling.word, "made": dict(ruling.call.arguments) if isinstance(ruling, Modify) else None}
        try:
            self._log.add(CheckLine(**self._place(), **_named(call), **said))
        except (FileError, OSError, ValueError) as error:
            if isinstance(ruling, Refuse):
                return ruling
            failed = self._failed(call, error)
            if isinstance(failed, Refuse):
                self._pending.pop(call.id or call.text, None)
            return ruling if isinstance(ruling, Modify) and failed.goes_on else failed
        return ruling

    def _place(self) -> dict[str, Any]:
        return {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "session": self.session}

    def _note(self, line: ResultLine | ToldLine) -> None:
        """Put into the log what was learned; a log that cannot be written is complained of, and nothing is lost."""
        try:
            if self._log is not None:
                self._log.add(line)
        except (FileError, OSError, ValueError) as error:
            _LOUD.error("the log cannot be written: %s", excerpt(error))

    def _check(self, call: Call, *, can_modify: bool) -> tuple[CallFacts, Ruling]:
        facts, ruling = judge(self._facts(call), self._rules, can_modify=can_modify)
        if not isinstance(ruling, Refuse):
            ruling = self._circling(facts.call, ruling)
        if not isinstance(ruling, Refuse):
            self._expect(facts.call, facts)
        return facts, ruling

    def _failed(self, call: Call, error: Exception) -> Ruling:
        """What to say when the guard itself broke: as the manual wants it, and never quietly."""
        what = f"the guard failed on {excerpt(call.tool)}: {type(error).__name__}: {excerpt(error)}"
        if self.manual.closed:
            _LOUD.error("%s; the call is refused", what)
            return Refuse(what, ERROR, "", "tell the operator; the manual says that nothing is done unchecked")
        _LOUD.error("%s; THE CALL WAS NOT CHECKED", what)
        return Warn(f"{what}; the call was not checked", ERROR)

    def facts_of(self, call: Call) -> dict[Atom, Truth]:
        """What is known of a call's arguments: every fact of the manual over them, by the arguments' names."""
        with self._lock:
            facts = self._facts(call)
            given = call.arguments.items()
            plain = [name for name, value in given if isinstance(value, str | int | float)][:_MOST_ASKED]
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
        pending = {atom: value for key, each in self._pending.items() if key != call.id for atom, value in each}
        now = self._now or self.manual.now or self._clock or datetime.now(UTC)
        return CallFacts(call, self.manual, self.belief, now, self._python, pending)

    def _circling(self, call: Call, ruling: Ruling) -> Ruling:
        """The ruling, unless the agent repeats what failed or goes in circles."""
        again = self._failures[call.text]
        if again >= _MOST_FAILURES and self.manual.repeats is not OnUnknown.PASS:
            rule = REPEAT
            found = f"`{excerpt(call.text)}` has failed {again} times, and nothing was learned since it first did"
        elif sum(turn.action == call.text for turn in self._history) >= 2:
            rule, found = CIRCLE, find_circle(self._history, self._state)
        else:
            return ruling  # to read several known things anew, once each, is no circle
        kind = self.manual.repeats if rule == REPEAT else self.manual.circles
        if not found or kind is OnUnknown.PASS or (isinstance(ruling, Warn | Modify) and kind is OnUnknown.WARN):
            return ruling
        return (Refuse if kind is OnUnknown.REFUSE else Warn)(found, rule, "", "do something else, or ask the user")

    def _count(self, call: Call, *, failed: bool, news: bool) -> None:
        """Count the failures of each call since anything was learned, which may be what it wanted."""
        if not failed:
            self._failures.pop(call.text, None)
            if news:
                self._failures.clear()
            return
        if len(self._failures) >= _MOST_PENDING and call.text not in self._failures:
            del self._failures[next(iter(self._failures))]
        self._failures[call.text] += 1

    @property
    def _state(self) -> str:
        """What was learned so far: as long as it is the same, nothing new came of any call."""
        return str(len(self._seen))

    def _expect(self, call: Call, facts: CallFacts) -> None:
        """Keep what a call that is about to be made will change: until it returns, nobody knows whether it did."""
        changes = tuple(self._changes(facts, MISSING))
        if changes:
            while len(self._pending) >= _MOST_PENDING:
                del self._pending[next(iter(self._pending))]
            self._pending[call.id or call.text] = changes

    def observe(self, call: Call | Mapping[str, Any], result: object, *, failed: bool | None = None) -> None:
        """Learn from what a call returned. Text that is JSON is read as such; `failed` overrides the manual's `fails`.

        What cannot be read tells nothing: its facts stay unknown. Never raises for what a result holds.
        """
        with self._lock:
            try:
                read = as_call(call)
            except NotJson:
                return
            self._pending.pop(read.id or read.text, None)
            try:
                value = MISSING if result is MISSING else as_result(result)
            except NotJson as error:
                _LOUD.warning("the result of %s tells nothing: %s", excerpt(read.tool), error)
                value = MISSING
            wrong = self._is_failure(value) if failed is None else failed
            state, known, seen = self._state, self.belief.known, len(self._seen)
            try:
                if not wrong:
                    self._learn(read, value)
            except Exception as error:  # noqa: BLE001  see check
                _LOUD.error("the guard failed on the result of %s: %s", excerpt(read.tool), excerpt(error))
            shown, unread = (None, True) if value is MISSING else kept(value)
            self._note(ResultLine(**self._place(), **_named(read), failed=wrong, result=shown, unread=unread))
            self._heard += read.tool == USER
            news = self._heard if read.tool == USER else 0  # what a user says is news, though it be the same words
            self._seen.add(hash((news, read.text, wrong, "" if value is MISSING else text_of(value))))
            self._count(read, failed=wrong, news=len(self._seen) > seen or self.belief.known != known)
            self._history = [*self._history, Turn("", read.text, state=state, failed=wrong)][-_MOST_TURNS:]

    def hear(self, text: str) -> None:
        """Observe what the user said: a manual reads it from the tool `user_says`."""
        self.observe(Call(USER, {"text": text}), text, failed=False)

    def tell(self, *facts: str | Literal) -> None:
        """Learn facts that the host knows, written as in a manual with their own names: `verified("mia_li_3668")`.

        Nothing is learned, and an InputError raised, where one of them is no fact of the manual that can be told.
        """
        with self._lock:
            told = [_unquoted(fact) if isinstance(fact, str) else fact for fact in facts]
            for literal in told:
                _check_tellable(literal.atom, self.manual)
            before, self.belief = self.belief, self.belief.learn(*told)
            if self.belief.known != before.known:  # what is told is news, and what was known is none
                self._heard += 1
                self._seen.add(hash(("told", self._heard)))
                self._failures.clear()
            self._note(ToldLine(**self._place(), facts=tuple(map(str, told))))

    def _is_failure(self, value: object) -> bool:
        return isinstance(value, str) and value.lstrip().startswith(self.manual.fails)

    def _learn(self, call: Call, result: object) -> None:
        facts = self._facts(call)
        changes = [Literal(atom, not value) for atom, value in self._changes(facts, result)]
        belief = self.belief.learn(*changes) if changes else self.belief
        settled = {change.atom for change in changes}
        for key, coming in list(self._pending.items()):
            self._pending[key] = tuple(each for each in coming if each[0] not in settled)
        tool = self.manual.tools.get(call.tool)
        for pattern in tool.forgets if tool is not None else ():
            for atom in facts.bind(pattern, result):
                belief = belief.without_record((atom.predicate, *atom.args))
        if result is not MISSING:
            found: dict[tuple[str, ...], Any] = {}
            for kind in self.manual.readers(call.tool):
                found.update(records_in(kind, call, result))
            belief = belief.with_records(found) if found else belief
        self.belief = belief

    def _changes(self, facts: CallFacts, result: object) -> list[tuple[Atom, bool]]:
        """What a call that succeeds makes true or false; what only its result names is left out until it is there."""
        tool = self.manual.tools.get(facts.call.tool)
        changes = []
        for effect in tool.effects if tool is not None else ():
            given = (_bound(clause, facts, result) for clause in effect.given)
            if not all(clause.truth(facts) is Truth.TRUE for clause in given):
                continue
            named = facts.bind(effect.literal.atom, result)
            whole = (atom for atom in named if not any(isinstance(arg, Absent) for arg in atom.args))
            changes += [(atom, not effect.literal.negated) for atom in whole]
        return changes

    def explain(self) -> str:
        """The last check as text: the ruling, what each rule said, and what is known."""
        with self._lock:
            lines: list[str] = []
            if self._last is not None:
                call, facts, ruling = self._last
                shown = f"{call.tool}, which could not be read" if ruling.rule == FORM else call.text
                lines += [f"call: {excerpt(shown)}", f"ruling: {ruling.word}", f"  {ruling.text}".rstrip()]
                lines += ["", "rules:", *(self._said_by_rules(facts) if facts else ["  none was asked"])]
            lines += ["", "facts:", *(f"  {excerpt(line)}" for line in _told(self.belief))]
            lines += ["", "records:", *(f"  {excerpt(' '.join(key))}" for key in self.belief.records)]
            return "\n".join(lines).strip()

    def _said_by_rules(self, facts: CallFacts) -> Iterator[str]:
        words = {Truth.TRUE: "broken", Truth.FALSE: "kept", Truth.UNKNOWN: "not known"}
        for found in self._rules.findings(facts):
            said = "; ".join(facts.manual.say(atom, facts.truth(atom)) for atom in found.facts)
            yield f"  {found.rule}: {words[found.broken]}{f': {excerpt(said)}' if said else ''}"


def _told(belief: ToolBelief) -> list[str]:
    return sorted(f"{'' if holds else 'not '}{atom}" for atom, holds in belief.known.items())


def _bound(clause: Clause, facts: CallFacts, result: object) -> Clause:
    return Clause(tuple(Literal(next(facts.bind(each.atom, result)), each.negated) for each in clause.literals))


def _unquoted(fact: str) -> Literal:
    try:
        literal = parse_literal(fact)
    except ValueError as error:
        raise InputError(str(error)) from None
    args = tuple(arg[1:-1] if len(arg) > 1 and arg[0] == arg[-1] == '"' else arg for arg in literal.atom.args)
    return replace(literal, atom=Atom(literal.atom.predicate, args))


def _check_tellable(atom: Atom, manual: ToolManual) -> None:
    """Raise InputError for a fact that no rule would ever ask for as it is told; a manual without facts asks none."""
    if not manual.facts:
        return
    name, fact = atom.predicate, manual.facts.get(atom.predicate)
    if fact is None:
        raise InputError(f"the manual has no fact {excerpt(name)!r}; {nearest(name, manual.facts)}")
    wanted = fact.predicate.args
    if len(atom.args) != len(wanted):
        form = f"{name}({', '.join(wanted)})" if wanted else name
        raise InputError(f"the fact {excerpt(str(atom))} has {len(atom.args)} arguments; write it as {form}")
    if fact.told:
        return
    kind = manual.records.get(fact.record)
    if fact.python:
        raise InputError(f"the fact {name} cannot be told: the function {fact.python!r} says whether it holds")
    if kind is not None:
        way = f"{kind.ask} with {kind.tools[0]}, and observe what it returns"
        raise InputError(f"the fact {name} cannot be told: it is read from the record {kind.name}; {way}")
    raise InputError(f"the fact {name} cannot be told: it is read from what a call is made with")


def _functions(manual: ToolManual, python: Mapping[str, PythonFact] | ModuleType | None) -> dict[str, PythonFact]:
    """The functions that a manual names, found in what the host gave."""
    given = vars(python) if isinstance(python, ModuleType) else python or {}
    found = {}
    for fact in manual.facts.values():
        if not fact.python:
            continue
        function = given.get(fact.python)
        if not callable(function):
            name = fact.predicate.name
            raise InputError(f"the fact {name} is read by a function {fact.python!r}, which was not given as `python`")
        found[fact.python] = function
    return found


def _named(call: Call) -> dict[str, Any]:
    return {"tool": call.tool, "arguments": dict(call.arguments), "id": call.id}
