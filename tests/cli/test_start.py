"""A command line loads what it names and nothing else: counted in modules, not in seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rpms.cli.app import COMMANDS, imported
from rpms.guard.guard import Guard
from tests.guard.test_guard import CANCEL, SHOP

_LOADED = """
import sys
sys.argv = ["rpms", *{words!r}]
from rpms.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded:", *sys.modules)
"""
HEAVY = {"ruamel", "rapidfuzz", "openai", "filelock", "multiprocessing", "asyncio"}


def loaded(*words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED.format(words=words)],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return set(done.stdout.rpartition("loaded:")[2].split())


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("runn",)], ids=" ".join)
def test_help_and_mistakes_import_no_command(words: tuple[str, ...]):
    names = loaded(*words)
    assert not {f"rpms.cli.{each.module}" for each in COMMANDS.values()} & names
    assert not HEAVY & names


def test_a_command_imports_its_own_module_and_no_other_commands():
    names = loaded("memory", "--help")
    commands = {f"rpms.cli.{each.module}" for each in COMMANDS.values()}
    assert commands & names == {"rpms.cli.memory"}


def test_the_guard_starts_without_worlds_models_and_pages():
    names = loaded("guard", "mcp", "--nope")
    rooms = {name.split(".")[1] for name in names if name.startswith("rpms.")}
    assert not {"worlds", "models", "planning"} & rooms
    assert "rpms.report.pages" not in names


def test_a_page_about_a_guards_log_loads_nothing_that_draws(tmp_path):
    log = tmp_path / "log.jsonl"
    Guard(SHOP, log=log).check(CANCEL)
    names = loaded("report", str(log), "--out", str(tmp_path / "pages"))
    assert "rpms.report.guard_pages" in names
    assert not {"matplotlib", "rpms.report.figures"} & names


def test_an_options_help_names_what_only_the_settings_know():
    done = subprocess.run(
        [sys.executable, "-m", "rpms", "run", "--help"],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert "memory-only" in done.stdout
    assert "{conditions}" not in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_all_commands_says_what_each_says_of_itself(name: str):
    assert imported(name, COMMANDS[name]).help.split("\n")[0] == COMMANDS[name].summary
