"""The benchmark that lets AMLGym judge the learner, with the real package where it is installed."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAM = BENCHMARKS / "amlgym.py"
INSTALLED = find_spec("amlgym") is not None
needs_amlgym = pytest.mark.skipif(
    not INSTALLED, reason="amlgym is not installed: pip install --group amlgym ."
)

LEARNED = """
(define (domain ferry) (:requirements :typing :equality :negative-preconditions)
(:types car location - object)
(:predicates (noteq ?x - location ?y - location) (at_ferry ?l - location)
 (at ?c - car ?l - location) (empty_ferry) (on ?c - car))
(:action sail :parameters (?from - location ?to - location)
 :precondition (and (at_ferry ?from) (not (= ?from ?to)))
 :effect (and (not (at_ferry ?from)) (at_ferry ?to) (not (at_ferry ?to))))
(:action board :parameters (?car - car ?loc - location) :precondition ()
 :effect (and (on ?car) (not (at ?car ?loc))))
(:action debark :parameters (?car - car ?loc - location)
 :precondition (and (on ?car) (at_ferry ?loc) (not (at ?car ?loc)))
 :effect (at ?car ?loc)))
"""


def run(folder, *options):
    done = subprocess.run(
        [sys.executable, PROGRAM, "--rows", "rows.jsonl", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_in(folder):
    lines = (folder / "rows.jsonl").read_text("utf-8").splitlines()
    return {row["algorithm"]: row for row in map(json.loads, lines)}


def test_kept_rows_are_shown_without_amlgym(tmp_path):
    """Tables need the rows alone; a line that was cut short when a run was killed is no row."""
    row = {"algorithm": "OLAM", "domain": "ferry", "precision": 0.5, "steps": 17, "stopped": True}
    text = json.dumps(row) + "\n" + json.dumps(row)[:20] + "\n"
    (tmp_path / "rows.jsonl").write_text(text, "utf-8")
    table = run(tmp_path, "--domains", "ferry", "--learners", "OLAM")
    assert "## active, the first ten: 1 domains" in table
    (line,) = [line for line in table.splitlines() if line.startswith("| OLAM")]
    cells = [cell.strip() for cell in line.split("|")]
    assert cells[2] == "0.500"
    assert cells[10:13] == ["17", "0.0", "ferry"]  # Steps, seconds, stopped


@pytest.mark.skipif(INSTALLED, reason="amlgym is installed")
def test_without_amlgym_nothing_is_measured_and_the_way_to_install_it_is_said(tmp_path):
    assert "pip install --group amlgym" in run(tmp_path)


def test_unknown_names_are_refused_with_those_that_exist(tmp_path):
    done = subprocess.run(
        [sys.executable, PROGRAM, "--domains", "fery"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "ferry" in done.stderr.splitlines()[-1]


@needs_amlgym
def test_a_run_measures_everything_and_goes_on_where_it_was_stopped(tmp_path):
    fast = ("--domains", "ferry", "--steps", "200", "--states", "2", "--problems", "1")
    run(tmp_path, *fast, "--learners", "ours")
    first = rows_in(tmp_path)
    for row in first.values():
        assert row["failed"] == ""
        for measure in ("precision", "recall", "applicable_recall", "effects_recall", "solved"):
            assert row[measure] == 1.0
    table = run(tmp_path, *fast, "--learners", "ours;RandomAgent")
    both = rows_in(tmp_path)
    assert both.keys() - first.keys() == {"RandomAgent"}
    assert len((tmp_path / "rows.jsonl").read_text("utf-8").splitlines()) == 3
    assert "ours, by experiment beside RandomAgent" in table


@needs_amlgym
def test_learners_without_time_are_judged_by_what_they_have_learned(tmp_path):
    fast = ("--domains", "ferry", "--seconds", "0", "--states", "1", "--problems", "1")
    run(tmp_path, *fast, "--learners", "OLAM;InformationGainAgent")
    for row in rows_in(tmp_path).values():
        assert row["stopped"]
        assert row["failed"] == ""
        assert row["precision"] is not None


@needs_amlgym
@pytest.mark.filterwarnings("ignore")
def test_the_simulator_answers_as_that_of_amlgym_does(tmp_path, monkeypatch):
    """AMLGym's own asks unified-planning about every ground action."""
    from amlgym.benchmarks import get_problems_path, get_test_states  # noqa: PLC0415
    from amlgym.modeling.UPEnv import UPEnv  # noqa: PLC0415

    monkeypatch.syspath_prepend(BENCHMARKS)
    from amlgym_measures import StripsDomain, StripsSimulator  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    model = tmp_path / "learned.pddl"
    model.write_text(LEARNED, "utf-8")
    problem = get_problems_path("ferry", "predictive_power")[0]
    theirs = UPEnv(str(model), problem)
    ours = StripsSimulator(StripsDomain.read(LEARNED), Path(problem).read_text("utf-8"))
    listed = get_test_states("ferry", kind="predictive_power_fast")[Path(problem).name]
    tried = 0
    for kept in listed.values():
        state = set(kept["fluents"])
        actions = theirs.applicable_actions(state)
        assert ours.applicable_actions(state) == actions
        assert len(ours.applicable_actions(state)["board"]) == len(actions["board"])
        for action in set().union(*actions.values()):
            assert ours.apply(state, action) == theirs.apply(state, action)
            tried += 1
    assert tried > 10
