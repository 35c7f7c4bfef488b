"""What is printed fits the screen it is printed on."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import typer.rich_utils  # noqa: F401  it reads FORCE_COLOR when it is first imported, which must not be in a test

from rpms.cli.knobs import GROUPS
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
    def test_every_step_fits_the_screen(self, terminal: Terminal, columns: int, lines: int, more: tuple[str, ...]):
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
        count = re.search(r"(\d+) memories not shown: (\d+) below θ, (\d+) filtered by state", folded)
        assert count is not None
        first = whole.partition("step 2")[0]
        assert int(count[2]) == first.count("[below θ]") > 0
        assert int(count[3]) == first.count("[filtered by state]") > 0
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
        shown = [title for title in titles if title in GROUPS]
        assert shown == [group for group in GROUPS if group in shown], "in the order they are listed in"
        assert len(shown) >= 4

    def test_no_option_is_in_two_groups(self):
        names = [name for group in GROUPS.values() for name in group]
        assert len(names) == len(set(names))

    def test_no_option_is_cut_off_on_a_narrow_screen(self, terminal: Terminal):
        assert not re.search(r"--[a-z-]*…", terminal(80, 24, "run", "--help").out)
