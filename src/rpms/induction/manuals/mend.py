"""Mend a manual from episodes: lines that were contradicted, and edits that would have foretold
what happened.

An edit passes if, replayed over all episodes, it surprises at no step at which the manual was
right, and at fewer than before. The best goes first, and others are tried on top of it (hill
climbing). The episodes are those of recorded runs, or those that a learner explored and played.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, TypeVar

from rpms.induction.evidence.recorded_episodes import replayed
from rpms.induction.manuals.manual_edits import PROCESS, Edit, apply
from rpms.logic.actions import Instance, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.goal import NOTHING_DONE
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.beyond import Surprise
from rpms.planning.noticed import PlanNoticed, SurpriseKind
from rpms.planning.surprise import compare, goal_goes_on
from rpms.planning.trust import COMPLETE, UNSHAKEN, LinePart, ManualLine, Trust
from rpms.planning.unfinished_goals import bindings_met, further_wants, goal_holds, things_of
from rpms.store.evidence import Trace, Witness
from rpms.worlds.base import World

_News = TypeVar("_News", Literal, Revelation)


class _ReplaySurprise(StrEnum):
    """Kinds of surprise that are noticed only when episodes are replayed."""

    EARLY = "early"
    """Won before the goal's facts held."""
    SHOWN = "shown"
    """Facts were shown of which no line says so."""


@dataclass(frozen=True)
class RecordedStep:
    """A recorded step, with what was believed before and after it."""

    task: str
    witness: Witness
    command: str
    refused: bool
    won: bool
    before: Situation
    after: Situation
    of_a_win: bool = False  # True if its episode was won


@dataclass
class Proposal:
    """A line that was contradicted, where, and the edit that would have foretold it."""

    line: str
    said: str  # The first surprise, in words
    where: list[RecordedStep] = field(default_factory=list)
    edits: dict[Edit, None] = field(default_factory=dict)
    """Edits that could have foretold one of its surprises."""
    edit: Edit | None = None
    """The one that passed, or another after which nothing contradicts the line any more."""


class Mending(NamedTuple):
    """A proposal for each contradicted line, and the manual with all edits that passed."""

    proposals: list[Proposal]
    manual: RuleManual


def recorded_steps(world: World, traces: Iterable[Trace]) -> Iterator[RecordedStep]:
    """The steps of episodes, with beliefs read anew from their texts."""
    for trace in traces:
        for step in replayed(world, trace):
            command = step.spoken.command
            yield RecordedStep(
                trace.task,
                step.witness,
                command,
                refused=not command or step.refused,
                won=step.spoken.won,
                before=step.before,
                after=step.after,
                of_a_win=trace.won,
            )


def find_surprises(manual: RuleManual, step: RecordedStep) -> PlanNoticed:
    """Compare one step with what a manual foretells of it, its end and what it showed included."""
    rules = _rules_at(manual, step)
    noticed = compare(UNSHAKEN, rules, step.before, step.command, step.after, refused=step.refused)
    noticed = _with_facts_shown(noticed, step)
    holds = goal_holds(rules, step.after, NOTHING_DONE)
    if holds and not step.won:
        return goal_goes_on(noticed, rules, step.after)
    if step.won and not holds and rules.purpose is not None and not rules.purpose.each:
        text = "won before all that the goal wants held"
        return noticed.with_(_ReplaySurprise.EARLY, "", text, noticed.trust)
    return noticed


def _rules_at(manual: RuleManual, step: RecordedStep) -> ActiveRules:
    goal = step.before.goal
    return manual.active(goal.type, goal.object, goal.destination)


def _with_facts_shown(noticed: PlanNoticed, step: RecordedStep) -> PlanNoticed:
    """One more surprise for each fact that became known without a line that says so.

    A player does not care, but a manual that foretells it has plans that look for it.
    """
    trust = noticed.trust
    for action in trust.learned:
        for shown in _learned(trust, action, Revelation):
            line = ManualLine(action, LinePart.SHOWS, COMPLETE)
            text = f"`{step.command}` showed what no line says: {shown}"
            noticed = noticed.with_(_ReplaySurprise.SHOWN, line, text, noticed.trust)
    return noticed


