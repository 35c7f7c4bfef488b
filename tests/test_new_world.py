"""`rpms worlds new` writes a world that works at once, and says in a line what keeps a changed
one from working.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.store.own_folders import write_folder
from rpms.worlds.base import World
from rpms.worlds.registry import find_world, new_world, world_named
from tests.cli.command import Rpms, rpms
from tests.own_world import POINT, edit, new
from tests.toolbox import register

__all__ = ["new", "rpms"]

SOURCE = Path(__file__).resolve().parents[1] / "src"


def test_it_passes_the_check_and_is_won_without_a_model(new: Path, rpms: Rpms):
    said = rpms("worlds", "check", "./half")
    assert (said.code, said.err) == (0, "")
    assert {line.split()[0] for line in said.out.splitlines() if line[:1].strip()} == {"ok"}
    for task in range(1, 13):
        assert "won (" in rpms("play", new, "--task", task).out
    run = ("run", "./half", "--split", "test", "--model", "planner", "--condition", "rules-only")
    assert "6 of 6 episodes: 6 won" in rpms(*run).out


def test_what_its_rules_forbid_costs_the_game_where_they_are_off(new: Path, rpms: Rpms):
    for condition, words in (
        ("rules-only", "12 of 12 episodes: 12 won"),
        ("baseline", "12 of 12 episodes: 10 won, 2 lost"),
    ):
        command = (
            "run",
            "./half",
            "--model",
            "planner",
            "--condition",
            condition,
            "--out",
            condition,
        )
        assert words in rpms(*command).out


def test_its_own_tests_pass_where_it_is_installed(new: Path):
    """Installed means here: its folder is on the path.

    Whether its entry point leads anywhere is tested below.
    """
    environment = {**os.environ, "PYTHONPATH": f"{new}{os.pathsep}{SOURCE}"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins load for a second
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        command, cwd=new, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout
    assert "19 passed" in ran.stdout


def test_once_installed_it_goes_by_its_name(new: Path, rpms: Rpms, monkeypatch: pytest.MonkeyPatch):
    assert find_world("./half").name == "half"
    register(monkeypatch, POINT)
    assert "half" in rpms("worlds").out
    assert "won (" in rpms("play", "half").out
    assert (
        rpms("worlds", "new", "half").line
        == "there is a world called half already: choose another name"
    )


def test_it_writes_at_most_eleven_members(new: Path):
    tree = ast.parse((new / "half_world" / "world.py").read_text(encoding="utf-8"))
    (written,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    members = [
        node
        for node in written.body
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef)
    ]
    assert len(members) <= 11
    assert len(World.__abstractmethods__) + len(("name", "splits", "wording", "manual.yaml")) <= 11


@pytest.mark.parametrize(
    "name", ["", "Half", "half-world", "2half", "half_", "../half", "hälf", "half world", "h" * 41]
)
def test_a_name_that_cannot_be_one_is_refused(name: str, rpms: Rpms, tmp_path: Path):
    assert (
        "cannot name a world: use small letters"
        in rpms("worlds", "new", name, "--out", tmp_path / "out").line
    )
    assert list(tmp_path.iterdir()) == []


CHECK_EACH = """
import sys
from rpms.cli import main
for name in sys.argv[1:]:
    sys.argv = ["rpms", "worlds", "check", name, "--games", "2", "--steps", "8"]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
