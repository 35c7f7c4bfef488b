"""Writer of what was learned, in the form of a manual that people write: lines and sentences."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rpms.induction.conclusions.action_model import ActionModel, Induced
from rpms.induction.conclusions.conclude import Learned
from rpms.induction.conclusions.goal_models import GoalModel
from rpms.induction.conclusions.learned_manual import manual_from
from rpms.induction.evidence.wants import literal_in
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Clause, Literal, Truth, grouped
from rpms.logic.rules import ANYTHING, Lore, Predicate, Purpose, Rule, RuleManual

_PLACES_SAID = 6  # Places that the sentence about where something is names

_Tree = dict[str, Any]


def manual_tree(learned: Learned) -> _Tree:
    """The manual as a tree of plain values, without empty sections."""
    manual = manual_from(learned)
    lore = manual.lore
    tree: _Tree = {
        "world": manual.world,
        "alone": True,
        "predicates": _predicates(manual),
        "facts": _facts(lore),
        "kinds": _kinds(lore),
        "goals": _goals(manual.purposes),
        "procedures": _procedures(manual.purposes),
        "environment": {action.name: _action(action) for action in manual.actions},
        "processes": {process.name: _process(process) for process in lore.processes},
        "localities": {kind: list(places) for kind, places in lore.localities.items()},
        "domain": _domain(learned, manual),
    }
    return _without_empty(tree)


def _without_empty(tree: _Tree) -> _Tree:
    return {key: value for key, value in tree.items() if value}


def _predicates(manual: RuleManual) -> _Tree:
    tree: _Tree = {}
    for name, predicate in manual.predicates.items():
        entry: _Tree = {
            "args": list(predicate.args),
            "yes": predicate.yes,
            "no": predicate.no,
            "exclusive": predicate.exclusive,
            "lasting": name in manual.lore.kinds,
        }
        tree[name] = _without_empty(entry)
    return tree


def _facts(lore: Lore) -> _Tree:
    """Permanent facts: by predicate and first name, the other names."""
    tree: _Tree = {}
    for predicate, listed in lore.facts.items():
        tree[predicate] = {first: sorted(others) for first, others in listed.items()}
    return tree


def _kinds(lore: Lore) -> _Tree:
    tree: _Tree = {}
    for predicate, kinds in lore.kinds.items():
        tree[predicate] = {"yes": _rows_of_kinds(kinds.yes), "no": _rows_of_kinds(kinds.no)}
    return tree


def _rows_of_kinds(kinds: Iterable[tuple[str, ...]]) -> Any:
    """Single kinds as a list; pairs as a mapping from the first kind to its partners."""
    rows = sorted(kinds)
    if not rows or len(rows[0]) == 1:
        return [kind for (kind,) in rows]
    return grouped((first, second) for first, second in rows)


def _goals(purposes: Iterable[Purpose]) -> _Tree:
    """Purposes whose facts all have to hold in the end."""
    tree: _Tree = {}
    for purpose in purposes:
        if not purpose.staged:
            holds = [str(stage.until[0]) for stage in purpose.steps]
            tree[purpose.name] = {"over": dict(purpose.over), "holds": holds}
    return tree


def _procedures(purposes: Iterable[Purpose]) -> _Tree:
    """Purposes that have stages."""
    found = {}
    for purpose in purposes:
        if purpose.staged:
            found[purpose.name] = _procedure(purpose)
    return found


def _procedure(purpose: Purpose) -> _Tree:
    stages = [{stage.name: list(map(str, stage.until))} for stage in purpose.steps]
    return _without_empty(
        {"goals": sorted(purpose.goals), "over": dict(purpose.over), "steps": stages}
    )


def _action(schema: ActionSchema) -> _Tree:
    entry: _Tree = {
        "syntax": schema.syntax[0],
        "preconditions": _each_quoted(schema, schema.preconditions),
        "plan": _each_quoted(schema, schema.plan),
        **_outcome(schema),
        "critical": " ".join(schema.warnings),
    }
    return _without_empty(entry)


def _process(schema: ActionSchema) -> _Tree:
    entry: _Tree = {
        "command": schema.syntax[0],
        "needs": _each_quoted(schema, schema.preconditions),
        **_outcome(schema),
        "once": list(schema.once),
    }
    return _without_empty(entry)


def _outcome(schema: ActionSchema) -> _Tree:
    """The outcome of an action or a process; that it takes one step goes without saying."""
    return {
        "effects": effect_lines(schema),
        "observes": observed_lines(schema),
        "steps": schema.steps if schema.steps != 1 else 0,
    }


def effect_lines(schema: ActionSchema) -> list[str]:
    """The effects of an action or a process, as a manual writes them."""
    return [_quoted(schema.variables, Clause((effect,))) for effect in schema.effects]


def observed_lines(schema: ActionSchema) -> list[str]:
    """The sights of an action or a process, as a manual writes them."""
    lines: list[str] = []
    for shown in schema.observes:
        fact = _quoted(schema.variables, Clause((Literal(shown.atom),)))
        lines.append(" if ".join((fact, *_each_quoted(schema, shown.given))))
    return lines


def _each_quoted(schema: ActionSchema, clauses: Iterable[Clause]) -> list[str]:
    return [_quoted(schema.variables, clause) for clause in clauses]


def _quoted(parameters: Sequence[str], clause: Clause) -> str:
    """A clause with fixed names, which are no parameters, in quotes."""
    quoted = {}
    for name in clause.names:
        if name not in parameters and name != ANYTHING:
            quoted[name] = f'"{name}"'
    return str(clause.bind(quoted))


def induced_line(action: ActionModel, fact: Induced) -> str:
    """A fact that an action needs, makes or reveals, as a manual writes it."""
    clauses = (fact.clause, *fact.given)
    return " if ".join(_quoted(action.parameters, action.bind(clause)) for clause in clauses)


def _domain(learned: Learned, manual: RuleManual) -> _Tree:
    """Tier 2: what ruins the task, what goals want and where things are."""
    actions = {action.name: action for action in manual.actions}
    ruin = {rule.id: _ban(rule, actions) for rule in manual.rules}
    goals: _Tree = {}
    for number, goal in enumerate(learned.goals, 1):
        goals[f"D-GOAL-{number:03}"] = {
            "text": goal_sentence(goal, learned),
            "goals": [goal.type],
        }
    places: _Tree = {}
    for number, (kind, found) in enumerate(manual.lore.localities.items(), 1):
        places[f"D-LOC-{number:03}"] = {
            "text": place_sentence(kind, found),
            "category": kind,
            "objects": [kind],
            "places": list(found),
        }
    return _without_empty({"ruin": ruin, "goals": goals, "places": places})


def _ban(rule: Rule, actions: Mapping[str, ActionSchema]) -> _Tree:
    """A rule that forbids actions under conditions."""
    forbids: list[_Tree] = []
    for ban in rule.forbids:
        conditions = _each_quoted(actions[ban.action], ban.when)
        forbids.append({"action": ban.action, "when": conditions})
    return {"text": rule.text, "forbids": forbids}


_TWO_ARTICLES = re.compile(r"\b(?:an?|the) (?=(?:the|another) )", re.IGNORECASE)
_VARIABLES_SAID = {
    "x": "the object",
    "y": "another such object",
    "p": "the destination",
    "q": "another destination",
}


def _say(literal: Literal, predicates: Mapping[str, Predicate]) -> str:
    """A fact about what a goal names, in words; a world may write `the <thing>` where the name
    brings its article.
    """
    name = literal.atom.predicate
    predicate = predicates.get(name) or Predicate(name)
    sentence = predicate.say(literal.atom.bind(_VARIABLES_SAID), Truth.of(not literal.negated))
    return _TWO_ARTICLES.sub("", sentence)


def wanted_sentence(holds: Iterable[Clause], predicates: Mapping[str, Predicate]) -> str:
    """Facts that are to hold in the end, in words."""
    facts = [_say(clause.literals[0], predicates) for clause in holds]
    return f"In the end: {'; '.join(facts)}."


def place_sentence(kind: str, places: Sequence[str]) -> str:
    """Places of something, likeliest first."""
    return f"{kind.capitalize()} is commonly in: {', '.join(places[:_PLACES_SAID])}"


def goal_sentence(goal: GoalModel, learned: Learned) -> str:
    """Wants of a type of goals, and what all wins did on the way."""
    wanted = wanted_sentence((fact.clause for fact in goal.holds), learned.predicates)
    way = [_say(literal_in(atom), learned.predicates) for atom in goal.stages]
    if len(way) < 2:
        return wanted
    return f"{wanted} On the way there, in this order: {'; '.join(way)}."
