"""The lines that one conversation writes to the guard's log."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.calls import Call, Modify
from rpms.guard.explaining import CheckedCall
from rpms.guard.log import LONGEST_RESULT, CheckLine, Event, ResultLine, Word
from rpms.guard.setup import GuardSetup
from rpms.logic.errors import FileError

_LOUD = logging.getLogger("rpms.guard")


class SessionLog:
    """Writes what is checked, returned and told, if there is a log."""

    def __init__(self, setup: GuardSetup, session: str) -> None:
        self.setup = setup
        self._session = session
        self._checked: dict[str, Mapping[str, Any]] = {}
        """Arguments that the log has, of calls whose results it does not have yet."""

    def add_check(self, judged: CheckedCall, *, approved: bool | None) -> Exception | None:
        """Write a ruling; what goes wrong with that is returned."""
        call = judged.asked
        ruling = judged.ruling
        made = dict(ruling.call.arguments) if isinstance(ruling, Modify) else None
        line = CheckLine(
            tool=call.tool,
            arguments=dict(call.arguments),
            id=call.id,
            ruling=Word(ruling.word),
            rule=ruling.rule,
            reason=ruling.reason,
            fact=ruling.fact,
            remedy=ruling.remedy,
            made=made,
            approved=approved,
            shadow=self.setup.observe_only,
        )
        error = self._add(line)
        if error is None and call.id and self.setup.log is not None:
            self._checked[call.id] = made if made is not None else line.arguments
        return error

    def add_result(self, call: Call, value: Any, text: str, failed: bool | None) -> None:
        """Write the result of a call. Of a long result, and of one that nobody could read, only the
        arrival is written.
        """
        if self.setup.log is None:
            return
        unread = failed is None or len(text) > LONGEST_RESULT
        known = self._checked.pop(call.id, None) if call.id else None
        as_checked = known == call.arguments
        line = ResultLine(
            tool=call.tool,
            arguments={} if as_checked else dict(call.arguments),
            as_checked=as_checked,
            id=call.id,
            failed=failed,
            result=None if unread else value,
            unread=unread,
        )
        self.add_loudly(line)

    def add_loudly(self, line: Event) -> None:
        """Write a line that nothing waits for; what goes wrong with that is told the operator."""
        problem = self._add(line)
        if problem is not None:
            _LOUD.error("the log cannot be written: %s", excerpt(problem))

    def _add(self, line: Event) -> Exception | None:
        if self.setup.log is None:
            return None
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self.setup.log.add(replace(line, at=at, session=self._session), self.setup.manual.masks)
        except (FileError, OSError, ValueError) as error:
            return error
        return None
