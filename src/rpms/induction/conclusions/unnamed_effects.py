"""Effects of an action on what its command does not name: the agent's place, the place it leads to,
some thing.

They are written as processes: uses of a command under a condition, which plans know beside the
action as such. `linked_attempts` has the attempts that they are concluded from.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rpms.induction.conclusions.action_effects import Outcomes
from rpms.induction.conclusions.action_model import ActionModel, Induced
from rpms.induction.conclusions.conditions import (
    Circumstance,
    circumstance,
    condition,
    conditions,
    view,
    without_repeats,
)
from rpms.induction.evidence.attempts import NAME, Attempt, Book
from rpms.induction.evidence.linked_attempts import Linked, Side, SideCount
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import SLOT, Names, fill
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import ANYTHING, Predicate
from rpms.store.evidence import Support, Witness


class Process(NamedTuple):
    """Use of a command, as a manual writes it, and its evidence."""

    schema: ActionSchema
    support: Support
    # Steps that it costs beyond its own where one explores: what may end the task comes last
    risk: float = 0.0


def processes(linked: Linked, base: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Uses of an action for plans beyond its schema. `base`: its attempts without places."""
    yield from _side_effects(linked, base, action, names)
    if linked.moves:
        yield from _where_it_leads(linked.far, action, names)
    else:
        yield from _where_one_stays(linked.near, action, names)
        yield from _changing_things(linked, base, action, names)


