from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import replace

import pytest

from rpms.logic.errors import FileError, InputError
from rpms.paper.condition import FULL
from rpms.paper.enforcement import PAPER, STRICT, Constrained, GuardMode
from rpms.report.gather import VARIES, gather, is_going
from rpms.report.notes import omissions
from rpms.report.tables import make_table
from rpms.store.runs import RunFolder
from tests.report.runs import play_conditions


def change(folder, **settings):
    file = folder / "protocol.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def test_run_folders_make_one_comparison_named_by_their_conditions(played):
    (evidence,) = gather(list(played.values()))
    assert list(evidence.conditions) == list(played)
    assert evidence.ablations
    assert all(len(results) == 6 and not results.missing for results in evidence)


def test_the_numbers_are_those_of_the_runs(played):
    (evidence,) = gather(list(played.values()))
    for name, folder in played.items():
        summary = RunFolder(folder).summary()
        results = evidence.conditions[name]
        assert (results.won, len(results.played)) == (summary.won, summary.done)
        assert sum(row.infeasible for row in results) == summary.infeasible


def test_one_run_alone_is_a_comparison_too(played):
    (evidence,) = gather([played["full"]])
    assert list(evidence.conditions) == ["full"]


@pytest.mark.parametrize(
    ("enforcement", "label"),
    [
        (STRICT, "Full RPMS + strict"),
        (replace(PAPER, menu=3, guidance=True), "Full RPMS + menu=3, guidance"),
        (
            replace(
                STRICT, guard=GuardMode.BLOCK, replace=True, reasks=0, constrained=Constrained.OFF
            ),
            "replace",
        ),
    ],
)
def test_names_say_what_is_enforced_and_notes_what_was_replaced(tmp_path, enforcement, label):
    folders = play_conditions(
        tmp_path, conditions={"x": replace(FULL, enforcement=enforcement)}, budget=8
    )
    (evidence,) = gather(list(folders.values()))
    table = make_table("actions", evidence)
    assert label in table.lines[0].cells[0].text
    replaced = sum(row.replaced for row in RunFolder(folders["x"]).summary().rows)
    assert bool(replaced) == enforcement.replace == ("Replaced" in table.columns)
    told = [note for note in omissions(evidence) if "not the model's own" in note]
    assert bool(told) == bool(replaced)
    assert all(f"{replaced} of " in note for note in told)


def test_mixed_protocols_are_refused_with_what_differs(copied):
    change(copied["full"], engine="another", step_budget=99)
    with pytest.raises(
        InputError, match=r'baseline and full .* engine: "native" → "another"; step_budget: 25 → 99'
    ):
        gather(list(copied.values()))
    assert gather(list(copied.values()), varies=(*VARIES, "engine", "step_budget"))


def test_different_tasks_are_refused(copied):
    protocol = RunFolder(copied["full"]).protocol
    shorter = type(protocol)(protocol.tasks[:-1], protocol.settings)
    (copied["full"] / "protocol.json").write_text(shorter.text())
    with pytest.raises(InputError, match=r"tasks: 6 → 5 \(0 added, 1 gone\)"):
        gather(list(copied.values()))


def test_a_damaged_file_is_named_and_counted_as_lost(copied):
    file = next((copied["full"] / "episodes").glob("*.json.gz"))
    file.write_bytes(file.read_bytes()[:-100])
    (evidence,) = gather(list(copied.values()))
    results = evidence.conditions["full"]
    assert list(results.damaged) == [file.name]
    assert (len(results), len(results.played)) == (6, 5)
    assert not results.going


def test_a_file_under_a_wrong_name_is_damaged(copied):
    one, two, *_ = sorted((copied["full"] / "episodes").glob("*.json.gz"))
    two.write_bytes(one.read_bytes())
    (evidence,) = gather([copied["full"]])
    assert "under the name of" in evidence.conditions["full"].damaged[two.name]


def test_files_of_no_task_count_for_nothing(copied):
    file = next((copied["full"] / "episodes").glob("*.json.gz"))
    (copied["full"] / "episodes" / "other-000000000000.json.gz").write_bytes(file.read_bytes())
    (copied["full"] / "episodes" / "zzz.json.gz").write_text("junk")
    (evidence,) = gather([copied["full"]])
    results = evidence.conditions["full"]
    assert (len(results), results.damaged) == (6, {})


def test_a_run_is_named_by_its_folder_where_its_label_is_another(copied, tmp_path):
    moved = copied["full"].rename(tmp_path / "tuesday")
    next((moved / "episodes").glob("*.json.gz")).unlink()
    (evidence,) = gather([moved])
    named = f"full ({moved}): 1 of 6 episodes missing"
    assert any(note.startswith(named) for note in omissions(evidence))


def test_a_run_tells_its_seconds_and_what_it_cost(copied):
    (copied["full"] / "price.json").write_text('{"prompt": 2.0, "completion": 10, "cached": null}')
    (copied["baseline"] / "price.json").write_text("junk")
    (evidence,) = gather([copied["full"], copied["baseline"]])
    results = evidence.conditions["full"]
    used = [
        sum(getattr(row.usage, name) for row in results)
        for name in ("prompt_tokens", "completion_tokens")
    ]
    assert results.cost == pytest.approx((2 * used[0] + 10 * used[1]) / 1e6)
    assert evidence.conditions["baseline"].cost is None
    assert results.seconds_a_step > 0
    table = make_table("actions", evidence)
    assert table.columns[-3:] == ("Seconds", "Cost ($)", "$ a solved task")


def test_a_missing_task_takes_its_type_from_another_condition(copied):
    file = next((copied["full"] / "episodes").glob("*.json.gz"))
    file.unlink()
    (evidence,) = gather(list(copied.values()))
    (missing,) = evidence.conditions["full"].missing
    assert (
        evidence.conditions["full"].rows[missing].type
        == evidence.conditions["baseline"].rows[missing].type
    )


def test_a_run_whose_process_lives_is_going(copied):
    folder = copied["full"]
    next((folder / "episodes").glob("*.json.gz")).unlink()
    assert not is_going(folder)
    (folder / "lock").write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
    assert is_going(folder)
    (evidence,) = gather([folder])
    assert evidence.conditions["full"].going


def test_a_run_whose_process_is_gone_is_not_going(copied):
    pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", ""])
    os.waitpid(pid, 0)
    (copied["full"] / "lock").write_text(json.dumps({"pid": pid, "host": socket.gethostname()}))
    assert not is_going(copied["full"])


def test_a_study_names_its_runs(copied, tmp_path):
    runs = {name: f"runs/{folder.name}" for name, folder in copied.items()}
    (tmp_path / "study.json").write_text(json.dumps({"title": "Mine", "runs": runs}))
    (evidence,) = gather([tmp_path])
    assert evidence.title == "Mine"
    assert list(evidence.conditions) == list(copied)


def test_a_study_may_have_several_groups(copied, tmp_path):
    groups = [{"title": name, "runs": {name: str(folder)}} for name, folder in copied.items()]
    (tmp_path / "study.json").write_text(json.dumps({"groups": groups}))
    assert [evidence.title for evidence in gather([tmp_path])] == list(copied)


def test_what_is_no_run_is_said_in_one_line(tmp_path):
    with pytest.raises(InputError, match="neither a run nor a study"):
        gather([tmp_path])
    (tmp_path / "study.json").write_text("[]")
    with pytest.raises(FileError, match=r"study.json: is not the index of a study"):
        gather([tmp_path])


def test_the_same_folder_twice_is_refused(played):
    with pytest.raises(InputError, match="given twice"):
        gather([played["full"], played["full"]])
