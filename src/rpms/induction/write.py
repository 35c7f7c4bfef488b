"""Writer of what was learned, as YAML and as evidence: the form of a manual that people write."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from rpms.induction.action_model import ActionModel, Induced, seen
from rpms.induction.conclude import Learned, manual_from, processes_of
from rpms.induction.thresholds import LIMITS
from rpms.induction.wants import GoalModel, literal_in
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import Predicate, Purpose, RuleManual
from rpms.store.evidence import Claim, Label, Support

_OF_NAMES = "a table of names, unknown for any other name"
_PLACES_SAID = 6  # Places that the sentence about where something is names


def manual_tree(learned: Learned) -> dict[str, Any]:
    """The manual as a tree of plain values."""
    manual = manual_from(learned)
    lore, purposes = manual.lore, manual.purposes
    tree: dict[str, Any] = {
        "world": manual.world,
        "alone": True,
        "predicates": {
            name: _declared(each, name in lore.kinds) for name, each in manual.predicates.items()
        },
        "facts": {
            name: {place: sorted(names) for place, names in listed.items()}
            for name, listed in lore.facts.items()
        },
        "kinds": {
            name: {"yes": _listed(each.yes), "no": _listed(each.no)}
            for name, each in lore.kinds.items()
        },
        "goals": {
            each.name: {
                "over": dict(each.over),
                "holds": [str(step.until[0]) for step in each.steps],
            }
            for each in purposes
            if not each.staged
        },
        "procedures": {each.name: _procedure(each) for each in purposes if each.staged},
        "environment": {action.name: _action(action) for action in manual.actions},
        "processes": {process.name: _process(process) for process in lore.processes},
        "localities": {kind: list(places) for kind, places in lore.localities.items()},
        "domain": _rules(learned, manual),
    }
    return _filled(tree)


def _filled(tree: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if value}


def _declared(predicate: Predicate, lasting: bool) -> dict[str, Any]:
    told = {name: getattr(predicate, name) for name in ("yes", "no", "exclusive")}
    return _filled({"args": list(predicate.args), **told, "lasting": lasting})


def _listed(kinds: Iterable[tuple[str, ...]]) -> Any:
    rows = sorted(kinds)
    if not rows or len(rows[0]) == 1:
        return [row[0] for row in rows]
    return {one: [other for _, other in some] for one, some in groupby(rows, itemgetter(0))}


def _procedure(purpose: Purpose) -> dict[str, Any]:
    steps = [{step.name: [str(clause) for clause in step.until]} for step in purpose.steps]
    return _filled({"goals": sorted(purpose.goals), "over": dict(purpose.over), "steps": steps})


def _action(schema: ActionSchema) -> dict[str, Any]:
    needs, plan = (_each(schema, clauses) for clauses in (schema.preconditions, schema.plan))
    head = {"syntax": schema.syntax[0], "preconditions": needs, "plan": plan}
    return _filled({**head, **_outcome(schema), "critical": " ".join(schema.warnings)})


def _process(schema: ActionSchema) -> dict[str, Any]:
    head = {
        "command": schema.syntax[0],
        "needs": _each(schema, schema.preconditions),
        **_outcome(schema),
    }
    return _filled({**head, "once": list(schema.once)})


def _outcome(schema: ActionSchema) -> dict[str, Any]:
    observes = [
        _quoted(schema.variables, Clause((Literal(seen.atom),)))
        + "".join(f" if {text}" for text in _each(schema, seen.given))
        for seen in schema.observes
    ]
    effects = _each(schema, (Clause((literal,)) for literal in schema.effects))
    return {
        "effects": effects,
        "observes": observes,
        "steps": schema.steps if schema.steps != 1 else 0,
    }


def _each(schema: ActionSchema, clauses: Iterable[Clause]) -> list[str]:
    return [_quoted(schema.variables, clause) for clause in clauses]


def _quoted(parameters: Sequence[str], clause: Clause) -> str:
    """A clause with fixed names, which are no parameters, in quotes."""
    names = {
        arg: f'"{arg}"'
        for literal in clause.literals
        for arg in literal.atom.args
        if arg not in parameters
    }
    return str(clause.bind({name: quoted for name, quoted in names.items() if name != "_"}))


def _said(action: ActionModel, fact: Induced) -> str:
    """A fact that an action needs, makes or reveals, as a manual writes it."""
    given = f" if {_quoted(action.parameters, action.bind(fact.given))}" if fact.given else ""
    return _quoted(action.parameters, action.bind(fact.clause)) + given


def _rules(learned: Learned, manual: RuleManual) -> dict[str, Any]:
    """Tier 2: what goals want and where things are, as sentences made of the facts."""
    goals = {
        f"D-GOAL-{number:03}": {"text": goal_sentence(goal, learned), "goals": [goal.type]}
        for number, goal in enumerate(learned.goals, 1)
    }
    places = {
        f"D-LOC-{number:03}": {
            "text": place_sentence(kind, found),
            "category": kind,
            "objects": [kind],
            "places": list(found),
        }
        for number, (kind, found) in enumerate(manual.lore.localities.items(), 1)
    }
    actions = {action.name: action for action in manual.actions}
    ruin = {
        rule.id: {
            "text": rule.text,
            "forbids": [
                {"action": ban.action, "when": _each(actions[ban.action], ban.when)}
                for ban in rule.forbids
            ],
        }
        for rule in manual.rules
    }
    return _filled({"ruin": ruin, "goals": goals, "places": places})


_TWO_ARTICLES = re.compile(r"\b(?:an?|the) (?=(?:the|another) )", re.IGNORECASE)
_NAMED = {
    "x": "the object",
    "y": "another such object",
    "p": "the destination",
    "q": "another destination",
}


def _say(literal: Literal, predicates: Mapping[str, Predicate]) -> str:
    """A fact about what a goal names, in words; a world may write `the <thing>` where the name
    brings its article.
    """
    predicate = predicates.get(literal.atom.predicate) or Predicate(literal.atom.predicate)
    return _TWO_ARTICLES.sub(
        "", predicate.say(literal.atom.bind(_NAMED), Truth.of(not literal.negated))
    )


def wanted_sentence(holds: Iterable[Clause], predicates: Mapping[str, Predicate]) -> str:
    """Facts that are to hold in the end, in words."""
    return f"In the end: {'; '.join(_say(clause.literals[0], predicates) for clause in holds)}."


def place_sentence(kind: str, places: Sequence[str]) -> str:
    """Places of something, likeliest first."""
    return f"{kind.capitalize()} is commonly in: {', '.join(places[:_PLACES_SAID])}"


def goal_sentence(goal: GoalModel, learned: Learned) -> str:
    """Wants of a type of goals, and what all wins did on the way."""
    sentence = wanted_sentence((fact.clause for fact in goal.holds), learned.predicates)
    way = [_say(literal_in(atom), learned.predicates) for atom in goal.stages]
    return (
        f"{sentence} On the way there, in this order: {'; '.join(way)}."
        if len(way) > 1
        else sentence
    )


def claims_of(learned: Learned) -> Iterator[Claim]:
    """Evidence for every line, and for those that did not make it into the manual."""
    for action in learned.actions:
        yield from _claims_of_action(action)
    for goal in learned.goals:
        yield from (
            fact.claim(("goals", goal.type), "holds", str(fact.clause)) for fact in goal.holds
        )
        if goal.staged:
            text = ", then ".join(" and ".join(map(str, step.until)) for step in goal.steps())
            yield Claim(
                ("procedures", goal.type),
                "steps",
                text,
                confirmed=goal.wins,
                witnesses=goal.holds[0].witnesses,
                note="with all that is wanted and one of these left out, the game went on",
            )
    for goal in learned.refuted:
        text = " and ".join(sorted(map(str, goal.state)))
        yield Claim(
            ("goals", goal.type),
            "holds",
            text,
            label=Label.REFUTED,
            confirmed=goal.wins,
            against=len(goal.refuted),
            witnesses=goal.holds[0].witnesses,
            counterexamples=goal.refuted[: LIMITS.witnesses],
            note="it held while the game went on, so that no goal is known",
        )
    for process in learned.processes:
        told = _process(process.schema)
        at = ("processes", process.schema.name)
        for key in ("effects", "observes"):
            yield from (process.support.claim(at, key, text) for text in told.get(key, ()))
    for scored in learned.tables:
        for place, row in sorted(scored.rows.items()):
            yield from (
                found.claim(("facts", scored.name), place, name)
                for name, found in sorted(row.items())
            )
    for kind, places in learned.localities.items():
        yield from (found.claim(("localities",), kind, place) for place, found in places.items())


def _claims_of_action(action: ActionModel) -> Iterator[Claim]:
    at = ("environment", action.name)
    note = f"{action.unexplained} refusals have no explanation" if action.unexplained else ""
    told = Support(
        confirmed=action.successes, against=action.refusals, witnesses=action.witnesses, note=note
    )
    yield told.claim(at, "syntax", action.syntax)
    for fact in action.needs:
        yield fact.claim(
            at, "plan" if fact.label is Label.POSSIBLE else "preconditions", _said(action, fact)
        )
    for key, facts in (("effects", action.effects), ("observes", action.observes)):
        yield from (fact.claim(at, key, _said(action, fact)) for fact in facts)
    for process, fact in zip(processes_of(action), action.conditional, strict=True):
        yield from (
            fact.claim(("processes", process.name), "effects", text)
            for text in _outcome(process)["effects"]
        )
    for table in action.tables:
        for key, rows in (("yes", table.worked), ("no", table.refused)):
            for kinds, steps in sorted(rows.items()):
                found = Support(**seen(steps), note=_OF_NAMES if table.of_names else "")
                yield found.claim(("kinds", table.name), key, ", ".join(kinds))
    if action.ruinous is not None:
        yield action.ruinous.claim(at, "forbids", _said(action, action.ruinous))
