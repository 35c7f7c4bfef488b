"""The store of answers: what is stored stays, whatever happens to its writers."""

from __future__ import annotations

import hashlib
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

from rpms.core.errors import ModelUnavailable
from rpms.store.answers import FolderOfAnswers

KEYS = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(150)]


def entry(n: int, size: int = 50) -> dict[str, object]:
    return {"model": "m", "n": n, "answer": {"text": "x" * size}}


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
        store.put(KEYS[0], {"text": text})
        assert store.get(KEYS[0]) == {"text": text}


def test_of_two_entries_for_one_key_the_first_is_kept(tmp_path):
    store = FolderOfAnswers(tmp_path)
    store.put(KEYS[0], entry(0))
    store.put(KEYS[0], entry(1))
    assert store.get(KEYS[0]) == entry(0)


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "a" * 63, "A" * 64, "g" * 64, KEYS[0] + "\n"])
def test_a_key_is_never_a_path(tmp_path, key):
    with pytest.raises(ValueError, match="64"):
        FolderOfAnswers(tmp_path).get(key)


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe", b"[]", b'{"entry":{},"sha256":"0"}', b"[" * 100_000])
def test_a_damaged_file_is_a_miss_that_is_named_and_can_be_replaced(tmp_path, damage):
    store = FolderOfAnswers(tmp_path)
    store.put(KEYS[0], entry(0))
    store.put(KEYS[1], entry(1))
    path = tmp_path / KEYS[0][:2] / f"{KEYS[0]}.json"
    path.write_bytes(damage)
    assert store.get(KEYS[0]) is None
    assert store.damaged == (path,)
    assert list(store.entries()) == [entry(1)]
    store.put(KEYS[0], entry(2))
    assert store.get(KEYS[0]) == entry(2)
    assert store.damaged == ()


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
    assert store.damaged == ()
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
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)


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
    assert store.damaged == ()


def test_what_a_dead_writer_left_is_removed_when_it_is_old(tmp_path):
    FolderOfAnswers(tmp_path).put(KEYS[0], entry(0))
    old = tmp_path / KEYS[0][:2] / ".old.part"
    new = tmp_path / KEYS[0][:2] / ".new.part"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    store = FolderOfAnswers(tmp_path)
    assert not old.exists()
    assert new.exists()
    assert list(store.entries()) == [entry(0)]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from tests.store.test_answers import KEYS, entry
from rpms.core.errors import ModelUnavailable
from rpms.store.answers import FolderOfAnswers
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = FolderOfAnswers(Path(sys.argv[1]))
store.put(KEYS[0], entry(0))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    store.put(KEYS[1], entry(1, 100_000))
except ModelUnavailable as error:
    print(error)
store.put(KEYS[2], entry(2))
"""


def test_a_disk_that_takes_no_more_stops_the_run_and_loses_nothing(tmp_path):
    """A limit on file sizes makes the kernel refuse a write in its middle, as a full disk does."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "cannot be recorded" in done.stdout
    assert "resume" in done.stdout
    store = FolderOfAnswers(tmp_path)
    assert list(store.entries()) == sorted([entry(0), entry(2)], key=lambda e: KEYS[int(str(e["n"]))])
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cannot_be_written_stops_the_run(tmp_path):
    store = FolderOfAnswers(tmp_path)
    (tmp_path / KEYS[0][:2]).write_text("a file where a folder should be")
    with pytest.raises(ModelUnavailable, match="cannot be recorded"):
        store.put(KEYS[0], entry(0))
