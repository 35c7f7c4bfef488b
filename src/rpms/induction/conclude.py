"""From all that was seen to a manual: actions, kinds, goals, and where things are found."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from rpms.induction.action_effects import Outcomes
from rpms.induction.action_model import ActionModel, kind_tables, seen
from rpms.induction.attempts import NAME, Book, Sights, slots_of
from rpms.induction.ledger import Ledger
from rpms.induction.needs import circumstances, needs_of
from rpms.induction.scores import ADVANCED, ScoreTable, deed_processes, deeds_of, looks
from rpms.induction.templates import SLOT, Names
from rpms.induction.thresholds import LIMITS
from rpms.induction.unnamed_effects import Process, processes, processes_by_role
from rpms.induction.wants import NOT, GoalModel, Makeable, goal_model
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.rules import (
    ANYTHING,
    Lore,
    Predicate,
    Prohibition,
    Purpose,
    Rule,
    RuleManual,
    Stage,
    Tier,
)
from rpms.store.evidence import Label, Support

_WORD = re.compile(r"[a-z]+")
_CALL = re.compile(r"([a-z][a-z0-9_]*)\(")  # Beginning of a tool's call, which has a name already


@dataclass(frozen=True)
class Learned:
    """Everything that was concluded."""

    world: str
    predicates: Mapping[str, Predicate]
    actions: tuple[ActionModel, ...]
    goals: tuple[GoalModel, ...]
    localities: Mapping[str, Mapping[str, Support]] = field(default_factory=dict)
    """Kind → kinds of places, likeliest first, each with how often one held it."""
    processes: tuple[
        Process, ...
    ] = ()  # Effects of commands on things they do not name, and commands that score
    scoring: tuple[str, ...] = ()  # The types of goals of which it is known what scores
    tables: tuple[ScoreTable, ...] = ()  # Things with which actions scored, if no fact explains it
    refuted: tuple[GoalModel, ...] = ()
    """Facts that most wins share, of goal types for which they held while the game went on: no
    goal is known."""


Doubts = dict[str, set[Literal]]  # By template, literals over slots that are not needed


@dataclass
class Excluded:
    """Lines that verification has found to be wrong."""

    needs: Doubts = field(default_factory=dict)
    kinds: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    """Tables with kinds that were wrongly taken not to work."""
    effects: set[tuple[str, Literal]] = field(
        default_factory=set
    )  # Schemas with effects over their parameters


def conclude(ledger: Ledger, excluded: Excluded | None = None) -> Learned:
    """Draw conclusions from all that was seen, without lines that are known to be wrong."""
    excluded, names = excluded or Excluded(), ledger.names
    actions: dict[str, ActionModel] = {}
    for book in _actions(ledger.books.values()):
        model = _action(book, names, actions, excluded)
        if model is None:
            continue
        if book.template in ledger.linked and ledger.linked[book.template].moves:
            # things seen at another place depend on where it leads: its process says that
            shown = [
                fact
                for fact in model.observes
                if {*fact.clause.literals[0].atom.args} != {ANYTHING}
            ]
            model = replace(model, observes=tuple(shown))
        actions[model.name] = model
    models = tuple(actions.values())
    by_template = {model.template: model for model in models}
    links = [
        process
        for template, linked in ledger.linked.items()
        if template in by_template
        for process in processes(linked, ledger.books[template], by_template[template], names)
    ]
    links += [
        process
        for model in models
        for process in processes_by_role(ledger.books[model.template], model, names)
    ]
    made = _makeable(models, links, ledger.vocabulary.predicates)
    goals = [goal_model(book, made) for book in ledger.goals.values()]
    books = [*(ledger.books[model.template] for model in models), ledger.orders]
    deeds = [deed for type_ in ledger.goals for deed in deeds_of(books, type_, names, ledger.ties)]
    scores = [*deed_processes(deeds, by_template, names), *looks(deeds, links)]
    scoring = tuple(dict.fromkeys(deed.goal for deed in deeds)) if scores else ()
    found = [goal for goal in goals if goal is not None and goal.type not in scoring]
    predicates = dict(ledger.vocabulary.predicates)
    if scoring:
        predicates[ADVANCED.predicate] = Predicate(
            ADVANCED.predicate, (), "the task got further", "nothing was scored"
        )
    return Learned(
        ledger.world.name,
        predicates,
        models,
        tuple(goal for goal in found if goal.stands),
        _localities(ledger.sights.values()),
        tuple(
            process
            for each in (*links, *scores)
            if (process := _without(each, excluded)) is not None
        ),
        scoring,
        tuple(deed.table for deed in deeds if deed.table is not None),
        tuple(goal for goal in found if not goal.stands),
    )


def _without(process: Process, excluded: Excluded) -> Process | None:
    """A process without effects that did not come about; None where nothing is left of it."""
    schema = process.schema
    effects = tuple(
        effect for effect in schema.effects if (schema.name, effect) not in excluded.effects
    )
    if effects == schema.effects:
        return process
    return (
        process._replace(schema=replace(schema, effects=effects))
        if effects or schema.observes
        else None
    )


def _actions(books: Iterable[Book]) -> list[Book]:
    """The books of actions: not those of an action with a name in it that nobody knows for one,
    `disconnect air`.
    """
    patterns = [
        (book, re.compile(".+".join(map(re.escape, book.template.split(SLOT))))) for book in books
    ]
    return [
        book
        for book, _ in patterns
        if not any(
            len(other.slots) > len(book.slots) and pattern.fullmatch(book.template)
            for other, pattern in patterns
            if other.succeeded >= book.succeeded
        )
    ]


def _action(
    book: Book, names: Names, known: Mapping[str, ActionModel], excluded: Excluded
) -> ActionModel | None:
    called = _CALL.match(book.template)
    words = [called[1]] if called else _WORD.findall(book.template.partition(SLOT)[0])
    wins = book.successes
    parameters = book.called(names)
    if (
        parameters is None
        or not words
        or len(wins) < (1 if book.declared else LIMITS.fewest_successes)
        or re.search(r"\d", book.template)
    ):
        return None
    whole = "_".join(words)
    choices = [
        *(() if book.slots else (whole,)),
        *("_".join(words[:count]) for count in range(1, len(words) + 1)),
    ]
    choices += [f"{whole}_{letter}" for letter in "bcdefgh"]
    name = next((name for name in choices if name not in known), None)
    if name is None or not NAME.fullmatch(name):
        return None
    needs = needs_of(book, frozenset(excluded.needs.get(book.template, ())))
    pairs = [literal for fact in needs.either for literal in fact.clause.literals]
    outcomes = Outcomes(
        book, frozenset(literal.atom for literal in (*needs.literals(needs.tested), *pairs))
    )
    tables = []
    for table in kind_tables(name, needs.book, needs.faultless):
        title = f"{name}_{'_'.join(map(parameters.__getitem__, table.slots))}"
        refused = {
            kinds: steps
            for kinds, steps in table.refused.items()
            if (title, kinds) not in excluded.kinds
        }
        if (
            table.refused or not needs.names_for_kinds
        ):  # of names alone, that some worked says nothing
            tables.append(
                replace(table, name=title, refused=refused, of_names=needs.names_for_kinds)
            )
    bound = slots_of(parameters)
    effects = [
        fact
        for fact in outcomes.effects()
        if (name, fact.clause.bind(bound).literals[0]) not in excluded.effects
    ]
    few = len(wins) < LIMITS.few_successes
    return ActionModel(
        name,
        book.template,
        parameters,
        len(wins),
        len(book.attempts) - len(wins),
        needs.unexplained(tables),
        tuple(needs.facts()),
        tuple(tables),
        tuple(effects),
        tuple(outcomes.conditional),
        tuple(outcomes.observes()),
        sum(attempt.lost for attempt in wins),
        outcomes.ruinous(),
        tuple(attempt.witness for attempt in wins[: LIMITS.witnesses]),
        needs.literals(needs.required if few else needs.explaining),
        needs.literals(needs.likely if few else needs.explaining),
        circumstances(needs) if few else (),
    )


def bolder(learned: Learned) -> Learned:
    """Conclusions without what may be doubted: needs that held by chance perhaps, and kinds
    taken not to work.
    """
    actions = (
        replace(
            each,
            explaining=each.likely,
            tables=tuple(replace(table, refused={}) for table in each.tables),
        )
        for each in learned.actions
    )
    return replace(learned, actions=tuple(actions))


def _makeable(
    models: Iterable[ActionModel], links: Iterable[Process], predicates: Mapping[str, Predicate]
) -> Makeable:
    """Predicates that actions make.

    The agent's place, for plans, is what actions make that change nothing else.
    """
    facts: set[str] = set()
    positional: set[str] = set()
    effects = [[fact.clause.literals[0] for fact in model.effects] for model in models]
    for literals in (*effects, *(link.schema.effects for link in links)):
        made = {each.atom.predicate for each in literals if not each.negated}
        facts |= made | {NOT + each.atom.predicate for each in literals if each.negated}
        moving = all(
            not each.negated and predicates[each.atom.predicate].exclusive for each in literals
        )
        positional |= made if moving else set()
    return Makeable(frozenset(facts), frozenset(positional))


def _localities(sights: Iterable[Sights]) -> dict[str, dict[str, Support]]:
    """Places of each kind of thing, by how often one such place held it."""
    rows = [
        (kind, -len(steps) / (sight.looked[place] + 1), place, sight.looked[place], steps)
        for sight in sights
        for (kind, place), steps in sight.found.items()
    ]
    found: dict[str, dict[str, Support]] = {}
    for kind, _, place, looked, steps in sorted(rows, key=lambda row: row[:3]):
        found.setdefault(kind, {})[place] = Support(
            **seen(steps), note=f"{len(steps)} of {looked} looked into"
        )
    return found


def schema_of(action: ActionModel, *, guessing: bool = False) -> ActionSchema:
    """An action as the manual has it.

    Guessing: it needs what explains refusals, whether that is certain or not.
    """
    told = [action.bind(Clause((table.literal,))) for table in action.tables]
    necessary = [action.bind(fact.clause) for fact in action.labelled(Label.NECESSARY)]
    if guessing:
        pairs = [
            action.bind(fact.clause)
            for fact in action.needs
            if len(fact.clause.literals) > 1 and not fact.note
        ]
        necessary = [*(action.bind(Clause((literal,))) for literal in action.explaining), *pairs]
    # a plan sees to the rest of the safe bound, but does not find out before what the action itself
    # reveals
    revealed = {fact.clause.literals[0].atom.predicate for fact in action.observes}
    possible = [
        action.bind(fact.clause)
        for fact in action.labelled(Label.POSSIBLE)
        if not fact.unknown or fact.clause.literals[0].atom.predicate not in revealed
    ]
    doubtful = [
        fact.clause
        for fact in action.labelled(Label.NECESSARY)
        if fact.note and len(fact.clause.literals) > 1
    ]
    plan = (*possible, *(action.bind(Clause(clause.literals[:1])) for clause in doubtful))
    often = f"It ended the task for good {action.losses} times of {action.successes}."
    return ActionSchema(
        action.name,
        (action.syntax,),
        (*necessary, *told),
        tuple(action.bind(fact.clause).literals[0] for fact in action.effects),
        observes=tuple(
            Revelation(
                action.bind(fact.clause).literals[0].atom,
                (action.bind(fact.given),) if fact.given else (),
            )
            for fact in action.observes
        ),
        plan=() if guessing else plan,
        steps=1 + round(LIMITS.ruin * action.losses / action.successes, 1),
        warnings=(often,) if action.losses and action.ruinous is None else (),
    )


def processes_of(action: ActionModel) -> list[ActionSchema]:
    """Effects that come only where something holds, as processes: plans use them."""
    schema = schema_of(action)
    return [
        ActionSchema(
            f"{action.name}_{place}",
            schema.syntax,
            tuple(dict.fromkeys((*schema.preconditions, *schema.plan, action.bind(fact.given)))),
            action.bind(fact.clause).literals,
            steps=schema.steps,
        )
        for place, fact in enumerate(action.conditional, 1)
        if fact.given is not None
    ]


def manual_from(learned: Learned, *, guessing: bool = False) -> RuleManual:
    """The manual, ready to be used.

    What is written as YAML reads as this, with the sentences that go with it.
    """
    predicates = dict(learned.predicates)
    for action in learned.actions:
        for table in action.tables:
            args = table.literal.bind(slots_of(action.parameters)).atom.args
            names = " and ".join(f"<{name}>" for name in args)
            no = f"{action.name} never worked with {'' if table.of_names else 'such as '}{names}"
            predicates[table.name] = Predicate(
                table.name, args, f"{action.name} works with {names}", no
            )
    for scored in learned.tables:
        names = " with ".join(f"<{name}>" for name in scored.args)
        predicates[scored.name] = Predicate(
            scored.name, scored.args, f"{names} was seen to score", f"{names} was not seen to score"
        )
    procedures = [
        Purpose(goal.type, goal.fields, tuple(goal.steps()), frozenset({goal.type}), staged=True)
        for goal in learned.goals
        if goal.staged
    ]
    advancing = Stage("advance", (Clause((Literal(ADVANCED),)),))
    procedures += [
        Purpose(type_, {}, (advancing,), frozenset({type_}), staged=True)
        for type_ in learned.scoring
    ]
    purposes = [
        Purpose(
            goal.type,
            goal.over,
            tuple(Stage("", (fact.clause,)) for fact in goal.holds),
            frozenset({goal.type}),
        )
        for goal in learned.goals
    ]
    lore = Lore(
        (
            *(process for action in learned.actions for process in processes_of(action)),
            *(
                replace(each.schema, steps=each.schema.steps + each.risk)
                if guessing
                else each.schema
                for each in learned.processes
            ),
        ),
        localities={kind: tuple(places) for kind, places in learned.localities.items()},
        kinds={table.name: table.kinds for action in learned.actions for table in action.tables},
        facts={
            table.name: {place: frozenset(row) for place, row in sorted(table.rows.items())}
            for table in learned.tables
        },
    )
    actions = tuple(schema_of(action, guessing=guessing) for action in learned.actions)
    rules = []
    ruinous = [
        (each, each.bind(each.ruinous.clause))
        for each in learned.actions
        if each.ruinous is not None
    ]
    for number, (action, clause) in enumerate(ruinous, 1):
        literal = clause.literals[0]
        said = learned.predicates[literal.atom.predicate].say(
            literal.atom, Truth.of(not literal.negated)
        )
        text = f"Never {action.name} while {said}: it ended the task for good."
        ban = Prohibition(action.name, (clause,))
        rules.append(Rule(f"D-RUIN-{number:03}", Tier.DOMAIN, "ruin", text, forbids=(ban,)))
    return RuleManual(
        tuple(rules), actions, predicates, learned.world, (*procedures, *purposes), lore
    )