"""


def test_any_other_name_will_do(rpms: Rpms, tmp_path: Path):
    names = ("world", "game", "test", "null", "tide_tables_2", "template")
    folder = tmp_path / "deep" / "folder"
    for name in names:
        assert rpms("worlds", "new", name, "--out", folder).code == 0
        for path, text in new_world(name).items():
            assert (folder / name / path).read_text(encoding="utf-8") == text
    ran = subprocess.run(
        [sys.executable, "-c", CHECK_EACH, *names],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert ran.stdout.count("It has everything a World has") == len(names)


def test_what_is_there_is_left_alone(new: Path, rpms: Rpms):
    before = sorted(new.rglob("*"))
    assert rpms("worlds", "new", "half").line == "half exists already; nothing was changed"
    assert sorted(new.rglob("*")) == before


def test_nothing_is_left_half_written(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be written"):
        write_folder(tmp_path / "half", {"one.txt": "1", "one.txt/two.txt": "2"})
    assert list(tmp_path.iterdir()) == []


UNFINISHED = [
    (
        "a method is missing",
        "world.py",
        "    def infeasible(",
        "    def refused(",
        "is not finished: its class does not write infeasible",
    ),
    (
        "an attribute is missing",
        "world.py",
        "    wording = read_wording(__package__)\n",
        "",
        "HalfWorld has no wording",
    ),
    (
        "a split in place of splits",
        "world.py",
        '("train", "test")\n    wording',
        '"train"\n    wording',
        "splits must be names",
    ),
    (
        "no wording",
        "world.py",
        "read_wording(__package__)",
        "None",
        r"HalfWorld: wording must be a rpms\.paper\.wording\.Wording",
    ),
    (
        "no steps",
        "world.py",
        "step_budget = 30",
        "step_budget = 0",
        "step_budget must be a number above zero",
    ),
    (
        "no subclass",
        "world.py",
        "class HalfWorld(World):",
        "class HalfWorld:",
        "HalfWorld is no subclass of rpms",
    ),
    (
        "a class",
        "world.py",
        "world = HalfWorld()",
        "world = HalfWorld",
        r"class HalfWorld; .*: world = HalfWorld\(\)",
    ),
    (
        "another name",
        "world.py",
        'name = "half"',
        'name = "whole"',
        "calls itself 'whole', its entry point 'half'",
    ),
    (
        "no Python",
        "world.py",
        "world = HalfWorld()",
        "world = (",
        r"SyntaxError: .*world\.py, line",
    ),
    (
        "nothing to import",
        "__init__.py",
        "import world",
        "import planet",
        "cannot be loaded: ImportError: .*planet",
    ),
    ("broken YAML", "manual.yaml", "goals:\n", "goals: [\n", r"half/half_world/manual\.yaml:\d+: "),
    (
        "an unknown fact",
        "manual.yaml",
        "effects: [lit(room)]",
        "effects: [lid(room)]",
        r"yaml:\d+: unknown predicate 'lid'",
    ),
    (
        "a manual that raises",
        "world.py",
        "    def infeasible(",
        "    def manual(self):\n        return {}[0]\n\n    def infeasible(",
        "world 'half' is not finished: its manual cannot be had: the world failed in manual \\(world.py:\\d+\\): KeyError: 0",
    ),
]


@pytest.mark.parametrize(
    ("file", "old", "changed", "words"),
    [case[1:] for case in UNFINISHED],
    ids=[c[0] for c in UNFINISHED],
)
def test_an_unfinished_world_is_told_in_one_line(
    new: Path,
    rpms: Rpms,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    old: str,
    changed: str,
    words: str,
):
    edit(new, file, old, changed)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(rpms("worlds", "check", "./half").line)
    register(monkeypatch, POINT)
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(rpms("worlds", "check", "half").line)
    listed = rpms("worlds")
    assert (listed.code, listed.err) == (0, "")
    assert "alfworld" in listed.out
    told = [line for line in listed.out.splitlines() if "half" in line]
    assert len(told) == 1


def test_a_manual_that_is_not_there(new: Path, rpms: Rpms):
    (new / "half_world" / "manual.yaml").unlink()
    words = "half cannot read its manual, manual.yaml beside half_world.world: No such file or directory"
    assert rpms("worlds", "check", "./half").line == words


@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("def names(self):", "belief"),
        ("def truth(self, atom):", "facts"),
        ("def lines(self):", "belief"),
    ],
)
def test_a_belief_that_raises_is_one_failure(new: Path, rpms: Rpms, member: str, name: str):
    decorated = f"    @property\n    {member}" if "names" in member else f"    {member}"
    broken = f"class Broken(FactBelief):\n{decorated}\n        return 1 // 0\n\n\nclass HalfWorld("
    edit(new, "world.py", "class HalfWorld(", broken)
    edit(new, "world.py", "return FactBelief()", "return Broken()")
    said = rpms("worlds", "check", "./half")
    assert (said.code, said.err) == (1, "")
    failed = [line.split()[1] for line in said.out.splitlines() if line.startswith("failed")]
    assert failed == [name]
    assert "(world.py:" in said.out
    assert "ZeroDivisionError: integer division or modulo by zero" in said.out
    assert "1 of the properties above do not hold" in said.out


def test_a_folder_without_a_world(rpms: Rpms, tmp_path: Path):
    assert (
        rpms("worlds", "check", tmp_path).line
        == f"{tmp_path} holds no world: there is no pyproject.toml in it"
    )
    project = tmp_path / "pyproject.toml"
    for text in ("", "[project]\n", '[project.entry-points."rpms.worlds"]\n', "project = 1\n"):
        project.write_text(text, encoding="utf-8")
        assert (
            rpms("play", tmp_path).line
            == f'{project}: needs one world in [project.entry-points."rpms.worlds"]'
        )
    project.write_text("[project", encoding="utf-8")
    assert rpms("play", tmp_path).line.startswith(f"{project}: cannot be read: ")


def test_a_package_of_the_same_name_elsewhere_is_not_taken_for_it(new: Path, rpms: Rpms):
    assert rpms("rules", "show", "./half").code == 0
    rpms("worlds", "new", "half", "--out", "other")
    assert "another package half_world is in" in rpms("rules", "show", "other/half").line


def test_of_two_folders_with_a_world_of_one_name_each_is_loaded_from_its_own(new: Path, rpms: Rpms):
    rpms("worlds", "new", "half", "--out", "other")
    other = new.parent / "other" / "half"
    (other / "half_world").rename(other / "second_world")
    project = other / "pyproject.toml"
    project.write_text(
        project.read_text(encoding="utf-8").replace("half_world", "second_world"), encoding="utf-8"
    )
    for folder, package in ((new, "half_world"), (other, "second_world")):
        loaded = find_world(str(folder))
        assert type(loaded).__module__ == f"{package}.world"
        assert world_named("half", "manual.yaml") is loaded


def test_a_world_in_a_folder_may_be_named_by_its_path(rpms: Rpms, new: Path) -> None:
    assert rpms("rules", "diff", "./half", "half").code == 0
    assert rpms("rules", "diff", new, "half").code == 0
    assert "no such manual" in rpms("rules", "diff", "./none", "half").line


def test_rules_are_mended_with_the_world_that_the_folder_holds(
    new: Path, rpms: Rpms, monkeypatch: pytest.MonkeyPatch
):
    assert rpms("run", "./half", "--condition", "rules-only", "--out", "run").code == 0
    manual = new / "half_world" / "manual.yaml"
    monkeypatch.setattr("rpms.worlds.registry._given", {})
    find_world.cache_clear()
    assert "name its folder with --world" in rpms("rules", "mend", manual, "run").line
    mended = rpms("rules", "mend", manual, "run", "--world", "./half")
    assert (mended.code, mended.err) == (0, "")
    assert "lines contradicted: 0" in mended.out


def test_a_world_that_reads_the_runs_differently_is_told(new: Path, rpms: Rpms):
    assert rpms("run", "./half", "--condition", "rules-only", "--out", "run").code == 0
    edit(new, "belief.py", 'f"at({room})", room', 'f"at({room} 2)", room')
    for module in [name for name in sys.modules if name.partition(".")[0] == "half_world"]:
        del sys.modules[module]
    find_world.cache_clear()
    mended = rpms("rules", "mend", new / "half_world" / "manual.yaml", "run", "--world", "./half")
    assert "note: run: half reads step 1 of" in mended.err
    assert "name its folder with --world" in mended.err


def test_a_mistake_in_its_manual_is_told_at_a_path_that_exists(new: Path, rpms: Rpms):
    manual = new / "half_world" / "manual.yaml"
    manual.write_text(manual.read_text(encoding="utf-8") + "\nnonsense: 5\n", encoding="utf-8")
    told = rpms("play", "./half").line
    path, _, rest = told.partition(":")
    assert Path(path).is_file(), told
    assert "nonsense" in rest


@pytest.mark.parametrize("command", ["play", "run"])
def test_an_option_that_it_does_not_have_is_refused(new: Path, rpms: Rpms, command: str):
    words = (command, "./half", "--option", "colour=red")
    assert "half has no option 'colour'" in rpms(*words).line


def test_an_option_that_it_does_not_have_is_refused_in_a_study(new: Path, rpms: Rpms):
    study = "title: t\nworld: half\noptions: {colour: red}\nmodels: [planner]\n"
    Path("study.yaml").write_text(study + "conditions: {rules-only: }\n", encoding="utf-8")
    ran = rpms("study", "run", "study.yaml", "--world", "./half", "--out", "out")
    assert "half has no option 'colour'" in ran.line
