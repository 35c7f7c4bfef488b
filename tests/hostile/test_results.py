"""Results depend on nothing but their inputs: not on workers, restarts, races, locales or who
else writes.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.policy import FunctionModel
from rpms.models.recorded import RecordedModel
from rpms.paper.condition import FULL
from rpms.paper.enforcement import STRICT
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.answers import FolderOfAnswers
from rpms.store.own_folders import LIST, replaced_folder
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms
from tests.models.prompts import request
from tests.models.server import openai_ok, serve

ROOT = Path(__file__).parents[2]
WORLD = find_world("alfworld")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


# --- 5: strict, with a server that overlooks constraints ---


def deaf(seen):
    """Answers by the prompt alone, whatever constraint comes with it; now and then with what a
    menu happens to have.
    """
    text = seen.body["messages"][-1]["content"]
    return openai_ok(f"Thought: {len(text)}\nAction: {'look' if len(text) % 3 else 'go to desk 1'}")


def play_strict(server, folder: Path, workers: int, record: Path | None = None) -> dict[str, bytes]:
    store = FolderOfAnswers(record) if record else None
    model = open_model("vllm/m", ModelOptions(base_url=server.url + "/v1"), record=store)
    condition = replace(FULL, enforcement=STRICT)
    design = design_run(
        WORLD,
        model.name,
        lend(model),
        limit=4,
        condition=condition,
        step_budget=6,
        memory=EpisodicMemory(),
    )
    run(design, folder, workers)
    model.close()
    return contents(folder / "episodes")


def test_strict_is_the_same_for_any_workers_and_after_a_restart(tmp_path):
    with serve() as server:
        server.play_script(deaf)
        one = play_strict(server, tmp_path / "one", 1)
        assert play_strict(server, tmp_path / "four", 4) == one
        again = tmp_path / "again"
        play_strict(server, again, 1)
        for file in sorted((again / "episodes").iterdir())[:2]:
            file.unlink()  # as if the run had been killed before these were written
        assert play_strict(server, again, 2) == one
        recorded = play_strict(server, tmp_path / "recorded", 1, tmp_path / "record")
        assert recorded == one
        kept = sorted((tmp_path / "record").rglob("*.json"))
        for file in kept[::3]:
            # a part of the answers is asked for again, by a process that knows nothing of the
            # server
            file.unlink()
        assert play_strict(server, tmp_path / "half", 3, tmp_path / "record") == one
    assert b"not held to the choices" in b"".join(map(gzip.decompress, one.values()))


# --- 6: two processes on one record ---


def test_what_is_played_is_what_is_kept(tmp_path):
    """Another process keeps an answer while this one is still asking."""
    other = RecordedModel(FunctionModel(lambda _: "Action: theirs", "m"), FolderOfAnswers(tmp_path))

    def slow(_request):
        other.answer(request())
        return "Action: ours"

    mine = RecordedModel(FunctionModel(slow, "m"), FolderOfAnswers(tmp_path))
    assert mine.answer(request()).text == "Action: theirs"
    assert mine.answer(request()).text == "Action: theirs"


@pytest.mark.parametrize(
    "wrong",
    [None, [], {}, {"text": 1}, {"text": "x", "finish": None, "notes": [], "usage": {}}, "x"],
    ids=repr,
)
def test_a_recorded_answer_of_a_wrong_form_is_asked_for_again(tmp_path, wrong):
    model = RecordedModel(FunctionModel(lambda _: "Action: look", "m"), FolderOfAnswers(tmp_path))
    model.answer(request())
    (file,) = tmp_path.rglob("*.json")
    entry = json.loads(file.read_text())["entry"] | {"answer": wrong}
    file.unlink()
    FolderOfAnswers(tmp_path).put(file.stem, entry)
    assert model.answer(request()).text == "Action: look"


# --- 7: experience ---


def test_an_emptied_experience_is_noticed_and_learned_again(rpms: Rpms, tmp_path):
    words = ("learn", "alfworld", "--limit", "2", "--rounds", "1", "--out")
    assert rpms(*words, tmp_path / "a" / "memory.jsonl").code == 0
    whole = (tmp_path / "a" / "memory.jsonl").read_bytes()
    experience = tmp_path / "a" / "memory.rounds" / "round1" / "experience"
    first, second = sorted(experience.iterdir())
    lines = second.read_text().splitlines(keepends=True)
    for damage in ("", lines[0], "".join(lines[:-1]), "".join([lines[0], *lines[2:]])):
        first.write_text(damage)
        (tmp_path / "a" / "memory.jsonl").unlink()
        ran = rpms(*words, tmp_path / "a" / "memory.jsonl")
        assert ran.code == 0, ran
        assert "cut off or changed" in ran.out
        assert (tmp_path / "a" / "memory.jsonl").read_bytes() == whole


# --- 8: two reports into one folder ---


def test_reports_written_at_once_leave_one_whole_report(rpms: Rpms, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path / "run"
    model = FunctionModel(lambda _: "Action: look", "m")
    run(
        design_run(WORLD, model.name, lend(model), limit=1, step_budget=3, memory=EpisodicMemory()),
        folder,
    )
    program = "import sys; from rpms.cli import main; main()"
    words = [
        sys.executable,
        "-c",
        program,
        "report",
        str(folder),
        "--out",
        str(tmp_path / "report"),
    ]
    assert rpms(*words[3:]).code == 0
    whole = set(contents(tmp_path / "report"))
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in running:
        _, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
    assert set(contents(tmp_path / "report")) == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report", "run"]


def test_folders_that_are_swapped_in_at_once_are_each_whole(tmp_path):
    target = tmp_path / "target"
    seen: list[set[str]] = []

    def write(number: int) -> None:
        for _ in range(15):
            with replaced_folder(target, "a test") as folder:
                for part in range(4):
                    (folder / f"{number}-{part}").write_text("x")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        try:
            seen.append({path.name for path in target.iterdir()} - {LIST})
        except FileNotFoundError:
            continue
    for thread in threads:
        thread.join()
    assert all(
        names == {f"{next(iter(names))[0]}-{part}" for part in range(4)}
        for names in seen
        if len(names) == 4
    )
    assert len({path.name for path in target.iterdir()} - {LIST}) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_what_a_killed_writer_left_is_cleared_and_the_older_folder_put_back(tmp_path):
    target = tmp_path / "target"
    with replaced_folder(target, "a test") as new:
        (new / "page").write_text("older")
    target.rename(tmp_path / ".target.0123abcd.old")
    half = tmp_path / ".target.0123abcd.new"
    half.mkdir()
    (half / LIST).write_text(json.dumps({"rpms-wrote": "a test", "finished": False, "files": []}))
    (half / "page").write_text("ha")
    with replaced_folder(target, "a test") as new:
        assert (target / "page").read_text() == "older"
        (new / "page").write_text("newer")
    assert (target / "page").read_text() == "newer"
    with pytest.raises(ZeroDivisionError), replaced_folder(target, "a test") as new:
        (new / "page").write_text(str(1 / 0))
    assert (target / "page").read_text() == "newer"
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_a_report_over_something_else_is_refused(rpms: Rpms, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    assert rpms("run", "alfworld", "--limit", "1", "--out", tmp_path / "run").code == 0
    assert "not a report" in rpms("report", tmp_path / "run", "--out", tmp_path / "mine").line


# --- 9 and 10: the JVM ---

TRANSCRIPT = """
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
world = find_world("scienceworld")
game = world.open(next(task for task in world.tasks("train", Setting()) if task.type == "use-thermometer"), Setting())
print(ascii(game.reset().observation))
for command in ("open door to kitchen", "go to kitchen", "pick up thermometer", "use thermometer on stove", "look"):
    print(ascii(game.step(command).observation))
