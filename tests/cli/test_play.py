"""`rpms play`: what one episode shows, and what mistakes are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rpms.cli.options import choose_task
from rpms.store.memories import write_memory
from rpms.worlds.alfworld.games.listing import builtin_ids
from rpms.worlds.base import Task
from tests.cli.command import Rpms


class TestPlay:
    def test_the_first_game_is_won_by_the_planner(self, rpms: Rpms):
        said = rpms("play", "alfworld")
        assert said.code == 0
        assert "step 1" in said.out
        assert "won (" in said.out
        assert "active rules: 13 universal" in said.out

    def test_by_number_and_by_the_start_of_an_id(self, rpms: Rpms):
        name = builtin_ids()[4]
        assert name in rpms("play", "alfworld", "--task", "5").out
        assert name in rpms("play", "alfworld", "--task", name[:-1]).out

    def test_rules_and_prompts_are_shown_when_asked_for(self, rpms: Rpms):
        said = rpms(
            "play",
            "alfworld",
            "--rules",
            "--show-prompts",
            "--layout",
            "paper",
            "--preset",
            "strict",
        )
        for words in ("[U-SEARCH-001]", "rules.domain, ", "[Possible Actions", "won ("):
            assert words in said.out

    def test_a_request_that_no_goal_fits_is_said_to_be_one(self, rpms: Rpms):
        said = rpms(
            "play", "alfworld", "--split", "builtin", "--steps", "1", "--goal", "sing a song to me"
        )
        assert "no goal of the manual fits `sing a song to me`" in said.out
        assert "note: the game decides what is won, by its own goal: look at alarmclock" in said.err

    def test_what_the_manual_did_not_foretell_is_shown(self, rpms: Rpms, tmp_path: Path):
        """A wrong effect of taking: what is taken from is not closed by it."""
        manual = tmp_path / "wrong.yaml"
        right = rpms("rules", "show", "alfworld", "--yaml").out
        wrong = right.replace(
            "effects: [holding(object),", "effects: [holding(object), closed(place),"
        )
        assert wrong != right
        manual.write_text(wrong, encoding="utf-8")
        options = ("--preset", "strict", "--memory", "none", "--manual", str(manual))
        said = rpms("play", "alfworld", "--task", "5", *options)
        assert "surprise, absent: `take book 3 from bed 1` was done, but not" in said.out
        assert "[take does closed(place)]" in said.out

    def test_the_baseline_has_no_rules(self, rpms: Rpms):
        assert "active rules: none" in rpms("play", "alfworld", "--condition", "baseline").out

    def test_a_script_that_runs_out_ends_the_episode(self, rpms: Rpms, tmp_path: Path):
        script = tmp_path / "script.txt"
        script.write_text("look\nfly\n", encoding="utf-8")
        said = rpms("play", "alfworld", "--model", f"scripted/{script}")
        assert "infeasible" in said.out
        assert "model error" in said.out
        assert said.code == 1

    def test_what_the_enforcement_did_is_shown(self, rpms: Rpms, tmp_path: Path):
        script = tmp_path / "script.txt"
        script.write_text("take [b]egg 9 from fridge 1\n" * 9, encoding="utf-8")
        play = ("play", "alfworld", "--model", f"scripted/{script}", "--enforce")
        advised = rpms(*play, "guard=advise").out
        told = re.search(r"\nNothing happens\. \((.+)\)\n", advised)
        assert told is not None
        assert f"\n  infeasible: {told[1]}\n" in advised
        assert "refused: " not in advised
        assert "menu: " not in advised
        blocked = rpms(*play, "guard=block", "--enforce", "reasks=1", "--enforce", "menu=3").out
        assert f"  refused: take [b]egg 9 from fridge 1 — {told[1]}, asked again\n" in blocked
        entries = re.findall(
            r"^  menu: go to .+ — look for alarmclock$",
            blocked.partition("step 2")[0],
            re.MULTILINE,
        )
        assert len(entries) == 3
        assert "\nNothing happens.\n" in blocked
        replaced = rpms(*play, "guard=block", "--enforce", "replace=on", "--enforce", "menu=3").out
        assert (
            f"  replaced: take [b]egg 9 from fridge 1 — refused to the last: {told[1]}\n"
            in replaced
        )

    def test_steps_may_be_few(self, rpms: Rpms):
        assert "out of steps (2 steps, " in rpms("play", "alfworld", "--steps", 2).out

    def test_guidance_and_notices_are_shown(self, rpms: Rpms, tmp_path: Path):
        script = tmp_path / "script.txt"
        script.write_text("look\n" * 6, encoding="utf-8")
        said = rpms("play", "alfworld", "--model", f"scripted/{script}", "--preset", "strict").out
        assert "\n  guidance: " in said
        assert "\n  notice: " in said

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--condition", "nope"), "'nope' is no condition; choose one of baseline"),
            (("--task", "99"), "no task '99': give a number from 1 to 24"),
            (("--task", "nope"), "no task 'nope'"),
            (("--split", "nope"), "no split 'nope'; choose one of builtin"),
            (("--split", "valid_seen"), "the environment variable ALFWORLD_DATA is not set"),
            (("--split", "valid_seen", "--data", "nowhere"), "nowhere: set ALFWORLD_DATA"),
            (("--engine", "nope"), "no engine 'nope'; choose one of native"),
            (("--model", "nope"), "no provider 'nope'"),
            (("--model", "scripted/nowhere.txt"), "nowhere.txt: cannot be read"),
            (
                ("--layout", "nope"),
                "--layout 'nope' is none of its values; choose one of paper, cached",
            ),
            (
                ("--preset", "papper"),
                "--preset 'papper' is none of its values; did you mean paper?",
            ),
            (("--enforce", "menu"), "write NAME=VALUE"),
            (
                ("--enforce", "menu=many"),
                "'many' is no value of menu: choose a whole number from 0 to 100",
            ),
            (
                ("--enforce", "menu=101"),
                "'101' is no value of menu: choose a whole number from 0 to 100",
            ),
            (("--enforce", "menu=-1"), "'-1' is no value of menu"),
            (("--enforce", "reasks=-1"), "'-1' is no value of reasks"),
            (
                ("--enforce", "reasks=11"),
                "'11' is no value of reasks: choose a whole number from 0 to 10",
            ),
            (("--steps", "0"), "--steps '0': write a whole number from 1 to 10,000,000"),
            (("--task", ""), "--task '' names no task"),
            (("--enforce", "recent=" + "9" * 5000), "is no value of recent"),
            (
                ("--enforce", "guard=maybe"),
                "'maybe' is no value of guard: choose off, advise or block",
            ),
            (("--enforce", "replace=maybe"), "'maybe' is no value of replace: choose on or off"),
            (
                ("--model", "menu-random/3"),
                "menu-random chooses from a menu, and there is none: add --preset strict or --enforce menu=5",
            ),
            (("--option", "fast"), "write NAME=VALUE"),
            (
                ("--option", "a=1", "--option", "a=2"),
                "--option 'a' is given twice, as '1' and as '2': give it once",
            ),
            (("--memory", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        ],
    )
    def test_a_mistake_is_one_line(self, rpms: Rpms, options: tuple[str, ...], words: str):
        assert words in rpms("play", "alfworld", *options).line

    def test_a_variation_of_another_split_is_named_with_its_split(self, rpms: Rpms, tmp_path: Path):
        play, run = (
            ("play", "scienceworld", "--task"),
            ("run", "scienceworld", "--out", tmp_path / "run", "--task"),
        )
        said = "boil/0 is of the split train: add --split train, or write --task boil --variation 0"
        assert rpms(*play, "boil/0").line == said
        assert (
            rpms(*run, "boil/0").line
            == "boil/0 is of the split train, not of dev: add --split train"
        )
        for command in (play, run):
            assert (
                rpms(*command, "boil/999").line == "boil has no variation 999: they go from 0 to 29"
            )
            assert "no task 'boil/x'" in rpms(*command, "boil/x").line

    def test_a_seed_of_another_split_is_named_with_its_split(self, rpms: Rpms):
        play = ("play", "textworld-express", "--task")
        said = "coin/3 is of the split train: add --split train, or write --task coin --variation 3"
        assert rpms(*play, "coin/3").line == said
        assert rpms(*play, "coin/5000").line.startswith(
            "coin has no seed 5000: they are 0 to 999 (train)"
        )
        assert "no task 'coin/10003'" in rpms(*play, "coin/10003", "--option", "game=sorting").line

    def test_a_type_stands_for_its_first_task(self):
        tickets = [
            Task(f"[{kind}]{number}", "train", kind)
            for kind in ("service", "mms")
            for number in (1, 2)
        ]
        assert choose_task(tickets, "mms").id == "[mms]1"
        assert choose_task(tickets, "[mms]2").id == "[mms]2"

    def test_a_memory_of_another_world_is_refused(self, rpms: Rpms, tmp_path: Path):
        memory = tmp_path / "memory.jsonl"
        write_memory(memory, [], "scienceworld")
        line = rpms("play", "alfworld", "--memory", memory).line
        assert "scienceworld" in line
        assert str(memory) in line

    def test_a_damaged_memory_is_named_with_its_line(self, rpms: Rpms, tmp_path: Path):
        memory = tmp_path / "memory.jsonl"
        write_memory(memory, [], "alfworld")
        before = memory.read_text(encoding="utf-8")
        memory.write_text(before + '{"type": "success"}\n', encoding="utf-8")
        assert (
            f"{memory}:{before.count(chr(10)) + 1}: "
            in rpms("play", "alfworld", "--memory", memory).line
        )