def _learned(trust: Trust, action: str, sort: type[_News]) -> list[_News]:
    """Changes (literals) or facts shown (revelations) that no line of an action foretold."""
    return [news for news in trust.learned.get(action, ()) if isinstance(news, sort)]


def propose(
    manual: RuleManual,
    steps: Sequence[RecordedStep],
    asked: Sequence[RecordedStep] | None = None,
    least: float = 0.5,
) -> Mending:
    """Find an edit for each contradicted line, the edit that foretells most first.

    `asked`: the steps whose surprises are to be mended; all where it is None. `least`: the
    surprises, of all steps, that an edit has to foretell; half a one is a refusal that the manual
    left open.
    """
    asked = steps if asked is None else asked
    at_first = _contradicted(manual, asked)
    left = at_first
    while True:
        passed = _best_edit(manual, steps, _edits_of(left.values()), least)
        if passed is None:
            every = {**left, **at_first}
            return Mending(list(every.values()), manual)
        manual = passed.manual
        left = _contradicted(manual, asked)
        for proposal in at_first.values():
            is_settled_now = proposal.edit is None and proposal.line not in left
            if is_settled_now or passed.edit in proposal.edits:
                proposal.edit = passed.edit


def _edits_of(proposals: Iterable[Proposal]) -> list[Edit]:
    """Every edit of some proposals, each once."""
    edits: dict[Edit, None] = {}
    for proposal in proposals:
        edits |= proposal.edits
    return list(edits)


def _contradicted(manual: RuleManual, steps: Iterable[RecordedStep]) -> dict[str, Proposal]:
    """The lines that steps contradict, each with the edits that might have foretold these steps."""
    lines: dict[str, Proposal] = {}
    for step in steps:
        rules = _rules_at(manual, step)
        noticed = find_surprises(manual, step)
        for surprise in noticed.surprises:
            if not surprise.line:
                continue
            proposal = lines.setdefault(surprise.line, Proposal(surprise.line, surprise.text))
            proposal.where.append(step)
            for edit in _edits_foretelling(surprise, step, rules, noticed.trust):
                proposal.edits[edit] = None
    return lines


def _edits_foretelling(
    surprise: Surprise, step: RecordedStep, rules: ActiveRules, trust: Trust
) -> Iterator[Edit]:
    """Edits that could have foretold one surprise. `trust`: what the step has left of it."""
    if surprise.kind == SurpriseKind.UNFINISHED:
        yield from _new_wants(rules, trust)
    instance = rules.instance(step.command)
    if instance is None:
        return
    name = instance.schema.name
    match surprise.kind:
        case SurpriseKind.ACCEPTED | SurpriseKind.ABSENT:
            yield from _retractions(_line_against(surprise, trust), instance)
        case SurpriseKind.CHANGED:
            for effect in _learned(trust, name, Literal):
                yield Edit(name, LinePart.DOES, effect)
        case SurpriseKind.REFUSED:
            if _all_met(instance, step.before):
                yield from _new_needs(instance, trust)
        case _ReplaySurprise.SHOWN:
            yield from _new_sights(name, trust)


def _line_against(surprise: Surprise, trust: Trust) -> ManualLine:
    """The line that a surprise contradicts, among those with evidence from the step."""
    return next(line for line in trust.evidence if str(line) == surprise.line)


def _all_met(instance: Instance, before: Situation) -> bool:
    needs = instance.schema.preconditions
    return all(need.truth(before, instance.binding) is Truth.TRUE for need in needs)


def _retractions(line: ManualLine, instance: Instance) -> Iterator[Edit]:
    """The contradicted line goes; a need of one fact may also become its opposite."""
    yield Edit(line.of, line.part, remove=line.text)
    if line.part is not LinePart.NEEDS:
        return
    for need in instance.schema.preconditions:
        if str(need) == line.text and len(need.literals) == 1:
            opposite = Clause((need.literals[0].opposite(),))
            yield Edit(line.of, LinePart.NEEDS, opposite, line.text)


