"""A data file names a world, never a folder: reading one runs nobody's code, and says little of
what it is not.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.store.protocol import Protocol
from rpms.worlds.registry import world_named

STUDY = "title: t\nworld: {}\nconditions: {{baseline: }}\n"


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[project.entry-points."rpms.worlds"]\nevil = "evil_world:world"\n'
    )
    (folder / "evil_world.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    )
    return folder


@pytest.mark.parametrize(
    "command",
    ["rules verify", "rules diff", "rules mend", "insights", "check", "dry run"],
)
def test_no_file_has_a_folder_imported(rpms, evil, tmp_path, command):
    manual, memory, run, study = (
        tmp_path / name for name in ("m.yaml", "m.jsonl", "run", "s.yaml")
    )
    manual.write_text(f"world: {evil}\nuniversal: []\n")
    entry = {"id": "v", "type": "schema", "action_template": "open <x>", "action_type": "open"}
    memory.write_text(
        json.dumps({"type": "memory", "world": str(evil), "version": 1})
        + "\n"
        + json.dumps(entry)
        + "\n"
    )
    run.mkdir()
    (run / "protocol.json").write_text(Protocol(("a",), {"world": str(evil)}).text())
    study.write_text(STUDY.format(evil))
    calls = {
        "rules verify": ("rules", "verify", str(manual), str(run)),
        "rules diff": ("rules", "diff", str(manual), str(manual)),
        "rules mend": ("rules", "mend", str(manual), str(run)),
        "insights": (
            "insights",
            str(run),
            "--model",
            "openai/x",
            "--out",
            str(tmp_path / "i.jsonl"),
        ),
        "check": ("study", "check", str(study)),
        "dry run": ("study", "run", str(study), "--dry-run", "--model", "planner"),
    }
    rpms(*calls[command])
    assert not (tmp_path / "ran").exists()


PART = "evil_part:run"


@pytest.mark.parametrize(
    "where",
    [
        f"retriever: {PART}\nconditions: {{baseline: }}",
        f"conditions: {{baseline: {{arbitration: {PART}}}}}",
        f"conditions: {{full: {{prompt: !!str {PART}}}}}\nmemory: embedded",
        f"conditions: {{full: }}\nlearn: {{harvest: {PART}}}",
        "conditions: {full: {consistency: os:abort}}\nmemory: embedded",
        f"anchor: &a {{consistency: {PART}}}\nconditions: {{baseline: {{<<: *a}}}}",
        f"retriever: [{PART}]\nconditions: {{baseline: }}",
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_no_study_has_a_module_imported(rpms, tmp_path, monkeypatch, command, where):
    monkeypatch.chdir(tmp_path)
    Path("evil_part.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    )
    Path("s.yaml").write_text(f"title: t\nworld: alfworld\n{where}\n")
    done = rpms(
        "study",
        command,
        "s.yaml",
        *(("--model", "planner", "--dry-run") if command == "run" else ()),
    )
    assert done.code == 2
    assert not Path("ran").exists()


def test_the_module_that_a_person_names_is_imported(rpms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_own_part.py").write_text(
        "import pathlib\npathlib.Path('ran').touch()\ndef run(blocks): return []\n"
    )
    Path("s.yaml").write_text(
        "title: t\nworld: alfworld\nprompt: my_own_part:run\nconditions: {baseline: }\n"
    )
    assert rpms("study", "check", "s.yaml", "--parts", "my_own_part").code == 0
    assert Path("ran").exists()


def test_the_folder_that_a_person_names_is_run(rpms, evil, tmp_path):
    study = tmp_path / "s.yaml"
    study.write_text(STUDY.format("evil"))
    rpms("study", "check", str(study), "--world", str(evil))
    assert (tmp_path / "ran").exists()


def test_a_world_that_is_not_installed_is_one_line_without_its_name():
    with pytest.raises(InputError, match=r"^m\.yaml: its world is not installed here"):
        world_named("../secret", "m.yaml")


@pytest.mark.parametrize(
    "secret",
    [
        "SECRET: hunter2\nSECRET: hunter2\n",
        "a: *SECRET\n",
        "SECRET: hunter2\n",
        '{"type": "SECRET", "hunter2": 1}\n',
        "- SECRET\n- hunter2\n",
    ],
)
@pytest.mark.parametrize(
    "command", ["rules check", "memory show", "study check", "run alfworld --prompts"]
)
def test_a_file_of_another_kind_is_not_quoted(rpms, tmp_path, command, secret):
    file = tmp_path / "any"
    file.write_text(secret)
    done = rpms(*command.split(), str(file))
    assert done.code == 2
    assert "SECRET" not in done.err + done.out
    assert "hunter2" not in done.err + done.out


def test_a_study_of_a_million_runs_is_counted_before_it_is_expanded(rpms, tmp_path):
    conditions = "\n".join(
        f"  c{number}: {{condition: full, memory: none}}" for number in range(3_400)
    )
    models = ", ".join(f"openai/m{number}" for number in range(300))
    study = tmp_path / "s.yaml"
    study.write_text(f"title: t\nworld: alfworld\nmodels: [{models}]\nconditions:\n{conditions}\n")
    done = rpms("study", "check", str(study))
    assert done.code == 2
    assert "3,400 conditions and 300 models" in done.err
