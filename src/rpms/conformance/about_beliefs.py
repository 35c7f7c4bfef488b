"""Properties of goals and beliefs, which follow from the texts of games alone."""

from __future__ import annotations

from itertools import islice, product

from rpms.conformance.walk import NONSENSE, Skipped, Subject, require, truth_of, view
from rpms.core.belief import StateSignature
from rpms.core.facts import Atom, Truth
from rpms.core.goal import UNKNOWN_GOAL, GoalSignature
from rpms.worlds.base import World

_QUESTIONS = 300
"""Combinations of names that a predicate is asked about in one moment: enough for a small house."""


def goals(subject: Subject) -> str:
    """Goals are read from the opening, and nonsense is no goal."""
    unknown = []
    for walk in subject.walks:
        opening = walk.moments[0].outcome.observation
        require(subject.world.goal(opening) == walk.goal, f"{walk.task.id}: the same opening gives another goal")
        signature = walk.goal.signature
        require(GoalSignature.parse(str(signature)) == signature, f"{signature} is not what its text form says")
        if walk.goal.type == UNKNOWN_GOAL:
            unknown.append(walk.task.id)
    require(len(unknown) < len(subject.walks), f"no goal is understood, as of {unknown[:1]}")
    for text in NONSENSE:
        found = subject.world.goal(text).type
        require(found == UNKNOWN_GOAL, f"{text[:40]!r} is no goal, yet of type {found!r} instead of {UNKNOWN_GOAL!r}")
    return f"{len(subject.walks) - len(unknown)} of {len(subject.walks)} understood, nonsense is unknown"


def belief(subject: Subject) -> str:
    """The belief follows from the texts alone, whatever they are, and does not change afterwards."""
    world, strange = subject.world, [held for _, held in subject.strange_beliefs]
    for held in strange:
        view(held)
    for walk, moment in subject.moments():
        kept = view(moment.belief) == moment.shown
        require(kept, f"{walk.task.id}: update changed an earlier belief, the one after {moment.action!r}")
    for walk in subject.walks:
        held = world.start(walk.goal)
        for number, moment in enumerate(walk.moments):
            held = world.update(held, moment.action, moment.outcome.observation)
            atoms = tuple(subject.atoms(moment))
            same = view(held, atoms) == view(moment.belief, atoms)
            require(same, f"{walk.task.id}, step {number}: the same texts give another belief the second time")
    return f"{sum(len(walk.moments) for walk in subject.walks)} beliefs and {len(strange)} after nonsense"


def signature(subject: Subject) -> str:
    """A state signature is what its text form says."""
    states = subject.states()
    for _, belief in states:
        signature = belief.signature()
        read = StateSignature.parse(str(signature))
        require(read == signature, f"{signature.fields} is written {str(signature)!r} and read as {read.fields}")
    return f"{len(states)} signatures"


def facts(subject: Subject) -> str:
    """The belief answers every predicate of the manual, for any name."""
    asked, known = 0, set()
    for walk, moment in subject.moments():
        for atom in (*subject.atoms(moment), *subject.atoms_of_commands(walk, moment)):
            asked += 1
            if truth_of(moment.belief, atom) is not Truth.UNKNOWN:
                known.add(atom.predicate)
    for _, moment in subject.some_moments():
        stranger = truth_of(moment.belief, Atom("no_such_predicate", ("thing 1",)))
        require(stranger is Truth.UNKNOWN, f"a predicate that no manual has is {stranger.value}, not unknown")
        for predicate in subject.manual.predicates.values():
            truth_of(moment.belief, Atom(predicate.name, ("thing 1",) * (len(predicate.args) + 1)))
    known |= {name for name in subject.manual.predicates.keys() - known if _is_told(subject, name)}
    needed = subject.needs()
    asked_for = {name for schema in subject.manual.actions for name in needed if schema.name in needed[name]}
    unmet = f"nothing that actions need is ever known: {', '.join(sorted(asked_for))}"
    require(not asked_for or bool(asked_for & known), unmet)
    silent = sorted(subject.manual.predicates.keys() - known)
    said = [f"{name} (needed by {', '.join(needed[name])})" if name in needed else name for name in silent]
    note = f"; never known on these walks: {', '.join(said)}" if silent else ""
    return f"{len(known)} predicates, {asked} questions{note}"


def _is_told(subject: Subject, predicate: str) -> bool:
    """True if the belief ever answers a predicate, asked of the names in the roles of its arguments."""
    roles = subject.manual.predicates[predicate].args
    for _, moment in subject.moments():
        chosen = islice(product(*(moment.belief.names.get(role, ()) for role in roles)), _QUESTIONS)
        if any(truth_of(moment.belief, Atom(predicate, args)) is not Truth.UNKNOWN for args in chosen):
            return True
    return False


def drift(subject: Subject) -> str:
    """The belief never contradicts the game."""
    if type(subject.world).contradictions is World.contradictions:
        raise Skipped("the world has no method `contradictions`, so nothing compares its belief with the game")
    moments = list(subject.moments())
    for walk, moment in moments:
        wrong = f"{walk.task.id}, after {moment.action!r}: {'; '.join(moment.contradictions[:2])}"
        require(not moment.contradictions, wrong)
    return f"{len(moments)} moments without a contradiction"