def _new_needs(instance: Instance, trust: Trust) -> Iterator[Edit]:
    """A suspected need comes in; its opposite, where it is stated, goes."""
    name = instance.schema.name
    stated = {str(need) for need in instance.schema.preconditions}
    for suspect in trust.suspects(name):
        opposite = str(suspect.opposite())
        gone = opposite if opposite in stated else ""
        yield Edit(name, LinePart.NEEDS, Clause((suspect,)), gone)


def _new_sights(action: str, trust: Trust) -> Iterator[Edit]:
    """A fact that an action showed comes in, those under a condition first."""
    shown = _learned(trust, action, Revelation)
    shown.sort(key=lambda fact: not fact.given)
    for fact in shown:
        yield Edit(action, LinePart.SHOWS, fact)


def _new_wants(rules: ActiveRules, trust: Trust) -> Iterator[Edit]:
    """One more fact that the goal may want, before all the others or after them."""
    purpose = rules.purpose
    if purpose is None or purpose.staged:
        return
    held = trust.held or frozenset()
    others = things_of(rules).keys() - purpose.over.keys()
    later_by = further_wants(rules)
    for fact in sorted(later_by, key=later_by.__getitem__):
        if fact not in held and others.isdisjoint(fact.atom.args):
            wanted = Clause((fact,))
            yield Edit(purpose.name, LinePart.WANTS, wanted, last=False)
            yield Edit(purpose.name, LinePart.WANTS, wanted, last=True)


@dataclass(eq=False)
class _WeighedStep:
    """A step under the manual that edits are made of."""

    step: RecordedStep
    manual: RuleManual

    @cached_property
    def weight(self) -> float:
        return _weight(self.manual, self.step)

    def gain(self, changed: RuleManual) -> float:
        """Surprises that a changed manual spares here; below zero where it surprises more."""
        return self.weight - _weight(changed, self.step)


class _TriedEdit(NamedTuple):
    """An edit that surprises nowhere among the steps that it is about."""

    edit: Edit
    manual: RuleManual  # With the edit
    gains: float
    support: int

    @property
    def rank(self) -> tuple[float, bool, int]:
        """The order of edits. One change is likelier than two."""
        is_one_change = self.edit.add is None or not self.edit.remove
        return (self.gains, is_one_change, self.support)


def _best_edit(
    manual: RuleManual, steps: Sequence[RecordedStep], edits: Sequence[Edit], least: float
) -> _TriedEdit | None:
    """The edit that foretells most, of those that pass a replay of all steps.

    Edits are tried on the steps that they are about before the best of them are tried on all.
    """
    if not edits:
        return None
    weighed = [_WeighedStep(step, manual) for step in steps]
    concerned = _steps_by_name(weighed)
    tried: list[_TriedEdit] = []
    for edit in edits:
        one = _try_edit(manual, edit, concerned.get(edit.of, ()))
        if one is not None and one.gains >= least:
            tried.append(one)
    tried.sort(key=lambda one: one.rank, reverse=True)
    for one in tried:
        if _is_worse_nowhere(one.manual, weighed):
            return one
    return None


def _is_worse_nowhere(changed: RuleManual, steps: Iterable[_WeighedStep]) -> bool:
    """True if a changed manual surprises at no step more than before."""
    return all(step.gain(changed) >= 0 for step in steps)


def _try_edit(manual: RuleManual, edit: Edit, steps: Sequence[_WeighedStep]) -> _TriedEdit | None:
    """Replay the steps that an edit is about; None if nothing speaks for it or one is worse."""
    changed = apply(manual, edit)
    support = _support(manual, changed, edit, [each.step for each in steps])
    if not support:
        return None
    gains = 0.0
    for each in steps:
        gain = each.gain(changed)
        if gain < 0:
            return None
        gains += gain
    return _TriedEdit(edit, changed, gains, support)


