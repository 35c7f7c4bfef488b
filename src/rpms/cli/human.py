"""A person at the terminal as the model of `rpms play --model human`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from rich.columns import Columns
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from rpms.foreign.shown import one_line
from rpms.logic.belief import Situation
from rpms.logic.errors import ModelError
from rpms.models.base import Answer, Request
from rpms.paper.arbitration import infeasibility
from rpms.paper.decide import Decision
from rpms.paper.prompt import Part
from rpms.planning.reason import reasoner_of
from rpms.worlds.base import World

HINT = (
    "Type a command; ? lists those that nothing known speaks against, then the uncertain ones "
    "(? take: of these), Tab completes, Ctrl-D leaves."
)
UNCERTAIN = "Uncertain, since something they need is not known:"
_TRIED = 20_000
"""Commands that are judged at most."""
_LISTED = 200
"""Possible commands that are offered at most."""


class Left(Exception):
    """The person has left the game."""


class PossibleCommands(NamedTuple):
    """Commands that are not known to fail."""

    likely: list[str]
    """Those that nothing known speaks against."""
    uncertain: list[str]
    """Those that need something unknown, such as an apple in a place not searched yet."""


def possible_commands(decision: Decision, world: World) -> PossibleCommands:
    """Commands that the manual does not know to fail, as the world writes them; the simulator is
    not asked.
    """
    situation = Situation(decision.belief, decision.goal)
    likely: dict[str, None] = {}
    uncertain: dict[str, None] = {}
    for command in islice(reasoner_of(decision.schemas).commands(situation), _TRIED):
        objection = infeasibility(command, decision.schemas, situation)
        if objection is not None and objection.conflict:
            continue
        written = one_line(world.command(command, decision.belief).text)
        if objection is None:
            likely[written] = None
        else:
            uncertain[written] = None
    first = list(likely)[:_LISTED]
    others = [each for each in uncertain if each not in likely]
    return PossibleCommands(first, others[: _LISTED - len(first)])


class HumanModel:
    """Shows the observation with the belief beside it, and asks for a command."""

    name = "human"

    def __init__(self, console: Console, world: World) -> None:
        self._console = console
        self._world = world
        self._last: Decision | None = None
        self.observation: Callable[[], str] = lambda: ""
        """The world's last text; the player's loop sets it."""

    def answer(self, request: Request) -> Answer:
        decision = request.decision
        if decision is None:
            raise ModelError("a person is shown the step's decision, and the request carries none")
        notices = [block.text for block in request.prompt.blocks if block.part is Part.NOTICE]
        self._show(decision, notices)
        self._last = decision
        # worked out when it is first asked for
        possible = cache(lambda: possible_commands(decision, self._world))
        _complete_with(possible)
        while True:
            words = self._read()
            if words.startswith("?"):
                self._list_commands(possible(), words.lstrip("? "))
            elif words:
                return Answer(f"Action: {words}")

    def _list_commands(self, possible: PossibleCommands, part: str) -> None:
        """List the commands that have some letters in them, those that may fail apart."""
        likely = _commands_with(part, possible.likely)
        uncertain = _commands_with(part, possible.uncertain)
        if likely or not uncertain:
            self._console.print(Columns(likely, padding=(0, 3)) if likely else "(none)")
        if uncertain:
            self._console.print(Text(UNCERTAIN, style="dim"))
            self._console.print(Columns(uncertain, padding=(0, 3)))

    def ask_goal(self, request: str, goals: Sequence[str]) -> str:
        """Ask what a request means that could not be read."""
        self._console.print(
            Text(f"No goal here fits `{one_line(request)}`. The goals: {', '.join(goals)}.")
        )
        self._console.print(
            Text(
                "Type one with its object and destination, or the goal in other words.", style="dim"
            )
        )
        return self._read()

    def _show(self, decision: Decision, notices: list[str]) -> None:
        if self._last is None:
            self._console.print(Text(HINT, style="dim"))
        if decision is not self._last:  # else it is asked again, by the guard
            self._console.print()
            self._console.print(self._text_beside_belief(decision))
            notices = [*map(str.strip, decision.menu.lines()), *notices]
        for line in notices:
            self._console.print(Text(line, style="yellow"))

    def _text_beside_belief(self, decision: Decision) -> Table:
        """The world's text on the left; belief and sub-goal on the right."""
        progress = decision.progress
        sub_goal = f"sub-goal: {progress.text.replace('_', ' ')} ({progress.percent}%)"
        belief = [Text(line, style="blue") for line in (*decision.belief.lines(), sub_goal)]
        beside = Table.grid(padding=(0, 3), expand=True)
        beside.add_column(ratio=3)
        beside.add_column(ratio=2)
        beside.add_row(Text(self.observation().strip("\n").expandtabs(4)), Group(*belief))
        return beside

    def _read(self) -> str:
        try:
            return input("> ").strip()
        except EOFError:
            raise Left from None

    def close(self) -> None:
        """Nothing is held."""


def _commands_with(part: str, commands: Iterable[str]) -> list[Text]:
    wanted = part.casefold()
    return [Text(command) for command in commands if wanted in command.casefold()]


def _complete_with(possible: Callable[[], PossibleCommands]) -> None:
    """Let the Tab key complete commands, on a terminal whose Python has readline."""
    if not sys.stdin.isatty():
        return
    try:
        import readline  # noqa: PLC0415  not everywhere
    except ImportError:
        return

    def complete(text: str, place: int) -> str | None:
        likely, uncertain = possible()
        fitting = [command for command in likely + uncertain if command.startswith(text)]
        return fitting[place] if place < len(fitting) else None

    readline.set_completer(complete)
    readline.set_completer_delims("\n")
    readline.parse_and_bind(
        "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
    )
