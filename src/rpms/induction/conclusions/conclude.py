"""From all that was seen to conclusions: actions, kinds, goals, and where things are found."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple

from rpms.induction.conclusions.action_effects import Outcomes
from rpms.induction.conclusions.action_model import (
    ActionModel,
    Induced,
    KindTable,
    kind_tables,
    support_by,
)
from rpms.induction.conclusions.deed_processes import ADVANCED, deed_processes, looks
from rpms.induction.conclusions.deeds import deeds_of, winning_deeds
from rpms.induction.conclusions.goal_models import GoalModel, Makeable, goal_model
from rpms.induction.conclusions.ledger import Ledger, Sights
from rpms.induction.conclusions.looks_around import taken_once
from rpms.induction.conclusions.need_chances import chances_of
from rpms.induction.conclusions.needs import Needs, needs_of
from rpms.induction.conclusions.place_maps import PlaceTable
from rpms.induction.conclusions.scores import Deed, ScoreTable
from rpms.induction.conclusions.surroundings import surroundings
from rpms.induction.conclusions.unnamed_effects import Process, processes, processes_by_role
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import Names, beginning_of, pattern_of, words_in
from rpms.induction.evidence.wants import atom_of
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Literal
from rpms.logic.rules import ANYTHING, Predicate
from rpms.store.evidence import Support, Witness

_CALL = re.compile(r"(?P<tool>[a-z][a-z0-9_]*)\(")
"""Beginning of a tool's call, which has a name already."""


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
    by_template = {model.template: model for model in models}
    links = _links(ledger, by_template)
    scoring = _scoring_deeds(ledger, by_template, links)
    made = _makeable(models, links, ledger.vocabulary.predicates)
    goals = _goals(ledger, made, scoring.goals)
    standing = [goal for goal in goals if goal.stands]
    known = {*scoring.goals}
    known.update(goal.type for goal in standing)
    winning = _winning_deeds(ledger, by_template, known)
    processes = (*links, *scoring.processes, *winning.processes)
    return Learned(
        ledger.world.name,
        predicates=_predicates(ledger, advancing=bool(scoring.goals or winning.goals)),
        actions=models,
        goals=tuple(standing),
        localities=_localities(ledger.sights.values()),
        processes=_without_excluded(processes, excluded),
        scoring=scoring.goals,
        by_deed=winning.goals,
        tables=scoring.tables,
        refuted=tuple(goal for goal in goals if not goal.stands),
        maps=tuple(each.table() for each in ledger.maps.values()),
    )


def reconsidered(learned: Learned, ledger: Ledger, template: str) -> Learned:
    """Conclusions with those about one action drawn anew, where the world declares its commands."""
    others = {}
    for action in learned.actions:
        if action.template != template:
            others[action.name] = action
    model = _action(ledger.books[template], ledger.names, others, Excluded())
    if model is None:
        return learned
    return replace(learned, actions=(*others.values(), model))


# Actions.


def _models(ledger: Ledger, excluded: Excluded) -> tuple[ActionModel, ...]:
    """A model of each action of which enough was seen."""
    models: dict[str, ActionModel] = {}
    for book in _actions(ledger.books.values()):
        model = _action(book, ledger.names, models, excluded)
        if model is None:
            continue
        linked = ledger.linked.get(book.template)
        if linked is not None and linked.moves:
            model = _without_sights(model)
        models[model.name] = model
    return tuple(models.values())


def _actions(books: Iterable[Book]) -> list[Book]:
    """The books of actions.

    A template with a name in it that nobody knows for one, `disconnect air`, is no action: another
    that succeeded as often has a slot where the name stands.
    """
    every = [*books]
    found: list[Book] = []
    for book in every:
        if not any(_has_slot_for(other, book) for other in every):
            found.append(book)
    return found


def _has_slot_for(other: Book, book: Book) -> bool:
    """True if an action that succeeded as often has a slot where another's template has a name."""
    if other.succeeded < book.succeeded or len(other.slots) <= len(book.slots):
        return False
    return pattern_of(other.template).fullmatch(book.template) is not None


def _without_sights(model: ActionModel) -> ActionModel:
    """A model of moving, which shows nothing of things in general.

    Things seen at another place depend on where it leads: its process says that.
    """
    shown = []
    for fact in model.observes:
        about_nothing_else = set(fact.literal.atom.args) == {ANYTHING}
        if not about_nothing_else:
            shown.append(fact)
    return replace(model, observes=tuple(shown))


