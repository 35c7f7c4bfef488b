"""Lines of a learned manual under review: list them, take one out, put one in."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.tool_manuals import TOOL_MANUAL, read_tool_manual
from rpms.induction.manuals.write import place_sentence
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import parse_clause
from rpms.play.sources import universal_tier
from rpms.store.evidence import GUARD, Claim, Evidence, Label, evidence_of
from rpms.store.files import change_text
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.manuals import MANUAL, read_manual
from rpms.store.yaml_files import plain, read_yaml, yaml_text

_SHORTEST_ID = 4  # Signs of an id that have to be given: fewer fit several lines
_WHOLE = ("syntax", "steps")  # Keys of claims that stand for a whole entry: an action, a procedure

_Tree = MutableMapping[str, Any]


class Reviewed(NamedTuple):
    """A claim, and if it is a line of the manual as it is now."""

    claim: Claim
    stands: bool

    @property
    def decided(self) -> bool:
        """True if a person has changed it: what learning put in is out, or the other way round."""
        return self.stands is not self.claim.stands


def lines_of(manual: Path) -> list[Reviewed]:
    """Every claim of a learned manual; an InputError where it was not learned."""
    evidence = evidence_of(manual)
    tree = _tree(manual, manual_text(manual).text, evidence)
    claims = [claim for claim in evidence.claims if claim.label is not Label.EDITED]
    return [Reviewed(claim, _stands(tree, claim)) for claim in claims]


def decide(manual: Path, choices: Mapping[str, bool]) -> list[str]:
    """Put lines in (True) or take them out, by their ids; what changed, in words.

    A broken result is an InputError.
    """
    evidence = evidence_of(manual)
    try:
        before = manual_text(manual).text
        rows = lines_of(manual)
        tree = _tree(manual, before, evidence)
        written: Any = plain(_tree(manual, evidence.written, evidence))
    except FileError as error:
        raise InputError(f"{error}. Nothing was changed") from None
    changes: list[str] = []
    for id_, accepted in choices.items():
        claim = _line_of_id(rows, id_).claim
        if _stands(tree, claim) is accepted:
            continue
        if accepted:
            _put_in(tree, claim, written)
            changes.append(f"put in: {claim.place}")
        else:
            _take_out(tree, claim)
            changes.append(f"taken out: {claim.place}")
    if changes:
        _write(manual, before, yaml_text(tree), evidence)
    return changes


def _write(manual: Path, before: str, text: str, evidence: Evidence) -> None:
    """Write a manual, once it is known to have no mistake. `before`: its text as it was read."""
    try:
        _check(manual, text, evidence)
    except FileError as error:
        raise InputError(
            f"{manual}: would have a mistake: {error.problem}. Nothing was changed"
        ) from None
    change_text(manual, before, text)


def _tree(manual: Path, text: str, evidence: Evidence) -> Any:
    """The tree of a sound manual; an entry with nothing under its name is a mapping, and such a
    section is left out.
    """
    _check(manual, text, evidence)
    kind = TOOL_MANUAL if evidence.settings.get(GUARD) else MANUAL
    tree: Any = read_yaml(str(manual), text, kind).tree
    for section, entries in list(tree.items()):
        if entries is None:
            tree.pop(section)
        elif isinstance(entries, MutableMapping):
            for name, entry in list(entries.items()):
                if entry is None:
                    entries[name] = {}
    return tree


def _check(manual: Path, text: str, evidence: Evidence) -> None:
    """Read a manual for its mistakes; a FileError names the first."""
    if evidence.settings.get(GUARD):
        read_tool_manual((str(manual), text))
    else:
        read_manual(universal_tier(), ManualText(str(manual), text, own=True))


def _line_of_id(rows: Iterable[Reviewed], id_: str) -> Reviewed:
    """The one line whose id begins so."""
    fit: list[Reviewed] = []
    if len(id_) >= _SHORTEST_ID:
        fit = [row for row in rows if row.claim.id.startswith(id_)]
    ids = {row.claim.id for row in fit}
    if len(ids) != 1:
        why = "fits several lines" if fit else "is no line's id"
        raise InputError(
            f"{excerpt(id_)!r} {why}; `rpms rules review MANUAL --all` prints them. Nothing was"
            " changed"
        )
    return fit[0]


class _LineInTree(NamedTuple):
    """The line of a claim in a tree: a list under a key, and the text in this list.

    A claim about a whole entry has no text: it stands if there is the key.
    """

    mapping: Any
    key: str
    text: str = ""

    @property
    def is_there(self) -> bool:
        if not self.text:
            return self.key in self.mapping
        return any(_say_the_same(item, self.text) for item in self.mapping.get(self.key) or ())

    def put(self) -> None:
        self.mapping.setdefault(self.key, []).append(self.text)

    def drop(self) -> None:
        """Take the text out of the list, and the list out once it is empty."""
        items = self.mapping.get(self.key) or ()
        left = [item for item in items if not _say_the_same(item, self.text)]
        if left:
            self.mapping[self.key] = left
        else:
            self.mapping.pop(self.key, None)


def _say_the_same(one: object, other: object) -> bool:
    """True if two conditions are equal but for the order of `a or b`."""
    return set(str(one).split(" or ")) == set(str(other).split(" or "))


def _find_line(tree: _Tree, claim: Claim) -> _LineInTree:
    """Find the line of a claim, which need not be there. Short forms of lists are written out."""
    entries = tree.get(claim.section, {})
    if claim.key in _WHOLE or claim.section == "processes":
        return _LineInTree(entries, claim.owner)
    if claim.section == "localities":
        return _LineInTree(entries, claim.key, claim.text)
    entry = _written_out(entries, claim)
    is_pair = claim.section == "kinds" and isinstance(entry.get(claim.key), Mapping)
    if not is_pair:
        return _LineInTree(entry, claim.key, claim.text)
    one, _, other = claim.text.partition(", ")
    return _LineInTree(entry[claim.key], one, other)


def _written_out(entries: Any, claim: Claim) -> Any:
    """The entry of a claim, with a list where a short form stood for one; empty if there is
    none.
    """
    entry = entries.get(claim.owner, {})
    if isinstance(entry, list):  # a tool of which only the arguments are told
        entry = {"args": entry}
        entries[claim.owner] = entry
    if isinstance(entry.get(claim.key), str):  # a string stands for a list of one
        entry[claim.key] = [entry[claim.key]]
    return entry


def _stands(tree: _Tree, claim: Claim) -> bool:
    """True if a claim is a line of the manual."""
    if claim.key == "forbids":
        return any(rule.forbids(claim.owner, claim.text) for rule in _domain_rules(tree))
    return _find_line(tree, claim).is_there


class _DomainRule(NamedTuple):
    """A rule of tier 2 that is more than a sentence, with the group that holds it."""

    group: _Tree
    id: str
    entry: _Tree

    def forbids(self, action: str, condition: str | None = None) -> bool:
        """True if it forbids an action, under just this condition where one is given."""
        for ban in self.entry.get("forbids", []):
            if ban["action"] != action:
                continue
            if condition is None or list(ban.get("when", [])) == [condition]:
                return True
        return False

    def remove(self) -> None:
        self.group.pop(self.id)


def _domain_rules(tree: Mapping[str, Any]) -> Iterator[_DomainRule]:
    for group in tree.get("domain", {}).values():
        for id_, entry in list(group.items()):
            if isinstance(entry, MutableMapping):
                yield _DomainRule(group, id_, entry)


def _put_in(tree: _Tree, claim: Claim, written: Mapping[str, Any]) -> None:
    """Put a line in. `written`: the manual as learning wrote it, which has whole entries."""
    entries = tree.setdefault(claim.section, {})  # a person may have taken it out
    line = _find_line(tree, claim)
    if line.text:
        has_owner = claim.owner in entries or claim.section == "localities"
    else:
        has_owner = claim.owner in written.get(claim.section, {})
    if claim.key == "forbids" or not has_owner:
        raise InputError(
            f"{claim.place}: what it belongs to is not in the manual; write it in by hand"
        )
    if line.text:
        line.put()
    else:
        line.mapping[line.key] = written[claim.section][claim.owner]
    keep_sentences(tree, claim)


def _take_out(tree: _Tree, claim: Claim) -> None:
    """Take a line out, and what cannot do without it."""
    action = claim.owner
    if claim.key == "forbids":
        _remove_bans(tree, action, claim.text)
        return
    if claim.key in _WHOLE:
        _remove_bans(tree, action)
    line = _find_line(tree, claim)
    if not line.text:
        line.mapping.pop(line.key)
        return
    line.drop()
    if line.key == "preconditions":  # of `one or other`, plans see to one
        for alternative in line.text.split(" or "):
            _LineInTree(line.mapping, "plan", alternative).drop()
    keep_sentences(tree, claim)


def _remove_bans(tree: _Tree, action: str, condition: str | None = None) -> None:
    """Remove the rules that forbid an action, under just this condition where one is given."""
    for rule in _domain_rules(tree):
        if rule.forbids(action, condition):
            rule.remove()


def keep_sentences(tree: _Tree, claim: Claim) -> None:
    """Keep the sentences of tier 2, and a goal's variables, in step with what was changed."""
    if claim.section == "goals":
        _keep_goal(tree, claim.owner)
    if claim.section == "localities":
        _keep_places(tree, claim.key)


def _keep_goal(tree: _Tree, type_: str) -> None:
    """Remove variables that no fact of a goal names any more, and the sentence about the goal."""
    goal = tree["goals"][type_]
    facts = goal.get("holds", ())
    named: set[str] = set()
    for fact in facts:
        named.update(parse_clause(str(fact)).names)
    over = {}
    for name, field in goal["over"].items():
        if name in named:
            over[name] = field
    goal["over"] = over
    for rule in _domain_rules(tree):
        if rule.id.startswith("D-GOAL-") and rule.entry.get("goals") in ([type_], type_):
            rule.remove()
    if not facts:
        tree["goals"].pop(type_)


def _keep_places(tree: _Tree, kind: str) -> None:
    """Say in tier 2 where things of a kind are now; nothing where they are nowhere."""
    places = list(tree["localities"].get(kind, ()))
    for rule in _domain_rules(tree):
        if rule.entry.get("category") != kind:
            continue
        rule.entry.update(places=places, text=place_sentence(kind, places))
        if not places:
            rule.remove()
