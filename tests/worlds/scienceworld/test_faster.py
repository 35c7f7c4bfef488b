"""The edited classes: which jars they are made from, and that games say what they say without
them.
"""

from __future__ import annotations

import sys
import zipfile

import pytest

from rpms.worlds.jvm import process
from rpms.worlds.jvm.process import shared_jvm, shutdown
from rpms.worlds.scienceworld import faster
from rpms.worlds.scienceworld.faster import ClassFile
from rpms.worlds.scienceworld.world import PROGRAM, ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)
WALK = (
    *(
        "look around",
        "open door to kitchen",
        "go to kitchen",
        "look around",
        "open cupboard",
        "pick up metal pot",
    ),
    *(
        "move metal pot to sink",
        "activate sink",
        "deactivate sink",
        "focus on substance in metal pot",
        "pick up sofa",
    ),
    *(
        "examine substance in metal pot",
        "inventory",
        "frobnicate",
        "wait1",
        "look around",
        "look at the table",
    ),
)


@pytest.fixture
def jar():
    return PROGRAM.jars()[1]


def transcript() -> list[tuple[list[str], float, bool]]:
    """The answer to each command of a walk, whatever the order of the lines."""
    with ScienceWorldGame("boil", 0) as game:
        outcomes = [game.reset(), *(game.step(command) for command in WALK)]
    return [
        (sorted(outcome.observation.splitlines()), outcome.score, outcome.done)
        for outcome in outcomes
    ]


def test_a_class_that_is_not_edited_stays_as_it_is(jar):
    with zipfile.ZipFile(jar) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.startswith("scienceworld/") and name.endswith(".class")
        ]
        for name in names:
            assert ClassFile(archive.read(name)).to_bytes() == archive.read(name)
    assert len(names) > 500


@pytest.mark.parametrize("data", [b"PK\x03\x04 no class at all", bytes(20)])
def test_what_is_no_class_is_refused(data):
    with pytest.raises(ValueError, match="not a Java class"):
        ClassFile(data)


def test_edits_that_do_not_fit_are_refused(jar):
    with zipfile.ZipFile(jar) as archive:
        edited = ClassFile(archive.read("scienceworld/struct/EnvObject.class"))
    with pytest.raises(ValueError, match="no method frobnicate"):
        edited.replace_method("frobnicate", "()V", b"", stack=1)
    with pytest.raises(ValueError, match="does not have the instructions"):
        edited.exchange("getName", "()Ljava/lang/String;", b"\xff\xff", b"\xff\xfe")


@pytest.mark.parametrize("change", ["other", "missing"])
def test_from_a_jar_that_is_not_known_nothing_is_written(jar, tmp_path, change):
    other = tmp_path / "other.jar"
    with zipfile.ZipFile(jar) as archive, zipfile.ZipFile(other, "w") as copy:
        for name in faster.EDITED:
            data = archive.read(f"{name}.class")
            if not name.endswith("$"):
                copy.writestr(f"{name}.class", data)
            elif change == "other":
                copy.writestr(f"{name}.class", data + b"\0")
    assert not faster.write_faster_classes(other, tmp_path / "classes")
    assert not (tmp_path / "classes").exists()
    assert faster.write_faster_classes(jar, tmp_path / "classes")
    assert len(list((tmp_path / "classes").rglob("*.class"))) == len(faster.EDITED)


def test_games_say_the_same_with_and_without_the_edited_classes(monkeypatch):
    assert len(shared_jvm(PROGRAM).class_path) == 2
    edited = transcript()
    monkeypatch.setattr(process, "_shared", {})  # the JVM of other tests, which is warm, stays
    monkeypatch.setattr(
        sys.modules[ScienceWorldGame.__module__], "write_faster_classes", lambda *_: ()
    )
    assert len(shared_jvm(PROGRAM).class_path) == 1
    assert transcript() == edited
    shutdown()
