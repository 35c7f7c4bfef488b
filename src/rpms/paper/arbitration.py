"""Rules-first arbitration, φ of Algorithm 1.

An entry's claims about actions are checked against the active rules and the known facts. A claim
refuted on known facts is a conflict; an undecided one is a reservation. The hard layer drops
conflicts in any room and state; the soft layer tags conflicts here and now, and reservations.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from rpms.logic.actions import Instance
from rpms.logic.belief import GOAL_PREDICATES, Situation, StateSignature
from rpms.logic.facts import Atom, Clause, Facts, Truth, kind_of
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules, Prohibition, Rule
from rpms.paper.memory import CriticalFailure, Entry, FailureLesson, SuccessSnippet, VerifiedSchema
from rpms.paper.verdict import KEPT, Candidate, Fate, Verdict

_JUDGED_KEPT = 1_000
"""Entries whose judgement is kept for the steps to come, for each goal."""
_NO_STATE = StateSignature()


class Arbitration(StrEnum):
    """The modes of Table 4."""

    NONE = "none"
    SOFT = "soft"
    HARD = "hard"
    HARD_SOFT = "hard+soft"

    @property
    def hard(self) -> bool:
        return self in (Arbitration.HARD, Arbitration.HARD_SOFT)

    @property
    def soft(self) -> bool:
        return self in (Arbitration.SOFT, Arbitration.HARD_SOFT)


@dataclass(frozen=True, slots=True)
class Objection:
    """A reason against an entry."""

    conflict: bool
    """True if a rule is broken on known facts; False if one may be broken, since a fact is unknown:
    a reservation."""
    reason: str
    rule: str
    fact: str
    clause: Clause | None = None
    """The precondition that fails or is unknown, if it is one."""


def judge(entry: Entry, rules: ActiveRules, situation: Situation, mode: Arbitration) -> Verdict:
    """φ(m): the entry's fate under a mode.

    Critical failures are warnings themselves and are always kept.
    """
    if mode is Arbitration.NONE or isinstance(entry, CriticalFailure):
        return KEPT
    anywhere = _object_anywhere(entry, rules, situation)
    if anywhere is not None and anywhere.conflict:
        return verdict_on(anywhere, mode)
    if not mode.soft:
        return KEPT
    here = object_to(_with_hand_of_now(entry, situation), rules, situation, strict=False)
    if here is None:
        return KEPT
    return Verdict(Fate.WARNED, here.reason, here.rule, here.fact)


def verdict_on(objection: Objection, mode: Arbitration) -> Verdict:
    """The verdict that an objection leads to: the hard layer drops conflicts, the soft layer
    warns of the rest.
    """
    if objection.conflict and mode.hard:
        fate = Fate.DROPPED
    elif mode.soft:
        fate = Fate.WARNED
    else:
        return KEPT
    return Verdict(fate, objection.reason, objection.rule, objection.fact)


Judge = Callable[[Entry, ActiveRules, Situation, Arbitration], Verdict]
"""φ, in one of its readings."""


def arbitrate(
    candidates: Iterable[Candidate],
    rules: ActiveRules,
    situation: Situation,
    mode: Arbitration,
    by: Judge = judge,
) -> Iterator[Candidate]:
    """M_arb: judge what earlier stages have kept; lazily, so that only what is needed is judged."""
    for candidate in candidates:
        if candidate.verdict.fate is Fate.KEPT:
            yield candidate.judged(by(candidate.entry, rules, situation, mode))
        else:
            yield candidate


# Objections to an entry.


class _Judged(NamedTuple):
    """An objection that was found, and what it rests on."""

    entry: Entry
    goal: Goal
    deeds: Mapping[Atom, Truth]
    """Facts about what was done in the episode; all others stay the same all through it."""
    objection: Objection | None

    def still_holds(self, entry: Entry, rules: ActiveRules, situation: Situation) -> bool:
        """True if an entry would meet the same objection in this situation."""
        if self.entry is not entry or self.goal is not situation.goal:
            return False  # of other objects that had the same ids
        if not self.deeds:
            return True
        facts = _transferable(entry, rules, situation)
        return all(facts.truth(deed) is before for deed, before in self.deeds.items())


def _object_anywhere(entry: Entry, rules: ActiveRules, situation: Situation) -> Objection | None:
    """The objection that holds in any room and state. One that was found at an earlier step is used
    again while it holds.
    """
    judged: dict[tuple[int, int], _Judged] = rules.kept.setdefault("judged", {})
    key = (id(entry), id(situation.goal))
    earlier = judged.get(key)
    if earlier is not None and earlier.still_holds(entry, rules, situation):
        return earlier.objection
    facts = _transferable(entry, rules, situation)
    objection = object_to(entry, rules, facts)
    if len(judged) >= _JUDGED_KEPT:
        judged.clear()
    judged[key] = _Judged(entry, situation.goal, facts.deeds, objection)
    return objection


def _transferable(entry: Entry, rules: ActiveRules, situation: Situation) -> "TransferableFacts":
    """The facts that do not depend on the present room, by the entry's own goal and state."""
    learned_for = situation.goal.signature
    if not isinstance(entry, VerifiedSchema):
        learned_for = entry.goal_signature
    learned_in = entry.state_signature if isinstance(entry, SuccessSnippet) else _NO_STATE
    return TransferableFacts(situation, rules, learned_for, learned_in)


