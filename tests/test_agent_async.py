"""`Agent` in asyncio: the same decisions, and nobody waits for another's model."""

from __future__ import annotations

import asyncio
import threading

import pytest

import rpms
from rpms.logic.errors import InputError, ModelError
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, follow_plan
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
TASKS = WORLD.tasks("builtin", Setting())


def agent(answer=None) -> rpms.Agent:
    plain = FunctionModel(
        answer or (lambda request: Answer(f"Action: {follow_plan(request.decision)[1]}")), "walker"
    )
    return rpms.Agent("alfworld", plain, memory="none")


async def play(player: rpms.Agent, number: int) -> list[str]:
    game = WORLD.open(TASKS[number], Setting())
    outcome = game.reset()
    player.reset(outcome.observation)
    commands: list[str] = []
    while not outcome.done and len(commands) < 50:
        commands.append(await player.act_async(outcome.observation))
        outcome = game.step(commands[-1])
    game.close()
    assert outcome.won
    return commands


def test_it_decides_as_without_async():
    async def both() -> tuple[list[str], list[str]]:
        async with agent() as one, agent() as two:
            return tuple(await asyncio.gather(play(one, 0), play(two, 3)))

    first, second = asyncio.run(both())
    for number, commands in ((0, first), (3, second)):
        with agent() as plain:
            game = WORLD.open(TASKS[number], Setting())
            outcome = game.reset()
            plain.reset(outcome.observation)
            for command in commands:
                assert plain.act(outcome.observation) == command
                outcome = game.step(command)


def test_agents_wait_for_their_models_at_the_same_time():
    together = threading.Barrier(
        3, timeout=20
    )  # broken, and an error, where they ask one after the other

    def answer(request) -> Answer:
        together.wait()
        return Answer("Action: look")

    async def all_at_once() -> list[str]:
        agents = [agent(answer) for _ in range(3)]
        for each in agents:
            each.reset("put some book on desk.")
        try:
            return await asyncio.gather(*(each.act_async("You are in a room.") for each in agents))
        finally:
            for each in agents:
                each.close()

    assert asyncio.run(all_at_once()) == ["look"] * 3


def test_a_cancelled_or_failed_call_changes_nothing():
    go, fail = threading.Event(), [True]

    def answer(request) -> Answer:
        go.wait(20)
        if fail[0]:
            raise ModelError("not today")
        return Answer("Action: look")

    async def scene() -> None:
        async with agent(answer) as one:
            one.reset("put some book on desk.")
            waiting = asyncio.create_task(one.act_async("You are in a room."))
            await asyncio.sleep(0.05)
            with pytest.raises(InputError, match="still deciding"):
                await one.act_async("You are in a room.")
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            go.set()
            await asyncio.to_thread(
                one._thread.submit(lambda: None).result, 20
            )  # its only thread has let go
            with pytest.raises(InputError, match="nothing has been decided"):
                _ = one.decision
            with pytest.raises(ModelError, match="not today"):
                await one.act_async("You are in a room.")
            fail[0] = False
            assert await one.act_async("You are in a room.") == "look"
            assert one.usage.requests == 0

    asyncio.run(scene())
