"""Effects of an action on what its command does not name: the agent's place, the place it leads to,
some thing.

`move north` says nothing of rooms. With the room that one is in, and the one that one comes to, as
two more slots, what it needs and does is a matter of facts again: `leads(room, north, other)`. Of
the rooms that one did not come to, some count as failed attempts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from rpms.induction.action_effects import Outcomes
from rpms.induction.action_model import ActionModel, Induced, seen
from rpms.induction.attempts import NAME, Attempt, Book, SeenStep, Vocabulary, slots_of
from rpms.induction.conditions import Circumstance, condition, conditions, view
from rpms.induction.templates import SLOT, Names, fill
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.belief import Belief, FactBelief
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.rules import ANYTHING
from rpms.store.evidence import Support, Witness


def unseen_name(before: Belief, after: Belief) -> str:
    """The name by which a belief knew the place of the agent before it was entered; else the
    place's own.
    """
    here = before.location or ""
    there = after.location or ""
    if there == here or not isinstance(before, FactBelief):
        return there
    if any(there in names for names in before.names.values()):
        return there
    ways = [atom for atom, holds in before.known.items() if holds and len(atom.args) > 1]
    for atom in ways:
        if here in atom.args and after.truth(atom) is Truth.FALSE:
            for name in atom.args:
                if name != here and _leads_to(atom, name, there, after):
                    return name
    return there


def _leads_to(atom: Atom, name: str, there: str, after: Belief) -> bool:
    """True if a fact that spoke of a name speaks of a place by now."""
    args = tuple(there if arg == name else arg for arg in atom.args)
    return after.truth(Atom(atom.predicate, args)) is Truth.TRUE


class Process(NamedTuple):
    """Use of a command, as a manual writes it, and its evidence."""

    schema: ActionSchema
    support: Support
    # Steps that it costs beyond its own where one explores: what may end the task comes last
    risk: float = 0.0


class Side(NamedTuple):
    """An effect on a thing that the command does not name (`_`), and the relation that says which
    thing that is. Opening a door frees a way: `not blocked(1, _)` where `door(0, 1, _)`.

    The last slot is the agent's place, where the agent is at one.
    """

    effect: Literal
    relation: Atom


class SideCount(NamedTuple):
    """Steps at which a side effect came about, and steps at which it did not.

    Where nobody knew of any thing in that relation, a step counts for neither.
    """

    good: list[Witness]
    bad: list[Witness]


SideEffects = dict[Side, SideCount]


class _Recorder(NamedTuple):
    """An attempt that is recorded with places as further slots."""

    attempt: Attempt
    step: SeenStep
    known: Names
    dice: Random

    def record(
        self, book: Book, places: tuple[str, ...], *, refused: bool, later: tuple[str, ...] = ()
    ) -> None:
        """Record it in a book. A refusal is none before the action has worked.

        `later`: the places by their names after the step.
        """
        if refused and not book.slots:
            return
        names = (*self.attempt.names, *places)
        then = (*self.attempt.names, *(later or places))
        step = self.step._replace(refused=refused)
        found = book.record(step, names, self.known, self.dice, then)
        shown = 0
        if not refused:
            shown = self._shown_at_last(book, then)
        book.add(found._replace(known_after=found.known_after | shown), self.known)

    def _shown_at_last(self, book: Book, names: tuple[str, ...]) -> int:
        """Revelations about the last place of which something was found: entering a room shows
        some of its things.
        """
        last = {ANYTHING, str(len(names) - 1)}
        shown = 0
        for bit, atom in enumerate(book.revelations):
            if {*atom.args} == last and book.found(atom, self.step, names):
                shown |= 1 << bit
        return shown


@dataclass
class Linked:
    """The attempts of one action with its place, and with the place that it led to."""

    template: str
    vocabulary: Vocabulary
    near: Book = field(init=False)  # With the place of the agent as the last slot
    far: Book = field(init=False)
    """With the place of the agent, and another one, as the last slots; refused where it did not
    lead there."""
    moves: bool = False
    given: list[tuple[Attempt, tuple[Atom, ...]]] = field(default_factory=list)
    """Successes that led nowhere else, with what came to hold of things that were not named."""
    sides: SideEffects = field(default_factory=dict)
    placeless: int = 0  # Successes while the agent was at no place

    def __post_init__(self) -> None:
        self.near = Book(self.template, self.vocabulary, plain=True)
        self.far = Book(self.template, self.vocabulary, plain=True)

    def add(self, attempt: Attempt, step: SeenStep, known: Names, dice: Random) -> None:
        """Take over an attempt."""
        here = step.before.location
        if here is None:
            self._add_placeless(attempt, step)
            return
        if here in attempt.names or len(self.near.attempts) >= LIMITS.linked_attempts:
            return
        role = self._role_of_place(step.before, here)
        if role is None:
            return
        there = step.after.location
        moved = not attempt.refused and there is not None and there not in (here, *attempt.names)
        self.moves |= moved
        recorder = _Recorder(attempt, step, known, dice)
        recorder.record(self.near, (here,), refused=attempt.refused)
        if self.moves:
            self._add_move(recorder, here, there, role, moved=moved)
        elif not attempt.refused:
            came = tuple(self._came_about(step.before, step.after, attempt))
            self.given.append((attempt, came))
        if not attempt.refused:
            named = (*attempt.names, here)
            self._count_sides(step.before, step.after, named, attempt.witness)

    def _add_move(
        self, recorder: _Recorder, here: str, there: str | None, role: str, *, moved: bool
    ) -> None:
        """Record where an attempt led, and some of the places where it did not lead."""
        step = recorder.step
        called = unseen_name(step.before, step.after) if moved else there
        not_there = (here, called, *recorder.attempt.names)
        others = [name for name in step.before.names.get(role, ()) if name not in not_there]
        some = recorder.dice.sample(others, min(LIMITS.other_places, len(others)))
        if moved and there and called:
            recorder.record(self.far, (here, called), refused=False, later=(here, there))
        for name in some:
            recorder.record(self.far, (here, name), refused=True)

    def _add_placeless(self, attempt: Attempt, step: SeenStep) -> None:
        """Take over an attempt while the agent was at no place: only side effects are counted."""
        if not attempt.refused and self.placeless < LIMITS.linked_attempts:
            self.placeless += 1
            self._count_sides(step.before, step.after, attempt.names, attempt.witness)

    def _role_of_place(self, belief: Belief, here: str) -> str | None:
        """The role of the agent's place; None if no predicate says where the agent is."""
        for predicate in self.vocabulary.placing:
            if belief.value(predicate.name, (here,)):
                return predicate.args[0]
        return None

    def _count_sides(
        self, before: Belief, after: Belief, named: Sequence[str], witness: Witness
    ) -> None:
        """Count facts that changed about something not named, by the relation that tells which
        thing that is.
        """
        if not isinstance(before, FactBelief) or not isinstance(after, FactBelief):
            return
        slots = slots_of(named)
        certain = [
            atom for atom, holds in before.known.items() if holds and ANYTHING not in atom.args
        ]
        for side in _sides_of(before, after, slots, certain):
            self.sides.setdefault(side, SideCount([], []))
        for side, count in self.sides.items():
            for related in certain:
                if related.predicate != side.relation.predicate:
                    continue
                thing = related.args[side.relation.args.index(ANYTHING)]
                binding = {**slots, ANYTHING: thing}
                if thing in named or related != side.relation.bind(binding):
                    continue
                fact = side.effect.atom.bind(binding)
                if before.truth(fact) is Truth.of(side.effect.negated):
                    came = after.truth(fact) is Truth.of(not side.effect.negated)
                    (count.good if came else count.bad).append(witness)

    def _came_about(self, before: Belief, after: Belief, attempt: Attempt) -> Iterator[Atom]:
        """Facts about single things, which the command does not name, that were false and are
        true.
        """
        for predicate in self.vocabulary.predicates.values():
            if len(predicate.args) != 1 or predicate.exclusive:
                continue
            for name in after.names.get(predicate.args[0], ()):
                atom = Atom(predicate.name, (name,))
                if (
                    name not in attempt.names
                    and after.truth(atom) is Truth.TRUE
                    and before.truth(atom) is Truth.FALSE
                ):
                    yield atom