def _with_hand_of_now(entry: Entry, situation: Situation) -> Entry:
    """A snippet about the thing held now in place of the thing held then: candle 4 serves as well
    as candle 2.
    """
    if not isinstance(entry, SuccessSnippet):
        return entry
    then = entry.state_signature.get("holding") or ()
    now = situation.belief.holding
    if len(then) != 1 or len(now) != 1 or then == now:
        return entry
    name = re.compile(rf"(?<!\w){re.escape(then[0])}(?!\w)")
    actions = tuple(name.sub(lambda _: now[0], action) for action in entry.actions)
    return replace(entry, actions=actions)


def object_to(
    entry: Entry, rules: ActiveRules, facts: Facts, *, strict: bool = True
) -> Objection | None:
    """The gravest objection to an entry: the first conflict, else the first reservation.

    Unless `strict`, an action whose effects hold already is no objection.
    """
    match entry:
        case SuccessSnippet(actions=actions):
            return _object_to_snippet(actions, rules, facts, strict=strict)
        case FailureLesson(failed_action=action):
            return _object_to_lesson(action, rules, facts)
        case VerifiedSchema(action_template=template):  # it claims that an action works
            uncovered = rules.environment and rules.instance(template) is None
            return _uncovered(template) if uncovered else prohibition(template, rules, facts)
    return None


def _uncovered(action: str) -> Objection:
    return Objection(False, f"no rule covers `{action}`", "", "")


def _object_to_snippet(
    actions: Iterable[str], rules: ActiveRules, now: Facts, *, strict: bool
) -> Objection | None:
    """A snippet claims that its actions can be done one after the other."""
    facts = Simulated(now, rules)
    reservation: Objection | None = None
    for action in actions:
        instance = rules.instance(action)
        if instance is None:
            if rules.environment:
                reservation = reservation or _uncovered(action)
            continue
        if not strict and _is_done(instance, facts):
            continue
        objection = _object_to_action(action, rules, facts, reservations=reservation is None)
        if objection is not None and objection.conflict:
            return objection
        reservation = reservation or objection
        facts.apply(instance)
    return reservation


def _object_to_action(
    action: str, rules: ActiveRules, facts: Facts, *, reservations: bool
) -> Objection | None:
    """The rule or need that speaks against an action; with `reservations`, also one that may."""
    forbidden = prohibition(action, rules, facts, reservations=reservations)
    if forbidden is not None and forbidden.conflict:
        return forbidden
    failing = infeasibility(action, rules, facts, reservations=reservations and forbidden is None)
    if failing is not None and failing.conflict:
        return failing
    return forbidden or failing


