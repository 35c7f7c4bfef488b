"""The MCP proxy over real pipes: what it passes on, what it answers itself, and what it leaves
behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from rpms.foreign import limits
from rpms.guard import Guard, read_tool_manual
from rpms.guard.mcp_proxy import Proxy
from rpms.guard.mcp_session import McpSession

HERE = Path(__file__).parent
MANUAL = """
guard: files
facts:
  was_read: {args: [path], initially: false, yes: <path> was read, no: <path> was not read}
  shallow: {args: [depth], path: <depth>, at_most: 1}
tools:
  read: {args: [path], effects: [was_read(path)]}
  delete: [path]
  touch: [path]
  list: [path, depth]
policies:
  P-READ-001: {text: Only what was read is deleted., tools: delete, requires: was_read(path), instead: read it first}
  P-TOUCH-001: {text: Better not touch what was not read., tools: touch, requires: was_read(path), warns: true}
  P-DEPTH-001: {text: One folder at a time., tools: list, requires: shallow(depth), sets: {depth: 1}}
"""


class Session:
    """A client that writes and reads lines: to a proxy in a thread, or to the command as a user
    starts it.
    """

    def __init__(
        self, folder: Path, *options: str, server: tuple[str, ...] = (), patience: float = 60.0
    ) -> None:
        manual = folder / "files.yaml"
        manual.write_text(MANUAL)
        command = [sys.executable, str(HERE / "echo_server.py"), *server]
        self.said: list[str] = []
        self.process: subprocess.Popen | None = None
        if options:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "rpms",
                    "guard",
                    "mcp",
                    "--manual",
                    str(manual),
                    *options,
                    "--",
                    *command,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.input, self.output = self.process.stdin, self.process.stdout
            return
        client_in, ours = os.pipe()
        theirs, client_out = os.pipe()
        self.input, self.output = os.fdopen(ours, "wb"), os.fdopen(theirs, "rb")
        self.code: int | None = None
        proxy = Proxy(Guard(manual), self.said.append, patience=patience)

        def run() -> None:
            self.code = proxy.run(command, client_in, client_out)
            os.close(client_out)
            os.close(client_in)

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def send(self, line: bytes | dict) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.input.write(data + b"\n")
        self.input.flush()

    def receive(self) -> dict:
        return json.loads(self.output.readline())

    def call(self, tool: str, id_: int | str = 1, **arguments: object) -> None:
        self.send(
            {
                "jsonrpc": "2.0",
                "id": id_,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            }
        )

    def answer(self) -> dict:
        """The next message that is no notification."""
        while True:
            message = self.receive()
            if "method" not in message:
                return message

    def got(self) -> str:
        """What the server got, byte for byte."""
        message = self.receive()
        assert message["method"] == "notifications/got"
        return message["params"]

    def end(self) -> tuple[int, str]:
        if self.process is not None:
            _, err = self.process.communicate(timeout=60)
            return self.process.returncode, err.decode()
        with suppress(OSError):
            self.input.close()
        self.thread.join(60)
        self.output.close()
        return self.code, "\n".join(self.said)


@pytest.fixture
def session(tmp_path):
    started = []

    def start(*options: str, **more) -> Session:
        started.append(Session(tmp_path, *options, **more))
        return started[-1]

    yield start
    for each in started:
        if each.process is not None:
            each.process.kill()
        each.end()


def text_of(answer: dict) -> str:
    return "\n".join(part["text"] for part in answer["result"]["content"])


def test_one_session_from_first_message_to_last(session, tmp_path):
    """One process for many claims, since starting it is what takes time."""
    log = tmp_path / "log.jsonl"
    client = session("--log", str(log))
    odd = b'{"jsonrpc":"2.0",  "id" : 7,"method":"resources/list", "params":{"x":1.50}}'
    client.send(odd)
    assert (
        client.got() == json.dumps(json.loads(odd), separators=(",", ":")) + "\n"
    )  # read, and written again
    assert client.answer()["id"] == 7

    client.call("delete", 1, path="a.txt")
    refused = client.receive()  # no server has seen it
    assert refused["id"] == 1
    assert refused["result"]["isError"] is True
    assert "P-READ-001" in text_of(refused)
    assert "read it first" in text_of(refused)

    client.call("read", "one", path="a.txt", says='{"size": 3}')
    assert client.answer()["id"] == "one"
    client.call("delete", 2, path="a.txt")
    assert text_of(client.answer()) == "done"

    for odd_method in (
        "TOOLS/CALL",
        "tools/call ",
        ["tools/call"],
    ):  # which some server might take for a call
        client.send(
            {
                "jsonrpc": "2.0",
                "id": 8,
                "method": odd_method,
                "params": {"name": "delete", "arguments": {}},
            }
        )
        assert client.receive()["error"]["code"] == -32600
    client.call("read", 1.5, path="a.txt")
    assert "whole number" in client.receive()["error"]["message"]

    client.call("touch", 3, path="b.txt")
    assert "[warning] P-TOUCH-001" in text_of(client.answer())

    client.send(
        b'{"jsonrpc":"2.0","id":40,"method":"tools/call",'
        b'"params":{"_meta":{"t":1},"name":"list","arguments":{"path":"b","depth":9}}}'
    )
    made = json.loads(client.got())
    assert made["params"] == {
        "_meta": {"t": 1},
        "name": "list",
        "arguments": {"path": "b", "depth": 1},
    }
    assert text_of(client.answer()).startswith("done\n[changed] P-DEPTH-001")

    client.call("read", 4, path="c.txt", fail=True)
    assert client.answer()["result"]["isError"] is True
    client.call("delete", 5, path="c.txt")
    assert "P-READ-001" in text_of(client.receive())  # a failed read is none

    client.send(b'{"jsonrpc":"2.0","id":8,"method":"ping","method":"tools/call"}')
    assert client.receive()["error"]["code"] == -32700
    client.send(b"not json")
    assert client.receive()["error"]["code"] == -32700
    client.send(b"[" * 100_000)
    assert client.receive()["error"]["code"] == -32700

    batch = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": p}
        for n, p in ((20, {"name": "delete"}), (21, {}))
    ]
    client.send(json.dumps(batch).encode())
    assert {client.answer()["id"], client.answer()["id"]} == {20, 21}  # no batch slips past

    client.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
    )
    assert "notifications/cancelled" in client.got()

    deep = '{"jsonrpc":"2.0","id":30,"result":' + '{"a":' * 60 + "1" + "}" * 60 + "}"
    client.call("read", 30, path="d.txt", raw=deep)
    assert client.answer()["id"] == 30  # passed on, though the guard reads nothing from it
    code, err = client.end()
    assert code == 0
    assert "not JSON" in err
    assert "Traceback" not in err
    rulings = [json.loads(line).get("ruling") for line in log.read_text().splitlines()]
    assert rulings.count("refuse") >= 3


def test_a_call_that_takes_too_long_is_answered_and_cancelled(session):
    client = session(patience=0.5)
    client.call("read", 1, path="a", silent=True)
    client.got()
    messages = [client.receive(), client.receive()]
    answer = next(each for each in messages if "result" in each)
    assert "did not return" in text_of(answer)
    cancelled = next(each for each in messages if "method" in each)
    assert json.loads(cancelled["params"])["params"]["requestId"] == 1
    client.call("delete", 2, path="a")
    assert "did not return" in text_of(client.receive())  # it may or may not have been read
    client.call("read", 1, path="b")
    assert "under way" in client.receive()["error"]["message"]  # its id may still be answered


def test_what_is_too_large_is_not_passed_on(session):
    client = session()
    long = b"y" * limits.LARGEST_MESSAGE
    for ends in (
        (b'{"jsonrpc":"2.0","id":9,"x":"', b'"}'),
        (b'{"x":{"id":1,"y":"', b'"},"jsonrpc":"2.0","id":9}'),
    ):
        client.send(long.join(ends))
        refused = client.receive()
        assert refused["id"] == 9  # a client waits for it
        assert "send less" in refused["error"]["message"]
    client.call("read", 1, path="a", big=limits.LARGEST_MESSAGE + 10)
    client.got()
    assert "bytes" in text_of(client.receive())
    client.call("write", 2, text="y" * (limits.LARGEST_CALL + 1))
    assert "What to do: send less at once" in text_of(client.receive())
    client.send(
        b'{"x":"' + long + b'"}'
    )  # nobody knows whom to answer: the session ends, and nobody waits for it
    assert client.receive()["error"]
    client.thread.join(60)
    assert not client.thread.is_alive()


def test_what_a_server_writes_that_is_no_message_is_not_passed_on(session):
    client = session()
    good = '{"jsonrpc":"2.0",  "id" : 1,"result":{"content":[ {"type":"text","text":"1.50"}]}}'
    client.call("read", 1, path="a", raw=f"not json at all\n\n{good}")
    client.got()
    assert client.receive() == json.loads(good)
    twice = (
        '{"jsonrpc":"2.0","id":2,"result":{"content":[]},"result":{"content":[],"isError":true}}'
    )
    client.call("read", 2, path="b", raw=twice)
    client.got()
    answer = client.receive()
    assert answer["id"] == 2
    assert "may or may not be done" in text_of(answer)
    client.call("delete", 3, path="b")
    assert "did not return" in text_of(client.receive())
    long = '{"jsonrpc":"2.0","id":4,"result":{"x":' + "9" * 9_000 + "}}"
    client.call("read", 4, path="c", raw=long)
    client.got()
    assert "may or may not be done" in text_of(client.receive())  # no reader takes such a number
    _, err = client.end()
    assert "not passed on: Expecting value at line 1: not json at all" in err
    assert "not passed on: a name stands twice in one object" in err


def test_a_server_that_ends_ends_the_session(session):
    client = session()
    client.call("read", 1, path="a", exit=True)
    client.thread.join(60)  # by itself, before the client goes
    code, err = client.end()
    assert code == 3
    assert "Traceback" not in err


def test_a_command_that_is_not_there_is_one_line(rpms, tmp_path):
    (tmp_path / "m.yaml").write_text(MANUAL)
    done = rpms("guard", "mcp", "--manual", tmp_path / "m.yaml", "--", "no-such-server")
    assert done.code == 2
    assert "cannot be started" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize("how", ["close", "terminate"])
def test_no_process_stays_behind(session, how):
    client = session(*(["--timeout", "60"] if how == "terminate" else []), server=("--stubborn",))
    pids = client.receive()["params"]
    if how == "terminate":
        client.process.terminate()
        time.sleep(0.2)
        # a client that loses patience, while the server is given time to end
        client.process.terminate()
    client.end()
    for _ in range(100):
        if not any(map(_runs, pids)):
            return
        time.sleep(0.05)
    pytest.fail(f"still running: {[pid for pid in pids if _runs(pid)]}")


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        if not Path("/proc/self").exists():
            try:
                os.kill(pid, 0)
            except OSError:
                return False
            return True
        return False
    return state != "Z"


def call_line(id_: int, tool: str, **arguments: object) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps(
        {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
    ).encode()


def cancel_line(id_: int) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}
    ).encode()


def test_calls_that_a_client_gives_up_take_bounded_memory():
    guard = Guard(read_tool_manual(("files.yaml", MANUAL)))
    session = McpSession(guard, [].append, lambda _: None, pytest.fail, patience=60)
    for number in range(40):
        session.from_client(call_line(number, "write", path=f"{number}", text="x" * 1_000_000))
        session.from_client(cancel_line(number))
    kept = session._waiting.values()
    assert len(kept) > 10
    assert sum(len(each.call.text) for each in kept) <= limits.LARGEST_MESSAGE
    assert all(each.message.keys() == {"id"} for each in kept)


def test_a_call_that_is_cancelled_while_a_person_is_asked_is_not_made():
    asking = MANUAL.replace("warns: true", "asks: true")
    to_client, to_server = [], []
    guard = Guard(read_tool_manual(("files.yaml", asking)))
    session = McpSession(guard, to_client.append, to_server.append, pytest.fail, patience=60)
    able = {"capabilities": {"elicitation": {}}}
    session.from_client(
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": able}).encode()
    )
    session.from_client(call_line(1, "touch", path="a"))
    question = json.loads(to_client.pop())
    session.from_client(cancel_line(1))
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}}
    session.from_client(json.dumps(answer).encode())
    assert "tools/call" not in b"".join(to_server).decode()


@pytest.mark.parametrize(
    ("more", "remedy"), [("", "did not return"), ('"isError":true,', "read it first")]
)
def test_an_answer_deeper_than_the_guard_reads_leaves_effects_unknown(more, remedy):
    to_client = []
    guard = Guard(read_tool_manual(("files.yaml", MANUAL)))
    session = McpSession(guard, to_client.append, lambda _: None, pytest.fail, patience=60)
    session.from_client(call_line(1, "read", path="a"))
    deep = '{"jsonrpc":"2.0","id":1,"result":{' + more + '"a":' + "[" * 60 + "]" * 60 + "}}"
    session.from_server(deep.encode())
    assert len(to_client) == 1
    session.from_client(call_line(2, "delete", path="a"))
    assert remedy in to_client[1].decode()


def test_what_is_never_answered_is_not_remembered_for_ever():
    guard = Guard(read_tool_manual(("empty.yaml", "tools: {}")))
    session = McpSession(guard, lambda _: None, lambda _: None, pytest.fail, patience=60)
    for number in range(1_200):
        asked = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tasks/get",
            "params": {"taskId": str(number)},
        }
        session.from_client(json.dumps(asked).encode())
    assert len(session._requests) == 1_000
    assert ("tasks/get", "1199") in session._requests.values()
