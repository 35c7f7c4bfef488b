"""Making games: the same seed gives the same files, byte for byte, on every machine, and each
is proved winnable.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.limits import MOST_GAMES
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError, WorldError
from rpms.store.own_folders import replaced_folder
from rpms.worlds.alfworld.engine.engine import NOTHING_HAPPENS, GameEngine
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.engine.layout import GameLayout
from rpms.worlds.alfworld.engine.texts import DIALECTS, ReleaseName, domain, grammar
from rpms.worlds.alfworld.games.house import Dice, Fact, House, draw_goal, initial_facts, problem
from rpms.worlds.alfworld.goals import TASK_TYPES, GameGoal

GAME_FILE = "game.tw-pddl"
GAMES_FOLDER = "json_2.1.1"
"""Folder of official games under `$ALFWORLD_DATA`."""
_TRAJECTORY_FILE = "traj_data.json"
"""ALFWorld's own loader looks for games beside this file and reads the task type from it."""
_MADE = "rpms-games.json"
"""Says how a folder of generated games was made."""
SCENES = {"kitchen": 0, "living": 200, "bedroom": 300, "bathroom": 400}
"""Scene numbers start here; official scenes use 1 to 30 of each hundred, generated ones 31 to
99."""
_OFFICIAL_SCENES = 30


class MadeGame(NamedTuple):
    """One generated game, proved to be winnable."""

    id: str
    """`<task folder>/<trial>`, as official games are named."""
    house: House
    goal: GameGoal
    data: Mapping[str, Any]
    """Content of the game file: `pddl_domain`, `grammar`, `pddl_problem`, `solvable`, in 0.4
    also `walkthrough`."""
    walkthrough: tuple[str, ...]
    """A shortest sequence of commands that wins."""
    engine: GameEngine
    """Ready to be played: reading it takes as long as making the rest."""


class Unprovable(WorldError):
    """No plan wins, or the game is won before its first step."""


def find_walkthrough(engine: GameEngine, facts: Sequence[Fact], goal: GameGoal) -> tuple[str, ...]:
    """Find a shortest way to the goal, as commands; raises `Unprovable` where there is none.

    An attempt fetches each object in turn, treats it, and brings it to its end. The engine refuses
    to go where one is and to open what is open, so no step is wasted; the goal is checked after
    every step. Of equals the first is taken, in the order of the facts.
    """
    best: tuple[str, ...] | None = None
    for commands in _attempts(engine, facts, goal):
        found = _played(engine, commands)
        if found is not None and (best is None or len(found) < len(best)):
            best = found
    if best is None:
        raise Unprovable(f"no way to: {goal.text}")
    if not best:
        raise Unprovable(f"won before the first step: {goal.text}")
    return best


def _played(engine: GameEngine, commands: Iterable[str]) -> tuple[str, ...] | None:
    """The commands that did something, up to the win; None without one, or where more than
    going and opening fails.
    """
    state = engine.start
    done: list[str] = []
    for command in commands:
        if engine.won(state):
            break
        state, observation = engine.step(state, command)
        if observation != NOTHING_HAPPENS:
            done.append(command)
        elif not command.startswith(("go ", "open ")):
            return None
    return tuple(done) if engine.won(state) else None


def _attempts(engine: GameEngine, facts: Sequence[Fact], goal: GameGoal) -> Iterator[list[str]]:
    """Every choice of objects, where to take them, appliance and end that could lead to the
    goal, as commands.
    """
    start = _Start(engine.layout, facts)
    treatment = goal.treatment
    verb = ""
    appliances = [""]
    if treatment is not None:
        verb = treatment.verb
        appliances = start.receptacles_of(treatment.appliance)
    ends = start.ends_of(goal)
    ways_to_take = [start.ways_to_take(thing) for thing in start.objects_of(goal.object)]
    put = "put {} in/on {}" if engine.dialect.name == "0.3" else "move {} to {}"
    for ways in permutations(ways_to_take, goal.wanted):
        for taken, appliance, end in product(product(*ways), appliances, ends):
            commands: list[str] = []
            for each in taken:
                commands += each.commands()
                commands += _treated(each.thing, verb, appliance)
                commands += _at_the_end(end, each.thing, put)
            yield commands


def _treated(thing: str, verb: str, appliance: str) -> list[str]:
    """Commands that heat, cool or clean a thing; none without a verb."""
    if not verb:
        return []
    return [f"go to {appliance}", f"{verb} {thing} with {appliance}"]


def _at_the_end(end: "_End", thing: str, put: str) -> list[str]:
    """Use the lamp with the thing in hand, or put the thing down."""
    if end.lamp:
        return [f"go to {end.place}", f"use {end.lamp}"]
    return [f"go to {end.place}", f"open {end.place}", put.format(thing, end.place)]


class _End(NamedTuple):
    """The place that things are taken to: to be put there, or to be looked at under its lamp."""

    place: str
    lamp: str = ""


class _Taken(NamedTuple):
    thing: str
    home: str

    def commands(self) -> list[str]:
        """Commands that go to the place, open it and take the thing. A place that is open refuses
        to be opened, which does no harm.
        """
        return [f"go to {self.home}", f"open {self.home}", f"take {self.thing} from {self.home}"]


