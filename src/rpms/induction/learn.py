"""Learning a manual: explore or read runs, conclude, verify, play with it, mend what surprised,
write.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rpms.induction.conclusions.action_model import ActionModel, KindTable
from rpms.induction.conclusions.conclude import Doubts, Excluded, Learned, conclude
from rpms.induction.conclusions.learned_manual import manual_from
from rpms.induction.conclusions.ledger import Ledger, vocabulary_of
from rpms.induction.evidence.recorded_episodes import recorded
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.manuals.hand_edits import with_edits
from rpms.induction.manuals.learned_claims import claims_of
from rpms.induction.manuals.manual_edits import mended
from rpms.induction.manuals.manual_verify import Verification, verify
from rpms.induction.manuals.write import manual_tree
from rpms.induction.rehearse import Rehearsal
from rpms.induction.thresholds import LIMITS
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Clause, kind_of
from rpms.logic.rules import RuleManual
from rpms.play.garbage import WITHIN_A_LEARNING, seldom_collected
from rpms.play.sources import universal_tier
from rpms.store import evidence as store
from rpms.store.evidence import Claim, Evidence, Label, Support, Trace, Witness
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import MANUAL, read_manual
from rpms.store.yaml_files import manual_yaml
from rpms.worlds.base import Setting, Task, World


@dataclass(frozen=True)
class RulesPlan:
    """The world, tasks and runs that rules are to be learned from."""

    world: World
    tasks: tuple[Task, ...] = ()
    setting: Setting = field(default_factory=Setting)
    split: str = ""
    exploring: Exploring = field(default_factory=Exploring)
    runs: tuple[Path, ...] = ()

    def settings(self) -> dict[str, str]:
        """Settings that decide an exploration's episodes; the number of steps does not."""
        return {
            "world": self.world.name,
            "split": self.split,
            "seed": str(self.exploring.seed),
            "per_episode": str(self.exploring.per_episode or self.world.step_budget),
            "engine": self.setting.engine,
            **{f"option {name}": value for name, value in self.setting.options.items()},
        }


@dataclass(frozen=True)
class RulesLearned:
    """A learned manual with its record."""

    learned: Learned
    evidence: Evidence
    manual: RuleManual
    """As it was written, with edits by hand."""
    verification: Verification  # On the episodes kept aside
    played: tuple[str, ...] = ()
    """Results of the manual in play, in lines, types that were not won first."""
    edits: tuple[Claim, ...] = ()
    traces: tuple[Trace, ...] = ()

    @property
    def taken_out(self) -> tuple[Claim, ...]:
        """Lines that were wrong on episodes, or in play: their notes say where."""
        found = []
        for claim in self.evidence.claims:
            if claim.label is Label.TAKEN_OUT and claim.note:
                found.append(claim)
        return tuple(found)


def _tell_nobody(_episodes: int, _steps: int) -> None:
    """Nobody is told how far a learning got."""


@seldom_collected(WITHIN_A_LEARNING)
def learn_rules(
    plan: RulesPlan, out: Path, tell: Callable[[int, int], None] = _tell_nobody
) -> RulesLearned:
    """Learn a manual and write it with its evidence.

    `tell` is given the numbers of episodes and steps so far.
    """
    before = store.manual_before(out)
    ledger = Ledger(plan.world, vocabulary_of(plan.world))
    traces = list(recorded(plan.world, plan.runs))
    aside = _read_runs(ledger, traces)
    explorer = Explorer(plan.world, plan.setting, plan.tasks, ledger, plan.exploring, aside)

    def learned(doubted: Doubts) -> Learned:
        return verified(ledger, aside, doubted).learned

    rehearsal = Rehearsal(explorer, traces, learned)
    if plan.tasks:
        _explore(plan, out, rehearsal, tell)
    if not ledger.steps:
        raise InputError("there is nothing to learn from: no episode has a step")
    found = verified(ledger, aside, rehearsal.doubted, traces)
    tree, repairs = mended(manual_tree(found.learned), rehearsal.mend(found.learned).edits)
    played = [*rehearsal.told(), *dict.fromkeys(claim.note for claim in repairs)]
    head = _head(plan, out, ledger, played)
    written = manual_yaml(tree, head)
    final, edits = with_edits(out, MANUAL, before, tree)
    text = manual_yaml(final, head) if edits else written
    manual = _read_written(out, text, edited=bool(edits))
    # of a line that was mended, what was said last counts
    claims = {claim.place: claim for claim in (*claims_of(found.learned), *repairs)}
    evidence = Evidence(
        plan.world.name,
        (*claims.values(), *found.taken_out, *edits),
        plan.split,
        episodes=ledger.episodes,
        steps=ledger.steps,
        kept_aside=len(aside),
        undetermined=_undetermined(ledger),
        written=written,
        settings=_settings_of(plan, played),
    )
    store.write_learned(out, text, evidence)
    verification = found.verification
    if edits or repairs:
        verification = verify(manual, plan.world, aside)
    return RulesLearned(
        found.learned,
        evidence,
        manual,
        verification,
        played=tuple(played),
        edits=tuple(edits),
        traces=tuple(traces),
    )


