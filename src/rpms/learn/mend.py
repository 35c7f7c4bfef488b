"""Mend a manual from recorded runs: lines that were contradicted, and edits that would have foretold what happened.

An edit passes if, replayed over all runs, it surprises at no step at which the manual was right, and at fewer than
before. Edits are tried one after the other, each on top of those that passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from rpms.core.acting.surprise import Noticed, Surprise, SurpriseKind, compare, goal_goes_on
from rpms.core.belief import Situation
from rpms.core.facts import Clause, Literal, Truth
from rpms.core.goal import EXPLORING, Progress
from rpms.core.planning.doubts import bindings_met, continuations_of, goal_holds
from rpms.core.planning.trust import COMPLETE, UNSHAKEN, LinePart, ManualLine
from rpms.core.rules import ActionSchema, ActiveRules, Purpose, Revelation, RuleManual
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

_PROCESS = "process "
_UNKNOWN = Progress(EXPLORING, "", 0, 1)
_FIELDS = {
    LinePart.NEEDS: "preconditions",
    LinePart.DOES: "effects",
    LinePart.SHOWS: "observes",
    LinePart.WANTS: "holds",
    LinePart.FORBIDS: "forbids",
}
"""Name of each list in an action and in a manual's file."""
_SECTIONS = {LinePart.WANTS: "goals", LinePart.FORBIDS: "domain"}

Line = Literal | Clause | Revelation


class _Replayed(StrEnum):
    """Surprises that only a replay has."""

    EARLY = "early"
    """A win before the goal's facts held."""
    SHOWN = "shown"
    """Facts that came to be known, and no line says so."""


@dataclass(frozen=True)
class RecordedStep:
    """A recorded step, with what was believed before and after it."""

    where: str
    """The task and the number of the step."""
    command: str
    refused: bool
    won: bool
    before: Situation
    after: Situation
    led: bool = False
    """True if its episode was won."""


class Edit(NamedTuple):
    """A change of one list of a manual."""

    of: str
    """The action, process (`process NAME`), goal or rule."""
    part: LinePart
    add: Line | None = None
    remove: str = ""
    last: bool = False
    """True if a goal's new fact comes after the others."""

    def __str__(self) -> str:
        where = " last" if self.last else ""
        added = [f"add {self.add}{where}"] if self.add is not None else []
        return f"{self.of}, {self.part}: {', '.join([*([f'remove {self.remove}'] if self.remove else ()), *added])}"


@dataclass(frozen=True)
class Proposal:
    """A line that was contradicted, where, and the edit that would have foretold it."""

    line: str
    said: str
    """The first surprise, in words."""
    where: tuple[str, ...]
    edit: Edit | None = None


@dataclass
class _Contradicted:
    said: str
    where: list[str] = field(default_factory=list)
    edits: dict[Edit, None] = field(default_factory=dict)


def moments_of(world: World, run: RunFolder) -> Iterator[RecordedStep]:
    """The steps of a run, with beliefs read anew from its texts."""
    for row in run.rows():
        record = run.episode(row.task)
        if not record.steps:
            continue
        opening = record.steps[0].observation
        goal = world.goal(opening)
        belief = world.update(world.start(goal), None, opening)
        for step in record.steps:
            after = world.update(belief, step.command, step.result)
            won = row.won and step.number == row.steps
            where = f"{row.task}, step {step.number}"
            sides = (Situation(belief, goal), Situation(after, goal))
            yield RecordedStep(where, step.command, step.infeasible, won, *sides, row.won)
            belief = after


def find_surprises(manual: RuleManual, moment: RecordedStep) -> Noticed:
    """Compare one step with what a manual foretells of it, its end and what it showed included."""
    rules = _rules(manual, moment)
    noticed = compare(UNSHAKEN, rules, moment.before, moment.command, moment.after, refused=moment.refused)
    shown = [(of, seen) for of, news in noticed.trust.learned.items() for seen in news if isinstance(seen, Revelation)]
    for of, seen in shown:
        text = f"`{moment.command}` showed what no line says: {seen}"
        noticed = noticed.with_(_Replayed.SHOWN, ManualLine(of, LinePart.SHOWS, COMPLETE), text, noticed.trust)
    holds = goal_holds(rules, moment.after, _UNKNOWN)
    if moment.won and not holds and rules.purpose is not None and not rules.purpose.each:
        return noticed.with_(
            _Replayed.EARLY, rules.purpose.name, "won before all that the goal wants held", noticed.trust
        )
    return goal_goes_on(noticed, rules, moment.after) if holds and not moment.won else noticed


