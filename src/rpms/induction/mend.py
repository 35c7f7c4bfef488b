"""Mend a manual from episodes: lines that were contradicted, and edits that would have foretold
what happened.

An edit passes if, replayed over all episodes, it surprises at no step at which the manual was
right, and at fewer than before. Edits are tried one after the other, each on top of those that
passed. The episodes are those of recorded runs, or those that a learner explored and played.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from rpms.induction.manual_review import keep_sentences
from rpms.induction.manual_verify import replayed
from rpms.logic.actions import ActionSchema, Instance, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth
from rpms.logic.goal import NOTHING_DONE
from rpms.logic.rules import ActiveRules, Purpose, Rule, RuleManual
from rpms.paper.beyond import Surprise
from rpms.planning.doubtful_rules import bindings_met, continuations_of, goal_holds, things_of
from rpms.planning.surprise import PlanNoticed, SurpriseKind, compare, goal_goes_on
from rpms.planning.trust import COMPLETE, UNSHAKEN, LinePart, ManualLine
from rpms.store.evidence import Claim, Label, Trace, Witness
from rpms.store.manuals import MANUAL
from rpms.store.yaml_files import manual_yaml, plain, read_yaml, with_list
from rpms.worlds.base import World

_PROCESS = "process "
_FIELDS = {  # Name of each list in an action and in a manual's file
    LinePart.NEEDS: "preconditions",
    LinePart.DOES: "effects",
    LinePart.SHOWS: "observes",
    LinePart.WANTS: "holds",
    LinePart.FORBIDS: "forbids",
}
_SECTIONS = {LinePart.WANTS: "goals", LinePart.FORBIDS: "domain"}

Line = Literal | Clause | Revelation
_EARLY, _SHOWN = "early", "shown"
"""Surprises that only a replay has: a win before the goal's facts held, and facts shown that no
line says."""


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
    led: bool = False  # True if its episode was won


class Edit(NamedTuple):
    """A change of one list of a manual."""

    of: str  # The action, process (`process NAME`), goal or rule
    part: LinePart
    add: Line | None = None
    remove: str = ""
    last: bool = False  # True if a goal's new fact comes after the others

    def __str__(self) -> str:
        said = [f"remove {self.remove}"] if self.remove else []
        if self.add is not None:
            said.append(f"add {self.add}{' last' if self.last else ''}")
        return f"{self.of}, {self.part}: {', '.join(said)}"


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


def recorded_steps(world: World, traces: Iterable[Trace]) -> Iterator[RecordedStep]:
    """The steps of episodes, with beliefs read anew from their texts."""
    for trace in traces:
        for number, (step, before, after) in enumerate(replayed(world, trace), 1):
            yield RecordedStep(
                trace.task,
                Witness(trace.episode, number),
                step.command,
                not step.command or world.infeasible(step.answer),
                step.won,
                before,
                after,
                trace.won,
            )


def find_surprises(manual: RuleManual, step: RecordedStep) -> PlanNoticed:
    """Compare one step with what a manual foretells of it, its end and what it showed included."""
    rules = _rules(manual, step)
    noticed = compare(UNSHAKEN, rules, step.before, step.command, step.after, refused=step.refused)
    for of, news in noticed.trust.learned.items():
        for seen in news:
            if isinstance(seen, Revelation):
                text = f"`{step.command}` showed what no line says: {seen}"
                line = ManualLine(of, LinePart.SHOWS, COMPLETE)
                noticed = noticed.with_(_SHOWN, line, text, noticed.trust)
    holds = goal_holds(rules, step.after, NOTHING_DONE)
    if holds and not step.won:
        return goal_goes_on(noticed, rules, step.after)
    if step.won and not holds and rules.purpose is not None and not rules.purpose.each:
        return noticed.with_(_EARLY, "", "won before all that the goal wants held", noticed.trust)
    return noticed


def _rules(manual: RuleManual, step: RecordedStep) -> ActiveRules:
    goal = step.before.goal
    return manual.active(goal.type, goal.object, goal.destination)


def propose(
    manual: RuleManual,
    steps: Sequence[RecordedStep],
    asked: Sequence[RecordedStep] | None = None,
    least: float = 0.5,
) -> tuple[list[Proposal], RuleManual]:
    """A proposal for each contradicted line, and the manual with all edits that passed, the most
    telling first.

    `asked`: the steps whose surprises are to be mended; all where it is None. `least`: the
    surprises, of all steps, that an edit has to foretell; half a one is a refusal that the manual
    left open.
    """
    asked = steps if asked is None else asked
    lines = first = _contradicted(manual, asked)
    while passed := _best_edit(manual, steps, _all_edits(lines.values()), least):
        manual = passed.manual
        lines = _contradicted(manual, asked)
        for each in first.values():
            settled = each.line not in lines and each.edit is None
            if settled or passed.edit in each.edits:
                each.edit = passed.edit
    return list((lines | first).values()), manual


def _all_edits(proposals: Iterable[Proposal]) -> list[Edit]:
    return [edit for proposal in proposals for edit in proposal.edits]


def _contradicted(manual: RuleManual, steps: Iterable[RecordedStep]) -> dict[str, Proposal]:
    lines: dict[str, Proposal] = {}
    for step in steps:
        noticed = find_surprises(manual, step)
        for one in noticed.surprises:
            if one.line:
                found = lines.setdefault(one.line, Proposal(one.line, one.text))
                found.where.append(step)
                found.edits |= dict.fromkeys(_edits(_rules(manual, step), step, one, noticed))
    return lines


def _edits(
    rules: ActiveRules, step: RecordedStep, one: Surprise, noticed: PlanNoticed
) -> Iterator[Edit]:
    """Edits that could have foretold one surprise."""
    instance = rules.instance(step.command)
    name = instance.schema.name if instance is not None else ""
    news = noticed.trust.learned.get(name, ())
    match one.kind:
        case SurpriseKind.ACCEPTED | SurpriseKind.ABSENT:
            yield from _retracting(one.line, _stated_needs(instance))
        case SurpriseKind.CHANGED:
            effects = [each for each in news if isinstance(each, Literal)]
            yield from (Edit(name, LinePart.DOES, each) for each in effects)
        case SurpriseKind.REFUSED:
            if instance is None or _all_met(instance, step.before):
                yield from _new_needs(name, _stated_needs(instance), noticed)
        case SurpriseKind.UNFINISHED:
            yield from _new_wants(rules, noticed)
        case "shown":
            seen = [each for each in news if isinstance(each, Revelation)]
            seen.sort(key=lambda each: not each.given)  # those under a condition first
            yield from (Edit(name, LinePart.SHOWS, each) for each in seen)


def _stated_needs(instance: Instance | None) -> dict[str, Clause]:
    """An action's preconditions over its parameters, by their text."""
    if instance is None:
        return {}
    return {str(need): need for need in instance.schema.preconditions}


