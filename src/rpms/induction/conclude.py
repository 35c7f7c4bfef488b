"""From all that was seen to a manual: actions, kinds, goals, and where things are found."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from rpms.induction.action_effects import Outcomes
from rpms.induction.action_model import ActionModel, Induced, KindTable, kind_tables, support_by
from rpms.induction.attempts import NAME, Book
from rpms.induction.deeds import ADVANCED, deed_processes, deeds_of, looks, winning_deeds
from rpms.induction.goal_models import GoalModel, Makeable, goal_model
from rpms.induction.ledger import Ledger, Sights
from rpms.induction.need_chances import chances_of
from rpms.induction.needs import Needs, circumstances, needs_of
from rpms.induction.place_maps import PlaceTable
from rpms.induction.revelations import slots_of
from rpms.induction.scores import Deed, ScoreTable
from rpms.induction.templates import SLOT, Names, words_in
from rpms.induction.thresholds import LIMITS
from rpms.induction.unnamed_effects import Process, processes, processes_by_role
from rpms.induction.wants import NOT
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.facts import Atom, Clause, Kinds, Literal, Truth
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
from rpms.store.evidence import Label, Support, Witness

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
    processes: tuple[Process, ...] = ()
    """Effects of commands on things they do not name, and commands that score."""
    scoring: tuple[str, ...] = ()
    """The types of goals of which it is known what scores."""
    by_deed: tuple[str, ...] = ()
    """The types of goals of which no facts tell when they are won, but what was done last."""
    tables: tuple[ScoreTable, ...] = ()
    """Things with which actions scored, if no fact explains it."""
    refuted: tuple[GoalModel, ...] = ()
    """Facts that most wins share, of goal types for which they held while the game went on: no
    goal is known."""
    maps: tuple[PlaceTable, ...] = ()
    """Places that the belief does not list among its names."""

    @property
    def without_goal(self) -> tuple[GoalModel, ...]:
        """The refuted goals of types of which nothing else is known either."""
        return tuple(goal for goal in self.refuted if goal.type not in self.by_deed)

    @property
    def listed(self) -> tuple[ScoreTable | PlaceTable, ...]:
        """Tables of facts that never change."""
        return (*self.tables, *self.maps)


Doubts = dict[str, set[Literal]]  # By template, literals over slots that are not needed


@dataclass
class Excluded:
    """Lines that verification has found to be wrong."""

    needs: Doubts = field(default_factory=dict)
    kinds: set[tuple[str, tuple[str, ...]]] = field(default_factory=set)
    """Tables with kinds that were wrongly taken not to work."""
    effects: set[tuple[str, Literal]] = field(default_factory=set)
    """Schemas with effects over their parameters."""


def conclude(ledger: Ledger, excluded: Excluded | None = None) -> Learned:
    """Draw conclusions from all that was seen, without lines that are known to be wrong."""
    excluded = excluded or Excluded()
    models = _models(ledger, excluded)
    links = _links(ledger, models)
    deeds = _scoring_deeds(ledger, models)
    by_template = {model.template: model for model in models}
    scores = [*deed_processes(deeds, by_template, ledger.names), *looks(deeds, links)]
    scoring = _goals_of(deeds) if scores else ()
    goals = _goals(ledger, _makeable(models, links, ledger.vocabulary.predicates))
    found = [goal for goal in goals if goal.type not in scoring]
    standing = tuple([goal for goal in found if goal.stands])
    told = {*scoring, *(goal.type for goal in standing)}
    last = _winning_deeds(ledger, models, told)
    won = list(deed_processes(last, by_template, ledger.names, "win"))
    by_deed = _goals_of(last) if won else ()
    return Learned(
        ledger.world.name,
        _predicates(ledger, (*scoring, *by_deed)),
        models,
        standing,
        _localities(ledger.sights.values()),
        _confirmed((*links, *scores, *won), excluded),
        scoring,
        by_deed,
        tuple(deed.table for deed in deeds if deed.table is not None),
        tuple(goal for goal in found if not goal.stands),
        tuple(each.table() for each in ledger.maps.values()),
    )


def _goals_of(deeds: Iterable[Deed]) -> tuple[str, ...]:
    """The types of goals that some deeds serve, each once."""
    return tuple(dict.fromkeys([deed.goal for deed in deeds]))


def _models(ledger: Ledger, excluded: Excluded) -> tuple[ActionModel, ...]:
    """A model of each action of which enough was seen."""
    actions: dict[str, ActionModel] = {}
    for book in _actions(ledger.books.values()):
        model = _action(book, ledger.names, actions, excluded)
        if model is None:
            continue
        linked = ledger.linked.get(book.template)
        if linked is not None and linked.moves:
            model = _without_sights(model)
        actions[model.name] = model
    return tuple(actions.values())


def reconsidered(learned: Learned, ledger: Ledger, template: str) -> Learned:
    """Conclusions with those about one action drawn anew, where the world declares its commands."""
    others = {model.name: model for model in learned.actions if model.template != template}
    model = _action(ledger.books[template], ledger.names, others.keys(), Excluded())
    if model is None:
        return learned
    return replace(learned, actions=(*others.values(), model))


def _without_sights(model: ActionModel) -> ActionModel:
    """A model of moving, which shows nothing of things in general.

    Things seen at another place depend on where it leads: its process says that.
    """
    shown = [fact for fact in model.observes if {*fact.clause.literals[0].atom.args} != {ANYTHING}]
    return replace(model, observes=tuple(shown))


def _links(ledger: Ledger, models: Sequence[ActionModel]) -> list[Process]:
    """Effects of commands on things they do not name, then those that depend on a role."""
    by_template = {model.template: model for model in models}
    found: list[Process] = []
    for template, linked in ledger.linked.items():
        if template in by_template:
            book = ledger.books[template]
            found += processes(linked, book, by_template[template], ledger.names)
    for model in models:
        found += processes_by_role(ledger.books[model.template], model, ledger.names)
    return found


def _scoring_deeds(ledger: Ledger, models: Iterable[ActionModel]) -> list[Deed]:
    """Actions that score, for each type of goal; orders as a whole are one of the actions."""
    books = [ledger.books[model.template] for model in models]
    books.append(ledger.orders)
    deeds: list[Deed] = []
    for type_ in ledger.goals:
        deeds += deeds_of(books, type_, ledger.names, ledger.ties)
    return deeds


def _winning_deeds(
    ledger: Ledger, models: Iterable[ActionModel], told: Collection[str]
) -> list[Deed]:
    """Actions that won, for each type of goal of which nothing else is known."""
    books = [ledger.books[model.template] for model in models]
    deeds: list[Deed] = []
    for type_, goal in ledger.goals.items():
        if type_ not in told and len(goal.wins) >= LIMITS.several:
            deeds += winning_deeds(books, type_, ledger.names)
    return deeds


def _goals(ledger: Ledger, made: Makeable) -> list[GoalModel]:
    """The goals of which it is known what they want, whether or not this stands."""
    models = [goal_model(book, made) for book in ledger.goals.values()]
    return [model for model in models if model is not None]


def _predicates(ledger: Ledger, scoring: Collection[str]) -> dict[str, Predicate]:
    """The belief's predicates, and one for getting further where deeds do."""
    predicates = dict(ledger.vocabulary.predicates)
    if scoring:
        predicates[ADVANCED.predicate] = Predicate(
            ADVANCED.predicate, (), "the task got further", "nothing was scored"
        )
    return predicates


