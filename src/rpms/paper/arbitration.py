"""Rules-first arbitration, φ of Algorithm 1.

An entry's claims about actions are checked against the active rules and the known facts. A claim
refuted on known facts is a conflict; an undecided one is a doubt. The hard layer drops conflicts in
any room and state; the soft layer tags conflicts here and now, and doubts.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rpms.logic.actions import Instance
from rpms.logic.belief import GOAL_PREDICATES, Situation, StateSignature
from rpms.logic.facts import Atom, Clause, Facts, Truth, kind_of
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules
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
    """A rule is broken on known facts; otherwise it is only a doubt."""
    reason: str
    rule: str
    fact: str
    clause: Clause | None = None
    """The precondition that fails or is in doubt, if it is one."""


def judge(entry: Entry, rules: ActiveRules, situation: Situation, mode: Arbitration) -> Verdict:
    """φ(m): the entry's fate under a mode.

    Critical failures are warnings themselves and are always kept.
    """
    if mode is Arbitration.NONE or isinstance(entry, CriticalFailure):
        return KEPT
    broken = _object_anywhere(entry, rules, situation)
    if broken is not None and broken.conflict:
        return _verdict(broken, mode)
    here = (
        object_to(_with_hand_of_now(entry, situation), rules, situation, strict=False)
        if mode.soft
        else None
    )
    return Verdict(Fate.WARNED, here.reason, here.rule, here.fact) if here is not None else KEPT


_Judged = tuple[Entry, Goal, dict[Atom, Truth], Objection | None]
"""An entry and a goal, the deeds that the objection rests on, and the objection."""


def _object_anywhere(entry: Entry, rules: ActiveRules, situation: Situation) -> Objection | None:
    """The objection in whatever room and state: that of an earlier step, unless it rests on
    deeds done since.
    """
    key, goal = (id(entry), id(situation.goal)), situation.goal
    judged: dict[tuple[int, int], _Judged] = rules.kept.setdefault("judged", {})
    kept = judged.get(key)
    if kept is not None and (kept[0] is not entry or kept[1] is not goal):
        kept = None
    if kept is not None and not kept[2]:
        return kept[3]
    learned_for = goal.signature if isinstance(entry, VerifiedSchema) else entry.goal_signature
    learned_in = (entry.state_signature,) if isinstance(entry, SuccessSnippet) else ()
    transferable = TransferableFacts(situation, rules, learned_for, *learned_in)
    if kept is not None and all(
        transferable.truth(deed) is value for deed, value in kept[2].items()
    ):
        return kept[3]
    objection = object_to(entry, rules, transferable)
    if len(judged) >= _JUDGED_KEPT:
        judged.clear()
    judged[key] = (entry, goal, transferable.deeds, objection)
    return objection


def _with_hand_of_now(entry: Entry, situation: Situation) -> Entry:
    """A snippet with what is held now in the place of what was held then: candle 4 serves as
    well as candle 2.
    """
    if not isinstance(entry, SuccessSnippet):
        return entry
    then, now = entry.state_signature.get("holding") or (), situation.belief.holding
    if len(then) != 1 or len(now) != 1 or then == now:
        return entry
    name = re.compile(rf"(?<!\w){re.escape(then[0])}(?!\w)")
    return replace(
        entry, actions=tuple(name.sub(lambda _: now[0], action) for action in entry.actions)
    )


def judge_here(
    entry: Entry, rules: ActiveRules, situation: Situation, mode: Arbitration
) -> Verdict:
    """The same, past the paper: followed from the present state, what cannot be done here
    conflicts too.
    """
    if mode is Arbitration.NONE or isinstance(entry, CriticalFailure):
        return KEPT
    objection = object_to(entry, rules, situation)
    return KEPT if objection is None else _verdict(objection, mode)


def _verdict(objection: Objection, mode: Arbitration) -> Verdict:
    fate = Fate.DROPPED if objection.conflict and mode.hard else Fate.WARNED if mode.soft else None
    return Verdict(fate, objection.reason, objection.rule, objection.fact) if fate else KEPT


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
        kept = candidate.verdict.fate is Fate.KEPT
        yield candidate.judged(by(candidate.entry, rules, situation, mode)) if kept else candidate


def arbitrate_by_action(
    candidates: Iterable[Candidate], rules: ActiveRules, situation: Situation, mode: Arbitration
) -> Iterator[Candidate]:
    """M_arb with a finer knife: of a snippet, only the actions that conflict are cut, and what
    survives is kept.
    """
    for candidate in candidates:
        entry, verdict = candidate.entry, candidate.verdict
        if verdict.fate is not Fate.KEPT:
            yield candidate
            continue
        verdict = judge_here(entry, rules, situation, mode)
        if verdict.fate is Fate.DROPPED and isinstance(entry, SuccessSnippet):
            kept, cut = _cut_plan(entry.actions, rules, situation)
            if any(rules.instance(action) is not None for action in kept):
                entry = replace(entry, actions=tuple(kept))
                doubt = judge_here(entry, rules, situation, mode)
                warning = f"; {doubt.reason}" if doubt.fate is Fate.WARNED else ""
                verdict = Verdict(
                    Fate.CUT, f"cut: {'; '.join(cut)}{warning}", verdict.rule, verdict.fact
                )
        yield replace(candidate, entry=entry, verdict=verdict)


def _cut_plan(
    actions: Iterable[str], rules: ActiveRules, situation: Situation
) -> tuple[list[str], list[str]]:
    """The actions of a plan that can still be done one after the other, and those that were cut."""
    facts, kept, cut = Simulated(situation, rules), list[str](), list[str]()
    for action in actions:
        objection, instance = objection_to_action(action, rules, facts), rules.instance(action)
        if objection is not None and objection.conflict and instance is not None:
            cut.append(action)
            continue
        kept.append(action)
        if instance is not None:
            facts.apply(instance)
    return kept, cut


def object_to(
    entry: Entry, rules: ActiveRules, facts: Facts, *, strict: bool = True
) -> Objection | None:
    """The gravest objection to an entry: the first conflict, else the first doubt.

    Unless `strict`, an action whose effects hold already is no objection.
    """
    match entry:
        case SuccessSnippet(actions=actions):
            return _object_to_plan(actions, rules, facts, strict=strict)
        case FailureLesson(failed_action=action):
            return _object_to_lesson(action, rules, facts)
        case VerifiedSchema(action_template=template):  # it claims that an action works
            uncovered = rules.environment and rules.instance(template) is None
            return _uncovered(template) if uncovered else prohibition(template, rules, facts)
    return None


def _uncovered(action: str) -> Objection:
    return Objection(False, f"no rule covers `{action}`", "", "")


def _object_to_plan(
    actions: Iterable[str], rules: ActiveRules, known: Facts, *, strict: bool
) -> Objection | None:
    """A snippet claims that its actions can be done one after the other."""
    facts = Simulated(known, rules)
    doubt: Objection | None = None
    for action in actions:
        instance = rules.instance(action)
        if instance is None:
            if rules.environment:
                doubt = doubt or _uncovered(action)
            continue
        if (
            not strict
            and instance.effects
            and all(effect.truth(facts) is Truth.TRUE for effect in instance.effects)
        ):
            continue
        for object_by in (prohibition, infeasibility):
            objection = object_by(action, rules, facts, doubts=doubt is None)
            if objection is not None and objection.conflict:
                return objection
            doubt = doubt or objection
        facts.apply(instance)
    return doubt


def _object_to_lesson(action: str, rules: ActiveRules, facts: Facts) -> Objection | None:
    """A lesson claims that its action fails; where all its preconditions are known to hold, the
    rules say otherwise.
    """
    instance = rules.instance(action)
    if (
        instance is None
        or not instance.schema.preconditions
        or instance.feasible(facts) is not Truth.TRUE
    ):
        return None
    fact = settled(instance.preconditions[0], rules, facts)
    return Objection(
        True, f"the rules allow `{action}` now: its preconditions hold", instance.schema.id, fact
    )


def objection_to_action(command: str, rules: ActiveRules, facts: Facts) -> Objection | None:
    """The reason against an action now: it is infeasible, or a rule forbids it."""
    known = [infeasibility(command, rules, facts), prohibition(command, rules, facts)]
    return min(filter(None, known), key=lambda objection: not objection.conflict, default=None)


def infeasibility(
    command: str, rules: ActiveRules, facts: Facts, *, doubts: bool = True
) -> Objection | None:
    """Reason that an action cannot, or with `doubts` may not, be done now.

    Where actions are known, no other can.
    """
    instance = rules.instance(command)
    if instance is None:
        return (
            Objection(True, f"`{command}` is no known action", "", "")
            if rules.environment
            else None
        )
    doubt: Objection | None = None
    for clause in instance.preconditions:
        value = clause.truth(facts)
        if value is Truth.TRUE:
            continue
        if value is Truth.FALSE:
            fact = settled(clause, rules, facts)
            return Objection(
                True, f"`{command}` cannot be done: {fact}", instance.schema.id, fact, clause
            )
        if doubts and doubt is None and not _nearly_sure(clause, rules):
            fact = settled(clause, rules, facts)
            doubt = Objection(False, f"`{command}`: {fact}", instance.schema.id, fact, clause)
    return doubt


def _nearly_sure(clause: Clause, rules: ActiveRules) -> bool:
    """True if an unknown clause is no reason to doubt: that one is *not* where at most one of
    many places is.
    """
    known = ((each.negated, rules.predicates.get(each.atom.predicate)) for each in clause.literals)
    return all(
        negated and predicate is not None and predicate.exclusive for negated, predicate in known
    )


def prohibition(
    command: str, rules: ActiveRules, facts: Facts, *, doubts: bool = True
) -> Objection | None:
    """The rule that forbids an action now: a conflict where all its conditions are known to
    hold, else a doubt.
    """
    instance = rules.instance(command)
    if instance is None:
        return None
    doubt: Objection | None = None
    for rule, ban in rules.prohibitions.get(instance.schema.name, ()):
        values = [clause.truth(facts) for clause in rule.when]
        values += [clause.truth(facts, instance.binding) for clause in ban.when]
        if Truth.FALSE in values or (Truth.UNKNOWN in values and (doubt is not None or not doubts)):
            continue
        fact = "; ".join(
            settled(clause.bind(instance.binding), rules, facts) for clause in ban.when
        )
        reason = f"`{command}` goes against {rule.id}: {rule.text}"
        if Truth.UNKNOWN not in values:
            return Objection(True, reason, rule.id, fact)
        doubt = Objection(False, reason, rule.id, fact)
    return doubt


def settled(clause: Clause, rules: ActiveRules, facts: Facts) -> str:
    """The fact behind a clause's value, in words: that of the first literal with the same value."""
    value = clause.truth(facts)
    literal = next(
        (each for each in clause.literals if each.truth(facts) is value), clause.literals[0]
    )
    said = literal.truth(facts)
    return rules.say(literal.atom, ~said if literal.negated else said)


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
        values = {self.situation.truth(atom)}
        for held in self.situation.belief.holding:
            args = tuple(held if kind_of(held) == kind_of(arg) else arg for arg in atom.args)
            values.add(self.situation.truth(Atom(atom.predicate, args)))
        self.deeds[atom] = next(
            value for value in (Truth.TRUE, Truth.UNKNOWN, Truth.FALSE) if value in values
        )
        return self.deeds[atom]


class Simulated:
    """Facts as they would be after some actions: effects laid over a belief that stays as it is."""

    def __init__(self, base: Facts, rules: ActiveRules) -> None:
        self._base = base
        self._rules = rules
        self._known: dict[Atom, Truth] = {}
        self._only: dict[str, Atom] = {}

    def truth(self, atom: Atom, /) -> Truth:
        if atom in self._known:
            return self._known[atom]
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
                self._known = {
                    one: value
                    for one, value in self._known.items()
                    if one.predicate != atom.predicate
                }
            self._known[atom] = Truth.of(not literal.negated)
