"""Runs: the same episodes for any number of workers, nothing lost, nothing played twice."""

from __future__ import annotations

import gc
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.logic.errors import FileError, InputError, ModelError, ModelUnavailable
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, PolicyModel, follow_plan
from rpms.models.recorded import RecordedModel
from rpms.paper.condition import FULL, named_condition
from rpms.paper.decide import Decision
from rpms.paper.episode import Ending, Step, Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import Listener, run
from rpms.store.answers import FolderOfAnswers
from rpms.store.runs import RunFolder
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.play.corridor import task, world

ROOT = Path(__file__).parents[2]


def planner(slow: float = 0.0, asked: Counter | None = None):
    def answer(request):
        time.sleep(slow)
        if asked is not None:
            asked[request.episode] += 1
        thought, action = follow_plan(request.decision)
        return Answer(f"Thought: {thought}\nAction: {action}", Usage(10, 5, 2, 1, slow))

    return FunctionModel(answer, "walker")


def design(model=None, **options):
    model = model or planner()
    return design_run(
        options.pop("on", world), model.name, lend(model), **{"memory": EpisodicMemory(), **options}
    )


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "episodes").iterdir()}


class Ear(Listener):
    def __init__(self) -> None:
        self.told: list[str] = []
        self.threads: set[int] = set()

    def begin(self, design, finished, usages):
        self.told.append(f"begin {len(finished)}/{len(design.tasks)}")

    def finished(self, row, usages, file):
        assert file.is_file()
        assert len(usages) == row.steps
        self.threads.add(threading.get_ident())
        self.told.append(row.task)

    def note(self, text):
        self.told.append(f"note {text}")

    def end(self):
        self.told.append("end")


def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    alfworld = find_world("alfworld")
    model = PolicyModel("planner", follow_plan)
    for workers in (1, 2, 7):
        summary = run(
            design(model, on=alfworld, split="builtin", limit=10), tmp_path / f"{workers}", workers
        )
        assert summary.done == summary.total == 10
    assert files(tmp_path / "1") == files(tmp_path / "2") == files(tmp_path / "7")
    assert (tmp_path / "1" / "protocol.json").read_bytes() == (
        tmp_path / "7" / "protocol.json"
    ).read_bytes()


def guided(model):
    """A design whose steps have a design of their own, whoever plays; else only a planner that asks
    for one records it.
    """
    return design(
        model, condition=replace(FULL, enforcement=replace(FULL.enforcement, guidance=True))
    )


def test_a_recorded_model_gives_the_same_bytes_as_the_one_that_was_recorded(tmp_path):
    asked = Counter()
    for workers in (1, 5):
        model = RecordedModel(
            planner(0.001, asked), FolderOfAnswers(tmp_path / f"answers {workers}")
        )
        run(guided(model), tmp_path / f"live {workers}", workers)
    again = RecordedModel(planner(0.001, asked), FolderOfAnswers(tmp_path / "answers 1"))
    before = asked.total()
    run(guided(again), tmp_path / "recorded", 3)
    assert asked.total() == before
    assert files(tmp_path / "live 1") == files(tmp_path / "live 5") == files(tmp_path / "recorded")


def test_a_listener_hears_everything_once_and_from_one_thread(tmp_path):
    ear = Ear()
    the_plan = design()
    run(the_plan, tmp_path, 4, ear)
    assert ear.told[0] == "begin 0/12"
    assert ear.told[-1] == "end"
    assert sorted(ear.told[1:-1]) == sorted(task.id for task in the_plan.tasks)
    assert ear.threads == {threading.get_ident()}


def test_a_finished_run_asks_nobody(tmp_path):
    asked = Counter()
    first = run(design(planner(0, asked)), tmp_path, 2)
    before, counted = files(tmp_path), asked.total()
    ear = Ear()
    assert run(design(planner(0, asked)), tmp_path, 2, ear) == first
    assert asked.total() == counted
    assert files(tmp_path) == before
    assert ear.told == ["begin 12/12", "end"]


def test_episodes_have_names_of_their_own_at_the_model(tmp_path):
    asked = Counter()
    the_plan = design(planner(0, asked))
    summary = run(the_plan, tmp_path, 3)
    assert asked == {row.task: row.steps for row in summary.rows}


