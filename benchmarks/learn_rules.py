"""Worth of a learned manual: the planner with it, the guard with it, and its agreement with the
hand-written one.

    python benchmarks/learn_rules.py --seeds 0-9 [--jobs N] --data DIR [--textworld examples/textworld] [--worlds …]
    python benchmarks/learn_rules.py --worlds small --seeds 0-2
    python benchmarks/learn_rules.py alfworld --data DIR [--steps 20000,2000,200] [--games 140] [--checked 40000]
                                              [--seed 0] [--out FOLDER] [--figure curve.png]
    python benchmarks/learn_rules.py example  [--steps 2000]
    python benchmarks/learn_rules.py science  [--steps 2000] [--games 30] [--jobs 1] [--checked 40000]
    python benchmarks/learn_rules.py express  [--steps 20000] [--games 25] [--skip 0] [--only coin,sorting]
    python benchmarks/learn_rules.py telecom  [--steps 4000] [--games 74] [--checked 2000]

The first two make one table over seeds and worlds, N manuals at once (see `learned_table.py`); DIR is
ALFWorld's data, or a folder with an `unpack.py` that lays it out; `small` are the three worlds of
`tests/induction/small_worlds`. Each of the others shows one world in detail.

`alfworld` learns from one half of the training games at each number of steps, plays the last games
of the other half and the seen games with the planner and nothing hand-written but tier 1, and then
holds the guard, and that of the hand-written manual, against walks through the rest of the other
half. With --figure, the learning curve is drawn (needs the extra `report`). `example` learns the
worlds of `rpms worlds new` and of examples/toolbox and plays all their tasks. `science` learns from
train variations of ScienceWorld (needs its extra), holds the guard against others, and plays dev
variations with the learned schemas and the hand-written procedures, and with nothing hand-written;
with --jobs, so many explorations go on beside each other, each with a seed of its own and its share
of the steps, and one manual is learned from all of them. `express` learns one manual for each game
of TextWorldExpress from its train seeds, with an equal share of the steps, and plays the first dev
seeds of each, or those after --skip; --only leaves games out, not their share. `telecom` learns the
tools of τ² telecom from one half of the train tickets, replays an exploration of the other half
against what was learned and against the hand-written manual, and plays the train tickets.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rpms.induction.conclusions.ledger import Ledger, vocabulary_of
from rpms.induction.evidence.templates import SLOT
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.learn import RulesLearned, RulesPlan, learn_rules
from rpms.induction.manuals.manual_verify import table, verify
from rpms.logic.actions import PARAMETER
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import InputError
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import RuleManual
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.sources import choose_manual, knowledge_of, manual_of
from rpms.play.step import Player
from rpms.store.evidence import Label, keeping, traces_file
from rpms.store.own_folders import write_folder
from rpms.worlds.base import Setting, Task, World, by_verb
from rpms.worlds.registry import find_world, new_world

WALK = 30
"""Steps of a walk on which the guard is checked."""
ASKED = 14
"""Commands that both sides are asked about at a state, as many of those that the game takes as
of any others."""


@dataclass(frozen=True)
class Played:
    """The planner's results."""

    games: int
    won: int
    steps: float
    score: float
    refused: int


