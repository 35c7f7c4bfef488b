"""The command line's door: everything that goes wrong behind it becomes one line and an exit code.

Importing this loads nothing else, so that Ctrl-C ends quietly from the first moment on.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run a command. A user's mistake is one line and exit code 2; what a world or model did wrong is exit code 1."""
    try:
        import signal  # noqa: PLC0415  into which Ctrl-C may fall, as into all that follows

        signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's Ctrl-C
        _run()
    except KeyboardInterrupt:
        try:
            os.write(2, b"rpms: interrupted\n")
        finally:
            sys.exit(130)


def _run() -> None:
    from rpms.cli import screen  # noqa: PLC0415  half a second that Ctrl-C may fall into
    from rpms.core.errors import InputError, RPMSError  # noqa: PLC0415

    try:
        screen.prepare_streams()
        from rpms.cli.app import app  # noqa: PLC0415

        try:
            code = app(standalone_mode=False)
        finally:
            screen.flush((sys.stdout,))
        sys.exit(code if isinstance(code, int) else 0)
    except BrokenPipeError:
        screen.silence_stdout()
        sys.exit(0)
    except RPMSError as error:
        screen.complain(f"rpms: {error}")
        sys.exit(2 if isinstance(error, InputError) else 1)
    except screen.UsageError as error:
        sys.exit(screen.explain(error))
    except OSError as error:  # a file or a stream that nobody expected to fail
        screen.silence_stdout()
        where = f"{error.filename}: " if error.filename else "standard output, or a file: "
        screen.complain(f"rpms: {where}{error.strerror or type(error).__name__}")
        sys.exit(2)
