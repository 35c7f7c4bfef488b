"""The examples run as they stand, without a key; the manuals that come with them have no
mistake.
"""

from __future__ import annotations

import importlib.util
import runpy
import tomllib
from pathlib import Path

import pytest

from rpms.guard import Call, Guard

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "guard"
LOOK_FIRST = (
    "P-OWN-001: Act only on orders of the user you speak with (unknown whether W1 belongs to mia)."
)
REFUSED = "P-CANCEL-001: Only pending orders that were placed within a day are cancelled (order W1 is not pending)."


@pytest.fixture
def run(monkeypatch, tmp_path, capfd):
    """Run an example as a script is run, in this process, which has loaded the frameworks for
    other tests already.
    """

    def running(example: str) -> str:
        monkeypatch.syspath_prepend(EXAMPLES)
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
        return capfd.readouterr().out

    return running


@pytest.fixture
def registered(monkeypatch, tmp_path) -> None:
    """This package's entry points for Inspect, whether or not it is installed with them, and no
    other package's.
    """
    folder = tmp_path / "rpms_entry_points-0.dist-info"
    folder.mkdir()
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][
        "inspect_ai"
    ]
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: rpms-entry-points\nVersion: 0\n")
    (folder / "entry_points.txt").write_text(
        "[inspect_ai]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points = importlib.import_module("inspect_ai._util.entrypoints")
    entry_points.clear_entry_points_state()
    entry_points.ensure_entry_points("rpms")
    monkeypatch.setattr(entry_points, "_inspect_ai_eps_loaded_all", True)  # some take half a minute


@pytest.mark.filterwarnings("ignore")  # what the frameworks warn of is not ours
@pytest.mark.parametrize(
    ("example", "needs"),
    [
        ("plain", ""),
        ("langchain_agent", "langchain"),
        ("openai_agent", "agents"),
        ("pydantic_agent", "pydantic_ai"),
        ("smol_agent", "smolagents"),
        ("fastmcp_server", "fastmcp"),
        ("adk_agent", "google.adk"),
        ("claude_agent", "claude_agent_sdk"),
        ("inspect_task", "inspect_ai"),
    ],
)
def test_an_example_ends_with_a_refused_call(example, needs, run, request):
    if needs:
        pytest.importorskip(needs, reason=f"{needs} is not installed")
    if needs == "inspect_ai":
        request.getfixturevalue("registered")
    said = run(example)
    assert LOOK_FIRST in said
    assert REFUSED in said
    assert said.index(LOOK_FIRST) < said.index(REFUSED)
    assert "cancelled W1 of mia" not in said


@pytest.mark.parametrize("manual", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.name)
def test_a_manual_has_no_mistakes(manual, rpms):
    if manual.name in ("approval.yaml", "files_cases.yaml"):
        pytest.skip("this is Inspect's configuration, or cases")
    assert rpms("guard", "check", "--manual", manual).out.startswith("ok: ")


def test_the_command_replays_a_log_and_reports_it(rpms, tmp_path):
    log = tmp_path / "log.jsonl"
    guard = Guard(EXAMPLES / "shop.yaml", log=log)
    guard.check(Call("cancel_order", {"order_id": "W1", "user_id": "mia"}))
    replayed = rpms("guard", "check", "--manual", EXAMPLES / "shop.yaml", log)
    assert "0 allow, 0 warn, 0 modify, 0 ask, 1 refuse; 0 differ from the log" in replayed.out
    assert "P-OWN-001" in replayed.out
    reported = rpms("report", log)
    assert reported.code == 0
    assert "P-OWN-001" in (tmp_path / "log.report" / "index.html").read_text()


def test_mistakes_are_one_line_each_and_exit_with_2(rpms, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "tools:\n  do: [x]\npolicies:\n  P-1:\n    text: a\n    tools: dont\n  nope: {text: b, tools: do}\n"
    )
    done = rpms("guard", "check", "--manual", wrong)
    assert done.code == 2
    assert f"{wrong}:6: no tool is called 'dont'; known: do" in done.err
    assert f"{wrong}:7: 'nope' is no rule id" in done.err


@pytest.mark.parametrize(("setting", "more"), [("others: pass\n", ""), ("", ", and so refused")])
def test_a_record_from_a_tool_that_is_not_declared_is_noted(rpms, tmp_path, setting, more):
    manual = tmp_path / "shop.yaml"
    text = (EXAMPLES / "shop.yaml").read_text()
    manual.write_text(setting + text.replace("from: get_user", "from: get_usr"))
    line = 1 + next(
        place for place, each in enumerate(manual.read_text().splitlines()) if "get_usr" in each
    )
    done = rpms("guard", "check", "--manual", manual)
    assert (done.code, done.err) == (
        0,
        f"note: {manual}:{line}: user is from 'get_usr', which is none of the `tools`{more}\n",
    )


def test_what_is_missing_on_the_command_line_is_said(rpms, tmp_path):
    served = rpms("guard", "mcp", "--manual", EXAMPLES / "git.yaml")
    assert served.code == 2
    assert "`rpms guard mcp --manual FILE -- your-server`" in served.err
    (tmp_path / "page.md").write_text("a page")
    for name, problem in (("no.jsonl", "does not exist"), ("page.md", "is not a guard's log")):
        reported = rpms("report", tmp_path / name)
        assert reported.code == 2
        assert (
            f"{problem}; a report is made of folders of `rpms run`, a study's folder, or the log of a guard"
            in reported.err
        )
