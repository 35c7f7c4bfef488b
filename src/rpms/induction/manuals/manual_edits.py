"""Edits of a manual: one line out, one line in, or both.

An edit is applied to a manual in memory, so that it can be tried; it is written into the manual's
file, where nothing else changes; and it leaves claims in the evidence of a learned manual.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rpms.induction.manuals.manual_review import keep_sentences
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.facts import Clause, Literal
from rpms.logic.rules import Purpose, Rule, RuleManual
from rpms.planning.trust import LinePart
from rpms.store.evidence import Claim, Label, Witness
from rpms.store.manuals import MANUAL
from rpms.store.yaml_files import manual_yaml, plain, read_yaml, with_list

PROCESS = "process "
"""Prefix of a process's name among lines: an action may be called the same."""

Line = Literal | Clause | Revelation


class Edit(NamedTuple):
    """A change of one list of a manual."""

    of: str  # The action, process (`process NAME`), goal or rule
    part: LinePart
    add: Line | None = None
    remove: str = ""
    last: bool = False  # True if a goal's new fact comes after the others

    @property
    def process(self) -> str:
        """The name of the process that it is about; empty if it is about anything else."""
        return self.of.removeprefix(PROCESS) if self.of.startswith(PROCESS) else ""

    def __str__(self) -> str:
        changes = []
        if self.remove:
            changes.append(f"remove {self.remove}")
        if self.add is not None:
            where = " last" if self.last else ""
            changes.append(f"add {self.add}{where}")
        return f"{self.of}, {self.part}: {', '.join(changes)}"


def apply(manual: RuleManual, edit: Edit) -> RuleManual:
    """The manual with an edit."""
    match edit.part:
        case LinePart.WANTS:
            purposes = tuple(_wanting(purpose, edit) for purpose in manual.purposes)
            return replace(manual, purposes=purposes)
        case LinePart.FORBIDS:
            rules = tuple(_permitting(rule, edit) for rule in manual.rules)
            return replace(manual, rules=rules)
    if edit.process:
        processes = tuple(_changed(one, edit.process, edit) for one in manual.lore.processes)
        return replace(manual, lore=replace(manual.lore, processes=processes))
    actions = tuple(_changed(one, edit.of, edit) for one in manual.actions)
    return replace(manual, actions=actions)


def _permitting(rule: Rule, edit: Edit) -> Rule:
    """A rule without the ban that an edit removes."""
    if rule.id != edit.of:
        return rule
    left = [ban for ban in rule.forbids if str(ban) != edit.remove]
    return replace(rule, forbids=tuple(left))


def _wanting(purpose: Purpose, edit: Edit) -> Purpose:
    """A goal with one more fact, before all the others or after them."""
    if purpose.name != edit.of or not isinstance(edit.add, Clause):
        return purpose
    new = replace(purpose.steps[0], until=(edit.add,))
    if edit.last:
        return replace(purpose, steps=(*purpose.steps, new))
    return replace(purpose, steps=(new, *purpose.steps))


def _changed(schema: ActionSchema, name: str, edit: Edit) -> ActionSchema:
    """An action or a process with an edit, where the edit is about the one of this name."""
    if schema.name != name:
        return schema
    match edit.part:
        case LinePart.NEEDS:
            return replace(schema, preconditions=_changed_lines(schema.preconditions, edit))
        case LinePart.DOES:
            return replace(schema, effects=_changed_lines(schema.effects, edit))
        case _:
            return replace(schema, observes=_changed_lines(schema.observes, edit))


def _changed_lines(lines: Sequence[Line], edit: Edit) -> tuple[Any, ...]:
    """Lines without the one that an edit removes, and with the one that it adds."""
    left = [line for line in lines if str(line) != edit.remove]
    if edit.add is not None:
        left.append(edit.add)
    return tuple(left)


class _ListInFile(NamedTuple):
    """The list of a manual's file that an edit changes."""

    path: tuple[str, ...]
    items: Sequence[Any]

    @property
    def entry(self) -> tuple[str, ...]:
        """Section and name of the entry that has the list."""
        return self.path[-3:-1]

    @property
    def key(self) -> str:
        return self.path[-1]


def write_edit(text: str, edit: Edit) -> str | None:
    """A manual's text with an edit, and nothing else changed; None where it does not hold what
    the edit is about.
    """
    found = _find_list(read_yaml("manual", text, MANUAL).tree, edit)
    if found is None:
        return None
    left: list[int | str] = []
    for index, item in enumerate(found.items):
        if not _is_removed(item, edit):
            left.append(index)
    removes_nothing = len(left) == len(found.items)
    if edit.remove and removes_nothing:
        return None
    if edit.add is None:
        return with_list(text, found.path, left)
    comes_first = edit.part is LinePart.WANTS and not edit.last
    if comes_first:
        return with_list(text, found.path, [str(edit.add), *left])
    return with_list(text, found.path, [*left, str(edit.add)])


