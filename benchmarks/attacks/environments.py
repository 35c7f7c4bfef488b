"""Hostile requests to environments: what a client of the OpenEnv server may send, and any
trainer's code may pass.
"""

from __future__ import annotations

import json
import warnings
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from attacks.mutate import NASTY_TEXTS, NASTY_VALUES, as_json, changed_bytes, changed_tree
from rpms.envs.alfworld import AlfredTWEnv
from rpms.envs.env_episodes import Episodes
from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.make import make_games
from rpms.worlds.registry import find_world

try:
    from fastapi.testclient import TestClient
    from gymnasium.error import Error as GymnasiumError
    from pydantic import ValidationError
    from starlette.websockets import WebSocketDisconnect

    from rpms.envs.gym import WorldEnv, WorldVectorEnv
    from rpms.envs.openenv import Command, Served, WorldsEnvironment, make_app
except ImportError:  # the extras are not installed: what is below them is attacked all the same
    WorldsEnvironment = None  # type: ignore[assignment, misc]

WORLD = find_world("alfworld")
VALUES = (*NASTY_VALUES, 10**5_000, "x" * 900_000)
ARGUMENTS = ("seed", "episode_id", "world", "split", "task", "max_steps", "admissible", "options")
SESSIONS = 3
HOSTS = (
    "localhost",
    "127.0.0.1:8000",
    "[::1]:80",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1@evil",
    "evil.com@localhost",
    "[::1].evil.com",
    "localhost:80@evil.com",
    "",
    "x\xff",
)
ORIGINS = (
    None,
    "http://localhost:3000",
    "http://127.0.0.1",
    "null",
    "https://evil.example",
    "http://[::1].evil.com",
    "http://evil.com@localhost",
    "http://localhost.evil.com",
    "file://",
    "//",
    "\xff",
)
TYPES = (
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "",
    "multipart/form-data",
    "application/x",
)
CREATE = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
HTTP: tuple[tuple[str, Any], ...] = (
    ("/mcp", CREATE),
    ("/mcp", {**CREATE, "method": "openenv/session/close", "params": {"session_id": "x"}}),
    (
        "/mcp",
        {
            **CREATE,
            "method": "tools/call",
            "params": {"session_id": "x", "name": "step", "arguments": {}},
        },
    ),
    ("/reset", {"seed": 1, "episode_id": "e", "world": "alfworld", "options": {"dialect": "0.4"}}),
    ("/step", {"action": {"command": "look"}, "timeout_s": 1.5, "request_id": "r"}),
)
SOCKET: tuple[Any, ...] = (
    {"type": "reset", "data": {"seed": 1, "world": "alfworld", "task": 0}},
    {"type": "step", "data": {"command": "look"}},
    {"type": "state"},
    {"type": "mcp", "data": CREATE},
)
LONGEST = 20_000
"""Bytes of an answer to what is wrong: twice the longest text that a client may send."""


def environment_requests(dice: Random, _folder: object, _samples: object) -> None:
    """A reset with anything in its arguments, and commands after it."""
    asked: dict[str, Any] = {
        name: dice.choice(VALUES) for name in ARGUMENTS if dice.random() < 0.12
    }
    if dice.random() < 0.3:
        asked["options"] = {dice.choice(("dialect", *NASTY_TEXTS)): dice.choice(VALUES)}
    commands = [dice.choice(NASTY_TEXTS) for _ in range(3)]
    if WorldsEnvironment is None:
        with closing(
            Episodes(WORLD, asked.get("split"), options={}, max_steps=asked.get("max_steps"))
        ) as episodes:
            episodes.start(episodes.choose(asked.get("task")))
            for command in commands:
                episodes.step(command)
        return
    environment = WorldsEnvironment(Served((WORLD,)))
    try:
        environment.reset(**asked).model_dump_json()
        for command in commands:
            environment.step(Command(command=command)).model_dump_json()
        environment.state.model_dump_json()
    except ValidationError as error:  # as OpenEnv's own server answers it
        raise InputError("not a command") from error
    finally:
        environment.close()


@cache
def _client() -> Any:
    """A server in this process; what it raises is raised here."""
    return TestClient(make_app(Served((WORLD,)), SESSIONS, idle_s=0.5), base_url="http://localhost")


