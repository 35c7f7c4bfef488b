"""Fates of memories: recall, state filter and arbitration over seen ALFWorld games.

    python benchmarks/arbitration.py [--data DIR] [--games 40] [--learn 140] [--clumsy 0.5] [--slips 0.3]
        [--memory FILE] [--manual paper] [--seed 0]

The planner plays some seen games under Full with a memory that it learned on training games, as
many as the paper learns from; where the folder has none, on the other seen games. Its own snippets
break no rule: with `--clumsy`, who learns puts things into their tool, that often, before treating
them; with `--slips`, it takes, opens or puts something at random instead, that often. At every step
all that came to mind is judged, not only the first few that enter the prompt; and the step is
decided again with the state filter switched off, and with arbitration judging from the present
state (`judged_by=here`). Prints the verdicts by kind and reason, how many entries pass at a few
values of θ, and a table of shares.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rpms.learning.rounds import LearningDesign, learn
from rpms.logic.belief import Situation
from rpms.logic.errors import RPMSError
from rpms.models.base import Decoding, Request
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, Condition
from rpms.paper.decide import Decision, Mind, decide
from rpms.paper.enforcement import PAPER, JudgedBy
from rpms.paper.memory import Kind, VerifiedSchema
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Candidate, Fate
from rpms.play.design import NamedModel, design_run, lend
from rpms.play.seats import Play
from rpms.play.settings import Settings
from rpms.play.sources import Sources, knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_memory
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

THRESHOLDS = (0.4, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9)
_NAME = re.compile(r"[a-z]+ \d+")
_COMMAND = re.compile(r"`[^`]*`")
_TREAT = re.compile(r"(?:heat|cool|clean) (\w+ \d+) with (\w+ \d+)")

HERE = replace(FULL, enforcement=replace(PAPER, judged_by=JudgedBy.HERE))
JUDGED: dict[str, Condition] = {"as the paper": FULL, "judged_by=here": HERE}


@dataclass
class Tally:
    """Counts under one judgement."""

    verdicts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(kind, fate, why) → candidates, over all steps."""
    steps: int = 0
    showing: int = 0
    """Steps whose prompt shows a snippet."""
    changed: int = 0
    """Steps whose prompt would show other snippets without the state filter."""

    def snippets(self, *fates: Fate) -> int:
        return sum(
            n
            for (kind, fate, _), n in self.verdicts.items()
            if kind == Kind.SUCCESS and fate in fates
        )

    @property
    def consistent(self) -> int:
        return self.snippets(*(fate for fate in Fate if fate is not Fate.FILTERED))

    @property
    def unnamed(self) -> int:
        """Snippets that were dropped without a rule's name."""
        return sum(
            n
            for (kind, fate, why), n in self.verdicts.items()
            if (kind, fate) == (Kind.SUCCESS, Fate.DROPPED) and not why
        )


def slip(decision: Decision, dice: random.Random) -> str:
    """Some action over what is known, whether it can be done or not."""
    belief = decision.belief
    places, things = belief.names["place"], belief.names["object"] or ("mug 1",)
    place, thing = dice.choice(places), dice.choice(things)
    held = next(iter(belief.holding), thing)
    near = belief.location or place
    return dice.choice(
        [
            f"take {thing} from {place}",
            f"open {place}",
            f"put {held} in/on {near}",
            "use desklamp 1",
        ]
    )


def learner(clumsy: float, slips: float, dice: random.Random) -> FunctionModel:
    """The planner, but for what it puts into a tool before treating it, and what it does at
    random.
    """

    def answer(request: Request) -> str:
        command = follow_plan(request.decision)[1]
        if slips and dice.random() < slips:
            return f"Action: {slip(request.decision, dice)}"
        treat = _TREAT.fullmatch(command)
        if treat and dice.random() < clumsy:
            closed = request.decision.belief.containers.get(treat[2]) is False
            command = f"open {treat[2]}" if closed else f"put {treat[1]} in/on {treat[2]}"
        return f"Action: {command}"

    return FunctionModel(answer, "learner")


