"""A person's word on learned lines: it is kept beside the manual, and the manual is changed at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rpms.core.errors import FileError, InputError
from rpms.foreign.shown import excerpt
from rpms.guard.manuals import read_tool_manual
from rpms.learn.rules.decided import apply
from rpms.learn.rules.write import yaml_text
from rpms.play.sources import universal_tier
from rpms.store.decisions import ReviewDecision, Reviewed, decisions_on, reviewed, write_decisions
from rpms.store.evidence import GUARD, Evidence, Label, evidence_of
from rpms.store.learned_manuals import manual_before, write_learned
from rpms.store.manuals import MANUAL, ManualText, read_manual
from rpms.store.yaml_files import read_yaml

_SHORTEST_ID = 4


def lines_of(manual: Path) -> list[Reviewed]:
    """Every claim of a learned manual with what was decided of it; an InputError where it was not learned."""
    rows = reviewed(evidence_of(manual), decisions_on(manual))
    return [row for row in rows if row.claim.label is not Label.EDITED]


def decide(manual: Path, choices: Mapping[str, bool], reason: str = "") -> list[str]:
    """Accept or reject lines by their ids, or beginnings of them. What was changed in the manual, in words."""
    evidence = evidence_of(manual)
    rows = lines_of(manual)
    known = {each.line: each for each in decisions_on(manual)}
    made = []
    for id_, accepted in choices.items():
        decision = _decision(evidence, _found(rows, id_), accepted, reason)
        known[decision.line] = decision
        made.append(decision)
    before = manual_before(manual)
    if before is None:
        raise InputError(f"{manual}: there is no such manual")
    written, _ = _changed(manual, before[0], made, evidence)
    text, said = _changed(manual, before[1], made, evidence)
    write_decisions(manual, known.values())  # the first, since learning keeps to it even if this ends here
    write_learned(manual, text, replace(evidence, written=written))
    return said


def _found(rows: list[Reviewed], id_: str) -> Reviewed:
    fit = [row for row in rows if row.claim.id.startswith(id_)] if len(id_) >= _SHORTEST_ID else []
    if len({row.claim.id for row in fit}) != 1:
        why = "fits several lines" if fit else "is no line's id"
        raise InputError(f"{excerpt(id_)!r} {why}; `rpms rules review MANUAL --list` prints them. Nothing was changed")
    return fit[0]


def _decision(evidence: Evidence, row: Reviewed, accepted: bool, reason: str) -> ReviewDecision:
    claim = row.claim
    syntax = next((each.text for each in evidence.of(*claim.at) if each.key == "syntax"), "")
    return ReviewDecision(claim.at, claim.key, claim.text, accepted, syntax, reason)


def _changed(manual: Path, text: str, decisions: list[ReviewDecision], evidence: Evidence) -> tuple[str, list[str]]:
    """A manual's text with decisions, comments and all; one that could not be read then is an InputError."""
    yaml = read_yaml(str(manual), text, MANUAL)
    said = apply(yaml.tree, decisions)
    if not said:
        return text, said
    text = yaml_text(yaml.tree)
    try:
        if evidence.settings.get(GUARD):
            read_tool_manual((str(manual), text))
        else:
            read_manual(universal_tier(), ManualText(str(manual), text, own=True))
    except FileError as error:
        raise InputError(
            f"{manual}: without that line it would have a mistake: {error.problem}. Nothing was changed"
        ) from None
    return text, said
