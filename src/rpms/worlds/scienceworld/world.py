"""ScienceWorld as a World: its knowledge in one place, and an episode in the simulator that a
game starts.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from rpms.logic.belief import Belief, Situation, StateSignature
from rpms.logic.errors import InputError, WorldError
from rpms.logic.goal import Goal, Progress
from rpms.logic.rules import ActiveRules
from rpms.paper.memory import Entry, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import Part
from rpms.paper.recall import Retrieval, Similarity
from rpms.worlds.base import Game, Outcome, Setting, Task, World, read_wording
from rpms.worlds.jvm import JavaGame, Program, Simulator, missing
from rpms.worlds.scienceworld import observations as heard
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.commands import menu_options, only_reading, player_choice, repair
from rpms.worlds.scienceworld.faster import write_faster_classes
from rpms.worlds.scienceworld.observations import Thing, refused, substance_of
from rpms.worlds.scienceworld.scene import INSTRUMENTS, Scene
from rpms.worlds.scienceworld.tasks import (
    TABLE,
    canonical_simplifications,
    list_tasks,
    parse_goal,
    task_at,
)
from rpms.worlds.scienceworld.tree import INVENTORY, Phrase, alike, find, read_phrase
from rpms.worlds.scienceworld.update import update

_PICK = re.compile(r"(?:pick up|take|get) (?:the )?([a-z ]+?)(?: (?:in|on|from) .*)?")
_USE = re.compile(r"(?:use|activate|deactivate) (?:the )?([a-z ]+?)(?: (?:in|on) .*)?")
_HEADINGS = {Part(name): text for name, text in TABLE["headings"].items()}


def required_instruments(entry: Entry) -> tuple[str, ...]:
    """The instruments that a snippet uses and does not pick up itself, or that its precondition
    names.
    """
    if not isinstance(entry, SuccessSnippet):
        return ()
    needed: dict[str, None] = {}
    stated = entry.precondition.get("instrument")
    if isinstance(stated, str) and stated:
        needed[stated] = None
    picked: set[str] = set()
    for action in entry.actions:
        command = action[:200].casefold().strip()
        picked.add(_name_in(command, _PICK))
        used = _name_in(command, _USE)
        if used in INSTRUMENTS and used not in picked:
            needed[used] = None
    return tuple(needed)


def _name_in(command: str, form: re.Pattern[str]) -> str:
    """The thing that a command of a form names; empty for any other command."""
    match = form.fullmatch(command)
    return "" if match is None else match[1]


def compatible(situation: Situation, entry: Entry, _rules: ActiveRules) -> str:
    """Say why an entry does not suit the state, nothing if it does. Schemas carry no state and
    suit every one.

    An instrument must be known to be carried: an inventory never looked at holds none that was not
    seen picked up.
    """
    belief = situation.belief
    if isinstance(entry, VerifiedSchema) or not isinstance(belief, Scene):
        return ""
    return _lacks_instrument(belief, entry) or _was_elsewhere(belief, entry.state_signature)


def _lacks_instrument(belief: Scene, entry: Entry) -> str:
    """The instruments that an entry needs and that are not carried, in words; empty for none."""
    lacking: list[str] = []
    for name in required_instruments(entry):
        if not _is_carried(belief, name):
            lacking.append(name)
    if not lacking:
        return ""
    held = ", ".join(belief.instruments) or "none"
    return f"needs an instrument in the inventory ({', '.join(lacking)}), now carrying {held}"


def _was_elsewhere(belief: Scene, state: StateSignature) -> str:
    """The other room that a state was in, in words; empty if it was this one, or is unknown."""
    rooms = state.get("room")
    if rooms and belief.room is not None and belief.room not in rooms:
        return f"learned in the {rooms[0]}, now in the {belief.room}"
    return ""


def _is_carried(belief: Scene, name: str) -> bool:
    phrase = Phrase(read_phrase(name).head)
    return bool(find(belief.inventory, phrase, INVENTORY))


def objective(_goal: Goal, progress: Progress) -> tuple[str, ...]:
    """The goal block: the current sub-goal in words, `[Current Objective] find water`."""
    return (
        f"[Current Objective] {progress.sub_goal.replace('_', ' ')} {progress.target}".rstrip(),
    )


def state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block, with the progress pointer in its first line."""
    first, *more = belief.lines()
    return (f"  {first}  Progress: step {progress.done}", *(f"  {line}" for line in more))


