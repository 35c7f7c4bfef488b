"""Epochs: the same tasks again and again, and how results differ from one time to the next."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.models.base import Answer, Decoding
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel, design_run, lend
from rpms.play.epochs import agreement, epoch_design, epoch_folders, run_epochs
from rpms.play.run import run
from rpms.report.export import export
from rpms.report.gather import gather
from rpms.report.tables import make_table
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]

outcomes = st.integers(2, 5).flatmap(
    lambda epochs: st.lists(
        st.lists(st.booleans(), min_size=epochs, max_size=epochs), min_size=1, max_size=8
    )
)


@given(outcomes)
def test_agreement_is_what_counting_every_draw_gives(rows):
    epochs = [
        {f"task {n}": row[place] for n, row in enumerate(rows)} for place in range(len(rows[0]))
    ]
    agreed = agreement(epochs)
    assert agreed is not None
    pairs = [(row[a], row[b]) for row in rows for a in range(len(row)) for b in range(a)]
    assert agreed.flip_rate == pytest.approx(sum(one != two for one, two in pairs) / len(pairs))
    assert agreed.pass_hat(2) == pytest.approx(sum(one and two for one, two in pairs) / len(pairs))
    assert agreed.pass_hat(1) == pytest.approx(agreed.mean)
    assert agreed.pass_hat(agreed.epochs) == pytest.approx(sum(map(all, rows)) / len(rows))
    assert agreed.flipped == sum(any(row) and not all(row) for row in rows)
    falling = [agreed.pass_hat(k) for k in range(1, agreed.epochs + 1)]
    assert falling == sorted(falling, reverse=True)


def test_only_tasks_of_all_epochs_count():
    agreed = agreement([{"a": True, "b": True}, {"a": False}])
    assert agreed is not None
    assert (agreed.tasks, agreed.missing, agreed.rates) == (1, 1, (1.0, 0.0))
    assert agreement([{"a": True}]) is None
    assert agreement([{"a": True}, {"b": True}]) is None


@pytest.fixture(scope="module")
def fickle(tmp_path_factory):
    """Three epochs of four games by a model whose luck hangs on its seed."""

    def answer(request) -> Answer:
        lucky = (
            hashlib.sha256(f"{request.episode} {request.decoding.seed}".encode()).digest()[0] % 2
        )
        return Answer(f"Action: {follow_plan(request.decision)[1] if lucky else 'look'}")

    out = tmp_path_factory.mktemp("runs") / "fickle"
    model = FunctionModel(answer, "fickle")
    decoding = Decoding(temperature=1.0, seed=5)
    design = design_run(
        find_world("alfworld"),
        "fickle",
        lend(model),
        split="builtin",
        limit=4,
        decoding=decoding,
        memory=EpisodicMemory(),
    )
    run_epochs(design, out, 3, run)
    return out


def test_each_epoch_is_a_run_and_the_first_is_the_folder_itself(fickle):
    folders = epoch_folders(fickle)
    assert folders == (fickle, fickle / "epochs/2", fickle / "epochs/3")
    first, second, third = (RunFolder(folder).protocol for folder in folders)
    assert first.tasks == second.tasks == third.tasks
    assert first.differences(third) == ("decoding.seed: 5 → 7", "epoch: nothing → 3")


def test_tables_and_exports_know_epochs(fickle, tmp_path):
    (evidence,) = gather([fickle])
    table = make_table("epochs", evidence)
    assert table.columns == (
        "Condition",
        "Epochs",
        "Mean",
        "Range",
        "pass^2",
        "pass^3",
        "Flip rate",
        "Flipped",
    )
    (row,) = table.lines
    agreed = evidence.conditions["full"].agreement
    assert 0 < agreed.flipped <= 4
    assert [cell.text for cell in row.cells][1:3] == ["3", f"{100 * agreed.mean:.1f}"]
    files, _ = export([fickle], "csv", tmp_path / "out")
    assert files["episodes.csv"] == 12


def test_epochs_share_no_record(tmp_path):
    named = NamedModel("openai/m", record=tmp_path)
    design = design_run(
        find_world("alfworld"), "openai/m", named, split="builtin", limit=1, memory=EpisodicMemory()
    )
    assert epoch_design(design, 1) is design
    assert epoch_design(design, 2).open_model.record == tmp_path / "epoch-2"
    assert epoch_design(design, 2).decoding == design.decoding  # greedy: there is no seed to change


def test_the_command_goes_on_with_more_epochs(rpms: Rpms, tmp_path):
    command = ("run", "alfworld", "--split", "builtin", "--limit", 2, "--condition", "rules-only")
    command += ("--out", tmp_path / "out")
    assert "epoch" not in rpms(*command).out
    said = rpms(*command, "--epochs", 2)
    assert said.code == 0
    assert (
        "2 epochs: success 100.0%, 100.0%; pass^1 100.0%, pass^2 100.0%; flip rate 0.0%, 0 of 2"
        in said.out
    )
    printed = rpms("table", "epochs", tmp_path / "out")
    assert "Flip rate" in printed.out
