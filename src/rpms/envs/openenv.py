"""OpenEnv: one server for all worlds, with a session for each connection, and the client to it.

A session ends with its connection, however that ends, and what it held is released.
"""

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpms.envs.admission import LARGEST_MESSAGE, LONGEST_NAME, Admission, Admitting
from rpms.envs.env_episodes import EnvTurn, Episodes, is_whole
from rpms.foreign.limits import LONGEST_COMMAND
from rpms.foreign.settings_files import settings_files_unread
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError, RPMSError
from rpms.worlds.base import World

try:
    with settings_files_unread():
        import uvicorn
        from fastapi import FastAPI, HTTPException, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import JSONResponse
        from openenv.core.client_types import StepResult
        from openenv.core.env_client import EnvClient
        from openenv.core.env_server.http_server import create_fastapi_app
        from openenv.core.env_server.interfaces import Environment
        from openenv.core.env_server.types import (
            Action,
            ConcurrencyConfig,
            EnvironmentMetadata,
            Observation,
            State,
        )
        from pydantic import Field
        from websockets.exceptions import ConnectionClosed
except ImportError:
    raise ImportError("rpms.envs.openenv needs OpenEnv: pip install 'rpms[openenv]'") from None

IDLE_S = 600.0
"""Seconds without use after which a session ends, unless it is told otherwise: a client that
vanished holds a place."""


class Command(Action):  # type: ignore[misc]  # OpenEnv has no types of its own
    """One command, exactly as the simulator gets it."""

    command: str = Field(max_length=LONGEST_COMMAND)


class Observed(Observation):  # type: ignore[misc]
    """Result of a command.

    `reward` is the rise of the score; `done` is the end, won, lost or out of steps.
    """

    text: str
    task: str
    score: float
    won: bool
    truncated: bool
    steps: int
    admissible_commands: list[str] | None = None
    """Listed if reset asked for them."""


class EpisodeState(State):  # type: ignore[misc]
    """State of a session."""

    world: str = ""
    split: str = ""
    task: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """Worlds that a server offers. A client names one of these, never a folder or a file."""

    worlds: tuple[World, ...]
    data: Path | None = None
    engine: str = "native"

    def named(self, world: object) -> World:
        """A served world by its name; the first where a client names none."""
        found = next((each for each in self.worlds if world in (None, each.name)), None)
        if found is None:
            names = ", ".join(each.name for each in self.worlds)
            raise InputError(f"no world {excerpt(world, 60)} is served here; choose one of {names}")
        return found


