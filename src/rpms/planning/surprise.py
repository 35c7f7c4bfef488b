"""Foretell and compare: differences between what the manual foretold and what happened, and the
lines they concern.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice, pairwise, product
from typing import NamedTuple, Self

from rpms.logic.actions import ActionSchema, Instance, Revelation, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Facts, Literal, Truth
from rpms.logic.rules import ANYTHING, ActiveRules, Lore, atoms_over, kept_with_rules
from rpms.paper import beyond
from rpms.paper.beyond import StepContext, Surprise
from rpms.paper.memory import SuccessSnippet
from rpms.paper.verdict import Candidate
from rpms.planning.doubts import HOPED, SUPPOSED, WAIVED
from rpms.planning.edges import UNSEEN, Link
from rpms.planning.facts_at_stake import excludes, facts_made, wanted_facts
from rpms.planning.trust import (
    COMPLETE,
    CONFIRMED,
    CONTRADICTED,
    REFUTED,
    UNSHAKEN,
    LinePart,
    ManualLine,
    Trust,
    false_over,
)
from rpms.planning.unfinished_goals import goal_holds, unfinished

_BOUND = 200
"""Ways to bind the parameters that a process does not name, each to a name that may do; more are
not tried."""


class SurpriseKind(StrEnum):
    """The ways in which what happens differs from what was foretold."""

    REFUSED = "refused"
    """Refused though nothing known speaks against it."""
    ACCEPTED = "accepted"
    """Accepted though the manual says that it cannot be done."""
    ABSENT = "absent"
    """An effect did not come."""
    CHANGED = "changed"
    """A change that nobody foretold."""
    UNFINISHED = "unfinished"
    """All that the goal wants holds, and the game goes on."""
    STRANDED = "stranded"
    """No plan is left that trusts the manual, and the game goes on."""
    CIRCLE = "circle"
    """The plan led back to a state in which the same was done before."""


@dataclass(frozen=True)
class PlanNoticed(beyond.Noticed):
    """Trust after a step, and what surprised."""

    trust: Trust
    surprises: tuple[Surprise, ...] = ()

    def with_(self, kind: str, line: ManualLine | str, text: str, trust: Trust) -> Self:
        """The same with one more surprise, and the trust that it leaves."""
        return type(self)(
            trust.but(last=text), (*self.surprises, Surprise(str(kind), str(line), text))
        )

    def trusting(self, trust: Trust) -> Self:
        """The same with another trust."""
        return type(self)(trust, self.surprises)

    def stranded(self) -> Self:
        """The same where no plan is left."""
        none = Surprise(str(SurpriseKind.STRANDED), "", "nothing known leads to the goal any more")
        return type(self)(self.trust, (*self.surprises, none))

    @property
    def against_goal(self) -> str:
        """Surprise that speaks against the goal as it is understood; empty where none does."""
        kinds = (SurpriseKind.UNFINISHED, SurpriseKind.STRANDED)
        return next((one.text for one in self.surprises if one.kind in kinds), "")

    def in_last_step(
        self, before: beyond.Advice, command: str, *, refused: bool
    ) -> Sequence[Surprise]:
        """Surprises that belong to the step before; that no plan is left is told once."""
        told = [one for one in before.noticed.surprises if one.kind == SurpriseKind.STRANDED]
        new = [one for one in self.surprises if one not in told]
        if entry := recalled_for(before.memories, command):
            new += against_memory(entry, command, self, refused=refused)
        return new

    def for_another_goal(self) -> Self:
        return self.trusting(replace(self.trust, held=None))


def recalled_for(memories: Iterable[Candidate], command: str) -> str:
    """The memory, bound to the present room, of which a command is a step; empty if there is
    none.
    """
    for candidate in memories:
        entry = candidate.entry
        if candidate.adapted is None or not isinstance(entry, SuccessSnippet):
            continue
        if command in entry.actions:
            return entry.id
    return ""


def notice(
    earlier: beyond.Noticed, now: StepContext, before: Situation, *, won: bool = False
) -> PlanNoticed:
    """What the answer to the last command shows about the manual."""
    trust = earlier.trust if isinstance(earlier, PlanNoticed) else UNSHAKEN
    if not now.history:
        return PlanNoticed(trust)
    last, situation = now.history[-1], now.situation
    noticed = compare(trust, now.schemas, before, last.action, situation, refused=last.failed)
    if not won and goal_holds(now.schemas, situation, now.progress):
        noticed = goal_goes_on(noticed, now.schemas, situation)
    # A circle that a player walks by its own choice says nothing about the manual.
    by_plan = last.action == trust.plans.first and not last.failed and not noticed.surprises
    plans = noticed.trust.plans
    if by_plan:
        plans = plans.having_begun(last.state, last.action, before)
    else:
        plans = replace(plans, walked=())
    return noticed.trusting(noticed.trust.but(plans=plans))


def against_memory(
    entry: str, command: str, noticed: PlanNoticed, *, refused: bool
) -> tuple[Surprise, ...]:
    """A surprise that speaks against the memory whose step a command was: refused, or without
    its effect.
    """
    if refused:
        return (
            Surprise(
                str(SurpriseKind.REFUSED),
                entry,
                f"`{command}` was refused, though {entry} did the like",
            ),
        )
    if any(one.kind == SurpriseKind.ABSENT for one in noticed.surprises):
        return (
            Surprise(
                str(SurpriseKind.ABSENT), entry, f"`{command}` did not do what it did in {entry}"
            ),
        )
    return ()


class _Done(NamedTuple):
    """An action that was tried, with what was known before and after it."""

    rules: ActiveRules
    instance: Instance
    command: str
    before: Situation
    after: Situation

    @property
    def key(self) -> str:
        """What its lines in the manual are known by."""
        return self.rules.key_of(self.instance.schema)


def compare(
    trust: Trust,
    rules: ActiveRules,
    before: Situation,
    command: str,
    after: Situation,
    *,
    refused: bool,
) -> PlanNoticed:
    """Hold what a command did against what the manual foretold of it."""
    doubt = trust.plans.doubt(command)
    if refused:
        trust = trust.but(refusals=trust.refusals.with_refused(command, rules, after))
    noticed = PlanNoticed(trust)
    # A hope that comes true is learned, and no hope any more.
    if doubt and (refused or HOPED in doubt):
        line = ManualLine(doubt, LinePart.DOUBTED, "")
        noticed = noticed.trusting(noticed.trust.weighed(line, CONTRADICTED))
    instance = rules.instance(command)
    if instance is None:
        return noticed
    done = _Done(rules, instance, command, before, after)
    if refused:
        return _refused(noticed, done)
    noticed = _accepted(noticed, done)
    noticed = _with_blank_look(noticed, done)
    noticed = _with_effects(noticed, done, instance.schema, instance.binding, due=True)
    still = before.belief == after.belief
    for process, binding in processes_of(rules, command, before):
        # A process may take time: it is due where nothing at all has changed.
        noticed = _with_effects(noticed, done, process, binding, due=still)
    return _changes(noticed, done)


def _with_blank_look(noticed: PlanNoticed, done: _Done) -> PlanNoticed:
    """A look that a plan began with and that did not tell what it was for showed nothing."""
    chain = noticed.trust.plans.offered.get(done.command, ())
    if not chain or not chain[0].reveals:
        return noticed
    link = chain[0]
    if done.after.value(link.fact.predicate, link.fact.args) is not None:
        return noticed
    trust = noticed.trust
    refusals = trust.refusals.with_blank(link, done.command, done.rules, done.after)
    return noticed.trusting(trust.but(refusals=refusals))


def _with_effects(
    noticed: PlanNoticed,
    done: _Done,
    schema: ActionSchema,
    binding: Mapping[str, str],
    *,
    due: bool,
) -> PlanNoticed:
    """Effects of an action, or of a process it set off: those that came speak for their lines,
    those that are due and did not come, against. What an action only may do is never due.
    """
    for effect in schema.effects:
        line = ManualLine.of_effect(done.rules, schema, effect)
        bound = effect.bind(binding)
        value = bound.truth(done.after)
        if value is Truth.TRUE:
            noticed = noticed.trusting(noticed.trust.weighed(line, CONFIRMED))
        elif value is Truth.FALSE and due and effect not in schema.supposed:
            text = f"`{done.command}` was done, but not: {_said(done.rules, bound)}"
            trust = noticed.trust.weighed(line, CONTRADICTED)
            noticed = noticed.with_(SurpriseKind.ABSENT, line, text, trust)
    return noticed


def _refused(noticed: PlanNoticed, done: _Done) -> PlanNoticed:
    """Weigh a refusal: it confirms needs that explain it; otherwise the list of needs loses trust.

    A need that a plan took for granted explains the first command of an action that is refused,
    while nothing speaks against the manual: the guess was wrong, and not the manual. It confirms
    nothing, and the second such command counts.
    """
    trust = noticed.trust
    false, unknown = _needs_not_met(done)
    waived = WAIVED in trust.plans.doubt(done.command)
    if false and not waived:
        return noticed.trusting(_confirming(trust, done, false))
    # no need explains it, or needs were left open on purpose: what nobody knew may be needed too
    missing = false_over(done.rules, done.instance, done.before, unknown=True)
    suspecting = trust.suspecting(done.key, missing)
    if waived and (false or unknown):
        return noticed.trusting(_confirming(suspecting, done, [*false, *unknown]))
    if unknown and trust.is_first_guess(done.key, done.command):
        refusals = suspecting.refusals.with_guess(done.command, done.instance, unknown)
        return noticed.trusting(suspecting.but(refusals=refusals))
    return _refused_without_reason(noticed.trusting(suspecting), done)


def _confirming(trust: Trust, done: _Done, needs: Iterable[Clause]) -> Trust:
    """Trust once a refusal speaks for some needs."""
    for clause in needs:
        line = ManualLine.of_need(done.rules, done.instance.schema, clause)
        trust = trust.weighed(line, CONFIRMED)
    return trust


def _needs_not_met(done: _Done) -> tuple[list[Clause], list[Clause]]:
    """Needs that explain a refusal, as they are known not to hold, before or after it; and needs of
    which nobody knows, neither before nor after.
    """
    false: list[Clause] = []
    unknown: list[Clause] = []
    for clause in done.rules.needs_of(done.instance.schema):
        bound = clause.bind(done.instance.binding)
        was = bound.truth(done.before)
        now = bound.truth(done.after)
        if was is Truth.FALSE or now is Truth.FALSE:
            false.append(clause)
        elif was is Truth.UNKNOWN and now is Truth.UNKNOWN:
            unknown.append(clause)
    return false, unknown


def _refused_without_reason(noticed: PlanNoticed, done: _Done) -> PlanNoticed:
    """The list of needs is not complete, or one of them is not as stated: they share the blame."""
    schema = done.instance.schema
    line = ManualLine(done.key, LinePart.NEEDS, COMPLETE)
    trust = noticed.trust.weighed(line, CONTRADICTED)
    for clause in schema.preconditions:
        need = ManualLine.of_need(done.rules, schema, clause)
        trust = trust.weighed(need, CONTRADICTED / len(schema.preconditions))
    text = f"`{done.command}` was refused though nothing known speaks against it"
    return noticed.with_(SurpriseKind.REFUSED, line, text, trust)


def _accepted(noticed: PlanNoticed, done: _Done) -> PlanNoticed:
    """Needs that were false when the action worked are refuted."""
    rules, instance = done.rules, done.instance
    trust = noticed.trust.working(done.key, rules, instance, done.before, done.after)
    # Where a need was supposed, it may have worked for what the manual does not state.
    if SUPPOSED not in trust.plans.doubt(done.command):
        trust = trust.weighed(ManualLine(done.key, LinePart.NEEDS, COMPLETE), CONFIRMED)
    noticed = noticed.trusting(trust)
    for clause in rules.needs_of(instance.schema):
        if clause.truth(done.before, instance.binding) is Truth.FALSE:
            noticed = _done_without(noticed, done, clause)
    return noticed


def _done_without(noticed: PlanNoticed, done: _Done, clause: Clause) -> PlanNoticed:
    """An action worked though one of its needs did not hold.

    That refutes the need. It only speaks against a rule that forbids the action: that it can be
    done does not say that it does no harm.
    """
    line = ManualLine.of_need(done.rules, done.instance.schema, clause)
    if line.part is LinePart.FORBIDS:
        weight = CONTRADICTED
        text = f"`{done.command}` was done though {line.of} forbids it"
    else:
        weight = REFUTED
        text = f"`{done.command}` was done without: {clause.bind(done.instance.binding)}"
    trust = noticed.trust.weighed(line, weight)
    return noticed.with_(SurpriseKind.ACCEPTED, line, text, trust)


class _KnownOrListed(NamedTuple):
    """Facts of a situation, and those that the manual itself lists, which no belief knows."""

    situation: Situation
    lore: Lore

    def truth(self, atom: Atom, /) -> Truth:
        if atom.predicate in self.lore.facts:
            return Truth.of(self.lore.holds(atom.predicate, atom.args))
        return self.situation.truth(atom)


def processes_of(
    rules: ActiveRules, command: str, situation: Situation, *, perhaps: bool = False
) -> Iterator[tuple[ActionSchema, Mapping[str, str]]]:
    """The processes that a command sets off: those with all needs met as far as is known, and
    those with none known to be unmet that it sets off `perhaps`.
    """
    facts = _KnownOrListed(situation, rules.lore)
    met = (Truth.TRUE, Truth.UNKNOWN) if perhaps else (Truth.TRUE,)
    for process, named in _processes_by(rules, command).found:
        needs = _needs_by_names(process)
        if _are_met(needs.of_named, facts, named, met):
            for binding in _bindings_met(process, named, facts, met):
                yield process, binding


class _ProcessesBy(NamedTuple):
    """The processes that a command may set off."""

    command: str
    found: list[tuple[ActionSchema, dict[str, str]]]
    """Each with the things that the command names."""


def _processes_by(rules: ActiveRules, command: str) -> _ProcessesBy:
    """The processes that a command may set off; kept until another one is asked about, since
    several questions of a step are about the same one.
    """
    kept: _ProcessesBy | None = rules.kept.get("processes by")
    if kept is None or kept.command != command:
        kept = _ProcessesBy(command, [])
        for process in rules.lore.processes:
            named = process.match(command)
            if named is not None:
                kept.found.append((process, named))
        rules.kept["processes by"] = kept
    return kept


def _bindings_met(
    process: ActionSchema, named: Mapping[str, str], facts: _KnownOrListed, met: Sequence[Truth]
) -> Iterator[Mapping[str, str]]:
    """Names for all things of a process, those that its command names and others, with which
    all that it needs of the others counts as met.

    Names with which a need of one thing alone is not met are left out first: `at(room)` rules out
    most rooms.
    """
    needs = _needs_by_names(process)
    known = facts.situation.belief.names
    choices: list[list[str]] = []
    for other in process.others:
        names: list[str] = []
        for name in names_for(other, known):
            binding = {**named, other: name}
            if _are_met(needs.of_one[other], facts, binding, met):
                names.append(name)
        if not names:
            return
        choices.append(names)
    for chosen in islice(product(*choices), _BOUND):
        binding = {**named, **dict(zip(process.others, chosen, strict=True))}
        if _are_met(needs.of_several, facts, binding, met):
            yield binding


def _are_met(
    needs: Iterable[Clause], facts: Facts, binding: Mapping[str, str], met: Sequence[Truth]
) -> bool:
    """True if needs with some names all have a truth that counts as met."""
    for clause in needs:  # noqa: SIM110  asked so often that `all` is too dear
        if clause.truth(facts, binding) not in met:
            return False
    return True


class _ProcessNeeds(NamedTuple):
    """Needs of a process, by what they are about."""

    of_named: list[Clause]
    """Things that its command names."""
    of_one: Mapping[str, list[Clause]]
    """One thing that it does not name, by the parameter."""
    of_several: list[Clause]
    """Several of these."""


@lru_cache(maxsize=1024)
def _needs_by_names(process: ActionSchema) -> _ProcessNeeds:
    """The needs of a process, apart by the number of things that its command does not name."""
    of_named: list[Clause] = []
    of_one: dict[str, list[Clause]] = {other: [] for other in process.others}
    of_several: list[Clause] = []
    for clause in process.preconditions:
        others = [other for other in process.others if other in clause.names]
        if not others:
            of_named.append(clause)
        elif len(others) == 1:
            of_one[others[0]].append(clause)
        else:
            of_several.append(clause)
    return _ProcessNeeds(of_named, of_one, of_several)


def _changes(noticed: PlanNoticed, done: _Done) -> PlanNoticed:
    """Facts on a command's things that changed or came to be known without a line that says so."""
    rules, instance = done.rules, done.instance
    learned = noticed.trust.learned.get(done.key, ())
    changed = _unforetold(done, {*instance.schema.effects, *learned})
    shown_before = {one.atom for one in learned if isinstance(one, Revelation)}
    shown = [seen for seen in _shown(done) if seen.atom not in shown_before]
    if not changed and not shown:
        return noticed
    lacking = not facts_made(rules.all_actions).issuperset(one.signed for one in changed)
    trust = noticed.trust.learning(done.key, [*changed, *shown], lacking=lacking)
    line = ManualLine(done.key, LinePart.DOES, COMPLETE)
    for fact in changed:
        said = _said(rules, fact.bind(instance.binding))
        text = f"`{done.command}` changed what nobody foretold: {said}"
        noticed = noticed.with_(SurpriseKind.CHANGED, line, text, trust)
    return noticed.trusting(trust)


