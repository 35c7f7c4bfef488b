"""A live game on the real engine, TextWorld: one child process a game, since it is not thread-safe and leaks."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from rpms.core.errors import FileError, InputError, WorldError
from rpms.worlds.base import Outcome

_WORKER = Path(__file__).with_name("_textworld_worker.py")
_MISSING = "the engine 'textworld' needs ALFWorld's own packages: pip install 'rpms[alfworld]'"


def textworld_available() -> bool:
    """True if the real engine is installed beside this package."""
    return all(find_spec(name) is not None for name in ("alfworld", "textworld", "fast_downward"))


class TextWorldGame:
    """The same game as `NativeGame`, played by the engine that ALFWorld ships.

    It loads in seconds and steps at about ten a second; it is here to be compared with. The child ends with `close`,
    with this object, and, as its input then ends, with this process however that dies.
    """

    def __init__(self, path: str | Path, *, load_timeout: float = 120.0, step_timeout: float = 30.0) -> None:
        """Start the child and wait until the game is loaded."""
        if not textworld_available():
            raise InputError(_MISSING)
        if not Path(path).is_file():
            raise FileError(path, None, "no such game file")
        self._step_timeout = step_timeout
        self._admissible: tuple[str, ...] = ()
        process = subprocess.Popen(  # noqa: S603 - this interpreter on this package's own script
            [sys.executable, "-P", "-X", "utf8", str(_WORKER), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        self._process = process
        self._replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        assert process.stdout is not None
        threading.Thread(target=_pump, args=(process.stdout, self._replies), daemon=True).start()
        self._end = weakref.finalize(self, _end, process)
        hello = self._receive(load_timeout, "load the game")
        if "ready" not in hello:
            self.close()
        if "missing" in hello:
            raise InputError(f"{_MISSING} ({_one_line(hello['missing'])})")
        if "error" in hello:
            raise FileError(path, None, f"TextWorld cannot load it: {_one_line(hello['error'])}")

    def reset(self) -> Outcome:
        return self._ask({"reset": True})

    def step(self, command: str) -> Outcome:
        return self._ask({"step": command})

    def admissible(self) -> tuple[str, ...]:
        return self._admissible

    def close(self) -> None:
        """End the child process. Calling it twice does no harm."""
        self._end()

    def _ask(self, request: Mapping[str, Any]) -> Outcome:
        if not self._end.alive:
            raise WorldError("this TextWorld game is closed")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failure("TextWorld's process has ended") from None
        reply = self._receive(self._step_timeout, "answer a command")
        if "error" in reply:
            raise self._failure(f"TextWorld failed: {_one_line(reply['error'])}")
        self._admissible = tuple(reply["admissible"])
        won = reply["won"]
        return Outcome(reply["observation"], 1.0 if won else 0.0, won=won, done=won)

    def _receive(self, timeout: float, what: str) -> dict[str, Any]:
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise self._failure(f"TextWorld took over {timeout:g} s to {what}") from None
        if not line:
            raise self._failure(f"TextWorld's process ended before it could {what}")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _failure(self, problem: str) -> WorldError:
        self.close()
        return WorldError(problem)


def _pump(stream: IO[str], replies: queue.SimpleQueue[str]) -> None:
    """Pass replies on, then the empty line that says there are no more."""
    with stream:
        for line in stream:
            replies.put(line)
    replies.put("")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
