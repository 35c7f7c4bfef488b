"""Mend a manual from episodes: lines that were contradicted, and edits that would have foretold
what happened.

An edit passes if, replayed over all episodes, it surprises at no step at which the manual was
right, and at fewer than before. Edits are tried one after the other, each on top of those that
passed. The episodes are those of recorded runs, or those that a learner explored and played.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from rpms.induction.manual_review import keep_sentences
from rpms.induction.manual_verify import replayed
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Literal, Truth, grouped
from rpms.logic.goal import NOTHING_DONE
from rpms.logic.rules import ActiveRules, Purpose, RuleManual
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
        where = " last" if self.last else ""
        added = [f"add {self.add}{where}"] if self.add is not None else []
        return (
            f"{self.of}, {self.part}:"
            f" {', '.join([*([f'remove {self.remove}'] if self.remove else ()), *added])}"
        )


@dataclass
class Proposal:
    """A line that was contradicted, where, and the edit that would have foretold it."""

    line: str
    said: str  # The first surprise, in words
    where: list[RecordedStep] = field(default_factory=list)
    edits: dict[Edit, None] = field(
        default_factory=dict
    )  # Edits that could have foretold one of its surprises
    edit: Edit | None = (
        None  # The one that passed, or another after which nothing contradicts the line any more
    )


def recorded_steps(world: World, traces: Iterable[Trace]) -> Iterator[RecordedStep]:
    """The steps of episodes, with beliefs read anew from their texts."""
    for trace in traces:
        for number, (step, before, after) in enumerate(replayed(world, trace), 1):
            refused, witness = (
                not step.command or world.infeasible(step.answer),
                Witness(trace.episode, number),
            )
            yield RecordedStep(
                trace.task, witness, step.command, refused, step.won, before, after, trace.won
            )


def find_surprises(manual: RuleManual, step: RecordedStep) -> PlanNoticed:
    """Compare one step with what a manual foretells of it, its end and what it showed included."""
    rules = _rules(manual, step)
    noticed = compare(UNSHAKEN, rules, step.before, step.command, step.after, refused=step.refused)
    shown = [
        (of, seen)
        for of, news in noticed.trust.learned.items()
        for seen in news
        if isinstance(seen, Revelation)
    ]
    for of, seen in shown:
        text = f"`{step.command}` showed what no line says: {seen}"
        noticed = noticed.with_(
            _SHOWN, ManualLine(of, LinePart.SHOWS, COMPLETE), text, noticed.trust
        )
    holds = goal_holds(rules, step.after, NOTHING_DONE)
    if step.won and not holds and rules.purpose is not None and not rules.purpose.each:
        return noticed.with_(_EARLY, "", "won before all that the goal wants held", noticed.trust)
    return goal_goes_on(noticed, rules, step.after) if holds and not step.won else noticed


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
    while passed := _best_edit(
        manual, steps, [edit for line in lines.values() for edit in line.edits], least
    ):
        edit, manual = passed
        lines = _contradicted(manual, asked)
        for each in first.values():
            if edit in each.edits or (each.line not in lines and each.edit is None):
                each.edit = edit
    return list((lines | first).values()), manual


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
    stated = (
        {str(need): need for need in instance.schema.preconditions} if instance is not None else {}
    )
    binding = instance.binding if instance is not None else {}
    of, part, said = next(
        one.line.partition(f" {part} ") for part in LinePart if f" {part} " in one.line
    )
    news = noticed.trust.learned.get(name, ())
    match one.kind:
        case SurpriseKind.ACCEPTED | SurpriseKind.ABSENT:
            yield Edit(of, LinePart(part.strip()), remove=said)
            if said in stated and len(stated[said].literals) == 1:
                yield Edit(of, LinePart.NEEDS, Clause((stated[said].literals[0].opposite(),)), said)
        case SurpriseKind.CHANGED:
            yield from (
                Edit(name, LinePart.DOES, each) for each in news if isinstance(each, Literal)
            )
        case SurpriseKind.REFUSED if all(
            need.truth(step.before, binding) is Truth.TRUE for need in stated.values()
        ):
            for suspect in noticed.trust.suspects(name):
                opposite = str(suspect.opposite())
                yield Edit(
                    name, LinePart.NEEDS, Clause((suspect,)), opposite if opposite in stated else ""
                )
        case SurpriseKind.UNFINISHED if rules.purpose is not None and not rules.purpose.staged:
            held = noticed.trust.held or frozenset()
            likely = sorted(continuations_of(rules).items(), key=lambda item: item[1])
            other = things_of(rules).keys() - rules.purpose.over.keys()
            facts = [
                Clause((each,))
                for each, _ in likely
                if each not in held and other.isdisjoint(each.atom.args)
            ]
            for each, end in product(facts, (False, True)):
                yield Edit(rules.purpose.name, LinePart.WANTS, each, last=end)
        case "shown":
            seen = sorted(
                (each for each in news if isinstance(each, Revelation)),
                key=lambda each: not each.given,
            )
            yield from (Edit(name, LinePart.SHOWS, each) for each in seen)


def _best_edit(
    manual: RuleManual, steps: Sequence[RecordedStep], edits: Sequence[Edit], least: float
) -> tuple[Edit, RuleManual] | None:
    """The edit that foretells most, with the manual that it makes, of those that pass a replay
    of all steps.
    """
    weight = cache(lambda place: _weight(manual, steps[place]))
    every = enumerate(steps if edits else ())
    about = grouped(
        (name, place) for place, step in every for name in _about(_rules(manual, step), step)
    )
    tried: list[tuple[tuple[float, bool, int, int], Edit, RuleManual]] = []
    for order, edit in enumerate(dict.fromkeys(edits)):
        changed, places, gains = apply(manual, edit), about.get(edit.of, ()), 0.0
        support = _support(manual, changed, edit, [steps[place] for place in places])
        for place in places if support else ():
            gain = weight(place) - _weight(changed, steps[place])
            if gain < 0:
                break
            gains += gain
        else:
            if gains >= least:
                plain = edit.add is None or not edit.remove
                tried.append(((gains, plain, support, -order), edit, changed))
    for _, edit, changed in sorted(tried, key=lambda one: one[0], reverse=True):
        if all(_weight(changed, step) <= weight(place) for place, step in enumerate(steps)):
            return edit, changed
    return None


def _about(rules: ActiveRules, step: RecordedStep) -> frozenset[str]:
    """Actions, processes, goals and rules whose lines may foretell something of a step."""
    instance, purpose = rules.instance(step.command), rules.purpose
    processes = [
        f"{_PROCESS}{one.name}"
        for one in rules.lore.processes
        if one.match(step.command) is not None
    ]
    bans = (
        [rule.id for rule, _ in rules.prohibitions.get(instance.schema.name, ())]
        if instance is not None
        else []
    )
    names = [*processes, *bans, *([instance.schema.name] if instance is not None else ())]
    return frozenset((*names, *([purpose.name] if purpose is not None else ())))


def _weight(manual: RuleManual, step: RecordedStep) -> float:
    """Surprises of a step; a refusal counts half where a need was unknown, so that the manual
    promised nothing.
    """
    surprises, instance = (
        find_surprises(manual, step).surprises,
        _rules(manual, step).instance(step.command),
    )
    needs = instance.preconditions if instance is not None else ()
    unsure = any(need.truth(step.before) is Truth.UNKNOWN for need in needs)
    return len(surprises) - 0.5 * (
        unsure and any(one.kind == SurpriseKind.REFUSED for one in surprises)
    )


def _support(
    manual: RuleManual, changed: RuleManual, edit: Edit, steps: Sequence[RecordedStep]
) -> int:
    """Steps that speak for an edit beside those that it foretells; with none it is a guess, and
    does not pass.

    A new need held in successes, a goal's new fact came about in its order in wins, a ban was
    broken in wins alone.
    """
    if edit.part is LinePart.FORBIDS:
        line = str(ManualLine(edit.of, edit.part, edit.remove))
        broken = [
            one
            for one in steps
            if line in [each.line for each in find_surprises(manual, one).surprises]
        ]
        return len(broken) if all(one.led for one in broken) else 0
    if not isinstance(edit.add, Clause):
        return 1
    count = 0
    for step in steps:
        # an edit changes no command's meaning: the manual that all edits are made of has read these
        # before
        instance, purpose = (
            _rules(manual, step).instance(step.command),
            _rules(changed, step).purpose,
        )
        if edit.part is LinePart.NEEDS and instance is not None and instance.schema.name == edit.of:
            count += (
                not step.refused
                and edit.add.bind(instance.binding).truth(step.before) is Truth.TRUE
            )
        elif (
            edit.part is LinePart.WANTS
            and step.won
            and purpose is not None
            and purpose.name == edit.of
        ):
            bound = [edit.add.bind(binding) for binding in bindings_met(purpose, step.after)]
            count += any(edit.last is (fact.truth(step.before) is not Truth.TRUE) for fact in bound)
    return count


def apply(manual: RuleManual, edit: Edit) -> RuleManual:
    """The manual with an edit."""
    match edit.part:
        case LinePart.WANTS:
            return replace(manual, purposes=tuple(_wanting(one, edit) for one in manual.purposes))
        case LinePart.FORBIDS:
            rules = [
                replace(
                    one,
                    forbids=tuple(
                        ban for ban in one.forbids if (one.id, str(ban)) != (edit.of, edit.remove)
                    ),
                )
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
    process, name = edit.of.startswith(_PROCESS), edit.of.removeprefix(_PROCESS)
    section = _SECTIONS.get(edit.part, "processes" if process else "environment")
    path, entries = [section], tree.get(section) or {}
    if edit.part is LinePart.FORBIDS:
        groups = [
            group for group, rules in entries.items() if isinstance(rules, dict) and name in rules
        ]
        path, entries = [section, *groups], entries[groups[0]] if groups else {}
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
    shown, note = tuple(where[:most]), f"mended: {edit} (it surprised {len(where)} times in play)"
    for item in items:
        if _plain(item) == _plain(edit.remove):
            at, text = (section, name), str(item)
            if isinstance(item, dict):  # a ban, which is told with its action
                at, text = ("environment", item["action"]), " and ".join(item["when"])
            yield Claim(
                at,
                key,
                text,
                label=Label.TAKEN_OUT,
                against=len(where),
                counterexamples=shown,
                note=note,
            )
    if edit.add is not None:
        said = Claim(
            (section, name), key, str(edit.add), confirmed=len(where), witnesses=shown, note=note
        )
        need = edit.part is LinePart.NEEDS
        yield (
            replace(said, label=Label.NECESSARY, confirmed=0, decisive=len(where)) if need else said
        )


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
