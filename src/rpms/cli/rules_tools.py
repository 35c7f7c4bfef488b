"""`rpms rules learn MANUAL --from LOG`: what tools need, from the log of the guard that stood before them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rpms.cli.screen import say
from rpms.core.errors import InputError
from rpms.guard.guard import Guard
from rpms.guard.log import is_guard_log
from rpms.guard.python_facts import load_python
from rpms.guard.replay import tried
from rpms.learn.tool_rules import learn_tools
from rpms.store.evidence import counts_of, evidence_file


def learn_from_logs(manual: Path, logs: Sequence[Path], out: Path, python: Path | None = None) -> None:
    """Learn from the logs of a guard, over the facts that its manual declares, and say what was found."""
    if not manual.is_file():
        raise InputError(f"{manual}: with a guard's log, give the guard's manual instead of a world")
    if other := next((log for log in logs if not is_guard_log(log)), None):
        raise InputError(f"{other}: not a guard's log; learn from logs only, or from runs only")
    guard = Guard([manual], python=load_python(python) if python else None)
    result = learn_tools((each for log in logs for each in tried(guard, log)), manual, out)
    say(f"{out}: {len(result.needs)} needs, from {result.calls:,} calls of which {result.failed:,} failed")
    for claim in result.needs:
        say(f"  {claim.at[-1]} needs {claim.text}: {counts_of(claim)}")
    for claim in result.possible:
        say(f"  {claim.at[-1]} may need {claim.text}; it is not in the manual")
    if result.silent:
        say(f"nothing is known about tools that always worked or never did: {', '.join(result.silent)}")
    if not result.needs and not result.possible:
        say("no fact of the manual separates failures from successes; declare more facts or log more calls")
    for edit in result.edits:
        say(f"edited: {'/'.join((*edit.at, edit.key))}: {edit.text or 'it'} {edit.note}")
    say(f"evidence: {evidence_file(out)}")
