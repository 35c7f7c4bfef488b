"""Learning in rounds: resumable, without double counting, and frozen at the end."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rpms.cli.app import make_app
from rpms.learning.rounds import (
    Harvester,
    LearningDesign,
    continued,
    learn,
    learned,
)
from rpms.logic.errors import FileError, InputError
from rpms.models.policy import FunctionModel, PolicyModel, ScriptedModel, follow_plan
from rpms.models.recorded import RecordedModel, ReplayModel
from rpms.paper.condition import RULES_ONLY
from rpms.paper.memory import Kind
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.settings import Settings
from rpms.play.sources import ManualChoice, Sources
from rpms.store.answers import FolderOfAnswers
from rpms.store.memories import (
    check_frozen,
    freeze,
    freeze_file,
    memory_hash,
    read_frozen,
    read_memory,
    round_folder,
    snapshot_file,
)
from rpms.store.quarantine import read_quarantine
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.learning.episodes import planned

WORLD = find_world("alfworld")
COMPLETE = Sources(ManualChoice("complete"))


def design(model=None, **options) -> LearningDesign:
    model = model or PolicyModel("planner", follow_plan)
    rounds = {
        name: options.pop(name)
        for name in ("first", "later", "start", "audit", "words", "harvest")
        if name in options
    }
    rounds["rounds"] = options.pop("rounds", 2)
    rounds.setdefault("harvest", "clean")
    return LearningDesign(
        design_run(
            WORLD,
            model.name,
            lend(model),
            split="builtin",
            **{"limit": 4, "memory": EpisodicMemory(), "sources": COMPLETE, **options},
        ),
        **rounds,
    )


def test_rounds_leave_frozen_snapshots_and_a_frozen_memory(tmp_path):
    out = tmp_path / "memory.jsonl"
    results = learn(design(), out)
    assert [result.number for result in results] == [1, 2]
    for result in results:
        assert result.file == snapshot_file(out, result.number)
        assert check_frozen(result.file) == result.hash
        assert result.entries == len(read_memory(result.file).entries)
    assert out.read_bytes() == results[-1].file.read_bytes()
    assert check_frozen(out)
    memory = read_frozen(out, "alfworld")
    assert all(
        origin.episode.startswith("round1/") for entry in memory.entries for origin in entry.origins
    )


def test_an_episode_played_again_to_the_letter_is_counted_once(tmp_path):
    first, second = learn(design(later=RULES_ONLY), tmp_path / "memory.jsonl")
    assert second.repeated == 4
    assert first.file.read_bytes() == second.file.read_bytes()


def test_a_round_that_goes_otherwise_adds_evidence_and_entries(tmp_path):
    asked = []

    def answer(request):
        asked.append(request)
        thought, action = follow_plan(request.decision)
        clumsy = (
            len(request.decision.prompt.text)
            and request.decision.candidates
            and not request.decision.progress.done
        )
        return (
            "Action: open cabinet 99"
            if clumsy and len(asked) % 2
            else f"Thought: {thought}\nAction: {action}"
        )

    first, second = learn(design(FunctionModel(answer, "clumsy")), tmp_path / "memory.jsonl")
    assert second.repeated < 4
    assert second.entries > first.entries
    assert second.counts[Kind.FAILURE] > first.counts[Kind.FAILURE]
    later = [
        o
        for e in read_memory(second.file).entries
        for o in e.origins
        if o.episode.startswith("round2/")
    ]
    assert later
    before = {entry.id: entry.origins for entry in read_memory(first.file).entries}
    after = {entry.id: entry.origins for entry in read_memory(second.file).entries}
    assert all(origins <= after[name] for name, origins in before.items())


def test_a_recorded_model_teaches_the_same_again_without_being_asked(tmp_path):
    asked = []

    def answer(request):
        asked.append(request.episode)
        return f"Action: {follow_plan(request.decision)[1] if len(asked) % 5 else 'open the sky'}"

    store = FolderOfAnswers(tmp_path / "answers")
    live = learn(
        design(RecordedModel(FunctionModel(answer, "llm"), store)), tmp_path / "live.jsonl"
    )
    assert live[-1].counts[Kind.FAILURE]
    before = len(asked)
    replayed = learn(
        design(ReplayModel("replay/answers", store)), tmp_path / "replayed.jsonl", workers=2
    )
    assert len(asked) == before
    assert [result.hash for result in replayed] == [result.hash for result in live]


def test_learning_goes_on_where_it_stopped_and_comes_to_the_same(tmp_path):
    whole = learn(design(), tmp_path / "whole" / "memory.jsonl")
    asked = []

    def break_down(request):
        asked.append(request.episode)
        if len(asked) > 25:
            raise KeyboardInterrupt
        thought, action = follow_plan(request.decision)
        return f"Thought: {thought}\nAction: {action}"

    out = tmp_path / "broken" / "memory.jsonl"
    with pytest.raises(KeyboardInterrupt):
        learn(design(FunctionModel(break_down, "planner")), out)
    assert not out.exists()
    assert list((round_folder(out, 1) / "episodes").iterdir())
    assert learn(design(), out)[-1].hash == whole[-1].hash
    assert out.read_bytes() == (tmp_path / "whole" / "memory.jsonl").read_bytes()


def test_more_rounds_go_on_from_fewer(tmp_path):
    out = tmp_path / "memory.jsonl"
    learn(design(rounds=1), out)
    played = {
        file: file.stat().st_mtime_ns for file in (round_folder(out, 1) / "episodes").iterdir()
    }
    assert [result.number for result in learn(design(rounds=2), out)] == [1, 2]
    assert {
        file: file.stat().st_mtime_ns for file in (round_folder(out, 1) / "episodes").iterdir()
    } == played


def test_another_plan_in_the_same_place_is_refused(tmp_path):
    out = tmp_path / "memory.jsonl"
    learn(design(rounds=1), out)
    with pytest.raises(InputError, match="holds another run"):
        learn(design(rounds=1, limit=3), out)


def test_workers_change_nothing(tmp_path):
    one, many = tmp_path / "one.jsonl", tmp_path / "many.jsonl"
    learn(design(rounds=1), one, workers=1)
    learn(design(rounds=1), many, workers=4)
    assert one.read_bytes() == many.read_bytes()


def test_a_memory_that_somebody_else_wrote_is_not_written_over(tmp_path):
    out = tmp_path / "memory.jsonl"
    out.write_text("mine")
    with pytest.raises(InputError, match="was not written by `rpms learn`"):
        learn(design(), out)
    assert out.read_text() == "mine"


def test_an_edited_memory_is_not_written_over(tmp_path):
    out = tmp_path / "memory.jsonl"
    learn(design(rounds=1), out)
    out.write_text(out.read_text() + "\n")
    with pytest.raises(InputError, match="has changed since it was frozen"):
        learn(design(rounds=1), out)


def test_learning_that_was_killed_before_its_seal_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "memory.jsonl"

    def killed(file):
        if file == out:
            raise KeyboardInterrupt
        return freeze(file)

    with monkeypatch.context() as patch:
        patch.setattr("rpms.store.memories.freeze", killed)
        with pytest.raises(KeyboardInterrupt):
            learn(design(rounds=1), out)
    assert out.is_file()
    assert not freeze_file(out).exists()
    learn(design(rounds=1), out)
    assert check_frozen(out)
    # and with the seal of an earlier, shorter learning
    freeze_file(out).write_text(f"{'0' * 64}  {out.name}\n")
    assert learn(design(rounds=2), out)[-1].hash == check_frozen(out)
    freeze_file(out).unlink()
    out.write_text(out.read_text() + "\n")
    with pytest.raises(InputError, match="was not written by `rpms learn`"):
        learn(design(rounds=2), out)


def test_nothing_learned_is_said_so(tmp_path):
    silent = ScriptedModel("silent", ["Action: inventory"])
    with pytest.raises(InputError, match="nothing was learned"):
        learn(design(silent, limit=1, rounds=1), tmp_path / "memory.jsonl", empty=False)
    assert not (tmp_path / "memory.jsonl").exists()


def test_learning_nothing_leaves_an_empty_frozen_memory(tmp_path):
    silent = ScriptedModel("silent", ["Action: inventory"])
    out = tmp_path / "memory.jsonl"
    results = learn(design(silent, limit=1, rounds=2), out)
    assert [result.entries for result in results] == [0, 0]
    assert "nothing was learned" in next(learned(results))
    assert check_frozen(out)
    with pytest.raises(FileError, match="holds no entries"):
        read_frozen(out)


@pytest.mark.parametrize(
    ("options", "problem"), [({"rounds": 0}, "0 rounds"), ({"limit": 0}, "limit of 0")]
)
def test_plans_that_teach_nothing_are_refused(tmp_path, options, problem):
    with pytest.raises(InputError, match=problem):
        learn(design(**options), tmp_path / "memory.jsonl")


def test_a_folder_is_no_memory(tmp_path):
    with pytest.raises(InputError, match="file name such as"):
        learn(design(), tmp_path)


def test_the_harvester_travels():
    episode = planned("look")
    assert pickle.loads(pickle.dumps(Harvester(WORLD)))(episode) == Harvester(WORLD)(episode)


def test_the_freeze_is_enforced_by_hash(tmp_path):
    out = tmp_path / "memory.jsonl"
    learn(design(rounds=1), out)
    digest = memory_hash(read_frozen(out, "alfworld"))
    lines = out.read_text().splitlines()
    out.write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InputError, match="has changed since it was frozen"):
        read_frozen(out, "alfworld")
    freeze_file(out).unlink()
    assert memory_hash(read_frozen(out, "alfworld")) != digest


def test_the_freeze_is_one_that_sha256sum_checks(tmp_path):
    file = tmp_path / "memory.jsonl"
    file.write_text("x\n")
    freeze(file)
    done = subprocess.run(
        ["sha256sum", "--check", freeze_file(file).name],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0


def test_a_broken_freeze_is_one_clear_line(tmp_path):
    file = tmp_path / "memory.jsonl"
    file.write_text("x\n")
    freeze_file(file).write_text("")
    with pytest.raises(FileError, match="does not hold the hash"):
        check_frozen(file)


def rpms(*words: str | Path):
    return CliRunner().invoke(make_app(), [str(word) for word in words])


def test_the_command_learns_and_a_run_refuses_a_changed_memory(tmp_path):
    out = tmp_path / "memory.jsonl"
    done = rpms(
        "learn", "alfworld", "--split", "builtin", "--limit", 2, "--rounds", 1, "--out", out
    )
    assert done.exit_code == 0, done.output
    assert "round 1: 2 of 2 won" in done.output
    ran = rpms(
        "run",
        "alfworld",
        "--split",
        "builtin_large",
        "--limit",
        1,
        "--memory",
        out,
        "--out",
        tmp_path / "run",
    )
    assert ran.exit_code == 0, ran.output
    recorded = json.loads((tmp_path / "run" / "protocol.json").read_text())["memory"]
    assert recorded["hash"] == memory_hash(read_memory(out))
    out.write_text(out.read_text().replace("go to", "run to"))
    refused = rpms("run", "alfworld", "--limit", 1, "--memory", out, "--out", tmp_path / "run2")
    assert isinstance(refused.exception, InputError)
    assert "has changed since it was frozen" in str(refused.exception)
    assert not (tmp_path / "run2").exists()


def test_the_command_learns_from_chosen_tasks(tmp_path):
    def learned_from(*options):
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}" / "memory.jsonl"
        done = rpms(
            "learn", "alfworld", "--split", "builtin", "--rounds", 1, "--out", out, *options
        )
        assert done.exit_code == 0, done.output
        return RunFolder(round_folder(out, 1)).summary().rows

    each = learned_from("--per-task", 1)
    assert len({row.type for row in each}) == len(each) == 6
    drawn = learned_from("--sample", 3, "--seed", 4)
    assert len(drawn) == 3
    assert [row.task for row in learned_from("--sample", 3, "--seed", 4)] == [
        row.task for row in drawn
    ]
    assert [row.task for row in learned_from("--task", drawn[0].task)] == [drawn[0].task]


def test_what_chooses_from_a_menu_is_refused_where_there_is_none(tmp_path):
    refused = rpms(
        "learn",
        "alfworld",
        "--split",
        "builtin",
        "--model",
        "menu-best",
        "--out",
        tmp_path / "m.jsonl",
    )
    assert "menu-best chooses from a menu, and there is none" in str(refused.exception)
    assert not list(tmp_path.iterdir())


def test_the_command_learns_under_enforcement_and_says_what_of_it_does_nothing(tmp_path):
    out = tmp_path / "m.jsonl"
    command = (
        "learn",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        1,
        "--rounds",
        1,
        "--model",
        "menu-best",
    )
    done = rpms(
        *command, "--out", out, "--enforce", "menu=5", "--enforce", "unstick=on", "--max-tokens", 9
    )
    assert done.exit_code == 0, done.output
    assert done.stderr == "note: alfworld: unstick does nothing without loops=on\n"
    protocol = json.loads((round_folder(out, 1) / "protocol.json").read_text())
    assert protocol["condition"]["enforcement"]["menu"] == 5
    assert protocol["decoding"]["max_tokens"] == 9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--later", "baseline"), "--later 'baseline': choose full or rules-only"),
        (("--later", "memory-only"), "--later 'memory-only': choose full or rules-only"),
        (("--audit", "--rounds", 1), "--audit needs a round that plays with a memory"),
        (("--audit", "--later", "rules-only"), "--audit needs a round that plays with a memory"),
        (("--task", ""), "--task '' names no task"),
        (("--task", ","), "--task ',' names no task"),
        (("--enforce", "reasks=99"), "'99' is no value of reasks"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(tmp_path, options, words):
    refused = rpms(
        "learn", "alfworld", "--split", "builtin", "--out", tmp_path / "m.jsonl", *options
    )
    assert isinstance(refused.exception, InputError)
    assert words in str(refused.exception)
    assert not list(tmp_path.iterdir())


def test_learning_continues_from_its_own_frozen_memory(tmp_path, monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    out = tmp_path / "memory.jsonl"
    command = ["learn", "alfworld", "--split", "builtin", "--limit", "2", "--out", str(out)]
    assert CliRunner().invoke(make_app(), [*command, "--rounds", "1"]).exit_code == 0
    first = read_memory(out)
    more = CliRunner().invoke(make_app(), [*command, "--rounds", "1", "--continue"])
    assert "round 2: 2 of 2 won" in more.output
    assert snapshot_file(out, 2).read_bytes() == out.read_bytes()
    protocol = RunFolder(round_folder(out, 2)).protocol.settings
    assert protocol["memory"] == {"hash": memory_hash(first), "entries": len(first), "overlap": 2}
    assert {entry.id for entry in first.entries} <= {entry.id for entry in read_frozen(out).entries}
    again = CliRunner().invoke(make_app(), [*command, "--rounds", "1", "--continue"]).output
    assert "round 3 of 3" in again
    assert "round 3: 2 of 2 won" in again


def test_there_must_be_a_frozen_memory_to_continue_from(tmp_path):
    out = tmp_path / "memory.jsonl"
    with pytest.raises(InputError, match="is no frozen memory to go on from"):
        continued(design(), out)
    learn(design(rounds=1, limit=1), out)
    freeze_file(out).unlink()
    with pytest.raises(InputError, match="is no frozen memory to go on from"):
        continued(design(), out)


def test_rounds_with_an_audit_set_aside_what_harms_and_do_not_learn_it_again(tmp_path):
    """The model slips wherever it is shown a certain entry, and so that entry is what harms."""
    out = tmp_path / "memory.jsonl"
    learn(design(rounds=1, limit=6), out)
    bad = {
        entry.id
        for entry in read_memory(out).entries
        if entry.kind is Kind.SCHEMA and entry.action_type == "take"
    }

    def answer(request):
        shown = {candidate.entry.id for candidate in request.decision.memories}
        slips = shown & bad and "open the sky" not in request.prompt.text
        return f"Action: {'open the sky' if slips else follow_plan(request.decision)[1]}"

    masked = Settings(mask=0.5, k={Kind.SCHEMA: 9}).sources(WORLD)
    going_on = design(FunctionModel(answer, "slips"), rounds=3, limit=6, sources=masked, audit=True)
    results = learn(continued(going_on, out), out)
    assert bad
    assert [item.entry.id for item in read_quarantine(out)] == sorted(bad)
    assert bad.isdisjoint(entry.id for entry in read_frozen(out).entries)
    assert results[-1].aside == len(bad)
    *_, last, audited = learned(results)
    assert f"{len(bad)} set aside" in last
    assert audited == f"audit: {results[-1].audited}"
    assert "with not enough evidence to tell" in audited
    seeds = {RunFolder(round_folder(out, number)).protocol.settings["seed"] for number in (2, 3, 4)}
    assert len(seeds) == 3