def _is_done(instance: Instance, facts: Facts) -> bool:
    """True if all that an action does holds already."""
    effects = instance.effects
    return bool(effects) and all(effect.truth(facts) is Truth.TRUE for effect in effects)


def _object_to_lesson(action: str, rules: ActiveRules, facts: Facts) -> Objection | None:
    """A lesson claims that its action fails; where all its preconditions are known to hold, the
    rules say otherwise.
    """
    instance = rules.instance(action)
    if instance is None or not instance.schema.preconditions:
        return None
    if instance.feasible(facts) is not Truth.TRUE:
        return None
    fact = settled(instance.preconditions[0], rules, facts)
    return Objection(
        True, f"the rules allow `{action}` now: its preconditions hold", instance.schema.id, fact
    )


# Objections to an action.


def objection_to_action(command: str, rules: ActiveRules, facts: Facts) -> Objection | None:
    """The reason against an action now: it is infeasible, or a rule forbids it."""
    failing = infeasibility(command, rules, facts)
    forbidden = prohibition(command, rules, facts)
    if failing is None or failing.conflict:
        return failing or forbidden
    return forbidden if forbidden is not None and forbidden.conflict else failing


def infeasibility(
    command: str, rules: ActiveRules, facts: Facts, *, reservations: bool = True
) -> Objection | None:
    """Reason that an action cannot, or with `reservations` perhaps cannot, be done now.

    Where the manual has actions, a command that is none of them cannot be done.
    """
    instance = rules.instance(command)
    if instance is None:
        return _unknown_action(command) if rules.environment else None
    line = instance.schema.id
    reservation: Objection | None = None
    for clause in instance.preconditions:
        value = clause.truth(facts)
        if value is Truth.FALSE:
            fact = settled(clause, rules, facts)
            return Objection(True, f"`{command}` cannot be done: {fact}", line, fact, clause)
        open_question = value is Truth.UNKNOWN and not _nearly_sure(clause, rules)
        if open_question and reservations and reservation is None:
            fact = settled(clause, rules, facts)
            reservation = Objection(False, f"`{command}`: {fact}", line, fact, clause)
    return reservation


def _unknown_action(command: str) -> Objection:
    return Objection(True, f"`{command}` is no known action", "", "")


def _nearly_sure(clause: Clause, rules: ActiveRules) -> bool:
    """True if an unknown clause is no reason to warn: it says that the agent is *not* at some
    place, and it can be at one place only.
    """
    for literal in clause.literals:
        predicate = rules.predicates.get(literal.atom.predicate)
        if not literal.negated or predicate is None or not predicate.exclusive:
            return False
    return True


def prohibition(
    command: str, rules: ActiveRules, facts: Facts, *, reservations: bool = True
) -> Objection | None:
    """The rule that forbids an action now: a conflict where all its conditions are known to
    hold, else a reservation.
    """
    instance = rules.instance(command)
    if instance is None:
        return None
    reservation: Objection | None = None
    for rule, ban in rules.prohibitions.get(instance.schema.name, ()):
        forbids = _forbids(rule, ban, instance, facts)
        wanted = forbids is Truth.TRUE or (reservations and reservation is None)
        if forbids is Truth.FALSE or not wanted:
            continue
        fact = _facts_behind(ban, instance, rules, facts)
        reason = f"`{command}` goes against {rule.id}: {rule.text}"
        if forbids is Truth.TRUE:
            return Objection(True, reason, rule.id, fact)
        reservation = Objection(False, reason, rule.id, fact)
    return reservation


