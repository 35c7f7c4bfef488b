"""Toolbox as a World: its knowledge in one place."""
# ruff: noqa: ARG002  methods take what some world needs, used here or not

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files

from rpms.core.belief import Belief, Situation
from rpms.core.consistency import Compat, same_occupancy
from rpms.core.decide import Decision
from rpms.core.errors import InputError
from rpms.core.facts import kind_of
from rpms.core.goal import UNKNOWN_GOAL, Goal, Progress
from rpms.core.menu import Suggestion
from rpms.core.recall import Retrieval
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Candidate
from rpms.core.voice import Voice
from rpms.worlds.base import Command, Game, Setting, Task, World
from toolbox_world.belief import ToolboxBelief, update
from toolbox_world.game import FAILED, ToolboxGame, tasks
from toolbox_world.planner import plan

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

_TICKET = re.compile(r"Your ticket: ((deliver|deploy) an? (?:(signed) )?([a-z]+) to (?:some|an?) ([a-z]+))\.")


class Toolbox:
    """The World of tickets, hosts and files."""

    name = "toolbox"
    splits: tuple[str, ...] = ("train", "test")
    engines: tuple[str, ...] = ("native",)
    step_budget = 30
    max_tokens = 128
    retrieval = Retrieval()
    compat: Compat = staticmethod(same_occupancy)
    voice = Voice(INSTRUCTION, EXAMPLE)

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"toolbox has no split {split!r}; choose one of {', '.join(self.splits)}")
        return tasks(split)

    def open(self, task: Task, setting: Setting) -> Game:
        return ToolboxGame(int(task.source["number"]))

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("toolbox/rules.yaml", files("toolbox_world").joinpath("rules.yaml").read_text(encoding="utf-8")),)

    def goal(self, opening: str) -> Goal:
        match = _TICKET.search(opening)
        if match is None:
            return Goal(UNKNOWN_GOAL, text=opening.rpartition("Your ticket: ")[2])
        return Goal(match[2], match[4], match[3] or "", match[5], match[1])

    def start(self, goal: Goal) -> Belief:
        return ToolboxBelief()

    def update(self, belief: Belief, action: str | None, observation: str) -> Belief:
        return update(_own(belief), action, observation)

    def progress(self, goal: Goal, belief: Belief) -> Progress:
        known, total = _own(belief), 4 if goal.state else 2
        if any(kind_of(file) == goal.object for file in known.holding):
            if goal.state and not known.signed.issuperset(known.holding):
                return Progress("sign_file", goal.object, 1, total)
            return Progress("push_file", goal.destination, total - 2 if goal.state else 1, total)
        for host, inside in known.files.items():
            if kind_of(host) == goal.destination and any(kind_of(file) == goal.object for file in inside):
                return Progress("start_host", host, total - 1, total)
        return Progress("find_file", goal.object, 0, total)

    def command(self, action: str, belief: Belief) -> Command:
        text = " ".join(action.split())
        forgiven = text.rstrip(".!").lower()
        return Command(forgiven, ("form",) if forgiven != text else ())

    def infeasible(self, observation: str) -> bool:
        return observation == FAILED

    def contradictions(self, belief: Belief, game: Game) -> tuple[str, ...]:
        assert isinstance(game, ToolboxGame)
        known = _own(belief)
        claims: dict[str, tuple[object, object]] = {
            "location": (known.location or game.at, game.at),
            "clipboard": (known.holding, () if game.clipboard is None else (game.clipboard,)),
            "signed": (known.signed - game.signed, frozenset()),
            **{f"{host} locked": (value, host in game.locked) for host, value in known.locked.items()},
            **{f"{host} running": (value, host in game.running) for host, value in known.running.items()},
            **{f"files on {host}": (set(inside), set(game.files[host])) for host, inside in known.files.items()},
        }
        return tuple(f"{name}: {claim}, in truth {truth}" for name, (claim, truth) in claims.items() if claim != truth)

    def planner(self, decision: Decision) -> tuple[str, str]:
        return plan(decision)

    def suggest(self, situation: Situation, rules: ActiveRules, memories: Sequence[Candidate]) -> Iterable[Suggestion]:
        """Everything one could write with the names that are known; what cannot be done is left out by the caller."""
        known = _own(situation.belief)
        yield from (Suggestion(f"connect to {host}", float(host not in known.files)) for host in known.hosts)
        here = known.location or ""
        yield from (Suggestion(f"{verb} {here}", 2.0) for verb in ("unlock", "stop", "start"))
        for file in known.files.get(here, ()):
            yield Suggestion(f"pull {file} from {here}", 3.0 if kind_of(file) == situation.goal.object else 0.0)
        for file in known.holding:
            yield Suggestion(f"sign {file} with {here}", 4.0)
            yield Suggestion(f"push {file} to {here}", 3.0 if kind_of(here) == situation.goal.destination else -1.0)


def _own(belief: Belief) -> ToolboxBelief:
    assert isinstance(belief, ToolboxBelief)
    return belief


world: World = Toolbox()
