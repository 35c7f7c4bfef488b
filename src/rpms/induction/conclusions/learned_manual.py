"""From conclusions to the manual that says them: schemas, processes, tables, goals and bans."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from rpms.induction.conclusions.action_model import ActionModel, KindTable
from rpms.induction.conclusions.conclude import Learned
from rpms.induction.conclusions.deed_processes import ADVANCED
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Clause, Kinds, Literal, Truth
from rpms.logic.rules import Lore, Predicate, Prohibition, Purpose, Rule, RuleManual, Stage, Tier
from rpms.store.evidence import Label


def manual_from(learned: Learned, *, guessing: bool = False) -> RuleManual:
    """The manual, ready to be used.

    What is written as YAML reads as this, with the sentences that go with it.
    """
    return RuleManual(
        tuple(_ruin_rules(learned)),
        tuple(schema_of(action, guessing=guessing) for action in learned.actions),
        _with_tables(learned),
        learned.world,
        (*_procedures(learned), *_purposes(learned)),
        _lore(learned, guessing=guessing),
    )


def sampled(learned: Learned, dice: Random) -> Learned:
    """Conclusions as they may well be: each doubtful need is taken in as often as it is likely
    (posterior sampling), and kinds that were refused are tried again, the seldomer the more often
    they were.
    """
    actions = []
    for action in learned.actions:
        needed = [fact for fact, chance in action.chances.items() if dice.random() < chance]
        tables = tuple(_sampled_table(table, dice) for table in action.tables)
        actions.append(replace(action, explaining=tuple(needed), tables=tables))
    return replace(learned, actions=tuple(actions))


def _sampled_table(table: KindTable, dice: Random) -> KindTable:
    """A table without some of the kinds that were refused: by Laplace's rule of succession."""
    refused = {}
    for kinds, steps in table.refused.items():
        works = 1 / (len(steps) + 2)
        if dice.random() >= works:
            refused[kinds] = steps
    return replace(table, refused=refused)


# Actions and processes.


def schema_of(action: ActionModel, *, guessing: bool = False) -> ActionSchema:
    """An action as the manual has it.

    Guessing: it needs what explains refusals, whether that is certain or not.
    """
    slots = slots_of(action.parameters)
    needs = _guessed_needs(action) if guessing else _certain_needs(action)
    for table in action.tables:
        needs.append(action.bind(Clause((table.literal,))))
    warnings = []
    if action.losses and action.ruinous is None:
        often = f"{action.losses} times of {action.successes}"
        warnings.append(f"It ended the task for good {often}.")
    return ActionSchema(
        action.name,
        (action.syntax,),
        tuple(needs),
        effects=tuple(fact.literal.bind(slots) for fact in action.effects),
        observes=tuple(fact.revelation.bind(slots) for fact in action.observes),
        plan=() if guessing else tuple(_plan_needs(action)),
        steps=1 + round(LIMITS.ruin * action.losses / action.successes, 1),
        warnings=tuple(warnings),
    )


def _certain_needs(action: ActionModel) -> list[Clause]:
    return [action.bind(fact.clause) for fact in action.labelled(Label.NECESSARY)]


def _guessed_needs(action: ActionModel) -> list[Clause]:
    """Facts that explain refusals, and pairs of which one has to hold."""
    needs = [Clause((literal,)) for literal in action.explaining]
    for fact in action.needs:
        if len(fact.clause.literals) > 1 and not fact.note:
            needs.append(fact.clause)
    return [action.bind(need) for need in needs]


def _plan_needs(action: ActionModel) -> Iterator[Clause]:
    """Facts that a plan sees to beyond the needs: the rest of the safe bound, and the first of
    each doubtful pair.

    A plan does not find out before what the action itself reveals.
    """
    revealed = {fact.literal.atom.predicate for fact in action.observes}
    for fact in action.labelled(Label.POSSIBLE):
        if not fact.unknown or fact.literal.atom.predicate not in revealed:
            yield action.bind(fact.clause)
    for fact in action.labelled(Label.NECESSARY):
        if fact.note and len(fact.clause.literals) > 1:
            yield action.bind(Clause((fact.literal,)))