def _confirmed(found: Iterable[Process], excluded: Excluded) -> tuple[Process, ...]:
    """Processes with the effects that verification left them."""
    left = [_without(process, excluded) for process in found]
    return tuple(process for process in left if process is not None)


def _without(process: Process, excluded: Excluded) -> Process | None:
    """A process without effects that did not come about; None where nothing is left of it."""
    schema = process.schema
    effects = tuple(
        effect for effect in schema.effects if (schema.name, effect) not in excluded.effects
    )
    if effects == schema.effects:
        return process
    if not effects and not schema.observes:
        return None
    return process._replace(schema=replace(schema, effects=effects))


def _actions(books: Iterable[Book]) -> list[Book]:
    """The books of actions.

    A template with a name in it that nobody knows for one, `disconnect air`, is no action: another
    that succeeded as often has a slot where the name stands.
    """
    found = [*books]
    patterns = [re.compile(".+".join(map(re.escape, book.template.split(SLOT)))) for book in found]

    def is_filled(book: Book) -> bool:
        for other, pattern in zip(found, patterns, strict=True):
            if other.succeeded < book.succeeded or len(other.slots) <= len(book.slots):
                continue
            if pattern.fullmatch(book.template):
                return True
        return False

    return [book for book in found if not is_filled(book)]


