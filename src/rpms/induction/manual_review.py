"""Lines of manuals: compare two; list those of a learned one, take one out, put one in.

Edits survive learning.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.tool_manuals import TOOL_MANUAL, read_tool_manual
from rpms.induction.write import place_sentence
from rpms.logic.actions import PARAMETER, ActionSchema
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Clause
from rpms.logic.rules import Purpose, RuleManual
from rpms.play.sources import universal_tier
from rpms.store.evidence import GUARD, Claim, Evidence, Label, evidence_of
from rpms.store.files import change_text
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.manuals import MANUAL, read_manual
from rpms.store.yaml_files import plain, read_yaml, yaml_text

_GONE = object()
_SHORTEST_ID = 4  # Signs of an id that have to be given: fewer fit several lines
_WHOLE = ("syntax", "steps")  # Keys of claims that stand for a whole entry: an action, a procedure


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
    return [
        Reviewed(claim, _stands(tree, claim))
        for claim in evidence.claims
        if claim.label is not Label.EDITED
    ]


def decide(manual: Path, choices: Mapping[str, bool]) -> list[str]:
    """Put lines in (True) or take them out, by their ids; what changed, in words.

    A broken result is an InputError.
    """
    evidence = evidence_of(manual)
    try:
        before = manual_text(manual).text
        rows, tree = lines_of(manual), _tree(manual, before, evidence)
        written: Any = plain(_tree(manual, evidence.written, evidence))
    except FileError as error:
        raise InputError(f"{error}. Nothing was changed") from None
    said = []
    for id_, accepted in choices.items():
        claim = _found(rows, id_).claim
        if _stands(tree, claim) is not accepted:
            (_put_in if accepted else _take_out)(tree, claim, written)
            said.append(f"{'put in' if accepted else 'taken out'}: {claim.place}")
    if said:
        text = yaml_text(tree)
        try:
            _read(manual, text, evidence)
        except FileError as error:
            raise InputError(
                f"{manual}: would have a mistake: {error.problem}. Nothing was changed"
            ) from None
        change_text(manual, before, text)
    return said


def _tree(manual: Path, text: str, evidence: Evidence) -> Any:
    """The tree of a sound manual; an entry with nothing under its name is a mapping, and such a
    section is left out.
    """
    _read(manual, text, evidence)
    tree: Any = read_yaml(
        str(manual), text, TOOL_MANUAL if evidence.settings.get(GUARD) else MANUAL
    ).tree
    for section, entries in list(tree.items()):
        if entries is None:
            tree.pop(section)
        elif isinstance(entries, MutableMapping):
            entries.update({name: {} for name, entry in entries.items() if entry is None})
    return tree


def _read(manual: Path, text: str, evidence: Evidence) -> None:
    if evidence.settings.get(GUARD):
        read_tool_manual((str(manual), text))
    else:
        read_manual(universal_tier(), ManualText(str(manual), text, own=True))


def _found(rows: Iterable[Reviewed], id_: str) -> Reviewed:
    fit = [row for row in rows if row.claim.id.startswith(id_)] if len(id_) >= _SHORTEST_ID else []
    if len({row.claim.id for row in fit}) != 1:
        why = "fits several lines" if fit else "is no line's id"
        raise InputError(
            f"{excerpt(id_)!r} {why}; `rpms rules review MANUAL --all` prints them. Nothing was"
            " changed"
        )
    return fit[0]


def _listed(tree: MutableMapping[str, Any], claim: Claim) -> tuple[Any, str, str]:
    """The mapping and the key under which a claim's text is listed, and the text; an entry as a
    whole has no text.
    """
    section, name = claim.at[0], claim.at[-1]
    entries = tree.get(section, {})
    if claim.key in _WHOLE or section == "processes":
        return entries, name, ""
    if section == "localities":
        return entries, claim.key, claim.text
    entry = entries.get(name, {})
    if isinstance(entry, list):  # a tool of which only the arguments are told
        entries[name] = entry = {"args": entry}
    if isinstance(entry.get(claim.key), str):  # a string stands for a list of one
        entry[claim.key] = [entry[claim.key]]
    if section == "kinds" and isinstance(entry.get(claim.key), Mapping):
        one, _, other = claim.text.partition(", ")
        return entry[claim.key], one, other
    return entry, claim.key, claim.text


def _stands(tree: MutableMapping[str, Any], claim: Claim) -> bool:
    if claim.key == "forbids":
        return bool(_banning(tree, claim))
    entry, key, text = _listed(tree, claim)
    return key in entry if not text else any(_same(item, text) for item in entry.get(key) or ())


def _same(one: object, other: object) -> bool:
    """True if two conditions are equal but for the order of `a or b`."""
    return set(str(one).split(" or ")) == set(str(other).split(" or "))


def _banning(tree: MutableMapping[str, Any], claim: Claim) -> list[tuple[Any, str]]:
    """The rules that forbid an action under a condition, each with the group that holds it."""
    return [
        (rules, id_)
        for rules, id_, rule in _domain_rules(tree)
        for ban in rule.get("forbids", [])
        if ban["action"] == claim.at[-1]
        and (claim.key != "forbids" or list(ban.get("when", [])) == [claim.text])
    ]


def _domain_rules(tree: Mapping[str, Any]) -> list[tuple[Any, str, Any]]:
    """The rules of tier 2 that are more than a sentence, each with the group that holds it and
    its id.
    """
    groups = tree.get("domain", {}).values()
    return [
        (rules, id_, rule)
        for rules in groups
        for id_, rule in rules.items()
        if isinstance(rule, Mapping)
    ]


def _put_in(tree: MutableMapping[str, Any], claim: Claim, written: Mapping[str, Any]) -> None:
    if claim.at[0] == "localities":
        tree.setdefault("localities", {})  # a person may have taken it out
    entry, key, text = _listed(tree, claim)
    learned = written.get(claim.at[0], {}).get(claim.at[-1])
    gone = learned is None if not text else claim.at[-1] not in tree.get(claim.at[0], {})
    if claim.key == "forbids" or (gone and claim.at[0] != "localities"):
        raise InputError(
            f"{claim.place}: what it belongs to is not in the manual; write it in by hand"
        )
    if not text:
        entry[key] = learned
    else:
        entry.setdefault(key, []).append(text)
    keep_sentences(tree, claim)


def _take_out(tree: MutableMapping[str, Any], claim: Claim, _: Mapping[str, Any]) -> None:
    if claim.key == "forbids" or claim.key in _WHOLE:  # rules that forbid an action go with it
        for rules, id_ in _banning(tree, claim):
            rules.pop(id_)
    if claim.key == "forbids":
        return
    entry, key, text = _listed(tree, claim)
    if not text:
        entry.pop(key)
        return
    # of `one or other`, plans see to one
    alone = text.split(" or ") if key == "preconditions" else ()
    for name, gone in ((key, text), *(("plan", piece) for piece in alone)):
        left = [item for item in entry.get(name) or () if not _same(item, gone)]
        if left:
            entry[name] = left
        else:
            entry.pop(name, None)
    keep_sentences(tree, claim)


def keep_sentences(tree: MutableMapping[str, Any], claim: Claim) -> None:
    """Keep the sentences of tier 2, and a goal's variables, in step with what was changed."""
    if claim.at[0] == "goals":
        goal = tree["goals"][claim.at[-1]]
        said = " ".join(map(str, goal.get("holds", ())))
        goal["over"] = {
            name: field
            for name, field in goal["over"].items()
            if f"({name}" in said or f" {name}" in said
        }
        for rules, id_, rule in _domain_rules(tree):
            if id_.startswith("D-GOAL-") and rule.get("goals") in ([claim.at[-1]], claim.at[-1]):
                rules.pop(id_)
        if not said:
            tree["goals"].pop(claim.at[-1])
    if claim.at[0] == "localities":
        places = list(tree["localities"].get(claim.key, ()))
        for rules, id_, rule in _domain_rules(tree):
            if rule.get("category") == claim.key:
                rule.update(places=places, text=place_sentence(claim.key, places))
                if not places:
                    rules.pop(id_)


