"""Printed text fits the screen."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import typer.rich_utils  # noqa: F401  it reads FORCE_COLOR when it is first imported, which must not be in a test
from rich.console import Console

from rpms.cli.panels import PANELS
from rpms.cli.run_summary import print_summary
from rpms.store.memories import freeze, read_memory
from rpms.store.runs import RunFolder
from rpms.study.study_files import shipped_studies
from rpms.worlds.registry import find_world
from tests.cli.command import Ran, Rpms

_CODES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
Terminal = Callable[..., Ran]


@pytest.fixture
def terminal(rpms: Rpms, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Run a command on a terminal of a size; what it printed comes without the terminal's codes."""

    def run(columns: int, lines: int, *arguments: object) -> Ran:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", str(lines))
        said = rpms(*arguments)
        return Ran(said.code, _CODES.sub("", said.out), _CODES.sub("", said.err))

    return run


class TestPlay:
    @pytest.mark.parametrize(("columns", "lines"), [(80, 24), (100, 40)])
    @pytest.mark.parametrize("more", [(), ("--preset", "strict")])
    def test_every_step_fits_the_screen(
        self, terminal: Terminal, columns: int, lines: int, more: tuple[str, ...]
    ):
        said = terminal(columns, lines, "play", "alfworld", "--task", 12, *more)
        steps = re.split(r"^(?=step \d+ ─)", said.out, flags=re.MULTILINE)[1:]
        assert len(steps) > 2
        for step in steps[:-1]:  # the last one is followed by how the episode ended
            assert len(step.splitlines()) <= lines
            assert re.search("^> ", step, re.MULTILINE), "what was done is never folded away"
        assert max(map(len, said.out.splitlines())) <= columns

    def test_rejected_memories_are_a_count_until_all_is_asked_for(self, rpms: Rpms):
        folded, whole = rpms("play", "alfworld").out, rpms("play", "alfworld", "--verbose").out
        assert "[below θ]" not in folded
        line = next(line for line in folded.splitlines() if "memories not shown" in line)
        first = whole.partition("step 2")[0]
        for reason in ("below θ", "filtered by state"):
            count = re.search(rf"(\d+) {reason}", line)
            assert count is not None
            assert int(count[1]) == first.count(f"[{reason}]") > 0
        assert "not shown" not in whole

    def test_a_long_name_of_a_task_is_not_cut(self, terminal: Terminal):
        said = terminal(80, 24, "play", "alfworld")
        assert "look_at_obj_in_light-AlarmClock-None-DeskLamp-368/trial_S163_00001" in said.out


class TestHelp:
    @pytest.mark.parametrize("command", [("run",), ("learn",), ("study", "run"), ("play",)])
    def test_every_option_stands_in_a_group(self, terminal: Terminal, command: tuple[str, ...]):
        help_text = terminal(80, 24, *command, "--help").out
        ungrouped = help_text.partition("╭─ Options ─")[2].partition("╰─")[0]
        assert re.findall(r"--[a-z-]+", ungrouped) == ["--help"]
        titles = [line.strip("╭─╮ ") for line in help_text.splitlines() if line.startswith("╭─")]
        shown = [title for title in titles if title in PANELS]
        assert shown == [panel for panel in PANELS if panel in shown], (
            "in the order they are listed in"
        )
        assert len(shown) >= 4

    def test_every_command_stands_in_a_panel_with_a_title(self, terminal: Terminal):
        said = terminal(80, 24, "--help").out
        titles = [line.strip("╭─╮ ") for line in said.splitlines() if line.startswith("╭─")]
        assert "Commands" not in titles
        assert len(titles) == len(set(titles))
        assert {"games"} <= set(re.findall(r"^│ (\w+)", said, re.MULTILINE))

    @pytest.mark.parametrize("width", [80, 100])
    def test_help_breaks_lines_only_where_the_screen_ends(self, terminal: Terminal, width: int):
        said = terminal(width, 24, "rules", "diff", "--help").out
        told = said[said.index("Actions are matched") : said.index("╭─")].strip().splitlines()
        assert len(told) > 1
        for line, following in pairwise(told):
            assert len(line.strip()) + 1 + len(following.split()[0]) > width - 2, line

    def test_no_option_is_in_two_groups(self):
        names = [name for panel in PANELS.values() for name in panel]
        assert len(names) == len(set(names))

    def test_no_option_is_cut_off_on_a_narrow_screen(self, terminal: Terminal):
        assert not re.search(r"--[a-z-]*…", terminal(80, 24, "run", "--help").out)


