"""What a person decided, laid over a manual's tree: what was rejected is taken out, what was accepted is put in.

Induction knows nothing of it. A rejected need goes on explaining the refusals that it explains: without it, others
would be found in its place that only happened to be so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from rpms.core.facts import parse_clause
from rpms.core.rules import PARAMETER, Predicate
from rpms.learn.rules.wins import FIELDS
from rpms.learn.rules.write import place_sentence, wanted_sentence
from rpms.store.decisions import ReviewDecision, Reviewed, reviewed
from rpms.store.evidence import Claim, Evidence, Label

Tree = MutableMapping[str, Any]
_ON_THE_WAY = " On the way there"


def apply(tree: Tree, decisions: Iterable[ReviewDecision]) -> list[str]:
    """Change a manual's tree in place; what was changed, and what could not be, in words."""
    said = []
    for decision in decisions:
        verb = _apply(tree, decision)
        if verb:
            said.append(f"{verb}: {'/'.join((*decision.at, decision.key, decision.text))}")
    return said


def counted(decisions: Iterable[ReviewDecision]) -> list[str]:
    """How many decisions learning keeps to; nothing where there are none."""
    every = [decision.accepted for decision in decisions]
    return [f"{sum(every)} lines accepted, {len(every) - sum(every)} rejected"] if every else []


def _apply(tree: Tree, decision: ReviewDecision) -> str:
    before = _apply_to.get(decision.at[0] if decision.at else "")
    if before is None:
        return "cannot be applied"
    done = before(tree, decision)
    if done is None:
        return "could not be kept in, since what it belongs to was not learned"
    return ("kept in" if decision.accepted else "kept out") if done else ""


# Each returns whether something changed, or None where something accepted has no place to stand.

_Change = bool | None


def _of_action(tree: Tree, decision: ReviewDecision) -> _Change:
    section, name = decision.at[0], decision.at[-1]
    entry = tree.get(section, {}).get(name)
    if decision.key == "forbids":
        return _forbidding(tree, name, decision)
    if entry is None:
        return None if decision.accepted else False
    if isinstance(entry, list):  # a tool of which only the arguments are told
        tree[section][name] = entry = {"args": entry}
    if decision.key == "syntax":
        return not decision.accepted and _without_action(tree, name)
    if decision.key in ("preconditions", "plan"):
        return _of_needs(entry, decision)
    return _in_list(entry, decision.key, decision)


def _of_needs(entry: Tree, decision: ReviewDecision) -> bool:
    """A condition stands among the preconditions, or among what plans see to."""
    if not decision.accepted:
        changed = [_in_list(entry, key, decision) for key in ("preconditions", "plan")]
        alone = [replace(decision, text=piece) for piece in decision.text.split(" or ")]
        return any(
            [*changed, *(_in_list(entry, "plan", each) for each in alone)]
        )  # of `one or other`, plans see to one
    if _has(entry.get("preconditions", []), decision.text):
        return False
    changed = [_in_list(entry, decision.key, decision)]
    if decision.key == "preconditions":
        _in_list(entry, "plan", replace(decision, accepted=False))
    return any(changed)


def _pieces(text: object) -> frozenset[str]:
    return frozenset(str(text).split(" or "))


def _has(items: Iterable[object], text: str) -> bool:
    return any(_pieces(item) == _pieces(text) for item in items)


def _in_list(entry: Tree, key: str, decision: ReviewDecision) -> bool:
    """Put a text into a list of an entry, or take it out of it."""
    items = entry.get(key, [])
    if _has(items, decision.text) is decision.accepted:
        return False
    if decision.accepted:
        entry.setdefault(key, []).append(decision.text)
        return True
    for item in [item for item in items if _pieces(item) == _pieces(decision.text)]:
        items.remove(item)
    if not items:
        entry.pop(key)
    return True


def _without_action(tree: Tree, name: str) -> bool:
    """Take out an action with all that speaks of it."""
    entry = tree["environment"].pop(name)
    syntax = entry["syntax"] if isinstance(entry["syntax"], str) else entry["syntax"][0]
    processes = tree.get("processes", {})
    for process in [each for each in processes if _template(processes[each].get("command", "")) == _template(syntax)]:
        processes.pop(process)
    for rules, id_ in _banning(tree, name):
        rules.pop(id_)
    return True


