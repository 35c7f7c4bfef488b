"""ALFWorld as a World: its knowledge in one place, its simulators a lazy import away."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from rpms.core.belief import Belief
from rpms.core.errors import FileError, InputError
from rpms.core.goal import Goal, Progress
from rpms.core.recall import Retrieval, Similarity
from rpms.foreign.file_reader import read_bytes
from rpms.foreign.limits import LARGEST_GAME
from rpms.worlds.alfworld.affordances import category
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.commands import called, forgive
from rpms.worlds.alfworld.game import NativeGame, TextWorldGame, contradictions
from rpms.worlds.alfworld.games import listing
from rpms.worlds.alfworld.goals import make_goal, parse_goal
from rpms.worlds.alfworld.update import NOTHING_HAPPENS, TASK, update
from rpms.worlds.base import REQUEST, Command, Game, Setting, Task, World, read_wording

_DATA = "ALFWORLD_DATA"


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what stands open."""
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


_ALL_ACTIONS = read_wording(__package__, brief=paper_lines)
PRINTED = re.sub(r"^1[0-3]\. .*\n", "", _ALL_ACTIONS.instruction, flags=re.MULTILINE)
"""The instruction with the nine actions that the paper prints; its `toggle`, which the engine rejects, is `use`."""


class Alfworld(World):
    """The World of ALFWorld's household games."""

    name = "alfworld"
    splits: tuple[str, ...] = (*listing.MADE_SPLITS, "valid_seen", "valid_unseen", "train", "valid_train")
    engines: tuple[str, ...] = ("native", "textworld")
    options: tuple[str, ...] = ("dialect", "goals")
    """`dialect`: 0.3 (put … in/on) or 0.4 (move … to); by default each game's own. `goals`: `human` makes a task of
    each sentence in which people put a goal; by default the games' own sentences, `template`."""
    step_budget = 50
    max_tokens = 256
    retrieval = Retrieval(similarity=Similarity(category=category))
    wording = replace(_ALL_ACTIONS, printed=PRINTED)
    manual_names = ("environment.yaml", "domain.yaml")
    paper_names = ("environment.yaml", "domain_paper.yaml")
    """Its families, and no more of them than Appendices D and E tell."""

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"ALFWorld has no split {split!r}; choose one of {', '.join(self.splits)}")
        self._dialect(setting)
        goals = self.chosen(setting).get("goals", "template")
        if goals not in ("template", "human"):
            raise InputError(f"ALFWorld has no goals={goals!r}; choose template or human")
        made = split in listing.MADE_SPLITS
        tasks = listing.builtin_tasks(split) if made else listing.list_tasks(_data_folder(setting), split)
        return listing.requested(tasks, split) if goals == "human" else tasks

    def edition(self, tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:
        """The dialect and a hash of the game files: the official releases share their games' names."""
        digest = hashlib.sha256()
        chosen, dialects = self._dialect(setting), set()
        for task in tasks:
            text = json.dumps(listing.task_data(task)) if "builtin" in task.source else _read(task)
            digest.update(text.encode())
            digest.update(task.source.get(REQUEST, "").encode())
            dialects.add(chosen or ("0.4" if "move {o} to {r}" in text else "0.3"))
        return {"dialect": " and ".join(sorted(dialects)), "games": digest.hexdigest()}

    def open(self, task: Task, setting: Setting) -> Game:
        if setting.engine not in self.engines:
            raise InputError(f"ALFWorld has no engine {setting.engine!r}; choose one of {', '.join(self.engines)}")
        if setting.engine == "native":
            return NativeGame(listing.load_task(task, self._dialect(setting)))
        if "builtin" not in task.source and not self._dialect(setting):
            return TextWorldGame(task.source["path"])
        with TemporaryDirectory() as folder:
            file = Path(folder, "game.tw-pddl")
            file.write_text(json.dumps(listing.task_data(task, self._dialect(setting))), encoding="utf-8")
            return TextWorldGame(file)

    def _dialect(self, setting: Setting) -> str:
        """The dialect that a setting asks for; nothing where each game keeps its own."""
        return listing.known_dialect(self.chosen(setting).get("dialect", "")) or ""

    def embedded_memory(self) -> str:
        """Memory that the planner learned: `rpms learn alfworld --split builtin_train --rounds 1 --harvest clean`."""
        return str(files("rpms.worlds.alfworld").joinpath("builtin", "memory.jsonl"))

    goal = staticmethod(parse_goal)
    called = staticmethod(called)
    start = staticmethod(AlfworldBelief)
    update = staticmethod(update)
    command = staticmethod(forgive)
    contradictions = staticmethod(contradictions)

    def stating(self, opening: str, request: str) -> str:
        before, found, _ = opening.partition(TASK)
        return f"{before}{TASK}{request}" if found else super().stating(opening, request)

    def goal_of(self, type_: str, named: Mapping[str, str], text: str) -> Goal:
        return make_goal(type_, named.get("object", ""), named.get("destination", ""), text)

    def form(self, action: str, belief: AlfworldBelief) -> Command:
        """Form alone: nothing is added from what was seen, held or known to be near. The dialect is the game's own."""
        return forgive(action, AlfworldBelief(belief.goal, dialect=belief.dialect))

    def infeasible(self, observation: str) -> bool:
        return observation.strip() == NOTHING_HAPPENS


def _read(task: Task) -> str:
    """A game file as it is; one that cannot be read is told of when it is played."""
    try:
        return read_bytes(task.source["path"], LARGEST_GAME).decode("utf-8", "replace")
    except FileError:
        return ""


def _data_folder(setting: Setting) -> Path:
    data = setting.data or os.environ.get(_DATA)
    if not data:
        raise InputError(
            f"the environment variable {_DATA} is not set: set it to the folder of ALFWorld's games (`pip install "
            "alfworld` and `alfworld-download` fetch them), or give --data. The embedded games need neither: "
            "--split builtin"
        )
    return Path(data)


world = Alfworld()
