"""What entries are worth, from real runs: found where there is evidence, and said where there
is none.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rpms.learning.audit import Account, AuditedOutcome, Worth, audit, exposures_of
from rpms.learning.entry_effects import Effect
from rpms.logic.belief import StateSignature
from rpms.logic.errors import InputError
from rpms.logic.goal import GoalSignature
from rpms.models.base import Answer
from rpms.models.policy import follow_plan
from rpms.paper.condition import MEMORY_ONLY
from rpms.paper.memory import Origin, SuccessSnippet, merge
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.play.settings import Settings
from rpms.store.memories import freeze, read_memory, write_memory
from rpms.store.quarantine import read_quarantine
from rpms.store.runs import RunFolder
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]
WORLD = find_world("alfworld")
TASKS = WORLD.tasks("builtin", Setting())
TYPES = tuple(dict.fromkeys(task.type for task in TASKS))[:3]
FEW = [task for task in TASKS if task.type in TYPES][::2]


def snippet(type_: str, action: str) -> SuccessSnippet:
    origins = frozenset({Origin("planted", 1)})
    return SuccessSnippet(
        GoalSignature(type_), StateSignature.parse(""), "any", (action,), origins=origins
    )


ENTRIES = merge([snippet(type_, action) for type_ in TYPES for action in ("dance", "wait", "look")])
"""Two that do nothing, and one that the player below cannot leave alone."""
DANCES = {entry.id for entry in ENTRIES if entry.actions == ("dance",)}


class Dancer:
    """The planner, who dances three times where it is shown an entry that does."""

    name = "dancer"

    def __init__(self) -> None:
        self._danced: dict[str, int] = {}

    def answer(self, request) -> Answer:
        shown = {candidate.entry.id for candidate in request.decision.memories}
        if shown & DANCES and self._danced.setdefault(request.episode, 0) < 3:
            self._danced[request.episode] += 1
            return Answer("Action: dance")
        return Answer(f"Action: {follow_plan(request.decision)[1]}")

    def close(self) -> None:
        pass


def masked(folder: Path, seed: int = 0, tasks=TASKS, mask: float = 0.5, workers: int = 1) -> Path:
    dancer = Dancer()
    design = design_run(
        WORLD,
        dancer.name,
        lend(dancer),
        split="builtin",
        tasks=tasks,
        condition=MEMORY_ONLY,
        memory=EpisodicMemory(ENTRIES, "alfworld"),
        sources=Settings(theta=0.5, mask=mask).sources(WORLD),
        seed=seed,
    )
    run(design, folder, workers)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    """A few games of three types, with several draws."""
    folder = tmp_path_factory.mktemp("masked")
    return [masked(folder / str(seed), seed, FEW) for seed in range(7)]


@pytest.fixture
def memory(tmp_path) -> Path:
    file = tmp_path / "memory.jsonl"
    write_memory(file, ENTRIES, "alfworld")
    freeze(file)
    return file


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "episodes").iterdir())}


def test_what_is_hidden_is_hidden_for_the_whole_episode_and_recorded(runs):
    run_folder = RunFolder(runs[0])
    assert run_folder.protocol.settings["retrieval"]["mask"] == 0.5
    hidden = 0
    for task in run_folder.protocol.tasks:
        record = run_folder.episode(task)
        fates: dict[str, set[bool]] = {}
        for step in record.steps:
            for each in step.candidates:
                if each.fate in {str(fate) for fate in Fate if fate.due}:
                    fates.setdefault(each.entry, set()).add(each.fate == Fate.HIDDEN)
        assert all(len(ways) == 1 for ways in fates.values())
        hidden += sum(True in ways for ways in fates.values())
    assert hidden


def test_the_same_draws_with_several_workers_and_after_an_interruption(runs, tmp_path):
    again = masked(tmp_path / "again", 0, FEW, workers=3)
    assert bytes_of(again) == bytes_of(runs[0])
    for file in list((again / "episodes").iterdir())[::2]:
        file.unlink()
    assert bytes_of(masked(again, 0, FEW)) == bytes_of(runs[0])


def test_what_harms_is_found_and_what_does_nothing_is_not_accused(runs):
    found = audit(runs)
    harmful = {account.name for account in found.of(Worth.HARMFUL)}
    assert harmful <= DANCES
    assert len(harmful) >= 2
    (kind,) = found.kinds
    assert kind.findings[AuditedOutcome.INFEASIBLE].estimate == pytest.approx(1.0, abs=0.5)
    assert all(
        account.worth is Worth.UNKNOWN for account in found.entries if account.name not in DANCES
    )
    assert "with not enough evidence to tell" in found.summary


def account(success=0.0, steps=0.0, infeasible=0.0, **at: float) -> Account:
    """Effects by their estimates; those of a whole number are credible."""

    def found(estimate: float) -> Effect:
        credible = estimate and estimate == int(estimate)
        return Effect(
            60, 60, estimate, estimate - 1, estimate + 1, 0.01, 99, 0.01 if credible else 0.9
        )

    whole = dict(zip(AuditedOutcome, map(found, (success, steps, infeasible)), strict=True))
    return Account(
        "success_1",
        "success",
        whole,
        {stage: found(estimate) for stage, estimate in at.items()},
        1,
        1,
    )


@pytest.mark.parametrize(
    ("said", "worth"),
    [
        (account(), Worth.UNKNOWN),
        (account(success=-1.0, steps=-5.0), Worth.HARMFUL),
        (account(steps=2.0), Worth.HARMFUL),
        (account(steps=2.0, infeasible=-1.0), Worth.UNKNOWN),
        (account(steps=1.5, put_object=2.0), Worth.HARMFUL),
        (account(steps=-1.5, put_object=-2.0), Worth.HELPFUL),
        (account(steps=-0.5, put_object=2.0), Worth.UNKNOWN),
        (account(steps=0.5, put_object=2.0, take_object=-1.0), Worth.UNKNOWN),
        (account(steps=3.0, put_object=2.0, take_object=-1.0), Worth.HARMFUL),
    ],
)
def test_steps_at_a_sub_goal_count_unless_they_are_made_up_for_elsewhere(said, worth):
    assert said.worth is worth


def test_steps_at_sub_goals_are_named_in_the_reason_and_the_record(runs):
    said = account(steps=1.5, put_object=2.0)
    assert "steps at put_object +2.0 (+1.0 to +3.0), p 0.01 corrected" in said.reason
    assert said.record()["steps_at"]["put_object"]["estimate"] == 2.0
    found = audit(runs)
    stages = {stage for each in found.entries for stage in each.at}
    assert stages
    assert all(finding.testable for each in found.entries for finding in each.at.values())


def test_episodes_told_twice_are_one_piece_of_evidence(runs):
    once, twice = audit(runs[:1]), audit([runs[0], runs[0]])
    assert once.record() == twice.record()


def test_few_episodes_tell_nothing_and_say_so(runs, tmp_path):
    found = audit([masked(tmp_path / "few", 0, TASKS[:2])])
    assert found.entries
    assert all(account.worth is Worth.UNKNOWN for account in found.entries)


def test_a_turn_comes_at_the_same_step_whichever_way_the_draw_falls(runs):
    since: dict[tuple[str, str], set[int]] = {}
    for folder in runs:
        run_folder = RunFolder(folder)
        for task in run_folder.protocol.tasks:
            for exposure in exposures_of(run_folder.episode(task)):
                since.setdefault((task, exposure.entry), set()).add(exposure.since)
    assert all(len(steps) == 1 for steps in since.values())


def test_runs_without_masking_say_how_to_get_them(tmp_path, runs, rpms: Rpms):
    plain = masked(tmp_path / "plain", 0, TASKS[:1], mask=0.0)
    with pytest.raises(InputError, match=r"rpms run … --mask 0\.2"):
        audit([plain])
    assert audit([plain, runs[0]]).left_out == (plain,)
    assert "hid no memories" in rpms("memory", "audit", plain).line


def test_hiding_what_is_not_there_is_noted_and_cannot_be_audited(tmp_path, rpms: Rpms):
    game = (
        "run",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        1,
        "--model",
        "planner",
        "--mask",
        0.2,
    )
    off = rpms(*game, "--condition", "rules-only", "--out", tmp_path / "off")
    assert "note: --mask hides nothing: memory is off in this condition" in off.err
    assert "was played without memory" in rpms("memory", "audit", tmp_path / "off").line
    assert (
        "note: --mask hides nothing: the memory is empty"
        in rpms(*game, "--memory", "none", "--out", tmp_path / "empty").err
    )


def test_harmful_entries_leave_the_next_memory_and_can_be_restored(
    runs, memory, tmp_path, rpms: Rpms
):
    out = tmp_path / "next.jsonl"
    ran = rpms("memory", "audit", *runs, "--memory", memory, "--out", out)
    assert ran.code == 0, ran
    left = {item.entry.id for item in read_quarantine(out)}
    assert left
    assert left <= DANCES
    assert {entry.id for entry in read_memory(out).entries} | left == {
        entry.id for entry in ENTRIES
    }
    assert all("infeasible +" in item.reason for item in read_quarantine(out))
    assert f"{len(left)} entries of {out} are set aside" in rpms("memory", "quarantine", out).out
    for name in sorted(left):
        assert f"{name} is back" in rpms("memory", "restore", name, "--memory", out).out
    assert {entry.id: entry for entry in read_memory(out).entries} == {
        entry.id: entry for entry in ENTRIES
    }
    assert read_quarantine(out) == ()
    assert "nothing was set aside" in rpms("memory", "restore", "x", "--memory", out).line
    assert "No such file" in rpms("memory", "quarantine", tmp_path / "nowhere.jsonl").line


def test_json_and_table_say_the_same(runs, rpms: Rpms):
    told = json.loads(rpms("memory", "audit", *runs, "--form", "json").out)
    assert told["correction"] == "Benjamini-Hochberg"
    harmful = [entry["name"] for entry in told["entries"] if entry["verdict"] == "harmful"]
    printed = rpms("memory", "audit", *runs).out
    assert harmful
    assert all(name in printed for name in harmful)
    assert "choose table or json" in rpms("memory", "audit", *runs, "--form", "xml").line


def test_a_memory_of_another_world_or_another_memory_is_refused(runs, memory, tmp_path, rpms: Rpms):
    other = tmp_path / "other.jsonl"
    write_memory(other, ENTRIES, "scienceworld")
    assert (
        "a memory of scienceworld, but the runs"
        in rpms("memory", "audit", *runs, "--memory", other).line
    )
    write_memory(memory, merge([snippet(TYPES[0], "sing")]), "alfworld")
    freeze(memory)
    assert "played with another memory" in rpms("memory", "audit", *runs, "--memory", memory).line
    assert (
        "exists; choose another file"
        in rpms("memory", "audit", *runs, "--memory", memory, "--out", other).line
    )
    assert (
        "--out needs --memory" in rpms("memory", "audit", *runs, "--out", tmp_path / "x.jsonl").line
    )