def paper_state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block as Appendix D prints it: room, inventory and the progress pointer on one
    line.
    """
    room = belief.location or "unknown"
    carrying = ", ".join(belief.holding) or "nothing"
    return (f"  Room: {room}  Carrying: {carrying}  Progress: step {progress.done}",)


PROGRAM = Program(
    label="ScienceWorld",
    package="scienceworld",
    install="pip install 'rpms[scienceworld]'",
    interface="scienceworld.runtime.pythonapi.PythonInterface",
    options=(
        # Sets are ordered by identity hashes, which differ from run to run; where all are equal
        # they keep the order of insertion, and menus, lists and random draws are the same every
        # time. Sets of the simulator's objects, which are searched most, have better hashes (see
        # `faster`); without them a step takes more than twice as long.
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:hashCode=2",
        "-Xss8m",  # the simulator recurses over nested objects
    ),
    prepare=lambda jar, folder: write_faster_classes(jar, folder / "classes"),
)


class ScienceWorldGame(JavaGame):
    """One variation of one task.

    Ambiguity menus. Where the command names exactly one option the adapter answers the menu and the
    player sees the result alone; else the menu is the observation, and costs no time. The next
    command answers it by number (spaces and what follows a colon do not matter) or by an option's
    text. Any other command would be swallowed as a wrong answer: the menu is cancelled first, at
    the same cost of one iteration, and then the command is given.
    """

    program: ClassVar = PROGRAM

    def __init__(self, task_name: str, variation: int, simplifications: str = "") -> None:
        super().__init__(task_at(task_name, variation))
        self.variation = variation
        self.simplifications = canonical_simplifications(simplifications, task_name)
        self._pending: tuple[str, ...] = ()

    def _open(self, simulator: Simulator) -> Outcome:
        self._pending = ()
        self._load(simulator, gold=False)
        # Until the first step the server still answers with the score and the end of the game it
        # played before.
        return Outcome(f"{self._text('getTaskDescription')}\n\n{self.look()}")

    def _step(self, command: str) -> Outcome:
        """Do a command. Where the simulator asks which of several things is meant, and only one
        fits, it is answered at once; else the player chooses next.
        """
        if self._pending:
            choice = player_choice(self._pending, command)
            self._pending = ()
            if choice is not None:
                command = str(choice)
            else:
                cancelled = self._text("step", "")
                if not command.strip():
                    return self._outcome(cancelled)
        observation = self._text("step", command)
        options = menu_options(observation)
        reading = only_reading(options, command) if options else None
        if reading is not None:
            observation = self._text("step", str(reading))
        elif options:
            self._pending = options
        return self._outcome(observation)

    def admissible(self) -> tuple[str, ...]:
        """Every valid action, thousands in some rooms: asking takes 20 times as long as a step.

        For checks, never for prompts. What no name tells from another thing is listed under names
        drawn by chance, out of the numbers that the game itself draws from: one that was asked may
        go on otherwise, where bees fly.
        """
        answer = json.loads(self._text("getValidActionObjectCombinationsJSON"))
        return tuple(sorted({str(entry["action"]) for entry in answer["validActions"]}))

    def look(self) -> str:
        """Answer to `look around` now, at no cost in time: for checks, never for prompts."""
        return self._text("freeActionLook")

    def inventory(self) -> str:
        """Answer to `inventory` now, at no cost in time: for checks, never for prompts."""
        return self._text("freeActionInventory")

    def _load(self, simulator: Simulator, *, gold: bool) -> None:
        self._told_to_load(simulator, self.task.type, self.variation, self.simplifications, gold)

    def _outcome(self, observation: str) -> Outcome:
        """Add the score and the end.

        The server never ends an episode at -100, from which nothing recovers.
        """
        simulator = self._live()
        score = round(100 * float(simulator.call("getScore") or 0.0))
        completed = bool(simulator.call("getCompleted"))
        return Outcome(
            observation,
            score=float(score),
            won=completed and score >= 100,
            done=completed or score < 0,
        )


class ScienceWorld(World):
    """The World of ScienceWorld's thirty tasks."""

    name = "scienceworld"
    splits: tuple[str, ...] = ("dev", "train", "test")
    options: tuple[str, ...] = ("simplifications", "tasks", "per_task")
    """`simplifications`: none by default. `tasks`: names with commas between, the paper's 26 by
    default. `per_task`: how many variations of each, from the first."""
    not_understood = "No known action matches that input."
    step_budget = 100
    max_tokens = 512
    retrieval = Retrieval(similarity=Similarity(type=0.5, object=0.3, state=0.2, destination=0.0))
    """The signature's object is the task, its state the substance or thing; its destination, a box
    of some colour, says nothing of how alike two tasks are."""
    wording = read_wording(
        __package__,
        headings=_HEADINGS,
        goal=objective,
        belief=state,
        brief=paper_state,
        assumed=frozenset({"here"}),
    )
    manual_names = ("environment.yaml", "domain.yaml", "procedures.yaml", "answers.yaml")
    paper_names = ("environment.yaml", "domain_paper.yaml")
    """Files with the rules of Appendices D and E, and no more."""
    procedure_names = ("procedures.yaml",)

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        options = self.chosen(setting)
        names = [name.strip() for name in options.get("tasks", "").split(",") if name.strip()]
        number = options.get("per_task")
        if number is not None and not number.isdecimal():
            raise InputError(f"per_task={number}: write a number")
        return list_tasks(
            split,
            int(number) if number else None,
            names or None,
            options.get("simplifications", ""),
        )

    def edition(self, _tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:
        """The simplifications in their canonical form, none included: results under others
        cannot be compared.
        """
        chosen = self.chosen(setting).get("simplifications", "")
        return {"simplifications": canonical_simplifications(chosen) or "none"}

    def not_installed(self) -> str:
        return missing(PROGRAM)

    def open(self, task: Task, setting: Setting) -> Game:
        options = self.chosen(setting)
        return ScienceWorldGame(
            task.source["task"], int(task.source["variation"]), options.get("simplifications", "")
        )

    variation = staticmethod(task_at)
    goal = staticmethod(parse_goal)
    start = staticmethod(ScienceBelief)
    update = staticmethod(update)
    compat = staticmethod(compatible)
    command = staticmethod(repair)
    infeasible = staticmethod(refused)

    def contradictions(self, belief: ScienceBelief, game: Game) -> tuple[str, ...]:
        """Compare room and inventory with the simulator's free listings; other and dead games
        give nothing.
        """
        if not isinstance(game, ScienceWorldGame):
            return ()
        try:
            sight = heard.room_sight(game.look())
            carried = heard.carried(game.inventory()) or ()
        except WorldError:
            return ()
        found = []
        if sight is not None and belief.room is not None and sight.room != belief.room:
            found.append(f"the room is {sight.room}, not {belief.room}")
        return (*found, *_carried_otherwise(belief, carried))


def _carried_otherwise(belief: ScienceBelief, carried: Sequence[Thing]) -> list[str]:
    """Differences between the belief's inventory and what is carried."""
    found = []
    left = [thing for thing in carried if not thing.restless]
    for thing in belief.inventory:
        same = [other for other in left if _may_be_one(thing, other)]
        if same:
            left.remove(same[0])
        else:
            found.append(f"{thing.name} is not carried")
    if belief.inventory_known:
        found += [f"{thing.name} is carried" for thing in left]
    return found


def _may_be_one(thing: Thing, other: Thing) -> bool:
    """True if two names are of one thing, whatever state or age it has come to since."""
    return alike(substance_of(thing.name), substance_of(other.name))


world: World = ScienceWorld()