class _Start:
    """The things of a game's start, by the names that commands have for them."""

    def __init__(self, layout: GameLayout, facts: Sequence[Fact]) -> None:
        self._facts = facts
        self._names = dict(zip(layout.receptacles, layout.receptacle_names, strict=True))
        self._names |= dict(zip(layout.objects, layout.object_names, strict=True))
        self.homes: dict[str, list[str]] = defaultdict(list)
        """The receptacles that hold each object."""
        for predicate, *arguments in sorted(facts):
            if predicate == "inReceptacle":
                thing, place = arguments
                self.homes[self._names[thing.lower()]].append(self._names[place.lower()])

    def receptacles_of(self, type_: str) -> list[str]:
        return self._named("receptacleType", type_)

    def objects_of(self, type_: str) -> list[str]:
        return self._named("objectType", type_)

    def ends_of(self, goal: GameGoal) -> list[_End]:
        """Every place that things can be brought to, or every lamp, wherever it is."""
        if not goal.in_light:
            return [_End(place) for place in self.receptacles_of(goal.receptacle)]
        ends: list[_End] = []
        for lamp in self.objects_of(goal.receptacle):
            ends += [_End(home, lamp) for home in self.homes[lamp]]
        return ends

    def ways_to_take(self, thing: str) -> list[_Taken]:
        return [_Taken(thing, home) for home in self.homes[thing]]

    def _named(self, kind: str, type_: str) -> list[str]:
        """The things that have a type, by facts of one predicate."""
        found = []
        for predicate, thing, *other in self._facts:
            if predicate == kind and other == [f"{type_}Type"]:
                found.append(self._names[thing.lower()])
        return found


def game_data(dialect: ReleaseName, goal: str, problem: str) -> dict[str, Any]:
    """Content of the game file of a problem."""
    texts = {
        "pddl_domain": domain(dialect),
        "grammar": grammar(dialect, goal),
        "pddl_problem": problem,
    }
    return {**texts, "solvable": True}


def make_game(
    seed: int, index: int, dialect: ReleaseName = "0.3", types: Sequence[str] = TASK_TYPES
) -> MadeGame:
    """Make game number `index` of a seed; the task types take turns, and house and goal suit
    any dialect.
    """
    task_type = types[index % len(types)]
    dice = Dice("alfworld", seed, index, task_type)
    room, goal = draw_goal(dice, task_type)
    house = House(dice, room, goal)
    scene = SCENES[room] + _OFFICIAL_SCENES + 1 + dice.below(69)
    trial = f"trial_S{seed}_{index:05d}"
    data = game_data(dialect, goal.text, problem(f"plan_{trial}", house, goal))
    name = f"{goal.type}-{goal.object}-None-{goal.receptacle}-{scene}/{trial}"
    engine = read_engine(data, name)
    walkthrough = find_walkthrough(engine, initial_facts(house), goal)
    if dialect == "0.4":
        data["walkthrough"] = list(walkthrough)
    return MadeGame(name, house, goal, data, walkthrough, engine)


def _trajectory(game: MadeGame) -> str:
    """Write what ALFWorld's own tools read about a game besides the game file."""
    goal = game.goal
    folder, _, trial = game.id.partition("/")
    scene = int(folder.rpartition("-")[2])
    about = {
        "task_id": trial,
        "task_type": goal.type,
        "pddl_params": {
            "mrecep_target": "",
            "object_sliced": False,
            "object_target": goal.object,
            "parent_target": goal.destination or "",
            "toggle_target": goal.receptacle if goal.in_light else "",
        },
        "scene": {"floor_plan": f"FloorPlan{scene}", "scene_num": scene},
    }
    return json.dumps(about)


def _check(seed: int, count: int, dialect: str, types: Sequence[str], split: str) -> None:
    if seed < 0:
        raise InputError(f"the seed must be 0 or more, not {seed}")
    if count < 1:
        raise InputError(f"the count must be 1 or more, not {count}")
    if count > MOST_GAMES:
        raise InputError(f"{excerpt(count, 40)} games at once are too many: {MOST_GAMES:,} at most")
    if dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}: choose one of {', '.join(DIALECTS)}")
    _check_types(types)
    if split.startswith("builtin") or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", split):
        raise InputError(
            f"{split!r} cannot name a split of generated games: use letters, digits, '_', '-'"
            " and '.'"
        )


def _check_types(types: Sequence[str]) -> None:
    choice = f"choose from {', '.join(TASK_TYPES)}"
    if not types:
        raise InputError(f"no task type given: {choice}")
    for kind in types:
        if kind not in TASK_TYPES:
            raise InputError(f"unknown task type {kind!r}: {choice}")


def make_games(
    seed: int,
    count: int,
    out: Path,
    *,
    dialect: ReleaseName = "0.3",
    types: Sequence[str] = TASK_TYPES,
    split: str = "train",
) -> Mapping[str, int]:
    """Write `count` games to the folder `out`, laid out as `alfworld-download` does, so that
    `--data` can name it.

    Returns the games' ids, each with its walkthrough's length. A game depends on the seed and its
    own number alone: the first games of a larger count are the same. `out` may be new, empty, or an
    earlier result, which is replaced; it appears complete or not at all. Raises `InputError` for
    anything else and where the folder cannot be written.
    """
    _check(seed, count, dialect, types, split)
    made = {"seed": seed, "count": count, "dialect": dialect, "types": list(types), "split": split}
    steps: dict[str, int] = {}
    with replaced_folder(out, "a folder of made games") as folder:
        for index in range(count):
            game = make_game(seed, index, dialect, types)
            _write_game(folder / GAMES_FOLDER / split / game.id, game)
            steps[game.id] = len(game.walkthrough)
        (folder / _MADE).write_text(json.dumps(made) + "\n", encoding="utf-8", newline="\n")
    return steps


def _write_game(place: Path, game: MadeGame) -> None:
    place.mkdir(parents=True)
    (place / GAME_FILE).write_text(json.dumps(game.data), encoding="utf-8", newline="\n")
    (place / _TRAJECTORY_FILE).write_text(_trajectory(game), encoding="utf-8", newline="\n")