def _all_met(instance: Instance, before: Situation) -> bool:
    needs = instance.schema.preconditions
    return all(need.truth(before, instance.binding) is Truth.TRUE for need in needs)


def _retracting(line: str, stated: Mapping[str, Clause]) -> Iterator[Edit]:
    """The contradicted line goes, or a need becomes its opposite."""
    of, part, said = next(line.partition(f" {part} ") for part in LinePart if f" {part} " in line)
    yield Edit(of, LinePart(part.strip()), remove=said)
    if said in stated and len(stated[said].literals) == 1:
        yield Edit(of, LinePart.NEEDS, Clause((stated[said].literals[0].opposite(),)), said)


def _new_needs(name: str, stated: Mapping[str, Clause], noticed: PlanNoticed) -> Iterator[Edit]:
    """A suspected need comes in; its opposite, where it is stated, goes."""
    for suspect in noticed.trust.suspects(name):
        opposite = str(suspect.opposite())
        gone = opposite if opposite in stated else ""
        yield Edit(name, LinePart.NEEDS, Clause((suspect,)), gone)


def _new_wants(rules: ActiveRules, noticed: PlanNoticed) -> Iterator[Edit]:
    """One more fact that the goal may want, before all the others or after them."""
    purpose = rules.purpose
    if purpose is None or purpose.staged:
        return
    held = noticed.trust.held or frozenset()
    other = things_of(rules).keys() - purpose.over.keys()
    for fact, _ in sorted(continuations_of(rules).items(), key=lambda item: item[1]):
        if fact not in held and other.isdisjoint(fact.atom.args):
            yield Edit(purpose.name, LinePart.WANTS, Clause((fact,)), last=False)
            yield Edit(purpose.name, LinePart.WANTS, Clause((fact,)), last=True)


class _Passed(NamedTuple):
    """An edit that passed the replay, and the manual that it makes."""

    edit: Edit
    manual: RuleManual


class _TriedEdit(NamedTuple):
    """An edit that surprises nowhere among the steps it is about, and how much speaks for it."""

    rank: tuple[float, bool, int, int]
    edit: Edit
    manual: RuleManual


