"""The commands put together: what there is follows from the application, not from a list here."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

import pytest
import typer
import typer.main

from rpms import __version__
from rpms.cli import learn, run, study
from rpms.cli.app import make_app
from rpms.cli.resources import Resources
from rpms.paper.enforcement import PARTS
from tests.cli.command import Rpms


def _all_of(command: Any, *before: str) -> Iterator[tuple[str, ...]]:
    for name in getattr(command, "commands", {}):
        yield (*before, name)
        yield from _all_of(command.get_command(None, name), *before, name)


COMMANDS = tuple(_all_of(typer.main.get_command(make_app())))


def test_help_names_every_command(rpms: Rpms):
    said = rpms("--help")
    assert said.code == 0
    assert all(f" {names[0]} " in said.out for names in COMMANDS)
    assert rpms("-h").out == said.out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_that_says_what_it_does(rpms: Rpms, command: tuple[str, ...]):
    said = rpms(*command, "--help")
    assert said.code == 0
    usage, says, *_ = re.split(r"\n\s*\n", said.out.strip())
    assert f"rpms {' '.join(command)}" in usage
    assert says.strip()[0].isalpha()


PLAYS = {"run": run.main, "learn": learn.learn_memory, "study": study.main}


@pytest.mark.parametrize("command", PLAYS.values(), ids=PLAYS)
def test_what_plays_is_asked_for_in_one_way(command: Any):
    names = [each.name for each in fields(Resources)]
    assert [_option(command, name) for name in names] == [
        _option(PLAYS["run"], name) for name in names
    ]


def _option(command: Any, name: str) -> tuple[Any, ...]:
    parameter = inspect.signature(command).parameters[name]
    kind, option = get_args(parameter.annotation)
    return kind, vars(option), parameter.default


@pytest.mark.parametrize("engine", ["ray", "native,ray"])
def test_a_cluster_is_no_engine(rpms: Rpms, engine: str):
    assert "add --ray" in rpms("run", "alfworld", "--engine", engine).line


_HELPS = """
import sys
from rpms.cli import main
for command in sys.argv[1:]:
    sys.argv[1:] = [command, "--help"]
    try:
        main()
    except SystemExit:
        print("=====")
"""


def test_no_part_of_the_enforcement_is_cut_off_on_a_narrow_screen():
    environment = {**os.environ, "COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    arguments = [sys.executable, "-c", _HELPS, "play", "run", "learn"]
    printed = subprocess.run(
        arguments, capture_output=True, text=True, timeout=100, check=True, env=environment
    ).stdout
    *helps, rest = printed.split("=====\n")
    assert (len(helps), rest) == (3, "")
    for said in helps:
        assert max(map(len, said.splitlines())) == 80
        words = " ".join(line.strip("│ ").rpartition("  ")[2] for line in said.splitlines())
        assert f"{', '.join(PARTS)}. docs/enforcement.md lists their values." in words


def test_without_a_command_the_help_is_shown(rpms: Rpms):
    said = rpms()
    assert "play" in said.out + said.err


def test_a_wrong_option_is_a_usage_error(rpms: Rpms):
    said = rpms("play", "alfworld", "--nope")
    assert said.code == 2
    assert "--nope" in said.err


def test_the_installed_command_in_a_process_of_its_own():
    def rpms_process(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rpms", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    assert rpms_process("--version").stdout == f"rpms {__version__}\n"
    wrong = rpms_process("play", "alfwrld")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("rpms: unknown world 'alfwrld', did you mean alfworld?")
    assert wrong.stderr.count("\n") == 1


def test_the_command_loads_no_extra_before_it_is_needed():
    extras = {
        "scipy",
        "matplotlib",
        "jinja2",
        "numpy",
        "pyarrow",
        "ray",
        "inspect_ai",
        "mcp",
        "gymnasium",
        "openai",
    }
    code = f"import sys, rpms.cli.app; print(sorted({extras} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip() == "[]"