def with_edits(
    out: Path, kind: Any, before: tuple[str, str] | None, tree: Any
) -> tuple[Any, list[Claim]]:
    """A learned tree with what people changed in the manual at `out` since it was written, and
    these changes.
    """
    if before is None or before[0] == before[1]:
        return tree, []
    written, edited = (plain(read_yaml(str(out), text, kind).tree) for text in before)
    return merged(written, edited, plain(tree))


def merged(
    written: Any, edited: Any, learned: Any, at: tuple[str, ...] = ()
) -> tuple[Any, list[Claim]]:
    """The new manual's tree with the edits of the old one.

    `written`: the old one as learning wrote it.
    """
    if edited == written:
        return learned, []
    if edited is _GONE:
        return _merged_removal(written, learned, at)
    if isinstance(edited, Mapping) and (isinstance(learned, Mapping) or learned is _GONE):
        return _merged_mappings(written, edited, learned, at)
    if isinstance(edited, list) and isinstance(learned, list) and isinstance(written, list):
        return _merged_lists(written, edited, learned, at)
    return edited, [_note(at, str(edited), "written by hand")]


def _merged_removal(written: Any, learned: Any, at: tuple[str, ...]) -> tuple[Any, list[Claim]]:
    """What a person took out stays out; of a list, what was learned since comes in."""
    new = []
    if isinstance(learned, list) and isinstance(written, list):
        new = [item for item in learned if item not in written]
    return new or _GONE, [_note(at, "", "taken out by hand")]