def _find_list(tree: Mapping[str, Any], edit: Edit) -> _ListInFile | None:
    """The list that an edit changes; None where a manual's file has no such entry."""
    match edit.part:
        case LinePart.WANTS:
            return _list_of_entry(tree, ("goals", edit.of), "holds")
        case LinePart.FORBIDS:
            return _list_of_bans(tree, edit.of)
    if edit.process:
        return _list_of_entry(tree, ("processes", edit.process), _key_of(edit))
    return _list_of_entry(tree, ("environment", edit.of), _key_of(edit))


def _key_of(edit: Edit) -> str:
    """Name of a list of an action or a process in a manual's file."""
    match edit.part:
        case LinePart.NEEDS:
            return "needs" if edit.process else "preconditions"
        case LinePart.DOES:
            return "effects"
        case _:
            return "observes"


def _list_of_bans(tree: Mapping[str, Any], rule: str) -> _ListInFile | None:
    """The bans of a rule. Rules of tier 2 are written in groups."""
    groups = tree.get("domain") or {}
    for group, rules in groups.items():
        if isinstance(rules, dict) and rule in rules:
            return _list_of_entry(tree, ("domain", group, rule), "forbids")
    return None


def _list_of_entry(tree: Any, path: tuple[str, ...], key: str) -> _ListInFile | None:
    """A list of an entry, which may be empty; None where there is no such entry."""
    entry = tree
    for name in path:
        entry = (entry or {}).get(name)
    if not isinstance(entry, dict):
        return None
    listed = entry.get(key) or []
    items = [listed] if isinstance(listed, str) else listed
    return _ListInFile((*path, key), items)


def _is_removed(item: Any, edit: Edit) -> bool:
    """True for the line of a manual's file that an edit removes."""
    return _without_spaces(_text_of(item)) == _without_spaces(edit.remove)


def _text_of(item: Any) -> str:
    """A line of a manual's file; a ban as it is said."""
    if not isinstance(item, dict):
        return str(item)
    if item.get("when"):
        return f"{item['action']} when {' and '.join(item['when'])}"
    return f"{item['action']} always"


def _without_spaces(text: str) -> str:
    """A line without spaces and quotes, which may be set in more than one way."""
    return "".join(text.replace('"', "").split())


def _claims_of_edit(
    tree: Mapping[str, Any], edit: Edit, where: Sequence[Witness]
) -> Iterator[Claim]:
    """The lines that an edit takes out of a learned manual and puts in.

    `where`: the steps in play that it foretells.
    """
    found = _find_list(tree, edit)
    if found is None:
        return
    witnesses = tuple(where[: LIMITS.witnesses])
    note = f"mended: {edit} (it surprised {len(where)} times in play)"
    for item in found.items:
        if _is_removed(item, edit):
            yield replace(
                _claim_of_line(found, item),
                label=Label.TAKEN_OUT,
                against=len(where),
                counterexamples=witnesses,
                note=note,
            )
    if edit.add is None:
        return
    added = Claim(found.entry, found.key, str(edit.add), witnesses=witnesses, note=note)
    if edit.part is LinePart.NEEDS:
        yield replace(added, label=Label.NECESSARY, decisive=len(where))
    else:
        yield replace(added, confirmed=len(where))


def _claim_of_line(found: _ListInFile, item: Any) -> Claim:
    """The claim of a line. Of a ban it belongs to the action that is forbidden."""
    if isinstance(item, dict):
        return Claim(("environment", item["action"]), found.key, " and ".join(item["when"]))
    return Claim(found.entry, found.key, str(item))


class MendedTree(NamedTuple):
    """A learned manual's tree with edits that passed, and the lines that they change."""

    tree: Any
    claims: list[Claim]


def mended(tree: Any, edits: Mapping[Edit, Sequence[Witness]]) -> MendedTree:
    """Apply edits that passed to a learned manual's tree, as far as it holds what they are about.

    `edits`: each with the steps in play that it foretells.
    """
    claims: list[Claim] = []
    for edit, where in edits.items():
        text = write_edit(manual_yaml(tree), edit)
        if text is None:
            continue
        changed = list(_claims_of_edit(tree, edit, where))
        tree = plain(read_yaml("the learned manual", text, MANUAL).tree)
        for claim in changed:
            keep_sentences(tree, claim)
        claims += changed
    return MendedTree(tree, claims)
