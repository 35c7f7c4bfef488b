"""Manuals with planted faults: what is won with wrong lines, with doubt and without it.

    python benchmarks/faults.py --data DIR [--faults 1 3 5] [--manuals 20] [--games 30] [--seed 0]
    python benchmarks/faults.py --world textworld-express --split dev --option coin,cookingworld,twc
    python benchmarks/faults.py --world tau2-telecom --games 24
    python benchmarks/faults.py --data DIR --rows planner hf/Qwen/Qwen2.5-1.5B-Instruct --manuals 4 --games 10

Each manual is the world's own with some lines changed, drawn by the seed: a precondition removed,
negated or added, an effect, an observation or a fact of a goal removed, in actions, processes and
goals that winning plans use; with `--kinds "ban added"` a rule that forbids such an action without
reason. Each manual meets its own draw of games, the same for every row, from the types of games
whose plans use what was changed; with `--any-game` from all. Nobody tells the agent what was
changed. `--faults 0` is the manual as it is.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path

from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import Prohibition, Purpose, Rule, RuleManual, Tier
from rpms.models.base import Decoding, Model
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.enforcement import STRICT, with_part
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import play_task
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.worlds.base import Setting, Task, World
from rpms.worlds.registry import find_world

Edit = tuple[str, Callable[[], RuleManual]]
"""A fault in words, and the manual with it."""
_TRIES = 100


def negated(clause: Clause) -> Clause:
    """A clause with the sign of its first literal changed."""
    first, *rest = clause.literals
    return Clause((Literal(first.atom, not first.negated, first.kinds), *rest))


def with_schema(manual: RuleManual, old: ActionSchema, **parts: object) -> RuleManual:
    """A manual in which one action or process is another."""

    def other(schemas: Sequence[ActionSchema]) -> tuple[ActionSchema, ...]:
        # type: ignore[arg-type]
        return tuple(replace(old, **parts) if one is old else one for one in schemas)

    lore = replace(manual.lore, processes=other(manual.lore.processes))
    return replace(manual, actions=other(manual.actions), lore=lore)


def without(parts: Sequence[object], place: int) -> tuple[object, ...]:
    """A sequence less one item."""
    return (*parts[:place], *parts[place + 1 :])


def places_of(manual: RuleManual) -> set[tuple[str, int, str]]:
    """The parameters that lines of the manual put in each place of each predicate."""
    found = {
        (name, place, arg)
        for name, one in manual.predicates.items()
        for place, arg in enumerate(one.args)
    }
    for schema in (*manual.actions, *manual.lore.processes):
        literals = [
            *schema.effects,
            *(each for clause in schema.preconditions for each in clause.literals),
        ]
        found |= {
            (each.atom.predicate, place, arg)
            for each in literals
            for place, arg in enumerate(each.atom.args)
        }
    return found


def possible_needs(manual: RuleManual, schema: ActionSchema, dice: random.Random) -> list[Clause]:
    """Needs over the schema's parameters that it has not, of predicates that the manual
    declares.
    """
    places, found = places_of(manual), list[Clause]()
    for predicate in manual.predicates.values():
        for args in permutations(schema.variables, len(predicate.args)):
            fits = all((predicate.name, place, arg) in places for place, arg in enumerate(args))
            if fits and predicate.name not in manual.lore.facts:
                found.append(
                    Clause((Literal(Atom(predicate.name, args), negated=dice.random() < 0.5),))
                )
    return [
        one
        for one in found
        if one not in schema.preconditions and negated(one) not in schema.preconditions
    ]


def lines_of(
    manual: RuleManual, kind: str, dice: random.Random, used: Container[str]
) -> list[Edit]:
    """Every fault of a kind that a manual can have in actions and goals that are used."""
    edits: list[Edit] = []
    for schema in (one for one in (*manual.actions, *manual.lore.processes) if one.name in used):
        needs = schema.preconditions
        match kind:
            case "need removed":
                for place, need in enumerate(needs):
                    edits.append(
                        _edit(
                            manual,
                            f"{schema.name}: not {need}",
                            schema,
                            preconditions=without(needs, place),
                        )
                    )
            case "need negated":
                for place, need in enumerate(needs):
                    wrong = (*needs[:place], negated(need), *needs[place + 1 :])
                    edits.append(
                        _edit(manual, f"{schema.name}: {need}", schema, preconditions=wrong)
                    )
            case "need added":
                edits += [
                    _edit(manual, f"{schema.name}: {need}", schema, preconditions=(*needs, need))
                    for need in possible_needs(manual, schema, dice)
                ]
            case "ban added":
                for need in possible_needs(manual, schema, dice):
                    ban = Rule(
                        "D-WRONG",
                        Tier.DOMAIN,
                        "wrong",
                        "",
                        forbids=(Prohibition(schema.name, (need,)),),
                    )
                    banned = replace(manual, rules=(*manual.rules, ban))
                    edits.append((f"{schema.name}: {ban.forbids[0]}", lambda banned=banned: banned))
            case "effect removed":
                for place, effect in enumerate(schema.effects):
                    edits.append(
                        _edit(
                            manual,
                            f"{schema.name}: {effect}",
                            schema,
                            effects=without(schema.effects, place),
                        )
                    )
            case "observation removed":
                for place, seen in enumerate(schema.observes):
                    edits.append(
                        _edit(
                            manual,
                            f"{schema.name}: {seen}",
                            schema,
                            observes=without(schema.observes, place),
                        )
                    )
    if kind == "goal fact removed":
        edits = [
            edit
            for one in manual.purposes
            if one.name in used
            for edit in _shorter_goals(manual, one)
        ]
    return edits


def _edit(manual: RuleManual, words: str, schema: ActionSchema, **parts: object) -> Edit:
    return words, lambda: with_schema(manual, schema, **parts)


def _shorter_goals(manual: RuleManual, purpose: Purpose) -> list[Edit]:
    """A goal that wants one fact less, and still some."""
    if sum(len(step.until) for step in purpose.steps) < 2:
        return []
    found: list[Edit] = []
    for number, step in enumerate(purpose.steps):
        for place, fact in enumerate(step.until):
            left = replace(step, until=without(step.until, place))  # type: ignore[arg-type]
            steps = (
                *purpose.steps[:number],
                *((left,) if left.until else ()),
                *purpose.steps[number + 1 :],
            )
            other = replace(purpose, steps=steps)
            purposes = tuple(other if one is purpose else one for one in manual.purposes)
            found.append(
                (
                    f"{purpose.name}: {fact}",
                    lambda purposes=purposes: replace(manual, purposes=purposes),
                )
            )
    return found


KINDS = (
    "need removed",
    "need negated",
    "need added",
    "effect removed",
    "observation removed",
    "goal fact removed",
)
BAN = "ban added"
"""Planted only where `--kinds` names it."""


@dataclass(frozen=True)
class Faulty:
    """A manual with faults, and what they are."""

    manual: RuleManual
    faults: tuple[tuple[str, str], ...] = ()


def plant(
    manual: RuleManual,
    count: int,
    dice: random.Random,
    used: Container[str],
    kinds: Sequence[str] = KINDS,
) -> Faulty:
    """Change some lines of a manual, each of a kind drawn first."""
    faulty = Faulty(manual)
    while len(faulty.faults) < count:
        kind = dice.choice(list(kinds))
        edits = lines_of(faulty.manual, kind, dice, used)
        if edits:
            words, make = dice.choice(edits)
            faulty = Faulty(make(), (*faulty.faults, (kind, words)))
    return faulty


def episodes(
    world: World,
    manual: RuleManual,
    tasks: Sequence[Task],
    setting: Setting,
    model: Model,
    *,
    doubt: bool,
) -> list[Episode]:
    """Play tasks with a manual, one after the other."""
    strict = with_part(STRICT, "doubt", doubt)
    condition = replace(RULES_ONLY, enforcement=strict)
    mind = compose(condition, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    player = Player(world, mind, model, Decoding())
    return [play_task(player, task, setting) for task in tasks]


def used_by(
    world: World, manual: RuleManual, tasks: Sequence[Task], setting: Setting
) -> dict[str, set[str]]:
    """The actions, processes and goals that winning plans use, by type of game: a fault
    elsewhere could not matter.
    """
    found: dict[str, set[str]] = {}
    schemas = (*manual.actions, *manual.lore.processes)
    for episode in episodes(world, manual, tasks, setting, open_model("planner"), doubt=False):
        commands = {step.command for step in episode.steps}
        used = found.setdefault(episode.type, set())
        used |= {
            schema.name
            for schema in schemas
            if any(schema.match(command) is not None for command in commands)
        }
        used |= {
            one.name
            for one in manual.purposes
            if episode.steps
            and episode.steps[0].decision.goal.type in one.goals
            and not one.objects
        }
    return found


def main() -> None:
    """Plant, play, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", default="alfworld")
    parser.add_argument("--data", type=Path, help="ALFWorld's games; the embedded ones by default")
    parser.add_argument("--split")
    parser.add_argument("--option", help="games of TextWorldExpress, such as coin,twc")
    parser.add_argument("--faults", type=int, nargs="*", default=[1, 3, 5])
    parser.add_argument("--kinds", nargs="*", choices=(*KINDS, BAN), default=KINDS)
    parser.add_argument("--manuals", type=int, default=20)
    parser.add_argument("--games", type=int, default=30, help="games of each manual")
    parser.add_argument(
        "--any-game", action="store_true", help="also games in whose plans nothing was changed"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", nargs="*", default=["planner", "menu-random/0"])
    parser.add_argument("--doubt", nargs="*", choices=("on", "off"), default=("on", "off"))
    parser.add_argument(
        "--threads", type=int, default=1, help="manuals at once: a model in process gets batches"
    )
    parser.add_argument("--verbose", action="store_true", help="one line a manual, with its faults")
    args = parser.parse_args()
    world = find_world(args.world)
    setting = Setting(data=args.data, options={"game": args.option} if args.option else {})
    split = args.split or (
        "valid_seen" if args.world == "alfworld" and args.data else world.splits[0]
    )
    tasks = list(world.tasks(split, setting))
    sound = knowledge_of(world).manual
    used = used_by(world, sound, tasks[:: max(1, len(tasks) // 24)], setting)
    print(
        f"{'faults':<7} {'model':<28} {'doubt':<6} {'won':>12} {'%':>6} {'steps':>6} {'refused':>8} {'s':>6}",
        flush=True,
    )
    models = {name: open_model(name) for name in args.rows}
    for count in args.faults:
        manuals = []
        for number in range(args.manuals if count else 1):
            dice = random.Random(f"{args.seed} {world.name} {count} {number}")
            faulty = plant(sound, count, dice, set[str]().union(*used.values()), args.kinds)
            changed = {words.partition(":")[0] for _, words in faulty.faults}
            played_by = [
                one
                for one in tasks
                if args.any_game or not count or changed & used.get(one.type, set())
            ]
            manuals.append((faulty, dice.sample(played_by, min(args.games, len(played_by)))))
        for name, model in models.items():
            for doubt in args.doubt if count else args.doubt[:1]:
                begun, played, by_kind = (
                    time.perf_counter(),
                    list[Episode](),
                    Counter[tuple[str, bool]](),
                )
                with ThreadPoolExecutor(args.threads) as pool:
                    row = partial(
                        episodes, world, setting=setting, model=model, doubt=doubt == "on"
                    )
                    all_played = list(
                        pool.map(
                            row, [one.manual for one, _ in manuals], [games for _, games in manuals]
                        )
                    )
                for (faulty, _), some in zip(manuals, all_played, strict=True):
                    played += some
                    by_kind.update((kind, one.won) for one in some for kind, _ in faulty.faults)
                    if args.verbose:
                        lost = [one.task for one in some if not one.won]
                        told = "; ".join(f"{kind} ({words})" for kind, words in faulty.faults)
                        print(
                            f"    {sum(one.won for one in some)}/{len(some)}  {told}  {lost[:2]}",
                            flush=True,
                        )
                steps = sum(len(one.steps) for one in played)
                won, refused = (
                    sum(one.won for one in played),
                    sum(one.counts["infeasible"] for one in played),
                )
                print(
                    f"{count:<7} {name:<28} {doubt:<6} {f'{won} of {len(played)}':>12} {100 * won / len(played):>6.1f} "
                    f"{steps / len(played):>6.1f} {100 * refused / steps:>7.1f}% {time.perf_counter() - begun:>6.0f}",
                    flush=True,
                )
                for kind in args.kinds if count == 1 else ():
                    all_ = by_kind[kind, True] + by_kind[kind, False]
                    if all_:
                        print(f"        {kind:<22} {by_kind[kind, True]:>4} of {all_}")


if __name__ == "__main__":
    main()