def _sides_of(
    before: FactBelief, after: FactBelief, slots: Mapping[str, str], certain: Sequence[Atom]
) -> Iterator[Side]:
    """Facts that changed about one thing that was not named, each with the relations between this
    thing and those named.
    """
    places = {name: slot for slot, name in slots.items()}
    for atom, holds in after.known.items():
        others = [arg for arg in atom.args if arg not in places]
        if len(others) != 1 or others == [ANYTHING]:
            continue
        if before.truth(atom) is not Truth.of(not holds):
            continue
        lifted = {**places, others[0]: ANYTHING}
        effect = Literal(atom.bind(lifted), not holds)
        for related in certain:
            other = related.predicate != atom.predicate and len(related.args) > 1
            if other and others[0] in related.args and lifted.keys() >= set(related.args):
                yield Side(effect, related.bind(lifted))


def processes(linked: Linked, base: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Uses of an action for plans beyond its schema."""
    yield from _besides(linked, base, action, names)
    if linked.moves:
        yield from _at_places(linked.far, 2, f"{action.name}_there", names)
    else:
        yield from _at_places(linked.near, 1, f"{action.name}_here", names)
        yield from _giving(linked, base, action, names)


def _at_places(book: Book, count: int, name: str, names: Names) -> Iterator[Process]:
    """Effects and revelations at the last of some places, which are the last slots: the
    agent's, and where it gets.
    """
    parameters = book.called(names)
    places = [str(slot) for slot in range(len(book.slots))][-count:]
    done = view(book, book.attempts, lambda attempt: not attempt.refused)
    told = condition(done, frozenset(places))
    if parameters is None or told is None:
        return
    told = _with_place(told, book, places[0])
    found = _effects_at(places[-1], book, told)
    if found.there and count > 1:
        yield process_of(name, book.template, parameters, told, found.there)
    if found.other:
        title = f"{name}_first" if count > 1 else name
        yield process_of(title, book.template, parameters, told, found.other)
    yield from _showing(name, parameters, told, book)


class _EffectsAt(NamedTuple):
    """Effects at a place."""

    there: list[Literal]  # That the agent gets there
    other: list[Literal]


def _effects_at(place: str, book: Book, told: Circumstance) -> _EffectsAt:
    """What is certain to become of a place, in a slot, under a condition."""
    predicates = book.vocabulary.predicates
    outcomes = Outcomes(book, frozenset(literal.atom for literal in told.literals))
    there = []
    other = []
    for fact in outcomes.certain:
        literal = fact.clause.literals[0]
        if place not in literal.atom.args:
            continue
        if not predicates[literal.atom.predicate].exclusive:
            other.append(literal)
        elif not literal.negated:
            there.append(literal)
    return _EffectsAt(there, other)


def _with_place(told: Circumstance, book: Book, place: str) -> Circumstance:
    """A condition that says, at its end, where the agent is.

    This fact held in every attempt, and therefore explains none.
    """
    predicates = book.vocabulary.predicates
    placing = [atom for atom in book.facts if predicates[atom.predicate].exclusive == "always"]
    at = next(atom for atom in placing if atom.args == (place,))
    rest = [literal for literal in told.literals if literal.atom != at]
    related = [_related(literal, place, book.vocabulary) for literal in rest]
    return replace(told, literals=(*dict.fromkeys(related), Literal(at)))


def _showing(
    name: str, parameters: Sequence[str], told: Circumstance, book: Book
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
        when = _when_shown(book, bit, atom)
        if when is None or when.confirmed < LIMITS.several:
            continue
        when = replace(when, literals=tuple(dict.fromkeys((*when.literals, *told.literals))))
        args = ["all" if arg == ANYTHING else "its" for arg in atom.args]
        where = "_".join(("shows", atom.predicate, *args))
        yield process_of(f"{name}_{where}", book.template, parameters, when, (), [Revelation(atom)])


def _when_shown(book: Book, bit: int, atom: Atom) -> Circumstance | None:
    """The first condition under which an attempt makes a revelation that was not known before."""
    probe = book.probes.get(atom)
    since = probe.since if probe is not None else 0
    rows = [row for row in book.attempts[since:] if not row.refused and not row.known >> bit & 1]
    shown = view(book, rows, lambda row: bool(row.known_after >> bit & 1))
    return next(conditions(shown, LIMITS.sometimes, LIMITS.mostly), None)


def _giving(linked: Linked, base: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Effects that come sometimes, on things that the action does not name: nobody can tell of
    which before.
    """
    things: dict[str, list[str]] = {}
    for _, atoms in linked.given:
        for atom in atoms:
            things.setdefault(atom.predicate, []).append(atom.args[0])
    for predicate, some in things.items():
        roles = set.intersection(*(names.roles[thing] for thing in some)) - set(action.parameters)
        role = min(roles, key=names.order.__getitem__, default="")
        if len({*some}) < LIMITS.several or not role:
            continue
        told = _when_given(linked, base, predicate)
        if told is not None:
            told = replace(told, literals=tuple(dict.fromkeys((*told.literals, *action.guessed))))
            made = Literal(Atom(predicate, (role,)))
            yield process_of(
                f"{action.name}_{predicate}", linked.template, action.parameters, told, [made]
            )


def _when_given(linked: Linked, base: Book, predicate: str) -> Circumstance | None:
    """The first condition under which an action makes a fact true of something it does not name."""
    done = {attempt.witness for attempt, _ in linked.given}
    gave = {
        attempt.witness
        for attempt, atoms in linked.given
        if predicate in [atom.predicate for atom in atoms]
    }
    rows = [attempt for attempt in base.attempts if attempt.witness in done]
    shown = view(base, rows, lambda attempt: attempt.witness in gave)
    return next(conditions(shown), None)


def _besides(linked: Linked, base: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """Effects on a thing that the command does not name, by the relation that tells which thing
    that is.
    """
    placed = bool(linked.near.slots)
    parameters = (linked.near if placed else base).called(names)
    if parameters is None:
        return
    needs: list[Literal] = list(action.guessed)
    if placed:
        here = str(len(parameters) - 1)
        needs = [_related(literal, here, linked.vocabulary) for literal in needs]
        needs.append(Literal(Atom(linked.vocabulary.placing[0].name, (here,))))
    done: set[Literal] = set()
    often_first = sorted(linked.sides.items(), key=lambda each: -len(each[1].good))
    for side, count in often_first:
        role = _role_of_other(side.relation, linked.vocabulary)
        if side.effect in done or role in parameters or not NAME.fullmatch(role):
            continue
        if len(count.good) < LIMITS.several:
            continue
        if len(count.bad) > LIMITS.exceptions * (len(count.good) + len(count.bad)):
            continue
        done.add(side.effect)
        binding = {ANYTHING: str(len(parameters))}
        told = dict.fromkeys((Literal(side.relation.bind(binding)), *needs))
        when = Circumstance(tuple(told), **seen(count.good, len(count.bad)))
        title = f"{action.name}_{side.effect.atom.predicate}"
        made = side.effect.bind(binding)
        yield process_of(title, linked.template, (*parameters, role), when, [made])


def _role_of_other(relation: Atom, vocabulary: Vocabulary) -> str:
    """The role of the thing that a relation is about and that no command names."""
    return vocabulary.predicates[relation.predicate].args[relation.args.index(ANYTHING)]


def _related(literal: Literal, here: str, vocabulary: Vocabulary) -> Literal:
    """A fact that a thing is near, told by the relation that it follows from: `here(0)` at
    place 1 is `with(1, 0)`.
    """
    # a plan would else go to the thing, and then away from it to the place
    predicates = vocabulary.predicates
    role = vocabulary.placing[0].args[0]
    near = predicates.get(literal.atom.predicate)
    relation = predicates.get(near.exclusive) if near is not None and not literal.negated else None
    if (
        relation is None
        or len(relation.args) != 2
        or relation.args.count(role) != 1
        or literal.atom.args == (here,)
    ):
        return literal
    (thing,) = literal.atom.args
    return Literal(
        Atom(relation.name, tuple(here if each == role else thing for each in relation.args))
    )


def process_of(
    name: str,
    template: str,
    parameters: Sequence[str],
    told: Circumstance,
    effects: Sequence[Literal] = (),
    observes: Sequence[Revelation] = (),
) -> Process:
    """Use of a command under a condition, over the names of its slots; what often fails costs
    more.
    """
    bound = slots_of(parameters)
    syntax = fill(template, [f"<{each}>" for each in parameters[: template.count(SLOT)]])
    needs = [literal.bind(bound) for literal in told.literals]
    gives = [literal.bind(bound) for literal in effects]
    schema = ActionSchema(
        name,
        (syntax,),
        tuple(Clause((need,)) for need in needs),
        tuple(gives),
        observes=tuple(_bound_revelation(each, bound) for each in observes),
        steps=round(1 / told.share, 1),
        others=_unnamed(syntax, parameters, needs, gives),
    )
    return Process(schema, told)


def _bound_revelation(shown: Revelation, bound: Mapping[str, str]) -> Revelation:
    return Revelation(shown.atom.bind(bound), tuple(clause.bind(bound) for clause in shown.given))


def _unnamed(
    syntax: str, parameters: Iterable[str], needs: Iterable[Literal], gives: Iterable[Literal]
) -> tuple[str, ...]:
    """Roles of things that a process is about and its command does not name."""
    used: dict[str, None] = {}
    for literal in (*needs, *gives):
        used |= dict.fromkeys(literal.atom.args)
    roles = set(parameters)
    for literal in gives:
        roles.update(literal.atom.args)
    return tuple(arg for arg in used if arg in roles and f"<{arg}>" not in syntax)


def processes_by_role(book: Book, action: ActionModel, names: Names) -> Iterator[Process]:
    """For each slot that takes names in several roles: what becomes known in one of them, and
    not in all.
    """
    for slot, parameter in enumerate(action.parameters):
        for role in _roles_of_some(book, slot, names):
            if role in action.parameters or not NAME.fullmatch(role):
                continue
            rows = [
                attempt for attempt in book.successes if role in names.roles[attempt.names[slot]]
            ]
            shown = _shown_in_role(book, action, rows, slot, role, names)
            if shown:
                parameters = [role if each == parameter else each for each in action.parameters]
                when = Circumstance(action.guessed, **seen([attempt.witness for attempt in rows]))
                yield process_of(
                    f"{action.name}_{role}", book.template, parameters, when, (), shown
                )


def _roles_of_some(book: Book, slot: int, names: Names) -> list[str]:
    """Roles of some of the names that worked in a slot, and not of all, in the world's order."""
    filled = {attempt.names[slot] for attempt in book.successes}
    every = [names.roles[name] for name in filled]
    some = every[0].union(*every) - every[0].intersection(*every)
    return sorted(some, key=names.order.__getitem__)


def _shown_in_role(
    book: Book,
    action: ActionModel,
    rows: Iterable[Attempt],
    slot: int,
    role: str,
    names: Names,
) -> list[Revelation]:
    """Revelations of attempts with a name in a role, beyond those of the action as such."""
    told = {fact.clause for fact in action.observes}
    needed = frozenset(literal.atom for literal in action.guessed)
    shown = []
    for fact in Outcomes(view(book, rows, lambda _: True), needed).observes():
        if fact.clause in told or not _speaks_of(fact, slot, role, book, names):
            continue
        given = (fact.given,) if fact.given else ()
        shown.append(Revelation(fact.clause.literals[0].atom, given))
    return shown


def _speaks_of(fact: Induced, slot: int, role: str, book: Book, names: Names) -> bool:
    """True if a fact is about a slot, as something in a role."""
    atom = fact.clause.literals[0].atom
    told = zip(atom.args, book.vocabulary.predicates[atom.predicate].args, strict=True)
    called = [each for arg, each in told if arg == str(slot)]
    return bool(called) and all(each == role or each not in names.order for each in called)