def _best_edit(
    manual: RuleManual, steps: Sequence[RecordedStep], edits: Sequence[Edit], least: float
) -> _Passed | None:
    """The edit that foretells most, with the manual that it makes, of those that pass a replay
    of all steps.
    """
    if not edits:
        return None
    weight = cache(lambda place: _weight(manual, steps[place]))
    about = _places_about(manual, steps)
    tried: list[_TriedEdit] = []
    for order, edit in enumerate(dict.fromkeys(edits)):
        changed = apply(manual, edit)
        places = about.get(edit.of, ())
        support = _support(manual, changed, edit, [steps[place] for place in places])
        gains = _gains(changed, steps, places, weight) if support else None
        if gains is not None and gains >= least:
            is_one_change = edit.add is None or not edit.remove
            rank = (gains, is_one_change, support, -order)
            tried.append(_TriedEdit(rank, edit, changed))
    for one in sorted(tried, key=lambda one: one.rank, reverse=True):
        if all(_weight(one.manual, step) <= weight(place) for place, step in enumerate(steps)):
            return _Passed(one.edit, one.manual)
    return None


def _places_about(manual: RuleManual, steps: Sequence[RecordedStep]) -> Mapping[str, Sequence[int]]:
    """By action, process, goal or rule: the steps that its lines may foretell something of."""
    about: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        for name in _about(_rules(manual, step), step):
            about.setdefault(name, []).append(place)
    return about


def _gains(
    changed: RuleManual,
    steps: Sequence[RecordedStep],
    places: Iterable[int],
    weight: Callable[[int], float],
) -> float | None:
    """Surprises that a changed manual spares; None if it surprises more at some step."""
    gains = 0.0
    for place in places:
        gain = weight(place) - _weight(changed, steps[place])
        if gain < 0:
            return None
        gains += gain
    return gains


def _about(rules: ActiveRules, step: RecordedStep) -> frozenset[str]:
    """Actions, processes, goals and rules whose lines may foretell something of a step."""
    names: set[str] = set()
    for process in rules.lore.processes:
        if process.match(step.command) is not None:
            names.add(f"{_PROCESS}{process.name}")
    instance = rules.instance(step.command)
    if instance is not None:
        name = instance.schema.name
        names.add(name)
        names.update(rule.id for rule, _ in rules.prohibitions.get(name, ()))
    if rules.purpose is not None:
        names.add(rules.purpose.name)
    return frozenset(names)


def _weight(manual: RuleManual, step: RecordedStep) -> float:
    """Surprises of a step; a refusal counts half where a need was unknown, so that the manual
    promised nothing.
    """
    surprises = find_surprises(manual, step).surprises
    if not any(one.kind == SurpriseKind.REFUSED for one in surprises):
        return len(surprises)
    instance = _rules(manual, step).instance(step.command)
    needs = instance.preconditions if instance is not None else ()
    unsure = any(need.truth(step.before) is Truth.UNKNOWN for need in needs)
    return len(surprises) - 0.5 * unsure


def _support(
    manual: RuleManual, changed: RuleManual, edit: Edit, steps: Sequence[RecordedStep]
) -> int:
    """Steps that speak for an edit beside those that it foretells; with none it is a guess, and
    does not pass.

    A new need held in successes, a goal's new fact came about in its order in wins, a ban was
    broken in wins alone.
    """
    if edit.part is LinePart.FORBIDS:
        return _broken_in_wins(manual, edit, steps)
    if isinstance(edit.add, Clause) and edit.part is LinePart.NEEDS:
        # an edit changes no command's meaning, and the manual that all edits are made of has read
        # these commands before
        return sum(_held_need(manual, edit.of, edit.add, step) for step in steps)
    if isinstance(edit.add, Clause) and edit.part is LinePart.WANTS:
        return sum(_came_about_in_order(changed, edit, edit.add, step) for step in steps)
    return 0 if isinstance(edit.add, Clause) else 1


def _broken_in_wins(manual: RuleManual, edit: Edit, steps: Iterable[RecordedStep]) -> int:
    """Steps at which a ban was broken; 0 unless all of their episodes were won."""
    line = str(ManualLine(edit.of, edit.part, edit.remove))
    broken = [step for step in steps if _is_contradicted(manual, line, step)]
    return len(broken) if all(step.led for step in broken) else 0


def _is_contradicted(manual: RuleManual, line: str, step: RecordedStep) -> bool:
    return any(each.line == line for each in find_surprises(manual, step).surprises)


def _held_need(manual: RuleManual, action: str, need: Clause, step: RecordedStep) -> bool:
    """True if the action worked at this step, and the need held before it."""
    instance = _rules(manual, step).instance(step.command)
    if step.refused or instance is None or instance.schema.name != action:
        return False
    return need.bind(instance.binding).truth(step.before) is Truth.TRUE


def _came_about_in_order(
    changed: RuleManual, edit: Edit, wanted: Clause, step: RecordedStep
) -> bool:
    """True if this step won, and the goal's new fact came about with it where it is to be the
    last, and before it where not.
    """
    purpose = _rules(changed, step).purpose
    if not step.won or purpose is None or purpose.name != edit.of:
        return False
    bound = [wanted.bind(binding) for binding in bindings_met(purpose, step.after)]
    return any(edit.last is (fact.truth(step.before) is not Truth.TRUE) for fact in bound)


