"""The whole of it: explore or read runs, conclude, verify on what was kept aside, merge edits, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rpms.core.episode import Ending
from rpms.core.errors import FileError, InputError
from rpms.core.facts import Literal, kind_of
from rpms.learn.rules import decided as by_hand
from rpms.learn.rules.agenda import Exploring
from rpms.learn.rules.conclude import Learned, conclude, manual_from
from rpms.learn.rules.edits import merged
from rpms.learn.rules.explore import ASIDE, Explorer
from rpms.learn.rules.ledger import Ledger, vocabulary_of
from rpms.learn.rules.verify import Verification, verify
from rpms.learn.rules.write import claims_of, manual_tree, manual_yaml
from rpms.play.sources import universal_tier
from rpms.store.decisions import decisions_on, write_decisions
from rpms.store.episodes import EpisodeRecord
from rpms.store.evidence import Claim, Evidence, Label, Support, evidence_file
from rpms.store.learned_manuals import manual_before, write_learned
from rpms.store.manuals import MANUAL, ManualText, read_manual
from rpms.store.runs import RunFolder
from rpms.store.traces import SUFFIX, Spoken, Trace, keeping, read_traces, traces_file
from rpms.store.yaml_files import plain, read_yaml
from rpms.worlds.base import Setting, Task, World

_ENDS = (Ending.WON, Ending.LOST)
_ROUNDS = 5
"""How often what was wrong is taken out, at most."""

Wording = Callable[[dict[str, str]], dict[str, str]]
"""Words rules anew: sentences by id in, sentences by id out; whatever it does not give stays as it was."""


@dataclass(frozen=True)
class RulesPlan:
    """What rules are to be learned from."""

    world: World
    tasks: tuple[Task, ...] = ()
    setting: Setting = field(default_factory=Setting)
    split: str = ""
    how: Exploring = field(default_factory=Exploring)
    runs: tuple[Path, ...] = ()
    word: Wording | None = None

    def settings(self) -> dict[str, str]:
        """What decides an exploration's episodes; how long it goes on does not."""
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
    """What came of it."""

    learned: Learned
    evidence: Evidence
    verification: Verification
    taken_out: tuple[Claim, ...] = ()
    edits: tuple[Claim, ...] = ()
    decisions: tuple[str, ...] = ()
    """What came of what a person decided, in words."""
    traces: tuple[Trace, ...] = ()


def recorded(world: World, runs: Sequence[Path]) -> Iterator[Trace]:
    """The episodes of recorded runs, or of an exploration's file; those of another world are an InputError."""
    for place in runs:
        if place.name.endswith(SUFFIX):
            settings, traces = read_traces(place)
            _check_world(place, settings.get("world", ""), world)
            yield from traces
            continue
        run = RunFolder(place)
        _check_world(place, str(run.protocol.settings.get("world", "")), world)
        for task in run.protocol.tasks:
            if not run.file(task).is_file():
                continue
            record = run.episode(task)
            if record.steps:
                yield _trace(place.name, record)


def _check_world(place: Path, found: str, world: World) -> None:
    if found != world.name:
        raise InputError(f"{place}: was played in {found or 'no world'}, not in {world.name}; nothing was learned")


def _trace(run: str, record: EpisodeRecord) -> Trace:
    steps, ending = record.steps, record.row.ending
    spoken = tuple(
        Spoken(step.command, step.result, step.score, *(step is steps[-1] and ending is end for end in _ENDS))
        for step in steps
    )
    return Trace(f"{run}/{record.task}", record.task, record.row.type, steps[0].observation, spoken)


def learn_rules(
    plan: RulesPlan, out: Path, tell: Callable[[int, int], None] = lambda _episodes, _steps: None
) -> RulesLearned:
    """Learn a manual and write it with its evidence. `tell` hears how many episodes and steps there were."""
    before, known_decisions = manual_before(out), decisions_on(out)
    ledger = Ledger(plan.world, vocabulary_of(plan.world))
    aside: list[Trace] = []
    traces: list[Trace] = []
    for number, trace in enumerate(recorded(plan.world, plan.runs), 1):
        traces.append(trace)
        if number % ASIDE == 0:
            aside.append(trace)
        else:
            ledger.read(trace)
    explorer = Explorer(plan.world, plan.setting, plan.tasks, ledger, plan.how)
    if plan.tasks:
        with keeping(traces_file(out), plan.settings()) as (known, keep):
            traces += known
            for trace in explorer.explore(known):
                keep(trace)
                traces.append(trace)
                tell(explorer.episodes, explorer.steps)
        aside += explorer.aside
    if not ledger.steps:
        raise InputError("there is nothing to learn from: no episode has a step")
    learned, verification, taken_out = _verified(ledger, aside)
    tree = manual_tree(learned)
    decisions = by_hand.in_names_of(tree, known_decisions)
    told = [*by_hand.counted(decisions), *by_hand.apply(tree, decisions)]
    if plan.word is not None:
        tree = _worded(tree, plan.word)
    head = [
        f"Learned by `rpms rules learn {plan.world.name}` from {ledger.episodes} episodes with {ledger.steps:,} steps.",
        f"What speaks for each line: {evidence_file(out).name}. Edits are kept when it is learned again.",
    ]
    written = manual_yaml(tree, head)
    final, edits = _with_edits(out, before, tree)
    text = manual_yaml(final, head) if edits else written
    _check(out, text, bool(edits or decisions))
    if decisions:
        verification = verify(read_manual(universal_tier(), ManualText(str(out), text, own=True)), plan.world, aside)
    evidence = Evidence(
        plan.world.name,
        (*claims_of(learned), *taken_out, *edits),
        plan.split,
        ledger.episodes,
        ledger.steps,
        len(aside),
        _undetermined(ledger),
        written,
        {"seed": str(plan.how.seed), "runs": ", ".join(run.name for run in plan.runs)},
    )
    evidence = by_hand.decided(evidence, decisions)
    write_learned(out, text, evidence)
    if decisions != list(known_decisions):
        write_decisions(out, decisions)
    return RulesLearned(learned, evidence, verification, taken_out, tuple(edits), tuple(told), tuple(traces))


