"""Cost of one whole decide: by the size of the memory, and step by step in every world.

    python benchmarks/decide.py [--sizes 233,449,10000,1000000] [--preset paper|strict]
    python benchmarks/decide.py --worlds [--world NAME]... [--games N] [--slowest]
    python benchmarks/decide.py --doubt [--world NAME]... [--games N] [--seed N] [--calls]

By size, the reference is a retrieval that rebuilds its index, as ExpeL's published code does at
each step: here a TF-IDF index in plain Python, which is kind to it, since ExpeL embeds every
document. In the worlds, games are played by their plans, and their steps are decided again in the
order played, under the paper's settings and under strict, three times, each with a mind that has
seen nothing; the fastest counts: processor time, not the clock's, with the garbage collector set as
the command line sets it. The reference is `json.dumps` of the step as an episode's file keeps it.
`--slowest` profiles the slowest step of each world.

With `--doubt`, games are played with the manual as it is, with the goal of another game of their type
(a misread goal), and with five faults planted in the manual, each three times (`--passes`) by a mind that
has seen nothing; of each step the fastest counts: processor time. Steps are told as ratios to the median step
that trusts the manual, in the same process, with the garbage collector set as in a run: within an
episode, looking for circles takes as long as twenty steps. The last column has the median step in units of
`json.dumps` of a step. Where a world has fewer games than asked for, they are played again, with
other goals and faults. With `--calls`, calls of functions are counted in place of time: they are the
same however busy a machine is. The last column is empty then.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import math
import pstats
import random
import re
import resource
import statistics
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import faults

from rpms.cli import GARBAGE
from rpms.logic.belief import StateSignature
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import RuleManual
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, RULES_ONLY
from rpms.paper.decide import Mind, decide
from rpms.paper.enforcement import PRESETS, STRICT, with_part
from rpms.paper.episode import Ending, Episode
from rpms.paper.memory import Entry, FailureLesson, Origin, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import Turn
from rpms.paper.recall import EpisodicMemory
from rpms.play.garbage import WITHIN_AN_EPISODE, seldom_collected
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Course, Player
from rpms.play.understanding import Understood
from rpms.store.episodes import episode_text
from rpms.store.memories import read_frozen
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
OBJECTS = ("apple", "bread", "egg", "lettuce", "potato", "tomato", "mug", "cup", "bowl", "plate", "pan", "pot", "knife",
           "spoon", "fork", "book", "pen", "pencil", "laptop", "pillow", "watch", "vase", "soapbar", "towel", "cloth",
           "candle", "cd", "newspaper", "creditcard", "remotecontrol")  # fmt: skip
PLACES = ("fridge", "cabinet", "countertop", "drawer", "shelf", "sidetable", "diningtable", "desk", "dresser",
          "garbagecan", "bed", "sofa", "armchair", "safe", "microwave", "sinkbasin")  # fmt: skip


def entries(count: int, seed: int = 0) -> list[Entry]:
    """A store with the paper's mix: 27% success snippets, 67% failure lessons, the rest schemas."""
    dice = random.Random(seed)
    made: list[Entry] = []
    for number in range(count):
        goal = GoalSignature.parse(
            f"{dice.choice(TYPES)}:{dice.choice(OBJECTS)}::{dice.choice(PLACES)}"
        )
        state = StateSignature.parse(f"holding={dice.choice(['none', f'{goal.object} 1'])}")
        origins = frozenset(
            Origin(f"episode {number % 140}", step) for step in range(dice.randint(1, 3))
        )
        place = f"{dice.choice(PLACES)} {dice.randint(1, 6)}"
        kind = dice.random()
        if kind < 0.27:
            actions = (
                f"go to {place}",
                f"open {place}",
                f"take {goal.object} {dice.randint(1, 3)} from {place}",
            )
            made.append(
                SuccessSnippet(
                    goal, state, "taken", actions, origins=origins, id=f"success_{number:06}"
                )
            )
        elif kind < 0.95:
            action = f"take {goal.object} {dice.randint(1, 3)} from {place}"
            made.append(
                FailureLesson(
                    goal,
                    state,
                    action,
                    "be at the place first",
                    origins=origins,
                    id=f"failure_{number:06}",
                )
            )
        else:
            made.append(
                VerifiedSchema(
                    f"open {place}",
                    "open",
                    ("at place",),
                    ("open",),
                    origins,
                    f"schema_{number:06}",
                )
            )
    return made