def _merged_mappings(
    written: Any, edited: Mapping[str, Any], learned: Any, at: tuple[str, ...]
) -> tuple[dict[str, Any], list[Claim]]:
    """Entry by entry, those of the new manual first."""
    old = written if isinstance(written, Mapping) else {}
    new = learned if isinstance(learned, Mapping) else {}
    result: dict[str, Any] = {}
    notes: list[Claim] = []
    for key in dict.fromkeys((*new, *edited)):
        before = old.get(key, _GONE)
        after = edited.get(key, _GONE)
        found, said = merged(before, after, new.get(key, _GONE), (*at, key))
        if found is not _GONE:
            result[key] = found
        notes += said
    return result, notes


def _merged_lists(
    written: list[Any], edited: list[Any], learned: list[Any], at: tuple[str, ...]
) -> tuple[list[Any], list[Claim]]:
    """The learned items without those a person removed, and with those a person added."""
    added = [item for item in edited if item not in written]
    removed = [item for item in written if item not in edited]
    kept = [item for item in learned if item not in removed]
    kept += [item for item in added if item not in kept]
    notes = [_note(at, str(item), "added by hand") for item in added]
    notes += [_note(at, str(item), "taken out by hand") for item in removed]
    return kept, notes


def _note(at: tuple[str, ...], text: str, how: str) -> Claim:
    return Claim(at[:-1] or at, at[-1] if at else "", text, label=Label.EDITED, note=how)


class Relation(StrEnum):
    """Relation of the second manual to the first."""

    EQUAL = "equal"
    STRICTER = "stricter"  # It needs, forbids or wants more
    LOOSER = "looser"
    DIFFERENT = "different"
    ONLY_FIRST = "only in A"
    ONLY_SECOND = "only in B"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of both manuals (`=`), of the first alone (`-`) or of the second alone (`+`)."""

    sign: str
    part: (
        str  # Part of an action or a goal: needs, plan, effects, reveals, forbidden, wants, stages
    )
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An action, a goal or a procedure of one manual or both."""

    sort: str
    name: str  # A command as it is written, or the type of a goal
    relation: Relation
    lines: tuple[Line, ...] = ()


_Parts = Mapping[str, frozenset[str]]


def compare(first: RuleManual, second: RuleManual) -> list[Entry]:
    """Every action and goal of two manuals, with their lines."""
    sides = (_said(first), _said(second))
    return [
        _entry(*key, *(side.get(key) for side in sides))
        for key in dict.fromkeys((*sides[0], *sides[1]))
    ]


