"""What a person decided of a learned manual's lines, in a file beside it: `manual.yaml` has `manual.decisions.jsonl`.

The first line is the header, every other line a decision. Learning reads it and keeps to it: a line that was rejected
stays out of the manual, one that was accepted stays in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from rpms.core.errors import FileError
from rpms.core.facts import parse_clause, parse_literal
from rpms.foreign.files import is_there
from rpms.foreign.json_text import NotJson, Text, first_mistake, loads
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.foreign.shown import excerpt
from rpms.store.evidence import Claim, Evidence, about
from rpms.store.files import read_text, write_whole

SUFFIX = ".decisions.jsonl"


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A person's word on one line. `at`, `key` and `text` are those of its claim."""

    at: tuple[str, ...]
    key: str
    text: str
    accepted: bool
    syntax: str = ""
    """Of a line about an action: how its command was written, by which it is found where it is called otherwise."""
    reason: str = ""

    @property
    def line(self) -> tuple[str, ...]:
        """Which line it is about."""
        return about(self.at, self.key, self.text)


class Reviewed(NamedTuple):
    """A claim, and what was decided of it."""

    claim: Claim
    decision: ReviewDecision | None

    @property
    def stands(self) -> bool:
        """Whether it is a line of the manual."""
        return self.claim.stands if self.decision is None else self.decision.accepted

    @property
    def word(self) -> str:
        """The decision in a word."""
        return "open" if self.decision is None else "accepted" if self.decision.accepted else "rejected"


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    type: Literal["decisions"]
    version: Literal[1]


class _Decision(BaseModel):
    model_config = ConfigDict(extra="forbid")
    type: Literal["decision"]
    at: tuple[Text, ...]
    key: Text
    text: Text
    accepted: bool
    syntax: Text = ""
    reason: Text = ""


def decisions_file(manual: Path) -> Path:
    """Where the decisions on a manual are."""
    return manual.with_suffix("").with_name(manual.with_suffix("").name + SUFFIX)


def decisions_on(manual: Path) -> tuple[ReviewDecision, ...]:
    """The decisions on a manual, none where there is no such file; a mistake in it is a FileError with its line."""
    file = decisions_file(manual)
    if not is_there(file):
        return ()
    found: dict[tuple[str, ...], ReviewDecision] = {}
    headed = False
    for number, line in enumerate(read_text(file, LARGEST_MEMORY).splitlines(), 1):
        try:
            row = loads(line)
            if not headed:
                _Header.model_validate(row)
                headed = True
                continue
            form = dict(_Decision.model_validate(row))
        except NotJson as error:
            raise FileError(file, number, f"is no decision: {error}") from None
        except ValidationError as error:
            raise FileError(file, number, f"is no decision: {first_mistake(error)}") from None
        form.pop("type")
        decision = ReviewDecision(**form)
        try:
            _check(decision)
        except ValueError as error:
            raise FileError(file, number, f"is no decision: {excerpt(error)}") from None
        if decision.line in found:
            raise FileError(file, number, f"{excerpt(decision.text)} is decided more than once; leave one of the lines")
        found[decision.line] = decision
    if not headed:
        raise FileError(file, 1, "is empty: `rpms rules review` writes it")
    return tuple(found.values())


def _check(decision: ReviewDecision) -> None:
    """Raise a ValueError for what no line of a manual can say."""
    if not decision.at:
        raise ValueError("it does not say what it is about")
    if decision.key == "observes":
        seen, _, given = decision.text.partition(" if ")
        parse_literal(seen)
        if given:
            parse_clause(given)
    elif decision.key in ("preconditions", "plan", "needs", "effects", "forbids", "holds"):
        parse_clause(decision.text)


def write_decisions(manual: Path, decisions: Iterable[ReviewDecision]) -> None:
    """Write the file, whole or not at all."""
    rows: list[dict[str, object]] = [{"type": "decisions", "version": 1}]
    for decision in decisions:
        told = {name: value for name, value in asdict(decision).items() if value or name not in ("syntax", "reason")}
        rows.append({"type": "decision", **told})
    write_whole(decisions_file(manual), "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def reviewed(evidence: Evidence, decisions: Iterable[ReviewDecision]) -> list[Reviewed]:
    """Every claim with what was decided of it."""
    known = {decision.line: decision for decision in decisions}
    return [Reviewed(claim, known.get(about(claim.at, claim.key, claim.text))) for claim in evidence.claims]