def _steps_by_name(steps: Iterable[_WeighedStep]) -> Mapping[str, Sequence[_WeighedStep]]:
    """By action, process, goal or rule: the steps that its lines may foretell something of."""
    found: dict[str, list[_WeighedStep]] = {}
    for each in steps:
        rules = _rules_at(each.manual, each.step)
        for name in _names_concerning(each.step, rules):
            found.setdefault(name, []).append(each)
    return found


def _names_concerning(step: RecordedStep, rules: ActiveRules) -> set[str]:
    """Actions, processes, goals and rules whose lines may foretell something of a step."""
    names: set[str] = set()
    for process in rules.lore.processes:
        if process.match(step.command) is not None:
            names.add(f"{PROCESS}{process.name}")
    instance = rules.instance(step.command)
    if instance is not None:
        name = instance.schema.name
        names.add(name)
        for rule, _ban in rules.prohibitions.get(name, ()):
            names.add(rule.id)
    if rules.purpose is not None:
        names.add(rules.purpose.name)
    return names


def _weight(manual: RuleManual, step: RecordedStep) -> float:
    """Surprises of a step; a refusal counts half where a need was unknown, so that the manual
    promised nothing.
    """
    surprises = find_surprises(manual, step).surprises
    if not any(one.kind == SurpriseKind.REFUSED for one in surprises):
        return len(surprises)
    instance = _rules_at(manual, step).instance(step.command)
    needs = instance.preconditions if instance is not None else ()
    was_promised = all(need.truth(step.before) is not Truth.UNKNOWN for need in needs)
    return len(surprises) if was_promised else len(surprises) - 0.5


def _support(
    manual: RuleManual, changed: RuleManual, edit: Edit, steps: Sequence[RecordedStep]
) -> int:
    """Steps that speak for an edit beside those that it foretells; with none it is a guess, and
    does not pass.

    A new need held in successes, a goal's new fact came about in its order in wins, a ban was
    broken in wins alone. What is taken out, and what was seen, needs no more.
    """
    if edit.part is LinePart.FORBIDS:
        return _broken_in_wins(manual, edit, steps)
    if not isinstance(edit.add, Clause):
        return 1
    if edit.part is LinePart.NEEDS:
        # an edit changes no command's meaning, and the manual that all edits are made of has read
        # these commands before
        return sum(_held_need(manual, edit.of, edit.add, step) for step in steps)
    return sum(_came_about_in_order(changed, edit, edit.add, step) for step in steps)


def _broken_in_wins(manual: RuleManual, edit: Edit, steps: Iterable[RecordedStep]) -> int:
    """Count the steps at which a ban was broken; 0 unless all of their episodes were won."""
    line = str(ManualLine(edit.of, edit.part, edit.remove))
    broken = 0
    for step in steps:
        surprises = find_surprises(manual, step).surprises
        if all(surprise.line != line for surprise in surprises):
            continue
        if not step.of_a_win:
            return 0
        broken += 1
    return broken


def _held_need(manual: RuleManual, action: str, need: Clause, step: RecordedStep) -> bool:
    """True if the action worked at this step, and the need held before it."""
    instance = _rules_at(manual, step).instance(step.command)
    if step.refused or instance is None or instance.schema.name != action:
        return False
    return need.bind(instance.binding).truth(step.before) is Truth.TRUE


def _came_about_in_order(
    changed: RuleManual, edit: Edit, wanted: Clause, step: RecordedStep
) -> bool:
    """True if this step won, and the goal's new fact came about with it where it is to be the
    last, and before it where not.
    """
    purpose = _rules_at(changed, step).purpose
    if not step.won or purpose is None or purpose.name != edit.of:
        return False
    for binding in bindings_met(purpose, step.after):
        held_before = wanted.bind(binding).truth(step.before) is Truth.TRUE
        if held_before is not edit.last:
            return True
    return False
