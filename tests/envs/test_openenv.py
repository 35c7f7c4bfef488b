"""OpenEnv: one real server on loopback for all of these, its own client, many sessions, and
clients that vanish.
"""

import asyncio
import contextlib
import importlib
import socket
import threading
import time
from contextlib import ExitStack
from types import ModuleType
from typing import ClassVar

import httpx
import pytest

from rpms.envs.admission import admission
from rpms.logic.errors import InputError
from rpms.worlds.alfworld.games.listing import builtin_ids, builtin_walkthrough
from rpms.worlds.alfworld.world import world as alfworld
from tests import toolbox
from tests.play.corridor import Corridor
from tests.play.corridor import task as corridor_task


def openenv() -> ModuleType:
    """Imported where it is used: it takes seconds, and every worker of the tests reads this file."""
    return importlib.import_module("rpms.envs.openenv")


NAME = builtin_ids()[0]
SESSIONS = 8
JSON = {"content-type": "application/json"}


class Watched(Corridor):
    """Knows which of its games are open."""

    name = "watched"
    opened: ClassVar[set] = set()

    def open(self, task, setting):
        game = super().open(task, setting)
        self.opened.add(game)
        game.close = lambda: self.opened.discard(game)
        return game

    def tasks(self, split, setting):
        return [corridor_task("slow", seconds=0.05)]


@pytest.fixture(scope="module")
def server():
    place = openenv().listen("127.0.0.1", 0)
    app = openenv().make_app(openenv().Served((alfworld, toolbox.world, Watched())), SESSIONS)
    server = openenv().make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
    thread.start()
    yield f"http://127.0.0.1:{place.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    place.close()


def client(url: str):
    return openenv().WorldsClient(url).sync()


def test_a_walkthrough_wins(server):
    with client(server) as env:
        first = env.reset(world="alfworld", task=NAME, episode_id="one")
        assert first.observation.text.startswith("-= Welcome to TextWorld")
        assert (first.observation.task, first.reward, first.done) == (NAME, 0.0, False)
        results = [env.step(command) for command in builtin_walkthrough(NAME)]
        assert [result.reward for result in results] == [0.0] * (len(results) - 1) + [1.0]
        assert results[-1].done
        assert results[-1].observation.won
        state = env.state()
        assert (state.episode_id, state.world, state.task, state.step_count) == (
            "one",
            "alfworld",
            NAME,
            len(results),
        )


def test_one_server_has_all_worlds_and_sessions_do_not_meet(server):
    with ExitStack() as stack:
        envs = [stack.enter_context(client(server)) for _ in range(4)]
        worlds = ["alfworld", "toolbox"] * 2
        seen = [env.reset(world=world, seed=3) for env, world in zip(envs, worlds, strict=True)]
        assert seen[0].observation == seen[2].observation
        assert seen[0].observation.text != seen[1].observation.text
        for _ in range(3):
            envs[0].step("look")
        assert [env.state().step_count for env in envs] == [3, 0, 0, 0]
        assert (
            envs[0]
            .reset(world="alfworld", options={"dialect": "0.4"}, admissible=True, seed=3)
            .observation.steps
            == 0
        )
        assert "help" in envs[0].step("look").observation.admissible_commands
        assert envs[2].step("help").observation.text == "Nothing happens."


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (
            {"world": "../secrets"},
            "no world ../secrets is served here; choose one of alfworld, toolbox, watched",
        ),
        ({"split": "nope"}, "no split 'nope'"),
        ({"task": "nope"}, "did you mean"),
        ({"task": 99}, "no task 99"),
        ({"task": [1]}, "a task is named by its id or its number"),
        ({"seed": "x"}, "a seed is a number"),
        ({"options": "0.4"}, "options are given by name"),
        ({"options": {"dialect": "9"}}, "no dialect '9'"),
        ({"max_steps": 0}, "episodes of 0 steps"),
        ({"max_steps": "many"}, "episodes of many steps: give a whole number"),
        ({"split": ["train"]}, "a split is named by a text"),
        ({"options": {"dialect": [0.4]}}, "give a text or a number"),
        ({"task": "x" * 9_000}, "did you mean"),
        ({"task": "x" * 500_000}, "a text is too long"),
        ({"episode_id": "\x1b[2J"}, "printable characters"),
        ({"data": "/etc"}, "reset has no argument data"),
    ],
)
def test_bad_input_is_one_clear_error(server, asked, answer):
    with client(server) as env, pytest.raises(RuntimeError, match="Server error") as caught:
        env.reset(**asked)
    assert answer in str(caught.value)
    assert "\n" not in str(caught.value)