def _action(
    book: Book, names: Names, known: Collection[str], excluded: Excluded
) -> ActionModel | None:
    """The model of one action under a name not known yet; None where too little was seen of it."""
    wins = book.successes
    parameters = book.called(names)
    enough = len(wins) >= (1 if book.declared else LIMITS.fewest_successes)
    if parameters is None or not enough or re.search(r"\d", book.template):
        return None
    name = _free_name(book, known)
    if name is None:
        return None
    needs = needs_of(book, frozenset(excluded.needs.get(book.template, ())))
    outcomes = Outcomes(book, _needed_atoms(needs))
    tables = _kind_tables(name, parameters, needs, excluded)
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
        _effects(name, parameters, outcomes, excluded),
        tuple(outcomes.conditional),
        tuple(outcomes.observes()),
        sum(attempt.lost for attempt in wins),
        outcomes.ruinous(),
        tuple(attempt.witness for attempt in wins[: LIMITS.witnesses]),
        needs.literals(needs.required if few else needs.explaining),
        needs.literals(needs.likely if few else needs.explaining),
        {needs.literal(bit): chance for bit, chance in chances_of(needs).items()},
        circumstances(needs) if few else (),
    )


def _free_name(book: Book, known: Collection[str]) -> str | None:
    """The shortest beginning of an action's words that no other action has; None if all are taken.

    A tool's call has a name already. A command without slots is called by all of its words.
    """
    called = _CALL.match(book.template)
    words = [called[1]] if called else words_in(book.template.partition(SLOT)[0])
    if not words:
        return None
    whole = "_".join(words)
    choices = [] if book.slots else [whole]
    choices += ["_".join(words[:count]) for count in range(1, len(words) + 1)]
    choices += [f"{whole}_{letter}" for letter in "bcdefgh"]
    free = next((name for name in choices if name not in known), None)
    return free if free is not None and NAME.fullmatch(free) else None


def _needed_atoms(needs: Needs) -> frozenset[Atom]:
    """Facts that the action was found to need, alone or one of two."""
    literals = [*needs.literals(needs.tested)]
    for fact in needs.either:
        literals += fact.clause.literals
    return frozenset(literal.atom for literal in literals)


def _kind_tables(
    name: str, parameters: Sequence[str], needs: Needs, excluded: Excluded
) -> list[KindTable]:
    """Kinds with which the action works or is refused, without what verification contradicted."""
    tables = []
    for table in kind_tables(name, needs.book, needs.faultless):
        if needs.names_for_kinds and not table.refused:
            continue  # of names alone, that some worked says nothing
        title = "_".join((name, *(parameters[slot] for slot in table.slots)))
        refused = {
            kinds: steps
            for kinds, steps in table.refused.items()
            if (title, kinds) not in excluded.kinds
        }
        tables.append(replace(table, name=title, refused=refused, of_names=needs.names_for_kinds))
    return tables


