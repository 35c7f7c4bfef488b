"""Shared by all tests: no model request leaves this machine, and data beside the repository is
optional.
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from rpms.logic.errors import InputError
from rpms.worlds.jvm.process import JAVA_VARIABLE, find_java
from rpms.worlds.scienceworld.world import PROGRAM

os.environ["RPMS_FORBID_REQUESTS"] = "1"
signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's background job, and all it starts, would ignore it

# The same examples on every machine and run; RPMS_EXPLORE=1 draws new ones.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=60,
    derandomize="RPMS_EXPLORE" not in os.environ,
    database=None,
)
settings.load_profile("default")


def pytest_configure(config: pytest.Config) -> None:
    """Have every JVM compile quickly: in the seconds that a test's lives, to compile well costs
    twice what it saves.
    """
    if os.name == "nt" or JAVA_VARIABLE in os.environ or "RPMS_SLOW" in os.environ:
        return
    try:
        java = find_java(PROGRAM)
    except InputError:
        return
    folder = tempfile.TemporaryDirectory(prefix="rpms-tests-")
    config.add_cleanup(folder.cleanup)
    script = Path(folder.name) / "java"
    script.write_text(f'#!/bin/sh\nexec "{java}" -XX:TieredStopAtLevel=1 "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    os.environ[JAVA_VARIABLE] = str(script)  # workers and what they start have it from here


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests that take longest, so that no worker is left alone with one at the
    end.
    """
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Spare the garbage collector a million objects that live to the end."""
    gc.freeze()


SHARED = Path(__file__).resolve().parent.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded material beside the repository, where there is one."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder beside the repository")
    return SHARED