def test_a_world_that_breaks_down_marks_one_episode_and_the_run_goes_on(tmp_path):
    tasks = [
        task("a"),
        task("b", type_="breaks"),
        task("c", type_="no start"),
        task("d", type_="no game"),
        task("e"),
    ]
    tasks.append(task("f", type_="unknowable"))
    summary = run(design(tasks=tasks), tmp_path, 2)
    assert [(row.ending, row.steps, row.error) for row in summary.rows] == [
        (Ending.WON, 3, ""),
        (Ending.WORLD_ERROR, 1, "the floor gave way"),
        (Ending.WORLD_ERROR, 0, "the door is jammed"),
        (Ending.WORLD_ERROR, 0, "there is no such corridor"),
        (Ending.WON, 3, ""),
        (Ending.WORLD_ERROR, 2, "the simulator does not say what is true"),
    ]
    assert (summary.won, summary.done) == (2, 6)


def test_a_game_file_that_is_damaged_marks_one_episode(tmp_path):
    class Damaged(type(world)):
        def open(self, task, setting):
            if task.id == "corridor 3":
                raise FileError("corridor3.tw", 7, "is cut off")
            return super().open(task, setting)

    summary = run(design(on=Damaged()), tmp_path)
    assert [row.error for row in summary.rows if not row.won] == ["corridor3.tw:7: is cut off"]


def test_errors_count_as_finished_and_are_played_again_only_on_demand(tmp_path):
    healthy = threading.Event()

    def answer(request):
        if request.episode == "corridor 4" and not healthy.is_set():
            raise ModelError("refused to answer")
        return f"Action: {follow_plan(request.decision)[1]}"

    model = FunctionModel(answer, "moody")
    summary = run(design(model), tmp_path)
    assert summary.endings == {"won": 11, "model error": 1}
    assert summary.done == summary.total
    healthy.set()
    assert run(design(model), tmp_path).endings == {"won": 11, "model error": 1}
    ear = Ear()
    assert run(design(model), tmp_path, 2, ear, retry_errors=True).endings == {"won": 12}
    assert ear.told == ["begin 11/12", "corridor 4", "end"]


def test_a_model_that_is_not_there_stops_the_run_and_is_nobodys_failure(tmp_path):
    asked = Counter()

    def answer(request):
        if len(asked) > 5:
            raise ModelUnavailable("nobody answers at http://localhost:1")
        return planner(0, asked).answer(request)

    ear = Ear()
    with pytest.raises(
        ModelUnavailable,
        match=r"nobody answers at .*; [3-6] of 12 episodes are done, and the same command",
    ):
        run(design(FunctionModel(answer, "walker")), tmp_path, 2, ear)
    assert ear.told[-1] == "end"
    done = RunFolder(tmp_path).summary()
    assert done.endings == {"won": done.done}
    assert run(design(), tmp_path, 2).won == 12
    run(design(), tmp_path.with_name("whole"))
    assert files(tmp_path) == files(tmp_path.with_name("whole"))


def test_a_bug_stops_the_run_and_names_the_episode(tmp_path):
    def answer(request):
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError) as error:
        run(design(FunctionModel(answer, "buggy"), limit=1), tmp_path)
    assert error.value.__notes__ == ["in the episode of 'corridor 0'"]
    assert RunFolder(tmp_path).summary().done == 0


def test_a_damaged_episode_is_named_and_played_again(tmp_path):
    run(design(), tmp_path)
    before, damaged = files(tmp_path), RunFolder(tmp_path).file("corridor 2")
    damaged.write_bytes(b"")
    ear = Ear()
    run(design(), tmp_path, 1, ear)
    assert ear.told[0].startswith(f"note {damaged}: is not a whole episode")
    assert ear.told[1:] == ["begin 11/12", "corridor 2", "end"]
    assert files(tmp_path) == before


def test_what_else_is_kept_of_an_episode_has_its_name(tmp_path):
    run(
        design(
            keep={"commands": lambda episode: "\n".join(step.command for step in episode.steps)}
        ),
        tmp_path,
    )
    assert {f"{file.name}.gz" for file in (tmp_path / "commands").iterdir()} == set(files(tmp_path))
    assert RunFolder(tmp_path).beside("corridor 1", "commands") == "go to room 1\ngo to room 2"


def test_an_episode_without_what_is_kept_beside_it_is_played_again(tmp_path):
    run(design(), tmp_path)
    before, ear = files(tmp_path), Ear()
    run(design(keep={"commands": lambda episode: str(len(episode.steps))}), tmp_path, 2, ear)
    assert ear.told[0] == "begin 0/12"
    assert len(list((tmp_path / "commands").iterdir())) == 12
    assert files(tmp_path) == before


