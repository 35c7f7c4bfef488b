"""What a new user types, and what they get to read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rpms import __version__
from rpms.core.enforcement import PARTS
from rpms.store.memories import write_memory
from rpms.store.runs import RunFolder
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.builtin import builtin_ids, builtin_walkthrough, load_builtin, save_builtin
from tests.cli.command import Rpms
from tests.models.server import openai_ok, serve

MANUAL = """\
world: garden
predicates:
  at: {args: [place], yes: you are at <place>}
environment:
  go:
    syntax: go to <place>
    effects: [at(place)]
"""


def test_help_names_every_command(rpms: Rpms):
    said = rpms("--help")
    assert said.code == 0
    for command in ("play", "run", "verify", "rules", "games", "models", "worlds"):
        assert command in said.out
    assert rpms("-h").out == said.out


@pytest.mark.parametrize("command", ["play", "run", "verify", "rules", "games", "models", "worlds"])
def test_every_command_has_help(rpms: Rpms, command: str):
    said = rpms(command, "--help")
    assert said.code == 0
    assert "Usage" in said.out


@pytest.mark.parametrize("command", ["play", "run", "learn"])
def test_no_part_of_the_enforcement_is_cut_off_on_a_narrow_screen(command: str, tmp_path: Path):
    environment = {**os.environ, "COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
    arguments = [sys.executable, "-m", "rpms", command, "--help"]
    said = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=True, env=environment).stdout
    assert max(map(len, said.splitlines())) == 80
    words = " ".join(line.strip("│ ").rpartition("  ")[2] for line in said.splitlines())
    assert f"{', '.join(PARTS)}. docs/enforcement.md lists their values." in words


def test_without_a_command_the_help_is_shown(rpms: Rpms):
    said = rpms()
    assert "play" in said.out + said.err


def test_a_wrong_option_is_a_usage_error(rpms: Rpms):
    said = rpms("play", "alfworld", "--nope")
    assert said.code == 2
    assert "--nope" in said.err


def test_the_installed_command_in_a_process_of_its_own():
    def rpms_process(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "rpms", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    assert rpms_process("--version").stdout == f"rpms {__version__}\n"
    wrong = rpms_process("play", "alfwrld")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("rpms: unknown world 'alfwrld', did you mean alfworld?")
    assert wrong.stderr.count("\n") == 1


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
        said = rpms("play", "alfworld", "--rules", "--prompt", "--layout", "paper", "--preset", "strict")
        for words in ("[U-SEARCH-001]", "rules.domain, ", "[Possible Actions", "won ("):
            assert words in said.out

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
        entries = re.findall(r"^  menu: go to .+ — look for alarmclock$", blocked.partition("step 2")[0], re.MULTILINE)
        assert len(entries) == 3
        assert "\nNothing happens.\n" in blocked
        replaced = rpms(*play, "guard=block", "--enforce", "replace=on", "--enforce", "menu=3").out
        assert f"  replaced: take [b]egg 9 from fridge 1 — refused to the last: {told[1]}\n" in replaced

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
            (("--condition", "nope"), "unknown condition 'nope'; choose one of baseline"),
            (("--task", "99"), "no task '99': give a number from 1 to 24"),
            (("--task", "nope"), "no task 'nope'"),
            (("--split", "nope"), "no split 'nope'; choose one of builtin"),
            (("--split", "valid_seen"), "the environment variable ALFWORLD_DATA is not set"),
            (("--split", "valid_seen", "--data", "nowhere"), "nowhere: set ALFWORLD_DATA"),
            (("--engine", "nope"), "no engine 'nope'; choose one of native"),
            (("--model", "nope"), "no provider 'nope'"),
            (("--model", "scripted/nowhere.txt"), "nowhere.txt: cannot be read"),
            (("--layout", "nope"), "--layout 'nope' is none of its values; choose one of paper, cached"),
            (("--preset", "papper"), "--preset 'papper' is none of its values; did you mean paper?"),
            (("--enforce", "menu"), "write NAME=VALUE"),
            (("--enforce", "menu=many"), "'many' is no value of menu: choose a whole number from 0 to 100"),
            (("--enforce", "menu=101"), "'101' is no value of menu: choose a whole number from 0 to 100"),
            (("--enforce", "menu=-1"), "'-1' is no value of menu"),
            (("--enforce", "reasks=-1"), "'-1' is no value of reasks"),
            (("--enforce", "reasks=11"), "'11' is no value of reasks: choose a whole number from 0 to 10"),
            (("--steps", "0"), "--steps '0': write a whole number of 1 or more"),
            (("--task", ""), "--task '' names no task"),
            (("--enforce", "recent=" + "9" * 5000), "is no value of recent"),
            (("--enforce", "guard=maybe"), "'maybe' is no value of guard: choose off, advise or block"),
            (("--enforce", "replace=maybe"), "'maybe' is no value of replace: choose on or off"),
            (
                ("--model", "menu-random/3"),
                "menu-random chooses from a menu, and there is none: add --preset strict or --enforce menu=5",
            ),
            (("--option", "fast"), "write NAME=VALUE"),
            (("--memory", "nowhere.jsonl"), "nowhere.jsonl: cannot be read"),
        ],
    )
    def test_a_mistake_is_one_line(self, rpms: Rpms, options: tuple[str, ...], words: str):
        assert words in rpms("play", "alfworld", *options).line

    def test_a_variation_of_another_split_is_named_with_its_split(self, rpms: Rpms, tmp_path: Path):
        play, run = ("play", "scienceworld", "--task"), ("run", "scienceworld", "--out", tmp_path / "run", "--task")
        said = "boil/0 is of the split train: add --split train, or write --task boil --variation 0"
        assert rpms(*play, "boil/0").line == said
        assert rpms(*run, "boil/0").line == "boil/0 is of the split train, not of dev: add --split train"
        for command in (play, run):
            assert rpms(*command, "boil/999").line == "boil has no variation 999: they go from 0 to 29"
            assert "no task 'boil/x'" in rpms(*command, "boil/x").line

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
        assert f"{memory}:{before.count(chr(10)) + 1}: " in rpms("play", "alfworld", "--memory", memory).line


class TestRules:
    def test_the_whole_manual_and_what_is_active_for_a_goal(self, rpms: Rpms):
        whole = rpms("rules", "show", "alfworld").out
        active = rpms("rules", "show", "alfworld", "--goal", "pick_heat").out
        assert "[D-COOL-001]" in whole
        assert "[D-COOL-001]" not in active
        assert "[D-HEAT-001]" in active
        assert "tokens in a prompt" in active

    def test_a_goal_may_be_stated_as_the_world_does(self, rpms: Rpms):
        said = rpms("rules", "show", "alfworld", "--goal", "cool some apple and put it in microwave.")
        assert "active for pick_cool_then_place_in_recep:apple:cool:microwave" in said.out

    def test_a_goal_may_be_a_tasks_name(self, rpms: Rpms):
        said = rpms("rules", "show", "scienceworld", "--goal", "boil").out
        assert "active for F3:boil" in said
        assert "F3-BOIL-001" in said
        assert "F3-MELT-001" not in said
        assert "unknown goal 'apple'" in rpms("rules", "show", "alfworld", "--goal", "apple").line

    def test_goals_procedures_and_what_actions_reveal_are_shown(self, rpms: Rpms):
        whole = rpms("rules", "show", "alfworld").out
        assert "\n  pick_and_place_simple (x is the object, p is the destination):\n    in(x, p)\n" in whole
        assert "    Gives: at(place)\n    Reveals: closed(place); in(_, place) if not closed(place); " in whole
        active = rpms("rules", "show", "alfworld", "--goal", "pick_heat").out
        assert "goals (1), for plans alone\n  pick_heat_then_place_in_recep" in active
        science = rpms("rules", "show", "scienceworld", "--goal", "F3").out
        assert re.search(r"\n  boil, for F3 of [^\n]+:\n    \w+: ", science)
        assert "i is each of the ingredients" in science

    def test_an_unknown_goal_lists_the_types(self, rpms: Rpms):
        assert "goal types: look_at_obj_in_light" in rpms("rules", "show", "alfworld", "--goal", "nope").line

    def test_a_good_manual(self, rpms: Rpms, tmp_path: Path):
        file = tmp_path / "garden.yaml"
        file.write_text(MANUAL, encoding="utf-8")
        said = rpms("rules", "check", file)
        assert (said.code, said.out.splitlines()[0]) == (
            0,
            "ok: 0 rules, 1 actions (1 with checkable preconditions or effects), 1 predicates",
        )
        weak = "note: the guard refuses only what is no known action: no action in its manual has preconditions"
        assert said.out.splitlines()[1:] == [weak]
        file.write_text(MANUAL + "    preconditions: [not at(place)]\n", encoding="utf-8")
        assert "note" not in rpms("rules", "check", file).out

    @pytest.mark.parametrize(
        ("old", "new", "line", "words"),
        [
            ("at(place)]", "att(place)]", 7, "unknown predicate 'att'"),
            ("at(place)]", "at(spot)]", 7, "'spot' is no parameter"),
            ("environment:", "enviroment:", 4, "unknown tier or key 'enviroment'"),
            ("effects:", "efects:", 7, "not a known field"),
            ("syntax: go to <place>", "syntax: [go", 7, "not valid YAML"),
            ("effects: [at(place)]", "effects: [at(place), not at(place)]", 7, "contradicts itself"),
            ("effects: [at(place)]", "observes: [att(place)]", 7, "unknown predicate 'att'"),
            ("environment:", "goals: {walk: {over: {x: way}, holds: [at(x)]}}\nenvironment:", 4, "'way' is no field"),
            (
                "environment:",
                "goals: {walk: {over: {x: object}, holds: [at(y)]}}\nenvironment:",
                4,
                "'y' is no variable",
            ),
        ],
    )
    def test_a_broken_manual_is_named_by_file_and_line(self, rpms, tmp_path: Path, old, new, line, words):
        file = tmp_path / "garden.yaml"
        file.write_text(MANUAL.replace(old, new), encoding="utf-8")
        said = rpms("rules", "check", file).line
        assert said.startswith(f"{file}:{line}: ")
        assert words in said

    @pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"", b"- a list\n"])
    def test_unreadable_files(self, rpms: Rpms, tmp_path: Path, content: bytes | None):
        file = tmp_path / "garden.yaml"
        if content is not None:
            file.write_bytes(content)
        assert str(file) in rpms("rules", "check", file).line
        assert "is a folder" in rpms("rules", "check", tmp_path).line


class TestRun:
    def test_a_run_is_kept_and_continued(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        first = rpms("run", "alfworld", "--limit", 2, "--out", out)
        assert first.code == 0
        assert "2 of 2 episodes: 2 won" in first.out
        files = {file: file.stat().st_mtime_ns for file in (out / "episodes").iterdir()}
        assert len(files) == 2
        next(iter(files)).unlink()
        again = rpms("run", "alfworld", "--limit", 2, "--out", out)
        assert "2 of 2 episodes: 2 won" in again.out
        now = {file: file.stat().st_mtime_ns for file in (out / "episodes").iterdir()}
        assert now.keys() == files.keys()
        assert sum(now[file] == files[file] for file in files) == 1
        assert RunFolder(out).summary().won == 2

    def test_a_scheduler_may_stop_it_like_ctrl_c(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        options = ["run", "alfworld", "--preset", "strict", "--model", "menu-first", "--out", str(out)]
        command = [sys.executable, "-c", "from rpms.cli import main; main()", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list(out.glob("episodes/*.json")):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "and the same command goes on from there" in err
        assert 0 < RunFolder(out).summary().done < 24

    def test_without_a_folder_the_same_command_finds_its_own_again(self, rpms: Rpms, tmp_path: Path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        command = ("run", "alfworld", "--split", "builtin", "--limit", 1, "--model", "planner")
        assert "episodes are in runs/alfworld-builtin-planner" in rpms(*command).out
        (file,) = (tmp_path / "runs" / "alfworld-builtin-planner" / "episodes").iterdir()
        written = file.stat().st_mtime_ns
        assert rpms(*command).code == 0
        assert file.stat().st_mtime_ns == written
        assert "runs/alfworld-builtin-planner-baseline" in rpms(*command, "--condition", "baseline").out
        enforced = rpms(*command, "--enforce", "menu=5", "--enforce", "loops=true", "--enforce", "guard=off").out
        assert "episodes are in runs/alfworld-builtin-planner-menu-5-loops-on\n" in enforced
        strict = rpms(*command, "--preset", "strict", "--enforce", "menu=5").out
        assert "episodes are in runs/alfworld-builtin-planner-strict\n" in strict

    def test_tasks_by_type_and_by_id(self, rpms: Rpms, tmp_path: Path):
        said = rpms("run", "alfworld", "--task", "look_at_obj_in_light", "--limit", 1, "--out", tmp_path / "run")
        (row,) = RunFolder(tmp_path / "run").summary().rows
        assert (said.code, row.type) == (0, "look_at_obj_in_light")
        rpms("run", "alfworld", "--tasks", f"{row.task},pick_two_obj_and_place", "--out", tmp_path / "more")
        assert {each.type for each in RunFolder(tmp_path / "more").summary().rows} == {
            "look_at_obj_in_light",
            "pick_two_obj_and_place",
        }
        assert "no task 'nope'" in rpms("run", "alfworld", "--task", "nope", "--out", tmp_path / "run").line

    def test_re_asks_are_counted(self, rpms: Rpms, tmp_path: Path):
        script = tmp_path / "script.txt"
        script.write_text("take egg 9 from fridge 1\n" * 6, encoding="utf-8")
        command = ("run", "alfworld", "--model", f"scripted/{script}", "--limit", 1, "--steps", 2, "--enforce")
        assert "\nre-asks: 4 (2.00 a step)\n" in rpms(*command, "guard=block", "--out", tmp_path / "block").out
        assert "re-asks" not in rpms(*command, "guard=advise", "--out", tmp_path / "advise").out

    def test_another_protocol_in_the_same_folder_is_refused(self, rpms: Rpms, tmp_path: Path):
        out = tmp_path / "run"
        rpms("run", "alfworld", "--limit", 1, "--condition", "rules-only", "--out", out)
        assert "tasks: 1 → 2" in rpms("run", "alfworld", "--limit", 2, "--condition", "rules-only", "--out", out).line
        line = rpms("run", "alfworld", "--limit", 1, "--out", out, "--condition", "baseline").line
        assert "condition.rules: true → false" in line

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--limit", 0), "--limit '0': write a whole number of 1 or more"),
            (("--theta", 2), "--theta '2': write a number from 0 to 1"),
            (("--price", "cheap"), "--price 'cheap'"),
            (("--parameter", "top_k"), "name=value"),
            (("--split", "nope"), "no split 'nope'"),
            (("--task", ""), "--task '' names no task"),
            (("--task", " , "), "--task ' , ' names no task"),
            (("--condition", "E"), "unknown condition 'E'"),
            (("--model", "menu-best"), "menu-best chooses from a menu, and there is none"),
        ],
    )
    def test_a_mistake_is_one_line_and_leaves_nothing_behind(self, rpms, tmp_path, options, words):
        assert words in rpms("run", "alfworld", "--out", tmp_path / "run", *options).line
        assert not (tmp_path / "run" / "episodes").exists()

    def test_a_task_that_a_simplification_makes_impossible_is_refused(self, rpms: Rpms, tmp_path: Path):
        command = ("run", "scienceworld", "--task", "power-component", "--out", tmp_path / "run")
        line = rpms(*command, "--option", "simplifications=noElectricalAction").line
        assert line == "power-component cannot be done with the simplification 'noElectricalAction'"
        assert not (tmp_path / "run").exists()

    @pytest.mark.parametrize("option", [("--max-tokens", 0), ("--temperature", -1), ("--workers", 0)])
    def test_numbers_out_of_range_are_usage_errors(self, rpms: Rpms, tmp_path: Path, option: tuple[str, int]):
        said = rpms("run", "alfworld", "--out", tmp_path / "run", *option)
        assert said.code == 2
        assert option[0] in said.err

    def test_a_file_in_place_of_the_folder(self, rpms: Rpms, tmp_path: Path):
        (tmp_path / "run").write_text("not a folder", encoding="utf-8")
        assert (
            str(tmp_path / "run") in rpms("run", "alfworld", "--condition", "baseline", "--out", tmp_path / "run").line
        )

    def test_a_memory_of_another_world_is_refused(self, rpms: Rpms, tmp_path: Path):
        write_memory(tmp_path / "memory.jsonl", [], "scienceworld")
        said = rpms("run", "alfworld", "--out", tmp_path / "run", "--memory", tmp_path / "memory.jsonl")
        assert "scienceworld" in said.line


class TestGames:
    def test_made_games_can_be_run(self, rpms: Rpms, tmp_path: Path):
        made = rpms("games", "make", "--out", tmp_path / "games", "--count", 2, "--seed", 7)
        assert "2 games, each won by a plan" in made.out
        played = ("run", "alfworld", "--split", "train", "--data", tmp_path / "games", "--memory", "none")
        played = (*played, "--out", tmp_path / "run")
        assert "2 of 2 episodes: 2 won" in rpms(*played).out

    def test_mistakes(self, rpms: Rpms, tmp_path: Path):
        assert "1 or more" in rpms("games", "make", "--out", tmp_path / "games", "--count", 0).line
        assert "unknown task type" in rpms("games", "make", "--out", tmp_path / "games", "--type", "nope").line
        assert "dialect" in rpms("games", "make", "--out", tmp_path / "games", "--dialect", "0.5").line


class TestVerify:
    @pytest.fixture
    def transcript(self, tmp_path: Path) -> Path:
        """A playthrough of a builtin game, recorded here, with the game beside it."""
        name = builtin_ids()[0]
        save_builtin(name, tmp_path)
        game = NativeGame(load_builtin(name))
        steps = []
        for command in (None, *builtin_walkthrough(name)):
            outcome = game.reset() if command is None else game.step(command)
            steps.append({"action": command, "observation": outcome.observation, "won": outcome.won})
        file = tmp_path / "played.jsonl"
        file.write_text(json.dumps({"game": name, "dialect": "0.3", "steps": steps}) + "\n", encoding="utf-8")
        return file

    def test_an_unchanged_transcript(self, rpms: Rpms, transcript: Path):
        said = rpms("verify", "alfworld", transcript, "--data", transcript.parent)
        assert (said.code, said.out[:8]) == (0, "1 games,")
        assert said.out.endswith(" 0 mismatches\n")

    def test_a_difference_is_shown_and_is_exit_code_1(self, rpms: Rpms, transcript: Path):
        text = transcript.read_text(encoding="utf-8")
        transcript.write_text(text.replace('"won": true', '"won": false'), encoding="utf-8")
        said = rpms("verify", "alfworld", transcript, "--data", transcript.parent)
        assert said.code == 1
        assert f"{transcript}:1: " in said.out
        assert "won differs" in said.out
        assert "1 mismatches" in said.out

    def test_mistakes(self, rpms: Rpms, transcript: Path):
        folder = transcript.parent
        assert "$ALFWORLD_DATA" in rpms("verify", "alfworld", transcript).line
        assert "no such transcript" in rpms("verify", "alfworld", folder / "nope.jsonl", "--data", folder).line
        assert "only alfworld" in rpms("verify", "scienceworld", transcript).line
        transcript.write_text("{\n", encoding="utf-8")
        assert f"{transcript}:1: " in rpms("verify", "alfworld", transcript, "--data", folder).line


class TestModels:
    def test_the_list_says_what_is_ready(self, rpms: Rpms):
        said = rpms("models")
        assert said.code == 0
        for row in ("planner", "scripted/FILE", "openai/"):
            assert row in said.out

    def test_checking_what_there_is_not(self, rpms: Rpms):
        assert "no provider 'nope'" in rpms("models", "check", "nope").line

    @pytest.mark.parametrize("name", ["planner", "menu-random", "menu-random/3", "menu-first", "menu-best"])
    def test_what_is_no_llm_needs_no_check(self, rpms: Rpms, name: str):
        said = rpms("models", "check", name)
        assert (said.code, said.err, said.out.count("\n")) == (0, "", 1)
        assert said.out.startswith(f"{name}: ready, nothing to check; no LLM")

    def test_checking_a_dead_server_is_quick_and_says_nothing_of_a_run(self, rpms: Rpms):
        said = rpms("models", "check", "vllm/m", "--base-url", "http://127.0.0.1:9/v1", "--price", "1,2")
        assert said.code == 1
        assert "2 tries" in said.err
        assert "same command" not in said.err

    def test_checking_at_a_price_of_ones_own(self, rpms: Rpms):
        with serve() as server:
            server.play(openai_ok())
            said = rpms("models", "check", "vllm/m", "--base-url", f"{server.url}/v1", "--price", "1,2")
            assert "cost     $0.000114" in said.out
            assert "--price 'x'" in rpms("models", "check", "vllm/m", "--price", "x").line


class TestWorlds:
    def test_the_installed_worlds(self, rpms: Rpms):
        said = rpms("worlds")
        assert said.code == 0
        assert "builtin, builtin_large, valid_seen, valid_unseen, train" in said.out

    def test_alfworld_is_sound(self, rpms: Rpms):
        said = rpms("worlds", "check", "alfworld", "--games", 2, "--steps", 8)
        assert said.code == 0
        assert "failed" not in said.out
        assert "ok      belief" in said.out

    def test_mistakes(self, rpms: Rpms):
        assert "unknown world 'nope'" in rpms("worlds", "check", "nope").line
        assert "no engine 'nope'" in rpms("worlds", "check", "alfworld", "--engine", "nope").line
        assert "no property is called 'nope'" in rpms("worlds", "check", "alfworld", "--only", "nope").line

    def test_a_split_that_is_not_there_fails_the_check(self, rpms: Rpms):
        said = rpms("worlds", "check", "alfworld", "--split", "valid_seen")
        assert said.code == 1
        assert "ALFWORLD_DATA" in said.out