def _action(
    book: Book, names: Names, known: Collection[str], excluded: Excluded
) -> ActionModel | None:
    """The model of one action under a name not known yet; None where too little was seen of it."""
    parameters = book.called(names)
    name = _free_name(book, known)
    if parameters is None or name is None or not _has_worked(book):
        return None
    wins = book.successes
    needs = needs_of(book, frozenset(excluded.needs.get(book.template, ())))
    tables = _kind_tables(name, parameters, needs, excluded)
    outcomes = Outcomes(book, _needed_atoms(needs))
    explaining = needs.explanations.explaining
    likely = explaining
    around: tuple[Literal, ...] = ()
    if len(wins) < LIMITS.few_successes:
        # until it has worked often, plans see to all that may be needed
        explaining = needs.explanations.required
        likely = needs.explanations.likely
        around = surroundings(needs.table)
    return ActionModel(
        name,
        book.template,
        parameters,
        successes=len(wins),
        refusals=len(book.attempts) - len(wins),
        unexplained=needs.faultless.unexplained(tables),
        needs=tuple(needs.facts()),
        tables=tuple(tables),
        effects=_effects(name, parameters, outcomes, excluded),
        conditional=tuple(outcomes.conditional),
        observes=tuple(outcomes.observes()),
        losses=sum(attempt.lost for attempt in wins),
        ruinous=outcomes.ruinous(),
        witnesses=tuple(attempt.witness for attempt in wins[: LIMITS.witnesses]),
        explaining=needs.table.literals(explaining),
        likely=needs.table.literals(likely),
        chances=_chances_by_literal(needs),
        surroundings=around,
    )


def _chances_by_literal(needs: Needs) -> dict[Literal, float]:
    """The chance that each fact is needed."""
    return {needs.table.literal(bit): chance for bit, chance in chances_of(needs).items()}


def _has_worked(book: Book) -> bool:
    """True if an action worked often enough, and has no number in it that belongs to a name."""
    fewest = 1 if book.declared else LIMITS.fewest_successes
    return len(book.successes) >= fewest and not re.search(r"\d", book.template)


def _free_name(book: Book, known: Collection[str]) -> str | None:
    """The shortest beginning of an action's words that no other action has; None if all are taken.

    A tool's call has a name already. A command without slots is called by all of its words.
    """
    call = _CALL.match(book.template)
    words = [call["tool"]] if call else words_in(beginning_of(book.template))
    choices = list(accumulate(words, "{}_{}".format))
    if not choices:
        return None
    whole = choices[-1]
    if not book.slots:
        choices.insert(0, whole)
    for letter in "bcdefgh":
        choices.append(f"{whole}_{letter}")
    for name in choices:
        if name not in known:
            return name
    return None


def _needed_atoms(needs: Needs) -> frozenset[Atom]:
    """Facts that the action was found to need, alone or one of two."""
    literals = [*needs.table.literals(needs.bound.tested)]
    for fact in needs.pairs.found:
        literals += fact.clause.literals
    return frozenset(literal.atom for literal in literals)


def _kind_tables(
    name: str, parameters: Sequence[str], needs: Needs, excluded: Excluded
) -> list[KindTable]:
    """Kinds with which the action works or is refused, without what verification contradicted."""
    tables = []
    for table in kind_tables(name, parameters, needs.table.book, needs.faultless.found):
        if needs.table.names_for_kinds and not table.refused:
            continue  # of names alone, that some worked says nothing
        refused = dict(table.refused)
        for title, kinds in excluded.kinds:
            if title == table.name:
                refused.pop(kinds, None)
        tables.append(replace(table, refused=refused, of_names=needs.table.names_for_kinds))
    return tables


def _effects(
    name: str, parameters: Sequence[str], outcomes: Outcomes, excluded: Excluded
) -> tuple[Induced, ...]:
    """Effects of an action, without those that did not come about."""
    slots = slots_of(parameters)
    found = []
    for fact in outcomes.effects():
        if (name, fact.literal.bind(slots)) not in excluded.effects:
            found.append(fact)
    return tuple(found)


# Processes.


