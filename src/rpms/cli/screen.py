"""Everything printed passes here: text of files, models and servers cannot command a terminal."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from rpms.foreign.shown import lines, one_line
from rpms.logic.errors import FileError, InputError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment


def say(*texts: str) -> None:
    """Print texts on standard output, each from a new line."""
    for text in texts:
        print(lines(text), flush=True)  # noqa: T201


def complain(*texts: str) -> None:
    """Print texts on standard error, each as one line.

    A line and its end are one write: what is said of a Ctrl-C between them would stand on the
    same line.
    """
    for text in texts:
        print(f"{one_line(text)}\n", end="", file=sys.stderr, flush=True)  # noqa: T201


MOST_MISTAKES = 20
"""Mistakes printed at once: more are seldom read, and often follow from these."""


def stop_at_mistakes(mistakes: Sequence[FileError]) -> None:
    """Print the mistakes of a manual with file and line, and exit with code 2; without any, go
    on.
    """
    complain(*(f"rpms: {mistake}" for mistake in mistakes[:MOST_MISTAKES]))
    if len(mistakes) > 1:
        rest = len(mistakes) - MOST_MISTAKES
        not_shown = f", {rest} of them not shown" if rest > 0 else ""
        complain(f"rpms: {len(mistakes)} mistakes{not_shown}")
    if mistakes:
        raise SystemExit(2)


def explain(error: Any) -> int:
    """Tell in one line what is wrong with a command line, and where help is; the exit code."""
    context = error.ctx
    if context is not None and type(error).__name__ == "NoArgsIsHelpError":
        help_text = error.format_message().strip()
        if help_text:  # else typer has printed it
            say(help_text)
    else:
        advice = f"; `{context.command_path} --help` tells more" if context is not None else ""
        complain(f"rpms: {error.format_message().rstrip('.')}{advice}")
    return int(error.exit_code)


def make_console(**options: Any) -> Console:
    """The console that every command prints tables and live displays on.

    Control codes within texts are left out.
    """
    from rich.console import Console  # noqa: PLC0415  few commands wait for it
    from rich.segment import Segment  # noqa: PLC0415

    class SafeConsole(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(lines(segment.text), segment.style)

    return SafeConsole(emoji=False, highlight=False, **options)


def show_logs() -> None:
    """Print what is logged from here on, as complaints."""
    import logging  # noqa: PLC0415  neither help nor a mistake waits for it

    class Complaints(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            complain(record.getMessage())

    log = logging.getLogger("rpms")
    if not log.handlers:
        log.addHandler(Complaints())


def prepare_streams() -> None:
    """Make standard streams that can be written to, whatever this process was started with."""
    closed = []
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # taken, so that no file of a run gets this number, which is the lowest that is free
            closed.append(os.open(os.devnull, os.O_RDWR))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a letter that it cannot encode is a question mark
            stream.reconfigure(errors="replace")
    if sys.stdout is None or 1 in closed:
        raise InputError("standard output is closed: redirect it to a file or to /dev/null")


def flush() -> None:
    """Write what is still to be written; OSError where it cannot be."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def silence_stdout() -> None:
    """Send what is left for standard output nowhere, so that Python does not complain of it
    when it ends.
    """
    with suppress(OSError, ValueError, AttributeError):  # not a real stream, or none
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


STOPPING = (
    "rpms: stopping; what is finished is kept. It takes longer while a step ends, a model is being"
    " loaded or a cluster shuts down"
)
PATIENCE = 0.5
"""Seconds after which a command that has not ended says that it is stopping."""


@contextmanager
def answering_at_once() -> Iterator[None]:
    """While this lasts, a command that was told to stop and is still there soon after says so on
    standard error, and no Ctrl-C is lost.

    Python's own handlers wait until the main thread is back from whatever library it is in; the
    number of the signal is written to a pipe at once, and another thread reads it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    ended = threading.Event()
    wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    hook_before = sys.unraisablehook
    sys.unraisablehook = partial(_interrupt_again, hook_before)
    threading.Thread(target=_answer, args=(reader, ended), name="stopping", daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        sys.unraisablehook = hook_before
        signal.set_wakeup_fd(wakeup_before)
        os.close(writer)  # and so the thread ends


def _interrupt_again(hook_before: Callable[[Any], object], lost: Any) -> None:
    """Send a Ctrl-C once more that fell where nothing can be raised, such as the end of a weak
    reference while a module is loaded: Python would print it, and go on as if nobody had asked.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        hook_before(lost)
        return
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    # from another thread, and a little later: at once it would fall into the same place
    again = threading.Timer(0.01, signal.pthread_kill, (main_thread, signal.SIGINT))
    again.daemon = True
    again.start()


def _answer(reader: int, ended: threading.Event) -> None:
    said = False
    try:
        while signs := os.read(reader, 64):
            asked = signal.SIGINT in signs or signal.SIGTERM in signs
            if asked and not said and not ended.wait(PATIENCE):
                said = True
                complain(STOPPING)  # a live display shows it above itself
    finally:
        os.close(reader)
