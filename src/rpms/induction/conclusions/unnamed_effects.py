"""Effects of an action on what its command does not name: the agent's place, the place it leads to,
some thing.

They are written as processes: uses of a command under a condition, which plans know beside the
action as such. `linked_attempts` has the attempts that they are concluded from.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
from rpms.logic.facts import Atom, Clause, Literal, grouped
from rpms.logic.rules import ANYTHING, Predicate
from rpms.store.evidence import Support


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
        yield from _at_places(linked.far, action, names, moving=True)
    else:
        yield from _at_places(linked.near, action, names, moving=False)
        yield from _changing_things(linked, base, action, names)


def _at_places(book: Book, action: ActionModel, names: Names, *, moving: bool) -> Iterator[Process]:
    """Effects and revelations at the agent's place, which is the last slot.

    Of moving: at the place where it gets, which comes after the agent's.
    """
    slots = [str(slot) for slot in range(len(book.slots))]
    places = slots[-2:] if moving else slots[-1:]
    parameters = book.called(names)
    when = condition(view(book, book.attempts), frozenset(places))
    if parameters is None or when is None:
        return
    when = _with_place(when, book, places[0])
    effects = _effects_at(places[-1], book, when)
    if moving:
        name = f"{action.name}_there"
        name_of_other = f"{name}_first"
    else:
        name = name_of_other = f"{action.name}_here"
    if effects.arriving and moving:
        yield process_of(name, book.template, parameters, when, effects.arriving)
    if effects.other:
        yield process_of(name_of_other, book.template, parameters, when, effects.other)
    yield from _showing(name, parameters, when, book)


class _EffectsAt(NamedTuple):
    """Effects at a place."""

    arriving: list[Literal]  # That the agent gets there
    other: list[Literal]


def _effects_at(place: str, book: Book, when: Circumstance) -> _EffectsAt:
    """What is certain to become of a place, in a slot, under a condition."""
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
    here = Literal(next(atom for atom in facts_of_place if atom.predicate in placing))
    rest = []
    for each in when.literals:
        if each != here:
            rest.append(_related(each, place, book.vocabulary))
    return replace(when, literals=(*dict.fromkeys(rest), here))


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
        yield process_of(title, book.template, parameters, only_when, (), [Revelation(atom)])


def _when_shown(book: Book, bit: int, atom: Atom) -> Circumstance | None:
    """The first condition under which an attempt makes a revelation that was not known before."""
    probe = book.probes.get(atom)
    since = probe.since if probe is not None else 0
    rows = [row for row in book.attempts[since:] if not row.refused and not row.revealed >> bit & 1]
    shown = view(book, rows, lambda row: bool(row.revealed_after >> bit & 1))
    return next(conditions(without_repeats(shown), LIMITS.sometimes, LIMITS.mostly), None)


def _changing_things(
    linked: Linked, base: Book, action: ActionModel, names: Names
) -> Iterator[Process]:
    """Effects that come sometimes, on things that the action does not name: nobody can tell of
    which before.
    """
    changes: list[Atom] = []
    for stay in linked.stays:
        changes += stay.came
    things = grouped((atom.predicate, atom.args[0]) for atom in changes)
    for predicate, changed in things.items():
        role = _shared_role(changed, action, names)
        if len(set(changed)) < LIMITS.several or not role:
            continue
        when = _when_changed(linked, base, predicate)
        if when is None:
            continue
        title = f"{action.name}_{predicate}"
        effect = Literal(Atom(predicate, (role,)))
        needed = _and(when, action.guessed)
        yield process_of(title, linked.template, action.parameters, needed, [effect])


def _shared_role(things: Iterable[str], action: ActionModel, names: Names) -> str:
    """The narrowest role that some things share and that no parameter has; empty if none is."""
    shared = set.intersection(*(names.roles_of(thing) for thing in things))
    free = shared - set(action.parameters)
    return min(free, key=names.order.__getitem__, default="")


def _when_changed(linked: Linked, base: Book, predicate: str) -> Circumstance | None:
    """The first condition under which an action makes a fact true of something it does not name."""
    changed = {}  # By step
    for stay in linked.stays:
        came = [atom.predicate for atom in stay.came]
        changed[stay.attempt.witness] = predicate in came
    rows = [attempt for attempt in base.attempts if attempt.witness in changed]
    shown = view(base, rows, lambda attempt: changed[attempt.witness])
    return next(conditions(without_repeats(shown)), None)


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
        yield process_of(title, linked.template, roles, when, [side.effect.bind(slot)])


def _reliable_sides(linked: Linked, parameters: Container[str]) -> Iterator[tuple[Side, SideCount]]:
    """For each side effect that mostly came about, the relation by which it did most often, of
    those to a thing whose role no parameter has.
    """
    found: set[Literal] = set()
    for side, count in _often_first(linked.sides):
        role = _role_of_other(side.relation, linked.vocabulary)
        is_writable = role not in parameters and NAME.fullmatch(role)
        if side.effect not in found and is_writable and count.is_reliable:
            found.add(side.effect)
            yield side, count


def _often_first(sides: Mapping[Side, SideCount]) -> list[tuple[Side, SideCount]]:
    """Side effects, those that came about most often first."""
    return sorted(sides.items(), key=lambda item: -len(item[1].good))


def _needs_at_place(action: ActionModel, here: str, vocabulary: Vocabulary) -> list[Literal]:
    """Needs of an action at a place, in a slot, and that the agent is there."""
    needs = [_related(literal, here, vocabulary) for literal in action.guessed]
    return [*needs, Literal(Atom(vocabulary.placing[0].name, (here,)))]


def _role_of_other(relation: Atom, vocabulary: Vocabulary) -> str:
    """The role of the thing that a relation is about and that no command names."""
    return vocabulary.predicates[relation.predicate].args[relation.args.index(ANYTHING)]


def _related(literal: Literal, here: str, vocabulary: Vocabulary) -> Literal:
    """A fact that a thing is near, told by the relation that it follows from: `here(0)` at
    place 1 is `with(1, 0)`.

    A plan would else go to the thing, and then away from it to the place.
    """
    relation = _relation_behind(literal, vocabulary)
    if relation is None or literal.atom.args == (here,):
        return literal
    (thing,) = literal.atom.args
    place_role = vocabulary.placing[0].args[0]
    args = tuple(here if role == place_role else thing for role in relation.args)
    return Literal(Atom(relation.name, args))


def _relation_behind(literal: Literal, vocabulary: Vocabulary) -> Predicate | None:
    """The relation of a thing to a place from which it follows that the thing is near; None for
    other facts.
    """
    near = vocabulary.predicates.get(literal.atom.predicate)
    if near is None or literal.negated:
        return None
    relation = vocabulary.predicates.get(near.companion)
    place_role = vocabulary.placing[0].args[0]
    if relation is None or len(relation.args) != 2 or relation.args.count(place_role) != 1:
        return None
    return relation


def process_of(
    name: str,
    template: str,
    parameters: Sequence[str],
    when: Circumstance,
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
    used: dict[str, None] = {}
    for literal in (*needs, *made):
        used |= dict.fromkeys(literal.atom.args)
    roles = set(parameters)
    for literal in made:
        roles.update(literal.atom.args)
    found = []
    for arg in used:
        if arg in roles and f"<{arg}>" not in syntax:
            found.append(arg)
    return tuple(found)


def processes_by_role(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """For each slot that takes names in several roles: what becomes known in one of them, and
    not in all.
    """
    for slot, parameter in enumerate(action.parameters):
        for role in _roles_of_some(book, slot, action, names):
            rows = _done_with(book, slot, role, names)
            shown = _shown_of_role(rows, book, action, slot, role, names)
            if not shown:
                continue
            title = f"{action.name}_{role}"
            parameters = [role if each == parameter else each for each in action.parameters]
            when = circumstance(action.guessed, [attempt.witness for attempt in rows])
            yield process_of(title, book.template, parameters, when, (), shown)


def _shown_of_role(
    rows: Iterable[Attempt], book: Book, action: ActionModel, slot: int, role: str, names: Names
) -> list[Revelation]:
    """What some attempts show of a slot, as something in a role, beyond what the action shows."""
    shown = []
    for fact in _shown_only_by(rows, book, action):
        if _is_about(fact.literal.atom, slot, role, book.vocabulary, names):
            shown.append(fact.revelation)
    return shown


def _done_with(book: Book, slot: int, role: str, names: Names) -> list[Attempt]:
    """Successes with a name in a role in a slot."""
    return [row for row in book.successes if role in names.roles_of(row.names[slot])]


def _roles_of_some(book: Book, slot: int, action: ActionModel, names: Names) -> list[str]:
    """Roles of some of the names that worked in a slot, and not of all, in the world's order.

    Those that a parameter is called by, and those that cannot be written as one, are left out.
    """
    filled = {attempt.names[slot] for attempt in book.successes}
    every = [names.roles_of(name) for name in filled]
    some = every[0].union(*every) - every[0].intersection(*every)
    writable = []
    for role in some - set(action.parameters):
        if NAME.fullmatch(role):
            writable.append(role)
    return sorted(writable, key=names.order.__getitem__)


def _shown_only_by(rows: Iterable[Attempt], book: Book, action: ActionModel) -> list[Induced]:
    """Revelations of some attempts, beyond those of the action as such."""
    of_all = {fact.clause for fact in action.observes}
    needed = frozenset(literal.atom for literal in action.guessed)
    revelations = Outcomes(view(book, rows), needed).observes()
    return [fact for fact in revelations if fact.clause not in of_all]


def _is_about(atom: Atom, slot: int, role: str, vocabulary: Vocabulary, names: Names) -> bool:
    """True if a fact is about a slot, as something in a role."""
    declared = vocabulary.predicates[atom.predicate].args
    roles = []
    for arg, each in zip(atom.args, declared, strict=True):
        if arg == str(slot):
            roles.append(each)
    return bool(roles) and all(each == role or each not in names.order for each in roles)