game.close()
"""


def simulate(**variables: str) -> str:
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", TRANSCRIPT],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
        env=environment,
    ).stdout


def test_the_simulator_says_the_same_in_every_locale():
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    plain = simulate()
    assert "degrees celsius" in plain
    locale = {"language": "ar", "language.format": "ar", "country": "EG", "extensions": "nu-arab"}
    arabic = " ".join(
        [*(f"-Duser.{name}={value}" for name, value in locale.items()), "-Dfile.encoding=UTF-16"]
    )
    variables = dict.fromkeys(("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"), arabic)
    assert (
        simulate(**variables, LC_ALL="ar_EG.UTF-8", LANG="ar_EG.UTF-8", TZ="Asia/Kathmandu")
        == plain
    )


def test_a_jvm_that_many_threads_end_is_ended_once():
    """Each thread opens and closes a file meanwhile: a descriptor closed twice would be one of
    theirs.
    """
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    from rpms.worlds.jvm.process import Jvm, find_java  # noqa: PLC0415
    from rpms.worlds.scienceworld.world import PROGRAM  # noqa: PLC0415

    jvm = Jvm(PROGRAM, find_java(PROGRAM))
    gate = threading.Barrier(16)
    troubles: list[BaseException] = []

    def end(number: int) -> None:
        try:
            gate.wait(60)
            handles = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
            jvm.kill(f"thread {number} ended it")
            handles += [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
            for handle in handles:
                os.close(handle)  # OSError if somebody else closed it
        except BaseException as error:  # noqa: BLE001
            troubles.append(error)

    threads = [threading.Thread(target=end, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    assert not jvm.alive
    assert "ended it" in jvm.obituary()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_hung_simulators_of_several_workers_end_their_episodes_alone(tmp_path):
    pytest.importorskip(
        "scienceworld", reason="needs the simulator: pip install 'rpms[scienceworld]'"
    )
    from rpms.logic.errors import WorldError  # noqa: PLC0415
    from rpms.worlds.scienceworld.world import ScienceWorldGame  # noqa: PLC0415

    ends: list[str] = []
    workers = 6 if "RPMS_SLOW" in os.environ else 3
    ready, hung = threading.Barrier(workers), threading.Barrier(workers)

    def hang() -> None:
        game = ScienceWorldGame("boil", 0)
        game.reset()
        assert game._simulator is not None
        game._simulator.timeout_s = 0.5
        if ready.wait() == 0:  # one of them stops the JVM that they share
            os.kill(game._simulator.jvm.pid, signal.SIGSTOP)
        hung.wait()
        try:
            game.step("look around")
        except WorldError as error:
            ends.append(str(error))
        game.close()

    threads = [threading.Thread(target=hang) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends) == workers
    again = ScienceWorldGame("boil", 0)
    assert "task" in again.reset().observation
    again.close()


def test_what_a_killed_learning_left_half_written_is_removed(rpms: Rpms, tmp_path):
    words = (
        "learn",
        "alfworld",
        "--limit",
        "1",
        "--rounds",
        "1",
        "--out",
        tmp_path / "memory.jsonl",
    )
    left = tmp_path / ".memory.round1.jsonl.abc.part"
    held = tmp_path / ".memory.jsonl.def.part"
    for part in (left, held):
        part.write_text("half")
    with held.open("r+") as writing:
        fcntl = pytest.importorskip("fcntl")
        fcntl.flock(writing, fcntl.LOCK_EX)  # as whoever is still writing it does
        assert rpms(*words).code == 0
    assert not left.exists()
    assert held.exists()