def remember(
    world: World, tasks: Sequence[Task], setting: Setting, model: FunctionModel, sources: Sources
) -> EpisodicMemory:
    """The memory learned on some games."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "memory.jsonl")
        played = design_run(
            world,
            model.name,
            lend(model),
            tasks=tasks,
            setting=setting,
            sources=sources,
            memory=EpisodicMemory(),
        )
        learn(LearningDesign(played, rounds=1), out)
        return read_memory(out, world.name)


def to_learn_from(world: World, setting: Setting, number: int, dice: random.Random) -> list[Task]:
    """Training games drawn at random; none where the folder has none."""
    try:
        training = list(world.tasks("train", setting))
    except RPMSError:
        return []
    return dice.sample(training, min(number, len(training)))


def again(mind: Mind, decision: Decision) -> Decision:
    """The same step decided by another mind; the belief is that of the step."""
    still = replace(mind, update=lambda belief, _action, _observation: belief)
    return decide(still, decision.goal, decision.belief, None, "", ())


def judged(mind: Mind, decision: Decision) -> Iterator[Candidate]:
    """Every candidate of a step with its verdict, also those that no prompt has room for."""
    situation = Situation(decision.belief, decision.goal)
    for kind in Kind:
        known = mind.experience
        recalled = known.memory.recall(kind, decision.goal_signature, known.retrieval)
        filtered = mind.consistent(recalled, situation, decision.rules)
        yield from mind.arbitrate(filtered, decision.rules, situation)


def shown(decision: Decision) -> frozenset[str]:
    """The snippets in the prompt."""
    return frozenset(each.entry.id for each in decision.memories if each.entry.kind is Kind.SUCCESS)


def why(candidate: Candidate) -> str:
    """The rule and the fact behind a verdict, without the names of this game."""
    verdict = candidate.verdict
    if not verdict.rule:
        return _NAME.sub("…", _COMMAND.sub("", verdict.reason)).strip(" :;")
    fact = _NAME.sub("…", verdict.fact) if verdict.rule.startswith("E-") else ""
    return f"{verdict.rule}: {fact}" if fact else verdict.rule


def count(mind: Mind, unfiltered: Mind, decision: Decision, tally: Tally) -> None:
    """Count one step."""
    own = again(mind, decision)
    tally.steps += 1
    tally.showing += bool(shown(own))
    tally.changed += shown(own) != shown(again(unfiltered, decision))
    for candidate in judged(mind, own):
        tally.verdicts[candidate.entry.kind, candidate.verdict.fate, why(candidate)] += 1


def passing(memory: EpisodicMemory, world: World, decision: Decision, threshold: float) -> int:
    """Number of entries of goals like this one that pass a threshold."""
    similarity = world.retrieval.similarity
    entries = (entry for entry in memory.entries if not isinstance(entry, VerifiedSchema))
    return sum(
        similarity(decision.goal_signature, entry.goal_signature) >= threshold for entry in entries
    )


def share(part: int, whole: int) -> str:
    """A share in words; a dash of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def verdict_table(tally: Tally) -> Iterator[str]:
    """Verdicts by kind and reason."""
    yield "| kind | verdict | rule and fact | candidates | of the kind |"
    yield "| --- | --- | --- | ---: | ---: |"
    kinds = Counter[str]()
    for (kind, _, _), number in tally.verdicts.items():
        kinds[kind] += number
    for (kind, fate, reason), number in sorted(
        tally.verdicts.items(), key=lambda item: (item[0][0], -item[1])
    ):
        if number >= kinds[kind] / 200:
            yield f"| {kind} | {fate} | {reason or '-'} | {number:,} | {share(number, kinds[kind])} |"


def threshold_table(
    memory: EpisodicMemory, world: World, openings: Sequence[Decision]
) -> Iterator[str]:
    """Entries that pass at a few values of θ."""
    total = sum(not isinstance(entry, VerifiedSchema) for entry in memory.entries)
    yield f"| θ | entries that pass, of {total} on average | games with none |"
    yield "| ---: | ---: | ---: |"
    for threshold in THRESHOLDS:
        numbers = [passing(memory, world, decision, threshold) for decision in openings]
        default = " (default)" if threshold == world.retrieval.threshold else ""
        yield f"| {threshold}{default} | {sum(numbers) / len(numbers):.1f} | {numbers.count(0)} of {len(numbers)} |"