def _template(syntax: str) -> str:
    return PARAMETER.sub("<>", syntax)


def _rules(tree: Tree) -> Iterator[tuple[Tree, str, Any]]:
    """Every rule of tier 2 that is more than a sentence, with the group that holds it."""
    for rules in list(tree.get("domain", {}).values()):
        for id_, rule in list(rules.items()):
            if isinstance(rule, Mapping):
                yield rules, id_, rule


def _banning(tree: Tree, action: str, text: str = "") -> list[tuple[Tree, str]]:
    return [
        (rules, id_)
        for rules, id_, rule in _rules(tree)
        for ban in rule.get("forbids", [])
        if ban["action"] == action and (not text or list(map(_pieces, ban.get("when", []))) == [_pieces(text)])
    ]


def _forbidding(tree: Tree, name: str, decision: ReviewDecision) -> _Change:
    found = _banning(tree, name, decision.text)
    if bool(found) is decision.accepted:
        return False
    if decision.accepted:
        if name not in tree.get("environment", {}):
            return None
        rules = tree.setdefault("domain", {}).setdefault("ruin", {})
        id_ = next(id_ for number in range(1, 1000) if (id_ := f"D-RUIN-{number:03}") not in rules)
        rules[id_] = {
            "text": f"Never {name} while this holds: {decision.text}. It ended the task for good.",
            "forbids": [{"action": name, "when": [decision.text]}],
        }
        return True
    for rules, id_ in found:
        rules.pop(id_)
    return True


def _of_process(tree: Tree, decision: ReviewDecision) -> _Change:
    processes = tree.get("processes", {})

    def fits(name: str) -> bool:
        return _has(processes[name].get(decision.key, []), decision.text)

    name = decision.at[-1] if decision.at[-1] in processes and fits(decision.at[-1]) else None
    if decision.accepted:
        return None if name is None else False
    if name is not None:
        processes.pop(name)
    return name is not None


def _of_kinds(tree: Tree, decision: ReviewDecision) -> _Change:
    """Kinds stand in a list, or of two arguments in a list under the first of them."""
    table = tree.get("kinds", {}).get(decision.at[-1])
    if table is None or decision.key not in ("yes", "no"):
        return None if decision.accepted else False
    other = "no" if decision.key == "yes" else "yes"
    if decision.accepted:
        _kinds_in(table, other, replace(decision, accepted=False))
    return _kinds_in(table, decision.key, decision)


def _kinds_in(table: Tree, key: str, decision: ReviewDecision) -> bool:
    nested = any(isinstance(table.get(each), Mapping) for each in ("yes", "no"))
    if not nested:
        return _in_list(table, key, decision)
    one, _, second = decision.text.partition(", ")
    rows = table.get(key)
    if not isinstance(rows, MutableMapping):
        table[key] = rows = {}
    return _in_list(rows, one, replace(decision, text=second))


def _of_table(tree: Tree, decision: ReviewDecision) -> _Change:
    """What scored stands under the kind of place that it scored in."""
    table = tree.get("facts", {}).get(decision.at[-1])
    if table is None:
        return None if decision.accepted else False
    return _in_list(table, decision.key, decision)


def _of_place(tree: Tree, decision: ReviewDecision) -> _Change:
    """Where things are stands in `localities`, and in a sentence of tier 2 with the same places."""
    kind = decision.key
    changed = _in_list(tree.setdefault("localities", {}), kind, decision)
    places = list(tree["localities"].get(kind, []))
    for rules, id_, rule in _rules(tree) if changed else ():
        if rule.get("category") == kind and rule.get("places"):
            if places:
                rule["places"], rule["text"] = places, place_sentence(kind, places)
            else:
                rules.pop(id_)
    return changed