def _verified(ledger: Ledger, aside: Sequence[Trace]) -> tuple[Learned, Verification, tuple[Claim, ...]]:
    """What was concluded, without what is wrong on the episodes kept aside."""
    excluded: dict[str, frozenset[Literal]] = {}
    wrong: set[tuple[str, tuple[str, ...]]] = set()
    claims: list[Claim] = []
    for _ in range(_ROUNDS):
        learned = _without(conclude(ledger, excluded), wrong)
        verification = verify(manual_from(learned), ledger.world, aside)
        if not verification.blocked:
            break
        for each in verification.blocked:
            action = next(one for one in learned.actions if one.name == each.action)
            slots = {name: str(place) for place, name in enumerate(action.parameters)}
            told = next((one for one in action.tables if one.name == each.clause.literals[0].atom.predicate), None)
            note = f"it would have blocked `{each.command}`, which the world allowed"
            taken_out = Support(label=Label.TAKEN_OUT, against=1, note=note, counterexamples=(each.witness,))
            if told is not None:
                kinds = tuple(kind_of(each.kinds[slot]) for slot in told.slots)
                wrong.add((told.name, kinds))
                claims.append(taken_out.claim(("kinds", told.name), "no", ", ".join(kinds)))
                continue
            literals = frozenset(each.clause.bind(slots).literals)
            excluded[action.template] = excluded.get(action.template, frozenset()) | literals
            claims.append(taken_out.claim(("environment", action.name), "preconditions", str(each.clause)))
    unique = {claim.place: claim for claim in claims}
    return learned, verification, tuple(unique.values())


def _without(learned: Learned, wrong: set[tuple[str, tuple[str, ...]]]) -> Learned:
    """What was concluded without kinds that were wrongly taken not to work."""
    actions = tuple(
        replace(
            action,
            tables=tuple(
                replace(
                    told,
                    refused={kinds: steps for kinds, steps in told.refused.items() if (told.name, kinds) not in wrong},
                )
                for told in action.tables
            ),
        )
        for action in learned.actions
    )
    return replace(learned, actions=actions)


def _undetermined(ledger: Ledger) -> int:
    """Attempts of which another one with the same names and facts went the other way."""
    count = 0
    for book in ledger.books.values():
        groups: dict[tuple[object, ...], list[int]] = {}
        for attempt in book.attempts:
            group = groups.setdefault((attempt.kinds, attempt.true, attempt.false), [0, 0])
            group[attempt.refused] += 1
        count += sum(min(group) for group in groups.values())
    return count


# Edits.


def _tree_of(name: str, text: str) -> object:
    return plain(read_yaml(name, text, MANUAL).tree)


def _with_edits(
    out: Path, before: tuple[str, str] | None, tree: dict[str, object]
) -> tuple[dict[str, object], list[Claim]]:
    if before is None or before[0] == before[1]:
        return tree, []
    written, edited = (_tree_of(str(out), text) for text in before)
    return merged(written, edited, plain(tree))


def _check(out: Path, text: str, edited: bool) -> None:
    """A manual that cannot be read is not written: an edit may speak of what is no longer there."""
    try:
        read_manual(universal_tier(), ManualText(str(out), text, own=True))
    except FileError as error:
        if not edited:
            raise
        raise InputError(
            f"{out}: with your edits and decisions the manual would have a mistake: {error.problem}; undo one of them. "
            "Nothing was written"
        ) from None


def _worded(tree: dict[str, object], word: Wording) -> dict[str, object]:
    """Sentences in other words; ids and everything that is checked stay as they are."""
    domain = tree.get("domain")
    assert isinstance(domain, dict)
    texts = {id_: str(rule["text"]) for group in domain.values() for id_, rule in group.items()}
    for id_, text in word(texts).items():
        for group in domain.values():
            if id_ in group:
                group[id_]["text"] = text
    return tree