def rebuilt_index(store: list[Entry], query: str) -> list[Entry]:
    """The reference: build an inverse-document-frequency index over all documents, then rank
    them for one query.
    """
    texts = [" ".join(map(str, entry.key())) for entry in store]
    bags = [Counter(re.findall(r"\w+", text)) for text in texts]
    frequency = Counter(word for bag in bags for word in bag)
    weight = {word: math.log(len(bags) / count) for word, count in frequency.items()}
    words = set(re.findall(r"\w+", query))
    scores = [
        sum(bag[word] * weight.get(word, 0.0) for word in words if word in bag) for bag in bags
    ]
    best = sorted(range(len(store)), key=scores.__getitem__, reverse=True)[:8]
    return [store[place] for place in best]


def seconds(action: Callable[[], object], least: float = 0.3, most: int = 2_000) -> float:
    """The median processor time of an action, over as many runs as fit; other processes do not
    count.
    """
    times: list[float] = []
    while len(times) < 3 or (sum(times) < least and len(times) < most):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times)


WORLDS = ("alfworld", "scienceworld", "cookingworld", "textworld-express", "tau2-telecom")


class State(NamedTuple):
    """A step that a game came to, and what its record takes to write."""

    task: str
    course: Course
    observation: str
    dumps: float


def mind_of(world: World, preset: str) -> Mind:
    """Rules and memory of a world under a preset, with its embedded memory where it has one."""
    settings = Settings.read({"preset": preset, "condition": "full"})
    file = world.embedded_memory()
    memory = read_frozen(Path(file), world.name) if file else EpisodicMemory(world=world.name)
    return compose(settings.condition_value(), knowledge_of(world, settings.sources(world)), memory)


def states_of(world: World, player: Player, task: Task) -> list[State]:
    """The steps of one game, played by its plans."""
    game = world.open(task, Setting())
    try:
        outcome = game.reset()
        course = player.begin(player.understand(outcome.observation, task.id))
        seen: list[tuple[Course, str]] = []
        while len(seen) < world.step_budget and not (outcome.done or outcome.won):
            seen.append((course, outcome.observation))
            move = player.choose(course, outcome.observation, task.id)
            outcome = game.step(move.command)
            course = player.after(course, move, outcome)
    finally:
        game.close()
    dumps = dumped(task, course)
    return [
        State(task.id, before, observation, dump)
        for (before, observation), dump in zip(seen, dumps, strict=True)
    ]


def dumped(task: Task, course: Course) -> list[float]:
    """Seconds of processor time that `json.dumps` takes for each step of a game."""
    episode = Episode(task.id, task.type, course.goal.text, Ending.OUT_OF_STEPS, 0.0, course.steps)
    records = json.loads(episode_text(episode))["steps"]
    return [seconds(partial(json.dumps, record), 0, 3) for record in records]


