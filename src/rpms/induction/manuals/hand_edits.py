"""Edits by hand survive learning: what people changed in a manual is put into the next one.

Three trees are compared: the manual as learning wrote it, as it is now, and as it was learned
anew. The difference of the first two is what people did.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rpms.store.evidence import Claim, Label, ManualBefore
from rpms.store.yaml_files import plain, read_yaml

_GONE = object()
"""In place of what a tree does not have."""


class Merged(NamedTuple):
    """A learned tree with people's edits, and these edits."""

    tree: Any
    edits: list[Claim]


def with_edits(out: Path, kind: Any, before: ManualBefore | None, tree: Any) -> Merged:
    """A learned tree with what people changed in the manual at `out`.

    `kind`: what its file may hold.
    """
    if before is None or before.written == before.now:
        return Merged(tree, [])
    written = plain(read_yaml(str(out), before.written, kind).tree)
    edited = plain(read_yaml(str(out), before.now, kind).tree)
    return merged(written, edited, plain(tree))


def merged(written: Any, edited: Any, learned: Any, at: tuple[str, ...] = ()) -> Merged:
    """The new manual's tree with the edits of the old one.

    `written`: the old one as learning wrote it; `at`: the path to these values in the whole.
    """
    if edited == written:
        return Merged(learned, [])
    if edited is _GONE:
        return _merged_removal(written, learned, at)
    may_be_mapping = learned is _GONE or isinstance(learned, Mapping)
    if may_be_mapping and isinstance(edited, Mapping):
        return _merged_mappings(written, edited, learned, at)
    if all(isinstance(tree, list) for tree in (written, edited, learned)):
        return _merged_lists(written, edited, learned, at)
    return Merged(edited, [_note(at, str(edited), "written by hand")])


def _merged_removal(written: Any, learned: Any, at: tuple[str, ...]) -> Merged:
    """Leave out what a person took out; of a list, what was learned since comes in."""
    new = []
    if isinstance(learned, list) and isinstance(written, list):
        new = [item for item in learned if item not in written]
    return Merged(new or _GONE, [_note(at, "", "taken out by hand")])


def _merged_mappings(
    written: Any, edited: Mapping[str, Any], learned: Any, at: tuple[str, ...]
) -> Merged:
    """Entry by entry, those of the new manual first."""
    old = written if isinstance(written, Mapping) else {}
    new = learned if isinstance(learned, Mapping) else {}
    tree: dict[str, Any] = {}
    edits: list[Claim] = []
    for key in dict.fromkeys((*new, *edited)):
        before = old.get(key, _GONE)
        now = edited.get(key, _GONE)
        relearned = new.get(key, _GONE)
        entry = merged(before, now, relearned, (*at, key))
        edits += entry.edits
        if entry.tree is not _GONE:
            tree[key] = entry.tree
    return Merged(tree, edits)


def _merged_lists(
    written: list[Any], edited: list[Any], learned: list[Any], at: tuple[str, ...]
) -> Merged:
    """The learned items without those a person removed, and with those a person added."""
    added = _only_in(edited, written)
    removed = _only_in(written, edited)
    items = _only_in(learned, removed)
    items += _only_in(added, items)
    edits: list[Claim] = []
    for item in added:
        edits.append(_note(at, str(item), "added by hand"))
    for item in removed:
        edits.append(_note(at, str(item), "taken out by hand"))
    return Merged(items, edits)


def _only_in(one: list[Any], other: list[Any]) -> list[Any]:
    return [item for item in one if item not in other]


def _note(at: tuple[str, ...], text: str, how: str) -> Claim:
    """An edit, as evidence has it."""
    *section, key = at
    return Claim(tuple(section) or at, key, text, label=Label.EDITED, note=how)