def _unforetold(done: _Done, known: Container[Literal | Revelation]) -> list[Literal]:
    """Changes that neither known lines of the action bring about nor processes that it may have
    set off, nor those that it may only have shown.
    """
    unknown = [fact for fact in _changed(done) if fact not in known]
    unknown = [fact for fact in unknown if fact.signed not in _going_on_meanwhile(done)]
    if not unknown:
        return []
    told: set[Literal] = set()
    for process, binding in processes_of(done.rules, done.command, done.before, perhaps=True):
        told.update(effect.bind(binding) for effect in process.effects)
    return [fact for fact in unknown if fact.bind(done.instance.binding) not in told]


def _going_on_meanwhile(done: _Done) -> frozenset[tuple[str, bool]]:
    """Facts that processes of other commands bring about, by predicate and sign, where an action
    is a look: plants flower in time, and a look around shows it.
    """
    schema = done.instance.schema
    if schema.effects and not schema.observes:
        return frozenset()
    own = {id(process) for process, _ in _processes_by(done.rules, done.command).found}
    return facts_made(one for one in done.rules.lore.processes if id(one) not in own)


def _changed(done: _Done) -> Iterator[Literal]:
    """Facts over an action's parameters that something wants and that were otherwise before."""
    rules, binding = done.rules, done.instance.binding
    wanted = wanted_facts(rules)
    here = done.after.belief.location
    moved = here != done.before.belief.location
    for atom in _mattering(rules, done.instance.schema):
        args = tuple(map(binding.get, atom.args, atom.args))
        if moved and here not in args:
            continue  # said of the place left behind
        # The belief before was asked most of this in its own step, and remembers.
        was = done.before.value(atom.predicate, args)
        if was is None:
            continue
        now = done.after.value(atom.predicate, args)
        if now is None or was is now or (atom.predicate, not now) not in wanted:
            continue
        # Of what only one can be, others are not.
        implied = not now and rules.predicates[atom.predicate].exclusive
        if not implied:
            yield Literal(atom, not now)


