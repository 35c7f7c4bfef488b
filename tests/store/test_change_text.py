"""A file that a person keeps is changed by one command at a time, and where it really lies."""

from __future__ import annotations

import threading

import pytest

from rpms.logic.errors import InputError
from rpms.store.files import change_text


def test_of_commands_that_change_a_file_at_once_one_does(tmp_path):
    file = tmp_path / "manual.yaml"
    for _ in range(20):
        file.write_text("a: 1\n")
        barrier = threading.Barrier(4)
        said: list[str] = []

        def change(barrier=barrier, said=said) -> None:
            barrier.wait()
            try:
                change_text(file, "a: 1\n", "a: 1\nb: 2\n")
            except InputError as error:
                said.append(str(error))

        threads = [threading.Thread(target=change) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert file.read_text() == "a: 1\nb: 2\n"
        assert len(said) == 3
        assert all("was changed by somebody else meanwhile" in line for line in said)
    assert [path.name for path in tmp_path.iterdir()] == ["manual.yaml"]


def test_a_link_is_followed_and_stays_one(tmp_path):
    real = tmp_path / "kept" / "manual.yaml"
    real.parent.mkdir()
    real.write_text("a: 1\n")
    (tmp_path / "link.yaml").symlink_to(real)
    change_text(tmp_path / "link.yaml", "a: 1\n", "a: 2\n")
    assert (tmp_path / "link.yaml").is_symlink()
    assert real.read_text() == "a: 2\n"


@pytest.mark.parametrize("before", ["a: 2\n", "", "a: 1"])
def test_a_file_that_says_something_else_is_left_as_it_is(before, tmp_path):
    file = tmp_path / "manual.yaml"
    file.write_text("a: 1\n")
    with pytest.raises(InputError, match="run the command again"):
        change_text(file, before, "a: 3\n")
    assert file.read_text() == "a: 1\n"
