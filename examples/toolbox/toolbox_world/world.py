"""Toolbox as a World: its knowledge in one place."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rpms.logic.belief import Belief
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Setting, Task, World
from toolbox_world.belief import ToolboxBelief, update
from toolbox_world.game import FAILED, ToolboxGame, tasks

INSTRUCTION = """\
You work off a ticket about files on the hosts of a network. At each turn you are given what the last command printed \
and answer with a short thought and one command, in this form:
Thought: your reasoning
Action: your next command
The commands are: connect to {host}, unlock {host}, pull {file} from {host}, push {file} to {host}, \
sign {file} with {host}, stop {host}, start {host}, list, clipboard. A command that cannot be done prints \
"Command failed."."""

EXAMPLE = """\
Here is an example.
You are connected to desk 1. Files: none. Hosts: archive 1, depot 1, desk 1.
Your ticket: deliver a photo to some archive.
Thought: Photos may be on depot 1.
Action: connect to depot 1
Obs: You are connected to depot 1. It is locked.
Action: unlock depot 1
Obs: You are connected to depot 1. Files: photo 3.
Action: pull photo 3 from depot 1
Obs: You pull photo 3 from depot 1.
Action: connect to archive 1
Obs: You are connected to archive 1. Files: none.
Action: push photo 3 to archive 1
Obs: You push photo 3 to archive 1.
The example ends here. Now the ticket to work off:"""

_TICKET = re.compile(
    r"Your ticket: ((deliver|deploy) an? (?:(signed) )?([a-z]+) to (?:some|an?) ([a-z]+))\."
)


class Toolbox(World):
    """The World of tickets, hosts and files."""

    name = "toolbox"
    splits: tuple[str, ...] = ("train", "test")
    step_budget = 30
    max_tokens = 128
    wording = Wording(INSTRUCTION, EXAMPLE)

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(
                f"toolbox has no split {split!r}; choose one of {', '.join(self.splits)}"
            )
        return tasks(split)

    def open(self, task: Task, _setting: Setting) -> Game:
        return ToolboxGame(int(task.source["number"]))

    def goal(self, opening: str) -> Goal:
        match = _TICKET.search(opening)
        if match is None:
            return Goal(UNKNOWN_GOAL, text=opening.rpartition("Your ticket: ")[2])
        return Goal(match[2], match[4], match[3] or "", match[5], match[1])

    def start(self, _goal: Goal) -> Belief:
        return ToolboxBelief()

    def update(self, belief: ToolboxBelief, action: str | None, observation: str) -> Belief:
        return update(belief, action, observation)

    def infeasible(self, observation: str) -> bool:
        return observation == FAILED

    def contradictions(self, belief: ToolboxBelief, game: ToolboxGame) -> tuple[str, ...]:
        claims: dict[str, tuple[object, object]] = {
            "location": (belief.location or game.at, game.at),
            "clipboard": (belief.holding, () if game.clipboard is None else (game.clipboard,)),
            "signed": (belief.signed - game.signed, frozenset()),
            **{
                f"{host} locked": (value, host in game.locked)
                for host, value in belief.locked.items()
            },
            **{
                f"{host} running": (value, host in game.running)
                for host, value in belief.running.items()
            },
            **{
                f"files on {host}": (set(inside), set(game.files[host]))
                for host, inside in belief.files.items()
            },
        }
        return tuple(
            f"{name}: {claim}, in truth {truth}"
            for name, (claim, truth) in claims.items()
            if claim != truth
        )


world = Toolbox()
