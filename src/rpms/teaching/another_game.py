"""Blocks of another game in place of the right ones: a control that shows whether a model reads
what it is told.

Two prompt parts, in both of which instruction, example, history and observation stay:

- `--prompt rpms.teaching.another_game:in_alfworld`: belief, goal with its sub-goal, rules and
  memory become those of an embedded game with another kind of goal, at the same step
- `--prompt rpms.teaching.another_game:lore_in_alfworld`: rules and memory alone become those,
  beside the game's own state and sub-goal

They are worded and arranged as in the paper: only their content is wrong.
"""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from random import Random

from rpms.models.catalogue import open_model
from rpms.paper.prompt import SHARED, Block, Form, Layout, Message, Part, Prompt
from rpms.play.design import NamedModel
from rpms.play.seats import Seat, play
from rpms.play.settings import ALLOW, Settings
from rpms.teaching.classroom import TEACHER, Classroom
from rpms.teaching.teacher import follow, player_of
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

_SPLIT = "builtin"
"""Games that are embedded in the package, and so at hand wherever it runs."""
_INJECTED = frozenset(Part) - SHARED - {Part.CARRIED, Part.NOTICE, Part.MENU}
"""All that a condition adds to the baseline's prompt."""
_LORE = _INJECTED - {Part.GOAL, Part.BELIEF}
"""Rules and memory."""

Blocks = dict[Part, Block]
"""The blocks of one prompt."""


def in_alfworld(blocks: Sequence[Block]) -> tuple[Message, ...]:
    """The messages of a prompt, with what another game of ALFWorld would be told at this step."""
    return _with_another_games(blocks, _INJECTED)


def lore_in_alfworld(blocks: Sequence[Block]) -> tuple[Message, ...]:
    """The messages of a prompt, with its own state and sub-goal, and with the rules and memories
    that another game of ALFWorld would be told at this step.
    """
    return _with_another_games(blocks, _LORE)


def _with_another_games(blocks: Sequence[Block], replaced: frozenset[Part]) -> tuple[Message, ...]:
    """The messages of a prompt, with some parts of another game's in place of its own."""
    by_part = {block.part: block for block in blocks}
    history = by_part.get(Part.HISTORY)
    step = len(history.items) if history else 0
    opening = history.opening_alone() if history else by_part[Part.OBSERVATION]
    prompts = _other_game("alfworld", opening.items[0])
    swapped: list[Block] = []
    for block in blocks:
        if block.part in replaced:
            other = _nearest(prompts, step, block.part)
            if other is not None:
                swapped.append(other)
        else:
            swapped.append(block)
    return Prompt(tuple(swapped), layout=Layout.PAPER, form=Form.CHAT).messages()


def _nearest(prompts: Sequence[Blocks], step: int, part: Part) -> Block | None:
    """The block of a game's prompt at a step, or else at the nearest step that has one."""
    having = [number for number, blocks in enumerate(prompts) if part in blocks]
    if not having:
        return None
    nearest = min(having, key=lambda number: abs(number - step))
    return prompts[nearest][part]


def _other_game(world: str, opening: str) -> tuple[Blocks, ...]:
    """The prompts of a game with another kind of goal; the opening decides which game."""
    own = find_world(world).goal(opening).type
    others = [number for number, goal in enumerate(_goal_types(world)) if goal != own]
    digest = hashlib.sha256(opening.encode()).digest()
    Random(int.from_bytes(digest[:8], "big")).shuffle(others)  # noqa: S311  a fixed choice
    for number in others:
        prompts = _prompts_in(world, number)
        if any(Part.MEMORY in blocks for blocks in prompts):
            return prompts
    raise AssertionError(f"no embedded game of {world} recalls anything")


@cache
def _games(name: str) -> Classroom:
    """The embedded games, told as in the paper."""
    world = find_world(name)
    settings = Settings(split=_SPLIT, overlap=ALLOW)
    tasks, setting = settings.tasks(world, Setting())
    return Classroom(world, tuple(tasks), setting, settings)


@cache
def _goal_types(name: str) -> tuple[str, ...]:
    """The kind of goal of each game."""
    room = _games(name)
    found: list[str] = []
    for task in room.tasks:
        with closing(room.world.open(task, room.setting)) as game:
            found.append(room.world.goal(game.reset().observation).type)
    return tuple(found)


@cache
def _prompts_in(name: str, number: int) -> tuple[Blocks, ...]:
    """The prompts of a game, with rules and memory, while the teacher plays it."""
    room = _games(name)
    task = room.tasks[number]
    seat = Seat(room.teacher(), open_model(TEACHER))
    with closing(room.world.open(task, room.setting)) as game:
        episode = play(seat.begin(task, game))
    reader = player_of(room.student("full", TEACHER, NamedModel(TEACHER)))
    prompts: list[Blocks] = []
    for move in follow(reader, episode):
        prompts.append({block.part: block for block in move.decision.prompt.blocks})
    return tuple(prompts)
