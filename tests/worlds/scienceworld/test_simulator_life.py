"""No JVM outlives the process that started it, however that process ends: shown with real
processes and signals.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals"),
]

START = (
    "import os, sys, time; from rpms.worlds.jvm.process import shared_jvm; "
    "from rpms.worlds.scienceworld.world import PROGRAM; say = lambda *a: print(*a, flush=True)"
)
GONE_WITHIN_S = 60.0


@contextlib.contextmanager
def python(program: str) -> Iterator[subprocess.Popen[str]]:
    source = f"{START}\n{textwrap.dedent(program)}"
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is sent to the group, as a terminal would
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def runs(pid: int) -> bool:
    """True if a process is alive; one that is dead but not yet reaped by its adopter is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not Path("/proc/self").exists()


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + GONE_WITHIN_S
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not runs(pid)


def numbers(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    return [int(word) for word in process.stdout.readline().split()]


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("sys.exit(0)", 0),
        ("raise RuntimeError('boom')", 1),
        ("os.kill(os.getpid(), 15); time.sleep(60)", -15),
    ],
    ids=["normal exit", "exception", "terminated"],
)
def test_the_jvm_ends_with_its_process(ending, code):
    with python(f"say(shared_jvm(PROGRAM).pid)\n{ending}") as process:
        (jvm,) = numbers(process)
        assert process.wait(60) == code
        assert is_gone(jvm)


def test_the_jvm_ends_on_ctrl_c_and_python_says_only_that():
    with python("say(shared_jvm(PROGRAM).pid); time.sleep(60)") as process:
        (jvm,) = numbers(process)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
        assert is_gone(jvm)
        assert process.stderr is not None
        assert process.stderr.read().strip().endswith("KeyboardInterrupt")


def test_ctrl_c_does_not_reach_the_jvm_itself():
    program = """
    import signal
    caught = []
    signal.signal(signal.SIGINT, lambda *_: caught.append(1))
    jvm = shared_jvm(PROGRAM)
    say(jvm.pid)
    while not caught:
        time.sleep(0.05)
    time.sleep(0.5)
    say(int(jvm.alive))
    """
    with python(program) as process:
        (jvm,) = numbers(process)
        os.killpg(process.pid, signal.SIGINT)
        assert numbers(process) == [1]
        assert process.wait(60) == 0
        assert is_gone(jvm)


def test_kill_9_of_a_worker_ends_its_jvm_and_not_its_parents():
    program = """
    import multiprocessing
    def work(pipe):
        pipe.send(shared_jvm(PROGRAM).pid)
        time.sleep(60)
    if __name__ == "__main__":
        context = multiprocessing.get_context("fork")
        mine = shared_jvm(PROGRAM)
        ours, theirs = context.Pipe()
        worker = context.Process(target=work, args=(theirs,))
        worker.start()
        say(mine.pid, worker.pid, ours.recv())
        worker.join()
        say(int(mine.alive))
    """
    with python(program) as process:
        mine, worker, workers = numbers(process)
        assert mine != workers
        os.kill(worker, signal.SIGKILL)
        assert numbers(process) == [1]
        assert is_gone(workers)
        assert process.wait(60) == 0
        assert is_gone(mine)


def test_kill_9_of_the_parent_ends_its_jvm_though_a_forked_worker_lives_on():
    program = """
    mine = shared_jvm(PROGRAM)
    worker = os.fork()
    if worker == 0:
        time.sleep(60)
        os._exit(0)
    say(mine.pid, worker)
    time.sleep(60)
    """
    with python(program) as process:
        jvm, worker = numbers(process)
        try:
            os.kill(process.pid, signal.SIGKILL)
            process.wait(60)
            assert is_gone(jvm)
            assert runs(worker)
        finally:
            os.kill(worker, signal.SIGKILL)


def test_the_folder_of_a_killed_process_is_removed_by_the_next_start_and_one_in_use_is_not(
    tmp_path,
):
    def start(end: str) -> str:
        return f"import tempfile; tempfile.tempdir = {str(tmp_path)!r}; say(shared_jvm(PROGRAM).pid); {end}"

    with python(start("time.sleep(60)")) as killed, python(start("time.sleep(60)")) as in_use:
        (jvm,) = numbers(killed)
        numbers(in_use)
        os.kill(killed.pid, signal.SIGKILL)
        assert is_gone(jvm)
        left = sorted(tmp_path.iterdir())
        assert len(left) == 2
        for folder in left:
            os.utime(folder, (0, 0))  # old enough to be looked at
        with python(start("sys.exit(0)")) as cleaner:
            assert cleaner.wait(60) == 0
        assert len(list(tmp_path.iterdir())) == 1
        assert runs(in_use.pid)


def test_kill_9_while_the_jvm_is_starting_leaves_none():
    program = """
    import rpms.worlds.jvm.process as module
    real = module.subprocess.Popen
    def announced(*args, **kwargs):
        process = real(*args, **kwargs)
        say(process.pid)
        return process
    java = module.find_java(PROGRAM)
    module.subprocess.Popen = announced
    module.Jvm(PROGRAM, java)
    """
    with python(program) as process:
        (jvm,) = numbers(process)
        os.kill(process.pid, signal.SIGKILL)
        assert is_gone(jvm)


def test_a_game_carried_into_a_forked_child_is_refused_there():
    program = """
    from rpms.logic.errors import WorldError
    from rpms.worlds.scienceworld.world import ScienceWorldGame
    with ScienceWorldGame("boil", 0) as game:
        game.reset()
        game.step("wait1")
        child = os.fork()
        if child == 0:
            try:
                game.step("look around")
            except WorldError as error:
                os._exit(7 if "belongs to the process that started it" in str(error) else 8)
            os._exit(9)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        say(len(game.step("open door to kitchen").observation))
    """
    with python(program) as process:
        assert numbers(process) == [7]
        assert numbers(process) == [len("The door is now open.")]
        assert process.wait(60) == 0