def test_misuse_is_one_clear_error_and_the_session_goes_on(server):
    with client(server) as env:
        with pytest.raises(RuntimeError, match="step before reset: send reset first"):
            env.step("look")
        env.reset(world="alfworld", max_steps=1)
        assert env.step(openenv().Command(command="look")).observation.truncated
        with pytest.raises(RuntimeError, match="step after the end"):
            env.step("look")
        with pytest.raises(RuntimeError, match="a text is too long"):
            env.reset(max_steps=5) and env.step("x" * 20_000)
        with pytest.raises(InputError, match="step takes a command as a text or a Command, not 5"):
            env.step(5)
        assert env.step("look").observation.steps == 1


def test_plain_http_is_answered_in_one_line(server):
    with httpx.Client(base_url=server, trust_env=False, timeout=60) as plain:
        assert plain.get("/health").json() == {"status": "healthy"}
        answer = plain.post("/step", json={"action": {"command": "look"}})
    assert (answer.status_code, answer.json()["detail"].partition(":")[0]) == (
        422,
        "step before reset",
    )


def test_plain_http_may_not_send_without_end(server):
    url = httpx.URL(server)
    with socket.create_connection((url.host, url.port), timeout=60) as plain:
        plain.sendall(b"POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000000\r\n\r\n")
        sent = 0
        with contextlib.suppress(OSError):  # it stops reading, and hangs up
            while sent < 400_000_000:
                sent += plain.send(b" " * 100_000)
        assert sent < 400_000_000
    with httpx.Client(base_url=server, trust_env=False, timeout=60) as plain:
        assert plain.post("/reset", content=b" " * 2_000_000, headers=JSON).status_code == 413
        assert plain.post("/reset", json={"task": 0}).status_code == 200


def test_a_client_that_vanishes_leaves_nothing(server, capfd):
    """Twice as many as the server has room for, none of which says goodbye: some between steps,
    some amid one.
    """

    async def vanish(number: int) -> None:
        env = openenv().WorldsClient(server)
        await env.connect()
        await env.reset(world="watched")
        assert Watched.opened
        if number % 2:
            await env._send({"type": "step", "data": {"command": "go to room 1"}})
            await asyncio.sleep(0.01)
        env._ws.transport.abort()

    for number in range(2 * SESSIONS):
        asyncio.run(vanish(number))
    deadline = time.monotonic() + 60
    while Watched.opened and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Watched.opened
    with ExitStack() as stack:  # and there is room for as many as before
        for _ in range(SESSIONS):
            stack.enter_context(client(server)).reset(world="watched")
        full = stack.enter_context(client(server))
        with pytest.raises((ConnectionError, RuntimeError), match=r"it is full|8/8"):
            full.reset(world="watched")
    assert "Traceback" not in capfd.readouterr().err


def test_a_taken_port_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            InputError, match=f"cannot serve on 127.0.0.1, port {port}: Address already in use"
        ):
            openenv().listen("127.0.0.1", port)


CREATE = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json", "host": "evil.example"}, 421),
        ({"content-type": "application/json", "origin": "https://evil.example"}, 403),
        ({"content-type": "application/json", "origin": "null"}, 403),
        ({"content-type": "application/json", "host": "evil.com@localhost"}, 421),
        ({"content-type": "application/json", "host": "localhost:80@evil.com"}, 421),
        ({"content-type": "application/json", "host": "[::1].evil.com"}, 421),
        ({"content-type": "application/json", "origin": "http://[::1].evil.com"}, 403),
        ({"content-type": "application/json", "origin": "http://evil.com@localhost"}, 403),
        ({"content-type": "application/json", "origin": "http://localhost/.evil.com"}, 403),
        ({"content-type": "application/json", "origin": "file://localhost"}, 403),
        (
            [
                ("content-type", "application/json"),
                ("origin", "https://evil.example"),
                ("origin", "http://localhost"),
            ],
            400,
        ),
    ],
)
def test_a_web_page_cannot_open_sessions(server, headers, status):
    answers = [
        httpx.post(f"{server}/mcp", json=CREATE, headers=headers, timeout=60)
        for _ in range(SESSIONS + 1)
    ]
    assert {answer.status_code for answer in answers} == {status}
    with client(server) as env:  # there is room for whoever may come in
        assert env.reset(world="toolbox").observation.text


@pytest.mark.parametrize(
    "sent",
    [
        {"method": None},
        {"method": 5},
        {"method": None, "id": None},
        {"jsonrpc": None},
        {"jsonrpc": "1.0"},
        {"params": 5},
        {"params": None},
        {"params": []},
        {"more": 1},
    ],
)
def test_a_request_that_is_no_json_rpc_is_one_line_without_an_address(server, sent):
    answers = [httpx.post(f"{server}/mcp", json={**CREATE, **sent}, timeout=60)]
    missing = {name: value for name, value in CREATE.items() if name not in sent}
    answers.append(httpx.post(f"{server}/mcp", json=missing, timeout=60))
    for answer in answers:
        assert answer.status_code < 500
        assert "http" not in answer.text
        assert "\\n" not in answer.text
        assert len(answer.content) < 400


