"""A run folder belongs to one protocol and to one process at a time, and loses nothing."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.logic.errors import FileError, InputError
from rpms.paper.episode import Ending, Episode
from rpms.store import files
from rpms.store.episodes import EpisodeRow, episode_text, file_name, packed, row_of
from rpms.store.protocol import Protocol, read_protocol
from rpms.store.runs import RunFolder, Timing, open_run

SETTINGS = {
    "world": "w",
    "model": "m",
    "decoding": {"temperature": 0.0, "stop": ["\nObs:"]},
    "options": {},
}
PROTOCOL = Protocol(("a", "b", "c"), SETTINGS)


def data_of(task: str, ending: Ending = Ending.WON) -> tuple[EpisodeRow, bytes]:
    episode = Episode(task, "walk", "a goal", ending, 1.0, ())
    return row_of(episode), packed(episode_text(episode))


def keep(folder, task: str, ending: Ending = Ending.WON, **kwargs) -> None:
    row, data = data_of(task, ending)
    folder.write(row, data, Timing(task, 1.5, (0.5, 0.25), (1, 0)), **kwargs)


def test_a_protocol_comes_back(tmp_path):
    with open_run(tmp_path / "run", PROTOCOL):
        pass
    kept = read_protocol(tmp_path / "run" / "protocol.json")
    assert kept.tasks == PROTOCOL.tasks
    assert kept.differences(PROTOCOL) == ()
    assert kept.hash == PROTOCOL.hash


def test_differences_are_named_with_both_values():
    other = Protocol(
        ("a", "c", "d"),
        {
            "world": "w",
            "model": "n",
            "decoding": {"temperature": 0.7, "stop": ["\nObs:"]},
            "options": {"easy": "1"},
        },
    )
    assert PROTOCOL.differences(other) == (
        "tasks: 3 → 3 (1 added, 1 gone)",
        'model: "m" → "n"',
        "decoding.temperature: 0.0 → 0.7",
        'options.easy: nothing → "1"',
    )
    hashed = [Protocol((), {"edition": sign * 64, "world": sign}) for sign in "ab"]
    assert hashed[0].differences(hashed[1]) == (
        'world: "a" → "b"',
        f"edition: {'a' * 12}… → {'b' * 12}…",
    )
    assert PROTOCOL.differences(Protocol(("b", "a", "c"), SETTINGS)) == (
        "tasks: 3 → 3 (in another order)",
    )


def test_a_changed_protocol_is_refused_and_nothing_is_lost(tmp_path):
    with open_run(tmp_path, PROTOCOL) as folder:
        keep(folder, "a")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with (
        pytest.raises(InputError, match='model: "m" → "n"') as error,
        open_run(tmp_path, Protocol(PROTOCOL.tasks, {**SETTINGS, "model": "n"})),
    ):
        pass
    assert "\n" not in str(error.value)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_going_on_finds_what_is_finished_and_nothing_else(tmp_path):
    with open_run(tmp_path, PROTOCOL) as folder:
        assert folder.finished == {}
        keep(folder, "a")
        keep(folder, "b", Ending.MODEL_ERROR)
    _, data = data_of("stranger")
    RunFolder(tmp_path).file("stranger").write_bytes(data)
    (tmp_path / "episodes" / f".{file_name('c')}.x1.part").write_text("half an epis")
    with open_run(tmp_path, PROTOCOL) as folder:
        assert list(folder.finished) == ["a", "b"]
    assert not list(tmp_path.rglob("*.part"))
    summary = RunFolder(tmp_path).summary()
    assert (summary.total, summary.done, summary.won) == (3, 2, 1)
    assert summary.endings == {"won": 1, "model error": 1}


def test_a_damaged_episode_counts_as_not_played_and_is_named(tmp_path):
    with open_run(tmp_path, PROTOCOL) as folder:
        keep(folder, "a")
        keep(folder, "b")
    run = RunFolder(tmp_path)
    run.file("a").write_bytes(run.file("a").read_bytes()[:-20])
    run.file("b").write_bytes(data_of("c")[1])
    with open_run(tmp_path, PROTOCOL) as folder:
        assert folder.finished == {}
        assert [Path(error.file) for error in folder.damaged] == [run.file("a"), run.file("b")]
    with pytest.raises(FileError, match="not a whole episode"):
        run.summary()


MANY = Protocol(tuple(map(str, range(4_097))), SETTINGS)


def test_episodes_of_many_tasks_lie_in_folders_by_their_hash(tmp_path):
    with open_run(tmp_path, MANY) as folder:
        for task in MANY.tasks[:40]:
            keep(folder, task, beside=[("harvest", "entries")])
    run = RunFolder(tmp_path)
    places = [
        file.relative_to(tmp_path / "episodes")
        for file in (tmp_path / "episodes").rglob("*.json.gz")
    ]
    assert len(places) == 40
    assert all(len(place.parts) == 2 and f"-{place.parts[0]}" in place.name for place in places)
    assert all(run.file(task).read_bytes() == data_of(task)[1] for task in MANY.tasks[:40])
    assert all(run.beside(task, "harvest") == "entries" for task in MANY.tasks[:40])
    assert not [path for path in (tmp_path / "harvest").iterdir() if path.is_file()]


def test_a_run_of_many_tasks_goes_on_from_one_folder(tmp_path):
    """An earlier version kept all episodes in one."""
    with open_run(tmp_path, MANY) as folder:
        for task in "0", "1", "2", "3":
            keep(folder, task, beside=[("harvest", "entries")])
    run = RunFolder(tmp_path)
    for task in "1", "2":
        for kept in run.file(task), run.file_beside(task, "harvest"):
            kept.rename(kept.parent.parent / kept.name)
    run.file("2").write_bytes(b"damaged")
    run.file("3").with_name(f".{file_name('3')}.gz.x1.part").write_text("half an epis")
    with open_run(tmp_path, MANY) as folder:
        assert list(folder.finished) == ["0", "1", "3"]
        assert [Path(error.file) for error in folder.damaged] == [
            tmp_path / "episodes" / f"{file_name('2')}.gz"
        ]
        keep(folder, "2")
        assert run.beside("1", "harvest") == "entries"
    assert not list(tmp_path.rglob("*.part"))
    assert [row.task for row in run.rows()] == ["0", "1", "2", "3"]
    assert len(list(tmp_path.rglob("*.json.gz"))) == 4
    other = Protocol(MANY.tasks, {**SETTINGS, "model": "n"})
    with pytest.raises(InputError, match="holds another run"), open_run(tmp_path, other):
        pass


def test_what_is_kept_beside_an_episode_is_there_before_it(tmp_path):
    with open_run(tmp_path, PROTOCOL) as folder:
        keep(folder, "a", beside=[("harvest", "entries")])
    assert RunFolder(tmp_path).beside("a", "harvest") == "entries"
    for damage in (
        "",
        "entries",
        (tmp_path / "harvest" / file_name("a")).read_text().replace("entries", "entrees"),
    ):
        (tmp_path / "harvest" / file_name("a")).write_text(damage)
        assert list(RunFolder(tmp_path).faults_beside("a", ["harvest"]))


def test_timings_survive_a_line_that_was_cut_off(tmp_path):
    with open_run(tmp_path, PROTOCOL) as folder:
        keep(folder, "a")
        keep(folder, "b")
    file = tmp_path / "timings.jsonl"
    file.write_bytes(file.read_bytes()[:-7])
    with open_run(tmp_path, PROTOCOL) as folder:
        keep(folder, "c")
    assert RunFolder(tmp_path).timings() == {
        task: Timing(task, 1.5, (0.5, 0.25), (1, 0)) for task in "ac"
    }


@pytest.mark.parametrize(
    "damage", ["", "[]", "{}", '{"version": 1}', '{"version": 9}', '{"version":1,"tasks":3}']
)
def test_a_damaged_protocol_is_one_line(tmp_path, damage):
    (tmp_path / "protocol.json").write_text(damage)
    with pytest.raises(FileError, match=r"protocol\.json: "), open_run(tmp_path, PROTOCOL):
        pass


def test_an_edited_task_list_is_noticed(tmp_path):
    with open_run(tmp_path, PROTOCOL):
        pass
    file = tmp_path / "protocol.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "tasks": ["a", "b"]}))
    with pytest.raises(FileError, match="task list"):
        RunFolder(tmp_path).summary()


def test_places_that_cannot_hold_a_run(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    cases = {
        "file": "is a file",
        "file/below": "is a file",
        "full": "is not empty and holds no run",
    }
    for place, problem in cases.items():
        with pytest.raises(InputError, match=problem), open_run(tmp_path / place, PROTOCOL):
            pass
    with pytest.raises(InputError, match="there is no run here"):
        RunFolder(tmp_path / "full").summary()
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_a_read_only_folder_is_one_line(tmp_path, monkeypatch):
    with open_run(tmp_path / "run", PROTOCOL) as folder:
        keep(folder, "a")
    real = os.open

    def refuse(file, flags, *args, **kwargs):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(file))
        return real(file, flags, *args, **kwargs)

    monkeypatch.setattr(
        os, "open", refuse
    )  # the test may run as root, whom permissions do not stop
    with (
        pytest.raises(InputError, match="Read-only file system"),
        open_run(tmp_path / "run", PROTOCOL),
    ):
        pass
    assert RunFolder(tmp_path / "run").summary().done == 1


FULL_DISK = """
import resource, sys
from pathlib import Path
from tests.store.test_runs import PROTOCOL, keep
from rpms.logic.errors import InputError
from rpms.store.runs import open_run
with open_run(Path(sys.argv[1]), PROTOCOL) as folder:
    keep(folder, "a")
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
    try:
        keep(folder, "b")
    except InputError as error:
        print(error)