def play_all(world: World, setting: Setting, tasks: Sequence[Task], manual: RuleManual) -> Played:
    """Play tasks with the planner and a manual."""
    mind = compose(RULES_ONLY, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    player = Player(world, mind, open_model("planner"), Decoding(max_tokens=world.max_tokens))
    won = steps = refused = 0
    score = 0.0
    for task in tasks:
        episode = play_task(player, task, setting)
        won += episode.ending == "won"
        steps += len(episode.steps)
        refused += sum(step.infeasible for step in episode.steps)
        score += max(0.0, episode.score)
    count = max(1, len(tasks))
    return Played(len(tasks), won, steps / count, score / count, refused)


def play_beside(
    world: World, setting: Setting, tasks: Sequence[Task], manual: RuleManual, jobs: int
) -> Played:
    """Play tasks in some processes at once."""
    if jobs == 1:
        return play_all(world, setting, tasks, manual)
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        every = pool.starmap(
            play_all, [(world, setting, tasks[job::jobs], manual) for job in range(jobs)]
        )
    games = sum(each.games for each in every)
    steps, score = (
        sum(getattr(each, what) * each.games for each in every) / games
        for what in ("steps", "score")
    )
    return Played(
        games, sum(each.won for each in every), steps, score, sum(each.refused for each in every)
    )


def candidates(
    manual: RuleManual, belief: Belief, allowed: Sequence[str], dice: random.Random
) -> Iterator[str]:
    """Commands that the game takes, and commands of every action with any names that are known."""
    groups = by_verb(allowed)
    for _ in range(ASKED // 2):
        if groups:
            yield dice.choice(dice.choice(groups))
        schema = dice.choice(manual.actions)
        command = schema.syntax[0]
        for name in schema.variables:
            command = command.replace(
                f"<{name}>", dice.choice(belief.names.get(name) or ("nothing 1",))
            )
        yield command


def check_guard(
    world: World,
    setting: Setting,
    tasks: Sequence[Task],
    manual: RuleManual,
    most: int,
    seed: int = 1,
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Ask the game and the guard about the same commands, over random walks; what was blocked
    wrongly, by command.
    """
    dice = random.Random(seed)
    tally: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for task in tasks:
        game = world.open(task, setting)
        outcome = game.reset()
        goal = world.goal(outcome.observation)
        rules = manual.active(goal.type, goal.object, goal.destination)
        belief = world.update(world.start(goal), None, outcome.observation)
        for _ in range(WALK):
            listed = game.admissible()
            allowed = frozenset(listed)
            for command in candidates(manual, belief, listed, dice):
                instance = rules.instance(command)
                name = instance.schema.name if instance else "unknown"
                value = instance.feasible(Situation(belief, goal)) if instance else Truth.UNKNOWN
                if command in allowed:
                    tally[name, "allowed"] += 1
                    tally[name, "blocked"] += value is Truth.FALSE
                    wrong += [command] if value is Truth.FALSE else []
                else:
                    tally[name, "refused"] += 1
                    tally[name, "recognised"] += value is Truth.FALSE
            command = dice.choice(dice.choice(by_verb(listed)))
            outcome = game.step(command)
            belief = world.update(belief, command, outcome.observation)
            if outcome.done:
                break
        game.close()
        if (
            sum(count for (_, what), count in tally.items() if what in ("allowed", "refused"))
            >= most
        ):
            break
    return tally, wrong


def guard_table(tally: Counter[tuple[str, str]]) -> Iterator[str]:
    """The lines of a Markdown table."""
    yield "| action | allowed | blocked | refused | recognised |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    names = sorted({name for name, _ in tally})
    for name in (*names, "all"):
        count = {
            what: sum(n for (one, w), n in tally.items() if w == what and name in (one, "all"))
            for what in ("allowed", "blocked", "refused", "recognised")
        }
        share = f"{100 * count['recognised'] / count['refused']:.1f}%" if count["refused"] else "-"
        yield f"| {name} | {count['allowed']:,} | {count['blocked']:,} | {count['refused']:,} | {share} |"


def _ordered(clause: Clause) -> str:
    """A condition in words that do not depend on the order of its facts."""
    return " or ".join(sorted(map(str, clause.literals)))


def agreement(result: RulesLearned, world: World) -> Iterator[str]:
    """Each line of the hand-written schemas, and what became of it in the learned ones."""
    kinds = {name for name, each in manual_of(world).predicates.items() if each.lasting}
    learned = {action.template: action for action in result.learned.actions}
    for schema in manual_of(world).actions:
        syntax = next(
            (each for each in schema.syntax if PARAMETER.sub(SLOT, each) in learned), None
        )
        if syntax is None:
            yield f"| {schema.name} | | | not learned |"
            continue
        action = replace(
            learned[PARAMETER.sub(SLOT, syntax)], parameters=tuple(PARAMETER.findall(syntax))
        )
        labels = {_ordered(action.bind(fact.clause)): fact.label.value for fact in action.needs}
        for clause in schema.preconditions:
            told = labels.get(_ordered(clause), "")
            if any(literal.atom.predicate in kinds for literal in clause.literals):
                told = (
                    "kinds: " + ", ".join(table.name for table in action.tables)
                    if action.tables
                    else "missing"
                )
            yield f"| {schema.name} | needs | `{clause}` | {told or 'missing'} |"
        have = {str(action.bind(fact.clause)) for fact in action.effects}
        for effect in schema.effects:
            yield f"| {schema.name} | does | `{effect}` | {'seen' if str(effect) in have else 'missing'} |"
        shown = {str(action.bind(fact.clause)) for fact in action.observes}
        for seen in schema.observes:
            yield f"| {schema.name} | reveals | `{seen}` | {'seen' if str(seen.atom) in shown else 'missing'} |"
        hand = {_ordered(clause) for clause in schema.preconditions} | {
            str(effect) for effect in schema.effects
        }
        extra = [
            text
            for text, label in labels.items()
            if label == Label.NECESSARY.value and text not in hand
        ]
        extra += sorted(have - hand)
        for text in extra:
            yield f"| {schema.name} | | `{text}` | only in the learned one |"


def learned_with(
    world: World, setting: Setting, tasks: Sequence[Task], steps: int, out: Path, seed: int = 0
) -> tuple[RulesLearned, float]:
    """Learn a manual, and how many seconds of the processor it took."""
    started = time.process_time()
    plan = RulesPlan(world, tuple(tasks), setting, "train", Exploring(steps=steps, seed=seed))
    return learn_rules(plan, out), time.process_time() - started


def alfworld(args: argparse.Namespace) -> None:
    """The rows of the table for ALFWorld, and the figure."""
    world, setting = find_world("alfworld"), Setting(data=args.data)
    train, seen = list(world.tasks("train", setting)), list(world.tasks("valid_seen", setting))
    random.Random(7).shuffle(train)
    explored, other = train[: len(train) // 2], train[len(train) // 2 :]
    walked, fresh = other[: -args.games], other[-args.games :]
    rows = []
    for steps in map(int, str(args.steps or "20000,2000,200").split(",")):
        out = args.out / f"alfworld-{steps}.yaml"
        result, seconds = learned_with(world, setting, explored, steps, out, args.seed)
        manual = manual_of(world, choose_manual(out))
        print(f"\n## {steps:,} steps, {seconds:.0f} s of the processor")
        for title, tasks in (
            ("training games that were not explored", fresh),
            ("seen games", seen[: args.games]),
        ):
            played = play_all(world, setting, tasks, manual)
            print(
                f"planner: {played.won} of {played.games} {title}, {played.steps:.1f} steps, {played.refused} refused"
            )
            sys.stdout.flush()
        tally, wrong = check_guard(world, setting, walked, manual, args.checked)
        print("\n".join(guard_table(tally)))
        print(f"blocked wrongly: {', '.join(sorted(set(wrong))[:10]) or 'nothing'}")
        rows.append((steps, played))
        if len(rows) == 1:
            told, _ = check_guard(world, setting, walked, manual_of(world), args.checked)
            print(f"the hand-written manual, in such walks: {list(guard_table(told))[-1]}")
            print("\n| action | | hand-written | learned |\n| --- | --- | --- | --- |")
            print("\n".join(agreement(result, world)))
        sys.stdout.flush()
    if args.figure:
        draw(rows, args.figure)


def draw(rows: Sequence[tuple[int, Played]], file: Path) -> None:
    """The learning curve."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    rows = sorted(rows)
    figure, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
    axes.plot(
        [steps for steps, _ in rows], [100 * each.won / each.games for _, each in rows], marker="o"
    )
    axes.set_xscale("log")
    axes.set_ylim(0, 102)
    axes.set_xlabel("steps of exploration in training games")
    axes.set_ylabel(f"won of {rows[0][1].games} seen games, %")
    axes.grid(visible=True, alpha=0.3)
    figure.savefig(file, dpi=150)


def example(args: argparse.Namespace) -> None:
    """All tasks of the two example worlds."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "lighthouse")
        write_folder(place, new_world("lighthouse"))
        for name in (str(place), str(Path(__file__).parents[1] / "examples" / "toolbox")):
            world, setting = find_world(name), Setting()
            steps = int(args.steps or 2_000)
            split = "train" if "train" in world.splits else world.splits[0]
            out = Path(folder, f"{world.name}.yaml")
            _, seconds = learned_with(world, setting, world.tasks(split, setting), steps, out)
            tasks = [task for each in world.splits for task in world.tasks(each, setting)]
            played = play_all(world, setting, tasks, manual_of(world, choose_manual(out)))
            print(f"{world.name}: {steps:,} steps, {seconds:.0f} s: {played.won} of {played.games} tasks, "
                  f"{played.steps:.1f} steps")  # fmt: skip


def science(args: argparse.Namespace) -> None:
    """Blocked and recognised by action, and the score on dev variations."""
    world, setting = find_world("scienceworld"), Setting()
    train, dev = list(world.tasks("train", setting)), list(world.tasks("dev", setting))
    random.Random(7).shuffle(train)
    steps, out = int(args.steps or 2_000), args.out / "scienceworld.yaml"
    explored, started = tuple(train[: len(train) // 2]), time.monotonic()
    if args.jobs > 1:
        share = -(-steps // args.jobs)
        plans = [
            (
                RulesPlan(world, explored, setting, "train", Exploring(steps=share, seed=seed)),
                args.out / f"{seed}.yaml",
            )
            for seed in range(args.jobs)
        ]
        with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
            parts = pool.starmap(explored_alone, plans)
        print(f"explored by {args.jobs} at once in {time.monotonic() - started:.0f} s", flush=True)
        started = time.process_time()
        result = learn_rules(RulesPlan(world, split="train", runs=tuple(parts)), out)
        seconds = time.process_time() - started
    else:
        result, seconds = learned_with(world, setting, explored, steps, out)
    print(
        f"{steps:,} steps, {seconds:.0f} s: {len(result.learned.actions)} actions, {len(result.learned.goals)} goals"
    )
    manual = manual_of(world, choose_manual(out))
    tally, _ = check_guard(world, setting, train[len(train) // 2 :], manual, args.checked)
    print("\n".join(guard_table(tally)))
    print("\n| action | | hand-written | learned |\n| --- | --- | --- | --- |")
    print("\n".join(agreement(result, world)))
    some = random.Random(7).sample(dev, min(args.games, len(dev)))
    for title, chosen in three_manuals(world, manual):
        played = play_beside(world, setting, some, chosen, args.jobs)
        print(
            f"{title}: average score {played.score:.1f} on {played.games} dev variations, {played.steps:.1f} steps"
        )


def explored_alone(plan: RulesPlan, out: Path) -> Path:
    """Explore, and keep the episodes in a file; no manual is written."""
    explorer = Explorer(
        plan.world,
        plan.setting,
        plan.tasks,
        Ledger(plan.world, vocabulary_of(plan.world)),
        plan.exploring,
    )
    with keeping(traces_file(out), plan.settings()) as (known, keep):
        explorer.read(known)
        for trace in explorer.explore():
            keep(trace)
    return traces_file(out)


def three_manuals(world: World, learned: RuleManual) -> tuple[tuple[str, RuleManual], ...]:
    """A world's own manual, the same with the learned schemas in place of its own, and the
    learned one alone.
    """
    hand = manual_of(world)
    mixed = replace(
        hand,
        actions=learned.actions,
        predicates={**hand.predicates, **learned.predicates},
        lore=replace(hand.lore, kinds={**hand.lore.kinds, **learned.lore.kinds}),
    )
    return (
        ("all hand-written", hand),
        ("learned schemas, hand-written procedures", mixed),
        ("nothing hand-written", learned),
    )


def express(args: argparse.Namespace) -> None:
    """Games of TextWorldExpress that were won on dev, by game."""
    world = find_world("textworld-express")
    games = sorted({task.type for task in world.tasks("train", Setting())})
    steps = int(args.steps or 20_000) // len(games)
    print(
        "| game | manual | won | refused | average score | steps |\n| --- | --- | ---: | ---: | ---: | ---: |"
    )
    for name in args.only.split(",") if args.only else games:
        setting, out = Setting(options={"game": name}), args.out / f"{name}.yaml"
        result, seconds = learned_with(
            world, setting, world.tasks("train", setting), steps, out, args.seed
        )
        wins = sum(trace.won for trace in result.traces)
        learning = f"{steps:,} steps in {len(result.traces)} train games, {wins} of them won, {seconds:.0f} s"
        dev = world.tasks("dev", setting)[args.skip :][: args.games]
        for title, chosen in reversed(three_manuals(world, manual_of(world, choose_manual(out)))):
            each = play_all(world, setting, dev, chosen)
            told = f"{title} ({learning})" if title.startswith("nothing") else title
            row = (
                name,
                told,
                f"{each.won} of {each.games}",
                each.refused,
                f"{each.score:.2f}",
                f"{each.steps:.1f}",
            )
            print(f"| {' | '.join(map(str, row))} |")
            sys.stdout.flush()


def telecom(args: argparse.Namespace) -> None:
    """Tools of τ² telecom: blocked and recognised by replay, and tickets that were solved."""
    world, setting = find_world("tau2-telecom"), Setting()
    train = list(world.tasks("train", setting))
    random.Random(7).shuffle(train)
    explored, other = train[: len(train) // 2], train[len(train) // 2 :]
    steps, out = int(args.steps or 4_000), args.out / "telecom.yaml"
    result, seconds = learned_with(world, setting, explored, steps, out, args.seed)
    print(
        f"{steps:,} steps, {seconds:.0f} s: {len(result.learned.actions)} actions, {len(result.learned.goals)} goals"
    )
    ledger = Ledger(world, vocabulary_of(world))
    explorer = Explorer(
        world, setting, other, ledger, Exploring(steps=min(args.checked, steps), seed=args.seed + 1)
    )
    traces = list(explorer.explore())
    manual = manual_of(world, choose_manual(out))
    for title, chosen in (("learned", manual), ("hand-written", manual_of(world))):
        found = verify(chosen, world, traces)
        print(f"\n{title}, replayed on {found.episodes} other episodes with {found.steps:,} steps")
        rows = list(table(found))
        print(
            "\n".join(
                f"| {' | '.join(row)} |" for row in (rows[0], ("---",) * len(rows[0]), *rows[1:])
            )
        )
        print(
            f"blocked wrongly: {', '.join(sorted({each.command for each in found.blocked})[:10]) or 'nothing'}"
        )
        print(f"no action of the manual: {', '.join(sorted(+found.unknown)) or 'none'}", flush=True)
    hand, (_, mixed), alone = three_manuals(world, manual)
    learned = manual.lore.processes
    both = replace(mixed, lore=replace(mixed.lore, processes=(*mixed.lore.processes, *learned)))
    own = replace(mixed, lore=replace(mixed.lore, processes=learned))
    for title, chosen in (
        hand,
        ("learned schemas and processes, all else hand-written", both),
        ("learned schemas and processes, hand-written procedures", own),
        alone,
    ):
        played = play_all(world, setting, train[: args.games], chosen)
        print(
            f"{title}: {played.won} of {played.games} train tickets, {played.steps:.1f} steps",
            flush=True,
        )


def _off_this_folder() -> None:
    """This folder has files with the names of packages (`requests`), and Python would look here
    first.
    """
    sys.path = [
        place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent
    ]


def _seeds(text: str) -> list[int]:
    """`0-9` or `0,3,5` as numbers."""
    first, dash, last = text.partition("-")
    return (
        list(range(int(first), int(last) + 1)) if dash else [int(part) for part in text.split(",")]
    )


def main() -> None:
    """Learn, play, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="?", choices=("alfworld", "example", "science", "express", "telecom")
    )
    parser.add_argument("--seeds", type=_seeds, default=_seeds("0-2"), help="such as 0-9 or 0,3,5")
    parser.add_argument("--jobs", type=int, default=1, help="manuals that are learned at once")
    parser.add_argument("--worlds", help="some of alfworld,textworld,express,science,small")
    parser.add_argument("--textworld", type=Path, help="the folder of the TextWorld example")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--steps")
    parser.add_argument("--games", type=int, default=140)
    parser.add_argument(
        "--skip", type=int, default=0, help="games of TextWorld and TextWorldExpress left out first"
    )
    parser.add_argument("--checked", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("learned"))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--only", help="some games of TextWorldExpress, with commas between")
    args = parser.parse_args()
    if args.what is None:
        from learned_table import table as one_table  # noqa: PLC0415  it imports this module
    _off_this_folder()
    if args.what is None:
        try:
            one_table(args)
        except InputError as error:
            parser.error(str(error))
        return
    every = {
        "alfworld": alfworld,
        "example": example,
        "science": science,
        "express": express,
        "telecom": telecom,
    }
    every[args.what](args)


if __name__ == "__main__":
    main()
