"""One command of rpms in this process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path

from rpms.logic.errors import InputError


def run_command(words: list[str], folder: Path) -> None:
    """Run a command in a folder; exit code 2 is an InputError, and one that is not documented a
    failure.
    """
    from rpms.cli import main  # noqa: PLC0415  slow to load

    before, where = sys.argv, Path.cwd()
    out, error = io.StringIO(), io.StringIO()
    os.chdir(folder)
    sys.argv = ["rpms", *words]
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
        os.chdir(where)
    if code not in (0, 1, 2, 130):
        raise AssertionError(f"exit code {code}")
    if code == 2:
        raise InputError(error.getvalue().rstrip("\n"))