def apply(manual: RuleManual, edit: Edit) -> RuleManual:
    """The manual with an edit."""
    match edit.part:
        case LinePart.WANTS:
            return replace(manual, purposes=tuple(_wanting(one, edit) for one in manual.purposes))
        case LinePart.FORBIDS:
            return replace(manual, rules=tuple(_permitting(one, edit) for one in manual.rules))
    processes = tuple(_changed(one, edit, f"{_PROCESS}{one.name}") for one in manual.lore.processes)
    actions = tuple(_changed(one, edit, one.name) for one in manual.actions)
    return replace(manual, actions=actions, lore=replace(manual.lore, processes=processes))


def _permitting(rule: Rule, edit: Edit) -> Rule:
    """A rule without the ban that an edit removes."""
    if rule.id != edit.of:
        return rule
    return replace(rule, forbids=tuple(ban for ban in rule.forbids if str(ban) != edit.remove))


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


def write_edit(text: str, edit: Edit) -> str | None:
    """A manual's text with an edit, and nothing else changed; None where it does not hold what
    the edit is about.
    """
    path, items = _listed(read_yaml("manual", text, MANUAL).tree, edit)
    left = [place for place, item in enumerate(items) if _plain(item) != _plain(edit.remove)]
    if not path or (edit.remove and len(left) == len(items)):
        return None
    added = [str(edit.add)] if edit.add is not None else []
    first = edit.part is LinePart.WANTS and not edit.last
    return with_list(text, path, [*added, *left] if first else [*left, *added])


def _listed(tree: Mapping[str, Any], edit: Edit) -> tuple[tuple[str, ...], list[Any]]:
    """The path and the items of the list that an edit changes; no path where a manual's file
    does not hold it.
    """
    process = edit.of.startswith(_PROCESS)
    name = edit.of.removeprefix(_PROCESS)
    section = _SECTIONS.get(edit.part, "processes" if process else "environment")
    path, entries = [section], tree.get(section) or {}
    if edit.part is LinePart.FORBIDS:
        groups = [
            group for group, rules in entries.items() if isinstance(rules, dict) and name in rules
        ]
        path = [section, *groups]
        entries = entries[groups[0]] if groups else {}
    entry = entries.get(name)
    if not isinstance(entry, dict):
        return (), []
    key = "needs" if process and edit.part is LinePart.NEEDS else _FIELDS[edit.part]
    listed = entry.get(key) or []
    return (*path, name, key), [listed] if isinstance(listed, str) else listed


def _plain(item: Any) -> str:
    """An item of a list in a manual's file without its spaces and quotes; a ban as it is said."""
    if isinstance(item, dict):
        item = (
            f"{item['action']} when {' and '.join(item['when'])}"
            if item.get("when")
            else f"{item['action']} always"
        )
    return "".join(str(item).replace('"', "").split())


def claims_of_edit(
    tree: Mapping[str, Any], edit: Edit, where: Sequence[Witness], most: int
) -> Iterator[Claim]:
    """The lines that an edit takes out of a learned manual and puts in, with the steps in play
    that it foretells.
    """
    (*_, section, name, key), items = _listed(tree, edit)
    shown = tuple(where[:most])
    note = f"mended: {edit} (it surprised {len(where)} times in play)"
    for item in items:
        if _plain(item) != _plain(edit.remove):
            continue
        at = (section, name)
        text = str(item)
        if isinstance(item, dict):  # a ban, which is told with its action
            at = ("environment", item["action"])
            text = " and ".join(item["when"])
        yield Claim(
            at,
            key,
            text,
            label=Label.TAKEN_OUT,
            against=len(where),
            counterexamples=shown,
            note=note,
        )
    if edit.add is None:
        return
    added = Claim((section, name), key, str(edit.add), witnesses=shown, note=note)
    if edit.part is LinePart.NEEDS:
        yield replace(added, label=Label.NECESSARY, decisive=len(where))
    else:
        yield replace(added, confirmed=len(where))


def mended(
    tree: Any, edits: Mapping[Edit, Sequence[Witness]], most: int
) -> tuple[Any, list[Claim]]:
    """A learned manual's tree with edits that passed, and the lines that they change."""
    claims: list[Claim] = []
    for edit, where in edits.items():
        if text := write_edit(manual_yaml(tree), edit):
            told = list(claims_of_edit(tree, edit, where, most))
            tree = plain(read_yaml("the learned manual", text, MANUAL).tree)
            for claim in told:
                keep_sentences(tree, claim)
            claims += told
    return tree, claims