def in_worlds(names: list[str] | tuple[str, ...], games: int, *, slowest: bool) -> None:
    """Print what a step costs in some worlds, in milliseconds."""
    gc.set_threshold(*GARBAGE)
    print(
        "| world | states | json.dumps of the step | paper: median | 99% | strict: median | 99% | worst, at |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for name in names:
        world = find_world("textworld-express" if name == "cookingworld" else name)
        tasks = [
            task
            for task in world.tasks(world.splits[0], Setting())
            if name in (world.name, task.type)
        ]
        model = PolicyModel("planner", follow_plan)
        rules = Settings.read({"preset": "strict", "condition": "rules-only"})
        plays = compose(
            rules.condition_value(), knowledge_of(world, rules.sources(world)), EpisodicMemory()
        )
        player = Player(world, plays, model, Decoding())
        states = [
            one
            for task in tasks[:: max(1, len(tasks) // games)]
            for one in states_of(world, player, task)
        ]
        times = {preset: decided(world, preset, states) for preset in ("paper", "strict")}
        paper, strict = sorted(times["paper"]), sorted(times["strict"])
        late = int(0.99 * len(states))
        worst = max(range(len(states)), key=times["strict"].__getitem__)
        where = f"{strict[-1]:.2f}, {states[worst].task} step {len(states[worst].course.steps) + 1}"
        dumps = 1e3 * statistics.median(state.dumps for state in states)
        cells = (
            dumps,
            statistics.median(paper),
            paper[late],
            statistics.median(strict),
            strict[late],
        )
        print(
            f"| {name} | {len(states)} | {' | '.join(f'{cell:.2f}' for cell in cells)} | {where} |",
            flush=True,
        )
        if slowest:
            profiled, mind = cProfile.Profile(), mind_of(world, "strict")
            for state in [one for one in states[: worst + 1] if one.task == states[worst].task]:
                (profiled.runcall if state is states[worst] else _call)(decide_again, mind, state)
            pstats.Stats(profiled).sort_stats("tottime").print_stats(12)


def decided(world: World, preset: str, states: Sequence[State]) -> list[float]:
    """Milliseconds of processor time for each step, the least of three passes."""
    passes = []
    for _ in range(3):
        mind = mind_of(world, preset)
        gc.collect()
        # as in a run, where collecting what never changes would be counted now and then
        gc.freeze()
        passes.append([decide_again(mind, state) for state in states])
    return [min(times) for times in zip(*passes, strict=True)]


def decide_again(mind: Mind, state: State) -> float:
    """Milliseconds of processor time for one step."""
    course = state.course
    begun = time.thread_time()
    decide(
        mind,
        course.goal,
        course.belief,
        course.command,
        state.observation,
        course.history,
        earlier=course.noticed,
    )
    return 1e3 * (time.thread_time() - begun)


class Timed(NamedTuple):
    """The steps of one game, in seconds of processor time each."""

    won: bool
    steps: list[float]
    dumps: list[float]
    """`json.dumps` of these steps."""


class CallClock:
    """A clock that goes on by one with each call of a function in its thread."""

    def __init__(self) -> None:
        self.calls = 0
        sys.setprofile(self._count)

    def _count(self, _frame: object, event: str, _argument: object) -> None:
        if event in ("call", "c_call"):
            self.calls += 1

    def __call__(self) -> float:
        return float(self.calls)


class DoubtBench:
    """Times steps in one world, with doubt and without."""

    def __init__(
        self,
        name: str,
        games: int,
        seed: int,
        passes: int,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.name, self.seed, self.games, self.passes = name, seed, games, passes
        self.clock = clock
        self.world = find_world("textworld-express" if name == "cookingworld" else name)
        every = self.world.tasks(self.world.splits[0], Setting())
        self.tasks = [task for task in every if name in (self.world.name, task.type)]
        self.manual = knowledge_of(self.world).manual
        self.dice = random.Random(f"{seed} {name}")
        self.chosen: list[Task] = []
        while len(self.chosen) < games:
            left = games - len(self.chosen)
            self.chosen += self.dice.sample(self.tasks, min(left, len(self.tasks)))

    def play(
        self, task: Task, manual: RuleManual, *, doubt: bool, goal: Goal | None = None
    ) -> Timed:
        """One game, played several times; of each step the fastest counts."""
        passes: list[Timed] = []
        for _ in range(self.passes):
            passes.append(self._play_once(task, manual, doubt=doubt, goal=goal))
        steps = [min(times) for times in zip(*[one.steps for one in passes], strict=True)]
        return Timed(passes[0].won, steps, passes[0].dumps)

    def _play_once(
        self, task: Task, manual: RuleManual, *, doubt: bool, goal: Goal | None
    ) -> Timed:
        """One game by its plans, to its end or the step budget."""
        condition = replace(RULES_ONLY, enforcement=with_part(STRICT, "doubt", doubt))
        known = replace(knowledge_of(self.world), manual=manual)
        mind = compose(condition, known, EpisodicMemory())
        player = Player(self.world, mind, PolicyModel("planner", follow_plan), Decoding())
        gc.collect()  # between episodes, as a run does: of earlier games' minds, which a run keeps
        game, steps = self.world.open(task, Setting()), list[float]()
        try:
            outcome = game.reset()
            read = player.understand(outcome.observation, task.id)
            course = player.begin(read if goal is None else Understood(goal))
            while len(steps) < self.world.step_budget and not (outcome.done or outcome.won):
                begun = self.clock()
                move = player.choose(course, outcome.observation, task.id)
                steps.append(self.clock() - begun)
                if player.gives_up(move):  # as a run ends: nothing is left to do
                    break
                outcome = game.step(move.command)
                course = player.after(course, move, outcome)
        finally:
            game.close()
        return Timed(outcome.won, steps, dumped(task, course))

    def goal_of(self, task: Task) -> Goal:
        """The goal that a game states."""
        game = self.world.open(task, Setting())
        try:
            return self.world.goal(game.reset().observation)
        finally:
            game.close()

    def misread(self) -> list[Timed]:
        """Games played with the goal of another one of their type."""
        played: list[Timed] = []
        for task in self.chosen:
            others = [one for one in self.tasks if one.type == task.type and one is not task]
            own = self.goal_of(task).signature
            for other in self.dice.sample(others, min(3, len(others))):
                goal = self.goal_of(other)
                if goal.signature != own:
                    played.append(self.play(task, self.manual, doubt=True, goal=goal))
                    break
        return played

    def faulty(self, count: int) -> list[Timed]:
        """Games played with manuals that have some faults, each game with its own manual."""
        some = self.tasks[:: max(1, len(self.tasks) // 24)]
        used = faults.used_by(self.world, self.manual, some, Setting())
        every = set[str]().union(*used.values())
        played: list[Timed] = []
        for number, task in enumerate(self.chosen):
            dice = random.Random(f"{self.seed} {self.name} {number}")
            manual = faults.plant(self.manual, count, dice, every).manual
            played.append(self.play(task, manual, doubt=True))
        return played


def under_doubt(
    names: Sequence[str], games: int, seed: int, passes: int, *, by_calls: bool = False
) -> None:
    """Print what steps under doubt cost, as ratios to a trusting one, and how many times as long
    as `json.dumps` of a step the median one takes, unless calls are counted in place of time.
    """
    clock = CallClock() if by_calls else time.thread_time
    gc.set_threshold(*GARBAGE)
    print("| world | manual and goal | won | steps | median | 99% | worst | above 10 | dumps |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        bench = DoubtBench(name, games, seed, passes, clock)
        gc.collect()
        gc.freeze()  # as in a run
        with seldom_collected(WITHIN_AN_EPISODE):
            trusting = [bench.play(task, bench.manual, doubt=False) for task in bench.chosen]
            base = statistics.median(each for one in trusting for each in one.steps)
            rows = {
                "trusting": trusting,
                "sound": [bench.play(task, bench.manual, doubt=True) for task in bench.chosen],
                "misread goal": bench.misread(),
                "five faults": bench.faulty(5),
            }
        for label, played in rows.items():
            ratios = sorted(each / base for one in played for each in one.steps)
            if not ratios:
                continue
            late = ratios[int(0.99 * len(ratios))]
            above = sum(ratio > 10 for ratio in ratios) / len(ratios)
            won = f"{sum(one.won for one in played)} of {len(played)}"
            median = statistics.median(ratios)
            dumps = statistics.median(each for one in played for each in one.dumps)
            in_dumps = "" if by_calls else f"{median * base / dumps:.0f}"
            cells = f"{median:.1f} | {late:.1f} | {ratios[-1]:.1f} | {above:.1%}"
            print(
                f"| {name} | {label} | {won} | {len(ratios)} | {cells} | {in_dumps} |",
                flush=True,
            )


def _call(function: Callable[[Mind, State], float], mind: Mind, state: State) -> float:
    return function(mind, state)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="233,449,10000,1000000")
    parser.add_argument(
        "--preset", default="paper", choices=sorted(PRESETS), help="strict adapts what it recalls"
    )
    parser.add_argument("--worlds", action="store_true", help="step by step in every world")
    parser.add_argument("--doubt", action="store_true", help="steps that doubt the manual")
    parser.add_argument(
        "--calls", action="store_true", help="count calls in place of time, with --doubt"
    )
    parser.add_argument("--seed", type=int, default=0, help="draws games and faults, with --doubt")
    parser.add_argument("--world", action="append", help="only these")
    parser.add_argument("--games", type=int, default=16, help="games of each world")
    parser.add_argument(
        "--slowest", action="store_true", help="profile the slowest step of each world"
    )
    parser.add_argument(
        "--passes", type=int, default=3, help="times that a game is played, with --doubt"
    )
    options = parser.parse_args()
    if options.doubt:
        under_doubt(
            options.world or WORLDS,
            options.games,
            options.seed,
            options.passes,
            by_calls=options.calls,
        )
        return
    if options.worlds or options.world:
        in_worlds(options.world or WORLDS, options.games, slowest=options.slowest)
        return
    sizes = [int(size) for size in options.sizes.split(",")]
    condition = replace(FULL, enforcement=PRESETS[options.preset])
    world = find_world("alfworld")
    knowledge = knowledge_of(world)
    opening = (
        "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, "
        "a countertop 1, a fridge 1, a microwave 1, a sinkbasin 1, and a shelf 1.\n\n"
        "Your task is to: heat some apple and put it in fridge."
    )
    arrival = "You arrive at loc 3. On the countertop 1, you see a apple 1, and a knife 1."
    goal = world.goal(opening)
    prior = world.update(world.start(goal), None, opening)
    history = [Turn(opening, "go to countertop 1", "I look for an apple first.")]
    # Every step of an episode asks for the same goal; other goals are asked in turn so that nothing
    # is remembered.
    goals = [
        world.goal(opening.replace("apple", word).replace("in fridge", f"in {place}"))
        for word in OBJECTS
        for place in PLACES
    ]
    headings = "  entries     decide  x 449  rebuilt index     ratio  index bytes/entry  peak MiB"
    print(headings)
    base = 0.0
    for size in sizes:
        store = entries(size)
        gc.collect()
        tracemalloc.start()
        memory = EpisodicMemory(store, "alfworld")
        gc.collect()
        index_bytes = tracemalloc.get_traced_memory()[0] / size
        tracemalloc.stop()
        mind = compose(condition, knowledge, memory)
        turn = iter(goals * 10_000)
        cost = seconds(
            lambda: decide(mind, next(turn), prior, "go to countertop 1", arrival, history)  # noqa: B023
        )
        base = cost if size == 449 or not base else base
        reference = (
            seconds(lambda: rebuilt_index(store, str(goal.signature)), 0.1, 5)  # noqa: B023
            if size <= 10_000
            else None
        )
        shown = (
            f"{1e3 * reference:11.2f} ms {reference / cost:8.0f}x"
            if reference
            else f"{'-':>14} {'-':>9}"
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{size:9,} {1e3 * cost:7.3f} ms {cost / base:5.2f}x {shown} {index_bytes:18.0f} {peak:9.0f}"
        )
    entry_bytes(1_000)


def entry_bytes(count: int) -> None:
    """Bytes of an entry beyond its text."""
    gc.collect()
    tracemalloc.start()
    store = entries(count)
    held = tracemalloc.get_traced_memory()[0] / count
    tracemalloc.stop()
    text = sum(len(str(part)) for entry in store for part in entry.key()) / count
    print(f"an entry holds {held:.0f} bytes, of which about {text:.0f} are its text")


if __name__ == "__main__":
    main()