def _links(ledger: Ledger, models: Mapping[str, ActionModel]) -> list[Process]:
    """Effects of commands on things they do not name, then those that depend on a role.

    `models`: by template, here and below.
    """
    found: list[Process] = []
    for template, linked in ledger.linked.items():
        if template in models:
            found += processes(linked, ledger.books[template], models[template], ledger.names)
    for template, model in models.items():
        found += processes_by_role(ledger.books[template], model, ledger.names)
    return taken_once(found)


class _Deeds(NamedTuple):
    """Actions that serve goals of some types, and these as processes."""

    deeds: Sequence[Deed]
    processes: Sequence[Process]

    @property
    def goals(self) -> tuple[str, ...]:
        """The types of goals, each once; none where no process came of the deeds."""
        if not self.processes:
            return ()
        return tuple(dict.fromkeys(deed.goal for deed in self.deeds))

    @property
    def tables(self) -> tuple[ScoreTable, ...]:
        return tuple([deed.table for deed in self.deeds if deed.table is not None])


def _scoring_deeds(
    ledger: Ledger, models: Mapping[str, ActionModel], links: Sequence[Process]
) -> _Deeds:
    """Actions that score, for each type of goal; orders as a whole are one of the actions."""
    if not ledger.scores:
        return _Deeds((), ())
    books = [ledger.books[template] for template in models]
    books.append(ledger.orders)
    effects = {}
    for template, model in models.items():
        effects[template] = tuple([effect.literal for effect in model.effects])
    deeds: list[Deed] = []
    for type_ in ledger.goals:
        deeds += deeds_of(books, type_, ledger.names, ledger.ties, effects)
    scored = deed_processes(deeds, models, ledger.names)
    return _Deeds(deeds, [*scored, *looks(deeds, links)])


def _winning_deeds(
    ledger: Ledger, models: Mapping[str, ActionModel], known: Collection[str]
) -> _Deeds:
    """Actions that won, for each type of goal of which nothing else is known."""
    books = [ledger.books[template] for template in models]
    deeds: list[Deed] = []
    for type_, goal in ledger.goals.items():
        if type_ not in known and len(goal.wins) >= LIMITS.several:
            deeds += winning_deeds(books, type_, ledger.names)
    return _Deeds(deeds, list(deed_processes(deeds, models, ledger.names, "win")))


def _without_excluded(found: Iterable[Process], excluded: Excluded) -> tuple[Process, ...]:
    """Processes without the effects that verification found wrong; one that has neither effects nor
    sights left is none.
    """
    kept = []
    for process in found:
        schema = process.schema
        right = []
        for effect in schema.effects:
            if (schema.name, effect) not in excluded.effects:
                right.append(effect)
        if right or schema.observes or not schema.effects:
            schema = replace(schema, effects=tuple(right))
            kept.append(process._replace(schema=schema))
    return tuple(kept)


def _predicates(ledger: Ledger, *, advancing: bool) -> dict[str, Predicate]:
    """The belief's predicates, and one for getting further where deeds do."""
    predicates = dict(ledger.vocabulary.predicates)
    if advancing:
        name = ADVANCED.predicate
        predicates[name] = Predicate(name, (), "the task got further", "nothing was scored")
    return predicates


# Goals and places.


def _goals(ledger: Ledger, made: Makeable, scoring: Collection[str]) -> list[GoalModel]:
    """The goals of which it is known what they want, whether or not this stands.

    `scoring`: types of which it is known what scores, which says more.
    """
    found = []
    for type_, book in ledger.goals.items():
        model = goal_model(book, made)
        if model is not None and type_ not in scoring:
            found.append(model)
    return found


def _makeable(
    models: Iterable[ActionModel], links: Iterable[Process], predicates: Mapping[str, Predicate]
) -> Makeable:
    """Predicates that actions make.

    The agent's place, for plans, is what actions make that change nothing else.
    """
    exclusive = {name for name, predicate in predicates.items() if predicate.exclusive}
    facts: set[str] = set()
    positional: set[str] = set()
    for literals in _all_effects(models, links):
        changed = {atom_of(literal).predicate for literal in literals}
        facts |= changed
        if changed <= exclusive:
            positional |= changed
    return Makeable(frozenset(facts), frozenset(positional))


def _all_effects(
    models: Iterable[ActionModel], links: Iterable[Process]
) -> Iterator[Sequence[Literal]]:
    """The effects of each action and of each process."""
    for model in models:
        yield [fact.literal for fact in model.effects]
    for link in links:
        yield link.schema.effects


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