def openenv_messages(dice: Random, _folder: object, _samples: object) -> None:
    """Messages over HTTP and web sockets, from any host and page, of any content type; floods
    of sessions.
    """
    if WorldsEnvironment is None:
        return
    host, origin, kind = (
        dice.choice(each) if dice.random() < 0.3 else each[0] for each in (HOSTS, ORIGINS, TYPES)
    )
    headers = {"host": host, "content-type": kind} | (
        {"origin": origin} if origin is not None else {}
    )
    sent = [(name, str(value).encode("latin-1")) for name, value in headers.items()]
    foreign = host not in HOSTS[:3] or origin not in ORIGINS[:3]
    if dice.random() < 0.05:
        # the client of web sockets takes the last of two, and so does the server, if it must
        sent.append(("origin", b"https://evil.example"))
        foreign = True
    if dice.random() < 0.2:
        _socket(dice, dict(sent), foreign)
        return
    path, sound = dice.choice(HTTP)
    body = _hostile(sound, dice) if dice.random() < 0.9 else as_json(sound)
    answers = [
        _client().post(path, content=body, headers=sent)
        for _ in range(SESSIONS + 2 if sound is CREATE else 1)
    ]
    for answer in answers:
        if answer.status_code >= 500 or len(answer.content) > LONGEST:
            raise AssertionError(
                f"{answer.status_code}, {len(answer.content)} bytes for {body[:200]!r}"
            )
        if (foreign or kind not in TYPES[:2]) and answer.status_code < 400:
            raise AssertionError(f"{sent} was answered")
        if "errors.pydantic.dev" in answer.text:
            raise AssertionError(f"a library's words for {body[:200]!r}")
    if answers[0].status_code >= 400:
        raise InputError("refused")


def _socket(dice: Random, headers: dict[str, bytes], foreign: bool) -> None:
    try:
        with _client().websocket_connect(dice.choice(("/ws", "/mcp")), headers=headers) as socket:
            if foreign:
                raise AssertionError(f"{headers} was let in")
            for sound in dice.sample(SOCKET, 3):
                body = _hostile(sound, dice)
                closes = b"close" in body
                socket.send_text(body.decode("utf-8", "replace"))
                if len(answer := socket.receive_text()) > LONGEST or ("object has no" in answer):
                    raise AssertionError(f"{answer[:200]} for {body[:200]!r}")
                if closes:
                    return
    except WebSocketDisconnect:
        raise InputError("refused") from None


def _hostile(sound: Any, dice: Random) -> bytes:
    changed = changed_tree(sound, dice)
    if dice.random() < 0.2:
        changed = {**sound, dice.choice(list(sound)): dice.choice((*VALUES[:-2], VALUES[-1]))}
    return changed_bytes(as_json(sound), dice) if dice.random() < 0.3 else as_json(changed)


@cache
def _games(folder: Path) -> dict[str, Any]:
    make_games(7, 3, folder, dialect="0.3", split="train")
    training = {"training": {"max_nb_steps_per_episode": 6}}
    return {
        "env": {
            "goal_desc_human_anns_prob": 0.0,
            "task_types": [1, 2, 3, 4, 5, 6],
            "domain_randomization": False,
        },
        "dataset": {"data_path": str(folder / "json_2.1.1" / "train"), "num_train_games": -1},
        "general": {"training_method": "dqn"},
        "rl": training,
        "dagger": training,
    }


def trainers_arguments(dice: Random, _folder: object, samples: Any) -> None:
    """`AlfredTWEnv`, Gymnasium's environments and vectors with anything in their arguments: a
    step is all or none.
    """
    small = [
        each for each in NASTY_VALUES if not isinstance(each, int) or abs(each) < 2**31
    ]  # a batch takes memory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if dice.random() < 0.5:
            _train(
                AlfredTWEnv(changed_tree(_games(samples.run.parent / "games"), dice)), dice, small
            )
        elif WorldsEnvironment is not None:
            _gymnasium(dice, small)


def _train(made: Any, dice: Random, small: list[Any]) -> None:
    env = made.init_env(dice.choice(small) if dice.random() < 0.3 else 2)
    env.seed(dice.choice(NASTY_VALUES) if dice.random() < 0.3 else 1)
    env.reset()
    before = [slot.steps for slot in env._slots]  # noqa: SLF001
    try:
        env.step(
            dice.choice(
                ([dice.choice(small) for _ in range(len(before))], dice.choice(NASTY_VALUES))
            )
        )
    except InputError:
        _none_moved(before, [slot.steps for slot in env._slots])  # noqa: SLF001
        raise


def _gymnasium(dice: Random, small: list[Any]) -> None:
    names = ("split", "engine", "options", "max_steps", "admissible", "data")
    asked = {name: dice.choice(small) for name in names if dice.random() < 0.1}
    begun = {name: dice.choice(NASTY_VALUES) for name in ("seed", "options") if dice.random() < 0.2}
    if dice.random() < 0.2:
        begun["options"] = {dice.choice(("task", "goal", *NASTY_TEXTS)): dice.choice(NASTY_VALUES)}
    try:
        if dice.random() < 0.5:
            env = WorldEnv(WORLD, **asked)
            env.reset(**begun)
            env.step(dice.choice(NASTY_VALUES))
            return
        vector = WorldVectorEnv(dice.choice(small) if dice.random() < 0.2 else 2, WORLD, **asked)
        vector.reset(**begun)
        before = [game.steps for game in vector.games]
        try:
            vector.step(
                dice.choice(
                    ([dice.choice(NASTY_VALUES) for _ in before], dice.choice(NASTY_VALUES))
                )
            )
        except InputError:
            _none_moved(before, [game.steps for game in vector.games])
            raise
    except GymnasiumError as error:  # what Gymnasium says of seeds
        raise InputError(json.dumps(str(error))) from None


def _none_moved(before: list[int], after: list[int]) -> None:
    if before != after:
        raise AssertionError("a refused step moved some games")
