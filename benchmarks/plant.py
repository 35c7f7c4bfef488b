"""Does the audit find bad memories? Plant some among good ones, play, audit, and count.

    python benchmarks/plant.py [--data DIR] [--games 400] [--learn 300] [--mask 0.5] [--seed 0]
[--compare] [--out DIR]

The planner learns on training games of three types (heat, cool, clean); 300 of its snippets are the
good ones. 30 harmful ones are planted: a wrong tool, a wrong order, a wrong place, each tried at
two kinds of places. They claim more evidence than the good, since what is never shown cannot hurt.
Then other training games of these types are played without rules by a follower that does what the
snippets of the present sub-goal did, with things of the room at hand, and designs by itself where no
snippet is left. It neither knows nor asks which are planted: what they cost is real.

How much can be found: an entry's turn comes in all of the 133 games of its type, and it is hidden
in half of them, which is where a game tells most. Were its outcomes to vary by as much as it costs,
it would stand out by √(133 / 4), 5.8 standard errors, and about 3.2 are needed after the
correction; at `--mask 0.2` it would be 4.6. All steps of a game vary by three times as much; the
steps at one sub-goal, once freed of what others did, by little more.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rpms.learning.audit import Audit, Worth, audit
from rpms.learning.entry_effects import Effect
from rpms.learning.rounds import LearningDesign, learn
from rpms.logic.belief import Belief, StateSignature
from rpms.logic.errors import RPMSError
from rpms.logic.facts import kind_of
from rpms.logic.goal import GoalSignature
from rpms.models.base import Answer, Request
from rpms.models.policy import follow_plan
from rpms.paper.condition import MEMORY_ONLY
from rpms.paper.decide import Decision
from rpms.paper.memory import Entry, Kind, Origin, SuccessSnippet, merge
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, design_run, lend
from rpms.play.run import run
from rpms.play.settings import Settings
from rpms.store.memories import read_memory
from rpms.store.run_summaries import RunSummary
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

GOOD = 300
EVIDENCE = 60
"""Observations that each planted entry claims, so that it comes before the good ones: a popular
mistake."""
RECALLING = Settings(theta=0.5, k={Kind.SUCCESS: 8})
"""θ at what the type of task alone gives, so that an entry's turn comes in all games of its
type."""
_INSTANCE = re.compile(r"\b[a-z]+ \d+\b")
_SEARCHING = ("find_object", "take_object")


@dataclass
class Follower:
    """Does what the snippets it is shown did, each of their actions once, the best snippet
    first; then designs.
    """

    name: str = "follower"
    _done: defaultdict[str, set[tuple[str, int]]] = field(default_factory=lambda: defaultdict(set))
    """By episode, the actions of entries that were followed."""

    def answer(self, request: Request) -> Answer:
        decision = request.decision
        assert decision is not None
        done = self._done[request.episode]
        for candidate in decision.memories:
            entry = candidate.entry
            if isinstance(entry, SuccessSnippet) and _same_end(
                entry.sub_goal_type, decision.progress.sub_goal
            ):
                for place, action in enumerate(entry.actions):
                    command = _here(action, entry, decision)
                    if (
                        (entry.id, place) not in done
                        and command
                        and _makes_sense(command, decision.belief)
                    ):
                        done.add((entry.id, place))
                        return Answer(f"Action: {command}")
        return Answer(f"Action: {follow_plan(decision)[1]}")

    def close(self) -> None:
        """Nothing is held."""


def _makes_sense(command: str, belief: Belief) -> bool:
    """Nobody goes where he is, or opens what is elsewhere."""
    verb, _, place = command.partition(" ")
    return (
        place != f"to {belief.location}"
        if verb == "go"
        else verb != "open" or place == belief.location
    )


def _same_end(sub_goal: str, wanted: str) -> bool:
    """A snippet that ends in taking begins with the search; once the thing is seen, nobody
    needs to be told.
    """
    return wanted == "find_object" if sub_goal in _SEARCHING else sub_goal == wanted


def _here(action: str, entry: SuccessSnippet, decision: Decision) -> str:
    """An action with things of this room for its own; nothing where there are none.

    What the goal names stands for what the entry's goal named; all else for the same kind, and
    number if there is one.
    """
    goal, then, bound = decision.goal, entry.goal_signature, {}
    for name in dict.fromkeys(_INSTANCE.findall(action)):
        kind = kind_of(name)
        kind = (
            goal.object
            if kind == then.object
            else goal.destination
            if kind == then.destination
            else kind
        )
        found = _called(kind, decision.belief)
        if not found:
            return ""
        bound[name] = name if name in found else found[0]
    return _INSTANCE.sub(lambda match: bound[match[0]], action)


def _called(kind: str, belief: Belief) -> Sequence[str]:
    known = belief.called(kind)
    return [name for name in known if name in belief.holding] or known


def snippets(world: World, tasks: Sequence[Task], folder: Path) -> list[SuccessSnippet]:
    """Snippets of the planner on some games that reach an end of their own, not only begin a
    search.
    """
    planner = NamedModel("planner")
    design = LearningDesign(
        design_run(
            world, planner.name, planner, split="train", tasks=tasks, memory=EpisodicMemory()
        ),
        rounds=1,
    )
    memory = read_memory(learn(design, folder / "learned.jsonl")[-1].file)
    return [
        each
        for each in memory.entries
        if isinstance(each, SuccessSnippet) and each.sub_goal_type != "find_object"
    ]


class Mistakes(NamedTuple):
    """Mistakes with a thing in hand, in one type of task; kinds of places, an entry each."""

    verb: str
    tools: tuple[str, ...]
    """Tools that cannot do it."""
    too_early: tuple[str, ...]
    """Places the thing is put before it is done."""
    places: tuple[str, ...]
    """Wrong places it is put afterwards."""


MISTAKES = {
    "pick_heat_then_place_in_recep": Mistakes(
        "heat",
        ("fridge countertop", "coffeemachine sinkbasin", "toaster stoveburner", "cabinet drawer"),
        ("countertop", "garbagecan", "sinkbasin"),
        ("sinkbasin", "microwave", "drawer"),
    ),
    "pick_cool_then_place_in_recep": Mistakes(
        "cool",
        (
            "microwave countertop",
            "coffeemachine sinkbasin",
            "toaster stoveburner",
            "cabinet drawer",
        ),
        ("countertop", "garbagecan", "sinkbasin"),
        ("sinkbasin", "microwave", "drawer"),
    ),
    "pick_clean_then_place_in_recep": Mistakes(
        "clean",
        ("garbagecan stoveburner", "countertop microwave", "cabinet drawer", "toilet fridge"),
        ("countertop", "garbagecan", "toilet stoveburner"),
        ("toilet fridge", "garbagecan", "drawer"),
    ),
}
CLOSED = ("drawer", "cabinet", "fridge", "microwave")


def harmful(good: Sequence[SuccessSnippet]) -> Iterator[tuple[str, SuccessSnippet]]:
    """30 entries that look like the others, each with what is wrong with it."""
    for type_, wrong in MISTAKES.items():
        named = {
            kind
            for kinds in (*wrong.tools, *wrong.too_early, *wrong.places)
            for kind in kinds.split()
        }
        goals = [entry.goal_signature for entry in good if entry.goal_signature.type == type_]
        counted = Counter(goal for goal in goals if goal.destination not in named)
        goal = max(counted, key=lambda goal: (counted[goal], str(goal)))
        thing, deed = f"{goal.object} 1", f"{wrong.verb}_object"
        for kinds in wrong.tools:
            actions = [
                f"{do} {kind} 1"
                for kind in kinds.split()
                for do in ("go to", f"{wrong.verb} {thing} with")
            ]
            yield f"wrong tool: {wrong.verb} with {kinds}", _made(goal, deed, actions)
        for kinds in wrong.too_early:
            yield (
                f"wrong order: put at {kinds}, then {wrong.verb}",
                _made(goal, deed, _put(thing, kinds.split())),
            )
        for kinds in wrong.places:
            made = _made(goal, "put_object", _put(thing, kinds.split()))
            yield f"wrong place: {wrong.verb}, then put at {kinds}", made


def _put(thing: str, kinds: Sequence[str]) -> list[str]:
    return [
        do
        for kind in kinds
        for do in (
            f"go to {kind} 1",
            f"open {kind} 1" if kind in CLOSED else "",
            f"put {thing} in/on {kind} 1",
        )
        if do
    ]


def _made(goal: GoalSignature, sub_goal: str, actions: Sequence[str]) -> SuccessSnippet:
    verb = actions[-1].split()[0]
    return SuccessSnippet(
        goal,
        StateSignature.parse(f"holding={goal.object} 1"),
        sub_goal,
        tuple(actions),
        {"holding": f"{goal.object} 1", "action_type": verb},
        {verb: f"{goal.object} 1"},
        frozenset(Origin(f"planted/{number}", 1) for number in range(EVIDENCE)),
    )


def play(
    world: World,
    tasks: Sequence[Task],
    entries: Iterable[Entry],
    folder: Path,
    mask: float,
    seed: int,
) -> RunSummary:
    """Play games with a memory, each entry hidden in a share of them."""
    follower = Follower()
    design = design_run(
        world,
        follower.name,
        lend(follower),
        split="train",
        tasks=tasks,
        condition=MEMORY_ONLY,
        memory=EpisodicMemory(entries, world.name),
        sources=replace(RECALLING, mask=mask).sources(world),
        seed=seed,
    )
    return run(design, folder)


def evenly(tasks: Sequence[Task], count: int) -> Iterator[Task]:
    """As many tasks of each type, as they come."""
    left = Counter(type_ for _, type_ in zip(range(count), cycle(MISTAKES), strict=False))
    for task in tasks:
        if left[task.type]:
            left[task.type] -= 1
            yield task


def told(summary: RunSummary) -> str:
    return (
        f"won {summary.won} of {summary.done}, {summary.steps / summary.done:.1f} steps and "
        f"{summary.infeasible / summary.done:.2f} infeasible actions a game"
    )


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--data", type=Path, default=os.environ.get("ALFWORLD_DATA"))
    arguments.add_argument("--games", type=int, default=400)
    arguments.add_argument("--learn", type=int, default=300)
    arguments.add_argument("--mask", type=float, default=0.5)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument(
        "--compare", action="store_true", help="also play with all shown, and without the planted"
    )
    arguments.add_argument(
        "--out", type=Path, help="keep the runs here; by default nothing is kept"
    )
    options = arguments.parse_args()
    world = find_world("alfworld")
    setting = Setting(Path(options.data).absolute() if options.data else None)
    dice = random.Random(options.seed)
    tasks = [task for task in world.tasks("train", setting) if task.type in MISTAKES]
    dice.shuffle(tasks)
    learned, played = tasks[: options.learn], list(evenly(tasks[options.learn :], options.games))
    with TemporaryDirectory() as temporary:
        folder = options.out or Path(temporary)
        found = snippets(world, learned, folder)
        good = dice.sample(found, min(GOOD, len(found)))
        wrong = {made.id: (what, made) for what, entry in harmful(good) for made in merge([entry])}
        both = [*good, *(entry for _, entry in wrong.values())]
        print(
            f"{len(good)} good entries and {len(wrong)} planted ones, {len(played)} games, mask {options.mask}"
        )
        if options.compare:
            print(
                "the good alone: ",
                told(play(world, played, good, folder / "good", 0.0, options.seed)),
            )
            print(
                "all shown:      ",
                told(play(world, played, both, folder / "both", 0.0, options.seed)),
            )
        print(
            "hidden by chance:",
            told(play(world, played, both, folder / "masked", options.mask, options.seed)),
        )
        report(
            audit([folder / "masked"]), {id_: what for id_, (what, _) in wrong.items()}, len(good)
        )
    return 0


def report(found: Audit, wrong: dict[str, str], good: int) -> None:
    """Print the planted entries found, and the good ones accused."""
    print(found.summary)
    print()
    print(
        "| planted | shown | hidden | success | steps | infeasible | steps at the most telling sub-goal | verdict |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    accounts = {account.name: account for account in found.entries}
    for id_, what in wrong.items():
        account = accounts.get(id_)
        if account is None:
            print(f"| {what} | 0 | 0 | | | | | never came to mind |")
            continue
        cells = [_cell(effect) for effect in account.findings.values()]
        stage = min(account.at, key=lambda stage: account.at[stage].p, default="")
        cells.append(f"{stage} {_cell(account.at[stage])}" if stage else "")
        print(
            f"| {what} | {account.shown} | {account.hidden} | {' | '.join(cells)} | {account.worth} |"
        )
    accused = {account.name: account for account in found.of(Worth.HARMFUL)}
    caught = [id_ for id_ in wrong if id_ in accused]
    falsely = [account for name, account in accused.items() if name not in wrong]
    came = sum(account.name not in wrong for account in found.entries)
    print()
    print(f"found {len(caught)} of {len(wrong)} planted entries")
    print(
        f"accused {len(falsely)} of {good} good ones ({len(falsely) / good:.1%}), of which {came} came to mind"
    )
    for account in falsely:
        print(f"  {account.name}: {account.reason}")


def _cell(effect: Effect) -> str:
    return f"{effect.estimate:+.2f} (p {effect.adjusted:.2g})"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RPMSError as error:
        sys.exit(f"plant: {error}")