def _explore(
    plan: RulesPlan, out: Path, rehearsal: Rehearsal, tell: Callable[[int, int], None]
) -> None:
    """Explore, then play with what was learned; every episode is kept as soon as it has ended.

    Those of an exploration that was stopped are read first, and it goes on.
    """
    explorer = rehearsal.explorer
    traces = rehearsal.traces
    with store.keeping(store.traces_file(out), plan.settings()) as (known, keep):
        left = explorer.read(known)
        traces += known[: len(known) - len(left)]
        for trace in chain(explorer.explore(), rehearsal.play(left)):
            keep(trace)
            traces.append(trace)
            tell(explorer.episodes, explorer.steps)


def _head(plan: RulesPlan, out: Path, ledger: Ledger, played: Iterable[str]) -> list[str]:
    """The lines that a manual begins with: what it was learned from, and how it did in play."""
    evidence = store.evidence_file(out).name
    learned = f"Learned by `rpms rules learn {plan.world.name}`"
    seen = f"from {ledger.episodes} episodes with {ledger.steps:,} steps."
    kept = "Edits are kept when it is learned again."
    return [f"{learned} {seen}", f"What speaks for each line: {evidence}. {kept}", *played]


def _settings_of(plan: RulesPlan, played: Iterable[str]) -> dict[str, str]:
    """The part of the learning's settings that the evidence keeps, and how the manual played."""
    return {
        "seed": str(plan.exploring.seed),
        "runs": ", ".join(run.name for run in plan.runs),
        "played": "; ".join(played),
    }


def _read_runs(ledger: Ledger, traces: Sequence[Trace]) -> list[Trace]:
    """Learn from recorded episodes, and return those that are kept aside for testing."""
    aside = []
    for number, trace in enumerate(traces, 1):
        if number % LIMITS.aside == 0 and len(traces) >= LIMITS.enough_episodes:
            aside.append(trace)
        else:
            ledger.read(trace)
    return aside


def _read_written(out: Path, text: str, *, edited: bool) -> RuleManual:
    """The manual as it will be read; an edit may speak of what is no longer there."""
    try:
        return read_manual(universal_tier(), ManualText(str(out), text, own=True))
    except FileError as error:
        if not edited:
            raise
        raise InputError(
            f"{out}: with your edits the manual would have a mistake: {error.problem}; undo one of"
            " them. Nothing was written"
        ) from None


class Verified(NamedTuple):
    """Conclusions that stood the test on episodes kept aside, and lines that did not."""

    learned: Learned
    verification: Verification
    taken_out: tuple[Claim, ...]


