"""The store of answers: what is stored stays, whatever happens to its writers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign.json_text import question_key
from rpms.logic.errors import InputError
from rpms.store import files
from rpms.store.answers import FolderOfAnswers


def entry(n: int, size: int = 50) -> dict[str, object]:
    return {"model": "m", "n": n, "answer": {"text": "x" * size}}


KEYS = [question_key(entry(n)) for n in range(150)]


def test_an_entry_comes_back_as_it_was(tmp_path):
    store = FolderOfAnswers(tmp_path)
    store.put(KEYS[0], entry(0))
    assert store.get(KEYS[0]) == entry(0)
    assert FolderOfAnswers(tmp_path).get(KEYS[0]) == entry(0)
    assert store.get(KEYS[1]) is None
    assert list(store.entries()) == [entry(0)]


@given(st.text())
def test_any_text_comes_back(text):
    with tempfile.TemporaryDirectory() as folder:
        store = FolderOfAnswers(Path(folder))
        kept = {**entry(0), "answer": {"text": text}}
        store.put(KEYS[0], kept)
        assert store.get(KEYS[0]) == kept


def test_of_two_entries_for_one_key_the_first_is_kept(tmp_path):
    store = FolderOfAnswers(tmp_path)
    assert store.put(KEYS[0], entry(0)) == entry(0)
    assert store.put(KEYS[0], entry(0, 7)) == entry(0)
    assert store.get(KEYS[0]) == entry(0)


def test_an_entry_under_another_questions_name_is_damage(tmp_path):
    """Two files that change places are each whole, and each the answer to what nobody asked."""
    store = FolderOfAnswers(tmp_path)
    paths = []
    for n in (0, 1):
        store.put(KEYS[n], entry(n))
        paths.append(tmp_path / KEYS[n][:2] / f"{KEYS[n]}.json")
    first, second = (path.read_bytes() for path in paths)
    paths[0].write_bytes(second)
    paths[1].write_bytes(first)
    assert store.get(KEYS[0]) is None
    assert store.get(KEYS[1]) is None
    assert list(store.entries()) == []
    assert store.put(KEYS[0], entry(0)) == entry(0)
    assert store.get(KEYS[0]) == entry(0)


RACER = """
import sys
from pathlib import Path
from tests.store.test_answers import KEYS, entry
from rpms.store.answers import FolderOfAnswers
store = FolderOfAnswers(Path(sys.argv[1]))
sys.stdin.readline()
for n, key in enumerate(KEYS):
    print(len(store.put(key, entry(n, int(sys.argv[2])))["answer"]["text"]))
"""


@pytest.mark.parametrize("damaged", [False, True])
def test_processes_that_race_are_each_given_what_is_kept(tmp_path, damaged):
    if damaged:
        for key in KEYS:
            path = tmp_path / key[:2] / f"{key}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text("damage")
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(size)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for size in (10, 20)
    ]
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    told = [list(map(int, racer.communicate(timeout=120)[0].split())) for racer in racers]
    store = FolderOfAnswers(tmp_path)
    kept = [len(store.get(key)["answer"]["text"]) for key in KEYS]
    assert told == [kept, kept]
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to nothing", "device"])
def test_what_is_no_file_is_damage_and_nobody_waits_for_it(tmp_path, kind):
    store = FolderOfAnswers(tmp_path)
    path = tmp_path / KEYS[0][:2] / f"{KEYS[0]}.json"
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "nothing")
    assert store.get(KEYS[0]) is None


@pytest.mark.parametrize(
    "key", ["", "../../etc/passwd", "a" * 63, "A" * 64, "g" * 64, KEYS[0] + "\n"]
)
def test_a_key_is_never_a_path(tmp_path, key):
    with pytest.raises(ValueError, match="64"):
        FolderOfAnswers(tmp_path).get(key)


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"entry":{},"sha256":"0"}', b"[" * 100_000]
)
def test_a_damaged_file_is_a_miss_and_can_be_replaced(tmp_path, damage):
    store = FolderOfAnswers(tmp_path)
    store.put(KEYS[0], entry(0))
    store.put(KEYS[1], entry(1))
    path = tmp_path / KEYS[0][:2] / f"{KEYS[0]}.json"
    path.write_bytes(damage)
    assert store.get(KEYS[0]) is None
    assert list(store.entries()) == [entry(1)]
    store.put(KEYS[0], entry(0, 7))
    assert store.get(KEYS[0]) == entry(0, 7)


def test_a_changed_letter_is_damage(tmp_path):
    store = FolderOfAnswers(tmp_path)
    store.put(KEYS[0], entry(0))
    path = tmp_path / KEYS[0][:2] / f"{KEYS[0]}.json"
    path.write_bytes(path.read_bytes().replace(b"xx", b"xy", 1))
    assert store.get(KEYS[0]) is None


def test_threads_write_at_the_same_time(tmp_path):
    store = FolderOfAnswers(tmp_path)

    def write(offset):
        for n in range(40):
            store.put(KEYS[(n + offset) % 40], entry((n + offset) % 40))

    threads = [threading.Thread(target=write, args=(10 * offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [store.get(KEYS[n]) for n in range(40)] == [entry(n) for n in range(40)]
    assert not list(tmp_path.rglob("*.part"))


WRITER = """
import sys
from pathlib import Path
from tests.store.test_answers import KEYS, entry
from rpms.store.answers import FolderOfAnswers
store = FolderOfAnswers(Path(sys.argv[1]))
for n, key in enumerate(KEYS):
    store.put(key, entry(n, 20_000))
    print(n, flush=True)
