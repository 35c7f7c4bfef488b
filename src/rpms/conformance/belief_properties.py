"""Properties of how a world reads its texts: goals, beliefs and their facts."""

from collections.abc import Mapping
from itertools import islice, product

from rpms.conformance.walk import NONSENSE, Skipped, Subject, require, truth_of, view
from rpms.logic.belief import Belief, StateSignature
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import UNKNOWN_GOAL, GoalSignature
from rpms.logic.rules import Predicate, RuleManual
from rpms.worlds.base import World

_QUESTIONS = 300
"""Combinations of names that a predicate is asked about in one moment: enough for a small house."""


def goals(subject: Subject) -> str:
    """Goals are read from the opening, and nonsense is no goal."""
    for walk in subject.walks:
        opening = walk.moments[0].outcome.observation
        require(
            subject.world.goal(opening) == walk.goal,
            f"{walk.task.id}: the same opening gives another goal",
        )
        signature = walk.goal.signature
        require(
            GoalSignature.parse(str(signature)) == signature,
            f"{signature} is not what its text form says",
        )
    unknown = [walk.task.id for walk in subject.walks if walk.goal.type == UNKNOWN_GOAL]
    require(len(unknown) < len(subject.walks), f"no goal is understood, as of {unknown[:1]}")
    for text in NONSENSE:
        found = subject.world.goal(text).type
        require(
            found == UNKNOWN_GOAL,
            f"{text[:40]!r} is no goal, yet of type {found!r} instead of {UNKNOWN_GOAL!r}",
        )
    return (
        f"{len(subject.walks) - len(unknown)} of {len(subject.walks)} understood, nonsense is"
        " unknown"
    )


def belief(subject: Subject) -> str:
    """The belief follows from the texts alone, whatever they are, and does not change
    afterwards.
    """
    world = subject.world
    strange = [held for _, held in subject.strange_beliefs]
    for held in strange:
        view(held)
    for walk, moment in subject.moments():
        kept = view(moment.belief) == moment.shown
        require(
            kept,
            f"{walk.task.id}: update changed an earlier belief, the one after {moment.action!r}",
        )
    for walk in subject.walks:
        held = world.start(walk.goal)
        for number, moment in enumerate(walk.moments):
            text = moment.outcome.observation
            held = subject.updated(held, moment.action, text, walk.goal)
            atoms = tuple(subject.atoms(moment))
            same = view(held, atoms) == view(moment.belief, atoms)
            require(
                same,
                f"{walk.task.id}, step {number}: the same texts give another belief the second"
                " time",
            )
    return (
        f"{sum(len(walk.moments) for walk in subject.walks)} beliefs and {len(strange)} after"
        " nonsense"
    )


def signature(subject: Subject) -> str:
    """A state signature is what its text form says."""
    states = subject.states()
    for _, belief in states:
        signature = belief.signature()
        read = StateSignature.parse(str(signature))
        require(
            read == signature,
            f"{signature.fields} is written {str(signature)!r} and read as {read.fields}",
        )
    return f"{len(states)} signatures"


def facts(subject: Subject) -> str:
    """The belief answers every predicate of the manual, for any name."""
    manual = subject.manual
    asked = 0
    known: set[str] = set()
    for walk, moment in subject.moments():
        atoms = [*subject.atoms(moment), *subject.atoms_of_commands(walk, moment)]
        asked += len(atoms)
        for name in manual.predicates.keys() - known:
            atoms += _atoms_by_roles(manual.predicates[name], moment.belief)
        for atom in atoms:
            if truth_of(moment.belief, atom) is not Truth.UNKNOWN:
                known.add(atom.predicate)
    for _, moment in subject.some_moments():
        _ask_strange_facts(moment.belief, manual)
    needed = _needed_by(manual)
    _require_needs_known(manual, needed, known)
    silent: list[str] = []
    for name in sorted(manual.predicates.keys() - known):
        by = f" (needed by {', '.join(needed[name])})" if name in needed else ""
        silent.append(f"{name}{by}")
    note = f"; never known on these walks: {', '.join(silent)}" if silent else ""
    return f"{len(known)} predicates, {asked} questions{note}"


def _atoms_by_roles(predicate: Predicate, belief: Belief) -> list[Atom]:
    """Facts of a predicate, with known names in the roles of its arguments."""
    names = [belief.names.get(role, ()) for role in predicate.args]
    return [Atom(predicate.name, args) for args in islice(product(*names), _QUESTIONS)]


def _ask_strange_facts(belief: Belief, manual: RuleManual) -> None:
    """Ask for a predicate that there is not, which is unknown, and for one argument too many."""
    stranger = truth_of(belief, Atom("no_such_predicate", ("thing 1",)))
    require(
        stranger is Truth.UNKNOWN,
        f"a predicate that no manual has is {stranger.value}, not unknown",
    )
    for predicate in manual.predicates.values():
        truth_of(belief, Atom(predicate.name, ("thing 1",) * (len(predicate.args) + 1)))


def _require_needs_known(
    manual: RuleManual, needed: Mapping[str, Mapping[str, None]], known: set[str]
) -> None:
    """Refuse a belief that knows nothing of what actions need."""
    actions = {schema.name for schema in manual.actions}
    asked_for: set[str] = set()
    for name, by in needed.items():
        if name in manual.predicates and actions & by.keys():
            asked_for.add(name)
    unmet = f"nothing that actions need is ever known: {', '.join(sorted(asked_for))}"
    require(not asked_for or bool(asked_for & known), unmet)


def _needed_by(manual: RuleManual) -> dict[str, dict[str, None]]:
    """Actions and processes that need a fact, each once, by its predicate."""
    needed: dict[str, dict[str, None]] = {}
    for schema in (*manual.actions, *manual.lore.processes):
        for clause in (*schema.preconditions, *schema.plan):
            for literal in clause.literals:
                needed.setdefault(literal.atom.predicate, {})[schema.name] = None
    return needed


def drift(subject: Subject) -> str:
    """The belief never contradicts the game."""
    if type(subject.world).contradictions is World.contradictions:
        raise Skipped(
            "the world has no method `contradictions`, so nothing compares its belief with the game"
        )
    moments = list(subject.moments())
    for walk, moment in moments:
        wrong = f"{walk.task.id}, after {moment.action!r}: {'; '.join(moment.contradictions[:2])}"
        require(not moment.contradictions, wrong)
    return f"{len(moments)} moments without a contradiction"