def verified(
    ledger: Ledger, aside: Sequence[Trace], doubted: Doubts, every: Sequence[Trace] = ()
) -> Verified:
    """Conclusions without what is wrong on the episodes kept aside: needs, kinds, effects,
    processes and goals. They are drawn anew until nothing is wrong.
    """
    excluded = Excluded({template: set(literals) for template, literals in doubted.items()})
    claims: dict[str, Claim] = {}
    for _ in range(LIMITS.rounds):
        learned = conclude(ledger, excluded)
        manual = manual_from(learned)
        verification = verify(manual, ledger.world, aside)
        wrong = [
            *_wrong_needs(learned, verification, excluded),
            *_wrong_effects(learned, verification, excluded),
            *_wrong_goals(learned, verification, ledger),
        ]
        if not wrong and manual.lore.processes:
            # drawn from some of the attempts: every episode is replayed
            processes = replace(manual, actions=(), purposes=())
            wrong += _wrong_effects(learned, verify(processes, ledger.world, every), excluded)
        if not wrong:
            break
        claims |= {claim.place: claim for claim in wrong}
    return Verified(learned, verification, tuple(claims.values()))


def _wrong_needs(learned: Learned, found: Verification, excluded: Excluded) -> Iterator[Claim]:
    """Preconditions and kinds by which something would have been blocked that the world allowed."""
    actions = {action.name: action for action in learned.actions}
    for each in found.blocked:
        action = actions[each.action]
        note = f"it would have blocked `{each.command}`, which the world allowed"
        support = _taken_out([each.witness], note)
        table = _table_of(action, each.clause)
        if table is not None:
            kinds = tuple(kind_of(each.names[slot]) for slot in table.slots)
            excluded.kinds.add((table.name, kinds))
            yield support.claim(("kinds", table.name), "no", ", ".join(kinds))
            continue
        slot_of = {name: slot for slot, name in slots_of(action.parameters).items()}
        needs = excluded.needs.setdefault(action.template, set())
        needs.update(each.clause.bind(slot_of).literals)
        yield support.claim(("environment", action.name), "preconditions", str(each.clause))


def _table_of(action: ActionModel, clause: Clause) -> KindTable | None:
    """The table of kinds that a precondition asks; None for one about facts."""
    asked = {literal.atom.predicate for literal in clause.literals}
    for table in action.tables:
        if asked == {table.name}:
            return table
    return None


def _wrong_effects(learned: Learned, found: Verification, excluded: Excluded) -> Iterator[Claim]:
    """Effects of actions and processes that came about clearly less often than they should."""
    actions = {action.name for action in learned.actions}
    claimed = {each.schema.name: 1 / each.schema.steps for each in learned.processes}
    note = "when episodes were replayed, it came about too seldom"
    for (name, effect), seen in found.effects.items():
        is_wrong = seen.fails(claimed.get(name, 1.0))
        if is_wrong and (name, effect) not in excluded.effects:
            excluded.effects.add((name, effect))
            section = "environment" if name in actions else "processes"
            support = _taken_out(seen.missed, note, seen.seen)
            yield support.claim((section, name), "effects", str(effect))


def _wrong_goals(learned: Learned, found: Verification, ledger: Ledger) -> Iterator[Claim]:
    """Goals whose facts held while the game went on: such states count against them from now on."""
    note = "it held in an episode kept aside and the game went on"
    for goal in learned.goals:
        witnesses = found.goals.get(goal.type)
        if not witnesses or goal.staged:
            continue
        seen = ledger.goals[goal.type].went_on.setdefault(goal.state, [])
        seen += witnesses[: LIMITS.witnesses]
        support = _taken_out(witnesses, note, goal.wins)
        text = " and ".join(sorted(map(str, goal.state)))
        yield support.claim(("goals", goal.type), "holds", text)


def _taken_out(against: Sequence[Witness], note: str, confirmed: int = 0) -> Support:
    return Support(
        label=Label.TAKEN_OUT,
        confirmed=confirmed,
        against=len(against),
        note=note,
        counterexamples=tuple(against[: LIMITS.witnesses]),
    )


def _undetermined(ledger: Ledger) -> int:
    """The number of attempts for which another one with the same names and facts went the other
    way.
    """
    worked: Counter[object] = Counter()
    refused: Counter[object] = Counter()
    for book in ledger.books.values():
        for attempt in book.attempts:
            same = (book.template, attempt.kinds, attempt.true, attempt.false)
            if attempt.refused:
                refused[same] += 1
            else:
                worked[same] += 1
    return (worked & refused).total()