def _of_goal(tree: Tree, decision: ReviewDecision) -> _Change:
    goal = tree.get("goals", {}).get(decision.at[-1])
    if goal is None:
        return None if decision.accepted else False
    if not _in_list(goal, "holds", decision):
        return False
    type_, holds = decision.at[-1], goal.get("holds", [])
    clauses = [parse_clause(text) for text in holds]
    used = [arg for clause in clauses for literal in clause.literals for arg in literal.atom.args]
    fields = {name: field for field, names in FIELDS.items() for name in names}
    over = {**{name: fields[name] for name in used if name in fields}, **goal["over"]}
    goal["over"] = {name: field for name, field in over.items() if name in used}
    for rules, id_, rule in _rules(tree):
        if list(rule.get("goals", [])) != [type_] or not id_.startswith("D-GOAL-"):
            continue
        if holds:
            _, way, rest = str(rule["text"]).partition(_ON_THE_WAY)
            rule["text"] = wanted_sentence(clauses, _predicates(tree)) + way + rest
        else:
            rules.pop(id_)
    if not holds:
        tree["goals"].pop(type_)
    return True


def _of_procedure(tree: Tree, decision: ReviewDecision) -> _Change:
    """A procedure stands or falls as a whole; without it, plans go by what the goal wants."""
    procedures = tree.get("procedures", {})
    if decision.accepted:
        return False if decision.at[-1] in procedures else None
    if procedures.pop(decision.at[-1], None) is None:
        return False
    if not procedures:
        tree.pop("procedures")
    return True


def _predicates(tree: Tree) -> dict[str, Predicate]:
    return {
        name: Predicate(name, tuple(each.get("args", ())), each.get("yes", ""), each.get("no", ""))
        for name, each in tree.get("predicates", {}).items()
    }


_apply_to: dict[str, Callable[[Tree, ReviewDecision], _Change]] = {
    "environment": _of_action,
    "tools": _of_action,
    "processes": _of_process,
    "kinds": _of_kinds,
    "localities": _of_place,
    "facts": _of_table,
    "goals": _of_goal,
    "procedures": _of_procedure,
}


# Between one learning and the next.


def in_names_of(tree: Mapping[str, Any], decisions: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    """The decisions with what actions and their parameters are called in a tree: commands tell which is which."""
    names: dict[str, tuple[str, list[str]]] = {}
    for name, entry in tree.get("environment", {}).items():
        for syntax in [entry["syntax"]] if isinstance(entry["syntax"], str) else entry["syntax"]:
            names[_template(syntax)] = (name, PARAMETER.findall(syntax))
    return [_renamed(decision, names) for decision in decisions]


def _renamed(decision: ReviewDecision, names: Mapping[str, tuple[str, list[str]]]) -> ReviewDecision:
    now = names.get(_template(decision.syntax))
    if decision.at[:1] != ("environment",) or not decision.syntax or now is None:
        return decision
    name, parameters = now
    before = PARAMETER.findall(decision.syntax)
    syntax, text = decision.syntax, decision.text
    if before != parameters:
        binding = dict(zip(before, parameters, strict=True))
        syntax = PARAMETER.sub(lambda match: f"<{binding[match[1]]}>", syntax)
        text = syntax if decision.key == "syntax" else _rewritten(text, binding)
    return replace(decision, at=("environment", name), syntax=syntax, text=text)


def _rewritten(text: str, binding: Mapping[str, str]) -> str:
    """A condition, or what is revealed under one, in other names."""
    seen, given, condition = text.partition(" if ")
    parts = [str(parse_clause(piece).bind(binding)) for piece in (seen, condition) if piece]
    return given.join(parts)


_NO_STEP = "accepted by a person; no step speaks for it now"


def decided(evidence: Evidence, decisions: Iterable[ReviewDecision]) -> Evidence:
    """The evidence with labels that say what a person decided."""
    every = list(decisions)
    rows = reviewed(evidence, every)
    claims = [_labelled(row) for row in rows]
    known = {row.decision.line for row in rows if row.decision}
    claims += [
        Claim(each.at, each.key, each.text, label=Label.ACCEPTED, note=_NO_STEP)
        for each in every
        if each.accepted and each.line not in known
    ]
    return replace(evidence, claims=tuple(claims))


def _labelled(row: Reviewed) -> Claim:
    claim, decision = row
    if decision is None or (decision.accepted and claim.stands):
        return claim
    label = Label.ACCEPTED if decision.accepted else Label.REJECTED
    word = f"{row.word} by a person{f': {decision.reason}' if decision.reason else ''}"
    return replace(claim, key=decision.key, label=label, note="; ".join(filter(None, (claim.note, word))))