def _effects(
    name: str, parameters: Sequence[str], outcomes: Outcomes, excluded: Excluded
) -> tuple[Induced, ...]:
    """Effects of an action, without those that did not come about."""
    bound = slots_of(parameters)
    return tuple(
        fact
        for fact in outcomes.effects()
        if (name, fact.clause.bind(bound).literals[0]) not in excluded.effects
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


def _makeable(
    models: Iterable[ActionModel], links: Iterable[Process], predicates: Mapping[str, Predicate]
) -> Makeable:
    """Predicates that actions make.

    The agent's place, for plans, is what actions make that change nothing else.
    """
    facts: set[str] = set()
    positional: set[str] = set()
    effects = [tuple(fact.clause.literals[0] for fact in model.effects) for model in models]
    effects += [link.schema.effects for link in links]
    for literals in effects:
        made = {each.atom.predicate for each in literals if not each.negated}
        ended = {each.atom.predicate for each in literals if each.negated}
        facts |= made
        facts |= {NOT + predicate for predicate in ended}
        if not ended and all(predicates[predicate].exclusive for predicate in made):
            positional |= made
    return Makeable(frozenset(facts), frozenset(positional))


class _Locality(NamedTuple):
    """A kind of thing that was found in a kind of place."""

    kind: str
    place: str
    steps: Sequence[Witness]  # Steps at which one was found there
    looked: int  # Looks into such places

    @property
    def share(self) -> float:
        return len(self.steps) / (self.looked + 1)


def _localities(sights: Iterable[Sights]) -> dict[str, dict[str, Support]]:
    """Places of each kind of thing, by how often one such place held it."""
    rows = []
    for sight in sights:
        for (kind, place), steps in sight.found.items():
            rows.append(_Locality(kind, place, steps, sight.looked[place]))
    rows.sort(key=lambda row: (row.kind, -row.share, row.place))
    found: dict[str, dict[str, Support]] = {}
    for row in rows:
        note = f"{len(row.steps)} of {row.looked} looked into"
        found.setdefault(row.kind, {})[row.place] = support_by(row.steps, note=note)
    return found


def schema_of(action: ActionModel, *, guessing: bool = False) -> ActionSchema:
    """An action as the manual has it.

    Guessing: it needs what explains refusals, whether that is certain or not.
    """
    needed = _guessed_needs(action) if guessing else _certain_needs(action)
    tables = [action.bind(Clause((table.literal,))) for table in action.tables]
    often = f"It ended the task for good {action.losses} times of {action.successes}."
    return ActionSchema(
        action.name,
        (action.syntax,),
        (*needed, *tables),
        tuple(action.bind(fact.clause).literals[0] for fact in action.effects),
        observes=tuple(_revelation(action, fact) for fact in action.observes),
        plan=() if guessing else tuple(_plan_needs(action)),
        steps=1 + round(LIMITS.ruin * action.losses / action.successes, 1),
        warnings=(often,) if action.losses and action.ruinous is None else (),
    )


def _certain_needs(action: ActionModel) -> list[Clause]:
    return [action.bind(fact.clause) for fact in action.labelled(Label.NECESSARY)]


def _guessed_needs(action: ActionModel) -> list[Clause]:
    """Facts that explain refusals, and pairs of which one has to hold."""
    alone = [action.bind(Clause((literal,))) for literal in action.explaining]
    pairs = [fact for fact in action.needs if len(fact.clause.literals) > 1 and not fact.note]
    return [*alone, *(action.bind(fact.clause) for fact in pairs)]


def _plan_needs(action: ActionModel) -> Iterator[Clause]:
    """Facts that a plan sees to beyond the needs: the rest of the safe bound, and the first of
    each doubtful pair.

    A plan does not find out before what the action itself reveals.
    """
    revealed = {fact.clause.literals[0].atom.predicate for fact in action.observes}
    for fact in action.labelled(Label.POSSIBLE):
        if not fact.unknown or fact.clause.literals[0].atom.predicate not in revealed:
            yield action.bind(fact.clause)
    for fact in action.labelled(Label.NECESSARY):
        if fact.note and len(fact.clause.literals) > 1:
            yield action.bind(Clause(fact.clause.literals[:1]))


def _revelation(action: ActionModel, fact: Induced) -> Revelation:
    given = (action.bind(fact.given),) if fact.given else ()
    return Revelation(action.bind(fact.clause).literals[0].atom, given)


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
    return RuleManual(
        tuple(_ruin_rules(learned)),
        tuple(schema_of(action, guessing=guessing) for action in learned.actions),
        _with_tables(learned),
        learned.world,
        (*_procedures(learned), *_purposes(learned)),
        _lore(learned, guessing=guessing),
    )


def _with_tables(learned: Learned) -> dict[str, Predicate]:
    """The world's predicates, and one for each learned table."""
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
    predicates |= {places.name: places.predicate for places in learned.maps}
    return predicates


def _procedures(learned: Learned) -> Iterator[Purpose]:
    """Goals in stages, and for goals of which only deeds are known: to get further."""
    for goal in learned.goals:
        if goal.staged:
            stages = tuple(goal.steps())
            yield Purpose(goal.type, goal.fields, stages, frozenset({goal.type}), staged=True)
    advancing = Stage("advance", (Clause((Literal(ADVANCED),)),))
    for type_ in (*learned.scoring, *learned.by_deed):
        yield Purpose(type_, {}, (advancing,), frozenset({type_}), staged=True)


def _purposes(learned: Learned) -> Iterator[Purpose]:
    """What has to hold for each goal."""
    for goal in learned.goals:
        wanted = tuple(Stage("", (fact.clause,)) for fact in goal.holds)
        yield Purpose(goal.type, goal.over, wanted, frozenset({goal.type}))


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
    facts = {}
    for table in learned.listed:
        facts[table.name] = {place: frozenset(row) for place, row in sorted(table.rows.items())}
    localities = {kind: tuple(places) for kind, places in learned.localities.items()}
    return Lore(tuple(schemas), localities=localities, kinds=kinds, facts=facts)


def _ruin_rules(learned: Learned) -> Iterator[Rule]:
    """A ban for each action that ended tasks for good in some state."""
    number = 0
    for action in learned.actions:
        if action.ruinous is None:
            continue
        number += 1
        clause = action.bind(action.ruinous.clause)
        literal = clause.literals[0]
        predicate = learned.predicates[literal.atom.predicate]
        said = predicate.say(literal.atom, Truth.of(not literal.negated))
        text = f"Never {action.name} while {said}: it ended the task for good."
        ban = Prohibition(action.name, (clause,))
        yield Rule(f"D-RUIN-{number:03}", Tier.DOMAIN, "ruin", text, forbids=(ban,))