def _forbids(rule: Rule, ban: Prohibition, instance: Instance, facts: Facts) -> Truth:
    """True if all conditions of a rule, and of its ban on an action, hold."""
    values = [clause.truth(facts) for clause in rule.when]
    values += [clause.truth(facts, instance.binding) for clause in ban.when]
    if Truth.FALSE in values:
        return Truth.FALSE
    return Truth.UNKNOWN if Truth.UNKNOWN in values else Truth.TRUE


def _facts_behind(ban: Prohibition, instance: Instance, rules: ActiveRules, facts: Facts) -> str:
    bound = [clause.bind(instance.binding) for clause in ban.when]
    return "; ".join(settled(clause, rules, facts) for clause in bound)


def settled(clause: Clause, rules: ActiveRules, facts: Facts) -> str:
    """The fact that decides a clause, in words: its first literal with the same value."""
    value = clause.truth(facts)
    deciding = (each for each in clause.literals if each.truth(facts) is value)
    literal = next(deciding, clause.literals[0])
    said = literal.truth(facts)
    return rules.say(literal.atom, ~said if literal.negated else said)


# Facts to judge by.


@dataclass(frozen=True, slots=True)
class TransferableFacts:
    """Facts that do not depend on the present room, place or hand, for the hard filter; all
    others are unknown.
    """

    situation: Situation
    rules: ActiveRules
    learned_for: GoalSignature
    """The goal of the entry that is judged: its tomato stands for the apple that is asked for
    now."""
    learned_in: StateSignature = _NO_STATE
    """The state in which the entry that is judged was learned."""
    deeds: dict[Atom, Truth] = field(default_factory=dict)
    """Answers that depend on what was done in this episode; all others stay the same all
    through it."""

    def truth(self, atom: Atom, /) -> Truth:
        if atom.predicate in GOAL_PREDICATES:
            then = self.learned_for
            own = Goal(then.type, then.object, then.state, then.destination)
            return self.situation.truth(atom) | Situation(self.situation.belief, own).truth(atom)
        recalled = self.situation.belief.recalled(self.learned_in).truth(atom)
        if recalled is not Truth.UNKNOWN:
            return recalled
        predicate = self.rules.predicates.get(atom.predicate)
        if predicate is not None and predicate.lasting:
            return self.situation.truth(atom)
        return self._done(atom) if atom.predicate in self.rules.deeds else Truth.UNKNOWN

    def _done(self, atom: Atom) -> Truth:
        """Truth of a deed of this episode, done to the entry's object or to its stand-in here."""
        value = self.situation.truth(atom)
        for held in self.situation.belief.holding:
            stand_ins = {arg: held for arg in atom.args if kind_of(arg) == kind_of(held)}
            value = value | self.situation.truth(atom.bind(stand_ins))
        self.deeds[atom] = value
        return value


class Simulated:
    """Facts as they would be after some actions: effects laid over a belief that stays as it is."""

    def __init__(self, base: Facts, rules: ActiveRules) -> None:
        self._base = base
        self._rules = rules
        self._changed: dict[Atom, Truth] = {}
        self._only: dict[str, Atom] = {}

    def truth(self, atom: Atom, /) -> Truth:
        if atom in self._changed:
            return self._changed[atom]
        only = self._only.get(atom.predicate)
        if only is None:
            return self._base.truth(atom)
        together = self._rules.predicates[atom.predicate].exclusive
        if together == "always":
            return Truth.FALSE
        return self._base.truth(Atom(together, (only.args[0], atom.args[0])))

    def apply(self, instance: Instance) -> None:
        """Take over what an action does."""
        for literal in instance.effects:
            atom = literal.atom
            predicate = self._rules.predicates.get(atom.predicate)
            if predicate is not None and predicate.exclusive and not literal.negated:
                self._only[atom.predicate] = atom
                for other in list(self._changed):
                    if other.predicate == atom.predicate:
                        del self._changed[other]
            self._changed[atom] = Truth.of(not literal.negated)