def processes_of(action: ActionModel) -> list[ActionSchema]:
    """Effects that come only where something holds, as processes: plans use them."""
    if not action.conditional:
        return []
    schema = schema_of(action)
    found = []
    for place, fact in enumerate(action.conditional, 1):
        given = [action.bind(clause) for clause in fact.given]
        needs = dict.fromkeys((*schema.preconditions, *schema.plan, *given))
        effects = action.bind(fact.clause).literals
        name = f"{action.name}_{place}"
        found.append(ActionSchema(name, schema.syntax, tuple(needs), effects, steps=schema.steps))
    return found


def _lore(learned: Learned, *, guessing: bool) -> Lore:
    """Processes, places and tables; a guessing plan also counts a process's risk as steps."""
    schemas: list[ActionSchema] = []
    kinds: dict[str, Kinds] = {}
    for action in learned.actions:
        schemas += processes_of(action)
        kinds |= {table.name: table.kinds for table in action.tables}
    for process in learned.processes:
        schema = process.schema
        if guessing:
            schema = replace(schema, steps=schema.steps + process.risk)
        schemas.append(schema)
    facts: dict[str, dict[str, frozenset[str]]] = {}
    for table in learned.listed:
        rows = sorted(table.rows.items())
        facts[table.name] = {place: frozenset(row) for place, row in rows}
    localities = {kind: tuple(places) for kind, places in learned.localities.items()}
    return Lore(tuple(schemas), localities=localities, kinds=kinds, facts=facts)


# Predicates.


def _with_tables(learned: Learned) -> dict[str, Predicate]:
    """The world's predicates, and one for each learned table."""
    predicates = dict(learned.predicates)
    for action in learned.actions:
        for kinds in action.tables:
            predicates[kinds.name] = _predicate_of_kinds(kinds, action)
    for scored in learned.tables:
        names = " with ".join(f"<{name}>" for name in scored.args)
        yes = f"{names} was seen to score"
        no = f"{names} was not seen to score"
        predicates[scored.name] = Predicate(scored.name, scored.args, yes, no)
    for places in learned.maps:
        predicates[places.name] = places.predicate
    return predicates


def _predicate_of_kinds(table: KindTable, action: ActionModel) -> Predicate:
    args = tuple(action.parameters[slot] for slot in table.slots)
    names = " and ".join(f"<{name}>" for name in args)
    such = "" if table.of_names else "such as "
    yes = f"{action.name} works with {names}"
    no = f"{action.name} never worked with {such}{names}"
    return Predicate(table.name, args, yes, no)


# Goals and bans.


def _procedures(learned: Learned) -> Iterator[Purpose]:
    """Goals in stages, and for goals of which only deeds are known: to get further."""
    for goal in learned.goals:
        if goal.staged:
            types = frozenset({goal.type})
            yield Purpose(goal.type, goal.fields, tuple(goal.steps()), types, staged=True)
    has_advanced = Clause((Literal(ADVANCED),))
    for type_ in (*learned.scoring, *learned.by_deed):
        types = frozenset({type_})
        yield Purpose(type_, {}, (Stage("advance", (has_advanced,)),), types, staged=True)


def _purposes(learned: Learned) -> Iterator[Purpose]:
    """Goals as facts that have to hold in the end, in whatever order they come about."""
    for goal in learned.goals:
        wanted = [Stage("", (fact.clause,)) for fact in goal.holds]
        yield Purpose(goal.type, goal.over, tuple(wanted), frozenset({goal.type}))


def _ruin_rules(learned: Learned) -> Iterator[Rule]:
    """A ban for each action that ended tasks for good in some state."""
    ruinous = [action for action in learned.actions if action.ruinous is not None]
    for number, action in enumerate(ruinous, 1):
        assert action.ruinous is not None
        condition = action.ruinous.literal.bind(slots_of(action.parameters))
        predicate = learned.predicates[condition.atom.predicate]
        said = predicate.say(condition.atom, Truth.of(not condition.negated))
        text = f"Never {action.name} while {said}: it ended the task for good."
        ban = Prohibition(action.name, (Clause((condition,)),))
        yield Rule(f"D-RUIN-{number:03}", Tier.DOMAIN, "ruin", text, forbids=(ban,))