def test_nothing_of_an_episode_stays_in_memory(tmp_path):
    class Count(Listener):
        most = 0

        def finished(self, row, usages, file):
            if not row.task.endswith("9"):
                return
            gc.collect()
            alive = sum(isinstance(thing, (Step, Decision)) for thing in gc.get_objects())
            self.most = max(self.most, alive)

    count = Count()
    tasks = [task(f"t {number}", rooms=10) for number in range(30)]
    gc.freeze()  # what was there before is neither searched nor counted
    try:
        run(design(tasks=tasks), tmp_path, 1, count)
    finally:
        gc.unfreeze()
    assert (
        0 < count.most < 3 * (2 * 10)
    )  # the episode under way and what the last one has not let go of yet


def test_timings_live_apart(tmp_path):
    summary = run(design(planner(0.001)), tmp_path, 2)
    timings = RunFolder(tmp_path).timings()
    for row in summary.rows:
        assert timings[row.task].requests == (1,) * row.steps
        assert timings[row.task].seconds > 0


def test_the_protocol_says_everything_that_decides_the_results(tmp_path):
    condition = design().protocol().settings["condition"]
    assert condition.keys() == FULL.__dataclass_fields__.keys()
    assert (condition["arbitration"], condition["layout"]) == ("hard+soft", "paper")
    base = design().protocol()
    changes = {
        "condition.rules": {"condition": replace(FULL, rules=False)},
        "step_budget": {"step_budget": 7},
        "seed": {"seed": 1},
        "options.x": {"setting": Setting(options={"x": "1"})},
        "stuck_after": {"stuck_after": 4},
    }
    for name, change in changes.items():
        (difference,) = base.differences(design(**change).protocol())
        assert difference.startswith(f"{name}: ")
    one, other = (
        design(condition=named_condition("baseline"), memory=m)
        for m in (None, EpisodicMemory((), "corridor"))
    )
    assert one.protocol() == other.protocol()


def test_plans_that_cannot_be_run_are_one_line():
    cases = {
        "no tasks to run in the split 'empty'": {"split": "empty"},
        "leaves nothing to run": {"limit": 0},
        "listed more than once": {"tasks": [task("a"), task("a")]},
        "memory of alfworld, not of corridor": {"memory": EpisodicMemory((), "alfworld")},
        "no engine 'textworld'": {"setting": Setting(engine="textworld")},
        "leaves nothing to do": {"step_budget": 0},
    }
    for problem, options in cases.items():
        with pytest.raises(InputError, match=problem):
            design(**options)


SLOW = """
import sys
from pathlib import Path
from rpms.play.run import Interrupted, run
from tests.play.corridor import task
from tests.play.test_run import design
tasks = [task(f"t {number}", rooms=3, seconds=float(sys.argv[2])) for number in range(400)]
try:
    run(design(tasks=tasks), Path(sys.argv[1]), 3)
except Interrupted as stopped:
    print(stopped)
    sys.exit(130)
"""


@pytest.mark.parametrize("seconds", ["0.02", "30"])
def test_ctrl_c_stops_within_moments_and_says_how_to_go_on(tmp_path, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "run"), seconds],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    finished = tmp_path / "run" / "episodes"
    wanted = 4 if seconds == "0.02" else 0
    while wanted and (not finished.is_dir() or len(list(finished.glob("*.json.gz"))) < wanted):
        time.sleep(0.01)
    while not (tmp_path / "run" / "timings.jsonl").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == 130
    done = RunFolder(tmp_path / "run").summary().done
    assert (
        out
        == f"stopped; {done} of 400 episodes are done, and the same command goes on from there\n"
    )
    assert wanted <= done < 400


FULL_DISK = """
import resource, sys
from pathlib import Path
from rpms.logic.errors import InputError
from rpms.play.run import Listener, run
from tests.play.test_run import design

class Fill(Listener):
    def finished(self, row, usages, file):
        if row.task == "corridor 4":
            resource.setrlimit(resource.RLIMIT_FSIZE, (800, 800))
try:
    run(design(), Path(sys.argv[1]), 1, Fill())
except InputError as error:
    print(error)
"""


def test_a_disk_that_fills_up_stops_the_run_with_one_line_and_it_can_go_on(tmp_path):
    full = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "run")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert full.stderr == ""
    assert re.fullmatch(
        r".*cannot be written: File too large; .*; 5 of 12 episodes are done, and the same command .*\n",
        full.stdout,
    )
    assert RunFolder(tmp_path / "run").summary().done == 5
    assert run(design(), tmp_path / "run").done == 12
    run(design(), tmp_path / "whole")
    assert files(tmp_path / "run") == files(tmp_path / "whole")