def _shown(done: _Done) -> Iterator[Revelation]:
    """Unstated sights of an action that showed something."""
    for seen in _sights(done.rules, done.instance.schema):
        probe = seen.atom.bind({**done.instance.binding, ANYTHING: UNSEEN})
        if done.before.truth(probe) is not Truth.UNKNOWN:
            continue
        if done.after.truth(probe) is not Truth.UNKNOWN:
            yield seen


@kept_with_rules
def _mattering(rules: ActiveRules, schema: ActionSchema) -> tuple[Atom, ...]:
    """The facts over an action's parameters that something wants."""
    matters = {predicate for predicate, _ in wanted_facts(rules)}
    return tuple(atom for atom in atoms_over(rules, schema) if atom.predicate in matters)


@kept_with_rules
def _sights(rules: ActiveRules, schema: ActionSchema) -> tuple[Revelation, ...]:
    """Unstated facts that an action might reveal: those that other actions reveal, about each
    of its own things.
    """
    stated = {one.atom for one in schema.observes}
    found: list[Revelation] = []
    for other in rules.all_actions:
        for seen in other.observes:
            if ANYTHING not in seen.atom.args:
                continue
            about_own = [_sight_of(seen, name) for name in schema.variables]
            found += [sight for sight in about_own if sight.atom not in stated]
    return tuple(found)


