"""`python ARGUMENTS` in a process of its own, which on Linux is this one, forked: it has loaded
already what a new interpreter would load for seconds first. What runs, its pipes and its signals
are the same.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from typing import IO


class ForkedPython:
    """A forked process, with as much of `subprocess.Popen` as tests of servers use."""

    def __init__(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str] | None = None,
        stdin: int | IO | None = None,
        stdout: int | IO | None = None,
        stderr: int | IO | None = None,
    ) -> None:
        self.returncode: int | None = None
        self.stdin, theirs_in = _pipe_to(stdin)
        self.stdout, theirs_out = _pipe_from(stdout)
        self.stderr, theirs_err = _pipe_from(stderr)
        theirs = (theirs_in, theirs_out, theirs_err)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            for pipe in filter(None, (self.stdin, self.stdout, self.stderr)):
                os.close(pipe.fileno())
            _run(arguments, env, theirs)
        for given, fd in zip((stdin, stdout, stderr), theirs, strict=True):
            if given == subprocess.PIPE:
                os.close(fd)

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("forked python", timeout)
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _pipe_to(given: int | IO | None) -> tuple[IO | None, int | None]:
    """A pipe to write to, and its other end; without a pipe, what the process is to read."""
    if given != subprocess.PIPE:
        return None, _number(given)
    reading, writing = os.pipe()
    return os.fdopen(writing, "wb"), reading


def _pipe_from(given: int | IO | None) -> tuple[IO | None, int | None]:
    """A pipe to read from, and its other end; without a pipe, what the process is to write to."""
    if given != subprocess.PIPE:
        return None, _number(given)
    reading, writing = os.pipe()
    return os.fdopen(reading, "rb"), writing


def _number(given: int | IO | None) -> int | None:
    return given if given is None or isinstance(given, int) else given.fileno()


def _run(
    arguments: Sequence[str], env: Mapping[str, str] | None, theirs: Sequence[int | None]
) -> None:
    """Be the new process, from its first line to its exit code."""
    code = 1
    try:
        for place, fd in enumerate(theirs):
            if fd is not None:
                os.dup2(fd, place)
        sys.stdin = os.fdopen(0)
        sys.stdout = os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        warnings.resetwarnings()
        warnings.simplefilter("ignore")  # in a test they are errors
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        _run_arguments(arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  as an interpreter ends
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run_arguments(arguments: Sequence[str]) -> None:
    match arguments:
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        case [file, *rest]:
            sys.argv = [file, *rest]
            runpy.run_path(file, run_name="__main__")


def start_python(arguments: Sequence[str], **given) -> ForkedPython | subprocess.Popen:
    """Start `python ARGUMENTS`; elsewhere than on Linux, by a new interpreter."""
    if sys.platform == "linux":
        return ForkedPython(arguments, **given)
    return subprocess.Popen([sys.executable, *arguments], **given)
