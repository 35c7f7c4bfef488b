"""`rpms rules`: manuals shown, and checked with their file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.command import Rpms

MANUAL = """\
world: garden
predicates:
  at: {args: [place], yes: you are at <place>}
environment:
  go:
    syntax: go to <place>
    effects: [at(place)]
"""


class TestRules:
    def test_the_whole_manual_and_what_is_active_for_a_goal(self, rpms: Rpms):
        whole = rpms("rules", "show", "alfworld").out
        active = rpms("rules", "show", "alfworld", "--goal", "pick_heat").out
        assert "[D-COOL-001]" in whole
        assert "[D-COOL-001]" not in active
        assert "[D-HEAT-001]" in active
        assert "tokens in a prompt" in active

    def test_a_goal_may_be_stated_as_the_world_does(self, rpms: Rpms):
        said = rpms(
            "rules", "show", "alfworld", "--goal", "cool some apple and put it in microwave."
        )
        assert "active for pick_cool_then_place_in_recep:apple:cool:microwave" in said.out

    def test_a_goal_may_be_a_tasks_name(self, rpms: Rpms):
        said = rpms("rules", "show", "scienceworld", "--goal", "boil").out
        assert "active for F3:boil" in said
        assert "F3-BOIL-001" in said
        assert "F3-MELT-001" not in said
        assert "unknown goal 'apple'" in rpms("rules", "show", "alfworld", "--goal", "apple").line

    def test_goals_procedures_and_what_actions_reveal_are_shown(self, rpms: Rpms):
        whole = rpms("rules", "show", "alfworld").out
        assert (
            "\n  pick_and_place_simple (x is the object, p is the destination):\n    in(x, p)\n"
            in whole
        )
        assert (
            "    Gives: at(place)\n    Reveals: closed(place); in(_, place) if not closed(place); "
            in whole
        )
        active = rpms("rules", "show", "alfworld", "--goal", "pick_heat").out
        assert "goals (1), used only by plans\n  pick_heat_then_place_in_recep" in active
        science = rpms("rules", "show", "scienceworld", "--goal", "F3").out
        assert re.search(r"\n  boil, for F3 of [^\n]+:\n    \w+: ", science)
        assert "i is each of the ingredients" in science

    def test_what_plans_know_beyond_goals_is_shown_after_them(self, rpms: Rpms, tmp_path: Path):
        said = rpms("rules", "show", "scienceworld").out
        headings = re.findall(r"^(\w+) \(\d+\)", said, re.MULTILINE)
        assert headings == [
            "universal",
            "domain",
            "environment",
            "goals",
            "quantities",
            "processes",
            "facts",
            "localities",
            "always",
        ]
        assert (
            "\n    cools(cooler, object): the one to use, to drive it down: freezer, ultra low"
            in said
        )
        assert re.search(
            r"\n  CHILL:\n    Syntax: wait\n    Needs: .*runny\(object\); .*\n    Gives: .*\n    Takes: 5 steps\n",
            said,
        )
        assert "\n  adjoins:\n    hallway: art studio, bedroom, " in said
        assert "\n  shovel: greenhouse, outside\n" in said
        assert "always (2), used only by plans\n  not asked\n  located\n" in said
        file = tmp_path / "own.yaml"
        own = (
            "world: alfworld\nalone: true\npredicates: {warms: {args: [a, b]}, soft: {args: [a]}}\n"
        )
        kinds = "kinds:\n  warms: {yes: {egg: [pan, oven], tea: [pot]}, no: {egg: [bed]}}\n  soft: {yes: [tofu, egg]}\n"
        file.write_text(own + kinds, encoding="utf-8")
        shown = rpms("rules", "show", "alfworld", "--manual", file).out
        assert "processes" not in shown
        assert (
            "kinds (2), used by plans and the guard\n  warms:\n    yes: egg with oven, pan\n"
            in shown
        )
        assert "    yes: tea with pot\n    no: egg with bed\n  soft:\n    yes: egg, tofu\n" in shown

    @pytest.mark.parametrize(
        "world", ["alfworld", "scienceworld", "textworld-express", "tau2-telecom"]
    )
    def test_a_manual_as_one_file_says_the_same(self, rpms: Rpms, tmp_path: Path, world: str):
        (tmp_path / "mine.yaml").write_text(
            rpms("rules", "show", world, "--yaml").out, encoding="utf-8"
        )
        assert rpms("rules", "diff", world, tmp_path / "mine.yaml").code == 0

    def test_an_unknown_goal_lists_the_types(self, rpms: Rpms):
        assert (
            "goal types: look_at_obj_in_light"
            in rpms("rules", "show", "alfworld", "--goal", "nope").line
        )

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
        assert rpms("rules", "check", "alfworld").out.startswith("ok: ")

    @pytest.mark.parametrize("command", ["go to <place>", "go to town", "wait", "<order>"])
    def test_processes_are_counted_and_may_wait_or_give_a_command_that_is_not_written_down(
        self, rpms: Rpms, tmp_path: Path, command: str
    ):
        file = tmp_path / "garden.yaml"
        file.write_text(
            f"{MANUAL}processes: {{walk: {{command: {command}, effects: [at(place)]}}}}\n",
            encoding="utf-8",
        )
        assert "1 predicates, 1 processes\n" in rpms("rules", "check", file).out

    def test_a_process_is_not_blamed_for_an_action_with_a_mistake(self, rpms: Rpms, tmp_path: Path):
        file = tmp_path / "garden.yaml"
        broken = MANUAL.replace("effects:", "efects:")
        file.write_text(
            f"{broken}processes: {{walk: {{command: go to town, effects: [at(place)]}}}}\n",
            encoding="utf-8",
        )
        assert "not a known field" in rpms("rules", "check", file).line

    @pytest.mark.parametrize(
        ("old", "new", "line", "words"),
        [
            ("at(place)]", "att(place)]", 7, "unknown predicate 'att'"),
            ("at(place)]", "at(spot)]", 7, "'spot' is no parameter"),
            ("environment:", "enviroment:", 4, "unknown tier or key 'enviroment'"),
            ("effects:", "efects:", 7, "not a known field"),
            ("syntax: go to <place>", "syntax: [go", 7, "not valid YAML"),
            (
                "effects: [at(place)]",
                "effects: [at(place), not at(place)]",
                7,
                "contradicts itself",
            ),
            ("effects: [at(place)]", "observes: [att(place)]", 7, "unknown predicate 'att'"),
            (
                "environment:",
                "goals: {walk: {over: {x: way}, holds: [at(x)]}}\nenvironment:",
                4,
                "'way' is no field",
            ),
            (
                "environment:",
                "goals: {walk: {over: {x: object}, holds: [at(y)]}}\nenvironment:",
                4,
                "'y' is no variable",
            ),
            (
                "environment:",
                "processes:\n  walk:\n    command: goo to <place>\n    effects: [at(place)]\nenvironment:",
                6,
                "no action writes the command 'goo to <place>'; the nearest known one is `go to <place>`",
            ),
            (
                "environment:",
                "processes: {rest: {command: waait, effects: [at(x)]}}\nenvironment:",
                4,
                "one is `wait`",
            ),
            (
                "environment:",
                "procedures:\n  walk:\n    goals: [walk]\n    steps:\n    - go: [at(x)]\n      until: x\nenvironment:",
                9,
                "'until' is a second key of the step go, which ends when its facts hold",
            ),
        ],
    )
    def test_a_broken_manual_is_named_by_file_and_line(
        self, rpms, tmp_path: Path, old, new, line, words
    ):
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
