"""Facts in Python: asked in a worker with a deadline; only True, False and None count."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
import threading
import time
from contextlib import suppress

import pytest

from rpms.foreign.limits import MOST_HUNG
from rpms.guard import Call, Guard, read_tool_manual
from rpms.guard.python_facts import PythonFacts, _Worker, load_python
from rpms.logic.errors import FileError

MANUAL = """
facts:
  fine: {args: [x], python: fine}
  told: {args: [x], python: told}
tools:
  act: [x]
policies:
  P-FINE-001: {text: Only what is fine., tools: act, requires: fine(x)}
...
"""


def judged(function, caplog, seconds=60.0):
    manual = read_tool_manual(("m.yaml", MANUAL))
    python = PythonFacts(manual, {"fine": function, "told": lambda _look, _x: True}, seconds)
    ruling = Guard(manual, python=python).check(Call("act", {"x": "1"}))
    return ruling.word, ruling.rule, caplog.text


def leave(*_):
    sys.exit(0)


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (lambda _look, _x: 1, "gave a int, not True, False or None"),
        (lambda _look, _x: object(), "gave a object"),
        (leave, "gave a SystemExit"),
        (interrupt, "gave a KeyboardInterrupt"),
    ],
)
def test_what_is_no_answer_is_unknown_and_reported(function, complaint, caplog):
    word, rule, said = judged(function, caplog)
    assert (word, rule) == ("refuse", "P-FINE-001")
    assert complaint in said


def test_what_takes_too_long_is_unknown_and_reported(caplog):
    gate = threading.Event()
    try:
        word, rule, said = judged(lambda _look, _x: gate.wait(), caplog, seconds=0.2)
    finally:
        gate.set()
    assert (word, rule) == ("refuse", "P-FINE-001")
    assert "did not answer within 0.2 seconds" in said
    wait_for_late_ones()


def test_a_fact_may_ask_for_another(caplog):
    assert judged(lambda look, x: look.truth("told", x), caplog)[0] == "allow"


def test_a_function_that_fails_is_the_guards_failure(caplog):
    assert judged(lambda _look, _x: 1 / 0, caplog)[:2] == ("refuse", "G-ERROR")


def hang_in_python(_look, _x):
    while True:
        with suppress(Exception):
            time.sleep(0.001)


def workers():
    return [each for each in threading.enumerate() if isinstance(each, _Worker)]


def wait_for_late_ones():
    eventually = time.monotonic() + 60
    while any(each.late for each in workers()):
        assert time.monotonic() < eventually
        time.sleep(0.01)


def asked(function, count, caplog):
    """Ask a function about things that differ, and return the words, the workers that are left to
    it, and the log. No thread but these is new; one that was idle before may be among them.
    """
    before = threading.active_count()
    manual = read_tool_manual(("m.yaml", MANUAL))
    python = PythonFacts(manual, {"fine": function, "told": lambda _look, _x: True}, seconds=0.02)
    guard = Guard(manual, python=python)
    rulings = [guard.check(Call("act", {"x": str(number)})).word for number in range(count)]
    late = sum(each.late for each in workers())
    assert threading.active_count() - before <= late
    return set(rulings), late, caplog.text


def test_a_function_that_hangs_in_python_is_ended(caplog):
    words, _, _ = asked(hang_in_python, 2 * MOST_HUNG, caplog)
    assert words == {"refuse"}
    wait_for_late_ones()


def test_functions_that_wait_for_good_keep_a_bounded_number_of_threads(caplog):
    wait_for_late_ones()
    gate = threading.Event()
    try:
        words, left, said = asked(lambda _look, _x: gate.wait(), 3 * MOST_HUNG, caplog)
        assert (words, left) == ({"refuse"}, MOST_HUNG)
        assert f"is not asked while {MOST_HUNG} functions do not return" in said
        assert judged(lambda _look, _x: True, caplog)[0] == "refuse"  # of any guard in this process
    finally:
        gate.set()
    wait_for_late_ones()
    assert judged(lambda _look, _x: True, caplog)[0] == "allow"


SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("acts")
@server.tool()
def act(x: str) -> str:
    return "done"
server.run()
"""


def test_the_proxy_outlives_functions_that_hang_exit_and_print(tmp_path):
    pytest.importorskip("fastmcp", reason="FastMCP is not installed: pip install 'rpms[mcp]'")
    mcp = importlib.import_module("mcp")
    (tmp_path / "m.yaml").write_text(MANUAL)
    (tmp_path / "facts.py").write_text(
        "import os, sys, time\n"
        "print('loaded'); os.write(1, b'loaded')\n"
        "def told(look, x): return True\n"
        "def fine(look, x):\n"
        '    print(\'{"jsonrpc":"2.0","id":9,"result":{}}\'); os.write(1, b\'{}\\n\')\n'
        "    while x == 'hang': pass\n"
        "    if x == 'exit': sys.exit(0)\n"
        "    return True\n"
    )
    options = ["--manual", "m.yaml", "--python", "facts.py"]
    command = ["-m", "rpms", "guard", "mcp", *options, "--", sys.executable, "-c", SERVER]
    proxy = mcp.StdioServerParameters(
        command=sys.executable, args=command, cwd=tmp_path, env=dict(os.environ)
    )

    async def scenario() -> None:
        async with mcp.Client(proxy) as client:
            failed = {}
            for x in ("hang", "exit", "fine"):
                failed[x] = bool((await client.call_tool("act", {"x": x})).is_error)
            assert failed == {"hang": True, "exit": True, "fine": False}

    asyncio.run(asyncio.wait_for(scenario(), 240))


def test_threads_that_come_and_go_leave_no_workers_behind():
    python = PythonFacts(
        read_tool_manual(("m.yaml", MANUAL)), {"fine": both_true, "told": both_true}
    )
    python("fine", None, "x")
    before = len(workers())
    for _ in range(5):
        asking = threading.Thread(target=python, args=("fine", None, "x"))
        asking.start()
        asking.join()
    assert len(workers()) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_was_forked_asks_workers_of_its_own():
    """Threads do not live on in a child: it would wait for one for good."""
    python = PythonFacts(
        read_tool_manual(("m.yaml", MANUAL)), {"fine": both_true, "told": both_true}
    )
    assert python("fine", None, "x") is True
    child = os.fork()
    if child == 0:
        os._exit(0 if python("fine", None, "x") is True else 1)
    deadline = time.monotonic() + 60
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < deadline:
        time.sleep(0.02)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended
    assert os.waitstatus_to_exitcode(status) == 0


def both_true(_look, _x):
    return True


def test_a_file_whose_error_cannot_be_told_is_one_line(tmp_path):
    """The error of somebody else's code may raise another where its text is asked for."""
    file = tmp_path / "facts.py"
    file.write_text(
        "class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise Mute\n"
    )
    with pytest.raises(FileError, match=r"facts\.py: cannot be run: Mute: \(no text\)$"):
        load_python(file)