def _entry(sort: str, name: str, one: _Parts | None, other: _Parts | None) -> Entry:
    if one is None:
        return Entry(sort, name, Relation.ONLY_SECOND)
    if other is None:
        return Entry(sort, name, Relation.ONLY_FIRST)
    lines: list[Line] = []
    for part in one:
        texts = sorted(one[part] | other[part])
        lines += [Line(_sign(text, one[part], other[part]), part, text) for text in texts]
    return Entry(sort, name, _relation(lines), tuple(lines))


def _sign(text: str, one: Collection[str], other: Collection[str]) -> str:
    if text not in other:
        return "-"
    return "=" if text in one else "+"


def _relation(lines: Iterable[Line]) -> Relation:
    """Stricter or looser if only one of the two asks for more, whatever else differs."""
    differing = [line for line in lines if line.sign != "="]
    asked = {line.sign for line in differing if line.part in ("needs", "forbidden", "wants")}
    if asked == {"+"}:
        return Relation.STRICTER
    if asked == {"-"}:
        return Relation.LOOSER
    return Relation.DIFFERENT if differing else Relation.EQUAL


def _said(manual: RuleManual) -> dict[tuple[str, str], _Parts]:
    """Content of a manual, as texts that do not depend on names: by sort and name, part by part."""
    found: dict[tuple[str, str], _Parts] = {}
    for action in manual.actions:
        for syntax in action.syntax:
            names = {name: f"{place}" for place, name in enumerate(PARAMETER.findall(syntax), 1)}
            command = PARAMETER.sub(r"<{\1}>", syntax).format(**names)
            found["action", command] = _of_action(manual, action, names)
    for purpose in manual.purposes:
        part = "stages" if purpose.staged else "wants"
        for type_ in sorted(purpose.goals):
            name = " of ".join(filter(None, (type_, ", ".join(sorted(purpose.objects)))))
            found["procedure" if purpose.staged else "goal", name] = {
                part: frozenset(_of_purpose(purpose))
            }
    return found


def _of_action(manual: RuleManual, action: ActionSchema, names: Mapping[str, str]) -> _Parts:
    bans = [
        " and ".join(sorted((*map(str, rule.when), *_texts(manual, ban.when, names)))) or "always"
        for rule in manual.rules
        for ban in rule.forbids
        if ban.action == action.name
    ]
    return {
        "needs": frozenset(_texts(manual, action.preconditions, names)),
        "plan": frozenset(_texts(manual, action.plan, names)),
        "effects": frozenset(str(literal.bind(names)) for literal in action.effects),
        "reveals": frozenset(
            " if ".join((str(each.atom.bind(names)), *_texts(manual, each.given, names)))
            for each in action.observes
        ),
        "forbidden": frozenset(bans),
    }


def _texts(
    manual: RuleManual, clauses: Iterable[Clause], names: Mapping[str, str]
) -> Iterator[str]:
    """Conditions as texts; a table of kinds is told by the kinds that it rules out."""
    for clause in clauses:
        bound = clause.bind(names)
        kinds = manual.lore.kinds.get(clause.literals[0].atom.predicate)
        if kinds is None or len(clause.literals) > 1:
            yield " or ".join(sorted(map(str, bound.literals)))
        else:
            slots = ", ".join(bound.literals[0].atom.args)
            yield from (f"({slots}) is not ({', '.join(row)})" for row in kinds.no)


def _of_purpose(purpose: Purpose) -> tuple[str, ...]:
    """Texts of what a goal wants, variables called by their fields; of several ways, the first
    by the alphabet.
    """
    fields = {**purpose.over, **purpose.each}
    groups = [
        [name for name in fields if fields[name] == field]
        for field in dict.fromkeys(fields.values())
    ]
    ways = []
    for chosen in product(*map(permutations, groups)):
        names: dict[str, str] = {}
        for group in chosen:
            names |= {name: f"{fields[name]} {place}" for place, name in enumerate(group, 1)}
        ways.append(_stages_said(purpose, names))
    return tuple(min(ways, key=sorted))


def _stages_said(purpose: Purpose, names: Mapping[str, str]) -> list[str]:
    steps = [
        " and ".join(sorted(str(clause.bind(names)) for clause in step.until))
        for step in purpose.steps
    ]
    if purpose.staged:
        return [f"{place}. {text}" for place, text in enumerate(steps, 1)]
    return steps
