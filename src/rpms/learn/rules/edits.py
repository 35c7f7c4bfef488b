"""What a person changed in a learned manual, laid over what is learned now: edits win, and it is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rpms.store.evidence import Claim, Label

_GONE = object()


def merged(written: Any, edited: Any, learned: Any, at: tuple[str, ...] = ()) -> tuple[Any, list[Claim]]:
    """The new manual's tree with the edits of the old one. `written`: the old one as learning wrote it."""
    if edited == written:
        return learned, []
    if isinstance(edited, Mapping) and (isinstance(learned, Mapping) or learned is _GONE):
        return _merged_mappings(written, edited, learned if isinstance(learned, Mapping) else {}, at)
    if isinstance(edited, list) and isinstance(learned, list) and isinstance(written, list):
        added = [item for item in edited if item not in written]
        removed = [item for item in written if item not in edited]
        kept = [item for item in learned if item not in removed]
        notes = [_note(at, str(item), "added by hand") for item in added]
        notes += [_note(at, str(item), "taken out by hand") for item in removed]
        return [*kept, *(item for item in added if item not in kept)], notes
    return edited, [_note(at, str(edited), "written by hand")]


def _merged_mappings(
    written: Any, edited: Mapping[str, Any], learned: Mapping[str, Any], at: tuple[str, ...]
) -> tuple[dict[str, Any], list[Claim]]:
    before: Mapping[str, Any] = written if isinstance(written, Mapping) else {}
    result: dict[str, Any] = {}
    notes: list[Claim] = []
    for key in dict.fromkeys((*learned, *edited)):
        if key not in edited:
            if key in before:
                notes.append(_note((*at, key), "", "taken out by hand"))
            else:
                result[key] = learned[key]
            continue
        if key in before and edited[key] == before[key]:
            if key in learned:
                result[key] = learned[key]
            continue
        value, said = merged(before.get(key, _GONE), edited[key], learned.get(key, _GONE), (*at, key))
        result[key] = value
        notes += said
    return result, notes


def _note(at: tuple[str, ...], text: str, how: str) -> Claim:
    return Claim(at[:-1] or at, at[-1] if at else "", text, label=Label.EDITED, note=how)
