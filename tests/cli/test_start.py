"""A command line loads what it names and nothing else: counted in modules, not in seconds."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Annotated, get_args, get_origin

import pytest

from rpms.cli.app import COMMANDS, make_app

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
def test_help_and_mistakes_load_a_handful_of_modules(words: tuple[str, ...]):
    names = loaded(*words)
    own = {name for name in names if name.split(".")[0] == "rpms"}
    assert len(own) <= 12
    assert not (HEAVY | {"markdown_it", "pygments", "logging"}) & names
    assert len(names) <= 300


def test_the_guard_starts_without_worlds_models_and_pages():
    names = loaded("guard", "mcp", "--nope")
    rooms = {name.split(".")[1] for name in names if name.startswith("rpms.")}
    assert rooms <= {"cli", "core", "foreign", "guard", "store"}


@pytest.mark.parametrize("words", [("--help",), ("--nope",), ("--timeout", "soon")], ids=" ".join)
def test_the_guards_help_and_mistakes_wait_neither_for_the_guard_nor_for_typer(
    words: tuple[str, ...],
):
    names = loaded("guard", "mcp", *words)
    assert not {"typer", "rich", "ruamel", "rpms.guard"} & names
    assert len(names) <= 110


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "learn",
        "play",
        "study run",
        "rules show",
        "rules learn",
        "guard check",
        "show",
        "report",
        "export",
    ],
)
def test_a_mistake_in_an_option_loads_the_options_alone_and_nothing_that_plays(command: str):
    names = loaded(*command.split(), "--nope")
    own = {name for name in names if name.split(".")[0] == "rpms"}
    assert own <= {
        name
        for name in own
        if name.split(".")[1:2] in ([], ["cli"], ["core"], ["foreign"], ["play"])
    }
    assert len(own) <= 16
    assert (
        not (
            HEAVY
            | {"logging", "pydantic", "rich", "torch", "transformers", "ray", "scipy", "numpy"}
        )
        & names
    )
    assert len(names) <= 200
    assert not {f"rpms.{each.module}" for each in COMMANDS.values()} & names


def test_a_command_told_by_its_source_is_the_one_that_is_loaded():
    def options(command):
        every = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [each for each in every if each.name not in ("resources", "settings")]
        kinds = [
            get_args(each.annotation)
            if get_origin(each.annotation) is Annotated
            else (each.annotation,)
            for each in parameters
        ]
        return [
            (each.name, kind, each.default)
            for each, (kind, *_) in zip(parameters, kinds, strict=True)
        ]

    told_ones = 0
    for known in COMMANDS.values():
        loaded_one = known.load()
        each = {
            part.name: part.callback for part in getattr(loaded_one, "registered_commands", ())
        } or {"": loaded_one}
        for part, command in each.items():
            if (unloaded := known.unloaded(part)) is not None:
                told_ones += 1
                assert unloaded.__doc__ == inspect.getdoc(command)
                assert options(unloaded) == options(command)
    assert told_ones > 20


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


def test_the_help_of_all_commands_says_what_each_says_of_itself():
    whole = make_app()
    said = {each.name: (each.help or "").split("\n")[0] for each in whole.registered_commands}
    said |= {
        each.name: each.typer_instance.info.help
        for each in whole.registered_groups
        if each.typer_instance
    }
    assert said == {name: known.summary for name, known in COMMANDS.items()}
