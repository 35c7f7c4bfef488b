"""Mend a manual from recorded runs: lines that were contradicted, and edits that would have foretold what happened.

An edit passes if, replayed over all runs, it surprises at no step at which the manual was right, and at fewer than
before. Edits are tried one after the other, each on top of those that passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from rpms.core.acting.surprise import Noticed, Surprise, SurpriseKind, compare, goal_goes_on
from rpms.core.belief import Situation
from rpms.core.facts import Clause, Literal, parse_clause, parse_literal
from rpms.core.goal import EXPLORING, Progress
from rpms.core.planning.doubts import continuations_of, goal_holds
from rpms.core.planning.trust import UNSHAKEN
from rpms.core.rules import ActionSchema, RuleManual
from rpms.store.runs import RunFolder
from rpms.worlds.base import World

_PROCESS = "process "
_UNKNOWN = Progress(EXPLORING, "", 0, 1)


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


class Edit(NamedTuple):
    """A change of one list of a manual."""

    of: str
    """The action, process (`process NAME`) or goal."""
    part: str
    """`needs`, `does` or `wants`."""
    add: str = ""
    remove: str = ""

    def __str__(self) -> str:
        changes = [*([f"remove {self.remove}"] if self.remove else ()), *([f"add {self.add}"] if self.add else ())]
        return f"{self.of}, {self.part}: {', '.join(changes)}"


@dataclass(frozen=True)
class Proposal:
    """A line that was contradicted, where, and the edit that would have foretold it."""

    line: str
    said: str
    """The first surprise, in words."""
    where: tuple[str, ...]
    edit: Edit | None = None
    mended: int = 0
    """Surprises fewer with the edit."""


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
            yield RecordedStep(
                where, step.command, step.infeasible, won, Situation(belief, goal), Situation(after, goal)
            )
            belief = after


def find_surprises(manual: RuleManual, moment: RecordedStep) -> Noticed:
    """Compare one step with what a manual foretells of it, its end included."""
    goal = moment.before.goal
    rules = manual.active(goal.type, goal.object, goal.destination)
    noticed = compare(UNSHAKEN, rules, moment.before, moment.command, moment.after, refused=moment.refused)
    holds = goal_holds(rules, moment.after, _UNKNOWN)
    if moment.won and not holds and rules.purpose is not None and not rules.purpose.each:
        return replace(noticed, surprises=(*noticed.surprises, Surprise("early", rules.purpose.name, "won before")))
    return goal_goes_on(noticed, rules, moment.after) if holds and not moment.won else noticed


def propose(manual: RuleManual, moments: Sequence[RecordedStep]) -> tuple[list[Proposal], RuleManual]:
    """A proposal for each contradicted line, and the manual with all edits that passed."""
    proposals, lines = list[Proposal](), _contradicted(manual, moments)
    for line, found in lines.items():
        tried: list[tuple[int, int, Edit, RuleManual]] = []
        for edit in found.edits:
            changed = apply(manual, edit)
            gain = _gain(manual, changed, moments)
            if gain:
                tried.append((gain, len(tried), edit, changed))
        if tried:
            gain, _, edit, manual = max(tried, key=lambda one: (one[0], -one[1]))
            proposals.append(Proposal(line, found.said, tuple(found.where), edit, gain))
        else:
            proposals.append(Proposal(line, found.said, tuple(found.where)))
    return proposals, manual


def _contradicted(manual: RuleManual, moments: Iterable[RecordedStep]) -> dict[str, _Contradicted]:
    lines: dict[str, _Contradicted] = {}
    for moment in moments:
        noticed = find_surprises(manual, moment)
        for one in noticed.surprises:
            if one.line and one.kind != "early":
                found = lines.setdefault(one.line, _Contradicted(one.text))
                found.where.append(moment.where)
                found.edits |= dict.fromkeys(_edits(manual, moment, one, noticed))
    return lines


def _edits(manual: RuleManual, moment: RecordedStep, one: Surprise, noticed: Noticed) -> Iterator[Edit]:
    """Edits that could have foretold one surprise."""
    goal = moment.before.goal
    rules = manual.active(goal.type, goal.object, goal.destination)
    instance = rules.instance(moment.command)
    name = instance.schema.name if instance is not None else ""
    match one.kind:
        case SurpriseKind.ACCEPTED:
            yield Edit(name, "needs", remove=one.line.partition(" needs ")[2])
        case SurpriseKind.ABSENT:
            of, _, effect = one.line.partition(" does ")
            yield Edit(of, "does", remove=effect)
        case SurpriseKind.CHANGED:
            news = noticed.trust.learned.get(name, ())
            yield from (Edit(name, "does", add=str(each)) for each in news if isinstance(each, Literal))
        case SurpriseKind.REFUSED:
            stated = {str(need) for need in instance.schema.preconditions} if instance is not None else set()
            for suspect in sorted(noticed.trust.suspects.get(name, ()), key=str):
                opposite = str(Literal(suspect.atom, not suspect.negated))
                yield Edit(name, "needs", str(suspect), opposite if opposite in stated else "")
        case SurpriseKind.UNFINISHED if rules.purpose is not None and not rules.purpose.staged:
            held = noticed.trust.held or frozenset()
            likely = sorted(continuations_of(rules).items(), key=lambda item: item[1])
            yield from (Edit(rules.purpose.name, "wants", add=str(each)) for each, _ in likely if each not in held)


def _gain(manual: RuleManual, changed: RuleManual, moments: Iterable[RecordedStep]) -> int:
    """Surprises fewer with a change; nothing where it surprises at a step at which the manual was right."""
    gain = 0
    for moment in moments:
        before, after = (len(find_surprises(each, moment).surprises) for each in (manual, changed))
        if after > before:
            return 0
        gain += before - after
    return gain


def apply(manual: RuleManual, edit: Edit) -> RuleManual:
    """The manual with an edit."""
    if edit.part == "wants":
        purposes = tuple(
            replace(
                one, steps=(replace(one.steps[0], until=(parse_clause(edit.add), *one.steps[0].until)), *one.steps[1:])
            )
            if one.name == edit.of
            else one
            for one in manual.purposes
        )
        return replace(manual, purposes=purposes)
    processes = tuple(_changed(one, edit, f"{_PROCESS}{one.name}") for one in manual.lore.processes)
    actions = tuple(_changed(one, edit, one.name) for one in manual.actions)
    return replace(manual, actions=actions, lore=replace(manual.lore, processes=processes))


def _changed(schema: ActionSchema, edit: Edit, key: str) -> ActionSchema:
    if key != edit.of:
        return schema
    if edit.part == "needs":
        needs: list[Clause] = [need for need in schema.preconditions if str(need) != edit.remove]
        return replace(schema, preconditions=(*needs, *([parse_clause(edit.add)] if edit.add else ())))
    effects = [effect for effect in schema.effects if str(effect) != edit.remove]
    return replace(schema, effects=(*effects, *([parse_literal(edit.add)] if edit.add else ())))


def write_edit(tree: Any, edit: Edit) -> bool:
    """Change a manual's tree as it is in its file; False where the file does not hold what the edit is about."""
    process = edit.of.startswith(_PROCESS)
    section = "goals" if edit.part == "wants" else "processes" if process else "environment"
    entry = (tree.get(section) or {}).get(edit.of.removeprefix(_PROCESS))
    if not isinstance(entry, dict):
        return False
    key = {"wants": "holds", "does": "effects", "needs": "needs" if process else "preconditions"}[edit.part]
    listed = entry.get(key) or []
    left = [item for item in listed if "".join(str(item).split()) != "".join(edit.remove.split())]
    if edit.remove and len(left) == len(listed):
        return False
    added = [edit.add] if edit.add else []
    entry[key] = [*added, *left] if edit.part == "wants" else [*left, *added]
    return True
