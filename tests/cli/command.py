"""The command line as a user meets it: what was printed, what went wrong, and the exit code."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import typer.main

from rpms.cli import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line that a user's mistake is told in."""
        lines = self.err.splitlines()
        assert (self.code, len(lines), self.out) == (2, 1, ""), self
        assert lines[0].startswith("rpms: ")
        return lines[0].removeprefix("rpms: ")


Rpms = Callable[..., Ran]

commands = functools.cache(typer.main.get_command)
"""A process builds its commands once; this one runs hundreds of them."""


@pytest.fixture
def rpms(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rpms:
    """Run `rpms ARGUMENTS` in this process, through the same function as the installed command."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    monkeypatch.setattr(typer.main, "get_command", commands)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["rpms", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Ran(int(str(code)), printed.out, printed.err)

    return run