def _where_it_leads(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Effects and sights of moving at the place that the agent comes to, which is the last slot;
    the place that it comes from is the one before.
    """
    parameters = book.called(names)
    if not parameters:
        return
    *_, here, there = slots_of(parameters)
    when = _condition_at(here, there, book)
    if when is None:
        return
    effects = _effects_at(there, book, when)
    name = f"{action.name}_there"
    if effects.arriving:
        yield process_of(name, book.template, parameters, when, effects=effects.arriving)
    if effects.other:
        yield process_of(f"{name}_first", book.template, parameters, when, effects=effects.other)
    yield from _showing(name, parameters, when, book)


def _where_one_stays(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Effects and revelations at the agent's place, which is the last slot."""
    parameters = book.called(names)
    if not parameters:
        return
    *_, here = slots_of(parameters)
    when = _condition_at(here, here, book)
    if when is None:
        return
    effects = _effects_at(here, book, when)
    name = f"{action.name}_here"
    if effects.other:
        yield process_of(name, book.template, parameters, when, effects=effects.other)
    yield from _showing(name, parameters, when, book)


def _condition_at(here: str, there: str, book: Book) -> Circumstance | None:
    """A condition under which the agent does something at one place, in a slot, and gets to
    another; None where none is found.
    """
    when = condition(view(book, book.attempts), frozenset({here, there}))
    return None if when is None else _with_place(when, book, here)


class _EffectsAt(NamedTuple):
    """Effects at a place."""

    arriving: list[Literal]  # That the agent gets there
    other: list[Literal]


def _effects_at(place: str, book: Book, when: Circumstance) -> _EffectsAt:
    """The certain effects on a place, in a slot, under a condition."""
    predicates = book.vocabulary.predicates
    outcomes = Outcomes(book, frozenset(literal.atom for literal in when.literals))
    found = _EffectsAt([], [])
    for fact in outcomes.certain:
        literal = fact.literal
        if place not in literal.atom.args:
            continue
        if not predicates[literal.atom.predicate].exclusive:
            found.other.append(literal)
        elif not literal.negated:
            found.arriving.append(literal)
    return found


def _with_place(when: Circumstance, book: Book, place: str) -> Circumstance:
    """A condition that says, at its end, where the agent is.

    This fact held in every attempt, and therefore explains none.
    """
    placing = {predicate.name for predicate in book.vocabulary.placing}
    facts_of_place = [atom for atom in book.facts if atom.args == (place,)]
    is_here = Literal(next(atom for atom in facts_of_place if atom.predicate in placing))
    rest = []
    for literal in when.literals:
        if literal != is_here:
            rest.append(_related(literal, place, book.vocabulary))
    return replace(when, literals=(*dict.fromkeys(rest), is_here))


def _and(when: Circumstance, literals: Iterable[Literal]) -> Circumstance:
    """A condition with further facts after its own."""
    return replace(when, literals=tuple(dict.fromkeys((*when.literals, *literals))))


def _showing(
    name: str, parameters: Sequence[str], when: Circumstance, book: Book
) -> Iterator[Process]:
    """Facts that become known of all in the last slot's place, often enough to try, and what
    held where they did.
    """
    place = str(len(book.slots) - 1)
    for bit, atom in enumerate(book.revelations):
        if place not in atom.args or len(atom.args) > 2:
            continue
        if book.vocabulary.predicates[atom.predicate].exclusive:
            # destinations are not looked for: plans would take every way that nobody knows
            continue
        shown = _when_shown(book, bit, atom)
        if shown is None or shown.confirmed < LIMITS.several:
            continue
        args = ["all" if arg == ANYTHING else "its" for arg in atom.args]
        title = "_".join((name, "shows", atom.predicate, *args))
        only_when = _and(shown, when.literals)
        revelation = Revelation(atom)
        yield process_of(title, book.template, parameters, only_when, observes=[revelation])


def _when_shown(book: Book, bit: int, atom: Atom) -> Circumstance | None:
    """The first condition under which an attempt makes a revelation that was not known before."""
    probe = book.probes.get(atom)
    since = probe.since if probe is not None else 0
    unknown_before = []
    for attempt in book.attempts[since:]:
        if not attempt.refused and not attempt.revealed >> bit & 1:
            unknown_before.append(attempt)

    def showed(attempt: Attempt) -> bool:
        return bool(attempt.revealed_after >> bit & 1)

    attempts = without_repeats(view(book, unknown_before, showed))
    return next(conditions(attempts, LIMITS.sometimes, LIMITS.mostly), None)


def _changing_things(
    linked: Linked, base: Book, action: ActionModel, names: Names
) -> Iterator[Process]:
    """Effects that come sometimes, on things that the action does not name: nobody can tell of
    which before.
    """
    changed: defaultdict[str, set[str]] = defaultdict(set)
    for stay in linked.stays:
        for predicate, (thing,) in stay.came:
            changed[predicate].add(thing)
    for predicate, things in changed.items():
        role = _shared_role(things, action, names)
        if len(things) < LIMITS.several or not role:
            continue
        when = _when_changed(linked, base, predicate)
        if when is None:
            continue
        title = f"{action.name}_{predicate}"
        effect = Literal(Atom(predicate, (role,)))
        needed = _and(when, action.guessed)
        yield process_of(title, linked.template, action.parameters, needed, effects=[effect])


def _shared_role(things: Iterable[str], action: ActionModel, names: Names) -> str:
    """The narrowest role that some things share and that no parameter has; empty if none is."""
    shared = set.intersection(*map(names.roles_of, things))
    free = shared - set(action.parameters)
    return min(free, key=names.order.__getitem__, default="")


def _when_changed(linked: Linked, base: Book, predicate: str) -> Circumstance | None:
    """The first condition under which an action makes a fact true of something it does not name."""
    has_changed: dict[Witness, bool] = {}
    for stay in linked.stays:
        came = [atom.predicate for atom in stay.came]
        has_changed[stay.attempt.witness] = predicate in came
    stays = [attempt for attempt in base.attempts if attempt.witness in has_changed]
    attempts = without_repeats(view(base, stays, lambda one: has_changed[one.witness]))
    return next(conditions(attempts), None)


def _side_effects(
    linked: Linked, base: Book, action: ActionModel, names: Names
) -> Iterator[Process]:
    """Effects on a thing that the command does not name, by the relation that tells which thing
    that is.
    """
    has_place = bool(linked.near.slots)
    parameters = (linked.near if has_place else base).called(names)
    if parameters is None:
        return
    needs: Sequence[Literal] = action.guessed
    if has_place:
        needs = _needs_at_place(action, str(len(parameters) - 1), linked.vocabulary)
    slot = {ANYTHING: str(len(parameters))}  # Of the thing that is not named
    for side, count in _reliable_sides(linked, parameters):
        related = Literal(side.relation.bind(slot))
        literals = tuple(dict.fromkeys((related, *needs)))
        when = circumstance(literals, [*count.good.values()], len(count.bad))
        title = f"{action.name}_{side.effect.atom.predicate}"
        roles = (*parameters, _role_of_other(side.relation, linked.vocabulary))
        effect = side.effect.bind(slot)
        yield process_of(title, linked.template, roles, when, effects=[effect])


def _reliable_sides(linked: Linked, parameters: Container[str]) -> Iterator[tuple[Side, SideCount]]:
    """For each side effect that mostly came about, the relation by which it did most often, of
    those to a thing whose role no parameter has.
    """
    found: set[Literal] = set()
    sides = linked.sides
    for side in sorted(sides, key=lambda side: len(sides[side].good), reverse=True):
        role = _role_of_other(side.relation, linked.vocabulary)
        is_writable = role not in parameters and NAME.fullmatch(role)
        if side.effect not in found and is_writable and sides[side].is_reliable:
            found.add(side.effect)
            yield side, sides[side]


def _needs_at_place(action: ActionModel, here: str, vocabulary: Vocabulary) -> list[Literal]:
    """Needs of an action at a place, in a slot, and that the agent is there."""
    needs = [_related(literal, here, vocabulary) for literal in action.guessed]
    return [*needs, Literal(Atom(vocabulary.placing[0].name, (here,)))]


def _role_of_other(relation: Atom, vocabulary: Vocabulary) -> str:
    """The role of the thing that a relation is about and that no command names."""
    roles = vocabulary.predicates[relation.predicate].args
    return roles[relation.args.index(ANYTHING)]


def _related(literal: Literal, here: str, vocabulary: Vocabulary) -> Literal:
    """A fact that a thing is near, told by the relation that it follows from: `here(0)` at
    place 1 is `with(1, 0)`.

    A plan would else go to the thing, and then away from it to the place.
    """
    relation = _relation_behind(literal, vocabulary)
    if relation is None or literal.atom.args == (here,):
        return literal
    (thing,) = literal.atom.args
    args = [here if role == vocabulary.place_role else thing for role in relation.args]
    return Literal(Atom(relation.name, tuple(args)))


def _relation_behind(literal: Literal, vocabulary: Vocabulary) -> Predicate | None:
    """The relation of a thing to a place from which it follows that the thing is near; None for
    other facts.
    """
    near = vocabulary.predicates.get(literal.atom.predicate)
    if near is None or literal.negated:
        return None
    relation = vocabulary.predicates.get(near.companion)
    if relation is None or len(relation.args) != 2:
        return None
    return relation if relation.args.count(vocabulary.place_role) == 1 else None


def process_of(
    name: str,
    template: str,
    parameters: Sequence[str],
    when: Circumstance,
    *,
    effects: Sequence[Literal] = (),
    observes: Sequence[Revelation] = (),
) -> Process:
    """Use of a command under a condition, over the names of its slots; what often fails costs
    more.
    """
    bound = slots_of(parameters)
    syntax = fill(template, [f"<{each}>" for each in parameters[: template.count(SLOT)]])
    needs = [literal.bind(bound) for literal in when.literals]
    made = [literal.bind(bound) for literal in effects]
    schema = ActionSchema(
        name,
        (syntax,),
        tuple(Clause((need,)) for need in needs),
        tuple(made),
        observes=tuple(shown.bind(bound) for shown in observes),
        steps=round(1 / when.share, 1),
        others=_unnamed(syntax, parameters, needs, made),
    )
    return Process(schema, when)


def _unnamed(
    syntax: str, parameters: Iterable[str], needs: Iterable[Literal], made: Iterable[Literal]
) -> tuple[str, ...]:
    """Roles of things that a process is about and its command does not name."""
    spoken_of: dict[str, None] = {}
    for literal in (*needs, *made):
        spoken_of |= dict.fromkeys(literal.atom.args)
    roles = set(parameters)
    for literal in made:
        roles.update(literal.atom.args)
    return tuple([arg for arg in spoken_of if arg in roles and f"<{arg}>" not in syntax])


def processes_by_role(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """For each slot that takes names in several roles: what becomes known in one of them, and
    not in all.
    """
    for slot in range(len(action.parameters)):
        for role in _roles_of_some(book, slot, action, names):
            done = [row for row in book.successes if role in names.roles_of(row.names[slot])]
            shown = []
            for fact in _shown_only_by(done, book, action):
                roles = _roles_in(fact.literal.atom, slot, book.vocabulary, names)
                if roles is not None and roles <= {role}:
                    shown.append(fact.revelation)
            if not shown:
                continue
            title = f"{action.name}_{role}"
            parameters = [*action.parameters]
            parameters[slot] = role
            when = circumstance(action.guessed, [attempt.witness for attempt in done])
            yield process_of(title, book.template, parameters, when, observes=shown)


def _roles_of_some(book: Book, slot: int, action: ActionModel, names: Names) -> list[str]:
    """Roles of some of the names that worked in a slot, and not of all, in the world's order.

    Those that a parameter is called by, and those that cannot be written as one, are left out.
    """
    filled = {attempt.names[slot] for attempt in book.successes}
    roles_of_each = [names.roles_of(name) for name in filled]
    of_any = set.union(*roles_of_each)
    of_all = set.intersection(*roles_of_each)
    writable = []
    for role in of_any - of_all - set(action.parameters):
        if NAME.fullmatch(role):
            writable.append(role)
    return sorted(writable, key=names.order.__getitem__)


def _shown_only_by(rows: Iterable[Attempt], book: Book, action: ActionModel) -> list[Induced]:
    """Revelations of some attempts, beyond those of the action as such."""
    shown_always = {fact.clause for fact in action.observes}
    needed = frozenset(literal.atom for literal in action.guessed)
    shown = Outcomes(view(book, rows), needed).observes()
    return [fact for fact in shown if fact.clause not in shown_always]


def _roles_in(atom: Atom, slot: int, vocabulary: Vocabulary, names: Names) -> frozenset[str] | None:
    """The roles of names in which a fact is about a slot; None if it is not about it."""
    if str(slot) not in atom.args:
        return None
    declared = vocabulary.predicates[atom.predicate].args
    roles = set()
    for arg, role in zip(atom.args, declared, strict=True):
        if arg == str(slot) and role in names.order:
            roles.add(role)
    return frozenset(roles)
