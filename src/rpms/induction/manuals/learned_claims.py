"""Claims of what was learned: the evidence for every line of the manual, and for lines that did
not make it into the manual.
"""

from collections.abc import Iterator

from rpms.induction.conclusions.action_model import ActionModel, KindTable, support_by
from rpms.induction.conclusions.conclude import Learned
from rpms.induction.conclusions.goal_models import GoalModel
from rpms.induction.conclusions.learned_manual import processes_of
from rpms.induction.conclusions.place_maps import PlaceTable
from rpms.induction.conclusions.scores import ScoreTable
from rpms.induction.conclusions.unnamed_effects import Process
from rpms.induction.manuals.write import effect_lines, induced_line, observed_lines
from rpms.induction.thresholds import LIMITS
from rpms.store.evidence import Claim, Label, Support

_OF_NAMES = "a table of names, unknown for any other name"


def claims_of(learned: Learned) -> Iterator[Claim]:
    """Every claim, in the order of the manual's sections."""
    for action in learned.actions:
        yield from _claims_of_action(action)
    for goal in learned.goals:
        yield from _claims_of_goal(goal)
    for goal in learned.without_goal:
        yield _claim_of_refuted(goal)
    for process in learned.processes:
        yield from _claims_of_process(process)
    for table in learned.listed:
        yield from _claims_of_table(table)
    for kind, places in learned.localities.items():
        for place, support in places.items():
            yield support.claim(("localities",), kind, place)


def _claims_of_action(action: ActionModel) -> Iterator[Claim]:
    at = ("environment", action.name)
    yield _support_of_action(action).claim(at, "syntax", action.syntax)
    for need in action.needs:
        key = "plan" if need.label is Label.POSSIBLE else "preconditions"
        yield need.claim(at, key, induced_line(action, need))
    for effect in action.effects:
        yield effect.claim(at, "effects", induced_line(action, effect))
    for shown in action.observes:
        yield shown.claim(at, "observes", induced_line(action, shown))
    yield from _claims_of_conditional(action)
    for table in action.tables:
        yield from _claims_of_kinds(table)
    if action.ruinous is not None:
        yield action.ruinous.claim(at, "forbids", induced_line(action, action.ruinous))


def _claims_of_conditional(action: ActionModel) -> Iterator[Claim]:
    """Effects under a condition, which are written as processes."""
    for process, effect in zip(processes_of(action), action.conditional, strict=True):
        at = ("processes", process.name)
        for line in effect_lines(process):
            yield effect.claim(at, "effects", line)


def _support_of_action(action: ActionModel) -> Support:
    note = f"{action.unexplained} refusals have no explanation" if action.unexplained else ""
    return Support(
        confirmed=action.successes,
        against=action.refusals,
        witnesses=action.witnesses,
        note=note,
    )


def _claims_of_kinds(table: KindTable) -> Iterator[Claim]:
    """Kinds with which an action worked, and kinds with which it was refused."""
    at = ("kinds", table.name)
    note = _OF_NAMES if table.of_names else ""
    for key, rows in (("yes", table.worked), ("no", table.refused)):
        for kinds in sorted(rows):
            support = support_by(rows[kinds], note=note)
            yield support.claim(at, key, ", ".join(kinds))


def _claims_of_goal(goal: GoalModel) -> Iterator[Claim]:
    for fact in goal.holds:
        yield fact.claim(("goals", goal.type), "holds", str(fact.clause))
    if not goal.staged:
        return
    stages = [" and ".join(map(str, stage.until)) for stage in goal.steps()]
    first_fact = goal.holds[0]
    yield Claim(
        ("procedures", goal.type),
        "steps",
        ", then ".join(stages),
        confirmed=goal.wins,
        witnesses=first_fact.witnesses,
        note="with all that is wanted and one of these left out, the game went on",
    )


def _claim_of_refuted(goal: GoalModel) -> Claim:
    """Facts that wins share and that are no goal."""
    facts = sorted(map(str, goal.state))
    first_fact = goal.holds[0]
    return Claim(
        ("goals", goal.type),
        "holds",
        " and ".join(facts),
        label=Label.REFUTED,
        confirmed=goal.wins,
        against=len(goal.refuted),
        witnesses=first_fact.witnesses,
        counterexamples=goal.refuted[: LIMITS.witnesses],
        note="it held while the game went on, so that no goal is known",
    )


def _claims_of_process(process: Process) -> Iterator[Claim]:
    at = ("processes", process.schema.name)
    for line in effect_lines(process.schema):
        yield process.support.claim(at, "effects", line)
    for line in observed_lines(process.schema):
        yield process.support.claim(at, "observes", line)


def _claims_of_table(table: ScoreTable | PlaceTable) -> Iterator[Claim]:
    at = ("facts", table.name)
    for place, row in sorted(table.rows.items()):
        for name in sorted(row):
            yield row[name].claim(at, place, name)