def share_table(tallies: dict[str, Tally]) -> Iterator[str]:
    """The table at the end."""
    rows = {
        "snippets that suit the state and that hard removes (wanted: under 20%)": lambda t: (
            t.snippets(Fate.DROPPED),
            t.consistent,
        ),
        "of these, without a rule's name (wanted: none)": lambda t: (
            t.unnamed,
            t.snippets(Fate.DROPPED),
        ),
        "snippets that suit the state and that soft tags": lambda t: (
            t.snippets(Fate.WARNED),
            t.consistent,
        ),
        "steps in which the state filter changes the snippets shown (wanted: over 50%)": lambda t: (
            t.changed,
            t.steps,
        ),
        "steps that show a snippet (wanted: over 95%)": lambda t: (t.showing, t.steps),
    }
    yield f"| share | {' | '.join(tallies)} |"
    yield f"| --- |{' ---: |' * len(tallies)}"
    for name, numbers in rows.items():
        cells = [numbers(tally) for tally in tallies.values()]
        yield f"| {name} | {' | '.join(f'{share(*cell)} ({cell[0]:,} of {cell[1]:,})' for cell in cells)} |"


def main() -> None:
    """Learn, play, count, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("ALFWORLD_DATA"))
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument(
        "--learn", type=int, default=140, help="training games to learn the memory on"
    )
    parser.add_argument(
        "--clumsy",
        type=float,
        default=0.0,
        help="how often who learns puts a thing into its tool first",
    )
    parser.add_argument(
        "--slips", type=float, default=0.0, help="how often who learns does something at random"
    )
    parser.add_argument(
        "--memory", type=Path, help="a memory that was learned before; none is learned then"
    )
    parser.add_argument(
        "--manual",
        default="paper",
        help="paper, complete or a file: what is learned and judged with",
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.data is None:
        parser.exit(
            0, "skipped: ALFWorld's games are not here; give --data DIR or set ALFWORLD_DATA\n"
        )
    world, setting = find_world("alfworld"), Setting(data=Path(args.data))
    try:
        sources = Settings.read({"manual": args.manual}).sources(world)
        dice = random.Random(args.seed)
        seen = list(world.tasks("valid_seen", setting))
        dice.shuffle(seen)
        tasks, others = seen[: args.games], seen[args.games :]
        if args.memory:
            memory = read_memory(args.memory, world.name)
        else:
            training = to_learn_from(world, setting, args.learn, dice) or others
            memory = remember(
                world, training, setting, learner(args.clumsy, args.slips, dice), sources
            )
        report(world, setting, tasks, memory, sources)
    except RPMSError as error:
        sys.exit(f"{parser.prog}: {error}")


class Played(NamedTuple):
    """The games' outcome."""

    tallies: dict[str, Tally]
    openings: list[Decision]
    """The first decision of each."""
    won: int


def play(
    world: World, setting: Setting, tasks: Sequence[Task], memory: EpisodicMemory, sources: Sources
) -> Played:
    """Play the games and count every step, under each judgement."""
    knowledge = knowledge_of(world, sources)
    minds = {name: compose(condition, knowledge, memory) for name, condition in JUDGED.items()}
    off = {
        name: compose(replace(condition, state_filter=False), knowledge, memory)
        for name, condition in JUDGED.items()
    }
    tallies = {name: Tally() for name in JUDGED}
    openings: list[Decision] = []
    won = 0
    model = NamedModel("planner")()
    for task in tasks:
        game = world.open(task, setting)
        played = Play(
            Player(world, minds["as the paper"], model, Decoding(world.max_tokens)),
            game,
            task,
            world.step_budget,
        )
        while played.ending is None:
            played.step()
        won += played.ending == "won"
        openings.extend(step.decision for step in played.steps[:1])
        for step in played.steps:
            for name, tally in tallies.items():
                count(minds[name], off[name], step.decision, tally)
        game.close()
    return Played(tallies, openings, won)


def report(
    world: World, setting: Setting, tasks: Sequence[Task], memory: EpisodicMemory, sources: Sources
) -> None:
    """Play the games and print the tables."""
    tallies, openings, won = play(world, setting, tasks, memory, sources)
    kinds = Counter(entry.kind for entry in memory.entries)
    print(
        f"{len(tasks)} games, {won} won; a memory of {', '.join(f'{n} {kind}' for kind, n in kinds.items())}.\n"
    )
    print("\n".join(verdict_table(tallies["as the paper"])), end="\n\n")
    print("\n".join(threshold_table(memory, world, openings)), end="\n\n")
    print("\n".join(share_table(tallies)))


if __name__ == "__main__":
    main()