"""


def start_writer(folder):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True
    )


def test_a_writer_killed_in_the_middle_loses_nothing_it_had_stored(tmp_path):
    """Two processes write the same keys; one is killed with no chance to clean up."""
    with start_writer(tmp_path) as victim, start_writer(tmp_path) as survivor:
        assert victim.stdout is not None
        assert survivor.stdout is not None
        stored = [int(victim.stdout.readline()) for _ in range(40)]
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        survivor.communicate(timeout=60)
        assert survivor.returncode == 0
    store = FolderOfAnswers(tmp_path)
    assert stored == list(range(40))
    assert [store.get(key) for key in KEYS] == [entry(n, 20_000) for n in range(len(KEYS))]


@pytest.mark.parametrize("locks", [True, False])
def test_what_a_dead_writer_left_is_removed_and_what_is_being_written_is_not(
    tmp_path, monkeypatch, locks
):
    fcntl = pytest.importorskip("fcntl")
    if not locks:
        monkeypatch.setattr(files, "_lock", lambda _handle, **_how: None)
    FolderOfAnswers(tmp_path).put(KEYS[0], entry(0))
    old, new, held = (tmp_path / KEYS[0][:2] / f".{name}.part" for name in ("old", "new", "held"))
    for part in (old, new, held):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    with held.open("r+") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)  # as whoever is still writing it does
        store = FolderOfAnswers(tmp_path)
    assert [part.exists() for part in (old, new, held)] == [
        False,
        not locks,
        True,
    ]  # without locks, age alone tells
    assert list(store.entries()) == [entry(0)]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from tests.store.test_answers import KEYS, entry
from rpms.logic.errors import InputError
from rpms.store.answers import FolderOfAnswers
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = FolderOfAnswers(Path(sys.argv[1]))
store.put(KEYS[0], entry(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    store.put(KEYS[1], entry(1, 100_000))
except InputError as error:
    print(error)
store.put(KEYS[2], entry(2))
"""


def test_a_disk_that_takes_no_more_stops_the_run_and_loses_nothing(tmp_path):
    """A limit on file sizes makes the kernel refuse a write in its middle, as a full disk does."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "cannot be recorded" in done.stdout
    assert "resume" in done.stdout
    store = FolderOfAnswers(tmp_path)
    assert list(store.entries()) == sorted([entry(0), entry(2)], key=question_key)
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cannot_be_written_stops_the_run(tmp_path):
    store = FolderOfAnswers(tmp_path)
    (tmp_path / KEYS[0][:2]).write_text("a file where a folder should be")
    with pytest.raises(InputError, match="cannot be recorded"):
        store.put(KEYS[0], entry(0))
