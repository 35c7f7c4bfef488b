"""Commands that replace a folder remove what an earlier one wrote, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.store.own_folders import LIST, replaced_folder, write_folder
from tests.cli.command import Rpms


@pytest.fixture
def project(tmp_path) -> Path:
    """A project whose files happen to have the names of marks."""
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    for name in ("report.json", "export.json", "rpms-games.json", "index.html", "src/main.py"):
        (folder / name).write_text("mine")
    return folder


def texts(folder: Path) -> dict[str, str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_text() for file in files}


COMMANDS = {
    "report": ("report", "RUN", "--out"),
    "leaderboard": ("leaderboard", "RUN", "--out"),
    "export": ("export", "RUN", "--out"),
    "guard report": ("report", "LOG", "--out"),
    "games make": ("games", "make", "--count", "1", "--out"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_removes_a_file_that_it_did_not_write(
    command, rpms: Rpms, project, tmp_path, monkeypatch
):
    pytest.importorskip("matplotlib", reason="the extra `report` is not installed")
    assert (
        rpms("run", "alfworld", "--limit", "1", "--steps", "1", "--out", tmp_path / "run").code == 0
    )
    log = tmp_path / "log.jsonl"
    log.write_text('{"type": "guard", "version": 1}\n')
    named = {"RUN": tmp_path / "run", "LOG": log}
    words = [named.get(word, word) for word in COMMANDS[command]]
    before = texts(project)
    for forged in (None, "{}", "[]", '{"files": ["index.html"]}', "\0"):
        if forged is not None:
            (project / LIST).write_text(forged)
        said = rpms(*words, project)
        assert said.code == 2
        assert "holds something that is not" in said.err
        (project / LIST).unlink(missing_ok=True)
        assert texts(project) == before
    monkeypatch.chdir(project)
    assert rpms(*words, ".").code == 2
    assert rpms(*words, "..").code == 2
    assert texts(project) == before


def test_a_file_put_into_a_report_is_kept_and_named(tmp_path):
    out = tmp_path / "out"
    with replaced_folder(out, "a report") as folder:
        (folder / "pages").mkdir()
        (folder / "pages" / "one.html").write_text("1")
    (out / "pages" / "notes.txt").write_text("mine")
    with (
        pytest.raises(InputError, match=r"holds pages/notes\.txt, which is no part of a report"),
        replaced_folder(out, "a report"),
    ):
        pytest.fail("refused before anything is computed")
    (out / "pages" / "notes.txt").rename(tmp_path / "notes.txt")
    with replaced_folder(out, "a report") as folder:
        (folder / "two.html").write_text("2")
    assert set(texts(out)) == {"two.html", LIST}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "out"]


def test_one_that_comes_while_the_new_one_is_written_is_kept_too(tmp_path):
    out = tmp_path / "out"
    with replaced_folder(out, "a report") as folder:
        (folder / "one.html").write_text("1")

    def replace_it() -> None:
        with replaced_folder(out, "a report") as folder:
            (folder / "two.html").write_text("2")
            (out / "late.txt").write_text("mine")

    with pytest.raises(InputError, match="which is no part of a report"):
        replace_it()
    assert set(texts(out)) == {"one.html", "late.txt", LIST}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_report_is_not_replaced_by_an_export(tmp_path):
    with replaced_folder(tmp_path / "out", "a report") as folder:
        (folder / "one.html").write_text("1")
    with (
        pytest.raises(InputError, match="holds something that is not an export"),
        replaced_folder(tmp_path / "out", "an export"),
    ):
        pytest.fail("refused before anything is computed")


def test_a_list_reaches_no_file_outside_its_folder(tmp_path):
    out = tmp_path / "out"
    (tmp_path / "precious.txt").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("mine")
    with replaced_folder(out, "a report") as folder:
        (folder / "one.html").write_text("1")
    told = json.loads((out / LIST).read_text())
    told["files"] += ["../precious.txt", str(tmp_path / "precious.txt"), "link/a.txt", "link"]
    (out / LIST).write_text(json.dumps(told))
    (out / "link").symlink_to(tmp_path / "elsewhere")
    with replaced_folder(out, "a report") as folder:
        (folder / "two.html").write_text("2")
    assert (tmp_path / "precious.txt").read_text() == "mine"
    assert (tmp_path / "elsewhere" / "a.txt").read_text() == "mine"
    assert set(texts(out)) == {"two.html", LIST}


def test_a_link_to_a_folder_leads_to_the_one_that_is_replaced(tmp_path):
    with replaced_folder(tmp_path / "real", "a report") as folder:
        (folder / "one.html").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replaced_folder(tmp_path / "link", "a report") as folder:
        (folder / "one.html").write_text("2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "one.html").read_text() == "2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_folders_with_nearly_the_name_of_leftovers_are_somebody_elses(tmp_path):
    for name in (".out.backup.old", ".out.2024.new", ".out.0123abcd.old", ".out.0123abcd.new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.txt").write_text("mine")
    with replaced_folder(tmp_path / "out", "a report") as folder:
        (folder / "one.html").write_text("1")
    write_folder(tmp_path / "world", {"a": "1"})
    assert len(list(tmp_path.glob(".out.*/thesis.txt"))) == 4
    assert texts(tmp_path / "world") == {"a": "1"}