class WorldsEnvironment(Environment[Command, Observed, EpisodeState]):  # type: ignore[misc]
    """A session's environment: any served world, one task at a time."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, served: Served) -> None:
        super().__init__()
        self._served = served
        self._episodes: Episodes | None = None
        self._episode_id: str | None = None
        self._admissible = False

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        world: str | None = None,
        split: str | None = None,
        task: str | int | None = None,
        options: Mapping[str, str] | None = None,
        max_steps: int | None = None,
        admissible: bool = False,
        **unknown: Any,
    ) -> Observed:
        """Start a task: the one that is named, or one that the seed draws.

        The rest is as in `Episodes`.
        """
        if unknown:
            raise InputError(f"reset has no argument {excerpt(next(iter(unknown)), 60)}")
        found = self._served.named(world)
        data = self._served.data
        engine = self._served.engine
        episodes = Episodes(
            found, split, data=data, engine=engine, options=options, max_steps=max_steps
        )
        if seed is not None and not is_whole(seed):
            raise InputError(f"a seed is a number, not {excerpt(seed, 60)}")
        named = (
            isinstance(episode_id, str)
            and len(episode_id) <= LONGEST_NAME
            and episode_id.isprintable()
        )
        if episode_id is not None and not named:
            raise InputError(
                f"an episode's id is a text of {LONGEST_NAME} printable characters or fewer"
            )
        chosen = episodes.choose(task, seed)
        self.close()
        self._episodes = episodes
        self._episode_id = episode_id
        self._admissible = bool(admissible)
        return self._observed(episodes, episodes.start(chosen))

    def step(self, action: Command, timeout_s: float | None = None, **_: Any) -> Observed:  # noqa: ARG002
        if self._episodes is None:
            raise InputError("step before reset: send reset first, which starts a task")
        return self._observed(self._episodes, self._episodes.step(action.command))

    def _observed(self, episodes: Episodes, turn: EnvTurn) -> Observed:
        assert episodes.task is not None
        return Observed(
            text=turn.observation,
            task=episodes.task.id,
            score=turn.score,
            won=turn.won,
            truncated=turn.truncated,
            steps=episodes.steps,
            admissible_commands=list(episodes.admissible()) if self._admissible else None,
            reward=turn.reward,
            done=turn.done,
        )

    @property
    def state(self) -> EpisodeState:
        episodes = self._episodes
        if episodes is None or episodes.task is None:
            return EpisodeState()
        return EpisodeState(
            episode_id=self._episode_id,
            step_count=episodes.steps,
            world=episodes.world.name,
            split=episodes.split,
            task=episodes.task.id,
            type=episodes.task.type,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        worlds = ", ".join(world.name for world in self._served.worlds)
        return EnvironmentMetadata(name="rpms", description=f"Closed text worlds: {worlds}")

    def close(self) -> None:
        episodes, self._episodes = self._episodes, None
        if episodes is not None:
            episodes.close()


class WorldsClient(EnvClient[Command | str, Observed, EpisodeState]):  # type: ignore[misc]
    """The client. `sync()` gives one for plain loops; a step takes a text or a `Command`."""

    def _step_payload(self, action: Command | str) -> dict[str, Any]:
        if isinstance(action, Command):
            action = action.command
        if not isinstance(action, str):
            raise InputError(
                f"step takes a command as a text or a Command, not {excerpt(action, 60)}"
            )
        return {"command": action}

    async def _send_and_receive(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            return await super()._send_and_receive(message)  # type: ignore[no-any-return]
        except ConnectionClosed:
            raise ConnectionError(
                "the server ended this session: it is full, or it was stopped"
            ) from None

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Observed]:
        reward = payload.get("reward")
        done = bool(payload.get("done"))
        seen = payload.get("observation", {})
        observed = Observed.model_validate({**seen, "reward": reward, "done": done})
        return StepResult(observed, None if reward is None else float(reward), done)

    def _parse_state(self, payload: dict[str, Any]) -> EpisodeState:
        return EpisodeState(**payload)


def make_app(
    served: Served,
    sessions: int = 64,
    idle_s: float | None = IDLE_S,
    admitted: Admission | None = None,
) -> FastAPI:
    """The server's application.

    `idle_s` ends sessions that nobody used for so long; None: never.
    """
    limits = ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle_s)
    app: FastAPI = create_fastapi_app(
        lambda: WorldsEnvironment(served), Command, Observed, concurrency_config=limits
    )
    app.add_middleware(Admitting, admitted=admitted or Admission())
    for kind in (RPMSError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _refused)
    return app


async def _refused(_request: Request, error: Exception) -> JSONResponse:
    """One line where something is asked for by plain HTTP, without what was sent."""
    problem: Any = (
        error.errors()
        if isinstance(error, RequestValidationError)
        else getattr(error, "detail", str(error))
    )
    if isinstance(problem, list):
        problem = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problem[:3]
        )
    return JSONResponse({"detail": excerpt(problem)}, getattr(error, "status_code", 422))


def make_server(app: FastAPI) -> uvicorn.Server:
    """Server of the application; it closes a connection that does not answer pings within a
    minute.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=20,
        ws_ping_timeout=20,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """The socket to serve on; port 0 takes a free one."""
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no such port"
        raise InputError(
            f"cannot serve on {excerpt(host, 60)}, port {port}: {reason}; --port gives another"
        ) from None