class TestMemoryStats:
    def test_it_fits_a_screen_and_names_the_frozen_hash(self, terminal: Terminal, tmp_path: Path):
        file = tmp_path / "memory.jsonl"
        file.write_bytes(Path(find_world("alfworld").embedded_memory()).read_bytes())
        assert "\nnot frozen\n" in terminal(80, 24, "memory", "stats", file).out
        digest = freeze(file)
        said = terminal(80, 24, "memory", "stats", file).out
        assert f"frozen as sha256 {digest}" in said
        assert len(said.splitlines()) <= 24
        assert "success_" not in said
        assert said.count("look_at_obj_in_light") == 1
        every = terminal(80, 24, "memory", "stats", file, "--entries").out
        assert all(entry.id in every for entry in read_memory(file).entries)

    def test_the_embedded_memory_is_named_as_after_memory(self, rpms: Rpms, tmp_path: Path):
        file = find_world("alfworld").embedded_memory()
        assert rpms("memory", "stats", "embedded").out == rpms("memory", "stats", file).out
        assert rpms("memory", "merge", "embedded", file, "--out", tmp_path / "one.jsonl").code == 0
        assert rpms("memory", "diff", "embedded", tmp_path / "one.jsonl").code == 0


class TestStudies:
    def test_those_that_come_with_the_package_are_found_by_name(
        self, rpms: Rpms, tmp_path: Path, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        listed = rpms("study", "list").out
        assert {name for name in shipped_studies() if name in listed} == set(shipped_studies())
        assert len(shipped_studies()) > 10
        assert "conditions:" in rpms("study", "show", "quickstart").out
        assert "ok, 4 conditions of alfworld" in rpms("study", "check", "quickstart").out
        assert (
            rpms("study", "run", "quickstrat").line
            == "there is no study 'quickstrat'; did you mean quickstart?"
        )
        assert "`rpms study list`" in rpms("study", "show", "studies/none.yaml").line

    def test_results_are_printed_once(self, rpms: Rpms, tmp_path: Path):
        said = rpms("study", "run", "quickstart", "--limit", 1, "--out", tmp_path / "study").out
        assert said.partition("Interaction")[0].count("95% interval") == 1
        assert "2×2 ablation on" not in said
        assert "tables, figures and every episode: " in said


class TestWorlds:
    def test_a_world_says_what_is_missing_before_it_can_be_played(
        self, rpms: Rpms, monkeypatch: pytest.MonkeyPatch
    ):
        missing = "the ScienceWorld simulator is not installed (py4j is missing): pip install 'rpms[scienceworld]'"
        monkeypatch.setattr(type(find_world("scienceworld")), "not_installed", lambda _: missing)
        said = rpms("worlds").out
        assert re.search(r"^scienceworld +no ", said, re.MULTILINE)
        assert re.search(r"^alfworld +yes ", said, re.MULTILINE)
        assert f"scienceworld: {missing}" in said


class TestRun:
    def test_other_tasks_in_a_folder_are_told_in_words_first(self, rpms: Rpms, tmp_path: Path):
        command = ("run", "alfworld", "--split", "builtin", "--out", tmp_path / "run", "--limit")
        assert rpms(*command, 1).code == 0
        said = rpms(*command, 2)
        assert said.code == 2
        assert "What differs: tasks: 1 → 2 (1 added, 0 gone); " in said.err
        assert not re.search("[0-9a-f]{16}", said.err)

    def test_names_of_types_do_not_wrap(self, rpms: Rpms, tmp_path: Path):
        rpms("run", "alfworld", "--split", "builtin", "--limit", 2, "--out", tmp_path / "run")
        run = RunFolder(tmp_path / "run")
        long = "lifespan-longest-lived-then-shortest-lived"  # ScienceWorld's longest
        summary = replace(
            run.summary(), rows=tuple(replace(row, type=long) for row in run.summary().rows)
        )
        written = io.StringIO()
        print_summary(Console(file=written, width=80), summary, run)
        assert re.search(f"^{long} +2/2 +100.0%", written.getvalue(), re.MULTILINE)
