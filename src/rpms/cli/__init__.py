"""The command line's door: everything that goes wrong behind it becomes one line and an exit code.

Importing this loads nothing else, so that Ctrl-C ends quietly from the first moment on.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import partial

__all__ = ["main"]

TYPE_CHECKING = False  # as type checkers know it, without an import to wait for
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GARBAGE = (20_000, 20, 50)
"""Thresholds of the garbage collector. Steps make many small values and hardly a circle: by its own
thresholds, looking for circles takes a twelfth of a run."""
_INTERRUPTED = b"rpms: interrupted\n"


def main() -> None:
    """Run a command.

    It exits with 2 at a user's mistake, 1 at what a world or model did wrong, 3 at a user's limit.
    """
    try:
        import signal  # noqa: PLC0415  into which Ctrl-C may fall, as into all that follows

        # While modules are loaded nothing is open yet, and some turn an interrupt into another
        # error: end at once.
        before = [
            (sign, signal.signal(sign, _end_at_once)) for sign in (signal.SIGINT, signal.SIGTERM)
        ]
        from rpms.cli import screen  # noqa: PLC0415
        from rpms.cli.app import make_app  # noqa: PLC0415

        command = partial(make_app(), standalone_mode=False)
        for sign, handler in before:  # SIGTERM is a scheduler's Ctrl-C
            signal.signal(sign, signal.default_int_handler if sign == signal.SIGTERM else handler)
        _run(screen, command)
    except KeyboardInterrupt:
        try:
            os.write(2, _INTERRUPTED)
        finally:
            sys.exit(130)


def _end_at_once(*_: object) -> None:
    try:
        os.write(2, _INTERRUPTED)
    finally:
        os._exit(130)


def _run(screen: Any, command: Callable[[], object]) -> None:
    """Run a command and exit with the code for its outcome."""
    from rpms.logic.errors import RPMSError  # noqa: PLC0415

    try:
        code = _completed(screen, command)
    except BrokenPipeError:
        screen.silence_stdout()
        sys.exit(0)
    except RPMSError as error:
        screen.complain(f"rpms: {error}")
        sys.exit(error.exit_code)
    except OSError as error:  # a file or a stream that nobody expected to fail
        screen.silence_stdout()
        where = f"{error.filename}: " if error.filename else "standard output, or a file: "
        screen.complain(f"rpms: {where}{error.strerror or type(error).__name__}")
        sys.exit(2)
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python says so where a class is made
            raise KeyboardInterrupt from None
        if not hasattr(error, "ctx"):  # of a wrong command line; to name its class would load typer
            raise
        sys.exit(screen.explain(error))
    sys.exit(code if isinstance(code, int) else 0)


def _completed(screen: Any, command: Callable[[], object]) -> object:
    """Run a command, and write out all that it printed; returns what the command returned."""
    gc.set_threshold(*GARBAGE)
    screen.prepare_streams()
    try:
        with screen.answering_at_once():
            code = command()
    finally:
        screen.flush()
    if code == 130:  # typer makes this of Ctrl-C, without a word
        raise KeyboardInterrupt
    return code