"""


@pytest.mark.parametrize("room", [40, 150])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path, room):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "run"), str(room)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1
    assert "cannot be written" in done.stdout
    assert [row.task for row in RunFolder(tmp_path / "run").rows()] == ["a"]
    assert not list(tmp_path.rglob("*.part"))


HOLDER = """
import sys, time
from pathlib import Path
from rpms.store.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_second_run_is_refused_until_the_first_is_gone(tmp_path):
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    try:
        assert first.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=f"already under way here \\(process {first.pid} on"),
            open_run(tmp_path, PROTOCOL),
        ):
            pass
        assert not (tmp_path / "protocol.json").exists()
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
        first.stdout.close()
    with open_run(tmp_path, PROTOCOL):
        pass


def test_a_second_run_in_the_same_process_is_refused_too(tmp_path):
    second = open_run(tmp_path, PROTOCOL)
    with open_run(tmp_path, PROTOCOL), pytest.raises(InputError, match="already under way"):
        second.__enter__()
    with open_run(tmp_path, PROTOCOL):
        pass


def no_locks(handle, **_):
    """As on NFS without its lock service."""
    raise OSError(errno.ENOLCK, "No locks available")


def test_without_the_systems_locks_the_holders_name_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "lock_descriptor", no_locks)
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    host = files.socket.gethostname()
    (tmp_path / "lock").write_text(json.dumps({"pid": int(gone.stdout), "host": host}))
    with open_run(tmp_path, PROTOCOL):
        pass
    for holder in (
        {"pid": os.getppid(), "host": host},
        {"pid": int(gone.stdout), "host": "elsewhere"},
    ):
        (tmp_path / "lock").write_text(json.dumps(holder))
        with pytest.raises(InputError, match="already under way"), open_run(tmp_path, PROTOCOL):
            pass