def _rules(manual: RuleManual, moment: RecordedStep) -> ActiveRules:
    goal = moment.before.goal
    return manual.active(goal.type, goal.object, goal.destination)


def propose(manual: RuleManual, moments: Sequence[RecordedStep]) -> tuple[list[Proposal], RuleManual]:
    """A proposal for each contradicted line, and the manual with all edits that passed, the most telling first."""
    lines = first = _contradicted(manual, moments)
    mended: dict[str, Edit] = {}
    while True:
        passed = _best_edit(manual, moments, {edit: None for found in lines.values() for edit in found.edits})
        if passed is None:
            break
        edit, manual = passed
        lines = _contradicted(manual, moments)
        mended |= {line: edit for line in first if line not in lines and line not in mended}
        mended |= {line: edit for line, found in first.items() if edit in found.edits}
    rest = {line: found for line, found in lines.items() if line not in first}
    return [
        Proposal(line, found.said, tuple(found.where), mended.get(line)) for line, found in (first | rest).items()
    ], manual


def _contradicted(manual: RuleManual, moments: Iterable[RecordedStep]) -> dict[str, _Contradicted]:
    lines: dict[str, _Contradicted] = {}
    for moment in moments:
        noticed = find_surprises(manual, moment)
        for one in noticed.surprises:
            if one.line and one.kind != _Replayed.EARLY:
                found = lines.setdefault(one.line, _Contradicted(one.text))
                found.where.append(moment.where)
                found.edits |= dict.fromkeys(_edits(_rules(manual, moment), moment, one, noticed))
    return lines


def _edits(rules: ActiveRules, moment: RecordedStep, one: Surprise, noticed: Noticed) -> Iterator[Edit]:
    """Edits that could have foretold one surprise."""
    instance = rules.instance(moment.command)
    name = instance.schema.name if instance is not None else ""
    stated = {str(need): need for need in instance.schema.preconditions} if instance is not None else {}
    of, _, effect = one.line.partition(" does ")
    news = noticed.trust.learned.get(name, ())
    match one.kind:
        case SurpriseKind.ACCEPTED if (need := stated.get(one.line.partition(" needs ")[2])) is not None:
            yield Edit(name, LinePart.NEEDS, remove=str(need))
            if len(need.literals) == 1:
                yield Edit(name, LinePart.NEEDS, Clause((need.literals[0].opposite(),)), str(need))
        case SurpriseKind.ACCEPTED:
            rule, _, ban = one.line.partition(f" {LinePart.FORBIDS} ")
            yield Edit(rule, LinePart.FORBIDS, remove=ban)
        case SurpriseKind.ABSENT:
            yield Edit(of, LinePart.DOES, remove=effect)
        case SurpriseKind.CHANGED | _Replayed.SHOWN:
            part, sort = (LinePart.DOES, Literal) if one.kind == SurpriseKind.CHANGED else (LinePart.SHOWS, Revelation)
            lines = [each for each in news if isinstance(each, sort)]
            yield from (Edit(name, part, each) for each in sorted(lines, key=lambda each: " if " not in str(each)))
        case SurpriseKind.REFUSED:
            for suspect in sorted(noticed.trust.suspects.get(name, ()), key=str):
                opposite = str(suspect.opposite())
                yield Edit(name, LinePart.NEEDS, Clause((suspect,)), opposite if opposite in stated else "")
        case SurpriseKind.UNFINISHED if rules.purpose is not None and not rules.purpose.staged:
            held = noticed.trust.held or frozenset()
            likely = sorted(continuations_of(rules).items(), key=lambda item: item[1])
            for each in (each for each, _ in likely if each not in held):
                yield from (
                    Edit(rules.purpose.name, LinePart.WANTS, Clause((each,)), "", last) for last in (False, True)
                )


def _best_edit(
    manual: RuleManual, moments: Sequence[RecordedStep], edits: Iterable[Edit]
) -> tuple[Edit, RuleManual] | None:
    """The edit that foretells most, with the manual that it makes, of those that pass a replay of all steps."""
    before = [_weight(manual, moment) for moment in moments]
    tried: list[tuple[tuple[float, bool, int, int], Edit, RuleManual]] = []
    for place, edit in enumerate(edits):
        changed, gain = apply(manual, edit), 0.0
        support = _support(manual, changed, edit, moments)
        for moment, weight in zip(moments, before, strict=True) if support else ():
            if (after := _weight(changed, moment)) > weight:
                break
            gain += weight - after
        else:
            plain = edit.add is None or not edit.remove
            tried.append(((gain, plain, support, -place), edit, changed))
    best = max(tried, key=lambda one: one[0], default=None)
    return best[1:] if best is not None and best[0][0] > 0 else None


