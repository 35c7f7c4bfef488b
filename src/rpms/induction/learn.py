"""Learning a manual: explore or read runs, conclude, verify, play with it, mend what surprised,
write.
"""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from rpms.induction.agenda import Exploring
from rpms.induction.conclude import Doubts, Excluded, Learned, conclude, manual_from
from rpms.induction.hand_edits import with_edits
from rpms.induction.learned_claims import claims_of
from rpms.induction.ledger import Ledger, vocabulary_of
from rpms.induction.manual_edits import mended
from rpms.induction.manual_verify import Verification, verify
from rpms.induction.recorded_episodes import recorded
from rpms.induction.rehearse import Rehearsal
from rpms.induction.session import Explorer
from rpms.induction.thresholds import LIMITS
from rpms.induction.write import manual_tree
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import kind_of
from rpms.logic.rules import RuleManual
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
    how: Exploring = field(default_factory=Exploring)
    runs: tuple[Path, ...] = ()

    def settings(self) -> dict[str, str]:
        """Settings that decide an exploration's episodes; the number of steps does not."""
        return {
            "world": self.world.name,
            "split": self.split,
            "seed": str(self.how.seed),
            "per_episode": str(self.how.per_episode or self.world.step_budget),
            "engine": self.setting.engine,
            **{f"option {name}": value for name, value in self.setting.options.items()},
        }


@dataclass(frozen=True)
class RulesLearned:
    """A learned manual with its record."""

    learned: Learned
    evidence: Evidence
    verification: Verification  # On the episodes kept aside
    played: tuple[
        str, ...
    ] = ()  # Results of the manual in play, in lines, types that were not won first
    edits: tuple[Claim, ...] = ()
    traces: tuple[Trace, ...] = ()

    @property
    def taken_out(self) -> tuple[Claim, ...]:
        return tuple(
            claim for claim in self.evidence.claims if claim.label is Label.TAKEN_OUT and claim.note
        )


# Before garbage is looked for: Python's own number, 700, costs an eighth of a learning's time
_NEW_OBJECTS = 50_000


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for garbage seldom: what is recorded stays to the end, and hardly anything else is
    in cycles.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@_seldom_collected()
def learn_rules(
    plan: RulesPlan, out: Path, tell: Callable[[int, int], None] = lambda _episodes, _steps: None
) -> RulesLearned:
    """Learn a manual and write it with its evidence.

    `tell` is given the numbers of episodes and steps so far.
    """
    before = store.manual_before(out)
    ledger = Ledger(plan.world, vocabulary_of(plan.world))
    traces = list(recorded(plan.world, plan.runs))
    aside = _read_runs(ledger, traces)
    explorer = Explorer(plan.world, plan.setting, plan.tasks, ledger, plan.how, aside)
    rehearsal = Rehearsal(explorer, traces, lambda doubted: verified(ledger, aside, doubted)[0])
    if plan.tasks:
        with store.keeping(store.traces_file(out), plan.settings()) as (known, keep):
            left = explorer.read(known)
            traces += known[: len(known) - len(left)]
            for trace in chain(explorer.explore(), rehearsal.play(left)):
                keep(trace)
                traces.append(trace)
                tell(explorer.episodes, explorer.steps)
    if not ledger.steps:
        raise InputError("there is nothing to learn from: no episode has a step")
    learned, verification, taken_out = verified(ledger, aside, rehearsal.doubted, traces)
    tree, repairs = mended(manual_tree(learned), rehearsal.mend(learned)[0], LIMITS.witnesses)
    played = [*rehearsal.told(), *dict.fromkeys(claim.note for claim in repairs)]
    head = [
        (
            f"Learned by `rpms rules learn {plan.world.name}` from {ledger.episodes} episodes with"
            f" {ledger.steps:,} steps."
        ),
        (
            f"What speaks for each line: {store.evidence_file(out).name}. Edits are kept when it is"
            " learned again."
        ),
        *played,
    ]
    written = manual_yaml(tree, head)
    final, edits = with_edits(out, MANUAL, before, tree)
    text = manual_yaml(final, head) if edits else written
    manual = _read_written(out, text, edited=bool(edits))
    if edits or repairs:
        verification = verify(manual, plan.world, aside)
    claims = {claim.place: claim for claim in (*claims_of(learned), *repairs)}
    evidence = Evidence(
        plan.world.name,
        (*claims.values(), *taken_out, *edits),
        plan.split,
        ledger.episodes,
        ledger.steps,
        len(aside),
        _undetermined(ledger),
        written,
        {
            "seed": str(plan.how.seed),
            "runs": ", ".join(run.name for run in plan.runs),
            "played": "; ".join(played),
        },
    )
    store.write_learned(out, text, evidence)
    return RulesLearned(learned, evidence, verification, tuple(played), tuple(edits), tuple(traces))


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


