"""A learned manual and its evidence; a difference from what was written is a person's edit.

Whoever writes the two files may be killed in between: while a manual is being replaced, the evidence names the new
text. Afterwards both files depend on what was learned alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rpms.core.errors import InputError
from rpms.foreign.files import is_there
from rpms.store.evidence import Evidence, evidence_file, read_evidence, write_evidence
from rpms.store.files import remove_leftovers, write_whole
from rpms.store.manuals import manual_text


def manual_before(manual: Path) -> tuple[str, str] | None:
    """A manual's text as it was written and as it is now; None where there is none, an InputError for another's."""
    if not is_there(manual):
        return None
    if not is_there(evidence_file(manual)):
        raise InputError(f"{manual}: is there already and was not learned; choose another --out")
    evidence, now = read_evidence(evidence_file(manual)), manual_text(manual).text
    return (evidence.replaced_written if now == evidence.replaced else evidence.written), now


def write_learned(manual: Path, text: str, evidence: Evidence) -> None:
    """Write a manual and its evidence, and remove what killed processes left half written of either."""
    remove_leftovers(manual.parent, manual.stem)
    before, file = manual_before(manual), evidence_file(manual)
    if before is not None and before[1] != text:
        written, now = before
        write_evidence(file, replace(evidence, replaced=now, replaced_written=written))
        write_whole(manual, text)
    write_evidence(file, replace(evidence, replaced="", replaced_written=""))
    if before is None:
        write_whole(manual, text)