def _sight_of(seen: Revelation, name: str) -> Revelation:
    """The same sight, of whatever it may show, at another thing."""
    binding = {arg: name for arg in seen.atom.args if arg != ANYTHING}
    given = tuple(clause.bind(binding) for clause in seen.given)
    return Revelation(seen.atom.bind(binding), given)


def goal_goes_on(noticed: PlanNoticed, rules: ActiveRules, situation: Situation) -> PlanNoticed:
    """All that the goal wants holds, and the game goes on: it wants more."""
    name = rules.purpose.name if rules.purpose is not None else ""
    trust = unfinished(noticed.trust, rules, situation)
    if trust.held == noticed.trust.held:
        return noticed
    text = "all that the goal is known to want holds, and the game goes on"
    return noticed.with_(
        SurpriseKind.UNFINISHED, ManualLine(name, LinePart.WANTS, COMPLETE), text, trust
    )


def circle(
    noticed: PlanNoticed, rules: ActiveRules, chain: tuple[Link, ...], situation: Situation
) -> PlanNoticed:
    """A plan that led back to where it began: its doubts are doubtful, or what its next action
    lacks is not needed.
    """
    trust = noticed.trust
    blamed = _blamed(rules, chain, situation)
    for line in blamed:
        trust = trust.weighed(line, CONTRADICTED)
    if any(one.kind == SurpriseKind.CIRCLE for one in noticed.surprises):
        return noticed.trusting(trust)
    named = blamed[0] if blamed else _line_served(rules, chain[0])
    text = f"`{chain[0].command}` led back to a state in which it was done before"
    return noticed.with_(SurpriseKind.CIRCLE, named, text, trust)