def test_a_page_of_another_site_gets_no_web_socket(server):
    from websockets.exceptions import InvalidHandshake, WebSocketException  # noqa: PLC0415
    from websockets.sync.client import connect  # noqa: PLC0415

    with pytest.raises((InvalidHandshake, WebSocketException)):
        connect(f"{server.replace('http', 'ws')}/ws", origin="https://evil.example").recv()


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": NaN, "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": [1], "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": ["x"]}',
        b'{"jsonrpc": "2.0", "id": 1, "method": [null]}',
        b"null",
        b"[]",
        b"{",
        b'{"jsonrpc": "2.0", "id": "' + b"x" * 900_000 + b'", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 900_000 + b'"}',
    ],
)
@pytest.mark.parametrize("path", ["mcp", "reset", "step"])
def test_what_no_reader_takes_is_one_short_line(server, path, body):
    answer = httpx.post(
        f"{server}/{path}", content=body, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert len(answer.content) < 400
    assert "NoneType" not in answer.text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "null",
            "[]",
            '"x"',
            "1",
            "{",
            "[" * 5_000,
            "9" * 5_000,
            '{"type": ["x"]}',
            '{"type": "state", "id": NaN}',
        ),
        *('{"type": "step", "data": {"command": "\\ud800"}}', f'{{"type": "{"x" * 900_000}"}}'),
        *(f'{{"{"x" * 900_000}": 1}}', f'{{"type": "mcp", "data": {{"id": "{"x" * 900_000}"}}}}'),
    ],
    ids=lambda text: text[:24],
)
@pytest.mark.parametrize("path", ["ws", "mcp"])
def test_on_a_web_socket_it_is_one_short_line_too_and_the_session_goes_on(server, path, text):
    from websockets.sync.client import connect  # noqa: PLC0415

    with connect(f"{server.replace('http', 'ws')}/{path}") as socket:
        socket.send(text)
        answer = socket.recv(timeout=60)
        assert len(answer) < 600
        assert "object" not in answer.replace("JSON object", "")
        socket.send(
            '{"type": "state"}'
            if path == "ws"
            else '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        )
        assert socket.recv(timeout=60)


def test_what_was_sent_is_not_sent_back(server):
    long = "x" * 9_000
    for path, body in (
        ("step", {"action": {"command": [long] * 50}}),
        ("step", {"x": [long] * 50}),
        ("reset", {"seed": long}),
        ("mcp", {**CREATE, "method": "tools/call", "params": {"session_id": {"a": 1}}}),
    ):
        answer = httpx.post(f"{server}/{path}", json=body, timeout=60)
        assert answer.status_code == 422
        assert len(answer.content) < 500


def test_no_name_of_a_host_is_none():
    admitted = admission("", ("", " "), "s3cret-token")
    assert admitted.refusal({"authorization": "Bearer s3cret-token"})[0] == 421
    assert (
        admitted.refusal(
            {"host": "localhost", "origin": "null", "authorization": "Bearer s3cret-token"}
        )[0]
        == 403
    )


def test_beyond_this_machine_a_token_is_needed():
    with pytest.raises(InputError, match="RPMS_ENVS_TOKEN"):
        admission("0.0.0.0", (), "")
    admitted = admission("0.0.0.0", ("envs.example",), "s3cret-token")
    assert (
        admitted.refusal({"host": "envs.example", "authorization": "Bearer s3cret-token"}) is None
    )
    assert admitted.refusal({"host": "envs.example"})[0] == 401
    assert (
        admitted.refusal({"host": "envs.example", "authorization": "Bearer s3cret-toke\u00e9"})[0]
        == 401
    )
    assert (
        admitted.refusal({"host": "other.example", "authorization": "Bearer s3cret-token"})[0]
        == 421
    )
    assert "s3cret" not in repr(admitted)


def test_a_session_that_nobody_uses_ends_and_leaves_its_place():
    place = openenv().listen("127.0.0.1", 0)
    served = openenv().make_server(
        openenv().make_app(openenv().Served((toolbox.world,)), 1, idle_s=0.2)
    )
    thread = threading.Thread(target=served.run, kwargs={"sockets": [place]})
    thread.start()
    url = f"http://127.0.0.1:{place.getsockname()[1]}/mcp"
    try:
        assert "result" in httpx.post(url, json=CREATE, timeout=60).json()
        while "result" not in httpx.post(url, json=CREATE, timeout=60).json():
            time.sleep(0.2)
    finally:
        served.should_exit = True
        thread.join(20)
        place.close()