def verified(
    ledger: Ledger, aside: Sequence[Trace], doubted: Doubts, every: Sequence[Trace] = ()
) -> tuple[Learned, Verification, tuple[Claim, ...]]:
    """Conclusions without what is wrong on the episodes kept aside: needs, kinds, effects,
    processes and goals.
    """
    excluded = Excluded({template: set(literals) for template, literals in doubted.items()})
    claims: dict[str, Claim] = {}
    for _ in range(LIMITS.rounds):
        learned = conclude(ledger, excluded)
        manual = manual_from(learned)
        verification = verify(manual, ledger.world, aside)
        found = [
            *_wrong_needs(learned, verification, excluded),
            *_wrong_effects(learned, verification, excluded),
        ]
        for goal in learned.goals:
            witnesses = verification.goals.get(goal.type)
            # it held while the game went on: the state counts against it from now on
            if witnesses and not goal.staged:
                ledger.goals[goal.type].went_on.setdefault(goal.state, []).extend(
                    witnesses[: LIMITS.witnesses]
                )
                support = _taken_out(
                    witnesses, "it held in an episode kept aside and the game went on", goal.wins
                )
                found.append(
                    support.claim(
                        ("goals", goal.type), "holds", " and ".join(sorted(map(str, goal.state)))
                    )
                )
        # drawn from some of the attempts: every episode is replayed
        if not found and manual.lore.processes:
            processes = replace(manual, actions=(), purposes=())
            found += _wrong_effects(learned, verify(processes, ledger.world, every), excluded)
        if not found:
            break
        claims |= {claim.place: claim for claim in found}
    return learned, verification, tuple(claims.values())


def _wrong_needs(learned: Learned, found: Verification, excluded: Excluded) -> Iterator[Claim]:
    """Preconditions and kinds by which something would have been blocked that the world allowed."""
    for each in found.blocked:
        action = next(one for one in learned.actions if one.name == each.action)
        told = next(
            (one for one in action.tables if one.name == each.clause.literals[0].atom.predicate),
            None,
        )
        support = _taken_out(
            [each.witness], f"it would have blocked `{each.command}`, which the world allowed"
        )
        if told is not None:
            kinds = tuple(kind_of(each.kinds[slot]) for slot in told.slots)
            excluded.kinds.add((told.name, kinds))
            yield support.claim(("kinds", told.name), "no", ", ".join(kinds))
            continue
        slots = {name: str(place) for place, name in enumerate(action.parameters)}
        excluded.needs.setdefault(action.template, set()).update(each.clause.bind(slots).literals)
        yield support.claim(("environment", action.name), "preconditions", str(each.clause))


def _taken_out(against: Sequence[Witness], note: str, confirmed: int = 0) -> Support:
    shown = tuple(against[: LIMITS.witnesses])
    return Support(
        label=Label.TAKEN_OUT,
        confirmed=confirmed,
        against=len(against),
        note=note,
        counterexamples=shown,
    )


def _wrong_effects(learned: Learned, found: Verification, excluded: Excluded) -> Iterator[Claim]:
    """Effects of actions and processes that came about clearly less often than they should."""
    actions = {action.name for action in learned.actions}
    claimed = {each.schema.name: 1 / each.schema.steps for each in learned.processes}
    for (name, effect), told in found.effects.items():
        if told.fails(claimed.get(name, 1.0)) and (name, effect) not in excluded.effects:
            excluded.effects.add((name, effect))
            at = ("environment" if name in actions else "processes", name)
            note = "when episodes were replayed, it came about too seldom"
            yield _taken_out(told.missed, note, told.seen).claim(at, "effects", str(effect))


def _undetermined(ledger: Ledger) -> int:
    """The number of attempts for which another one with the same names and facts went the other
    way.
    """
    ended = Counter(
        ((book.template, each.kinds, each.true, each.false), each.refused)
        for book in ledger.books.values()
        for each in book.attempts
    )
    return sum(
        min(count, ended[same, True])
        for (same, refused), count in list(ended.items())
        if not refused
    )