def _blamed(rules: ActiveRules, chain: tuple[Link, ...], situation: Situation) -> list[ManualLine]:
    """The lines to blame for a plan that led back: its doubts, or needs of the first action that
    has some to blame.
    """
    doubts = [ManualLine(link.doubt, LinePart.DOUBTED, "") for link in chain if link.doubt]
    if doubts:
        return doubts
    for link, then in pairwise(chain):
        instance = rules.instance(then.command)
        if instance is None:
            continue
        needs = _needs_to_blame(rules, link, instance, situation)
        if needs:
            return [ManualLine.of_need(rules, instance.schema, need) for need in needs]
    return []


def _needs_to_blame(
    rules: ActiveRules, link: Link, instance: Instance, situation: Situation
) -> list[Clause]:
    """Needs of an action that an earlier one serves, or else all that it lacks; and needs that
    cannot hold together.
    """
    wanted = Literal(link.fact.atom, link.fact.negated)
    lacking: list[Clause] = []
    served: list[Clause] = []
    told: list[Clause] = []
    for need in rules.needs_of(instance.schema):
        if need.literals:
            told.append(need)
        bound = need.bind(instance.binding)
        if bound.truth(situation) is not Truth.TRUE:
            lacking.append(need)
            if wanted in bound.literals:
                served.append(need)
    blames = dict.fromkeys(served or lacking)
    for need in told:
        if any(excludes(rules, need.literals[0], other.literals[0]) for other in told):
            blames[need] = None
    return list(blames)


def _line_served(rules: ActiveRules, link: Link) -> ManualLine | str:
    """The line that an action of a plan rests on."""
    instance = rules.instance(link.command)
    if instance is None:
        return ""
    part = LinePart.SHOWS if link.reveals else LinePart.DOES
    return ManualLine(instance.schema.name, part, str(Literal(link.fact.atom, link.fact.negated)))


def _said(rules: ActiveRules, literal: Literal) -> str:
    return rules.say(literal.atom, Truth.of(not literal.negated))