def _weight(manual: RuleManual, moment: RecordedStep) -> float:
    """Surprises of a step; a refusal counts half where a need was unknown, so that the manual promised nothing."""
    rules = _rules(manual, moment)
    surprises, instance = find_surprises(manual, moment).surprises, rules.instance(moment.command)
    needs = instance.preconditions if instance is not None else ()
    unsure = any(need.truth(moment.before) is Truth.UNKNOWN for need in needs)
    return len(surprises) - 0.5 * (unsure and any(one.kind == SurpriseKind.REFUSED for one in surprises))


def _support(manual: RuleManual, changed: RuleManual, edit: Edit, moments: Sequence[RecordedStep]) -> int:
    """Steps that speak for an edit beside those that it foretells; with none it is a guess, and does not pass.

    A new need held in successes, a goal's new fact came about in its order in wins, a ban was broken in wins alone.
    """
    if edit.part is LinePart.FORBIDS:
        line = str(ManualLine(edit.of, edit.part, edit.remove))
        broken = [one for one in moments if line in [each.line for each in find_surprises(manual, one).surprises]]
        return len(broken) if all(one.led for one in broken) else 0
    if not isinstance(edit.add, Clause):
        return 1
    count = 0
    for moment in moments:
        rules = _rules(changed, moment)
        instance, purpose = rules.instance(moment.command), rules.purpose
        if edit.part is LinePart.NEEDS and instance is not None and instance.schema.name == edit.of:
            count += not moment.refused and edit.add.bind(instance.binding).truth(moment.before) is Truth.TRUE
        elif edit.part is LinePart.WANTS and moment.won and purpose is not None and purpose.name == edit.of:
            bound = [edit.add.bind(binding) for binding in bindings_met(purpose, moment.after)]
            count += any(edit.last is (fact.truth(moment.before) is not Truth.TRUE) for fact in bound)
    return count


def apply(manual: RuleManual, edit: Edit) -> RuleManual:
    """The manual with an edit."""
    match edit.part:
        case LinePart.WANTS:
            return replace(manual, purposes=tuple(_wanting(one, edit) for one in manual.purposes))
        case LinePart.FORBIDS:
            rules = [
                replace(one, forbids=tuple(ban for ban in one.forbids if (one.id, str(ban)) != (edit.of, edit.remove)))
                for one in manual.rules
            ]
            return replace(manual, rules=tuple(rules))
    processes = tuple(_changed(one, edit, f"{_PROCESS}{one.name}") for one in manual.lore.processes)
    actions = tuple(_changed(one, edit, one.name) for one in manual.actions)
    return replace(manual, actions=actions, lore=replace(manual.lore, processes=processes))


def _wanting(purpose: Purpose, edit: Edit) -> Purpose:
    if purpose.name != edit.of or not isinstance(edit.add, Clause):
        return purpose
    new = (replace(purpose.steps[0], until=(edit.add,)),)
    return replace(purpose, steps=(*purpose.steps, *new) if edit.last else (*new, *purpose.steps))


def _changed(schema: ActionSchema, edit: Edit, key: str) -> ActionSchema:
    if key != edit.of:
        return schema
    name = _FIELDS[edit.part]
    left = [line for line in getattr(schema, name) if str(line) != edit.remove]
    lines: Any = {name: (*left, *([edit.add] if edit.add is not None else ()))}
    return replace(schema, **lines)


def write_edit(tree: Any, edit: Edit) -> bool:
    """Change a manual's tree as it is in its file; False where the file does not hold what the edit is about."""
    process = edit.of.startswith(_PROCESS)
    section = _SECTIONS.get(edit.part, "processes" if process else "environment")
    entries = tree.get(section) or {}
    if edit.part is LinePart.FORBIDS:
        entries = {name: rule for group in entries.values() if isinstance(group, dict) for name, rule in group.items()}
    entry = entries.get(edit.of.removeprefix(_PROCESS))
    if not isinstance(entry, dict):
        return False
    key = "needs" if process and edit.part is LinePart.NEEDS else _FIELDS[edit.part]
    listed = entry.get(key) or []
    left = [item for item in listed if _plain(item) != "".join(edit.remove.split())]
    if edit.remove and len(left) == len(listed):
        return False
    added = [str(edit.add)] if edit.add is not None else []
    entry[key] = [*added, *left] if edit.part is LinePart.WANTS and not edit.last else [*left, *added]
    return True


def _plain(item: Any) -> str:
    """An item of a list in a manual's file without its spaces; a ban as it is said."""
    text = f"{item['action']} when {' and '.join(item.get('when') or ())}" if isinstance(item, dict) else str(item)
    return "".join(text.split())
