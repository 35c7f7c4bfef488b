"""Players in processes: the same bytes as in threads, a killed one replaced, one model for all
where it is shared.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from rpms.logic.errors import InputError, ModelUnavailable
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel
from rpms.paper.compose import Seams
from rpms.paper.prompt import Message
from rpms.play.run import run
from rpms.play.runners import AVAILABLE, InProcesses
from rpms.play.seats import Threads
from rpms.store.runs import RunFolder
from tests.play.test_run import ROOT, design, files, task

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="players are forked on Linux alone")
TWO = InProcesses(2)


@pytest.mark.parametrize(("count", "workers"), [(2, None), (2, 5), (3, 3), (4, 2)])
def test_processes_give_the_bytes_of_threads(tmp_path, count, workers):
    run(design(), tmp_path / "threads")
    done = run(design(), tmp_path / "processes", workers, runner=InProcesses(count))
    assert done.done == done.total
    assert files(tmp_path / "processes") == files(tmp_path / "threads")


def speaker(request) -> Answer:
    """A model that reads the prompt alone, as one behind a pipe has to; it goes on to the next
    room.
    """
    text = request.prompt.text
    here = max((int(word) for word in text.replace(".", " ").split() if word.isdigit()), default=0)
    return Answer(f"Thought: by {os.getpid()}\nAction: go to room {here + 1}")


def test_a_shared_model_answers_here_for_all_processes(tmp_path):
    asked = []

    def answer(request) -> Answer:
        asked.append((os.getpid(), threading.get_ident()))
        return speaker(request)

    run(design(FunctionModel(answer, "speaker")), tmp_path, 4, runner=InProcesses(2, shared=True))
    record = RunFolder(tmp_path)
    answers = {step.answer for task in record.protocol.tasks for step in record.episode(task).steps}
    assert {pid for pid, _ in asked} == {os.getpid()}
    assert all(f"by {os.getpid()}" in answer for answer in answers)


def in_capitals(blocks):
    """A prompt part: everything in one message, louder."""
    return (Message("user", "\n".join(block.text for block in blocks).upper()),)


def test_a_shared_model_is_told_what_a_prompt_part_says(tmp_path):
    """Functions do not travel to another process: the messages that a part made do."""
    told = []

    def answer(request) -> Answer:
        told.append(request.prompt.messages())
        return speaker(request)

    model = FunctionModel(answer, "speaker")
    done = run(
        design(model, parts=Seams(prompt=in_capitals)), tmp_path, runner=InProcesses(2, shared=True)
    )
    assert done.done == done.total
    assert told
    for messages in told:
        assert [message.role for message in messages] == ["user"]
        assert messages[0].content == messages[0].content.upper()


def test_a_model_that_is_not_shared_answers_in_the_players_process(tmp_path):
    run(design(FunctionModel(speaker, "speaker")), tmp_path, runner=TWO)
    record = RunFolder(tmp_path)
    by = {step.thought for task in record.protocol.tasks for step in record.episode(task).steps}
    assert f"by {os.getpid()}" not in by
    assert len(by) == 2


@pytest.mark.parametrize("shared", [False, True])
def test_a_model_that_is_unavailable_stops_the_run(tmp_path, shared):
    def refuse(_request):
        raise ModelUnavailable("the key was refused")

    with pytest.raises(ModelUnavailable, match="the key was refused; 0 of 12 episodes are done"):
        run(
            design(FunctionModel(refuse, "refuser")), tmp_path, runner=InProcesses(2, shared=shared)
        )


def test_a_bug_in_a_process_says_where_it_is(tmp_path):
    def fail(_request):
        raise ZeroDivisionError("in the model")

    with pytest.raises(ZeroDivisionError, match="in the model"):
        run(design(FunctionModel(fail, "broken")), tmp_path, runner=TWO)


def test_a_process_that_is_killed_is_replaced_and_its_episodes_played_again(tmp_path):
    mark = tmp_path / "mark"

    def answer(request) -> Answer:
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return speaker(request)

    model = FunctionModel(answer, "mortal")
    done = run(design(model), tmp_path / "run", runner=TWO)
    assert done.done == done.total
    assert not any(row.failed for row in done.rows)


def test_an_episode_that_always_kills_its_process_is_a_world_error(tmp_path):
    def answer(request) -> Answer:
        if "corridor 3" in request.episode:
            os.kill(os.getpid(), signal.SIGKILL)
        return speaker(request)

    done = run(design(FunctionModel(answer, "deadly")), tmp_path, runner=TWO)
    assert done.done == done.total
    failed = [row for row in done.rows if row.failed]
    assert "corridor 3" in {row.task for row in failed}
    assert all("lost 5 times" in row.error for row in failed)


def test_a_run_in_processes_goes_on_in_threads_and_the_other_way(tmp_path):
    tasks = [task(f"t {number}", rooms=3) for number in range(8)]
    run(design(tasks=tasks), tmp_path / "whole")
    run(design(tasks=tasks), tmp_path / "run", runner=TWO)
    for file in list((tmp_path / "run" / "episodes").iterdir())[:4]:
        file.unlink()
    run(design(tasks=tasks), tmp_path / "run")
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_a_full_folder_or_a_wrong_number_is_said_before_anything_is_forked(tmp_path):
    (tmp_path / "mine").write_text("thesis")
    with pytest.raises(InputError, match="is not empty"):
        run(design(), tmp_path, runner=TWO)


SLOW = """
import sys
from pathlib import Path
from rpms.play.runners import InProcesses
from rpms.play.run import Interrupted, run
from tests.play.test_run import design, task
tasks = [task(f"t {number}", rooms=3, seconds=float(sys.argv[2])) for number in range(400)]
try:
    run(design(tasks=tasks), Path(sys.argv[1]), 4, runner=InProcesses(2))
except Interrupted as stopped:
    print(stopped)
    sys.exit(130)
"""


@pytest.mark.parametrize("seconds", ["0.05", "30"])
def test_ctrl_c_stops_within_moments_and_leaves_no_process(tmp_path, seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "run"), seconds],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    finished = tmp_path / "run" / "episodes"
    wanted = 4 if seconds == "0.05" else 0
    while process.poll() is None and len(list(finished.glob("*.json.gz"))) < wanted:
        time.sleep(0.01)
    while process.poll() is None and not (tmp_path / "run" / "timings.jsonl").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to all of them
    out, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == 130
    done = RunFolder(tmp_path / "run").summary().done
    assert (
        out
        == f"stopped; {done} of 400 episodes are done, and the same command goes on from there\n"
    )
    assert wanted <= done < 400
    while _is_there(process.pid):
        time.sleep(0.05)


def test_where_the_parent_is_killed_its_processes_end_too(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path / "run"), "0.5"], cwd=ROOT, start_new_session=True
    )
    while not list((tmp_path / "run" / "episodes").glob("*.json.gz")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 60
    while _is_there(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = _is_there(process.pid)
    if left:
        os.killpg(process.pid, signal.SIGKILL)
    assert not left


def _is_there(group: int) -> bool:
    """True while any process of a group lives."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_weights_that_read_requests_are_not_loaded_in_each_process(tmp_path):
    reading = replace(design(), reader="hf/some-weights")
    assert isinstance(InProcesses(2)(reading, reading.tasks, None), Threads)
